// Twenty steps of training from PyTorch's weights on its batches: weft's losses are no farther from a run in
// float64 than twice what PyTorch's own float32 losses are.
#include "nn_run.h"

#define STEPS 20
#define N_BATCHES 4

static const int64_t two[] = {2, 2}, three[] = {3, 3}, one[] = {1, 1};

static weft_val build_mlp(nn_run *r, weft_val x)
{
    static const char *const options[] = {"hidden=48,32", "classes=10"};
    return weft_family(r->nn, "mlp", x, options, 2, NULL);
}

static weft_val build_lenet(nn_run *r, weft_val x)
{
    static const char *const options[] = {"classes=10"};
    return weft_family(r->nn, "lenet", x, options, 1, NULL);
}

static weft_val build_cnn(nn_run *r, weft_val x)
{
    weft_conv_layer_options o = WEFT_CONV_LAYER_OPTIONS_INIT;
    o.conv.pad_before = one;
    o.no_bias = true;
    x = weft_batch_norm(r->nn, "bn1", weft_conv_layer(r->nn, "conv1", x, 8, three, &o), NULL);
    x = weft_max_pool(r->g, weft_relu(r->g, x), two, NULL);
    x = weft_batch_norm(r->nn, "bn2", weft_conv_layer(r->nn, "conv2", x, 16, three, &o), NULL);
    x = weft_global_mean_pool(r->g, weft_relu(r->g, x));
    return weft_linear(r->nn, "fc", x, 10, NULL);
}

static weft_val rows_of(nn_run *r, weft_val logits)
{
    const weft_type t = weft_val_type(r->g, logits);
    const int64_t dims[] = {t.dims[0] * t.dims[1], t.dims[2]};
    return weft_reshape(r->g, logits, dims, 2);
}

static weft_val build_lstm(nn_run *r, weft_val tokens)
{
    weft_recurrent_options o = WEFT_RECURRENT_OPTIONS_INIT;
    o.n_layers = 2;
    o.is_batch_first = true;
    const weft_val x = weft_embedding(r->nn, "embed", tokens, 29, 24, NULL);
    const weft_val y = weft_lstm(r->nn, "lstm", x, 24, &o, NULL, NULL);
    return rows_of(r, weft_linear(r->nn, "head", y, 29, NULL));
}

static weft_val build_gpt(nn_run *r, weft_val tokens)
{
    weft_gpt_options o = WEFT_GPT_OPTIONS_INIT;
    o.vocabulary = 29;
    o.d = 32;
    o.heads = 4;
    o.layers = 2;
    o.context = 24;
    return rows_of(r, weft_gpt(r->nn, tokens, &o));
}

static const struct trajectory {
    const char *name;
    weft_val (*build)(nn_run *r, weft_val x);
    weft_optimizer_options optimizer;
    double lr;
} nets[] = {
    {"mlp", build_mlp, {.kind = WEFT_OPTIMIZER_ADAM}, 3e-3},
    {"lenet", build_lenet, {.kind = WEFT_OPTIMIZER_SGD, .momentum = 0.9}, 0.05},
    {"cnn", build_cnn, {.kind = WEFT_OPTIMIZER_SGD, .momentum = 0.9}, 0.1},
    {"lstm", build_lstm, {.kind = WEFT_OPTIMIZER_ADAM}, 1e-2},
    {"gpt", build_gpt, {.kind = WEFT_OPTIMIZER_ADAMW}, 3e-3},
};

// One batch of a tensor [batches, ..].
static weft_val batch_input(nn_run *r, const char *name, const wf_st_tensor *t)
{
    return weft_input(r->g, name, t->dtype, t->dim + 1, t->ndim - 1);
}

static void write_batch(nn_run *r, const char *name, const wf_st_tensor *t, int step)
{
    const size_t bytes = t->size_bytes / N_BATCHES;
    const char *data = (const char *)t->data + (size_t)(step % N_BATCHES) * bytes;
    NN_OK(weft_program_write(r->program, name, data, bytes, err));
}

static void build(nn_run *r, const struct trajectory *net)
{
    weft_optimizer_options optimizer = net->optimizer;
    weft_schedule_options schedule = WEFT_SCHEDULE_OPTIONS_INIT;
    optimizer.struct_size = sizeof optimizer;
    schedule.lr = net->lr;
    const weft_val x = batch_input(r, "x", nn_get(r, "x"));
    const weft_val labels = batch_input(r, "labels", nn_get(r, "labels"));
    const weft_val loss = weft_cross_entropy(r->g, net->build(r, x), labels, NULL);
    weft_output(r->g, "loss", loss);
    weft_train_step(r->nn, loss, &optimizer, &schedule);
}

static void as_near_as_pytorch(void **state)
{
    const struct trajectory *net = *state;
    nn_run r;
    double ours = 0.0, theirs = 0.0;
    nn_begin_on(&r, "cpu", NULL, "nn_trajectory", true);
    r.test_case = net->name;
    build(&r, net);
    nn_load_state(&r);
    nn_compile(&r);
    const double *truth = nn_get(&r, "loss64")->data;
    const float *pytorch = nn_get(&r, "loss32")->data;
    for (int i = 0; i < STEPS; i++) {
        write_batch(&r, "x", nn_get(&r, "x"), i);
        write_batch(&r, "labels", nn_get(&r, "labels"), i);
        NN_OK(weft_program_run(r.program, err));
        NN_OK(weft_program_check(r.program, err));
        const double loss = (double)nn_read_f32(&r, "loss");
        ours += (loss - truth[i]) * (loss - truth[i]) / STEPS;
        theirs += ((double)pytorch[i] - truth[i]) * ((double)pytorch[i] - truth[i]) / STEPS;
    }
    print_message("%s: weft is %.3g from float64, PyTorch %.3g\n", net->name, sqrt(ours),
                  sqrt(theirs));
    assert_true(truth[STEPS - 1] < truth[0]); // it learns
    assert_true(sqrt(ours) <= 2.0 * sqrt(theirs));
    nn_end(&r);
}

#define ON_NET(i) cmocka_unit_test_prestate(as_near_as_pytorch, (void *)(uintptr_t)&nets[i])

const struct CMUnitTest wf_tests_nn_trajectory[] = {ON_NET(0), ON_NET(1), ON_NET(2), ON_NET(3),
                                                    ON_NET(4)};
const unsigned long wf_n_tests_nn_trajectory = WF_N_TESTS(wf_tests_nn_trajectory);
