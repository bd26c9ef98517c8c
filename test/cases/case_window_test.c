// Windows and convolutions whose edges other systems got wrong, on every device: means over windows that
// reach beyond the padding, windows that would start there, uneven padding, few samples.
// labels: opencl
#include "cases_run.h"

// microsoft/onnxruntime#16203: the last window holds 6 cells, not 7
static void mean_of_a_cut_window(void **state)
{
    static const float x[] = {2.0903f, 4.6493f,  1.6320f,  -3.2051f, 4.6975f,  4.7296f,
                              3.3653f, -1.5815f, -2.3832f, 0.9628f,  -1.5899f, -2.6820f,
                              5.7529f, 7.7346f,  -0.8910f, -2.0151f, 0.1313f,  -0.5374f};
    static const double y[] = {0.7380714, 2.5655571, 0.8032286, -0.0999};
    static const double z[] = {1.4536143, -0.4035333};
    static const int64_t window = 7, stride = 3, pad = 3;
    weft_window_options o = WEFT_WINDOW_OPTIONS_INIT;
    o.stride = &stride;
    o.pad_before = o.pad_after = &pad;
    o.ceil_mode = o.count_include_pad = true;
    const int64_t first[] = {0, 0, 0}, four[] = {1, 1, 4}, third[] = {0, 1, 2}, end[] = {1, 2, 4};
    case_run r = case_begin(state);
    weft_val v = weft_mean_pool(r.g, case_f32(&r, CASE_DIMS(1, 2, 9), x), &window, &o);
    assert_int_equal(weft_val_type(r.g, v).dims[2], 4);
    case_expect(&r, weft_slice(r.g, v, first, four, NULL), y, 4, 1e-6);
    case_end(&r);
    r = case_begin(state);
    v = weft_mean_pool(r.g, case_f32(&r, CASE_DIMS(1, 2, 9), x), &window, &o);
    case_expect(&r, weft_slice(r.g, v, third, end, NULL), z, 2, 1e-6);
    case_end(&r);
}

// pytorch/pytorch#183528
static void mean_of_sixteen(void **state)
{
    static const double with_pad[] = {1.5555556, 3.3333333, 2, 6.3333333, 11, 6, 4.5, 7.5, 4};
    static const double without[] = {3.5, 5, 6, 9.5, 11, 12, 13.5, 15, 16};
    static const int64_t window[] = {3, 3}, stride[] = {2, 2}, pad[] = {1, 1};
    float x[16];
    for (int i = 0; i < 16; i++) {
        x[i] = (float)(i + 1);
    }
    for (int k = 0; k < 2; k++) {
        weft_window_options o = WEFT_WINDOW_OPTIONS_INIT;
        o.stride = stride;
        o.pad_before = o.pad_after = pad;
        o.ceil_mode = true;
        o.count_include_pad = k == 0;
        case_run r = case_begin(state);
        const weft_val v = weft_mean_pool(r.g, case_f32(&r, CASE_DIMS(1, 1, 4, 4), x), window, &o);
        case_expect(&r, v, k == 0 ? with_pad : without, 9, 1e-6);
        case_end(&r);
    }
}

// onnx/onnx#4958, #5235; onnxruntime#16351: a window that would start in the padding behind is dropped
static void no_window_starts_in_the_padding(void **state)
{
    static const struct {
        int64_t n, window, stride, pad, n_out;
    } table[] = {{2, 1, 2, 0, 1}, {5, 1, 3, 0, 2}, {2, 2, 3, 1, 1}, {3, 2, 2, 1, 2}};
    static const float x[] = {-1.0f, -2.0f, -3.0f, -4.0f, -5.0f};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        weft_window_options o = WEFT_WINDOW_OPTIONS_INIT;
        o.stride = &table[i].stride;
        o.pad_before = o.pad_after = &table[i].pad;
        o.ceil_mode = true;
        for (int k = 0; k < 2; k++) {
            case_run r = case_begin(state);
            float y[4];
            const weft_val v = case_f32(&r, CASE_DIMS(1, 1, table[i].n), x);
            const weft_val p = k ? weft_mean_pool(r.g, v, &table[i].window, &o)
                                 : weft_max_pool(r.g, v, &table[i].window, &o);
            weft_error err;
            if (weft_graph_status(r.g, &err) != WEFT_OK) {
                fail_msg("%s", err.message);
            }
            assert_int_equal(weft_val_count(r.g, p), table[i].n_out);
            weft_output(r.g, "y", p);
            assert_int_equal(case_go(&r, &err), WEFT_OK);
            assert_int_equal(
                weft_program_read(r.program, "y", y, (size_t)table[i].n_out * sizeof *y, NULL),
                WEFT_OK);
            for (int64_t e = 0; e < table[i].n_out; e++) {
                assert_true(y[e] <= -0.5f && y[e] >= -5.0f); // a value of x, or a mean with zeros
            }
            case_end(&r);
        }
    }
}

// onnxruntime#495, onnx#3153: "same" with an odd total of padding, before or behind
static void uneven_padding(void **state)
{
    static const float x[] = {1, 2, 3, 4, 5, 6}, w[] = {1, 1, 1};
    static const double upper[] = {6, 12, 11}, lower[] = {3, 9, 15};
    static const int64_t stride = 2, zero = 0, one = 1;
    for (int k = 0; k < 2; k++) {
        weft_conv_options o = WEFT_CONV_OPTIONS_INIT;
        o.stride = &stride;
        o.pad_before = k ? &one : &zero;
        o.pad_after = k ? &zero : &one;
        case_run r = case_begin(state);
        const weft_val v = case_f32(&r, CASE_DIMS(1, 1, 6), x);
        const weft_val f = case_f32(&r, CASE_DIMS(1, 1, 3), w);
        case_expect(&r, weft_conv(r.g, v, f, &o), k ? lower : upper, 3, 0);
        case_end(&r);
    }
}

// arrayfire#839, #1010: sizes around a vector's or a warp's width, and none at all
static void sums_of_every_size(void **state)
{
    static const int64_t sizes[] = {0, 1, 7, 8, 9, 31, 32, 33, 63, 65, 1023, 1025, 4097};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        float x[4097];
        const double n = (double)sizes[i];
        const double y[] = {n * (n + 1) / 2};
        for (int k = 0; k < 4097; k++) {
            x[k] = (float)(k + 1);
        }
        case_run r = case_begin(state);
        const weft_val v = case_f32(&r, CASE_DIMS(sizes[i]), x);
        case_expect(&r, weft_sum(r.g, v, NULL, 0, false), y, 1, 0);
        case_end(&r);
    }
}

const struct CMUnitTest wf_tests_case_window[] = {
    CASE_TEST(mean_of_a_cut_window),
    CASE_TEST(mean_of_sixteen),
    CASE_TEST(no_window_starts_in_the_padding),
    CASE_TEST(uneven_padding),
    CASE_TEST(sums_of_every_size),
};
const unsigned long wf_n_tests_case_window = WF_N_TESTS(wf_tests_case_window);
