// The cpu device's limit, for benchmarks.
#ifndef WF_CPU_PEAK_H
#define WF_CPU_PEAK_H

#include "device/cpu/cpu.h"

// GFLOP/s of all the device's threads together with its instruction set.
double wf_cpu_peak_gflops(weft_device *base);

#endif
