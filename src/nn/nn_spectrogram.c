// Spectra of sound as graph ops: windowed cosines and sines as a convolution, mel bands as a product.
// In: samples. Out: power, log mel. Stage: nn.
#include <math.h>

#include "math/weft_math.h"
#include "nn/nn_builder.h"
#include "weft/sound.h"

#define MAX_FRAME 32768 // its transform's table is 4 GiB

// t / frame of a turn, to 2^-33.
static uint32_t turn_of(int64_t t, int64_t frame)
{
    const uint64_t part = (uint64_t)(t % frame) << 32;
    return (uint32_t)((part + (uint64_t)frame / 2) / (uint64_t)frame);
}

static float *take(weft_graph *g, int64_t count, const char *what)
{
    float *data = wf_arena_take(&g->arena, (size_t)count * sizeof *data);
    if (!data)
        wf_graph_fail(g, NULL, WEFT_ERR_MEMORY, "%s: memory for %lld elements is not available",
                      what, (long long)count);
    return data;
}

// [2*bins,1,frame]: cosines, then sines, each under the window 1/2 - 1/2 cos.
static weft_val transform(weft_graph *g, int64_t frame)
{
    const int64_t bins = frame / 2 + 1, dims[] = {2 * bins, 1, frame};
    float *w = take(g, 2 * bins * frame, "spectrogram");
    if (!w)
        return WEFT_NONE;
    for (int64_t t = 0; t < frame; t++) {
        const float hann = 0.5f - 0.5f * wf_cos_turn(turn_of(t, frame));
        for (int64_t k = 0; k < bins; k++) {
            const uint32_t turn = turn_of(k * t, frame);
            w[k * frame + t] = hann * wf_cos_turn(turn);
            w[(bins + k) * frame + t] = hann * wf_sin_turn(turn);
        }
    }
    return weft_constant(g, WEFT_F32, dims, 3, w);
}

static bool check_samples(weft_graph *g, weft_val x, int64_t frame, int64_t hop)
{
    const weft_type t = weft_val_type(g, x);
    char text[WF_TYPE_TEXT];
    if (frame < 2 || frame > MAX_FRAME || frame % 2 != 0 || hop < 1) {
        wf_graph_fail(g, NULL, WEFT_ERR_ATTR,
                      "spectrogram: frame is %lld, hop is %lld, expected an even frame of 2 to %d "
                      "and a hop of 1 or more",
                      (long long)frame, (long long)hop, MAX_FRAME);
    } else if (t.dtype != WEFT_F32) {
        wf_graph_fail(g, NULL, WEFT_ERR_DTYPE, "spectrogram: x is %s, expected f32",
                      wf_type_text(&t, text));
    } else if (t.ndim != 2 || t.dims[1] < frame) {
        wf_graph_fail(g, NULL, WEFT_ERR_SHAPE,
                      "spectrogram: x is %s, expected [b,t] with t of %lld or more: one frame",
                      wf_type_text(&t, text), (long long)frame);
    } else {
        return true;
    }
    return false;
}

// [b,t] -> [b,bins,frames]
weft_val weft_power_spectrogram(weft_graph *g, weft_val x, int64_t frame, int64_t hop)
{
    if (!wf_build_ready(g, NULL, &x, 1) || !check_samples(g, x, frame, hop))
        return WEFT_NONE;
    const weft_type t = weft_val_type(g, x);
    const int64_t bins = frame / 2 + 1, frames = (t.dims[1] - frame) / hop + 1;
    const int64_t one_channel[] = {t.dims[0], 1, t.dims[1]};
    const int64_t middle[] = {0, bins, 0}, first[] = {0, 0, 0};
    const int64_t stop_re[] = {t.dims[0], bins, frames}, stop_im[] = {t.dims[0], 2 * bins, frames};
    weft_conv_options conv = WEFT_CONV_OPTIONS_INIT;
    conv.stride = &hop;
    weft_scope_push(g, "spectrogram");
    const weft_val both =
        weft_conv(g, weft_reshape(g, x, one_channel, 3), transform(g, frame), &conv);
    const weft_val re = weft_slice(g, both, first, stop_re, NULL);
    const weft_val im = weft_slice(g, both, middle, stop_im, NULL);
    const weft_val power = weft_add(g, weft_mul(g, re, re), weft_mul(g, im, im));
    weft_scope_pop(g);
    return power;
}

// ---- bands
typedef struct {
    double sample_rate, low_hz, high_hz;
    int64_t frame, n_mels, bins;
} bands;

static double hz_of_mel(double mel)
{
    return 700.0 * (double)wf_expm1((float)(mel / 1127.0104803));
}

static double mel_of_hz(double hz)
{
    return 1127.0104803 * (double)wf_log1p((float)(hz / 700.0));
}

// [n_mels,bins]; none after recording an error.
static weft_val triangles(weft_graph *g, const bands *b)
{
    const double low = mel_of_hz(b->low_hz), high = mel_of_hz(b->high_hz);
    const double width = (high - low) / (double)(b->n_mels + 1);
    const int64_t dims[] = {b->n_mels, b->bins};
    float *w = take(g, b->n_mels * b->bins, "mel_spectrogram");
    for (int64_t m = 0; w && m < b->n_mels; m++) {
        const double left = hz_of_mel(low + width * (double)m);
        const double centre = hz_of_mel(low + width * (double)(m + 1));
        const double right = hz_of_mel(low + width * (double)(m + 2));
        bool is_empty = true;
        for (int64_t k = 0; k < b->bins; k++) {
            const double hz = b->sample_rate * (double)k / (double)b->frame;
            const double up = (hz - left) / (centre - left);
            const double down = (right - hz) / (right - centre);
            const double height = up < down ? up : down;
            w[m * b->bins + k] = height > 0.0 ? (float)height : 0.0f;
            is_empty = is_empty && !(height > 0.0);
        }
        if (is_empty) {
            wf_graph_fail(g, NULL, WEFT_ERR_ATTR,
                          "bands: %lld of %lld, %.0f to %.0f Hz, has no frequency of "
                          "a frame of %lld, expected fewer bands or a longer frame",
                          (long long)m, (long long)b->n_mels, left, right, (long long)b->frame);
            return WEFT_NONE;
        }
    }
    return w ? weft_constant(g, WEFT_F32, dims, 2, w) : WEFT_NONE;
}

static bool check_bands(weft_graph *g, const weft_mel_options *o, const bands *b)
{
    if (b->sample_rate > 0.0 && b->low_hz >= 0.0 && b->low_hz < b->high_hz &&
        b->high_hz <= b->sample_rate / 2.0 && b->n_mels >= 1 && b->n_mels <= 4096 && o->least > 0.0)
        return true;
    wf_graph_fail(
        g, NULL, WEFT_ERR_ATTR,
        "mel_spectrogram: sample_rate %g, bands %lld from %g to %g Hz, least %g, expected "
        "1 to 4096 bands within 0 to half of the sample rate, and least above 0",
        b->sample_rate, (long long)b->n_mels, b->low_hz, b->high_hz, o->least);
    return false;
}

// Milliseconds as an even number of samples.
static int64_t samples_of(double sample_rate, double seconds)
{
    const double n = sample_rate * seconds / 2.0;
    return n < MAX_FRAME ? 2 * (int64_t)(n + 0.5) : 0;
}

weft_val weft_mel_spectrogram(weft_graph *g, weft_val x, const weft_mel_options *options)
{
    static const weft_mel_options defaults = WEFT_MEL_OPTIONS_INIT;
    const weft_mel_options *o = options ? options : &defaults;
    if (!wf_build_ready(g, NULL, &x, 1) ||
        !wf_nn_options_check(g, "mel_spectrogram", o->struct_size, sizeof *o))
        return WEFT_NONE;
    const int64_t frame = o->frame ? o->frame : samples_of(o->sample_rate, 0.032);
    const int64_t hop = o->hop ? o->hop : samples_of(o->sample_rate, 0.016);
    const bands b = {
        .sample_rate = o->sample_rate,
        .low_hz = o->low_hz,
        .high_hz = o->high_hz > 0.0 ? o->high_hz : o->sample_rate / 2.0,
        .frame = frame,
        .n_mels = o->n_mels,
        .bins = frame / 2 + 1,
    };
    if (!check_bands(g, o, &b))
        return WEFT_NONE;
    weft_scope_push(g, "mel");
    const weft_val power = weft_power_spectrogram(g, x, frame, hop);
    const weft_val mel =
        power.id ? weft_matmul(g, triangles(g, &b), power, false, false) : WEFT_NONE;
    const weft_val out = weft_log(g, weft_max(g, mel, wf_nn_number(g, o->least)));
    weft_scope_pop(g);
    return out;
}
