// A case as a graph that can run anywhere: named inputs with data, the op's results as outputs, and
// the gradient of a random weighting of them. Stage: check.
#include <stdio.h>
#include <string.h>

#include "check/check.h"

// An operand of `type`, out of an input whose elements lie in another order: the last two axes are
// swapped, or, for a vector, every second element of a longer one.
static weft_val strided_input(weft_graph *g, const char *name, const weft_type *type,
                              weft_type *out_stored)
{
    int32_t order[WEFT_MAX_DIM];
    *out_stored = *type;
    if (type->ndim >= 2) {
        for (int32_t i = 0; i < type->ndim; i++) {
            order[i] = i;
        }
        order[type->ndim - 1] = type->ndim - 2;
        order[type->ndim - 2] = type->ndim - 1;
        out_stored->dims[type->ndim - 1] = type->dims[type->ndim - 2];
        out_stored->dims[type->ndim - 2] = type->dims[type->ndim - 1];
        return weft_permute(g, weft_input(g, name, type->dtype, out_stored->dims, out_stored->ndim),
                            order);
    }
    if (type->ndim == 0) {
        return weft_input(g, name, type->dtype, type->dims, type->ndim);
    }
    const int64_t start = 1, stop = 1 + 2 * type->dims[0], step = 2;
    out_stored->dims[0] = stop + 1;
    const weft_val x = weft_input(g, name, type->dtype, out_stored->dims, 1);
    return weft_slice(g, x, &start, &stop, &step);
}

static weft_status add_inputs(wf_check_trial *t, const char *op_name, const wf_check_case *one,
                              wf_check_layout layout, weft_val *vals, weft_val *wrt,
                              weft_error *err)
{
    char name[512];
    (void)snprintf(name, sizeof name, "%s/%s", op_name, one->name);
    for (size_t i = 0; i < one->n_inputs; i++) {
        const wf_check_input *in = &one->inputs[i];
        wf_check_tensor *to = &t->inputs[i];
        char text[32];
        (void)snprintf(text, sizeof text, "in%zu", i);
        to->name = wf_arena_strdup(&t->memory, text);
        to->is_special = in->fill == WF_CHECK_SPECIAL;
        if (layout == WF_CHECK_STRIDED) {
            vals[i] = strided_input(t->g, to->name, &in->type, &to->type);
            // The gradient by the operand, not by what it was cut from.
            wrt[i] = vals[i];
        } else {
            to->type = in->type;
            vals[i] = wrt[i] =
                weft_input(t->g, to->name, in->type.dtype, in->type.dims, in->type.ndim);
        }
        const size_t bytes = (size_t)wf_type_count(&to->type) * weft_dtype_size(in->type.dtype);
        to->data = wf_arena_take(&t->memory, bytes);
        if (!to->data || !to->name) {
            WEFT_FAIL(err, WEFT_ERR_MEMORY, "check: %zu bytes for %s are not available", bytes,
                      name);
        }
        wf_check_fill_data(&to->type, in->fill, in->limit, name, (uint32_t)i, to->data);
        t->n_inputs++;
    }
    return weft_graph_status(t->g, err);
}

// sum(out * random) over all f32 results; none when there are none.
static weft_val build_loss(wf_check_trial *t, const weft_val *outs, size_t n, const char *name)
{
    weft_val loss = WEFT_NONE;
    for (size_t i = 0; i < n; i++) {
        const weft_type type = weft_val_type(t->g, outs[i]);
        if (type.dtype != WEFT_F32) {
            continue;
        }
        float *weights = wf_arena_take(&t->memory, (size_t)wf_type_count(&type) * sizeof *weights);
        if (!weights) {
            return WEFT_NONE;
        }
        wf_check_fill_data(&type, WF_CHECK_NORMAL, 0, name, 1000 + (uint32_t)i, weights);
        const weft_val w = weft_constant(t->g, WEFT_F32, type.dims, type.ndim, weights);
        const weft_val part = weft_sum(t->g, weft_mul(t->g, outs[i], w), NULL, 0, false);
        loss = loss.id ? weft_add(t->g, loss, part) : part;
    }
    return loss;
}

static weft_status add_gradient(wf_check_trial *t, const wf_check_case *one, const weft_val *outs,
                                const weft_val *wrt, const char *name, weft_error *err)
{
    weft_val list[WF_CHECK_MAX_INPUTS], grads[WF_CHECK_MAX_INPUTS];
    size_t place[WF_CHECK_MAX_INPUTS], n = 0;
    const weft_val loss = build_loss(t, outs, t->n_forward, name);
    for (size_t i = 0; i < one->n_inputs; i++) {
        if (one->inputs[i].type.dtype == WEFT_F32) {
            place[n] = i;
            list[n++] = wrt[i];
        }
    }
    if (!loss.id || n == 0) {
        return weft_graph_status(t->g, err);
    }
    weft_grad(t->g, loss, list, n, grads);
    weft_output(t->g, "loss", loss);
    for (size_t i = 0; i < n; i++) {
        char text[32];
        (void)snprintf(text, sizeof text, "grad%zu", place[i]);
        weft_output(t->g, text, grads[i]);
    }
    t->has_gradient = true;
    return weft_graph_status(t->g, err);
}

weft_status wf_check_trial_init(wf_check_trial *t, weft_context *ctx, const char *op_name,
                                const wf_check_case *one, wf_check_layout layout, weft_error *err)
{
    weft_val vals[WF_CHECK_MAX_INPUTS], wrt[WF_CHECK_MAX_INPUTS], outs[WF_OP_MAX_OUTPUTS];
    *t = (wf_check_trial){.ctx = ctx, .n_runs = 1};
    wf_arena_init(&t->memory, &ctx->allocator);
    WEFT_TRY(weft_graph_create(ctx, &t->g, err));
    WEFT_TRY(add_inputs(t, op_name, one, layout, vals, wrt, err));
    const weft_val out = one->build(t->g, vals, one->params);
    WEFT_TRY(weft_graph_status(t->g, err));
    if (!out.id) {
        WEFT_FAIL(err, WEFT_ERR_INTERNAL, "check: case %s of %s builds nothing", one->name,
                  op_name);
    }
    const wf_node *node = wf_graph_producer(t->g, out.id);
    t->n_forward = node->first_output == out.id ? node->n_outputs : 1;
    for (size_t i = 0; i < t->n_forward; i++) {
        char text[32];
        (void)snprintf(text, sizeof text, "out%zu", i);
        outs[i] = wf_val_output(out, (uint32_t)i);
        weft_output(t->g, text, outs[i]);
    }
    if (!one->no_gradient) {
        WEFT_TRY(add_gradient(t, one, outs, wrt, one->name, err));
    }
    return weft_graph_status(t->g, err);
}

void wf_check_trial_deinit(wf_check_trial *t)
{
    weft_graph_destroy(t->g);
    wf_arena_deinit(&t->memory);
}
