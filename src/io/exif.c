// The orientation tag of EXIF: a TIFF header, then its first directory of 12-byte entries.
#include <string.h>

#include "io/image_codec.h"

static uint32_t read_number(const uint8_t *p, int n_bytes, bool is_big)
{
    uint32_t value = 0;
    for (int i = 0; i < n_bytes; i++)
        value = value << 8 | p[is_big ? i : n_bytes - 1 - i];
    return value;
}

int32_t wf_exif_orientation(const uint8_t *segment, size_t size_bytes)
{
    const uint32_t tag_orientation = 0x0112;
    if (size_bytes < 6 + 8 || memcmp(segment, "Exif\0\0", 6))
        return 1;
    const uint8_t *tiff = segment + 6;
    size_t size = size_bytes - 6;
    bool is_big = tiff[0] == 'M';
    if (memcmp(tiff, is_big ? "MM" : "II", 2) || read_number(tiff + 2, 2, is_big) != 42)
        return 1;
    size_t at = read_number(tiff + 4, 4, is_big);
    if (at > size || size - at < 2)
        return 1;
    size_t n_entries = read_number(tiff + at, 2, is_big);
    for (at += 2; n_entries > 0 && size - at >= 12; n_entries--, at += 12) {
        if (read_number(tiff + at, 2, is_big) != tag_orientation)
            continue;
        uint32_t value = read_number(tiff + at + 8, 2, is_big);
        return value >= 1 && value <= 8 ? (int32_t)value : 1;
    }
    return 1;
}
