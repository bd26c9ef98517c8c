// Loss and metrics of a run's weights on a part of its data. In: a run folder. Out: numbers.
#include <math.h>
#include <string.h>

#include "train/metrics.h"

static weft_status choose_part(const wf_train_data *data, const char *part, const wf_split **out,
                               weft_error *err)
{
    static const char *const names[] = {"test", "train", "validation", NULL};
    const wf_split *const splits[] = {&data->test_split, &data->train_split,
                                      &data->validation_split};
    char hint[WF_KEY_HINT], list[WF_KEY_LIST];
    for (size_t i = 0; names[i]; i++) {
        if (strcmp(names[i], part) != 0)
            continue;
        *out = splits[i];
        if (splits[i]->n == 0)
            WEFT_FAIL(err, WEFT_ERR_FILE, "data: no %s part", part);
        return WEFT_OK;
    }
    WEFT_FAIL(err, WEFT_ERR_NAME, "data: no part '%s', expected %s%s", part,
              wf_key_list(names, list), wf_key_hint(part, names, hint));
}

static void describe_classes(const wf_metrics *m, const weft_recipe *recipe, bool is_sequence,
                             weft_eval_result *out)
{
    const int64_t n = m->n_classes;
    const bool is_mask = recipe->v.target.kind == WF_TARGET_MASK;
    out->n_classes = n;
    if (n > WF_METRICS_TOP && m->n_counted > 0)
        out->top5_accuracy = (double)m->n_top / (double)m->n_counted;
    if (is_sequence) {
        out->perplexity = exp(out->loss);
        out->bits_per_character = out->loss / log(2.0);
        return;
    }
    out->precision = wf_metrics_mean(m, m->precision);
    out->recall = wf_metrics_mean(m, m->recall);
    out->f1 = wf_metrics_mean(m, m->f1);
    out->auroc = wf_metrics_mean(m, m->auroc);
    if (is_mask)
        out->iou = wf_metrics_mean(m, m->iou);
}

static void describe_numbers(const wf_metrics *m, weft_eval_result *out)
{
    const double n = (double)m->n_items;
    const double spread = m->sum_target_square - m->sum_target * m->sum_target / n;
    out->mae = m->sum_absolute / n;
    out->rmse = sqrt(m->sum_square / n);
    out->squared_error = m->sum_square / (double)out->n_samples;
    out->r2 = spread > 0.0 ? 1.0 - m->sum_square / spread : (double)NAN;
}

static void describe(const wf_metrics *m, const weft_recipe *recipe, bool is_sequence,
                     const weft_eval_options *o, weft_eval_result *out)
{
    double *const unknown[] = {
        &out->top5_accuracy, &out->precision, &out->recall,        &out->f1,
        &out->auroc,         &out->iou,       &out->perplexity,    &out->bits_per_character,
        &out->mae,           &out->rmse,      &out->squared_error, &out->r2};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        *unknown[i] = (double)NAN;
    }
    if (m->n_items == 0)
        return;
    if (m->n_classes == 0) {
        describe_numbers(m, out);
        return;
    }
    describe_classes(m, recipe, is_sequence, out);
    const wf_words *names = &recipe->v.data.classes;
    const weft_class_report report = {
        .n_classes = m->n_classes,
        .class_names = (int64_t)names->n == m->n_classes ? names->v : NULL,
        .confusion = m->confusion,
        .precision = m->precision,
        .recall = m->recall,
        .f1 = m->f1,
        .iou = m->iou,
        .auroc = m->auroc,
    };
    if (o->classes && m->confusion)
        o->classes(o->user, &report);
}

weft_status weft_eval_run(weft_recipe *recipe, weft_device *device, const char *run_dir,
                          const weft_eval_options *options, weft_eval_result *out, weft_error *err)
{
    static const weft_eval_options defaults = WEFT_EVAL_OPTIONS_INIT;
    const weft_eval_options *o = options ? options : &defaults;
    wf_train_data data;
    const wf_split *split = NULL;
    weft_state *state = NULL;
    wf_program_cache programs = {0};
    wf_metrics metrics = {0};
    weft_status status;
    WEFT_REQUIRE(err, recipe && device && run_dir && out,
                 "eval: without recipe, device, folder or result");
    WEFT_REQUIRE(err, o->struct_size == sizeof *o, "eval: struct_size is %zu, expected %zu",
                 o->struct_size, sizeof *o);
    memset(out, 0, sizeof *out);
    WEFT_TRY(wf_train_data_open(recipe, &data, err));
    WEFT_TRY_GOTO(choose_part(&data, o->part ? o->part : "test", &split, err));
    WEFT_TRY_GOTO(weft_state_create(device, &state, err));
    wf_program_cache_init(&programs, recipe, &data, state, 1);
    WEFT_TRY_GOTO(wf_weights_load(&programs, run_dir,
                                  o->is_best ? "best.safetensors" : "weights.safetensors", err));
    WEFT_TRY_GOTO(wf_evaluate_metrics(
        &programs, split, wf_program_eval_batch(&recipe->v.train, recipe->v.train.batch),
        (int32_t)recipe->v.train.loader_threads, &out->loss, &out->accuracy, &metrics, err));
    const bool is_sequence = programs.n_judged > 1 && programs.sizes.inner == 1;
    out->n_samples = split->n;
    describe(&metrics, recipe, is_sequence, o, out);
fail:
    wf_metrics_deinit(&metrics);
    wf_program_cache_deinit(&programs);
    weft_state_destroy(state);
    wf_train_data_close(&data);
    return status;
}
