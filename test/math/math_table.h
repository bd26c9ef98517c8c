// The one-argument functions of src/math with their truth in double and their bound in ulp; and the
// measure of an error.
// Used by the quick tests and by the exhaustive sweep. Include <math.h> first.
#ifndef WF_TEST_MATH_TABLE_H
#define WF_TEST_MATH_TABLE_H

#include "math/weft_math.h"

// X(name, bound, the true value as an expression of the double x)
#define WF_MATH_FUNCTIONS(X)                                                                       \
    X(exp, 1.0, exp(x))                                                                            \
    X(exp2, 1.0, exp2(x))                                                                          \
    X(expm1, 1.5, expm1(x))                                                                        \
    X(log, 1.0, log(x))                                                                            \
    X(log2, 1.5, log2(x))                                                                          \
    X(log1p, 1.5, log1p(x))                                                                        \
    X(tanh, 1.5, tanh(x))                                                                          \
    X(erf, 1.5, erf(x))                                                                            \
    X(erfc, 1.5, erfc(x))                                                                          \
    X(sin, 1.5, sin(x))                                                                            \
    X(cos, 1.5, cos(x))                                                                            \
    X(sigmoid, 1.5, 1.0 / (1.0 + exp(-x)))                                                         \
    X(silu, 1.5, x < -1e4 ? -0.0 : x / (1.0 + exp(-x)))                                            \
    X(softplus, 1.5, (x > 0.0 ? x : 0.0) + log1p(exp(-fabs(x))))                                   \
    X(gelu, 1.5, x < -1e4 ? -0.0 : 0.5 * x * erfc(x * -0.70710678118654752440))                    \
    X(gelu_tanh, 1.5,                                                                              \
      x < -1e4 ? -0.0 : x / (1.0 + exp(-1.59576912160573071176 * (x + 0.044715 * x * x * x))))     \
    X(rsqrt, 1.5, 1.0 / sqrt(x))

// |r - t| in units of the last place of the f32 that t lies beside; 1e9 where one is NaN, or the
// signs differ. Infinity counts as 2^128, the next float after the largest.
WF_FN double wf_ulp_error(wf_f32 r, double t)
{
    const double y = (double)r;
    const double ya = fabs(y) < 0x1p128 ? fabs(y) : 0x1p128;
    const double ta = fabs(t) < 0x1p128 ? fabs(t) : 0x1p128;
    double low = ta < 0x1p-126 ? 0x1p-126 : ta;
    low = low > 0x1.fffffep127 ? 0x1.fffffep127 : low;
    wf_u64 bits, sign_y, sign_t;
    __builtin_memcpy(&bits, &low, sizeof bits);
    __builtin_memcpy(&sign_y, &y, sizeof sign_y);
    __builtin_memcpy(&sign_t, &t, sizeof sign_t);
    bits = ((wf_u64)(2046 + 23) << 52) - (bits & 0x7ff0000000000000u); // 2^(23 - exponent)
    double per_ulp;
    __builtin_memcpy(&per_ulp, &bits, sizeof per_ulp);
    const double err = fabs(ya - ta) * per_ulp;
    const double checked = ((sign_y ^ sign_t) >> 63) != 0 ? 1e9 : err;
    const int nan_y = y != y;
    const int nan_t = t != t;
    return nan_y & nan_t ? 0.0 : nan_y | nan_t ? 1e9 : checked;
}

#endif
