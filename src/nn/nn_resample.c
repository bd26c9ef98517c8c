// Reading along one spatial axis by a table of indices: see nn_resample.h.
#include "nn/nn_resample.h"

// Above this a coordinate's numerator might not fit in 64 bits.
#define MAX_SIZE INT32_MAX

bool wf_resample_check(weft_graph *g, const char *what, weft_val x, const int64_t *size)
{
    if (!wf_graph_is_ok(g) || !x.id)
        return false;
    const weft_type t = weft_val_type(g, x);
    char a[WF_TYPE_TEXT], b[WF_TYPE_TEXT];
    if (t.ndim < 3 || t.ndim > 2 + WF_RESAMPLE_AXES) {
        wf_graph_fail(g, NULL, WEFT_ERR_SHAPE,
                      "%s: x is %s, expected [n,c,spatial..] with 1 to 3 spatial axes", what,
                      wf_type_text(&t, a));
        return false;
    }
    if (!size) {
        wf_graph_fail(g, NULL, WEFT_ERR_USAGE, "%s: size is NULL, expected %d entries", what,
                      t.ndim - 2);
        return false;
    }
    for (int32_t i = 2; i < t.ndim; i++) {
        if (t.dims[i] < 1 || t.dims[i] > MAX_SIZE || size[i - 2] < 1 || size[i - 2] > MAX_SIZE) {
            wf_graph_fail(g, NULL, WEFT_ERR_SHAPE,
                          "%s: x is %s, size is %s, expected spatial sizes of 1 to %d", what,
                          wf_type_text(&t, a), wf_dims_text(size, t.ndim - 2, b), MAX_SIZE);
            return false;
        }
    }
    return true;
}

weft_val wf_resample_begin(weft_graph *g, weft_val x)
{
    const int32_t ndim = weft_val_type(g, x).ndim;
    int32_t order[WEFT_MAX_DIM] = {0};
    for (int32_t i = 1; i < ndim; i++)
        order[i] = i + 1 < ndim ? i + 1 : 1;
    return weft_permute(g, x, order);
}

weft_val wf_resample_end(weft_graph *g, weft_val x)
{
    const int32_t ndim = weft_val_type(g, x).ndim;
    int32_t order[WEFT_MAX_DIM] = {0};
    for (int32_t i = 1; i < ndim; i++)
        order[i] = i == 1 ? ndim - 1 : i - 1;
    return x.id ? weft_permute(g, x, order) : WEFT_NONE;
}

void *wf_resample_table(weft_graph *g, int64_t n, size_t entry_bytes)
{
    void *table;
    if (wf_alloc(&g->context->allocator, (size_t)n, entry_bytes, &table, NULL) == WEFT_OK)
        return table;
    wf_graph_fail(g, NULL, WEFT_ERR_MEMORY, "memory for a table of %lld entries is not available",
                  (long long)n);
    return NULL;
}

void wf_resample_free(weft_graph *g, void *table)
{
    wf_free(&g->context->allocator, table);
}

weft_val wf_resample_along(weft_graph *g, weft_val table, int32_t axis, int32_t ndim)
{
    int64_t dims[WEFT_MAX_DIM];
    for (int32_t i = 0; i < ndim; i++)
        dims[i] = i == axis ? weft_val_count(g, table) : 1;
    return weft_reshape(g, table, dims, ndim);
}
