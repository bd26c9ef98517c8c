// Inside sampling. Stage: train.
#ifndef WF_TRAIN_SAMPLE_H
#define WF_TRAIN_SAMPLE_H

#include "train/trainer.h"
#include "weft/sample.h"
#include "weft/script.h"

// Errors: WEFT_ERR_ATTR, WEFT_ERR_USAGE, as weft_sample_token.
weft_status wf_sample_check_options(const weft_sample_options *o, weft_error *err);

// Whether `weft sample` writes a text from runs of this recipe.
bool wf_sample_is_text(const weft_recipe *recipe);
// The nodes of the script that does, without running it.
weft_status wf_sample_list(const weft_recipe *recipe, weft_state *state,
                           void (*found)(void *user, const weft_script_node *node), void *user,
                           weft_error *err);

#endif
