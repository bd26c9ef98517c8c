// Is the device's f32 arithmetic the definition's? One kernel, built with the options and the header of the
// real kernels, on chosen and random operands; each result compared with the host's own, which is
// compiled without contraction and tested by itself. doc/arithmetic.md.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "math/weft_math.h"
#include "opencl_common.h"

#if WEFT_HAVE_OPENCL
#include "device/gpu/gpu_source.h"

#define N_ITEMS 4096 // operands of one launch: small buffers, as a device may count them
#define N_ROUNDS 18  // the first two hold the chosen operands
#define N_RESULTS 21
#define CHAIN 4096 // WF_PROBE_CHAIN of the kernel

typedef struct operands {
    uint32_t a[N_ITEMS], b[N_ITEMS], c[N_ITEMS];
} operands;

// ---- what the host gets, in the order of gpu_probe.h
static uint32_t host_literal(size_t i)
{
    static const float literals[] = {0.1f, 1e-8f, 1e-40f, 3.4028235e38f};
    return wf_as_u32(literals[i % 4]);
}

static uint32_t host_loop(const operands *x, size_t i, bool is_chain)
{
    float acc = 0.0f;
    for (size_t k = 0; i < 8 && k < CHAIN; k++) {
        size_t j = (k + i * 37) % N_ITEMS;
        float p = wf_as_f32((x->a[j] & 0x807fffffu) | 0x3f000000u);
        float q = wf_as_f32((x->b[j] & 0x807fffffu) | 0x3f000000u);
        if (is_chain) {
            acc = WF_FMA(p, q, acc);
        } else {
            float product = p * q;
            acc = acc + product;
        }
    }
    return wf_as_u32(acc);
}

static uint32_t host_result(const operands *x, size_t i, int which)
{
    float a = wf_as_f32(x->a[i]);
    float b = wf_as_f32(x->b[i]);
    float c = wf_as_f32(x->c[i]);
    float product = a * b;
    switch (which) {
    case 0: return wf_as_u32(WF_FMA(a, b, c));
    case 1: return wf_as_u32(a + b);
    case 2: return wf_as_u32(a - b);
    case 3: return wf_as_u32(product);
    case 4: return wf_as_u32(WF_DIV(a, b));
    case 5: return wf_as_u32(WF_SQRT(a));
    case 6:
    case 7: return wf_as_u32(product + c);
    case 8: return wf_as_u32(c - product);
    case 9: return wf_as_u32(product - c);
    case 10:
        return (uint32_t)((a < b) | (a > b) << 1 | (a == b) << 2 | (a != b) << 3 | (a <= b) << 4 |
                          (a >= b) << 5);
    case 11: return wf_as_u32(wf_max(a, b));
    case 12: return wf_as_u32(wf_min(a, b));
    case 13: return (uint32_t)wf_f32_to_i32(a);
    case 14: return wf_as_u32((float)(int32_t)x->a[i]);
    case 15: return (uint32_t)wf_f32_to_f16(a) | (uint32_t)wf_f32_to_bf16(a) << 16;
    case 16: return wf_as_u32(wf_f16_to_f32((uint16_t)x->a[i]));
    case 17: return host_literal(i);
    case 18: return wf_as_u32(wf_exp(a));
    case 19: return host_loop(x, i, true);
    default: return host_loop(x, i, false);
    }
}

static const struct {
    const char *name;
    bool is_float; // any NaN equals any NaN
} results[N_RESULTS] = {
    {"fma", true},
    {"a + b", true},
    {"a - b", true},
    {"a * b", true},
    {"divide", true},
    {"square root", true},
    {"a * b + c, which is contracted", true},
    {"c + a * b, which is contracted", true},
    {"c - a * b, which is contracted", true},
    {"a * b - c in two statements, which is contracted", true},
    {"comparison", false},
    {"max", true},
    {"min", true},
    {"f32 to i32", false},
    {"i32 to f32", true},
    {"f32 to f16 and bf16", false},
    {"f16 to f32", true},
    {"literal", true},
    {"exp", true},
    {"a chain of 4096 fma", true},
    {"a loop of 4096 products and sums, which is contracted", true},
};
#define RESULT_DIV 4
#define RESULT_SQRT 5

// ---- operands
static const uint32_t specials[] = {
    0x00000000u, 0x80000000u, 0x3f800000u, 0xbf800000u, 0x3f800800u, 0xbf801000u, 0x3f801000u,
    0x00800000u, 0x807fffffu, 0x007fffffu, 0x00000001u, 0x80000001u, 0x00400000u, 0x7f7fffffu,
    0xff7fffffu, 0x7f800000u, 0xff800000u, 0x7fc00000u, 0xffc00001u, 0x3f800001u, 0x3fffffffu,
    0x3f7fffffu, 0x40400000u, 0x3eaaaaabu, 0x4b000001u, 0x4b800000u, 0x4effffffu, 0x4f000000u,
    0xcf000000u, 0x0d800000u, 0x1f800000u, 0x20000000u, 0x5f7fffffu, 0x00ffffffu, 0x01000001u,
    0x80800001u, 0x477fefffu, 0x477ff000u, 0x33000000u, 0x387fc000u,
};
#define N_SPECIALS (sizeof specials / sizeof specials[0])

static uint32_t next_random(uint64_t *state)
{
    uint64_t index = (*state)++;
    return wf_random_word(20240229u, 0, 1, index);
}

// A random number of the k-th kind: any bits, near one, subnormal or just above, small.
static uint32_t random_of(uint64_t *state, uint32_t kind)
{
    uint32_t u = next_random(state);
    switch (kind % 4) {
    case 0: return u;
    case 1: return (u & 0x80ffffffu) | 0x3f000000u;
    case 2: return u & 0x81ffffffu;
    default: return (u & 0x8fffffffu) | 0x10000000u;
    }
}

static void fill_operands(operands *x, int round, uint64_t *state)
{
    for (size_t i = 0; i < N_ITEMS; i++) {
        size_t n = (size_t)round * N_ITEMS + i;
        if (round == 0) { // pairs of chosen numbers, the third by turns
            x->a[i] = specials[n / N_SPECIALS % N_SPECIALS];
            x->b[i] = specials[n % N_SPECIALS];
            x->c[i] = specials[(n / 7) % N_SPECIALS];
            continue;
        }
        if (round == 1) { // the contraction canary in many scales, and quotients beside midpoints
            uint32_t scale = (uint32_t)(i % 64) << 23;
            x->a[i] = 0x3f800800u + scale;
            x->b[i] = 0x3f800800u - scale;
            x->c[i] = i % 2 ? 0xbf801000u : 0x3f801000u;
            if (i < 128)
                continue;
        }
        uint32_t kind = next_random(state);
        x->a[i] = random_of(state, kind);
        x->b[i] = random_of(state, kind >> 2);
        float product = wf_as_f32(x->a[i]) * wf_as_f32(x->b[i]);
        switch ((kind >> 4) % 4) {
        case 0: x->c[i] = random_of(state, kind >> 6); break;
        case 1: x->c[i] = wf_as_u32(product) ^ 0x80000000u; break; // cancels
        case 2: // a is then within a rounding or two of (c's odd multiple) * b: the quotient is near a midpoint
            x->c[i] = random_of(state, 1);
            x->a[i] = wf_as_u32(wf_as_f32(x->b[i]) * (wf_as_f32(x->c[i]) + 5.9604645e-8f));
            break;
        default: // a and b close: exact differences, subnormal ones too
            x->b[i] = x->a[i] + (kind >> 26);
            x->c[i] = random_of(state, 2);
        }
    }
}

// ---- running
typedef struct probe_buffers {
    wf_device_buffer *a, *b, *c, *out;
} probe_buffers;

// The first result that differs: which (or N_RESULTS), and its operands.
typedef struct difference {
    bool failed[N_RESULTS];
    uint32_t a[N_RESULTS], b[N_RESULTS], c[N_RESULTS], got[N_RESULTS], want[N_RESULTS];
} difference;

static void compare(const operands *x, const uint32_t *got, difference *d)
{
    for (int r = 0; r < N_RESULTS; r++) {
        for (size_t i = 0; i < N_ITEMS && !d->failed[r]; i++) {
            uint32_t want = host_result(x, i, r);
            uint32_t have = got[(size_t)r * N_ITEMS + i];
            bool both_nan = results[r].is_float && (want & 0x7fffffffu) > 0x7f800000u &&
                            (have & 0x7fffffffu) > 0x7f800000u;
            if (want == have || both_nan)
                continue;
            d->failed[r] = true;
            d->a[r] = x->a[i];
            d->b[r] = x->b[i];
            d->c[r] = x->c[i];
            d->got[r] = have;
            d->want[r] = want;
        }
    }
}

static weft_status run_rounds(wf_opencl_device *dev, wf_gpu_launch *launch,
                              const probe_buffers *buf, operands *x, uint32_t *got, difference *d,
                              weft_error *err)
{
    weft_device *base = &dev->gpu.base;
    uint64_t state = 0;
    for (int round = 0; round < N_ROUNDS; round++) {
        fill_operands(x, round, &state);
        WEFT_TRY(wf_opencl_buffer_write(base, buf->a, 0, x->a, sizeof x->a, err));
        WEFT_TRY(wf_opencl_buffer_write(base, buf->b, 0, x->b, sizeof x->b, err));
        WEFT_TRY(wf_opencl_buffer_write(base, buf->c, 0, x->c, sizeof x->c, err));
        WEFT_TRY(wf_opencl_api.launch_enqueue(&dev->gpu, launch, err));
        WEFT_TRY(
            wf_opencl_buffer_read(base, buf->out, 0, got, N_RESULTS * N_ITEMS * sizeof *got, err));
        compare(x, got, d);
    }
    return WEFT_OK;
}

static weft_status run_kernel(wf_opencl_device *dev, wf_gpu_module *module, difference *d,
                              weft_error *err)
{
    weft_device *base = &dev->gpu.base;
    const wf_allocator *a = &base->context->allocator;
    probe_buffers buf = {NULL, NULL, NULL, NULL};
    operands *x = NULL;
    uint32_t *got = NULL;
    wf_gpu_launch *launch = NULL;
    int32_t n = N_ITEMS;
    weft_status status;
    WEFT_TRY_GOTO(wf_alloc(a, 1, sizeof *x, &x, err));
    WEFT_TRY_GOTO(wf_alloc(a, N_RESULTS * N_ITEMS, sizeof *got, &got, err));
    WEFT_TRY_GOTO(wf_opencl_buffer_create(base, sizeof x->a, &buf.a, err));
    WEFT_TRY_GOTO(wf_opencl_buffer_create(base, sizeof x->b, &buf.b, err));
    WEFT_TRY_GOTO(wf_opencl_buffer_create(base, sizeof x->c, &buf.c, err));
    WEFT_TRY_GOTO(wf_opencl_buffer_create(base, N_RESULTS * N_ITEMS * sizeof *got, &buf.out, err));
    const wf_gpu_arg args[] = {{buf.a, NULL, 0},
                               {buf.b, NULL, 0},
                               {buf.c, NULL, 0},
                               {buf.out, NULL, 0},
                               {NULL, &n, sizeof n}};
    const wf_gpu_launch_spec spec = {
        "wf_probe", {64, 1, 1}, {N_ITEMS / 64, 1, 1}, WF_COUNT_OF(args), args};
    WEFT_TRY_GOTO(wf_opencl_api.launch_create(&dev->gpu, module, &spec, &launch, err));
    WEFT_TRY_GOTO(run_rounds(dev, launch, &buf, x, got, d, err));
fail:
    wf_opencl_api.launch_destroy(&dev->gpu, launch);
    wf_opencl_buffer_destroy(base, buf.out);
    wf_opencl_buffer_destroy(base, buf.c);
    wf_opencl_buffer_destroy(base, buf.b);
    wf_opencl_buffer_destroy(base, buf.a);
    wf_free(a, got);
    wf_free(a, x);
    // What the probe took is no part of what programs are planned to take.
    base->peak_buffer_bytes = base->buffer_bytes;
    return status;
}

static weft_status measure(wf_opencl_device *dev, bool soft_div, bool soft_sqrt, difference *d,
                           weft_error *err)
{
    memset(d, 0, sizeof *d);
    wf_opencl_set_prefix(dev, soft_div, soft_sqrt);
    wf_text source;
    wf_text_init(&source, &dev->gpu.base.context->allocator);
    wf_text_append(&source, wf_text_str(&dev->gpu.prefix));
    wf_gpu_module *module = NULL;
    weft_status status = wf_gpu_source_append(&source, "gpu_probe.h", err);
    if (status == WEFT_OK)
        status = wf_opencl_api.module_build(&dev->gpu, wf_text_str(&source), &module, err);
    wf_text_deinit(&source);
    if (status == WEFT_OK)
        status = run_kernel(dev, module, d, err);
    wf_opencl_api.module_destroy(&dev->gpu, module);
    return status;
}

static void explain(const difference *d, int which, char *out, size_t size)
{
    snprintf(out, size, "%s: a = 0x%08x, b = 0x%08x, c = 0x%08x gives 0x%08x, 0x%08x was expected",
             results[which].name, d->a[which], d->b[which], d->c[which], d->got[which],
             d->want[which]);
}

static int first_failure(const difference *d, bool but_div_sqrt)
{
    for (int r = 0; r < N_RESULTS; r++) {
        if (but_div_sqrt && (r == RESULT_DIV || r == RESULT_SQRT))
            continue;
        if (d->failed[r])
            return r;
    }
    return N_RESULTS;
}

static weft_status decide(wf_opencl_device *dev, difference *d, wf_opencl_probe *out,
                          weft_error *err)
{
    WEFT_TRY(measure(dev, false, false, d, err));
    int failure = first_failure(d, true);
    out->soft_div = d->failed[RESULT_DIV];
    out->soft_sqrt = d->failed[RESULT_SQRT];
    if (failure == N_RESULTS && (out->soft_div || out->soft_sqrt)) {
        WEFT_TRY(measure(dev, out->soft_div, out->soft_sqrt, d, err));
        failure = first_failure(d, false);
        snprintf(out->reason, sizeof out->reason, "%s%s%s in software",
                 out->soft_div ? "divide" : "", out->soft_div && out->soft_sqrt ? " and " : "",
                 out->soft_sqrt ? "square root" : "");
        out->exact = WEFT_EXACT_EMULATED;
    } else {
        out->exact = WEFT_EXACT_NATIVE;
    }
    if (failure != N_RESULTS) {
        out->exact = WEFT_EXACT_NO;
        explain(d, failure, out->reason, sizeof out->reason);
    }
    return WEFT_OK;
}

// ---- the answer on disk
static void probe_key(const wf_opencl_found *f, uint8_t key[32])
{
    // The source is part of the key: a changed probe, or header, asks again.
    const char *texts[] = {"probe", f->name, f->driver, wf_gpu_source_find("gpu_probe.h"),
                           wf_gpu_source_find("dialect.h")};
    const uint32_t version = WEFT_ARITHMETIC_VERSION;
    wf_sha256 sha;
    wf_sha256_init(&sha);
    for (size_t i = 0; i < WF_COUNT_OF(texts); i++) {
        if (texts[i])
            wf_sha256_update(&sha, texts[i], strlen(texts[i]) + 1);
    }
    wf_sha256_update(&sha, &version, sizeof version);
    wf_sha256_update(&sha, &f->can_divide_exactly, sizeof f->can_divide_exactly);
    wf_sha256_final(&sha, key);
}

static bool read_answer(weft_context *ctx, const uint8_t key[32], wf_opencl_probe *out)
{
    uint8_t *data;
    size_t size;
    if (!wf_gpu_disk_read(&ctx->allocator, key, &data, &size))
        return false;
    bool is_good = size == sizeof *out;
    if (is_good)
        memcpy(out, data, size);
    wf_free(&ctx->allocator, data);
    return is_good && out->exact <= WEFT_EXACT_EMULATED;
}

weft_status wf_opencl_probe_run(wf_opencl_device *dev, wf_opencl_probe *out_probe, weft_error *err)
{
    weft_context *ctx = dev->gpu.base.context;
    uint8_t key[32];
    probe_key(&dev->found, key);
    if (read_answer(ctx, key, out_probe))
        return WEFT_OK;
    memset(out_probe, 0, sizeof *out_probe);
    difference *d;
    WEFT_TRY(wf_alloc(&ctx->allocator, 1, sizeof *d, &d, err));
    weft_status status = decide(dev, d, out_probe, err);
    wf_free(&ctx->allocator, d);
    if (status != WEFT_OK) {
        wf_error_prefix(err, "probe of %s", dev->found.name);
        return status;
    }
    wf_gpu_disk_write(&ctx->allocator, key, out_probe, sizeof *out_probe);
    return WEFT_OK;
}

weft_status wf_opencl_probe_found(weft_context *ctx, const wf_opencl_found *found,
                                  wf_opencl_probe *out_probe, weft_error *err)
{
    uint8_t key[32];
    probe_key(found, key);
    if (read_answer(ctx, key, out_probe))
        return WEFT_OK;
    wf_opencl_device *dev;
    WEFT_TRY(wf_alloc(&ctx->allocator, 1, sizeof *dev, &dev, err));
    dev->gpu.base.context = ctx;
    weft_status status = wf_opencl_init(dev, found, err);
    if (status == WEFT_OK)
        status = wf_opencl_probe_run(dev, out_probe, err);
    wf_opencl_deinit(dev);
    wf_free(&ctx->allocator, dev);
    return status;
}

const char *wf_opencl_bad_environment(char out_value[128])
{
    static const char *const variables[] = {"POCL_EXTRA_BUILD_FLAGS", "AMD_OCL_BUILD_OPTIONS",
                                            "AMD_OCL_BUILD_OPTIONS_APPEND",
                                            "OCLGRIND_BUILD_OPTIONS"};
    static const char *const options[] = {"fast",
                                          "unsafe",
                                          "mad-enable",
                                          "denorms-are-zero",
                                          "no-signed-zeros",
                                          "finite-math",
                                          "single-precision-constant",
                                          "fp-contract",
                                          "flush-denormals"};
    for (size_t v = 0; v < WF_COUNT_OF(variables); v++) {
        const char *value = getenv(variables[v]);
        for (size_t o = 0; value && o < WF_COUNT_OF(options); o++) {
            if (!strstr(value, options[o]))
                continue;
            snprintf(out_value, 128, "%s", value);
            return variables[v];
        }
    }
    return NULL;
}

#endif
