// Opens weights in one file or in shards.
#include "io/tensor_files.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "io/directory.h"
#include "weft_config.h"

#if WEFT_HAVE_CJSON
#include <cjson/cJSON.h>
#endif

// More shards than any model has.
#define SHARDS_MAX 4096
#define INDEX_ENDING ".safetensors.index.json"

struct wf_tensor_files {
    wf_allocator allocator;
    wf_safetensors **shard;
    char **shard_path;
    size_t n_shards;
    const wf_st_tensor **tensor; // sorted by name
    size_t n;
};

static int compare_tensors(const void *a, const void *b)
{
    const wf_st_tensor *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

static weft_status add_shard(wf_tensor_files *f, const char *path, size_t *capacity,
                             size_t *path_capacity, weft_error *err)
{
    const wf_allocator *a = &f->allocator;
    WEFT_TRY(wf_array_reserve(a, &f->shard, capacity, f->n_shards + 1, sizeof *f->shard, err));
    WEFT_TRY(wf_array_reserve(a, &f->shard_path, path_capacity, f->n_shards + 1,
                              sizeof *f->shard_path, err));
    WEFT_TRY(wf_safetensors_open(a, path, &f->shard[f->n_shards], err));
    f->shard_path[f->n_shards] = NULL;
    f->n_shards++;
    return wf_strdup(a, path, &f->shard_path[f->n_shards - 1], err);
}

// All tensors of all shards, by name.
static weft_status list_tensors(wf_tensor_files *f, const char *path, weft_error *err)
{
    size_t n = 0;
    for (size_t i = 0; i < f->n_shards; i++)
        n += wf_safetensors_count(f->shard[i]);
    WEFT_TRY(wf_alloc(&f->allocator, n, sizeof *f->tensor, &f->tensor, err));
    for (size_t i = 0; i < f->n_shards; i++) {
        for (size_t k = 0; k < wf_safetensors_count(f->shard[i]); k++)
            f->tensor[f->n++] = wf_safetensors_get(f->shard[i], k);
    }
    if (n)
        qsort(f->tensor, n, sizeof *f->tensor, compare_tensors);
    for (size_t i = 1; i < n; i++) {
        if (!strcmp(f->tensor[i - 1]->name, f->tensor[i]->name))
            WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: tensor '%s' is in two of its files", path,
                      f->tensor[i]->name);
    }
    return WEFT_OK;
}

#if WEFT_HAVE_CJSON

static size_t find_shard(const wf_tensor_files *f, const char *path)
{
    size_t i = 0;
    while (i < f->n_shards && strcmp(f->shard_path[i], path) != 0)
        i++;
    return i;
}

// A shard lies beside its index: a name with a slash would lead elsewhere.
static weft_status shard_path(const wf_tensor_files *f, const char *index, const cJSON *item,
                              char **out, weft_error *err)
{
    const char *name = cJSON_GetStringValue(item);
    *out = NULL;
    if (!name || !name[0] || strchr(name, '/') || strchr(name, '\\'))
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: tensor '%s' is not in a file beside the index", index,
                  item->string);
    const size_t n = (size_t)(wf_path_base(index) - index);
    WEFT_TRY(wf_alloc(&f->allocator, n + strlen(name) + 1, 1, out, err));
    memcpy(*out, index, n);
    memcpy(*out + n, name, strlen(name) + 1);
    return WEFT_OK;
}

static weft_status open_shards(wf_tensor_files *f, const char *path, const cJSON *map,
                               weft_error *err)
{
    size_t capacity = 0, path_capacity = 0;
    const cJSON *item;
    cJSON_ArrayForEach(item, map)
    {
        char *shard;
        WEFT_TRY(shard_path(f, path, item, &shard, err));
        weft_status status = WEFT_OK;
        size_t i = find_shard(f, shard);
        if (i == SHARDS_MAX)
            status = wf_error_set(err, WEFT_ERR_FORMAT, "%s: more than %d files", path, SHARDS_MAX);
        else if (i == f->n_shards)
            status = add_shard(f, shard, &capacity, &path_capacity, err);
        if (status == WEFT_OK && !wf_safetensors_find(f->shard[i], item->string))
            status = wf_error_set(err, WEFT_ERR_FORMAT, "%s: tensor '%s' is not in %s, as %s says",
                                  path, item->string, shard, wf_path_base(path));
        wf_free(&f->allocator, shard);
        WEFT_TRY(status);
    }
    return f->n_shards ? WEFT_OK : wf_error_set(err, WEFT_ERR_FORMAT, "%s: names no tensors", path);
}

static weft_status open_index(wf_tensor_files *f, const char *path, weft_error *err)
{
    char *text;
    WEFT_TRY(wf_file_read_text(&f->allocator, path, &text, err));
    // cJSON allocates by itself: its hooks are global, and a library does not change globals.
    cJSON *root = cJSON_Parse(text);
    wf_free(&f->allocator, text);
    const cJSON *map = cJSON_GetObjectItemCaseSensitive(root, "weight_map");
    weft_status status = WEFT_OK;
    if (!cJSON_IsObject(map))
        status = wf_error_set(err, WEFT_ERR_FORMAT, "%s: %s", path,
                              root ? "no object weight_map in it" : "no JSON");
    else
        status = open_shards(f, path, map, err);
    cJSON_Delete(root);
    return status;
}

#else

static weft_status open_index(wf_tensor_files *f, const char *path, weft_error *err)
{
    (void)f;
    WEFT_FAIL(err, WEFT_ERR_UNSUPPORTED, "%s: this build has no cJSON to read it with", path);
}

#endif

// What of a folder is meant. Free with wf_free.
static weft_status find_in_folder(const wf_allocator *a, const char *path, char **out,
                                  weft_error *err)
{
    static const char *const names[] = {"model.safetensors", "weights.safetensors"};
    wf_directory d;
    const char *found = NULL;
    size_t n_indices = 0;
    *out = NULL;
    WEFT_TRY(wf_directory_read(a, path, &d, err));
    for (size_t i = 0; i < d.n; i++) {
        if (ends_with(d.v[i].name, INDEX_ENDING)) {
            found = d.v[i].name;
            n_indices++;
        }
    }
    for (size_t k = 0; k < WF_COUNT_OF(names) && !found; k++) {
        for (size_t i = 0; i < d.n && !found; i++)
            found = strcmp(d.v[i].name, names[k]) == 0 ? d.v[i].name : NULL;
    }
    weft_status status;
    if (n_indices > 1)
        status =
            wf_error_set(err, WEFT_ERR_FILE, "%s: %zu indices in it, name one", path, n_indices);
    else if (!found)
        status = wf_error_set(err, WEFT_ERR_FILE,
                              "%s: neither *" INDEX_ENDING " nor model.safetensors in it", path);
    else
        status = wf_path_join(a, path, found, out, err);
    wf_directory_deinit(&d);
    return status;
}

static weft_status open_path(wf_tensor_files *f, const char *path, weft_error *err)
{
    size_t capacity = 0, path_capacity = 0;
    if (ends_with(path, ".json"))
        WEFT_TRY(open_index(f, path, err));
    else
        WEFT_TRY(add_shard(f, path, &capacity, &path_capacity, err));
    return list_tensors(f, path, err);
}

weft_status wf_tensor_files_open(const wf_allocator *a, const char *path,
                                 wf_tensor_files **out_files, weft_error *err)
{
    wf_tensor_files *f;
    char *inside = NULL;
    *out_files = NULL;
    if (wf_file_is_directory(path))
        WEFT_TRY(find_in_folder(a, path, &inside, err));
    weft_status status = wf_alloc(a, 1, sizeof *f, &f, err);
    if (status == WEFT_OK) {
        f->allocator = *a;
        status = open_path(f, inside ? inside : path, err);
    }
    wf_free(a, inside);
    if (status != WEFT_OK) {
        wf_tensor_files_close(f);
        return status;
    }
    *out_files = f;
    return WEFT_OK;
}

size_t wf_tensor_files_count(const wf_tensor_files *f)
{
    return f->n;
}

const wf_st_tensor *wf_tensor_files_get(const wf_tensor_files *f, size_t idx)
{
    return idx < f->n ? f->tensor[idx] : NULL;
}

const wf_st_tensor *wf_tensor_files_find(const wf_tensor_files *f, const char *name)
{
    const wf_st_tensor key = {.name = name}, *at = &key;
    const wf_st_tensor *const *found =
        f->n ? bsearch(&at, f->tensor, f->n, sizeof *f->tensor, compare_tensors) : NULL;
    return found ? *found : NULL;
}

void wf_tensor_files_close(wf_tensor_files *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->n_shards; i++) {
        wf_safetensors_close(f->shard[i]);
        wf_free(&f->allocator, f->shard_path[i]);
    }
    wf_free(&f->allocator, f->shard);
    wf_free(&f->allocator, f->shard_path);
    wf_free(&f->allocator, f->tensor);
    wf_free(&f->allocator, f);
}
