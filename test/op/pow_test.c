// pow: values, gradient by base and exponent, the gradient at base 0.
#include "op_run.h"

static void takes_special_values(void **state)
{
    static const float a[] = {2.0f, -2.0f, 0.0f, NAN, -1.0f, 4.0f, 0.0f};
    static const float b[] = {10.0f, 3.0f, 0.0f, 0.0f, 0.5f, 0.5f, -1.0f};
    static const float z[] = {1024.0f, -8.0f, 1.0f, 1.0f, NAN, 2.0f, INFINITY};
    op_binary_f32(*state, weft_pow, a, b, z, OP_COUNT(a));
}

static void has_its_gradient(void **state)
{
    static const float a[] = {0.5f, 1.5f, 2.0f, 0.75f, 1.25f, 3.0f};
    static const float b[] = {1.5f, -0.5f};
    op_binary_gradient(*state, weft_pow, a, b, OP_COUNT(a));
}

static void is_safe_at_zero(void **state)
{
    weft_graph *g = *state;
    static const float a[] = {0.0f, 0.0f, 0.0f}, b[] = {0.0f, 1.0f, 2.0f};
    static const float da[] = {0.0f, 1.0f, 0.0f}, db[] = {0.0f, 0.0f, 0.0f};
    const weft_val ab[] = {op_f32(g, OP_DIMS(3), a), op_f32(g, OP_DIMS(3), b)};
    weft_val d[2];
    weft_grad(g, weft_sum(g, weft_pow(g, ab[0], ab[1]), NULL, 0, false), ab, 2, d);
    op_expect_f32(g, d[0], da, 3);
    op_expect_f32(g, d[1], db, 3);
}

static void refuses_integers(void **state)
{
    op_binary_refuses(*state, weft_pow, WEFT_I32, "pow: a is i32[2], expected f32");
}

const struct CMUnitTest wf_tests_pow[] = {
    OP_TEST(takes_special_values),
    OP_TEST(has_its_gradient),
    OP_TEST(is_safe_at_zero),
    OP_TEST(refuses_integers),
};
const unsigned long wf_n_tests_pow = WF_N_TESTS(wf_tests_pow);
