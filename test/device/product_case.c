// Programs of one product on ref and cpu, compared bit for bit: see product_case.h.
#include "product_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/cpu/cpu_isa.h"
#include "guarded_device.h"
#include "wf_test.h"

uint32_t product_random(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15u; // splitmix64
    uint64_t x = *state;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return (uint32_t)(x >> 32);
}

int64_t product_pick(uint64_t *state, const int64_t *list, size_t n)
{
    return list[product_random(state) % n];
}

void product_open(product_device *d, const char *id, const weft_device_options *options)
{
    weft_error err;
    if (weft_context_create(NULL, &d->ctx, &err) != WEFT_OK ||
        weft_device_open(d->ctx, id, options, &d->device, &err) != WEFT_OK ||
        weft_state_create(d->device, &d->state, &err) != WEFT_OK)
        fail_msg("%s %s: %s", id, options->isa ? options->isa : "", err.message);
}

void product_close(product_device *d)
{
    weft_state_destroy(d->state);
    weft_device_close(d->device);
    weft_context_destroy(d->ctx);
}

static float make_value(uint64_t *state, int fill)
{
    const uint32_t r = product_random(state);
    const float x = (float)(int32_t)r * 0x1p-31f;
    if (fill == 0 || (r & 0x1f00) != 0)
        return x;
    switch (product_random(state) % 40) {
    case 0: return (float)INFINITY;
    case 1: return -(float)INFINITY;
    case 2: return (float)NAN;
    case 3: return 0x1p-140f * x;
    case 4: return 0x1p100f * x;
    case 5: return -0.0f;
    default: return 0.0f;
    }
}

static size_t type_bytes(const weft_type *t)
{
    int64_t n = 1;
    for (int32_t i = 0; i < t->ndim; i++)
        n *= t->dims[i];
    return (size_t)n * sizeof(float);
}

// Canonical NaN, so that results compare by their bits.
static void canonise(uint32_t *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if ((x[i] & 0x7fffffffu) > 0x7f800000u)
            x[i] = 0x7fc00000u;
    }
}

static void try_program(product_device *d, weft_graph *g, const weft_type types[3], float *in[2],
                        uint32_t *out, const char *text)
{
    weft_program *program = NULL;
    weft_error err = {0};
    const size_t bytes = type_bytes(&types[2]);
    weft_status status = weft_compile(d->state, g, NULL, &program, &err);
    if (status == WEFT_OK)
        status = weft_program_write(program, "a", in[0], type_bytes(&types[0]), &err);
    if (status == WEFT_OK)
        status = weft_program_write(program, "b", in[1], type_bytes(&types[1]), &err);
    // A second run finds what the first left behind.
    for (int i = 0; i < 2 && status == WEFT_OK; i++)
        status = weft_program_run(program, &err);
    if (status == WEFT_OK)
        status = weft_program_read(program, "y", out, bytes, &err);
    weft_program_destroy(program);
    if (status != WEFT_OK)
        fail_msg("%s: %s", text, err.message);
    canonise(out, bytes / 4);
}

typedef struct product_run {
    const char *text;
    product_build_fn *build;
    const void *user;
    uint64_t seed;
    int fill;
    double tolerance; // of is_close
} product_run;

// Results on one device; *out_n of them. Free them.
static uint32_t *run_on(const product_run *r, const char *id, const weft_device_options *options,
                        size_t *out_n)
{
    product_device d;
    weft_graph *g;
    weft_error err;
    product_open(&d, id, options);
    if (strcmp(id, "cpu") == 0)
        guarded_device_wrap(d.device, r->seed >> 1 & 1);
    if (weft_graph_create(d.ctx, &g, &err) != WEFT_OK)
        fail_msg("%s: %s", r->text, err.message);
    const weft_val y = r->build(g, r->user);
    weft_output(g, "y", y);
    if (weft_graph_status(g, &err) != WEFT_OK)
        fail_msg("%s: %s", r->text, err.message);
    // Inputs are the graph's first two values.
    const weft_type types[3] = {weft_val_type(g, (weft_val){1}), weft_val_type(g, (weft_val){2}),
                                weft_val_type(g, y)};
    float *in[2];
    uint64_t state = r->seed;
    for (int i = 0; i < 2; i++) {
        const size_t n = type_bytes(&types[i]) / 4;
        in[i] = malloc(n * 4 + 4);
        assert_non_null(in[i]);
        for (size_t j = 0; j < n; j++)
            in[i][j] = make_value(&state, r->fill);
    }
    *out_n = type_bytes(&types[2]) / 4;
    uint32_t *out = malloc(*out_n * 4 + 4);
    assert_non_null(out);
    try_program(&d, g, types, in, out, r->text);
    free(in[0]);
    free(in[1]);
    weft_graph_destroy(g);
    product_close(&d);
    return out;
}

typedef void visit_fn(const product_run *r, const weft_device_options *isa,
                      const uint32_t *expected, size_t n);

// Calls visit for every instruction set of this machine with ref's results.
static void visit_each(const product_run *r, visit_fn *visit)
{
    weft_device_options options = WEFT_DEVICE_OPTIONS_INIT;
    size_t n;
    uint32_t *expected = run_on(r, "ref", &options, &n);
    const uint32_t isas = wf_cpu_isa_detect(WF_CPU_ISA_ALL);
    options.n_threads = 1 + (uint32_t)(r->seed % 2);
    for (size_t i = 0; i < wf_cpu_isa_count(); i++) {
        options.isa = wf_cpu_isa_at(i)->name;
        if (isas >> i & 1u)
            visit(r, &options, expected, n);
    }
    free(expected);
}

static void is_equal(const product_run *r, const weft_device_options *options,
                     const uint32_t *expected, size_t n)
{
    size_t m;
    uint32_t *have = run_on(r, "cpu", options, &m);
    assert_int_equal(n, m);
    for (size_t j = 0; j < n; j++) {
        if (have[j] != expected[j]) {
            fail_msg("seed %llu, %s, isa %s: element %zu is %08x, expected %08x",
                     (unsigned long long)r->seed, r->text, options->isa, j, have[j], expected[j]);
        }
    }
    free(have);
}

static double get_error(const uint32_t *have, const uint32_t *expected, size_t n)
{
    double error = 0.0, most = 0.0;
    for (size_t j = 0; j < n; j++) {
        float x, y;
        memcpy(&x, &have[j], sizeof x);
        memcpy(&y, &expected[j], sizeof y);
        if (!(fabs((double)x - (double)y) <= error)) // NaN is the greatest
            error = fabs((double)x - (double)y);
        if (fabs((double)y) > most)
            most = fabs((double)y);
    }
    return error / most;
}

static void is_close(const product_run *r, const weft_device_options *isa, const uint32_t *expected,
                     size_t n)
{
    weft_device_options options = *isa;
    size_t m;
    options.arithmetic = WEFT_FAST;
    uint32_t *have = run_on(r, "cpu", &options, &m);
    const double error = get_error(have, expected, n);
    if (!(error > 0.0 && error <= r->tolerance)) {
        fail_msg("seed %llu, %s, isa %s: error %g, expected one up to %g",
                 (unsigned long long)r->seed, r->text, options.isa, error, r->tolerance);
    }
    free(have);
    options.no_winograd = true;
    is_equal(r, &options, expected, n);
}

void product_check(const char *text, product_build_fn *build, const void *user, uint64_t seed,
                   int fill)
{
    const product_run r = {text, build, user, seed, fill, 0.0};
    visit_each(&r, is_equal);
}

void product_check_winograd(const char *text, product_build_fn *build, const void *user,
                            uint64_t seed, double tolerance)
{
    const product_run r = {text, build, user, seed, 0, tolerance};
    visit_each(&r, is_close);
}
