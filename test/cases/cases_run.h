// For tests of inputs that broke other systems: one graph on each device, its values against those that
// the public reports give. Operands are program inputs: constants would be folded before they reach a device.
//
// Each test runs once per device, which it gets as cmocka's state; a device that is missing is a skip.
#ifndef CASES_RUN_H
#define CASES_RUN_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "weft/weft.h"
#include "wf_test.h"

#define CASE_MAX_INPUTS 4
#define CASE_DIMS(...)                                                                             \
    (const int64_t[]){__VA_ARGS__},                                                                \
        (int32_t)(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

typedef struct case_device {
    const char *id, *isa;
    uint32_t n_threads;
} case_device;

WF_UNUSED static case_device case_devices[] = {
    {"ref", NULL, 0},     {"cpu", "scalar", 1}, {"cpu", "avx2", 2},
    {"cpu", "avx512", 3}, {"opencl", NULL, 0},
};
// One test on every device.
#define CASE_ON(f, i) cmocka_unit_test_prestate(f, &case_devices[i])
#define CASE_TEST(f) CASE_ON(f, 0), CASE_ON(f, 1), CASE_ON(f, 2), CASE_ON(f, 3), CASE_ON(f, 4)

typedef struct case_run {
    weft_context *ctx;
    weft_device *device;
    weft_state *state;
    weft_graph *g;
    weft_program *program;
    size_t n_inputs;
    struct {
        char name[8];
        const void *data;
        size_t bytes;
    } inputs[CASE_MAX_INPUTS];
} case_run;

static case_run case_begin(void **state)
{
    const case_device *where = *state;
    case_run r = {0};
    weft_error err;
    weft_device_options o = WEFT_DEVICE_OPTIONS_INIT;
    o.isa = where->isa;
    o.n_threads = where->n_threads;
    assert_int_equal(weft_context_create(NULL, &r.ctx, NULL), WEFT_OK);
    const weft_status status = weft_device_open(r.ctx, where->id, &o, &r.device, &err);
    if (status != WEFT_OK) {
        weft_context_destroy(r.ctx);
        if (status == WEFT_ERR_DEVICE || (where->isa && status == WEFT_ERR_NAME)) {
            WF_SKIP("%s", err.message);
        }
        fail_msg("%s", err.message);
    }
    assert_int_equal(weft_state_create(r.device, &r.state, NULL), WEFT_OK);
    assert_int_equal(weft_graph_create(r.ctx, &r.g, NULL), WEFT_OK);
    return r;
}

static void case_end(case_run *r)
{
    weft_program_destroy(r->program);
    weft_graph_destroy(r->g);
    weft_state_destroy(r->state);
    weft_device_close(r->device);
    weft_context_destroy(r->ctx);
}

// An operand; data must live until case_go.
static weft_val case_input(case_run *r, weft_dtype dtype, const int64_t *dims, int32_t ndim,
                           const void *data)
{
    const size_t i = r->n_inputs++;
    (void)snprintf(r->inputs[i].name, sizeof r->inputs[i].name, "x%zu", i);
    const weft_val x = weft_input(r->g, r->inputs[i].name, dtype, dims, ndim);
    r->inputs[i].data = data;
    r->inputs[i].bytes = (size_t)weft_val_count(r->g, x) * weft_dtype_size(dtype);
    return x;
}

WF_UNUSED static weft_val case_f32(case_run *r, const int64_t *dims, int32_t ndim,
                                   const float *data)
{
    return case_input(r, WEFT_F32, dims, ndim, data);
}

// Compiles, writes the operands, runs once; the status of the step.
static weft_status case_go(case_run *r, weft_error *err)
{
    weft_error why;
    if (weft_compile(r->state, r->g, NULL, &r->program, &why) != WEFT_OK) {
        fail_msg("%s: %s", weft_device_id(r->device), why.message);
    }
    for (size_t i = 0; i < r->n_inputs; i++) {
        if (weft_program_write(r->program, r->inputs[i].name, r->inputs[i].data, r->inputs[i].bytes,
                               &why) != WEFT_OK) {
            fail_msg("%s", why.message);
        }
    }
    if (weft_program_run(r->program, &why) != WEFT_OK) {
        fail_msg("%s", why.message);
    }
    return weft_program_check(r->program, err);
}

// Output "y" is f32 of n elements, within tolerance of the expected; NaN never is.
WF_UNUSED static void case_expect(case_run *r, weft_val y, const double *expected, size_t n,
                                  double tolerance)
{
    float *got = malloc(n * sizeof *got);
    weft_error err;
    assert_non_null(got);
    weft_output(r->g, "y", y);
    if (case_go(r, &err) != WEFT_OK ||
        weft_program_read(r->program, "y", got, n * sizeof *got, &err) != WEFT_OK) {
        fail_msg("%s", err.message);
    }
    for (size_t i = 0; i < n; i++) {
        if (!(fabs((double)got[i] - expected[i]) <= tolerance)) {
            fail_msg("%s %s: element %zu is %.9g, expected %.9g", weft_device_id(r->device),
                     weft_device_isa(r->device), i, (double)got[i], expected[i]);
        }
    }
    free(got);
}

// The same to the last bit.
WF_UNUSED static void case_expect_bits(case_run *r, weft_val y, const void *expected, size_t bytes)
{
    void *got = malloc(bytes + 1);
    weft_error err;
    assert_non_null(got);
    weft_output(r->g, "y", y);
    if (case_go(r, &err) != WEFT_OK ||
        weft_program_read(r->program, "y", got, bytes, &err) != WEFT_OK) {
        fail_msg("%s", err.message);
    }
    assert_memory_equal(got, expected, bytes);
    free(got);
}

#endif
