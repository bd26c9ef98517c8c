// reduce_prod: axes, order, zeros in its gradient, integers, nothing, errors.
#include "op_run.h"

static void multiplies_over_axes(void **state)
{
    weft_graph *g = *state;
    static const float x[] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const float last[] = {2, 12, 30, 56}, outer[] = {105, 384}, first[] = {5, 12, 21, 32},
                       all[] = {40320};
    const weft_val a = op_f32(g, OP_DIMS(2, 2, 2), x);
    op_expect_f32(g, weft_reduce_prod(g, a, OP_AXES(-1), false), last, 4);
    op_expect_f32(g, weft_reduce_prod(g, a, OP_AXES(0, 1), false), outer, 2);
    op_expect_f32(g, weft_reduce_prod(g, a, OP_AXES(0), true), first, 4);
    op_expect_f32(g, weft_reduce_prod(g, a, NULL, 0, false), all, 1);
    op_expect_dims(g, weft_reduce_prod(g, a, OP_AXES(0, 2), true), OP_DIMS(1, 2, 1));
    op_expect_dims(g, weft_reduce_prod(g, a, OP_AXES(1), false), OP_DIMS(2, 2));
}

// Axes apart are taken in ascending logical index: the last fastest.
static void goes_in_ascending_order(void **state)
{
    weft_graph *g = *state;
    float x[6 * 5 * 7], y[5];
    for (int i = 0; i < 210; i++)
        x[i] = 1.0f + (float)(i * 37 % 29 - 14) / 64.0f;
    for (int k = 0; k < 5; k++) {
        y[k] = 1.0f;
        for (int i = 0; i < 6; i++) {
            for (int j = 0; j < 7; j++)
                y[k] *= x[(i * 5 + k) * 7 + j];
        }
    }
    op_expect_f32(g, weft_reduce_prod(g, op_f32(g, OP_DIMS(6, 5, 7), x), OP_AXES(0, 2), false), y,
                  5);
}

static void of_nothing_is_one(void **state)
{
    weft_graph *g = *state;
    static const float ones[] = {1, 1, 1}, x[] = {2, 3};
    const weft_val empty = weft_constant(g, WEFT_F32, OP_DIMS(3, 0), NULL);
    op_expect_f32(g, weft_reduce_prod(g, empty, OP_AXES(1), false), ones, 3);
    op_expect_f32(g, weft_reduce_prod(g, op_f32(g, OP_DIMS(2), x), (const int32_t[]){0}, 0, false),
                  x, 2);
}

static void wraps_integers(void **state)
{
    weft_graph *g = *state;
    static const int64_t x[] = {INT64_MAX, 2}, y[] = {-2};
    const weft_val a = weft_constant(g, WEFT_I64, OP_DIMS(2), x);
    op_expect_bytes(g, weft_reduce_prod(g, a, NULL, 0, false), WEFT_I64, y, 1);
}

static void has_its_gradient(void **state)
{
    weft_graph *g = *state;
    const weft_val x = op_ramp(g, OP_DIMS(2, 3, 2));
    op_check_gradient(g, op_loss(g, weft_reduce_prod(g, x, OP_AXES(1), false)), x);
    op_check_gradient(g, op_loss(g, weft_reduce_prod(g, x, OP_AXES(0, 2), false)), x);
}

// One zero: only its own slope is left. Two: none is.
static void has_its_gradient_at_zeros(void **state)
{
    weft_graph *g = *state;
    static const float x[] = {2, 3, 4, 2, 0, 4, 0, 3, 0}, slopes[] = {12, 8, 6, 0, 8, 0, 0, 0, 0};
    weft_val dx;
    const weft_val a = op_f32(g, OP_DIMS(3, 3), x);
    weft_grad(g, weft_sum(g, weft_reduce_prod(g, a, OP_AXES(1), false), NULL, 0, false), &a, 1,
              &dx);
    op_expect_f32(g, dx, slopes, 9);
}

// The whole product overflows, the others' products do not: dividing would give infinities.
static void has_its_gradient_near_overflow(void **state)
{
    weft_graph *g = *state;
    static const float x[] = {0x1p100f, 0x1p90f}, slopes[] = {0x1p90f, 0x1p100f};
    weft_val dx;
    const weft_val a = op_f32(g, OP_DIMS(2), x);
    weft_grad(g, weft_reduce_prod(g, a, NULL, 0, false), &a, 1, &dx);
    op_expect_f32(g, dx, slopes, 2);
}

static void refuses_bool(void **state)
{
    weft_graph *g = *state;
    static const uint8_t x[] = {1, 0};
    const weft_val a = weft_constant(g, WEFT_BOOL, OP_DIMS(2), x);
    op_expect_error(g, weft_reduce_prod(g, a, OP_AXES(0), false), WEFT_ERR_DTYPE,
                    "reduce_prod: x is bool[2], expected f32 i32 i64");
}

const struct CMUnitTest wf_tests_reduce_prod[] = {
    OP_TEST(multiplies_over_axes),
    OP_TEST(goes_in_ascending_order),
    OP_TEST(of_nothing_is_one),
    OP_TEST(wraps_integers),
    OP_TEST(has_its_gradient),
    OP_TEST(has_its_gradient_at_zeros),
    OP_TEST(has_its_gradient_near_overflow),
    OP_TEST(refuses_bool),
};
const unsigned long wf_n_tests_reduce_prod = WF_N_TESTS(wf_tests_reduce_prod);
