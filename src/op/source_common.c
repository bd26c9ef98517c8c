// What the sources share: see source.h.
#include "op/source.h"

#include <string.h>

weft_status wf_infer_source(const wf_attr *dtype, const wf_attr *dims, weft_type *out,
                            weft_error *err)
{
    return wf_infer_dims((weft_dtype)dtype->u.i, dims->u.ints, dims->n, out, err);
}

bool wf_build_dims(weft_graph *g, const wf_op *op, const int64_t *dims, int32_t ndim)
{
    if (!wf_graph_is_ok(g)) {
        return false;
    }
    if (ndim < 0 || ndim > WEFT_MAX_DIM) {
        wf_graph_fail(g, op, WEFT_ERR_SHAPE, "%d dims, expected 0 to %d", ndim, WEFT_MAX_DIM);
        return false;
    }
    if (!dims && ndim > 0) {
        wf_graph_fail(g, op, WEFT_ERR_USAGE, "dims are NULL, expected %d of them", ndim);
        return false;
    }
    return true;
}

bool wf_build_name(weft_graph *g, const wf_op *op, const char *name)
{
    if (!wf_graph_is_ok(g)) {
        return false;
    }
    if (!name || !*name || strpbrk(name, " \t\n\"")) {
        wf_graph_fail(g, op, WEFT_ERR_NAME,
                      "name \"%s\" is not valid, expected a word without spaces or quotes",
                      name ? name : "");
        return false;
    }
    for (size_t i = 0; i < g->n_nodes; i++) {
        if (g->nodes[i].op == op && strcmp(g->nodes[i].attrs[0].u.text, name) == 0) {
            wf_graph_fail(g, op, WEFT_ERR_NAME, "name %s is taken", name);
            return false;
        }
    }
    return true;
}
