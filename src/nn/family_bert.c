// BERT-style encoder: every place sees every other. J. Devlin et al., NAACL 2019. In: tokens [b,t]. Out: for
// `head: tokens` logits [b,t,classes] (what stood at each place), for `head: class` logits [b,classes].
//
// The token table has one row more than the vocabulary: the mask. Tokens `pad` are no keys. Stage: nn.

#include "nn/family.h"
#include "nn/transformer.h"

enum { HEAD_TOKENS = 0, HEAD_CLASS = 1 };
static const char *const heads[] = {"tokens", "class", NULL};

typedef struct values {
    int64_t classes, vocabulary, width, heads, layers, context, segments, pad;
    int32_t head;
    double dropout, std;
} values;

static const values defaults = {.width = 128,
                                .heads = 4,
                                .layers = 4,
                                .context = 0,
                                .segments = 0,
                                .pad = -1,
                                .head = HEAD_TOKENS,
                                .dropout = 0.0,
                                .std = 0.02};

static const wf_option options[] = {
    {"classes", WF_OPTION_INTEGER, offsetof(values, classes), 0, 1e9, NULL},
    {"vocabulary", WF_OPTION_INTEGER, offsetof(values, vocabulary), 0, 1e9, NULL},
    {"width", WF_OPTION_INTEGER, offsetof(values, width), 1, 1e6, NULL},
    {"heads", WF_OPTION_INTEGER, offsetof(values, heads), 1, 1e4, NULL},
    {"layers", WF_OPTION_INTEGER, offsetof(values, layers), 1, 1e4, NULL},
    {"context", WF_OPTION_INTEGER, offsetof(values, context), 0, 1e7, NULL},
    {"segments", WF_OPTION_INTEGER, offsetof(values, segments), 0, 1e6, NULL},
    {"pad", WF_OPTION_INTEGER, offsetof(values, pad), -1, 1e9, NULL},
    {"head", WF_OPTION_CHOICE, offsetof(values, head), 0, 0, heads},
    {"dropout", WF_OPTION_NUMBER, offsetof(values, dropout), 0, 0.99, NULL},
    {"std", WF_OPTION_NUMBER, offsetof(values, std), 0, 10, NULL},
    {NULL, WF_OPTION_INTEGER, 0, 0, 0, NULL},
};

typedef struct encoder {
    weft_nn *nn;
    weft_graph *g;
    const values *o;
    weft_init init;
    int64_t vocabulary, b, t;
    weft_val table; // of tokens
} encoder;

static weft_val table(encoder *e, const char *name, int64_t n)
{
    const int64_t dims[] = {n, e->o->width};
    weft_scope_push(e->g, name);
    const weft_val weight = wf_nn_parameter_init(e->nn, "weight", &e->init, dims, 2, true);
    weft_scope_pop(e->g);
    return weight;
}

// Token, place and segment, added and normed. The first half of the places is segment 0, and so on.
static weft_val embed(encoder *e, weft_val tokens)
{
    weft_graph *g = e->g;
    const int64_t context = e->o->context ? e->o->context : e->t, zero[] = {0, 0};
    const int64_t rows[] = {e->t, e->o->width};
    e->table = table(e, "te", e->vocabulary + 1);
    weft_val x = weft_gather(g, e->table, tokens, 0);
    x = weft_add(g, x, weft_slice(g, table(e, "pe", context), zero, rows, NULL));
    if (e->o->segments > 0) {
        const weft_val place = weft_iota(g, WEFT_I32, &e->t, 1, 0);
        const weft_val segment =
            weft_div(g, weft_mul(g, place, weft_scalar(g, WEFT_I32, (double)e->o->segments)),
                     weft_scalar(g, WEFT_I32, (double)e->t));
        x = weft_add(g, x, weft_gather(g, table(e, "se", e->o->segments), segment, 0));
    }
    return weft_dropout(e->nn, weft_layer_norm(e->nn, "ln", x, NULL), e->o->dropout);
}

static weft_val encode(encoder *e, weft_val x, weft_val tokens)
{
    weft_graph *g = e->g;
    weft_block_options block = WEFT_BLOCK_OPTIONS_INIT;
    block.heads.heads = e->o->heads;
    block.heads.std = block.heads.proj_std = e->o->std;
    block.is_post_norm = true;
    block.dropout = e->o->dropout;
    if (e->o->pad >= 0) {
        const int64_t dims[] = {e->b, 1, 1, e->t};
        const weft_val pad = weft_cast(g, weft_scalar(g, WEFT_I32, (double)e->o->pad),
                                       weft_val_type(g, tokens).dtype);
        block.heads.mask = weft_reshape(g, weft_not_equal(g, tokens, pad), dims, 4);
    }
    return wf_transformer_blocks(e->nn, x, e->o->layers, &block);
}

// What stood at each place: a linear layer, gelu, norm, then the token table again with a bias.
static weft_val token_head(encoder *e, weft_val x, int64_t classes)
{
    weft_graph *g = e->g;
    static const weft_init zeros = {WEFT_INIT_ZEROS, 0, 0, 0};
    const int64_t rows = e->b * e->t, flat[] = {rows, e->o->width}, zero[] = {0, 0};
    const int64_t words[] = {classes, e->o->width}, dims[] = {e->b, e->t, classes};
    weft_val y = wf_transformer_linear(e->nn, "transform", x, e->o->width, e->o->std);
    y = weft_layer_norm(e->nn, "transform_ln", weft_gelu(g, y), NULL);
    if (!y.id)
        return WEFT_NONE;
    weft_scope_push(g, "head");
    const weft_val known = weft_slice(g, e->table, zero, words, NULL); // without the mask
    y = weft_matmul(g, weft_reshape(g, wf_nn_store(e->nn, y), flat, 2), known, false, true);
    y = weft_add(g, y, wf_nn_parameter_init(e->nn, "bias", &zeros, &classes, 1, false));
    y = wf_nn_store(e->nn, y);
    weft_scope_pop(g);
    return weft_reshape(g, y, dims, 3);
}

// The first token stands for all: linear, tanh, linear.
static weft_val class_head(encoder *e, weft_val x, int64_t classes)
{
    const int64_t zero[] = {0, 0, 0}, first[] = {e->b, 1, e->o->width};
    const int64_t row[] = {e->b, e->o->width};
    const weft_val y = weft_reshape(e->g, weft_slice(e->g, x, zero, first, NULL), row, 2);
    const weft_val pooled =
        weft_tanh(e->g, wf_transformer_linear(e->nn, "pool", y, e->o->width, e->o->std));
    return wf_transformer_linear(e->nn, "head", weft_dropout(e->nn, pooled, e->o->dropout), classes,
                                 e->o->std);
}

static weft_val build(wf_family_build *b)
{
    const values *o = b->options;
    encoder e = {.nn = b->nn, .g = b->nn->g, .o = o};
    const weft_type t = weft_val_type(e.g, b->x);
    const int64_t classes = wf_family_classes(b, o->classes);
    char text[WF_TYPE_TEXT];
    e.vocabulary = o->vocabulary ? o->vocabulary : classes;
    e.init = (weft_init){WEFT_INIT_NORMAL, 0, o->std > 0.0 ? o->std : 1.0, 0};
    if (!wf_nn_begin(b->nn))
        return WEFT_NONE;
    if (t.ndim != 2 || t.dims[1] < 1 || (o->context && t.dims[1] > o->context) ||
        (o->head == HEAD_TOKENS && classes > e.vocabulary)) {
        wf_graph_fail(
            e.g, NULL, WEFT_ERR_SHAPE,
            "bert: tokens is %s, vocabulary %lld, classes %lld, expected [b,t], t at most "
            "the context, no more classes than tokens",
            wf_type_text(&t, text), (long long)e.vocabulary, (long long)classes);
        return WEFT_NONE;
    }
    e.b = t.dims[0];
    e.t = t.dims[1];
    const weft_val x = encode(&e, embed(&e, b->x), b->x);
    if (!x.id)
        return WEFT_NONE;
    return o->head == HEAD_CLASS ? class_head(&e, x, classes) : token_head(&e, x, classes);
}

const wf_family wf_family_bert = {
    .name = "bert",
    .summary = "transformer that reads both ways: masked tokens, classes of texts",
    .options = options,
    .options_bytes = sizeof defaults,
    .defaults = &defaults,
    .build = build,
};
