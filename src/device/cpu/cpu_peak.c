// The cpu device's greatest f32 rate, measured: every thread runs chains of fma for some milliseconds;
// the best of several tries counts, because a limit is what others' work on the machine takes from.
#include "device/cpu/cpu_peak.h"

#include "base/clock.h"

#define N_TRIES 12
#define TRY_SECONDS 0.01

typedef struct peak_params {
    wf_cpu_peak_fn *run;
    int64_t n_rounds;
    double flops;           // of one item
    volatile float *result; // by item
} peak_params;

static void run_item(const void *params, int64_t item, const wf_cpu_worker *worker)
{
    const peak_params *p = params;
    double flops;
    (void)worker;
    p->result[item] = p->run(p->n_rounds, &flops);
}

double wf_cpu_peak_gflops(weft_device *base)
{
    const wf_cpu_device *dev = (const wf_cpu_device *)base;
    const int64_t n_threads = wf_cpu_pool_n_threads(dev->pool);
    float *results;
    double best = 0.0;
    if (wf_alloc(&base->context->allocator, (size_t)n_threads, sizeof *results, &results, NULL) !=
        WEFT_OK)
        return 0.0;
    peak_params p = {dev->kernels->peak, 1000, 0.0, results};
    for (int i = 0; i < N_TRIES; i++) {
        const uint64_t start = wf_clock_ns();
        double flops;
        wf_cpu_pool_run(dev->pool, run_item, &p, n_threads);
        const double seconds = (double)(wf_clock_ns() - start) * 1e-9;
        (void)p.run(1, &flops);
        const double rate = flops * (double)p.n_rounds * (double)n_threads / seconds;
        best = rate > best ? rate : best;
        // The next try lasts as long as wanted.
        const double wanted = (double)p.n_rounds * TRY_SECONDS / seconds;
        p.n_rounds = wanted < 1e9 ? (int64_t)wanted + 1 : 1000000000;
    }
    wf_free(&base->context->allocator, results);
    return best * 1e-9;
}
