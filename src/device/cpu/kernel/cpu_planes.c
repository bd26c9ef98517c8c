// Products whose vectors run over cells, of one instruction set: convolutions with a few channels in their
// result, of which a vector of channels would be mostly empty. Stage: RUN, inside convolution tasks.
#include "device/cpu/kernel/cpu_gemm_vec.h"
#include "device/cpu/kernel/cpu_lanes.h"

// gcc would load b anew for each row, and most of its loads cross a line.
#if defined(WF_ISA_AVX512) || defined(WF_ISA_AVX2)
#define KEEP(x) __asm__("" : "+v"(x))
#else
#define KEEP(x) (void)0
#endif

// planes_R: R rows, V vectors; the accumulators stay in registers over all terms.
#define DEFINE_PLANES(R, V)                                                                        \
    static __attribute__((noinline)) void planes_##R(const wf_cpu_planes *p)                       \
    {                                                                                              \
        vf acc[R][V];                                                                              \
        const float *a = p->a, *b[V];                                                              \
        const int64_t *term = p->b_terms, *const end = term + p->n_terms;                          \
        VEC_UNROLL for (int v = 0; v < V; v++)                                                     \
        {                                                                                          \
            b[v] = p->b + p->b_cells[v];                                                           \
            VEC_UNROLL for (int i = 0; i < R; i++) acc[i][v] = v_zero();                           \
        }                                                                                          \
        for (; term < end; term++, a += R) {                                                       \
            const int64_t at = *term;                                                              \
            vf av[R];                                                                              \
            VEC_UNROLL for (int i = 0; i < R; i++) av[i] = v_set(a[i]);                            \
            VEC_UNROLL for (int v = 0; v < V; v++)                                                 \
            {                                                                                      \
                vf bv = v_load(b[v] + at);                                                         \
                KEEP(bv);                                                                          \
                VEC_UNROLL for (int i = 0; i < R; i++) acc[i][v] = v_fma(av[i], bv, acc[i][v]);    \
            }                                                                                      \
        }                                                                                          \
        VEC_UNROLL for (int i = 0; i < R; i++)                                                     \
        {                                                                                          \
            VEC_UNROLL for (int v = 0; v < V; v++) v_store(p->c + (i * V + v) * VL, acc[i][v]);    \
        }                                                                                          \
    }

#if defined(WF_ISA_AVX512)
DEFINE_PLANES(1, 8)
DEFINE_PLANES(2, 8)
DEFINE_PLANES(3, 8)
DEFINE_PLANES(4, 6)
DEFINE_PLANES(5, 5)
DEFINE_PLANES(6, 4)
DEFINE_PLANES(7, 3)
DEFINE_PLANES(8, 3)
#define ROWS planes_1, planes_2, planes_3, planes_4, planes_5, planes_6, planes_7, planes_8
#elif defined(WF_ISA_AVX2)
DEFINE_PLANES(1, 8)
DEFINE_PLANES(2, 5)
DEFINE_PLANES(3, 4)
DEFINE_PLANES(4, 3)
DEFINE_PLANES(5, 2)
DEFINE_PLANES(6, 2)
#define ROWS planes_1, planes_2, planes_3, planes_4, planes_5, planes_6
#elif defined(WF_ISA_NEON)
DEFINE_PLANES(1, 8)
DEFINE_PLANES(2, 8)
DEFINE_PLANES(3, 8)
#define ROWS planes_1, planes_2, planes_3
#else
DEFINE_PLANES(1, 2)
DEFINE_PLANES(2, 2)
#define ROWS planes_1, planes_2
#endif

void WF_CPU_NAME(wf_cpu_lane_planes)(const wf_cpu_planes *p)
{
    static void (*const rows[])(const wf_cpu_planes *p) = {ROWS};
    rows[p->n_rows - 1](p);
}
