// Reads a safetensors file: 8 bytes of header length, a JSON object, then the tensors without gaps.
// In: a path. Out: a table of tensors that point into the map. Every rule is checked before anything
// is handed out; a message names the file, and the tensor where there is one.
#include "io/safetensors.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "io/safetensors_common.h"
#include "weft_config.h"

#if WEFT_HAVE_CJSON
#include <cjson/cJSON.h>
#endif

struct wf_safetensors {
    wf_allocator allocator;
    wf_arena arena; // names and strings
    wf_file_map map;
    wf_st_tensor *tensors; // in the order of the data
    size_t n_tensors;
    const wf_st_tensor **by_name; // sorted
    wf_st_string *strings;
    size_t n_strings;
};

#if WEFT_HAVE_CJSON

// A whole number in 0 .. 2^53-1. cJSON holds numbers as doubles: above that they are not the
// number in the file any more, and no file is that long.
static bool read_count(const cJSON *item, uint64_t *out)
{
    *out = 0;
    if (!cJSON_IsNumber(item))
        return false;
    double value = item->valuedouble;
    if (!(value >= 0.0 && value < 9007199254740992.0))
        return false;
    *out = (uint64_t)value;
    return (double)*out == value;
}

static weft_status read_shape(const cJSON *item, const char *path, wf_st_tensor *t,
                              size_t *out_size, weft_error *err)
{
    const cJSON *shape = cJSON_GetObjectItemCaseSensitive(item, "shape");
    const cJSON *dim;
    size_t n_bytes = weft_dtype_size(t->dtype);
    if (!cJSON_IsArray(shape))
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: tensor '%s' has no shape array", path, t->name);
    int ndim = cJSON_GetArraySize(shape);
    if (ndim > WEFT_MAX_DIM) {
        WEFT_FAIL(err, WEFT_ERR_UNSUPPORTED,
                  "%s: tensor '%s' has %d dimensions, expected at most %d", path, t->name, ndim,
                  WEFT_MAX_DIM);
    }
    cJSON_ArrayForEach(dim, shape)
    {
        uint64_t value;
        if (!read_count(dim, &value)) {
            WEFT_FAIL(
                err, WEFT_ERR_FORMAT,
                "%s: tensor '%s' has a dimension %d that is not a whole number from 0 to 2^53",
                path, t->name, (int)t->ndim);
        }
        t->dim[t->ndim++] = (int64_t)value;
        if (!wf_mul_size(n_bytes, (size_t)value, &n_bytes)) {
            WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: tensor '%s' has a shape whose size overflows",
                      path, t->name);
        }
    }
    *out_size = n_bytes;
    return WEFT_OK;
}

// Fills t from one entry of the header. data_bytes: what the file holds behind the header.
static weft_status read_tensor(const cJSON *item, const char *path, const uint8_t *data,
                               size_t data_bytes, wf_st_tensor *t, weft_error *err)
{
    const cJSON *dtype = cJSON_GetObjectItemCaseSensitive(item, "dtype");
    const cJSON *offsets = cJSON_GetObjectItemCaseSensitive(item, "data_offsets");
    uint64_t begin, end;
    size_t shape_bytes = 0;
    if (!cJSON_IsObject(item) || !cJSON_IsString(dtype)) {
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: tensor '%s' has no dtype", path, t->name);
    }
    t->dtype = wf_st_dtype_parse(dtype->valuestring);
    if (t->dtype == WEFT_DTYPE_NONE) {
        WEFT_FAIL(
            err, WEFT_ERR_UNSUPPORTED,
            "%s: tensor '%s' has dtype %.16s, expected F32 F64 F16 BF16 I8 U8 I32 I64 or BOOL",
            path, t->name, dtype->valuestring);
    }
    WEFT_TRY(read_shape(item, path, t, &shape_bytes, err));
    if (!cJSON_IsArray(offsets) || cJSON_GetArraySize(offsets) != 2 ||
        !read_count(cJSON_GetArrayItem(offsets, 0), &begin) ||
        !read_count(cJSON_GetArrayItem(offsets, 1), &end)) {
        WEFT_FAIL(err, WEFT_ERR_FORMAT,
                  "%s: tensor '%s' has data_offsets that are not two whole numbers from 0 to 2^53",
                  path, t->name);
    }
    if (begin > end || end > data_bytes) {
        WEFT_FAIL(err, WEFT_ERR_FORMAT,
                  "%s: tensor '%s' has data_offsets [%llu,%llu], the file holds %zu bytes of data",
                  path, t->name, (unsigned long long)begin, (unsigned long long)end, data_bytes);
    }
    if (end - begin != shape_bytes) {
        WEFT_FAIL(err, WEFT_ERR_FORMAT,
                  "%s: tensor '%s' has %llu bytes of data, its shape and dtype need %zu", path,
                  t->name, (unsigned long long)(end - begin), shape_bytes);
    }
    t->data = data + begin;
    t->size_bytes = shape_bytes;
    return WEFT_OK;
}

static weft_status read_metadata(wf_safetensors *f, const cJSON *object, const char *path,
                                 weft_error *err)
{
    const cJSON *item;
    size_t n = cJSON_IsObject(object) ? (size_t)cJSON_GetArraySize(object) : 0;
    if (!cJSON_IsObject(object))
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: __metadata__ is not an object of strings", path);
    if (f->strings)
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: __metadata__ is there twice", path);
    WEFT_TRY(wf_alloc(&f->allocator, n, sizeof *f->strings, &f->strings, err));
    cJSON_ArrayForEach(item, object)
    {
        if (!cJSON_IsString(item)) {
            WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: __metadata__ has '%s', which is not a string",
                      path, item->string);
        }
        wf_st_string *s = &f->strings[f->n_strings];
        s->key = wf_arena_strdup(&f->arena, item->string);
        s->value = wf_arena_strdup(&f->arena, item->valuestring);
        if (!s->key || !s->value)
            WEFT_FAIL(err, WEFT_ERR_MEMORY, "memory: no room for the strings of %s", path);
        f->n_strings++;
    }
    return WEFT_OK;
}

static int compare_data(const void *a, const void *b)
{
    const wf_st_tensor *x = a, *y = b;
    uintptr_t p = (uintptr_t)x->data, q = (uintptr_t)y->data;
    if (p != q)
        return p < q ? -1 : 1;
    // Empty tensors share their place with what follows them; names make the order one.
    if (x->size_bytes != y->size_bytes && (!x->size_bytes || !y->size_bytes))
        return x->size_bytes ? 1 : -1;
    return strcmp(x->name, y->name);
}

static int compare_name(const void *a, const void *b)
{
    const wf_st_tensor *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

// The tensors cover the data without gap or overlap, and no name is there twice.
static weft_status check_layout(wf_safetensors *f, const char *path, const uint8_t *data,
                                size_t data_bytes, weft_error *err)
{
    size_t at = 0;
    if (f->n_tensors) {
        qsort(f->tensors, f->n_tensors, sizeof *f->tensors, compare_data);
        for (size_t i = 0; i < f->n_tensors; i++)
            f->by_name[i] = &f->tensors[i];
        qsort(f->by_name, f->n_tensors, sizeof *f->by_name, compare_name);
    }
    for (size_t i = 0; i < f->n_tensors; i++) {
        size_t begin = (size_t)((const uint8_t *)f->tensors[i].data - data);
        if (begin != at) {
            WEFT_FAIL(err, WEFT_ERR_FORMAT,
                      "%s: tensor '%s' begins at byte %zu of the data, %s ends at %zu", path,
                      f->tensors[i].name, begin, i ? "the one before it" : "the header", at);
        }
        at += f->tensors[i].size_bytes;
        if (i && !strcmp(f->by_name[i - 1]->name, f->by_name[i]->name)) {
            WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: tensor '%s' is there twice", path,
                      f->by_name[i]->name);
        }
    }
    if (at != data_bytes) {
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: %zu bytes of data belong to no tensor", path,
                  data_bytes - at);
    }
    return WEFT_OK;
}

static weft_status read_entries(wf_safetensors *f, const cJSON *root, const char *path,
                                const uint8_t *data, size_t data_bytes, weft_error *err)
{
    const cJSON *item;
    size_t n = (size_t)cJSON_GetArraySize(root);
    WEFT_TRY(wf_alloc(&f->allocator, n, sizeof *f->tensors, &f->tensors, err));
    WEFT_TRY(wf_alloc(&f->allocator, n, sizeof *f->by_name, &f->by_name, err));
    cJSON_ArrayForEach(item, root)
    {
        if (!strcmp(item->string, "__metadata__")) {
            WEFT_TRY(read_metadata(f, item, path, err));
            continue;
        }
        wf_st_tensor *t = &f->tensors[f->n_tensors];
        t->name = wf_arena_strdup(&f->arena, item->string);
        if (!t->name)
            WEFT_FAIL(err, WEFT_ERR_MEMORY, "memory: no room for the names of %s", path);
        WEFT_TRY(read_tensor(item, path, data, data_bytes, t, err));
        f->n_tensors++;
    }
    return check_layout(f, path, data, data_bytes, err);
}

static weft_status read_file(wf_safetensors *f, const char *path, weft_error *err)
{
    const uint8_t *bytes = f->map.data;
    const char *end = NULL;
    uint64_t header = 0;
    if (f->map.size_bytes < WF_ST_LENGTH_BYTES) {
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: %zu bytes are too short for a safetensors file", path,
                  f->map.size_bytes);
    }
    for (int i = 0; i < 8; i++)
        header |= (uint64_t)bytes[i] << (8 * i);
    size_t room = f->map.size_bytes - WF_ST_LENGTH_BYTES;
    if (header > WF_ST_HEADER_MAX_BYTES || header > room) {
        WEFT_FAIL(
            err, WEFT_ERR_FORMAT,
            "%s: header length %llu, expected at most %zu (no safetensors file, or cut short)",
            path, (unsigned long long)header,
            room < WF_ST_HEADER_MAX_BYTES ? room : WF_ST_HEADER_MAX_BYTES);
    }
    const char *text = (const char *)bytes + WF_ST_LENGTH_BYTES;
    if (header == 0 || text[0] != '{' || memchr(text, 0, (size_t)header))
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: header is not a JSON object", path);
    // cJSON allocates by itself: its hooks are global, and a library does not change globals.
    cJSON *root = cJSON_ParseWithLengthOpts(text, (size_t)header, &end, false);
    weft_status status = WEFT_ERR_FORMAT;
    if (!root) {
        size_t at = end ? (size_t)(end - text) : 0;
        wf_error_set(err, status, "%s: header is not JSON from byte %zu on", path,
                     at + WF_ST_LENGTH_BYTES);
    } else if (strspn(end, " \t\r\n") < (size_t)(text + header - end)) {
        wf_error_set(err, status, "%s: header goes on behind its JSON object", path);
    } else {
        status = read_entries(f, root, path, bytes + WF_ST_LENGTH_BYTES + header,
                              room - (size_t)header, err);
    }
    cJSON_Delete(root);
    return status;
}

#else

static weft_status read_file(wf_safetensors *f, const char *path, weft_error *err)
{
    (void)f;
    WEFT_FAIL(err, WEFT_ERR_UNSUPPORTED, "%s: this build has no cJSON to read safetensors with",
              path);
}

#endif

weft_status wf_safetensors_open(const wf_allocator *a, const char *path, wf_safetensors **out_file,
                                weft_error *err)
{
    wf_safetensors *f;
    *out_file = NULL;
    WEFT_TRY(wf_alloc(a, 1, sizeof *f, &f, err));
    f->allocator = *a;
    wf_arena_init(&f->arena, a);
    weft_status status = wf_file_map_open(path, &f->map, err);
    if (status == WEFT_OK)
        status = read_file(f, path, err);
    if (status != WEFT_OK) {
        wf_safetensors_close(f);
        return status;
    }
    *out_file = f;
    return WEFT_OK;
}

void wf_safetensors_close(wf_safetensors *f)
{
    if (!f)
        return;
    wf_file_map_close(&f->map);
    wf_arena_deinit(&f->arena);
    wf_free(&f->allocator, f->tensors);
    wf_free(&f->allocator, f->by_name);
    wf_free(&f->allocator, f->strings);
    wf_free(&f->allocator, f);
}

size_t wf_safetensors_count(const wf_safetensors *f)
{
    return f->n_tensors;
}

const wf_st_tensor *wf_safetensors_get(const wf_safetensors *f, size_t idx)
{
    return idx < f->n_tensors ? &f->tensors[idx] : NULL;
}

const wf_st_tensor *wf_safetensors_find(const wf_safetensors *f, const char *name)
{
    size_t low = 0, high = f->n_tensors;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(name, f->by_name[middle]->name);
        if (order == 0)
            return f->by_name[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

size_t wf_safetensors_metadata_count(const wf_safetensors *f)
{
    return f->n_strings;
}

wf_st_string wf_safetensors_metadata_get(const wf_safetensors *f, size_t idx)
{
    static const wf_st_string none = {NULL, NULL};
    return idx < f->n_strings ? f->strings[idx] : none;
}

const char *wf_safetensors_metadata(const wf_safetensors *f, const char *key)
{
    for (size_t i = 0; i < f->n_strings; i++) {
        if (!strcmp(f->strings[i].key, key))
            return f->strings[i].value;
    }
    return NULL;
}
