// First values of parameters. Bounds are computed by the arithmetic of src/math, so that they are the same
// everywhere. K. He et al., ICCV 2015 (Kaiming); X. Glorot, Y. Bengio, AISTATS 2010 (Xavier).
#include "math/weft_math.h"
#include "nn/nn_builder.h"

// low + (high - low) * u
static weft_val uniform(weft_nn *nn, float low, float high, const int64_t *dims, int32_t ndim)
{
    weft_graph *g = nn->g;
    const weft_val seed = weft_constant(g, WEFT_I64, NULL, 0, &nn->seed);
    const weft_val u = weft_random_uniform(g, seed, weft_scalar(g, WEFT_I64, 0.0), dims, ndim);
    const weft_val scaled = weft_mul(g, u, wf_nn_number(g, (double)(high - low)));
    return weft_add(g, scaled, wf_nn_number(g, (double)low));
}

// mean + deviation * z
static weft_val normal(weft_nn *nn, float mean, float deviation, const int64_t *dims, int32_t ndim)
{
    weft_graph *g = nn->g;
    const weft_val seed = weft_constant(g, WEFT_I64, NULL, 0, &nn->seed);
    const weft_val z = weft_random_normal(g, seed, weft_scalar(g, WEFT_I64, 0.0), dims, ndim);
    const weft_val scaled = weft_mul(g, z, wf_nn_number(g, (double)deviation));
    return weft_add(g, scaled, wf_nn_number(g, (double)mean));
}

// gain * sqrt(square / fan); a fan of 0 has no weights, any bound will do.
static float bound(double gain, float square, int64_t fan)
{
    return (float)gain * WF_SQRT(WF_DIV(square, (float)(fan > 0 ? fan : 1)));
}

static weft_val by_fan(weft_nn *nn, weft_init_kind kind, double gain, const int64_t *dims,
                       int32_t ndim)
{
    int64_t window = 1;
    if (ndim < 2) {
        wf_graph_fail(nn->g, NULL, WEFT_ERR_ATTR,
                      "init: %d dims, expected [out,in,window..] of an initialiser by fan", ndim);
        return WEFT_NONE;
    }
    for (int32_t i = 2; i < ndim; i++) {
        window *= dims[i];
    }
    const int64_t in = dims[1] * window, out = dims[0] * window;
    const double kaiming = gain != 0.0 ? gain : (double)WF_SQRT(2.0f);
    const double xavier = gain != 0.0 ? gain : 1.0;
    float b = 0.0f;
    switch (kind) {
    case WEFT_INIT_KAIMING_UNIFORM: b = bound(kaiming, 3.0f, in); break;
    case WEFT_INIT_KAIMING_NORMAL: return normal(nn, 0.0f, bound(kaiming, 1.0f, in), dims, ndim);
    case WEFT_INIT_XAVIER_UNIFORM: b = bound(xavier, 6.0f, in + out); break;
    case WEFT_INIT_XAVIER_NORMAL:
        return normal(nn, 0.0f, bound(xavier, 2.0f, in + out), dims, ndim);
    default: b = bound(1.0, 1.0f, in); break;
    }
    return uniform(nn, -b, b, dims, ndim);
}

weft_val weft_init_values(weft_nn *nn, const weft_init *init, const int64_t *dims, int32_t ndim)
{
    static const weft_init by_default = {WEFT_INIT_DEFAULT, 0, 0, 0};
    if (!wf_nn_begin(nn))
        return WEFT_NONE;
    const weft_init *i = init ? init : &by_default;
    switch (i->kind) {
    case WEFT_INIT_ZEROS: return weft_fill(nn->g, WEFT_F32, dims, ndim, 0.0);
    case WEFT_INIT_ONES: return weft_fill(nn->g, WEFT_F32, dims, ndim, 1.0);
    case WEFT_INIT_UNIFORM: return uniform(nn, (float)i->a, (float)i->b, dims, ndim);
    case WEFT_INIT_NORMAL: return normal(nn, (float)i->a, (float)i->b, dims, ndim);
    case WEFT_INIT_DEFAULT:
    case WEFT_INIT_KAIMING_UNIFORM:
    case WEFT_INIT_KAIMING_NORMAL:
    case WEFT_INIT_XAVIER_UNIFORM:
    case WEFT_INIT_XAVIER_NORMAL:
    case WEFT_INIT_FAN_IN: return by_fan(nn, i->kind, i->gain, dims, ndim);
    }
    wf_graph_fail(nn->g, NULL, WEFT_ERR_ATTR, "init: kind %d is unknown", (int)i->kind);
    return WEFT_NONE;
}

weft_init wf_nn_bias_init(weft_init init, int64_t fan_in)
{
    if (init.kind != WEFT_INIT_DEFAULT)
        return init;
    const double b = (double)bound(1.0, 1.0f, fan_in);
    const weft_init by_fan_in = {WEFT_INIT_UNIFORM, -b, b, 0};
    return by_fan_in;
}
