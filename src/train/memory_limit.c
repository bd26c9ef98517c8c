// Refuses a training that would not fit, and says what would. In: a limit. Out: WEFT_OK or one line.
#include "train/memory_limit.h"

#include <stdio.h>

typedef enum cut { CUT_BATCH, CUT_MICRO_BATCH } cut;

// With the batch, or the micro-batch, of that size.
static weft_status measure(wf_trainer *t, cut what, int64_t size, uint64_t *out_bytes,
                           weft_error *err)
{
    wf_recipe_train train = t->recipe->v.train;
    if (what == CUT_BATCH)
        train.batch = size;
    else
        train.micro_batch = size;
    const wf_program_needs needs = wf_program_needs_of(&train, train.batch, t->data.train_split.n,
                                                       t->data.validation_split.n, t->total_steps);
    return wf_program_measure(&t->programs, &needs, out_bytes, NULL, err);
}

// The largest that fits; 0: not even one sample. More samples never need less, up to the small changes
// that alignment makes, so the search may halve.
static weft_status find_size(wf_trainer *t, cut what, uint64_t limit, int64_t *out_size,
                             weft_error *err)
{
    int64_t fits = 0, too_large = t->recipe->v.train.batch;
    while (too_large - fits > 1) {
        const int64_t middle = fits + (too_large - fits) / 2;
        uint64_t bytes;
        WEFT_TRY(measure(t, what, middle, &bytes, err));
        if (bytes <= limit)
            fits = middle;
        else
            too_large = middle;
    }
    *out_size = fits;
    return WEFT_OK;
}

weft_status wf_memory_limit_check(wf_trainer *t, uint64_t limit_bytes, weft_error *err)
{
    const int64_t batch = t->recipe->v.train.batch;
    uint64_t bytes;
    int64_t fits, micro_fits;
    char or_micro[64] = "";
    if (limit_bytes == 0)
        return WEFT_OK;
    WEFT_TRY(measure(t, CUT_BATCH, batch, &bytes, err));
    if (bytes <= limit_bytes)
        return WEFT_OK;
    WEFT_TRY(find_size(t, CUT_BATCH, limit_bytes, &fits, err));
    if (fits == 0)
        WEFT_FAIL(err, WEFT_ERR_MEMORY,
                  "memory: batch %lld needs %llu bytes, the limit is %llu; no batch would do",
                  (long long)batch, (unsigned long long)bytes, (unsigned long long)limit_bytes);
    // Gradients that add up take memory, so a batch may fit where no micro-batch does.
    WEFT_TRY(find_size(t, CUT_MICRO_BATCH, limit_bytes, &micro_fits, err));
    if (micro_fits > 0)
        snprintf(or_micro, sizeof or_micro, ", or train.micro_batch=%lld", (long long)micro_fits);
    WEFT_FAIL(err, WEFT_ERR_MEMORY,
              "memory: batch %lld needs %llu bytes, the limit is %llu; train.batch=%lld would do%s",
              (long long)batch, (unsigned long long)bytes, (unsigned long long)limit_bytes,
              (long long)fits, or_micro);
}
