// Checkpoints: all of the state and the place in the data, in one safetensors file. In: a trainer. Out:
// checkpoint.safetensors, and back.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/safetensors.h"
#include "train/trainer.h"

#define FILE_NAME "checkpoint.safetensors"
#define FORMAT "weft checkpoint 1"
#define HISTORY "history.loss" // no layer can have a parameter of this name

static int by_name(const void *a, const void *b)
{
    return strcmp(((const wf_st_tensor *)a)->name, ((const wf_st_tensor *)b)->name);
}

static void describe(wf_st_tensor *tensor, const char *name, const weft_type *type)
{
    memset(tensor, 0, sizeof *tensor);
    tensor->name = name;
    tensor->dtype = type->dtype;
    tensor->ndim = type->ndim;
    memcpy(tensor->dim, type->dims, sizeof tensor->dim);
    tensor->size_bytes = (size_t)wf_type_count(type) * weft_dtype_size(type->dtype);
}

// The state's variables by name, then the losses. Data of variables is read when it is written.
static weft_status list_tensors(const wf_trainer *t, wf_st_tensor **out, size_t *out_n,
                                weft_error *err)
{
    const size_t n = weft_state_count(t->state);
    wf_st_tensor *tensors;
    WEFT_TRY(wf_alloc(&t->allocator, n + 1, sizeof *tensors, &tensors, err));
    for (size_t i = 0; i < n; i++) {
        const char *name = weft_state_name(t->state, i);
        const weft_type type = weft_state_type(t->state, name);
        describe(&tensors[i], name, &type);
    }
    qsort(tensors, n, sizeof *tensors, by_name);
    const weft_type history = {WEFT_F32, 1, {(int64_t)t->history.n}};
    describe(&tensors[n], HISTORY, &history);
    *out = tensors;
    *out_n = n + 1;
    return WEFT_OK;
}

static weft_status append_variables(const wf_trainer *t, wf_safetensors_writer *writer,
                                    const wf_st_tensor *tensors, size_t n, weft_error *err)
{
    size_t most = 1;
    void *data;
    for (size_t i = 0; i < n; i++) {
        most = tensors[i].size_bytes > most ? tensors[i].size_bytes : most;
    }
    WEFT_TRY(wf_alloc(&t->allocator, most, 1, &data, err));
    weft_status status = WEFT_OK;
    for (size_t i = 0; i < n && status == WEFT_OK; i++) {
        status = weft_state_read(t->state, tensors[i].name, data, tensors[i].size_bytes, err);
        if (status == WEFT_OK)
            status = wf_safetensors_writer_append(writer, data, tensors[i].size_bytes, err);
    }
    wf_free(&t->allocator, data);
    return status;
}

enum { N_METADATA = 15, VALUE_BYTES = 80 };

typedef struct metadata {
    wf_st_string entries[N_METADATA];
    char values[N_METADATA][VALUE_BYTES];
    size_t n;
} metadata;

static char *next_value(metadata *m, const char *key)
{
    char *value = m->values[m->n];
    m->entries[m->n].key = key;
    m->entries[m->n].value = value;
    m->n++;
    return value;
}

static void put_integer(metadata *m, const char *key, int64_t value)
{
    snprintf(next_value(m, key), VALUE_BYTES, "%lld", (long long)value);
}

static void put_number(metadata *m, const char *key, double value)
{
    wf_text_format_f64(value, next_value(m, key));
}

static weft_status describe_run(const wf_trainer *t, metadata *m, weft_error *err)
{
    int64_t epoch, batch;
    m->n = 0;
    wf_loader_position(t->loader, &epoch, &batch);
    snprintf(next_value(m, "format"), VALUE_BYTES, FORMAT);
    put_integer(m, "arithmetic_version", WEFT_ARITHMETIC_VERSION);
    WEFT_TRY(wf_recipe_digest(t->recipe, next_value(m, "recipe_sha256"), err));
    put_integer(m, "step", t->step);
    put_integer(m, "total_steps", t->total_steps);
    // The data's place; its random numbers come from (seed, epoch, sample), so they have no other state.
    put_integer(m, "epoch", epoch);
    put_integer(m, "batch", batch);
    put_integer(m, "seed", t->recipe->v.seed);
    put_number(m, "best_accuracy", t->best_accuracy);
    put_number(m, "best_loss", t->best_loss);
    put_integer(m, "best_epoch", t->best_epoch);
    put_number(m, "patience_score", t->patience_score);
    put_integer(m, "patience_epoch", t->patience_epoch);
    put_integer(m, "stopped", t->is_stopped);
    put_integer(m, "log_bytes", t->log_bytes);
    return WEFT_OK;
}

weft_status wf_checkpoint_save(wf_trainer *t, const char *dir, weft_error *err)
{
    char *path = NULL;
    wf_st_tensor *tensors = NULL;
    wf_safetensors_writer *writer = NULL;
    metadata m;
    size_t n;
    weft_status status;
    WEFT_TRY_GOTO(describe_run(t, &m, err));
    WEFT_TRY_GOTO(wf_path_join(&t->allocator, dir, FILE_NAME, &path, err));
    WEFT_TRY_GOTO(list_tensors(t, &tensors, &n, err));
    WEFT_TRY_GOTO(wf_safetensors_writer_create(&t->allocator, path, tensors, n, m.entries, m.n,
                                               &writer, err));
    WEFT_TRY_GOTO(append_variables(t, writer, tensors, n - 1, err));
    WEFT_TRY_GOTO(
        wf_safetensors_writer_append(writer, t->history.loss, t->history.n * sizeof(float), err));
    WEFT_TRY_GOTO(wf_safetensors_writer_commit(writer, err));
fail:
    wf_safetensors_writer_destroy(writer);
    wf_free(&t->allocator, tensors);
    wf_free(&t->allocator, path);
    return status;
}

// ---- loading
static weft_status get_integer(const wf_safetensors *file, const char *path, const char *key,
                               int64_t *out, weft_error *err)
{
    const char *text = wf_safetensors_metadata(file, key);
    if (!text || !wf_text_parse_i64(text, out))
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: metadata %s is '%s', expected a whole number", path,
                  key, text ? text : "");
    return WEFT_OK;
}

static weft_status get_number(const wf_safetensors *file, const char *path, const char *key,
                              double *out, weft_error *err)
{
    const char *text = wf_safetensors_metadata(file, key);
    if (!text || !wf_text_parse_f64(text, out))
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: metadata %s is '%s', expected a number", path, key,
                  text ? text : "");
    return WEFT_OK;
}

static weft_status load_history(wf_trainer *t, const wf_st_tensor *tensor, const char *path,
                                weft_error *err)
{
    if (tensor->dtype != WEFT_F32 || tensor->size_bytes != (size_t)t->step * sizeof(float))
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: %zu bytes of losses, expected f32 of %lld steps", path,
                  tensor->size_bytes, (long long)t->step);
    for (int64_t i = 0; i < t->step; i++) {
        float loss;
        memcpy(&loss, (const char *)tensor->data + (size_t)i * sizeof loss, sizeof loss);
        WEFT_TRY(wf_history_push(&t->allocator, &t->history, loss, err));
    }
    return WEFT_OK;
}

// What is in the state already (nothing, before the first program) must agree; the rest is made.
static weft_status load_variables(wf_trainer *t, const wf_safetensors *file, const char *path,
                                  weft_error *err)
{
    bool has_history = false;
    for (size_t i = 0; i < wf_safetensors_count(file); i++) {
        const wf_st_tensor *tensor = wf_safetensors_get(file, i);
        if (!strcmp(tensor->name, HISTORY)) {
            has_history = true;
            WEFT_TRY(load_history(t, tensor, path, err));
            continue;
        }
        weft_type type = {tensor->dtype, tensor->ndim, {0}};
        void *data;
        memcpy(type.dims, tensor->dim, sizeof type.dims);
        // The map may start anywhere; devices read whole elements.
        WEFT_TRY(wf_alloc(&t->allocator, tensor->size_bytes, 1, &data, err));
        if (tensor->size_bytes)
            memcpy(data, tensor->data, tensor->size_bytes);
        const weft_status status =
            weft_state_write(t->state, tensor->name, &type, data, tensor->size_bytes, err);
        wf_free(&t->allocator, data);
        WEFT_TRY(status);
    }
    if (!has_history && t->step > 0)
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: no tensor '" HISTORY "'", path);
    return WEFT_OK;
}

static weft_status warn_of_changes(const wf_trainer *t, const wf_safetensors *file,
                                   const char *path, weft_error *err)
{
    char digest[WF_SHA256_HEX_BYTES];
    int64_t total, version;
    const char *other = wf_safetensors_metadata(file, "recipe_sha256");
    WEFT_TRY(get_integer(file, path, "arithmetic_version", &version, err));
    WEFT_TRY(get_integer(file, path, "total_steps", &total, err));
    WEFT_TRY(wf_recipe_digest(t->recipe, digest, err));
    if (version != WEFT_ARITHMETIC_VERSION)
        wf_context_log(t->context, WEFT_LOG_WARNING,
                       "the run began with arithmetic version %lld, this is %d: its bits differ "
                       "from here on",
                       (long long)version, WEFT_ARITHMETIC_VERSION);
    if (total != t->total_steps)
        wf_context_log(t->context, WEFT_LOG_WARNING,
                       "the run began with %lld steps in all, now there are %lld: schedules are "
                       "stretched from here on",
                       (long long)total, (long long)t->total_steps);
    else if (!other || strcmp(other, digest) != 0)
        wf_context_log(t->context, WEFT_LOG_WARNING,
                       "the recipe is not the one that the run began with");
    return WEFT_OK;
}

static weft_status load_file(wf_trainer *t, const wf_safetensors *file, const char *path,
                             weft_error *err)
{
    int64_t epoch, batch, is_stopped;
    const char *format = wf_safetensors_metadata(file, "format");
    if (!format || strcmp(format, FORMAT) != 0)
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: format is '%s', expected '" FORMAT "'", path,
                  format ? format : "");
    WEFT_TRY(get_integer(file, path, "step", &t->step, err));
    WEFT_TRY(get_integer(file, path, "epoch", &epoch, err));
    WEFT_TRY(get_integer(file, path, "batch", &batch, err));
    WEFT_TRY(get_integer(file, path, "best_epoch", &t->best_epoch, err));
    WEFT_TRY(get_integer(file, path, "log_bytes", &t->log_bytes, err));
    WEFT_TRY(get_number(file, path, "best_accuracy", &t->best_accuracy, err));
    WEFT_TRY(get_number(file, path, "best_loss", &t->best_loss, err));
    WEFT_TRY(get_number(file, path, "patience_score", &t->patience_score, err));
    WEFT_TRY(get_integer(file, path, "patience_epoch", &t->patience_epoch, err));
    WEFT_TRY(get_integer(file, path, "stopped", &is_stopped, err));
    // With more patience the run goes on.
    const int64_t patience = t->recipe->v.train.patience;
    t->is_stopped =
        is_stopped != 0 && patience > 0 && epoch + (batch > 0) - t->patience_epoch >= patience;
    if (t->step < 0 || epoch < 0 || batch < 0)
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: metadata is damaged", path);
    WEFT_TRY(warn_of_changes(t, file, path, err));
    WEFT_TRY(load_variables(t, file, path, err));
    t->epoch = epoch;
    // With another batch size the old place may not exist.
    if (batch >= t->steps_per_epoch) {
        epoch++;
        batch = 0;
    }
    return wf_trainer_start(t, epoch, batch, err);
}

weft_status wf_checkpoint_load(wf_trainer *t, const char *dir, bool *out_found, weft_error *err)
{
    char *path;
    wf_safetensors *file = NULL;
    *out_found = false;
    WEFT_TRY(wf_path_join(&t->allocator, dir, FILE_NAME, &path, err));
    weft_status status = WEFT_OK;
    if (wf_file_is_regular(path)) {
        status = wf_safetensors_open(&t->allocator, path, &file, err);
        if (status == WEFT_OK)
            status = load_file(t, file, path, err);
        *out_found = status == WEFT_OK;
        if (file)
            wf_safetensors_close(file);
    }
    wf_free(&t->allocator, path);
    return status;
}
