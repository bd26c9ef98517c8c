// Dropout, by 32 random bits for each element. N. Srivastava et al., JMLR 2014.
#include "nn/nn_builder.h"

weft_val weft_dropout(weft_nn *nn, weft_val x, double p)
{
    weft_graph *g = wf_nn_begin(nn);
    if (!g || !x.id)
        return WEFT_NONE;
    if (!(p >= 0.0 && p < 1.0)) {
        wf_graph_fail(g, NULL, WEFT_ERR_ATTR, "dropout: p is %g, expected 0 <= p < 1", p);
        return WEFT_NONE;
    }
    if (!nn->is_training || p == 0.0)
        return x;
    const weft_type t = weft_val_type(g, x);
    weft_scope_push(g, "dropout");
    // Bits are unsigned, comparisons signed: flipping the top bit of both keeps the order.
    const uint32_t limit = (uint32_t)(p * 4294967296.0); // floor(p * 2^32)
    const weft_val top = weft_scalar(g, WEFT_I32, (double)INT32_MIN);
    const weft_val bits =
        weft_xor(g, weft_random_bits(g, weft_nn_seed(nn), weft_nn_step(nn), t.dims, t.ndim), top);
    const weft_val least = weft_scalar(g, WEFT_I32, (double)((int64_t)limit + INT32_MIN));
    const weft_val scaled = weft_mul(g, x, wf_nn_number(g, 1.0 / (1.0 - p)));
    const weft_val y =
        weft_select(g, weft_less_equal(g, least, bits), scaled, wf_nn_number(g, 0.0));
    weft_scope_pop(g);
    return y;
}
