// Lists of files, by folder or by rows.
#include "data/file_list.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "io/csv.h"
#include "io/directory.h"

// Folders inside a class; links may go in circles.
#define DEPTH_MAX 16

static const char *const train_names[] = {"train", "training", NULL};
static const char *const test_names[] = {"test", "val", "valid", "validation", NULL};

static bool is_of_kind(const wf_file_kind *kind, const char *name)
{
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && kind->endings[i]; i++) {
        if (!strcasecmp(dot + 1, kind->endings[i]))
            return true;
    }
    return false;
}

static weft_status fail_memory(const char *path, weft_error *err)
{
    WEFT_FAIL(err, WEFT_ERR_MEMORY, "memory: no room for the files of %s", path);
}

static weft_status begin(wf_file_list *list, const wf_reader_options *o, const char *path,
                         weft_error *err)
{
    memset(list, 0, sizeof *list);
    list->allocator = o->allocator ? *o->allocator : wf_allocator_default();
    wf_arena_init(&list->arena, &list->allocator);
    if (!o->class_names)
        return WEFT_OK;
    const size_t n = (size_t)o->n_classes;
    WEFT_TRY(wf_alloc(&list->allocator, n, sizeof *list->class_names, &list->class_names, err));
    for (; list->n_classes < n; list->n_classes++) {
        char *name = wf_arena_strdup(&list->arena, o->class_names[list->n_classes]);
        if (!name)
            return fail_memory(path, err);
        list->class_names[list->n_classes] = name;
    }
    return WEFT_OK;
}

static weft_status add_file(wf_file_list *list, const char *path, int32_t label, size_t line,
                            size_t *capacity, weft_error *err)
{
    WEFT_TRY(
        wf_array_reserve(&list->allocator, &list->v, capacity, list->n + 1, sizeof *list->v, err));
    wf_listed_file *file = &list->v[list->n];
    *file =
        (wf_listed_file){.path = wf_arena_strdup(&list->arena, path), .label = label, .line = line};
    if (!file->path)
        return fail_memory(path, err);
    list->n++;
    return WEFT_OK;
}

static int32_t find_class(const wf_file_list *list, const char *name)
{
    for (size_t i = 0; i < list->n_classes; i++) {
        if (!strcmp(list->class_names[i], name))
            return (int32_t)i;
    }
    return -1;
}

// Every file of the kind below path, folder by folder, sorted.
static weft_status add_folder(wf_file_list *list, const wf_file_kind *kind, const char *path,
                              int32_t label, int depth, size_t *capacity, weft_error *err)
{
    wf_directory d;
    if (depth > DEPTH_MAX)
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: folders more than %d deep", path, DEPTH_MAX);
    WEFT_TRY(wf_directory_read(&list->allocator, path, &d, err));
    weft_status status = WEFT_OK;
    for (size_t i = 0; i < d.n && status == WEFT_OK; i++) {
        char *whole;
        status = wf_path_join(&list->allocator, path, d.v[i].name, &whole, err);
        if (status != WEFT_OK)
            break;
        if (d.v[i].is_directory)
            status = add_folder(list, kind, whole, label, depth + 1, capacity, err);
        else if (is_of_kind(kind, d.v[i].name))
            status = add_file(list, whole, label, 0, capacity, err);
        else
            list->n_others++;
        wf_free(&list->allocator, whole);
    }
    wf_directory_deinit(&d);
    return status;
}

// The folders in d become the classes, unless they are given.
static weft_status name_classes(wf_file_list *list, const wf_directory *d, const char *path,
                                weft_error *err)
{
    if (list->class_names)
        return WEFT_OK;
    WEFT_TRY(wf_alloc(&list->allocator, d->n, sizeof *list->class_names, &list->class_names, err));
    for (size_t i = 0; i < d->n; i++) {
        if (!d->v[i].is_directory)
            continue;
        char *name = wf_arena_strdup(&list->arena, d->v[i].name);
        if (!name)
            return fail_memory(path, err);
        list->class_names[list->n_classes++] = name;
    }
    return WEFT_OK;
}

static weft_status add_classes(wf_file_list *list, const wf_file_kind *kind, const wf_directory *d,
                               const char *path, weft_error *err)
{
    size_t capacity = 0;
    for (size_t i = 0; i < d->n; i++) {
        const char *name = d->v[i].name;
        char *whole;
        if (!d->v[i].is_directory) {
            list->n_others++;
            continue;
        }
        const int32_t label = find_class(list, name);
        if (label < 0)
            WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: folder '%s' is none of the %zu classes", path,
                      name, list->n_classes);
        WEFT_TRY(wf_path_join(&list->allocator, path, name, &whole, err));
        const weft_status status = add_folder(list, kind, whole, label, 0, &capacity, err);
        wf_free(&list->allocator, whole);
        WEFT_TRY(status);
    }
    if (list->n == 0)
        WEFT_FAIL(err, WEFT_ERR_FORMAT,
                  "%s: no %s in its folders, expected %s in a folder for each class", path,
                  kind->what, kind->expected);
    return WEFT_OK;
}

static weft_status from_folder(wf_file_list *list, const wf_file_kind *kind, const char *path,
                               weft_error *err)
{
    wf_directory d = {.n = 0};
    WEFT_TRY(wf_directory_read(&list->allocator, path, &d, err));
    weft_status status = name_classes(list, &d, path, err);
    if (status == WEFT_OK)
        status = add_classes(list, kind, &d, path, err);
    wf_directory_deinit(&d);
    return status;
}

static int compare_words(const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;
    return strcmp(*x, *y);
}

// The different labels of the rows, sorted, unless they are given.
static weft_status name_labels(wf_file_list *list, const wf_csv *csv, size_t first,
                               const char *path, weft_error *err)
{
    if (list->class_names)
        return WEFT_OK;
    const size_t n = csv->n_rows - first;
    WEFT_TRY(wf_alloc(&list->allocator, n, sizeof *list->class_names, &list->class_names, err));
    for (size_t i = 0; i < n; i++)
        list->class_names[i] = wf_csv_cell(csv, first + i, 1);
    if (n)
        qsort(list->class_names, n, sizeof *list->class_names, compare_words);
    for (size_t i = 0; i < n; i++) {
        if (i && !strcmp(list->class_names[i], list->class_names[list->n_classes - 1]))
            continue;
        char *name = wf_arena_strdup(&list->arena, list->class_names[i]);
        if (!name)
            return fail_memory(path, err);
        list->class_names[list->n_classes++] = name;
    }
    return WEFT_OK;
}

static weft_status add_rows(wf_file_list *list, const wf_csv *csv, size_t first, const char *path,
                            weft_error *err)
{
    size_t capacity = 0;
    char *folder = wf_arena_strdup(&list->arena, path);
    if (!folder)
        return fail_memory(path, err);
    folder[wf_path_base(folder) - folder] = 0; // "" where the list lies here
    for (size_t i = first; i < csv->n_rows; i++) {
        const char *name = wf_csv_cell(csv, i, 0), *label = wf_csv_cell(csv, i, 1);
        char *whole = NULL;
        const int32_t label_idx = find_class(list, label);
        if (!name[0] || !label[0])
            WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: line %zu: no %s, expected path and label", path,
                      csv->line[i], name[0] ? "label" : "path");
        if (label_idx < 0)
            WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: line %zu: label '%s' is none of the %zu classes",
                      path, csv->line[i], label, list->n_classes);
        if (name[0] != '/' && folder[0])
            WEFT_TRY(wf_path_join(&list->allocator, folder, name, &whole, err));
        const weft_status status =
            add_file(list, whole ? whole : name, label_idx, csv->line[i], &capacity, err);
        wf_free(&list->allocator, whole);
        WEFT_TRY(status);
    }
    if (list->n == 0)
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: no rows behind its header", path);
    return WEFT_OK;
}

static bool is_header(const wf_csv *csv)
{
    static const char *const words[] = {"path", "file", "filename", "image", "sound"};
    for (size_t i = 0; i < WF_COUNT_OF(words); i++) {
        if (!strcasecmp(wf_csv_cell(csv, 0, 0), words[i]))
            return true;
    }
    return false;
}

static weft_status from_rows(wf_file_list *list, const char *path, weft_error *err)
{
    wf_csv csv;
    weft_status status = WEFT_OK;
    WEFT_TRY(wf_csv_read(&list->allocator, path, 0, &csv, err));
    if (csv.n_columns != 2)
        status = wf_error_set(err, WEFT_ERR_FORMAT, "%s: %zu columns, expected two: path and label",
                              path, csv.n_columns);
    const size_t first = status == WEFT_OK && is_header(&csv) ? 1 : 0;
    if (status == WEFT_OK)
        status = name_labels(list, &csv, first, path, err);
    if (status == WEFT_OK)
        status = add_rows(list, &csv, first, path, err);
    wf_csv_deinit(&csv);
    return status;
}

// dir/NAME for the first of the names that is a folder, else NULL.
static weft_status find_part(const wf_allocator *a, const char *dir, const char *const *names,
                             char **out_path, weft_error *err)
{
    *out_path = NULL;
    for (; *names; names++) {
        WEFT_TRY(wf_path_join(a, dir, *names, out_path, err));
        if (wf_file_is_directory(*out_path))
            return WEFT_OK;
        wf_free(a, *out_path);
        *out_path = NULL;
    }
    return WEFT_OK;
}

// A folder "train" (with or without "test" beside it) holds the training part, else the whole does.
static weft_status choose_path(wf_file_list *list, const wf_reader_options *o, weft_error *err)
{
    const wf_allocator *a = &list->allocator;
    const bool is_test = o->part && !strcmp(o->part, "test");
    if (o->part && wf_file_is_directory(o->path))
        WEFT_TRY(find_part(a, o->path, is_test ? test_names : train_names, &list->path, err));
    if (list->path)
        return WEFT_OK;
    if (is_test)
        WEFT_FAIL(err, WEFT_ERR_FILE, "%s: no folder test, val, valid or validation in it",
                  o->path);
    return wf_strdup(a, o->path, &list->path, err);
}

static weft_status fill(wf_file_list *list, const wf_file_kind *kind, const wf_reader_options *o,
                        weft_error *err)
{
    WEFT_TRY(begin(list, o, o->path, err));
    WEFT_TRY(choose_path(list, o, err));
    if (!wf_file_is_directory(list->path))
        return from_rows(list, list->path, err);
    return from_folder(list, kind, list->path, err);
}

weft_status wf_file_list_open(wf_file_list *out, const wf_file_kind *kind,
                              const wf_reader_options *o, weft_error *err)
{
    const weft_status status = fill(out, kind, o, err);
    if (status != WEFT_OK)
        wf_file_list_deinit(out);
    else if (out->n_others)
        wf_reader_note(o, WEFT_LOG_INFO, "%s: %zu files are no %s by their names", out->path,
                       out->n_others, kind->what);
    return status;
}

weft_status wf_file_list_label(const wf_file_list *list, wf_dataset *set, int32_t **out_label,
                               weft_error *err)
{
    set->n_samples = (int64_t)list->n;
    set->n_classes = (int64_t)list->n_classes;
    set->class_names = list->class_names;
    WEFT_TRY(wf_alloc(&set->allocator, list->n, sizeof **out_label, out_label, err));
    for (size_t i = 0; i < list->n; i++)
        (*out_label)[i] = list->v[i].label;
    set->field[set->n_fields++] = (wf_field){
        .name = "label", .dtype = WEFT_I32, .sample_bytes = sizeof **out_label, .data = *out_label};
    return WEFT_OK;
}

bool wf_file_list_probe(const wf_file_kind *kind, const char *path)
{
    const wf_reader_options o = {.path = path, .part = "train"};
    wf_file_list list;
    if (!wf_file_is_directory(path) || wf_file_list_open(&list, kind, &o, NULL) != WEFT_OK)
        return false;
    wf_file_list_deinit(&list);
    return true;
}

void wf_file_list_deinit(wf_file_list *list)
{
    if (!list->allocator.reallocate)
        return;
    wf_free(&list->allocator, list->path);
    wf_free(&list->allocator, list->v);
    wf_free(&list->allocator, list->class_names);
    wf_arena_deinit(&list->arena);
    memset(list, 0, sizeof *list);
}
