// Pictures: PNG, JPEG, WebP, gzipped or not.
#include "fuzz.h"

#include "io/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_file f = fuzz_open(data, size);
    const wf_allocator a = wf_allocator_default();
    wf_image image;
    weft_error err = {0};
    fuzz_judge(wf_image_read(&a, f.path, (int32_t)(size % 2) * 3, &image, &err), &err);
    wf_image_deinit(&image);
    fuzz_close(&f);
    return 0;
}
