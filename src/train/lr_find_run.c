// Tries learning rates: a training whose rate rises at every step. In: a recipe, a device. Out: losses by
// rate, a suggestion, a picture. L. Smith, 2017; S. Gugger, 2018.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "train/lr_curve.h"
#include "train/trainer.h"

#define LEAST_DEFAULT 1e-7
#define MOST_DEFAULT 10.0
#define STEPS_DEFAULT 100
#define STEPS_LEAST 10
#define KEEP 0.9      // of the smoothed loss, a step
#define DIVERGED 4.0  // times the least smoothed loss
#define SUGGESTED 0.1 // of the rate where it is least

typedef struct sweep {
    wf_trainer t;
    const weft_lr_find_options *o;
    weft_lr_point *points;
    int64_t n, n_steps;
    double average; // unscaled
    double least;
} sweep;

// The rate is the schedule "step" with a factor at every step: in the graph, as every schedule.
static void prepare_recipe(wf_recipe_values *v, double least, double most, int64_t n_steps)
{
    v->optimizer.lr = least;
    v->schedule.kind = WEFT_SCHEDULE_STEP;
    v->schedule.warmup = 0;
    v->schedule.step_size = 1;
    v->schedule.gamma = exp(log(most / least) / (double)(n_steps - 1));
    v->train.epochs = WF_KEY_UNSET;
    v->train.steps = n_steps;
    v->train.stats_every = 0;
}

static void add_point(sweep *s)
{
    weft_lr_point *p = &s->points[s->n++];
    s->average = KEEP * s->average + (1.0 - KEEP) * (double)s->t.loss;
    *p = (weft_lr_point){.step = s->t.step, .lr = s->t.lr, .loss = s->t.loss};
    p->smoothed = s->average / (1.0 - pow(KEEP, (double)s->n));
    if (s->n == 1 || p->smoothed < s->least)
        s->least = p->smoothed;
    if (s->o->point)
        s->o->point(s->o->user, p);
}

static weft_status run_sweep(sweep *s, weft_lr_find_result *out, weft_error *err)
{
    WEFT_TRY(wf_trainer_start(&s->t, 0, 0, err));
    while (s->n < s->n_steps && !out->is_diverged) {
        weft_error bad = {0};
        const weft_status status = wf_trainer_step(&s->t, &bad);
        // A rate that is too high ends the sweep, it does not fail it.
        out->is_diverged = status == WEFT_ERR_NONFINITE && s->n >= STEPS_LEAST;
        if (out->is_diverged)
            break;
        if (status != WEFT_OK && err)
            *err = bad;
        WEFT_TRY(status);
        add_point(s);
        out->is_diverged = s->n > STEPS_LEAST && s->points[s->n - 1].smoothed > DIVERGED * s->least;
        if (s->o->wants_stop && s->o->wants_stop(s->o->user))
            WEFT_FAIL(err, WEFT_ERR_INTERRUPTED, "interrupted at step %lld", (long long)s->n);
    }
    return WEFT_OK;
}

static void judge(const sweep *s, weft_lr_find_result *out)
{
    double steepest = 0.0;
    int64_t at_least = 0, at_steepest = 0;
    out->n_steps = s->n;
    for (int64_t i = 1; i < s->n; i++) {
        const weft_lr_point *p = &s->points[i], *before = p - 1;
        const double slope =
            (p->smoothed - before->smoothed) / (log((double)p->lr) - log((double)before->lr));
        if (p->smoothed < s->points[at_least].smoothed)
            at_least = i;
        if (slope < steepest) {
            steepest = slope;
            at_steepest = i;
        }
    }
    out->lr_at_least = (double)s->points[at_least].lr;
    out->lr_steepest = (double)s->points[at_steepest].lr;
    out->suggested = SUGGESTED * out->lr_at_least;
}

static weft_status write_points(const sweep *s, const char *path, weft_error *err)
{
    const wf_allocator *a = &s->t.allocator;
    wf_text text;
    wf_text_init(&text, a);
    for (int64_t i = 0; i < s->n; i++) {
        const weft_lr_point *p = &s->points[i];
        wf_text_printf(&text, "{\"step\":%lld,\"lr\":", (long long)p->step);
        wf_text_append_json_f32(&text, p->lr);
        wf_text_append(&text, ",\"loss\":");
        wf_text_append_json_f32(&text, p->loss);
        wf_text_append(&text, ",\"smoothed\":");
        wf_text_append_json_f64(&text, p->smoothed);
        wf_text_append(&text, "}\n");
    }
    weft_status status = wf_text_status(&text, err);
    if (status == WEFT_OK)
        status = wf_file_write(a, path, wf_text_str(&text), text.len, err);
    wf_text_deinit(&text);
    return status;
}

static weft_status write_files(const sweep *s, const weft_lr_find_result *result, weft_error *err)
{
    const wf_allocator *a = &s->t.allocator;
    char by_default[256];
    const char *dir = s->o->dir;
    char *picture = NULL, *points = NULL;
    weft_status status;
    if (!dir) {
        snprintf(by_default, sizeof by_default, "runs/%.200s-lr-find", s->t.recipe->v.name);
        dir = by_default;
    }
    WEFT_TRY_GOTO(wf_directory_create(dir, err));
    WEFT_TRY_GOTO(wf_path_join(a, dir, "lr-find.jsonl", &points, err));
    WEFT_TRY_GOTO(wf_path_join(a, dir, "lr-find.png", &picture, err));
    WEFT_TRY_GOTO(write_points(s, points, err));
    status = wf_lr_curve_draw(a, s->points, s->n, result, picture, err);
    // Built without libpng: the points are whole without their picture, as a run is.
    if (status == WEFT_ERR_UNSUPPORTED)
        status = WEFT_OK;
fail:
    wf_free(a, picture);
    wf_free(a, points);
    return status;
}

weft_status weft_lr_find_run(weft_recipe *recipe, weft_device *device,
                             const weft_lr_find_options *options, weft_lr_find_result *out,
                             weft_error *err)
{
    static const weft_lr_find_options defaults = WEFT_LR_FIND_OPTIONS_INIT;
    const weft_lr_find_options *o = options ? options : &defaults;
    WEFT_REQUIRE(err, recipe && device && out, "lr-find: without recipe, device or result");
    WEFT_REQUIRE(err, o->struct_size == sizeof *o, "lr-find: struct_size is %zu, expected %zu",
                 o->struct_size, sizeof *o);
    const double least = o->least != 0.0 ? o->least : LEAST_DEFAULT;
    const double most = o->most != 0.0 ? o->most : MOST_DEFAULT;
    sweep s = {.o = o, .n_steps = o->n_steps ? o->n_steps : STEPS_DEFAULT};
    if (!(least > 0.0 && most > least && most < 1e30) || s.n_steps < STEPS_LEAST)
        WEFT_FAIL(err, WEFT_ERR_USAGE,
                  "lr-find: rates from %g to %g in %lld steps, expected rising ones above 0 in %d "
                  "steps or more",
                  least, most, (long long)s.n_steps, STEPS_LEAST);
    memset(out, 0, sizeof *out);
    const wf_recipe_optimizer optimizer = recipe->v.optimizer;
    const wf_recipe_schedule schedule = recipe->v.schedule;
    const wf_recipe_train train = recipe->v.train;
    prepare_recipe(&recipe->v, least, most, s.n_steps);
    weft_status status = wf_trainer_init(&s.t, recipe, device, 0, err);
    if (status == WEFT_OK)
        status = wf_alloc(&s.t.allocator, (size_t)s.n_steps, sizeof *s.points, &s.points, err);
    if (status == WEFT_OK)
        status = run_sweep(&s, out, err);
    if (status == WEFT_OK) {
        judge(&s, out);
        status = write_files(&s, out, err);
    }
    wf_free(&s.t.allocator, s.points);
    wf_trainer_deinit(&s.t);
    recipe->v.optimizer = optimizer;
    recipe->v.schedule = schedule;
    recipe->v.train = train;
    return status;
}
