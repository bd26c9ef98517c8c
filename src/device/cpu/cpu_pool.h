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

typedef enum wf_cpu_where {
    WF_CPU_ALL,    // any threads
    WF_CPU_ONE,    // so little that one thread does it, whichever comes to it
    WF_CPU_CALLER, // the calling thread only
} wf_cpu_where;

// run(params, item, worker) for every item in [0, n_items), in any order.
typedef struct wf_cpu_job {
    wf_cpu_item_fn *run;
    const void *params;
    int64_t n_items;
    wf_cpu_where where;
} wf_cpu_job;

// The next job of a row, which stays as it is until the one behind it is asked for; NULL: the row is done.
// Called on any of the threads, one call at a time, when the job before is done.
typedef const wf_cpu_job *wf_cpu_next_fn(void *user);

// Runs jobs one after the other and returns when the last is done. One caller at a time.
void wf_cpu_pool_run_row(wf_cpu_pool *pool, wf_cpu_next_fn *next, void *user);
// The same for one job.
void wf_cpu_pool_run(wf_cpu_pool *pool, wf_cpu_item_fn *run, const void *params, int64_t n_items);

#endif
