// See graph_kit.h.
#define WEFT_NO_PLACE // messages without this file's lines
#include "graph_kit.h"

#include <stdlib.h>

int graph_kit_setup(void **state)
{
    graph_kit *kit = calloc(1, sizeof *kit);
    if (!kit || weft_context_create(NULL, &kit->ctx, NULL) != WEFT_OK ||
        weft_graph_create(kit->ctx, &kit->g, NULL) != WEFT_OK) {
        return -1;
    }
    *state = kit;
    return 0;
}

int graph_kit_teardown(void **state)
{
    graph_kit *kit = *state;
    weft_graph_destroy(kit->g);
    weft_context_destroy(kit->ctx);
    free(kit);
    return 0;
}

void graph_kit_build_step(weft_graph *g, int64_t batch)
{
    weft_nn *nn;
    weft_nn_options options = WEFT_NN_OPTIONS_INIT;
    weft_conv_layer_options conv = WEFT_CONV_LAYER_OPTIONS_INIT;
    weft_optimizer_options optimizer = WEFT_OPTIMIZER_OPTIONS_INIT;
    weft_schedule_options schedule = WEFT_SCHEDULE_OPTIONS_INIT;
    const int64_t one[] = {1, 1}, two[] = {2, 2}, three[] = {3, 3};
    options.is_training = true;
    options.seed = 3;
    assert_int_equal(weft_nn_create(g, &options, &nn, NULL), WEFT_OK);
    conv.conv.pad_before = one;
    const weft_val x = weft_input(g, "x", WEFT_F32, (const int64_t[]){batch, 1, 8, 8}, 4);
    const weft_val y = weft_input(g, "y", WEFT_I32, &batch, 1);
    weft_val h = weft_conv_layer(nn, "conv", x, 4, three, &conv);
    h = weft_relu(g, weft_batch_norm(nn, "norm", h, NULL));
    h = weft_flatten(g, weft_max_pool(g, h, two, NULL), 1);
    h = weft_linear(nn, "fc", weft_dropout(nn, h, 0.25), 5, NULL);
    const weft_val loss = weft_cross_entropy(g, h, y, NULL);
    optimizer.kind = WEFT_OPTIMIZER_ADAMW;
    optimizer.weight_decay = 0.01;
    optimizer.clip_norm = 1.0;
    schedule.lr = 0.01;
    weft_train_step(nn, loss, &optimizer, &schedule);
    weft_output(g, "loss", loss);
    weft_nn_destroy(nn);
}

// A generator of its own, so that a case is its seed.
static uint32_t draw(uint32_t *state, uint32_t n)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % n;
}

static weft_val random_node(weft_graph *g, uint32_t *rng, const weft_val *vals, uint32_t n)
{
    const weft_val a = vals[draw(rng, n)], b = vals[draw(rng, n)];
    const int32_t axis = (int32_t)draw(rng, 3);
    const int64_t dims[] = {4, 6, 5};
    switch (draw(rng, 14)) {
    case 0: return weft_add(g, a, b);
    case 1: return weft_mul(g, a, b);
    case 2: return weft_sub(g, weft_mul(g, a, b), a);
    case 3: return weft_max(g, a, weft_neg(g, b));
    case 4: return weft_tanh(g, a);
    case 5: return weft_select(g, weft_less(g, a, b), a, b);
    case 6: return weft_broadcast(g, weft_sum(g, a, &axis, 1, true), dims, 3);
    case 7: return weft_sub(g, a, weft_mean(g, a, &axis, 1, true));
    case 8: return weft_softmax(g, a, axis);
    case 9: { // there and back through views
        const int32_t order[] = {2, 0, 1}, back[] = {1, 2, 0};
        return weft_permute(g, weft_relu(g, weft_permute(g, a, order)), back);
    }
    case 10: {
        const int64_t flat[] = {24, 5};
        return weft_reshape(g, weft_exp(g, weft_tanh(g, weft_reshape(g, a, flat, 2))), dims, 3);
    }
    case 11: {
        const int64_t start[] = {0, 1, 0}, stop[] = {4, 4, 5}, before[] = {0, 2, 0},
                      after[] = {0, 1, 0};
        return weft_pad(g, weft_slice(g, a, start, stop, NULL), before, after, 0.5);
    }
    case 12: return weft_matmul(g, weft_matmul(g, a, b, false, true), b, false, false);
    default: {
        weft_val mean, variance;
        const int32_t axes[] = {0, 1};
        weft_moments(g, a, axes, 2, &mean, &variance);
        return weft_mul(g, weft_sub(g, a, mean), weft_tanh(g, variance));
    }
    }
}

void graph_kit_build_random(weft_graph *g, uint32_t seed)
{
    const int64_t dims[] = {4, 6, 5};
    uint32_t rng = seed * 2654435761u + 1u, n = 0;
    weft_val vals[24], vars[3];
    float data[120];
    for (int i = 0; i < 120; i++)
        data[i] = (float)draw(&rng, 4001) * 0x1p-10f - 2.0f;
    vals[n++] = weft_input(g, "x", WEFT_F32, dims, 3);
    vals[n++] = weft_constant(g, WEFT_F32, dims, 3, data);
    for (int i = 0; i < 3; i++) {
        const char *const names[] = {"a", "b", "c"};
        vars[i] = weft_variable(g, names[i], weft_fill(g, WEFT_F32, dims, 3, 0.25 * (i + 1)));
        vals[n++] = vars[i];
    }
    const uint32_t size = 8 + draw(&rng, 12);
    while (n < size) {
        vals[n] = random_node(g, &rng, vals, n);
        n++;
    }
    // Assignments of all kinds: from a late value, from another variable, from itself changed.
    weft_assign(g, vars[0], vals[n - 1]);
    weft_assign(g, vars[1], draw(&rng, 2) ? vars[2] : vals[draw(&rng, n)]);
    weft_assign(g, vars[2], draw(&rng, 2) ? vars[1] : weft_mul(g, vars[2], vals[n - 2]));
    weft_guard(g, weft_is_finite(g, vals[0]).id ? weft_tanh(g, vals[0]) : vals[0]);
    weft_output(g, "out", vals[n - 1]);
    weft_output(g, "sum", weft_sum(g, vals[n - 2], NULL, 0, false));
}

weft_graph *graph_kit_pass(const weft_graph *g, const char *name)
{
    weft_error err = {0};
    weft_graph *out = NULL;
    for (size_t i = 0; i < wf_n_passes; i++) {
        if (strcmp(wf_pass_list[i]->name, name) != 0)
            continue;
        if (wf_pass_run(wf_pass_list[i], g, &out, &err) != WEFT_OK ||
            wf_graph_verify(out, &err) != WEFT_OK) {
            fail_msg("pass %s: %s", name, err.message);
        }
        return out;
    }
    fail_msg("no pass %s", name);
    return NULL;
}

size_t graph_kit_count(const weft_graph *g, const char *op)
{
    size_t n = 0;
    for (size_t i = 0; i < g->n_nodes; i++)
        n += !strcmp(g->nodes[i].op->name, op);
    return n;
}

wf_plan_options graph_kit_plan_options(void)
{
    wf_plan_options o = {.fuse = true};
    for (int d = 0; d < WEFT_N_DTYPES; d++)
        o.elem_bytes[d] = weft_dtype_size((weft_dtype)d);
    return o;
}

wf_plan *graph_kit_plan(const weft_graph *src, const wf_plan_options *options)
{
    weft_error err = {0};
    weft_graph *g = NULL;
    wf_plan *plan = NULL;
    for (size_t i = 0; i < wf_n_passes; i++) {
        weft_graph *next = graph_kit_pass(g ? g : src, wf_pass_list[i]->name);
        weft_graph_destroy(g);
        g = next;
    }
    if (wf_plan_create(src->context, g, options, &plan, &err) != WEFT_OK)
        fail_msg("%s", err.message);
    return plan;
}

void graph_kit_expect_error(const weft_graph *g, weft_status code, const char *message)
{
    weft_error err = {0};
    assert_int_equal(weft_graph_status(g, &err), code);
    assert_string_equal(err.message, message);
}
