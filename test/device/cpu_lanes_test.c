// The kernels that go lane by lane (depthwise convolution, and few channels of many cells) between guard
// pages, on every instruction set of this machine: whole and broken vectors, steps of 0, any number of
// terms. Operands are small integers, so every order gives the same sum.
#include "device/cpu/cpu_isa.h"
#include "guarded.h"

#define MAX_TERMS 24

static void check_cells(const wf_cpu_lanes *k, int64_t n_lanes, int64_t n_cells, int64_t n_terms,
                        bool is_at_end, bool is_streamed)
{
    guarded x = guard((size_t)(n_lanes * (n_cells + n_terms)), is_at_end);
    guarded w = guard((size_t)(n_lanes * n_terms), is_at_end);
    guarded y = guard((size_t)(n_lanes * n_cells), is_at_end);
    wf_cpu_lane_term terms[MAX_TERMS];
    for (int64_t t = 0; t < n_terms; t++) // every third is padding: one place for all cells
        terms[t] = (wf_cpu_lane_term){x.data + t * n_lanes, t % 3 == 2 ? 0 : n_lanes,
                                      w.data + t * n_lanes};
    const wf_cpu_lane_cells p = {n_cells, n_terms, n_lanes, terms, y.data, n_lanes, is_streamed};
    k->cells(&p);
    for (int64_t i = 0; i < n_cells; i++) {
        for (int64_t j = 0; j < n_lanes; j++) {
            float sum = 0.0f;
            for (int64_t t = 0; t < n_terms; t++)
                sum += terms[t].x[i * terms[t].step + j] * terms[t].w[j];
            assert_true(y.data[i * n_lanes + j] == sum);
        }
    }
    unguard(&x);
    unguard(&w);
    unguard(&y);
}

static void check_sums(const wf_cpu_lanes *k, int64_t n_lanes, int64_t n_cells, int64_t n_terms,
                       bool is_at_end)
{
    const int64_t step = n_terms % 2 ? n_lanes : 0;
    guarded x = guard((size_t)(n_lanes * (n_cells + n_terms)), is_at_end);
    guarded dy = guard((size_t)(n_lanes * n_cells), is_at_end);
    guarded sums = guard((size_t)(n_lanes * n_terms), is_at_end);
    wf_cpu_lane_sum terms[MAX_TERMS];
    for (int64_t t = 0; t < n_terms; t++)
        terms[t] = (wf_cpu_lane_sum){x.data + t * n_lanes, sums.data + t * n_lanes};
    const wf_cpu_lane_sums p = {n_cells, n_terms, n_lanes, terms, step,
                                dy.data, n_lanes, n_lanes, 0};
    k->sums(&p);
    for (int64_t i = 0; i < n_lanes * n_terms; i++) {
        float sum = (float)(i % 7) - 3.0f;
        for (int64_t c = 0; c < n_cells; c++)
            sum += x.data[i + c * step] * dy.data[c * n_lanes + i % n_lanes];
        assert_true(sums.data[i] == sum);
    }
    unguard(&x);
    unguard(&dy);
    unguard(&sums);
}

static void check_put(const wf_cpu_lanes *k, int64_t n_rows, int64_t n, bool is_at_end)
{
    guarded src = guard((size_t)(n_rows * n), is_at_end),
            dst = guard((size_t)(n_rows * n), is_at_end);
    k->put(dst.data, n, src.data, n_rows, n, n % k->lanes == 0);
    for (int64_t i = 0; i < n_rows * n; i++)
        assert_true(dst.data[i] == src.data[i]);
    unguard(&src);
    unguard(&dst);
}

static void check_planes(const wf_cpu_lanes *k, int64_t n_rows, int64_t n_terms, bool is_at_end)
{
    const int64_t n_vectors = k->plane_vectors[n_rows], lanes = k->lanes, row = n_vectors * lanes;
    guarded a = guard((size_t)(n_rows * n_terms), is_at_end);
    guarded b = guard((size_t)(row + n_terms), is_at_end);
    guarded c = guard((size_t)(n_rows * row), is_at_end);
    int64_t terms[MAX_TERMS], cells[WF_CPU_PLANE_FLOATS];
    assert_true(n_rows * row <= WF_CPU_PLANE_FLOATS);
    for (int64_t t = 0; t < n_terms; t++)
        terms[t] = (t * 5) % n_terms;
    for (int64_t v = 0; v < n_vectors; v++)
        cells[v] = (n_vectors - 1 - v) * lanes;
    const wf_cpu_planes p = {n_rows, n_terms, a.data, b.data, terms, cells, c.data};
    k->planes(&p);
    for (int64_t i = 0; i < n_rows * row; i++) {
        float sum = 0.0f;
        for (int64_t t = 0; t < n_terms; t++) {
            sum += a.data[t * n_rows + i / row] *
                   b.data[terms[t] + cells[i % row / lanes] + i % lanes];
        }
        assert_true(c.data[i] == sum);
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
        const wf_cpu_lanes *k = wf_cpu_isa_at(i)->lanes;
        for (int at_end = 0; at_end < 2; at_end++) {
            for (int64_t n = 1; n <= 2 * k->lanes + 1; n++) {
                check_cells(k, n, 1 + n % 19, n % 11, at_end != 0, n % k->lanes == 0);
                check_sums(k, n, 1 + n % 7, 1 + n % 21, at_end != 0);
                check_put(k, 3, n, at_end != 0);
            }
            for (int64_t n = 1; n < MAX_TERMS; n++) {
                check_cells(k, k->lanes + 1, n, 25 - n > 20 ? 20 : 25 - n, at_end != 0, false);
                check_sums(k, k->lanes + 1, 3, n, at_end != 0);
            }
            for (int64_t rows = 1; rows <= WF_CPU_PLANE_ROWS; rows++) {
                if (k->plane_vectors[rows])
                    check_planes(k, rows, 3 * rows - 2, at_end != 0);
            }
        }
    }
}

const struct CMUnitTest wf_tests_cpu_lanes[] = {cmocka_unit_test(guard_pages)};
const unsigned long wf_n_tests_cpu_lanes = WF_N_TESTS(wf_tests_cpu_lanes);
