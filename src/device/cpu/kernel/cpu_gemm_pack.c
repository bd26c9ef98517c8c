// Packing of matrices into panels, term by term: what tiles read. Stage: RUN.
//
// Terms that lie side by side are transposed in registers, a square of vectors at a time.
#include "device/cpu/kernel/cpu_gemm.h"

#include "device/cpu/kernel/cpu_turn.h"

static void pack_any(float *dst, int64_t width, const float *b, int64_t term_stride,
                     int64_t col_stride, int64_t n_terms, int64_t n_cols)
{
    for (int64_t t = 0; t < n_terms; t++) {
        for (int64_t j = 0; j < n_cols; j++)
            dst[t * width + j] = b[t * term_stride + j * col_stride];
    }
}

// Columns lie side by side. The number of vectors is known when this is inlined.
VEC_INLINE void pack_vectors(float *dst, const float *b, int64_t term_stride, int64_t n_terms,
                             int n_vectors)
{
    for (int64_t t = 0; t < n_terms; t++, b += term_stride, dst += n_vectors * VL) {
        VEC_UNROLL for (int j = 0; j < n_vectors; j++) v_store(dst + j * VL, v_load(b + j * VL));
    }
}

static void pack_rows(float *dst, int64_t width, const float *b, int64_t term_stride,
                      int64_t n_terms, int64_t n_cols)
{
    const int64_t whole = n_cols / VL * VL, rest = n_cols - whole;
    for (int64_t t = 0; t < n_terms; t++, b += term_stride, dst += width) {
        for (int64_t j = 0; j < whole; j += VL)
            v_store(dst + j, v_load(b + j));
        if (rest)
            v_store_part(dst + whole, v_load_part(b + whole, rest), rest);
    }
}

static void fill_rest(float *dst, int64_t width, int64_t n_terms, int64_t n_cols)
{
    for (int64_t t = 0; t < n_terms; t++) {
        for (int64_t j = n_cols, n; j < width; j += n) {
            n = width - j < VL ? width - j : VL;
            v_store_part(dst + t * width + j, v_zero(), n);
        }
    }
}

void WF_CPU_NAME(wf_cpu_gemm_pack)(float *dst, int64_t width, const float *b, int64_t term_stride,
                                   int64_t col_stride, int64_t n_terms, int64_t n_cols)
{
    if (col_stride == 1 && n_cols == width && width == TILE_VECTORS * VL) {
        pack_vectors(dst, b, term_stride, n_terms, TILE_VECTORS);
    } else if (col_stride == 1 && n_cols == width && width == 2 * VL) {
        pack_vectors(dst, b, term_stride, n_terms, 2);
    } else if (col_stride == 1) {
        pack_rows(dst, width, b, term_stride, n_terms, n_cols);
    } else if (term_stride == 1) {
        wf_turn(dst, width, b, col_stride, n_terms, n_cols);
    } else {
        pack_any(dst, width, b, term_stride, col_stride, n_terms, n_cols);
    }
    if (n_cols < width)
        fill_rest(dst, width, n_terms, n_cols);
}
