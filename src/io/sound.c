// Sounds brought to a rate and a length.
#include "io/sound.h"

#include <string.h>

#include "io/resample.h"

weft_status wf_sound_fit(const wf_sound *sound, int32_t rate, int64_t n_samples, float *out,
                         weft_error *err)
{
    wf_resampler resampler;
    if (sound->rate == rate) {
        const int64_t n = sound->n < n_samples ? sound->n : n_samples;
        memset(out, 0, (size_t)n_samples * sizeof *out);
        if (n)
            memcpy(out, sound->sample, (size_t)n * sizeof *out);
        return WEFT_OK;
    }
    WEFT_TRY(wf_resampler_init(&resampler, &sound->allocator, sound->rate, rate, err));
    const int64_t whole = wf_resampler_length(&resampler, sound->n);
    const int64_t n = whole < n_samples ? whole : n_samples;
    memset(out, 0, (size_t)n_samples * sizeof *out);
    wf_resample(&resampler, sound->sample, sound->n, out, n);
    wf_resampler_deinit(&resampler);
    return WEFT_OK;
}

void wf_sound_deinit(wf_sound *sound)
{
    if (sound->sample)
        wf_free(&sound->allocator, sound->sample);
    sound->sample = NULL;
    sound->n = 0;
}
