// What image_read.c asks of the decoders, one file each.
#ifndef WF_IO_IMAGE_CODEC_H
#define WF_IO_IMAGE_CODEC_H

#include "io/image.h"

// Decode bytes into an image of 1 channel where the file is grey and 3 where it has colours.
// Messages begin with the path.
weft_status wf_png_decode(const wf_allocator *a, const char *path, const uint8_t *data,
                          size_t size_bytes, wf_image *out_image, weft_error *err);
weft_status wf_jpeg_decode(const wf_allocator *a, const char *path, const uint8_t *data,
                           size_t size_bytes, wf_image *out_image, weft_error *err);
weft_status wf_webp_decode(const wf_allocator *a, const char *path, const uint8_t *data,
                           size_t size_bytes, wf_image *out_image, weft_error *err);

// n values and their alpha behind them, laid on white.
static inline void wf_image_blend(const uint8_t *src, int32_t n, uint8_t *dst)
{
    const uint32_t alpha = src[n];
    for (int32_t i = 0; i < n; i++)
        dst[i] = (uint8_t)((src[i] * alpha + 255u * (255u - alpha) + 127u) / 255u);
}

// The EXIF orientation, 1 .. 8, in an APP1 segment that begins with "Exif\0\0"; 1 when it says none.
int32_t wf_exif_orientation(const uint8_t *segment, size_t size_bytes);

#endif
