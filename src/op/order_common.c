// Order along an axis: see order.h. eval sorts (key, index) pairs of each row by merging: plain, and stable.
#include "op/order.h"

#include <string.h>

#include "math/compare.h"

weft_status wf_infer_order(const wf_node_info *info, weft_type *out, weft_error *err)
{
    const weft_type *x = &info->in[0];
    const int64_t axis = info->attrs[WF_ORDER_AXIS].u.i;
    char text[WF_TYPE_TEXT];
    WEFT_TRY(wf_infer_check_dtypes(info, WF_DTYPES_ORDER, err));
    if (axis < 0 || axis >= x->ndim) {
        WEFT_FAIL(err, WEFT_ERR_SHAPE, "axis %lld is out of range, x is %s", (long long)axis,
                  wf_type_text(x, text));
    }
    if (x->dims[axis] > INT32_MAX) {
        WEFT_FAIL(err, WEFT_ERR_SHAPE, "axis %lld is too long for an i32, x is %s", (long long)axis,
                  wf_type_text(x, text));
    }
    const int64_t k = wf_order_count(info);
    if (k < 0 || k > x->dims[axis]) {
        WEFT_FAIL(err, WEFT_ERR_SHAPE, "k is %lld, axis %lld of x, %s, has %lld elements",
                  (long long)k, (long long)axis, wf_type_text(x, text), (long long)x->dims[axis]);
    }
    out[0] = *x;
    out[0].dims[axis] = k;
    out[1] = out[0];
    out[1].dtype = WEFT_I32;
    return WEFT_OK;
}

// A number whose unsigned order is that of sorting.
static uint64_t key_of(const wf_tensor *x, int64_t i, bool descending)
{
    uint64_t key, nan = UINT64_MAX;
    if (!wf_dtype_is_float(x->type.dtype)) {
        key = (uint64_t)wf_tensor_get_int(x, i) ^ (uint64_t)1 << 63;
        return descending ? ~key : key;
    }
    const double value = wf_tensor_get_float(x, i);
    if (value != value)
        return nan;
    memcpy(&key, &value, sizeof key); // f32 as f64: the same order
    key ^= key >> 63 ? UINT64_MAX : (uint64_t)1 << 63;
    return descending ? ~key : key;
}

typedef struct pair {
    uint64_t key;
    int32_t idx;
} pair;

// Merges sorted neighbours of 1, 2, 4, .. elements; of equal ones the left comes first.
static pair *merge_all(pair *from, pair *to, int64_t n)
{
    for (int64_t run = 1; run < n; run *= 2) {
        for (int64_t begin = 0; begin < n; begin += 2 * run) {
            int64_t a = begin, b = begin + run < n ? begin + run : n;
            const int64_t middle = b, end = b + run < n ? b + run : n;
            for (int64_t i = begin; i < end; i++) {
                const bool is_left = a < middle && (b >= end || from[a].key <= from[b].key);
                to[i] = is_left ? from[a++] : from[b++];
            }
        }
        pair *other = from;
        from = to;
        to = other;
    }
    return from;
}

weft_status wf_order_eval(wf_eval *q, weft_error *err)
{
    const wf_tensor *x = &q->in[0], *y = &q->out[0];
    const int64_t axis = q->info->attrs[WF_ORDER_AXIS].u.i, k = wf_order_count(q->info);
    const bool descending = q->info->attrs[WF_ORDER_DESCENDING].u.i != 0;
    const int64_t n = x->type.dims[axis];
    const size_t bytes = wf_tensor_elem_bytes(x);
    int64_t outer = 1, inner = 1;
    pair *pairs;
    for (int32_t i = 0; i < x->type.ndim; i++) {
        outer *= i < axis ? x->type.dims[i] : 1;
        inner *= i > axis ? x->type.dims[i] : 1;
    }
    WEFT_TRY(wf_alloc(&q->allocator, 2 * (size_t)n, sizeof *pairs, &pairs, err));
    for (int64_t row = 0; row < outer * inner; row++) {
        const int64_t from = row / inner * n * inner + row % inner;
        const int64_t to = row / inner * k * inner + row % inner;
        for (int64_t i = 0; i < n; i++)
            pairs[i] = (pair){key_of(x, from + i * inner, descending), (int32_t)i};
        const pair *sorted = merge_all(pairs, pairs + n, n);
        for (int64_t i = 0; i < k; i++) {
            memcpy((char *)y->data + (size_t)(to + i * inner) * bytes,
                   (const char *)x->data + (size_t)(from + sorted[i].idx * inner) * bytes, bytes);
            ((int32_t *)q->out[1].data)[to + i * inner] = sorted[i].idx;
        }
    }
    wf_free(&q->allocator, pairs);
    return WEFT_OK;
}

// Where each result came from in x, as one index over all of it: idx * stride + the place on the other axes.
static weft_val flat_places(weft_graph *g, weft_val idx, const weft_type *x, int64_t axis)
{
    const weft_type t = *wf_graph_type(g, idx.id);
    const weft_dtype dtype = wf_type_count(x) > INT32_MAX ? WEFT_I64 : WEFT_I32;
    int64_t strides[WEFT_MAX_DIM];
    wf_dims_strides(x, strides);
    weft_val sum = WEFT_NONE;
    for (int32_t i = 0; i < t.ndim; i++) {
        weft_val term = i == axis ? weft_cast(g, idx, dtype) : WEFT_NONE;
        if (i != axis && t.dims[i] != 1)
            term = weft_iota(g, dtype, t.dims, t.ndim, i);
        if (!term.id)
            continue;
        if (strides[i] != 1)
            term = weft_mul(g, term, weft_scalar(g, dtype, (double)strides[i]));
        sum = sum.id ? weft_add(g, sum, term) : term;
    }
    return sum;
}

// Each element's gradient goes back to where the element came from.
void wf_order_grad(const wf_grad_query *q)
{
    const weft_type x = q->info->in[0];
    if (!q->need[0] || !q->dout[0].id || x.dtype != WEFT_F32)
        return;
    const int64_t n_x = wf_type_count(&x), n_y = wf_type_count(&q->info->out[0]);
    const weft_val places = flat_places(q->g, q->out[1], &x, q->info->attrs[WF_ORDER_AXIS].u.i);
    const weft_val zeros = weft_fill(q->g, WEFT_F32, &n_x, 1, 0.0);
    const weft_val dx = weft_scatter_add(q->g, zeros, weft_reshape(q->g, places, &n_y, 1),
                                         weft_reshape(q->g, q->dout[0], &n_y, 1), 0);
    q->din[0] = weft_reshape(q->g, dx, x.dims, x.ndim);
}

// Every element is compared once for each doubling of a sorted run.
wf_cost wf_cost_order(const wf_node_info *info)
{
    wf_cost cost = wf_cost_move(info);
    cost.bytes *= 2.0;
    return cost;
}

void wf_order_add_cases(wf_check_list *list,
                        weft_val (*build)(weft_graph *g, const weft_val *in, const int64_t *p),
                        const int64_t *ks, size_t n_ks)
{
    static const struct {
        const char *name;
        weft_dtype dtype;
        int32_t axis;
        bool descending;
        int64_t dims[3];
        wf_check_fill fill;
    } table[] = {
        {"one", WEFT_F32, 0, false, {1, 1, 1}, WF_CHECK_NORMAL},
        {"nothing", WEFT_F32, 1, true, {3, 0, 2}, WF_CHECK_NORMAL},
        {"rows 31", WEFT_F32, 2, false, {3, 2, 31}, WF_CHECK_NORMAL},
        {"rows 32", WEFT_F32, 2, false, {2, 3, 32}, WF_CHECK_NORMAL},
        {"rows 33, down", WEFT_F32, 2, true, {2, 3, 33}, WF_CHECK_NORMAL},
        {"first axis", WEFT_F32, 0, false, {65, 3, 2}, WF_CHECK_NORMAL},
        {"middle axis, down", WEFT_F32, 1, true, {2, 300, 3}, WF_CHECK_NORMAL},
        {"special values", WEFT_F32, 2, false, {1, 2, 257}, WF_CHECK_SPECIAL},
        {"special values, down", WEFT_F32, 2, true, {1, 2, 257}, WF_CHECK_SPECIAL},
        {"a long row", WEFT_F32, 2, true, {1, 1, 5003}, WF_CHECK_WIDE},
        {"ties", WEFT_I32, 2, false, {1, 2, 1031}, WF_CHECK_NORMAL},
        {"ties, down", WEFT_I32, 1, true, {2, 100, 2}, WF_CHECK_NORMAL},
        {"i64", WEFT_I64, 2, false, {1, 3, 300}, WF_CHECK_SPECIAL},
        {"i64, down", WEFT_I64, 2, true, {1, 3, 300}, WF_CHECK_SPECIAL},
        {"u8", WEFT_U8, 2, true, {1, 3, 90}, WF_CHECK_SPECIAL},
        {"i8", WEFT_I8, 2, false, {1, 3, 90}, WF_CHECK_SPECIAL},
        {"bool", WEFT_BOOL, 2, true, {1, 3, 90}, WF_CHECK_NORMAL},
    };
    for (size_t i = 0; i < WF_COUNT_OF(table); i++) {
        const int64_t size = table[i].dims[table[i].axis];
        for (size_t j = 0; j < n_ks; j++) {
            const int64_t k = ks[j] < size ? ks[j] : size;
            if (j > 0 && (size <= ks[j - 1] || table[i].dtype != WEFT_F32))
                continue;
            const char *name =
                n_ks > 1 ? wf_check_name(list, "%s, %d", table[i].name, (int)k) : table[i].name;
            wf_check_add(list,
                         (wf_check_case){.name = name,
                                         .build = build,
                                         .params = {table[i].axis, table[i].descending, k},
                                         .n_inputs = 1,
                                         .inputs = {{wf_type_make(table[i].dtype, 3, table[i].dims),
                                                     table[i].fill, 0}},
                                         .no_gradient = table[i].dtype != WEFT_F32,
                                         .no_difference = size > 100,
                                         .bound = 1.0});
        }
    }
}
