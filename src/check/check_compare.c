// Results against results, bit for bit, and against float64, to a bound. Stage: check.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/dtype.h"
#include "check/check.h"
#include "math/half.h"

// An element's bits; every NaN has one pattern.
static uint64_t bits_at(const wf_check_tensor *t, int64_t i)
{
    const size_t bytes = weft_dtype_size(t->type.dtype);
    uint64_t bits = 0;
    switch (bytes) {
    case 1: bits = ((const uint8_t *)t->data)[i]; break;
    case 2: bits = ((const uint16_t *)t->data)[i]; break;
    case 4: bits = ((const uint32_t *)t->data)[i]; break;
    default: bits = ((const uint64_t *)t->data)[i]; break;
    }
    switch (t->type.dtype) {
    case WEFT_F32: return (bits & 0x7fffffffu) > 0x7f800000u ? 0x7fc00000u : bits;
    case WEFT_F16: return (bits & 0x7fffu) > 0x7c00u ? 0x7e00u : bits;
    case WEFT_BF16: return (bits & 0x7fffu) > 0x7f80u ? 0x7fc0u : bits;
    case WEFT_F64: return (bits & INT64_MAX) > 0x7ff0000000000000u ? 0x7ff8000000000000u : bits;
    default: return bits;
    }
}

static double value_at(const wf_check_tensor *t, int64_t i)
{
    switch (t->type.dtype) {
    case WEFT_F32: return (double)((const float *)t->data)[i];
    case WEFT_F64: return ((const double *)t->data)[i];
    case WEFT_F16: return (double)wf_f16_to_f32(((const uint16_t *)t->data)[i]);
    case WEFT_BF16: return (double)wf_bf16_to_f32(((const uint16_t *)t->data)[i]);
    case WEFT_I8: return (double)((const int8_t *)t->data)[i];
    case WEFT_I32: return (double)((const int32_t *)t->data)[i];
    case WEFT_I64: return (double)((const int64_t *)t->data)[i];
    default: return (double)((const uint8_t *)t->data)[i];
    }
}

void wf_check_digest(wf_sha256 *sha, const wf_check_result *result)
{
    for (size_t k = 0; k < result->n; k++) {
        const wf_check_tensor *t = &result->tensors[k];
        const int64_t count = wf_type_count(&t->type);
        for (int64_t i = 0; i < count; i++) {
            const uint64_t bits = bits_at(t, i);
            uint8_t bytes[8];
            for (int b = 0; b < 8; b++) {
                bytes[b] = (uint8_t)(bits >> 8 * b);
            }
            wf_sha256_update(sha, bytes, weft_dtype_size(t->type.dtype));
        }
    }
}

static bool same_shape(const wf_check_result *a, const wf_check_result *b, char reason[256])
{
    if (a->ended != b->ended) {
        (void)snprintf(reason, 256, "the run ended with status %s, expected %s",
                       b->ended == WEFT_OK ? "good" : weft_status_name(b->ended),
                       a->ended == WEFT_OK ? "good" : weft_status_name(a->ended));
        return false;
    }
    if (a->n != b->n) {
        (void)snprintf(reason, 256, "%zu results, expected %zu", b->n, a->n);
        return false;
    }
    return true;
}

static void say_different(const wf_check_tensor *a, const wf_check_tensor *b, int64_t at,
                          int64_t n_different, char reason[256])
{
    char text[WF_TYPE_TEXT];
    const int digits = a->type.dtype == WEFT_F64 ? 17 : 9;
    (void)snprintf(reason, 256,
                   "%s %s: element %" PRId64 " is %.*g (%0*" PRIx64 "), expected %.*g (%0*" PRIx64
                   "), %" PRId64 " elements differ",
                   a->name, wf_type_text(&a->type, text), at, digits, value_at(b, at),
                   (int)(2 * weft_dtype_size(a->type.dtype)), bits_at(b, at), digits,
                   value_at(a, at), (int)(2 * weft_dtype_size(a->type.dtype)), bits_at(a, at),
                   n_different);
}

bool wf_check_equal(const wf_check_result *expected, const wf_check_result *got, char reason[256])
{
    if (!same_shape(expected, got, reason)) {
        return false;
    }
    for (size_t k = 0; k < expected->n; k++) {
        const wf_check_tensor *a = &expected->tensors[k], *b = &got->tensors[k];
        int64_t first = -1, n = 0;
        for (int64_t i = 0; i < wf_type_count(&a->type); i++) {
            if (bits_at(a, i) != bits_at(b, i)) {
                first = n++ == 0 ? i : first;
            }
        }
        if (n > 0) {
            say_different(a, b, first, n, reason);
            return false;
        }
    }
    return true;
}

static double greatest_of(const wf_check_tensor *t)
{
    double best = 0.0;
    for (int64_t i = 0; i < wf_type_count(&t->type); i++) {
        const double x = fabs(value_at(t, i));
        best = isfinite(x) ? fmax(best, x) : best;
    }
    return best;
}

bool wf_check_close(const wf_check_result *expected, const wf_check_result *got, double tolerance,
                    char reason[256])
{
    if (!same_shape(expected, got, reason)) {
        return false;
    }
    for (size_t k = 0; k < expected->n; k++) {
        const wf_check_tensor *a = &expected->tensors[k], *b = &got->tensors[k];
        const bool is_float = wf_dtype_is_float(a->type.dtype);
        const double scale = greatest_of(a);
        for (int64_t i = 0; i < wf_type_count(&a->type); i++) {
            const double x = value_at(a, i), y = value_at(b, i);
            if (bits_at(a, i) == bits_at(b, i) || (is_float && !isfinite(x)) ||
                (is_float && fabs(x - y) <= tolerance * fmax(scale, 0x1p-100))) {
                continue;
            }
            (void)wf_text_format(reason, 256,
                                 "%s[%" PRId64 "] is %.9g, expected %.9g to %.2g of %.3g", a->name,
                                 i, y, x, tolerance, scale);
            return false;
        }
    }
    return true;
}

// Distance from one float of dtype to the next at |x|.
static double ulp_of(weft_dtype dtype, double x)
{
    const int digits = dtype == WEFT_F16    ? 11
                       : dtype == WEFT_BF16 ? 8
                       : dtype == WEFT_F64  ? 53
                                            : 24;
    const int lowest = dtype == WEFT_F16    ? -24
                       : dtype == WEFT_BF16 ? -133
                       : dtype == WEFT_F64  ? -1074
                                            : -149;
    int exponent = 0;
    (void)frexp(x, &exponent);
    return ldexp(1.0, exponent - digits > lowest ? exponent - digits : lowest);
}

// The greatest finite number of the dtype and half a step: beyond it a value rounds to infinity.
static double overflow_of(weft_dtype dtype)
{
    switch (dtype) {
    case WEFT_F16: return 65520.0;
    case WEFT_BF16: return 0x1.ffp127;
    case WEFT_F64: return INFINITY;
    default: return 0x1.ffffffp127;
    }
}

typedef struct near_state {
    const wf_check_tensor *t;
    wf_check_bound bound;
    double scale;
    double worst;
} near_state;

// Distance in the bound's unit; infinity where no rounding explains it.
static double distance(const near_state *s, double value, double truth, double magnitude)
{
    const weft_dtype dtype = s->t->type.dtype;
    if (isnan(truth) || isnan(value)) {
        return isnan(truth) == isnan(value) ? 0.0 : INFINITY;
    }
    if (value == truth) {
        return 0.0;
    }
    if (isinf(value)) {
        // One step of grace: a function may be an ulp or two too large.
        const bool is_near = fabs(truth) >= overflow_of(dtype) * (1.0 - 0x1p-21);
        return is_near && (value > 0) == (truth > 0) ? 0.0 : INFINITY;
    }
    if (isinf(truth)) {
        return INFINITY;
    }
    if (s->bound.is_per_element) {
        return fabs(value - truth) / ulp_of(dtype, truth);
    }
    const double unit = dtype == WEFT_F16 ? 0x1p-11 : dtype == WEFT_BF16 ? 0x1p-8 : 0x1p-24;
    const double scale = fmax(s->scale, fmax(fabs(truth), isfinite(magnitude) ? magnitude : 0.0));
    return fabs(value - truth) / (unit * scale + 0x1p-149);
}

static bool near_floats(near_state *s, const double *truth, const double *magnitude,
                        char reason[256])
{
    for (int64_t i = 0; i < wf_type_count(&s->t->type); i++) {
        const double value = value_at(s->t, i);
        const double d = distance(s, value, truth[i], magnitude ? magnitude[i] : 0.0);
        s->worst = fmax(s->worst, d);
        if (d > s->bound.limit) {
            (void)snprintf(reason, 256,
                           "%s[%" PRId64 "] is %.9g, in float64 %.9g: %.3g %s away, at most %.3g",
                           s->t->name, i, value, truth[i], d,
                           s->bound.is_per_element ? "ulp" : "units of the scale", s->bound.limit);
            return false;
        }
    }
    return true;
}

static bool near_integers(const wf_check_tensor *t, const void *truth, char reason[256])
{
    const wf_check_tensor other = {t->name, t->type, (void *)(uintptr_t)truth, false};
    for (int64_t i = 0; i < wf_type_count(&t->type); i++) {
        if (bits_at(t, i) != bits_at(&other, i)) {
            (void)wf_text_format(reason, 256, "%s[%" PRId64 "] is %.17g, by way of float64 %.17g",
                                 t->name, i, value_at(t, i), value_at(&other, i));
            return false;
        }
    }
    return true;
}

static double greatest_finite(const double *x, int64_t n)
{
    double best = 0.0;
    for (int64_t i = 0; i < n; i++) {
        best = isfinite(x[i]) ? fmax(best, fabs(x[i])) : best;
    }
    return best;
}

bool wf_check_near(const wf_check_result *got, const wf_check_truth *truth,
                   const wf_check_truth *magnitude, size_t n_forward, wf_check_bound bound,
                   double *out_worst, char reason[256])
{
    bool is_ok = true;
    *out_worst = 0.0;
    for (size_t k = 0; is_ok && k < n_forward && k < got->n; k++) {
        const wf_check_tensor *t = &got->tensors[k];
        const void *values = wf_check_truth_get(truth, t->name);
        if (!values) {
            continue;
        }
        if (!wf_dtype_is_float(t->type.dtype)) {
            is_ok = near_integers(t, values, reason);
            continue;
        }
        near_state s = {t, bound, greatest_finite(values, wf_type_count(&t->type)), 0.0};
        is_ok = near_floats(&s, values, magnitude ? wf_check_truth_get(magnitude, t->name) : NULL,
                            reason);
        *out_worst = fmax(*out_worst, s.worst);
    }
    return is_ok;
}

// A gradient is a chain of a few ops, each within its own bound of what it was given: what is left to
// see is a wrong formula, so the tolerance is wide.
#define GRADIENT_TOLERANCE 1e-4
#define NARROW_TOLERANCE 0x1p-6 // on the way through f16 or bf16, which float64 does not round to

bool wf_check_gradients_near(const wf_check_result *got, const wf_check_truth *truth,
                             bool is_narrow, char reason[256])
{
    const double tolerance = is_narrow ? NARROW_TOLERANCE : GRADIENT_TOLERANCE;
    for (size_t k = 0; k < got->n; k++) {
        const wf_check_tensor *t = &got->tensors[k];
        const double *values = wf_check_truth_get(truth, t->name);
        if (strncmp(t->name, "grad", 4) != 0 || !values || t->type.dtype != WEFT_F32) {
            continue;
        }
        const double scale = greatest_finite(values, wf_type_count(&t->type));
        for (int64_t i = 0; i < wf_type_count(&t->type); i++) {
            const double x = value_at(t, i);
            if (isfinite(values[i]) && fabs(values[i]) < 0x1p127 &&
                !(fabs(x - values[i]) <= tolerance * scale + 0x1p-100)) {
                (void)wf_text_format(reason, 256, "%s[%" PRId64 "] is %.9g, in float64 %.9g",
                                     t->name, i, x, values[i]);
                return false;
            }
        }
    }
    return true;
}
