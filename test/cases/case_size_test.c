// Case 46 (arrayfire#839, #1010): the ops that move values, at sizes around a vector's or a work-group's
// width, none and one among them, against plain loops. Ops that compute: test/check, whose cases name
// their sizes.
// labels: opencl
#include "cases_run.h"

// y[k,i] = [x^T ; x^T cast to i32 and back] of x [n,3], then columns where the index is odd from 1 - x.
static void moves_of_every_size(void **state)
{
    static const int64_t sizes[] = {0, 1, 31, 32, 33, 41, 65, 129, 257};
    enum { MOST = 257 };
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        const int64_t n = sizes[s];
        float x[MOST * 3], y[6 * MOST + 1];
        static const int32_t turned[] = {1, 0};
        case_run r = case_begin(state);
        for (int64_t i = 0; i < n * 3; i++) {
            x[i] = (float)i / 2.0f;
        }
        const weft_val v = case_f32(&r, CASE_DIMS(n, 3), x);
        const weft_val t = weft_permute(r.g, v, turned);
        const weft_val whole = weft_cast(r.g, weft_cast(r.g, t, WEFT_I32), WEFT_F32);
        const weft_val both[] = {t, whole};
        const weft_val joined = weft_concat(r.g, both, 2, 0); // [6,n]
        const weft_val one = weft_scalar(r.g, WEFT_I32, 1.0);
        const weft_val is_odd =
            weft_equal(r.g, weft_and(r.g, weft_iota(r.g, WEFT_I32, CASE_DIMS(6, n), 1), one), one);
        const weft_val other = weft_sub(r.g, weft_scalar(r.g, WEFT_F32, 1.0), joined);
        for (int64_t k = 0; k < 6; k++) {
            for (int64_t i = 0; i < n; i++) {
                const float value = k < 3 ? x[i * 3 + k] : (float)(int)x[i * 3 + k - 3];
                y[k * n + i] = i % 2 ? 1.0f - value : value;
            }
        }
        case_expect_bits(&r, weft_select(r.g, is_odd, other, joined), y, (size_t)n * 6 * sizeof *y);
        case_end(&r);
    }
}

const struct CMUnitTest wf_tests_case_size[] = {CASE_TEST(moves_of_every_size)};
const unsigned long wf_n_tests_case_size = WF_N_TESTS(wf_tests_case_size);
