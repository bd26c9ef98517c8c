// Programs of one product on two devices: random operands, results compared bit for bit. For the tests
// of matmul and convolution on the cpu device.
#ifndef PRODUCT_CASE_H
#define PRODUCT_CASE_H

#define WEFT_NO_PLACE

#include <weft/weft.h>

// A device with a state; ref, or cpu with one instruction set and number of threads.
typedef struct product_device {
    weft_context *ctx;
    weft_device *device;
    weft_state *state;
} product_device;

void product_open(product_device *d, const char *id, const weft_device_options *options);
void product_close(product_device *d);

// Adds the product of the case to a graph with the inputs "a" and "b". Returns its value.
typedef weft_val product_build_fn(weft_graph *g, const void *user);

// Runs the graph and fails unless every instruction set of this machine gives ref's bits. text says
// what the case is; fill chooses the operands: 0 random numbers, 1 also zeros, infinities and NaN.
void product_check(const char *text, product_build_fn *build, const void *user, uint64_t seed,
                   int fill);

// Runs the graph in `fast` and fails unless every instruction set comes within tolerance of ref, relative to the
// greatest magnitude, on random numbers; without Winograd's transforms it must have ref's bits, and with them other
// ones: so the test knows that they ran.
void product_check_winograd(const char *text, product_build_fn *build, const void *user,
                            uint64_t seed, double tolerance);

uint32_t product_random(uint64_t *state);
int64_t product_pick(uint64_t *state, const int64_t *list, size_t n);

#endif
