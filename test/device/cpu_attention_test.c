// Attention whose heads are columns of one matrix, forward and gradient, on the cpu device in every
// instruction set against ref: the same bits, and no copy of a head in the plan.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "device/cpu/cpu_isa.h"
#include "guarded_device.h"
#include "math/philox.h"
#include "run/run_internal.h"
#include "weft/weft.h"
#include "wf_test.h"

typedef struct sizes {
    int64_t b, t, h, kv, d;
    bool is_causal;
    bool has_infinity; // in the last token
} sizes;

static const sizes cases[] = {
    {2, 70, 3, 3, 16, true, false},  {1, 130, 4, 2, 20, true, false},
    {1, 65, 2, 1, 64, false, false}, // rows 256 floats apart
    {3, 33, 4, 4, 8, true, false},   {2, 64, 4, 4, 1, true, false},
    {2, 67, 5, 5, 16, true, true},   {1, 66, 2, 1, 64, true, true},
};

#define MAX_FLOATS 40000

static weft_val get_heads(weft_graph *g, weft_val x, const sizes *s, int64_t first, int64_t n)
{
    static const int32_t order[] = {0, 2, 1, 3};
    const int64_t start[] = {0, 0, first * s->d}, stop[] = {s->b, s->t, (first + n) * s->d};
    const int64_t dims[] = {s->b, s->t, n, s->d};
    return weft_permute(g, weft_reshape(g, weft_slice(g, x, start, stop, NULL), dims, 4), order);
}

static void build(weft_graph *g, const sizes *s)
{
    static const int32_t back[] = {0, 2, 1, 3};
    const int64_t in[] = {s->b, s->t, (s->h + 2 * s->kv) * s->d}, out[] = {s->b, s->t, s->h * s->d};
    weft_attention_options o = WEFT_ATTENTION_OPTIONS_INIT;
    o.is_causal = s->is_causal;
    const weft_val x = weft_input(g, "x", WEFT_F32, in, 3),
                   r = weft_input(g, "r", WEFT_F32, out, 3);
    const weft_val two = weft_mul(g, x, weft_scalar(g, WEFT_F32, 2.0));
    const weft_val q = get_heads(g, two, s, 0, s->h), k = get_heads(g, two, s, s->h, s->kv),
                   v = get_heads(g, two, s, s->h + s->kv, s->kv);
    const weft_val y = weft_permute(g, weft_attention(g, q, k, v, &o, NULL), back);
    const weft_val flat = weft_reshape(g, y, out, 3);
    const weft_val loss = weft_sum(g, weft_mul(g, flat, r), NULL, 0, false);
    weft_val dx;
    weft_grad(g, loss, &x, 1, &dx);
    weft_output(g, "y", weft_neg(g, flat));
    weft_output(g, "dx", dx);
}

// Attention reads the columns and writes them: the rest is elementwise, and none of it a copy.
static void expect_no_copies(const weft_program *p)
{
    for (size_t i = 0; i < p->plan->n_tasks; i++) {
        const wf_task *task = &p->plan->tasks[i];
        if (task->kernel)
            assert_true(task->kernel->n_insts > 2);
    }
}

static void run(weft_device *dev, const weft_graph *g, const sizes *s, float *y, float *dx)
{
    static float x[MAX_FLOATS], r[MAX_FLOATS];
    const size_t n_in = (size_t)(s->b * s->t * (s->h + 2 * s->kv) * s->d);
    const size_t n_out = (size_t)(s->b * s->t * s->h * s->d);
    weft_state *state;
    weft_program *program;
    weft_error err = {0};
    assert_true(n_in <= MAX_FLOATS && n_out <= MAX_FLOATS);
    for (size_t i = 0; i < n_in; i++)
        x[i] = wf_random_uniform(3, 0, 0, i) * 2.0f - 1.0f;
    for (size_t i = 0; i < n_out; i++)
        r[i] = wf_random_uniform(3, 0, 1, i) - 0.5f;
    if (s->has_infinity) {
        x[n_in - 3] = INFINITY;
        r[n_out - 2] = INFINITY;
    }
    assert_int_equal(weft_state_create(dev, &state, &err), WEFT_OK);
    if (weft_compile(state, g, NULL, &program, &err) != WEFT_OK)
        fail_msg("%s", err.message);
    if (strcmp(weft_device_id(dev), "cpu") == 0)
        expect_no_copies(program);
    assert_int_equal(weft_program_write(program, "x", x, n_in * sizeof *x, &err), WEFT_OK);
    assert_int_equal(weft_program_write(program, "r", r, n_out * sizeof *r, &err), WEFT_OK);
    assert_int_equal(weft_program_run(program, &err), WEFT_OK);
    assert_int_equal(weft_program_read(program, "y", y, n_out * sizeof *y, &err), WEFT_OK);
    assert_int_equal(weft_program_read(program, "dx", dx, n_in * sizeof *dx, &err), WEFT_OK);
    weft_program_destroy(program);
    weft_state_destroy(state);
}

static void expect_same(const char *what, const sizes *s, const float *want, const float *got,
                        size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if ((isnan(want[i]) && isnan(got[i])) || memcmp(&want[i], &got[i], sizeof *want) == 0)
            continue;
        fail_msg("%s, b %d t %d h %d kv %d d %d: element %zu is %a, expected %a", what, (int)s->b,
                 (int)s->t, (int)s->h, (int)s->kv, (int)s->d, i, (double)got[i], (double)want[i]);
    }
}

static void heads_are_columns(void **state)
{
    static float want[2][MAX_FLOATS], got[2][MAX_FLOATS];
    const uint32_t isas = wf_cpu_isa_detect(WF_CPU_ISA_ALL);
    weft_context *ctx;
    weft_device *ref, *dev;
    (void)state;
    assert_int_equal(weft_context_create(NULL, &ctx, NULL), WEFT_OK);
    assert_int_equal(weft_device_open(ctx, "ref", NULL, &ref, NULL), WEFT_OK);
    for (size_t c = 0; c < WF_COUNT_OF(cases); c++) {
        const sizes *s = &cases[c];
        weft_graph *g;
        assert_int_equal(weft_graph_create(ctx, &g, NULL), WEFT_OK);
        build(g, s);
        run(ref, g, s, want[0], want[1]);
        for (uint32_t i = 0; i < 32; i++) {
            weft_device_options options = WEFT_DEVICE_OPTIONS_INIT;
            if (!(isas & 1u << i))
                continue;
            options.isa = wf_cpu_isa_at(i)->name;
            options.n_threads = 2;
            assert_int_equal(weft_device_open(ctx, "cpu", &options, &dev, NULL), WEFT_OK);
            guarded_device_wrap(dev, c & 1);
            run(dev, g, s, got[0], got[1]);
            expect_same("y", s, want[0], got[0], (size_t)(s->b * s->t * s->h * s->d));
            expect_same("dx", s, want[1], got[1],
                        (size_t)(s->b * s->t * (s->h + 2 * s->kv) * s->d));
            weft_device_close(dev);
        }
        weft_graph_destroy(g);
    }
    weft_device_close(ref);
    weft_context_destroy(ctx);
}

const struct CMUnitTest wf_tests_cpu_attention[] = {cmocka_unit_test(heads_are_columns)};
const unsigned long wf_n_tests_cpu_attention = WF_N_TESTS(wf_tests_cpu_attention);
