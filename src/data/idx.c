// Opens IDX files. A plain file of single bytes stays in its map; others are unpacked or turned
// from big-endian into one block of exactly the array's size.
#include "data/idx.h"

#include <string.h>

#include "io/byte_source.h"

typedef struct {
    uint8_t code;
    weft_dtype dtype;
    uint8_t size_bytes; // in the file
} idx_type;

static const idx_type idx_types[] = {
    {0x08, WEFT_U8, 1},  {0x09, WEFT_I8, 1},  {0x0B, WEFT_I32, 2},
    {0x0C, WEFT_I32, 4}, {0x0D, WEFT_F32, 4}, {0x0E, WEFT_F64, 8},
};

static const idx_type *find_type(const uint8_t magic[4])
{
    if (magic[0] || magic[1] || !magic[3])
        return NULL;
    for (size_t i = 0; i < WF_COUNT_OF(idx_types); i++) {
        if (idx_types[i].code == magic[2])
            return &idx_types[i];
    }
    return NULL;
}

// Big-endian elements at src to host order at dst, first to last. dst may be src; for i16, whose
// results are twice as long, src is the second half of dst.
static void turn_around(const uint8_t *src, size_t n, const idx_type *type, uint8_t *dst)
{
    size_t size = type->size_bytes;
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = 0;
        for (size_t k = 0; k < size; k++)
            bits = bits << 8 | src[i * size + k];
        if (size == 2) {
            int32_t wide = bits < 0x8000 ? (int32_t)bits : (int32_t)bits - 0x10000;
            memcpy(dst + 4 * i, &wide, 4);
        } else if (size == 4) {
            uint32_t half = (uint32_t)bits;
            memcpy(dst + 4 * i, &half, 4);
        } else {
            memcpy(dst + 8 * i, &bits, 8);
        }
    }
}

// Magic and sizes. *out_bytes: what follows in the file.
static weft_status read_header(wf_byte_source *s, wf_idx *idx, const idx_type **out_type,
                               size_t *out_bytes, weft_error *err)
{
    uint8_t magic[4] = {0}, size[4];
    size_t n;
    WEFT_TRY(wf_byte_source_read(s, magic, 4, &n, err));
    if (n < 4) {
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: ends at byte %zu, expected an IDX magic of 4 bytes",
                  s->path, s->at);
    }
    const idx_type *type = find_type(magic);
    if (!type) {
        WEFT_FAIL(
            err, WEFT_ERR_FORMAT,
            "%s: magic 0x%02x%02x%02x%02x at byte 0, expected 0x0000TTRR (type 08 09 0b 0c 0d or 0e, rank)",
            s->path, magic[0], magic[1], magic[2], magic[3]);
    }
    if (magic[3] > WEFT_MAX_DIM) {
        WEFT_FAIL(err, WEFT_ERR_UNSUPPORTED, "%s: rank %d at byte 3, expected at most %d", s->path,
                  magic[3], WEFT_MAX_DIM);
    }
    *out_bytes = type->size_bytes;
    for (int i = 0; i < magic[3]; i++) {
        size_t at = s->at;
        WEFT_TRY(wf_byte_source_read(s, size, 4, &n, err));
        if (n < 4) {
            WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: ends at byte %zu, expected size %d of %d", s->path,
                      s->at, i + 1, magic[3]);
        }
        uint32_t value =
            (uint32_t)size[0] << 24 | (uint32_t)size[1] << 16 | (uint32_t)size[2] << 8 | size[3];
        idx->dim[idx->ndim++] = value;
        if (!wf_mul_size(*out_bytes, value, out_bytes))
            WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: sizes overflow at byte %zu", s->path, at);
    }
    idx->dtype = type->dtype;
    *out_type = type;
    return WEFT_OK;
}

static weft_status fail_short(const wf_byte_source *s, size_t bytes, size_t header, weft_error *err)
{
    WEFT_FAIL(err, WEFT_ERR_FORMAT,
              "%s: ends at byte %zu%s, expected %zu (%zu of header, %zu of data)", s->path, s->at,
              s->is_packed ? " (unpacked)" : "", header + bytes, header, bytes);
}

static weft_status read_elements(wf_byte_source *s, wf_idx *idx, const idx_type *type, size_t bytes,
                                 weft_error *err)
{
    uint8_t *data, extra;
    size_t n, header = s->at, widened = 0;
    // Before memory is asked for: a header may claim more than the file can hold.
    if (s->most_bytes - header < bytes && !s->is_packed) {
        s->at = s->map.size_bytes;
        return fail_short(s, bytes, header, err);
    }
    if (s->most_bytes < header || s->most_bytes - header < bytes) {
        WEFT_FAIL(err, WEFT_ERR_FORMAT,
                  "%s: header claims %zu bytes, %zu packed bytes cannot hold them", s->path, bytes,
                  s->map.size_bytes);
    }
    size_t n_elements = bytes / type->size_bytes;
    if (type->size_bytes == 2)
        widened = bytes; // i16: the file's bytes come to the second half of the i32
    WEFT_TRY(wf_alloc(&idx->allocator, bytes + widened, 1, &data, err));
    idx->owned = data;
    idx->data = data;
    idx->size_bytes = bytes + widened;
    WEFT_TRY(wf_byte_source_read(s, data + widened, bytes, &n, err));
    if (n < bytes)
        return fail_short(s, bytes, header, err);
    if (type->size_bytes > 1)
        turn_around(data + widened, n_elements, type, data);
    // Also where a gzip stream checks its sum.
    WEFT_TRY(wf_byte_source_read(s, &extra, 1, &n, err));
    if (n) {
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: goes on behind byte %zu, where its data ends", s->path,
                  header + bytes);
    }
    return WEFT_OK;
}

bool wf_idx_probe(const char *path)
{
    wf_byte_source s;
    uint8_t magic[4];
    size_t n = 0;
    wf_allocator a = wf_allocator_default();
    if (wf_byte_source_open(&a, path, &s, NULL) != WEFT_OK)
        return false;
    bool is_read = wf_byte_source_read(&s, magic, 4, &n, NULL) == WEFT_OK && n == 4;
    wf_byte_source_close(&s);
    return is_read && find_type(magic);
}

weft_status wf_idx_open(const wf_allocator *a, const char *path, wf_idx *out_idx, weft_error *err)
{
    wf_byte_source s;
    const idx_type *type = NULL;
    size_t bytes = 0;
    memset(out_idx, 0, sizeof *out_idx);
    out_idx->allocator = *a;
    WEFT_TRY(wf_byte_source_open(a, path, &s, err));
    weft_status status = read_header(&s, out_idx, &type, &bytes, err);
    if (status == WEFT_OK && !s.is_packed && type->size_bytes == 1 &&
        s.map.size_bytes - s.at == bytes) {
        out_idx->data = s.map.data + s.at;
        out_idx->size_bytes = bytes;
        out_idx->map = s.map;
        memset(&s.map, 0, sizeof s.map); // it is the array's now
    } else if (status == WEFT_OK && !s.is_packed && s.map.size_bytes - s.at > bytes) {
        status =
            wf_error_set(err, WEFT_ERR_FORMAT, "%s: goes on behind byte %zu, where its data ends",
                         path, s.at + bytes);
    } else if (status == WEFT_OK) {
        status = read_elements(&s, out_idx, type, bytes, err);
    }
    wf_byte_source_close(&s);
    if (status != WEFT_OK)
        wf_idx_close(out_idx);
    return status;
}

void wf_idx_close(wf_idx *idx)
{
    wf_free(&idx->allocator, idx->owned);
    wf_file_map_close(&idx->map);
    memset(idx, 0, sizeof *idx);
}
