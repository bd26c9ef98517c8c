// Writes a run's numbers as event files have them. In: a trainer behind a step. Out: events.
#include "train/run_events.h"

#include <math.h>
#include <stdio.h>

#define TAG_BYTES 256

static weft_status write_one(wf_event_file *file, const wf_trainer *t, const char *group,
                             const char *name, float value, weft_error *err)
{
    char tag[TAG_BYTES];
    snprintf(tag, sizeof tag, "%s/%s", group, name);
    const wf_event_scalar scalar = {tag, value};
    return wf_event_file_write(file, t->step, &scalar, 1, err);
}

static weft_status write_statistics(wf_event_file *file, const wf_trainer *t, weft_error *err)
{
    const wf_statistics *s = &t->statistics;
    for (size_t i = 0; i < s->names->n_parameters; i++) {
        const char *name = s->names->parameters[i];
        WEFT_TRY(write_one(file, t, "gradient_norm", name, s->steps[2 * i], err));
        WEFT_TRY(write_one(file, t, "update_ratio", name, s->steps[2 * i + 1], err));
    }
    for (size_t i = 0; i < s->names->n_units; i++) {
        WEFT_TRY(write_one(file, t, "dead_units", s->names->units[i], s->dead[i], err));
    }
    return WEFT_OK;
}

weft_status wf_run_events_step(wf_event_file *file, const wf_trainer *t, weft_error *err)
{
    const wf_event_scalar scalars[] = {{"train/loss", t->loss}, {"train/learning_rate", t->lr}};
    WEFT_TRY(wf_event_file_write(file, t->step, scalars, 2, err));
    return t->has_statistics ? write_statistics(file, t, err) : WEFT_OK;
}

weft_status wf_run_events_epoch(wf_event_file *file, const wf_trainer *t, weft_error *err)
{
    const wf_event_scalar scalars[] = {{"validation/loss", (float)t->val_loss},
                                       {"validation/accuracy", (float)t->val_accuracy}};
    return wf_event_file_write(file, t->step, scalars, isnan(t->val_accuracy) ? 1 : 2, err);
}
