// Begins a training with weights from elsewhere: train.init_from. In: safetensors of any program, whole or in
// shards, names that differ by rules. Out: the state's variables, before the first step.
//
//     train: {init_from: {file: resnet.safetensors, map: ["backbone.* -> *"], new: ["fc.*"]}}
//
// Each variable of the model takes the tensor that has its name once the first fitting rule of `map` was
// applied; those that match `new` begin as if nothing was given. Every other one must be there, in its shape.
#include <stdlib.h>
#include <string.h>

#include "io/tensor_files.h"
#include "math/half.h"
#include "nn/nn_builder.h"
#include "train/trainer.h"

typedef struct named_tensor {
    char *name; // the model's
    const wf_st_tensor *tensor;
    bool is_used;
} named_tensor;

typedef struct initialiser {
    wf_trainer *t;
    const struct wf_recipe_init *recipe;
    wf_arena arena;
    wf_tensor_files *files;
    named_tensor *named; // [n] sorted by name
    size_t n;
} initialiser;

// The part of text that the star of "before*behind" stands for; *out_n its length. A pattern without a star
// fits itself alone. NULL: does not fit.
static const char *find_star(const char *pattern, size_t pattern_n, const char *text, size_t *out_n)
{
    const char *star = memchr(pattern, '*', pattern_n);
    const size_t n = strlen(text);
    const size_t before = star ? (size_t)(star - pattern) : pattern_n;
    const size_t behind = star ? pattern_n - before - 1 : 0;
    *out_n = 0;
    if (n < before + behind || (!star && n != before) || memcmp(pattern, text, before) != 0 ||
        memcmp(pattern + pattern_n - behind, text + n - behind, behind) != 0)
        return NULL;
    *out_n = n - before - behind;
    return text + before;
}

// The model's name of a tensor, in the arena.
static char *map_name(initialiser *in, const char *name)
{
    const wf_words *rules = &in->recipe->map;
    for (size_t i = 0; i < rules->n; i++) {
        const char *arrow = strstr(rules->v[i], " -> ");
        size_t n;
        const char *part = find_star(rules->v[i], (size_t)(arrow - rules->v[i]), name, &n);
        if (!part)
            continue;
        const char *to = arrow + 4, *star = strchr(to, '*');
        const size_t before = star ? (size_t)(star - to) : strlen(to);
        const char *behind = star ? star + 1 : "";
        char *out = wf_arena_take(&in->arena, before + n + strlen(behind) + 1);
        if (!out)
            return NULL;
        memcpy(out, to, before);
        if (star)
            memcpy(out + before, part, n);
        strcpy(out + before + (star ? n : 0), behind);
        return out;
    }
    return wf_arena_strdup(&in->arena, name);
}

static int compare_named(const void *a, const void *b)
{
    const named_tensor *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static weft_status name_tensors(initialiser *in, weft_error *err)
{
    const wf_words *rules = &in->recipe->map;
    for (size_t i = 0; i < rules->n; i++) {
        const char *arrow = strstr(rules->v[i], " -> ");
        if (!arrow || arrow == rules->v[i] || !arrow[4])
            WEFT_FAIL(err, WEFT_ERR_RECIPE, "train.init_from.map: '%s', expected 'from -> to'",
                      rules->v[i]);
    }
    const size_t n = wf_tensor_files_count(in->files);
    WEFT_TRY(wf_alloc(&in->t->allocator, n, sizeof *in->named, &in->named, err));
    for (; in->n < n; in->n++) {
        named_tensor *named = &in->named[in->n];
        named->tensor = wf_tensor_files_get(in->files, in->n);
        named->name = map_name(in, named->tensor->name);
        if (!named->name)
            WEFT_FAIL(err, WEFT_ERR_MEMORY, "memory: no room for the names of %s",
                      in->recipe->file);
    }
    if (n)
        qsort(in->named, n, sizeof *in->named, compare_named);
    for (size_t i = 1; i < n; i++) {
        if (!strcmp(in->named[i - 1].name, in->named[i].name))
            WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: tensors '%s' and '%s' both become '%s'",
                      in->recipe->file, in->named[i - 1].tensor->name, in->named[i].tensor->name,
                      in->named[i].name);
    }
    return WEFT_OK;
}

static named_tensor *find_named(const initialiser *in, const char *name)
{
    const named_tensor key = {.name = (char *)(uintptr_t)name};
    return in->n ? bsearch(&key, in->named, in->n, sizeof *in->named, compare_named) : NULL;
}

// Numbers of another width become f32: f64 rounds, the others are exact.
static void convert(const wf_st_tensor *tensor, size_t n, float *out)
{
    const uint8_t *src = tensor->data;
    for (size_t i = 0; i < n; i++) {
        double wide;
        uint16_t half;
        if (tensor->dtype == WEFT_F64) {
            memcpy(&wide, src + 8 * i, 8);
            out[i] = (float)wide;
            continue;
        }
        memcpy(&half, src + 2 * i, 2);
        out[i] = tensor->dtype == WEFT_F16 ? wf_f16_to_f32(half) : wf_bf16_to_f32(half);
    }
}

static weft_status write_variable(const initialiser *in, const wf_model_variable *v,
                                  const wf_st_tensor *tensor, weft_error *err)
{
    const wf_allocator *a = &in->t->allocator;
    const bool is_same = tensor->dtype == v->type.dtype;
    const size_t n = v->size_bytes / weft_dtype_size(v->type.dtype);
    void *data;
    WEFT_TRY(wf_alloc(a, v->size_bytes, 1, &data, err));
    if (is_same && v->size_bytes)
        memcpy(data, tensor->data, v->size_bytes);
    else if (!is_same)
        convert(tensor, n, data);
    weft_status status =
        weft_state_write(in->t->state, v->name, &v->type, data, v->size_bytes, err);
    // The moving average begins where the weights do.
    if (status == WEFT_OK && strcmp(v->name, v->stored) != 0)
        status = weft_state_write(in->t->state, v->stored, &v->type, data, v->size_bytes, err);
    wf_free(a, data);
    return status;
}

static bool is_new(const initialiser *in, const char *name)
{
    for (size_t i = 0; i < in->recipe->fresh.n; i++) {
        if (wf_nn_name_matches(in->recipe->fresh.v[i], name))
            return true;
    }
    return false;
}

static weft_status take_variable(initialiser *in, const wf_model_variable *v, weft_error *err)
{
    char want[WF_TYPE_TEXT], have[WF_TYPE_TEXT];
    if (is_new(in, v->name))
        return WEFT_OK;
    named_tensor *named = find_named(in, v->name);
    if (!named)
        WEFT_FAIL(err, WEFT_ERR_FORMAT,
                  "%s: no tensor for '%s', %s (map: renames one, new: begins without)",
                  in->recipe->file, v->name, wf_type_text(&v->type, want));
    const wf_st_tensor *tensor = named->tensor;
    weft_type type = {tensor->dtype, tensor->ndim, {0}};
    memcpy(type.dims, tensor->dim, sizeof type.dims);
    const bool is_converted =
        v->type.dtype == WEFT_F32 &&
        (type.dtype == WEFT_F64 || type.dtype == WEFT_F16 || type.dtype == WEFT_BF16);
    weft_type as_wanted = type;
    if (is_converted)
        as_wanted.dtype = WEFT_F32;
    if (!wf_type_equal(&as_wanted, &v->type))
        WEFT_FAIL(err, WEFT_ERR_SHAPE, "%s: tensor '%s' is %s, the model's '%s' is %s",
                  in->recipe->file, tensor->name, wf_type_text(&type, have), v->name,
                  wf_type_text(&v->type, want));
    named->is_used = true;
    return write_variable(in, v, tensor, err);
}

static weft_status take_all(initialiser *in, weft_error *err)
{
    const wf_model_variable *list;
    size_t n, n_taken = 0;
    WEFT_TRY(wf_tensor_files_open(&in->t->allocator, in->recipe->file, &in->files, err));
    WEFT_TRY(name_tensors(in, err));
    WEFT_TRY(wf_program_variables(&in->t->programs, &list, &n, err));
    for (size_t i = 0; i < n; i++)
        WEFT_TRY(take_variable(in, &list[i], err));
    for (size_t i = 0; i < in->n; i++)
        n_taken += in->named[i].is_used;
    wf_context_log(
        in->t->context, WEFT_LOG_INFO,
        "%s: %zu of the model's %zu variables begin with its tensors, %zu tensors are not "
        "used",
        in->recipe->file, n_taken, n, in->n - n_taken);
    return WEFT_OK;
}

weft_status wf_weights_init_from(wf_trainer *t, weft_error *err)
{
    initialiser in = {.t = t, .recipe = &t->recipe->v.train.init_from};
    if (!in.recipe->file)
        return WEFT_OK;
    wf_arena_init(&in.arena, &t->allocator);
    const weft_status status = take_all(&in, err);
    wf_tensor_files_close(in.files);
    wf_free(&t->allocator, in.named);
    wf_arena_deinit(&in.arena);
    return status;
}
