// Runs a split through the evaluating programs. In: weights, a split. Out: loss, accuracy, metrics.
#include <math.h>

#include "train/metrics.h"

// Room for what a batch's program gives, as long as batches do not grow.
typedef struct results {
    wf_allocator allocator;
    float *prediction, *target;
    int32_t *predicted, *labels;
} results;

static weft_status results_init(results *r, const wf_program_cache *programs, int64_t batch,
                                weft_error *err)
{
    const wf_result_sizes *s = &programs->sizes;
    const wf_allocator *a = &programs->arena.allocator;
    const size_t n = (size_t)(batch * s->target) + 1;
    *r = (results){.allocator = *a};
    WEFT_TRY(wf_alloc(a, (size_t)(batch * s->prediction) + 1, sizeof(float), &r->prediction, err));
    if (!programs->has_classes)
        return wf_alloc(a, n, sizeof(float), &r->target, err);
    WEFT_TRY(wf_alloc(a, n, sizeof(int32_t), &r->labels, err));
    return wf_alloc(a, n, sizeof(int32_t), &r->predicted, err);
}

static void results_deinit(results *r)
{
    wf_free(&r->allocator, r->prediction);
    wf_free(&r->allocator, r->target);
    wf_free(&r->allocator, r->predicted);
    wf_free(&r->allocator, r->labels);
}

static weft_status add_batch(const wf_program_cache *programs, weft_program *program, int64_t n,
                             results *r, wf_metrics *metrics, weft_error *err)
{
    const wf_result_sizes *s = &programs->sizes;
    const int64_t n_predictions = n * s->prediction, n_targets = n * s->target;
    wf_metrics_batch b = {.prediction = r->prediction, .n_values = n_predictions};
    WEFT_TRY(weft_program_read(program, "probabilities", r->prediction,
                               (size_t)n_predictions * sizeof(float), err));
    if (!programs->has_classes) {
        WEFT_TRY(weft_program_read(program, "target", r->target, (size_t)n_targets * sizeof(float),
                                   err));
        b.target = r->target;
        return wf_metrics_add(metrics, &b, err);
    }
    WEFT_TRY(
        weft_program_read(program, "target", r->labels, (size_t)n_targets * sizeof(int32_t), err));
    WEFT_TRY(weft_program_read(program, "predicted", r->predicted,
                               (size_t)n_targets * sizeof(int32_t), err));
    b.labels = r->labels;
    b.predicted = r->predicted;
    b.n_inner = s->inner;
    b.n_rows = n_targets / s->inner;
    return wf_metrics_add(metrics, &b, err);
}

typedef struct evaluation {
    wf_program_cache *programs;
    wf_metrics *metrics; // NULL: not wanted
    results results;
    bool has_results;
    double loss;
    int64_t n_right;
} evaluation;

static weft_status begin_metrics(evaluation *e, int64_t batch, weft_error *err)
{
    const wf_program_cache *programs = e->programs;
    const bool wants_auroc = programs->n_judged == 1;
    e->has_results = true;
    WEFT_TRY(wf_metrics_init(e->metrics, &programs->arena.allocator,
                             programs->has_classes ? programs->sizes.classes : 0, wants_auroc,
                             err));
    return results_init(&e->results, programs, batch, err);
}

static weft_status run_batch(evaluation *e, const wf_batch *batch, weft_error *err)
{
    weft_program *program;
    float sum;
    int64_t correct = 0;
    WEFT_TRY(wf_program_get(e->programs, WF_PROGRAM_EVAL, batch->n, &program, err));
    WEFT_TRY(wf_program_write_samples(e->programs, program, batch, 0, batch->n, err));
    WEFT_TRY(weft_program_run(program, err));
    WEFT_TRY(weft_program_read(program, "loss", &sum, sizeof sum, err));
    if (e->programs->has_classes)
        WEFT_TRY(weft_program_read(program, "correct", &correct, sizeof correct, err));
    // Batches in order, in f64: one value on every device.
    e->loss += (double)sum;
    e->n_right += correct;
    if (!e->metrics || !e->programs->sizes.target)
        return WEFT_OK;
    if (!e->has_results)
        WEFT_TRY(begin_metrics(e, batch->n, err));
    return add_batch(e->programs, program, batch->n, &e->results, e->metrics, err);
}

weft_status wf_evaluate_metrics(wf_program_cache *programs, const wf_split *split,
                                int64_t batch_size, int32_t n_threads, double *out_loss,
                                double *out_accuracy, wf_metrics *out_metrics, weft_error *err)
{
    const wf_loader_options options = {
        .batch_size = batch_size,
        .n_threads = n_threads,
        .normalisation = programs->data->normalisation,
        .n_epochs = 1,
    };
    evaluation e = {.programs = programs, .metrics = out_metrics};
    wf_loader *loader;
    if (out_metrics)
        *out_metrics = (wf_metrics){0};
    WEFT_TRY(wf_loader_create(split, &options, &loader, err));
    weft_status status;
    for (;;) {
        wf_batch batch;
        WEFT_TRY_GOTO(wf_loader_next(loader, &batch, err));
        if (batch.n == 0)
            break;
        WEFT_TRY_GOTO(run_batch(&e, &batch, err));
    }
    if (e.has_results)
        WEFT_TRY_GOTO(wf_metrics_finish(out_metrics, err));
    *out_loss = e.loss / (double)split->n;
    *out_accuracy = programs->has_classes
                        ? (double)e.n_right / ((double)split->n * (double)programs->n_judged)
                        : (double)NAN;
fail:
    if (e.has_results)
        results_deinit(&e.results);
    wf_loader_destroy(loader);
    return status;
}

weft_status wf_evaluate(wf_program_cache *programs, const wf_split *split, int64_t batch_size,
                        int32_t n_threads, double *out_loss, double *out_accuracy, weft_error *err)
{
    return wf_evaluate_metrics(programs, split, batch_size, n_threads, out_loss, out_accuracy, NULL,
                               err);
}
