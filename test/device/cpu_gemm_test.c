// Matmul on the cpu device: chosen and random shapes, the four forms, batches, on every instruction set
// of this machine and 1 or 2 threads, against ref bit for bit; and the kernels between guard pages.
// labels: sweep
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/cpu/cpu_isa.h"
#include "guarded.h"
#include "product_case.h"
#include "wf_test.h"

typedef struct matmul_case {
    int64_t batch, m, n, k; // batch 0: two axes
    bool is_ta, is_tb;
} matmul_case;

static weft_val build_matmul(weft_graph *g, const void *user)
{
    const matmul_case *c = user;
    const int32_t from = c->batch ? 0 : 1, ndim = c->batch ? 3 : 2;
    const int64_t a[3] = {c->batch, c->is_ta ? c->k : c->m, c->is_ta ? c->m : c->k};
    const int64_t b[3] = {c->batch, c->is_tb ? c->n : c->k, c->is_tb ? c->k : c->n};
    const weft_val x = weft_input(g, "a", WEFT_F32, a + from, ndim);
    const weft_val y = weft_input(g, "b", WEFT_F32, b + from, ndim);
    return weft_matmul(g, x, y, c->is_ta, c->is_tb);
}

static void check_case(const matmul_case *c, uint64_t seed, int fill)
{
    char text[128];
    (void)snprintf(text, sizeof text, "matmul batch %lld m %lld n %lld k %lld, %s%s",
                   (long long)c->batch, (long long)c->m, (long long)c->n, (long long)c->k,
                   c->is_ta ? "t" : "n", c->is_tb ? "t" : "n");
    product_check(text, build_matmul, c, seed, fill);
}

static void chosen_shapes(void **state)
{
    static const int64_t shapes[][4] = {
        {0, 0, 5, 3},
        {0, 3, 0, 2},
        {0, 4, 5, 0},
        {0, 1, 1, 1},
        {0, 1, 10, 128},
        {0, 7, 10, 64},
        {0, 64, 10, 33},
        {0, 10, 128, 64},
        {0, 17, 49, 31},
        {0, 8, 48, 384},
        {0, 33, 64, 385},
        {0, 200, 65, 7},
        {0, 193, 97, 50},
        {3, 5, 17, 9},
        {2, 130, 70, 40},
        {0, 2, 3, 4096},
        {0, 2, 3, 4097},
        {0, 3, 20, 9000},
        {0, 1, 5, 140000},
        {0, 5, 400, 20},
        // a few rows, a few columns, more rows than one item has, operands larger than a cache
        {0, 1, 70, 83},
        {0, 4, 33, 100},
        {0, 12, 97, 35},
        {3, 2, 40, 66},
        {0, 70, 10, 83},
        {0, 33, 11, 4100},
        {0, 97, 1, 50},
        {2, 40, 5, 66},
        {0, 390, 50, 20},
        {0, 1100, 13, 480},
        {0, 13, 1100, 480},
    };
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const int64_t *s = shapes[i];
        const int step = s[1] * s[2] * s[3] > 2000000 ? 2 : 1; // the large ones: rows of a in place
        for (int form = 0; form < 4; form += step) {
            const matmul_case c = {s[0], s[1], s[2], s[3], form & 1, form & 2};
            check_case(&c, i, 0);
        }
    }
}

static void random_shapes(void **state)
{
    static const int64_t sizes[] = {1, 2, 3, 5, 8, 10, 15, 16, 17, 31, 32, 33, 47, 48, 49, 64, 100};
    static const int64_t terms[] = {1, 2, 3, 7, 16, 33, 64, 129, 257, 400, 4200};
    const uint64_t n_cases = wf_test_is_full() ? 400 : 60;
    (void)state;
    for (uint64_t seed = 1; seed <= n_cases; seed++) {
        uint64_t r = seed * 7919;
        matmul_case c;
        c.batch = product_random(&r) % 4 == 0 ? 1 + (int64_t)(product_random(&r) % 4) : 0;
        c.m = product_pick(&r, sizes, sizeof sizes / sizeof *sizes);
        c.n = product_pick(&r, sizes, sizeof sizes / sizeof *sizes);
        c.k = product_pick(&r, terms, sizeof terms / sizeof *terms);
        c.is_ta = product_random(&r) & 1;
        c.is_tb = product_random(&r) & 1;
        check_case(&c, seed, seed % 3 == 0);
    }
}

// Large enough to be cut into many items with b packed in the workspace.
static void cut_into_items(void **state)
{
    (void)state;
    for (int form = 0; form < 4; form++) {
        const matmul_case c = {0, 201, 210, 300, form & 1, form & 2};
        check_case(&c, 11 + (uint64_t)form, 0);
    }
}

// Integers small enough that every order gives the same sum.
static void check_tiles(const wf_cpu_products *p, int64_t n_rows, int64_t n_cols, int64_t n_terms,
                        bool is_at_end)
{
    const int64_t lanes = p->sizes->lanes, width = (n_cols + lanes - 1) / lanes * lanes;
    guarded a = guard((size_t)(n_rows * n_terms), is_at_end);
    guarded b = guard((size_t)(width * n_terms), is_at_end);
    guarded c = guard((size_t)(n_rows * n_cols), is_at_end);
    int64_t rows[32], terms[64];
    for (int64_t i = 0; i < n_rows; i++)
        rows[i] = i * n_terms;
    for (int64_t t = 0; t < n_terms; t++)
        terms[t] = t;
    const wf_cpu_tiles tiles = {.n_rows = n_rows,
                                .n_cols = n_cols,
                                .n_terms = n_terms,
                                .a = a.data,
                                .a_rows = rows,
                                .a_terms = terms,
                                .b = b.data,
                                .b_step = width,
                                .c = c.data,
                                .ldc = n_cols,
                                .is_last = true,
                                .ahead = {b.data, width, n_terms, width},
                                .is_a_far = true};
    p->tiles(&tiles);
    for (int64_t i = 0; i < n_rows; i++) {
        for (int64_t j = 0; j < n_cols; j++) {
            float sum = (float)((i * n_cols + j) % 7) - 3.0f;
            for (int64_t t = 0; t < n_terms; t++)
                sum += a.data[rows[i] + t] * b.data[t * width + j];
            assert_true(c.data[i * n_cols + j] == sum);
        }
    }
    unguard(&a);
    unguard(&b);
    unguard(&c);
}

static void check_pack(const wf_cpu_products *p, int64_t n_terms, int64_t n_cols, bool is_at_end)
{
    const int64_t lanes = p->sizes->lanes, width = (n_cols + lanes - 1) / lanes * lanes;
    guarded b = guard((size_t)(n_terms * n_cols), is_at_end);
    guarded dst = guard((size_t)(n_terms * width), is_at_end);
    for (int form = 0; form < 2; form++) {
        const int64_t term = form ? 1 : n_cols, col = form ? n_terms : 1;
        p->pack(dst.data, width, b.data, term, col, n_terms, n_cols);
        for (int64_t t = 0; t < n_terms; t++) {
            for (int64_t j = 0; j < width; j++) {
                const float expected = j < n_cols ? b.data[t * term + j * col] : 0.0f;
                assert_true(dst.data[t * width + j] == expected);
            }
        }
    }
    unguard(&b);
    unguard(&dst);
}

static void check_few(const wf_cpu_products *p, int64_t n_rows, int64_t n_cols, int64_t n_terms,
                      bool is_at_end)
{
    guarded a = guard((size_t)(n_rows * n_terms), is_at_end);
    guarded b = guard((size_t)(n_cols * n_terms), is_at_end);
    guarded c = guard((size_t)(n_rows * n_cols), is_at_end);
    for (int form = 0; form < 4; form++) {
        const bool is_ta = form & 1, is_tc = form & 2;
        const wf_cpu_few few = {.n_rows = n_rows,
                                .n_cols = n_cols,
                                .n_terms = n_terms,
                                .a = a.data,
                                .a_row = is_ta ? 1 : n_terms,
                                .a_term = is_ta ? n_rows : 1,
                                .b = b.data,
                                .b_col = n_terms,
                                .c = c.data,
                                .c_row = is_tc ? 1 : n_cols,
                                .c_col = is_tc ? n_rows : 1,
                                .is_last = true};
        p->few(&few);
        for (int64_t i = 0; i < n_rows; i++) {
            for (int64_t j = 0; j < n_cols; j++) {
                float sum = 0.0f;
                for (int64_t t = 0; t < n_terms; t++)
                    sum += a.data[i * few.a_row + t * few.a_term] * b.data[j * n_terms + t];
                assert_true(c.data[i * few.c_row + j * few.c_col] == sum);
            }
        }
    }
    unguard(&a);
    unguard(&b);
    unguard(&c);
}

static void guard_pages(void **state)
{
    const uint32_t isas = wf_cpu_isa_detect(WF_CPU_ISA_ALL);
    (void)state;
    for (size_t i = 0; i < wf_cpu_isa_count(); i++) {
        if (!(isas >> i & 1u))
            continue;
        const wf_cpu_products *p = wf_cpu_isa_at(i)->products;
        for (int at_end = 0; at_end < 2; at_end++) {
            for (int64_t rows = 1; rows <= WF_CPU_FEW; rows++) {
                for (int64_t cols = 1; cols <= 2 * p->sizes->lanes + 1; cols += 1 + cols % 3)
                    check_few(p, rows, cols, 1 + (rows * cols * 5) % 37, at_end != 0);
            }
            for (int64_t cols = 1; cols <= p->sizes->cols; cols++) {
                for (int64_t rows = 1; rows <= 2 * p->sizes->rows + 1; rows++)
                    check_tiles(p, rows, cols, 1 + (rows * cols) % 5, at_end != 0);
                check_pack(p, 1 + cols % 11, cols, at_end != 0);
            }
        }
    }
}

const struct CMUnitTest wf_tests_cpu_gemm[] = {
    cmocka_unit_test(chosen_shapes), cmocka_unit_test(random_shapes),
    cmocka_unit_test(cut_into_items), cmocka_unit_test(guard_pages)};
const unsigned long wf_n_tests_cpu_gemm = WF_N_TESTS(wf_tests_cpu_gemm);
