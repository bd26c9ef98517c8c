// Attention with several heads, and the block around it. A. Vaswani et al., NeurIPS 2017; grouped heads:
// J. Ainslie et al., EMNLP 2023. In: [b,t,d]. Out: [b,t,d]. Stage: nn.
#include <stdio.h>

#include "nn/transformer.h"

static weft_init init_of(double std)
{
    const weft_init normal = {WEFT_INIT_NORMAL, 0, std, 0}, own = {WEFT_INIT_DEFAULT, 0, 0, 0};
    return std > 0.0 ? normal : own;
}

weft_val wf_transformer_linear(weft_nn *nn, const char *name, weft_val x, int64_t out, double std)
{
    weft_linear_options o = WEFT_LINEAR_OPTIONS_INIT;
    o.weight = init_of(std);
    if (std > 0.0)
        o.bias.kind = WEFT_INIT_ZEROS;
    return weft_linear(nn, name, x, out, &o);
}

// Columns [first, first + n * size) of x [b,t,..] as heads [b,n,t,size].
static weft_val split_heads(weft_graph *g, weft_val x, int64_t first, int64_t n, int64_t size)
{
    static const int32_t order[] = {0, 2, 1, 3};
    const weft_type t = weft_val_type(g, x);
    const int64_t start[] = {0, 0, first}, stop[] = {t.dims[0], t.dims[1], first + n * size};
    const int64_t dims[] = {t.dims[0], t.dims[1], n, size};
    return weft_permute(g, weft_reshape(g, weft_slice(g, x, start, stop, NULL), dims, 4), order);
}

// The cache with part put in from position on; the variable takes it when the run ends.
static weft_val update_cache(weft_nn *nn, const char *name, weft_val part,
                             const weft_heads_options *o)
{
    const weft_type t = weft_val_type(nn->g, part);
    const int64_t dims[] = {t.dims[0], t.dims[1], o->capacity, t.dims[3]};
    const weft_val cache = wf_nn_buffer(nn, name, weft_fill(nn->g, WEFT_F32, dims, 4, 0.0));
    const weft_val now = weft_dynamic_update(nn->g, cache, o->position, part, 2);
    weft_assign(nn->g, cache, now);
    return now;
}

// bool [1,1,t,capacity]: place j is at or before the query's own, position + i.
static weft_val see_until(weft_graph *g, int64_t t, const weft_heads_options *o)
{
    const int64_t dims[] = {1, 1, t, o->capacity};
    const weft_val own =
        weft_add(g, weft_iota(g, WEFT_I32, dims, 4, 2), weft_cast(g, o->position, WEFT_I32));
    return weft_less_equal(g, weft_iota(g, WEFT_I32, dims, 4, 3), own);
}

weft_val wf_transformer_heads(weft_nn *nn, weft_val x, const weft_heads_options *o)
{
    weft_graph *g = nn->g;
    const weft_type t = weft_val_type(g, x);
    const int64_t kv = o->kv_heads ? o->kv_heads : o->heads;
    char text[WF_TYPE_TEXT];
    if (t.ndim != 3 || o->heads < 1 || t.dims[2] % o->heads != 0 || kv < 1 || o->heads % kv != 0) {
        wf_graph_fail(
            g, NULL, WEFT_ERR_SHAPE,
            "heads: x is %s, heads %lld, kv_heads %lld, expected [b,t,d], a divisor of d, a "
            "divisor of heads",
            wf_type_text(&t, text), (long long)o->heads, (long long)kv);
        return WEFT_NONE;
    }
    const int64_t d = t.dims[2], size = d / o->heads;
    const weft_val qkv = wf_transformer_linear(nn, "qkv", x, d + 2 * kv * size, o->std);
    if (!qkv.id)
        return WEFT_NONE;
    weft_attention_options a = WEFT_ATTENTION_OPTIONS_INIT;
    a.is_causal = o->is_causal && !o->position.id;
    a.mask = o->mask;
    const weft_val q = split_heads(g, qkv, 0, o->heads, size);
    weft_val k = split_heads(g, qkv, d, kv, size), v = split_heads(g, qkv, d + kv * size, kv, size);
    if (o->position.id) {
        k = update_cache(nn, "cache_k", k, o);
        v = update_cache(nn, "cache_v", v, o);
        a.mask = see_until(g, t.dims[1], o);
    }
    static const int32_t back[] = {0, 2, 1, 3};
    const weft_val y = weft_permute(g, weft_attention(g, q, k, v, &a, NULL), back);
    if (!y.id)
        return WEFT_NONE;
    return weft_dropout(
        nn, wf_transformer_linear(nn, "proj", weft_reshape(g, y, t.dims, 3), d, o->proj_std),
        o->dropout);
}

weft_val weft_heads(weft_nn *nn, const char *name, weft_val x, const weft_heads_options *options)
{
    static const weft_heads_options none = WEFT_HEADS_OPTIONS_INIT;
    const weft_heads_options *o = options ? options : &none;
    weft_graph *g = wf_nn_begin(nn);
    if (!g || !x.id || !wf_nn_options_check(g, "heads", o->struct_size, sizeof *o))
        return WEFT_NONE;
    weft_scope_push(g, name);
    const weft_val y = wf_transformer_heads(nn, x, o);
    weft_scope_pop(g);
    return y;
}

static weft_val norm(weft_nn *nn, const char *name, weft_val x, bool is_rms)
{
    return is_rms ? weft_rms_norm(nn, name, x, 0.0) : weft_layer_norm(nn, name, x, NULL);
}

static weft_val hidden(weft_nn *nn, weft_val x, const weft_block_options *o)
{
    const int64_t d = weft_val_type(nn->g, x).dims[2];
    const weft_val up =
        wf_transformer_linear(nn, "up", x, o->width ? o->width : 4 * d, o->heads.std);
    const weft_val a = weft_activation(nn->g, o->activation ? o->activation : "gelu", up);
    return weft_dropout(nn, wf_transformer_linear(nn, "down", a, d, o->heads.proj_std), o->dropout);
}

weft_val weft_transformer_block(weft_nn *nn, const char *name, weft_val x,
                                const weft_block_options *options)
{
    static const weft_block_options none = WEFT_BLOCK_OPTIONS_INIT;
    const weft_block_options *o = options ? options : &none;
    weft_graph *g = wf_nn_begin(nn);
    if (!g || !x.id || !wf_nn_options_check(g, "transformer_block", o->struct_size, sizeof *o))
        return WEFT_NONE;
    weft_heads_options heads = o->heads;
    heads.dropout = o->dropout;
    weft_scope_push(g, name);
    weft_val y;
    if (o->is_post_norm) {
        y = norm(nn, "l1", weft_add(g, x, wf_transformer_heads(nn, x, &heads)), o->is_rms);
        y = y.id ? norm(nn, "l2", weft_add(g, y, hidden(nn, y, o)), o->is_rms) : y;
    } else {
        y = norm(nn, "l1", x, o->is_rms);
        y = y.id ? weft_add(g, x, wf_transformer_heads(nn, y, &heads)) : y;
        const weft_val z = norm(nn, "l2", y, o->is_rms);
        y = z.id ? weft_add(g, y, hidden(nn, z, o)) : z;
    }
    weft_scope_pop(g);
    return y;
}

weft_val wf_transformer_blocks(weft_nn *nn, weft_val x, int64_t n_layers,
                               const weft_block_options *block)
{
    weft_graph *g = weft_nn_graph(nn);
    char name[24];
    weft_scope_push(g, "h");
    for (int64_t i = 0; i < n_layers && x.id; i++) {
        (void)snprintf(name, sizeof name, "%lld", (long long)i);
        x = weft_transformer_block(nn, name, x, block);
    }
    weft_scope_pop(g);
    return x;
}
