// Reads data sets kept as IDX files: a file of images and one of labels (the classic digits,
// Fashion-MNIST and their kin). In: a directory and a part, or the files themselves. Out: fields
// "image" u8 [c,h,w] and "label".
#include <string.h>

#include "data/idx.h"
#include "data/readers.h"

typedef struct {
    wf_dataset dataset; // first: destroyed through its address
    wf_idx images;
    wf_idx labels;
    char *images_path;
    char *labels_path;
    wf_arena arena; // class names
} idx_dataset;

static void destroy_dataset(wf_dataset *dataset)
{
    idx_dataset *d = (idx_dataset *)dataset;
    wf_allocator a = dataset->allocator;
    wf_idx_close(&d->images);
    wf_idx_close(&d->labels);
    wf_free(&a, d->images_path);
    wf_free(&a, d->labels_path);
    wf_arena_deinit(&d->arena);
    wf_free(&a, d);
}

// How the parts are called, and how images and labels are.
static const char *const train_prefixes[] = {"train", NULL};
static const char *const test_prefixes[] = {"t10k", "test", NULL};
static const char *const images_suffixes[] = {"-images-idx3-ubyte",
                                              "-images.idx3-ubyte",
                                              "-images-idx3-ubyte.gz",
                                              "-images.idx3-ubyte.gz",
                                              "-images.idx",
                                              "-images.idx.gz",
                                              NULL};
static const char *const labels_suffixes[] = {"-labels-idx1-ubyte",
                                              "-labels.idx1-ubyte",
                                              "-labels-idx1-ubyte.gz",
                                              "-labels.idx1-ubyte.gz",
                                              "-labels.idx",
                                              "-labels.idx.gz",
                                              NULL};

// The first file of prefix x suffix that exists; *out_path is NULL when there is none.
static weft_status find_file(const wf_allocator *a, const char *dir, const char *const *prefixes,
                             const char *const *suffixes, char **out_path, weft_error *err)
{
    *out_path = NULL;
    for (; *prefixes; prefixes++) {
        for (size_t i = 0; suffixes[i]; i++) {
            char name[64] = "";
            strncat(name, *prefixes, sizeof name - 1);
            strncat(name, suffixes[i], sizeof name - 1 - strlen(name));
            WEFT_TRY(wf_path_join(a, dir, name, out_path, err));
            if (wf_file_is_regular(*out_path))
                return WEFT_OK;
            wf_free(a, *out_path);
            *out_path = NULL;
        }
    }
    return WEFT_OK;
}

static weft_status find_in_directory(idx_dataset *d, const char *dir, const char *part,
                                     weft_error *err)
{
    const wf_allocator *a = &d->dataset.allocator;
    bool is_test = part && !strcmp(part, "test");
    if (part && !is_test && strcmp(part, "train"))
        WEFT_FAIL(err, WEFT_ERR_NAME, "data: no part '%s', expected train or test", part);
    const char *const *prefixes = is_test ? test_prefixes : train_prefixes;
    WEFT_TRY(find_file(a, dir, prefixes, images_suffixes, &d->images_path, err));
    WEFT_TRY(find_file(a, dir, prefixes, labels_suffixes, &d->labels_path, err));
    if (!d->images_path || !d->labels_path) {
        WEFT_FAIL(err, WEFT_ERR_FILE,
                  "%s: no IDX file %s%s (also without .gz, or with .idx for -idx)", dir,
                  prefixes[0], d->images_path ? "-labels-idx1-ubyte.gz" : "-images-idx3-ubyte.gz");
    }
    return WEFT_OK;
}

static weft_status find_files(idx_dataset *d, const wf_reader_options *options, weft_error *err)
{
    const wf_allocator *a = &d->dataset.allocator;
    if (options->images) {
        WEFT_TRY(wf_strdup(a, options->images, &d->images_path, err));
        return wf_strdup(a, options->labels, &d->labels_path, err);
    }
    WEFT_REQUIRE(err, options->path, "data: idx wants a path, or images and labels");
    if (wf_file_is_directory(options->path))
        return find_in_directory(d, options->path, options->part, err);
    // A file alone is images without labels.
    return wf_strdup(a, options->path, &d->images_path, err);
}

static weft_status set_images(idx_dataset *d, weft_error *err)
{
    wf_dataset *set = &d->dataset;
    const wf_idx *idx = &d->images;
    wf_field *field = &set->field[set->n_fields++];
    field->name = "image";
    field->dtype = idx->dtype;
    field->data = idx->data;
    set->n_samples = idx->dim[0];
    if (idx->ndim == 3) // [n,h,w] has one channel
        field->dim[field->ndim++] = 1;
    for (int i = 1; i < idx->ndim; i++)
        field->dim[field->ndim++] = idx->dim[i];
    field->sample_bytes = weft_dtype_size(idx->dtype);
    for (int i = 0; i < field->ndim; i++)
        field->sample_bytes *= (size_t)field->dim[i]; // the product was checked by the reader
    if (set->n_samples < 1 || field->sample_bytes == 0) {
        WEFT_FAIL(err, WEFT_ERR_FORMAT,
                  "%s: holds no images, size 0 in the header at byte 4 and on", d->images_path);
    }
    return WEFT_OK;
}

static int64_t label_at(const wf_idx *idx, int64_t i)
{
    if (idx->dtype == WEFT_U8)
        return ((const uint8_t *)idx->data)[i];
    if (idx->dtype == WEFT_I8)
        return ((const int8_t *)idx->data)[i];
    return ((const int32_t *)idx->data)[i];
}

static weft_status set_labels(idx_dataset *d, int64_t n_classes, weft_error *err)
{
    wf_dataset *set = &d->dataset;
    const wf_idx *idx = &d->labels;
    int64_t highest = 0;
    if (idx->ndim != 1 ||
        (idx->dtype != WEFT_U8 && idx->dtype != WEFT_I8 && idx->dtype != WEFT_I32)) {
        WEFT_FAIL(err, WEFT_ERR_FORMAT,
                  "%s: %s of rank %d at byte 2, expected integer labels of rank 1", d->labels_path,
                  weft_dtype_name(idx->dtype), (int)idx->ndim);
    }
    if (idx->dim[0] != set->n_samples) {
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: %lld labels at byte 4, %s has %lld images",
                  d->labels_path, (long long)idx->dim[0], d->images_path,
                  (long long)set->n_samples);
    }
    for (int64_t i = 0; i < set->n_samples; i++) {
        int64_t label = label_at(idx, i);
        if (label < 0 || (n_classes && label >= n_classes)) {
            WEFT_FAIL(err, WEFT_ERR_INDEX, "%s: label %lld of sample %lld, expected 0 to %lld",
                      d->labels_path, (long long)label, (long long)i,
                      (long long)(n_classes ? n_classes - 1 : INT32_MAX));
        }
        highest = label > highest ? label : highest;
    }
    wf_field *field = &set->field[set->n_fields++];
    field->name = "label";
    field->dtype = idx->dtype;
    field->data = idx->data;
    field->sample_bytes = weft_dtype_size(idx->dtype);
    set->n_classes = n_classes ? n_classes : highest + 1;
    return WEFT_OK;
}

static weft_status set_class_names(idx_dataset *d, const wf_reader_options *options,
                                   weft_error *err)
{
    wf_dataset *set = &d->dataset;
    if (!options->class_names || !options->n_classes || !set->n_classes)
        return WEFT_OK;
    const char **names = wf_arena_take(&d->arena, (size_t)options->n_classes * sizeof *names);
    for (int64_t i = 0; names && i < options->n_classes; i++) {
        names[i] = wf_arena_strdup(&d->arena, options->class_names[i]);
        if (!names[i])
            names = NULL;
    }
    if (!names)
        WEFT_FAIL(err, WEFT_ERR_MEMORY, "memory: no room for %lld class names",
                  (long long)options->n_classes);
    set->class_names = names;
    return WEFT_OK;
}

static bool probe(const char *path)
{
    if (!wf_file_is_directory(path))
        return wf_idx_probe(path);
    wf_allocator a = wf_allocator_default();
    bool is_found = false;
    for (int i = 0; i < 2 && !is_found; i++) {
        char *file = NULL;
        (void)find_file(&a, path, i ? test_prefixes : train_prefixes, images_suffixes, &file, NULL);
        is_found = file != NULL;
        wf_free(&a, file);
    }
    return is_found;
}

static weft_status open_dataset(const wf_reader_options *options, wf_dataset **out_dataset,
                                weft_error *err)
{
    idx_dataset *d;
    weft_status status;
    wf_allocator a = options->allocator ? *options->allocator : wf_allocator_default();
    *out_dataset = NULL;
    WEFT_TRY(wf_alloc(&a, 1, sizeof *d, &d, err));
    d->dataset.allocator = a;
    d->dataset.destroy = destroy_dataset;
    wf_arena_init(&d->arena, &a);
    WEFT_TRY_GOTO(find_files(d, options, err));
    d->dataset.source = d->images_path;
    WEFT_TRY_GOTO(wf_idx_open(&a, d->images_path, &d->images, err));
    WEFT_TRY_GOTO(set_images(d, err));
    if (d->labels_path) {
        WEFT_TRY_GOTO(wf_idx_open(&a, d->labels_path, &d->labels, err));
        WEFT_TRY_GOTO(set_labels(d, options->n_classes, err));
    }
    WEFT_TRY_GOTO(set_class_names(d, options, err));
    *out_dataset = &d->dataset;
    return WEFT_OK;
fail:
    destroy_dataset(&d->dataset);
    return status;
}

const wf_reader wf_reader_idx = {
    .name = "idx",
    .summary = "images and labels in IDX files, plain or gzipped",
    .probe = probe,
    .open = open_dataset,
};
