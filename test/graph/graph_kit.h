// Small graphs for the tests of graph, passes, plan and run: a context, a graph, a step of a little
// network, and passes run by name.
#ifndef GRAPH_KIT_H
#define GRAPH_KIT_H

#include <string.h>

#include "pass/pass.h"
#include "plan/plan.h"
#include "weft/weft.h"
#include "wf_test.h"

typedef struct graph_kit {
    weft_context *ctx;
    weft_graph *g;
} graph_kit;

int graph_kit_setup(void **state);
int graph_kit_teardown(void **state);
#define KIT_TEST(function)                                                                         \
    cmocka_unit_test_setup_teardown(function, graph_kit_setup, graph_kit_teardown)

#define KIT_DIMS(...)                                                                              \
    (const int64_t[]){__VA_ARGS__},                                                                \
        (int32_t)(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

// A training step: convolution, batch norm, pool, dropout, linear, cross-entropy, AdamW; input "x"
// [n,1,8,8], labels "y" [n], output "loss".
void graph_kit_build_step(weft_graph *g, int64_t batch);

// A random graph out of elementwise ops, reductions, views, products and assignments over f32, with
// output "out" and variables; equal for equal seeds.
void graph_kit_build_random(weft_graph *g, uint32_t seed);

// Runs one pass; the result is the caller's. Fails the test on an error or a broken graph.
weft_graph *graph_kit_pass(const weft_graph *g, const char *name);
// How many nodes are of the op.
size_t graph_kit_count(const weft_graph *g, const char *op);

// Options of a device that fuses and stores every dtype at its own size.
wf_plan_options graph_kit_plan_options(void);
// The plan of the graph after every pass; the caller's. Fails the test on an error.
wf_plan *graph_kit_plan(const weft_graph *g, const wf_plan_options *options);

void graph_kit_expect_error(const weft_graph *g, weft_status code, const char *message);

#endif
