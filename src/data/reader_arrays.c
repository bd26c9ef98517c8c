// Reads NumPy's arrays: an .npz archive, a folder of .npy files, or one .npy file. Out: field "image"
// (u8 [n,h,w], [n,c,h,w] or [n,h,w,c]) or "input" (anything else), and "label" where there is one.
//
// Arrays go by name: x_train and y_train, x_test and y_test (as Keras keeps its sets), else the first of
// the names below that is there.
#include <string.h>

#include "base/file.h"
#include "data/readers.h"
#include "io/npy.h"

typedef struct {
    wf_dataset dataset; // first: destroyed through its address
    char *path;
    wf_npy input;
    wf_npy label;
    wf_arena arena; // class names
} arrays_dataset;

static const char *const train_inputs[] = {"x_train", "train_x", "train_images", "x",    "input",
                                           "inputs",  "image",   "images",       "data", "arr_0",
                                           NULL};
static const char *const train_labels[] = {"y_train", "train_y", "train_labels", "y",     "label",
                                           "labels",  "target",  "targets",      "arr_1", NULL};
static const char *const test_inputs[] = {"x_test", "test_x", "test_images", NULL};
static const char *const test_labels[] = {"y_test", "test_y", "test_labels", NULL};

static void destroy_dataset(wf_dataset *dataset)
{
    arrays_dataset *d = (arrays_dataset *)dataset;
    wf_allocator a = dataset->allocator;
    wf_npy_deinit(&d->input);
    wf_npy_deinit(&d->label);
    wf_free(&a, d->path);
    wf_arena_deinit(&d->arena);
    wf_free(&a, d);
}

// ---- where arrays are found
static const char *find_name(const wf_npz *archive, const char *const *names)
{
    for (; *names; names++) {
        for (size_t i = 0; i < wf_npz_count(archive); i++) {
            if (!strcmp(wf_npz_name(archive, i), *names))
                return *names;
        }
    }
    return NULL;
}

static weft_status read_archive(arrays_dataset *d, const char *const *inputs,
                                const char *const *labels, weft_error *err)
{
    wf_npz *archive;
    WEFT_TRY(wf_npz_open(&d->dataset.allocator, d->path, &archive, err));
    const char *input = find_name(archive, inputs), *label = find_name(archive, labels);
    weft_status status = WEFT_OK;
    if (!input)
        status = wf_error_set(err, WEFT_ERR_FILE, "%s: no array '%s' among its %zu", d->path,
                              inputs[0], wf_npz_count(archive));
    if (status == WEFT_OK)
        status = wf_npz_read(archive, input, &d->input, err);
    if (status == WEFT_OK && label)
        status = wf_npz_read(archive, label, &d->label, err);
    wf_npz_close(archive);
    return status;
}

// path/NAME.npy for the first of the names that is there, else NULL.
static weft_status find_file(const arrays_dataset *d, const char *const *names, char **out_path,
                             weft_error *err)
{
    *out_path = NULL;
    for (; *names; names++) {
        char name[32];
        size_t n = strlen(*names);
        memcpy(name, *names, n);
        memcpy(name + n, ".npy", 5);
        WEFT_TRY(wf_path_join(&d->dataset.allocator, d->path, name, out_path, err));
        if (wf_file_is_regular(*out_path))
            return WEFT_OK;
        wf_free(&d->dataset.allocator, *out_path);
        *out_path = NULL;
    }
    return WEFT_OK;
}

static weft_status read_folder(arrays_dataset *d, const char *const *inputs,
                               const char *const *labels, weft_error *err)
{
    const wf_allocator *a = &d->dataset.allocator;
    char *input = NULL, *label = NULL;
    weft_status status = find_file(d, inputs, &input, err);
    if (status == WEFT_OK)
        status = find_file(d, labels, &label, err);
    if (status == WEFT_OK && !input)
        status = wf_error_set(err, WEFT_ERR_FILE, "%s: no file %s.npy", d->path, inputs[0]);
    if (status == WEFT_OK)
        status = wf_npy_read(a, input, &d->input, err);
    if (status == WEFT_OK && label)
        status = wf_npy_read(a, label, &d->label, err);
    wf_free(a, input);
    wf_free(a, label);
    return status;
}

static bool ends_with(const char *path, const char *end)
{
    const size_t n = strlen(path), m = strlen(end);
    return n >= m && !strcmp(path + n - m, end);
}

static weft_status read_arrays(arrays_dataset *d, const wf_reader_options *o, weft_error *err)
{
    const bool is_test = o->part && !strcmp(o->part, "test");
    const char *const *inputs = is_test ? test_inputs : train_inputs;
    const char *const *labels = is_test ? test_labels : train_labels;
    if (wf_file_is_directory(d->path))
        return read_folder(d, inputs, labels, err);
    if (ends_with(d->path, ".npz"))
        return read_archive(d, inputs, labels, err);
    if (is_test)
        WEFT_FAIL(err, WEFT_ERR_FILE, "%s: one array has no part 'test'", d->path);
    return wf_npy_read(&d->dataset.allocator, d->path, &d->input, err);
}

// ---- inputs
static bool is_channels(int64_t n)
{
    return n == 1 || n == 3;
}

// [n,h,w,c] -> [n,c,h,w] in place of the old block.
static weft_status move_channels(arrays_dataset *d, weft_error *err)
{
    wf_npy *x = &d->input;
    const size_t c = (size_t)x->dim[3], n_pixels = (size_t)(x->dim[1] * x->dim[2]);
    const uint8_t *src = x->data;
    uint8_t *dst;
    WEFT_TRY(wf_alloc(&x->allocator, x->size_bytes, 1, &dst, err));
    for (size_t i = 0; i < (size_t)x->dim[0]; i++) {
        for (size_t k = 0; k < c; k++) {
            for (size_t p = 0; p < n_pixels; p++)
                dst[(i * c + k) * n_pixels + p] = src[(i * n_pixels + p) * c + k];
        }
    }
    wf_free(&x->allocator, x->data);
    x->data = dst;
    x->dim[3] = x->dim[2];
    x->dim[2] = x->dim[1];
    x->dim[1] = (int64_t)c;
    return WEFT_OK;
}

static weft_status check_finite(const arrays_dataset *d, const wf_npy *x, const char *what,
                                weft_error *err)
{
    const size_t n = x->dtype == WEFT_F32   ? x->size_bytes / 4
                     : x->dtype == WEFT_F64 ? x->size_bytes / 8
                                            : 0;
    const size_t per_sample = n && x->dim[0] ? n / (size_t)x->dim[0] : 1;
    for (size_t i = 0; i < n; i++) {
        const double v = x->dtype == WEFT_F32 ? (double)((const float *)x->data)[i]
                                              : ((const double *)x->data)[i];
        if (!(v - v == 0.0))
            WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: %s %zu holds %s at element %zu", d->path, what,
                      i / per_sample, v != v ? "nan" : "an infinity", i % per_sample);
    }
    return WEFT_OK;
}

static weft_status set_input(arrays_dataset *d, weft_error *err)
{
    wf_dataset *set = &d->dataset;
    wf_npy *x = &d->input;
    if (x->ndim < 1 || x->size_bytes == 0)
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: the input has no samples (%d dimensions)", d->path,
                  (int)x->ndim);
    WEFT_TRY(check_finite(d, x, "sample", err));
    const bool is_image = x->dtype == WEFT_U8 && (x->ndim == 3 || x->ndim == 4);
    if (is_image && x->ndim == 4 && !is_channels(x->dim[1]) && is_channels(x->dim[3]))
        WEFT_TRY(move_channels(d, err));
    wf_field *field = &set->field[set->n_fields++];
    field->name = is_image ? "image" : "input";
    field->dtype = x->dtype;
    field->data = x->data;
    set->n_samples = x->dim[0];
    if (is_image && x->ndim == 3)
        field->dim[field->ndim++] = 1;
    for (int32_t k = 1; k < x->ndim; k++)
        field->dim[field->ndim++] = x->dim[k];
    field->sample_bytes = x->size_bytes / (size_t)x->dim[0];
    return WEFT_OK;
}

// ---- labels
static int64_t label_at(const wf_npy *y, size_t i)
{
    switch (y->dtype) {
    case WEFT_I8: return ((const int8_t *)y->data)[i];
    case WEFT_I32: return ((const int32_t *)y->data)[i];
    case WEFT_I64: return ((const int64_t *)y->data)[i];
    default: return ((const uint8_t *)y->data)[i];
    }
}

static weft_status count_classes(arrays_dataset *d, int64_t given, weft_error *err)
{
    const wf_npy *y = &d->label;
    const size_t n = y->size_bytes / weft_dtype_size(y->dtype);
    int64_t most = 0;
    for (size_t i = 0; i < n; i++) {
        const int64_t label = label_at(y, i);
        if (label < 0 || label > INT32_MAX - 1 || (given && label >= given))
            WEFT_FAIL(err, WEFT_ERR_INDEX, "%s: label %lld of sample %zu, expected 0 to %lld",
                      d->path, (long long)label, i / (n / (size_t)y->dim[0]),
                      (long long)(given ? given - 1 : INT32_MAX - 1));
        most = label > most ? label : most;
    }
    d->dataset.n_classes = given ? given : most + 1;
    return WEFT_OK;
}

// Whole numbers are classes, others are values.
static weft_status set_label(arrays_dataset *d, const wf_reader_options *o, weft_error *err)
{
    wf_dataset *set = &d->dataset;
    wf_npy *y = &d->label;
    const bool is_class = y->dtype != WEFT_F32 && y->dtype != WEFT_F64;
    if (!y->data)
        return WEFT_OK;
    if (y->ndim < 1 || y->dim[0] != set->n_samples || y->size_bytes == 0)
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: %lld labels, expected %lld, one for each sample",
                  d->path, (long long)(y->ndim < 1 ? 1 : y->dim[0]), (long long)set->n_samples);
    WEFT_TRY(check_finite(d, y, "the label of sample", err));
    if (is_class)
        WEFT_TRY(count_classes(d, o->n_classes, err));
    wf_field *field = &set->field[set->n_fields++];
    field->name = "label";
    field->dtype = y->dtype;
    field->data = y->data;
    field->sample_bytes = y->size_bytes / (size_t)y->dim[0];
    // [n,1] of classes is [n]: Keras keeps CIFAR so.
    const bool is_column = is_class && y->ndim == 2 && y->dim[1] == 1;
    for (int32_t k = 1; k < y->ndim && !is_column; k++)
        field->dim[field->ndim++] = y->dim[k];
    return WEFT_OK;
}

static weft_status set_class_names(arrays_dataset *d, const wf_reader_options *o, weft_error *err)
{
    if (!o->class_names || d->dataset.n_classes == 0)
        return WEFT_OK;
    const char **names = wf_arena_take(&d->arena, (size_t)o->n_classes * sizeof *names);
    for (int64_t i = 0; names && i < o->n_classes; i++) {
        names[i] = wf_arena_strdup(&d->arena, o->class_names[i]);
        if (!names[i])
            names = NULL;
    }
    if (!names)
        WEFT_FAIL(err, WEFT_ERR_MEMORY, "memory: no room for the names of classes");
    d->dataset.class_names = names;
    return WEFT_OK;
}

static bool probe(const char *path)
{
    const wf_allocator a = wf_allocator_default();
    const arrays_dataset d = {.dataset.allocator = a, .path = (char *)(uintptr_t)path};
    if (!wf_file_is_directory(path))
        return wf_file_is_regular(path) && (ends_with(path, ".npz") || ends_with(path, ".npy"));
    char *file = NULL;
    const bool is_found = find_file(&d, train_inputs, &file, NULL) == WEFT_OK && file;
    wf_free(&a, file);
    return is_found;
}

static weft_status open_dataset(const wf_reader_options *o, wf_dataset **out_dataset,
                                weft_error *err)
{
    arrays_dataset *d;
    weft_status status;
    wf_allocator a = o->allocator ? *o->allocator : wf_allocator_default();
    *out_dataset = NULL;
    WEFT_REQUIRE(err, o->path, "data: arrays wants a file or a folder");
    WEFT_TRY(wf_alloc(&a, 1, sizeof *d, &d, err));
    d->dataset.allocator = a;
    d->dataset.destroy = destroy_dataset;
    wf_arena_init(&d->arena, &a);
    WEFT_TRY_GOTO(wf_strdup(&a, o->path, &d->path, err));
    d->dataset.source = d->path;
    WEFT_TRY_GOTO(read_arrays(d, o, err));
    WEFT_TRY_GOTO(set_input(d, err));
    WEFT_TRY_GOTO(set_label(d, o, err));
    WEFT_TRY_GOTO(set_class_names(d, o, err));
    *out_dataset = &d->dataset;
    return WEFT_OK;
fail:
    destroy_dataset(&d->dataset);
    return status;
}

const wf_reader wf_reader_arrays = {
    .name = "arrays",
    .summary = "NumPy arrays in .npz or .npy files",
    .probe = probe,
    .open = open_dataset,
};
