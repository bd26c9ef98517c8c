// Random graphs: a mix of elementwise ops, reductions, norms, softmax, products, views and updates of
// variables, with gradient, by seed. They try what fusion and planning make of ops that are right one
// by one. Bits are compared; a graph that differs is told as text. Stage: check.
#include <stdio.h>

#include "check/check.h"
#include "op/build.h"
#include "weft/nn.h"

#define DEFAULT_GRAPHS 40
#define MAX_VALUES 64
#define N_RUNS 2

typedef struct maker {
    weft_graph *g;
    uint64_t state;
    int64_t dims[3];
    weft_val pool[MAX_VALUES];
    size_t n;
    weft_val seed, step;
} maker;

// SplitMix64: any generator that every machine agrees on.
static uint32_t draw(maker *m, uint32_t below)
{
    uint64_t z = m->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ z >> 31) >> 33) % below;
}

static void put(maker *m, weft_val v)
{
    if (m->n < MAX_VALUES) {
        m->pool[m->n++] = v;
    }
}

static weft_val any(maker *m)
{
    // Late values more often: graphs grow deep.
    const uint32_t n = (uint32_t)m->n, back = draw(m, n);
    return m->pool[n - 1 - draw(m, back + 1)];
}

static weft_val scalar(maker *m, double x)
{
    return weft_scalar(m->g, WEFT_F32, x);
}

// A value that stretches over a: another of the pool, or a scalar.
static weft_val partner(maker *m, weft_val a)
{
    for (int i = 0; i < 4; i++) {
        const weft_val b = any(m);
        const weft_type ta = weft_val_type(m->g, a), tb = weft_val_type(m->g, b);
        const weft_type *types[] = {&ta, &tb};
        int32_t ndim;
        int64_t dims[WEFT_MAX_DIM];
        if (wf_dims_broadcast(types, 2, &ndim, dims)) {
            return b;
        }
    }
    return scalar(m, (double)draw(m, 9) * 0.25 - 1.0);
}

// Some axes, at least one; 0 for a scalar.
static size_t some_axes(maker *m, weft_val x, int32_t axes[WEFT_MAX_DIM])
{
    const int32_t ndim = weft_val_type(m->g, x).ndim;
    size_t n = 0;
    for (int32_t i = 0; i < ndim; i++) {
        if (draw(m, 2)) {
            axes[n++] = i;
        }
    }
    if (n == 0 && ndim > 0) {
        axes[n++] = (int32_t)draw(m, (uint32_t)ndim);
    }
    return n;
}

// The value itself, or something of rank 3 when it is less.
static weft_val any_cube(maker *m)
{
    const weft_val x = any(m);
    return weft_val_type(m->g, x).ndim == 3 ? x : m->pool[0];
}

static weft_val make_unary(maker *m)
{
    weft_graph *g = m->g;
    const weft_val x = any(m);
    switch (draw(m, 11)) {
    case 0: return weft_tanh(g, x);
    case 1: return weft_sigmoid(g, x);
    case 2: return weft_relu(g, x);
    case 3: return weft_abs(g, x);
    case 4: return weft_neg(g, x);
    case 5: return weft_gelu(g, x);
    case 6: return weft_exp(g, weft_min(g, x, scalar(m, 2.0)));
    case 7: return weft_sqrt(g, weft_add(g, weft_abs(g, x), scalar(m, 0.5)));
    case 8: return weft_silu(g, x);
    case 9: return weft_flush(g, weft_mul(g, x, x));
    default: return weft_softplus(g, x);
    }
}

static weft_val make_binary(maker *m)
{
    weft_graph *g = m->g;
    const weft_val a = any(m), b = partner(m, a);
    switch (draw(m, 7)) {
    case 0: return weft_add(g, a, b);
    case 1: return weft_sub(g, a, b);
    case 2: return weft_mul(g, a, b);
    case 3: return weft_max(g, a, b);
    case 4: return weft_min(g, a, b);
    case 5: return weft_div(g, a, weft_add(g, weft_abs(g, b), scalar(m, 0.75)));
    default: return weft_add(g, weft_mul(g, a, b), partner(m, a));
    }
}

static weft_val make_select(maker *m)
{
    weft_graph *g = m->g;
    const weft_val a = any(m), b = partner(m, a);
    return weft_select(g, weft_less(g, a, b), weft_mul(g, b, scalar(m, 0.5)), a);
}

static weft_val make_reduce(maker *m)
{
    weft_graph *g = m->g;
    const weft_val x = any(m);
    int32_t axes[WEFT_MAX_DIM];
    const size_t n = some_axes(m, x, axes);
    if (n == 0) {
        return weft_neg(g, x);
    }
    switch (draw(m, 4)) {
    case 0: return weft_reduce_max(g, x, axes, n, true);
    case 1: return weft_reduce_min(g, x, axes, n, true);
    case 2: return weft_mean(g, x, axes, n, true);
    default: return weft_mul(g, weft_sum(g, x, axes, n, true), scalar(m, 0.0625));
    }
}

static weft_val make_norm(maker *m)
{
    weft_graph *g = m->g;
    const weft_val x = any(m);
    int32_t axes[WEFT_MAX_DIM];
    weft_val mean, variance;
    const size_t n = some_axes(m, x, axes);
    if (n == 0) {
        return weft_tanh(g, x);
    }
    weft_moments(g, x, axes, n, &mean, &variance);
    const weft_val scale = weft_rsqrt(g, weft_add(g, variance, scalar(m, 1e-3)));
    return weft_mul(g, weft_sub(g, x, mean), scale);
}

static weft_val make_softmax(maker *m)
{
    const weft_val x = any_cube(m);
    const int32_t axis = (int32_t)draw(m, 3);
    return draw(m, 2) ? weft_softmax(m->g, x, axis) : weft_log_softmax(m->g, x, axis);
}

// Views inside: there and back, with work between.
static weft_val make_view(maker *m)
{
    static const int32_t turn[] = {2, 0, 1}, back[] = {1, 2, 0};
    weft_graph *g = m->g;
    const weft_val x = any_cube(m);
    const weft_type t = weft_val_type(g, x);
    const int64_t zero[] = {0, 0, 0}, one[] = {1, 0, 2}, flat[] = {-1};
    const int64_t lower[] = {1, 0, 1};
    const int64_t upper[] = {t.dims[0] + 1, t.dims[1], t.dims[2] + 1};
    const int32_t axes[] = {(int32_t)draw(m, 2), 2};
    switch (draw(m, 6)) {
    case 4: return weft_flip(g, x, axes, 1 + draw(m, 2));
    case 5: return weft_add(g, weft_flip(g, weft_sin(g, x), axes, 2), x);
    case 0: return weft_permute(g, weft_tanh(g, weft_permute(g, x, turn)), back);
    case 1: return weft_reshape(g, weft_sigmoid(g, weft_reshape(g, x, flat, 1)), t.dims, t.ndim);
    case 2: {
        const weft_val padded = weft_pad(g, x, one, one, 0.5);
        return weft_slice(g, draw(m, 2) ? weft_sin(g, padded) : padded, lower, upper, NULL);
    }
    default: {
        const weft_val pair[] = {x, weft_mul(g, x, scalar(m, 0.5))};
        const weft_val both = weft_concat(g, pair, 2, (int32_t)draw(m, 3));
        return weft_slice(g, weft_abs(g, both), zero, t.dims, NULL);
    }
    }
}

// Terms that follow one another along an axis.
static weft_val make_chain(maker *m)
{
    weft_graph *g = m->g;
    const weft_val x = any_cube(m);
    const int32_t axis = (int32_t)draw(m, 3);
    if (draw(m, 3) == 0) {
        const weft_val near_one = weft_fma(g, weft_tanh(g, x), scalar(m, 0.0625), scalar(m, 1.0));
        return weft_reduce_prod(g, near_one, &axis, 1, true);
    }
    // One after the other: C leaves open which argument is computed first.
    const bool is_reverse = draw(m, 2), is_exclusive = draw(m, 2);
    return weft_mul(g, weft_cumsum(g, x, axis, is_exclusive, is_reverse), scalar(m, 0.0625));
}

// x x^T x, as attention has it.
static weft_val make_product(maker *m)
{
    weft_graph *g = m->g;
    const weft_val x = any_cube(m);
    const weft_val scores = weft_matmul(g, x, x, false, true);
    const weft_val weights = weft_tanh(g, weft_mul(g, scores, scalar(m, 0.125)));
    return weft_mul(g, weft_matmul(g, weights, x, false, false), scalar(m, 0.25));
}

static weft_val make_cast(maker *m)
{
    weft_graph *g = m->g;
    const weft_val x = any(m);
    const weft_dtype to[] = {WEFT_I32, WEFT_F16, WEFT_BF16, WEFT_I64, WEFT_U8};
    const weft_dtype dtype = to[draw(m, (uint32_t)WF_COUNT_OF(to))];
    const weft_val stopped = weft_stop_gradient(g, weft_mul(g, x, scalar(m, 4.0)));
    return weft_cast(g, weft_cast(g, stopped, dtype), WEFT_F32);
}

static weft_val make_random(maker *m)
{
    weft_graph *g = m->g;
    const weft_val x = any(m);
    const weft_type t = weft_val_type(g, x);
    const weft_val u = weft_random_uniform(g, m->seed, m->step, t.dims, t.ndim);
    return weft_select(g, weft_less(g, u, scalar(m, 0.3)), scalar(m, 0.0), x);
}

static void grow(maker *m)
{
    static weft_val (*const makers[])(maker *) = {
        make_unary,  make_unary,  make_binary, make_binary,  make_binary,  make_select,
        make_reduce, make_reduce, make_norm,   make_view,    make_softmax, make_view,
        make_cast,   make_random, make_binary, make_product, make_chain,
    };
    put(m, makers[draw(m, (uint32_t)WF_COUNT_OF(makers))](m));
}

// Inputs of a shape each, two variables, the counters.
static void seed_pool(maker *m, wf_check_trial *t)
{
    static const int64_t sizes[] = {1, 2, 3, 5, 8, 17, 31, 33, 64};
    static const char *const names[] = {"in0", "in1", "in2", "in3"};
    for (int i = 0; i < 3; i++) {
        m->dims[i] = sizes[draw(m, (uint32_t)WF_COUNT_OF(sizes))];
    }
    const int64_t column[] = {m->dims[0], 1, 1};
    const weft_type types[] = {
        wf_type_make(WEFT_F32, 3, m->dims), wf_type_make(WEFT_F32, 3, m->dims),
        wf_type_make(WEFT_F32, 2, m->dims + 1), wf_type_make(WEFT_F32, 3, column)};
    for (size_t i = 0; i < WF_COUNT_OF(types); i++) {
        t->inputs[i] = (wf_check_tensor){names[i], types[i], NULL, false};
        put(m, weft_input(m->g, names[i], WEFT_F32, types[i].dims, types[i].ndim));
    }
    t->n_inputs = WF_COUNT_OF(types);
    m->seed = weft_variable(m->g, "seed", weft_scalar(m->g, WEFT_I64, 5.0));
    m->step = weft_variable(m->g, "step", weft_scalar(m->g, WEFT_I64, 0.0));
    put(m, weft_variable(m->g, "w", weft_fill(m->g, WEFT_F32, m->dims + 2, 1, 0.5)));
}

static void finish(maker *m)
{
    weft_graph *g = m->g;
    const weft_val w = m->pool[4], wrt[] = {m->pool[0], w};
    weft_val loss = WEFT_NONE, grads[2];
    for (uint32_t i = 0; i < 3; i++) {
        char name[16];
        const weft_val y = m->pool[m->n - 1 - draw(m, i ? (uint32_t)m->n : 1)];
        const weft_val part = weft_mean(g, y, NULL, 0, false);
        (void)snprintf(name, sizeof name, "y%u", (unsigned)i);
        weft_output(g, name, y);
        loss = loss.id ? weft_add(g, loss, part) : part;
    }
    weft_grad(g, loss, wrt, 2, grads);
    weft_output(g, "loss", loss);
    weft_output(g, "gradient", grads[0]);
    weft_assign(g, w, weft_sub(g, w, weft_mul(g, grads[1], scalar(m, 0.5))));
    weft_assign(g, m->step, weft_add(g, m->step, weft_scalar(g, WEFT_I64, 1.0)));
    if (draw(m, 2)) {
        weft_guard(g, loss);
    }
}

static weft_status init_trial(wf_check_trial *t, weft_context *ctx, uint64_t seed, weft_error *err)
{
    maker m = {.state = seed * 0x2545f4914f6cdd1du + 1};
    char name[32];
    *t = (wf_check_trial){.ctx = ctx, .n_runs = N_RUNS};
    wf_arena_init(&t->memory, &ctx->allocator);
    WEFT_TRY(weft_graph_create(ctx, &t->g, err));
    m.g = t->g;
    seed_pool(&m, t);
    const uint32_t n = 4 + draw(&m, 16);
    for (uint32_t i = 0; i < n; i++) {
        grow(&m);
    }
    finish(&m);
    WEFT_TRY(weft_graph_status(t->g, err));
    (void)snprintf(name, sizeof name, "random %llu", (unsigned long long)seed);
    for (size_t i = 0; i < t->n_inputs; i++) {
        wf_check_tensor *in = &t->inputs[i];
        in->data = wf_arena_take(&t->memory, (size_t)wf_type_count(&in->type) * sizeof(float));
        if (!in->data) {
            WEFT_FAIL(err, WEFT_ERR_MEMORY, "check: memory for a random graph is not available");
        }
        wf_check_fill_data(&in->type, WF_CHECK_NORMAL, 0, name, (uint32_t)i, in->data);
    }
    return WEFT_OK;
}

static void run_seed(wf_check_session *s, uint64_t seed)
{
    wf_check_trial trial;
    wf_check_result ref = {.n = 0};
    weft_error err = {0};
    char reason[256] = "", name[64];
    char *text = NULL;
    weft_check_status status = WEFT_CHECK_DIFFERENT;
    (void)snprintf(name, sizeof name, "seed %llu", (unsigned long long)seed);
    if (init_trial(&trial, s->ctx, seed, &err) != WEFT_OK) {
        (void)snprintf(reason, sizeof reason, "%.250s", err.message);
    } else {
        status = wf_check_both(s, &trial, &ref, reason);
        wf_check_result_deinit(&ref);
    }
    if (status == WEFT_CHECK_DIFFERENT && weft_graph_print(trial.g, &text, NULL) != WEFT_OK) {
        text = NULL;
    }
    const weft_check_event event = {"random_graph", name, status, reason, -1.0, text};
    wf_check_tell(s, &event);
    weft_text_free(s->ctx, text);
    wf_check_trial_deinit(&trial);
}

weft_status wf_check_random(wf_check_session *s, weft_error *err)
{
    const uint32_t n = s->options->n_random ? s->options->n_random : DEFAULT_GRAPHS;
    (void)err;
    for (uint32_t i = 0; i < n; i++) {
        run_seed(s, s->options->first_seed + i);
    }
    return WEFT_OK;
}
