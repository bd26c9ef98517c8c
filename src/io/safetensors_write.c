// Writes safetensors files byte for byte the same for the same tensors: order as given, one form of
// the header (no blanks, keys dtype, shape, data_offsets), padded with blanks to 8 bytes.
#include "io/safetensors.h"

#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "io/safetensors_common.h"

struct wf_safetensors_writer {
    wf_allocator allocator;
    wf_file_writer *file;
    size_t n_tensors;
    size_t idx;         // the tensor whose bytes come next
    size_t left;        // bytes that it still wants
    size_t *size_bytes; // [n_tensors]
    weft_dtype *dtype;  // [n_tensors]
};

// Pieces are copied through a block of this size where NaNs are looked for.
#define BLOCK_BYTES ((size_t)16 * 1024)

static weft_status tensor_size(const wf_st_tensor *t, size_t *out_size, weft_error *err)
{
    size_t n = weft_dtype_size(t->dtype);
    *out_size = 0;
    WEFT_REQUIRE(err, wf_st_dtype_name(t->dtype), "safetensors: tensor '%s' has no dtype", t->name);
    WEFT_REQUIRE(err, t->ndim >= 0 && t->ndim <= WEFT_MAX_DIM,
                 "safetensors: tensor '%s' has %d dimensions", t->name, (int)t->ndim);
    for (int i = 0; i < t->ndim; i++) {
        WEFT_REQUIRE(err, t->dim[i] >= 0 && wf_mul_size(n, (size_t)t->dim[i], &n),
                     "safetensors: tensor '%s' has dimension %lld", t->name, (long long)t->dim[i]);
    }
    *out_size = n;
    return WEFT_OK;
}

static void write_metadata(wf_text *text, const wf_st_string *metadata, size_t n)
{
    wf_text_append(text, "\"__metadata__\":{");
    for (size_t i = 0; i < n; i++) {
        if (i)
            wf_text_append_char(text, ',');
        wf_text_append_json_string(text, metadata[i].key);
        wf_text_append_char(text, ':');
        wf_text_append_json_string(text, metadata[i].value);
    }
    wf_text_append_char(text, '}');
}

static void write_entry(wf_text *text, const wf_st_tensor *t, size_t begin, size_t end)
{
    wf_text_append_json_string(text, t->name);
    wf_text_printf(text, ":{\"dtype\":\"%s\",\"shape\":[", wf_st_dtype_name(t->dtype));
    for (int i = 0; i < t->ndim; i++)
        wf_text_printf(text, i ? ",%lld" : "%lld", (long long)t->dim[i]);
    wf_text_printf(text, "],\"data_offsets\":[%zu,%zu]}", begin, end);
}

// A name twice would make a file that no reader takes. Quadratic: a thousand tensors cost 1 ms.
static weft_status check_names(const wf_st_tensor *tensors, size_t n, weft_error *err)
{
    for (size_t i = 0; i < n; i++) {
        WEFT_REQUIRE(err, tensors[i].name && strcmp(tensors[i].name, "__metadata__"),
                     "safetensors: tensor %zu has no usable name", i);
        for (size_t j = 0; j < i; j++) {
            WEFT_REQUIRE(err, strcmp(tensors[i].name, tensors[j].name),
                         "safetensors: tensor '%s' is given twice", tensors[i].name);
        }
    }
    return WEFT_OK;
}

static weft_status write_header(wf_safetensors_writer *w, const wf_st_tensor *tensors,
                                const wf_st_string *metadata, size_t n_metadata, weft_error *err)
{
    wf_text text;
    size_t at = 0;
    uint8_t length[8];
    wf_text_init(&text, &w->allocator);
    wf_text_append_char(&text, '{');
    if (n_metadata)
        write_metadata(&text, metadata, n_metadata);
    for (size_t i = 0; i < w->n_tensors; i++) {
        if (i || n_metadata)
            wf_text_append_char(&text, ',');
        write_entry(&text, &tensors[i], at, at + w->size_bytes[i]);
        at += w->size_bytes[i];
    }
    wf_text_append_char(&text, '}');
    while (text.len % 8 && !text.is_out_of_memory)
        wf_text_append_char(&text, ' ');
    for (int i = 0; i < 8; i++)
        length[i] = (uint8_t)((uint64_t)text.len >> (8 * i));
    weft_status status = wf_text_status(&text, err);
    if (status == WEFT_OK)
        status = wf_file_writer_append(w->file, length, sizeof length, err);
    if (status == WEFT_OK)
        status = wf_file_writer_append(w->file, text.data, text.len, err);
    wf_text_deinit(&text);
    return status;
}

// Empty tensors want no bytes: they are passed over.
static void go_to_wanting(wf_safetensors_writer *w)
{
    while (w->idx < w->n_tensors && w->left == 0) {
        w->idx++;
        w->left = w->idx < w->n_tensors ? w->size_bytes[w->idx] : 0;
    }
}

weft_status wf_safetensors_writer_create(const wf_allocator *a, const char *path,
                                         const wf_st_tensor *tensors, size_t n_tensors,
                                         const wf_st_string *metadata, size_t n_metadata,
                                         wf_safetensors_writer **out_writer, weft_error *err)
{
    wf_safetensors_writer *w = NULL;
    weft_status status;
    *out_writer = NULL;
    WEFT_TRY(check_names(tensors, n_tensors, err));
    WEFT_TRY(wf_alloc(a, 1, sizeof *w, &w, err));
    w->allocator = *a;
    w->n_tensors = n_tensors;
    WEFT_TRY_GOTO(wf_alloc(a, n_tensors, sizeof *w->size_bytes, &w->size_bytes, err));
    WEFT_TRY_GOTO(wf_alloc(a, n_tensors, sizeof *w->dtype, &w->dtype, err));
    for (size_t i = 0; i < n_tensors; i++) {
        WEFT_TRY_GOTO(tensor_size(&tensors[i], &w->size_bytes[i], err));
        w->dtype[i] = tensors[i].dtype;
    }
    w->left = n_tensors ? w->size_bytes[0] : 0;
    go_to_wanting(w);
    WEFT_TRY_GOTO(wf_file_writer_create(a, path, &w->file, err));
    WEFT_TRY_GOTO(write_header(w, tensors, metadata, n_metadata, err));
    *out_writer = w;
    return WEFT_OK;
fail:
    wf_safetensors_writer_destroy(w);
    return status;
}

// NaN is one value in files: sign and payload are those of the default quiet NaN, whatever the
// device wrote.
static void canonise_16(uint8_t *block, size_t n_bytes, uint16_t infinity, uint16_t nan)
{
    for (size_t i = 0; i < n_bytes; i += 2) {
        uint16_t bits;
        memcpy(&bits, block + i, 2);
        if ((bits & 0x7FFF) > infinity)
            memcpy(block + i, &nan, 2);
    }
}

static void canonise_32(uint8_t *block, size_t n_bytes)
{
    const uint32_t nan = 0x7FC00000u;
    for (size_t i = 0; i < n_bytes; i += 4) {
        uint32_t bits;
        memcpy(&bits, block + i, 4);
        if ((bits & 0x7FFFFFFFu) > 0x7F800000u)
            memcpy(block + i, &nan, 4);
    }
}

static void canonise_64(uint8_t *block, size_t n_bytes)
{
    const uint64_t nan = 0x7FF8000000000000u;
    for (size_t i = 0; i < n_bytes; i += 8) {
        uint64_t bits;
        memcpy(&bits, block + i, 8);
        if ((bits & 0x7FFFFFFFFFFFFFFFu) > 0x7FF0000000000000u)
            memcpy(block + i, &nan, 8);
    }
}

static void canonise(weft_dtype dtype, uint8_t *block, size_t n_bytes)
{
    if (dtype == WEFT_F32)
        canonise_32(block, n_bytes);
    else if (dtype == WEFT_F64)
        canonise_64(block, n_bytes);
    else if (dtype == WEFT_F16)
        canonise_16(block, n_bytes, 0x7C00, 0x7E00);
    else if (dtype == WEFT_BF16)
        canonise_16(block, n_bytes, 0x7F80, 0x7FC0);
}

weft_status wf_safetensors_writer_append(wf_safetensors_writer *w, const void *data,
                                         size_t size_bytes, weft_error *err)
{
    uint8_t block[BLOCK_BYTES];
    const uint8_t *src = data;
    if (size_bytes == 0)
        return WEFT_OK;
    WEFT_REQUIRE(err, size_bytes <= w->left, "safetensors: %zu bytes given, tensor %zu takes %zu",
                 size_bytes, w->idx, w->left);
    weft_dtype dtype = w->dtype[w->idx];
    WEFT_REQUIRE(err, size_bytes % weft_dtype_size(dtype) == 0,
                 "safetensors: %zu bytes are no whole number of %s", size_bytes,
                 weft_dtype_name(dtype));
    w->left -= size_bytes;
    while (size_bytes) {
        size_t n = size_bytes < BLOCK_BYTES ? size_bytes : BLOCK_BYTES;
        memcpy(block, src, n);
        canonise(dtype, block, n);
        WEFT_TRY(wf_file_writer_append(w->file, block, n, err));
        src += n;
        size_bytes -= n;
    }
    go_to_wanting(w);
    return WEFT_OK;
}

weft_status wf_safetensors_writer_commit(wf_safetensors_writer *w, weft_error *err)
{
    WEFT_REQUIRE(err, w->idx == w->n_tensors, "safetensors: tensor %zu still wants %zu bytes",
                 w->idx, w->left);
    return wf_file_writer_commit(w->file, err);
}

void wf_safetensors_writer_destroy(wf_safetensors_writer *w)
{
    if (!w)
        return;
    wf_file_writer_destroy(w->file);
    wf_free(&w->allocator, w->size_bytes);
    wf_free(&w->allocator, w->dtype);
    wf_free(&w->allocator, w);
}

weft_status wf_safetensors_write(const wf_allocator *a, const char *path,
                                 const wf_st_tensor *tensors, size_t n_tensors,
                                 const wf_st_string *metadata, size_t n_metadata, weft_error *err)
{
    wf_safetensors_writer *w;
    weft_status status;
    WEFT_TRY(
        wf_safetensors_writer_create(a, path, tensors, n_tensors, metadata, n_metadata, &w, err));
    for (size_t i = 0; i < n_tensors; i++) {
        WEFT_TRY_GOTO(wf_safetensors_writer_append(w, tensors[i].data, w->size_bytes[i], err));
    }
    WEFT_TRY_GOTO(wf_safetensors_writer_commit(w, err));
    wf_safetensors_writer_destroy(w);
    return WEFT_OK;
fail:
    wf_safetensors_writer_destroy(w);
    return status;
}
