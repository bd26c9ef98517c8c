// The table reader, with its columns written and read again on the same rows.
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_file f = fuzz_open(data, size);
    wf_dataset *set = NULL, *again = NULL;
    weft_error err = {0};
    wf_split all;
    wf_reader_options options = {.path = f.path, .is_skipping_bad = size % 2};
    fuzz_judge(wf_readers_open("table", &options, &set, &err), &err);
    if (set) {
        wf_split_init_all(&all, set);
        if (wf_dataset_learn(set, &all, NULL) != WEFT_OK)
            abort();
        options.columns = set->columns;
        options.n_columns = set->n_columns;
        // What was written by us reads back, and gives the same numbers.
        if (wf_readers_open("table", &options, &again, &err) != WEFT_OK ||
            again->n_samples != set->n_samples ||
            again->field[0].sample_bytes != set->field[0].sample_bytes ||
            memcmp(again->field[0].data, set->field[0].data,
                   (size_t)set->n_samples * set->field[0].sample_bytes) != 0)
            abort();
    }
    wf_dataset_destroy(again);
    wf_dataset_destroy(set);
    fuzz_close(&f);
    return 0;
}
