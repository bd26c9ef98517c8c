// Batches prepared by other threads while the device works: permuted, augmented, normalised.
// The bytes depend on data, options and position only, never on the number of threads.
#ifndef WF_DATA_LOADER_H
#define WF_DATA_LOADER_H

#include "data/dataset.h"

// Random changes besides crop and flip; zeros: none. Each sample of each epoch draws its own.
typedef struct wf_augmentation {
    double rotate;    // degrees, to both sides; below 180
    double scale;     // enlarged by a factor from 1 - scale to 1 + scale; below 1
    double translate; // moved by at most this part of the side; at most 1
    double colour;  // brightness, contrast and saturation by factors from 1 - colour to 1 + colour
    int64_t cutout; // side of a square that becomes grey, in pixels
    double mixup;   // share of samples that are mixed with another one, in a drawn proportion
    double shift;   // sounds: earlier or later by at most this part of their length; at most 1
    double noise;   // sounds: standard deviation of the noise that is added
} wf_augmentation;

typedef struct wf_loader_options {
    int64_t batch_size; // 1 or more
    uint64_t seed;
    bool is_shuffled;     // a new permutation each epoch
    int32_t n_threads;    // 0: 1
    int32_t n_prefetch;   // batches in memory, 0: n_threads + 2, at least 2
    int32_t crop_padding; // > 0: pad images by this and crop at a random place
    bool is_flipped;      // half of the images are mirrored left to right
    wf_augmentation augment;
    wf_normalisation normalisation;
    int64_t n_epochs; // 0: without end; counted from epoch 0, not from the start position
    // Where to begin: what wf_loader_position said when a run was saved.
    int64_t start_epoch;
    int64_t start_batch;
} wf_loader_options;

typedef struct wf_batch_field {
    const char *name;
    weft_dtype dtype; // F32 for images and floats, I32 for integers
    int32_t ndim;     // of one sample
    int64_t dim[WEFT_MAX_DIM];
    const void *data; // [n, dim...]; 64-byte aligned
} wf_batch_field;

typedef struct wf_batch {
    int64_t n; // samples; smaller in the last of an epoch; 0 when all epochs are done
    int64_t epoch;
    int64_t index_in_epoch;
    bool is_last_of_epoch;
    int32_t n_fields;
    wf_batch_field field[WF_DATASET_MAX_FIELDS]; // as in the data set
    const uint32_t *sample;                      // [n] which samples of the data set
} wf_batch;

typedef struct wf_loader wf_loader;

// Checks options and starts the threads. u8 fields of 3 dimensions are images [c,h,w]: augmented,
// normalised, f32. Other u8, i8, i32, i64, bool fields become i32, f32 and f64 become f32.
// The split (and its data set) must outlive the loader; the split is not copied.
// Errors: WEFT_ERR_ATTR, WEFT_ERR_SHAPE (empty split, channels), WEFT_ERR_MEMORY, WEFT_ERR_SYSTEM.
weft_status wf_loader_create(const wf_split *split, const wf_loader_options *options,
                             wf_loader **out_loader, weft_error *err);
// The next batch, in order; waits for it. Borrowed until the next call. A worker's error comes back
// here, at the batch that it concerns, and at every later call.
weft_status wf_loader_next(wf_loader *loader, wf_batch *out_batch, weft_error *err);
// Where the batch after the last returned one is: give it as start_* to go on from here.
void wf_loader_position(const wf_loader *loader, int64_t *out_epoch, int64_t *out_batch);
int64_t wf_loader_batches_per_epoch(const wf_loader *loader);
// Bytes of all batch buffers.
size_t wf_loader_size_bytes(const wf_loader *loader);
void wf_loader_destroy(wf_loader *loader);

#endif
