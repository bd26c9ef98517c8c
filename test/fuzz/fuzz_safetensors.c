// Weights: one file, every tensor looked at.
#include "fuzz.h"

#include "io/tensor_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_file f = fuzz_open(data, size);
    const wf_allocator a = wf_allocator_default();
    wf_tensor_files *files = NULL;
    weft_error err = {0};
    volatile uint8_t sum = 0;
    fuzz_judge(wf_tensor_files_open(&a, f.path, &files, &err), &err);
    for (size_t i = 0; files && i < wf_tensor_files_count(files); i++) {
        const wf_st_tensor *tensor = wf_tensor_files_get(files, i);
        if (wf_tensor_files_find(files, tensor->name) != tensor)
            abort();
        for (size_t k = 0; k < tensor->size_bytes; k++)
            sum = (uint8_t)(sum ^ ((const uint8_t *)tensor->data)[k]);
    }
    wf_tensor_files_close(files);
    fuzz_close(&f);
    // Read for the checker of addresses alone.
    (void)sum;
    return 0;
}
