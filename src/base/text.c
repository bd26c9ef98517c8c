// The growable string and JSON strings. Numbers are in text_number.c.
#include "base/text.h"

#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void wf_text_init(wf_text *text, const wf_allocator *a)
{
    memset(text, 0, sizeof *text);
    text->allocator = *a;
}

void wf_text_deinit(wf_text *text)
{
    wf_free(&text->allocator, text->data);
    text->data = NULL;
    text->len = 0;
    text->capacity = 0;
}

void wf_text_clear(wf_text *text)
{
    text->len = 0;
    text->is_out_of_memory = false;
    if (text->data)
        text->data[0] = 0;
}

// Room for len more bytes and the final 0.
static bool reserve(wf_text *text, size_t len)
{
    size_t needed;
    if (text->is_out_of_memory)
        return false;
    if (!wf_add_size(text->len + 1, len, &needed) ||
        wf_array_reserve(&text->allocator, &text->data, &text->capacity, needed, 1, NULL)) {
        text->is_out_of_memory = true;
        return false;
    }
    return true;
}

void wf_text_append_n(wf_text *text, const char *str, size_t len)
{
    if (!reserve(text, len))
        return;
    memcpy(text->data + text->len, str, len);
    text->len += len;
    text->data[text->len] = 0;
}

void wf_text_append(wf_text *text, const char *str)
{
    wf_text_append_n(text, str, strlen(str));
}

void wf_text_append_char(wf_text *text, char c)
{
    wf_text_append_n(text, &c, 1);
}

int wf_text_vformat(char *out, size_t size, const char *format, va_list args)
{
    // The thread's own locale, for the time of the call: glibc hands out a static object for "C".
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = c_locale ? uselocale(c_locale) : (locale_t)0;
    const int len = vsnprintf(out, size, format, args);
    if (c_locale) {
        uselocale(before);
        freelocale(c_locale);
    }
    return len;
}

int wf_text_format(char *out, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int len = wf_text_vformat(out, size, format, args);
    va_end(args);
    return len;
}

void wf_text_printf(wf_text *text, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int len = wf_text_vformat(NULL, 0, format, args);
    if (len < 0)
        text->is_out_of_memory = true;
    else if (reserve(text, (size_t)len)) {
        wf_text_vformat(text->data + text->len, (size_t)len + 1, format, again);
        text->len += (size_t)len;
    }
    va_end(again);
    va_end(args);
}

void wf_text_append_f32(wf_text *text, float value)
{
    char digits[WF_TEXT_NUMBER_BYTES];
    wf_text_format_f32(value, digits);
    wf_text_append(text, digits);
}

void wf_text_append_f64(wf_text *text, double value)
{
    char digits[WF_TEXT_NUMBER_BYTES];
    wf_text_format_f64(value, digits);
    wf_text_append(text, digits);
}

void wf_text_append_json_f64(wf_text *text, double value)
{
    if (value - value == 0.0) // false for NaN and infinities
        wf_text_append_f64(text, value);
    else
        wf_text_append(text, "null");
}

void wf_text_append_json_f32(wf_text *text, float value)
{
    if (value - value == 0.0f)
        wf_text_append_f32(text, value);
    else
        wf_text_append(text, "null");
}

// Bytes of the well-formed UTF-8 sequence at s, 0 for none (Unicode, table 3-7: no overlong forms, no
// surrogates, nothing above U+10FFFF).
static size_t utf8_sequence_len(const unsigned char *s)
{
    if (s[0] < 0x80)
        return 1;
    size_t n = s[0] >= 0xC2 && s[0] <= 0xDF   ? 2
               : s[0] >= 0xE0 && s[0] <= 0xEF ? 3
               : s[0] >= 0xF0 && s[0] <= 0xF4 ? 4
                                              : 0;
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xC0) != 0x80) // the final 0 stops here too
            return 0;
    }
    if ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F) ||
        (s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] > 0x8F))
        return 0;
    return n;
}

// Characters that YAML wants escaped where JSON does not care, as their number, else 0: U+0080 to
// U+009F, the byte order mark, U+FFFE and U+FFFF.
static unsigned code_to_escape(const unsigned char *s, size_t n)
{
    if (n == 2 && s[0] == 0xC2 && s[1] < 0xA0)
        return s[1];
    if (n == 3 && s[0] == 0xEF && s[1] == 0xBB && s[2] == 0xBF)
        return 0xFEFF;
    return n == 3 && s[0] == 0xEF && s[1] == 0xBF && s[2] >= 0xBE ? 0xFF40u + s[2] : 0;
}

void wf_text_append_json_string(wf_text *text, const char *str)
{
    static const char named[] = "\"\\\b\f\n\r\t";
    static const char letters[] = "\"\\bfnrt";
    const unsigned char *s = (const unsigned char *)str;
    wf_text_append_char(text, '"');
    while (*s) {
        const char *at = strchr(named, *s);
        size_t n = utf8_sequence_len(s);
        if (at) {
            char pair[2] = {'\\', letters[at - named]};
            wf_text_append_n(text, pair, 2);
        } else if (*s < 0x20 || *s == 0x7F) {
            wf_text_printf(text, "\\u%04x", (unsigned)*s);
        } else if (code_to_escape(s, n)) {
            wf_text_printf(text, "\\u%04x", code_to_escape(s, n));
        } else if (n == 0) {
            wf_text_append(text, "\xEF\xBF\xBD");
            n = 1;
        } else {
            wf_text_append_n(text, (const char *)s, n);
        }
        s += n;
    }
    wf_text_append_char(text, '"');
}

weft_status wf_text_status(const wf_text *text, weft_error *err)
{
    if (text->is_out_of_memory)
        WEFT_FAIL(err, WEFT_ERR_MEMORY, "memory: a text of %zu bytes cannot grow", text->len);
    return WEFT_OK;
}

const char *wf_text_str(const wf_text *text)
{
    return text->data ? text->data : "";
}
