// Pooling of one instruction set, over lanes: channels that lie side by side, or the cells of a line.
// Stage: RUN, inside window tasks.
#include "device/cpu/kernel/cpu_kernel.h"

#include "math/dialect.h"

// Is x before best in the order of maxima: NaN, then greater, then +0 before -0.
static inline int is_above(float x, float best)
{
    const int is_zero_above =
        (int)(x == best) & (int)(wf_as_u32(x) == 0u) & (int)(wf_as_u32(best) >> 31);
    return (int)(best == best) & ((int)(x > best) | (int)(x != x) | is_zero_above);
}

// Lanes taken together: few channels are common, and the compiler's own remainder loops are slow.
#define BLOCK 16

// x or +0, without a branch: which one is as good as random. A sum that began at +0 is never -0, so
// adding +0 changes nothing.
static inline float take_if(int is_taken, float x)
{
    return wf_as_f32(wf_as_u32(x) & (0u - (wf_u32)is_taken));
}

// A loop once for unit strides, where it becomes vector code, and once for any.
#define STRIDED(is_unit, unit_body, any_body)                                                      \
    do {                                                                                           \
        if (is_unit) {                                                                             \
            WF_CPU_VECTOR_LOOP                                                                     \
            for (int64_t j = 0; j < (int64_t)n; j++)                                               \
                unit_body;                                                                         \
        } else {                                                                                   \
            for (int64_t j = 0; j < (int64_t)n; j++)                                               \
                any_body;                                                                          \
        }                                                                                          \
    } while (0)

#define TAKE_MAX(value)                                                                            \
    {                                                                                              \
        const float v = (value);                                                                   \
        const int is_better = (cell[j] < 0) | is_above(v, best[j]);                                \
        best[j] = is_better ? v : best[j];                                                         \
        cell[j] = is_better ? r : cell[j];                                                         \
    }

static void window_max(float *best, int32_t *cell, const float *x, int64_t x_stride, int32_t r,
                       size_t n)
{
    size_t done = 0;
    for (; x_stride == 1 && done + BLOCK <= n;
         done += BLOCK, best += BLOCK, cell += BLOCK, x += BLOCK) {
        WF_CPU_VECTOR_LOOP
        for (int j = 0; j < BLOCK; j++)
            TAKE_MAX(x[j]);
    }
    for (int64_t j = 0; j < (int64_t)(n - done); j++)
        TAKE_MAX(x[j * x_stride]);
}

static void window_sum(float *sum, int64_t sum_stride, const float *x, int64_t x_stride, size_t n)
{
    STRIDED(sum_stride == 1 && x_stride == 1, sum[j] += x[j],
            sum[j * sum_stride] += x[j * x_stride]);
}

static void window_won(float *sum, int64_t sum_stride, const uint8_t *where, int64_t where_stride,
                       const float *dy, int64_t dy_stride, int32_t r, size_t n)
{
    if (sum_stride == 1 && where_stride == 1 && dy_stride == 1) {
        size_t j = 0;
        for (; j + BLOCK <= n; j += BLOCK) {
            float *s = sum + j;
            const uint8_t *w = where + j;
            const float *d = dy + j;
            WF_CPU_VECTOR_LOOP
            for (int i = 0; i < BLOCK; i++)
                s[i] += take_if(w[i] == r, d[i]);
        }
        for (; j < n; j++)
            sum[j] += take_if(where[j] == r, dy[j]);
        return;
    }
    for (int64_t j = 0; j < (int64_t)n; j++)
        sum[j * sum_stride] += take_if(where[j * where_stride] == r, dy[j * dy_stride]);
}

static void window_share(float *sum, int64_t sum_stride, const float *dy, int64_t dy_stride,
                         const float *count, int64_t count_stride, size_t n)
{
    STRIDED(sum_stride == 1 && dy_stride == 1 && count_stride == 0, sum[j] += dy[j] / count[0],
            sum[j * sum_stride] += dy[j * dy_stride] / count[j * count_stride]);
}

static void window_divide(float *y, int64_t y_stride, const float *sum, const float *count,
                          int64_t count_stride, size_t n)
{
    STRIDED(y_stride == 1 && count_stride == 0, y[j] = sum[j] / count[0],
            y[j * y_stride] = sum[j] / count[j * count_stride]);
}

const wf_cpu_windows WF_CPU_NAME(wf_cpu_windows);
const wf_cpu_windows WF_CPU_NAME(wf_cpu_windows) = {window_max, window_sum, window_won,
                                                    window_share, window_divide};
