// weft train: a recipe into a run folder, with progress for people or JSON lines for programs.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "progress.h"
#include "run_verb.h"

typedef struct options {
    cli_common common;
    const char *out_dir;
    const char *data, *model;
    bool is_resumed;
    int64_t n_steps;
    int64_t n_loader_threads;
} options;

typedef struct reporter {
    const options *o;
    cli_progress progress;
    cli_json json;
} reporter;

// ---- for programs
static void json_step(void *user, const weft_step_event *e)
{
    cli_json *json = &((reporter *)user)->json;
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "event", "step");
    cli_json_integer(json, "step", e->step);
    cli_json_f32(json, "loss", e->loss);
    cli_json_f32(json, "lr", e->lr);
    cli_json_f64(json, "samples_per_s", e->samples_per_s);
    cli_json_close(json, '}');
    cli_json_end(json);
}

static void json_epoch(void *user, const weft_epoch_event *e)
{
    cli_json *json = &((reporter *)user)->json;
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "event", "epoch");
    cli_json_integer(json, "epoch", e->epoch);
    cli_json_f64(json, "val_loss", e->val_loss);
    cli_json_f64(json, "val_accuracy", e->val_accuracy);
    cli_json_close(json, '}');
    cli_json_end(json);
}

static void json_done(void *user, const weft_done_event *e)
{
    cli_json *json = &((reporter *)user)->json;
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "event", "done");
    cli_json_text(json, "device", e->device);
    cli_json_text(json, "arithmetic", e->arithmetic);
    cli_json_text(json, "storage", e->storage);
    cli_json_text(json, "isa", e->isa);
    cli_json_integer(json, "threads", e->n_threads);
    cli_json_integer(json, "steps", e->steps);
    cli_json_f64(json, "seconds", e->seconds);
    cli_json_f64(json, "samples_per_s", e->samples_per_s);
    cli_json_integer(json, "planned_bytes", (int64_t)e->planned_bytes);
    cli_json_integer(json, "peak_bytes", (int64_t)e->peak_bytes);
    cli_json_text(json, "weights_sha256", e->weights_sha256);
    cli_json_text(json, "run", e->run_dir);
    cli_json_bool(json, "stopped_early", e->is_stopped_early);
    cli_json_close(json, '}');
    cli_json_end(json);
}

// ---- for people
static void show_start(void *user, const weft_start_event *e)
{
    const reporter *r = user;
    char planned[CLI_SIZE_TEXT];
    if (r->o->common.is_quiet)
        return;
    printf("%s on %s (%s%s%s, %u thread%s), %s arithmetic\n", e->run_dir, e->device, e->device_name,
           *e->isa ? ", " : "", e->isa, e->n_threads, e->n_threads == 1 ? "" : "s", e->arithmetic);
    printf("%" PRId64 " parameters, %" PRId64 " samples, %" PRId64 " to validate with, %" PRId64
           " steps of an epoch, planned memory %s\n",
           e->n_parameters, e->n_train, e->n_validation, e->steps_per_epoch,
           cli_size_text(e->planned_bytes, planned));
    if (e->first_step > 0)
        printf("going on behind step %" PRId64 " of %" PRId64 "\n", e->first_step, e->total_steps);
    fflush(stdout);
}

static void show_step(void *user, const weft_step_event *e)
{
    reporter *r = user;
    char text[160], left[CLI_DURATION_TEXT];
    if (r->o->common.is_quiet)
        return;
    snprintf(text, sizeof text,
             "epoch %" PRId64 "/%" PRId64 "  loss %.4f  lr %.2e  %.0f samples/s  %s left", e->epoch,
             e->n_epochs, (double)e->loss, (double)e->lr, e->samples_per_s,
             cli_duration_text(e->seconds_left, left));
    cli_progress_show(&r->progress, e->step, e->total_steps, text, false);
}

static void show_epoch(void *user, const weft_epoch_event *e)
{
    reporter *r = user;
    if (r->o->common.is_quiet)
        return;
    cli_progress_clear(&r->progress);
    printf("epoch %-3" PRId64 " train loss %.4f  validation loss %.4f", e->epoch,
           (double)e->train_loss, e->val_loss);
    if (!isnan(e->val_accuracy))
        printf("  accuracy %.2f %%", 100.0 * e->val_accuracy);
    printf("%s\n", e->is_best ? "  (best)" : "");
    fflush(stdout);
}

// Only of models that look at pictures, in a build that writes them.
static bool has_picture(const char *run_dir)
{
    char path[4096];
    FILE *file = NULL;
    if (snprintf(path, sizeof path, "%s/predictions.png", run_dir) < (int)sizeof path)
        file = fopen(path, "rb");
    if (file)
        fclose(file);
    return file != NULL;
}

static void show_done(void *user, const weft_done_event *e)
{
    reporter *r = user;
    char time[CLI_DURATION_TEXT], peak[CLI_SIZE_TEXT];
    cli_progress_clear(&r->progress);
    if (e->is_stopped_early)
        printf("no epoch was better than %" PRId64 " for train.patience: stopped early\n",
               e->best_epoch);
    if (!isnan(e->val_accuracy))
        printf("accuracy %.2f %%, loss %.4f after %" PRId64 " steps; ", 100.0 * e->val_accuracy,
               e->val_loss, e->steps);
    printf("%s, %.0f samples/s, peak memory %s\n", cli_duration_text(e->seconds, time),
           e->samples_per_s, cli_size_text(e->peak_bytes, peak));
    printf("weights %s\nrun in %s: %sweights.safetensors, receipt.json\n", e->weights_sha256,
           e->run_dir, has_picture(e->run_dir) ? "predictions.png, " : "");
}

static int train(const options *o, const char *path, const char *const *settings, size_t n)
{
    cli_run run;
    weft_error err = {0};
    reporter r = {.o = o, .json = {stdout, false}};
    weft_train_options train_options = WEFT_TRAIN_OPTIONS_INIT;
    weft_train_events events = WEFT_TRAIN_EVENTS_INIT;
    int code = path ? cli_run_open(&o->common, path, settings, n, &run)
                    : cli_run_make(&o->common, o->data, o->model, settings, n, &run);
    if (code == CLI_OK) {
        train_options.run_dir = o->out_dir;
        train_options.is_resumed = o->is_resumed;
        train_options.memory_limit_bytes = o->common.memory_bytes;
        if (o->n_loader_threads != CLI_UNSET)
            train_options.n_loader_threads = (int32_t)o->n_loader_threads;
        cli_progress_init(&r.progress, stdout);
        events.user = &r;
        events.start = o->common.is_json ? NULL : show_start;
        events.step = o->common.is_json ? json_step : show_step;
        events.epoch = o->common.is_json ? json_epoch : show_epoch;
        events.done = o->common.is_json ? json_done : show_done;
        events.wants_stop = cli_wants_stop;
        cli_catch_interrupt();
        const weft_status status =
            weft_train_run(run.recipe, run.device, &train_options, &events, &err);
        cli_progress_clear(&r.progress);
        code = cli_run_end(status, &err);
    }
    cli_run_close(&run);
    return code;
}

static int run_train(const cli_verb *verb, int argc, char **argv)
{
    options o = {0};
    int n_words;
    char steps[48];
    int code = cli_parse(verb, argc, argv, &o, &n_words);
    if (code >= 0)
        return code;
    if (o.is_resumed && !o.out_dir)
        return cli_usage(verb, "--resume without --out, expected the folder of the run");
    if (o.n_loader_threads != CLI_UNSET && (o.n_loader_threads < 1 || o.n_loader_threads > 256))
        return cli_usage(verb, "--loader-threads: %" PRId64 ", expected 1 to 256",
                         o.n_loader_threads);
    // A run that goes on may be named by its folder alone.
    const char *path = n_words > 0 && !strchr(argv[0], '=') ? argv[0] : NULL;
    const int first = path ? 1 : 0;
    if (!path && o.is_resumed)
        path = o.out_dir;
    if (!path && !(o.data && o.model))
        return cli_usage(verb, "no recipe, expected a file, or --data and --model");
    if (path && (o.data || o.model))
        return cli_usage(verb, "--data or --model beside %s, expected one or the other", path);
    for (int i = first; i < n_words; i++) {
        if (!strchr(argv[i], '='))
            return cli_usage(verb, "'%s' beside the recipe, expected key=value", argv[i]);
    }
    const char **settings = calloc((size_t)n_words + 1, sizeof *settings);
    size_t n = 0;
    if (!settings)
        return CLI_FAILED;
    for (int i = first; i < n_words; i++) {
        settings[n++] = argv[i];
    }
    if (o.n_steps != CLI_UNSET) {
        snprintf(steps, sizeof steps, "train.steps=%" PRId64, o.n_steps);
        settings[n++] = steps;
    }
    code = train(&o, path, settings, n);
    free(settings);
    return code;
}

static const cli_flag flags[] = {
    {"data", CLI_TEXT, offsetof(options, data), "PATH",
     "data to learn from without a recipe: a folder or a file"},
    {"model", CLI_TEXT, offsetof(options, model), "NAME",
     "a family of networks for it: resnet18, mlp, gpt ..."},
    {"out", CLI_TEXT, offsetof(options, out_dir), "DIR", "the run folder (runs/NAME-N)"},
    {"resume", CLI_SWITCH, offsetof(options, is_resumed), NULL,
     "go on with the run in --out, from its last checkpoint"},
    {"steps", CLI_INTEGER, offsetof(options, n_steps), "N",
     "steps in all, instead of the recipe's"},
    {"loader-threads", CLI_INTEGER, offsetof(options, n_loader_threads), "N",
     "threads that prepare batches"},
};

const cli_verb cli_verb_train = {
    .name = "train",
    .summary = "train a recipe",
    .arguments = "RECIPE | --data PATH --model NAME [KEY=VALUE ...]",
    .text =
        "KEY=VALUE sets a key of the recipe: train.epochs=2 optimiser.lr=1e-3. Ctrl-C finishes\n"
        "the step, saves and ends; --resume goes on, to the same bits.",
    .wants = CLI_WANTS_DEVICE | CLI_WANTS_PRECISION | CLI_WANTS_MEMORY | CLI_WANTS_SEED,
    .flags = flags,
    .n_flags = CLI_COUNT(flags),
    .run = run_train,
};
