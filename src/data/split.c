// Choices of samples: all, the first n, a part drawn by seed, the same class by class.
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

static weft_status check_fraction(wf_split *rest, wf_split *part, const wf_dataset *dataset,
                                  double fraction, weft_error *err)
{
    wf_split_init_all(rest, dataset);
    wf_split_init_all(part, dataset);
    if (!(fraction >= 0.0 && fraction <= 1.0))
        WEFT_FAIL(err, WEFT_ERR_ATTR, "split: fraction %g, expected 0 to 1", fraction);
    if (dataset->n_samples > (int64_t)UINT32_MAX) {
        WEFT_FAIL(err, WEFT_ERR_UNSUPPORTED, "split: %lld samples, expected at most 2^32",
                  (long long)dataset->n_samples);
    }
    return WEFT_OK;
}

static uint32_t part_of(double fraction, uint32_t n)
{
    return (uint32_t)(fraction * (double)n + 0.5);
}

// Samples first .. first+n-1.
static weft_status take_range(wf_split *split, uint32_t first, uint32_t n, weft_error *err)
{
    WEFT_TRY(wf_alloc(&split->allocator, n, sizeof(uint32_t), &split->index, err));
    for (uint32_t i = 0; i < n; i++)
        split->index[i] = first + i;
    split->n = n;
    return WEFT_OK;
}

static weft_status cut_sequence(wf_split *rest, wf_split *part, double fraction, weft_error *err)
{
    uint32_t n = (uint32_t)part->dataset->n_samples, n_part = part_of(fraction, n);
    uint32_t n_rest = n - n_part;
    uint32_t shared = n_part ? (uint32_t)part->dataset->n_shared : 0;
    n_rest -= shared < n_rest ? shared : n_rest;
    WEFT_TRY(take_range(rest, 0, n_rest, err));
    return take_range(part, n - n_part, n_part, err);
}

// Both splits from marks, in the order of the data set.
static weft_status take_marked(wf_split *rest, wf_split *part, const bool *is_part, uint32_t n,
                               uint32_t n_part, weft_error *err)
{
    WEFT_TRY(wf_alloc(&part->allocator, n_part, sizeof(uint32_t), &part->index, err));
    WEFT_TRY(wf_alloc(&rest->allocator, n - n_part, sizeof(uint32_t), &rest->index, err));
    part->n = rest->n = 0;
    for (uint32_t i = 0; i < n; i++) {
        wf_split *split = is_part[i] ? part : rest;
        split->index[split->n++] = i;
    }
    return WEFT_OK;
}

weft_status wf_split_init_fraction(wf_split *out_rest, wf_split *out_part,
                                   const wf_dataset *dataset, double fraction, uint64_t seed,
                                   weft_error *err)
{
    weft_status status;
    uint32_t *order = NULL;
    bool *is_part = NULL;
    wf_draw draw;
    WEFT_TRY(check_fraction(out_rest, out_part, dataset, fraction, err));
    const wf_allocator *a = &dataset->allocator;
    uint32_t n = (uint32_t)dataset->n_samples, n_part = part_of(fraction, n);
    if (dataset->is_sequence) {
        status = cut_sequence(out_rest, out_part, fraction, err);
        goto fail;
    }
    WEFT_TRY_GOTO(wf_alloc(a, n, sizeof *order, &order, err));
    WEFT_TRY_GOTO(wf_alloc(a, n, sizeof *is_part, &is_part, err));
    wf_draw_init(&draw, seed, 0, 0, WF_DRAW_STREAM_SPLIT);
    wf_draw_permutation(&draw, order, n);
    for (uint32_t i = 0; i < n_part; i++)
        is_part[order[i]] = true;
    status = take_marked(out_rest, out_part, is_part, n, n_part, err);
fail:
    wf_free(a, order);
    wf_free(a, is_part);
    if (status != WEFT_OK) {
        wf_split_deinit(out_rest);
        wf_split_deinit(out_part);
    }
    return status;
}

// Goes through the samples in a drawn order; each goes to the part while its class has room there.
static weft_status mark_classes(const wf_dataset *dataset, double fraction, uint64_t seed,
                                uint32_t *room, uint32_t *order, bool *is_part, uint32_t *out_n,
                                weft_error *err)
{
    uint32_t n = (uint32_t)dataset->n_samples;
    int64_t label;
    wf_draw draw;
    for (uint32_t i = 0; i < n; i++) {
        WEFT_TRY(wf_dataset_label(dataset, i, &label, err));
        if (label < 0 || label >= dataset->n_classes)
            WEFT_FAIL(err, WEFT_ERR_INDEX, "split: label %lld of sample %u, expected 0 to %lld",
                      (long long)label, (unsigned)i, (long long)dataset->n_classes - 1);
        room[label]++;
    }
    for (int64_t k = 0; k < dataset->n_classes; k++)
        room[k] = part_of(fraction, room[k]);
    wf_draw_init(&draw, seed, 0, 0, WF_DRAW_STREAM_SPLIT);
    wf_draw_permutation(&draw, order, n);
    *out_n = 0;
    for (uint32_t i = 0; i < n; i++) {
        WEFT_TRY(wf_dataset_label(dataset, order[i], &label, err));
        is_part[order[i]] = room[label] > 0;
        room[label] -= is_part[order[i]];
        *out_n += is_part[order[i]];
    }
    return WEFT_OK;
}

weft_status wf_split_init_stratified(wf_split *out_rest, wf_split *out_part,
                                     const wf_dataset *dataset, double fraction, uint64_t seed,
                                     weft_error *err)
{
    weft_status status;
    uint32_t *order = NULL, *room = NULL, n_part = 0;
    bool *is_part = NULL;
    WEFT_TRY(check_fraction(out_rest, out_part, dataset, fraction, err));
    if (dataset->is_sequence || dataset->n_classes < 1)
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: %s, expected classes to keep the shares of",
                  dataset->source, dataset->is_sequence ? "a sequence" : "no classes");
    const wf_allocator *a = &dataset->allocator;
    uint32_t n = (uint32_t)dataset->n_samples;
    WEFT_TRY_GOTO(wf_alloc(a, n, sizeof *order, &order, err));
    WEFT_TRY_GOTO(wf_alloc(a, n, sizeof *is_part, &is_part, err));
    WEFT_TRY_GOTO(wf_alloc(a, (size_t)dataset->n_classes, sizeof *room, &room, err));
    WEFT_TRY_GOTO(mark_classes(dataset, fraction, seed, room, order, is_part, &n_part, err));
    status = take_marked(out_rest, out_part, is_part, n, n_part, err);
fail:
    wf_free(a, order);
    wf_free(a, room);
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
