// Random changes to images [c,h,w] of u8. Each takes its random numbers as arguments: the loader
// draws them from (seed, epoch, sample).
#ifndef WF_DATA_AUGMENT_H
#define WF_DATA_AUGMENT_H

#include <stdint.h>

// dst = the h x w window at (top, left) of src padded with zeros by `padding` on each side;
// 0 <= top, left <= 2 * padding. dst and src do not overlap.
void wf_augment_crop_u8(const uint8_t *src, int64_t n_channels, int64_t height, int64_t width,
                        int64_t padding, int64_t top, int64_t left, uint8_t *dst);
// Mirrors left to right in place.
void wf_augment_flip_u8(uint8_t *image, int64_t n_channels, int64_t height, int64_t width);

#endif
