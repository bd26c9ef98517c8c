// The product kernels of one instruction set: rows of wf_cpu_products (cpu_kernel.h), which is in
// cpu_product.c.
#ifndef WF_CPU_GEMM_H
#define WF_CPU_GEMM_H

#include "device/cpu/kernel/cpu_kernel.h"

extern const wf_cpu_tile_sizes WF_CPU_NAME(wf_cpu_gemm_sizes);
void WF_CPU_NAME(wf_cpu_gemm_tiles)(const wf_cpu_tiles *p);
void WF_CPU_NAME(wf_cpu_gemm_pack)(float *dst, int64_t width, const float *b, int64_t term_stride,
                                   int64_t col_stride, int64_t n_terms, int64_t n_cols);
void WF_CPU_NAME(wf_cpu_gemm_few)(const wf_cpu_few *p);

#endif
