// The measurements of the experiment, for a list of instruction sets.
#ifndef ARITH_BENCH_H
#define ARITH_BENCH_H

#include "arith_kernels.h"

// Prints what each definition costs against the same kernel without it, oneDNN and the machine, for each instruction set.
void arith_bench(const arith_kernels *const *list, int n);

#endif
