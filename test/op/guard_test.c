// guard: finds the first non-finite value.
#include "op_run.h"

static void passes_what_is_finite(void **state)
{
    weft_graph *g = *state;
    static const float x[] = {1.0f, FLT_MAX, -0.0f, 0x1p-149f};
    const weft_val ok = weft_guard(g, op_f32(g, OP_DIMS(4), x));
    op_values v = op_run(g, ok, false);
    assert_false(v.is_bad);
    assert_int_equal(*(const uint8_t *)v.data[ok.id], 1);
    op_values_free(&v);
}

static void names_the_first_that_is_not(void **state)
{
    weft_graph *g = *state;
    static const float x[] = {1.0f, 2.0f, -INFINITY, NAN};
    const weft_val ok = weft_guard(g, op_f32(g, OP_DIMS(4), x));
    op_values v = op_run(g, ok, false);
    assert_true(v.is_bad);
    assert_int_equal(v.bad_elem, 2);
    assert_int_equal(*(const uint8_t *)v.data[ok.id], 0);
    op_values_free(&v);
}

static void refuses_integers(void **state)
{
    weft_graph *g = *state;
    op_expect_error(g, weft_guard(g, weft_scalar(g, WEFT_I32, 1.0)), WEFT_ERR_DTYPE,
                    "guard: x is i32[], expected f32");
}

const struct CMUnitTest wf_tests_guard[] = {
    OP_TEST(passes_what_is_finite),
    OP_TEST(names_the_first_that_is_not),
    OP_TEST(refuses_integers),
};
const unsigned long wf_n_tests_guard = WF_N_TESTS(wf_tests_guard);
