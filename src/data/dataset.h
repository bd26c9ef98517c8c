// A data set: n samples, each with the same fields (an image, a label). Readers make it, splits
// choose from it, the loader makes batches of it. Stage: data.
//
// Field 0 is what a model takes: "image", "token" (text), "value" (tables), "sound" or "input". What
// it should answer is the field "label".
#ifndef WF_DATA_DATASET_H
#define WF_DATA_DATASET_H

#include "base/alloc.h"

// Images and a label are two; boxes, masks and the like bring a few more.
#define WF_DATASET_MAX_FIELDS 8

typedef struct wf_field {
    const char *name; // "image" and "label" by convention
    weft_dtype dtype;
    int32_t ndim;              // of one sample: 0 for a label
    int64_t dim[WEFT_MAX_DIM]; // images are [c,h,w]
    size_t sample_bytes;
    const void *data; // [n_samples, dim...], or NULL: then read() brings one sample
    weft_status (*read)(void *user, int64_t sample, void *out_sample, weft_error *err);
    void *user; // for read, which several threads call at once
} wf_field;

struct wf_split;
typedef struct wf_dataset {
    wf_allocator allocator;
    const char *source; // file or directory, for messages
    const char *reader; // the name of the one that made it
    int64_t n_samples;
    int32_t n_fields;
    wf_field field[WF_DATASET_MAX_FIELDS];
    int64_t n_classes;              // labels are 0 .. n_classes-1; 0 when there are none
    const char *const *class_names; // n_classes names, or NULL
    int64_t n_bad;                  // files that were left out
    // Samples follow each other, as windows of one text do: a part is cut off at the end, not drawn.
    bool is_sequence;
    int64_t n_shared; // so many before a sample, and behind it, have content in common with it
    const char *vocabulary;     // text: its characters, ascending; NULL: none, or bytes
    const char *const *columns; // tables: how they are read, a line each (data/table_columns.h)
    size_t n_columns;
    // Takes what normalises its samples from the training split; NULL: nothing to learn.
    weft_status (*learn)(struct wf_dataset *dataset, const struct wf_split *train, weft_error *err);
    void (*destroy)(struct wf_dataset *dataset); // frees all of it
} wf_dataset;

// Accepts NULL.
void wf_dataset_destroy(wf_dataset *dataset);
// The field of that name or NULL.
const wf_field *wf_dataset_find(const wf_dataset *dataset, const char *name);
// One sample of a field, copied to out_sample (sample_bytes of it).
weft_status wf_field_read(const wf_field *field, int64_t sample, void *out_sample, weft_error *err);
// Calls learn, if any. Before the first sample is read.
weft_status wf_dataset_learn(wf_dataset *dataset, const struct wf_split *train, weft_error *err);
// A sample's label as a whole number. Errors: WEFT_ERR_FORMAT (no field "label" of one integer).
weft_status wf_dataset_label(const wf_dataset *dataset, int64_t sample, int64_t *out_label,
                             weft_error *err);

// A choice of samples. index NULL: all of them in order. The data set must outlive it.
typedef struct wf_split {
    wf_allocator allocator;
    const wf_dataset *dataset;
    int64_t n;
    uint32_t *index; // [n] ascending
} wf_split;

// All samples.
void wf_split_init_all(wf_split *out_split, const wf_dataset *dataset);
// Only the first n samples (n at most n_samples).
void wf_split_init_first(wf_split *out_split, const wf_dataset *dataset, int64_t n);
// Cuts off a part: round(fraction * n) samples, chosen by seed, go to out_part, the others to
// out_rest; both keep the order of the data set. 0 <= fraction <= 1. Of a sequence the last ones go
// to out_part, and what shares content with them goes nowhere.
weft_status wf_split_init_fraction(wf_split *out_rest, wf_split *out_part,
                                   const wf_dataset *dataset, double fraction, uint64_t seed,
                                   weft_error *err);
// The same within each class, so that classes have their shares in both; a class's part is rounded
// by itself. Errors: also WEFT_ERR_FORMAT (the label is no class, or the samples are a sequence).
weft_status wf_split_init_stratified(wf_split *out_rest, wf_split *out_part,
                                     const wf_dataset *dataset, double fraction, uint64_t seed,
                                     weft_error *err);
void wf_split_deinit(wf_split *split);
static inline int64_t wf_split_sample(const wf_split *split, int64_t i)
{
    return split->index ? (int64_t)split->index[i] : i;
}

// Channels of an image that is normalised: RGB and room for multispectral ones.
#define WF_NORMALISATION_MAX_CHANNELS 16

// y = (x/255 - mean[c]) / std[c] for u8 images, y = (x - mean[c]) / std[c] for f32: each operation
// rounded to f32 in this order.
typedef struct wf_normalisation {
    int32_t n_channels; // 0: u8 is only divided by 255, f32 is left alone
    float mean[WF_NORMALISATION_MAX_CHANNELS];
    float std[WF_NORMALISATION_MAX_CHANNELS];
} wf_normalisation;

// Mean and standard deviation per channel of a u8 image field over a split: exact integer sums,
// then f64 steps in a written order, then one rounding to f32. A constant channel gets std 1.
weft_status wf_normalisation_compute(const wf_split *split, const wf_field *field,
                                     wf_normalisation *out_normalisation, weft_error *err);
// The values as f32 [c,h,w] of one u8 image.
void wf_normalisation_apply_u8(const wf_normalisation *normalisation, const uint8_t *src,
                               int64_t n_channels, int64_t n_pixels, float *dst);
void wf_normalisation_apply_f32(const wf_normalisation *normalisation, const float *src,
                                int64_t n_channels, int64_t n_pixels, float *dst);

#endif
