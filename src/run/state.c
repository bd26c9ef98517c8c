// The variables on a device, by name.
#include <string.h>

#include "run/run_internal.h"

weft_status weft_state_create(weft_device *device, weft_state **out_state, weft_error *err)
{
    WEFT_REQUIRE(err, out_state && device, "state: without device");
    *out_state = NULL;
    weft_state *state;
    WEFT_TRY(wf_alloc(&device->context->allocator, 1, sizeof *state, &state, err));
    state->device = device;
    *out_state = state;
    return WEFT_OK;
}

void weft_state_destroy(weft_state *state)
{
    if (!state)
        return;
    weft_device *dev = state->device;
    const wf_allocator *a = &dev->context->allocator;
    for (size_t i = 0; i < state->n_variables; i++) {
        dev->driver->buffer_destroy(dev, state->variables[i].buffer);
        wf_free(a, state->variables[i].name);
    }
    wf_free(a, state->variables);
    wf_free(a, state);
}

wf_variable *wf_state_find(const weft_state *state, const char *name)
{
    for (size_t i = 0; i < state->n_variables; i++) {
        if (!strcmp(state->variables[i].name, name))
            return &state->variables[i];
    }
    return NULL;
}

size_t weft_state_count(const weft_state *state)
{
    return state->n_variables;
}

const char *weft_state_name(const weft_state *state, size_t idx)
{
    return idx < state->n_variables ? state->variables[idx].name : NULL;
}

weft_type weft_state_type(const weft_state *state, const char *name)
{
    const weft_type none = {WEFT_DTYPE_NONE, 0, {0}};
    const wf_variable *v = wf_state_find(state, name);
    return v ? v->type : none;
}

weft_status wf_state_add(weft_state *state, const char *name, const weft_type *type,
                         wf_variable **out, weft_error *err)
{
    weft_device *dev = state->device;
    const wf_allocator *a = &dev->context->allocator;
    *out = NULL;
    WEFT_TRY(wf_array_reserve(a, &state->variables, &state->capacity, state->n_variables + 1,
                              sizeof *state->variables, err));
    wf_variable *v = &state->variables[state->n_variables];
    *v = (wf_variable){.type = *type};
    WEFT_TRY(wf_strdup(a, name, &v->name, err));
    const size_t bytes = (size_t)wf_type_count(type) * dev->caps.elem_bytes[type->dtype];
    weft_status status = dev->driver->buffer_create(dev, bytes, &v->buffer, err);
    if (status != WEFT_OK) {
        wf_free(a, v->name);
        return status;
    }
    state->variable_bytes += bytes;
    state->n_variables++;
    *out = v;
    return WEFT_OK;
}

static weft_status check_bytes(const char *name, const weft_type *type, size_t size_bytes,
                               weft_error *err)
{
    const size_t expected = (size_t)wf_type_count(type) * weft_dtype_size(type->dtype);
    char text[WF_TYPE_TEXT];
    if (size_bytes != expected) {
        WEFT_FAIL(err, WEFT_ERR_SHAPE, "variable %s: %zu bytes, expected %zu for %s", name,
                  size_bytes, expected, wf_type_text(type, text));
    }
    return WEFT_OK;
}

weft_status weft_state_read(weft_state *state, const char *name, void *data, size_t size_bytes,
                            weft_error *err)
{
    WEFT_REQUIRE(err, state && name && (data || !size_bytes), "state: read without name or data");
    const wf_variable *v = wf_state_find(state, name);
    if (!v)
        WEFT_FAIL(err, WEFT_ERR_NAME, "variable %s is not in the state", name);
    WEFT_TRY(check_bytes(name, &v->type, size_bytes, err));
    return wf_device_get(state->device, v->buffer, 0, v->type.dtype,
                         (size_t)wf_type_count(&v->type), data, err);
}

weft_status weft_state_write(weft_state *state, const char *name, const weft_type *type,
                             const void *data, size_t size_bytes, weft_error *err)
{
    WEFT_REQUIRE(err, state && name && type && (data || !size_bytes),
                 "state: write without name, type or data");
    char a[WF_TYPE_TEXT], b[WF_TYPE_TEXT];
    wf_variable *v = wf_state_find(state, name);
    if (v && !wf_type_equal(&v->type, type)) {
        WEFT_FAIL(err, WEFT_ERR_SHAPE, "variable %s is %s, the data is %s", name,
                  wf_type_text(&v->type, a), wf_type_text(type, b));
    }
    WEFT_TRY(check_bytes(name, type, size_bytes, err));
    if (!v)
        WEFT_TRY(wf_state_add(state, name, type, &v, err));
    return wf_device_put(state->device, v->buffer, 0, type->dtype, (size_t)wf_type_count(type),
                         data, err);
}
