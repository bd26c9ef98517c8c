// Text that does not depend on the locale: a growable string, numbers that read back to the same
// bits, JSON strings, and the nearest word for a typo.
#ifndef WF_BASE_TEXT_H
#define WF_BASE_TEXT_H

#include <stdarg.h>

#include "base/alloc.h"

// A growable string. Appending never returns a status: a failed allocation is remembered, later
// appends do nothing, and the owner asks once with wf_text_status.
typedef struct wf_text {
    wf_allocator allocator;
    char *data; // ends with 0; NULL before the first append
    size_t len;
    size_t capacity;
    bool is_out_of_memory;
} wf_text;

void wf_text_init(wf_text *text, const wf_allocator *a);
void wf_text_deinit(wf_text *text);
// Empties it and keeps the memory: one text serves many lines.
void wf_text_clear(wf_text *text);
void wf_text_append(wf_text *text, const char *str);
void wf_text_append_n(wf_text *text, const char *str, size_t len);
void wf_text_append_char(wf_text *text, char c);
// printf with '.' as the decimal point whatever the locale is.
void wf_text_printf(wf_text *text, const char *format, ...) WF_PRINTF(2, 3);
// vsnprintf and snprintf likewise.
int wf_text_vformat(char *out, size_t size, const char *format, va_list args) WF_PRINTF(3, 0);
int wf_text_format(char *out, size_t size, const char *format, ...) WF_PRINTF(3, 4);
// The shortest decimal that reads back to the same bits; nan, inf, -inf for the rest.
void wf_text_append_f32(wf_text *text, float value);
void wf_text_append_f64(wf_text *text, double value);
// "..." with everything escaped that JSON wants escaped. Bytes that are no UTF-8 become U+FFFD.
void wf_text_append_json_string(wf_text *text, const char *str);
// As append_f64, but null for NaN and infinities, which JSON cannot say.
void wf_text_append_json_f64(wf_text *text, double value);
void wf_text_append_json_f32(wf_text *text, float value);
// WEFT_ERR_MEMORY when an append was lost.
weft_status wf_text_status(const wf_text *text, weft_error *err);
// The characters, "" before the first append. Borrowed until the next append.
const char *wf_text_str(const wf_text *text);

// Longest result of the two below with its final 0.
#define WF_TEXT_NUMBER_BYTES 32
void wf_text_format_f32(float value, char out[WF_TEXT_NUMBER_BYTES]);
void wf_text_format_f64(double value, char out[WF_TEXT_NUMBER_BYTES]);

// The whole of str must be one number ('.' as decimal point, "1e-3", "inf", "nan"; decimal digits
// only, no blanks around); rounds once. false, and 0, for anything else.
bool wf_text_parse_f32(const char *str, float *out);
bool wf_text_parse_f64(const char *str, double *out);
// Decimal; false when out of range.
bool wf_text_parse_i64(const char *str, int64_t *out);
bool wf_text_parse_u64(const char *str, uint64_t *out);

// The word of the list with the fewest changed letters, the first of equals; NULL when none is near
// (more than a third of the word's letters, at least 2, would change).
const char *wf_text_nearest(const char *word, const char *const *list, size_t n);

#endif
