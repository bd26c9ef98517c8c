// Timing in interleaved rounds, random data, and the little memory management of the experiment.
#ifndef ARITH_MEASURE_H
#define ARITH_MEASURE_H

#include <stdint.h>

typedef struct {
    const char *name;
    void (*run)(void *ctx);
    void *ctx;
    double median_s, low_s, high_s; // low and high: the quartiles
} arith_timed;

double arith_now(void);
// Runs every candidate once per round, in turn, so that a slow moment of the machine hits all alike.
void arith_measure(arith_timed *list, int n, double budget_s);
float *arith_floats(int64_t n); // 64-byte aligned, touched; exits when there is no memory
void arith_random(float *x, int64_t n, uint32_t seed);                // uniform in [-1,1)
int64_t arith_differences(const float *a, const float *b, int64_t n); // by bits, all NaN equal

#endif
