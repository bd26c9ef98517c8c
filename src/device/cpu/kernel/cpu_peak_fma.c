// Independent chains of fma in registers: the greatest f32 rate of one core with one instruction set,
// which benchmarks are held against. In: how many rounds. Out: a number that keeps the work alive.
#include "device/cpu/kernel/cpu_gemm_vec.h"

#include "device/cpu/kernel/cpu_kernel.h"

// As many chains as hide the latency of fma on two ports: 4 or 5 cycles times 2.
#ifdef WF_ISA_SCALAR
#define N_CHAINS 4
#else
#define N_CHAINS 12
#endif

float WF_CPU_NAME(wf_cpu_peak_fma)(int64_t n_rounds, double *out_flops);

float WF_CPU_NAME(wf_cpu_peak_fma)(int64_t n_rounds, double *out_flops)
{
    vf acc[N_CHAINS];
    const vf x = v_set(0.999f), y = v_set(0.001f);
    for (int i = 0; i < N_CHAINS; i++)
        acc[i] = v_set((float)i);
    for (int64_t r = 0; r < n_rounds; r++) {
        VEC_UNROLL
        for (int i = 0; i < N_CHAINS; i++)
            acc[i] = v_fma(acc[i], x, y);
    }
    vf sum = acc[0];
    for (int i = 1; i < N_CHAINS; i++)
        sum = v_fma(sum, x, acc[i]);
    float lanes[VL];
    v_store(lanes, sum);
    *out_flops = 2.0 * N_CHAINS * VL * (double)n_rounds;
    return lanes[0];
}
