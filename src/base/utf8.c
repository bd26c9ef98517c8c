// UTF-8, strictly (Unicode, table 3-7).
#include "base/utf8.h"

#include <stdbool.h>

#define N_CODES 0x110000u

size_t wf_utf8_read(const uint8_t *data, size_t size, size_t at, uint32_t *out_code)
{
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    uint32_t first = data[at], code;
    size_t n = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    *out_code = first;
    if (n < 2)
        return n;
    if (first > 0xF4 || size - at < n)
        return 0;
    code = first & (0x7Fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((data[at + i] & 0xC0) != 0x80)
            return 0;
        code = code << 6 | (data[at + i] & 0x3Fu);
    }
    *out_code = code;
    bool is_surrogate = code >= 0xD800 && code < 0xE000;
    return code < least[n] || is_surrogate || code >= N_CODES ? 0 : n;
}

size_t wf_utf8_write(uint32_t code, char out[WF_UTF8_BYTES])
{
    static const uint8_t lead[5] = {0, 0, 0xC0, 0xE0, 0xF0};
    size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    out[n] = 0;
    for (size_t i = n; i-- > 1; code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3F));
    out[0] = (char)(lead[n] | code);
    return n;
}
