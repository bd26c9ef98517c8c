// The cpu device's threads: a row of jobs, each cut into numbered items; the caller takes part.
//
// A job gives each thread a range of its items. A thread takes items from the front of its own range
// and, when that is empty, from the back of the others'. So a thread meets in one task what it left
// in its cache in the one before, and an item costs no shared cache line until the ranges run out. A
// range is one word, and taking an item one compare-and-swap on it. Whoever has taken an item may read
// the job, because the next one is not written before every item is done.
//
// Whoever does the last item of a job begins the next one: no thread is waited for that has taken
// nothing, not even the caller. On a machine with other work, where each thread is away half of the
// time, the row so goes on with whichever is there.
#include "device/cpu/cpu_pool.h"

#include <stdatomic.h>
#include <string.h>

#include "base/clock.h"
#include "base/thread.h"
#include "device/cpu/cpu_fenv.h"

// How long a thread spins before it sleeps, during a row and after it: longer than the jobs that one
// thread does alone, and than it takes to wake a thread.
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

    // The row and its job. Written by whoever begins a job, while no item is open.
    wf_cpu_next_fn *next;
    void *user;
    const wf_cpu_job *job;

    char padding_before[LINE_BYTES];
    _Atomic uint32_t n_news; // changes with each job and each end of a row; what threads wait for
    _Atomic bool is_any_asleep;
    _Atomic bool is_running; // a row is not done
    _Atomic bool is_ending;
    _Atomic bool is_for_caller; // the job is, and it has not begun
    char padding_between[LINE_BYTES];
    _Atomic uint32_t n_open; // items not done
    char padding_after[LINE_BYTES];
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

static void run_all(const wf_cpu_job *job, const wf_cpu_worker *worker)
{
    for (int64_t i = 0; i < job->n_items; i++)
        job->run(job->params, i, worker);
}

static void tell(wf_cpu_pool *pool)
{
    atomic_fetch_add(&pool->n_news, 1);
    // Whoever goes to sleep says so first and looks at the word afterwards.
    if (atomic_load(&pool->is_any_asleep) && atomic_exchange(&pool->is_any_asleep, false))
        wf_word_wake(&pool->n_news);
}

static void open_job(wf_cpu_pool *pool, const wf_cpu_job *job)
{
    const uint64_t n = (uint64_t)job->n_items, n_threads = pool->n_threads;
    WEFT_ASSERT(job->n_items <= WF_CPU_MAX_ITEMS);
    pool->job = job;
    atomic_store_explicit(&pool->n_open, (uint32_t)n, memory_order_relaxed);
    for (uint64_t i = 0; i < n_threads; i++) {
        const uint64_t first = (n * i + n_threads - 1) / n_threads;
        const uint64_t end = (n * (i + 1) + n_threads - 1) / n_threads;
        atomic_store_explicit(&pool->threads[i].range, first << 32 | end, memory_order_release);
    }
    tell(pool);
}

// Begins jobs until one has items for all: true. False: the row is done, or waits for the caller.
static bool advance(wf_cpu_pool *pool, const wf_cpu_worker *worker)
{
    const wf_cpu_job *job;
    while ((job = pool->next(pool->user)) != NULL) {
        if (job->where == WF_CPU_CALLER && worker->idx != 0) {
            pool->job = job;
            atomic_store(&pool->is_for_caller, true);
            tell(pool);
            return false;
        }
        if (job->where == WF_CPU_ALL && job->n_items > 1 && pool->n_threads > 1) {
            open_job(pool, job);
            return true;
        }
        run_all(job, worker);
    }
    atomic_store(&pool->is_running, false);
    if (worker->idx != 0)
        tell(pool);
    return false;
}

static uint32_t take_items(wf_cpu_pool *pool, const wf_cpu_worker *worker)
{
    uint32_t n_done = 0, item;
    while (take_first(&pool->threads[worker->idx].range, &item)) {
        pool->job->run(pool->job->params, (int64_t)item, worker);
        n_done++;
    }
    for (uint32_t k = 1; k < pool->n_threads; k++) {
        pool_thread *other = &pool->threads[(worker->idx + k) % pool->n_threads];
        while (take_last(&other->range, &item)) {
            pool->job->run(pool->job->params, (int64_t)item, worker);
            n_done++;
        }
    }
    return n_done;
}

// Takes and runs items until none is left, in this job and in those that it begins.
static void work(wf_cpu_pool *pool, const wf_cpu_worker *worker)
{
    for (;;) {
        const uint32_t n_done = take_items(pool, worker);
        if (n_done == 0 || atomic_fetch_sub(&pool->n_open, n_done) != n_done)
            return;
        if (!advance(pool, worker))
            return;
    }
}

// Returns the word of news when it is not `seen`.
static uint32_t wait_for_news(wf_cpu_pool *pool, uint32_t seen)
{
    uint32_t now;
    const uint64_t start = wf_clock_ns();
    for (uint32_t i = 1;; i++) {
        now = atomic_load_explicit(&pool->n_news, memory_order_acquire);
        if (now != seen)
            return now;
        wf_cpu_pause();
        if (i % N_PAUSES != 0)
            continue;
        const bool is_running = atomic_load_explicit(&pool->is_running, memory_order_relaxed);
        if (wf_clock_ns() - start > (is_running ? SPIN_RUNNING_NS : SPIN_IDLE_NS))
            break;
    }
    for (;;) {
        atomic_store(&pool->is_any_asleep, true);
        now = atomic_load(&pool->n_news);
        if (now != seen)
            return now;
        wf_word_wait(&pool->n_news, seen);
    }
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
        seen = wait_for_news(pool, seen);
        if (atomic_load(&pool->is_ending))
            return NULL;
        wf_cpu_fenv_set();
        work(pool, &self->worker);
    }
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

void wf_cpu_pool_run_row(wf_cpu_pool *pool, wf_cpu_next_fn *next, void *user)
{
    const wf_cpu_worker *caller = &pool->threads[0].worker;
    make_way(pool);
    pool->next = next;
    pool->user = user;
    atomic_store(&pool->is_running, true);
    uint32_t seen = atomic_load(&pool->n_news);
    if (advance(pool, caller))
        work(pool, caller);
    while (atomic_load(&pool->is_running)) {
        seen = wait_for_news(pool, seen);
        if (atomic_load(&pool->is_for_caller)) {
            atomic_store(&pool->is_for_caller, false);
            run_all(pool->job, caller);
            if (!advance(pool, caller))
                continue;
        }
        work(pool, caller);
    }
}

// A row of one job.
static const wf_cpu_job *next_only(void *user)
{
    const wf_cpu_job **job = user, *only = *job;
    *job = NULL;
    return only;
}

void wf_cpu_pool_run(wf_cpu_pool *pool, wf_cpu_item_fn *run, const void *params, int64_t n_items)
{
    const wf_cpu_job job = {run, params, n_items, WF_CPU_ALL}, *row = &job;
    wf_cpu_pool_run_row(pool, next_only, (void *)&row);
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
    tell(pool);
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
