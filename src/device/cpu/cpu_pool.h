// The cpu device's threads: one job at a time, cut into numbered items.
#ifndef WF_CPU_POOL_H
#define WF_CPU_POOL_H

#include "base/alloc.h"

typedef struct wf_cpu_pool wf_cpu_pool;

// What an item knows of the thread that runs it.
typedef struct wf_cpu_worker {
    uint32_t idx;  // 0: the calling thread
    char *scratch; // its own memory, as much as the program asked for; page-aligned
} wf_cpu_worker;

typedef void wf_cpu_item_fn(const void *params, int64_t item, const wf_cpu_worker *worker);

// The most items of one job: their number shares a word with the job's.
#define WF_CPU_MAX_ITEMS INT32_MAX

// n_threads counts the calling thread. is_pinned: each worker stays on one processor.
weft_status wf_cpu_pool_create(const wf_allocator *a, uint32_t n_threads, bool is_pinned,
                               wf_cpu_pool **out_pool, weft_error *err);
// Accepts NULL.
void wf_cpu_pool_destroy(wf_cpu_pool *pool);
uint32_t wf_cpu_pool_n_threads(const wf_cpu_pool *pool);

// Gives every thread size_bytes of scratch at least; what was there is lost.
weft_status wf_cpu_pool_reserve(wf_cpu_pool *pool, size_t size_bytes, weft_error *err);

// Calls run(params, item, worker) for every item in [0, n_items) and returns when all are done, in any
// order on any threads. One caller at a time.
void wf_cpu_pool_run(wf_cpu_pool *pool, wf_cpu_item_fn *run, const void *params, int64_t n_items);
// The same on the calling thread: for work that is shorter than handing it over.
void wf_cpu_pool_run_alone(wf_cpu_pool *pool, wf_cpu_item_fn *run, const void *params,
                           int64_t n_items);
// Around jobs that follow one another closely: begin wakes the threads, which then wait for the next
// job without sleeping for a while. Optional.
void wf_cpu_pool_begin(wf_cpu_pool *pool);
void wf_cpu_pool_end(wf_cpu_pool *pool);

#endif
