// The cpu device's threads: one job at a time, cut into numbered items; the caller takes part.
//
// A job is published by one word: its low half counts the items that nobody has taken yet, its high
// half the jobs so far. Taking an item is one compare-and-swap on that word; whoever has taken one may
// read the job, because the caller does not write the next job before every item is done. A thread
// that sleeps or was descheduled is not waited for: the others take its items.
#include "device/cpu/cpu_pool.h"

#include <stdatomic.h>

#include "base/thread.h"
#include "device/cpu/cpu_fenv.h"

// How long a thread spins before it sleeps: some 10 to 20 microseconds, longer than the gap between
// two tasks of a program and shorter than what a sleeping thread costs to wake.
#define N_SPINS 400

typedef struct pool_thread {
    wf_cpu_pool *pool;
    wf_thread thread;
    wf_cpu_worker worker;
    char padding[64]; // threads read their own entry in every item
} pool_thread;

struct wf_cpu_pool {
    wf_allocator allocator;
    uint32_t n_threads;
    bool is_pinned;
    pool_thread *threads; // [0] is the caller
    size_t scratch_bytes;

    // The job. Written by the caller while no item is open.
    wf_cpu_item_fn *run;
    const void *params;
    uint32_t n_items;

    char padding_before[64];
    _Atomic uint64_t ticket; // jobs << 32 | items not taken
    char padding_between[64];
    _Atomic uint32_t n_open; // items not done
    char padding_after[64];

    wf_mutex mutex;
    wf_cond wake; // a job is there, or the end
    wf_cond done; // the last item is done
    _Atomic uint32_t n_asleep;
    _Atomic bool is_caller_asleep;
    _Atomic bool is_ending;
};

// Takes and runs items until none is left. True if it ran any.
static bool work(wf_cpu_pool *pool, const wf_cpu_worker *worker)
{
    bool any = false;
    uint64_t ticket = atomic_load_explicit(&pool->ticket, memory_order_acquire);
    while ((uint32_t)ticket != 0) {
        if (!atomic_compare_exchange_weak_explicit(&pool->ticket, &ticket, ticket - 1,
                                                   memory_order_acq_rel, memory_order_acquire))
            continue;
        if (!any && worker->idx != 0)
            wf_cpu_fenv_set();
        any = true;
        pool->run(pool->params, (int64_t)(pool->n_items - (uint32_t)ticket), worker);
        if (atomic_fetch_sub(&pool->n_open, 1) == 1 && atomic_load(&pool->is_caller_asleep)) {
            wf_mutex_lock(&pool->mutex);
            wf_cond_signal(&pool->done);
            wf_mutex_unlock(&pool->mutex);
        }
        ticket = atomic_load_explicit(&pool->ticket, memory_order_acquire);
    }
    return any;
}

static bool has_work(wf_cpu_pool *pool)
{
    return (uint32_t)atomic_load(&pool->ticket) != 0 || atomic_load(&pool->is_ending);
}

static void sleep_until_woken(wf_cpu_pool *pool)
{
    wf_mutex_lock(&pool->mutex);
    atomic_fetch_add(&pool->n_asleep, 1);
    while (!has_work(pool))
        wf_cond_wait(&pool->wake, &pool->mutex);
    atomic_fetch_sub(&pool->n_asleep, 1);
    wf_mutex_unlock(&pool->mutex);
}

static void *thread_main(void *arg)
{
    pool_thread *self = arg;
    wf_cpu_pool *pool = self->pool;
    if (pool->is_pinned)
        (void)wf_thread_pin_self((int32_t)self->worker.idx);
    wf_cpu_fenv_set();
    for (uint32_t n_spins = 0; !atomic_load_explicit(&pool->is_ending, memory_order_acquire);) {
        if (work(pool, &self->worker)) {
            n_spins = 0;
        } else if (++n_spins < N_SPINS) {
            wf_cpu_pause();
        } else {
            sleep_until_woken(pool);
            n_spins = 0;
        }
    }
    return NULL;
}

static void wait_until_done(wf_cpu_pool *pool)
{
    for (uint32_t i = 0; i < N_SPINS; i++) {
        if (atomic_load_explicit(&pool->n_open, memory_order_acquire) == 0)
            return;
        wf_cpu_pause();
    }
    wf_mutex_lock(&pool->mutex);
    atomic_store(&pool->is_caller_asleep, true);
    while (atomic_load(&pool->n_open) != 0)
        wf_cond_wait(&pool->done, &pool->mutex);
    atomic_store(&pool->is_caller_asleep, false);
    wf_mutex_unlock(&pool->mutex);
}

void wf_cpu_pool_run(wf_cpu_pool *pool, wf_cpu_item_fn *run, const void *params, int64_t n_items)
{
    const wf_cpu_worker *caller = &pool->threads[0].worker;
    WEFT_ASSERT(n_items <= WF_CPU_MAX_ITEMS);
    if (pool->n_threads == 1 || n_items == 1) {
        for (int64_t i = 0; i < n_items; i++)
            run(params, i, caller);
        return;
    }
    if (n_items == 0)
        return;
    pool->run = run;
    pool->params = params;
    pool->n_items = (uint32_t)n_items;
    atomic_store(&pool->n_open, (uint32_t)n_items);
    const uint64_t job = (atomic_load(&pool->ticket) >> 32) + 1;
    atomic_store(&pool->ticket, job << 32 | (uint64_t)n_items);
    // Whoever goes to sleep counts itself first and looks at the ticket afterwards.
    if (atomic_load(&pool->n_asleep) != 0) {
        wf_mutex_lock(&pool->mutex);
        wf_cond_broadcast(&pool->wake);
        wf_mutex_unlock(&pool->mutex);
    }
    (void)work(pool, caller);
    wait_until_done(pool);
}

weft_status wf_cpu_pool_create(const wf_allocator *a, uint32_t n_threads, bool is_pinned,
                               wf_cpu_pool **out_pool, weft_error *err)
{
    weft_status status = WEFT_OK;
    wf_cpu_pool *pool = NULL;
    *out_pool = NULL;
    WEFT_TRY(wf_alloc(a, 1, sizeof *pool, &pool, err));
    pool->allocator = *a;
    pool->is_pinned = is_pinned;
    status = wf_mutex_init(&pool->mutex, err);
    if (status != WEFT_OK)
        goto fail;
    status = wf_cond_init(&pool->wake, err);
    if (status != WEFT_OK)
        goto fail_mutex;
    status = wf_cond_init(&pool->done, err);
    if (status != WEFT_OK)
        goto fail_wake;
    status = wf_alloc(a, n_threads, sizeof *pool->threads, &pool->threads, err);
    if (status != WEFT_OK)
        goto fail_done;
    pool->n_threads = n_threads;
    for (uint32_t i = 0; i < n_threads; i++) {
        pool->threads[i].pool = pool;
        pool->threads[i].worker.idx = i;
    }
    for (uint32_t i = 1; i < n_threads; i++) {
        status = wf_thread_start(&pool->threads[i].thread, thread_main, &pool->threads[i], err);
        if (status != WEFT_OK) {
            wf_cpu_pool_destroy(pool);
            return status;
        }
    }
    *out_pool = pool;
    return WEFT_OK;
fail_done:
    wf_cond_deinit(&pool->done);
fail_wake:
    wf_cond_deinit(&pool->wake);
fail_mutex:
    wf_mutex_deinit(&pool->mutex);
fail:
    wf_free(a, pool);
    return status;
}

void wf_cpu_pool_destroy(wf_cpu_pool *pool)
{
    if (!pool)
        return;
    const wf_allocator allocator = pool->allocator;
    wf_mutex_lock(&pool->mutex);
    atomic_store(&pool->is_ending, true);
    wf_cond_broadcast(&pool->wake);
    wf_mutex_unlock(&pool->mutex);
    for (uint32_t i = 1; i < pool->n_threads; i++)
        wf_thread_join(&pool->threads[i].thread);
    for (uint32_t i = 0; i < pool->n_threads; i++)
        wf_aligned_free(pool->threads[i].worker.scratch);
    wf_cond_deinit(&pool->done);
    wf_cond_deinit(&pool->wake);
    wf_mutex_deinit(&pool->mutex);
    wf_free(&allocator, pool->threads);
    wf_free(&allocator, pool);
}

uint32_t wf_cpu_pool_n_threads(const wf_cpu_pool *pool)
{
    return pool->n_threads;
}

weft_status wf_cpu_pool_reserve(wf_cpu_pool *pool, size_t size_bytes, weft_error *err)
{
    if (size_bytes <= pool->scratch_bytes)
        return WEFT_OK;
    // Workers read their entry only while a job runs, and none runs now.
    for (uint32_t i = 0; i < pool->n_threads; i++) {
        char *scratch = NULL;
        WEFT_TRY(wf_aligned_alloc(size_bytes, 64, &scratch, err));
        wf_aligned_free(pool->threads[i].worker.scratch);
        pool->threads[i].worker.scratch = scratch;
    }
    pool->scratch_bytes = size_bytes;
    return WEFT_OK;
}
