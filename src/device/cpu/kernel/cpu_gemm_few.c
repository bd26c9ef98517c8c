// A few rows times a matrix whose terms lie side by side (y = x W', W as layers hold it; the head of a
// classifier with the roles exchanged): the matrix is read once, where it is, and transposed in registers
// on its way into the chains. Stage: RUN.
#include "device/cpu/kernel/cpu_gemm.h"

#include "device/cpu/kernel/cpu_gemm_vec.h"

// R rows, T terms at a time, a vector of columns: with more of them side by side, memory would have more
// streams to follow than it likes.
#define DEFINE_FEW(R, T)                                                                           \
    static __attribute__((noinline)) void few_##R(const wf_cpu_few *p, const float *b, float *c,   \
                                                  int64_t n_cols)                                  \
    {                                                                                              \
        const v_columns columns = v_columns_of(b, p->b_col, n_cols);                               \
        const float *a = p->a;                                                                     \
        vf acc[R];                                                                                 \
        int64_t t = 0;                                                                             \
        VEC_UNROLL for (int i = 0; i < R; i++) acc[i] = v_zero();                                  \
        for (; t + T <= p->n_terms; t += T) {                                                      \
            vf x[T];                                                                               \
            if (T == VL)                                                                           \
                v_terms(&columns, t, x);                                                           \
            else                                                                                   \
                v_terms_4(&columns, t, x);                                                         \
            VEC_UNROLL for (int u = 0; u < T; u++, a += p->a_term)                                 \
            {                                                                                      \
                VEC_UNROLL for (int i = 0; i < R; i++) acc[i] =                                    \
                    v_fma(v_set(a[i * p->a_row]), x[u], acc[i]);                                   \
            }                                                                                      \
        }                                                                                          \
        for (; t < p->n_terms; t++, a += p->a_term) {                                              \
            const vf x = v_term(&columns, t);                                                      \
            VEC_UNROLL for (int i = 0; i < R; i++) acc[i] =                                        \
                v_fma(v_set(a[i * p->a_row]), x, acc[i]);                                          \
        }                                                                                          \
        store(p, acc, R, c, n_cols);                                                               \
    }

static void store(const wf_cpu_few *p, const vf *acc, int n_rows, float *c, int64_t n_cols)
{
    for (int i = 0; i < n_rows; i++, c += p->c_row) {
        const vf y = p->is_last ? acc[i] + v_zero() : acc[i];
        if (p->c_col == 1) {
            v_store_to(c, y, n_cols);
            continue;
        }
        float lanes[VL];
        v_store(lanes, y);
        for (int64_t j = 0; j < n_cols; j++)
            c[j * p->c_col] = lanes[j];
    }
}

#if VL == 16
#define T_MANY VL
#else
#define T_MANY 4 // registers
#endif
DEFINE_FEW(1, VL)
DEFINE_FEW(2, VL)
DEFINE_FEW(3, VL)
DEFINE_FEW(4, VL)
DEFINE_FEW(5, T_MANY)
DEFINE_FEW(6, T_MANY)
DEFINE_FEW(7, T_MANY)
DEFINE_FEW(8, T_MANY)
DEFINE_FEW(9, T_MANY)
DEFINE_FEW(10, T_MANY)
DEFINE_FEW(11, T_MANY)
DEFINE_FEW(12, T_MANY)

void WF_CPU_NAME(wf_cpu_gemm_few)(const wf_cpu_few *p)
{
    static void (*const by_rows[])(const wf_cpu_few *, const float *, float *, int64_t) = {
        few_1, few_2, few_3, few_4, few_5, few_6, few_7, few_8, few_9, few_10, few_11, few_12};
    _Static_assert(sizeof by_rows / sizeof *by_rows == WF_CPU_FEW, "one for each number of rows");
    for (int64_t j = 0; j < p->n_cols; j += VL)
        by_rows[p->n_rows - 1](p, p->b + j * p->b_col, p->c + j * p->c_col,
                               p->n_cols - j < VL ? p->n_cols - j : VL);
}
