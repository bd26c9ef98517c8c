// Experiment: row sums, column sums and moments by the definition, and the same without it. Built once per instruction set.
#include "arith_kernels.h"
#include "arith_vec.h"

#define UNROLL _Pragma("GCC unroll 64")

float NAME(read)(const float *x, int64_t n);
float NAME(row_sum)(const float *x, int64_t n, int64_t chunk, int lanes, float *work);
void NAME(column_sum)(const float *x, int64_t rows, int64_t cols, int64_t chunk, float *y,
                      float *work);
arith_moments NAME(moments)(const float *x, int64_t n, arith_moments *work);
arith_moments NAME(moments_free)(const float *x, int64_t n);

// Eight vectors of lanes: bound by memory, not by the latency of an add.
float NAME(read)(const float *x, int64_t n)
{
    vf acc[8];
    UNROLL for (int l = 0; l < 8; l++) acc[l] = v_zero();
    int64_t i = 0;
    for (; i + 8 * VL <= n; i += 8 * VL) {
        UNROLL for (int l = 0; l < 8; l++) acc[l] += v_load(x + i + l * VL);
    }
    float sum = 0.0f;
    for (; i < n; i++) {
        sum += x[i];
    }
    for (int l = 0; l < 8; l++) {
        for (int j = 0; j < VL; j++) {
            sum += acc[l][j];
        }
    }
    return sum;
}

// lane[0] after folding halves onto each other.
static float fold(float *lane, int lanes)
{
    for (int width = lanes / 2; width > 0; width /= 2) {
        for (int i = 0; i < width; i++) {
            lane[i] += lane[i + width];
        }
    }
    return lane[0];
}

static float row_tail(const float *x, int64_t n, int lanes)
{
    float lane[64] = {0};
    for (const float *end = x + n; x < end; x += lanes) {
        int64_t count = end - x < lanes ? end - x : lanes;
        for (int64_t i = 0; i < count; i++) {
            lane[i] += x[i];
        }
    }
    return fold(lane, lanes);
}

// The sums of `count` whole chunks, several at a time: one chunk has too few chains to hide the latency of an add.
#define DEFINE_ROW_CHUNKS(LANES, TOGETHER)                                                         \
    static __attribute__((noinline)) void row_chunks_##LANES(const float *x, int64_t chunk,        \
                                                             int64_t count, float *sums)           \
    {                                                                                              \
        int64_t b = 0;                                                                             \
        for (; b + TOGETHER <= count; b += TOGETHER) {                                             \
            vf acc[TOGETHER][LANES / VL];                                                          \
            UNROLL for (int u = 0; u < TOGETHER; u++)                                              \
            {                                                                                      \
                UNROLL for (int l = 0; l < LANES / VL; l++) acc[u][l] = v_zero();                  \
            }                                                                                      \
            const float *from = x + b * chunk;                                                     \
            for (int64_t i = 0; i < chunk; i += LANES) {                                           \
                UNROLL for (int u = 0; u < TOGETHER; u++)                                          \
                {                                                                                  \
                    UNROLL for (int l = 0; l < LANES / VL; l++) acc[u][l] +=                       \
                        v_load(from + u * chunk + i + l * VL);                                     \
                }                                                                                  \
            }                                                                                      \
            UNROLL for (int u = 0; u < TOGETHER; u++)                                              \
            {                                                                                      \
                UNROLL for (int step = LANES / VL / 2; step > 0; step /= 2)                        \
                {                                                                                  \
                    UNROLL for (int l = 0; l < step; l++) acc[u][l] += acc[u][l + step];           \
                }                                                                                  \
                float lane[VL];                                                                    \
                v_store(lane, acc[u][0]);                                                          \
                sums[b + u] = fold(lane, VL);                                                      \
            }                                                                                      \
        }                                                                                          \
        for (; b < count; b++) {                                                                   \
            sums[b] = row_tail(x + b * chunk, chunk, LANES);                                       \
        }                                                                                          \
    }

// Together is chosen so that there are 8 chains or all of them, whatever the vector holds.
#if VL == 16
DEFINE_ROW_CHUNKS(16, 8)
DEFINE_ROW_CHUNKS(32, 4)
DEFINE_ROW_CHUNKS(64, 2)
#elif VL == 8
DEFINE_ROW_CHUNKS(16, 4)
DEFINE_ROW_CHUNKS(32, 2)
DEFINE_ROW_CHUNKS(64, 1)
#else
DEFINE_ROW_CHUNKS(16, 2)
DEFINE_ROW_CHUNKS(32, 1)
DEFINE_ROW_CHUNKS(64, 1)
#endif

static void row_chunks(const float *x, int64_t chunk, int64_t count, int lanes, float *sums)
{
    if (lanes == 16) {
        row_chunks_16(x, chunk, count, sums);
    } else if (lanes == 64) {
        row_chunks_64(x, chunk, count, sums);
    } else {
        row_chunks_32(x, chunk, count, sums);
    }
}

float NAME(row_sum)(const float *x, int64_t n, int64_t chunk, int lanes, float *work)
{
    // The results of one round are the elements of the next; a chunk is read before its result is written over work.
    while (n > chunk) {
        int64_t whole = n / chunk;
        row_chunks(x, chunk, whole, lanes, work);
        int64_t count = whole;
        if (n % chunk != 0) {
            work[count++] = row_tail(x + whole * chunk, n % chunk, lanes);
        }
        x = work;
        n = count;
    }
    if (n == chunk) {
        row_chunks(x, chunk, 1, lanes, work);
        return work[0];
    }
    return row_tail(x, n, lanes);
}

#define COLUMN_STRIP(VECTORS)                                                                      \
    for (; j + VECTORS * VL <= cols; j += VECTORS * VL) {                                          \
        vf acc[VECTORS];                                                                           \
        UNROLL for (int l = 0; l < VECTORS; l++) acc[l] = v_zero();                                \
        for (int64_t i = 0; i < n; i++) {                                                          \
            UNROLL for (int l = 0; l < VECTORS; l++) acc[l] +=                                     \
                v_load(from + i * cols + j + l * VL);                                              \
        }                                                                                          \
        UNROLL for (int l = 0; l < VECTORS; l++) v_store(sums + j + l * VL, acc[l]);               \
    }

// sums[chunk,j] of x[rows,cols], every chunk's rows ascending.
static void column_chunks(const float *x, int64_t rows, int64_t cols, int64_t chunk, float *sums)
{
    for (int64_t r0 = 0; r0 < rows; r0 += chunk, sums += cols) {
        int64_t n = r0 + chunk < rows ? chunk : rows - r0;
        const float *from = x + r0 * cols;
        int64_t j = 0;
        COLUMN_STRIP(8)
        COLUMN_STRIP(4)
        COLUMN_STRIP(1)
        for (; j < cols; j++) {
            float acc = 0.0f;
            for (int64_t i = 0; i < n; i++) {
                acc += from[i * cols + j];
            }
            sums[j] = acc;
        }
    }
}

void NAME(column_sum)(const float *x, int64_t rows, int64_t cols, int64_t chunk, float *y,
                      float *work)
{
    while (rows > chunk) {
        column_chunks(x, rows, cols, chunk, work);
        x = work;
        rows = (rows + chunk - 1) / chunk;
    }
    column_chunks(x, rows, cols, chunk, y);
}

// Chan's merge: a comes first; an empty side is ignored.
static arith_moments merge(arith_moments a, arith_moments b)
{
    if (b.count == 0.0f) {
        return a;
    }
    if (a.count == 0.0f) {
        return b;
    }
    float n = a.count + b.count;
    float delta = b.mean - a.mean;
    vf mean = v_fma(v_set(delta), v_set(b.count / n), v_set(a.mean));
    return (arith_moments){n, mean[0], (a.m2 + b.m2) + (delta * delta) * (a.count * (b.count / n))};
}

static arith_moments chunk_moments(const float *x, int64_t n)
{
    float lane[ARITH_LANES] = {0};
    float square[ARITH_LANES] = {0};
    int64_t whole = n / ARITH_LANES * ARITH_LANES;
    vf sum[ARITH_LANES / VL];
    UNROLL for (int l = 0; l < ARITH_LANES / VL; l++) sum[l] = v_zero();
    for (int64_t i = 0; i < whole; i += ARITH_LANES) {
        UNROLL for (int l = 0; l < ARITH_LANES / VL; l++) sum[l] += v_load(x + i + l * VL);
    }
    UNROLL for (int l = 0; l < ARITH_LANES / VL; l++) v_store(lane + l * VL, sum[l]);
    for (int64_t i = whole; i < n; i++) {
        lane[i - whole] += x[i];
    }
    float mean = fold(lane, ARITH_LANES) / (float)n;
    vf m = v_set(mean);
    UNROLL for (int l = 0; l < ARITH_LANES / VL; l++) sum[l] = v_zero();
    for (int64_t i = 0; i < whole; i += ARITH_LANES) {
        UNROLL for (int l = 0; l < ARITH_LANES / VL; l++)
        {
            vf d = v_load(x + i + l * VL) - m;
            sum[l] = v_fma(d, d, sum[l]);
        }
    }
    UNROLL for (int l = 0; l < ARITH_LANES / VL; l++) v_store(square + l * VL, sum[l]);
    for (int64_t i = whole; i < n; i++) {
        vf d = v_set(x[i] - mean);
        square[i - whole] = v_fma(d, d, v_set(square[i - whole]))[0];
    }
    return (arith_moments){(float)n, mean, fold(square, ARITH_LANES)};
}

enum { MOMENTS_TOGETHER = 4 };

// MOMENTS_TOGETHER whole chunks side by side: enough chains, and the second pass finds them in L1.
static __attribute__((noinline)) void moments_chunks(const float *x, arith_moments *out)
{
    enum { N = ARITH_LANES / VL };
    float sums[MOMENTS_TOGETHER];
    row_chunks_32(x, ARITH_ROW_CHUNK, MOMENTS_TOGETHER, sums);
    vf lane[MOMENTS_TOGETHER][N];
    vf mean[MOMENTS_TOGETHER];
    UNROLL for (int u = 0; u < MOMENTS_TOGETHER; u++)
    {
        mean[u] = v_set(sums[u] / (float)ARITH_ROW_CHUNK);
        UNROLL for (int l = 0; l < N; l++) lane[u][l] = v_zero();
    }
    for (int64_t i = 0; i < ARITH_ROW_CHUNK; i += ARITH_LANES) {
        UNROLL for (int u = 0; u < MOMENTS_TOGETHER; u++)
        {
            UNROLL for (int l = 0; l < N; l++)
            {
                vf d = v_load(x + u * ARITH_ROW_CHUNK + i + l * VL) - mean[u];
                lane[u][l] = v_fma(d, d, lane[u][l]);
            }
        }
    }
    UNROLL for (int u = 0; u < MOMENTS_TOGETHER; u++)
    {
        UNROLL for (int step = N / 2; step > 0; step /= 2)
        {
            UNROLL for (int l = 0; l < step; l++) lane[u][l] += lane[u][l + step];
        }
        float f[VL];
        v_store(f, lane[u][0]);
        out[u] = (arith_moments){(float)ARITH_ROW_CHUNK, mean[u][0], fold(f, VL)};
    }
}

static arith_moments merge_lanes(const arith_moments *x, int64_t n)
{
    arith_moments lane[ARITH_LANES] = {{0, 0, 0}};
    for (int64_t i = 0; i < n; i++) {
        lane[i % ARITH_LANES] = merge(lane[i % ARITH_LANES], x[i]);
    }
    for (int width = ARITH_LANES / 2; width > 0; width /= 2) {
        for (int i = 0; i < width; i++) {
            lane[i] = merge(lane[i], lane[i + width]);
        }
    }
    return lane[0];
}

arith_moments NAME(moments)(const float *x, int64_t n, arith_moments *work)
{
    int64_t count = 0;
    int64_t i = 0;
    for (; i + MOMENTS_TOGETHER * ARITH_ROW_CHUNK <= n; i += MOMENTS_TOGETHER * ARITH_ROW_CHUNK) {
        moments_chunks(x + i, work + count);
        count += MOMENTS_TOGETHER;
    }
    for (; i < n; i += ARITH_ROW_CHUNK) {
        work[count++] = chunk_moments(x + i, n - i < ARITH_ROW_CHUNK ? n - i : ARITH_ROW_CHUNK);
    }
    while (count > ARITH_ROW_CHUNK) {
        int64_t merged = 0;
        for (int64_t b = 0; b < count; b += ARITH_ROW_CHUNK) {
            work[merged++] =
                merge_lanes(work + b, count - b < ARITH_ROW_CHUNK ? count - b : ARITH_ROW_CHUNK);
        }
        count = merged;
    }
    return count == 1 ? work[0] : merge_lanes(work, count);
}

// The usual fast form: one pass, sum and sum of squares in wide lanes. Cancels when the mean is large.
arith_moments NAME(moments_free)(const float *x, int64_t n)
{
    vf sum[4], square[4];
    UNROLL for (int l = 0; l < 4; l++) sum[l] = square[l] = v_zero();
    int64_t i = 0;
    for (; i + 4 * VL <= n; i += 4 * VL) {
        UNROLL for (int l = 0; l < 4; l++)
        {
            vf v = v_load(x + i + l * VL);
            sum[l] += v;
            square[l] = v_fma(v, v, square[l]);
        }
    }
    float s = 0.0f, q = 0.0f;
    for (; i < n; i++) {
        s += x[i];
        q += x[i] * x[i];
    }
    for (int l = 0; l < 4; l++) {
        for (int j = 0; j < VL; j++) {
            s += sum[l][j];
            q += square[l][j];
        }
    }
    return (arith_moments){(float)n, s / (float)n, q - s * (s / (float)n)};
}
