// Ops that a program adds to its context: a descriptor like those of this folder, whose functions call
// the program's.
#include <ctype.h>
#include <string.h>

#include "graph/registry.h"
#include "op/op.h"
#include "op/tensor.h"
#include "weft/own_op.h"

_Static_assert(WEFT_OWN_MAX_OUTPUTS <= WF_OP_MAX_OUTPUTS, "room for what the API allows");

typedef struct {
    wf_op op; // first: info->op points here
    weft_own_op own;
    wf_attr_spec attrs[WEFT_OWN_MAX_NUMBERS];
} own_op;

static const own_op *own_of(const wf_op *op)
{
    return (const own_op *)(const void *)op;
}

static void get_numbers(const own_op *o, const wf_attr *attrs, double numbers[WEFT_OWN_MAX_NUMBERS])
{
    for (uint32_t i = 0; i < o->own.n_numbers; i++)
        numbers[i] = attrs[i].u.f;
}

static weft_status infer(const wf_node_info *info, weft_type *out, weft_error *err)
{
    const own_op *o = own_of(info->op);
    double numbers[WEFT_OWN_MAX_NUMBERS];
    get_numbers(o, info->attrs, numbers);
    weft_error unseen;
    WEFT_TRY(o->own.infer(o->own.user, numbers, info->in, out, err ? err : &unseen));
    for (uint32_t i = 0; i < o->own.n_outputs; i++) {
        if (out[i].ndim < 0 || out[i].ndim > WEFT_MAX_DIM || weft_dtype_size(out[i].dtype) == 0) {
            WEFT_FAIL(err, WEFT_ERR_SHAPE, "its infer gives result %u no type", i);
        }
    }
    return WEFT_OK;
}

static void grad(const wf_grad_query *q)
{
    const own_op *o = own_of(q->info->op);
    double numbers[WEFT_OWN_MAX_NUMBERS];
    get_numbers(o, q->info->attrs, numbers);
    o->own.grad(o->own.user, q->g, numbers, q->in, q->out, q->dout, q->din);
}

static weft_status eval(wf_eval *q, weft_error *err)
{
    const own_op *o = own_of(q->info->op);
    double numbers[WEFT_OWN_MAX_NUMBERS];
    weft_own_tensor in[WEFT_OWN_MAX_INPUTS], out[WEFT_OWN_MAX_OUTPUTS];
    get_numbers(o, q->info->attrs, numbers);
    for (uint32_t i = 0; i < o->own.n_inputs; i++) {
        in[i] = (weft_own_tensor){q->in[i].type, q->in[i].data};
    }
    for (uint32_t i = 0; i < o->own.n_outputs; i++) {
        out[i] = (weft_own_tensor){q->out[i].type, q->out[i].data};
    }
    weft_error unseen; // so that the program need not look whether there is an err
    return o->own.eval(o->own.user, numbers, in, out, err ? err : &unseen);
}

// The program's function knows f32 only; the truth of an own op is its f32 value.
static weft_status eval_truth(wf_eval *q, weft_error *err)
{
    const own_op *o = own_of(q->info->op);
    const uint32_t n_in = o->own.n_inputs, n_out = o->own.n_outputs;
    wf_tensor tensors[WEFT_OWN_MAX_INPUTS + WEFT_OWN_MAX_OUTPUTS];
    weft_status status = WEFT_OK;
    uint32_t n = 0;
    for (; n < n_in + n_out && status == WEFT_OK; n++) {
        const wf_tensor *wide = n < n_in ? &q->in[n] : &q->out[n - n_in];
        const int64_t count = wf_type_count(&wide->type);
        tensors[n] = (wf_tensor){wide->type, wide->data, false};
        if (wide->type.dtype != WEFT_F32)
            continue;
        status = wf_alloc(&q->allocator, (size_t)count, sizeof(float), &tensors[n].data, err);
        for (int64_t i = 0; status == WEFT_OK && n < n_in && i < count; i++) {
            ((float *)tensors[n].data)[i] = (float)wf_tensor_get_f64(wide, i);
        }
    }
    wf_eval narrow = *q;
    narrow.in = tensors;
    narrow.out = tensors + n_in;
    if (status == WEFT_OK)
        status = eval(&narrow, err);
    for (uint32_t k = 0; k < n; k++) {
        const wf_tensor *wide = k < n_in ? &q->in[k] : &q->out[k - n_in];
        if (wide->type.dtype != WEFT_F32)
            continue;
        for (int64_t i = 0; status == WEFT_OK && k >= n_in && i < wf_type_count(&wide->type); i++) {
            ((double *)wide->data)[i] = (double)((const float *)tensors[k].data)[i];
        }
        wf_free(&q->allocator, tensors[k].data);
    }
    return status;
}

static wf_cost cost(const wf_node_info *info)
{
    wf_cost c = {0.0, 0.0}; // its work is unknown
    for (size_t i = 0; i < info->n_inputs; i++) {
        c.bytes += (double)wf_type_count(&info->in[i]) * (double)weft_dtype_size(info->in[i].dtype);
    }
    return c;
}

static bool is_word(const char *name)
{
    if (!name || !isalpha((unsigned char)*name))
        return false;
    for (const char *c = name; *c; c++) {
        if (!isalnum((unsigned char)*c) && *c != '_')
            return false;
    }
    return true;
}

weft_status weft_context_add_op(weft_context *ctx, const weft_own_op *op, weft_error *err)
{
    WEFT_REQUIRE(err, ctx && op, "own op: without context or op");
    WEFT_REQUIRE(err, op->struct_size == sizeof *op, "own op: struct_size is %zu, expected %zu",
                 op->struct_size, sizeof *op);
    if (!is_word(op->name)) {
        WEFT_FAIL(err, WEFT_ERR_NAME, "own op: name \"%s\" is not a word of letters, digits and _",
                  op->name ? op->name : "");
    }
    WEFT_REQUIRE(err, op->infer && op->eval, "own op %s: infer or eval is missing", op->name);
    WEFT_REQUIRE(
        err,
        op->n_inputs <= WEFT_OWN_MAX_INPUTS && op->n_outputs >= 1 &&
            op->n_outputs <= WEFT_OWN_MAX_OUTPUTS && op->n_numbers <= WEFT_OWN_MAX_NUMBERS,
        "own op %s: has %u operands, %u results, %u numbers, expected at most %d, 1 to %d, "
        "at most %d",
        op->name, op->n_inputs, op->n_outputs, op->n_numbers, WEFT_OWN_MAX_INPUTS,
        WEFT_OWN_MAX_OUTPUTS, WEFT_OWN_MAX_NUMBERS);
    own_op *o = wf_arena_take(&ctx->own_ops, sizeof *o);
    if (!o)
        WEFT_FAIL(err, WEFT_ERR_MEMORY, "own op %s: memory is not available", op->name);
    o->own = *op;
    for (uint32_t i = 0; i < op->n_numbers; i++) {
        o->attrs[i] =
            (wf_attr_spec){op->number_names ? op->number_names[i] : "number", WF_ATTR_FLOAT};
    }
    o->op = (wf_op){.name = op->name,
                    .n_inputs = op->n_inputs,
                    .n_outputs = op->n_outputs,
                    .task = WF_TASK_CALL,
                    .attrs = o->attrs,
                    .n_attrs = op->n_numbers,
                    .infer = infer,
                    .grad = op->grad ? grad : NULL,
                    .eval = eval,
                    .eval_truth = eval_truth,
                    .cost = cost};
    return wf_registry_add(ctx, &o->op, err);
}

void weft_own(weft_graph *g, const char *name, const weft_val *in, const double *numbers,
              weft_val *out)
{
    if (!g)
        return;
    const wf_op *op = name ? wf_op_find(g->context, name) : NULL;
    if (!op || op->eval != eval) {
        wf_graph_fail(g, NULL, WEFT_ERR_NAME, "own op %s is not in the context", name ? name : "");
        return;
    }
    const own_op *o = own_of(op);
    wf_attr attrs[WEFT_OWN_MAX_NUMBERS];
    for (uint32_t i = 0; i < o->own.n_numbers; i++)
        attrs[i] = wf_attr_float(numbers[i]);
    const weft_val first = wf_graph_add(g, op, in, o->own.n_inputs, attrs);
    for (uint32_t i = 0; i < o->own.n_outputs; i++)
        out[i] = wf_val_output(first, i);
}
