// An op of the caller's own: trained on ref and cpu to the same bits; wrong ones are refused by name.
#include <math.h>

#include "../graph/graph_kit.h"

// y = x * factor + softness * x^2
static weft_status wave_infer(void *user, const double *numbers, const weft_type *in,
                              weft_type *out, weft_error *err)
{
    (void)user;
    (void)numbers;
    if (in[0].dtype != WEFT_F32) {
        if (err)
            strcpy(err->message, "x is not f32");
        return WEFT_ERR_DTYPE;
    }
    out[0] = in[0];
    return WEFT_OK;
}

static weft_status wave_eval(void *user, const double *numbers, const weft_own_tensor *in,
                             const weft_own_tensor *out, weft_error *err)
{
    const float *x = in[0].data;
    float *y = out[0].data;
    (void)err;
    ++*(int *)user;
    for (int64_t i = 0; i < in[0].type.dims[0]; i++) {
        y[i] = x[i] * (float)numbers[0] + (float)numbers[1] * x[i] * x[i];
    }
    return WEFT_OK;
}

static void wave_grad(void *user, weft_graph *g, const double *numbers, const weft_val *in,
                      const weft_val *out, const weft_val *dout, weft_val *din)
{
    (void)user;
    (void)out;
    const weft_val twice = weft_mul(g, in[0], weft_scalar(g, WEFT_F32, 2.0 * numbers[1]));
    din[0] = weft_mul(g, dout[0], weft_add(g, twice, weft_scalar(g, WEFT_F32, numbers[0])));
}

static weft_own_op wave_op(int *n_calls)
{
    static const char *const names[] = {"factor", "softness"};
    weft_own_op op = WEFT_OWN_OP_INIT;
    op.name = "wave";
    op.n_inputs = 1;
    op.n_numbers = 2;
    op.number_names = names;
    op.user = n_calls;
    op.infer = wave_infer;
    op.eval = wave_eval;
    op.grad = wave_grad;
    return op;
}

static void train(weft_context *ctx, const weft_graph *g, const char *id, float out[5])
{
    weft_device *device;
    weft_state *st;
    weft_program *program;
    weft_error err = {0};
    assert_int_equal(weft_device_open(ctx, id, NULL, &device, NULL), WEFT_OK);
    assert_int_equal(weft_state_create(device, &st, NULL), WEFT_OK);
    if (weft_compile(st, g, NULL, &program, &err) != WEFT_OK)
        fail_msg("%s", err.message);
    for (int i = 0; i < 5; i++)
        assert_int_equal(weft_program_run(program, NULL), WEFT_OK);
    assert_int_equal(weft_state_read(st, "w", out, 5 * sizeof *out, NULL), WEFT_OK);
    weft_program_destroy(program);
    weft_state_destroy(st);
    weft_device_close(device);
}

static void trains_on_ref_and_cpu(void **state)
{
    graph_kit *kit = *state;
    weft_graph *g = kit->g;
    int n_calls = 0;
    const weft_own_op op = wave_op(&n_calls);
    const double numbers[] = {0.5, 0.25};
    assert_int_equal(weft_context_add_op(kit->ctx, &op, NULL), WEFT_OK);
    const weft_val w = weft_variable(g, "w", weft_iota(g, WEFT_F32, KIT_DIMS(5), 0));
    weft_val y = WEFT_NONE, dw = WEFT_NONE;
    weft_own(g, "wave", &w, numbers, &y);
    weft_grad(g, weft_sum(g, weft_mul(g, y, y), NULL, 0, false), &w, 1, &dw);
    weft_assign(g, w, weft_sub(g, w, weft_mul(g, dw, weft_scalar(g, WEFT_F32, 0.01))));
    assert_int_equal(weft_graph_status(g, NULL), WEFT_OK);
    float on_ref[5], on_cpu[5];
    train(kit->ctx, g, "ref", on_ref);
    assert_int_equal(n_calls, 5);
    train(kit->ctx, g, "cpu", on_cpu);
    assert_int_equal(n_calls, 10);
    assert_memory_equal(on_ref, on_cpu, sizeof on_ref);
    assert_true(on_ref[4] < 4.0f && on_ref[4] > 0.0f);
}

static void its_infer_words_the_error(void **state)
{
    graph_kit *kit = *state;
    int n_calls = 0;
    const weft_own_op op = wave_op(&n_calls);
    const double numbers[] = {1.0, 0.0};
    weft_val x = weft_input(kit->g, "x", WEFT_I32, KIT_DIMS(2)), y = WEFT_NONE;
    assert_int_equal(weft_context_add_op(kit->ctx, &op, NULL), WEFT_OK);
    weft_graph_at(kit->g, NULL, 0, 0);
    (weft_own)(kit->g, "wave", &x, numbers, &y);
    assert_int_equal(y.id, 0);
    graph_kit_expect_error(kit->g, WEFT_ERR_DTYPE, "wave: x is not f32");
}

static void wrong_ops_are_refused(void **state)
{
    graph_kit *kit = *state;
    weft_error err = {0};
    int n_calls = 0;
    weft_own_op op = wave_op(&n_calls);
    op.name = "relu";
    assert_int_equal(weft_context_add_op(kit->ctx, &op, &err), WEFT_ERR_NAME);
    assert_string_equal(err.message, "op relu: name is taken");
    op.name = "two words";
    assert_int_equal(weft_context_add_op(kit->ctx, &op, &err), WEFT_ERR_NAME);
    op.name = "wave";
    op.eval = NULL;
    assert_int_equal(weft_context_add_op(kit->ctx, &op, &err), WEFT_ERR_USAGE);
    assert_string_equal(err.message, "own op wave: infer or eval is missing");
    weft_val x = weft_scalar(kit->g, WEFT_F32, 1.0), y = WEFT_NONE;
    weft_graph_at(kit->g, NULL, 0, 0);
    (weft_own)(kit->g, "wave", &x, NULL, &y);
    graph_kit_expect_error(kit->g, WEFT_ERR_NAME, "own op wave is not in the context");
}

const struct CMUnitTest wf_tests_own_op[] = {
    KIT_TEST(trains_on_ref_and_cpu),
    KIT_TEST(its_infer_words_the_error),
    KIT_TEST(wrong_ops_are_refused),
};
const unsigned long wf_n_tests_own_op = WF_N_TESTS(wf_tests_own_op);
