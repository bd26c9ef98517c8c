// The model's variables as files: weights and running statistics by name, nothing of the optimiser.
// In: a state. Out: weights.safetensors, and back; digests.
#include <string.h>

#include "io/safetensors.h"
#include "train/trainer.h"

static wf_st_tensor tensor_of(const wf_model_variable *v)
{
    wf_st_tensor tensor = {.name = v->name, .dtype = v->type.dtype, .ndim = v->type.ndim};
    memcpy(tensor.dim, v->type.dims, sizeof tensor.dim);
    tensor.size_bytes = v->size_bytes;
    return tensor;
}

// Calls take for each variable with its bytes, in order.
static weft_status each(wf_program_cache *programs, const wf_model_variable *list, size_t n,
                        weft_status (*take)(void *user, const wf_model_variable *v,
                                            const void *data, weft_error *err),
                        void *user, weft_error *err)
{
    const wf_allocator *a = &programs->arena.allocator;
    size_t most = 1;
    void *data;
    for (size_t i = 0; i < n; i++) {
        most = list[i].size_bytes > most ? list[i].size_bytes : most;
    }
    WEFT_TRY(wf_alloc(a, most, 1, &data, err));
    weft_status status = WEFT_OK;
    for (size_t i = 0; i < n && status == WEFT_OK; i++) {
        status = weft_state_read(programs->state, list[i].stored, data, list[i].size_bytes, err);
        if (status == WEFT_OK)
            status = take(user, &list[i], data, err);
    }
    wf_free(a, data);
    return status;
}

static weft_status append(void *user, const wf_model_variable *v, const void *data, weft_error *err)
{
    return wf_safetensors_writer_append(user, data, v->size_bytes, err);
}

weft_status wf_weights_save(wf_program_cache *programs, const char *dir, const char *name,
                            weft_error *err)
{
    const wf_allocator *a = &programs->arena.allocator;
    const wf_model_variable *list;
    const wf_st_string format = {"format", "weft weights 1"};
    size_t n;
    char *path = NULL;
    wf_st_tensor *tensors = NULL;
    wf_safetensors_writer *writer = NULL;
    weft_status status;
    WEFT_TRY(wf_program_variables(programs, &list, &n, err));
    WEFT_TRY_GOTO(wf_path_join(a, dir, name, &path, err));
    WEFT_TRY_GOTO(wf_alloc(a, n, sizeof *tensors, &tensors, err));
    for (size_t i = 0; i < n; i++) {
        tensors[i] = tensor_of(&list[i]);
    }
    WEFT_TRY_GOTO(wf_safetensors_writer_create(a, path, tensors, n, &format, 1, &writer, err));
    WEFT_TRY_GOTO(each(programs, list, n, append, writer, err));
    WEFT_TRY_GOTO(wf_safetensors_writer_commit(writer, err));
fail:
    wf_safetensors_writer_destroy(writer);
    wf_free(a, tensors);
    wf_free(a, path);
    return status;
}

static weft_status digest(void *user, const wf_model_variable *v, const void *data, weft_error *err)
{
    (void)err;
    wf_sha256_update(user, v->name, strlen(v->name) + 1);
    wf_sha256_update(user, data, v->size_bytes);
    return WEFT_OK;
}

weft_status wf_weights_digest(wf_program_cache *programs, char out_hex[WF_SHA256_HEX_BYTES],
                              weft_error *err)
{
    const wf_model_variable *list;
    size_t n;
    wf_sha256 sha;
    uint8_t bytes[WF_SHA256_BYTES];
    WEFT_TRY(wf_program_variables(programs, &list, &n, err));
    wf_sha256_init(&sha);
    WEFT_TRY(each(programs, list, n, digest, &sha, err));
    wf_sha256_final(&sha, bytes);
    wf_sha256_hex(bytes, out_hex);
    return WEFT_OK;
}

static weft_status load_one(wf_program_cache *programs, const wf_safetensors *file,
                            const char *path, const wf_model_variable *v, weft_error *err)
{
    const wf_allocator *a = &programs->arena.allocator;
    const wf_st_tensor *tensor = wf_safetensors_find(file, v->name);
    char want[WF_TYPE_TEXT], have[WF_TYPE_TEXT];
    void *data;
    if (!tensor)
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: no tensor '%s', expected %s", path, v->name,
                  wf_type_text(&v->type, want));
    weft_type type = {tensor->dtype, tensor->ndim, {0}};
    memcpy(type.dims, tensor->dim, sizeof type.dims);
    if (!wf_type_equal(&type, &v->type))
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: tensor '%s' is %s, expected %s", path, v->name,
                  wf_type_text(&type, have), wf_type_text(&v->type, want));
    WEFT_TRY(wf_alloc(a, tensor->size_bytes, 1, &data, err));
    if (tensor->size_bytes)
        memcpy(data, tensor->data, tensor->size_bytes);
    const weft_status status =
        weft_state_write(programs->state, v->stored, &v->type, data, v->size_bytes, err);
    wf_free(a, data);
    return status;
}

static weft_status load_file(wf_program_cache *programs, const wf_safetensors *file,
                             const char *path, weft_error *err)
{
    const wf_model_variable *list;
    size_t n;
    WEFT_TRY(wf_program_variables(programs, &list, &n, err));
    for (size_t i = 0; i < n; i++) {
        WEFT_TRY(load_one(programs, file, path, &list[i], err));
    }
    for (size_t k = 0; k < wf_safetensors_count(file); k++) {
        const char *name = wf_safetensors_get(file, k)->name;
        bool is_known = false;
        for (size_t i = 0; i < n && !is_known; i++) {
            is_known = !strcmp(list[i].name, name);
        }
        if (!is_known)
            WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: tensor '%s' is not in the model", path, name);
    }
    return WEFT_OK;
}

weft_status wf_weights_load(wf_program_cache *programs, const char *dir, const char *name,
                            weft_error *err)
{
    const wf_allocator *a = &programs->arena.allocator;
    wf_safetensors *file = NULL;
    char *path;
    WEFT_TRY(wf_path_join(a, dir, name, &path, err));
    weft_status status = wf_safetensors_open(a, path, &file, err);
    if (status == WEFT_OK) {
        status = load_file(programs, file, path, err);
        wf_safetensors_close(file);
    }
    wf_free(a, path);
    return status;
}
