// Rows become columns, in registers: packing of panels, and boxes of any 4-byte elements.
#ifndef WF_CPU_TURN_H
#define WF_CPU_TURN_H

#include "device/cpu/kernel/cpu_gemm_vec.h"

// Up to VL columns of dst, from rows of src.
VEC_INLINE void turn_columns(float *dst, int64_t dst_pitch, const float *src, int64_t src_pitch,
                             int64_t n_rows, int64_t n_cols)
{
    const v_columns columns = v_columns_of(src, src_pitch, n_cols);
    vf out[VL];
    int64_t i = 0;
    if (n_cols == VL) {
        for (; i + VL <= n_rows; i += VL, dst += VL * dst_pitch) {
            v_terms(&columns, i, out);
            VEC_UNROLL for (int k = 0; k < VL; k++) v_store(dst + k * dst_pitch, out[k]);
        }
    }
    for (; i + 4 <= n_rows; i += 4, dst += 4 * dst_pitch) {
        v_terms_4(&columns, i, out);
        for (int k = 0; k < 4; k++)
            v_store_to(dst + k * dst_pitch, out[k], n_cols);
    }
    for (; i < n_rows; i++, dst += dst_pitch) {
        for (int64_t j = 0; j < n_cols; j++)
            dst[j] = src[j * src_pitch + i];
    }
}

// dst[i * dst_pitch + j] = src[j * src_pitch + i], i < n_rows, j < n_cols
static inline void wf_turn(float *dst, int64_t dst_pitch, const float *src, int64_t src_pitch,
                           int64_t n_rows, int64_t n_cols)
{
    for (int64_t j = 0; j < n_cols; j += VL) {
        turn_columns(dst + j, dst_pitch, src + j * src_pitch, src_pitch, n_rows,
                     n_cols - j < VL ? n_cols - j : VL);
    }
}

#endif
