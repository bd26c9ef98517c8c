// The kernels of one instruction set that go lane by lane: a row of wf_cpu_lanes (cpu_kernel.h), which is
// in cpu_lanes.c.
#ifndef WF_CPU_LANES_H
#define WF_CPU_LANES_H

#include "device/cpu/kernel/cpu_kernel.h"

// Vectors of cells by rows (wf_cpu_lanes.plane_vectors): as many accumulators as registers hold.
#if defined(WF_ISA_AVX512)
#define PLANE_VECTORS                                                                              \
    {                                                                                              \
        0, 8, 8, 8, 6, 5, 4, 3, 3                                                                  \
    }
#elif defined(WF_ISA_AVX2)
#define PLANE_VECTORS                                                                              \
    {                                                                                              \
        0, 8, 5, 4, 3, 2, 2, 0, 0                                                                  \
    }
#elif defined(WF_ISA_NEON)
#define PLANE_VECTORS                                                                              \
    {                                                                                              \
        0, 8, 8, 8, 0, 0, 0, 0, 0                                                                  \
    }
#else
#define PLANE_VECTORS                                                                              \
    {                                                                                              \
        0, 2, 2, 0, 0, 0, 0, 0, 0                                                                  \
    }
#endif

void WF_CPU_NAME(wf_cpu_lane_planes)(const wf_cpu_planes *p);

#endif
