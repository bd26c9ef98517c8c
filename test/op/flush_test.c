// flush: only subnormals become zero; the gradient passes.
#include "op_run.h"

static void flushes_subnormals(void **state)
{
    static const float a[] = {0x1p-126f, 0x1.fffffcp-127f, -0x1p-149f, -0.0f, 1.0f, INFINITY, NAN};
    static const float y[] = {0x1p-126f, 0.0f, -0.0f, -0.0f, 1.0f, INFINITY, NAN};
    op_unary_f32(*state, weft_flush, a, y, OP_COUNT(a));
}

static void has_its_gradient(void **state)
{
    static const float a[] = {-3.0f, -1.25f, -0.4f, 0.3f, 0.9f, 2.5f};
    op_unary_gradient(*state, weft_flush, a, OP_COUNT(a));
}

static void refuses_integers(void **state)
{
    op_unary_refuses(*state, weft_flush, WEFT_I32, "flush: a is i32[2], expected f32");
}

const struct CMUnitTest wf_tests_flush[] = {
    OP_TEST(flushes_subnormals),
    OP_TEST(has_its_gradient),
    OP_TEST(refuses_integers),
};
const unsigned long wf_n_tests_flush = WF_N_TESTS(wf_tests_flush);
