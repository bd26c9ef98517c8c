// The instruction sets that kernels were built for, and which of them this processor runs.
#ifndef WF_CPU_ISA_H
#define WF_CPU_ISA_H

#include "device/cpu/kernel/cpu_kernel.h"

// Chains of fma for n_rounds; the result only keeps the work alive.
typedef float wf_cpu_peak_fn(int64_t n_rounds, double *out_flops);

// Everything that was compiled for one instruction set.
typedef struct wf_cpu_kernels {
    const char *name; // "scalar", "avx2", "avx512", "neon"
    const wf_cpu_elementwise *elementwise;
    const wf_cpu_randoms *randoms;
    const wf_cpu_reduces *reduces;
    const wf_cpu_products *products;
    const wf_cpu_lanes *lanes;
    const wf_cpu_windows *windows;
    const wf_cpu_window_rows *window_rows;
    const wf_cpu_attention *attention;
    const wf_cpu_winograd *winograd;
    wf_cpu_peak_fn *peak;
} wf_cpu_kernels;

// The instruction sets in the build, worst first.
size_t wf_cpu_isa_count(void);
const wf_cpu_kernels *wf_cpu_isa_at(size_t idx);
// Bit idx: this processor, and the system below it, run it. `mask` switches sets off: tests run each
// that the machine has. Bit 0, the plain one, is always set.
uint32_t wf_cpu_isa_detect(uint32_t mask);
#define WF_CPU_ISA_ALL UINT32_MAX

// The one of that name, or the best for NULL.
// Errors: WEFT_ERR_NAME (no such set in this build), WEFT_ERR_DEVICE (the processor lacks it).
weft_status wf_cpu_isa_choose(const char *name, const wf_cpu_kernels **out_kernels,
                              weft_error *err);

// The processor's own name for itself. Returns buf.
const char *wf_cpu_isa_processor(char *buf, size_t size_bytes);

// Look-ups at lowering time. NULL: there is none.
wf_cpu_apply_fn *wf_cpu_apply_find(const wf_cpu_kernels *k, const char *op, weft_dtype dtype);
const wf_cpu_reduce *wf_cpu_reduce_find(const wf_cpu_kernels *k, wf_reduce_kind kind,
                                        weft_dtype dtype);

#endif
