// weft-exhaustive: every function of src/math over all 2^32 floats, pow over a named sample of 2^30
// pairs.
//
// In:  optional arguments: --stride N (every N-th float only, N odd), --threads N, function names.
// Out: one line per function: worst error in ulp and its argument; exit 1 if a bound is broken.
//
// Built with the flags of the best instruction set of the machine: the bits are the same on every
// other, test/house/house_math_bits.sh sees to that. The truth is libm's double, in vectors
// where glibc has them (4 ulp of a double, which moves no f32 figure's third digit).
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__)
#if __GLIBC_PREREQ(2, 35)
// glibc declares these vector variants only under -ffast-math, which nothing here may use.
#define WF_SIMD __attribute__((simd("notinbranch")))
WF_SIMD double exp(double);
WF_SIMD double exp2(double);
WF_SIMD double expm1(double);
WF_SIMD double log(double);
WF_SIMD double log2(double);
WF_SIMD double log1p(double);
WF_SIMD double tanh(double);
WF_SIMD double erf(double);
WF_SIMD double erfc(double);
WF_SIMD double pow(double, double);
#endif
#endif

#include "math_table.h"

enum { BLOCK = 2048, MAX_THREADS = 64 };

typedef struct {
    double ulp;
    uint32_t arg, arg2;
} worst_error;

typedef struct {
    const char *name;
    double bound;
    worst_error (*block)(uint32_t first, uint32_t stride);
} function_entry;

static worst_error block_worst(const wf_f32 *y, const double *t)
{
    double err[BLOCK];
    for (int i = 0; i < BLOCK; i++)
        err[i] = wf_ulp_error(y[i], t[i]);
    worst_error w = {-1.0, 0, 0};
    for (int i = 0; i < BLOCK; i++) {
        if (err[i] > w.ulp) {
            w.ulp = err[i];
            w.arg = (uint32_t)i;
        }
    }
    return w;
}

// Makes block_NAME: BLOCK floats whose bits are first, first + stride, ...
#define DEFINE_BLOCK(fn, bound, truth)                                                             \
    static worst_error block_##fn(uint32_t first, uint32_t stride)                                 \
    {                                                                                              \
        wf_f32 in[BLOCK], y[BLOCK];                                                                \
        double t[BLOCK];                                                                           \
        for (uint32_t i = 0; i < BLOCK; i++)                                                       \
            in[i] = wf_as_f32(first + i * stride);                                                 \
        for (int i = 0; i < BLOCK; i++)                                                            \
            y[i] = wf_##fn(in[i]);                                                                 \
        for (int i = 0; i < BLOCK; i++) {                                                          \
            const double x = (double)in[i];                                                        \
            t[i] = truth;                                                                          \
        }                                                                                          \
        worst_error w = block_worst(y, t);                                                         \
        w.arg = first + w.arg * stride;                                                            \
        return w;                                                                                  \
    }
WF_MATH_FUNCTIONS(DEFINE_BLOCK)

// The sample of pow: pair k has x = any of the 2^23 positive floats around which powers are finite,
// y spread so that the results cover all exponents: both from a multiplicative sequence (golden
// ratio) over k.
static worst_error block_pow(uint32_t first, uint32_t stride)
{
    wf_f32 in[BLOCK], by[BLOCK], y[BLOCK];
    double t[BLOCK];
    for (uint32_t i = 0; i < BLOCK; i++) {
        const uint64_t h = (uint64_t)(first + i * stride) * 0x9e3779b97f4a7c15u;
        const uint32_t bits = (uint32_t)(h >> 33);
        in[i] = wf_as_f32(bits % 0x7f800000u);
        // log2 of the result uniform in [-151, 129]
        const double target =
            (double)(uint32_t)(h * 0xbf58476d1ce4e5b9u >> 32) * (280.0 / 4294967296.0) - 151.0;
        by[i] = (wf_f32)(target / log2((double)in[i]));
    }
    for (int i = 0; i < BLOCK; i++)
        y[i] = wf_pow(in[i], by[i]);
    for (int i = 0; i < BLOCK; i++)
        t[i] = pow((double)in[i], (double)by[i]);
    worst_error w = block_worst(y, t);
    w.arg2 = wf_as_u32(by[w.arg]);
    w.arg = wf_as_u32(in[w.arg]);
    return w;
}

#define TABLE_ROW(fn, bound, truth) {#fn, bound, block_##fn},
static const function_entry functions[] = {WF_MATH_FUNCTIONS(TABLE_ROW)};
static const function_entry power = {"pow", 1.5, block_pow};

typedef struct {
    const function_entry *entry;
    uint32_t stride;
    uint64_t n_blocks;
    atomic_ullong *next;
    worst_error worst;
} sweep_job;

static void *sweep_run(void *arg)
{
    sweep_job *job = arg;
    enum { GRAIN = 64 };
    for (;;) {
        const uint64_t begin = atomic_fetch_add(job->next, GRAIN);
        if (begin >= job->n_blocks)
            return NULL;
        const uint64_t end = begin + GRAIN < job->n_blocks ? begin + GRAIN : job->n_blocks;
        for (uint64_t b = begin; b < end; b++) {
            const worst_error w =
                job->entry->block((uint32_t)(b * BLOCK * job->stride), job->stride);
            if (w.ulp > job->worst.ulp)
                job->worst = w;
        }
    }
}

static worst_error sweep(const function_entry *entry, uint64_t n_values, uint32_t stride,
                         int n_threads)
{
    sweep_job jobs[MAX_THREADS];
    pthread_t threads[MAX_THREADS];
    atomic_ullong next = 0;
    for (int i = 0; i < n_threads; i++) {
        jobs[i] = (sweep_job){
            entry, stride, (n_values / stride + BLOCK - 1) / BLOCK, &next, {-1.0, 0, 0}};
        if (pthread_create(&threads[i], NULL, sweep_run, &jobs[i]) != 0) {
            fprintf(stderr, "weft-exhaustive: thread %d of %d did not start\n", i, n_threads);
            exit(2);
        }
    }
    worst_error worst = {-1.0, 0, 0};
    for (int i = 0; i < n_threads; i++) {
        pthread_join(threads[i], NULL);
        if (jobs[i].worst.ulp > worst.ulp)
            worst = jobs[i].worst;
    }
    return worst;
}

static bool is_wanted(const char *name, int argc, char **argv)
{
    bool any = false;
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--", 2) == 0) {
            i++;
            continue;
        }
        any = true;
        if (strcmp(argv[i], name) == 0)
            return true;
    }
    return !any;
}

static uint32_t option(const char *name, uint32_t def, int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return (uint32_t)strtoul(argv[i + 1], NULL, 10);
    return def;
}

int main(int argc, char **argv)
{
    const uint32_t stride = option("--stride", 1, argc, argv);
    const uint32_t n_threads = option("--threads", 2, argc, argv);
    if (stride % 2 == 0 || n_threads == 0 || n_threads > MAX_THREADS) {
        fprintf(stderr, "weft-exhaustive: --stride must be odd, --threads 1 to %d\n", MAX_THREADS);
        return 2;
    }
    int n_broken = 0;
    for (size_t i = 0; i <= sizeof functions / sizeof *functions; i++) {
        const bool is_pow = i == sizeof functions / sizeof *functions;
        const function_entry *f = is_pow ? &power : &functions[i];
        if (!is_wanted(f->name, argc, argv))
            continue;
        const worst_error w =
            sweep(f, is_pow ? UINT64_C(1) << 30 : UINT64_C(1) << 32, stride, (int)n_threads);
        const bool is_broken = w.ulp > f->bound;
        n_broken += is_broken;
        printf("%-10s worst %.4f ulp (bound %.1f) at 0x%08x %.9g", f->name, w.ulp, f->bound, w.arg,
               (double)wf_as_f32(w.arg));
        if (is_pow)
            printf(", 0x%08x %.9g", w.arg2, (double)wf_as_f32(w.arg2));
        printf("%s\n", is_broken ? " BROKEN" : "");
        fflush(stdout);
    }
    return n_broken != 0;
}
