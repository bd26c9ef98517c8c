// NumPy's archives: every member.
#include "fuzz.h"

#include "io/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_file f = fuzz_open(data, size);
    const wf_allocator a = wf_allocator_default();
    wf_npz *archive = NULL;
    weft_error err = {0};
    fuzz_judge(wf_npz_open(&a, f.path, &archive, &err), &err);
    for (size_t i = 0; archive && i < wf_npz_count(archive); i++) {
        wf_npy array;
        memset(&err, 0, sizeof err);
        fuzz_judge(wf_npz_read(archive, wf_npz_name(archive, i), &array, &err), &err);
        wf_npy_deinit(&array);
    }
    wf_npz_close(archive);
    fuzz_close(&f);
    return 0;
}
