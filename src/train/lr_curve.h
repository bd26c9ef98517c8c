// A picture of losses over learning rates. Stage: train.
#ifndef WF_TRAIN_LR_CURVE_H
#define WF_TRAIN_LR_CURVE_H

#include "base/alloc.h"
#include "weft/train.h"

// Writes a PNG: losses as dots, their smoothed curve, a line at each of the result's rates. n >= 2.
weft_status wf_lr_curve_draw(const wf_allocator *a, const weft_lr_point *points, int64_t n,
                             const weft_lr_find_result *result, const char *path, weft_error *err);

#endif
