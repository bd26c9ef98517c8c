// 20 steps of Adam on a character LSTM: weft's losses are at most twice as far from a float64 run as PyTorch's f32
// losses are, from the same weights and batches.
#include "nn_run.h"

enum { N_STEPS = 20, BATCH = 8, TIME = 24, VOCABULARY = 30, WIDTH = 32 };

static void build(nn_run *r)
{
    const int64_t dims[] = {BATCH, TIME}, rows[] = {BATCH * TIME, VOCABULARY};
    weft_recurrent_options o = WEFT_RECURRENT_OPTIONS_INIT;
    weft_optimizer_options adam = WEFT_OPTIMIZER_OPTIONS_INIT;
    weft_schedule_options schedule = WEFT_SCHEDULE_OPTIONS_INIT;
    const weft_val x = weft_input(r->g, "x", WEFT_I32, dims, 2);
    const weft_val next = weft_input(r->g, "next", WEFT_I32, dims, 2);
    o.n_layers = 2;
    o.is_batch_first = true;
    const weft_val e = weft_embedding(r->nn, "embed", x, VOCABULARY, WIDTH, NULL);
    const weft_val h = weft_lstm(r->nn, "lstm", e, WIDTH, &o, NULL, NULL);
    const weft_val y = weft_linear(r->nn, "head", h, VOCABULARY, NULL);
    const weft_val loss = weft_cross_entropy(r->g, weft_reshape(r->g, y, rows, 2),
                                             weft_reshape(r->g, next, rows, 1), NULL);
    adam.kind = WEFT_OPTIMIZER_ADAM;
    schedule.lr = 1e-2;
    weft_output(r->g, "loss", loss);
    weft_train_step(r->nn, loss, &adam, &schedule);
}

static float value(const nn_run *r, const char *role, int step)
{
    float v;
    memcpy(&v, (const char *)nn_get(r, role)->data + 4 * step, 4);
    return v;
}

static void run_step(nn_run *r, int step)
{
    static int32_t all[N_STEPS][BATCH][TIME + 1];
    int32_t x[BATCH][TIME], next[BATCH][TIME];
    assert_int_equal(nn_get(r, "tokens")->size_bytes, sizeof all);
    memcpy(all, nn_get(r, "tokens")->data, sizeof all);
    for (int b = 0; b < BATCH; b++) {
        memcpy(x[b], all[step][b], sizeof x[b]);
        memcpy(next[b], all[step][b] + 1, sizeof next[b]);
    }
    NN_OK(weft_program_write(r->program, "x", x, sizeof x, err));
    NN_OK(weft_program_write(r->program, "next", next, sizeof next, err));
    NN_OK(weft_program_run(r->program, err));
    NN_OK(weft_program_check(r->program, err));
}

static void is_as_near_to_float64_as_pytorch(void **state)
{
    nn_run r;
    double ours = 0.0, theirs = 0.0;
    (void)state;
    nn_begin_on(&r, "cpu", NULL, "nn_lstm_training", true);
    r.test_case = "lstm";
    nn_load_state(&r);
    build(&r);
    nn_compile(&r);
    for (int step = 0; step < N_STEPS; step++) {
        run_step(&r, step);
        const double exact = (double)value(&r, "y64", step) + (double)value(&r, "y64_rest", step);
        const double mine = (double)nn_read_f32(&r, "loss") - exact;
        const double other = (double)value(&r, "y32", step) - exact;
        ours += mine * mine;
        theirs += other * other;
    }
    ours = sqrt(ours / N_STEPS);
    theirs = sqrt(theirs / N_STEPS);
    if (!(ours <= 2.0 * theirs))
        fail_msg("RMS distance %.3g, PyTorch's is %.3g", ours, theirs);
    nn_end(&r);
}

const struct CMUnitTest wf_tests_nn_lstm_training[] = {
    cmocka_unit_test(is_as_near_to_float64_as_pytorch),
};
const unsigned long wf_n_tests_nn_lstm_training = WF_N_TESTS(wf_tests_nn_lstm_training);
