// Reads .npy: magic, version, a Python dictionary of three entries, the elements.
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "io/npy.h"
#include "math/half.h"

// Versions 1.0 has two bytes of header length, 2.0 and 3.0 four.
#define MAGIC_BYTES 8
// No dictionary of three entries is longer.
#define HEADER_MAX_BYTES ((size_t)1 << 16)

typedef struct {
    const char *code; // behind the byte order
    weft_dtype dtype;
    uint8_t size_bytes; // in the file
} npy_type;

static const npy_type npy_types[] = {
    {"b1", WEFT_BOOL, 1}, {"u1", WEFT_U8, 1},  {"i1", WEFT_I8, 1},  {"i2", WEFT_I32, 2},
    {"u2", WEFT_I32, 2},  {"i4", WEFT_I32, 4}, {"u4", WEFT_I64, 4}, {"i8", WEFT_I64, 8},
    {"u8", WEFT_I64, 8},  {"f2", WEFT_F32, 2}, {"f4", WEFT_F32, 4}, {"f8", WEFT_F64, 8},
};

typedef struct {
    const char *source;
    const char *text; // the dictionary
    const char *at;
    const char *end;
    size_t text_byte; // where it stands in the file
    weft_error *err;
} npy_header;

static weft_status fail_at(const npy_header *h, const char *expected)
{
    WEFT_FAIL(h->err, WEFT_ERR_FORMAT, "%s: header at byte %zu, expected %s", h->source,
              h->text_byte + (size_t)(h->at - h->text), expected);
}

static void skip_blanks(npy_header *h)
{
    while (h->at < h->end && (*h->at == ' ' || *h->at == '\n' || *h->at == '\t'))
        h->at++;
}

static bool take(npy_header *h, char c)
{
    skip_blanks(h);
    const bool is_there = h->at < h->end && *h->at == c;
    h->at += is_there;
    return is_there;
}

// 'word' of Python, in buf.
static weft_status take_string(npy_header *h, char *buf, size_t size)
{
    skip_blanks(h);
    const char quote = h->at < h->end ? *h->at : 0;
    size_t n = 0;
    if (quote != '\'' && quote != '"')
        return fail_at(h, "a string");
    for (h->at++; h->at < h->end && *h->at != quote; h->at++) {
        if (n + 1 == size)
            return fail_at(h, "a shorter string");
        buf[n++] = *h->at;
    }
    buf[n] = 0;
    return take(h, quote) ? WEFT_OK : fail_at(h, "the end of a string");
}

static weft_status take_shape(npy_header *h, wf_npy *out)
{
    if (!take(h, '('))
        return fail_at(h, "a shape");
    while (!take(h, ')')) {
        int64_t value = 0;
        const char *first = h->at;
        for (; h->at < h->end && *h->at >= '0' && *h->at <= '9'; h->at++) {
            if (value > (INT64_MAX - 9) / 10)
                return fail_at(h, "a size below 2^63");
            value = value * 10 + (*h->at - '0');
        }
        if (h->at == first)
            return fail_at(h, "a size");
        if (out->ndim == WEFT_MAX_DIM)
            WEFT_FAIL(h->err, WEFT_ERR_UNSUPPORTED, "%s: more than %d dimensions", h->source,
                      WEFT_MAX_DIM);
        out->dim[out->ndim++] = value;
        if (!take(h, ',') && h->at < h->end && *h->at != ')')
            return fail_at(h, "a comma");
    }
    return WEFT_OK;
}

static bool take_word(npy_header *h, const char *word)
{
    skip_blanks(h);
    const size_t n = strlen(word);
    const bool is_there = (size_t)(h->end - h->at) >= n && !memcmp(h->at, word, n);
    h->at += is_there ? n : 0;
    return is_there;
}

// {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
static weft_status read_dictionary(npy_header *h, char descr[16], bool *out_fortran, wf_npy *out)
{
    unsigned seen = 0;
    char key[24];
    if (!take(h, '{'))
        return fail_at(h, "a dictionary");
    while (!take(h, '}')) {
        WEFT_TRY(take_string(h, key, sizeof key));
        if (!take(h, ':'))
            return fail_at(h, "a colon");
        skip_blanks(h);
        const unsigned bit = !strcmp(key, "descr")           ? 1
                             : !strcmp(key, "fortran_order") ? 2
                             : !strcmp(key, "shape")         ? 4
                                                             : 0;
        if (bit == 0 || (seen & bit))
            return fail_at(h, "descr, fortran_order and shape, once each");
        seen |= bit;
        if (bit == 1 && h->at < h->end && *h->at == '[')
            WEFT_FAIL(h->err, WEFT_ERR_UNSUPPORTED, "%s: elements are structures, expected numbers",
                      h->source);
        if (bit == 1)
            WEFT_TRY(take_string(h, descr, 16));
        if (bit == 2) {
            *out_fortran = take_word(h, "True");
            if (!*out_fortran && !take_word(h, "False"))
                return fail_at(h, "True or False");
        }
        if (bit == 4)
            WEFT_TRY(take_shape(h, out));
        if (!take(h, ',') && h->at < h->end && *h->at != '}')
            return fail_at(h, "a comma");
    }
    return seen == 7 ? WEFT_OK : fail_at(h, "descr, fortran_order and shape, once each");
}

static const npy_type *find_type(const char *descr)
{
    if (!descr[0] || !strchr("<>|=", descr[0]))
        return NULL;
    for (size_t i = 0; i < WF_COUNT_OF(npy_types); i++) {
        if (!strcmp(npy_types[i].code, descr + 1))
            return &npy_types[i];
    }
    return NULL;
}

// One element of the file, its bytes in order of weight.
static uint64_t read_bits(const uint8_t *p, size_t n, bool is_big)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < n; i++)
        bits = bits << 8 | p[is_big ? i : n - 1 - i];
    return bits;
}

static void put_element(const npy_type *type, uint64_t bits, uint8_t *dst)
{
    if (type->size_bytes == 1) {
        *dst = type->dtype == WEFT_BOOL ? bits != 0 : (uint8_t)bits;
    } else if (!strcmp(type->code, "f2")) {
        const float value = wf_f16_to_f32((uint16_t)bits);
        memcpy(dst, &value, sizeof value);
    } else if (type->dtype == WEFT_I32 && type->size_bytes == 2) {
        const int32_t value =
            type->code[0] == 'i' && bits >= 0x8000 ? (int32_t)bits - 0x10000 : (int32_t)bits;
        memcpy(dst, &value, sizeof value);
    } else if (type->size_bytes == 4 && weft_dtype_size(type->dtype) == 4) {
        const uint32_t value = (uint32_t)bits;
        memcpy(dst, &value, sizeof value);
    } else {
        memcpy(dst, &bits, sizeof bits);
    }
}

// dst[i] row-major; the file has the first axis fastest where is_fortran.
static void turn_elements(const npy_type *type, const uint8_t *src, bool is_big, bool is_fortran,
                          const wf_npy *out)
{
    const size_t from = type->size_bytes, to = weft_dtype_size(out->dtype);
    const size_t n = out->size_bytes / to;
    int64_t place[WEFT_MAX_DIM] = {0};
    for (size_t i = 0; i < n; i++) {
        size_t at = i;
        if (is_fortran) {
            size_t step = 1;
            at = 0;
            for (int32_t k = 0; k < out->ndim; k++) {
                at += (size_t)place[k] * step;
                step *= (size_t)out->dim[k];
            }
            for (int32_t k = out->ndim; k-- > 0;) {
                if (++place[k] < out->dim[k])
                    break;
                place[k] = 0;
            }
        }
        put_element(type, read_bits(src + at * from, from, is_big), (uint8_t *)out->data + i * to);
    }
}

static weft_status read_elements(const char *source, const npy_type *type, const uint8_t *src,
                                 size_t size, size_t header, bool is_big, bool is_fortran,
                                 wf_npy *out, weft_error *err)
{
    size_t n = 1, bytes, wanted;
    bool is_fitting = true;
    for (int32_t k = 0; k < out->ndim; k++)
        is_fitting = is_fitting && wf_mul_size(n, (size_t)out->dim[k], &n);
    if (!is_fitting || !wf_mul_size(n, 8, &bytes) || !wf_mul_size(n, type->size_bytes, &wanted))
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: sizes overflow", source);
    if (size - header != wanted)
        WEFT_FAIL(err, WEFT_ERR_FORMAT,
                  "%s: ends at byte %zu, expected %zu (%zu of header, %zu of "
                  "data)",
                  source, size, header + wanted, header, wanted);
    out->dtype = type->dtype;
    out->size_bytes = n * weft_dtype_size(type->dtype);
    WEFT_TRY(wf_alloc(&out->allocator, out->size_bytes, 1, &out->data, err));
    turn_elements(type, src + header, is_big, is_fortran, out);
    for (size_t i = 0; i < n && !strcmp(type->code, "u8"); i++) {
        if (((const int64_t *)out->data)[i] < 0)
            WEFT_FAIL(err, WEFT_ERR_UNSUPPORTED, "%s: element %zu is 2^63 or more", source, i);
    }
    return WEFT_OK;
}

static weft_status parse(const char *source, const uint8_t *data, size_t size, wf_npy *out,
                         weft_error *err)
{
    char descr[16];
    bool is_fortran = false;
    if (size < MAGIC_BYTES || memcmp(data, "\x93NUMPY", 6) != 0)
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: no .npy magic in the first %d of %zu bytes", source,
                  MAGIC_BYTES, size);
    if (data[6] < 1 || data[6] > 3)
        WEFT_FAIL(err, WEFT_ERR_UNSUPPORTED, "%s: version %d at byte 6, expected 1, 2 or 3", source,
                  data[6]);
    const size_t n_length = data[6] == 1 ? 2 : 4, first = MAGIC_BYTES + n_length;
    const size_t length = size < first ? 0 : (size_t)read_bits(data + MAGIC_BYTES, n_length, false);
    if (size < first || length > HEADER_MAX_BYTES || length > size - first)
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: header of %zu bytes at byte %zu, the file has %zu",
                  source, length, first, size);
    npy_header h = {source,
                    (const char *)data + first,
                    (const char *)data + first,
                    (const char *)data + first + length,
                    first,
                    err};
    WEFT_TRY(read_dictionary(&h, descr, &is_fortran, out));
    const npy_type *type = find_type(descr);
    if (!type)
        WEFT_FAIL(err, WEFT_ERR_UNSUPPORTED,
                  "%s: elements are '%s', expected b1 u1 i1 i2 u2 i4 u4 i8 u8 f2 f4 or f8", source,
                  descr);
    return read_elements(source, type, data, size, first + length, descr[0] == '>', is_fortran, out,
                         err);
}

weft_status wf_npy_parse(const wf_allocator *a, const char *source, const uint8_t *data,
                         size_t size, wf_npy *out, weft_error *err)
{
    memset(out, 0, sizeof *out);
    out->allocator = *a;
    const weft_status status = parse(source, data, size, out, err);
    if (status != WEFT_OK)
        wf_npy_deinit(out);
    return status;
}

weft_status wf_npy_read(const wf_allocator *a, const char *path, wf_npy *out, weft_error *err)
{
    wf_file_map map;
    memset(out, 0, sizeof *out);
    WEFT_TRY(wf_file_map_open(path, &map, err));
    const weft_status status = wf_npy_parse(a, path, map.data, map.size_bytes, out, err);
    wf_file_map_close(&map);
    return status;
}

void wf_npy_deinit(wf_npy *array)
{
    if (array->data)
        wf_free(&array->allocator, array->data);
    array->data = NULL;
    array->size_bytes = 0;
}
