// Random crop and horizontal flip of u8 images [c,h,w].
#include "data/augment.h"

#include <string.h>

void wf_augment_crop_u8(const uint8_t *src, int64_t n_channels, int64_t height, int64_t width,
                        int64_t padding, int64_t top, int64_t left, uint8_t *dst)
{
    // dst[c,y,x] = src[c, y + dy, x + dx], 0 outside. Columns x0 .. x1-1 of dst lie inside.
    int64_t dy = top - padding, dx = left - padding;
    int64_t x0 = dx < 0 ? -dx : 0, x1 = dx > 0 ? width - dx : width;
    memset(dst, 0, (size_t)(n_channels * height * width));
    if (x0 >= x1)
        return;
    for (int64_t c = 0; c < n_channels; c++) {
        for (int64_t y = 0; y < height; y++) {
            int64_t from = y + dy;
            if (from < 0 || from >= height)
                continue;
            memcpy(dst + (c * height + y) * width + x0, src + (c * height + from) * width + x0 + dx,
                   (size_t)(x1 - x0));
        }
    }
}

void wf_augment_flip_u8(uint8_t *image, int64_t n_channels, int64_t height, int64_t width)
{
    for (int64_t row = 0; row < n_channels * height; row++) {
        uint8_t *p = image + row * width;
        for (int64_t i = 0, j = width - 1; i < j; i++, j--) {
            uint8_t kept = p[i];
            p[i] = p[j];
            p[j] = kept;
        }
    }
}
