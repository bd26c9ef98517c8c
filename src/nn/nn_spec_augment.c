// SpecAugment: bands and spans of time of a spectrogram are hidden while it is trained on. D. S. Park et al.,
// "SpecAugment: A Simple Data Augmentation Method for Automatic Speech Recognition", Interspeech 2019; its
// time warp is not here. In: a spectrogram. Out: the same, partly 0. Stage: nn.
#include "nn/nn_builder.h"
#include "weft/sound.h"

#define MASKS_MAX 64

static bool check_masks(weft_graph *g, const char *axis, int64_t n, int64_t width, int64_t size)
{
    if ((n == 0 && width == 0) || (n >= 1 && n <= MASKS_MAX && width >= 1 && width <= size))
        return true;
    wf_graph_fail(
        g, NULL, WEFT_ERR_ATTR,
        "spec_augment: %s_masks is %lld, %s_mask_width is %lld, expected 1 to %d and 1 to "
        "%lld, or 0 and 0",
        axis, (long long)n, axis, (long long)width, MASKS_MAX, (long long)size);
    return false;
}

static bool check(weft_graph *g, const weft_spec_augment_options *o, const weft_type *t)
{
    char text[WF_TYPE_TEXT];
    if (!wf_nn_options_check(g, "spec_augment", o->struct_size, sizeof *o))
        return false;
    if (t->dtype != WEFT_F32 || t->ndim != 3) {
        wf_graph_fail(g, NULL, t->dtype != WEFT_F32 ? WEFT_ERR_DTYPE : WEFT_ERR_SHAPE,
                      "spec_augment: x is %s, expected f32[b,bands,frames]", wf_type_text(t, text));
        return false;
    }
    return check_masks(g, "freq", o->freq_masks, o->freq_mask_width, t->dims[1]) &&
           check_masks(g, "time", o->time_masks, o->time_mask_width, t->dims[2]);
}

// Whole numbers 0 .. most, each as likely: f32 of dims. With k / 2^24 below 1 the product rounds to less than most
// + 1 as long as that is exact.
static weft_val draw(weft_nn *nn, const int64_t dims[3], weft_val most)
{
    weft_graph *g = nn->g;
    const weft_val u = weft_random_uniform(g, weft_nn_seed(nn), weft_nn_step(nn), dims, 3);
    return weft_floor(g, weft_mul(g, u, weft_add(g, most, wf_nn_number(g, 1.0))));
}

// Which places of an axis the masks of each sample hide: bool [b,size].
static weft_val hidden(weft_nn *nn, int64_t n_samples, int64_t n_masks, int64_t width, int64_t size)
{
    static const int32_t masks = 1;
    weft_graph *g = nn->g;
    const int64_t drawn[] = {n_samples, n_masks, 1}, places[] = {1, 1, size};
    const weft_val length = draw(nn, drawn, wf_nn_number(g, (double)width));
    const weft_val start = draw(nn, drawn, weft_sub(g, wf_nn_number(g, (double)size), length));
    const weft_val place = weft_iota(g, WEFT_F32, places, 3, 2);
    const weft_val is_behind_start = weft_less_equal(g, start, place);
    const weft_val is_before_end = weft_less(g, place, weft_add(g, start, length));
    const weft_val is_in = weft_cast(g, weft_and(g, is_behind_start, is_before_end), WEFT_F32);
    return weft_less(g, wf_nn_number(g, 0.0), weft_reduce_max(g, is_in, &masks, 1, false));
}

weft_val weft_spec_augment(weft_nn *nn, weft_val x, const weft_spec_augment_options *options)
{
    static const weft_spec_augment_options none = WEFT_SPEC_AUGMENT_OPTIONS_INIT;
    const weft_spec_augment_options *o = options ? options : &none;
    weft_graph *g = wf_nn_begin(nn);
    if (!g || !x.id)
        return WEFT_NONE;
    const weft_type t = weft_val_type(g, x);
    if (!check(g, o, &t))
        return WEFT_NONE;
    if (!nn->is_training)
        return x;
    const int64_t b = t.dims[0], bands[] = {b, t.dims[1], 1}, frames[] = {b, 1, t.dims[2]};
    weft_scope_push(g, "spec_augment");
    const weft_val zero = wf_nn_number(g, 0.0);
    if (o->freq_masks > 0) {
        const weft_val is_hidden = hidden(nn, b, o->freq_masks, o->freq_mask_width, t.dims[1]);
        x = weft_select(g, weft_reshape(g, is_hidden, bands, 3), zero, x);
    }
    if (o->time_masks > 0) {
        const weft_val is_hidden = hidden(nn, b, o->time_masks, o->time_mask_width, t.dims[2]);
        x = weft_select(g, weft_reshape(g, is_hidden, frames, 3), zero, x);
    }
    weft_scope_pop(g);
    return x;
}
