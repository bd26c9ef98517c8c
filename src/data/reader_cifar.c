// Reads CIFAR-10 and CIFAR-100 in their binary form (A. Krizhevsky, 2009): records of a label (of
// CIFAR-100 a coarse and a fine one) and 3 x 32 x 32 bytes, red, green, blue. In: the folder, or one
// file of it. Out: fields "image" u8 [3,32,32] and "label", the fine one.
#include <string.h>

#include "data/readers.h"
#include "io/byte_source.h"

#define SIDE 32
#define IMAGE_BYTES ((size_t)3 * SIDE * SIDE)
// The whole sets are below 190 MB.
#define FILE_MAX_BYTES ((size_t)1 << 31)

typedef struct {
    const char *name;
    int64_t n_classes;
    size_t n_labels;          // before each image; the last one counts
    const char *const *train; // files, end with NULL
    const char *const *test;
    const char *names; // the file with the names of the classes
} cifar_kind;

static const char *const train_10[] = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                                       "data_batch_4.bin", "data_batch_5.bin", NULL};
static const char *const test_10[] = {"test_batch.bin", NULL};
static const char *const train_100[] = {"train.bin", NULL};
static const char *const test_100[] = {"test.bin", NULL};
static const cifar_kind kinds[] = {
    {"CIFAR-10", 10, 1, train_10, test_10, "batches.meta.txt"},
    {"CIFAR-100", 100, 2, train_100, test_100, "fine_label_names.txt"},
};

typedef struct {
    wf_dataset dataset; // first: destroyed through its address
    char *path;
    uint8_t *pixels; // [n,3,32,32]
    uint8_t *label;  // [n]
    size_t n, pixels_capacity, label_capacity;
    wf_arena arena; // class names
} cifar_dataset;

static void destroy_dataset(wf_dataset *dataset)
{
    cifar_dataset *d = (cifar_dataset *)dataset;
    wf_allocator a = dataset->allocator;
    wf_free(&a, d->pixels);
    wf_free(&a, d->label);
    wf_free(&a, d->path);
    wf_arena_deinit(&d->arena);
    wf_free(&a, d);
}

static weft_status add_records(cifar_dataset *d, const cifar_kind *kind, const char *path,
                               const uint8_t *data, size_t size, weft_error *err)
{
    const size_t record = kind->n_labels + IMAGE_BYTES, n = size / record;
    const wf_allocator *a = &d->dataset.allocator;
    if (n == 0 || size % record)
        WEFT_FAIL(err, WEFT_ERR_FORMAT,
                  "%s: %zu bytes, cut in record %zu: expected a multiple of %zu (%s)", path, size,
                  n, record, kind->name);
    WEFT_TRY(wf_array_reserve(a, &d->pixels, &d->pixels_capacity, d->n + n, IMAGE_BYTES, err));
    WEFT_TRY(wf_array_reserve(a, &d->label, &d->label_capacity, d->n + n, 1, err));
    for (size_t i = 0; i < n; i++) {
        const uint8_t *p = data + i * record;
        const uint8_t label = p[kind->n_labels - 1];
        if (label >= kind->n_classes)
            WEFT_FAIL(err, WEFT_ERR_INDEX, "%s: label %d at byte %zu, expected 0 to %lld (%s)",
                      path, label, i * record + kind->n_labels - 1, (long long)kind->n_classes - 1,
                      kind->name);
        d->label[d->n] = label;
        memcpy(d->pixels + d->n * IMAGE_BYTES, p + kind->n_labels, IMAGE_BYTES);
        d->n++;
    }
    return WEFT_OK;
}

static const cifar_kind *find_kind_by_name(const char *name)
{
    for (size_t i = 0; i < WF_COUNT_OF(kinds); i++) {
        const char *const *const lists[] = {kinds[i].train, kinds[i].test};
        for (size_t k = 0; k < WF_COUNT_OF(lists); k++) {
            for (const char *const *file = lists[k]; *file; file++) {
                if (!strcmp(*file, name))
                    return &kinds[i];
            }
        }
    }
    return NULL;
}

static weft_status add_file(cifar_dataset *d, const cifar_kind *kind, const char *path,
                            weft_error *err)
{
    uint8_t *data;
    size_t size;
    const wf_allocator *a = &d->dataset.allocator;
    WEFT_TRY(wf_byte_source_read_all(a, path, FILE_MAX_BYTES, &data, &size, err));
    // A file alone says by its name what it is, else by its length.
    if (!kind)
        kind = find_kind_by_name(wf_path_base(path));
    if (!kind)
        kind = size % (2 + IMAGE_BYTES) == 0 && size % (1 + IMAGE_BYTES) ? &kinds[1] : &kinds[0];
    d->dataset.n_classes = kind->n_classes;
    const weft_status status = add_records(d, kind, path, data, size, err);
    wf_free(a, data);
    return status;
}

// Which kind's files lie in the folder; *out_kind is NULL where none do.
static weft_status find_kind(const wf_allocator *a, const char *dir, const cifar_kind **out_kind,
                             weft_error *err)
{
    *out_kind = NULL;
    for (size_t i = 0; i < 2 * WF_COUNT_OF(kinds) && !*out_kind; i++) {
        const cifar_kind *kind = &kinds[i / 2];
        char *path;
        WEFT_TRY(wf_path_join(a, dir, i % 2 ? kind->test[0] : kind->train[0], &path, err));
        if (wf_file_is_regular(path))
            *out_kind = kind;
        wf_free(a, path);
    }
    return WEFT_OK;
}

// One name a line; a missing file is none.
static weft_status read_names(cifar_dataset *d, const cifar_kind *kind, weft_error *err)
{
    const wf_allocator *a = &d->dataset.allocator;
    char *path, *text = NULL;
    WEFT_TRY(wf_path_join(a, d->path, kind->names, &path, err));
    const bool is_there = wf_file_is_regular(path);
    const weft_status status = is_there ? wf_file_read_text(a, path, &text, err) : WEFT_OK;
    wf_free(a, path);
    WEFT_TRY(status);
    const char **names = wf_arena_take(&d->arena, (size_t)kind->n_classes * sizeof *names);
    int64_t n = 0;
    for (char *line = text; names && line && *line && n < kind->n_classes;) {
        const size_t length = strcspn(line, "\n");
        char *next = line[length] ? line + length + 1 : line + length;
        line[length] = 0;
        if (length && (names[n++] = wf_arena_strdup(&d->arena, line)) == NULL)
            names = NULL;
        line = next;
    }
    wf_free(a, text);
    if (!names)
        WEFT_FAIL(err, WEFT_ERR_MEMORY, "memory: no room for the names of classes");
    if (n == kind->n_classes)
        d->dataset.class_names = names;
    return WEFT_OK;
}

static weft_status read_folder(cifar_dataset *d, const wf_reader_options *o, weft_error *err)
{
    const wf_allocator *a = &d->dataset.allocator;
    const cifar_kind *kind;
    const bool is_test = o->part && !strcmp(o->part, "test");
    WEFT_TRY(find_kind(a, d->path, &kind, err));
    if (!kind)
        WEFT_FAIL(err, WEFT_ERR_FILE, "%s: neither data_batch_1.bin nor train.bin in it", d->path);
    for (const char *const *name = is_test ? kind->test : kind->train; *name; name++) {
        char *path;
        WEFT_TRY(wf_path_join(a, d->path, *name, &path, err));
        const weft_status status = add_file(d, kind, path, err);
        wf_free(a, path);
        WEFT_TRY(status);
    }
    return read_names(d, kind, err);
}

static void set_fields(cifar_dataset *d)
{
    wf_dataset *set = &d->dataset;
    set->n_samples = (int64_t)d->n;
    set->n_fields = 2;
    set->field[0] = (wf_field){.name = "image",
                               .dtype = WEFT_U8,
                               .ndim = 3,
                               .dim = {3, SIDE, SIDE},
                               .sample_bytes = IMAGE_BYTES,
                               .data = d->pixels};
    set->field[1] =
        (wf_field){.name = "label", .dtype = WEFT_U8, .sample_bytes = 1, .data = d->label};
}

static bool probe(const char *path)
{
    const wf_allocator a = wf_allocator_default();
    const cifar_kind *kind;
    return wf_file_is_directory(path) && find_kind(&a, path, &kind, NULL) == WEFT_OK && kind;
}

static weft_status open_dataset(const wf_reader_options *o, wf_dataset **out_dataset,
                                weft_error *err)
{
    cifar_dataset *d;
    weft_status status;
    wf_allocator a = o->allocator ? *o->allocator : wf_allocator_default();
    *out_dataset = NULL;
    WEFT_REQUIRE(err, o->path, "data: cifar wants a folder or a file");
    WEFT_TRY(wf_alloc(&a, 1, sizeof *d, &d, err));
    d->dataset.allocator = a;
    d->dataset.destroy = destroy_dataset;
    wf_arena_init(&d->arena, &a);
    WEFT_TRY_GOTO(wf_strdup(&a, o->path, &d->path, err));
    d->dataset.source = d->path;
    if (wf_file_is_directory(d->path))
        status = read_folder(d, o, err);
    else if (o->part && !strcmp(o->part, "test"))
        status = wf_error_set(err, WEFT_ERR_FILE, "%s: one file has no part 'test'", d->path);
    else
        status = add_file(d, NULL, d->path, err);
    if (status != WEFT_OK)
        goto fail;
    set_fields(d);
    *out_dataset = &d->dataset;
    return WEFT_OK;
fail:
    destroy_dataset(&d->dataset);
    return status;
}

const wf_reader wf_reader_cifar = {
    .name = "cifar",
    .summary = "CIFAR-10 and CIFAR-100 in their binary form",
    .probe = probe,
    .open = open_dataset,
};
