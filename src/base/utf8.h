// Characters and their bytes.
#ifndef WF_BASE_UTF8_H
#define WF_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

// Longest character in UTF-8, with its final 0.
#define WF_UTF8_BYTES 5

// The character that begins at data[at]: returns its length 1 .. 4, or 0 where no whole one of UTF-8
// does (cut, overlong, a surrogate, above U+10FFFF).
size_t wf_utf8_read(const uint8_t *data, size_t size, size_t at, uint32_t *out_code);
// Writes the character and a 0; returns its length.
size_t wf_utf8_write(uint32_t code, char out[WF_UTF8_BYTES]);

#endif
