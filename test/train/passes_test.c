// The bytes that a training step moves, against the least that it must move, derived by hand: doc/performance.md,
// "Bytes of a step", has the same sums.
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "weft/weft.h"
#include "weft_config.h"
#include "wf_test.h"

#define LIMIT 1.25

static void add_task(void *user, const weft_task_info *info)
{
    *(double *)user += (double)info->bytes_read + (double)info->bytes_written;
}

static double planned_bytes(const char *name)
{
    weft_context *context;
    weft_device *device;
    weft_recipe *recipe = NULL;
    weft_error err = {0};
    char path[512];
    double bytes = 0.0;
    if (!WEFT_HAVE_YAML)
        WF_SKIP("built without libyaml");
    snprintf(path, sizeof path, "%s/recipes/bench/%s.yaml", WEFT_SOURCE_DIR, name);
    assert_int_equal(weft_context_create(NULL, &context, NULL), WEFT_OK);
    if (weft_device_open(context, "cpu", NULL, &device, &err) != WEFT_OK ||
        weft_recipe_read(context, path, NULL, 0, &recipe, &err) != WEFT_OK ||
        weft_inspect_passes(recipe, device, 0, add_task, &bytes, &err) != WEFT_OK)
        fail_msg("%s: %s", name, err.message);
    weft_recipe_destroy(recipe);
    weft_device_close(device);
    weft_context_destroy(context);
    return bytes;
}

static void expect(const char *name, double least_floats)
{
    const double planned = planned_bytes(name), least = 4.0 * least_floats;
    print_message("%s: %.1f MB planned, at least %.1f MB, %.2f times\n", name, planned * 1e-6,
                  least * 1e-6, planned / least);
    if (planned > LIMIT * least || planned < 0.9 * least)
        fail_msg("%s: %g bytes planned, at least %g are needed", name, planned, least);
}

static void mlp(void **state)
{
    static const double sizes[] = {784, 512, 256, 10};
    const double batch = 128;
    double floats = 2 * batch * sizes[3]; // loss: logits in, their gradient out
    (void)state;
    for (int i = 1; i < 4; i++) {
        const double x = batch * sizes[i - 1], y = batch * sizes[i], w = sizes[i] * sizes[i - 1];
        floats += x + w + y; // forward
        floats += y;         // bias gradient
        floats += y + x + w; // weight gradient
        floats += 7 * w;     // adam: w m v and the gradient in, w m v out
        if (i > 1)           // input gradient; relu's mask is a byte, written and read
            floats += y + w + x + x / 2;
    }
    expect("mlp", floats);
}

// Convolution, batch norm, activation: elements in, out, of weights.
static double conv_norm(double in, double out, double w)
{
    double floats = in + w + out; // forward
    floats += out;                // moments
    floats += 2 * out;            // normalised
    floats += 2 * out;            // the norm's sums: gradient and x in
    floats += 3 * out;            // its input gradient
    floats += out + in + w;       // weight gradient
    floats += out + w + in;       // input gradient
    return floats + 5 * w;        // momentum: w m and the gradient in, w m out
}

static void resnet18(void **state)
{
    const double batch = 64;
    double floats = 0.0, in = batch * 3 * 1024, size = batch * 64 * 1024, channels = 64;
    (void)state;
    floats += conv_norm(in, size, 3 * 64 * 9) - size - 3 * 64 * 9 - in; // nobody wants dx
    floats += size / 2;                                                 // relu's mask
    for (int stage = 0; stage < 4; stage++) {
        for (int block = 0; block < 2; block++) {
            in = size;
            const bool is_down = stage > 0 && block == 0;
            const double from = channels;
            if (is_down) {
                size /= 2;
                channels *= 2;
                floats += conv_norm(in, size, from * channels) + in; // added to the other's dx
            }
            floats += conv_norm(in, size, from * channels * 9);
            floats += conv_norm(size, size, channels * channels * 9);
            floats += size;         // the shortcut is added
            floats += size;         // and its gradient
            floats += 2 * size / 2; // two masks
        }
    }
    expect("resnet18", floats);
}

static void chargpt(void **state)
{
    const double rows = 8 * 256, d = 384, classes = 65, t = rows * d, logits = rows * classes;
    double layer = 0.0, weights = 12 * d * d, floats;
    (void)state;
    layer += 2 * 2 * t;                        // norms
    layer += t + 3 * t;                        // q, k, v
    layer += 3 * t + t;                        // attention
    layer += t + t + t;                        // proj, on the residual
    layer += t + 4 * t + 4 * t;                // up: gelu and its slope
    layer += 4 * t + t + t;                    // down, on the residual
    layer += t + t + 4 * t + 4 * t;            // its bias and input gradients
    layer += t + 4 * t;                        // its weight gradient
    layer += 4 * t + 4 * t + t;                // up: bias and input gradients
    layer += 4 * t + t;                        // weight gradient
    layer += t + t + t + t + t;                // proj: bias, input and weight gradients
    layer += 3 * t + t + t + 3 * t;            // attention: q k v, o and its gradient in, three out
    layer += 3 * t + 3 * t + t + 3 * t + t;    // q, k, v: bias, input and weight gradients
    layer += 2 * (2 * t + 4 * t);              // norms: sums; x, gradient and residual in, one out
    floats = 6 * (layer + 10 * weights);       // forward, dx, dw, and adam's 7
    floats += 3 * t + 10 * classes * d * 2;    // tables
    floats += 2 * t + 2 * t + 3 * t;           // the last norm
    floats += 3 * t + 3 * logits + 2 * logits; // head and loss
    floats += 2 * t + 10 * 256 * d;            // gradients of the tables
    expect("chargpt", floats);
}

const struct CMUnitTest wf_tests_passes[] = {
    cmocka_unit_test(mlp),
    cmocka_unit_test(resnet18),
    cmocka_unit_test(chargpt),
};
const unsigned long wf_n_tests_passes = WF_N_TESTS(wf_tests_passes);
