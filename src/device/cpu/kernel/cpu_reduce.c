// Reductions of one instruction set: chunks and trees of the row and column rules (math/sum.h,
// doc/arithmetic.md, "Sums"). Stage: RUN, inside the tile interpreter.
//
// Maxima, minima and integer sums may use any shape; they share the loops' shape with the f32 sums.
#include "device/cpu/kernel/cpu_kernel.h"
#include "device/cpu/kernel/cpu_part_vec.h"

#include <string.h>

#include "math/compare.h"
#include "math/sum.h"

#define LANES WF_SUM_LANES
#define BLOCK 64 // columns whose accumulators stay in registers: four vectors of the widest set

// Halves onto each other until lane[0] is all of them. Written out: each step is a loop of known length.
#define FOLD_STEP(lane, width, COMBINE)                                                            \
    for (size_t l = 0; l < (width); l++)                                                           \
        lane[l] = COMBINE(lane[l], lane[l + (width)]);
#define FOLD(lane, COMBINE)                                                                        \
    do {                                                                                           \
        FOLD_STEP(lane, 16, COMBINE)                                                               \
        FOLD_STEP(lane, 8, COMBINE)                                                                \
        FOLD_STEP(lane, 4, COMBINE)                                                                \
        FOLD_STEP(lane, 2, COMBINE)                                                                \
        FOLD_STEP(lane, 1, COMBINE)                                                                \
    } while (0)
_Static_assert(LANES == 32, "FOLD starts at half of the lanes");
#define SUM_F32(a, b) ((a) + (b))

// ---- f32 sums, row rule
#define N_VECTORS (LANES / VL)

// The lanes of a chunk. A lane is never -0, so the +0 behind the last element leaves its lane alone.
VEC_INLINE void add_lanes(vf lane[N_VECTORS], const float *x, size_t n)
{
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        VEC_UNROLL
        for (size_t v = 0; v < N_VECTORS; v++)
            lane[v] += v_load(x + i + v * VL);
    }
    VEC_UNROLL
    for (size_t v = 0; v < N_VECTORS; v++, i += VL) {
        if (i + VL <= n)
            lane[v] += v_load(x + i);
        else if (i < n)
            lane[v] += v_load_part(x + i, (int64_t)(n - i));
    }
}

// The fold of the row rule: lane l += lane l + w for w = 16, 8, 4, 2, 1.
VEC_INLINE float fold_lanes(vf lane[N_VECTORS])
{
    VEC_UNROLL
    for (size_t width = N_VECTORS / 2; width > 0; width /= 2) {
        for (size_t v = 0; v < width; v++)
            lane[v] += lane[v + width];
    }
#if defined(WF_ISA_AVX512) || defined(WF_ISA_AVX2)
#if defined(WF_ISA_AVX512)
    const __m256 w8 = _mm256_add_ps(_mm512_castps512_ps256((__m512)lane[0]),
                                    _mm512_extractf32x8_ps((__m512)lane[0], 1));
#else
    const __m256 w8 = (__m256)lane[0];
#endif
    const __m128 w4 = _mm_add_ps(_mm256_castps256_ps128(w8), _mm256_extractf128_ps(w8, 1));
    const __m128 w2 = _mm_add_ps(w4, _mm_movehl_ps(w4, w4));
    return _mm_cvtss_f32(_mm_add_ss(w2, _mm_movehdup_ps(w2)));
#else
    return (lane[0][0] + lane[0][2]) + (lane[0][1] + lane[0][3]);
#endif
}

static float sum_chunk(const float *x, size_t n)
{
    vf lane[N_VECTORS] = {{0.0f}};
    add_lanes(lane, x, n);
    return fold_lanes(lane);
}

static void sum_row_chunks(const wf_cpu_parts *out, const void *x, size_t n_rows, int64_t pitch,
                           size_t n, int64_t first_idx)
{
    (void)first_idx;
    for (size_t r = 0; r < n_rows; r++)
        ((float *)out->part[0])[r] = sum_chunk((const float *)x + (int64_t)r * pitch, n);
}

// A chunk is read before its sum is written over the front.
static void sum_row_tree(const wf_cpu_parts *parts, size_t m)
{
    float *sums = parts->part[0];
    while (m > 1) {
        const size_t n_chunks = (m + WF_SUM_ROW_CHUNK - 1) / WF_SUM_ROW_CHUNK;
        for (size_t c = 0; c < n_chunks; c++) {
            const size_t at = c * WF_SUM_ROW_CHUNK;
            sums[c] = sum_chunk(sums + at, m - at < WF_SUM_ROW_CHUNK ? m - at : WF_SUM_ROW_CHUNK);
        }
        m = n_chunks;
    }
}

// ---- one accumulator for each result, any type: name_<what>
// COMBINE(acc, x) is associative, or is only used in the column rule's order.
#define COLUMN_ENDS(name, T_, START, COMBINE)                                                      \
    static void name##_column_start(const wf_cpu_parts *acc, size_t n)                             \
    {                                                                                              \
        for (size_t j = 0; j < n; j++)                                                             \
            ((T_ *)acc->part[0])[j] = (START);                                                     \
    }                                                                                              \
    static void name##_column_merge(const wf_cpu_parts *acc, const wf_cpu_parts *next, size_t n)   \
    {                                                                                              \
        T_ *out = acc->part[0];                                                                    \
        const T_ *in = next->part[0];                                                              \
        for (size_t j = 0; j < n; j++)                                                             \
            out[j] = COMBINE(out[j], in[j]);                                                       \
    }

#define COLUMN_ROWS(name, T_, COMBINE)                                                             \
    static void name##_column_rows(const wf_cpu_parts *acc, const void *px, size_t n_rows,         \
                                   int64_t pitch, size_t n, int64_t first_idx)                     \
    {                                                                                              \
        const T_ *x = px;                                                                          \
        T_ *out = acc->part[0];                                                                    \
        const int64_t rows = (int64_t)n_rows;                                                      \
        size_t j = 0;                                                                              \
        (void)first_idx;                                                                           \
        for (; j + BLOCK <= n; j += BLOCK) {                                                       \
            T_ block[BLOCK];                                                                       \
            for (size_t l = 0; l < BLOCK; l++)                                                     \
                block[l] = out[j + l];                                                             \
            for (int64_t i = 0; i < rows; i++) {                                                   \
                const T_ *row = x + i * pitch + j;                                                 \
                for (size_t l = 0; l < BLOCK; l++)                                                 \
                    block[l] = COMBINE(block[l], row[l]);                                          \
            }                                                                                      \
            for (size_t l = 0; l < BLOCK; l++)                                                     \
                out[j + l] = block[l];                                                             \
        }                                                                                          \
        for (; j + 16 <= n; j += 16) {                                                             \
            T_ block[16];                                                                          \
            for (size_t l = 0; l < 16; l++)                                                        \
                block[l] = out[j + l];                                                             \
            for (int64_t i = 0; i < rows; i++) {                                                   \
                const T_ *row = x + i * pitch + j;                                                 \
                for (size_t l = 0; l < 16; l++)                                                    \
                    block[l] = COMBINE(block[l], row[l]);                                          \
            }                                                                                      \
            for (size_t l = 0; l < 16; l++)                                                        \
                out[j + l] = block[l];                                                             \
        }                                                                                          \
        for (; j < n; j++) {                                                                       \
            T_ one = out[j];                                                                       \
            for (int64_t i = 0; i < rows; i++)                                                     \
                one = COMBINE(one, x[i * pitch + (int64_t)j]);                                     \
            out[j] = one;                                                                          \
        }                                                                                          \
    }

#define COLUMN_FUNCTIONS(name, T_, START, COMBINE)                                                 \
    COLUMN_ENDS(name, T_, START, COMBINE)                                                          \
    COLUMN_ROWS(name, T_, COMBINE)

#define ROW_TREE(name, T_, COMBINE)                                                                \
    static void name##_row_tree(const wf_cpu_parts *parts, size_t m)                               \
    {                                                                                              \
        T_ *values = parts->part[0];                                                               \
        for (size_t i = 1; i < m; i++)                                                             \
            values[0] = COMBINE(values[0], values[i]);                                             \
    }

#define ROW_FUNCTIONS(name, T_, START, COMBINE)                                                    \
    static void name##_row_chunks(const wf_cpu_parts *out, const void *x, size_t n_rows,           \
                                  int64_t pitch, size_t n, int64_t first_idx)                      \
    {                                                                                              \
        (void)first_idx;                                                                           \
        for (size_t r = 0; r < n_rows; r++) {                                                      \
            const T_ *row = (const T_ *)x + (int64_t)r * pitch;                                    \
            T_ lane[LANES];                                                                        \
            size_t i = 0;                                                                          \
            for (size_t l = 0; l < LANES; l++)                                                     \
                lane[l] = (START);                                                                 \
            for (; i + LANES <= n; i += LANES) {                                                   \
                for (size_t l = 0; l < LANES; l++)                                                 \
                    lane[l] = COMBINE(lane[l], row[i + l]);                                        \
            }                                                                                      \
            for (size_t l = 0; i < n; i++, l++)                                                    \
                lane[l] = COMBINE(lane[l], row[i]);                                                \
            FOLD(lane, COMBINE);                                                                   \
            ((T_ *)out->part[0])[r] = lane[0];                                                     \
        }                                                                                          \
    }                                                                                              \
    ROW_TREE(name, T_, COMBINE)

#define SUM_I32(a, b) ((int32_t)((uint32_t)(a) + (uint32_t)(b)))
#define SUM_I64(a, b) ((int64_t)((uint64_t)(a) + (uint64_t)(b)))
#define MAX_INT(a, b) ((a) > (b) ? (a) : (b))
#define MIN_INT(a, b) ((a) < (b) ? (a) : (b))
#define BOTH_FUNCTIONS(name, T_, START, COMBINE)                                                   \
    COLUMN_FUNCTIONS(name, T_, START, COMBINE)                                                     \
    ROW_FUNCTIONS(name, T_, START, COMBINE)

COLUMN_ENDS(sum, float, 0.0f, SUM_F32)
COLUMN_ROWS(sum_blocks, float, SUM_F32)
BOTH_FUNCTIONS(sum_i32, int32_t, 0, SUM_I32)
BOTH_FUNCTIONS(sum_i64, int64_t, 0, SUM_I64)
COLUMN_FUNCTIONS(max_f32, float, -WF_INF, wf_max)
ROW_TREE(max_f32, float, wf_max)
BOTH_FUNCTIONS(max_i8, int8_t, INT8_MIN, MAX_INT)
BOTH_FUNCTIONS(max_u8, uint8_t, 0, MAX_INT)
BOTH_FUNCTIONS(max_i32, int32_t, INT32_MIN, MAX_INT)
BOTH_FUNCTIONS(max_i64, int64_t, INT64_MIN, MAX_INT)
BOTH_FUNCTIONS(min_f32, float, WF_INF, wf_min)
BOTH_FUNCTIONS(min_i8, int8_t, INT8_MAX, MIN_INT)
BOTH_FUNCTIONS(min_u8, uint8_t, UINT8_MAX, MIN_INT)
BOTH_FUNCTIONS(min_i32, int32_t, INT32_MAX, MIN_INT)
BOTH_FUNCTIONS(min_i64, int64_t, INT64_MAX, MIN_INT)

// Columns that fill no block of 16: parts of vectors.
static void sum_column_rows(const wf_cpu_parts *acc, const void *px, size_t n_rows, int64_t pitch,
                            size_t n, int64_t first_idx)
{
    const float *x = px;
    float *out = acc->part[0];
    size_t j = n - n % 16;
    sum_blocks_column_rows(acc, px, n_rows, pitch, j, first_idx);
    for (; j < n; j += VL) {
        const size_t width = n - j;
        const bool is_whole = width >= VL;
        vf sum = is_whole ? v_load(out + j) : v_load_part(out + j, (int64_t)width);
        for (int64_t i = 0; i < (int64_t)n_rows; i++) {
            const float *row = x + i * pitch + j;
            sum += is_whole ? v_load(row) : v_load_part(row, (int64_t)width);
        }
        if (is_whole)
            v_store(out + j, sum);
        else
            v_store_part(out + j, sum, (int64_t)width);
    }
}

// Maxima of rows, in any order: by keys.
static void max_f32_row_chunks(const wf_cpu_parts *out, const void *x, size_t n_rows, int64_t pitch,
                               size_t n, int64_t first_idx)
{
    const vf lowest = v_set(-WF_INF);
    (void)first_idx;
    for (size_t r = 0; r < n_rows; r++) {
        const float *row = (const float *)x + (int64_t)r * pitch;
        vi best = v_to_key(lowest);
        size_t i = 0;
        for (; i + VL <= n; i += VL)
            best = v_max_int(best, v_to_key(v_load(row + i)));
        if (i < n)
            best = v_max_int(best, v_to_key(v_load_fill(row + i, (int64_t)(n - i), lowest)));
        const uint32_t top = (uint32_t)v_top_int(best);
        ((float *)out->part[0])[r] = wf_as_f32(top ^ ((0u - (top >> 31)) >> 1));
    }
}

// ---- argmax: the lowest index of the greatest; NaN is greatest. Index -1: none yet.
#define IS_AFTER_FLOAT(a, b) (((a) > (b)) | (((a) != (a)) & ((b) == (b))))
#define IS_AFTER_INT(a, b) ((a) > (b))
#define ARGMAX_FUNCTIONS(name, T_, IS_AFTER)                                                       \
    static void name##_row_chunks(const wf_cpu_parts *out, const void *x, size_t n_rows,           \
                                  int64_t pitch, size_t n, int64_t first_idx)                      \
    {                                                                                              \
        for (size_t r = 0; r < n_rows; r++) {                                                      \
            const T_ *row = (const T_ *)x + (int64_t)r * pitch;                                    \
            size_t best = 0;                                                                       \
            for (size_t i = 1; i < n; i++)                                                         \
                best = IS_AFTER(row[i], row[best]) ? i : best;                                     \
            ((T_ *)out->part[0])[r] = n ? row[best] : (T_)0;                                       \
            ((int32_t *)out->part[1])[r] = n ? (int32_t)(first_idx + (int64_t)best) : -1;          \
        }                                                                                          \
    }                                                                                              \
    static void name##_row_tree(const wf_cpu_parts *parts, size_t m)                               \
    {                                                                                              \
        T_ *value = parts->part[0];                                                                \
        int32_t *idx = parts->part[1];                                                             \
        for (size_t i = 1; i < m; i++) {                                                           \
            if (IS_AFTER(value[i], value[0])) {                                                    \
                value[0] = value[i];                                                               \
                idx[0] = idx[i];                                                                   \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    static void name##_column_start(const wf_cpu_parts *acc, size_t n)                             \
    {                                                                                              \
        for (size_t j = 0; j < n; j++) {                                                           \
            ((T_ *)acc->part[0])[j] = (T_)0;                                                       \
            ((int32_t *)acc->part[1])[j] = -1;                                                     \
        }                                                                                          \
    }                                                                                              \
    static void name##_column_rows(const wf_cpu_parts *acc, const void *px, size_t n_rows,         \
                                   int64_t pitch, size_t n, int64_t first_idx)                     \
    {                                                                                              \
        T_ *value = acc->part[0];                                                                  \
        int32_t *idx = acc->part[1];                                                               \
        for (int64_t i = 0; i < (int64_t)n_rows; i++) {                                            \
            const T_ *row = (const T_ *)px + i * pitch;                                            \
            const int32_t at = (int32_t)(first_idx + i);                                           \
            for (size_t j = 0; j < n; j++) {                                                       \
                const int is_better = (idx[j] < 0) | IS_AFTER(row[j], value[j]);                   \
                value[j] = is_better ? row[j] : value[j];                                          \
                idx[j] = is_better ? at : idx[j];                                                  \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    static void name##_column_merge(const wf_cpu_parts *acc, const wf_cpu_parts *next, size_t n)   \
    {                                                                                              \
        T_ *value = acc->part[0];                                                                  \
        int32_t *idx = acc->part[1];                                                               \
        const T_ *next_value = next->part[0];                                                      \
        const int32_t *next_idx = next->part[1];                                                   \
        for (size_t j = 0; j < n; j++) {                                                           \
            const int is_better =                                                                  \
                (next_idx[j] >= 0) & ((idx[j] < 0) | IS_AFTER(next_value[j], value[j]));           \
            value[j] = is_better ? next_value[j] : value[j];                                       \
            idx[j] = is_better ? next_idx[j] : idx[j];                                             \
        }                                                                                          \
    }
ARGMAX_FUNCTIONS(argmax_f32, float, IS_AFTER_FLOAT)
ARGMAX_FUNCTIONS(argmax_i8, int8_t, IS_AFTER_INT)
ARGMAX_FUNCTIONS(argmax_u8, uint8_t, IS_AFTER_INT)
ARGMAX_FUNCTIONS(argmax_i32, int32_t, IS_AFTER_INT)
ARGMAX_FUNCTIONS(argmax_i64, int64_t, IS_AFTER_INT)

// ---- moments: part 0 mean, 1 M2, 2 count
VEC_INLINE void add_squares(vf lane[N_VECTORS], const float *x, size_t n, float mean)
{
    const vf mid = v_set(mean);
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        VEC_UNROLL
        for (size_t v = 0; v < N_VECTORS; v++) {
            const vf d = v_load(x + i + v * VL) - mid;
            lane[v] = v_fma(d, d, lane[v]);
        }
    }
    VEC_UNROLL
    for (size_t v = 0; v < N_VECTORS; v++, i += VL) {
        vf d = v_zero();
        if (i + VL <= n)
            d = v_load(x + i) - mid;
        else if (i < n)
            d = v_keep(v_load_fill(x + i, (int64_t)(n - i), mid) - mid,
                       (int64_t)(n - i)); // an infinite mean: not 0
        lane[v] = v_fma(d, d, lane[v]);
    }
}

static void moments_row_chunks(const wf_cpu_parts *out, const void *x, size_t n_rows, int64_t pitch,
                               size_t n, int64_t first_idx)
{
    (void)first_idx;
    for (size_t r = 0; r < n_rows; r++) {
        const float *row = (const float *)x + (int64_t)r * pitch;
        const float mean = sum_chunk(row, n) / (float)n; // NaN for none
        vf lane[N_VECTORS] = {{0.0f}};
        add_squares(lane, row, n, mean);
        ((float *)out->part[0])[r] = mean;
        ((float *)out->part[1])[r] = fold_lanes(lane);
        ((float *)out->part[2])[r] = (float)n;
    }
}

static wf_moments moments_get(const wf_cpu_parts *p, size_t i)
{
    const wf_moments m = {((const float *)p->part[2])[i], ((const float *)p->part[0])[i],
                          ((const float *)p->part[1])[i]};
    return m;
}

static void moments_put(const wf_cpu_parts *p, size_t i, wf_moments m)
{
    ((float *)p->part[0])[i] = m.mean;
    ((float *)p->part[1])[i] = m.m2;
    ((float *)p->part[2])[i] = m.n;
}

static void moments_row_tree(const wf_cpu_parts *parts, size_t m)
{
    while (m > 1) {
        size_t n_chunks = 0;
        for (size_t at = 0; at < m; at += WF_SUM_ROW_CHUNK, n_chunks++) {
            const size_t len = m - at < WF_SUM_ROW_CHUNK ? m - at : WF_SUM_ROW_CHUNK;
            wf_moments lane[LANES] = {{0.0f, 0.0f, 0.0f}};
            for (size_t i = 0; i < len; i++)
                lane[i % LANES] = wf_moments_merge(lane[i % LANES], moments_get(parts, at + i));
            for (size_t width = LANES / 2; width > 0; width /= 2) {
                for (size_t i = 0; i < width; i++)
                    lane[i] = wf_moments_merge(lane[i], lane[i + width]);
            }
            moments_put(parts, n_chunks, lane[0]);
        }
        m = n_chunks;
    }
}

static void moments_column_start(const wf_cpu_parts *acc, size_t n)
{
    for (int p = 0; p < WF_CPU_N_PARTS; p++)
        memset(acc->part[p], 0, n * sizeof(float));
}

// mean[j], m2[j] of a chunk's rows, j < width: both walks by columns that fit the registers.
#define MOMENTS_OF_COLUMNS(width)                                                                  \
    do {                                                                                           \
        float block[width], mid[width];                                                            \
        for (size_t l = 0; l < (width); l++)                                                       \
            block[l] = 0.0f;                                                                       \
        for (int64_t i = 0; i < rows; i++) {                                                       \
            const float *row = x + i * pitch + j;                                                  \
            for (size_t l = 0; l < (width); l++)                                                   \
                block[l] += row[l];                                                                \
        }                                                                                          \
        for (size_t l = 0; l < (width); l++) {                                                     \
            mid[l] = block[l] / (float)rows; /* NaN for none */                                    \
            block[l] = 0.0f;                                                                       \
        }                                                                                          \
        for (int64_t i = 0; i < rows; i++) {                                                       \
            const float *row = x + i * pitch + j;                                                  \
            for (size_t l = 0; l < (width); l++) {                                                 \
                const float d = row[l] - mid[l];                                                   \
                block[l] = WF_FMA(d, d, block[l]);                                                 \
            }                                                                                      \
        }                                                                                          \
        for (size_t l = 0; l < (width); l++) {                                                     \
            mean[j + l] = mid[l];                                                                  \
            m2[j + l] = block[l];                                                                  \
            count[j + l] = (float)rows;                                                            \
        }                                                                                          \
    } while (0)

// Columns j to j + width, width <= VL.
static void moments_of_part(const wf_cpu_parts *acc, const float *x, int64_t rows, int64_t pitch,
                            size_t j, size_t width)
{
    const bool is_whole = width == VL;
    vf sum = v_zero(), squares = v_zero();
    for (int64_t i = 0; i < rows; i++) {
        const float *row = x + i * pitch + j;
        sum += is_whole ? v_load(row) : v_load_part(row, (int64_t)width);
    }
    const vf mean = sum / v_set((float)rows);
    for (int64_t i = 0; i < rows; i++) {
        const float *row = x + i * pitch + j;
        const vf d = (is_whole ? v_load(row) : v_load_part(row, (int64_t)width)) - mean;
        squares = v_fma(d, d, squares);
    }
    const vf results[WF_CPU_N_PARTS] = {mean, squares, v_set((float)rows)};
    for (int p = 0; p < WF_CPU_N_PARTS; p++) {
        float all[VL];
        v_store(all, results[p]);
        memcpy((float *)acc->part[p] + j, all, width * sizeof(float));
    }
}

static void moments_column_rows(const wf_cpu_parts *acc, const void *px, size_t n_rows,
                                int64_t pitch, size_t n, int64_t first_idx)
{
    const float *x = px;
    const int64_t rows = (int64_t)n_rows;
    float *mean = acc->part[0], *m2 = acc->part[1], *count = acc->part[2];
    size_t j = 0;
    (void)first_idx;
    for (; j + BLOCK <= n; j += BLOCK)
        MOMENTS_OF_COLUMNS(BLOCK);
    for (; j + 16 <= n; j += 16)
        MOMENTS_OF_COLUMNS(16);
    for (; j < n; j += VL)
        moments_of_part(acc, x, rows, pitch, j, n - j < VL ? n - j : VL);
}

static void moments_column_merge(const wf_cpu_parts *acc, const wf_cpu_parts *next, size_t n)
{
    float *mean = acc->part[0], *m2 = acc->part[1], *count = acc->part[2];
    const float *mean_b = next->part[0], *m2_b = next->part[1], *count_b = next->part[2];
    WF_CPU_VECTOR_LOOP
    for (size_t j = 0; j < n; j++) {
        const wf_moments a = {count[j], mean[j], m2[j]};
        const wf_moments b = {count_b[j], mean_b[j], m2_b[j]};
        // wf_moments_merge without branches; a divisor of 1 where a side is empty.
        const float both = a.n + b.n;
        const float delta = b.mean - a.mean;
        const float share = b.n / (both == 0.0f ? 1.0f : both);
        const float square = delta * delta;
        const float new_mean = WF_FMA(delta, share, a.mean);
        const float new_m2 = (a.m2 + b.m2) + square * (a.n * share);
        const int is_a = b.n == 0.0f, is_b = a.n == 0.0f;
        count[j] = both;
        mean[j] = is_a ? a.mean : is_b ? b.mean : new_mean;
        m2[j] = is_a ? a.m2 : is_b ? b.m2 : new_m2;
    }
}

static void variance(float *dst, const float *m2, const float *count, size_t n)
{
    for (size_t i = 0; i < n; i++)
        dst[i] = m2[i] / count[i];
}

#define ROW_OF(kind, dtype, name)                                                                  \
    {WF_REDUCE_##kind,    WEFT_##dtype,       name##_row_chunks,  name##_row_tree,                 \
     name##_column_start, name##_column_rows, name##_column_merge},
static const wf_cpu_reduce reduces[] = {
    ROW_OF(SUM, F32, sum) ROW_OF(SUM, I32, sum_i32) ROW_OF(SUM, I64, sum_i64)
        ROW_OF(MAX, F32, max_f32) ROW_OF(MAX, I8, max_i8) ROW_OF(MAX, U8, max_u8)
            ROW_OF(MAX, BOOL, max_u8) ROW_OF(MAX, I32, max_i32) ROW_OF(MAX, I64, max_i64)
                ROW_OF(MIN, F32, min_f32) ROW_OF(MIN, I8, min_i8) ROW_OF(MIN, U8, min_u8)
                    ROW_OF(MIN, BOOL, min_u8) ROW_OF(MIN, I32, min_i32) ROW_OF(MIN, I64, min_i64)
                        ROW_OF(ARGMAX, F32, argmax_f32) ROW_OF(ARGMAX, I8, argmax_i8)
                            ROW_OF(ARGMAX, U8, argmax_u8) ROW_OF(ARGMAX, BOOL, argmax_u8)
                                ROW_OF(ARGMAX, I32, argmax_i32) ROW_OF(ARGMAX, I64, argmax_i64)
                                    ROW_OF(MOMENTS, F32, moments)};

const wf_cpu_reduces WF_CPU_NAME(wf_cpu_reduces);
const wf_cpu_reduces WF_CPU_NAME(wf_cpu_reduces) = {
    .reduces = reduces,
    .n_reduces = WF_COUNT_OF(reduces),
    .variance = variance,
};
