// A table of learned rows. Stage: nn.
#include "nn/nn_builder.h"
#include "weft/transformer.h"

weft_val weft_embedding(weft_nn *nn, const char *name, weft_val idx, int64_t n, int64_t d,
                        const weft_init *init)
{
    static const weft_init normal = {WEFT_INIT_NORMAL, 0, 1, 0};
    weft_graph *g = wf_nn_begin(nn);
    if (!g || !idx.id)
        return WEFT_NONE;
    if (n < 1 || d < 1) {
        wf_graph_fail(g, NULL, WEFT_ERR_SHAPE,
                      "embedding: n is %lld, d is %lld, expected 1 or more", (long long)n,
                      (long long)d);
        return WEFT_NONE;
    }
    const int64_t dims[] = {n, d};
    weft_scope_push(g, name);
    const weft_val weight =
        wf_nn_parameter_init(nn, "weight", init ? init : &normal, dims, 2, true);
    const weft_val y = weft_gather(g, weight, idx, 0);
    weft_scope_pop(g);
    return y;
}
