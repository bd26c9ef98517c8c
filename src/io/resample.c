// The resampler: filter and its use.
#include "io/resample.h"

#include <string.h>

#include "math/trigonometric.h"

// Zero crossings of the sinc on each side.
#define CROSSINGS 16
#define WEIGHTS_MAX ((int64_t)16 << 20)
#define PI 3.14159265358979323846

// The part of a turn u / (2 d) for any u, in units of 2^-32: exact but for the last unit.
static uint32_t turn_of(int64_t u, int64_t d)
{
    const int64_t whole = 2 * d;
    int64_t part = u % whole;
    part += part < 0 ? whole : 0;
    return (uint32_t)(((uint64_t)part << 31) / (uint64_t)d);
}

static double weight_at(int64_t u, int64_t d)
{
    if (u <= -CROSSINGS * d || u >= CROSSINGS * d)
        return 0.0;
    const double window = 0.5 + 0.5 * (double)wf_cos_turn(turn_of(u, CROSSINGS * d));
    const double x = PI * ((double)u / (double)d);
    return u == 0 ? window : (double)wf_sin_turn(turn_of(u, d)) / x * window;
}

static void fill_phase(wf_resampler *r, int64_t phase)
{
    const int64_t d = r->up > r->down ? r->up : r->down;
    float *out = r->weight + phase * 2 * r->half;
    double sum = 0.0;
    for (int64_t k = 0; k < 2 * r->half; k++)
        sum += weight_at((k - r->half + 1) * r->up - phase, d);
    for (int64_t k = 0; k < 2 * r->half; k++)
        out[k] = (float)(weight_at((k - r->half + 1) * r->up - phase, d) / sum);
}

weft_status wf_resampler_init(wf_resampler *out, const wf_allocator *a, int32_t from, int32_t to,
                              weft_error *err)
{
    int64_t x = from, y = to;
    memset(out, 0, sizeof *out);
    out->allocator = *a;
    WEFT_REQUIRE(err, from > 0 && to > 0, "resample: rates %d and %d, expected above 0", (int)from,
                 (int)to);
    while (y) { // the greatest common divisor
        const int64_t rest = x % y;
        x = y;
        y = rest;
    }
    out->up = to / x;
    out->down = from / x;
    const int64_t d = out->up > out->down ? out->up : out->down;
    out->half = (CROSSINGS * d + out->up - 1) / out->up;
    if (out->half > WEIGHTS_MAX || out->up > WEIGHTS_MAX / (2 * out->half))
        WEFT_FAIL(
            err, WEFT_ERR_UNSUPPORTED,
            "resample: from %d to %d samples a second is %lld / %lld, expected a simpler fraction",
            (int)from, (int)to, (long long)out->up, (long long)out->down);
    WEFT_TRY(
        wf_alloc(a, (size_t)(out->up * 2 * out->half), sizeof *out->weight, &out->weight, err));
    for (int64_t phase = 0; phase < out->up; phase++)
        fill_phase(out, phase);
    return WEFT_OK;
}

int64_t wf_resampler_length(const wf_resampler *r, int64_t n)
{
    return (n * r->up + r->down - 1) / r->down;
}

void wf_resample(const wf_resampler *r, const float *src, int64_t n_src, float *dst, int64_t n_dst)
{
    for (int64_t i = 0; i < n_dst; i++) {
        const int64_t place = i * r->down, phase = place % r->up;
        const int64_t first = place / r->up - r->half + 1;
        const float *weight = r->weight + phase * 2 * r->half;
        double sum = 0.0;
        // dst[i] = sum over k of src[first + k] * weight[phase,k]
        for (int64_t k = 0; k < 2 * r->half; k++) {
            const int64_t at = first + k;
            if (at >= 0 && at < n_src) {
                // The product of two f32 is exact in f64.
                const double product = (double)src[at] * (double)weight[k];
                sum += product;
            }
        }
        dst[i] = (float)sum;
    }
}

void wf_resampler_deinit(wf_resampler *r)
{
    if (r->weight)
        wf_free(&r->allocator, r->weight);
    r->weight = NULL;
}
