// A small convolutional network, five steps on every device, two hundred in the full run: the loss of each step has the
// same bits everywhere (case 51, ROCm/tensorflow#42), also twice in a row (case 54, AiDotNet.Tensors#382), and lies
// beside that of float64, because the processor may be the one that is wrong (case 55, burn#3565).
// Case 53 for initialisers: weights and dropout by seed 0 are the same everywhere.
// labels: sweep opencl
#include "cases_run.h"

enum { MAX_STEPS = 200, N_ROWS = 13, N_PIXELS = 2 * 9 * 7 };

static weft_val build(weft_nn *nn, weft_val x)
{
    static const int64_t window[] = {3, 3}, pool[] = {2, 2};
    weft_graph *g = weft_nn_graph(nn);
    x = weft_conv_layer(nn, "conv", x, 5, window, NULL);
    x = weft_relu(g, weft_batch_norm(nn, "bn", x, NULL));
    x = weft_dropout(nn, weft_max_pool(g, x, pool, NULL), 0.25);
    return weft_linear(nn, "fc", weft_flatten(g, x, 1), 4, NULL);
}

static void losses_on(void **state, int n_steps, float *loss)
{
    static float x[N_ROWS * N_PIXELS];
    static int32_t labels[N_ROWS];
    weft_nn_options o = WEFT_NN_OPTIONS_INIT;
    weft_optimizer_options adamw = WEFT_OPTIMIZER_OPTIONS_INIT;
    weft_schedule_options schedule = WEFT_SCHEDULE_OPTIONS_INIT;
    weft_error err;
    weft_nn *nn;
    for (int i = 0; i < N_ROWS * N_PIXELS; i++) {
        x[i] = (float)((i * 37 + 11) % 64 - 31) / 29.0f;
    }
    for (int i = 0; i < N_ROWS; i++) {
        labels[i] = i % 4;
    }
    o.is_training = true; // seed 0
    adamw.kind = WEFT_OPTIMIZER_ADAMW;
    adamw.weight_decay = 0.01;
    schedule.lr = 0.01;
    case_run r = case_begin(state);
    assert_int_equal(weft_nn_create(r.g, &o, &nn, NULL), WEFT_OK);
    const weft_val images = case_f32(&r, CASE_DIMS(N_ROWS, 2, 9, 7), x);
    const weft_val classes = case_input(&r, WEFT_I32, CASE_DIMS(N_ROWS), labels);
    const weft_val y = weft_cross_entropy(r.g, build(nn, images), classes, NULL);
    weft_output(r.g, "loss", y);
    weft_train_step(nn, y, &adamw, &schedule);
    weft_nn_destroy(nn);
    for (int i = 0; i < n_steps; i++) {
        const weft_status status = i == 0 ? case_go(&r, &err) : weft_program_run(r.program, &err);
        if (status != WEFT_OK ||
            weft_program_read(r.program, "loss", &loss[i], sizeof loss[i], &err) != WEFT_OK) {
            fail_msg("%s", err.message);
        }
    }
    case_end(&r);
}

static void one_loss_everywhere(void **state)
{
    static case_device ref = {"ref", NULL, 0}, truth = {"ref:f64", NULL, 0};
    void *ref_state = &ref, *truth_state = &truth;
    const int n_steps = wf_test_is_full() ? MAX_STEPS : 5;
    const size_t bytes = (size_t)n_steps * sizeof(float);
    float expected[MAX_STEPS], near[MAX_STEPS], got[MAX_STEPS], again[MAX_STEPS];
    losses_on(&ref_state, n_steps, expected);
    losses_on(&truth_state, n_steps, near);
    losses_on(state, n_steps, got);
    losses_on(state, n_steps, again);
    assert_memory_equal(got, expected, bytes);
    assert_memory_equal(again, got, bytes);
    for (int i = 0; i < n_steps; i++) {
        assert_true(fabsf(got[i] - near[i]) <= (i < 5 ? 1e-4f * near[i] : 1e-3f));
    }
    assert_true(got[n_steps - 1] < got[0]);
}

const struct CMUnitTest wf_tests_case_training[] = {CASE_TEST(one_loss_everywhere)};
const unsigned long wf_n_tests_case_training = WF_N_TESTS(wf_tests_case_training);
