// c[..,m,n] = sum over k of a[..,m,k] * b[..,k,n], in the order of doc/arithmetic.md (Products).
//
// Letters: m rows and n columns of c, k terms of each sum. Batch axes are equal here; the constructor
// broadcasts them.
#include "math/product.h"
#include "op/build.h"
#include "op/check_case.h"
#include "op/tensor.h"

enum { ATTR_TRANSPOSE_A, ATTR_TRANSPOSE_B };
static const wf_attr_spec attrs[] = {{"transpose_a", WF_ATTR_BOOL}, {"transpose_b", WF_ATTR_BOOL}};

typedef struct sizes {
    int64_t m, n, k, k_of_b;
} sizes;

static sizes sizes_of(const weft_type *a, const weft_type *b, bool is_ta, bool is_tb)
{
    const int64_t *ad = &a->dims[a->ndim - 2], *bd = &b->dims[b->ndim - 2];
    const sizes s = {is_ta ? ad[1] : ad[0], is_tb ? bd[0] : bd[1], is_ta ? ad[0] : ad[1],
                     is_tb ? bd[1] : bd[0]};
    return s;
}

static sizes sizes_of_node(const wf_node_info *info)
{
    return sizes_of(&info->in[0], &info->in[1], info->attrs[ATTR_TRANSPOSE_A].u.i != 0,
                    info->attrs[ATTR_TRANSPOSE_B].u.i != 0);
}

// What infer and the constructor both refuse: fewer than two axes, inner sizes that differ.
static weft_status check(const weft_type *a, const weft_type *b, bool is_ta, bool is_tb,
                         weft_error *err)
{
    char at[WF_TYPE_TEXT], bt[WF_TYPE_TEXT];
    wf_dims_text(a->dims, a->ndim, at);
    wf_dims_text(b->dims, b->ndim, bt);
    if (a->ndim < 2 || b->ndim < 2) {
        WEFT_FAIL(err, WEFT_ERR_SHAPE, "a is %s, b is %s, expected 2 axes or more", at, bt);
    }
    const sizes s = sizes_of(a, b, is_ta, is_tb);
    if (s.k != s.k_of_b) {
        WEFT_FAIL(err, WEFT_ERR_SHAPE, "inner sizes differ, a is %s%s, b is %s%s", at,
                  is_ta ? " transposed" : "", bt, is_tb ? " transposed" : "");
    }
    return WEFT_OK;
}

static weft_status infer(const wf_node_info *info, weft_type *out, weft_error *err)
{
    const weft_type *a = &info->in[0], *b = &info->in[1];
    char at[WF_TYPE_TEXT], bt[WF_TYPE_TEXT];
    WEFT_TRY(wf_infer_check_dtypes(info, WF_DTYPE_BIT(WEFT_F32), err));
    WEFT_TRY(check(a, b, info->attrs[ATTR_TRANSPOSE_A].u.i != 0,
                   info->attrs[ATTR_TRANSPOSE_B].u.i != 0, err));
    bool is_same = a->ndim == b->ndim;
    for (int32_t i = 0; is_same && i < a->ndim - 2; i++) {
        is_same = a->dims[i] == b->dims[i];
    }
    if (!is_same) {
        WEFT_FAIL(err, WEFT_ERR_SHAPE, "batch sizes differ, a is %s, b is %s",
                  wf_dims_text(a->dims, a->ndim, at), wf_dims_text(b->dims, b->ndim, bt));
    }
    const sizes s = sizes_of_node(info);
    *out = *a;
    out->dims[a->ndim - 2] = s.m;
    out->dims[a->ndim - 1] = s.n;
    return WEFT_OK;
}

// C = A' B' where A' is a or its transpose: dA' = dC B'^T, dB' = A'^T dC. The transposes are the flags.
// Products of small gradients are where subnormals are born: flushed.
static void grad(const wf_grad_query *q)
{
    weft_graph *g = q->g;
    const bool is_ta = q->info->attrs[ATTR_TRANSPOSE_A].u.i != 0;
    const bool is_tb = q->info->attrs[ATTR_TRANSPOSE_B].u.i != 0;
    const weft_val a = q->in[0], b = q->in[1], dc = q->dout[0];
    if (q->need[0]) {
        const weft_val da =
            is_ta ? weft_matmul(g, b, dc, is_tb, true) : weft_matmul(g, dc, b, false, !is_tb);
        q->din[0] = weft_flush(g, da);
    }
    if (q->need[1]) {
        const weft_val db =
            is_tb ? weft_matmul(g, dc, a, true, is_ta) : weft_matmul(g, a, dc, !is_ta, false);
        q->din[1] = weft_flush(g, db);
    }
}

// One sum: where its terms lie.
typedef struct line {
    const float *a, *b;
    int64_t a_step, b_step;
} line;

static void term(const void *user, int64_t t, float *out_a, float *out_b)
{
    const line *l = user;
    *out_a = l->a[t * l->a_step];
    *out_b = l->b[t * l->b_step];
}

typedef struct layout {
    sizes s;
    int64_t n_batches;
    int64_t a_row, a_term, b_column, b_term; // strides
} layout;

static layout layout_of(const wf_node_info *info)
{
    const bool is_ta = info->attrs[ATTR_TRANSPOSE_A].u.i != 0;
    const bool is_tb = info->attrs[ATTR_TRANSPOSE_B].u.i != 0;
    layout l = {.s = sizes_of_node(info), .n_batches = 1};
    for (int32_t i = 0; i < info->in[0].ndim - 2; i++) {
        l.n_batches *= info->in[0].dims[i];
    }
    l.a_row = is_ta ? 1 : l.s.k;
    l.a_term = is_ta ? l.s.m : 1;
    l.b_column = is_tb ? l.s.k : 1;
    l.b_term = is_tb ? 1 : l.s.n;
    return l;
}

static weft_status eval(wf_eval *q, weft_error *err)
{
    (void)err;
    const layout l = layout_of(q->info);
    float *c = q->out[0].data;
    for (int64_t batch = 0; batch < l.n_batches; batch++) {
        const float *a = (const float *)q->in[0].data + batch * l.s.m * l.s.k;
        const float *b = (const float *)q->in[1].data + batch * l.s.k * l.s.n;
        for (int64_t i = 0; i < l.s.m; i++) {
            for (int64_t j = 0; j < l.s.n; j++) {
                const line one = {a + i * l.a_row, b + j * l.b_column, l.a_term, l.b_term};
                *c++ = wf_product_sum(term, &one, l.s.k);
            }
        }
    }
    return WEFT_OK;
}

static weft_status eval_truth(wf_eval *q, weft_error *err)
{
    (void)err;
    const layout l = layout_of(q->info);
    double *c = q->out[0].data;
    for (int64_t batch = 0; batch < l.n_batches; batch++) {
        const double *a = (const double *)q->in[0].data + batch * l.s.m * l.s.k;
        const double *b = (const double *)q->in[1].data + batch * l.s.k * l.s.n;
        for (int64_t i = 0; i < l.s.m; i++) {
            for (int64_t j = 0; j < l.s.n; j++) {
                double sum = 0.0;
                for (int64_t t = 0; t < l.s.k; t++) {
                    sum += a[i * l.a_row + t * l.a_term] * b[j * l.b_column + t * l.b_term];
                }
                *c++ = sum;
            }
        }
    }
    return WEFT_OK;
}

static wf_cost cost(const wf_node_info *info)
{
    const wf_cost all = {2.0 * (double)wf_type_count(&info->out[0]) * (double)sizes_of_node(info).k,
                         wf_cost_bytes(info)};
    return all;
}

typedef struct matmul_case {
    int64_t batch_a, batch_b; // 0: no batch axis
    int64_t m, n, k;
    bool is_ta, is_tb, is_turned; // turned: both operands are transposed views
    wf_check_fill fill;
} matmul_case;

// clang-format off: one case a line
static const matmul_case case_table[] = {
    {0, 0, 1, 1, 1, false, false, false, WF_CHECK_NORMAL},
    {0, 0, 31, 32, 33, false, false, false, WF_CHECK_WIDE},
    {0, 0, 33, 31, 65, true, false, false, WF_CHECK_NORMAL},
    {0, 0, 17, 64, 48, false, true, false, WF_CHECK_NORMAL},
    {0, 0, 5, 7, 9, true, true, false, WF_CHECK_NORMAL},
    {0, 0, 5, 7, 9, false, false, true, WF_CHECK_NORMAL},
    {0, 0, 65, 129, 130, true, false, true, WF_CHECK_WIDE},
    {0, 0, 1, 70, 100, false, false, false, WF_CHECK_NORMAL},
    {0, 0, 70, 1, 100, false, false, false, WF_CHECK_NORMAL},
    {0, 0, 100, 96, 1, false, false, false, WF_CHECK_NORMAL},
    {0, 0, 3, 4, 0, false, false, false, WF_CHECK_NORMAL},
    {0, 0, 0, 4, 3, false, false, false, WF_CHECK_NORMAL},
    {0, 0, 4, 0, 3, false, true, false, WF_CHECK_NORMAL},
    {0, 0, 5, 6, 4096, false, false, false, WF_CHECK_WIDE},
    {0, 0, 33, 34, 4097, false, true, false, WF_CHECK_WIDE},  // two blocks
    {0, 0, 9, 17, 10000, true, false, false, WF_CHECK_WIDE},  // three
    {0, 0, 3, 5, 140000, false, false, false, WF_CHECK_WIDE}, // 35: two groups have two
    {3, 3, 6, 7, 8, false, false, false, WF_CHECK_NORMAL},
    {1, 4, 6, 7, 8, false, true, false, WF_CHECK_NORMAL},
    {5, 0, 33, 31, 20, true, false, true, WF_CHECK_NORMAL},
    {0, 2, 3, 5, 4, false, false, false, WF_CHECK_NORMAL},
    {0, 0, 9, 10, 20, false, false, false, WF_CHECK_SPECIAL},
    {0, 0, 40, 33, 17, true, true, false, WF_CHECK_SPECIAL},
};
// clang-format on

static weft_val build_case(weft_graph *g, const weft_val *in, const int64_t *p)
{
    const weft_val a = p[2] ? weft_transpose(g, in[0]) : in[0];
    const weft_val b = p[2] ? weft_transpose(g, in[1]) : in[1];
    return weft_matmul(g, a, b, p[0] != 0, p[1] != 0);
}

static wf_check_input case_input(int64_t batch, int64_t rows, int64_t columns, wf_check_fill fill)
{
    const int64_t dims[] = {batch, rows, columns};
    const bool has_batch = batch > 0;
    const wf_check_input input = {
        wf_type_make(WEFT_F32, has_batch ? 3 : 2, has_batch ? dims : dims + 1), fill, 0};
    return input;
}

static void cases(wf_check_list *list)
{
    for (size_t i = 0; i < WF_COUNT_OF(case_table); i++) {
        const matmul_case *c = &case_table[i];
        const bool a_turned = c->is_ta != c->is_turned, b_turned = c->is_tb != c->is_turned;
        wf_check_case one = {.build = build_case, .n_inputs = 2};
        one.name = wf_check_name(list, "%dx%dx%d%s%s%s batch %d %d%s", (int)c->m, (int)c->n,
                                 (int)c->k, c->is_ta ? " ta" : "", c->is_tb ? " tb" : "",
                                 c->is_turned ? " turned" : "", (int)c->batch_a, (int)c->batch_b,
                                 c->fill == WF_CHECK_SPECIAL ? " special" : "");
        one.params[0] = c->is_ta;
        one.params[1] = c->is_tb;
        one.params[2] = c->is_turned;
        one.inputs[0] =
            case_input(c->batch_a, a_turned ? c->k : c->m, a_turned ? c->m : c->k, c->fill);
        one.inputs[1] =
            case_input(c->batch_b, b_turned ? c->n : c->k, b_turned ? c->k : c->n, c->fill);
        one.no_gradient = c->fill == WF_CHECK_SPECIAL || c->k > 20000;
        one.no_difference = c->m * c->k > 200 || c->k * c->n > 200 || c->fill != WF_CHECK_NORMAL;
        // A chain of k roundings of partial sums that grow like the root of k, four times over.
        one.bound = 16.0 + 2.0 * (double)WF_SQRT((float)c->k);
        wf_check_add(list, one);
    }
}

const wf_op wf_op_matmul = {
    .name = "matmul",
    .n_inputs = 2,
    .n_outputs = 1,
    .flags = WF_OP_NO_MINUS_ZERO,
    .task = WF_TASK_CONTRACT,
    .attrs = attrs,
    .n_attrs = WF_COUNT_OF(attrs),
    .infer = infer,
    .grad = grad,
    .eval = eval,
    .eval_truth = eval_truth,
    .cost = cost,
    .cases = cases,
};

// val with its batch axes stretched to batch.
static weft_val stretch(weft_graph *g, weft_val val, int32_t n_batch, const int64_t *batch)
{
    const weft_type t = *wf_graph_type(g, val.id);
    int64_t dims[WEFT_MAX_DIM];
    for (int32_t i = 0; i < n_batch; i++) {
        dims[i] = batch[i];
    }
    dims[n_batch] = t.dims[t.ndim - 2];
    dims[n_batch + 1] = t.dims[t.ndim - 1];
    return wf_build_broadcast(g, val, n_batch + 2, dims);
}

weft_val weft_matmul(weft_graph *g, weft_val a, weft_val b, bool transpose_a, bool transpose_b)
{
    const weft_val in[] = {a, b};
    char at[WF_TYPE_TEXT], bt[WF_TYPE_TEXT];
    weft_error err;
    int64_t batch[WEFT_MAX_DIM];
    int32_t n_batch;
    if (!wf_build_ready(g, &wf_op_matmul, in, 2)) {
        return WEFT_NONE;
    }
    weft_type at_type = *wf_graph_type(g, a.id), bt_type = *wf_graph_type(g, b.id);
    // Before the batch axes are stretched, so that the message shows what the caller gave.
    const weft_status status = check(&at_type, &bt_type, transpose_a, transpose_b, &err);
    if (status != WEFT_OK) {
        wf_graph_fail(g, &wf_op_matmul, status, "%s", err.message);
        return WEFT_NONE;
    }
    wf_dims_text(at_type.dims, at_type.ndim, at);
    wf_dims_text(bt_type.dims, bt_type.ndim, bt);
    at_type.ndim -= 2;
    bt_type.ndim -= 2;
    const weft_type *types[] = {&at_type, &bt_type};
    if (!wf_dims_broadcast(types, 2, &n_batch, batch)) {
        wf_graph_fail(g, &wf_op_matmul, WEFT_ERR_SHAPE,
                      "batch sizes do not broadcast, a is %s, b is %s", at, bt);
        return WEFT_NONE;
    }
    const weft_val full[] = {stretch(g, a, n_batch, batch), stretch(g, b, n_batch, batch)};
    const wf_attr list[] = {wf_attr_int(transpose_a), wf_attr_int(transpose_b)};
    return wf_graph_add(g, &wf_op_matmul, full, 2, list);
}
