// NumPy's single arrays.
#include "fuzz.h"

#include "io/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const wf_allocator a = wf_allocator_default();
    wf_npy array;
    weft_error err = {0};
    fuzz_judge(wf_npy_parse(&a, "fuzz", data, size, &array, &err), &err);
    wf_npy_deinit(&array);
    return 0;
}
