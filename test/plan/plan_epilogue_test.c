// Epilogues in plans: which work joins a product's task, what that leaves of tasks and bytes, and that the
// checker holds random graphs planned so.
#include <stdio.h>

#include "../graph/graph_kit.h"

static wf_plan_options options_with(uint32_t epilogues)
{
    wf_plan_options o = graph_kit_plan_options();
    o.channels_last = true;
    o.epilogues = epilogues;
    return o;
}

#define BOTH (1u << WF_TASK_CONTRACT | 1u << WF_TASK_CONV)

static wf_plan *make_plan(const weft_graph *g, uint32_t epilogues)
{
    const wf_plan_options options = options_with(epilogues);
    weft_error err = {0};
    wf_plan *plan = graph_kit_plan(g, &options);
    if (wf_plan_check(plan, &options, &err) != WEFT_OK)
        fail_msg("%s", err.message);
    return plan;
}

static double count_bytes(const wf_plan *plan)
{
    double bytes = 0.0;
    for (size_t i = 0; i < plan->n_tasks; i++)
        bytes += plan->tasks[i].cost.bytes;
    return bytes;
}

static void plans_of_random_graphs_hold(void **state)
{
    graph_kit *kit = *state;
    const wf_plan_options options = options_with(BOTH);
    const uint32_t n = wf_test_is_full() ? 20000 : 300;
    for (uint32_t seed = 0; seed < n; seed++) {
        weft_graph *g;
        weft_error err = {0};
        assert_int_equal(weft_graph_create(kit->ctx, &g, NULL), WEFT_OK);
        graph_kit_build_random(g, seed);
        wf_plan *plan = graph_kit_plan(g, &options);
        if (wf_plan_check(plan, &options, &err) != WEFT_OK)
            fail_msg("seed %u: %s", seed, err.message);
        wf_plan_destroy(plan);
        weft_graph_destroy(g);
    }
}

// A linear layer as weft_linear builds it, over [4,8,5] to [4,8,n].
static weft_val linear(weft_graph *g, weft_val x, const char *name, int64_t n)
{
    const weft_type t = weft_val_type(g, x);
    const int64_t flat[] = {t.dims[0] * t.dims[1], t.dims[2]}, dims[] = {n, t.dims[2]};
    const int64_t back[] = {t.dims[0], t.dims[1], n};
    const weft_val w = weft_input(g, name, WEFT_F32, dims, 2);
    weft_val y = weft_matmul(g, weft_reshape(g, x, flat, 2), w, false, true);
    char bias[16];
    snprintf(bias, sizeof bias, "%s.bias", name);
    y = weft_add(g, y, weft_input(g, bias, WEFT_F32, &n, 1));
    return weft_reshape(g, y, back, 3);
}

static void a_residual_block_is_two_tasks(void **state)
{
    weft_graph *g = ((graph_kit *)*state)->g;
    const weft_val x = weft_input(g, "x", WEFT_F32, KIT_DIMS(4, 8, 5));
    const weft_val h = weft_gelu(g, linear(g, x, "up", 20));
    weft_output(g, "y", weft_add(g, x, linear(g, h, "down", 5)));
    wf_plan *plan = make_plan(g, BOTH);
    assert_int_equal(plan->n_tasks, 2);
    for (size_t i = 0; i < plan->n_tasks; i++) {
        assert_int_equal(plan->tasks[i].kind, WF_TASK_CONTRACT);
        assert_non_null(plan->tasks[i].epilogue);
        assert_int_equal(plan->tasks[i].n_outputs, 1);
    }
    // x twice, h twice, y, two weights and two biases.
    assert_true(count_bytes(plan) == 4.0 * (2 * 160 + 2 * 640 + 160 + 100 + 100 + 20 + 5));
    wf_plan_destroy(plan);
}

static void an_operand_of_the_product_is_not_overwritten(void **state)
{
    weft_graph *g = ((graph_kit *)*state)->g;
    const weft_val x = weft_input(g, "x", WEFT_F32, KIT_DIMS(6, 6));
    const weft_val r = weft_matmul(g, x, x, false, true), h = weft_matmul(g, r, x, false, false);
    const weft_val y = weft_add(g, r, weft_relu(g, h));
    weft_output(g, "y", weft_matmul(g, x, y, false, false));
    wf_plan *plan = make_plan(g, BOTH);
    size_t n = 0;
    for (size_t i = 0; i < plan->n_tasks; i++) {
        const wf_task *t = &plan->tasks[i];
        n += t->epilogue && plan->buffers[t->inputs[2].buffer].offset_bytes ==
                                plan->buffers[t->outputs[0].buffer].offset_bytes;
    }
    // r is the product's own operand: it may not be written while others of its rows are still read.
    assert_int_equal(n, 0);
    wf_plan_destroy(plan);
}

static void reductions_stay_outside(void **state)
{
    weft_graph *g = ((graph_kit *)*state)->g;
    const int32_t rows[] = {0};
    const weft_val x = weft_input(g, "x", WEFT_F32, KIT_DIMS(32, 8));
    const weft_val y = weft_relu(g, weft_matmul(g, x, x, false, true));
    weft_output(g, "y", weft_sum(g, y, rows, 1, false));
    wf_plan *plan = make_plan(g, BOTH);
    assert_int_equal(plan->n_tasks, 2);
    assert_non_null(plan->tasks[0].epilogue);
    assert_int_equal(plan->tasks[1].kind, WF_TASK_COLUMN);
    wf_plan_destroy(plan);
}

static void a_step_moves_fewer_bytes(void **state)
{
    weft_graph *g = ((graph_kit *)*state)->g;
    graph_kit_build_step(g, 4);
    wf_plan *with = make_plan(g, BOTH), *without = make_plan(g, 0);
    assert_true(count_bytes(with) < count_bytes(without));
    wf_plan_destroy(with);
    wf_plan_destroy(without);
}

static void the_checker_finds_damage(void **state)
{
    weft_graph *g = ((graph_kit *)*state)->g;
    const wf_plan_options options = options_with(BOTH);
    const weft_val x = weft_input(g, "x", WEFT_F32, KIT_DIMS(6, 6));
    const weft_val y = weft_relu(g, weft_matmul(g, x, x, false, true));
    weft_output(g, "y", weft_add(g, y, weft_matmul(g, y, x, false, false)));
    wf_plan *plan = make_plan(g, BOTH);
    wf_task *last = &plan->tasks[plan->n_tasks - 1];
    assert_non_null(last->epilogue);
    last->outputs[0].buffer = last->inputs[0].buffer; // over the product's operand
    assert_int_equal(wf_plan_check(plan, &options, NULL), WEFT_ERR_INTERNAL);
    wf_plan_destroy(plan);
}

const struct CMUnitTest wf_tests_plan_epilogue[] = {
    KIT_TEST(plans_of_random_graphs_hold),
    KIT_TEST(a_residual_block_is_two_tasks),
    KIT_TEST(an_operand_of_the_product_is_not_overwritten),
    KIT_TEST(reductions_stay_outside),
    KIT_TEST(a_step_moves_fewer_bytes),
    KIT_TEST(the_checker_finds_damage),
};
const unsigned long wf_n_tests_plan_epilogue = WF_N_TESTS(wf_tests_plan_epilogue);
