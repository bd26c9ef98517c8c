// The checks of the experiment, for one instruction set.
#ifndef ARITH_CHECK_H
#define ARITH_CHECK_H

#include "arith_kernels.h"

// Every kernel of one instruction set against the plain loops, bit for bit, and against float64. Returns the failures.
int arith_check(const arith_kernels *kernels);

#endif
