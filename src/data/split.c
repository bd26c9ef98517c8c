// Choices of samples: all, the first n, a part drawn by seed.
#include <string.h>

#include "data/dataset.h"
#include "data/draw.h"

void wf_split_init_all(wf_split *out_split, const wf_dataset *dataset)
{
    wf_split_init_first(out_split, dataset, dataset->n_samples);
}

void wf_split_init_first(wf_split *out_split, const wf_dataset *dataset, int64_t n)
{
    memset(out_split, 0, sizeof *out_split);
    out_split->allocator = dataset->allocator;
    out_split->dataset = dataset;
    out_split->n = n < 0 ? 0 : n < dataset->n_samples ? n : dataset->n_samples;
}

weft_status wf_split_init_fraction(wf_split *out_rest, wf_split *out_part,
                                   const wf_dataset *dataset, double fraction, uint64_t seed,
                                   weft_error *err)
{
    weft_status status;
    uint32_t *order = NULL;
    bool *is_part = NULL;
    wf_draw draw;
    wf_split_init_all(out_rest, dataset);
    wf_split_init_all(out_part, dataset);
    if (!(fraction >= 0.0 && fraction <= 1.0))
        WEFT_FAIL(err, WEFT_ERR_ATTR, "split: fraction %g, expected 0 to 1", fraction);
    if (dataset->n_samples > (int64_t)UINT32_MAX) {
        WEFT_FAIL(err, WEFT_ERR_UNSUPPORTED, "split: %lld samples, expected at most 2^32",
                  (long long)dataset->n_samples);
    }
    const wf_allocator *a = &dataset->allocator;
    uint32_t n = (uint32_t)dataset->n_samples;
    uint32_t n_part = (uint32_t)(fraction * (double)n + 0.5);
    WEFT_TRY_GOTO(wf_alloc(a, n, sizeof *order, &order, err));
    WEFT_TRY_GOTO(wf_alloc(a, n, sizeof *is_part, &is_part, err));
    WEFT_TRY_GOTO(wf_alloc(a, n_part, sizeof(uint32_t), &out_part->index, err));
    WEFT_TRY_GOTO(wf_alloc(a, n - n_part, sizeof(uint32_t), &out_rest->index, err));
    wf_draw_init(&draw, seed, 0, 0, WF_DRAW_STREAM_SPLIT);
    wf_draw_permutation(&draw, order, n);
    for (uint32_t i = 0; i < n_part; i++)
        is_part[order[i]] = true;
    out_part->n = out_rest->n = 0;
    for (uint32_t i = 0; i < n; i++) {
        wf_split *split = is_part[i] ? out_part : out_rest;
        split->index[split->n++] = i;
    }
fail:
    wf_free(a, order);
    wf_free(a, is_part);
    if (status != WEFT_OK) {
        wf_split_deinit(out_rest);
        wf_split_deinit(out_part);
    }
    return status;
}

void wf_split_deinit(wf_split *split)
{
    if (split->index)
        wf_free(&split->allocator, split->index);
    split->index = NULL;
    split->n = 0;
}
