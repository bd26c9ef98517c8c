// For the tests of ops: a graph per test, its values computed by the ops' own eval (canonical bits or
// float64 truth) in node order, values expected bit for bit, gradients against finite differences.
//
// Tests put their data in the graph as constants; a gradient by a constant is as good as by an input.
#ifndef OP_RUN_H
#define OP_RUN_H

#define WEFT_NO_PLACE // messages without the test's file and line

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "op/op.h"
#include "wf_test.h"

#define OP_COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define OP_DIMS(...)                                                                               \
    (const int64_t[]){__VA_ARGS__}, (int32_t)OP_COUNT(((const int64_t[]){__VA_ARGS__}))
#define OP_AXES(...) (const int32_t[]){__VA_ARGS__}, OP_COUNT(((const int32_t[]){__VA_ARGS__}))

WF_UNUSED static int op_setup(void **state)
{
    weft_context *ctx;
    weft_graph *g;
    if (weft_context_create(NULL, &ctx, NULL) != WEFT_OK ||
        weft_graph_create(ctx, &g, NULL) != WEFT_OK) {
        return -1;
    }
    *state = g;
    return 0;
}

WF_UNUSED static int op_teardown(void **state)
{
    weft_graph *g = *state;
    weft_context *ctx = g->context;
    weft_graph_destroy(g);
    weft_context_destroy(ctx);
    return 0;
}

#define OP_TEST(function) cmocka_unit_test_setup_teardown(function, op_setup, op_teardown)

// ---- running
typedef struct op_values {
    const weft_graph *g;
    void **data; // by value id
    bool is_bad;
    int64_t bad_elem;
} op_values;

static void op_run_node(op_values *v, const wf_node *node, bool is_truth)
{
    weft_type in_types[16], out_types[WF_OP_MAX_OUTPUTS];
    wf_tensor in[16], out[WF_OP_MAX_OUTPUTS];
    weft_error err;
    assert_true(node->n_inputs <= OP_COUNT(in));
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        in_types[i] = *wf_graph_type(v->g, node->inputs[i]);
        in[i] = (wf_tensor){in_types[i], v->data[node->inputs[i]], is_truth};
    }
    for (uint32_t i = 0; i < node->n_outputs; i++) {
        out_types[i] = *wf_graph_type(v->g, node->first_output + i);
        out[i] = (wf_tensor){out_types[i], NULL, is_truth};
        const size_t bytes = (size_t)wf_type_count(&out_types[i]) * wf_tensor_elem_bytes(&out[i]);
        out[i].data = malloc(bytes + 1);
        assert_non_null(out[i].data);
        memset(out[i].data, 0xA5, bytes + 1); // what eval leaves unwritten must not look right
        v->data[node->first_output + i] = out[i].data;
    }
    const wf_node_info info = {node->op,        node->n_inputs, in_types,
                               node->n_outputs, out_types,      node->attrs};
    wf_eval q = {&info, in, out, false, 0, v->g->context->allocator, NULL};
    assert_true(node->op->eval || node->op->expand);
    if (!node->op->eval) {
        return; // an op that is expanded before it runs: not for these tests
    }
    const bool own_truth = is_truth && node->op->eval_truth;
    if ((own_truth ? node->op->eval_truth : node->op->eval)(&q, &err) != WEFT_OK) {
        fail_msg("%s", err.message);
    }
    if (q.is_bad && !v->is_bad) {
        v->is_bad = true;
        v->bad_elem = q.bad_elem;
    }
}

// Computes every node up to val's.
static op_values op_run(const weft_graph *g, weft_val val, bool is_truth)
{
    weft_error err;
    if (weft_graph_status(g, &err) != WEFT_OK) {
        fail_msg("%s", err.message);
    }
    op_values v = {g, calloc(g->n_values, sizeof(void *)), false, 0};
    assert_non_null(v.data);
    assert_true(val.id > 0 && val.id < g->n_values);
    for (uint32_t i = 0; i <= g->values[val.id].node; i++) {
        op_run_node(&v, &g->nodes[i], is_truth);
    }
    return v;
}

static void op_values_free(op_values *v)
{
    for (size_t i = 0; i < v->g->n_values; i++) {
        free(v->data[i]);
    }
    free(v->data);
}

// ---- building
WF_UNUSED static weft_val op_f32(weft_graph *g, const int64_t *dims, int32_t ndim,
                                 const float *data)
{
    return weft_constant(g, WEFT_F32, dims, ndim, data);
}
WF_UNUSED static weft_val op_i32(weft_graph *g, const int64_t *dims, int32_t ndim,
                                 const int32_t *data)
{
    return weft_constant(g, WEFT_I32, dims, ndim, data);
}
// 0.5, 1.5, -1.25, ...: distinct values of both signs, exact in few bits. count <= 64.
WF_UNUSED static weft_val op_ramp(weft_graph *g, const int64_t *dims, int32_t ndim)
{
    float data[64];
    for (int i = 0; i < 64; i++) {
        data[i] = (float)((i * 37 + 11) % 64 - 31) / 16.0f + 0.03125f;
    }
    return weft_constant(g, WEFT_F32, dims, ndim, data);
}

// ---- expecting
static bool op_same_f32(float a, float b)
{
    return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0;
}

WF_UNUSED static void op_expect_f32(weft_graph *g, weft_val val, const float *expected, size_t n)
{
    op_values v = op_run(g, val, false);
    assert_int_equal(weft_val_type(g, val).dtype, WEFT_F32);
    assert_int_equal(weft_val_count(g, val), n);
    const float *got = v.data[val.id];
    for (size_t i = 0; i < n; i++) {
        if (!op_same_f32(got[i], expected[i])) {
            fail_msg("element %zu is %.9g (%a), expected %.9g (%a)", i, (double)got[i],
                     (double)got[i], (double)expected[i], (double)expected[i]);
        }
    }
    op_values_free(&v);
}

// The raw elements of any dtype.
WF_UNUSED static void op_expect_bytes(weft_graph *g, weft_val val, weft_dtype dtype,
                                      const void *expected, size_t n)
{
    op_values v = op_run(g, val, false);
    assert_string_equal(weft_dtype_name(weft_val_type(g, val).dtype), weft_dtype_name(dtype));
    assert_int_equal(weft_val_count(g, val), n);
    assert_memory_equal(v.data[val.id], expected, n * weft_dtype_size(dtype));
    op_values_free(&v);
}

WF_UNUSED static void op_expect_dims(weft_graph *g, weft_val val, const int64_t *dims, int32_t ndim)
{
    char got[WF_TYPE_TEXT], expected[WF_TYPE_TEXT];
    const weft_type t = weft_val_type(g, val);
    assert_string_equal(wf_dims_text(t.dims, t.ndim, got), wf_dims_text(dims, ndim, expected));
}

// The graph has failed with this code and whole message; nothing came of the call.
WF_UNUSED static void op_expect_error(weft_graph *g, weft_val val, weft_status code,
                                      const char *message)
{
    weft_error err = {0};
    assert_int_equal(val.id, 0);
    const weft_status status = weft_graph_status(g, &err);
    assert_string_equal(err.message, message);
    assert_string_equal(weft_status_name(status), weft_status_name(code));
}

// ---- gradients
// A loss in which every element of y has another weight.
WF_UNUSED static weft_val op_loss(weft_graph *g, weft_val y)
{
    const weft_type t = weft_val_type(g, y);
    const int64_t count = weft_val_count(g, y);
    float *weights = malloc((size_t)(count + 1) * sizeof *weights);
    assert_non_null(weights);
    for (int64_t i = 0; i < count; i++) {
        weights[i] = (float)((i * 7 + 3) % 11 - 5) / 4.0f + 0.125f;
    }
    const weft_val w = weft_constant(g, WEFT_F32, t.dims, t.ndim, weights);
    free(weights);
    return weft_sum(g, weft_mul(g, y, w), NULL, 0, false);
}

static double op_truth_scalar(const weft_graph *g, weft_val val)
{
    op_values v = op_run(g, val, true);
    const double x = *(const double *)v.data[val.id];
    op_values_free(&v);
    return x;
}

static void op_check_element(weft_graph *g, weft_val loss, float *x, double truth, double gradient,
                             size_t i)
{
    const float keep = *x;
    const float high = keep + 0x1p-10f, low = keep - 0x1p-10f;
    *x = high;
    const double above = op_truth_scalar(g, loss);
    *x = low;
    const double below = op_truth_scalar(g, loss);
    *x = keep;
    const double slope = (above - below) / ((double)high - (double)low);
    const double size = fmax(1.0, fabs(slope));
    if (!(fabs(truth - slope) <= 1e-4 * size) || !(fabs(gradient - slope) <= 1e-4 * size)) {
        fail_msg("gradient %zu at %.9g is %.9g, in float64 %.9g, differences give %.9g", i,
                 (double)keep, gradient, truth, slope);
    }
}

// d loss / d x, by weft_grad in f32 and in float64, against central differences in float64.
// x is a constant; its data are moved and put back.
WF_UNUSED static void op_check_gradient(weft_graph *g, weft_val loss, weft_val x)
{
    weft_val dx;
    weft_grad(g, loss, &x, 1, &dx);
    op_values truth = op_run(g, dx, true), bits = op_run(g, dx, false);
    float *data = (float *)(uintptr_t)wf_graph_producer(g, x.id)->attrs[2].u.data;
    assert_true(wf_type_equal(wf_graph_type(g, dx.id), wf_graph_type(g, x.id)));
    for (int64_t i = 0; i < weft_val_count(g, x); i++) {
        op_check_element(g, loss, &data[i], ((const double *)truth.data[dx.id])[i],
                         (double)((const float *)bits.data[dx.id])[i], (size_t)i);
    }
    op_values_free(&truth);
    op_values_free(&bits);
}

// The same for the sum of squares of the first gradient: second order.
WF_UNUSED static void op_check_second(weft_graph *g, weft_val loss, weft_val x)
{
    weft_val dx;
    weft_grad(g, loss, &x, 1, &dx);
    op_check_gradient(g, weft_sum(g, weft_mul(g, dx, dx), NULL, 0, false), x);
}

// ---- elementwise ops
typedef weft_val (*op_unary)(weft_graph *, weft_val);
typedef weft_val (*op_binary)(weft_graph *, weft_val, weft_val);

WF_UNUSED static void op_unary_f32(weft_graph *g, op_unary op, const float *a, const float *y,
                                   size_t n)
{
    const int64_t dims[] = {(int64_t)n};
    op_expect_f32(g, op(g, op_f32(g, dims, 1, a)), y, n);
}

WF_UNUSED static void op_binary_f32(weft_graph *g, op_binary op, const float *a, const float *b,
                                    const float *z, size_t n)
{
    const int64_t dims[] = {(int64_t)n};
    op_expect_f32(g, op(g, op_f32(g, dims, 1, a), op_f32(g, dims, 1, b)), z, n);
}

WF_UNUSED static void op_binary_to_bool(weft_graph *g, op_binary op, const float *a, const float *b,
                                        const uint8_t *z, size_t n)
{
    const int64_t dims[] = {(int64_t)n};
    const weft_val val = op(g, op_f32(g, dims, 1, a), op_f32(g, dims, 1, b));
    op_expect_bytes(g, val, WEFT_BOOL, z, n);
}

WF_UNUSED static void op_unary_any(weft_graph *g, op_unary op, weft_dtype dtype, const void *a,
                                   weft_dtype to, const void *y, size_t n)
{
    const int64_t dims[] = {(int64_t)n};
    op_expect_bytes(g, op(g, weft_constant(g, dtype, dims, 1, a)), to, y, n);
}

WF_UNUSED static void op_binary_any(weft_graph *g, op_binary op, weft_dtype dtype, const void *a,
                                    const void *b, weft_dtype to, const void *z, size_t n)
{
    const int64_t dims[] = {(int64_t)n};
    const weft_val val =
        op(g, weft_constant(g, dtype, dims, 1, a), weft_constant(g, dtype, dims, 1, b));
    op_expect_bytes(g, val, to, z, n);
}

// First and second order at n points.
WF_UNUSED static void op_unary_gradient(weft_graph *g, op_unary op, const float *a, size_t n)
{
    const int64_t dims[] = {(int64_t)n};
    const weft_val x = op_f32(g, dims, 1, a);
    const weft_val loss = op_loss(g, op(g, x));
    op_check_gradient(g, loss, x);
    op_check_second(g, loss, x);
}

// By both operands, with b broadcast along rows: a [n/2,2], b [2].
WF_UNUSED static void op_binary_gradient(weft_graph *g, op_binary op, const float *a,
                                         const float *b, size_t n)
{
    const int64_t dims[] = {(int64_t)n / 2, 2};
    const weft_val x = op_f32(g, dims, 2, a), y = op_f32(g, dims + 1, 1, b);
    const weft_val loss = op_loss(g, op(g, x, y));
    op_check_gradient(g, loss, x);
    op_check_gradient(g, loss, y);
    op_check_second(g, loss, x);
}

// The relative error of the first gradient: bits against float64, where truth is not 0.
WF_UNUSED static void op_gradient_accuracy(weft_graph *g, op_unary op, const float *a, size_t n,
                                           double bound)
{
    const int64_t dims[] = {(int64_t)n};
    const weft_val x = op_f32(g, dims, 1, a);
    weft_val dx;
    weft_grad(g, weft_sum(g, op(g, x), NULL, 0, false), &x, 1, &dx);
    op_values truth = op_run(g, dx, true), bits = op_run(g, dx, false);
    for (size_t i = 0; i < n; i++) {
        const double t = ((const double *)truth.data[dx.id])[i];
        const double b = (double)((const float *)bits.data[dx.id])[i];
        if (!(fabs(b - t) <= bound * 0x1p-24 * fabs(t))) {
            fail_msg("slope at %.9g is %.9g, in float64 %.9g: %.1f units of 2^-24", (double)a[i], b,
                     t, fabs(b - t) / fabs(t) * 0x1p24);
        }
    }
    op_values_free(&truth);
    op_values_free(&bits);
}

// A dtype that the op refuses, and the whole message.
WF_UNUSED static void op_unary_refuses(weft_graph *g, op_unary op, weft_dtype dtype,
                                       const char *message)
{
    const int64_t dims[] = {2};
    op_expect_error(g, op(g, weft_fill(g, dtype, dims, 1, 1.0)), WEFT_ERR_DTYPE, message);
}

WF_UNUSED static void op_binary_refuses(weft_graph *g, op_binary op, weft_dtype dtype,
                                        const char *message)
{
    const int64_t dims[] = {2};
    const weft_val a = weft_fill(g, dtype, dims, 1, 1.0);
    op_expect_error(g, op(g, a, a), WEFT_ERR_DTYPE, message);
}

#endif
