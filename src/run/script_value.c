// Values of a script: what nodes hand on by name, in host memory. Stage: RUN.
#include <string.h>

#include "base/text.h"
#include "run/script.h"

wf_script_value *wf_script_find(const weft_script *s, const char *name, weft_error *err)
{
    for (size_t i = 0; i < s->n_values; i++) {
        if (!strcmp(s->values[i].name, name))
            return &s->values[i];
    }
    wf_error_set(err, WEFT_ERR_NAME, "script: no node reads or writes '%s'", name);
    return NULL;
}

// Bytes of a type that may come from anywhere.
static weft_status measure(const char *name, const weft_type *type, size_t *out, weft_error *err)
{
    size_t bytes = weft_dtype_size(type->dtype);
    if (bytes == 0 || type->ndim < 0 || type->ndim > WEFT_MAX_DIM)
        WEFT_FAIL(err, WEFT_ERR_DTYPE, "'%s' is set with a type that is none", name);
    for (int32_t i = 0; i < type->ndim; i++) {
        if (type->dims[i] < 0 || !wf_mul_size(bytes, (size_t)type->dims[i], &bytes))
            WEFT_FAIL(err, WEFT_ERR_SHAPE, "'%s': axis %d is %lld, expected what fits in memory",
                      name, (int)i, (long long)type->dims[i]);
    }
    *out = bytes;
    return WEFT_OK;
}

weft_status wf_script_value_reset(weft_script *s, wf_script_value *value, const weft_type *type,
                                  weft_error *err)
{
    size_t bytes = 0;
    WEFT_TRY(measure(value->name, type, &bytes, err));
    if (bytes > value->capacity_bytes || !value->data) {
        WEFT_TRY(wf_realloc(&s->arena.allocator, &value->data, bytes, 1, err));
        value->capacity_bytes = bytes;
    }
    value->size_bytes = bytes;
    value->type = *type;
    return WEFT_OK;
}

weft_status wf_script_value_number(const wf_script_value *value, int64_t *out, weft_error *err)
{
    char text[WF_TYPE_TEXT];
    const weft_type *t = &value->type;
    if (t->dtype == WEFT_DTYPE_NONE)
        WEFT_FAIL(err, WEFT_ERR_NAME, "'%s' has no value yet", value->name);
    if (wf_type_count(t) == 1 && t->dtype == WEFT_I64)
        memcpy(out, value->data, sizeof *out);
    else if (wf_type_count(t) == 1 && t->dtype == WEFT_I32)
        *out = *(const int32_t *)value->data;
    else if (wf_type_count(t) == 1 && t->dtype == WEFT_BOOL)
        *out = *(const uint8_t *)value->data != 0;
    else
        WEFT_FAIL(err, WEFT_ERR_SHAPE, "'%s' is %s, expected one bool, i32 or i64", value->name,
                  wf_type_text(t, text));
    return WEFT_OK;
}

// A host node that is running may touch what its signature names.
static weft_status check_signature(const weft_script *s, const wf_script_value *value,
                                   const wf_script_names *names, const char *what, weft_error *err)
{
    const uint32_t at = (uint32_t)(value - s->values);
    for (uint32_t i = 0; i < names->n; i++) {
        if (names->v[i] == at)
            return WEFT_OK;
    }
    WEFT_FAIL(err, WEFT_ERR_NAME, "it %s '%s', which its signature '%s' does not say", what,
              value->name, s->running->signature);
}

static weft_status set_value(weft_script *s, wf_script_value *value, const weft_type *type,
                             const void *data, weft_error *err)
{
    if (s->running)
        WEFT_TRY(check_signature(s, value, &s->running->writes, "writes", err));
    WEFT_TRY(wf_script_value_reset(s, value, type, err));
    if (value->size_bytes > 0)
        memcpy(value->data, data, value->size_bytes);
    return WEFT_OK;
}

weft_status weft_script_set(weft_script *s, const char *name, const weft_type *type,
                            const void *data, weft_error *err)
{
    WEFT_REQUIRE(err, s && name && type && data, "script: set without name, type or data");
    wf_script_value *value = wf_script_find(s, name, err);
    return value ? set_value(s, value, type, data, err) : WEFT_ERR_NAME;
}

static weft_status find_to_read(const weft_script *s, const char *name, wf_script_value **out,
                                weft_error *err)
{
    *out = wf_script_find(s, name, err);
    if (!*out)
        return WEFT_ERR_NAME;
    if (s->running)
        WEFT_TRY(check_signature(s, *out, &s->running->reads, "reads", err));
    if ((*out)->type.dtype == WEFT_DTYPE_NONE)
        WEFT_FAIL(err, WEFT_ERR_NAME, "script: '%s' has no value yet", name);
    return WEFT_OK;
}

weft_status weft_script_get(const weft_script *s, const char *name, weft_type *out_type,
                            const void **out_data, weft_error *err)
{
    wf_script_value *value;
    WEFT_REQUIRE(err, s && name && out_type && out_data, "script: get without name or result");
    WEFT_TRY(find_to_read(s, name, &value, err));
    *out_type = value->type;
    *out_data = value->data;
    return WEFT_OK;
}

weft_status weft_script_set_number(weft_script *s, const char *name, int64_t number,
                                   weft_error *err)
{
    static const weft_type scalar = {.dtype = WEFT_I64};
    return weft_script_set(s, name, &scalar, &number, err);
}

weft_status weft_script_get_number(const weft_script *s, const char *name, int64_t *out_number,
                                   weft_error *err)
{
    wf_script_value *value;
    WEFT_REQUIRE(err, s && name && out_number, "script: get without name or result");
    WEFT_TRY(find_to_read(s, name, &value, err));
    return wf_script_value_number(value, out_number, err);
}
