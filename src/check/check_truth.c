// A trial's graph in float64: ops that expand are expanded, then every node's eval_truth runs in order.
// Differences move one element of an input at a time and compute the loss again. Stage: check.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/dtype.h"
#include "check/check.h"
#include "op/tensor.h"
#include "pass/pass.h"

extern const wf_op wf_op_input, wf_op_variable;
extern const wf_pass wf_pass_expand;

enum { SOURCE_NAME, VARIABLE_INIT }; // attributes, see op/input.c and op/variable.c

struct wf_check_truth {
    wf_allocator allocator;
    wf_arena memory;
    const weft_graph *g;
    weft_graph *expanded; // NULL: g is the trial's own
    void **data;          // by value id
};

static wf_tensor tensor_of(const wf_check_truth *t, wf_id id)
{
    const wf_tensor tensor = {*wf_graph_type(t->g, id), t->data[id], true};
    return tensor;
}

static weft_status load_input(wf_check_truth *t, const wf_check_trial *trial, const wf_node *node,
                              bool absolute, weft_error *err)
{
    const char *name = node->attrs[SOURCE_NAME].u.text;
    const wf_tensor to = tensor_of(t, node->first_output);
    for (size_t i = 0; i < trial->n_inputs; i++) {
        if (strcmp(trial->inputs[i].name, name) != 0) {
            continue;
        }
        wf_tensor_load(&to, trial->inputs[i].data);
        for (int64_t k = 0; absolute && k < wf_type_count(&to.type); k++) {
            if (wf_dtype_is_float(to.type.dtype)) {
                ((double *)to.data)[k] = fabs(((double *)to.data)[k]);
            }
        }
        return WEFT_OK;
    }
    WEFT_FAIL(err, WEFT_ERR_INTERNAL, "check: input %s has no data", name);
}

static weft_status eval_node(wf_check_truth *t, const wf_node *node, weft_error *err)
{
    wf_node_types types;
    wf_tensor in[WF_NODE_MAX_INPUTS], out[WF_OP_MAX_OUTPUTS];
    if (node->op == &wf_op_input) {
        return WEFT_OK;
    }
    if (node->op == &wf_op_variable) {
        const wf_tensor to = tensor_of(t, node->first_output);
        const wf_id init = (wf_id)node->attrs[VARIABLE_INIT].u.i;
        memcpy(to.data, t->data[init], (size_t)wf_type_count(&to.type) * wf_tensor_elem_bytes(&to));
        return WEFT_OK;
    }
    wf_node_types_get(t->g, node, &types);
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        in[i] = tensor_of(t, node->inputs[i]);
    }
    for (uint32_t i = 0; i < node->n_outputs; i++) {
        out[i] = tensor_of(t, node->first_output + i);
    }
    wf_eval q = {&types.info, in, out, false, 0, t->allocator, NULL};
    const wf_op *op = node->op;
    if (!op->eval_truth && !op->eval) {
        WEFT_FAIL(err, WEFT_ERR_INTERNAL, "check: %s has no eval", op->name);
    }
    return (op->eval_truth ? op->eval_truth : op->eval)(&q, err);
}

// Most graphs need no expansion and stay the trial's own; first values of variables are known by their
// ids there.
static weft_status expand_graph(wf_check_truth *t, const weft_graph *src, weft_error *err)
{
    bool expands = false, has_variable = false;
    for (size_t i = 0; i < src->n_nodes; i++) {
        expands |= src->nodes[i].op->expand != NULL || wf_node_region(&src->nodes[i]) != NULL;
        has_variable |= src->nodes[i].op == &wf_op_variable;
    }
    t->g = src;
    if (!expands) {
        return WEFT_OK;
    }
    if (has_variable) {
        WEFT_FAIL(err, WEFT_ERR_INTERNAL, "check: a case with variables and ops that expand");
    }
    WEFT_TRY(wf_pass_run(&wf_pass_expand, src, &t->expanded, err));
    t->g = t->expanded;
    return WEFT_OK;
}

static weft_status allocate_values(wf_check_truth *t, weft_error *err)
{
    t->data = wf_arena_take(&t->memory, t->g->n_values * sizeof *t->data);
    for (wf_id id = 1; t->data && id < t->g->n_values; id++) {
        const wf_tensor tensor = {*wf_graph_type(t->g, id), NULL, true};
        t->data[id] = wf_arena_take(&t->memory, (size_t)wf_type_count(&tensor.type) *
                                                    wf_tensor_elem_bytes(&tensor));
        if (!t->data[id]) {
            t->data = NULL;
        }
    }
    if (!t->data) {
        WEFT_FAIL(err, WEFT_ERR_MEMORY, "check: memory for float64 values is not available");
    }
    return WEFT_OK;
}

static weft_status prepare(wf_check_truth *t, const wf_check_trial *trial, bool absolute,
                           weft_error *err)
{
    WEFT_TRY(expand_graph(t, trial->g, err));
    WEFT_TRY(allocate_values(t, err));
    for (size_t i = 0; i < t->g->n_nodes; i++) {
        if (t->g->nodes[i].op == &wf_op_input) {
            WEFT_TRY(load_input(t, trial, &t->g->nodes[i], absolute, err));
        }
    }
    return WEFT_OK;
}

weft_status wf_check_truth_run(const wf_check_trial *trial, bool absolute, wf_check_truth **out,
                               weft_error *err)
{
    wf_check_truth *t;
    *out = NULL;
    WEFT_TRY(wf_alloc(&trial->ctx->allocator, 1, sizeof *t, &t, err));
    t->allocator = trial->ctx->allocator;
    wf_arena_init(&t->memory, &t->allocator);
    weft_status status = prepare(t, trial, absolute, err);
    for (size_t i = 0; status == WEFT_OK && i < t->g->n_nodes; i++) {
        status = eval_node(t, &t->g->nodes[i], err);
    }
    if (status != WEFT_OK) {
        wf_check_truth_destroy(t);
        return status;
    }
    *out = t;
    return WEFT_OK;
}

void wf_check_truth_destroy(wf_check_truth *t)
{
    if (!t) {
        return;
    }
    const wf_allocator a = t->allocator;
    weft_graph_destroy(t->expanded);
    wf_arena_deinit(&t->memory);
    wf_free(&a, t);
}

static wf_id find_output(const weft_graph *g, const char *name)
{
    for (size_t i = 0; i < g->n_outputs; i++) {
        if (!strcmp(g->outputs[i].name, name)) {
            return g->outputs[i].val;
        }
    }
    return 0;
}

const void *wf_check_truth_get(const wf_check_truth *t, const char *output)
{
    const wf_id id = find_output(t->g, output);
    return id ? t->data[id] : NULL;
}

// ---- finite differences
#define MAX_POINTS 9 // elements tried of each input, spread over it

typedef struct differ {
    wf_check_truth *t; // its own: inputs move
    bool *is_needed;   // nodes of the loss
    const double *loss;
} differ;

static void mark_needed(differ *d, wf_id loss)
{
    const weft_graph *g = d->t->g;
    d->is_needed[g->values[loss].node] = true;
    for (size_t i = g->n_nodes; i-- > 0;) {
        for (uint32_t k = 0; d->is_needed[i] && k < g->nodes[i].n_inputs; k++) {
            d->is_needed[g->values[g->nodes[i].inputs[k]].node] = true;
        }
    }
}

static weft_status loss_at(differ *d, double *x, double value, double *out, weft_error *err)
{
    const double keep = *x;
    weft_status status = WEFT_OK;
    *x = value;
    for (size_t i = 0; status == WEFT_OK && i < d->t->g->n_nodes; i++) {
        if (d->is_needed[i]) {
            status = eval_node(d->t, &d->t->g->nodes[i], err);
        }
    }
    *out = *d->loss;
    *x = keep;
    return status;
}

static weft_status slope_at(differ *d, double *x, double h, double *out, weft_error *err)
{
    double above, below;
    const double keep = *x;
    WEFT_TRY(loss_at(d, x, keep + h, &above, err));
    WEFT_TRY(loss_at(d, x, keep - h, &below, err));
    *out = (above - below) / (2.0 * h);
    return WEFT_OK;
}

// One element. Where two step lengths disagree there is a corner near: no verdict.
static weft_status try_element(differ *d, double *x, double gradient, double scale, bool *out_ok,
                               double *out_slope, weft_error *err)
{
    double wide, narrow, at;
    const double h = 0x1p-14 * fmax(fabs(*x), 0x1p-8);
    WEFT_TRY(slope_at(d, x, h, &wide, err));
    WEFT_TRY(slope_at(d, x, h / 8.0, &narrow, err));
    WEFT_TRY(loss_at(d, x, *x, &at, err));
    const double noise = 1e-14 * fabs(at) / h;
    const double allowed = 1e-5 * fmax(fabs(narrow), 1e-3 * scale) + noise;
    *out_slope = wide;
    *out_ok = true;
    if (isfinite(wide) && isfinite(narrow) && fabs(wide - narrow) <= allowed) {
        *out_ok = fabs(wide - gradient) <= 2.0 * allowed;
    }
    return WEFT_OK;
}

static double greatest(const double *x, int64_t n)
{
    double best = 0.0;
    for (int64_t i = 0; i < n; i++) {
        best = isfinite(x[i]) ? fmax(best, fabs(x[i])) : best;
    }
    return best;
}

static weft_status try_input(differ *d, const wf_check_truth *truth, const wf_check_tensor *in,
                             size_t idx, bool *out_ok, char reason[256], weft_error *err)
{
    char name[16];
    (void)snprintf(name, sizeof name, "grad%zu", idx);
    const double *gradient = wf_check_truth_get(truth, name);
    double *x = NULL;
    for (size_t i = 0; i < d->t->g->n_nodes; i++) {
        const wf_node *node = &d->t->g->nodes[i];
        if (node->op == &wf_op_input && !strcmp(node->attrs[SOURCE_NAME].u.text, in->name)) {
            x = d->t->data[node->first_output];
        }
    }
    const int64_t count = wf_type_count(&in->type);
    const int64_t n_points = count < MAX_POINTS ? count : MAX_POINTS;
    for (int64_t p = 0; x && gradient && *out_ok && p < n_points; p++) {
        const int64_t at = p * count / n_points;
        double slope;
        WEFT_TRY(
            try_element(d, &x[at], gradient[at], greatest(gradient, count), out_ok, &slope, err));
        if (!*out_ok) {
            (void)snprintf(reason, 256,
                           "gradient of %s[%lld] at %.9g is %.9g in float64, differences give %.9g",
                           in->name, (long long)at, x[at], gradient[at], slope);
        }
    }
    return WEFT_OK;
}

static weft_status differ_inputs(differ *d, const wf_check_trial *trial,
                                 const wf_check_truth *truth, bool *out_ok, char reason[256],
                                 weft_error *err)
{
    const wf_id loss = find_output(d->t->g, "loss");
    if (!loss) {
        return WEFT_OK;
    }
    d->loss = d->t->data[loss];
    mark_needed(d, loss);
    for (size_t i = 0; *out_ok && i < trial->n_inputs; i++) {
        if (trial->inputs[i].type.dtype == WEFT_F32 && !trial->inputs[i].is_special) {
            WEFT_TRY(try_input(d, truth, &trial->inputs[i], i, out_ok, reason, err));
        }
    }
    return WEFT_OK;
}

weft_status wf_check_differences(const wf_check_trial *trial, const wf_check_truth *truth,
                                 bool *out_ok, char reason[256], weft_error *err)
{
    differ d = {.is_needed = NULL};
    *out_ok = true;
    WEFT_TRY(wf_check_truth_run(trial, false, &d.t, err));
    weft_status status =
        wf_alloc(&trial->ctx->allocator, d.t->g->n_nodes, sizeof *d.is_needed, &d.is_needed, err);
    if (status == WEFT_OK) {
        status = differ_inputs(&d, trial, truth, out_ok, reason, err);
    }
    wf_free(&trial->ctx->allocator, d.is_needed);
    wf_check_truth_destroy(d.t);
    return status;
}
