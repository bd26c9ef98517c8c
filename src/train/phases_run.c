// The phases of a recipe, one training behind the other. In: a recipe with phases. Out: a folder for each within the
// run's folder, which itself holds the last.
#include "train/phases.h"

#include <stdio.h>
#include <stdlib.h>

#include "train/trainer.h"

typedef struct phases {
    weft_recipe *recipe;
    weft_device *device;
    const weft_train_options *options;
    const weft_train_events *outer;
    wf_train_one train;
    wf_allocator allocator;
    char *dir;              // of the run
    char *previous;         // weights of the phase before, or NULL
    int64_t n_done;         // steps of the phases before
    uint64_t planned_bytes; // the greatest of them
} phases;

weft_status wf_run_dir_choose(const wf_allocator *a, const char *name, char **out_dir,
                              weft_error *err)
{
    char text[256];
    for (int n = 1;; n++) {
        snprintf(text, sizeof text, "runs/%.200s-%d", name, n);
        if (!wf_file_is_directory(text) && !wf_file_is_regular(text))
            return wf_strdup(a, text, out_dir, err);
    }
}

static void tell_start(void *user, const weft_start_event *event)
{
    const phases *p = user;
    if (p->outer->start)
        p->outer->start(p->outer->user, event);
}

static void tell_step(void *user, const weft_step_event *event)
{
    const phases *p = user;
    if (p->outer->step)
        p->outer->step(p->outer->user, event);
}

static void tell_epoch(void *user, const weft_epoch_event *event)
{
    const phases *p = user;
    if (p->outer->epoch)
        p->outer->epoch(p->outer->user, event);
}

static void tell_done(void *user, const weft_done_event *event)
{
    phases *p = user;
    weft_done_event whole = *event;
    p->n_done += event->steps;
    // The device's greatest use is that of all phases: held against the greatest plan.
    p->planned_bytes =
        event->planned_bytes > p->planned_bytes ? event->planned_bytes : p->planned_bytes;
    whole.planned_bytes = p->planned_bytes;
    if (p->outer->done)
        p->outer->done(p->outer->user, &whole);
}

static bool wants_stop(void *user)
{
    const phases *p = user;
    return p->outer->wants_stop && p->outer->wants_stop(p->outer->user);
}

// Of a phase that is finished: its steps; false when it is not.
static bool find_finished(const phases *p, const char *dir, int64_t *out_steps)
{
    wf_receipt receipt;
    if (!p->options->is_resumed || wf_receipt_load(&p->allocator, dir, &receipt, NULL) != WEFT_OK)
        return false;
    *out_steps = receipt.n_steps;
    wf_receipt_deinit(&receipt);
    return true;
}

static weft_status train_phase(phases *p, const char *dir, weft_error *err)
{
    weft_train_options options = *p->options;
    weft_train_events events = WEFT_TRAIN_EVENTS_INIT;
    events.user = p;
    events.start = tell_start;
    events.step = tell_step;
    events.epoch = tell_epoch;
    events.done = tell_done;
    events.wants_stop = wants_stop;
    options.run_dir = dir;
    if (p->previous && !p->recipe->v.train.init_from.file)
        p->recipe->v.train.init_from.file = p->previous;
    return p->train(p->recipe, p->device, &options, &events, err);
}

// Whole, so that the next phase's recipe reads the same from anywhere.
static weft_status find_weights(phases *p, const char *dir, weft_error *err)
{
    const wf_allocator libc = wf_allocator_default(); // realpath's, whatever the context's is
    char *whole = realpath(dir, NULL);
    const weft_status status =
        wf_path_join(&p->allocator, whole ? whole : dir, "weights.safetensors", &p->previous, err);
    wf_free(&libc, whole);
    return status;
}

// The phases that are left share the steps that are left, so that a short run is one of each.
static int64_t share_of(const phases *p, int64_t budget, size_t n_left)
{
    const int64_t share = (budget - p->n_done) / (int64_t)n_left;
    return share > 1 ? share : 1;
}

static weft_status run_phase(phases *p, size_t at, weft_error *err)
{
    const wf_recipe_phase *phase = &p->recipe->phases[at];
    const size_t n_left = p->recipe->n_phases - at;
    const int64_t budget = p->recipe->step_budget;
    char *dir = NULL;
    int64_t n_steps;
    weft_status status = WEFT_OK;
    WEFT_TRY(n_left == 1 ? wf_strdup(&p->allocator, p->dir, &dir, err)
                         : wf_path_join(&p->allocator, p->dir, phase->name, &dir, err));
    p->recipe->v = phase->v;
    // The last one is resumed even then: it has no step left and tells how it ended.
    if (n_left > 1 && find_finished(p, dir, &n_steps)) {
        p->n_done += n_steps;
    } else {
        p->recipe->step_budget = budget ? share_of(p, budget, n_left) : 0;
        status = train_phase(p, dir, err);
        p->recipe->step_budget = budget;
        if (status != WEFT_OK)
            wf_error_prefix(err, "phase %s", phase->name);
    }
    wf_free(&p->allocator, p->previous);
    p->previous = NULL;
    if (status == WEFT_OK)
        status = find_weights(p, dir, err);
    wf_free(&p->allocator, dir);
    return status;
}

weft_status wf_phases_run(weft_recipe *recipe, weft_device *device,
                          const weft_train_options *options, const weft_train_events *events,
                          wf_train_one train, weft_error *err)
{
    phases p = {.recipe = recipe,
                .device = device,
                .options = options,
                .outer = events,
                .train = train,
                .allocator = recipe->allocator};
    weft_status status;
    if (options->run_dir)
        WEFT_TRY(wf_strdup(&p.allocator, options->run_dir, &p.dir, err));
    else
        WEFT_TRY(wf_run_dir_choose(&p.allocator, recipe->v.name, &p.dir, err));
    status = WEFT_OK;
    for (size_t i = 0; i < recipe->n_phases && status == WEFT_OK; i++) {
        status = run_phase(&p, i, err);
    }
    wf_free(&p.allocator, p.previous);
    wf_free(&p.allocator, p.dir);
    return status;
}
