// Traces: every result of the first steps of a training, in a safetensors file. In: a trainer, or a file.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/diff.h"

// Everything is kept until the file is written.
typedef struct recorder {
    wf_arena memory;
    wf_st_tensor *tensors;
    size_t n, capacity;
} recorder;

static weft_status record_part(void *user, const wf_step_part *part, bool *out_is_enough,
                               weft_error *err)
{
    recorder *r = user;
    (void)out_is_enough;
    WEFT_TRY(wf_array_reserve(&r->memory.allocator, &r->tensors, &r->capacity, r->n + part->n,
                              sizeof *r->tensors, err));
    for (size_t i = 0; i < part->n; i++) {
        const wf_step_value *v = &part->values[i];
        wf_st_tensor *t = &r->tensors[r->n++];
        *t = (wf_st_tensor){.dtype = v->type.dtype, .ndim = v->type.ndim};
        memcpy(t->dim, v->type.dims, sizeof t->dim);
        void *data = wf_arena_take(&r->memory, v->size_bytes);
        t->name = wf_arena_strdup(&r->memory, v->name);
        if (!data || !t->name)
            WEFT_FAIL(err, WEFT_ERR_MEMORY, "trace: %zu bytes are not available", v->size_bytes);
        memcpy(data, v->data, v->size_bytes);
        t->data = data;
    }
    return WEFT_OK;
}

static weft_status write_file(const wf_trainer *t, const recorder *r, const char *path,
                              weft_error *err)
{
    char recipe[WF_SHA256_HEX_BYTES], data[WF_SHA256_HEX_BYTES], version[32], steps[32];
    WEFT_TRY(wf_recipe_digest(t->recipe, recipe, err));
    WEFT_TRY(wf_train_data_digest(&t->data, data, err));
    (void)snprintf(version, sizeof version, "%d", WEFT_ARITHMETIC_VERSION);
    (void)snprintf(steps, sizeof steps, "%lld", (long long)t->step);
    const wf_st_string metadata[] = {
        {"arithmetic_version", version},
        {"data_sha256", data},
        {"device", weft_device_id(t->device)},
        {"kind", "weft trace"},
        {"recipe_sha256", recipe},
        {"steps", steps},
    };
    return wf_safetensors_write(&t->allocator, path, r->tensors, r->n, metadata,
                                WF_COUNT_OF(metadata), err);
}

weft_status weft_trace_write(weft_recipe *recipe, weft_device *device, int64_t n_steps,
                             const char *path, const weft_train_events *events, weft_error *err)
{
    WEFT_REQUIRE(err, recipe && device && path && n_steps > 0,
                 "trace: without recipe, device, path or steps");
    recorder r = {.n = 0};
    wf_trainer t;
    wf_arena_init(&r.memory, &recipe->allocator);
    weft_status status = wf_trainer_init(&t, recipe, device, 0, err);
    if (status == WEFT_OK)
        status = wf_diff_start(&t, err);
    while (status == WEFT_OK && t.step < n_steps) {
        status = wf_step_walk(&t, record_part, &r, err);
        if (status == WEFT_OK)
            status = wf_diff_tell(&t, n_steps, events, err);
    }
    if (status == WEFT_OK)
        status = write_file(&t, &r, path, err);
    wf_trainer_deinit(&t);
    wf_free(&r.memory.allocator, r.tensors);
    wf_arena_deinit(&r.memory);
    return status;
}

weft_status wf_trace_open(const wf_allocator *a, const char *path, wf_trace *out, weft_error *err)
{
    *out = (wf_trace){.path = path};
    WEFT_TRY(wf_safetensors_open(a, path, &out->file, err));
    const char *kind = wf_safetensors_metadata(out->file, "kind");
    const char *steps = wf_safetensors_metadata(out->file, "steps");
    if (!kind || strcmp(kind, "weft trace") != 0 || !steps)
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: not a trace, expected one that weft diff --save wrote",
                  path);
    out->n_steps = strtoll(steps, NULL, 10);
    return WEFT_OK;
}

weft_status wf_trace_check(const wf_trace *trace, const wf_trainer *t, weft_error *err)
{
    char recipe[WF_SHA256_HEX_BYTES], data[WF_SHA256_HEX_BYTES];
    WEFT_TRY(wf_recipe_digest(t->recipe, recipe, err));
    WEFT_TRY(wf_train_data_digest(&t->data, data, err));
    const char *const found[] = {wf_safetensors_metadata(trace->file, "recipe_sha256"),
                                 wf_safetensors_metadata(trace->file, "data_sha256")};
    const char *const expected[] = {recipe, data}, *const what[] = {"recipe", "data"};
    for (int i = 0; i < 2; i++) {
        if (!found[i] || strcmp(found[i], expected[i]) != 0)
            WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: a trace of other %s, digest %.16s, expected %.16s",
                      trace->path, what[i], found[i] ? found[i] : "none", expected[i]);
    }
    return WEFT_OK;
}

void wf_trace_close(wf_trace *trace)
{
    wf_safetensors_close(trace->file);
    trace->file = NULL;
}
