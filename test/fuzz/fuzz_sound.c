// Sounds: what libsndfile reads.
#include "fuzz.h"

#include "io/sound.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_file f = fuzz_open(data, size);
    const wf_allocator a = wf_allocator_default();
    wf_sound sound;
    weft_error err = {0};
    float clip[200];
    const weft_status status = wf_sound_read(&a, f.path, 0.5, &sound, &err);
    fuzz_judge(status, &err);
    if (status == WEFT_OK)
        fuzz_judge(wf_sound_fit(&sound, 8000, 200, clip, &err), &err);
    wf_sound_deinit(&sound);
    fuzz_close(&f);
    return 0;
}
