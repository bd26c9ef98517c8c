// Random wf_kernels and their values by definition: instruction by instruction over whole arrays, with
// op->eval and the plain sums of math/sum.h. For tests of devices that run kernels.
#ifndef KERNEL_CASE_H
#define KERNEL_CASE_H

#include "device/device.h"

#define CASE_MAX_INSTS 24
#define CASE_MAX_OPERANDS 12

typedef struct kernel_case {
    wf_kernel kernel;
    wf_inst insts[CASE_MAX_INSTS];
    wf_access accesses[CASE_MAX_OPERANDS]; // inputs, then outputs
    int64_t counts[CASE_MAX_OPERANDS];     // elements of each operand's buffer
    uint8_t *data[CASE_MAX_OPERANDS];      // inputs as given, outputs as expected
} kernel_case;

// Makes case number `seed` of at most max_points points; the same two make the same case. Outputs hold what is
// expected.
void kernel_case_make(weft_context *ctx, uint64_t seed, int64_t max_points, kernel_case *out);
// Runs the case on a device as a plan of one task and compares every element of every operand's buffer.
void kernel_case_run(weft_device *dev, kernel_case *c, uint64_t seed);
void kernel_case_free(kernel_case *c);
uint32_t kernel_case_random(uint64_t *state);
// Evaluates the kernel over c->data: fills the outputs.
void kernel_case_eval(weft_context *ctx, kernel_case *c);

#endif
