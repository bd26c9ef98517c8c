// Transformers out of the ops: embedding, RMS norm, attention with several heads, blocks, and GPT, which
// also runs token by token with a cache. Scopes and names are as in weft/nn.h.
//
//   weft_gpt_options o = WEFT_GPT_OPTIONS_INIT;
//   o.vocabulary = 65; o.d = 384; o.heads = 6; o.layers = 6; o.context = 256;
//   weft_val logits = weft_gpt(nn, tokens, &o);
//
// Errors are recorded in the graph, as in weft/nn.h.
#ifndef WEFT_TRANSFORMER_H
#define WEFT_TRANSFORMER_H

#include <weft/nn.h>

#ifdef __cplusplus
extern "C" {
#endif

// y = weight[idx]: a row for each index.
//   idx      [..]          i32 i64, -n <= idx < n; one outside makes the step bad
//   n, d     rows of the table and their length
//   init     NULL: normal, mean 0, deviation 1
//   result   [..,d]        f32
//   weight   [n,d]
// Gradient: rows that are read several times add up, see weft_scatter_add.
WEFT_API weft_val weft_embedding(weft_nn *nn, const char *name, weft_val idx, int64_t n, int64_t d,
                                 const weft_init *init);

// y = x / sqrt(mean(x^2) + epsilon) * weight over the last axis.
//   x         [..,d]      f32
//   epsilon   0: 1e-5
//   result    shape of x
//   weight    [d], ones at first
WEFT_API weft_val weft_rms_norm(weft_nn *nn, const char *name, weft_val x, double epsilon);

typedef struct weft_heads_options {
    size_t struct_size;
    int64_t heads; // a divisor of d
    int64_t
        kv_heads; // a divisor of heads; 0: heads. Fewer share keys and values (grouped attention)
    bool is_causal;
    weft_val mask;     // as in weft_attention_options
    double dropout;    // of the result
    weft_val position; // none, or [] i32: see below
    int64_t capacity;  // of the cache
    double proj_std;   // of the last weight: normal with this deviation; 0: FAN_IN
    double std;        // of the first weight, likewise
} weft_heads_options;
#define WEFT_HEADS_OPTIONS_INIT                                                                    \
    {                                                                                              \
        sizeof(weft_heads_options), 0, 0, false, {0}, 0, {0}, 0, 0, 0                              \
    }
// Self-attention with several heads: linear "qkv", weft_attention, linear "proj".
//   x        [b,t,d]     f32
//   result   [b,t,d]
//   qkv      weight [d + 2 * kv_heads * d / heads, d] and bias: queries, then keys, then values
//   proj     weight [d,d] and bias
// With a position, x holds the tokens from there on: their keys and values go into the variables cache_k and
// cache_v [b,kv_heads,capacity,d/heads], and queries see all places of the cache up to their own. The bits
// are those of the whole sequence at once. A place beyond the capacity makes the step bad.
WEFT_API weft_val weft_heads(weft_nn *nn, const char *name, weft_val x,
                             const weft_heads_options *options);

typedef struct weft_block_options {
    size_t struct_size;
    weft_heads_options heads;
    int64_t width;          // of the hidden layer; 0: 4 d
    const char *activation; // by name, see weft_activation; NULL: gelu
    bool is_post_norm;      // norm(x + f(x)); else x + f(norm(x))
    bool is_rms;            // RMS norms instead of layer norms
    double dropout;         // of both branches
} weft_block_options;
#define WEFT_BLOCK_OPTIONS_INIT                                                                    \
    {                                                                                              \
        sizeof(weft_block_options), WEFT_HEADS_OPTIONS_INIT, 0, NULL, false, false, 0              \
    }
// A transformer's block: attention, then two linear layers, each with a norm and a residual.
//   x, result   [b,t,d]     f32
//   parameters  l1, qkv, proj, l2, up, down
WEFT_API weft_val weft_transformer_block(weft_nn *nn, const char *name, weft_val x,
                                         const weft_block_options *options);

typedef struct weft_gpt_options {
    size_t struct_size;
    int64_t vocabulary, d, heads, layers;
    int64_t context;  // most tokens
    int64_t kv_heads; // 0: heads
    bool is_tied;     // the head is the token embedding; then that begins with deviation 0.02
    bool is_rms;
    const char *activation; // NULL: gelu
    double dropout;         // of embeddings and branches
    double
        std; // 0: PyTorch's own; else embeddings and weights begin normal with this deviation, those
             // behind a residual with less: std / sqrt(2 layers)
} weft_gpt_options;
#define WEFT_GPT_OPTIONS_INIT                                                                      \
    {                                                                                              \
        sizeof(weft_gpt_options), 0, 0, 0, 0, 0, 0, false, false, NULL, 0, 0                       \
    }
// A GPT: token and position embeddings "te" and "pe", blocks "h/0" .., norm "ln", linear "head" without bias.
//   tokens   [b,t], 1 <= t <= context     i32 i64
//   result   logits [b,t,vocabulary]      f32
// A. Radford et al., 2019; pre-norm.
WEFT_API weft_val weft_gpt(weft_nn *nn, weft_val tokens, const weft_gpt_options *options);
// The same network on the next tokens of sequences whose earlier ones it has seen: keys and values are kept in
// variables. The variable "position" [] i32 counts the tokens so far; write 0 to begin anew.
//   tokens   [b,t]     i32 i64; t = 1 as a rule
//   result   logits [b,t,vocabulary], the bits that weft_gpt gives at these places
// No gradient. Errors: position + t above context makes the run bad (WEFT_ERR_INDEX).
WEFT_API weft_val weft_gpt_decode(weft_nn *nn, weft_val tokens, const weft_gpt_options *options);

#ifndef WEFT_NO_PLACE
#define weft_embedding(nn, ...) weft_embedding(WEFT_NN_AT(nn), __VA_ARGS__)
#define weft_rms_norm(nn, ...) weft_rms_norm(WEFT_NN_AT(nn), __VA_ARGS__)
#define weft_heads(nn, ...) weft_heads(WEFT_NN_AT(nn), __VA_ARGS__)
#define weft_transformer_block(nn, ...) weft_transformer_block(WEFT_NN_AT(nn), __VA_ARGS__)
#define weft_gpt(nn, ...) weft_gpt(WEFT_NN_AT(nn), __VA_ARGS__)
#define weft_gpt_decode(nn, ...) weft_gpt_decode(WEFT_NN_AT(nn), __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif
#endif
