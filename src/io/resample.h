// Changes the rate of a sound by a fraction, with a filter of defined bits.
#ifndef WF_IO_RESAMPLE_H
#define WF_IO_RESAMPLE_H

#include "base/alloc.h"

// Between two rates: per output sample one of `up` phases of a windowed sinc. With up / down the rates'
// ratio in lowest terms and D = max(up, down), the weight of the input sample at distance u / up from the
// place of the output sample is, before each phase is divided by its sum,
//   sin(pi x) / (pi x) * (1/2 + 1/2 cos(pi x / 16)),  x = u / D,  |x| < 16.
// Sines are those of doc/arithmetic.md at exact parts of a turn; the rest is f64, rounded once to f32.
typedef struct wf_resampler {
    wf_allocator allocator;
    int64_t up, down;
    int64_t half;  // input samples on each side
    float *weight; // [up, 2 * half]
} wf_resampler;

// Errors: WEFT_ERR_UNSUPPORTED (a fraction so odd that its filter is larger than 64 MiB).
weft_status wf_resampler_init(wf_resampler *out_resampler, const wf_allocator *a, int32_t from,
                              int32_t to, weft_error *err);
// Samples that n become: ceil(n * up / down).
int64_t wf_resampler_length(const wf_resampler *resampler, int64_t n);
// dst[i], i < n_dst, is at input place i * down / up; before and behind src there is silence. Sums are
// f64 in ascending order of the input.
void wf_resample(const wf_resampler *resampler, const float *src, int64_t n_src, float *dst,
                 int64_t n_dst);
// Accepts a zeroed one.
void wf_resampler_deinit(wf_resampler *resampler);

#endif
