// Recipes with phases: several trainings, each with the weights of the one before. Stage: train.
#ifndef WF_TRAIN_PHASES_H
#define WF_TRAIN_PHASES_H

#include "recipe/recipe.h"

// One training of recipe->v into options->run_dir.
typedef weft_status (*wf_train_one)(weft_recipe *recipe, weft_device *device,
                                    const weft_train_options *options,
                                    const weft_train_events *events, weft_error *err);

// runs/<name>-<n>, the first n that is free; to be freed.
weft_status wf_run_dir_choose(const wf_allocator *a, const char *name, char **out_dir,
                              weft_error *err);
// All phases: into <run_dir>/<phase>, the last into run_dir itself. Resumed, those that are finished are left
// alone. events hears of each training.
weft_status wf_phases_run(weft_recipe *recipe, weft_device *device,
                          const weft_train_options *options, const weft_train_events *events,
                          wf_train_one train, weft_error *err);

#endif
