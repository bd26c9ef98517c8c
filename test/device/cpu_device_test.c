// The cpu device itself: opening it, errors, the floating-point mode, threads that meet again and again,
// the status word and the assignments that it gates, counted memory.
#include <fenv.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "device/cpu/cpu_isa.h"
#include "device/cpu/cpu_pool.h"
#include "weft/weft.h"
#include "wf_test.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

static weft_context *make_context(void)
{
    weft_context *ctx;
    assert_int_equal(weft_context_create(NULL, &ctx, NULL), WEFT_OK);
    return ctx;
}

static weft_device *open_cpu(weft_context *ctx, const char *isa, uint32_t n_threads)
{
    weft_device_options options = WEFT_DEVICE_OPTIONS_INIT;
    weft_device *dev;
    weft_error err;
    options.isa = isa;
    options.n_threads = n_threads;
    if (weft_device_open(ctx, "cpu", &options, &dev, &err) != WEFT_OK)
        fail_msg("%s", err.message);
    return dev;
}

static void opens_as_asked(void **state)
{
    (void)state;
    weft_context *ctx = make_context();
    weft_device *dev = open_cpu(ctx, "scalar", 3);
    assert_string_equal(weft_device_id(dev), "cpu");
    assert_string_equal(weft_device_isa(dev), "scalar");
    assert_int_equal(weft_device_n_threads(dev), 3);
    weft_device_close(dev);
    dev = open_cpu(ctx, NULL, 0);
    assert_true(weft_device_n_threads(dev) >= 1);
    weft_device_close(dev);
    weft_context_destroy(ctx);
}

static void names_unknown_isa(void **state)
{
    (void)state;
    weft_context *ctx = make_context();
    weft_device_options options = WEFT_DEVICE_OPTIONS_INIT;
    weft_device *dev;
    weft_error err;
    const char *expected = "cpu: this build has no isa 'mmx', expected one of: scalar";
    options.isa = "mmx";
    assert_int_equal(weft_device_open(ctx, "cpu", &options, &dev, &err), WEFT_ERR_NAME);
    assert_null(dev);
    assert_memory_equal(err.message, expected, strlen(expected));
    options.isa = NULL;
    options.n_threads = 5000;
    assert_int_equal(weft_device_open(ctx, "cpu", &options, &dev, &err), WEFT_ERR_ATTR);
    assert_string_equal(err.message, "cpu: 5000 threads asked for, expected at most 1024");
    weft_context_destroy(ctx);
}

static void masks_instruction_sets(void **state)
{
    (void)state;
    assert_int_equal(wf_cpu_isa_detect(0), 1); // the plain one always runs
    const uint32_t all = wf_cpu_isa_detect(WF_CPU_ISA_ALL);
    for (size_t i = 0; i < wf_cpu_isa_count(); i++)
        assert_int_equal(wf_cpu_isa_detect(UINT32_C(1) << i) & ~1u, all & (UINT32_C(1) << i) & ~1u);
}

// ---- the pool
typedef struct counts {
    _Atomic int64_t n_done[512];
    _Atomic int64_t sum;
} counts;

static void count_item(const void *params, int64_t item, const wf_cpu_worker *worker)
{
    counts *const *c = params;
    atomic_fetch_add(&(*c)->n_done[item], 1);
    atomic_fetch_add(&(*c)->sum, item);
    memset(worker->scratch, (int)item, 64);
}

static void runs_every_item_once(void **state)
{
    (void)state;
    wf_allocator a = wf_allocator_default();
    wf_cpu_pool *pool;
    counts *c = calloc(1, sizeof *c);
    assert_non_null(c);
    assert_int_equal(wf_cpu_pool_create(&a, 4, false, &pool, NULL), WEFT_OK);
    assert_int_equal(wf_cpu_pool_reserve(pool, 64, NULL), WEFT_OK);
    const int64_t n_jobs = 2000;
    int64_t n_times[512] = {0};
    for (int64_t job = 0; job < n_jobs; job++) {
        const int64_t n_items = job * 7 % 512;
        wf_cpu_pool_run(pool, count_item, &c, n_items);
        for (int64_t i = 0; i < n_items; i++)
            n_times[i]++;
    }
    for (size_t i = 0; i < 512; i++)
        assert_int_equal(atomic_load(&c->n_done[i]), n_times[i]);
    wf_cpu_pool_destroy(pool);
    free(c);
}

// A row in which every third job is for one thread, and every seventh for the caller.
typedef struct row {
    wf_cpu_job job;
    pthread_t caller;
    int64_t n_jobs, n_begun;
    _Atomic int64_t n_done, n_out_of_order, n_elsewhere;
} row;

static void row_item(const void *params, int64_t item, const wf_cpu_worker *worker)
{
    row *r = *(row *const *)params;
    (void)worker;
    if (item >= r->job.n_items)
        atomic_fetch_add(&r->n_out_of_order, 1);
    if (r->job.where == WF_CPU_CALLER && !pthread_equal(pthread_self(), r->caller))
        atomic_fetch_add(&r->n_elsewhere, 1);
    atomic_fetch_add(&r->n_done, 1);
}

static const wf_cpu_job *next_of_row(void *user)
{
    row *r = user;
    if (r->n_begun > 0 && atomic_load(&r->n_done) != r->job.n_items)
        atomic_fetch_add(&r->n_out_of_order, 1);
    if (r->n_begun == r->n_jobs)
        return NULL;
    const int64_t i = r->n_begun++;
    atomic_store(&r->n_done, 0);
    r->job.where = i % 7 == 6 ? WF_CPU_CALLER : i % 3 == 2 ? WF_CPU_ONE : WF_CPU_ALL;
    r->job.n_items = i % 13;
    return &r->job;
}

static void runs_rows_in_order(void **state)
{
    (void)state;
    wf_allocator a = wf_allocator_default();
    for (uint32_t n_threads = 1; n_threads <= 4; n_threads++) {
        wf_cpu_pool *pool;
        assert_int_equal(wf_cpu_pool_create(&a, n_threads, n_threads == 2, &pool, NULL), WEFT_OK);
        for (int64_t i = 0; i < 50; i++) {
            row r = {.n_jobs = i * 4, .caller = pthread_self()}, *self = &r;
            r.job = (wf_cpu_job){row_item, &self, 0, WF_CPU_ALL};
            wf_cpu_pool_run_row(pool, next_of_row, &r);
            assert_int_equal(r.n_begun, r.n_jobs);
            assert_int_equal(r.n_out_of_order, 0);
            assert_int_equal(r.n_elsewhere, 0);
        }
        wf_cpu_pool_destroy(pool);
    }
}

// ---- a small program: y = exp(x) * 3, its sum; a guard; a variable that counts good runs
typedef struct machine {
    weft_context *ctx;
    weft_device *dev;
    weft_state *state;
    weft_program *program;
} machine;

#define N 5000

static machine make_machine(const char *isa, uint32_t n_threads)
{
    machine m = {.ctx = make_context()};
    weft_graph *g;
    weft_error err;
    const int64_t dims[] = {N}, idx_dims[] = {3};
    m.dev = open_cpu(m.ctx, isa, n_threads);
    assert_int_equal(weft_graph_create(m.ctx, &g, &err), WEFT_OK);
    const weft_val x = weft_input(g, "x", WEFT_F32, dims, 1);
    const weft_val y = weft_mul(g, weft_exp(g, x), weft_scalar(g, WEFT_F32, 3.0));
    const weft_val n = weft_variable(g, "n", weft_scalar(g, WEFT_F32, 0.0));
    const weft_val idx = weft_input(g, "idx", WEFT_I32, idx_dims, 1);
    weft_output(g, "y", y);
    weft_output(g, "sum", weft_sum(g, y, NULL, 0, false));
    weft_output(g, "good", weft_guard(g, y));
    weft_output(g, "rows", weft_gather(g, x, idx, 0));
    weft_assign(g, n, weft_add(g, n, weft_scalar(g, WEFT_F32, 1.0)));
    if (weft_state_create(m.dev, &m.state, &err) != WEFT_OK ||
        weft_compile(m.state, g, NULL, &m.program, &err) != WEFT_OK)
        fail_msg("%s", err.message);
    weft_graph_destroy(g);
    return m;
}

static void free_machine(machine *m)
{
    weft_program_destroy(m->program);
    weft_state_destroy(m->state);
    weft_device_close(m->dev);
    weft_context_destroy(m->ctx);
}

static weft_status run_machine(machine *m, const float *x, const int32_t idx[3], float *out_y)
{
    weft_error err;
    assert_int_equal(weft_program_write(m->program, "x", x, N * sizeof *x, &err), WEFT_OK);
    assert_int_equal(weft_program_write(m->program, "idx", idx, 3 * sizeof *idx, &err), WEFT_OK);
    assert_int_equal(weft_program_run(m->program, &err), WEFT_OK);
    assert_int_equal(weft_program_read(m->program, "y", out_y, N * sizeof *x, &err), WEFT_OK);
    return weft_program_check(m->program, &err);
}

static float count_good(machine *m)
{
    float n;
    assert_int_equal(weft_state_read(m->state, "n", &n, sizeof n, NULL), WEFT_OK);
    return n;
}

static void fill(float *x)
{
    for (int i = 0; i < N; i++)
        x[i] = (float)(i % 200) - 100.0f; // exp is subnormal at one end, 3e40 overflows at none
    for (int i = 0; i < N; i++)
        x[i] = x[i] > 80.0f ? 80.0f : x[i];
}

static void bad_runs_change_no_variable(void **state)
{
    (void)state;
    static float x[N], y[N];
    static const int32_t good_idx[3] = {0, 4999, -5000}, bad_idx[3] = {0, 5000, 1};
    machine m = make_machine(NULL, 2);
    fill(x);
    assert_int_equal(run_machine(&m, x, good_idx, y), WEFT_OK);
    assert_true(count_good(&m) == 1.0f);
    assert_int_equal(run_machine(&m, x, bad_idx, y), WEFT_ERR_INDEX);
    assert_true(count_good(&m) == 1.0f);
    x[777] = 1000.0f;
    assert_int_equal(run_machine(&m, x, good_idx, y), WEFT_ERR_NONFINITE);
    assert_true(count_good(&m) == 1.0f);
    x[777] = 1.0f;
    assert_int_equal(run_machine(&m, x, good_idx, y), WEFT_OK);
    assert_true(count_good(&m) == 2.0f);
    free_machine(&m);
}

static void same_bits_in_any_mode_and_any_threads(void **state)
{
    (void)state;
    static float x[N], expected[N], y[N];
    static const int32_t idx[3] = {1, 2, 3};
    fill(x);
    machine m = make_machine("scalar", 1);
    assert_int_equal(run_machine(&m, x, idx, expected), WEFT_OK);
    free_machine(&m);
    for (size_t i = 0; i < wf_cpu_isa_count(); i++) {
        if (!(wf_cpu_isa_detect(WF_CPU_ISA_ALL) >> i & 1u))
            continue;
        m = make_machine(wf_cpu_isa_at(i)->name, 1 + (uint32_t)i % 3);
        assert_int_equal(fesetround(FE_UPWARD), 0);
#if defined(__x86_64__)
        const unsigned int mode = _mm_getcsr() | 0x8040u; // flush to zero, denormals are zero
        _mm_setcsr(mode);
#endif
        const weft_status status = run_machine(&m, x, idx, y);
#if defined(__x86_64__)
        assert_int_equal(_mm_getcsr() & ~0x3fu, mode & ~0x3fu); // the caller's mode came back
        _mm_setcsr(0x1f80u);
#endif
        assert_int_equal(fegetround(), FE_UPWARD);
        assert_int_equal(fesetround(FE_TONEAREST), 0);
        assert_int_equal(status, WEFT_OK);
        assert_memory_equal(y, expected, sizeof y);
        free_machine(&m);
    }
}

static void counts_its_memory(void **state)
{
    (void)state;
    machine m = make_machine(NULL, 1);
    assert_true(weft_device_peak_bytes(m.dev) > 0);
    assert_true(weft_device_peak_bytes(m.dev) <= weft_program_planned_bytes(m.program));
    free_machine(&m);
}

const struct CMUnitTest wf_tests_cpu_device[] = {
    cmocka_unit_test(opens_as_asked),
    cmocka_unit_test(names_unknown_isa),
    cmocka_unit_test(masks_instruction_sets),
    cmocka_unit_test(runs_every_item_once),
    cmocka_unit_test(runs_rows_in_order),
    cmocka_unit_test(bad_runs_change_no_variable),
    cmocka_unit_test(same_bits_in_any_mode_and_any_threads),
    cmocka_unit_test(counts_its_memory),
};
const unsigned long wf_n_tests_cpu_device = WF_N_TESTS(wf_tests_cpu_device);
