// What the lowerings of attention and of its gradient share: operands, panels of transposed keys, the mask
// of a block. See cpu_attention.c and cpu_attention_grad.c.
#ifndef WF_CPU_ATTENTION_H
#define WF_CPU_ATTENTION_H

#include "device/cpu/cpu_panel.h"
#include "op/attention_common.h"

#define WF_CPU_BLOCK WF_CPU_ATTENTION_KEYS // queries and keys of a block

// A tensor [batch, head, row, d] in rows of d floats; strides in floats.
typedef struct wf_cpu_heads {
    float *data;
    int64_t batch, head, row;
} wf_cpu_heads;

static inline float *wf_cpu_heads_at(const wf_cpu_heads *x, int64_t b, int64_t h, int64_t row)
{
    return x->data + b * x->batch + h * x->head + row * x->row;
}

typedef struct wf_cpu_attention_params {
    const wf_cpu_products *products;
    const wf_cpu_attention *kernels;
    size_t (*first_nonfinite)(const float *a, size_t n);
    wf_attention_shape s;
    int64_t q_blocks, k_blocks;
    int64_t ld; // d rounded up to whole vectors
    wf_cpu_heads q, k, v;
    const uint8_t *bool_mask;
    const float *added_mask;
    const int64_t *by_q;   // rows of q
    const int64_t *by_key; // i * 64: rows of a block's scores
    const int64_t *each;   // i
    // attention
    wf_cpu_heads o;
    float *lse;
    float *packed;     // workspace: transposed keys
    uint8_t *v_finite; // workspace, per block of keys
    // the gradient
    const float *lse_in, *delta;
    const int64_t *by_dout; // rows of dout
    wf_cpu_heads dout, dq, dk, dv;
} wf_cpu_attention_params;

// A view of the task as heads; the offsets of 64 of its rows.
wf_cpu_heads wf_cpu_attention_heads(const wf_cpu_lower *q, const wf_view *view);
weft_status wf_cpu_attention_row_offsets(wf_cpu_lower *q, int64_t row, const int64_t **out,
                                         weft_error *err);
weft_status wf_cpu_attention_params_init(wf_cpu_lower *q, bool is_grad,
                                         wf_cpu_attention_params **out, weft_error *err);
weft_status wf_cpu_attention_lower_grad(wf_cpu_lower *q, weft_error *err);

// The head of k, v and their gradients that head h reads.
static inline int64_t wf_cpu_attention_kv(const wf_attention_shape *s, int64_t h)
{
    return h / (s->h / s->hk);
}

// dst[c][key] = rows[key * row + c] in panels of keys; floats: wf_cpu_packed_floats(sizes, 64, d).
void wf_cpu_attention_pack(const wf_cpu_attention_params *p, float *dst, const float *rows,
                           int64_t row, int64_t n_keys);
// s[i * 64 + j] = chain over d of a[a_rows[i] + c] * packed[c][j]
void wf_cpu_attention_scores(const wf_cpu_attention_params *p, float *s, const float *a,
                             const int64_t *a_rows, int64_t n_rows, const float *packed,
                             int64_t n_keys);
// n rows of d floats that may be read in whole vectors: themselves, or copied into room [n, ld].
const float *wf_cpu_attention_rows(const wf_cpu_attention_params *p, const float *rows, int64_t row,
                                   int64_t n, float *room, int64_t *out_step);
bool wf_cpu_attention_is_finite(const wf_cpu_attention_params *p, const float *rows, int64_t row,
                                int64_t n);
// Fills in which pairs of a block are seen. false: all of them, or none when *out_none.
bool wf_cpu_attention_mask(const wf_cpu_attention_params *p, wf_cpu_attention_block *block,
                           int64_t b, int64_t h, int64_t q0, int64_t k0, bool *out_none);

// A strip c [n_rows, d] += a * rows, all pairs or only those seen.
typedef struct wf_cpu_attention_strip {
    int64_t n_rows, n_terms;
    const float *a; // the block's p or dS
    const int64_t *a_rows, *a_terms;
    const uint8_t *seen; // NULL: a pair that is hidden has a = 0 and finite b
    const float *b;
    int64_t b_step;
    float *c; // [n_rows, ld]
    bool is_first;
} wf_cpu_attention_strip;
void wf_cpu_attention_add(const wf_cpu_attention_params *p, const wf_cpu_attention_strip *strip);

#endif
