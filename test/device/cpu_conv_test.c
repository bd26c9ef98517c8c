// Convolution and its gradients on the cpu device: chosen and random sizes in one to three axes, with
// strides, pads, dilations and groups, on every instruction set of this machine and 1 or 2 threads,
// against ref bit for bit.
// labels: sweep
#include <stdio.h>
#include <string.h>

#include "product_case.h"
#include "wf_test.h"

typedef struct conv_case {
    int kind; // 0 forward, 1 input gradient, 2 weight gradient
    int32_t rank;
    int64_t n, cg, kg, groups;
    int64_t in[3], window[3], stride[3], pad_before[3], pad_after[3], dilation[3];
} conv_case;

static weft_val build_conv(weft_graph *g, const void *user)
{
    const conv_case *c = user;
    weft_conv_options o = WEFT_CONV_OPTIONS_INIT;
    o.stride = c->stride;
    o.pad_before = c->pad_before;
    o.pad_after = c->pad_after;
    o.dilation = c->dilation;
    o.groups = c->groups;
    int64_t x[5] = {c->n, c->cg * c->groups}, w[5] = {c->kg * c->groups, c->cg};
    int64_t y[5] = {c->n, c->kg * c->groups};
    for (int32_t i = 0; i < c->rank; i++) {
        x[2 + i] = c->in[i];
        w[2 + i] = c->window[i];
        y[2 + i] = (c->in[i] + c->pad_before[i] + c->pad_after[i] -
                    c->dilation[i] * (c->window[i] - 1) - 1) /
                       c->stride[i] +
                   1;
    }
    const int32_t ndim = 2 + c->rank;
    const weft_val a = weft_input(g, "a", WEFT_F32, c->kind == 1 ? y : x, ndim);
    const weft_val b = weft_input(g, "b", WEFT_F32, c->kind == 2 ? y : w, ndim);
    switch (c->kind) {
    case 0: return weft_conv(g, a, b, &o);
    case 1: return weft_conv_grad_input(g, a, b, c->in, &o);
    default: return weft_conv_grad_weight(g, a, b, c->window, &o);
    }
}

#define TEXT 512

static void describe(const conv_case *c, char text[TEXT])
{
    static const char *const kinds[] = {"forward", "input gradient", "weight gradient"};
    int used =
        snprintf(text, TEXT, "conv %s: n %lld, channels %lld to %lld, groups %lld", kinds[c->kind],
                 (long long)c->n, (long long)c->cg, (long long)c->kg, (long long)c->groups);
    for (int32_t i = 0; i < c->rank; i++) {
        used += snprintf(text + used, TEXT - (size_t)used,
                         "; in %lld window %lld stride %lld pad %lld %lld dilation %lld",
                         (long long)c->in[i], (long long)c->window[i], (long long)c->stride[i],
                         (long long)c->pad_before[i], (long long)c->pad_after[i],
                         (long long)c->dilation[i]);
    }
}

static void check_case(const conv_case *c, uint64_t seed, int fill)
{
    char text[TEXT];
    describe(c, text);
    product_check(text, build_conv, c, seed, fill);
}

static conv_case square(int64_t n, int64_t cg, int64_t kg, int64_t groups, int64_t size,
                        int64_t window, int64_t stride, int64_t pad)
{
    return (conv_case){0,
                       2,
                       n,
                       cg,
                       kg,
                       groups,
                       {size, size},
                       {window, window},
                       {stride, stride},
                       {pad, pad},
                       {pad, pad},
                       {1, 1}};
}

// The layers of small image networks, at small batches.
static void image_layers(void **state)
{
    const conv_case cases[] = {
        square(5, 1, 16, 1, 28, 3, 1, 1),  square(3, 16, 32, 1, 14, 3, 1, 1),
        square(5, 32, 64, 1, 7, 3, 1, 1),  square(2, 3, 20, 1, 33, 7, 2, 3),
        square(2, 8, 48, 1, 9, 1, 1, 0),   square(2, 8, 12, 1, 9, 1, 2, 0),
        square(2, 1, 1, 20, 11, 3, 1, 1),  square(2, 1, 1, 37, 11, 3, 2, 1),
        square(2, 1, 2, 5, 11, 3, 1, 1),   square(2, 4, 4, 4, 10, 3, 1, 1),
        square(1, 130, 50, 1, 6, 3, 1, 1), square(1, 128, 7, 1, 5, 3, 1, 1),
        square(1, 512, 3, 1, 4, 3, 1, 1),  square(1, 7, 9, 1, 30, 5, 3, 2),
        square(2, 1, 1, 48, 9, 5, 2, 2),   square(1, 1, 1, 16, 20, 3, 1, 1),
        square(3, 1, 6, 1, 28, 5, 1, 2),   square(2, 6, 16, 1, 14, 5, 1, 0),
        square(2, 3, 8, 1, 21, 7, 2, 3),   square(1, 40, 5, 1, 17, 3, 1, 1),
        square(1, 4, 2, 3, 16, 3, 2, 1),   square(1, 1, 1, 1, 15, 3, 3, 0),
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int kind = 0; kind < 3; kind++) {
            conv_case c = cases[i];
            c.kind = kind;
            check_case(&c, i * 3 + (uint64_t)kind, 0);
            check_case(&c, i * 3 + (uint64_t)kind, 1);
        }
    }
}

// More terms than one block, and more blocks than groups.
static void long_sums(void **state)
{
    conv_case weight = square(9, 1, 2, 1, 28, 3, 1, 1);
    weight.kind = 2;
    (void)state;
    check_case(&weight, 1, 0);
    conv_case input = square(1, 2, 520, 1, 4, 3, 1, 1);
    input.kind = 1;
    check_case(&input, 2, 0);
    input.in[0] = input.in[1] = 5; // blocks that end inside a window cell of some classes
    input.stride[0] = input.stride[1] = 2;
    check_case(&input, 4, 0);
    check_case(&input, 5, 1);
    conv_case lanes = square(6, 1, 1, 19, 28, 3, 1, 1);
    lanes.kind = 2;
    check_case(&lanes, 6, 0);
    conv_case many = {.kind = 2,
                      .rank = 1,
                      .n = 1,
                      .cg = 1,
                      .kg = 1,
                      .groups = 1,
                      .in = {140000},
                      .window = {2},
                      .stride = {1},
                      .pad_before = {0},
                      .pad_after = {0},
                      .dilation = {1}};
    check_case(&many, 3, 0);
}

// Tiles that end inside, at and beyond the output's edge; channels that are no multiple of a vector; more terms than
// one pass.
static void by_winograd(void **state)
{
    conv_case cases[] = {
        square(3, 16, 16, 1, 12, 3, 1, 1), square(2, 20, 49, 1, 13, 3, 1, 1),
        square(1, 64, 65, 1, 7, 3, 1, 1),  square(2, 33, 17, 1, 10, 3, 1, 0),
        square(1, 400, 16, 1, 8, 3, 1, 1), square(40, 16, 24, 1, 4, 3, 1, 1),
    };
    (void)state;
    cases[1].pad_before[1] = 0; // unlike on the other side
    cases[1].in[0] = 8;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int kind = 0; kind < 2; kind++) {
            char text[TEXT];
            cases[i].kind = kind;
            describe(&cases[i], text);
            product_check_winograd(text, build_conv, &cases[i], i * 2 + (uint64_t)kind, 2e-5);
        }
    }
}

// More weights than the second-level cache keeps, which makes units large.
static void heavy_weights(void **state)
{
    (void)state;
    const conv_case heavy = square(3, 128, 232, 1, 3, 3, 1, 1);
    check_case(&heavy, 1, 0);
}

// Dilations whose box no memory would hold, empty products, and inputs shorter than the stride, whose holes are terms
// with weights that meet nothing else.
static void odd_sizes(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        conv_case wide = square(1, 3, 4, 1, 5, 2, 1, 0);
        wide.kind = kind;
        for (int i = 0; i < 2; i++) {
            wide.dilation[i] = 4000;
            wide.pad_before[i] = 3998;
        }
        check_case(&wide, 7, 0);
        conv_case empty = square(0, 3, 4, 1, 5, 2, 1, 0);
        empty.kind = kind;
        check_case(&empty, 8, 0);
        conv_case no_channels = square(2, 0, 4, 1, 5, 2, 1, 0);
        no_channels.kind = kind;
        check_case(&no_channels, 9, 0);
        conv_case brief = square(1, 16, 16, 1, 1, 3, 2, 1);
        brief.kind = kind;
        check_case(&brief, 10, 0);
        check_case(&brief, 11, 1);
    }
}

static void random_sizes(void **state)
{
    static const int64_t channels[] = {1, 1, 2, 3, 4, 5, 8, 16, 17, 24, 33, 49, 64};
    const uint64_t n_cases = wf_test_is_full() ? 900 : 150;
    (void)state;
    for (uint64_t seed = 1; seed <= n_cases; seed++) {
        uint64_t r = seed * 104729;
        conv_case c = {.kind = (int)(seed % 3), .rank = 1 + (int32_t)(product_random(&r) % 3)};
        c.n = 1 + product_random(&r) % 4;
        c.groups = product_random(&r) % 3 == 0 ? 1 + product_random(&r) % 5 : 1;
        c.cg = product_pick(&r, channels, sizeof channels / sizeof *channels);
        c.kg = product_pick(&r, channels, sizeof channels / sizeof *channels);
        if (product_random(&r) % 8 == 0) {
            c.groups = product_pick(&r, channels, sizeof channels / sizeof *channels);
            c.cg = c.kg = 1;
        }
        const uint32_t most = c.rank == 1 ? 60 : c.rank == 2 ? 14 : 6;
        for (int32_t i = 0; i < c.rank; i++) {
            c.window[i] = 1 + product_random(&r) % 4;
            c.stride[i] = 1 + product_random(&r) % 3;
            c.dilation[i] = 1 + product_random(&r) % 2;
            c.pad_before[i] = product_random(&r) % 4;
            c.pad_after[i] = product_random(&r) % 4;
            const int64_t span = c.dilation[i] * (c.window[i] - 1) + 1;
            const int64_t least = span - c.pad_before[i] - c.pad_after[i];
            c.in[i] = 1 + product_random(&r) % most;
            if (c.in[i] < least)
                c.in[i] = least;
        }
        check_case(&c, seed, seed % 4 == 0);
    }
}

const struct CMUnitTest wf_tests_cpu_conv[] = {
    cmocka_unit_test(image_layers),  cmocka_unit_test(long_sums),
    cmocka_unit_test(by_winograd),   cmocka_unit_test(odd_sizes),
    cmocka_unit_test(heavy_weights), cmocka_unit_test(random_sizes)};
const unsigned long wf_n_tests_cpu_conv = WF_N_TESTS(wf_tests_cpu_conv);
