// One sample of a field, brought into the form that a batch holds: what a loader thread does.
#ifndef WF_DATA_SAMPLE_PACK_H
#define WF_DATA_SAMPLE_PACK_H

#include "data/loader.h"

// u8 [c,h,w]: augmented and normalised.
static inline bool wf_field_is_image(const wf_field *field)
{
    return field->dtype == WEFT_U8 && field->ndim == 3;
}

// Rooms of sample_bytes each that wf_sample_pack works in.
#define WF_SAMPLE_SCRATCH 4

// F32 or I32: see wf_loader_create.
weft_dtype wf_sample_packed_dtype(const wf_field *field);

// f32 [n] named "sound": shifted, and noise is added.
bool wf_field_is_sound(const wf_field *field);

// Writes sample `sample` of epoch `epoch` to dst (elements of the packed dtype). What is random depends on
// (seed, epoch, sample) alone.
weft_status wf_sample_pack(const wf_split *split, const wf_field *field,
                           const wf_loader_options *options, int64_t sample, int64_t epoch,
                           uint8_t *scratch, void *dst, weft_error *err);

#endif
