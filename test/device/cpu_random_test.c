// Random numbers on the cpu device: bits, uniform and normal numbers in logical order and with channels side
// by side, where neighbours in memory are far apart in the order that numbers are counted in; on every
// instruction set of this machine, against ref bit for bit.
#include <stdio.h>

#include "product_case.h"
#include "wf_test.h"

typedef struct random_case {
    int kind; // bits, uniform, normal
    bool is_by_channel;
    int64_t dims[4]; // [n,h,w,c]
} random_case;

static weft_val build_random(weft_graph *g, const void *user)
{
    static const int32_t to_planes[] = {0, 3, 1, 2};
    const random_case *c = user;
    const int64_t planes[] = {c->dims[0], c->dims[3], c->dims[1], c->dims[2]};
    const int64_t *dims = c->is_by_channel ? planes : c->dims;
    const weft_val a = weft_input(g, "a", WEFT_F32, c->dims, 4);
    const weft_val b = weft_input(g, "b", WEFT_F32, c->dims, 4);
    const weft_val seed = weft_scalar(g, WEFT_I64, 1234567890123.0);
    const weft_val step = weft_scalar(g, WEFT_I64, 3.0);
    weft_val r = c->kind == 0   ? weft_random_bits(g, seed, step, dims, 4)
                 : c->kind == 1 ? weft_random_uniform(g, seed, step, dims, 4)
                                : weft_random_normal(g, seed, step, dims, 4);
    if (c->kind == 0)
        r = weft_cast(g, weft_shr(g, r, weft_scalar(g, WEFT_I32, 8.0)), WEFT_F32);
    const weft_val x = c->is_by_channel ? weft_permute(g, a, to_planes) : a;
    const weft_val z = c->is_by_channel ? weft_permute(g, b, to_planes) : b;
    const weft_val y = weft_add(g, weft_mul(g, x, r), z);
    static const int32_t to_channels[] = {0, 2, 3, 1};
    return c->is_by_channel ? weft_permute(g, y, to_channels) : y;
}

static void check_shape(const random_case *c)
{
    char text[128];
    snprintf(text, sizeof text, "random kind %d, %s, [%lld,%lld,%lld,%lld]", c->kind,
             c->is_by_channel ? "by channel" : "in order", (long long)c->dims[0],
             (long long)c->dims[1], (long long)c->dims[2], (long long)c->dims[3]);
    product_check(text, build_random, c, (uint64_t)c->kind + 1, 0);
}

static void all_layouts(void **state)
{
    static const int64_t shapes[][4] = {{2, 4, 4, 32},   {3, 5, 7, 6},  {2, 6, 6, 17},
                                        {1, 12, 12, 40}, {5, 1, 1, 33}, {2, 3, 4, 1},
                                        {1, 1, 1, 3000}};
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        for (int j = 0; j < 6; j++) {
            random_case c = {.kind = j / 2, .is_by_channel = j % 2};
            for (int d = 0; d < 4; d++)
                c.dims[d] = shapes[i][d];
            check_shape(&c);
        }
    }
}

const struct CMUnitTest wf_tests_cpu_random[] = {cmocka_unit_test(all_layouts)};
const unsigned long wf_n_tests_cpu_random = WF_N_TESTS(wf_tests_cpu_random);
