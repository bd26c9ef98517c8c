// Sounds in memory: f32 in -1 .. 1, one channel; read from WAV, FLAC, Ogg and what else libsndfile knows.
#ifndef WF_IO_SOUND_H
#define WF_IO_SOUND_H

#include "base/alloc.h"

typedef struct wf_sound {
    wf_allocator allocator;
    float *sample; // [n]
    int64_t n;
    int32_t rate; // samples a second
} wf_sound;

// The first most_seconds of a file. Whole numbers of b bits are divided by 2^(b-1) (8 bits less 128 first);
// channels are added in order and divided by their number. Errors: WEFT_ERR_FILE, WEFT_ERR_FORMAT (no
// sound file, a WAV or AIFF that is neither PCM nor float, cut short, a sample that is no number),
// WEFT_ERR_UNSUPPORTED (built without libsndfile).
weft_status wf_sound_read(const wf_allocator *a, const char *path, double most_seconds,
                          wf_sound *out_sound, weft_error *err);
// n_samples at that rate: resampled (io/resample.h), cut or silent behind its end.
weft_status wf_sound_fit(const wf_sound *sound, int32_t rate, int64_t n_samples, float *out_samples,
                         weft_error *err);
// Accepts a zeroed one.
void wf_sound_deinit(wf_sound *sound);

#endif
