// Vocabularies: found in a text, read from a recipe, used both ways.
#include "data/vocabulary.h"

#include <string.h>

#define N_BYTES 256
#define N_CODES 0x110000u

// Where a byte stands, as people count lines: from 1.
static size_t line_of(const uint8_t *data, size_t at)
{
    size_t line = 1;
    for (size_t i = 0; i < at; i++)
        line += data[i] == '\n';
    return line;
}

static weft_status fail_byte(const char *source, const uint8_t *data, size_t at, weft_error *err)
{
    if (data[at] == 0)
        WEFT_FAIL(err, WEFT_ERR_FORMAT,
                  "%s: byte %zu (line %zu) is 0, expected text, or tokens that are bytes", source,
                  at, line_of(data, at));
    WEFT_FAIL(
        err, WEFT_ERR_FORMAT,
        "%s: byte %zu (line %zu) is 0x%02x, which is no UTF-8 there, expected UTF-8, or tokens "
        "that are bytes",
        source, at, line_of(data, at), data[at]);
}

void wf_vocabulary_init_bytes(wf_vocabulary *out, const wf_allocator *a)
{
    *out = (wf_vocabulary){.allocator = *a, .n = N_BYTES};
}

weft_status wf_vocabulary_init_text(wf_vocabulary *out, const wf_allocator *a, const char *text,
                                    weft_error *err)
{
    const uint8_t *data = (const uint8_t *)text;
    size_t size = strlen(text), length;
    *out = (wf_vocabulary){.allocator = *a};
    if (size == 0)
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "vocabulary: empty, expected characters");
    WEFT_TRY(wf_alloc(a, size, sizeof *out->code, &out->code, err));
    weft_status status = WEFT_OK;
    for (size_t at = 0; at < size && status == WEFT_OK; at += length) {
        uint32_t code;
        length = wf_utf8_read(data, size, at, &code);
        if (length == 0)
            status = fail_byte("vocabulary", data, at, err);
        else if (out->n && code <= out->code[out->n - 1])
            status = wf_error_set(err, WEFT_ERR_FORMAT,
                                  "vocabulary: U+%04X behind U+%04X, expected characters in "
                                  "ascending order",
                                  (unsigned)code, (unsigned)out->code[out->n - 1]);
        else
            out->code[out->n++] = code;
    }
    if (status != WEFT_OK)
        wf_vocabulary_deinit(out);
    return status;
}

// Marks each character that occurs; *out_n: how many.
static weft_status mark_codes(const char *source, const uint8_t *data, size_t size, uint8_t *marks,
                              int64_t *out_n, weft_error *err)
{
    *out_n = 0;
    for (size_t at = 0; at < size;) {
        uint32_t code;
        size_t length = wf_utf8_read(data, size, at, &code);
        if (length == 0 || code == 0)
            return fail_byte(source, data, at, err);
        *out_n += !marks[code];
        marks[code] = 1;
        at += length;
    }
    return WEFT_OK;
}

weft_status wf_vocabulary_init_find(wf_vocabulary *out, const wf_allocator *a, const char *source,
                                    const uint8_t *data, size_t size, weft_error *err)
{
    uint8_t *marks;
    int64_t n = 0;
    *out = (wf_vocabulary){.allocator = *a};
    WEFT_TRY(wf_alloc(a, N_CODES, 1, &marks, err));
    weft_status status = mark_codes(source, data, size, marks, &n, err);
    if (status == WEFT_OK)
        status = wf_alloc(a, (size_t)n, sizeof *out->code, &out->code, err);
    for (uint32_t code = 0; code < N_CODES && status == WEFT_OK; code++) {
        if (marks[code])
            out->code[out->n++] = code;
    }
    wf_free(a, marks);
    return status;
}

// Its place among the characters, or -1.
static int64_t find_code(const wf_vocabulary *v, uint32_t code)
{
    int64_t low = 0, high = v->n;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (v->code[middle] < code)
            low = middle + 1;
        else
            high = middle;
    }
    return low < v->n && v->code[low] == code ? low : -1;
}

weft_status wf_vocabulary_encode(const wf_vocabulary *v, const char *source, const uint8_t *data,
                                 size_t size, int32_t *out_tokens, size_t *out_n, weft_error *err)
{
    *out_n = 0;
    if (!v->code) {
        for (size_t i = 0; i < size; i++)
            out_tokens[i] = data[i];
        *out_n = size;
        return WEFT_OK;
    }
    for (size_t at = 0; at < size;) {
        uint32_t code;
        size_t length = wf_utf8_read(data, size, at, &code);
        if (length == 0 || code == 0)
            return fail_byte(source, data, at, err);
        int64_t token = find_code(v, code);
        if (token < 0)
            WEFT_FAIL(
                err, WEFT_ERR_INDEX,
                "%s: character U+%04X at byte %zu (line %zu) is not in the vocabulary of %lld "
                "characters",
                source, (unsigned)code, at, line_of(data, at), (long long)v->n);
        out_tokens[(*out_n)++] = (int32_t)token;
        at += length;
    }
    return WEFT_OK;
}

size_t wf_vocabulary_decode(const wf_vocabulary *v, int64_t token, char out[WF_UTF8_BYTES])
{
    out[0] = out[1] = 0;
    if (token < 0 || token >= v->n)
        return 0;
    if (v->code)
        return wf_utf8_write(v->code[token], out);
    out[0] = (char)(uint8_t)token;
    return 1;
}

void wf_vocabulary_print(const wf_vocabulary *v, wf_text *out)
{
    char character[WF_UTF8_BYTES];
    for (int64_t i = 0; v->code && i < v->n; i++)
        wf_text_append_n(out, character, wf_vocabulary_decode(v, i, character));
}

void wf_vocabulary_deinit(wf_vocabulary *v)
{
    if (v->code)
        wf_free(&v->allocator, v->code);
    v->code = NULL;
    v->n = 0;
}
