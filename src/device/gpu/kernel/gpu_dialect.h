// What every GPU kernel adds to the common dialect: f64 where there is one, the status word, lanes.
//
// In, set by the host in front of the text:
//   WF_HAVE_F64       doubles may be computed with
//   WF_CPU_LANES      work-items are loop iterations of a processor core
#ifndef WF_GPU_DIALECT_H
#define WF_GPU_DIALECT_H

#include "math/weft_math.h"

#ifdef WF_HAVE_F64
#ifdef WF_DIALECT_OPENCL
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
typedef double wf_f64;
#endif

// The status word while all is well: see device.h.
#define WF_STATUS_GOOD 0xffffffffu

// Bits to float, where half types are held as bits.
#ifdef WF_HAVE_F64
#if defined(WF_DIALECT_OPENCL)
WF_FN wf_f64 wf_as_f64(wf_u64 x)
{
    return as_double(x);
}
#elif defined(WF_DIALECT_CUDA)
WF_FN wf_f64 wf_as_f64(wf_u64 x)
{
    return __longlong_as_double((wf_i64)x);
}
#endif
#endif

#endif
