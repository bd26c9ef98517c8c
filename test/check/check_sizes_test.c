// Case 46 (arrayfire/arrayfire#839, #1010): what `weft check` tries of every op has sizes of none and one, of a vector
// or a work-group (32), and of one more or less.
#include <string.h>

#include "check/check.h"
#include "graph/graph.h"
#include "wf_test.h"

typedef struct sizes {
    bool has_none, has_one, has_whole, has_more;
} sizes;

static void look_at(sizes *s, int64_t n)
{
    s->has_none |= n == 0;
    s->has_one |= n == 1;
    s->has_whole |= n > 0 && n % 32 == 0;
    s->has_more |= n % 32 == 31 || (n > 1 && n % 8 == 1);
}

static void look_at_value(sizes *s, const weft_type *t)
{
    look_at(s, wf_type_count(t));
    for (int32_t k = 0; k < t->ndim; k++) {
        look_at(s, t->dims[k]);
    }
}

// Operands and results of that op; what the case builds around it does not count.
static void look_at_nodes(sizes *s, const weft_graph *g, const wf_op *op)
{
    for (size_t i = 0; i < g->n_nodes; i++) {
        const wf_node *node = &g->nodes[i];
        if (node->op != op)
            continue;
        for (uint32_t k = 0; k < node->n_inputs; k++) {
            look_at_value(s, &g->values[node->inputs[k]].type);
        }
        for (uint32_t k = 0; k < node->n_outputs; k++) {
            look_at_value(s, &g->values[node->first_output + k].type);
        }
    }
}

static sizes sizes_of(weft_context *ctx, const wf_op *op)
{
    wf_check_list list;
    sizes s = {0};
    assert_int_equal(wf_check_list_init(&list, ctx, op, NULL), WEFT_OK);
    for (size_t i = 0; i < list.n; i++) {
        wf_check_trial trial;
        weft_error err = {0};
        if (wf_check_trial_init(&trial, ctx, op->name, &list.items[i], WF_CHECK_DENSE, &err) !=
            WEFT_OK) {
            fail_msg("%s %s: %s", op->name, list.items[i].name, err.message);
        }
        look_at_nodes(&s, trial.g, op);
        wf_check_trial_deinit(&trial);
    }
    wf_check_list_deinit(&list);
    return s;
}

static void every_op_is_tried_at_the_edges(void **state)
{
    weft_context *ctx;
    (void)state;
    assert_int_equal(weft_context_create(NULL, &ctx, NULL), WEFT_OK);
    for (size_t i = 0; i < ctx->n_ops; i++) {
        const wf_op *op = ctx->ops[i];
        const sizes s = sizes_of(ctx, op);
        // Sources without a size of their own: what reads them is tried.
        if (!strcmp(op->name, "input") || !strcmp(op->name, "variable") ||
            !strcmp(op->name, "constant"))
            continue;
        if (!s.has_none || !s.has_one || !s.has_whole || !s.has_more)
            fail_msg("%s: tried with none: %d, one: %d, 32: %d, 31, 33 or the like: %d", op->name,
                     s.has_none, s.has_one, s.has_whole, s.has_more);
    }
    weft_context_destroy(ctx);
}

const struct CMUnitTest wf_tests_check_sizes[] = {cmocka_unit_test(every_op_is_tried_at_the_edges)};
const unsigned long wf_n_tests_check_sizes = WF_N_TESTS(wf_tests_check_sizes);
