// Normalisation layers. S. Ioffe, C. Szegedy, ICML 2015 (batch); J. Ba et al., 2016 (layer).
#include "nn/nn_builder.h"

#define EPSILON_DEFAULT 1e-5
#define MOMENTUM_DEFAULT 0.1

// running + momentum * (batch - running), flushed, when the step ends.
static void update_running(weft_nn *nn, weft_val running, weft_val batch, double momentum)
{
    weft_graph *g = nn->g;
    const weft_type t = weft_val_type(g, running);
    const weft_val now = wf_build_reshape(g, batch, t.ndim, t.dims);
    const weft_val moved =
        weft_add(g, running, weft_mul(g, wf_nn_number(g, momentum), weft_sub(g, now, running)));
    weft_assign(g, running, weft_flush(g, moved));
}

// The batch's mean and variance, [1,c,1..]; moves the running ones, [c].
static void batch_statistics(weft_nn *nn, weft_val x, double momentum, weft_val running_mean,
                             weft_val running_var, weft_val *out_mean, weft_val *out_var)
{
    weft_graph *g = nn->g;
    const weft_type t = weft_val_type(g, x);
    int32_t axes[WEFT_MAX_DIM];
    size_t n_axes = 0;
    int64_t count = 1; // values per channel
    for (int32_t i = 0; i < t.ndim; i++) {
        if (i != 1) {
            axes[n_axes++] = i;
            count *= t.dims[i];
        }
    }
    weft_moments(g, x, axes, n_axes, out_mean, out_var);
    if (count > 0)
        update_running(nn, running_mean, *out_mean, momentum);
    // One value has no unbiased variance: the running one stays as it is.
    if (count > 1) {
        const double correction = (double)count / (double)(count - 1);
        update_running(nn, running_var, weft_mul(g, *out_var, wf_nn_number(g, correction)),
                       momentum);
    }
}

weft_val weft_batch_norm(weft_nn *nn, const char *name, weft_val x,
                         const weft_batch_norm_options *options)
{
    static const weft_batch_norm_options none = WEFT_BATCH_NORM_OPTIONS_INIT;
    const weft_batch_norm_options *o = options ? options : &none;
    weft_graph *g = wf_nn_begin(nn);
    if (!g || !x.id || !wf_nn_options_check(g, "batch_norm", o->struct_size, sizeof *o))
        return WEFT_NONE;
    const weft_type t = weft_val_type(g, x);
    char text[WF_TYPE_TEXT];
    if (t.ndim < 2 || !(o->epsilon >= 0.0) || !(o->momentum >= 0.0 && o->momentum <= 1.0)) {
        wf_graph_fail(
            g, NULL, t.ndim < 2 ? WEFT_ERR_SHAPE : WEFT_ERR_ATTR,
            "batch_norm: x is %s, epsilon %g, momentum %g, expected [n,c,..], 0 or more, 0 to 1",
            wf_type_text(&t, text), o->epsilon, o->momentum);
        return WEFT_NONE;
    }
    const double epsilon = o->epsilon != 0.0 ? o->epsilon : EPSILON_DEFAULT;
    const double momentum = o->momentum != 0.0 ? o->momentum : MOMENTUM_DEFAULT;
    static const weft_init ones = {WEFT_INIT_ONES, 0, 0, 0}, zeros = {WEFT_INIT_ZEROS, 0, 0, 0};
    const int64_t *c = &t.dims[1];
    weft_scope_push(g, name);
    const weft_val running_mean =
        wf_nn_buffer(nn, "running_mean", weft_fill(g, WEFT_F32, c, 1, 0.0));
    const weft_val running_var = wf_nn_buffer(nn, "running_var", weft_fill(g, WEFT_F32, c, 1, 1.0));
    weft_val mean, var;
    if (nn->is_training) {
        batch_statistics(nn, x, momentum, running_mean, running_var, &mean, &var);
    } else {
        mean = wf_nn_channels(g, running_mean, t.ndim);
        var = wf_nn_channels(g, running_var, t.ndim);
    }
    weft_val scale = weft_rsqrt(g, weft_add(g, var, wf_nn_number(g, epsilon)));
    weft_val y;
    if (o->no_affine) {
        y = weft_mul(g, weft_sub(g, x, mean), scale);
    } else {
        const weft_init *first = o->is_zero_at_first ? &zeros : &ones;
        const weft_val weight = wf_nn_parameter_init(nn, "weight", first, c, 1, false);
        const weft_val bias = wf_nn_parameter_init(nn, "bias", &zeros, c, 1, false);
        scale = weft_mul(g, scale, wf_nn_channels(g, weight, t.ndim));
        y = weft_add(g, weft_mul(g, weft_sub(g, x, mean), scale), wf_nn_channels(g, bias, t.ndim));
    }
    weft_scope_pop(g);
    return y;
}

weft_val weft_layer_norm(weft_nn *nn, const char *name, weft_val x,
                         const weft_layer_norm_options *options)
{
    static const weft_layer_norm_options none = WEFT_LAYER_NORM_OPTIONS_INIT;
    static const weft_init ones = {WEFT_INIT_ONES, 0, 0, 0}, zeros = {WEFT_INIT_ZEROS, 0, 0, 0};
    const weft_layer_norm_options *o = options ? options : &none;
    weft_graph *g = wf_nn_begin(nn);
    if (!g || !x.id || !wf_nn_options_check(g, "layer_norm", o->struct_size, sizeof *o))
        return WEFT_NONE;
    const weft_type t = weft_val_type(g, x);
    const int32_t n_axes = o->n_axes ? o->n_axes : 1;
    char text[WF_TYPE_TEXT];
    if (n_axes < 1 || n_axes > t.ndim || !(o->epsilon >= 0.0)) {
        wf_graph_fail(
            g, NULL, o->epsilon >= 0.0 ? WEFT_ERR_SHAPE : WEFT_ERR_ATTR,
            "layer_norm: x is %s, n_axes %d, epsilon %g, expected 1 to ndim axes, 0 or more",
            wf_type_text(&t, text), n_axes, o->epsilon);
        return WEFT_NONE;
    }
    int32_t axes[WEFT_MAX_DIM];
    for (int32_t i = 0; i < n_axes; i++) {
        axes[i] = t.ndim - n_axes + i;
    }
    const int64_t *dims = &t.dims[t.ndim - n_axes];
    weft_scope_push(g, name);
    weft_val mean, var;
    weft_moments(g, x, axes, (size_t)n_axes, &mean, &var);
    const double epsilon = o->epsilon != 0.0 ? o->epsilon : EPSILON_DEFAULT;
    const weft_val inverse = weft_rsqrt(g, weft_add(g, var, wf_nn_number(g, epsilon)));
    weft_val y = weft_mul(g, weft_sub(g, x, mean), inverse);
    if (!o->no_affine) {
        const weft_val weight = wf_nn_parameter_init(nn, "weight", &ones, dims, n_axes, false);
        const weft_val bias = wf_nn_parameter_init(nn, "bias", &zeros, dims, n_axes, false);
        y = weft_add(g, weft_mul(g, y, weight), bias);
    }
    weft_scope_pop(g);
    return y;
}
