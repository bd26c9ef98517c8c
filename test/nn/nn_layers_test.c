// Layers and activations against PyTorch: values, gradients of input and parameters, running statistics.
#include "nn_run.h"

typedef weft_val (*builder)(nn_run *r, weft_val x);

static weft_val build_linear(nn_run *r, weft_val x)
{
    return weft_linear(r->nn, "layer", x, 5, NULL);
}
static weft_val build_linear_no_bias(nn_run *r, weft_val x)
{
    weft_linear_options o = WEFT_LINEAR_OPTIONS_INIT;
    o.no_bias = true;
    return weft_linear(r->nn, "layer", x, 31, &o);
}
static weft_val build_conv1d(nn_run *r, weft_val x)
{
    static const int64_t window[] = {4}, one[] = {1}, two[] = {2};
    weft_conv_layer_options o = WEFT_CONV_LAYER_OPTIONS_INIT;
    o.conv.stride = two;
    o.conv.pad_before = one;
    o.conv.dilation = two;
    return weft_conv_layer(r->nn, "layer", x, 5, window, &o);
}
static weft_val build_conv2d(nn_run *r, weft_val x)
{
    static const int64_t window[] = {3, 2}, stride[] = {2, 1}, pad[] = {1, 0}, dilation[] = {1, 2};
    weft_conv_layer_options o = WEFT_CONV_LAYER_OPTIONS_INIT;
    o.conv.stride = stride;
    o.conv.pad_before = pad;
    o.conv.dilation = dilation;
    o.conv.groups = 2;
    return weft_conv_layer(r->nn, "layer", x, 4, window, &o);
}
static weft_val build_conv2d_plain(nn_run *r, weft_val x)
{
    static const int64_t window[] = {3, 3};
    return weft_conv_layer(r->nn, "layer", x, 8, window, NULL);
}
static weft_val build_conv3d(nn_run *r, weft_val x)
{
    static const int64_t window[] = {2, 3, 2}, stride[] = {1, 2, 1}, pad[] = {1, 0, 1};
    weft_conv_layer_options o = WEFT_CONV_LAYER_OPTIONS_INIT;
    o.conv.stride = stride;
    o.conv.pad_before = pad;
    o.no_bias = true;
    return weft_conv_layer(r->nn, "layer", x, 3, window, &o);
}

static weft_window_options pooling(bool is_counted)
{
    static const int64_t one[] = {1, 1}, two[] = {2, 2};
    weft_window_options o = WEFT_WINDOW_OPTIONS_INIT;
    o.stride = two;
    o.pad_before = one;
    o.ceil_mode = true;
    o.count_include_pad = is_counted;
    return o;
}
static const int64_t three[] = {3, 3};
static weft_val build_max_pool2d(nn_run *r, weft_val x)
{
    const weft_window_options o = pooling(false);
    return weft_max_pool(r->g, x, three, &o);
}
static weft_val build_mean_pool2d(nn_run *r, weft_val x)
{
    const weft_window_options o = pooling(true);
    return weft_mean_pool(r->g, x, three, &o);
}
static weft_val build_mean_pool1d(nn_run *r, weft_val x)
{
    const weft_window_options o = pooling(false);
    return weft_mean_pool(r->g, x, three, &o);
}
static weft_val build_global_mean_pool(nn_run *r, weft_val x)
{
    return weft_global_mean_pool(r->g, x);
}

static weft_val build_batch_norm(nn_run *r, weft_val x)
{
    return weft_batch_norm(r->nn, "layer", x, NULL);
}
static weft_val build_batch_norm1d(nn_run *r, weft_val x)
{
    weft_batch_norm_options o = WEFT_BATCH_NORM_OPTIONS_INIT;
    o.epsilon = 1e-3;
    o.momentum = 0.25;
    return weft_batch_norm(r->nn, "layer", x, &o);
}
static weft_val build_batch_norm_plain(nn_run *r, weft_val x)
{
    weft_batch_norm_options o = WEFT_BATCH_NORM_OPTIONS_INIT;
    o.no_affine = true;
    return weft_batch_norm(r->nn, "layer", x, &o);
}
static weft_val build_layer_norm(nn_run *r, weft_val x)
{
    return weft_layer_norm(r->nn, "layer", x, NULL);
}
static weft_val build_layer_norm2(nn_run *r, weft_val x)
{
    weft_layer_norm_options o = WEFT_LAYER_NORM_OPTIONS_INIT;
    o.n_axes = 2;
    o.epsilon = 1e-3;
    return weft_layer_norm(r->nn, "layer", x, &o);
}
static weft_val build_softmax(nn_run *r, weft_val x)
{
    return weft_softmax(r->g, x, 1);
}
static weft_val build_log_softmax(nn_run *r, weft_val x)
{
    return weft_log_softmax(r->g, x, -1);
}
static weft_val build_by_name(nn_run *r, weft_val x)
{
    return weft_activation(r->g, r->test_case, x);
}

// Everything that the file holds of one case.
static void run_case(const char *name, builder build, bool is_training)
{
    nn_run r;
    weft_val wrt[3], grads[3];
    char text[128];
    nn_begin(&r, "nn_layers", is_training);
    r.test_case = name;
    nn_load_state(&r);
    const weft_val x = nn_input(&r, "x"), y = build(&r, x);
    const weft_val loss = weft_sum(r.g, weft_mul(r.g, y, nn_input(&r, "g")), NULL, 0, false);
    const size_t n = weft_nn_n_parameters(r.nn);
    assert_true(n < NN_COUNT(wrt));
    wrt[0] = x;
    for (size_t i = 0; i < n; i++) {
        wrt[1 + i] = weft_nn_parameter(r.nn, i).val;
    }
    weft_grad(r.g, loss, wrt, n + 1, grads);
    weft_output(r.g, "y", y);
    weft_output(r.g, "dx", grads[0]);
    for (size_t i = 0; i < n; i++) {
        snprintf(text, sizeof text, "d.%s", weft_nn_parameter(r.nn, i).name);
        weft_output(r.g, text, grads[1 + i]);
    }
    nn_go(&r);
    nn_expect(&r, "y", "y", NN_TOLERANCE);
    nn_expect(&r, "dx", "dx", NN_TOLERANCE);
    for (size_t i = 0; i < n; i++) {
        snprintf(text, sizeof text, "d.%s", weft_nn_parameter(r.nn, i).name);
        nn_expect(&r, text, text, NN_TOLERANCE);
    }
    static const char *const variables[] = {"layer.running_mean", "layer.running_var"};
    for (size_t i = 0; i < NN_COUNT(variables); i++) {
        snprintf(text, sizeof text, "after.%s", variables[i]);
        const wf_st_tensor *t = nn_find(&r, text);
        if (t)
            nn_expect_variable(&r, variables[i], t, NN_TOLERANCE);
    }
    nn_end(&r);
}

#define CASE(test, name, build, is_training)                                                       \
    static void test(void **state)                                                                 \
    {                                                                                              \
        (void)state;                                                                               \
        run_case(name, build, is_training);                                                        \
    }
CASE(linear_agrees, "linear", build_linear, true)
CASE(linear_without_bias_agrees, "linear_no_bias", build_linear_no_bias, true)
CASE(conv1d_agrees, "conv1d", build_conv1d, true)
CASE(conv2d_agrees, "conv2d", build_conv2d, true)
CASE(plain_conv2d_agrees, "conv2d_plain", build_conv2d_plain, true)
CASE(conv3d_agrees, "conv3d", build_conv3d, true)
CASE(max_pool2d_agrees, "max_pool2d", build_max_pool2d, true)
CASE(mean_pool2d_agrees, "mean_pool2d", build_mean_pool2d, true)
CASE(mean_pool1d_agrees, "mean_pool1d", build_mean_pool1d, true)
CASE(global_mean_pool_agrees, "global_mean_pool", build_global_mean_pool, true)
CASE(batch_norm2d_agrees, "batch_norm2d", build_batch_norm, true)
CASE(batch_norm1d_agrees, "batch_norm1d", build_batch_norm1d, true)
CASE(plain_batch_norm_agrees, "batch_norm_plain", build_batch_norm_plain, true)
CASE(batch_norm_of_running_statistics_agrees, "batch_norm_eval", build_batch_norm, false)
CASE(layer_norm_agrees, "layer_norm", build_layer_norm, true)
CASE(layer_norm_of_two_axes_agrees, "layer_norm2", build_layer_norm2, true)
CASE(softmax_agrees, "softmax", build_softmax, true)
CASE(log_softmax_agrees, "log_softmax", build_log_softmax, true)
CASE(relu_agrees, "relu", build_by_name, true)
CASE(leaky_relu_agrees, "leaky_relu", build_by_name, true)
CASE(gelu_agrees, "gelu", build_by_name, true)
CASE(gelu_tanh_agrees, "gelu_tanh", build_by_name, true)
CASE(silu_agrees, "silu", build_by_name, true)
CASE(tanh_agrees, "tanh", build_by_name, true)
CASE(sigmoid_agrees, "sigmoid", build_by_name, true)
CASE(softplus_agrees, "softplus", build_by_name, true)

const struct CMUnitTest wf_tests_nn_layers[] = {
    cmocka_unit_test(linear_agrees),
    cmocka_unit_test(linear_without_bias_agrees),
    cmocka_unit_test(conv1d_agrees),
    cmocka_unit_test(conv2d_agrees),
    cmocka_unit_test(plain_conv2d_agrees),
    cmocka_unit_test(conv3d_agrees),
    cmocka_unit_test(max_pool2d_agrees),
    cmocka_unit_test(mean_pool2d_agrees),
    cmocka_unit_test(mean_pool1d_agrees),
    cmocka_unit_test(global_mean_pool_agrees),
    cmocka_unit_test(batch_norm2d_agrees),
    cmocka_unit_test(batch_norm1d_agrees),
    cmocka_unit_test(plain_batch_norm_agrees),
    cmocka_unit_test(batch_norm_of_running_statistics_agrees),
    cmocka_unit_test(layer_norm_agrees),
    cmocka_unit_test(layer_norm_of_two_axes_agrees),
    cmocka_unit_test(softmax_agrees),
    cmocka_unit_test(log_softmax_agrees),
    cmocka_unit_test(relu_agrees),
    cmocka_unit_test(leaky_relu_agrees),
    cmocka_unit_test(gelu_agrees),
    cmocka_unit_test(gelu_tanh_agrees),
    cmocka_unit_test(silu_agrees),
    cmocka_unit_test(tanh_agrees),
    cmocka_unit_test(sigmoid_agrees),
    cmocka_unit_test(softplus_agrees),
};
const unsigned long wf_n_tests_nn_layers = WF_N_TESTS(wf_tests_nn_layers);
