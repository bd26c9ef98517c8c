// Shapes: counting, comparing, printing.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "graph/graph.h"

int64_t wf_type_count(const weft_type *t)
{
    int64_t n = 1;
    for (int32_t i = 0; i < t->ndim; i++)
        n *= t->dims[i];
    return n;
}

bool wf_type_same_dims(const weft_type *a, const weft_type *b)
{
    if (a->ndim != b->ndim)
        return false;
    for (int32_t i = 0; i < a->ndim; i++) {
        if (a->dims[i] != b->dims[i])
            return false;
    }
    return true;
}

bool wf_type_equal(const weft_type *a, const weft_type *b)
{
    return a->dtype == b->dtype && wf_type_same_dims(a, b);
}

weft_type wf_type_make(weft_dtype dtype, int32_t ndim, const int64_t *dims)
{
    weft_type t = {dtype, ndim, {0}};
    for (int32_t i = 0; i < ndim && i < WEFT_MAX_DIM; i++)
        t.dims[i] = dims[i];
    return t;
}

const char *wf_dims_text(const int64_t *dims, int32_t ndim, char buf[WF_TYPE_TEXT])
{
    size_t used = 0;
    used += (size_t)snprintf(buf, WF_TYPE_TEXT, "[");
    for (int32_t i = 0; i < ndim && used + 24 < WF_TYPE_TEXT; i++) {
        used +=
            (size_t)snprintf(buf + used, WF_TYPE_TEXT - used, "%s%" PRId64, i ? "," : "", dims[i]);
    }
    snprintf(buf + used, WF_TYPE_TEXT - used, "]");
    return buf;
}

const char *wf_type_text(const weft_type *t, char buf[WF_TYPE_TEXT])
{
    char dims[WF_TYPE_TEXT];
    int32_t ndim = t->ndim < 0 ? 0 : t->ndim > WEFT_MAX_DIM ? WEFT_MAX_DIM : t->ndim;
    snprintf(buf, WF_TYPE_TEXT, "%s%.170s", weft_dtype_name(t->dtype),
             wf_dims_text(t->dims, ndim, dims));
    return buf;
}
