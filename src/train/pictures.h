// Pictures that a training leaves beside predictions.png where the result is no class of the whole sample.
// Stage: train.
#ifndef WF_TRAIN_PICTURES_H
#define WF_TRAIN_PICTURES_H

#include "io/image.h"
#include "train/trainer.h"

// What the evaluating program says of the first samples of a split.
typedef struct wf_shown {
    int64_t n;        // samples
    int64_t n_result; // elements of a result
    float *x;         // [n, elements of the input], as the network takes it; NULL: not asked for
    int32_t *labels;  // [n]; zeros where the data has none of one integer
    float *result;    // [n, n_result]
    wf_allocator allocator;
} wf_shown;

// Runs whole batches until n_wanted samples are there, or as many as the split has in whole batches (or in its
// only, short one). output is "probabilities", "code"; *out_shown is empty where the program has no such
// output. No program is made that a run of this split has not.
weft_status wf_shown_collect(wf_program_cache *programs, const wf_split *split, const char *output,
                             int64_t n_wanted, bool has_input, wf_shown *out_shown,
                             weft_error *err);
void wf_shown_deinit(wf_shown *shown);

// <dir>/predictions.png: above each other a picture and what became of it (autoencoders), or a picture, the
// wanted mask and the network's.
weft_status wf_reconstructions_draw(wf_program_cache *programs, const wf_split *split,
                                    const char *dir, weft_error *err);
// <dir>/latent.png: samples as points in the plane of the two code numbers that vary most, coloured by class.
// Nothing where the model has no code of two or more.
weft_status wf_latent_draw(wf_program_cache *programs, const wf_split *split, const char *dir,
                           weft_error *err);
// Writes <dir>/<name>, a PNG; and <dir>/predictions.png, a sheet of cells. Errors: WEFT_ERR_FILE,
// WEFT_ERR_UNSUPPORTED (built without libpng).
weft_status wf_picture_save(const wf_allocator *a, const char *dir, const char *name,
                            const wf_image *image, weft_error *err);
weft_status wf_sheet_save(const wf_allocator *a, const char *dir, const wf_sheet_cell *cells,
                          int32_t n_cells, int32_t n_columns, weft_error *err);
// A colour of its own for each of a dozen classes.
void wf_class_colour(int64_t class_idx, uint8_t out_rgb[3]);

#endif
