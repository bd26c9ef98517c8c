// Each pass: what it does to a small graph, that doing it twice changes nothing more, and that nobody
// else's values go.
#include "../graph/graph_kit.h"

static void expect_idempotent(const weft_graph *g, const char *name)
{
    weft_graph *once = graph_kit_pass(g, name), *twice = graph_kit_pass(once, name);
    char *a, *b;
    assert_int_equal(weft_graph_print(once, &a, NULL), WEFT_OK);
    assert_int_equal(weft_graph_print(twice, &b, NULL), WEFT_OK);
    assert_string_equal(a, b);
    weft_text_free(g->context, a);
    weft_text_free(g->context, b);
    weft_graph_destroy(once);
    weft_graph_destroy(twice);
}

static void all_are_idempotent(void **state)
{
    graph_kit *kit = *state;
    for (uint32_t seed = 0; seed < 20; seed++) {
        weft_graph *g;
        assert_int_equal(weft_graph_create(kit->ctx, &g, NULL), WEFT_OK);
        if (seed) {
            graph_kit_build_random(g, seed);
        } else {
            graph_kit_build_step(g, 2);
        }
        for (size_t i = 0; i < wf_n_passes; i++) {
            // fold makes new constants and simplify shortens chains: each is at rest after the two
            // rounds that the list gives it, which the next test looks at. again leaves work to dead.
            if (strcmp(wf_pass_list[i]->name, "fold") &&
                strcmp(wf_pass_list[i]->name, "simplify") &&
                strcmp(wf_pass_list[i]->name, "again")) {
                expect_idempotent(g, wf_pass_list[i]->name);
            }
        }
        weft_graph_destroy(g);
    }
}

static void dead_keeps_outputs_and_effects(void **state)
{
    weft_graph *g = ((graph_kit *)*state)->g;
    const weft_val x = weft_input(g, "x", WEFT_F32, KIT_DIMS(2));
    weft_output(g, "y", weft_exp(g, x));
    weft_guard(g, weft_sin(g, x));
    weft_cos(g, x);
    weft_graph *out = graph_kit_pass(g, "dead");
    assert_int_equal(graph_kit_count(out, "exp"), 1);
    assert_int_equal(graph_kit_count(out, "sin"), 1);
    assert_int_equal(graph_kit_count(out, "guard"), 1);
    assert_int_equal(graph_kit_count(out, "cos"), 0);
    weft_graph_destroy(out);
}

static void canonical_makes_fma(void **state)
{
    weft_graph *g = ((graph_kit *)*state)->g;
    const weft_val a = weft_input(g, "a", WEFT_F32, KIT_DIMS(2)),
                   b = weft_input(g, "b", WEFT_F32, KIT_DIMS(2)),
                   c = weft_input(g, "c", WEFT_F32, KIT_DIMS(2));
    const weft_val ab = weft_mul(g, a, b);
    weft_output(g, "sum", weft_add(g, ab, c));                 // fma(a, b, c)
    weft_output(g, "minus", weft_sub(g, ab, c));               // fma(a, b, -c)
    weft_output(g, "rest", weft_sub(g, c, ab));                // fma(-a, b, c)
    weft_output(g, "sign", weft_add(g, c, weft_neg(g, ab)));   // fma(-a, b, c)
    weft_output(g, "two", weft_add(g, ab, weft_mul(g, b, c))); // the left one: fma(a, b, b * c)
    weft_output(g, "plain", weft_add(g, a, c));                // no product, no fma
    weft_output(g, "reduced",
                weft_add(g, weft_sum(g, ab, NULL, 0, false), weft_scalar(g, WEFT_F32, 1.0)));
    weft_graph *out = graph_kit_pass(g, "canonical");
    assert_int_equal(graph_kit_count(out, "fma"), 5);
    assert_int_equal(graph_kit_count(out, "add"), 2);
    assert_int_equal(graph_kit_count(out, "sub"), 0);
    const wf_node *two = wf_graph_producer(out, out->outputs[4].val);
    assert_string_equal(wf_graph_producer(out, two->inputs[2])->op->name, "mul");
    weft_graph_destroy(out);
}

static void canonical_leaves_integers(void **state)
{
    weft_graph *g = ((graph_kit *)*state)->g;
    const weft_val a = weft_input(g, "a", WEFT_I32, KIT_DIMS(2));
    weft_output(g, "y", weft_add(g, weft_mul(g, a, a), a));
    weft_graph *out = graph_kit_pass(g, "canonical");
    assert_int_equal(graph_kit_count(out, "add"), 1);
    weft_graph_destroy(out);
}

static void simplify_keeps_bits_only(void **state)
{
    weft_graph *g = ((graph_kit *)*state)->g;
    const weft_val x = weft_input(g, "x", WEFT_F32, KIT_DIMS(2, 3));
    const int32_t swap[] = {1, 0};
    weft_output(g, "one", weft_mul(g, x, weft_scalar(g, WEFT_F32, 1.0)));
    weft_output(g, "views", weft_permute(g, weft_permute(g, x, swap), swap));
    weft_output(g, "neg", weft_neg(g, weft_neg(g, x)));
    const int64_t none[] = {0, 0}, all[] = {2, 3};
    weft_output(g, "all", weft_slice(g, x, none, all, NULL));
    weft_output(g, "minus_zero", weft_add(g, x, weft_scalar(g, WEFT_F32, -0.0)));
    weft_output(g, "zero", weft_add(g, x, weft_scalar(g, WEFT_F32, 0.0))); // -0 + 0 is +0: stays
    weft_output(g, "half", weft_div(g, x, weft_scalar(g, WEFT_F32, 3.0))); // no reciprocal
    weft_graph *out = graph_kit_pass(g, "simplify");
    const wf_id input = out->outputs[0].val;
    assert_string_equal(wf_graph_producer(out, input)->op->name, "input");
    for (size_t i = 1; i < 5; i++)
        assert_int_equal(out->outputs[i].val, input);
    assert_string_equal(wf_graph_producer(out, out->outputs[5].val)->op->name, "add");
    assert_string_equal(wf_graph_producer(out, out->outputs[6].val)->op->name, "div");
    weft_graph_destroy(out);
}

// x [2,3] between `before` and `after` columns of a value.
static weft_val padded(weft_graph *g, weft_val x, int64_t before, int64_t after, double value)
{
    const int64_t front[] = {0, before}, behind[] = {0, after};
    return weft_pad(g, x, front, behind, value);
}

static void join_puts_parts_side_by_side(void **state)
{
    weft_graph *g = ((graph_kit *)*state)->g;
    const weft_val x = weft_input(g, "x", WEFT_F32, KIT_DIMS(2, 3)),
                   w = weft_input(g, "w", WEFT_F32, KIT_DIMS(3, 3));
    const weft_val product = weft_matmul(g, x, w, false, false); // never -0: nothing is added to it
    const weft_val last = padded(g, x, 6, 0, 0.0), middle = padded(g, product, 3, 3, 0.0);
    const weft_val first = padded(g, weft_exp(g, x), 0, 6, 0.0);
    weft_output(g, "y", weft_add(g, weft_add(g, last, first), middle));
    weft_graph *joined = graph_kit_pass(g, "join"), *out = graph_kit_pass(joined, "dead");
    const wf_node *whole = wf_graph_producer(out, out->outputs[0].val);
    assert_string_equal(whole->op->name, "concat");
    assert_int_equal(graph_kit_count(out, "pad"), 0);
    assert_int_equal(graph_kit_count(out, "add"), 2); // -0 + 0 is +0
    assert_string_equal(wf_graph_producer(out, whole->inputs[1])->op->name, "matmul");
    weft_graph_destroy(joined);
    weft_graph_destroy(out);
}

static void join_wants_a_whole(void **state)
{
    weft_graph *g = ((graph_kit *)*state)->g;
    const weft_val x = weft_input(g, "x", WEFT_F32, KIT_DIMS(2, 3)),
                   y = weft_input(g, "y", WEFT_F32, KIT_DIMS(1, 6));
    const int64_t none[] = {0, 0}, below[] = {1, 0};
    const weft_val left = padded(g, x, 0, 3, 0.0), right = padded(g, x, 3, 0, 0.0);
    weft_output(g, "gap", weft_add(g, padded(g, x, 0, 4, 0.0), padded(g, x, 4, 0, 0.0)));
    weft_output(g, "over", weft_add(g, padded(g, x, 0, 2, 0.0), padded(g, x, 2, 0, 0.0)));
    weft_output(g, "twice", weft_add(g, weft_add(g, left, right), left));
    weft_output(g, "one", weft_add(g, left, padded(g, x, 3, 0, 1.0)));
    weft_output(g, "minus", weft_add(g, left, padded(g, x, 3, 0, -0.0)));
    weft_output(g, "axes", weft_add(g, left, weft_pad(g, y, none, below, 0.0)));
    weft_output(g, "other", weft_add(g, left, weft_exp(g, right)));
    weft_graph *out = graph_kit_pass(g, "join");
    for (size_t i = 0; i < out->n_outputs; i++)
        assert_string_equal(wf_graph_producer(out, out->outputs[i].val)->op->name, "add");
    weft_graph_destroy(out);
}

// A table that is read by its rows and as a matrix.
static void join_scatters_over_the_other_gradient(void **state)
{
    weft_graph *g = ((graph_kit *)*state)->g;
    const weft_val rows = weft_input(g, "rows", WEFT_F32, KIT_DIMS(4, 3)),
                   idx = weft_input(g, "idx", WEFT_I32, KIT_DIMS(4)),
                   x = weft_input(g, "x", WEFT_F32, KIT_DIMS(5, 2));
    const weft_val zeros = weft_fill(g, WEFT_F32, KIT_DIMS(5, 3), 0.0);
    const weft_val scattered = weft_scatter_add(g, zeros, idx, rows, 0);
    const weft_val product =
        weft_matmul(g, x, weft_input(g, "w", WEFT_F32, KIT_DIMS(2, 3)), false, false);
    weft_output(g, "joined", weft_add(g, scattered, product));
    weft_output(g, "turned", weft_add(g, product, scattered));
    weft_output(g, "kept",
                weft_add(g, scattered, weft_exp(g, product))); // may be -0, for all we know
    weft_output(
        g, "ones",
        weft_add(g, weft_scatter_add(g, weft_fill(g, WEFT_F32, KIT_DIMS(5, 3), 1.0), idx, rows, 0),
                 product));
    weft_graph *out = graph_kit_pass(g, "join");
    static const char *const want[] = {"scatter_add", "scatter_add", "add", "add"};
    for (size_t i = 0; i < out->n_outputs; i++)
        assert_string_equal(wf_graph_producer(out, out->outputs[i].val)->op->name, want[i]);
    weft_graph_destroy(out);
}

static void fold_computes_constants(void **state)
{
    weft_graph *g = ((graph_kit *)*state)->g;
    const float values[] = {1.0f, 4.0f, 9.0f};
    const weft_val c = weft_constant(g, WEFT_F32, KIT_DIMS(3), values);
    weft_output(g, "y", weft_sqrt(g, c));
    weft_graph *out = graph_kit_pass(g, "fold");
    const wf_node *node = wf_graph_producer(out, out->outputs[0].val);
    assert_string_equal(node->op->name, "constant");
    const float *data = node->attrs[node->op->n_attrs - 1].u.data;
    assert_true(data[0] == 1.0f && data[1] == 2.0f && data[2] == 3.0f);
    weft_graph_destroy(out);
}

static void cse_joins_equal_nodes_only(void **state)
{
    weft_graph *g = ((graph_kit *)*state)->g;
    const weft_val x = weft_input(g, "x", WEFT_F32, KIT_DIMS(2, 2));
    const int32_t zero = 0, one = 1;
    weft_output(g, "a", weft_exp(g, x));
    weft_output(g, "b", weft_exp(g, x));
    weft_output(g, "c", weft_sum(g, x, &zero, 1, true));
    weft_output(g, "d", weft_sum(g, x, &one, 1, true));
    const weft_val plus = weft_scalar(g, WEFT_F32, 0.0), minus = weft_scalar(g, WEFT_F32, -0.0);
    weft_output(g, "e", weft_add(g, x, plus));
    weft_output(g, "f", weft_add(g, x, minus));
    weft_graph *out = graph_kit_pass(g, "cse");
    assert_int_equal(graph_kit_count(out, "exp"), 1);
    assert_int_equal(graph_kit_count(out, "reduce_sum"), 2);
    assert_int_equal(graph_kit_count(out, "add"), 2); // +0 and -0 are two constants
    weft_graph_destroy(out);
}

// A value held in bf16 is widened for each of its three readers; what one of them reads twice, once. What stands
// in memory anyway is narrowed again, too.
static void widen_serves_each_reader(void **state)
{
    weft_graph *g = ((graph_kit *)*state)->g;
    const weft_val x = weft_input(g, "x", WEFT_F32, KIT_DIMS(2, 3));
    const weft_val wide = weft_cast(g, weft_cast(g, weft_cos(g, x), WEFT_BF16), WEFT_F32);
    const weft_val flat = weft_reshape(g, wide, KIT_DIMS(6));
    weft_output(g, "a", weft_exp(g, wide));
    weft_output(g, "b", weft_mul(g, flat, flat));
    weft_output(g, "c", weft_sin(g, flat));
    weft_graph *out = graph_kit_pass(g, "widen");
    assert_int_equal(graph_kit_count(out, "cast"), 1 + 3);
    assert_int_equal(graph_kit_count(out, "reshape"), 2);
    weft_graph_destroy(out);
    const weft_val source = weft_cast(g, weft_cast(g, x, WEFT_F16), WEFT_F32);
    weft_output(g, "d", weft_exp(g, source));
    weft_output(g, "e", weft_sin(g, source));
    const weft_val loses = weft_cast(g, weft_cast(g, x, WEFT_I32), WEFT_F32); // no such cast
    weft_output(g, "f", weft_exp(g, loses));
    weft_output(g, "g", weft_sin(g, loses));
    out = graph_kit_pass(g, "widen");
    assert_int_equal(graph_kit_count(out, "cast"), 4 + 4 + 2);
    expect_idempotent(g, "widen");
    weft_graph_destroy(out);
}

static weft_graph *make_again(const weft_graph *g)
{
    weft_graph *copied = graph_kit_pass(g, "again"), *out = graph_kit_pass(copied, "dead");
    weft_graph_destroy(copied);
    return out;
}

static weft_val product(weft_graph *g, weft_val a, weft_val b)
{
    return weft_matmul(g, a, b, false, false);
}

// A norm and its activation between two products of n rows, and what their gradient reads of them.
static void build_norm(weft_graph *g, int64_t n)
{
    const weft_val a = weft_input(g, "a", WEFT_F32, KIT_DIMS(n, 8)),
                   b = weft_input(g, "b", WEFT_F32, KIT_DIMS(8, 64)),
                   w = weft_input(g, "w", WEFT_F32, KIT_DIMS(64, 64)),
                   scale = weft_input(g, "scale", WEFT_F32, KIT_DIMS(1, 64));
    const weft_val zero = weft_scalar(g, WEFT_F32, 0.0);
    const int32_t rows = 0;
    const weft_val x = product(g, a, b);
    const weft_val d = weft_sub(g, x, weft_sum(g, x, &rows, 1, true));
    const weft_val y = weft_mul(g, d, scale);
    const weft_val z = product(g, weft_relu(g, y), w);
    const weft_val dy = product(g, z, w);
    const weft_val masked = weft_select(g, weft_less(g, zero, y), dy, zero);
    const weft_val slope = weft_sum(g, weft_mul(g, masked, d), &rows, 1, true);
    weft_output(g, "dx", product(g, weft_sub(g, masked, weft_mul(g, d, slope)), w));
}

// The differences and the mask are made again out of x where the gradient is summed, and once more where it is
// finished, the masked gradient with them. What is small stays; so does a mask whose base nothing else reads.
static void again_reads_what_is_there(void **state)
{
    graph_kit *kit = *state;
    build_norm(kit->g, 64);
    weft_graph *out = make_again(kit->g);
    assert_int_equal(graph_kit_count(kit->g, "sub"), 2);
    assert_int_equal(graph_kit_count(out, "sub"), 4);
    assert_int_equal(graph_kit_count(out, "select"), 2);
    assert_int_equal(graph_kit_count(out, "less"), 2);
    assert_int_equal(graph_kit_count(out, "relu"), 1);
    assert_int_equal(graph_kit_count(out, "matmul"), 4);
    weft_graph_destroy(out);

    weft_graph *small, *mask;
    assert_int_equal(weft_graph_create(kit->ctx, &small, NULL), WEFT_OK);
    build_norm(small, 16);
    out = make_again(small);
    assert_int_equal(graph_kit_count(out, "sub"), 2);
    weft_graph_destroy(out);
    weft_graph_destroy(small);

    assert_int_equal(weft_graph_create(kit->ctx, &mask, NULL), WEFT_OK);
    const weft_val a = weft_input(mask, "a", WEFT_F32, KIT_DIMS(64, 64)), x = product(mask, a, a);
    const weft_val zero = weft_scalar(mask, WEFT_F32, 0.0);
    const weft_val dy = product(mask, product(mask, weft_relu(mask, x), a), a);
    weft_output(mask, "dx", weft_select(mask, weft_less(mask, zero, weft_neg(mask, x)), dy, zero));
    out = make_again(mask);
    assert_int_equal(graph_kit_count(out, "neg"), 1);
    assert_int_equal(graph_kit_count(out, "less"), 1);
    weft_graph_destroy(out);
    weft_graph_destroy(mask);
}

static void expand_leaves_nothing_to_expand(void **state)
{
    weft_graph *g = ((graph_kit *)*state)->g;
    graph_kit_build_step(g, 2);
    weft_graph *out = graph_kit_pass(g, "expand");
    assert_int_equal(graph_kit_count(out, "softmax_cross_entropy"), 0);
    assert_true(graph_kit_count(out, "exp") > 0);
    weft_graph_destroy(out);
}

const struct CMUnitTest wf_tests_pass[] = {
    KIT_TEST(all_are_idempotent),
    KIT_TEST(dead_keeps_outputs_and_effects),
    KIT_TEST(canonical_makes_fma),
    KIT_TEST(canonical_leaves_integers),
    KIT_TEST(join_puts_parts_side_by_side),
    KIT_TEST(join_wants_a_whole),
    KIT_TEST(join_scatters_over_the_other_gradient),
    KIT_TEST(simplify_keeps_bits_only),
    KIT_TEST(fold_computes_constants),
    KIT_TEST(cse_joins_equal_nodes_only),
    KIT_TEST(expand_leaves_nothing_to_expand),
    KIT_TEST(widen_serves_each_reader),
    KIT_TEST(again_reads_what_is_there),
};
const unsigned long wf_n_tests_pass = WF_N_TESTS(wf_tests_pass);
