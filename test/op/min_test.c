// min: NaN wins, zeros are ordered, gradient goes to the winner.
#include "op_run.h"

static void takes_the_lesser(void **state)
{
    static const float a[] = {1.0f, -0.0f, 0.0f, NAN, 1.0f, INFINITY};
    static const float b[] = {2.0f, 0.0f, -0.0f, 1.0f, NAN, 3.0f};
    static const float z[] = {1.0f, -0.0f, -0.0f, NAN, NAN, 3.0f};
    op_binary_f32(*state, weft_min, a, b, z, OP_COUNT(a));
}

static void takes_the_lesser_integer(void **state)
{
    static const uint8_t a[] = {200, 5};
    static const uint8_t b[] = {127, 5};
    static const uint8_t z[] = {127, 5};
    op_binary_any(*state, weft_min, WEFT_U8, a, b, WEFT_U8, z, OP_COUNT(a));
}

static void has_its_gradient(void **state)
{
    static const float a[] = {0.5f, -1.5f, 2.0f, 0.75f, -0.25f, 1.25f};
    static const float b[] = {0.4f, -0.6f};
    op_binary_gradient(*state, weft_min, a, b, OP_COUNT(a));
}

static void refuses_bool(void **state)
{
    op_binary_refuses(*state, weft_min, WEFT_BOOL, "min: a is bool[2], expected f32 i8 u8 i32 i64");
}

const struct CMUnitTest wf_tests_min[] = {
    OP_TEST(takes_the_lesser),
    OP_TEST(takes_the_lesser_integer),
    OP_TEST(has_its_gradient),
    OP_TEST(refuses_bool),
};
const unsigned long wf_n_tests_min = WF_N_TESTS(wf_tests_min);
