// The cpu device's threads: one job at a time, cut into numbered items; the caller takes part.
//
// A job gives each thread a range of its items. A thread takes items from the front of its own range
// and, when that is empty, from the back of the others'. So a thread meets in one task what it left
// in its cache in the one before, and an item costs no shared cache line until the ranges run out. A
// range is one word, and taking an item one compare-and-swap on it. Whoever has taken an item may read
// the job, because the caller does not write the next one before every item is done. A thread that
// sleeps or was descheduled between items is not waited for: the others take its range.
#include "device/cpu/cpu_pool.h"

#include <stdatomic.h>
#include <string.h>

#include "base/clock.h"
#include "base/thread.h"
#include "device/cpu/cpu_fenv.h"

// How long a thread spins before it sleeps, while a program runs and after it: longer than the parts
// of a program that one thread does alone, and than it takes to wake a thread.
#define SPIN_RUNNING_NS 100000u
#define SPIN_IDLE_NS 20000u
// Pauses between two looks at the clock.
#define N_PAUSES 8

// Threads do not share the pairs of cache lines that processors fetch.
#define LINE_BYTES 128

typedef struct pool_thread {
    wf_cpu_pool *pool;
    wf_thread thread;
    wf_cpu_worker worker;
    int32_t processor; // that it is pinned to; of [0]: where the caller was seen last; -1: any
    char padding_before[LINE_BYTES];
    _Atomic uint64_t range; // first << 32 | end of the items that nobody has taken
    char padding_after[LINE_BYTES];
} pool_thread;

struct wf_cpu_pool {
    wf_allocator allocator;
    uint32_t n_threads;
    pool_thread *threads; // [0] is the caller
    size_t scratch_bytes;

    // The job. Written by the caller while no item is open.
    wf_cpu_item_fn *run;
    const void *params;

    char padding_before[LINE_BYTES];
    _Atomic uint32_t n_jobs; // so far; what the threads wait for
    _Atomic bool is_running; // a program's run has begun and not ended
    _Atomic bool is_ending;
    char padding_between[LINE_BYTES];
    _Atomic uint32_t n_open; // items not done
    char padding_after[LINE_BYTES];
    _Atomic uint32_t n_asleep;
    _Atomic bool is_caller_asleep;
};

static bool take_first(_Atomic uint64_t *range, uint32_t *out_item)
{
    uint64_t left = atomic_load_explicit(range, memory_order_acquire);
    while ((uint32_t)(left >> 32) < (uint32_t)left) {
        *out_item = (uint32_t)(left >> 32);
        if (atomic_compare_exchange_weak_explicit(range, &left, left + (UINT64_C(1) << 32),
                                                  memory_order_acq_rel, memory_order_acquire))
            return true;
    }
    return false;
}

static bool take_last(_Atomic uint64_t *range, uint32_t *out_item)
{
    uint64_t left = atomic_load_explicit(range, memory_order_acquire);
    while ((uint32_t)(left >> 32) < (uint32_t)left) {
        *out_item = (uint32_t)left - 1;
        if (atomic_compare_exchange_weak_explicit(range, &left, left - 1, memory_order_acq_rel,
                                                  memory_order_acquire))
            return true;
    }
    return false;
}

// Takes and runs items until none is left.
static void work(wf_cpu_pool *pool, const wf_cpu_worker *worker)
{
    uint32_t n_done = 0, item;
    while (take_first(&pool->threads[worker->idx].range, &item)) {
        pool->run(pool->params, (int64_t)item, worker);
        n_done++;
    }
    for (uint32_t k = 1; k < pool->n_threads; k++) {
        pool_thread *other = &pool->threads[(worker->idx + k) % pool->n_threads];
        while (take_last(&other->range, &item)) {
            pool->run(pool->params, (int64_t)item, worker);
            n_done++;
        }
    }
    if (n_done != 0 && atomic_fetch_sub(&pool->n_open, n_done) == n_done &&
        atomic_load(&pool->is_caller_asleep))
        wf_word_wake(&pool->n_open);
}

// Returns the number of a job that is not `seen`.
static uint32_t wait_for_job(wf_cpu_pool *pool, uint32_t seen)
{
    uint32_t now;
    const uint64_t start = wf_clock_ns();
    for (uint32_t i = 1;; i++) {
        now = atomic_load_explicit(&pool->n_jobs, memory_order_acquire);
        if (now != seen)
            return now;
        wf_cpu_pause();
        if (i % N_PAUSES != 0)
            continue;
        const bool is_running = atomic_load_explicit(&pool->is_running, memory_order_relaxed);
        if (wf_clock_ns() - start > (is_running ? SPIN_RUNNING_NS : SPIN_IDLE_NS))
            break;
    }
    // Whoever goes to sleep counts itself first and looks at the word afterwards; who changes it does
    // so first and looks at the count afterwards.
    atomic_fetch_add(&pool->n_asleep, 1);
    while ((now = atomic_load(&pool->n_jobs)) == seen)
        wf_word_wait(&pool->n_jobs, seen);
    atomic_fetch_sub(&pool->n_asleep, 1);
    return now;
}

// As much of a thread's stack as an item takes: no step meets its first touch.
#define STACK_BYTES ((size_t)65536)

static WF_NOINLINE void touch_stack(void)
{
    volatile char room[STACK_BYTES];
    for (size_t i = 0; i < STACK_BYTES; i += 1024)
        room[i] = 0;
    (void)room[0];
}

static void *thread_main(void *arg)
{
    pool_thread *self = arg;
    wf_cpu_pool *pool = self->pool;
    touch_stack();
    for (uint32_t seen = 0;;) {
        seen = wait_for_job(pool, seen);
        if (atomic_load(&pool->is_ending))
            return NULL;
        wf_cpu_fenv_set();
        work(pool, &self->worker);
    }
}

static void wait_until_done(wf_cpu_pool *pool)
{
    const uint64_t start = wf_clock_ns();
    uint32_t open;
    for (uint32_t i = 1;; i++) {
        if (atomic_load_explicit(&pool->n_open, memory_order_acquire) == 0)
            return;
        wf_cpu_pause();
        if (i % N_PAUSES == 0 && wf_clock_ns() - start > SPIN_RUNNING_NS)
            break;
    }
    atomic_store(&pool->is_caller_asleep, true);
    while ((open = atomic_load(&pool->n_open)) != 0)
        wf_word_wait(&pool->n_open, open);
    atomic_store(&pool->is_caller_asleep, false);
}

static void announce(wf_cpu_pool *pool)
{
    atomic_fetch_add(&pool->n_jobs, 1);
    if (atomic_load(&pool->n_asleep) != 0)
        wf_word_wake(&pool->n_jobs);
}

void wf_cpu_pool_run_alone(wf_cpu_pool *pool, wf_cpu_item_fn *run, const void *params,
                           int64_t n_items)
{
    for (int64_t i = 0; i < n_items; i++)
        run(params, i, &pool->threads[0].worker);
}

void wf_cpu_pool_run(wf_cpu_pool *pool, wf_cpu_item_fn *run, const void *params, int64_t n_items)
{
    const uint64_t n = (uint64_t)n_items, n_threads = pool->n_threads;
    WEFT_ASSERT(n_items <= WF_CPU_MAX_ITEMS);
    if (n_threads == 1 || n_items <= 1) {
        wf_cpu_pool_run_alone(pool, run, params, n_items);
        return;
    }
    pool->run = run;
    pool->params = params;
    atomic_store_explicit(&pool->n_open, (uint32_t)n, memory_order_relaxed);
    for (uint64_t i = 0; i < n_threads; i++) {
        const uint64_t first = (n * i + n_threads - 1) / n_threads;
        const uint64_t end = (n * (i + 1) + n_threads - 1) / n_threads;
        atomic_store_explicit(&pool->threads[i].range, first << 32 | end, memory_order_release);
    }
    announce(pool);
    work(pool, &pool->threads[0].worker);
    wait_until_done(pool);
}

// The caller is the program's own thread and goes where the system likes. Where it meets a pinned
// thread, that one goes to where the caller came from.
static void make_way(wf_cpu_pool *pool)
{
    const int32_t now = wf_thread_processor(), before = pool->threads[0].processor;
    if (now == before || before < 0)
        return;
    for (uint32_t i = 1; i < pool->n_threads; i++) {
        pool_thread *t = &pool->threads[i];
        if (t->processor == now && wf_thread_pin(&t->thread, before))
            t->processor = before;
    }
    pool->threads[0].processor = now;
}

void wf_cpu_pool_begin(wf_cpu_pool *pool)
{
    make_way(pool);
    atomic_store(&pool->is_running, true);
    if (atomic_load(&pool->n_asleep) != 0)
        announce(pool); // a job without items
}

void wf_cpu_pool_end(wf_cpu_pool *pool)
{
    atomic_store(&pool->is_running, false);
}

// Each thread a processor of its own, the caller's left out.
static void pin(wf_cpu_pool *pool)
{
    int32_t position = 0;
    pool->threads[0].processor = wf_thread_processor();
    for (uint32_t i = 1; i < pool->n_threads; i++) {
        pool_thread *t = &pool->threads[i];
        int32_t processor = wf_thread_processor_at(position++);
        if (processor == pool->threads[0].processor)
            processor = wf_thread_processor_at(position++);
        t->processor = wf_thread_pin(&t->thread, processor) ? processor : -1;
    }
}

weft_status wf_cpu_pool_create(const wf_allocator *a, uint32_t n_threads, bool is_pinned,
                               wf_cpu_pool **out_pool, weft_error *err)
{
    wf_cpu_pool *pool = NULL;
    *out_pool = NULL;
    WEFT_TRY(wf_alloc(a, 1, sizeof *pool, &pool, err));
    pool->allocator = *a;
    pool->n_threads = n_threads;
    weft_status status = wf_alloc(a, n_threads, sizeof *pool->threads, &pool->threads, err);
    if (status != WEFT_OK) {
        wf_free(a, pool);
        return status;
    }
    for (uint32_t i = 0; i < n_threads; i++) {
        pool->threads[i].pool = pool;
        pool->threads[i].worker.idx = i;
        pool->threads[i].processor = -1;
    }
    for (uint32_t i = 1; i < n_threads; i++) {
        status = wf_thread_start(&pool->threads[i].thread, thread_main, &pool->threads[i], err);
        if (status != WEFT_OK) {
            wf_cpu_pool_destroy(pool);
            return status;
        }
    }
    if (is_pinned)
        pin(pool);
    *out_pool = pool;
    return WEFT_OK;
}

void wf_cpu_pool_destroy(wf_cpu_pool *pool)
{
    if (!pool)
        return;
    const wf_allocator allocator = pool->allocator;
    atomic_store(&pool->is_ending, true);
    announce(pool);
    for (uint32_t i = 1; i < pool->n_threads; i++)
        wf_thread_join(&pool->threads[i].thread);
    for (uint32_t i = 0; i < pool->n_threads; i++)
        wf_aligned_free(pool->threads[i].worker.scratch);
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
        WEFT_TRY(wf_pages_alloc(size_bytes, &scratch, err));
        memset(scratch, 0, size_bytes); // the first touch
        wf_aligned_free(pool->threads[i].worker.scratch);
        pool->threads[i].worker.scratch = scratch;
    }
    pool->scratch_bytes = size_bytes;
    return WEFT_OK;
}
