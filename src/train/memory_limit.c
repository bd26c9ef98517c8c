// Refuses a training that would not fit, and says what would. In: a limit. Out: WEFT_OK or one line.
#include "train/memory_limit.h"

static weft_status measure(wf_trainer *t, int64_t batch, uint64_t *out_bytes, weft_error *err)
{
    const wf_program_needs needs =
        wf_program_needs_of(&t->recipe->v.train, batch, t->data.train_split.n,
                            t->data.validation_split.n, t->total_steps);
    return wf_program_measure(&t->programs, &needs, out_bytes, NULL, err);
}

// The largest batch that fits; 0: not even one sample. More samples never need less, up to the small
// changes that alignment makes, so the search may halve.
static weft_status find_batch(wf_trainer *t, int64_t batch, uint64_t limit, int64_t *out_batch,
                              weft_error *err)
{
    int64_t fits = 0, too_large = batch;
    while (too_large - fits > 1) {
        const int64_t middle = fits + (too_large - fits) / 2;
        uint64_t bytes;
        WEFT_TRY(measure(t, middle, &bytes, err));
        if (bytes <= limit)
            fits = middle;
        else
            too_large = middle;
    }
    *out_batch = fits;
    return WEFT_OK;
}

weft_status wf_memory_limit_check(wf_trainer *t, uint64_t limit_bytes, weft_error *err)
{
    const int64_t batch = t->recipe->v.train.batch;
    uint64_t bytes;
    int64_t fits;
    if (limit_bytes == 0)
        return WEFT_OK;
    WEFT_TRY(measure(t, batch, &bytes, err));
    if (bytes <= limit_bytes)
        return WEFT_OK;
    WEFT_TRY(find_batch(t, batch, limit_bytes, &fits, err));
    if (fits == 0)
        WEFT_FAIL(err, WEFT_ERR_MEMORY,
                  "memory: batch %lld needs %llu bytes, the limit is %llu; no batch would do",
                  (long long)batch, (unsigned long long)bytes, (unsigned long long)limit_bytes);
    WEFT_FAIL(err, WEFT_ERR_MEMORY,
              "memory: batch %lld needs %llu bytes, the limit is %llu; train.batch=%lld would do",
              (long long)batch, (unsigned long long)bytes, (unsigned long long)limit_bytes,
              (long long)fits);
}
