// matmul: values, the order of a sum to the last bit, transposes, batches, gradients, errors.
#include "op_run.h"

static void multiplies(void **state)
{
    weft_graph *g = *state;
    static const float a[] = {1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f}, b[] = {1.0f, -1.0f, 0.5f};
    static const float c[] = {0.5f, 2.0f};
    const weft_val x = op_f32(g, OP_DIMS(2, 3), a), y = op_f32(g, OP_DIMS(3, 1), b);
    op_expect_f32(g, weft_matmul(g, x, y, false, false), c, 2);
    op_expect_f32(g, weft_matmul(g, x, op_f32(g, OP_DIMS(1, 3), b), false, true), c, 2);
    static const float e[] = {1.0f, 1.0f};
    const weft_val one_row = op_f32(g, OP_DIMS(2, 1), e);
    const weft_val sums = weft_matmul(g, one_row, x, true, false);
    op_expect_dims(g, sums, OP_DIMS(1, 3));
    static const float s[] = {5.0f, 7.0f, 9.0f};
    op_expect_f32(g, sums, s, 3);
}

static void stretches_batches(void **state)
{
    weft_graph *g = *state;
    const weft_val a = op_ramp(g, OP_DIMS(2, 1, 2, 3)), b = op_ramp(g, OP_DIMS(3, 3, 1));
    op_expect_dims(g, weft_matmul(g, a, b, false, false), OP_DIMS(2, 3, 2, 1));
}

static void chains_within_a_block(void **state)
{
    weft_graph *g = *state;
    // One chain from +0: 2^24 takes the ones that follow it, but keeps the sum of those before.
    float a[200] = {0}, b[200];
    for (int i = 0; i < 200; i++) {
        b[i] = 1.0f;
    }
    a[0] = a[1] = a[2] = a[3] = 1.0f;
    a[100] = 16777216.0f;
    a[150] = a[151] = 1.0f;
    static const float c[] = {16777220.0f};
    const weft_val x = op_f32(g, OP_DIMS(1, 200), a), y = op_f32(g, OP_DIMS(200, 1), b);
    op_expect_f32(g, weft_matmul(g, x, y, false, false), c, 1);
}

static void cuts_long_sums_into_blocks(void **state)
{
    weft_graph *g = *state;
    // 5000 terms: two blocks of 2560 (2500 rounded up to a multiple of 64).
    static float a[5000], b[5000];
    for (int i = 0; i < 5000; i++) {
        a[i] = 0.0f;
        b[i] = 1.0f;
    }
    a[0] = 16777216.0f;
    a[2559] = 1.0f;           // lost in the first block
    a[2560] = a[4999] = 1.0f; // meet in the second
    static const float c[] = {16777218.0f};
    const weft_val x = op_f32(g, OP_DIMS(1, 5000), a), y = op_f32(g, OP_DIMS(5000, 1), b);
    op_expect_f32(g, weft_matmul(g, x, y, false, false), c, 1);
}

static void adds_many_blocks_by_groups(void **state)
{
    weft_graph *g = *state;
    // 140000 terms: 35 blocks of 4032 in 32 groups. Blocks 10 and 11 are one group, 12 and 13 are two:
    // ones in the former meet before they meet 2^24, ones in the latter are lost.
    enum { K = 140000, BLOCK = 4032 };
    static float a[2 * K], b[K];
    for (int i = 0; i < K; i++) {
        b[i] = 1.0f;
    }
    a[0] = a[K] = 16777216.0f;
    a[10 * BLOCK] = a[11 * BLOCK] = 1.0f;
    a[K + 12 * BLOCK] = a[K + 13 * BLOCK] = 1.0f;
    static const float c[] = {16777218.0f, 16777216.0f};
    const weft_val x = op_f32(g, OP_DIMS(2, K), a), y = op_f32(g, OP_DIMS(K, 1), b);
    op_expect_f32(g, weft_matmul(g, x, y, false, false), c, 2);
}

static void ends_with_plus_zero(void **state)
{
    weft_graph *g = *state;
    static const float a[] = {-0x1p-100f}, b[] = {0x1p-100f}, zeros[] = {0.0f, 0.0f, 0.0f, 0.0f};
    const weft_val x = op_f32(g, OP_DIMS(1, 1), a), y = op_f32(g, OP_DIMS(1, 1), b);
    op_expect_f32(g, weft_matmul(g, x, y, false, false), zeros, 1);
    const weft_val empty = weft_constant(g, WEFT_F32, OP_DIMS(2, 0), NULL);
    op_expect_f32(g, weft_matmul(g, empty, empty, false, true), zeros, 4);
    op_expect_f32(g, weft_matmul(g, empty, empty, true, false), NULL, 0);
}

static void has_its_gradients(void **state)
{
    weft_graph *g = *state;
    for (int i = 0; i < 4; i++) {
        const bool is_ta = i & 1, is_tb = i & 2;
        const weft_val a = is_ta ? op_ramp(g, OP_DIMS(2, 3, 2)) : op_ramp(g, OP_DIMS(2, 2, 3));
        const weft_val b = is_tb ? op_ramp(g, OP_DIMS(4, 3)) : op_ramp(g, OP_DIMS(3, 4));
        const weft_val loss = op_loss(g, weft_tanh(g, weft_matmul(g, a, b, is_ta, is_tb)));
        op_check_gradient(g, loss, a);
        op_check_gradient(g, loss, b);
    }
}

static void has_second_order(void **state)
{
    weft_graph *g = *state;
    const weft_val a = op_ramp(g, OP_DIMS(2, 3)), b = op_ramp(g, OP_DIMS(3, 2));
    const weft_val c = weft_matmul(g, a, b, false, false);
    op_check_second(g, op_loss(g, weft_mul(g, c, c)), a);
}

static void refuses_inner_sizes(void **state)
{
    weft_graph *g = *state;
    const weft_val a = weft_fill(g, WEFT_F32, OP_DIMS(8, 64), 1.0);
    const weft_val b = weft_fill(g, WEFT_F32, OP_DIMS(32, 16), 1.0);
    op_expect_error(g, weft_matmul(g, a, b, false, false), WEFT_ERR_SHAPE,
                    "matmul: inner sizes differ, a is [8,64], b is [32,16]");
}

static void refuses_batches(void **state)
{
    weft_graph *g = *state;
    const weft_val a = op_ramp(g, OP_DIMS(2, 2, 2)), b = op_ramp(g, OP_DIMS(3, 2, 2));
    op_expect_error(g, weft_matmul(g, a, b, false, true), WEFT_ERR_SHAPE,
                    "matmul: batch sizes do not broadcast, a is [2,2,2], b is [3,2,2]");
}

static void refuses_vectors(void **state)
{
    weft_graph *g = *state;
    const weft_val a = op_ramp(g, OP_DIMS(2, 2)), b = op_ramp(g, OP_DIMS(2));
    op_expect_error(g, weft_matmul(g, a, b, false, false), WEFT_ERR_SHAPE,
                    "matmul: a is [2,2], b is [2], expected 2 axes or more");
}

static void refuses_integers(void **state)
{
    weft_graph *g = *state;
    const weft_val a = weft_fill(g, WEFT_I32, OP_DIMS(2, 2), 1.0);
    op_expect_error(g, weft_matmul(g, a, a, false, false), WEFT_ERR_DTYPE,
                    "matmul: a is i32[2,2], expected f32");
}

const struct CMUnitTest wf_tests_matmul[] = {
    OP_TEST(multiplies),
    OP_TEST(stretches_batches),
    OP_TEST(chains_within_a_block),
    OP_TEST(cuts_long_sums_into_blocks),
    OP_TEST(adds_many_blocks_by_groups),
    OP_TEST(ends_with_plus_zero),
    OP_TEST(has_its_gradients),
    OP_TEST(has_second_order),
    OP_TEST(refuses_inner_sizes),
    OP_TEST(refuses_batches),
    OP_TEST(refuses_vectors),
    OP_TEST(refuses_integers),
};
const unsigned long wf_n_tests_matmul = WF_N_TESTS(wf_tests_matmul);
