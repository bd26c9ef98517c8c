// Maxima over windows and their gradient on the cpu device, channels side by side: numbers of channels around
// those of a vector, windows that overlap, lie apart or beside each other, pads, dilations, on every
// instruction set of this machine, against ref bit for bit.
#include <stdio.h>

#include "product_case.h"
#include "wf_test.h"

typedef struct window_case {
    bool is_grad;
    int64_t n, c;
    int64_t in[2], window[2], stride[2], pad[2], dilation[2];
    bool is_ceil;
} window_case;

static const int32_t to_planes[] = {0, 3, 1, 2};

static weft_val build_window(weft_graph *g, const void *user)
{
    const window_case *c = user;
    weft_window_options o = WEFT_WINDOW_OPTIONS_INIT;
    o.stride = c->stride;
    o.pad_before = c->pad;
    o.dilation = c->dilation;
    o.ceil_mode = c->is_ceil;
    const int64_t x_dims[] = {c->n, c->in[0], c->in[1], c->c};
    int64_t y_dims[] = {c->n, 1, 1, c->c};
    for (int i = 0; i < 2; i++) {
        const int64_t room = c->in[i] + 2 * c->pad[i] - c->dilation[i] * (c->window[i] - 1) - 1;
        y_dims[1 + i] = (room + (c->is_ceil ? c->stride[i] - 1 : 0)) / c->stride[i] + 1;
        if (c->is_ceil && (y_dims[1 + i] - 1) * c->stride[i] >= c->in[i] + c->pad[i])
            y_dims[1 + i]--;
    }
    const weft_val x = weft_input(g, "a", WEFT_F32, x_dims, 4);
    const weft_val dy = weft_input(g, "b", WEFT_F32, y_dims, 4);
    const weft_val y = weft_max_pool(g, weft_permute(g, x, to_planes), c->window, &o);
    const weft_val both[] = {y, weft_permute(g, dy, to_planes)};
    if (!c->is_grad)
        return weft_concat(g, both, 2, 1);
    const weft_val terms = weft_mul(g, both[0], both[1]);
    weft_val dx;
    weft_grad(g, weft_sum(g, terms, NULL, 0, false), &x, 1, &dx);
    return dx;
}

static void check_case(const window_case *c, uint64_t seed)
{
    char text[256];
    snprintf(text, sizeof text,
             "max pool%s: n %lld, c %lld, in %lld %lld, window %lld %lld, stride %lld %lld, pad "
             "%lld %lld, dilation %lld %lld",
             c->is_grad ? " gradient" : "", (long long)c->n, (long long)c->c, (long long)c->in[0],
             (long long)c->in[1], (long long)c->window[0], (long long)c->window[1],
             (long long)c->stride[0], (long long)c->stride[1], (long long)c->pad[0],
             (long long)c->pad[1], (long long)c->dilation[0], (long long)c->dilation[1]);
    product_check(text, build_window, c, seed, 1);
}

static void layers_of_networks(void **state)
{
    static const int64_t channels[] = {2, 6, 15, 16, 17, 33};
    (void)state;
    for (uint64_t i = 0; i < 4 * sizeof channels / sizeof *channels; i++) {
        window_case c = {i % 2, 5, channels[i / 4], {9, 10}, {2, 2}, {2, 2}, {0, 0}, {1, 1}, false};
        if (i & 2) {
            c.window[0] = c.window[1] = 3;
            c.pad[0] = c.pad[1] = 1;
        }
        check_case(&c, i);
    }
}

static void random_sizes(void **state)
{
    static const int64_t channels[] = {2, 3, 5, 6, 8, 9, 16, 20, 31, 32, 50};
    const uint64_t n_cases = wf_test_is_full() ? 1000 : 120;
    (void)state;
    for (uint64_t seed = 1; seed <= n_cases; seed++) {
        uint64_t r = seed * 7919;
        window_case c = {.is_grad = seed % 2};
        c.n = 1 + product_random(&r) % 3;
        c.c = product_pick(&r, channels, sizeof channels / sizeof *channels);
        c.is_ceil = product_random(&r) % 4 == 0;
        for (int i = 0; i < 2; i++) {
            c.window[i] = 1 + product_random(&r) % 4;
            c.stride[i] = product_random(&r) % 2 ? c.window[i] : 1 + product_random(&r) % 4;
            c.dilation[i] = product_random(&r) % 4 == 0 ? 2 : 1;
            c.pad[i] = c.dilation[i] == 1 ? product_random(&r) % c.window[i] : 0;
            c.in[i] = c.dilation[i] * (c.window[i] - 1) + 1 + product_random(&r) % 12;
        }
        check_case(&c, seed);
    }
}

const struct CMUnitTest wf_tests_cpu_window[] = {cmocka_unit_test(layers_of_networks),
                                                 cmocka_unit_test(random_sizes)};
const unsigned long wf_n_tests_cpu_window = WF_N_TESTS(wf_tests_cpu_window);
