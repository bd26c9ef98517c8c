// Losses against PyTorch, and the cases where weft decides otherwise.
#include "nn_run.h"

typedef weft_val (*builder)(nn_run *r, weft_val x);

static weft_val cross_entropy(nn_run *r, weft_val x, weft_cross_entropy_options o)
{
    if (nn_find(r, "weights"))
        o.class_weights = nn_input(r, "weights");
    return weft_cross_entropy(r->g, x, nn_input(r, "labels"), &o);
}
static weft_cross_entropy_options ignoring(int32_t index)
{
    weft_cross_entropy_options o = WEFT_CROSS_ENTROPY_OPTIONS_INIT;
    o.has_ignore_index = true;
    o.ignore_index = index;
    return o;
}
static weft_val build_ce(nn_run *r, weft_val x)
{
    return weft_cross_entropy(r->g, x, nn_input(r, "labels"), NULL);
}
static weft_val build_ce_sum(nn_run *r, weft_val x)
{
    weft_cross_entropy_options o = WEFT_CROSS_ENTROPY_OPTIONS_INIT;
    o.reduction = WEFT_REDUCTION_SUM;
    return cross_entropy(r, x, o);
}
static weft_val build_ce_none(nn_run *r, weft_val x)
{
    weft_cross_entropy_options o = ignoring(-100);
    o.reduction = WEFT_REDUCTION_NONE;
    return cross_entropy(r, x, o);
}
static weft_val build_ce_ignore(nn_run *r, weft_val x)
{
    return cross_entropy(r, x, ignoring(-100));
}
static weft_val build_ce_ignore_class(nn_run *r, weft_val x)
{
    return cross_entropy(r, x, ignoring(2));
}
static weft_val build_ce_weights(nn_run *r, weft_val x)
{
    const weft_cross_entropy_options o = WEFT_CROSS_ENTROPY_OPTIONS_INIT;
    return cross_entropy(r, x, o);
}
static weft_val build_ce_smoothing(nn_run *r, weft_val x)
{
    weft_cross_entropy_options o = WEFT_CROSS_ENTROPY_OPTIONS_INIT;
    o.label_smoothing = 0.1;
    return cross_entropy(r, x, o);
}
static weft_val build_ce_all(nn_run *r, weft_val x)
{
    weft_cross_entropy_options o = ignoring(-100);
    o.label_smoothing = 0.2;
    return cross_entropy(r, x, o);
}
static weft_reduction reduction_of(const nn_run *r)
{
    const char *name = strchr(r->test_case, '_') + 1;
    return !strcmp(name, "mean")  ? WEFT_REDUCTION_MEAN
           : !strcmp(name, "sum") ? WEFT_REDUCTION_SUM
                                  : WEFT_REDUCTION_NONE;
}
static weft_val build_bce(nn_run *r, weft_val x)
{
    return weft_bce_with_logits(r->g, x, nn_input(r, "target"), reduction_of(r));
}
static weft_val build_mse(nn_run *r, weft_val x)
{
    return weft_mse(r->g, x, nn_input(r, "target"), reduction_of(r));
}
static weft_val build_huber(nn_run *r, weft_val x)
{
    return weft_huber(r->g, x, nn_input(r, "target"), 0.75, reduction_of(r));
}

static void run_case(const char *name, builder build)
{
    nn_run r;
    weft_val dx;
    nn_begin(&r, "nn_losses", true);
    r.test_case = name;
    const weft_val x = nn_input(&r, "x"), loss = build(&r, x);
    weft_val total = loss;
    if (nn_find(&r, "g"))
        total = weft_sum(r.g, weft_mul(r.g, loss, nn_input(&r, "g")), NULL, 0, false);
    weft_grad(r.g, total, &x, 1, &dx);
    weft_output(r.g, "loss", loss);
    weft_output(r.g, "dx", dx);
    nn_go(&r);
    nn_expect(&r, "loss", "loss", NN_TOLERANCE);
    nn_expect(&r, "dx", "dx", NN_TOLERANCE);
    nn_end(&r);
}

#define CASE(test, name, build)                                                                    \
    static void test(void **state)                                                                 \
    {                                                                                              \
        (void)state;                                                                               \
        run_case(name, build);                                                                     \
    }
CASE(cross_entropy_agrees, "ce", build_ce)
CASE(summed_cross_entropy_agrees, "ce_sum", build_ce_sum)
CASE(unreduced_cross_entropy_agrees, "ce_none", build_ce_none)
CASE(ignored_rows_agree, "ce_ignore", build_ce_ignore)
CASE(an_ignored_class_agrees, "ce_ignore_class", build_ce_ignore_class)
CASE(class_weights_agree, "ce_weights", build_ce_weights)
CASE(label_smoothing_agrees, "ce_smoothing", build_ce_smoothing)
CASE(all_options_together_agree, "ce_all", build_ce_all)
CASE(cross_entropy_of_images_agrees, "ce_image", build_ce_ignore)
CASE(bce_agrees, "bce_mean", build_bce)
CASE(unreduced_bce_agrees, "bce_none", build_bce)
CASE(mse_agrees, "mse_mean", build_mse)
CASE(summed_mse_agrees, "mse_sum", build_mse)
CASE(unreduced_mse_agrees, "mse_none", build_mse)
CASE(huber_agrees, "huber_mean", build_huber)
CASE(summed_huber_agrees, "huber_sum", build_huber)
CASE(unreduced_huber_agrees, "huber_none", build_huber)

// A batch of ignored labels only: loss 0, gradient 0, weights unchanged, where PyTorch has NaN.
static void all_ignored_is_zero(void **state)
{
    (void)state;
    nn_run r;
    weft_val dx;
    static const int32_t labels[] = {-100, -100};
    static const float logits[] = {1, 2, 3, 4, 5, 6};
    nn_begin(&r, NULL, true);
    const weft_cross_entropy_options o = ignoring(-100);
    const weft_val x = weft_constant(r.g, WEFT_F32, NN_DIMS(2, 3), logits);
    const weft_val loss =
        weft_cross_entropy(r.g, x, weft_constant(r.g, WEFT_I32, NN_DIMS(2), labels), &o);
    weft_grad(r.g, loss, &x, 1, &dx);
    weft_output(r.g, "loss", loss);
    weft_output(r.g, "dx", dx);
    nn_go(&r);
    float got[6];
    assert_true(nn_read_f32(&r, "loss") == 0.0f);
    NN_OK(weft_program_read(r.program, "dx", got, sizeof got, err));
    for (int i = 0; i < 6; i++) {
        assert_true(got[i] == 0.0f);
    }
    nn_end(&r);
}

static void a_bad_label_makes_the_step_bad(void **state)
{
    (void)state;
    nn_run r;
    static const int32_t labels[] = {0, 3};
    static const float logits[] = {1, 2, 3, 4, 5, 6};
    nn_begin(&r, NULL, true);
    const weft_val x = weft_constant(r.g, WEFT_F32, NN_DIMS(2, 3), logits);
    weft_output(r.g, "loss",
                weft_cross_entropy(r.g, x, weft_constant(r.g, WEFT_I32, NN_DIMS(2), labels), NULL));
    nn_compile(&r);
    NN_OK(weft_program_run(r.program, err));
    assert_int_equal(weft_program_check(r.program, NULL), WEFT_ERR_INDEX);
    nn_end(&r);
}

static void refuses_labels_of_another_shape(void **state)
{
    (void)state;
    nn_run r;
    nn_begin(&r, NULL, true);
    const weft_val x = weft_fill(r.g, WEFT_F32, NN_DIMS(2, 3), 0.0);
    weft_cross_entropy(r.g, x, weft_fill(r.g, WEFT_I32, NN_DIMS(3), 0.0), NULL);
    nn_expect_error(
        &r, WEFT_ERR_SHAPE,
        "cross_entropy: logits is f32[2,3], labels is i32[3], expected [n,c,..] and [n,..]");
    nn_end(&r);
}

static void refuses_other_targets(void **state)
{
    (void)state;
    nn_run r;
    nn_begin(&r, NULL, true);
    const weft_val x = weft_fill(r.g, WEFT_F32, NN_DIMS(2, 3), 0.0);
    weft_mse(r.g, x, weft_fill(r.g, WEFT_F32, NN_DIMS(2), 0.0), WEFT_REDUCTION_MEAN);
    nn_expect_error(&r, WEFT_ERR_SHAPE,
                    "mse: x is f32[2,3], target is f32[2], expected f32 of one shape");
    nn_end(&r);
}

const struct CMUnitTest wf_tests_nn_losses[] = {
    cmocka_unit_test(cross_entropy_agrees),
    cmocka_unit_test(summed_cross_entropy_agrees),
    cmocka_unit_test(unreduced_cross_entropy_agrees),
    cmocka_unit_test(ignored_rows_agree),
    cmocka_unit_test(an_ignored_class_agrees),
    cmocka_unit_test(class_weights_agree),
    cmocka_unit_test(label_smoothing_agrees),
    cmocka_unit_test(all_options_together_agree),
    cmocka_unit_test(cross_entropy_of_images_agrees),
    cmocka_unit_test(bce_agrees),
    cmocka_unit_test(unreduced_bce_agrees),
    cmocka_unit_test(mse_agrees),
    cmocka_unit_test(summed_mse_agrees),
    cmocka_unit_test(unreduced_mse_agrees),
    cmocka_unit_test(huber_agrees),
    cmocka_unit_test(summed_huber_agrees),
    cmocka_unit_test(unreduced_huber_agrees),
    cmocka_unit_test(all_ignored_is_zero),
    cmocka_unit_test(a_bad_label_makes_the_step_bad),
    cmocka_unit_test(refuses_labels_of_another_shape),
    cmocka_unit_test(refuses_other_targets),
};
const unsigned long wf_n_tests_nn_losses = WF_N_TESTS(wf_tests_nn_losses);
