// Text as numbers and back: which character or byte is which token. Characters are Unicode code
// points in ascending order, so that a text has one vocabulary. Stage: data.
#ifndef WF_DATA_VOCABULARY_H
#define WF_DATA_VOCABULARY_H

#include "base/text.h"
#include "base/utf8.h"

typedef struct wf_vocabulary {
    wf_allocator allocator;
    uint32_t *code; // [n] ascending; NULL: tokens are bytes
    int64_t n;
} wf_vocabulary;

// The 256 bytes.
void wf_vocabulary_init_bytes(wf_vocabulary *out_vocabulary, const wf_allocator *a);
// The characters of `text`, as wf_vocabulary_print gave it.
// Errors: WEFT_ERR_FORMAT (no UTF-8, not ascending).
weft_status wf_vocabulary_init_text(wf_vocabulary *out_vocabulary, const wf_allocator *a,
                                    const char *text, weft_error *err);
// The characters that occur in data; source is its name in messages.
// Errors: WEFT_ERR_FORMAT (no UTF-8, a 0 byte; with byte and line).
weft_status wf_vocabulary_init_find(wf_vocabulary *out_vocabulary, const wf_allocator *a,
                                    const char *source, const uint8_t *data, size_t size,
                                    weft_error *err);
// Tokens of data, *out_n of them, at most `size`.
// Errors: WEFT_ERR_FORMAT as above, WEFT_ERR_INDEX (a character that is not in the vocabulary).
weft_status wf_vocabulary_encode(const wf_vocabulary *vocabulary, const char *source,
                                 const uint8_t *data, size_t size, int32_t *out_tokens,
                                 size_t *out_n, weft_error *err);
// The bytes of a token; returns how many. A token outside gives 0.
size_t wf_vocabulary_decode(const wf_vocabulary *vocabulary, int64_t token,
                            char out[WF_UTF8_BYTES]);
// All characters in order, as UTF-8; nothing where tokens are bytes.
void wf_vocabulary_print(const wf_vocabulary *vocabulary, wf_text *out);
// Accepts a zeroed one.
void wf_vocabulary_deinit(wf_vocabulary *vocabulary);

#endif
