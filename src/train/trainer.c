// A training in memory: data, state, programs, loader, one step at a time. What trains and what repeats a
// training share it. In: a resolved recipe. Out: steps.
#include <math.h>
#include <string.h>

#include "train/trainer.h"

void wf_history_chain(uint8_t chain[WF_SHA256_BYTES], float loss)
{
    uint32_t bits;
    memcpy(&bits, &loss, sizeof bits);
    const uint8_t bytes[4] = {(uint8_t)bits, (uint8_t)(bits >> 8), (uint8_t)(bits >> 16),
                              (uint8_t)(bits >> 24)};
    wf_sha256 sha;
    wf_sha256_init(&sha);
    wf_sha256_update(&sha, chain, WF_SHA256_BYTES);
    wf_sha256_update(&sha, bytes, sizeof bytes);
    wf_sha256_final(&sha, chain);
}

weft_status wf_history_push(const wf_allocator *a, wf_history *history, float loss, weft_error *err)
{
    WEFT_TRY(wf_array_reserve(a, &history->loss, &history->capacity, history->n + 1,
                              sizeof *history->loss, err));
    history->loss[history->n++] = loss;
    wf_history_chain(history->chain, loss);
    return WEFT_OK;
}

weft_status wf_trainer_init(wf_trainer *t, weft_recipe *recipe, weft_device *device,
                            int32_t n_loader_threads, weft_error *err)
{
    const wf_recipe_train *train = &recipe->v.train;
    memset(t, 0, sizeof *t);
    t->context = device->context;
    t->allocator = device->context->allocator;
    t->recipe = recipe;
    t->device = device;
    t->n_loader_threads = n_loader_threads ? n_loader_threads : (int32_t)train->loader_threads;
    t->val_loss = t->val_accuracy = (double)NAN;
    t->best_accuracy = -1.0;
    t->best_loss = t->patience_score = (double)NAN;
    WEFT_TRY(wf_train_data_open(recipe, &t->data, err));
    WEFT_TRY(weft_state_create(device, &t->state, err));
    t->steps_per_epoch = (t->data.train_split.n + train->batch - 1) / train->batch;
    t->total_steps =
        train->steps != WF_KEY_UNSET ? train->steps : train->epochs * t->steps_per_epoch;
    if (recipe->step_budget > 0 && recipe->n_phases && t->total_steps > recipe->step_budget)
        t->total_steps = recipe->step_budget;
    wf_program_cache_init(&t->programs, recipe, &t->data, t->state, t->total_steps);
    t->programs.uses_averages = train->ema > 0.0;
    return WEFT_OK;
}

weft_status wf_trainer_start(wf_trainer *t, int64_t epoch, int64_t batch, weft_error *err)
{
    const struct wf_recipe_augment *augment = &t->recipe->v.data.augment;
    const wf_loader_options options = {
        .batch_size = t->recipe->v.train.batch,
        .seed = (uint64_t)t->recipe->v.seed,
        .is_shuffled = true,
        .n_threads = t->n_loader_threads,
        .crop_padding = (int32_t)augment->crop,
        .is_flipped = augment->is_flipped,
        .augment = {.rotate = augment->rotate,
                    .scale = augment->scale,
                    .translate = augment->translate,
                    .colour = augment->colour,
                    .cutout = augment->cutout,
                    .mixup = augment->mixup,
                    .shift = augment->shift,
                    .noise = augment->noise},
        .normalisation = t->data.normalisation,
        .start_epoch = epoch,
        .start_batch = batch,
    };
    if (t->step == 0)
        WEFT_TRY(wf_weights_init_from(t, err));
    return wf_loader_create(&t->data.train_split, &options, &t->loader, err);
}

static const wf_batch_field *find_field(const wf_batch *batch, const char *name)
{
    for (int32_t i = 0; i < batch->n_fields; i++) {
        if (!strcmp(batch->field[i].name, name))
            return &batch->field[i];
    }
    return NULL;
}

weft_status wf_program_write_field(weft_program *program, const wf_batch *batch, const char *name,
                                   int64_t first, int64_t n, weft_error *err)
{
    if (!name)
        return WEFT_OK;
    const wf_batch_field *field = find_field(batch, name);
    size_t bytes = weft_dtype_size(field->dtype);
    for (int32_t i = 0; i < field->ndim; i++) {
        bytes *= (size_t)field->dim[i];
    }
    return weft_program_write(program, name, (const char *)field->data + (size_t)first * bytes,
                              (size_t)n * bytes, err);
}

weft_status wf_program_write_samples(const wf_program_cache *cache, weft_program *program,
                                     const wf_batch *batch, int64_t first, int64_t n,
                                     weft_error *err)
{
    WEFT_TRY(wf_program_write_field(program, batch, cache->data->input.name, first, n, err));
    return wf_program_write_field(program, batch, cache->data->label.name, first, n, err);
}

// Why the step was bad: the first op whose result is not finite, else who noticed.
static weft_status explain(wf_trainer *t, weft_program *program, weft_status bad, weft_error *err)
{
    if (bad == WEFT_ERR_NONFINITE || bad == WEFT_ERR_INDEX) {
        weft_error first = {0};
        const weft_status status = weft_program_blame(program, &first);
        if ((status == WEFT_ERR_NONFINITE || status == WEFT_ERR_INDEX) && err)
            *err = first;
        wf_error_prefix(err, "step %lld", (long long)(t->step + 1));
    }
    return bad;
}

static weft_status run_checked(wf_trainer *t, weft_program *program, weft_error *err)
{
    WEFT_TRY(weft_program_run(program, err));
    const weft_status status = weft_program_check(program, err);
    return status == WEFT_OK ? WEFT_OK : explain(t, program, status, err);
}

static weft_status run_samples(wf_trainer *t, wf_program_kind kind, const wf_batch *batch,
                               int64_t first, int64_t n, weft_program **out_program,
                               weft_error *err)
{
    WEFT_TRY(wf_program_get(&t->programs, kind, n, out_program, err));
    WEFT_TRY(wf_program_write_samples(&t->programs, *out_program, batch, first, n, err));
    return run_checked(t, *out_program, err);
}

// The batch in micro-batches, in order, and the program that ends the step.
static weft_status run_micro_batches(wf_trainer *t, const wf_batch *batch, int64_t micro,
                                     weft_program **out_program, weft_error *err)
{
    for (int64_t first = 0; first < batch->n; first += micro) {
        const int64_t left = batch->n - first, n = left < micro ? left : micro;
        WEFT_TRY(run_samples(t, WF_PROGRAM_ACCUMULATE, batch, first, n, out_program, err));
    }
    WEFT_TRY(wf_program_get(&t->programs, WF_PROGRAM_UPDATE, 1, out_program, err));
    return run_checked(t, *out_program, err);
}

weft_status wf_trainer_step(wf_trainer *t, weft_error *err)
{
    const wf_recipe_train *train = &t->recipe->v.train;
    const bool is_sampled = train->stats_every > 0 && (t->step + 1) % train->stats_every == 0;
    wf_batch batch;
    weft_program *program;
    WEFT_TRY(wf_loader_next(t->loader, &batch, err));
    // A short batch is not sampled: it would need a program of its own.
    t->has_statistics = is_sampled && (train->micro_batch > 0 || batch.n == train->batch);
    if (train->micro_batch > 0) {
        WEFT_TRY(run_micro_batches(t, &batch, train->micro_batch, &program, err));
    } else {
        const wf_program_kind kind = t->has_statistics ? WF_PROGRAM_STATISTICS : WF_PROGRAM_TRAIN;
        WEFT_TRY(run_samples(t, kind, &batch, 0, batch.n, &program, err));
    }
    WEFT_TRY(weft_program_read(program, "loss", &t->loss, sizeof t->loss, err));
    WEFT_TRY(weft_program_read(program, "lr", &t->lr, sizeof t->lr, err));
    if (t->has_statistics)
        WEFT_TRY(wf_statistics_read(&t->allocator, &t->programs, program, &t->statistics, err));
    WEFT_TRY(wf_history_push(&t->allocator, &t->history, t->loss, err));
    t->step++;
    t->n_samples = batch.n;
    t->epoch = batch.epoch;
    t->is_epoch_end = batch.is_last_of_epoch;
    return WEFT_OK;
}

void wf_trainer_deinit(wf_trainer *t)
{
    wf_loader_destroy(t->loader);
    wf_program_cache_deinit(&t->programs);
    weft_state_destroy(t->state);
    wf_train_data_close(&t->data);
    wf_free(&t->allocator, t->history.loss);
    wf_statistics_deinit(&t->allocator, &t->statistics);
}
