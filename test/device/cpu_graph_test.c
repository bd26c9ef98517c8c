// Random graphs through the public API on the cpu device, every instruction set, against the ref device:
// the same bits in every output. A failure prints the case's seed and the graph's text.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/cpu/cpu_isa.h"
#include "graph/graph.h"
#include "guarded_device.h"
#include "math/philox.h"
#include "weft/weft.h"
#include "wf_test.h"

#define MAX_VALS 48
#define MAX_OUTPUTS 6

typedef struct random_graph {
    weft_context *ctx;
    weft_graph *g;
    uint64_t state;
    uint64_t seed;
    weft_val vals[MAX_VALS];
    size_t n_vals;
    size_t n_inputs, n_outputs;
} random_graph;

static uint32_t next(random_graph *r)
{
    return wf_random_word(r->seed, 0, 4, r->state++);
}

static uint32_t below(random_graph *r, uint32_t n)
{
    return next(r) % n;
}

static int64_t pick_size(random_graph *r)
{
    static const int64_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 31, 32, 33, 64, 65, 100, 257};
    return sizes[below(r, WF_COUNT_OF(sizes))];
}

static void push(random_graph *r, weft_val v)
{
    if (v.id && r->n_vals < MAX_VALS)
        r->vals[r->n_vals++] = v;
}

static weft_val add_input(random_graph *r, weft_dtype dtype, const int64_t *dims, int32_t ndim)
{
    char name[16];
    (void)snprintf(name, sizeof name, "x%zu", r->n_inputs++);
    return weft_input(r->g, name, dtype, dims, ndim);
}

static weft_val new_input(random_graph *r, int32_t ndim)
{
    int64_t dims[WEFT_MAX_DIM], total = 1;
    for (int32_t i = 0; i < ndim; i++) {
        dims[i] = pick_size(r);
        while (total * dims[i] > 20000)
            dims[i] = (dims[i] + 3) / 4;
        total *= dims[i];
    }
    return add_input(r, WEFT_F32, dims, ndim);
}

// An f32 value made so far.
static weft_val pick(random_graph *r)
{
    for (;;) {
        const weft_val v = r->vals[below(r, (uint32_t)r->n_vals)];
        if (weft_val_type(r->g, v).dtype == WEFT_F32)
            return v;
    }
}

// Another of the same dims, if there is one; else v itself.
static weft_val pick_like(random_graph *r, weft_val v)
{
    const weft_type t = weft_val_type(r->g, v);
    for (int i = 0; i < 12; i++) {
        const weft_val other = pick(r);
        const weft_type o = weft_val_type(r->g, other);
        if (wf_type_equal(&t, &o))
            return other;
    }
    return v;
}

static void add_elementwise(random_graph *r)
{
    weft_graph *g = r->g;
    const weft_val a = pick(r), b = pick_like(r, a);
    switch (below(r, 22)) {
    case 0: push(r, weft_add(g, a, b)); break;
    case 1: push(r, weft_mul(g, a, b)); break;
    case 2: push(r, weft_sub(g, a, b)); break;
    case 3: push(r, weft_div(g, a, b)); break;
    case 4: push(r, weft_max(g, a, b)); break;
    case 5: push(r, weft_min(g, a, b)); break;
    case 6: push(r, weft_exp(g, weft_neg(g, weft_abs(g, a)))); break;
    case 7: push(r, weft_log(g, weft_abs(g, a))); break;
    case 8: push(r, weft_tanh(g, a)); break;
    case 9: push(r, weft_gelu(g, a)); break;
    case 10: push(r, weft_sigmoid(g, a)); break;
    case 11: push(r, weft_relu(g, a)); break;
    case 12: push(r, weft_sqrt(g, weft_abs(g, a))); break;
    case 13: push(r, weft_sin(g, a)); break;
    case 14: push(r, weft_flush(g, a)); break;
    case 15: push(r, weft_round(g, a)); break;
    case 16: push(r, weft_softplus(g, a)); break;
    case 17: push(r, weft_erf(g, a)); break;
    case 18: push(r, weft_select(g, weft_less(g, a, b), a, weft_neg(g, b))); break;
    case 19: push(r, weft_pow(g, weft_abs(g, a), b)); break;
    case 20: push(r, weft_add(g, a, weft_scalar(g, WEFT_F32, 0.25))); break;
    default: push(r, weft_fma(g, a, b, a)); break;
    }
}

static void add_cast(random_graph *r)
{
    static const weft_dtype dtypes[] = {WEFT_F16, WEFT_BF16, WEFT_I8,   WEFT_U8,
                                        WEFT_I32, WEFT_I64,  WEFT_BOOL, WEFT_F64};
    const weft_val a = weft_mul(r->g, pick(r), weft_scalar(r->g, WEFT_F32, 77.0));
    const weft_dtype dtype = dtypes[below(r, WF_COUNT_OF(dtypes))];
    weft_val b = weft_cast(r->g, a, dtype);
    if ((WF_DTYPES_INT >> dtype) & 1u) {
        if (below(r, 2))
            b = weft_add(r->g, b, b);
        if (below(r, 2))
            b = weft_div(r->g, b, weft_cast(r->g, weft_cast(r->g, pick_like(r, a), dtype), dtype));
        push(r, b);
    }
    push(r, weft_cast(r->g, b, WEFT_F32));
}

static void add_reduce(random_graph *r)
{
    const weft_val a = pick(r);
    const weft_type t = weft_val_type(r->g, a);
    int32_t axes[WEFT_MAX_DIM];
    size_t n = 0;
    for (int32_t i = 0; i < t.ndim; i++) {
        if (below(r, 2))
            axes[n++] = i;
    }
    if (n == 0)
        return;
    const bool keep = below(r, 2);
    weft_val mean, variance;
    switch (below(r, 6)) {
    case 0: push(r, weft_sum(r->g, a, axes, n, keep)); break;
    case 1: push(r, weft_mean(r->g, a, axes, n, keep)); break;
    case 2: push(r, weft_reduce_max(r->g, a, axes, n, keep)); break;
    case 3: push(r, weft_reduce_min(r->g, a, axes, n, keep)); break;
    case 4: push(r, weft_argmax(r->g, a, axes[0], keep)); break;
    default:
        weft_moments(r->g, a, axes, n, &mean, &variance);
        push(r, weft_sub(r->g, a, mean));
        push(r, weft_mul(r->g, weft_sub(r->g, a, mean), weft_rsqrt(r->g, variance)));
        break;
    }
}

static void add_softmax(random_graph *r)
{
    weft_graph *g = r->g;
    const weft_val a = pick(r);
    const weft_type t = weft_val_type(g, a);
    if (t.ndim == 0)
        return;
    const int32_t axis = (int32_t)below(r, (uint32_t)t.ndim);
    const weft_val e = weft_exp(g, weft_sub(g, a, weft_reduce_max(g, a, &axis, 1, true)));
    push(r, weft_div(g, e, weft_sum(g, e, &axis, 1, true)));
}

static void add_shape(random_graph *r)
{
    weft_graph *g = r->g;
    const weft_val a = pick(r);
    const weft_type t = weft_val_type(g, a);
    int64_t start[WEFT_MAX_DIM], stop[WEFT_MAX_DIM], step[WEFT_MAX_DIM];
    int32_t order[WEFT_MAX_DIM];
    for (int32_t i = 0; i < t.ndim; i++) {
        order[i] = (i + 1) % t.ndim;
        start[i] = (int64_t)below(r, 3) % t.dims[i];
        stop[i] = t.dims[i];
        step[i] = 1 + below(r, 2);
    }
    const weft_val twice[] = {a, weft_neg(g, a)};
    switch (below(r, 6)) {
    case 0: push(r, weft_permute(g, a, order)); break;
    case 1: push(r, weft_slice(g, a, start, stop, step)); break;
    case 2: push(r, weft_pad(g, a, start, step, 0.5)); break;
    case 3:
        if (t.ndim)
            push(r, weft_concat(g, twice, 2, (int32_t)below(r, (uint32_t)t.ndim)));
        break;
    case 4: push(r, weft_flatten(g, a, 0)); break;
    default: {
        const int64_t dims[] = {3, t.dims[0], t.ndim > 1 ? t.dims[1] : 1};
        if (t.ndim == 2)
            push(r, weft_broadcast(g, a, dims, 3));
        break;
    }
    }
}

static void add_matmul(random_graph *r)
{
    const bool ta = below(r, 2), tb = below(r, 2);
    const int64_t m = pick_size(r), n = pick_size(r), b = 1 + below(r, 3);
    const int64_t k = below(r, 8) == 0 ? 4096 + (int64_t)below(r, 5000) : pick_size(r);
    const int64_t small_m = k > 1000 ? 1 + m % 5 : m, small_n = k > 1000 ? 1 + n % 20 : n;
    const int64_t a_dims[] = {b, ta ? k : small_m, ta ? small_m : k};
    const int64_t b_dims[] = {b, tb ? small_n : k, tb ? k : small_n};
    push(r, weft_matmul(r->g, add_input(r, WEFT_F32, a_dims, 3), add_input(r, WEFT_F32, b_dims, 3),
                        ta, tb));
}

static void add_conv(random_graph *r)
{
    weft_graph *g = r->g;
    const int32_t rank = 1 + (int32_t)below(r, 2);
    const int64_t groups = 1 + below(r, 2);
    const int64_t c = groups * (1 + below(r, 9)), k = groups * (1 + below(r, 20));
    int64_t x_dims[5] = {1 + below(r, 3), c}, w_dims[5] = {k, c / groups};
    int64_t stride[3], pad[3], dilation[3];
    for (int32_t i = 0; i < rank; i++) {
        w_dims[2 + i] = 1 + below(r, 3);
        stride[i] = 1 + below(r, 2);
        pad[i] = below(r, 3);
        dilation[i] = 1 + below(r, 2);
        x_dims[2 + i] = 5 + below(r, 9);
    }
    weft_conv_options o = WEFT_CONV_OPTIONS_INIT;
    o.stride = stride;
    o.pad_before = pad;
    o.dilation = dilation;
    o.groups = groups;
    const weft_val x = add_input(r, WEFT_F32, x_dims, 2 + rank);
    const weft_val w = add_input(r, WEFT_F32, w_dims, 2 + rank);
    const weft_val y = weft_conv(g, x, w, &o);
    push(r, y);
    const int64_t bias_dims[] = {1, k, 1, 1};
    const weft_val z = weft_relu(g, weft_add(g, y, add_input(r, WEFT_F32, bias_dims, 2 + rank)));
    push(r, z);
    push(r, weft_conv_grad_input(g, z, w, x_dims + 2, &o));
    push(r, weft_conv_grad_weight(g, x, z, w_dims + 2, &o));
    if (rank == 2) {
        weft_val mean, variance;
        const int32_t axes[] = {0, 2, 3};
        weft_moments(g, z, axes, 3, &mean, &variance);
        push(r, weft_div(g, weft_sub(g, z, mean), weft_sqrt(g, variance)));
    }
}

static void add_pool(random_graph *r)
{
    weft_graph *g = r->g;
    const int64_t dims[] = {1 + below(r, 2), 1 + below(r, 20), 4 + below(r, 12), 4 + below(r, 12)};
    const int64_t window[] = {1 + below(r, 3), 2 + below(r, 2)};
    const int64_t stride[] = {1 + below(r, 3), 1 + below(r, 2)};
    const int64_t pad[] = {below(r, 2) % window[0], below(r, 2)};
    weft_window_options o = WEFT_WINDOW_OPTIONS_INIT;
    o.stride = stride;
    o.pad_before = pad;
    o.ceil_mode = below(r, 2);
    o.count_include_pad = below(r, 2);
    const weft_val x = add_input(r, WEFT_F32, dims, 4);
    weft_val source = below(r, 2) ? x : weft_neg(g, x);
    if (below(r, 2)) { // a convolution in front, so that the layout may be channels last
        const int64_t w_dims[] = {dims[1], dims[1], 1, 1};
        source = weft_conv(g, x, add_input(r, WEFT_F32, w_dims, 4), NULL);
    }
    const weft_val y =
        below(r, 2) ? weft_max_pool(g, source, window, &o) : weft_mean_pool(g, source, window, &o);
    push(r, y);
    const weft_val loss = weft_sum(g, weft_mul(g, y, y), NULL, 0, false);
    weft_val dx;
    weft_grad(g, loss, &x, 1, &dx);
    push(r, dx);
}

static void add_index(random_graph *r)
{
    weft_graph *g = r->g;
    const weft_val a = pick(r);
    const weft_type t = weft_val_type(g, a);
    if (t.ndim == 0)
        return;
    const int32_t axis = (int32_t)below(r, (uint32_t)t.ndim);
    const int64_t n = 1 + below(r, 200);
    // Indices in range: |round(x)| modulo the size.
    weft_val idx =
        weft_cast(g, weft_mul(g, add_input(r, WEFT_F32, &n, 1), weft_scalar(g, WEFT_F32, 999.0)),
                  below(r, 2) ? WEFT_I32 : WEFT_I64);
    const weft_dtype dtype = weft_val_type(g, idx).dtype;
    idx = weft_rem(g, idx, weft_scalar(g, dtype, (double)t.dims[axis]));
    const weft_val y = weft_gather(g, a, idx, axis);
    push(r, y);
    push(r, weft_scatter_add(g, a, idx, weft_mul(g, y, y), axis));
}

static void add_random(random_graph *r)
{
    weft_graph *g = r->g;
    const weft_val a = pick(r);
    const weft_type t = weft_val_type(g, a);
    const weft_val seed = weft_scalar(g, WEFT_I64, 12345.0), step = weft_scalar(g, WEFT_I64, 3.0);
    if (below(r, 2))
        push(r, weft_add(g, a, weft_random_normal(g, seed, step, t.dims, t.ndim)));
    else
        push(r, weft_mul(g, a, weft_random_uniform(g, seed, step, t.dims, t.ndim)));
}

static void add_cross_entropy(random_graph *r)
{
    weft_graph *g = r->g;
    const int64_t dims[] = {1 + below(r, 40), 2 + below(r, 40)};
    const weft_val x = add_input(r, WEFT_F32, dims, 2);
    const weft_val labels =
        weft_cast(g,
                  weft_abs(g, weft_rem(g,
                                       weft_cast(g,
                                                 weft_mul(g, add_input(r, WEFT_F32, dims, 1),
                                                          weft_scalar(g, WEFT_F32, 50.0)),
                                                 WEFT_I32),
                                       weft_scalar(g, WEFT_I32, (double)dims[1]))),
                  WEFT_I32);
    const weft_val loss = weft_mean(g, weft_softmax_cross_entropy(g, x, labels), NULL, 0, false);
    weft_val dx;
    weft_grad(g, loss, &x, 1, &dx);
    push(r, loss);
    push(r, dx);
}

static void make_graph(weft_context *ctx, uint64_t seed, random_graph *r)
{
    memset(r, 0, sizeof *r);
    r->ctx = ctx;
    r->seed = seed;
    assert_int_equal(weft_graph_create(ctx, &r->g, NULL), WEFT_OK);
    const int32_t ndim = 1 + (int32_t)below(r, 4);
    push(r, new_input(r, ndim));
    push(r, new_input(r, 1 + (int32_t)below(r, 4)));
    static void (*const steps[])(random_graph *) = {
        add_elementwise, add_elementwise, add_elementwise,   add_elementwise,
        add_reduce,      add_reduce,      add_softmax,       add_shape,
        add_shape,       add_matmul,      add_conv,          add_pool,
        add_index,       add_random,      add_cross_entropy, add_cast};
    const uint32_t n_steps = 2 + below(r, 10);
    for (uint32_t i = 0; i < n_steps && r->n_inputs < 20; i++)
        steps[below(r, WF_COUNT_OF(steps))](r);
    for (size_t i = 0; i < MAX_OUTPUTS; i++) {
        const weft_val v = r->vals[i == 0 ? r->n_vals - 1 : below(r, (uint32_t)r->n_vals)];
        char name[16];
        bool is_new = true;
        for (size_t j = 0; j < r->g->n_outputs; j++)
            is_new = is_new && r->g->outputs[j].val != v.id;
        (void)snprintf(name, sizeof name, "y%zu", r->n_outputs);
        if (is_new) {
            weft_output(r->g, name, v);
            r->n_outputs++;
        }
    }
    weft_error err;
    if (weft_graph_status(r->g, &err) != WEFT_OK)
        fail_msg("seed %llu: %s", (unsigned long long)seed, err.message);
}

static void fail_graph(const random_graph *r, const char *device, const char *what)
{
    char *text = NULL;
    (void)weft_graph_print(r->g, &text, NULL);
    print_error("%s\n", text ? text : "");
    weft_text_free(r->ctx, text);
    fail_msg("%s, seed %llu: %s", device, (unsigned long long)r->seed, what);
}

// Inputs of the program, the same for every device: ordinary numbers, some special ones.
static void write_inputs(const random_graph *r, weft_program *program, const char *device)
{
    size_t n_written = 0;
    weft_error err;
    for (size_t i = 0; i < r->g->n_nodes; i++) {
        const wf_node *node = &r->g->nodes[i];
        if (node->n_inputs != 0 || node->n_outputs != 1 || node->op != wf_op_find(r->ctx, "input"))
            continue;
        const weft_val v = {node->first_output};
        const size_t n = (size_t)weft_val_count(r->g, v);
        float *data = malloc(n * 4 + 4);
        for (size_t j = 0; j < n; j++) {
            const uint32_t u = wf_random_word(r->seed, 1, (uint32_t)i, j);
            const uint32_t bits =
                u % 499 == 0 ? u : (u & 0x807fffffu) | (0x3d800000u + (u >> 3 & 0x01800000u));
            memcpy(data + j, &bits, 4);
        }
        char name[16];
        (void)snprintf(name, sizeof name, "x%zu", n_written++);
        // An input that nothing reads may have been dropped.
        const weft_status status = weft_program_write(program, name, data, n * 4, &err);
        if (status != WEFT_OK && status != WEFT_ERR_NAME)
            fail_graph(r, device, err.message);
        free(data);
    }
}

typedef struct results {
    void *data[MAX_OUTPUTS];
    size_t bytes[MAX_OUTPUTS];
} results;

static void run_graph(const random_graph *r, weft_device *dev, const char *device, results *out)
{
    weft_state *state;
    weft_program *program;
    weft_error err;
    assert_int_equal(weft_state_create(dev, &state, &err), WEFT_OK);
    if (weft_compile(state, r->g, NULL, &program, &err) != WEFT_OK)
        fail_graph(r, device, err.message);
    for (int run = 0; run < 2; run++) {
        write_inputs(r, program, device);
        if (weft_program_run(program, &err) != WEFT_OK)
            fail_graph(r, device, err.message);
    }
    for (size_t i = 0; i < r->n_outputs; i++) {
        char name[16];
        const weft_val v = {r->g->outputs[i].val};
        (void)snprintf(name, sizeof name, "y%zu", i);
        out->bytes[i] =
            (size_t)weft_val_count(r->g, v) * weft_dtype_size(weft_val_type(r->g, v).dtype);
        out->data[i] = malloc(out->bytes[i] + 1);
        if (weft_program_read(program, name, out->data[i], out->bytes[i], &err) != WEFT_OK)
            fail_graph(r, device, err.message);
    }
    weft_program_destroy(program);
    weft_state_destroy(state);
}

static bool is_nan_pair(weft_dtype dtype, const void *a, const void *b)
{
    float x, y;
    if (dtype != WEFT_F32)
        return false;
    memcpy(&x, a, 4);
    memcpy(&y, b, 4);
    return x != x && y != y;
}

static void compare(const random_graph *r, const char *device, const results *a, const results *b)
{
    for (size_t i = 0; i < r->n_outputs; i++) {
        const weft_dtype dtype = weft_val_type(r->g, (weft_val){r->g->outputs[i].val}).dtype;
        const size_t size = weft_dtype_size(dtype);
        for (size_t j = 0; j < a->bytes[i]; j += size) {
            const char *x = (const char *)a->data[i] + j, *y = (const char *)b->data[i] + j;
            if (!memcmp(x, y, size) || is_nan_pair(dtype, x, y))
                continue;
            char what[128];
            uint64_t u = 0, v = 0;
            memcpy(&u, x, size);
            memcpy(&v, y, size);
            (void)snprintf(what, sizeof what, "y%zu element %zu is %llx, ref has %llx", i, j / size,
                           (unsigned long long)v, (unsigned long long)u);
            fail_graph(r, device, what);
        }
    }
}

static void free_results(results *r)
{
    for (size_t i = 0; i < MAX_OUTPUTS; i++)
        free(r->data[i]);
}

static void random_graphs(void **state)
{
    (void)state;
    weft_context *ctx;
    weft_device *ref, *devs[8];
    char names[8][32];
    size_t n_devs = 0;
    weft_error err;
    assert_int_equal(weft_context_create(NULL, &ctx, NULL), WEFT_OK);
    assert_int_equal(weft_device_open(ctx, "ref", NULL, &ref, &err), WEFT_OK);
    for (size_t i = 0; i < wf_cpu_isa_count(); i++) {
        weft_device_options options = WEFT_DEVICE_OPTIONS_INIT;
        if (!(wf_cpu_isa_detect(WF_CPU_ISA_ALL) >> i & 1u))
            continue;
        options.isa = wf_cpu_isa_at(i)->name;
        options.n_threads = i % 2 ? 1 : 3;
        (void)snprintf(names[n_devs], sizeof names[0], "cpu %s", options.isa);
        assert_int_equal(weft_device_open(ctx, "cpu", &options, &devs[n_devs], &err), WEFT_OK);
        guarded_device_wrap(devs[n_devs], n_devs & 1);
        n_devs++;
    }
    const char *one = getenv("WEFT_TEST_SEED");
    const uint64_t first = one ? strtoull(one, NULL, 10) : 1;
    const uint64_t n = one ? 1 : wf_test_is_full() ? 3000 : 150;
    for (uint64_t seed = first; seed < first + n; seed++) {
        random_graph r;
        results expected = {0};
        make_graph(ctx, seed, &r);
        run_graph(&r, ref, "ref", &expected);
        for (size_t i = 0; i < n_devs; i++) {
            results got = {0};
            run_graph(&r, devs[i], names[i], &got);
            compare(&r, names[i], &expected, &got);
            free_results(&got);
        }
        free_results(&expected);
        weft_graph_destroy(r.g);
    }
    for (size_t i = 0; i < n_devs; i++)
        weft_device_close(devs[i]);
    weft_device_close(ref);
    weft_context_destroy(ctx);
}

const struct CMUnitTest wf_tests_cpu_graph[] = {cmocka_unit_test(random_graphs)};
const unsigned long wf_n_tests_cpu_graph = WF_N_TESTS(wf_tests_cpu_graph);
