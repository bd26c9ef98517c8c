// Timing in interleaved rounds, random data, memory.
#include "arith_measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_ROUNDS = 101, MIN_ROUNDS = 5, MAX_TIMED = 8 };

double arith_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// The thread's own processor time: a shared machine takes the processor away now and then. Every candidate is one thread.
static double thread_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void arith_measure(arith_timed *list, int n, double budget_s)
{
    static double seconds[MAX_TIMED][MAX_ROUNDS];
    int repeats[MAX_TIMED];
    for (int i = 0; i < n; i++) {
        // Warm up, then repeat short ones until a sample is at least a millisecond.
        list[i].run(list[i].ctx);
        double start = thread_seconds();
        list[i].run(list[i].ctx);
        double once = thread_seconds() - start;
        repeats[i] = once < 1e-3 ? (int)(1e-3 / (once + 1e-7)) + 1 : 1;
    }
    double begin = arith_now();
    int rounds = 0;
    while (rounds < MAX_ROUNDS && (rounds < MIN_ROUNDS || arith_now() - begin < budget_s)) {
        for (int i = 0; i < n; i++) {
            double start = thread_seconds();
            for (int r = 0; r < repeats[i]; r++) {
                list[i].run(list[i].ctx);
            }
            seconds[i][rounds] = (thread_seconds() - start) / repeats[i];
        }
        rounds++;
    }
    for (int i = 0; i < n; i++) {
        qsort(seconds[i], (size_t)rounds, sizeof(double), compare);
        list[i].median_s = seconds[i][rounds / 2];
        list[i].low_s = seconds[i][rounds / 4];
        list[i].high_s = seconds[i][rounds * 3 / 4];
    }
}

float *arith_floats(int64_t n)
{
    size_t size = ((size_t)n * sizeof(float) + 63) / 64 * 64 + 64;
    float *p = aligned_alloc(64, size);
    if (p == NULL) {
        fprintf(stderr, "memory: %zu bytes are not to be had\n", size);
        exit(1);
    }
    memset(p, 0, size);
    return p;
}

void arith_random(float *x, int64_t n, uint32_t seed)
{
    uint32_t r = seed * 2654435761u + 1u;
    for (int64_t i = 0; i < n; i++) {
        r ^= r << 13;
        r ^= r >> 17;
        r ^= r << 5;
        x[i] = (float)(r >> 8) * 0x1p-23f - 1.0f;
    }
}

int64_t arith_differences(const float *a, const float *b, int64_t n)
{
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        int both_nan = a[i] != a[i] && b[i] != b[i];
        count += !both_nan && memcmp(&a[i], &b[i], sizeof *a) != 0;
    }
    return count;
}
