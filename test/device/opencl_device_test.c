// The OpenCL device as a whole: what it refuses and how it says so, the probe on a driver that fails it, buffers
// that are counted, and a cache of kernels that many batch sizes leave flat.
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "opencl_open.h"
#include "weft/run.h"
#include "weft/weft.h"
#include "wf_test.h"

extern const wf_driver wf_driver_opencl;

static void expect_failure(weft_context *ctx, const char *selector, weft_status code,
                           const char *text)
{
    const weft_device_options options = WEFT_DEVICE_OPTIONS_INIT;
    weft_device *dev;
    weft_error err = {0};
    assert_int_equal(wf_driver_opencl.open(ctx, selector, &options, &dev, &err), code);
    if (!strstr(err.message, text))
        fail_msg("'%s' does not say '%s'", err.message, text);
}

static void wrong_selectors(void **state)
{
    (void)state;
    weft_context *ctx;
    weft_device *dev = opencl_open_exact(&ctx);
    expect_failure(ctx, "99", WEFT_ERR_DEVICE, "opencl:99: no such device, there are ");
    expect_failure(ctx, "x", WEFT_ERR_NAME, "opencl:x: no such device, a number from 0 to ");
    setenv("POCL_EXTRA_BUILD_FLAGS", "-cl-fast-relaxed-math", 1);
    expect_failure(ctx, "", WEFT_ERR_DEVICE,
                   "POCL_EXTRA_BUILD_FLAGS='-cl-fast-relaxed-math' adds compiler options");
    unsetenv("POCL_EXTRA_BUILD_FLAGS");
    dev->driver->close(dev);
    weft_context_destroy(ctx);
}

static void too_large(void **state)
{
    (void)state;
    weft_context *ctx;
    weft_device *dev = opencl_open_exact(&ctx);
    wf_device_buffer *buffer;
    weft_error err = {0};
    assert_int_equal(dev->driver->buffer_create(dev, dev->caps.max_buffer_bytes + 1, &buffer, &err),
                     WEFT_ERR_MEMORY);
    assert_non_null(strstr(err.message, "the device allows"));
    assert_int_equal(dev->buffer_bytes, 4);
    dev->driver->close(dev);
    weft_context_destroy(ctx);
}

typedef struct seen {
    bool is_exact, is_rusticl;
    char id[64], reason[512];
} seen;

static void look(void *user, const weft_device_info *info)
{
    seen *s = user;
    if (!strstr(info->name, "llvmpipe"))
        return;
    s->is_rusticl = true;
    s->is_exact = info->exact != WEFT_EXACT_NO;
    memcpy(s->id, info->id, sizeof s->id);
    memcpy(s->reason, info->reason, sizeof s->reason);
}

// Mesa's rusticl has a software fma that is not the fused one: fast only. (This file is a process of its own.)
static void probe_fails_rusticl(void **state)
{
    (void)state;
    weft_context *ctx;
    seen s = {.id = ""};
    assert_int_equal(weft_context_create(NULL, &ctx, NULL), WEFT_OK);
    wf_driver_opencl.enumerate(ctx, look, &s);
    if (!s.is_rusticl) {
        weft_context_destroy(ctx);
        WF_SKIP("no rusticl with llvmpipe, install mesa-opencl-icd");
    }
    assert_false(s.is_exact);
    assert_non_null(strstr(s.reason, " was expected"));
    const char *selector = s.id + strlen("opencl:");
    expect_failure(ctx, selector, WEFT_ERR_DEVICE, "is not exact: fma: a = 0x");
    weft_device_options options = WEFT_DEVICE_OPTIONS_INIT;
    options.arithmetic = WEFT_FAST;
    weft_device *dev;
    assert_int_equal(wf_driver_opencl.open(ctx, selector, &options, &dev, NULL), WEFT_OK);
    wf_driver_opencl.close(dev);
    weft_context_destroy(ctx);
}

// One step's worth of ops at many batch sizes: what is compiled, and what is allocated, stays flat.
static void batch_sizes(void **state)
{
    (void)state;
    weft_context *ctx;
    weft_device *dev = opencl_open_exact(&ctx);
    weft_state *st;
    size_t warm = 0;
    weft_error err = {0};
    assert_int_equal(weft_state_create(dev, &st, &err), WEFT_OK);
    int64_t n_sizes = wf_test_is_full() ? 500 : 60;
    for (int64_t batch = 2; batch < 2 + n_sizes; batch++) {
        weft_graph *g;
        weft_program *program;
        const int64_t x_dims[] = {batch, 12}, w_dims[] = {12, 7};
        assert_int_equal(weft_graph_create(ctx, &g, &err), WEFT_OK);
        weft_val x = weft_input(g, "x", WEFT_F32, x_dims, 2),
                 w = weft_input(g, "w", WEFT_F32, w_dims, 2);
        weft_val loss =
            weft_mean(g, weft_exp(g, weft_matmul(g, x, w, false, false)), NULL, 0, false);
        weft_val dw;
        weft_grad(g, loss, &w, 1, &dw);
        weft_output(g, "dw", dw);
        if (weft_compile(st, g, NULL, &program, &err) != WEFT_OK)
            fail_msg("%s", err.message);
        assert_int_equal(weft_program_run(program, &err), WEFT_OK);
        assert_int_equal(weft_program_check(program, &err), WEFT_OK);
        weft_program_destroy(program);
        weft_graph_destroy(g);
        if (batch == 7)
            warm = dev->driver->n_compiled(dev);
        if (batch > 7)
            assert_int_equal(dev->driver->n_compiled(dev), warm);
    }
    weft_state_destroy(st);
    assert_int_equal(dev->buffer_bytes, 4);
    dev->driver->close(dev);
    weft_context_destroy(ctx);
}

// rusticl lists no device unless asked, and asks when OpenCL is first loaded.
static int enable_rusticl(void **state)
{
    (void)state;
    return setenv("RUSTICL_ENABLE", "llvmpipe", 1);
}

const struct CMUnitTest wf_tests_opencl_device[] = {
    cmocka_unit_test_setup(probe_fails_rusticl, enable_rusticl),
    cmocka_unit_test(wrong_selectors),
    cmocka_unit_test(too_large),
    cmocka_unit_test(batch_sizes),
};
const unsigned long wf_n_tests_opencl_device = WF_N_TESTS(wf_tests_opencl_device);
