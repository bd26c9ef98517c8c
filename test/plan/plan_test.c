// The planner: plans of random graphs and of a training step hold against the independent checker, which
// itself must find damage; fusion and in-place do what they promise.
// labels: sweep
#include <stdlib.h>

#include "../graph/graph_kit.h"

static wf_plan_options fused_options(bool channels_last)
{
    wf_plan_options o = graph_kit_plan_options();
    o.channels_last = channels_last;
    return o;
}

static void plans_of_random_graphs_hold(void **state)
{
    graph_kit *kit = *state;
    const uint32_t n = wf_test_is_full() ? 20000 : 500;
    for (uint32_t seed = 0; seed < n; seed++) {
        weft_graph *g;
        weft_error err = {0};
        assert_int_equal(weft_graph_create(kit->ctx, &g, NULL), WEFT_OK);
        graph_kit_build_random(g, seed);
        for (int form = 0; form < 3; form++) {
            wf_plan_options options = fused_options(form == 1);
            options.fuse = form != 2;
            wf_plan *plan = graph_kit_plan(g, &options);
            if (wf_plan_check(plan, &options, &err) != WEFT_OK) {
                fail_msg("seed %u form %d: %s", seed, form, err.message);
            }
            wf_plan_destroy(plan);
        }
        weft_graph_destroy(g);
    }
}

static void a_training_step_is_few_tasks(void **state)
{
    weft_graph *g = ((graph_kit *)*state)->g;
    weft_error err = {0};
    graph_kit_build_step(g, 4);
    const wf_plan_options options = fused_options(true);
    wf_plan *plan = graph_kit_plan(g, &options);
    if (wf_plan_check(plan, &options, &err) != WEFT_OK)
        fail_msg("%s", err.message);
    size_t n_gated = 0, n_copies = 0;
    for (size_t i = 0; i < plan->n_tasks; i++) {
        n_gated += plan->tasks[i].is_gated;
        const wf_kernel *k = plan->tasks[i].kernel;
        n_copies += k && k->n_insts == 2;
    }
    // One update per parameter (6), the running statistics, the counters; no copy but the flatten and its
    // way back.
    assert_true(plan->n_tasks < 60);
    assert_true(n_gated >= 6 && n_gated <= 14);
    assert_true(n_copies <= 4);
    wf_plan_destroy(plan);
}

// Two layers with a cache each, behind a table of tokens; guarded: something may go bad behind them.
static weft_graph *build_caches(graph_kit *kit, bool guarded)
{
    weft_graph *g = kit->g;
    const int64_t dims[] = {2, 16, 4};
    const weft_val position = weft_input(g, "position", WEFT_I32, NULL, 0);
    const weft_val token = weft_input(g, "token", WEFT_I32, KIT_DIMS(2));
    weft_val x = weft_gather(g, weft_input(g, "table", WEFT_F32, KIT_DIMS(9, 4)), token, 0);
    for (int layer = 0; layer < 2; layer++) {
        const weft_val cache =
            weft_variable(g, layer ? "b" : "a", weft_fill(g, WEFT_F32, dims, 3, 0.0));
        const weft_val row = weft_reshape(g, weft_relu(g, x), KIT_DIMS(2, 1, 4));
        const weft_val next = weft_dynamic_update(g, cache, position, row, 1);
        weft_assign(g, cache, next);
        x = weft_matmul(g, row, next, false, true);
        x = weft_reshape(
            g, weft_slice(g, x, (const int64_t[]){0, 0, 0}, (const int64_t[]){2, 1, 4}, NULL),
            KIT_DIMS(2, 4));
    }
    if (guarded)
        weft_guard(g, x);
    weft_output(g, "y", x);
    return g;
}

static size_t count_in_place(graph_kit *kit, bool guarded)
{
    weft_error err = {0};
    const wf_plan_options options = fused_options(false);
    wf_plan *plan = graph_kit_plan(build_caches(kit, guarded), &options);
    if (wf_plan_check(plan, &options, &err) != WEFT_OK)
        fail_msg("%s", err.message);
    size_t n = 0;
    for (size_t i = 0; i < plan->n_tasks; i++) {
        const wf_task *t = &plan->tasks[i];
        if (t->kind == WF_TASK_INDEX && t->n_inputs == 3 && t->is_gated)
            n += t->inputs[0].buffer == t->outputs[0].buffer;
    }
    wf_plan_destroy(plan);
    return n;
}

static void a_cache_is_updated_in_place(void **state)
{
    assert_int_equal(count_in_place(*state, false), 2);
}

static void not_when_the_step_may_still_go_bad(void **state)
{
    assert_int_equal(count_in_place(*state, true), 0);
}

static void an_update_takes_the_place_of_what_dies(void **state)
{
    weft_graph *g = ((graph_kit *)*state)->g;
    weft_error err = {0};
    const weft_val x = weft_input(g, "x", WEFT_F32, KIT_DIMS(50, 4));
    const weft_val at = weft_input(g, "at", WEFT_I32, NULL, 0);
    const weft_val part = weft_input(g, "part", WEFT_F32, KIT_DIMS(2, 4));
    const weft_val y = weft_dynamic_update(g, weft_relu(g, x), at, part, 0);
    weft_output(g, "y", weft_sum(g, y, NULL, 0, false));
    const wf_plan_options options = fused_options(false);
    wf_plan *plan = graph_kit_plan(g, &options);
    if (wf_plan_check(plan, &options, &err) != WEFT_OK)
        fail_msg("%s", err.message);
    size_t n = 0;
    for (size_t i = 0; i < plan->n_tasks; i++) {
        const wf_task *t = &plan->tasks[i];
        if (t->kind == WF_TASK_INDEX)
            n += plan->buffers[t->outputs[0].buffer].offset_bytes ==
                 plan->buffers[t->inputs[0].buffer].offset_bytes;
    }
    assert_int_equal(n, 1);
    wf_plan_destroy(plan);
}

static void updates_are_written_in_place(void **state)
{
    weft_graph *g = ((graph_kit *)*state)->g;
    const weft_val v = weft_variable(g, "v", weft_fill(g, WEFT_F32, KIT_DIMS(100), 1.0));
    weft_assign(g, v, weft_mul(g, v, weft_scalar(g, WEFT_F32, 0.5)));
    const wf_plan_options options = fused_options(false);
    wf_plan *plan = graph_kit_plan(g, &options);
    assert_int_equal(plan->n_tasks, 1);
    assert_true(plan->tasks[0].is_gated);
    assert_int_equal(plan->tasks[0].inputs[0].buffer, plan->tasks[0].outputs[0].buffer);
    assert_int_equal(plan->arena_bytes, 0);
    wf_plan_destroy(plan);
}

static void a_chain_reuses_its_memory(void **state)
{
    weft_graph *g = ((graph_kit *)*state)->g;
    weft_val x = weft_input(g, "x", WEFT_F32, KIT_DIMS(64, 64));
    for (int i = 0; i < 10; i++)
        x = weft_matmul(g, x, x, false, false);
    weft_output(g, "y", x);
    const wf_plan_options options = fused_options(false);
    wf_plan *plan = graph_kit_plan(g, &options);
    assert_int_equal(plan->arena_bytes, 3 * 64 * 64 * 4); // the input, and two in flight
    wf_plan_destroy(plan);
}

static void the_checker_finds_damage(void **state)
{
    weft_graph *g = ((graph_kit *)*state)->g;
    graph_kit_build_step(g, 4);
    const wf_plan_options options = fused_options(true);
    wf_plan *plan = graph_kit_plan(g, &options);
    assert_int_equal(wf_plan_check(plan, &options, NULL), WEFT_OK);
    // Move every temporary to the front in turn: some live buffer lies there for most of them.
    size_t n_found = 0, n_tried = 0;
    for (size_t i = 0; i < plan->n_buffers; i++) {
        wf_buffer *b = &plan->buffers[i];
        if (b->kind != WF_BUFFER_ARENA || b->offset_bytes == 0)
            continue;
        const size_t offset = b->offset_bytes;
        b->offset_bytes = 0;
        n_tried++;
        n_found += wf_plan_check(plan, &options, NULL) != WEFT_OK;
        b->offset_bytes = offset;
    }
    assert_true(n_tried > 10);
    assert_true(n_found * 2 > n_tried);
    // An operand beyond its buffer, a gate left open, tasks out of order.
    plan->tasks[0].inputs[0].offset += 1000000;
    assert_int_equal(wf_plan_check(plan, &options, NULL), WEFT_ERR_INTERNAL);
    plan->tasks[0].inputs[0].offset -= 1000000;
    plan->tasks[plan->n_tasks - 1].is_gated = false;
    assert_int_equal(wf_plan_check(plan, &options, NULL), WEFT_ERR_INTERNAL);
    plan->tasks[plan->n_tasks - 1].is_gated = true;
    const wf_task task = plan->tasks[2];
    plan->tasks[2] = plan->tasks[10];
    plan->tasks[10] = task;
    assert_int_equal(wf_plan_check(plan, &options, NULL), WEFT_ERR_INTERNAL);
    wf_plan_destroy(plan);
}

static size_t some_bytes(void *user, const wf_task *task)
{
    (void)user;
    return task->kind == WF_TASK_CONTRACT ? 1000 : 0;
}

static bool keeps_fixed(void *user, const wf_task *task)
{
    (void)user;
    return (task->fixed_inputs & 2) != 0;
}

// A chain of products: of a weight that nothing writes, of one that is assigned, of no weight.
static void what_is_kept_has_a_place_of_its_own(void **state)
{
    weft_graph *g = ((graph_kit *)*state)->g;
    const weft_val first = weft_fill(g, WEFT_F32, KIT_DIMS(20, 20), 1.0);
    const weft_val fixed = weft_variable(g, "fixed", first),
                   moved = weft_variable(g, "moved", first);
    const weft_val x = weft_input(g, "x", WEFT_F32, KIT_DIMS(20, 20));
    const weft_val a = weft_matmul(g, x, fixed, false, false);
    const weft_val b = weft_matmul(g, a, moved, false, false);
    const weft_val c = weft_matmul(g, b, b, false, false);
    weft_output(g, "y", weft_matmul(g, c, c, false, false));
    weft_assign(g, moved, weft_mul(g, moved, weft_scalar(g, WEFT_F32, 0.5)));
    wf_plan_options options = fused_options(false);
    options.workspace = some_bytes;
    options.keeps_workspace = keeps_fixed;
    wf_plan *plan = graph_kit_plan(g, &options);
    size_t n_kept = 0;
    uint32_t kept = 0, other = WF_NO_INDEX;
    for (uint32_t t = 0; t < plan->n_tasks; t++) {
        n_kept += plan->tasks[t].keeps_workspace;
        if (plan->tasks[t].keeps_workspace)
            kept = t;
        else if (plan->tasks[t].kind == WF_TASK_CONTRACT)
            other = plan->tasks[t].workspace;
    }
    assert_int_equal(n_kept, 1);
    assert_int_equal(wf_plan_check(plan, &options, NULL), WEFT_OK);
    // Damage: another task's workspace there, and a weight that is written.
    wf_buffer *at = &plan->buffers[other];
    const size_t offset = at->offset_bytes;
    at->offset_bytes = plan->buffers[plan->tasks[kept].workspace].offset_bytes;
    assert_int_equal(wf_plan_check(plan, &options, NULL), WEFT_ERR_INTERNAL);
    at->offset_bytes = offset;
    assert_int_equal(wf_plan_check(plan, &options, NULL), WEFT_OK);
    plan->tasks[kept].fixed_inputs |= 1; // x, which the host writes: no task does
    assert_int_equal(wf_plan_check(plan, &options, NULL), WEFT_OK);
    for (uint32_t t = 0; t < plan->n_tasks; t++) {
        if (plan->tasks[t].is_gated)
            plan->tasks[kept].inputs[1].buffer = plan->tasks[t].outputs[0].buffer;
    }
    assert_int_equal(wf_plan_check(plan, &options, NULL), WEFT_ERR_INTERNAL);
    wf_plan_destroy(plan);
}

const struct CMUnitTest wf_tests_plan[] = {
    KIT_TEST(what_is_kept_has_a_place_of_its_own),
    KIT_TEST(plans_of_random_graphs_hold),
    KIT_TEST(a_training_step_is_few_tasks),
    KIT_TEST(updates_are_written_in_place),
    KIT_TEST(a_chain_reuses_its_memory),
    KIT_TEST(the_checker_finds_damage),
    KIT_TEST(a_cache_is_updated_in_place),
    KIT_TEST(not_when_the_step_may_still_go_bad),
    KIT_TEST(an_update_takes_the_place_of_what_dies),
};
const unsigned long wf_n_tests_plan = WF_N_TESTS(wf_tests_plan);
