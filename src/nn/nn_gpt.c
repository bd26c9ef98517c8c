// GPT, whole sequences or the next tokens with a cache. In: tokens. Out: logits. Stage: nn.
#include <math.h>

#include "nn/transformer.h"

static bool check_options(weft_graph *g, weft_val tokens, const weft_gpt_options *o)
{
    const weft_type t = weft_val_type(g, tokens);
    char text[WF_TYPE_TEXT];
    if (!wf_nn_options_check(g, "gpt", o->struct_size, sizeof *o))
        return false;
    if (t.ndim != 2 || t.dims[1] < 1 || t.dims[1] > o->context) {
        wf_graph_fail(g, NULL, WEFT_ERR_SHAPE,
                      "gpt: tokens is %s, expected [b,t], t from 1 to the context of %lld",
                      wf_type_text(&t, text), (long long)o->context);
        return false;
    }
    if (o->vocabulary < 1 || o->d < 1 || o->layers < 0 || !(o->std >= 0.0)) {
        wf_graph_fail(g, NULL, WEFT_ERR_ATTR,
                      "gpt: vocabulary %lld, d %lld, layers %lld, std %g, expected 1 or more, 1 or "
                      "more, 0 or more, 0 or more",
                      (long long)o->vocabulary, (long long)o->d, (long long)o->layers, o->std);
        return false;
    }
    return true;
}

// logits[..,w] = x . table[w]
static weft_val tied_head(weft_graph *g, weft_val x, weft_val table)
{
    const weft_type t = weft_val_type(g, x), w = weft_val_type(g, table);
    const int64_t flat[] = {t.dims[0] * t.dims[1], t.dims[2]};
    const int64_t dims[] = {t.dims[0], t.dims[1], w.dims[0]};
    weft_scope_push(g, "head");
    const weft_val y = weft_matmul(g, weft_reshape(g, x, flat, 2), table, false, true);
    weft_scope_pop(g);
    return weft_reshape(g, y, dims, 3);
}

static weft_block_options block_options(const weft_gpt_options *o, weft_val position)
{
    weft_block_options b = WEFT_BLOCK_OPTIONS_INIT;
    b.heads.heads = o->heads;
    b.heads.kv_heads = o->kv_heads;
    b.heads.is_causal = true;
    b.heads.position = position;
    b.heads.capacity = o->context;
    b.heads.std = o->std;
    // A residual stream adds 2 layers branches: each begins smaller, so that their sum does not grow.
    b.heads.proj_std = o->layers > 0 ? o->std / sqrt(2.0 * (double)o->layers) : 0.0;
    b.activation = o->activation;
    b.is_rms = o->is_rms;
    b.dropout = o->dropout;
    return b;
}

// Rows [first, first + t) of the table of positions.
static weft_val position_rows(weft_nn *nn, const weft_gpt_options *o, const weft_init *init,
                              weft_val position, int64_t t)
{
    const int64_t dims[] = {o->context, o->d}, start[] = {0, 0}, stop[] = {t, o->d};
    weft_scope_push(nn->g, "pe");
    const weft_val table = wf_nn_parameter_init(nn, "weight", init, dims, 2, true);
    const weft_val rows = position.id ? weft_dynamic_slice(nn->g, table, position, 0, t)
                                      : weft_slice(nn->g, table, start, stop, NULL);
    weft_scope_pop(nn->g);
    return rows;
}

static weft_val build(weft_nn *nn, weft_val tokens, const weft_gpt_options *o, weft_val position)
{
    weft_graph *g = nn->g;
    const double te_std = o->std > 0.0 ? o->std : o->is_tied ? 0.02 : 1.0;
    const weft_init te_init = {WEFT_INIT_NORMAL, 0, te_std, 0};
    const weft_init pe_init = {WEFT_INIT_NORMAL, 0, o->std > 0.0 ? o->std : 1.0, 0};
    const int64_t table_dims[] = {o->vocabulary, o->d}, t = weft_val_type(g, tokens).dims[1];
    weft_scope_push(g, "te");
    const weft_val table = wf_nn_parameter_init(nn, "weight", &te_init, table_dims, 2, true);
    const weft_val rows = weft_gather(g, table, tokens, 0);
    weft_scope_pop(g);
    weft_val x = weft_add(g, rows, position_rows(nn, o, &pe_init, position, t));
    x = weft_dropout(nn, x, o->dropout);
    const weft_block_options block = block_options(o, position);
    x = wf_transformer_blocks(nn, x, o->layers, &block);
    x = o->is_rms ? weft_rms_norm(nn, "ln", x, 0.0) : weft_layer_norm(nn, "ln", x, NULL);
    if (!x.id)
        return WEFT_NONE;
    if (o->is_tied)
        return wf_nn_store(nn, tied_head(g, wf_nn_store(nn, x), table));
    weft_linear_options head = WEFT_LINEAR_OPTIONS_INIT;
    head.no_bias = true;
    if (o->std > 0.0)
        head.weight = (weft_init){WEFT_INIT_NORMAL, 0, o->std, 0};
    return weft_linear(nn, "head", x, o->vocabulary, &head);
}

weft_val weft_gpt(weft_nn *nn, weft_val tokens, const weft_gpt_options *options)
{
    weft_graph *g = wf_nn_begin(nn);
    if (!g || !tokens.id || !options || !check_options(g, tokens, options))
        return WEFT_NONE;
    return build(nn, tokens, options, WEFT_NONE);
}

weft_val weft_gpt_decode(weft_nn *nn, weft_val tokens, const weft_gpt_options *options)
{
    weft_graph *g = wf_nn_begin(nn);
    if (!g || !tokens.id || !options || !check_options(g, tokens, options))
        return WEFT_NONE;
    const weft_val position = wf_nn_buffer(nn, "position", weft_scalar(g, WEFT_I32, 0.0));
    const weft_val y = build(nn, tokens, options, position);
    const double n = (double)weft_val_type(g, tokens).dims[1];
    weft_assign(g, position, weft_add(g, position, weft_scalar(g, WEFT_I32, n)));
    return y;
}
