// Deep belief network: restricted Boltzmann machines rbm1, rbm2, .. one on the other. G. Hinton, S. Osindero, Y. Teh,
// Neural Computation 2006; persistent chains: T. Tieleman, ICML 2008. The same parameters, by name, are
//   mode rbm          pre-trained: layer `layer` learns on what the ones below make of the picture, which are frozen
//   mode classifier   topped by a linear layer fc
//   mode autoencoder  unrolled: the way back is the transposed weights and the visible biases
// Contrastive divergence is the gradient of a difference of free energies whose second one is taken at a sample that
// carries no gradient; in evaluation the loss is the cross-entropy of the reconstruction.
#include <stdio.h>

#include "nn/family.h"

enum { MODE_RBM = 0, MODE_CLASSIFIER = 1, MODE_AUTOENCODER = 2 };

typedef struct values {
    int32_t mode;
    wf_integers hidden;
    int64_t layer, gibbs, chains, classes;
    bool is_top_linear;
    double dropout;
} values;

static const char *const modes[] = {"rbm", "classifier", "autoencoder", NULL};

static const values defaults = {MODE_RBM, {{500, 500, 2000}, 3}, 1, 1, 0, 0, false, 0.0};

static const wf_option options[] = {
    {"mode", WF_OPTION_CHOICE, offsetof(values, mode), 0, 0, modes},
    {"hidden", WF_OPTION_INTEGERS, offsetof(values, hidden), 1, 1e6, NULL},
    {"layer", WF_OPTION_INTEGER, offsetof(values, layer), 1, WF_INTEGERS_MAX, NULL},
    {"gibbs", WF_OPTION_INTEGER, offsetof(values, gibbs), 1, 1000, NULL},
    {"chains", WF_OPTION_INTEGER, offsetof(values, chains), 0, 1e6, NULL},
    {"linear_top", WF_OPTION_BOOL, offsetof(values, is_top_linear), 0, 0, NULL},
    {"dropout", WF_OPTION_NUMBER, offsetof(values, dropout), 0, 0.99, NULL},
    {"classes", WF_OPTION_INTEGER, offsetof(values, classes), 0, 1e6, NULL},
    {NULL, WF_OPTION_INTEGER, 0, 0, 0, NULL},
};

typedef struct machine {
    weft_val weight;       // [h,v]
    weft_val hidden_bias;  // [h]
    weft_val visible_bias; // [v]
    int64_t n_visible;
    bool is_linear; // hidden units are normal with variance 1, not 0 or 1
} machine;

typedef struct dbn {
    wf_family_build *b;
    weft_nn *nn;
    weft_graph *g;
    const values *o;
    machine m[WF_INTEGERS_MAX];
    int32_t n;
} dbn;

static machine make_machine(dbn *d, int32_t i, int64_t n_visible)
{
    static const weft_init small = {WEFT_INIT_NORMAL, 0.0, 0.01, 0.0};
    static const weft_init fan = {WEFT_INIT_FAN_IN, 0.0, 0.0, 0.0},
                           zeros = {WEFT_INIT_ZEROS, 0, 0, 0};
    const int64_t n_hidden = d->o->hidden.v[i], dims[] = {n_hidden, n_visible};
    const bool is_rbm = d->o->mode == MODE_RBM;
    char scope[16];
    machine m = {.n_visible = n_visible,
                 .is_linear = d->o->is_top_linear && i + 1 == d->o->hidden.n};
    snprintf(scope, sizeof scope, "rbm%d", i + 1);
    weft_scope_push(d->g, scope);
    // What pre-training begins with is small; without it a network of sigmoids needs the usual.
    m.weight = wf_nn_parameter_init(d->nn, "weight", is_rbm ? &small : &fan, dims, 2, true);
    m.hidden_bias = wf_nn_parameter_init(d->nn, "hidden_bias", &zeros, dims, 1, false);
    if (d->o->mode != MODE_CLASSIFIER)
        m.visible_bias = wf_nn_parameter_init(d->nn, "visible_bias", &zeros, dims + 1, 1, false);
    weft_scope_pop(d->g);
    return m;
}

// What goes into the hidden units; their probability of being 1, or their mean.
static weft_val drive(dbn *d, const machine *m, weft_val v)
{
    return weft_add(d->g, weft_matmul(d->g, v, m->weight, false, true), m->hidden_bias);
}

static weft_val up(dbn *d, const machine *m, weft_val v)
{
    const weft_val x = drive(d, m, v);
    return m->is_linear ? x : weft_sigmoid(d->g, x);
}

static weft_val down_logits(dbn *d, const machine *m, weft_val h)
{
    return weft_add(d->g, weft_matmul(d->g, h, m->weight, false, false), m->visible_bias);
}

// Hidden units drawn by their probabilities.
static weft_val draw_hidden(dbn *d, const machine *m, weft_val v)
{
    const weft_val mean = up(d, m, v);
    const weft_type t = weft_val_type(d->g, mean);
    const weft_val seed = weft_nn_seed(d->nn), step = weft_nn_step(d->nn);
    if (m->is_linear)
        return weft_add(d->g, mean, weft_random_normal(d->g, seed, step, t.dims, t.ndim));
    const weft_val u = weft_random_uniform(d->g, seed, step, t.dims, t.ndim);
    return weft_cast(d->g, weft_less(d->g, u, mean), WEFT_F32);
}

// F(v) of each row: f32 [n].
static weft_val free_energy(dbn *d, const machine *m, weft_val v)
{
    static const int32_t last = 1;
    weft_graph *g = d->g;
    const weft_val x = drive(d, m, v);
    const weft_val each =
        m->is_linear ? weft_mul(g, weft_mul(g, x, x), wf_nn_number(g, 0.5)) : weft_softplus(g, x);
    const weft_val bias = weft_sum(g, weft_mul(g, v, m->visible_bias), &last, 1, false);
    return weft_neg(g, weft_add(g, bias, weft_sum(g, each, &last, 1, false)));
}

// Visible probabilities after some rounds from v; no gradient.
static weft_val gibbs(dbn *d, const machine *m, weft_val v)
{
    char scope[24];
    weft_scope_push(d->g, "gibbs");
    for (int64_t k = 0; k < d->o->gibbs; k++) {
        snprintf(scope, sizeof scope, "%d", (int)k);
        weft_scope_push(d->g, scope);
        const weft_val h = draw_hidden(d, m, v);
        v = weft_stop_gradient(d->g, weft_sigmoid(d->g, down_logits(d, m, h)));
        weft_scope_pop(d->g);
    }
    weft_scope_pop(d->g);
    return v;
}

// The chains' end, and what they go on from in the next step.
static weft_val run_chains(dbn *d, const machine *m)
{
    static const weft_init uniform = {WEFT_INIT_UNIFORM, 0.0, 1.0, 0.0};
    const int64_t dims[] = {d->o->chains, m->n_visible};
    weft_scope_push(d->g, "chain");
    const weft_val chain =
        wf_nn_buffer(d->nn, "visible", weft_init_values(d->nn, &uniform, dims, 2));
    weft_scope_pop(d->g);
    const weft_val end = gibbs(d, m, chain);
    weft_assign(d->g, chain, weft_flush(d->g, end));
    return end;
}

// f32 [b]: what the machine learns by.
static weft_val contrast(dbn *d, const machine *m, weft_val v)
{
    weft_graph *g = d->g;
    const weft_val data = free_energy(d, m, v);
    if (d->o->chains == 0)
        return weft_sub(g, data, free_energy(d, m, gibbs(d, m, v)));
    const weft_val model = free_energy(d, m, run_chains(d, m));
    return weft_sub(g, data, weft_mean(g, model, NULL, 0, false));
}

// Back through the layers below `top`: logits of the picture.
static weft_val go_down(dbn *d, int32_t top, weft_val h)
{
    weft_val x = down_logits(d, &d->m[top], h);
    for (int32_t i = top - 1; i >= 0; i--) {
        x = down_logits(d, &d->m[i], weft_sigmoid(d->g, x));
    }
    const weft_type t = weft_val_type(d->g, d->b->x);
    return weft_reshape(d->g, x, t.dims, t.ndim);
}

static weft_val build_rbm(dbn *d, weft_val x)
{
    static const int32_t last = 1;
    const int32_t top = (int32_t)d->o->layer - 1;
    const machine *m = &d->m[top];
    char scope[16];
    for (int32_t i = 0; i < top; i++) {
        x = up(d, &d->m[i], x);
        snprintf(scope, sizeof scope, "rbm%d.", i + 1);
        weft_nn_freeze(d->nn, scope);
    }
    const weft_val v = weft_stop_gradient(d->g, x);
    snprintf(scope, sizeof scope, "rbm%d", top + 1);
    weft_scope_push(d->g, scope);
    const weft_val h = up(d, m, v);
    if (d->nn->is_training) {
        d->b->penalty = contrast(d, m, v);
    } else {
        const weft_val losses =
            weft_bce_with_logits(d->g, down_logits(d, m, h), v, WEFT_REDUCTION_NONE);
        d->b->penalty = weft_sum(d->g, losses, &last, 1, false);
    }
    weft_scope_pop(d->g);
    return go_down(d, top, h);
}

static weft_val build(wf_family_build *b)
{
    const values *o = b->options;
    dbn d = {.b = b, .nn = b->nn, .g = weft_nn_graph(b->nn), .o = o};
    weft_val x = weft_flatten(d.g, b->x, 1);
    if (!x.id)
        return WEFT_NONE;
    if (o->mode == MODE_RBM && o->layer > o->hidden.n) {
        wf_graph_fail(d.g, NULL, WEFT_ERR_ATTR, "dbn: layer is %lld of %d, expected 1 to %d",
                      (long long)o->layer, o->hidden.n, o->hidden.n);
        return WEFT_NONE;
    }
    // Only the layers that there are so far: the ones above come with their phase.
    d.n = o->mode == MODE_RBM ? (int32_t)o->layer : o->hidden.n;
    int64_t n_visible = weft_val_type(d.g, x).dims[1];
    for (int32_t i = 0; i < d.n; i++) {
        d.m[i] = make_machine(&d, i, n_visible);
        n_visible = o->hidden.v[i];
    }
    if (o->mode == MODE_RBM)
        return build_rbm(&d, x);
    for (int32_t i = 0; i < d.n; i++) {
        x = up(&d, &d.m[i], x);
        if (o->mode == MODE_CLASSIFIER && o->dropout > 0.0)
            x = weft_dropout(b->nn, x, o->dropout);
    }
    if (o->mode == MODE_CLASSIFIER)
        return weft_linear(b->nn, "fc", x, wf_family_classes(b, o->classes), NULL);
    b->code = x;
    return go_down(&d, d.n - 1, x);
}

const wf_family wf_family_dbn = {
    .name = "dbn",
    .summary = "deep belief network: Boltzmann machines, then a classifier or an autoencoder",
    .options = options,
    .options_bytes = sizeof defaults,
    .defaults = &defaults,
    .build = build,
};
