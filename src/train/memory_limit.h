// The budget of a training. Stage: train.
#ifndef WF_TRAIN_MEMORY_LIMIT_H
#define WF_TRAIN_MEMORY_LIMIT_H

#include "train/trainer.h"

// limit_bytes 0: none. Errors: WEFT_ERR_MEMORY, with the smallest limit and the batch that would do.
weft_status wf_memory_limit_check(wf_trainer *trainer, uint64_t limit_bytes, weft_error *err);

#endif
