// Changes of u8 images [c,h,w] and of sounds.
#include "data/augment.h"

#include <string.h>

#include "math/trigonometric.h"

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

// The nearest whole number of 2^-16.
static int64_t to_fixed(float value)
{
    const float scaled = value * 65536.0f; // exact
    return (int64_t)(scaled < 0.0f ? scaled - 0.5f : scaled + 0.5f);
}

void wf_augment_matrix(uint32_t turn, int64_t scale, int64_t down, int64_t right, int64_t out[6])
{
    const int64_t c = to_fixed(wf_cos_turn(turn)), s = to_fixed(wf_sin_turn(turn));
    // From the result back to the source: move back, then turn back, then shrink.
    out[0] = c * 65536 / scale;
    out[1] = -s * 65536 / scale;
    out[3] = s * 65536 / scale;
    out[4] = c * 65536 / scale;
    out[2] = -(out[0] * right + out[1] * down);
    out[5] = -(out[3] * right + out[4] * down);
}

static int64_t floor_shift(int64_t value, int bits)
{
    const int64_t unit = (int64_t)1 << bits;
    return (value >= 0 ? value : value - (unit - 1)) / unit;
}

static uint32_t pixel_at(const uint8_t *plane, int64_t height, int64_t width, int64_t y, int64_t x)
{
    return y >= 0 && y < height && x >= 0 && x < width ? plane[y * width + x] : 0;
}

void wf_augment_affine_u8(const uint8_t *src, int64_t n_channels, int64_t height, int64_t width,
                          const int64_t m[6], uint8_t *dst)
{
    for (int64_t y = 0; y < height; y++) {
        for (int64_t x = 0; x < width; x++) {
            // Twice the offset from the middle is whole; so twice the place, in 2^-16.
            const int64_t dx = 2 * x - (width - 1), dy = 2 * y - (height - 1);
            const int64_t px = m[0] * dx + m[1] * dy + 2 * m[2] + (width - 1) * 65536;
            const int64_t py = m[3] * dx + m[4] * dy + 2 * m[5] + (height - 1) * 65536;
            // In 1/256 of a pixel, rounded.
            const int64_t fx = floor_shift(px + 256, 9), fy = floor_shift(py + 256, 9);
            const int64_t ix = floor_shift(fx, 8), iy = floor_shift(fy, 8);
            const uint32_t wx = (uint32_t)(fx - ix * 256), wy = (uint32_t)(fy - iy * 256);
            for (int64_t c = 0; c < n_channels; c++) {
                const uint8_t *plane = src + c * height * width;
                const uint32_t top = (256 - wx) * pixel_at(plane, height, width, iy, ix) +
                                     wx * pixel_at(plane, height, width, iy, ix + 1);
                const uint32_t bottom = (256 - wx) * pixel_at(plane, height, width, iy + 1, ix) +
                                        wx * pixel_at(plane, height, width, iy + 1, ix + 1);
                dst[(c * height + y) * width + x] =
                    (uint8_t)(((256 - wy) * top + wy * bottom + 32768) >> 16);
            }
        }
    }
}

// round(value * factor / 256), halves away from 0.
static int32_t scaled(int32_t value, int32_t factor)
{
    const int32_t product = value * factor;
    return (product + (product < 0 ? -128 : 128)) / 256;
}

static uint8_t to_u8(int32_t value)
{
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

void wf_augment_colour_u8(uint8_t *image, int64_t n_channels, int64_t n_pixels, int32_t brightness,
                          int32_t contrast, int32_t saturation)
{
    for (int64_t i = 0; i < n_channels * n_pixels; i++) {
        const uint8_t bright = to_u8(scaled(image[i], brightness));
        image[i] = to_u8(128 + scaled((int32_t)bright - 128, contrast));
    }
    for (int64_t i = 0; i < n_pixels && n_channels == 3; i++) {
        uint8_t *r = image + i, *g = r + n_pixels, *b = g + n_pixels;
        const int32_t grey = (int32_t)((19595u * *r + 38470u * *g + 7471u * *b + 32768u) >> 16);
        *r = to_u8(grey + scaled(*r - grey, saturation));
        *g = to_u8(grey + scaled(*g - grey, saturation));
        *b = to_u8(grey + scaled(*b - grey, saturation));
    }
}

void wf_augment_cutout_u8(uint8_t *image, int64_t n_channels, int64_t height, int64_t width,
                          int64_t y, int64_t x, int64_t side)
{
    const int64_t top = y - side / 2, left = x - side / 2;
    for (int64_t c = 0; c < n_channels; c++) {
        for (int64_t row = top < 0 ? 0 : top; row < top + side && row < height; row++) {
            for (int64_t col = left < 0 ? 0 : left; col < left + side && col < width; col++)
                image[(c * height + row) * width + col] = 128;
        }
    }
}

void wf_augment_mix_u8(uint8_t *image, const uint8_t *other, size_t n, uint32_t share)
{
    for (size_t i = 0; i < n; i++)
        image[i] = (uint8_t)((share * image[i] + (65536u - share) * other[i] + 32768u) >> 16);
}

void wf_augment_shift_f32(float *sound, int64_t n, int64_t by)
{
    const int64_t size = by < 0 ? -by : by, kept = size < n ? n - size : 0;
    const size_t gap = (size_t)(n - kept) * sizeof *sound;
    memmove(by > 0 ? sound + (n - kept) : sound, by > 0 ? sound : sound + (n - kept),
            (size_t)kept * sizeof *sound);
    memset(by > 0 ? sound : sound + kept, 0, gap);
}
