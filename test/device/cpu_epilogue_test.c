// Epilogues of products on the cpu device, every instruction set, against ref: sizes at the edges of tiles,
// panels and blocks; biases, residuals in and out of place, casts, several results, random numbers, batches.
#include <stdio.h>

#include "base/compiler.h"
#include "product_case.h"
#include "wf_test.h"

typedef struct epilogue_case {
    int64_t batch; // 0: no batch axis
    int64_t m, n, k;
    int64_t rows; // m is cut into so many rows of rows; 0: it is not
    int kind;
} epilogue_case;

static weft_val row_of(weft_graph *g, weft_val x, int64_t n)
{
    const weft_type t = weft_val_type(g, x);
    int64_t start[WEFT_MAX_DIM] = {0}, stop[WEFT_MAX_DIM];
    for (int32_t i = 0; i < t.ndim; i++)
        stop[i] = i + 1 < t.ndim ? 1 : n;
    return weft_reshape(g, weft_slice(g, x, start, stop, NULL), &n, 1);
}

static weft_val scalar_i64(weft_graph *g, double x)
{
    return weft_scalar(g, WEFT_I64, x);
}

// [m,n] by another product, so that it lies in memory.
static weft_val other_product(weft_graph *g, weft_val a, weft_val b)
{
    return weft_sin(g, weft_matmul(g, weft_neg(g, a), b, false, false));
}

static weft_val build_kind(weft_graph *g, const epilogue_case *c, weft_val a, weft_val b,
                           weft_val y)
{
    const weft_type t = weft_val_type(g, y);
    switch (c->kind) {
    case 0: return weft_relu(g, weft_add(g, y, row_of(g, b, c->n)));
    case 1: return weft_add(g, other_product(g, a, b), weft_gelu(g, y)); // a residual
    case 2: { // it dies here, and what comes of it does not leave the program
        const weft_val x = weft_add(g, other_product(g, a, b), weft_mul(g, y, y));
        return weft_matmul(g, x, weft_tanh(g, x), true, false);
    }
    case 3: // narrow, and read twice
        y = weft_cast(g, weft_cast(g, y, WEFT_BF16), WEFT_F32);
        return weft_add(g, weft_matmul(g, y, y, false, true), weft_matmul(g, y, y, false, true));
    case 4: { // three results: a mask, a value before and one behind
        const weft_val s = weft_sigmoid(g, y), is_small = weft_less(g, s, weft_neg(g, y));
        const weft_val z = weft_matmul(g, s, weft_exp(g, weft_neg(g, s)), false, true);
        const weft_val w = weft_matmul(g, weft_flush(g, z), y, false, false);
        return weft_select(g, is_small, w, s);
    }
    case 5: { // dropout
        const weft_val u =
            weft_random_uniform(g, scalar_i64(g, 7), scalar_i64(g, 3), t.dims, t.ndim);
        return weft_select(g, weft_less(g, u, weft_scalar(g, WEFT_F32, 0.5)), y,
                           weft_scalar(g, WEFT_F32, 0.0));
    }
    default: // the product itself, too
        return weft_add(g, weft_matmul(g, y, y, false, true),
                        weft_matmul(g, weft_abs(g, y), y, false, true));
    }
}

static weft_val build(weft_graph *g, const void *user)
{
    const epilogue_case *c = user;
    const int64_t a_dims[] = {c->batch, c->m, c->k}, b_dims[] = {c->batch, c->k, c->n};
    const int skip = c->batch ? 0 : 1;
    const weft_val a = weft_input(g, "a", WEFT_F32, a_dims + skip, 3 - skip);
    const weft_val b = weft_input(g, "b", WEFT_F32, b_dims + skip, 3 - skip);
    weft_val y = weft_matmul(g, a, b, false, false);
    if (!c->rows)
        return build_kind(g, c, a, b, y);
    const int64_t cut[] = {c->rows, c->m / c->rows, c->n}, back[] = {c->m, c->n};
    y = weft_reshape(g, weft_add(g, y, row_of(g, b, c->n)), cut, 3);
    const weft_val rest = weft_reshape(g, other_product(g, a, b), cut, 3);
    return weft_reshape(g, weft_add(g, rest, weft_gelu(g, y)), back, 2);
}

static void check(const epilogue_case *c, uint64_t seed, int fill)
{
    char text[128];
    snprintf(text, sizeof text, "batch %d, %dx%dx%d, rows %d, kind %d, seed %d", (int)c->batch,
             (int)c->m, (int)c->n, (int)c->k, (int)c->rows, c->kind, (int)seed);
    product_check(text, build, c, seed, fill);
}

static void sizes_at_the_edges(void **state)
{
    static const int64_t sizes[] = {1, 2, 5, 8, 15, 16, 17, 31, 33, 48, 49, 64, 100};
    static const int64_t terms[] = {1, 3, 16, 25, 64, 385};
    uint64_t random = 11;
    (void)state;
    for (uint64_t i = 0; i < 40; i++) {
        epilogue_case c = {.kind = (int)(i % 7)};
        c.batch = product_random(&random) % 3 ? 0 : 1 + (int64_t)(product_random(&random) % 3);
        c.m = product_pick(&random, sizes, WF_COUNT_OF(sizes));
        c.n = product_pick(&random, sizes, WF_COUNT_OF(sizes));
        c.k = product_pick(&random, terms, WF_COUNT_OF(terms));
        check(&c, i, (int)(i / 7 % 2));
    }
}

static void sizes_of_many_items(void **state)
{
    static const epilogue_case cases[] = {
        {0, 400, 130, 40, 0, 0}, {0, 40, 1000, 20, 0, 1},
        {0, 230, 390, 30, 0, 4}, {0, 7, 9, 5000, 0, 0}, // two blocks
        {0, 12, 30, 9000, 4, 0}, {0, 96, 100, 30, 8, 0},
        {0, 35, 17, 20, 5, 0},   {3, 60, 50, 40, 0, 5},
    };
    (void)state;
    for (uint64_t i = 0; i < WF_COUNT_OF(cases); i++)
        check(&cases[i], i, 0);
}

static void products_of_nothing(void **state)
{
    const epilogue_case no_terms = {.m = 5, .n = 6, .kind = 1};
    const epilogue_case no_rows = {.n = 6, .k = 3};
    (void)state;
    check(&no_terms, 1, 0);
    check(&no_rows, 1, 0);
}

const struct CMUnitTest wf_tests_cpu_epilogue[] = {
    cmocka_unit_test(sizes_at_the_edges),
    cmocka_unit_test(sizes_of_many_items),
    cmocka_unit_test(products_of_nothing),
};
const unsigned long wf_n_tests_cpu_epilogue = WF_N_TESTS(wf_tests_cpu_epilogue);
