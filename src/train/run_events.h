// The curves of a run for TensorBoard, beside its log. Stage: train.
#ifndef WF_TRAIN_RUN_EVENTS_H
#define WF_TRAIN_RUN_EVENTS_H

#include "io/event_file.h"
#include "train/trainer.h"

// "train/loss", "train/learning_rate"; of a sampled step also "gradient_norm/<parameter>",
// "update_ratio/<parameter>", "dead_units/<activation>".
weft_status wf_run_events_step(wf_event_file *file, const wf_trainer *t, weft_error *err);
// "validation/loss", "validation/accuracy" (where there are classes), at the step that the epoch ended with.
weft_status wf_run_events_epoch(wf_event_file *file, const wf_trainer *t, weft_error *err);

#endif
