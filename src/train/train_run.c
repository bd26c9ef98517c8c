// Trains a recipe into a run folder: steps, evaluations, checkpoints, files at the end. In: a recipe and
// a device. Out: the folder that weft/train.h describes. This is the loop that `weft train` runs.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "train/memory_limit.h"
#include "train/metrics.h"
#include "train/phases.h"
#include "train/run_events.h"
#include "train/run_log.h"
#include "train/trainer.h"

// Rates are taken over at least this long: shorter ones jump.
#define RATE_SECONDS 1.0

typedef struct run {
    wf_trainer t;
    const weft_train_events *events;
    char *dir;
    wf_run_log log;
    wf_event_file *event_file; // NULL: not asked for
    double start_s;
    int64_t n_samples; // of this process
    // The rate shown now, and where the next begins.
    double samples_per_s, rate_s;
    int64_t rate_samples;
    int64_t first_step; // of this process
    double epoch_loss;  // sum over the steps of the epoch so far
    int64_t epoch_steps;
} run;

static const weft_train_events no_events = WEFT_TRAIN_EVENTS_INIT;

static weft_status choose_dir(run *r, const weft_train_options *o, weft_error *err)
{
    const wf_allocator *a = &r->t.allocator;
    static const char *const signs[] = {"checkpoint.safetensors", "weights.safetensors",
                                        "receipt.json"};
    if (!o->run_dir)
        return wf_run_dir_choose(a, r->t.recipe->v.name, &r->dir, err);
    WEFT_TRY(wf_strdup(a, o->run_dir, &r->dir, err));
    for (size_t i = 0; i < WF_COUNT_OF(signs) && !o->is_resumed; i++) {
        char *path;
        WEFT_TRY(wf_path_join(a, r->dir, signs[i], &path, err));
        const bool is_there = wf_file_is_regular(path);
        wf_free(a, path);
        if (is_there)
            WEFT_FAIL(err, WEFT_ERR_FILE,
                      "%s holds a run already (%s), expected --resume or another folder", r->dir,
                      signs[i]);
    }
    return WEFT_OK;
}

static weft_status write_recipe(run *r, weft_error *err)
{
    const wf_allocator *a = &r->t.allocator;
    wf_text text;
    char *path = NULL;
    wf_text_init(&text, a);
    weft_status status = wf_recipe_print(r->t.recipe, &text, err);
    if (status == WEFT_OK)
        status = wf_path_join(a, r->dir, "recipe.yaml", &path, err);
    if (status == WEFT_OK)
        status = wf_file_write(a, path, wf_text_str(&text), text.len, err);
    wf_free(a, path);
    wf_text_deinit(&text);
    return status;
}

// Compiles what the run needs, so that the plan is known, and refused, before the first step.
static weft_status make_programs(run *r, uint64_t limit_bytes, weft_error *err)
{
    wf_trainer *t = &r->t;
    WEFT_TRY(wf_memory_limit_check(t, limit_bytes, err));
    const wf_program_needs needs =
        wf_program_needs_of(&t->recipe->v.train, t->recipe->v.train.batch, t->data.train_split.n,
                            t->data.validation_split.n, t->total_steps);
    for (size_t i = 0; i < needs.n; i++) {
        weft_program *program;
        WEFT_TRY(wf_program_get(&t->programs, needs.kind[i], needs.batch[i], &program, err));
    }
    return WEFT_OK;
}

static const char *arithmetic_name(const weft_recipe *recipe)
{
    return recipe->v.arithmetic == WEFT_FAST ? "fast" : "exact";
}

static const char *isa_name(const weft_device *device)
{
    const char *isa = weft_device_isa(device);
    return isa ? isa : "";
}

static void tell_start(run *r)
{
    const wf_trainer *t = &r->t;
    if (!r->events->start)
        return;
    const weft_start_event event = {
        .run_dir = r->dir,
        .device = weft_device_id(t->device),
        .device_name = weft_device_name(t->device),
        .arithmetic = arithmetic_name(t->recipe),
        .storage = wf_recipe_storage_name(t->recipe),
        .isa = isa_name(t->device),
        .n_threads = weft_device_n_threads(t->device),
        .n_parameters = t->programs.n_parameters,
        .n_train = t->data.train_split.n,
        .n_validation = t->data.validation_split.n,
        .first_step = t->step,
        .total_steps = t->total_steps,
        .steps_per_epoch = t->steps_per_epoch,
        .planned_bytes = t->programs.planned_bytes,
    };
    r->events->start(r->events->user, &event);
}

static weft_status tell_step(run *r, weft_error *err)
{
    wf_trainer *t = &r->t;
    const double now = wf_clock_seconds();
    if (now - r->rate_s >= RATE_SECONDS || r->samples_per_s == 0.0) {
        const double elapsed = now - r->rate_s;
        r->samples_per_s = elapsed > 0.0 ? (double)(r->n_samples - r->rate_samples) / elapsed : 0.0;
        r->rate_s = now;
        r->rate_samples = r->n_samples;
    }
    if (t->step % t->recipe->v.train.log_every != 0 && t->step != t->total_steps)
        return WEFT_OK;
    const double per_step = (now - r->start_s) / (double)(t->step - r->first_step);
    const weft_step_event event = {
        .step = t->step,
        .total_steps = t->total_steps,
        .epoch = t->epoch + 1,
        .n_epochs = (t->total_steps + t->steps_per_epoch - 1) / t->steps_per_epoch,
        .loss = t->loss,
        .lr = t->lr,
        .samples_per_s = r->samples_per_s,
        .seconds_left = per_step * (double)(t->total_steps - t->step),
    };
    WEFT_TRY(wf_run_log_step(&r->log, &event, err));
    if (t->has_statistics)
        WEFT_TRY(wf_run_log_statistics(&r->log, t->step, &t->statistics, err));
    if (r->event_file)
        WEFT_TRY(wf_run_events_step(r->event_file, t, err));
    if (r->events->step)
        r->events->step(r->events->user, &event);
    return WEFT_OK;
}

// What is compared: the accuracy, or the loss where nothing is right or wrong.
static double score(const wf_trainer *t)
{
    return isnan(t->val_accuracy) ? -t->val_loss : t->val_accuracy;
}

static bool is_better(const wf_trainer *t)
{
    if (t->best_epoch == 0)
        return true;
    return score(t) > (isnan(t->val_accuracy) ? -t->best_loss : t->best_accuracy);
}

// The run ends `patience` epochs behind the last that was better by more than min_delta.
static void lose_patience(wf_trainer *t, int64_t epoch)
{
    const wf_recipe_train *train = &t->recipe->v.train;
    if (t->patience_epoch == 0 || score(t) > t->patience_score + train->min_delta) {
        t->patience_score = score(t);
        t->patience_epoch = epoch;
    }
    t->is_stopped = train->patience > 0 && epoch - t->patience_epoch >= train->patience;
}

// The run's last evaluation also leaves its picture.
static weft_status measure(run *r, bool is_last, weft_error *err)
{
    wf_trainer *t = &r->t;
    wf_metrics metrics = {0};
    weft_status status = wf_evaluate_metrics(
        &t->programs, &t->data.validation_split,
        wf_program_eval_batch(&t->recipe->v.train, t->recipe->v.train.batch), t->n_loader_threads,
        &t->val_loss, &t->val_accuracy, is_last ? &metrics : NULL, err);
    if (status == WEFT_OK && is_last)
        status = wf_confusion_draw(&metrics, t->recipe, r->dir, err);
    wf_metrics_deinit(&metrics);
    return status;
}

static weft_status evaluate(run *r, bool is_last, weft_error *err)
{
    wf_trainer *t = &r->t;
    WEFT_TRY(measure(r, is_last, err));
    const weft_epoch_event event = {
        .epoch = t->epoch + 1,
        .train_loss = (float)(r->epoch_loss / (double)r->epoch_steps),
        .val_loss = t->val_loss,
        .val_accuracy = t->val_accuracy,
        .is_best = is_better(t),
    };
    r->epoch_loss = 0.0;
    r->epoch_steps = 0;
    lose_patience(t, event.epoch);
    if (event.is_best) {
        t->best_accuracy = t->val_accuracy;
        t->best_loss = t->val_loss;
        t->best_epoch = event.epoch;
        WEFT_TRY(wf_weights_save(&t->programs, r->dir, "best.safetensors", err));
    }
    WEFT_TRY(wf_run_log_epoch(&r->log, &event, err));
    if (r->event_file)
        WEFT_TRY(wf_run_events_epoch(r->event_file, t, err));
    if (r->events->epoch)
        r->events->epoch(r->events->user, &event);
    return WEFT_OK;
}

static weft_status save(run *r, weft_error *err)
{
    wf_trainer *t = &r->t;
    WEFT_TRY(wf_run_log_sync(&r->log, err));
    t->log_bytes = r->log.size_bytes;
    weft_status status = wf_checkpoint_save(t, r->dir, err);
    if (status == WEFT_OK)
        status = wf_weights_save(&t->programs, r->dir, "weights.safetensors", err);
    if (status != WEFT_OK)
        wf_error_prefix(err, "step %lld: not saved, the files of the last checkpoint are whole",
                        (long long)t->step);
    return status;
}

// The loss of the epoch so far, of a run that is resumed in the middle of one.
static void restore_epoch(run *r)
{
    const wf_trainer *t = &r->t;
    const size_t begun = t->history.n - t->history.n % (size_t)t->steps_per_epoch;
    r->epoch_steps = (int64_t)(t->history.n - begun);
    r->epoch_loss = 0.0;
    for (size_t i = begun; i < t->history.n; i++) {
        r->epoch_loss += (double)t->history.loss[i];
    }
}

static weft_status train(run *r, weft_error *err)
{
    wf_trainer *t = &r->t;
    const int64_t every = t->recipe->v.train.checkpoint_every;
    // Killed between its last checkpoint and the weights beside it, a run has older ones and no step left.
    if (t->step >= t->total_steps || t->is_stopped)
        return wf_weights_save(&t->programs, r->dir, "weights.safetensors", err);
    while (t->step < t->total_steps && !t->is_stopped) {
        WEFT_TRY(wf_trainer_step(t, err));
        r->n_samples += t->n_samples;
        r->epoch_loss += (double)t->loss;
        r->epoch_steps++;
        const bool is_end = t->step == t->total_steps;
        WEFT_TRY(tell_step(r, err));
        if (t->is_epoch_end || is_end)
            WEFT_TRY(evaluate(r, is_end, err));
        const bool is_interrupted = r->events->wants_stop && r->events->wants_stop(r->events->user);
        const bool is_due = every ? t->step % every == 0 : t->is_epoch_end;
        if (is_due || is_end || is_interrupted || t->is_stopped)
            WEFT_TRY(save(r, err));
        if (is_interrupted && !is_end && !t->is_stopped)
            WEFT_FAIL(err, WEFT_ERR_INTERRUPTED, "interrupted, step %lld is saved in %s",
                      (long long)t->step, r->dir);
    }
    return WEFT_OK;
}

static weft_status finish(run *r, weft_error *err)
{
    wf_trainer *t = &r->t;
    weft_done_event event = {
        .run_dir = r->dir,
        .device = weft_device_id(t->device),
        .arithmetic = arithmetic_name(t->recipe),
        .storage = wf_recipe_storage_name(t->recipe),
        .isa = isa_name(t->device),
        .n_threads = weft_device_n_threads(t->device),
        .steps = t->step,
        .val_loss = t->val_loss,
        .val_accuracy = t->val_accuracy,
        .best_accuracy = t->best_accuracy,
        .best_epoch = t->best_epoch,
        .is_stopped_early = t->is_stopped && t->step < t->total_steps,
    };
    char *path;
    event.seconds = wf_clock_seconds() - r->start_s;
    event.samples_per_s = event.seconds > 0.0 ? (double)r->n_samples / event.seconds : 0.0;
    WEFT_TRY(wf_path_join(&t->allocator, r->dir, "weights.safetensors", &path, err));
    const weft_status status = wf_sha256_file(path, event.weights_sha256, err);
    wf_free(&t->allocator, path);
    WEFT_TRY(status);
    WEFT_TRY(wf_predictions_draw(&t->programs, r->dir, err));
    // The last file: by it a phase is known to be over.
    WEFT_TRY(wf_receipt_save(t, r->dir, event.weights_sha256, err));
    event.planned_bytes = t->programs.planned_bytes;
    event.peak_bytes = weft_device_peak_bytes(t->device);
    if (r->events->done)
        r->events->done(r->events->user, &event);
    return WEFT_OK;
}

// Asked for fewer steps a recipe is taken as it stands: its schedule never comes behind the warm-up.
static void warn_of_warm_up(const wf_trainer *t)
{
    const wf_recipe_schedule *s = &t->recipe->v.schedule;
    if (s->kind != WEFT_SCHEDULE_ONE_CYCLE && s->warmup > t->total_steps)
        wf_context_log(t->context, WEFT_LOG_WARNING,
                       "schedule.warmup is %lld and the run has %lld steps: its rate only rises",
                       (long long)s->warmup, (long long)t->total_steps);
}

static weft_status run_all(run *r, const weft_train_options *o, weft_error *err)
{
    wf_trainer *t = &r->t;
    bool is_found = false;
    WEFT_TRY(choose_dir(r, o, err));
    if (o->is_resumed)
        WEFT_TRY(wf_checkpoint_load(t, r->dir, &is_found, err));
    if (o->is_resumed && !is_found)
        wf_context_log(t->context, WEFT_LOG_INFO,
                       "%s has no checkpoint yet, the run begins at its beginning", r->dir);
    WEFT_TRY(make_programs(r, o->memory_limit_bytes, err));
    WEFT_TRY(wf_directory_create(r->dir, err));
    WEFT_TRY(write_recipe(r, err));
    WEFT_TRY(wf_run_log_open(&t->allocator, r->dir, t->log_bytes, &r->log, err));
    if (!is_found)
        WEFT_TRY(wf_trainer_start(t, 0, 0, err));
    if (t->recipe->v.train.has_tensorboard)
        WEFT_TRY(wf_event_file_create(&t->allocator, r->dir, t->step, &r->event_file, err));
    restore_epoch(r);
    warn_of_warm_up(t);
    r->first_step = t->step;
    tell_start(r);
    r->start_s = r->rate_s = wf_clock_seconds();
    WEFT_TRY(train(r, err));
    return finish(r, err);
}

static weft_status train_one(weft_recipe *recipe, weft_device *device, const weft_train_options *o,
                             const weft_train_events *events, weft_error *err)
{
    run r = {.events = events};
    r.log.file = -1;
    r.log.line.allocator = recipe->allocator;
    weft_status status = wf_trainer_init(&r.t, recipe, device, o->n_loader_threads, err);
    if (status == WEFT_OK)
        status = run_all(&r, o, err);
    wf_run_log_close(&r.log);
    wf_event_file_destroy(r.event_file);
    wf_free(&r.t.allocator, r.dir);
    wf_trainer_deinit(&r.t);
    return status;
}

weft_status weft_train_run(weft_recipe *recipe, weft_device *device,
                           const weft_train_options *options, const weft_train_events *events,
                           weft_error *err)
{
    static const weft_train_options defaults = WEFT_TRAIN_OPTIONS_INIT;
    const weft_train_options *o = options ? options : &defaults;
    const weft_train_events *e = events ? events : &no_events;
    WEFT_REQUIRE(err, recipe && device, "train: without recipe or device");
    WEFT_REQUIRE(err, o->struct_size == sizeof *o && e->struct_size == sizeof *e,
                 "train: struct_size of options is %zu and of events %zu, expected %zu and %zu",
                 o->struct_size, e->struct_size, sizeof *o, sizeof *e);
    if (recipe->n_phases)
        return wf_phases_run(recipe, device, o, e, train_one, err);
    return train_one(recipe, device, o, e, err);
}
