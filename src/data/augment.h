// Random changes to images [c,h,w] of u8 and to sounds. Each takes its random numbers as arguments: the
// loader draws them from (seed, epoch, sample). Pictures are integer arithmetic throughout.
#ifndef WF_DATA_AUGMENT_H
#define WF_DATA_AUGMENT_H

#include <stddef.h>
#include <stdint.h>

// dst = the h x w window at (top, left) of src padded with zeros by `padding` on each side;
// 0 <= top, left <= 2 * padding. dst and src do not overlap.
void wf_augment_crop_u8(const uint8_t *src, int64_t n_channels, int64_t height, int64_t width,
                        int64_t padding, int64_t top, int64_t left, uint8_t *dst);
// dst[c,y,x] = src at the place that the matrix gives, between four pixels by eighths of their bits
// (fractions of 1/256, rounded once); 0 outside. Around the middle of the image, for offsets (dx, dy)
// in pixels from there: source = (matrix[0] dx + matrix[1] dy + matrix[2],
//                                 matrix[3] dx + matrix[4] dy + matrix[5]), in units of 2^-16.
void wf_augment_affine_u8(const uint8_t *src, int64_t n_channels, int64_t height, int64_t width,
                          const int64_t matrix[6], uint8_t *dst);
// The matrix of a turn by 2 pi turn / 2^32 anticlockwise, an enlargement by scale / 2^16 (> 0), and a move
// by whole pixels.
void wf_augment_matrix(uint32_t turn, int64_t scale, int64_t down, int64_t right,
                       int64_t out_matrix[6]);
// In place, factors in 1/256, 256 changes nothing: v = v * brightness; v = 128 + (v - 128) * contrast; of
// three channels v = grey + (v - grey) * saturation. Each is rounded and kept within 0 .. 255.
void wf_augment_colour_u8(uint8_t *image, int64_t n_channels, int64_t n_pixels, int32_t brightness,
                          int32_t contrast, int32_t saturation);
// A square of side `side` around (y, x) becomes 128, where it lies in the image.
void wf_augment_cutout_u8(uint8_t *image, int64_t n_channels, int64_t height, int64_t width,
                          int64_t y, int64_t x, int64_t side);
// image = (share * image + (65536 - share) * other + 32768) / 65536
void wf_augment_mix_u8(uint8_t *image, const uint8_t *other, size_t n, uint32_t share);
// In place: later by `by` samples (earlier where it is negative), silence where nothing comes from.
void wf_augment_shift_f32(float *sound, int64_t n, int64_t by);
// Mirrors left to right in place.
void wf_augment_flip_u8(uint8_t *image, int64_t n_channels, int64_t height, int64_t width);

#endif
