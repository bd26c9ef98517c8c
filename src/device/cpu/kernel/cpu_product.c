// Chains of fma of one instruction set: up to 16 outputs side by side. The order of a product's terms
// is the caller's (math/product.h). Stage: RUN, inside contract and convolution tasks.
#include "device/cpu/kernel/cpu_gemm.h"

#include "math/dialect.h"

#define LANES 16

static void chain(float *acc, const float *a, int64_t a_step, const float *b, int64_t b_step,
                  int64_t b_lane, int64_t k, size_t n)
{
    if (n == LANES && b_lane == 1) {
        float lane[LANES];
        for (size_t j = 0; j < LANES; j++)
            lane[j] = acc[j];
        for (int64_t t = 0; t < k; t++) {
            const float x = a[t * a_step];
            const float *row = b + t * b_step;
            for (size_t j = 0; j < LANES; j++)
                lane[j] = WF_FMA(x, row[j], lane[j]);
        }
        for (size_t j = 0; j < LANES; j++)
            acc[j] = lane[j];
        return;
    }
    for (size_t j = 0; j < n; j++) {
        const float *column = b + (int64_t)j * b_lane;
        float one = acc[j];
        for (int64_t t = 0; t < k; t++)
            one = WF_FMA(a[t * a_step], column[t * b_step], one);
        acc[j] = one;
    }
}

const wf_cpu_products WF_CPU_NAME(wf_cpu_products);
const wf_cpu_products WF_CPU_NAME(wf_cpu_products) = {
    chain,
    &WF_CPU_NAME(wf_cpu_gemm_sizes),
    WF_CPU_NAME(wf_cpu_gemm_tiles),
    WF_CPU_NAME(wf_cpu_gemm_pack),
    WF_CPU_NAME(wf_cpu_gemm_few),
};
