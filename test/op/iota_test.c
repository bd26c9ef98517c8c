// iota: indices along an axis, errors.
#include "op_run.h"

static void counts(void **state)
{
    weft_graph *g = *state;
    static const float f[] = {0.0f, 0.0f, 1.0f, 1.0f};
    static const int64_t i[] = {0, 1, 2, 0, 1, 2};
    op_expect_f32(g, weft_iota(g, WEFT_F32, OP_DIMS(2, 2), 0), f, 4);
    op_expect_bytes(g, weft_iota(g, WEFT_I64, OP_DIMS(2, 3), -1), WEFT_I64, i, 6);
    op_expect_dims(g, weft_iota(g, WEFT_I32, OP_DIMS(0, 3), 1), OP_DIMS(0, 3));
    op_expect_bytes(g, weft_iota(g, WEFT_I32, OP_DIMS(0, 3), 1), WEFT_I32, NULL, 0);
}

static void refuses_an_axis(void **state)
{
    weft_graph *g = *state;
    op_expect_error(g, weft_iota(g, WEFT_I32, OP_DIMS(2, 3), 2), WEFT_ERR_SHAPE,
                    "iota: axis 2 is out of range, dims are [2,3]");
}

static void refuses_bytes(void **state)
{
    weft_graph *g = *state;
    op_expect_error(g, weft_iota(g, WEFT_U8, OP_DIMS(2), 0), WEFT_ERR_DTYPE,
                    "iota: dtype is u8, expected f32 i32 i64");
}

const struct CMUnitTest wf_tests_iota[] = {
    OP_TEST(counts),
    OP_TEST(refuses_an_axis),
    OP_TEST(refuses_bytes),
};
const unsigned long wf_n_tests_iota = WF_N_TESTS(wf_tests_iota);
