// Products lane by lane of one instruction set: depthwise convolution, where a channel of the result is
// made of the same channel of the operand. Stage: RUN, inside convolution tasks.
//
// A block of cells shares each vector of weights, or a block of window cells each vector of dy; their
// chains are independent, so they hide the latency of fma.
#include "device/cpu/kernel/cpu_lanes.h"

#include "device/cpu/kernel/cpu_gemm_vec.h"
#include "math/dialect.h"

#if defined(WF_ISA_AVX512) || defined(WF_ISA_AVX2) || defined(WF_ISA_NEON)
#define MOST_CELLS 8
#define MOST_SUMS 9
#else
#define MOST_CELLS 2
#define MOST_SUMS 2
#endif

typedef void cells_fn(const wf_cpu_lane_cells *p, int64_t cell);
typedef int64_t sums_fn(const wf_cpu_lane_sums *p, int64_t term, int64_t lane);

// cells_N: N cells, all lanes. The last vector of lanes overlaps the one before where they do not come
// out even: both compute the same.
#define DEFINE_CELLS(N)                                                                            \
    static __attribute__((noinline)) void cells_##N(const wf_cpu_lane_cells *p, int64_t cell)      \
    {                                                                                              \
        const wf_cpu_lane_term *const end = p->terms + p->n_terms;                                 \
        for (int64_t lane = 0; lane < p->n_lanes; lane += VL) {                                    \
            const int64_t j = lane + VL <= p->n_lanes ? lane : p->n_lanes - VL;                    \
            float *y = p->y + cell * p->y_step + j;                                                \
            vf acc[N];                                                                             \
            VEC_UNROLL for (int i = 0; i < N; i++) acc[i] = v_zero();                              \
            for (const wf_cpu_lane_term *t = p->terms; t < end; t++) {                             \
                const int64_t step = t->step;                                                      \
                const float *x = t->x + cell * step + j;                                           \
                const vf w = v_load(t->w + j);                                                     \
                VEC_UNROLL for (int i = 0; i < N; i++) acc[i] =                                    \
                    v_fma(v_load(x + i * step), w, acc[i]);                                        \
            }                                                                                      \
            if (p->is_streamed) {                                                                  \
                VEC_UNROLL for (int i = 0; i < N; i++)                                             \
                    v_stream(y + i * p->y_step, acc[i] + v_zero());                                \
                continue;                                                                          \
            }                                                                                      \
            VEC_UNROLL for (int i = 0; i < N; i++) v_store(y + i * p->y_step, acc[i] + v_zero());  \
        }                                                                                          \
    }

// sums_NxV: N window cells, V vectors of lanes at a time; returns the lanes that are done.
#define DEFINE_SUMS(N, V)                                                                          \
    static __attribute__((noinline))                                                               \
    int64_t sums_##N##x##V(const wf_cpu_lane_sums *p, int64_t term, int64_t lane)                  \
    {                                                                                              \
        const wf_cpu_lane_sum *terms = p->terms + term;                                            \
        for (; lane + V * VL <= p->n_lanes; lane += V * VL) {                                      \
            const float *x[N], *dy = p->dy + lane, *const end = dy + p->n_cells * p->dy_step;      \
            vf acc[N][V];                                                                          \
            VEC_UNROLL for (int i = 0; i < N; i++)                                                 \
            {                                                                                      \
                x[i] = terms[i].x + lane;                                                          \
                VEC_UNROLL for (int v = 0; v < V; v++) acc[i][v] =                                 \
                    v_load(terms[i].sums + lane + v * VL);                                         \
            }                                                                                      \
            for (int64_t at = 0; dy != end; dy += p->dy_step, at += p->x_step) {                   \
                vf d[V];                                                                           \
                VEC_UNROLL for (int v = 0; v < V; v++)                                             \
                {                                                                                  \
                    d[v] = v_load(dy + v * VL);                                                    \
                    __builtin_prefetch(dy + v * VL + p->dy_ahead, 0, 2);                           \
                    __builtin_prefetch(x[N - 1] + at + v * VL + p->x_ahead, 0, 2);                 \
                }                                                                                  \
                VEC_UNROLL for (int i = 0; i < N; i++)                                             \
                {                                                                                  \
                    VEC_UNROLL for (int v = 0; v < V; v++) acc[i][v] =                             \
                        v_fma(v_load(x[i] + at + v * VL), d[v], acc[i][v]);                        \
                }                                                                                  \
            }                                                                                      \
            VEC_UNROLL for (int i = 0; i < N; i++)                                                 \
            {                                                                                      \
                VEC_UNROLL for (int v = 0; v < V; v++)                                             \
                    v_store(terms[i].sums + lane + v * VL, acc[i][v]);                             \
            }                                                                                      \
        }                                                                                          \
        return lane;                                                                               \
    }

#define DEFINE(N) DEFINE_CELLS(N) DEFINE_SUMS(N, 1)
DEFINE(1)
DEFINE(2)
#if MOST_SUMS > 2
DEFINE(3)
DEFINE(4)
DEFINE(5)
DEFINE(6)
DEFINE(7)
DEFINE(8)
DEFINE_SUMS(9, 1)
#endif

static cells_fn *const all_cells[MOST_CELLS] = {
    cells_1, cells_2,
#if MOST_CELLS > 2
    cells_3, cells_4, cells_5, cells_6, cells_7, cells_8,
#endif
};

static sums_fn *const all_sums[MOST_SUMS] = {
    sums_1x1, sums_2x1,
#if MOST_SUMS > 2
    sums_3x1, sums_4x1, sums_5x1, sums_6x1, sums_7x1, sums_8x1, sums_9x1,
#endif
};

// Two vectors side by side: memory is read in longer pieces. Where registers hold so many sums.
#if defined(WF_ISA_AVX512) || defined(WF_ISA_NEON)
DEFINE_SUMS(3, 2)
DEFINE_SUMS(6, 2)
DEFINE_SUMS(9, 2)
static sums_fn *const wide_sums[MOST_SUMS] = {[2] = sums_3x2, [5] = sums_6x2, [8] = sums_9x2};
#else
static sums_fn *const wide_sums[MOST_SUMS];
#endif

// Fewer lanes than a vector.
static void cells_narrow(const wf_cpu_lane_cells *p)
{
    for (int64_t i = 0; i < p->n_cells; i++) {
        for (int64_t j = 0; j < p->n_lanes; j++) {
            float acc = 0.0f;
            for (int64_t t = 0; t < p->n_terms; t++) {
                const wf_cpu_lane_term *term = &p->terms[t];
                acc = WF_FMA(term->x[i * term->step + j], term->w[j], acc);
            }
            p->y[i * p->y_step + j] = acc + 0.0f;
        }
    }
}

static void lane_cells(const wf_cpu_lane_cells *p)
{
    if (p->n_lanes < VL) {
        cells_narrow(p);
        return;
    }
    for (int64_t i = 0, n; i < p->n_cells; i += n) {
        n = p->n_cells - i < MOST_CELLS ? p->n_cells - i : MOST_CELLS;
        all_cells[n - 1](p, i);
    }
    if (p->is_streamed)
        v_stream_end();
}

static void lane_sums(const wf_cpu_lane_sums *p)
{
    for (int64_t t = 0, n; t < p->n_terms; t += n) {
        n = p->n_terms - t < MOST_SUMS ? p->n_terms - t : MOST_SUMS;
        const int64_t lane = wide_sums[n - 1] ? wide_sums[n - 1](p, t, 0) : 0;
        (void)all_sums[n - 1](p, t, lane);
    }
    for (int64_t j = p->n_lanes / VL * VL; j < p->n_lanes; j++) { // what fills no vector
        for (int64_t t = 0; t < p->n_terms; t++) {
            const wf_cpu_lane_sum *term = &p->terms[t];
            float acc = term->sums[j];
            for (int64_t i = 0; i < p->n_cells; i++)
                acc = WF_FMA(term->x[i * p->x_step + j], p->dy[i * p->dy_step + j], acc);
            term->sums[j] = acc;
        }
    }
}

static void lane_put(float *dst, int64_t dst_step, const float *src, int64_t n_rows, int64_t n,
                     bool is_streamed)
{
    for (int64_t i = 0; i < n_rows; i++, dst += dst_step, src += n) {
        int64_t j = 0;
        for (; is_streamed && j + VL <= n; j += VL)
            v_stream(dst + j, v_load(src + j) + v_zero());
        for (; j + VL <= n; j += VL)
            v_store(dst + j, v_load(src + j) + v_zero());
        for (; j < n; j++)
            dst[j] = src[j] + 0.0f;
    }
    if (is_streamed)
        v_stream_end();
}

const wf_cpu_lanes WF_CPU_NAME(wf_cpu_lanes);
const wf_cpu_lanes WF_CPU_NAME(wf_cpu_lanes) = {
    lane_cells, lane_sums, WF_CPU_NAME(wf_cpu_lane_planes), lane_put, VL, PLANE_VECTORS};
