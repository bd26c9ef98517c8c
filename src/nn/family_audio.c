// Sound to classes: a mel spectrogram as a picture, convolutions with halvings on it. The form of K. Choi et
// al., "Automatic tagging using deep convolutional neural networks", ISMIR 2016, with batch norm throughout
// and a mean over what is left, so that clips may have any length.
#include <stdio.h>

#include "nn/block.h"
#include "weft/sound.h"

typedef struct values {
    int64_t classes, frame, hop, mels;
    int64_t freq_masks, freq_mask_width, time_masks, time_mask_width;
    double sample_rate, dropout;
    wf_integers channels;
} values;

static const values defaults = {
    .sample_rate = 16000.0, .mels = 64, .dropout = 0.2, .channels = {{16, 32, 64, 128}, 4}};

static const wf_option options[] = {
    {"sample_rate", WF_OPTION_NUMBER, offsetof(values, sample_rate), 1, 1e6, NULL},
    {"frame", WF_OPTION_INTEGER, offsetof(values, frame), 0, 32768, NULL},
    {"hop", WF_OPTION_INTEGER, offsetof(values, hop), 0, 32768, NULL},
    {"mels", WF_OPTION_INTEGER, offsetof(values, mels), 1, 4096, NULL},
    {"freq_masks", WF_OPTION_INTEGER, offsetof(values, freq_masks), 0, 64, NULL},
    {"freq_mask_width", WF_OPTION_INTEGER, offsetof(values, freq_mask_width), 0, 4096, NULL},
    {"time_masks", WF_OPTION_INTEGER, offsetof(values, time_masks), 0, 64, NULL},
    {"time_mask_width", WF_OPTION_INTEGER, offsetof(values, time_mask_width), 0, 1e6, NULL},
    {"channels", WF_OPTION_INTEGERS, offsetof(values, channels), 1, 65536, NULL},
    {"dropout", WF_OPTION_NUMBER, offsetof(values, dropout), 0, 0.99, NULL},
    {"classes", WF_OPTION_INTEGER, offsetof(values, classes), 0, 1e6, NULL},
    {NULL, WF_OPTION_INTEGER, 0, 0, 0, NULL},
};

// Samples [b,t], or [b,channels,t] whose channels are averaged -> [b,1,mels,frames], each band near mean
// 0 and deviation 1 over the batch. Masks come behind the norm, whose statistics they would pull towards 0.
static weft_val picture(weft_nn *nn, const values *o, weft_val x)
{
    static const int32_t channels = 1;
    weft_graph *g = weft_nn_graph(nn);
    const weft_mel_options mel = {.struct_size = sizeof mel,
                                  .sample_rate = o->sample_rate,
                                  .frame = o->frame,
                                  .hop = o->hop,
                                  .n_mels = o->mels,
                                  .least = 1e-6};
    if (weft_val_type(g, x).ndim == 3)
        x = weft_mean(g, x, &channels, 1, false);
    const weft_spec_augment_options masks = {.struct_size = sizeof masks,
                                             .freq_masks = o->freq_masks,
                                             .freq_mask_width = o->freq_mask_width,
                                             .time_masks = o->time_masks,
                                             .time_mask_width = o->time_mask_width};
    weft_val y = weft_batch_norm(nn, "norm", weft_mel_spectrogram(g, x, &mel), NULL);
    y = weft_spec_augment(nn, y, &masks);
    const weft_type t = weft_val_type(g, y);
    const int64_t dims[] = {t.dims[0], 1, t.dims[1], t.dims[2]};
    return y.id ? weft_reshape(g, y, dims, 4) : WEFT_NONE;
}

static weft_val build(wf_family_build *b)
{
    const values *o = b->options;
    weft_nn *nn = b->nn;
    weft_graph *g = weft_nn_graph(nn);
    weft_val x = picture(nn, o, b->x);
    char name[32];
    for (int32_t i = 0; i < o->channels.n; i++) {
        const wf_conv_spec spec = {.out = o->channels.v[i], .window = 3};
        snprintf(name, sizeof name, "conv%d", i + 1);
        x = wf_block_conv(nn, name, x, &spec);
        snprintf(name, sizeof name, "bn%d", i + 1);
        x = weft_relu(g, weft_batch_norm(nn, name, x, NULL));
        if (i + 1 < o->channels.n)
            x = wf_block_halve(g, x);
    }
    x = weft_global_mean_pool(g, x);
    if (o->dropout > 0.0)
        x = weft_dropout(nn, x, o->dropout);
    return weft_linear(nn, "fc", x, wf_family_classes(b, o->classes), NULL);
}

const wf_family wf_family_audio = {
    .name = "audio",
    .summary = "sound: convolutions on a mel spectrogram",
    .options = options,
    .options_bytes = sizeof defaults,
    .defaults = &defaults,
    .build = build,
};
