// The CTC loss against PyTorch: blanks, repeated labels, sequences and labels of many lengths; what cannot be is
// infinity or 0, without a gradient; the same bits on the cpu.
#include "nn_run.h"

static void add_case(nn_run *r, int32_t blank)
{
    weft_ctc_options o = WEFT_CTC_OPTIONS_INIT;
    o.reduction = WEFT_REDUCTION_NONE;
    o.blank = blank;
    const weft_val x = nn_input(r, "x"), labels = nn_input(r, "labels");
    o.lengths = nn_input(r, "lengths");
    o.label_lengths = nn_input(r, "label_lengths");
    const weft_val y = weft_ctc_loss(r->g, x, labels, &o);
    // What is infinite has no weight: 0 times infinity must not reach the sum.
    const weft_val g = nn_input(r, "g"), zero = weft_scalar(r->g, WEFT_F32, 0.0);
    const weft_val counted =
        weft_select(r->g, weft_equal(r->g, g, zero), zero, weft_mul(r->g, y, g));
    weft_val dx;
    weft_grad(r->g, weft_sum(r->g, counted, NULL, 0, false), &x, 1, &dx);
    weft_output(r->g, "y", y);
    weft_output(r->g, "dx", dx);
}

static void expect_losses(nn_run *r)
{
    const wf_st_tensor *t = nn_get(r, "y");
    float got[8];
    assert_true(t->size_bytes <= sizeof got);
    NN_OK(weft_program_read(r->program, "y", got, t->size_bytes, err));
    for (size_t i = 0; i < t->size_bytes / 4; i++) {
        float want;
        memcpy(&want, (const char *)t->data + 4 * i, 4);
        const bool is_near = isinf(want)
                                 ? got[i] == want
                                 : fabs((double)got[i] - (double)want) <= 2e-6 * fabs((double)want);
        if (!is_near)
            fail_msg("%s: loss %zu is %.9g, expected %.9g", r->test_case, i, (double)got[i],
                     (double)want);
    }
}

static void run_case(const char *name, int32_t blank, double tolerance)
{
    nn_run r;
    nn_begin(&r, "nn_ctc", true);
    r.test_case = name;
    add_case(&r, blank);
    nn_go(&r);
    expect_losses(&r);
    nn_expect(&r, "dx", "dx", tolerance);
    nn_end(&r);
}

static void agrees(void **state)
{
    (void)state;
    run_case("plain", 0, NN_TOLERANCE);
    run_case("lengths", 0, NN_TOLERANCE);
    run_case("repeats", 0, NN_TOLERANCE);
    run_case("blank_last", 3, NN_TOLERANCE);
    run_case("empty", 0, NN_TOLERANCE);
}

static void what_cannot_be_is_infinite_and_has_no_gradient(void **state)
{
    (void)state;
    run_case("impossible", 0, NN_TOLERANCE);
}

// Logs of probabilities of e^-150 have ulps of 1e-5: their exponentials are that exact.
static void a_long_sequence_agrees(void **state)
{
    (void)state;
    run_case("long", 0, 5e-5);
}

// Sum, mean over labels, 0 for what cannot be.
static void reduces(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        nn_run r;
        weft_ctc_options o = WEFT_CTC_OPTIONS_INIT;
        nn_begin(&r, "nn_ctc", true);
        r.test_case = "impossible";
        o.reduction = i == 0   ? WEFT_REDUCTION_SUM
                      : i == 1 ? WEFT_REDUCTION_MEAN
                               : WEFT_REDUCTION_NONE;
        o.zero_infinity = true;
        o.lengths = nn_input(&r, "lengths");
        o.label_lengths = nn_input(&r, "label_lengths");
        const weft_val x = nn_input(&r, "x");
        const weft_val y = weft_ctc_loss(r.g, x, nn_input(&r, "labels"), &o);
        weft_output(r.g, "y", y);
        nn_go(&r);
        float got[3] = {0}, want;
        NN_OK(weft_program_read(r.program, "y", got, i == 2 ? sizeof got : sizeof got[0], err));
        memcpy(&want, (const char *)nn_get(&r, "y")->data + 4, 4); // the one that can be: 2 labels
        const float expected = i == 0 ? want : i == 1 ? want / 2.0f / 3.0f : 0.0f;
        assert_float_equal(got[0], expected, 1e-5f);
        if (i == 2)
            assert_float_equal(got[1], want, 1e-5f);
        nn_end(&r);
    }
}

static void take(const char *device, uint8_t out[4096], size_t *out_n)
{
    nn_run r;
    nn_begin_on(&r, device, NULL, "nn_ctc", true);
    r.test_case = "lengths";
    add_case(&r, 0);
    nn_go(&r);
    const size_t y = nn_get(&r, "y")->size_bytes, dx = nn_get(&r, "dx")->size_bytes;
    assert_true(y + dx <= 4096);
    NN_OK(weft_program_read(r.program, "y", out, y, err));
    NN_OK(weft_program_read(r.program, "dx", out + y, dx, err));
    *out_n = y + dx;
    nn_end(&r);
}

static void cpu_gives_the_same_bits(void **state)
{
    uint8_t expected[4096], got[4096];
    size_t n, m;
    (void)state;
    take("ref", expected, &n);
    take("cpu", got, &m);
    assert_int_equal(n, m);
    assert_memory_equal(got, expected, n);
}

static void a_label_that_is_no_class_makes_the_step_bad(void **state)
{
    static const int32_t bad[] = {1, 7, 2, 3};
    static const int64_t dims[] = {2, 2};
    nn_run r;
    weft_error e = {0};
    (void)state;
    nn_begin(&r, NULL, true);
    const weft_val x = weft_fill(r.g, WEFT_F32, (const int64_t[]){4, 2, 5}, 3, 0.0);
    const weft_val labels = weft_constant(r.g, WEFT_I32, dims, 2, bad);
    weft_output(r.g, "y", weft_ctc_loss(r.g, x, labels, NULL));
    nn_compile(&r);
    NN_OK(weft_program_run(r.program, err));
    assert_int_equal(weft_program_check(r.program, &e), WEFT_ERR_INDEX);
    nn_end(&r);
}

static void says_what_does_not_fit(void **state)
{
    nn_run r;
    weft_ctc_options o = WEFT_CTC_OPTIONS_INIT;
    (void)state;
    nn_begin(&r, NULL, true);
    const weft_val x = weft_input(r.g, "x", WEFT_F32, NN_DIMS(4, 2, 5));
    (void)weft_ctc_loss(r.g, x, weft_input(r.g, "l", WEFT_I32, NN_DIMS(3, 2)), NULL);
    nn_expect_error(
        &r, WEFT_ERR_SHAPE,
        "ctc: logits is f32[4,2,5], labels is i32[3,2], expected [t,b,c] and [b,n], t >= 1");
    nn_end(&r);
    nn_begin(&r, NULL, true);
    o.blank = 5;
    const weft_val y = weft_input(r.g, "x", WEFT_F32, NN_DIMS(4, 2, 5));
    (void)weft_ctc_loss(r.g, y, weft_input(r.g, "l", WEFT_I32, NN_DIMS(2, 3)), &o);
    nn_expect_error(&r, WEFT_ERR_ATTR, "ctc: blank is 5, expected 0 <= blank < 5");
    nn_end(&r);
}

const struct CMUnitTest wf_tests_nn_ctc[] = {
    cmocka_unit_test(agrees),
    cmocka_unit_test(what_cannot_be_is_infinite_and_has_no_gradient),
    cmocka_unit_test(a_long_sequence_agrees),
    cmocka_unit_test(reduces),
    cmocka_unit_test(cpu_gives_the_same_bits),
    cmocka_unit_test(a_label_that_is_no_class_makes_the_step_bad),
    cmocka_unit_test(says_what_does_not_fit),
};
const unsigned long wf_n_tests_nn_ctc = WF_N_TESTS(wf_tests_nn_ctc);
