// softmax_cross_entropy: its expansion's values and bad labels, gradients, errors.
#include "op_run.h"

// The op as its expansion, which the passes put in its place before planning.
static weft_val expanded(weft_graph *g, weft_val logits, weft_val labels)
{
    const weft_val val = weft_softmax_cross_entropy(g, logits, labels);
    if (!val.id) {
        return val;
    }
    const wf_node *node = wf_graph_producer(g, val.id);
    const weft_type in[] = {weft_val_type(g, logits), weft_val_type(g, labels)};
    const weft_type out = weft_val_type(g, val);
    const weft_val ins[] = {logits, labels};
    const wf_node_info info = {node->op, 2, in, 1, &out, node->attrs};
    weft_val result;
    node->op->expand(g, &info, ins, &result);
    return result;
}

static void is_the_log_of_the_sum_less_the_label(void **state)
{
    weft_graph *g = *state;
    static const float x[] = {0, 0, 88.72284f, -300, 1000, -1000}, y[] = {0x1.62e43p-1f, 0, 2000};
    static const int32_t labels[] = {1, 0, 1};
    op_expect_f32(g, expanded(g, op_f32(g, OP_DIMS(3, 2), x), op_i32(g, OP_DIMS(3), labels)), y, 3);
}

static void marks_bad_labels(void **state)
{
    weft_graph *g = *state;
    static const int32_t labels[] = {1, 3};
    const weft_val v = expanded(g, op_ramp(g, OP_DIMS(2, 3)), op_i32(g, OP_DIMS(2), labels));
    op_values r = op_run(g, v, false);
    assert_true(r.is_bad);
    assert_int_equal(r.bad_elem, 1);
    op_values_free(&r);
}

static void has_its_gradient(void **state)
{
    weft_graph *g = *state;
    static const int32_t labels[] = {1, 3, 0};
    const weft_val x = op_ramp(g, OP_DIMS(3, 4)), idx = op_i32(g, OP_DIMS(3), labels);
    const weft_val loss = op_loss(g, expanded(g, x, idx));
    // The expansion is differentiable, too: the op's own gradient must agree with it.
    weft_val own, through;
    op_check_gradient(g, loss, x);
    weft_grad(g, op_loss(g, weft_softmax_cross_entropy(g, x, idx)), &x, 1, &own);
    weft_grad(g, loss, &x, 1, &through);
    op_values a = op_run(g, through, true);
    for (int i = 0; i < 12; i++) {
        const double difference =
            ((const double *)a.data[own.id])[i] - ((const double *)a.data[through.id])[i];
        assert_true(fabs(difference) < 1e-12);
    }
    op_values_free(&a);
}

static void refuses_labels_of_other_length(void **state)
{
    weft_graph *g = *state;
    const weft_val x = op_ramp(g, OP_DIMS(3, 4)), idx = weft_fill(g, WEFT_I32, OP_DIMS(2), 0.0);
    op_expect_error(
        g, weft_softmax_cross_entropy(g, x, idx), WEFT_ERR_SHAPE,
        "softmax_cross_entropy: logits is f32[3,4], labels is i32[2], expected [n,c] and [n]");
}

static void refuses_labels_of_other_dtype(void **state)
{
    weft_graph *g = *state;
    const weft_val x = op_ramp(g, OP_DIMS(3, 4)), idx = weft_fill(g, WEFT_I64, OP_DIMS(3), 0.0);
    op_expect_error(
        g, weft_softmax_cross_entropy(g, x, idx), WEFT_ERR_DTYPE,
        "softmax_cross_entropy: logits is f32[3,4], labels is i64[3], expected f32 and i32");
}

const struct CMUnitTest wf_tests_softmax_cross_entropy[] = {
    OP_TEST(is_the_log_of_the_sum_less_the_label),
    OP_TEST(marks_bad_labels),
    OP_TEST(has_its_gradient),
    OP_TEST(refuses_labels_of_other_length),
    OP_TEST(refuses_labels_of_other_dtype),
};
const unsigned long wf_n_tests_softmax_cross_entropy = WF_N_TESTS(wf_tests_softmax_cross_entropy);
