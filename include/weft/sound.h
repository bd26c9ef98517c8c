// Sound inside a graph: spectra and mel spectrograms are ops like all others, so they run on the device,
// to the same bits everywhere, and have gradients.
//
//   weft_mel_options o = WEFT_MEL_OPTIONS_INIT;
//   o.sample_rate = 8000.0;
//   weft_val mel = weft_mel_spectrogram(g, samples, &o); // [b,64,frames]
#ifndef WEFT_SOUND_H
#define WEFT_SOUND_H

#include <weft/nn.h>

#ifdef __cplusplus
extern "C" {
#endif

// Power of the short-time Fourier transform, |X|^2, under a periodic Hann window, not scaled.
//   x        [b,t] f32 samples
//   frame    samples of a window, even, 2 or more and at most t
//   hop      samples from one window to the next, 1 or more
//   result   [b,frame/2+1,1+floor((t-frame)/hop)] f32; windows lie wholly inside x, none is padded
// Numerics: a convolution of x with cosines and sines, each within 1 ulp, times the window.
// Errors: WEFT_ERR_DTYPE, WEFT_ERR_SHAPE (x, a frame longer than x), WEFT_ERR_ATTR (frame, hop).
WEFT_API weft_val weft_power_spectrogram(weft_graph *g, weft_val x, int64_t frame, int64_t hop);

typedef struct weft_mel_options {
    size_t struct_size;
    double sample_rate;     // Hz
    int64_t frame, hop;     // samples; 0: 32 and 16 milliseconds, to the nearest even number
    int64_t n_mels;         // bands
    double low_hz, high_hz; // where the bands begin and end; high 0: half of the sample rate
    double least;           // powers below it count as it: the logarithm of silence
} weft_mel_options;
#define WEFT_MEL_OPTIONS_INIT                                                                      \
    {                                                                                              \
        sizeof(weft_mel_options), 16000.0, 0, 0, 64, 0.0, 0.0, 1e-6                                \
    }

// Natural logarithm of the power in bands that are equally wide on the mel scale, triangles of height 1 that
// meet in each other's centres. Scale: mel = 2595 log10(1 + f/700), as in HTK (S. Young et al., The HTK
// Book).
//   x         [b,t] f32 samples, -1 .. 1 by convention
//   options   NULL: as WEFT_MEL_OPTIONS_INIT
//   result    [b,n_mels,frames] f32
// Errors: as weft_power_spectrogram; WEFT_ERR_ATTR (options out of range, a band with no frequency of
// the transform in it: fewer bands or longer frames are needed).
WEFT_API weft_val weft_mel_spectrogram(weft_graph *g, weft_val x, const weft_mel_options *options);

typedef struct weft_spec_augment_options {
    size_t struct_size;
    int64_t freq_masks, freq_mask_width; // masks of each sample; bands that one hides, at most
    int64_t time_masks, time_mask_width; // the same in frames
} weft_spec_augment_options;
#define WEFT_SPEC_AUGMENT_OPTIONS_INIT                                                             \
    {                                                                                              \
        sizeof(weft_spec_augment_options), 0, 0, 0, 0                                              \
    }

// SpecAugment without its time warp (D. S. Park et al., 2019): in training each sample loses bands and spans of
// time to masks, whose widths are 0 to the given one and whose starts anywhere that they fit, each as likely;
// masks may overlap. In evaluation it is x itself.
//   x         [b,bands,frames] f32, each band near mean 0: what is hidden becomes 0
//   options   NULL: no masks. 1 to 64 masks and a width of 1 to the axis' size, or 0 and 0
//   result    shape of x; what is not hidden keeps its bits
// Gradient: dy, 0 where hidden. Numerics: drawn as dropout draws, from seed, step and the sample's place in the
// batch; whole numbers in f32.
// Errors: WEFT_ERR_DTYPE, WEFT_ERR_SHAPE (x), WEFT_ERR_ATTR (options).
WEFT_API weft_val weft_spec_augment(weft_nn *nn, weft_val x,
                                    const weft_spec_augment_options *options);

// Records the caller's place for error messages, as weft/place.h does for ops.
#ifndef WEFT_NO_PLACE
#define weft_spec_augment(nn, ...) weft_spec_augment(WEFT_NN_AT(nn), __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif
#endif
