// Activations that are not ops, and all of them by name.
#include <string.h>

#include "nn/nn_builder.h"

weft_val weft_leaky_relu(weft_graph *g, weft_val x, double slope)
{
    weft_scope_push(g, "leaky_relu");
    const weft_val is_positive = weft_less(g, wf_nn_number(g, 0.0), x);
    const weft_val y = weft_select(g, is_positive, x, weft_mul(g, x, wf_nn_number(g, slope)));
    weft_scope_pop(g);
    return y;
}

weft_val weft_relu6(weft_graph *g, weft_val x)
{
    weft_scope_push(g, "relu6");
    // A select, not min: the gradient at 6 is 0, as PyTorch's.
    const weft_val top = wf_nn_number(g, 6.0);
    const weft_val y = weft_select(g, weft_less(g, x, top), weft_relu(g, x), top);
    weft_scope_pop(g);
    return y;
}

// x - max(x) over the axis. The maximum's own gradient cancels, so it carries none.
static weft_val shifted(weft_graph *g, weft_val x, int32_t axis)
{
    return weft_sub(g, x, weft_stop_gradient(g, weft_reduce_max(g, x, &axis, 1, true)));
}

weft_val weft_softmax(weft_graph *g, weft_val x, int32_t axis)
{
    weft_scope_push(g, "softmax");
    const weft_val e = weft_flush(g, weft_exp(g, shifted(g, x, axis)));
    const weft_val y = weft_div(g, e, weft_sum(g, e, &axis, 1, true));
    weft_scope_pop(g);
    return y;
}

weft_val weft_log_softmax(weft_graph *g, weft_val x, int32_t axis)
{
    weft_scope_push(g, "log_softmax");
    const weft_val z = shifted(g, x, axis);
    const weft_val e = weft_flush(g, weft_exp(g, z));
    const weft_val y = weft_sub(g, z, weft_log(g, weft_sum(g, e, &axis, 1, true)));
    weft_scope_pop(g);
    return y;
}

static weft_val leaky(weft_graph *g, weft_val x)
{
    return weft_leaky_relu(g, x, 0.01);
}
static weft_val softmax_last(weft_graph *g, weft_val x)
{
    return weft_softmax(g, x, -1);
}
static weft_val identity(weft_graph *g, weft_val x)
{
    (void)g;
    return x;
}

static const struct {
    const char *name;
    weft_val (*build)(weft_graph *g, weft_val x);
} activations[] = {
    {"relu", weft_relu},
    {"relu6", weft_relu6},
    {"leaky_relu", leaky},
    {"gelu", weft_gelu},
    {"gelu_tanh", weft_gelu_tanh},
    {"silu", weft_silu},
    {"tanh", weft_tanh},
    {"sigmoid", weft_sigmoid},
    {"softplus", weft_softplus},
    {"softmax", softmax_last},
    {"none", identity},
};

weft_val weft_activation(weft_graph *g, const char *name, weft_val x)
{
    for (size_t i = 0; i < WF_COUNT_OF(activations); i++) {
        if (name && !strcmp(name, activations[i].name))
            return activations[i].build(g, x);
    }
    wf_graph_fail(
        g, NULL, WEFT_ERR_NAME,
        "activation: \"%s\" is unknown, expected relu, relu6, leaky_relu, gelu, gelu_tanh, silu, "
        "tanh, sigmoid, softplus, softmax or none",
        name ? name : "");
    return WEFT_NONE;
}
