// Results of the cpu device that no cache holds, which are written past it: fused elementwise work, rows in
// one tile and in many, sums over outer axes; on every instruction set of this machine, against ref bit for
// bit.
#include "product_case.h"
#include "wf_test.h"

typedef struct large_case {
    const char *text;
    int64_t dims[2];
} large_case;

enum { MAP, ROW, LONG_ROW, COLUMN };
static const large_case cases[] = {[MAP] = {"elementwise", {1025, 517}},
                                   [ROW] = {"rows", {1025, 517}},
                                   [LONG_ROW] = {"long rows", {3, 180001}},
                                   [COLUMN] = {"columns", {1025, 517}}};

static weft_val build_large(weft_graph *g, const void *user)
{
    const large_case *c = user;
    const weft_val a = weft_input(g, "a", WEFT_F32, c->dims, 2);
    const weft_val b = weft_input(g, "b", WEFT_F32, c->dims, 2);
    const weft_val sum = weft_add(g, a, b);
    const int32_t rows = 1, columns = 0;
    switch (c - cases) {
    case MAP: return weft_relu(g, sum);
    case COLUMN: return weft_sub(g, sum, weft_mean(g, sum, &columns, 1, true));
    default:
        return weft_mul(g, sum, weft_rsqrt(g, weft_mean(g, weft_mul(g, sum, sum), &rows, 1, true)));
    }
}

static void large_results(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < sizeof cases / sizeof *cases; i++)
        product_check(cases[i].text, build_large, &cases[i], i, 0);
}

const struct CMUnitTest wf_tests_cpu_large[] = {cmocka_unit_test(large_results)};
const unsigned long wf_n_tests_cpu_large = WF_N_TESTS(wf_tests_cpu_large);
