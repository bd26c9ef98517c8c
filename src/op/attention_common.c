// What attention and its gradient share. See attention_common.h.
#include "op/attention_common.h"

#include <math.h>
#include <string.h>

static weft_status infer_mask(const weft_type *mask, wf_attention_shape *s, weft_error *err)
{
    const int64_t full[] = {s->b, s->h, s->tq, s->tk};
    char text[WF_TYPE_TEXT];
    bool is_fitting = mask->ndim == 4 && (mask->dtype == WEFT_BOOL || mask->dtype == WEFT_F32);
    int64_t stride = 1;
    for (int32_t i = 3; is_fitting && i >= 0; i--) {
        is_fitting = mask->dims[i] == full[i] || mask->dims[i] == 1;
        s->mask_strides[i] = mask->dims[i] == 1 ? 0 : stride;
        stride *= mask->dims[i];
    }
    if (!is_fitting) {
        WEFT_FAIL(err, WEFT_ERR_SHAPE,
                  "mask is %s, expected bool or f32 [b,h,tq,tk] = [%lld,%lld,%lld,%lld], each 1 or "
                  "that size",
                  wf_type_text(mask, text), (long long)s->b, (long long)s->h, (long long)s->tq,
                  (long long)s->tk);
    }
    s->has_mask = true;
    s->is_additive = mask->dtype == WEFT_F32;
    return WEFT_OK;
}

static weft_status infer_dout(const wf_node_info *info, const wf_attention_shape *s,
                              weft_error *err)
{
    const weft_type *lse = &info->in[WF_ATTENTION_LSE], *delta = &info->in[WF_ATTENTION_DELTA];
    const weft_type *dout = &info->in[WF_ATTENTION_DOUT];
    const int64_t rows[] = {s->b, s->h, s->tq};
    const weft_type expected = wf_type_make(WEFT_F32, 3, rows);
    char a[WF_TYPE_TEXT], b[WF_TYPE_TEXT], c[WF_TYPE_TEXT], q[WF_TYPE_TEXT];
    if (!wf_type_equal(lse, &expected) || !wf_type_equal(delta, &expected) ||
        !wf_type_equal(dout, &info->in[0])) {
        WEFT_FAIL(err, WEFT_ERR_SHAPE,
                  "lse is %s, delta is %s, dout is %s, expected [b,h,tq] twice and that of q, %s",
                  wf_type_text(lse, a), wf_type_text(delta, b), wf_type_text(dout, c),
                  wf_type_text(&info->in[0], q));
    }
    return WEFT_OK;
}

weft_status wf_attention_shape_get(const wf_node_info *info, bool is_grad, wf_attention_shape *out,
                                   weft_error *err)
{
    const weft_type *q = &info->in[0], *k = &info->in[1], *v = &info->in[2];
    char a[WF_TYPE_TEXT], b[WF_TYPE_TEXT], c[WF_TYPE_TEXT];
    const size_t n_plain = is_grad ? WF_ATTENTION_MASK : 3;
    memset(out, 0, sizeof *out);
    if (info->n_inputs > n_plain + 1) {
        WEFT_FAIL(err, WEFT_ERR_USAGE, "%zu operands, expected at most %zu", info->n_inputs,
                  n_plain + 1);
    }
    if (q->dtype != WEFT_F32 || k->dtype != WEFT_F32 || v->dtype != WEFT_F32) {
        WEFT_FAIL(err, WEFT_ERR_DTYPE, "q is %s, k is %s, v is %s, expected f32",
                  wf_type_text(q, a), wf_type_text(k, b), wf_type_text(v, c));
    }
    if (q->ndim != 4 || k->ndim != 4 || !wf_type_equal(k, v) || q->dims[0] != k->dims[0] ||
        q->dims[3] != k->dims[3] || q->dims[3] < 1 || k->dims[1] < 1 ||
        q->dims[1] % k->dims[1] != 0) {
        WEFT_FAIL(err, WEFT_ERR_SHAPE,
                  "q is %s, k is %s, v is %s, expected [b,h,tq,d] and [b,hk,tk,d] twice, h a "
                  "multiple of hk, d 1 or more",
                  wf_type_text(q, a), wf_type_text(k, b), wf_type_text(v, c));
    }
    out->b = q->dims[0];
    out->h = q->dims[1];
    out->hk = k->dims[1];
    out->tq = q->dims[2];
    out->tk = k->dims[2];
    out->d = q->dims[3];
    out->scale = (float)info->attrs[0].u.f;
    out->is_causal = info->attrs[1].u.i != 0;
    if (is_grad)
        WEFT_TRY(infer_dout(info, out, err));
    return info->n_inputs > n_plain ? infer_mask(&info->in[n_plain], out, err) : WEFT_OK;
}

bool wf_attention_sees(const wf_attention_shape *s, const wf_tensor *mask, int64_t b, int64_t h,
                       int64_t i, int64_t j, double *out_added)
{
    *out_added = 0.0;
    if (s->is_causal && j > i + s->tk - s->tq)
        return false;
    if (!s->has_mask)
        return true;
    const int64_t at = b * s->mask_strides[0] + h * s->mask_strides[1] + i * s->mask_strides[2] +
                       j * s->mask_strides[3];
    if (!s->is_additive)
        return ((const uint8_t *)mask->data)[at] != 0;
    *out_added =
        mask->is_truth ? ((const double *)mask->data)[at] : (double)((const float *)mask->data)[at];
    return *out_added != -INFINITY;
}

wf_cost wf_attention_cost(const wf_node_info *info)
{
    const double pairs = (double)info->in[0].dims[0] * (double)info->in[0].dims[1] *
                         (double)info->in[0].dims[2] * (double)info->in[1].dims[2];
    const double products = info->n_outputs == 3 ? 5.0 : 2.0;
    const double share = info->attrs[1].u.i ? 0.5 : 1.0; // causal: about half of the pairs
    const wf_cost c = {2.0 * products * share * pairs * (double)info->in[0].dims[3],
                       wf_cost_bytes(info)};
    return c;
}

// ---- cases
enum { NO_MASK, BOOL_MASK, SHARED_MASK, ADDITIVE_MASK, LEARNT_MASK, LEARNT_HIDING_MASK };
enum { P_MASK, P_CAUSAL };

// Some pairs, and for every fifth query none at all. [1 or b,1,tq,tk]
static weft_val build_pattern(weft_graph *g, const weft_type *q, int64_t tk, bool is_shared)
{
    const int64_t dims[] = {is_shared ? 1 : q->dims[0], 1, q->dims[2], tk};
    const weft_val i = weft_iota(g, WEFT_I32, dims, 4, 2), j = weft_iota(g, WEFT_I32, dims, 4, 3);
    const weft_val n = weft_iota(g, WEFT_I32, dims, 4, 0);
    const weft_val three = weft_scalar(g, WEFT_I32, 3), five = weft_scalar(g, WEFT_I32, 5);
    const weft_val mixed = weft_add(g, weft_add(g, weft_mul(g, i, three), j), n);
    const weft_val sees =
        weft_less(g, weft_rem(g, weft_mul(g, mixed, five), weft_scalar(g, WEFT_I32, 7)),
                  weft_scalar(g, WEFT_I32, 4));
    const weft_val row = weft_less(g, weft_rem(g, i, five), weft_scalar(g, WEFT_I32, 4));
    return weft_and(g, sees, row);
}

static weft_val build_mask(weft_graph *g, const weft_val *in, const int64_t *p)
{
    const weft_type q = weft_val_type(g, in[0]), k = weft_val_type(g, in[1]);
    if (p[P_MASK] == NO_MASK)
        return WEFT_NONE;
    if (p[P_MASK] == LEARNT_MASK)
        return in[3];
    const weft_val sees = build_pattern(g, &q, k.dims[2], p[P_MASK] != BOOL_MASK);
    if (p[P_MASK] == LEARNT_HIDING_MASK)
        return weft_select(g, sees, in[3], weft_scalar(g, WEFT_F32, -(double)INFINITY));
    if (p[P_MASK] != ADDITIVE_MASK)
        return sees;
    const weft_type t = weft_val_type(g, sees);
    const weft_val j = weft_cast(g, weft_iota(g, WEFT_I32, t.dims, 4, 3), WEFT_F32);
    return weft_select(g, sees, weft_mul(g, j, weft_scalar(g, WEFT_F32, -0x1p-6)),
                       weft_scalar(g, WEFT_F32, -(double)INFINITY));
}

static weft_val build_case(weft_graph *g, const weft_val *in, const int64_t *p)
{
    weft_attention_options o = WEFT_ATTENTION_OPTIONS_INIT;
    o.is_causal = p[P_CAUSAL] != 0;
    o.mask = build_mask(g, in, p);
    return weft_attention(g, in[0], in[1], in[2], &o, NULL);
}

extern const wf_op wf_op_attention_grad;

// The gradient's own case: lse and delta as the forward op would give them.
static weft_val build_grad_case(weft_graph *g, const weft_val *in, const int64_t *p)
{
    weft_attention_options o = WEFT_ATTENTION_OPTIONS_INIT;
    weft_val lse;
    static const int32_t last = 3;
    o.is_causal = p[P_CAUSAL] != 0;
    o.mask = build_mask(g, in, p);
    const weft_val y = weft_attention(g, in[0], in[1], in[2], &o, &lse);
    const weft_val delta = weft_sum(g, weft_mul(g, in[3], y), &last, 1, false);
    const weft_val all[] = {in[0], in[1], in[2], lse, delta, in[3], o.mask};
    if (!y.id)
        return WEFT_NONE;
    const wf_attr attrs[] = {wf_graph_producer(g, y.id)->attrs[0],
                             wf_graph_producer(g, y.id)->attrs[1]};
    return wf_graph_add(g, &wf_op_attention_grad, all, o.mask.id ? 7 : 6, attrs);
}

// Masks that are added and wanted by the gradient, of each kind of broadcast.
static void add_learnt_cases(wf_check_list *list)
{
    static const struct {
        const char *name;
        int64_t b, h, hk, tq, tk, d, mask[4];
        int32_t is_causal, kind;
    } table[] = {
        {"learnt mask, whole", 2, 2, 2, 3, 5, 3, {2, 2, 3, 5}, 0, LEARNT_MASK},
        {"learnt mask of a head, causal", 2, 4, 2, 9, 9, 4, {1, 4, 9, 9}, 1, LEARNT_MASK},
        {"learnt mask of a key", 2, 2, 1, 5, 66, 3, {2, 1, 1, 66}, 0, LEARNT_MASK},
        {"learnt mask of one number", 2, 2, 1, 4, 3, 5, {1, 1, 1, 1}, 1, LEARNT_MASK},
        {"learnt mask, more queries than keys", 1, 2, 2, 9, 4, 3, {1, 2, 9, 1}, 1, LEARNT_MASK},
        {"learnt mask, 130 keys", 2, 4, 2, 70, 130, 16, {1, 4, 70, 130}, 1, LEARNT_MASK},
        {"learnt mask that hides", 2, 4, 2, 17, 70, 20, {1, 4, 1, 70}, 0, LEARNT_HIDING_MASK},
        {"learnt mask, no key", 1, 2, 1, 3, 0, 4, {1, 2, 3, 0}, 0, LEARNT_MASK},
    };
    for (size_t i = 0; i < WF_COUNT_OF(table); i++) {
        const int64_t q[] = {table[i].b, table[i].h, table[i].tq, table[i].d};
        const int64_t k[] = {table[i].b, table[i].hk, table[i].tk, table[i].d};
        const wf_check_input query = {wf_type_make(WEFT_F32, 4, q), WF_CHECK_NORMAL, 0};
        const wf_check_input key = {wf_type_make(WEFT_F32, 4, k), WF_CHECK_NORMAL, 0};
        const wf_check_input mask = {wf_type_make(WEFT_F32, 4, table[i].mask), WF_CHECK_NORMAL, 0};
        wf_check_add(list, (wf_check_case){
                               .name = table[i].name,
                               .build = build_case,
                               .params = {table[i].kind, table[i].is_causal},
                               .n_inputs = 4,
                               .inputs = {query, key, key, mask},
                               .no_difference = table[i].tq * table[i].tk > 400,
                               .bound = 256.0,
                           });
    }
}

void wf_attention_cases(wf_check_list *list, bool is_grad)
{
    static const struct {
        const char *name;
        int64_t b, h, hk, tq, tk, d;
        int32_t is_causal, mask;
        wf_check_fill fill;
    } table[] = {
        {"one", 1, 1, 1, 1, 1, 1, 0, NO_MASK, WF_CHECK_NORMAL},
        {"no key", 1, 2, 1, 3, 0, 4, 0, NO_MASK, WF_CHECK_NORMAL},
        {"no query", 1, 2, 1, 0, 3, 4, 1, NO_MASK, WF_CHECK_NORMAL},
        {"63 keys", 1, 2, 2, 5, 63, 7, 0, NO_MASK, WF_CHECK_NORMAL},
        {"64 keys, grouped", 2, 4, 2, 64, 64, 16, 0, NO_MASK, WF_CHECK_NORMAL},
        {"65 keys, causal", 1, 2, 1, 65, 65, 33, 1, NO_MASK, WF_CHECK_NORMAL},
        {"one query, 200 keys", 2, 3, 1, 1, 200, 64, 1, NO_MASK, WF_CHECK_NORMAL},
        {"200 queries, two keys", 1, 1, 1, 200, 2, 8, 0, NO_MASK, WF_CHECK_NORMAL},
        {"more queries than keys, causal", 1, 2, 2, 70, 9, 5, 1, NO_MASK, WF_CHECK_NORMAL},
        {"200, causal, d 128", 1, 2, 1, 130, 200, 128, 1, NO_MASK, WF_CHECK_NORMAL},
        {"mask", 2, 2, 1, 66, 130, 12, 0, BOOL_MASK, WF_CHECK_NORMAL},
        {"shared mask, causal", 2, 2, 2, 70, 70, 9, 1, SHARED_MASK, WF_CHECK_NORMAL},
        {"additive mask", 2, 4, 2, 17, 70, 20, 0, ADDITIVE_MASK, WF_CHECK_NORMAL},
        {"small, masked", 1, 2, 1, 6, 5, 3, 1, ADDITIVE_MASK, WF_CHECK_UNIT},
        {"special values", 1, 2, 1, 66, 66, 5, 1, SHARED_MASK, WF_CHECK_SPECIAL},
        {"wide values", 1, 1, 1, 9, 130, 18, 0, NO_MASK, WF_CHECK_WIDE},
    };
    for (size_t i = 0; i < WF_COUNT_OF(table); i++) {
        const int64_t q[] = {table[i].b, table[i].h, table[i].tq, table[i].d};
        const int64_t k[] = {table[i].b, table[i].hk, table[i].tk, table[i].d};
        // Wide scores would leave one key to each query.
        const wf_check_fill fill = table[i].fill == WF_CHECK_WIDE ? WF_CHECK_UNIT : table[i].fill;
        const wf_check_input query = {wf_type_make(WEFT_F32, 4, q), fill, 0};
        const wf_check_input key = {wf_type_make(WEFT_F32, 4, k), fill, 0};
        const wf_check_input value = {key.type, table[i].fill, 0};
        wf_check_add(list, (wf_check_case){
                               .name = table[i].name,
                               .build = is_grad ? build_grad_case : build_case,
                               .params = {table[i].mask, table[i].is_causal},
                               .n_inputs = is_grad ? 4 : 3,
                               .inputs = {query, key, value, query},
                               .no_gradient = is_grad,
                               .no_difference = table[i].tq * table[i].tk > 400 ||
                                                table[i].fill == WF_CHECK_WIDE,
                               .bound = 256.0,
                           });
    }
    if (!is_grad)
        add_learnt_cases(list);
}
