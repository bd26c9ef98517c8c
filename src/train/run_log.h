// log.jsonl: appended while the run goes on, cut back to the checkpoint when it is resumed, so that a run
// that was killed leaves the same bytes as one that was not. Stage: train.
#ifndef WF_TRAIN_RUN_LOG_H
#define WF_TRAIN_RUN_LOG_H

#include "base/text.h"
#include "train/trainer.h"

typedef struct wf_run_log {
    char *path;
    int file; // -1: closed
    int64_t size_bytes;
    wf_text line;
} wf_run_log;

// Opens <dir>/log.jsonl with its first keep_bytes kept.
weft_status wf_run_log_open(const wf_allocator *a, const char *dir, int64_t keep_bytes,
                            wf_run_log *out_log, weft_error *err);
weft_status wf_run_log_step(wf_run_log *log, const weft_step_event *event, weft_error *err);
weft_status wf_run_log_epoch(wf_run_log *log, const weft_epoch_event *event, weft_error *err);
// What the step before this line did, by parameter and by activation.
weft_status wf_run_log_statistics(wf_run_log *log, int64_t step, const wf_statistics *statistics,
                                  weft_error *err);
// What was written is on the disk.
weft_status wf_run_log_sync(wf_run_log *log, weft_error *err);
// Accepts one that was never opened (file -1).
void wf_run_log_close(wf_run_log *log);

#endif
