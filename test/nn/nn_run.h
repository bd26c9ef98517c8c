// For the tests of nn/: a model on the reference device through the public API, with values from a golden
// file (tools/golden). A tensor "<case>.<role>" of the file becomes an input, a variable's first value or
// what is expected.
#ifndef NN_RUN_H
#define NN_RUN_H

#define WEFT_NO_PLACE // messages without the test's file and line

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/safetensors.h"
#include "weft/weft.h"
#include "wf_test.h"

#define NN_COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define NN_DIMS(...)                                                                               \
    (const int64_t[]){__VA_ARGS__}, (int32_t)NN_COUNT(((const int64_t[]){__VA_ARGS__}))

// Golden values are float64 rounded to f32, so this is weft's own error: a few ulp of the greatest element.
#define NN_TOLERANCE 1e-6

typedef struct nn_run {
    weft_context *ctx;
    weft_device *device;
    weft_state *state;
    weft_graph *g;
    weft_nn *nn;
    weft_program *program;
    wf_safetensors *file;
    const char *test_case;
    struct {
        char name[64];
        const wf_st_tensor *tensor;
    } inputs[8];
    size_t n_inputs;
} nn_run;

#define NN_OK(expr)                                                                                \
    do {                                                                                           \
        weft_error nn_err = {0};                                                                   \
        weft_error *err = &nn_err;                                                                 \
        if ((expr) != WEFT_OK)                                                                     \
            fail_msg("%s", nn_err.message);                                                        \
    } while (0)

WF_UNUSED static void nn_model(nn_run *r, bool is_training)
{
    weft_nn_options options = WEFT_NN_OPTIONS_INIT;
    options.is_training = is_training;
    options.seed = 1;
    NN_OK(weft_graph_create(r->ctx, &r->g, err));
    NN_OK(weft_nn_create(r->g, &options, &r->nn, err));
}

WF_UNUSED static bool nn_has_device(const char *device, const char *isa)
{
    weft_context *ctx;
    weft_device *opened = NULL;
    weft_device_options options = WEFT_DEVICE_OPTIONS_INIT;
    options.isa = isa;
    NN_OK(weft_context_create(NULL, &ctx, err));
    const bool has = weft_device_open(ctx, device, &options, &opened, NULL) == WEFT_OK;
    weft_device_close(opened);
    weft_context_destroy(ctx);
    return has;
}

// A device, an empty state and a model. isa and file may be NULL.
WF_UNUSED static void nn_begin_on(nn_run *r, const char *device, const char *isa, const char *file,
                                  bool is_training)
{
    weft_device_options device_options = WEFT_DEVICE_OPTIONS_INIT;
    device_options.isa = isa;
    *r = (nn_run){0};
    NN_OK(weft_context_create(NULL, &r->ctx, err));
    NN_OK(weft_device_open(r->ctx, device, &device_options, &r->device, err));
    NN_OK(weft_state_create(r->device, &r->state, err));
    if (file) {
        const wf_allocator a = wf_allocator_default();
        char path[512];
        snprintf(path, sizeof path, "%s/test/golden/%s.safetensors", WEFT_SOURCE_DIR, file);
        NN_OK(wf_safetensors_open(&a, path, &r->file, err));
    }
    nn_model(r, is_training);
}

// The same on ref.
WF_UNUSED static void nn_begin(nn_run *r, const char *file, bool is_training)
{
    nn_begin_on(r, "ref", NULL, file, is_training);
}

// The model and its program; the state stays.
WF_UNUSED static void nn_end_model(nn_run *r)
{
    weft_program_destroy(r->program);
    weft_nn_destroy(r->nn);
    weft_graph_destroy(r->g);
    r->program = NULL;
    r->nn = NULL;
    r->g = NULL;
    r->n_inputs = 0;
}

WF_UNUSED static void nn_end(nn_run *r)
{
    nn_end_model(r);
    weft_state_destroy(r->state);
    weft_device_close(r->device);
    weft_context_destroy(r->ctx);
    wf_safetensors_close(r->file);
}

// The tensor "<case>.<role>", NULL when there is none.
WF_UNUSED static const wf_st_tensor *nn_find(const nn_run *r, const char *role)
{
    char name[128];
    const int len = snprintf(name, sizeof name, "%s%s%s", r->test_case ? r->test_case : "",
                             r->test_case ? "." : "", role);
    assert_in_range(len, 1, sizeof name - 1);
    return wf_safetensors_find(r->file, name);
}

WF_UNUSED static const wf_st_tensor *nn_get(const nn_run *r, const char *role)
{
    const wf_st_tensor *t = nn_find(r, role);
    if (!t)
        fail_msg("%s has no %s in the golden file", r->test_case ? r->test_case : "", role);
    return t;
}

// An input of the tensor's type that is written when the program runs.
WF_UNUSED static weft_val nn_input(nn_run *r, const char *role)
{
    const wf_st_tensor *t = nn_get(r, role);
    assert_true(r->n_inputs < NN_COUNT(r->inputs));
    snprintf(r->inputs[r->n_inputs].name, sizeof r->inputs[0].name, "%s", role);
    r->inputs[r->n_inputs++].tensor = t;
    return weft_input(r->g, role, t->dtype, t->dim, t->ndim);
}

// Sets the variables that the file has a first value for: "<case>.state.<name>".
WF_UNUSED static void nn_load_state(nn_run *r)
{
    char prefix[96];
    snprintf(prefix, sizeof prefix, "%s.state.", r->test_case);
    for (size_t i = 0; i < wf_safetensors_count(r->file); i++) {
        const wf_st_tensor *t = wf_safetensors_get(r->file, i);
        if (strncmp(t->name, prefix, strlen(prefix)) != 0)
            continue;
        weft_type type = {t->dtype, t->ndim, {0}};
        memcpy(type.dims, t->dim, sizeof(int64_t) * (size_t)t->ndim);
        NN_OK(weft_state_write(r->state, t->name + strlen(prefix), &type, t->data, t->size_bytes,
                               err));
    }
}

WF_UNUSED static void nn_compile(nn_run *r)
{
    NN_OK(weft_graph_status(r->g, err));
    NN_OK(weft_compile(r->state, r->g, NULL, &r->program, err));
}

WF_UNUSED static void nn_go(nn_run *r)
{
    if (!r->program)
        nn_compile(r);
    for (size_t i = 0; i < r->n_inputs; i++) {
        NN_OK(weft_program_write(r->program, r->inputs[i].name, r->inputs[i].tensor->data,
                                 r->inputs[i].tensor->size_bytes, err));
    }
    NN_OK(weft_program_run(r->program, err));
    NN_OK(weft_program_check(r->program, err));
}

WF_UNUSED static float nn_read_f32(nn_run *r, const char *output)
{
    float value = 0.0f;
    NN_OK(weft_program_read(r->program, output, &value, sizeof value, err));
    return value;
}

// n values near what is expected, by the greatest of them.
WF_UNUSED static void nn_near(const char *what, const float *got, const void *expected, size_t n,
                              double tolerance)
{
    double size = 0.0;
    for (size_t i = 0; i < n; i++) {
        float e;
        memcpy(&e, (const char *)expected + 4 * i, 4);
        size = fmax(size, fabs((double)e));
    }
    for (size_t i = 0; i < n; i++) {
        float e;
        memcpy(&e, (const char *)expected + 4 * i, 4);
        if (!(fabs((double)got[i] - (double)e) <= tolerance * size)) {
            fail_msg("%s[%zu] is %.9g, expected %.9g; greatest %g, tolerance %g", what, i,
                     (double)got[i], (double)e, size, tolerance);
        }
    }
}

// The output of that name is the case's tensor of that role.
WF_UNUSED static void nn_expect(nn_run *r, const char *output, const char *role, double tolerance)
{
    const wf_st_tensor *t = nn_get(r, role);
    char what[160];
    float *got = malloc(t->size_bytes + 1);
    assert_non_null(got);
    snprintf(what, sizeof what, "%s.%s", r->test_case, role);
    NN_OK(weft_program_read(r->program, output, got, t->size_bytes, err));
    nn_near(what, got, t->data, t->size_bytes / 4, tolerance);
    free(got);
}

WF_UNUSED static void nn_expect_variable(nn_run *r, const char *variable, const wf_st_tensor *t,
                                         double tolerance)
{
    float *got = malloc(t->size_bytes + 1);
    assert_non_null(got);
    NN_OK(weft_state_read(r->state, variable, got, t->size_bytes, err));
    nn_near(variable, got, t->data, t->size_bytes / 4, tolerance);
    free(got);
}

// The graph has failed with this code and whole message.
WF_UNUSED static void nn_expect_error(nn_run *r, weft_status code, const char *message)
{
    weft_error e = {0};
    const weft_status status = weft_graph_status(r->g, &e);
    assert_string_equal(e.message, message);
    assert_string_equal(weft_status_name(status), weft_status_name(code));
}

#endif
