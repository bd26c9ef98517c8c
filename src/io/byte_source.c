// Reads plain files from their map and gzipped ones through zlib's inflate, which checks length and
// CRC-32 of each member.
#include "io/byte_source.h"

#include <limits.h>
#include <string.h>

#include "weft_config.h"

#if WEFT_HAVE_ZLIB
#define ZLIB_CONST
#include <zlib.h>

// Deflate packs at most this many bytes into one.
#define MOST_PER_BYTE ((size_t)1032)

static weft_status begin_inflate(wf_byte_source *s, weft_error *err)
{
    z_stream *z;
    WEFT_TRY(wf_alloc(&s->allocator, 1, sizeof *z, &z, err));
    s->inflate = z;
    z->next_in = s->map.data;
    if (inflateInit2(z, 15 + 16) != Z_OK) { // 16: a gzip wrapping
        wf_free(&s->allocator, z);
        s->inflate = NULL;
        WEFT_FAIL(err, WEFT_ERR_MEMORY, "memory: no room to unpack %s", s->path);
    }
    if (!wf_mul_size(s->map.size_bytes, MOST_PER_BYTE, &s->most_bytes))
        s->most_bytes = SIZE_MAX;
    return WEFT_OK;
}

static size_t left_in_file(const wf_byte_source *s, const z_stream *z)
{
    return s->map.size_bytes - (size_t)(z->next_in - s->map.data);
}

static weft_status read_packed(wf_byte_source *s, uint8_t *dst, size_t n, size_t *out_n,
                               weft_error *err)
{
    z_stream *z = s->inflate;
    bool is_over = false;
    while (*out_n < n && !is_over) {
        size_t left = left_in_file(s, z), room = n - *out_n;
        z->avail_in = left < UINT_MAX ? (uInt)left : UINT_MAX;
        z->avail_out = room < UINT_MAX ? (uInt)room : UINT_MAX;
        z->next_out = dst + *out_n;
        uInt before = z->avail_out;
        int code = inflate(z, Z_NO_FLUSH);
        *out_n += before - z->avail_out;
        if (code == Z_STREAM_END) {
            left = left_in_file(s, z);
            is_over = left < 2 || z->next_in[0] != 0x1F || z->next_in[1] != 0x8B;
            // Another member may follow, as in files made by cat.
            if (!is_over)
                inflateReset(z);
            else if (left)
                WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: %zu bytes behind the end of the gzip data",
                          s->path, left);
            else
                s->most_bytes = s->at + *out_n;
        } else if (code == Z_BUF_ERROR && z->avail_out) {
            WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: gzip data cut short at byte %zu of the file",
                      s->path, s->map.size_bytes);
        } else if (code != Z_OK && code != Z_BUF_ERROR) {
            WEFT_FAIL(err, WEFT_ERR_FORMAT,
                      "%s: damaged gzip data before byte %zu of the file (%s)", s->path,
                      (size_t)(z->next_in - s->map.data), z->msg ? z->msg : "unknown");
        }
    }
    return WEFT_OK;
}

static void end_inflate(wf_byte_source *s)
{
    if (s->inflate)
        inflateEnd(s->inflate);
    wf_free(&s->allocator, s->inflate);
    s->inflate = NULL;
}

#else

static weft_status begin_inflate(wf_byte_source *s, weft_error *err)
{
    WEFT_FAIL(err, WEFT_ERR_UNSUPPORTED, "%s: gzipped, and this build has no zlib", s->path);
}

static weft_status read_packed(wf_byte_source *s, uint8_t *dst, size_t n, size_t *out_n,
                               weft_error *err)
{
    (void)dst;
    (void)n;
    (void)out_n;
    return begin_inflate(s, err);
}

static void end_inflate(wf_byte_source *s)
{
    (void)s;
}

#endif

weft_status wf_byte_source_open(const wf_allocator *a, const char *path, wf_byte_source *out_source,
                                weft_error *err)
{
    wf_byte_source *s = out_source;
    memset(s, 0, sizeof *s);
    s->path = path;
    s->allocator = *a;
    WEFT_TRY(wf_file_map_open(path, &s->map, err));
    s->most_bytes = s->map.size_bytes;
    s->is_packed = s->map.size_bytes >= 2 && s->map.data[0] == 0x1F && s->map.data[1] == 0x8B;
    weft_status status = s->is_packed ? begin_inflate(s, err) : WEFT_OK;
    if (status != WEFT_OK)
        wf_byte_source_close(s);
    return status;
}

weft_status wf_byte_source_read(wf_byte_source *s, void *dst, size_t n, size_t *out_n,
                                weft_error *err)
{
    *out_n = 0;
    if (s->is_packed) {
        if (s->at < s->most_bytes)
            WEFT_TRY(read_packed(s, dst, n, out_n, err));
    } else {
        size_t left = s->map.size_bytes - s->at;
        *out_n = n < left ? n : left;
        if (*out_n)
            memcpy(dst, s->map.data + s->at, *out_n);
    }
    s->at += *out_n;
    return WEFT_OK;
}

void wf_byte_source_close(wf_byte_source *s)
{
    end_inflate(s);
    wf_file_map_close(&s->map);
}

// First guess of the size of a packed file; grown as needed.
#define FIRST_BYTES ((size_t)64 << 10)

static weft_status read_rest(wf_byte_source *s, size_t most_bytes, uint8_t **data, size_t *out_size,
                             weft_error *err)
{
    size_t capacity = 0, n = 0;
    size_t want = s->is_packed ? FIRST_BYTES : s->map.size_bytes;
    for (;;) {
        // One byte more than is wanted: it tells the end, and becomes the 0.
        WEFT_TRY(wf_array_reserve(&s->allocator, data, &capacity, *out_size + want + 1, 1, err));
        WEFT_TRY(wf_byte_source_read(s, *data + *out_size, capacity - *out_size, &n, err));
        *out_size += n;
        if (*out_size > most_bytes)
            WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: %s more than %zu bytes", s->path,
                      s->is_packed ? "unpacks to" : "holds", most_bytes);
        if (*out_size < capacity)
            break;
        want = *out_size;
    }
    (*data)[*out_size] = 0;
    return WEFT_OK;
}

weft_status wf_byte_source_read_all(const wf_allocator *a, const char *path, size_t most_bytes,
                                    uint8_t **out_data, size_t *out_size, weft_error *err)
{
    wf_byte_source source;
    *out_data = NULL;
    *out_size = 0;
    WEFT_TRY(wf_byte_source_open(a, path, &source, err));
    weft_status status = read_rest(&source, most_bytes, out_data, out_size, err);
    wf_byte_source_close(&source);
    if (status != WEFT_OK) {
        wf_free(a, *out_data);
        *out_data = NULL;
        *out_size = 0;
    }
    return status;
}
