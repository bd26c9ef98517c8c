// A few rows times a matrix whose terms lie side by side (y = x W', W as layers hold it; the head of a
// classifier with the roles exchanged): the matrix is read once, where it is, and transposed in registers
// on its way into the chains. Stage: RUN.
#include "device/cpu/kernel/cpu_gemm.h"

#include "device/cpu/kernel/cpu_gemm_vec.h"

#define AHEAD 128 // floats, prefetched of each column

// R rows, S vectors of columns, T terms at a time. With one row alone the chains of one vector would wait
// for each other.
#define DEFINE_FEW(R, S, T)                                                                        \
    static __attribute__((noinline)) void few_##R(const wf_cpu_few *p, const float *b, float *c,   \
                                                  int64_t n_cols)                                  \
    {                                                                                              \
        v_columns at[S];                                                                           \
        vf acc[R][S];                                                                              \
        const float *a = p->a;                                                                     \
        int64_t t = 0;                                                                             \
        for (int s = 0; s < S; s++) {                                                              \
            const int64_t first = s * VL < n_cols ? s * VL : 0;                                    \
            at[s] = v_columns_of(b + first * p->b_col, p->b_col, n_cols - first);                  \
        }                                                                                          \
        VEC_UNROLL for (int i = 0; i < R; i++)                                                     \
        {                                                                                          \
            VEC_UNROLL for (int s = 0; s < S; s++) acc[i][s] = v_zero();                           \
        }                                                                                          \
        for (; t + T <= p->n_terms; t += T) {                                                      \
            VEC_UNROLL for (int s = 0; s < S; s++)                                                 \
            {                                                                                      \
                vf out[T];                                                                         \
                if (T == VL)                                                                       \
                    v_terms(&at[s], t, out);                                                       \
                else                                                                               \
                    v_terms_4(&at[s], t, out);                                                     \
                const float *x = a;                                                                \
                VEC_UNROLL for (int u = 0; u < T; u++)                                             \
                {                                                                                  \
                    VEC_UNROLL for (int i = 0; i < R; i++) acc[i][s] =                             \
                        v_fma(v_set(x[i * p->a_row]), out[u], acc[i][s]);                          \
                    x += p->a_term;                                                                \
                }                                                                                  \
            }                                                                                      \
            a += T * p->a_term;                                                                    \
        }                                                                                          \
        for (; t < p->n_terms; t++, a += p->a_term) {                                              \
            VEC_UNROLL for (int s = 0; s < S; s++)                                                 \
            {                                                                                      \
                const vf out = v_term(&at[s], t);                                                  \
                VEC_UNROLL for (int i = 0; i < R; i++) acc[i][s] =                                 \
                    v_fma(v_set(a[i * p->a_row]), out, acc[i][s]);                                 \
            }                                                                                      \
        }                                                                                          \
        store(p, acc[0], R, S, c, n_cols);                                                         \
    }

// y[R][S] into c.
static __attribute__((noinline)) void store(const wf_cpu_few *p, const vf *y, int n_rows,
                                            int n_vectors, float *c, int64_t n_cols)
{
    for (int i = 0; i < n_rows; i++) {
        for (int s = 0; s * VL < n_cols; s++) {
            const int64_t n = n_cols - s * VL < VL ? n_cols - s * VL : VL;
            const vf v = p->is_last ? y[i * n_vectors + s] + v_zero() : y[i * n_vectors + s];
            float lanes[VL], *to = c + i * p->c_row + s * VL * p->c_col;
            if (p->c_col == 1) {
                v_store_to(to, v, n);
                continue;
            }
            v_store(lanes, v);
            for (int64_t j = 0; j < n; j++)
                to[j * p->c_col] = lanes[j];
        }
    }
}

#if VL == 16
#define T_MANY VL
#else
#define T_MANY 4 // registers
#endif
DEFINE_FEW(1, 2, VL)
DEFINE_FEW(2, 2, VL)
DEFINE_FEW(3, 2, VL)
DEFINE_FEW(4, 2, VL)
DEFINE_FEW(5, 1, T_MANY)
DEFINE_FEW(6, 1, T_MANY)
DEFINE_FEW(7, 1, T_MANY)
DEFINE_FEW(8, 1, T_MANY)
DEFINE_FEW(9, 1, T_MANY)
DEFINE_FEW(10, 1, T_MANY)
DEFINE_FEW(11, 1, T_MANY)
DEFINE_FEW(12, 1, T_MANY)

void WF_CPU_NAME(wf_cpu_gemm_few)(const wf_cpu_few *p)
{
    static void (*const by_rows[])(const wf_cpu_few *, const float *, float *, int64_t) = {
        few_1, few_2, few_3, few_4, few_5, few_6, few_7, few_8, few_9, few_10, few_11, few_12};
    _Static_assert(sizeof by_rows / sizeof *by_rows == WF_CPU_FEW, "one for each number of rows");
    const int64_t step = p->n_rows <= 4 ? 2 * VL : VL;
    for (int64_t j = 0; j < p->n_cols; j += step)
        by_rows[p->n_rows - 1](p, p->b + j * p->b_col, p->c + j * p->c_col,
                               p->n_cols - j < step ? p->n_cols - j : step);
}
