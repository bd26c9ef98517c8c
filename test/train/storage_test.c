// Values held in bf16 or f16: rounded in the graph, weights and gradients included; a training has one set of
// bits on every instruction set, not those of f32.
// labels: notsan (train_run trains there)
#include "math/half.h"

#include "train/train_tools.h"

#define DIR_RUN TEMP("storage-run")

static bool has_exact(const char *device, const char *isa)
{
    weft_context *context;
    weft_device *opened = NULL;
    weft_device_options options = WEFT_DEVICE_OPTIONS_INIT;
    options.isa = isa;
    assert_int_equal(weft_context_create(NULL, &context, NULL), WEFT_OK);
    const bool has = weft_device_open(context, device, &options, &opened, NULL) == WEFT_OK;
    weft_device_close(opened);
    weft_context_destroy(context);
    return has;
}

static void train_with(const char *storage, tiny_how how, tiny_run *run)
{
    char setting[32];
    const char *const settings[] = {setting};
    snprintf(setting, sizeof setting, "storage=%s", storage);
    how.path = tiny_write(tiny_recipe);
    how.dir = DIR_RUN;
    how.settings = settings;
    how.n_settings = 1;
    memset(run, 0, sizeof *run);
    tiny_remove(DIR_RUN);
    tiny_train(&how, run);
    if (run->status != WEFT_OK)
        fail_msg("%s", run->err.message);
}

static void gives_the_same_bits(const char *storage)
{
    static const char *const isas[] = {"scalar", "avx2", "avx512"};
    static tiny_run run, first, wide;
    train_with("f32", (tiny_how){0}, &wide);
    train_with(storage, (tiny_how){.n_threads = 2}, &first);
    assert_string_equal(first.done.storage, storage);
    assert_string_not_equal(first.done.weights_sha256, wide.done.weights_sha256);
    for (size_t i = 0; i < sizeof isas / sizeof isas[0]; i++) {
        if (!has_exact("cpu", isas[i]))
            continue;
        train_with(storage, (tiny_how){.isa = isas[i], .n_threads = 1}, &run);
        if (strcmp(run.done.weights_sha256, first.done.weights_sha256) != 0)
            fail_msg("%s: other weights", isas[i]);
    }
    // It learns what f32 learns.
    assert_true(first.val_accuracy > 0.9 * wide.val_accuracy);
}

static void trains_in_bf16(void **state)
{
    (void)state;
    gives_the_same_bits("bf16");
}

static void trains_in_f16(void **state)
{
    (void)state;
    gives_the_same_bits("f16");
}

static bool is_bf16(float x)
{
    return wf_bf16_to_f32(wf_f32_to_bf16(x)) == x;
}

// y = x w: what comes out, and both gradients, are numbers of bf16, though the operands are not.
static void rounds_values_and_gradients(void **state)
{
    weft_context *ctx;
    weft_device *device;
    weft_state *variables;
    weft_graph *g;
    weft_nn *nn;
    weft_program *program;
    weft_nn_options options = WEFT_NN_OPTIONS_INIT;
    const int64_t dims[] = {5, 7};
    float x[35], y[15], dx[35], dw[21], w[21];
    size_t n_exact = 0;
    (void)state;
    options.storage = WEFT_BF16;
    options.is_training = true;
    assert_int_equal(weft_context_create(NULL, &ctx, NULL), WEFT_OK);
    assert_int_equal(weft_device_open(ctx, "cpu", NULL, &device, NULL), WEFT_OK);
    assert_int_equal(weft_state_create(device, &variables, NULL), WEFT_OK);
    assert_int_equal(weft_graph_create(ctx, &g, NULL), WEFT_OK);
    assert_int_equal(weft_nn_create(g, &options, &nn, NULL), WEFT_OK);
    const weft_val in = weft_input(g, "x", WEFT_F32, dims, 2);
    const weft_val out = weft_linear(nn, "layer", in, 3, NULL);
    const weft_val weight = weft_nn_parameter(nn, 0).val, wrt[] = {in, weight};
    weft_val grads[2];
    weft_grad(g, weft_sum(g, weft_exp(g, out), NULL, 0, false), wrt, 2, grads);
    weft_output(g, "y", out);
    weft_output(g, "dx", grads[0]);
    weft_output(g, "dw", grads[1]);
    assert_int_equal(weft_compile(variables, g, NULL, &program, NULL), WEFT_OK);
    for (int i = 0; i < 35; i++)
        x[i] = (float)(i * 29 % 35 - 17) / 19.0f;
    assert_int_equal(weft_program_write(program, "x", x, sizeof x, NULL), WEFT_OK);
    assert_int_equal(weft_program_run(program, NULL), WEFT_OK);
    assert_int_equal(weft_program_read(program, "y", y, sizeof y, NULL), WEFT_OK);
    assert_int_equal(weft_program_read(program, "dx", dx, sizeof dx, NULL), WEFT_OK);
    assert_int_equal(weft_program_read(program, "dw", dw, sizeof dw, NULL), WEFT_OK);
    assert_int_equal(weft_state_read(variables, "layer.weight", w, sizeof w, NULL), WEFT_OK);
    for (int i = 0; i < 15; i++)
        assert_true(is_bf16(y[i]));
    for (int i = 0; i < 35; i++)
        assert_true(is_bf16(dx[i]));
    for (int i = 0; i < 21; i++) {
        assert_true(is_bf16(dw[i]));
        n_exact += is_bf16(w[i]);
    }
    assert_true(n_exact < 10); // the variable keeps its bits
    weft_program_destroy(program);
    weft_nn_destroy(nn);
    weft_graph_destroy(g);
    weft_state_destroy(variables);
    weft_device_close(device);
    weft_context_destroy(ctx);
}

// Memory that a training of six convolutions takes, without its variables.
static uint64_t planned(weft_context *ctx, weft_dtype storage)
{
    const int64_t dims[] = {8, 8, 32, 32}, one[] = {1, 1}, window[] = {3, 3};
    weft_device *device;
    weft_state *variables;
    weft_graph *g;
    weft_nn *nn;
    weft_program *program;
    weft_nn_options options = WEFT_NN_OPTIONS_INIT;
    weft_conv_layer_options conv = WEFT_CONV_LAYER_OPTIONS_INIT;
    weft_val wrt[12], grads[12];
    options.storage = storage;
    options.is_training = true;
    conv.conv.pad_before = one;
    assert_int_equal(weft_device_open(ctx, "cpu", NULL, &device, NULL), WEFT_OK);
    assert_int_equal(weft_state_create(device, &variables, NULL), WEFT_OK);
    assert_int_equal(weft_graph_create(ctx, &g, NULL), WEFT_OK);
    assert_int_equal(weft_nn_create(g, &options, &nn, NULL), WEFT_OK);
    weft_val x = weft_input(g, "x", WEFT_F32, dims, 4);
    for (int i = 0; i < 6; i++) {
        const char name[] = {'c', (char)('0' + i), 0};
        x = weft_relu(g, weft_conv_layer(nn, name, x, 8, window, &conv));
    }
    for (size_t i = 0; i < 12; i++)
        wrt[i] = weft_nn_parameter(nn, i).val;
    weft_grad(g, weft_mean(g, x, NULL, 0, false), wrt, 12, grads);
    for (size_t i = 0; i < 12; i++)
        weft_assign(g, wrt[i], grads[i]);
    assert_int_equal(weft_compile(variables, g, NULL, &program, NULL), WEFT_OK);
    const uint64_t bytes = weft_program_planned_bytes(program);
    weft_program_destroy(program);
    weft_nn_destroy(nn);
    weft_graph_destroy(g);
    weft_state_destroy(variables);
    weft_device_close(device);
    return bytes;
}

// What waits for the backward pass is held in two bytes, not four; what a convolution reads is f32 while it runs.
static void takes_less_memory(void **state)
{
    weft_context *ctx;
    (void)state;
    assert_int_equal(weft_context_create(NULL, &ctx, NULL), WEFT_OK);
    const uint64_t f32 = planned(ctx, WEFT_F32);
    if (planned(ctx, WEFT_BF16) > f32 * 17 / 20 || planned(ctx, WEFT_F16) > f32 * 17 / 20)
        fail_msg("bf16 %llu, f16 %llu bytes, of f32 %llu",
                 (unsigned long long)planned(ctx, WEFT_BF16),
                 (unsigned long long)planned(ctx, WEFT_F16), (unsigned long long)f32);
    weft_context_destroy(ctx);
}

const struct CMUnitTest wf_tests_storage[] = {
    cmocka_unit_test(takes_less_memory),
    cmocka_unit_test(rounds_values_and_gradients),
    cmocka_unit_test(trains_in_bf16),
    cmocka_unit_test(trains_in_f16),
};
const unsigned long wf_n_tests_storage = WF_N_TESTS(wf_tests_storage);
