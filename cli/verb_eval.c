// weft eval: loss and metrics of a run's weights.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "run_verb.h"

#define SHOWN_CLASSES 64 // tables of more are for --json

typedef struct options {
    cli_common common;
    bool is_best;
    const char *part;
} options;

// The metrics that the task has, by their names in JSON and for people.
typedef struct metric {
    const char *key, *label;
    size_t offset;
    bool is_share; // shown in per cent
} metric;

static const metric metrics[] = {
    {"top5_accuracy", "among the first five", offsetof(weft_eval_result, top5_accuracy), true},
    {"precision", "precision", offsetof(weft_eval_result, precision), true},
    {"recall", "recall", offsetof(weft_eval_result, recall), true},
    {"f1", "F1", offsetof(weft_eval_result, f1), true},
    {"auroc", "AUROC", offsetof(weft_eval_result, auroc), false},
    {"iou", "intersection over union", offsetof(weft_eval_result, iou), true},
    {"perplexity", "perplexity", offsetof(weft_eval_result, perplexity), false},
    {"bits_per_character", "bits per character", offsetof(weft_eval_result, bits_per_character),
     false},
    {"mae", "mean absolute error", offsetof(weft_eval_result, mae), false},
    {"rmse", "root mean square error", offsetof(weft_eval_result, rmse), false},
    {"squared_error", "squared error of a sample", offsetof(weft_eval_result, squared_error),
     false},
    {"r2", "R2", offsetof(weft_eval_result, r2), false},
};

static double value_of(const weft_eval_result *result, const metric *m)
{
    double value;
    memcpy(&value, (const char *)result + m->offset, sizeof value);
    return value;
}

// The report comes before the result: kept as the end of the JSON line, or of the table.
typedef struct reporter {
    const options *o;
    cli_json json;
    char *kept;
    size_t n_kept;
} reporter;

static void json_array(cli_json *json, const char *key, const double *values, int64_t n)
{
    cli_json_open(json, key, '[');
    for (int64_t i = 0; i < n; i++) {
        cli_json_f64(json, NULL, values[i]);
    }
    cli_json_close(json, ']');
}

static void json_classes(cli_json *json, const weft_class_report *c)
{
    cli_json_open(json, "classes", '[');
    for (int64_t i = 0; i < c->n_classes && c->class_names; i++) {
        cli_json_text(json, NULL, c->class_names[i]);
    }
    cli_json_close(json, ']');
    cli_json_open(json, "confusion", '[');
    for (int64_t i = 0; i < c->n_classes; i++) {
        cli_json_open(json, NULL, '[');
        for (int64_t k = 0; k < c->n_classes; k++) {
            cli_json_integer(json, NULL, c->confusion[i * c->n_classes + k]);
        }
        cli_json_close(json, ']');
    }
    cli_json_close(json, ']');
    json_array(json, "class_precision", c->precision, c->n_classes);
    json_array(json, "class_recall", c->recall, c->n_classes);
    json_array(json, "class_f1", c->f1, c->n_classes);
    json_array(json, "class_iou", c->iou, c->n_classes);
    json_array(json, "class_auroc", c->auroc, c->n_classes);
}

static void table_cell(FILE *file, double value)
{
    if (isnan(value))
        fprintf(file, "%10s", "-");
    else
        fprintf(file, "%10.4f", value);
}

static void table_classes(FILE *file, const weft_class_report *c)
{
    fprintf(file, "%-20s%10s%10s%10s%10s%10s\n", "class", "samples", "precision", "recall", "F1",
            "AUROC");
    for (int64_t i = 0; i < c->n_classes; i++) {
        int64_t n = 0;
        for (int64_t k = 0; k < c->n_classes; k++) {
            n += c->confusion[i * c->n_classes + k];
        }
        if (c->class_names)
            fprintf(file, "%-20.19s", c->class_names[i]);
        else
            fprintf(file, "%-20" PRId64, i);
        fprintf(file, "%10" PRId64, n);
        table_cell(file, c->precision[i]);
        table_cell(file, c->recall[i]);
        table_cell(file, c->f1[i]);
        table_cell(file, c->auroc[i]);
        fputc('\n', file);
    }
}

static void keep_classes(void *user, const weft_class_report *c)
{
    reporter *r = user;
    FILE *file = open_memstream(&r->kept, &r->n_kept);
    if (!file)
        return;
    cli_json json = {file, true};
    if (r->o->common.is_json)
        json_classes(&json, c);
    else if (c->n_classes <= SHOWN_CLASSES)
        table_classes(file, c);
    fclose(file);
}

static void show_json(reporter *r, const weft_eval_result *result)
{
    cli_json *json = &r->json;
    cli_json_open(json, NULL, '{');
    cli_json_f64(json, "loss", result->loss);
    cli_json_f64(json, "accuracy", result->accuracy);
    cli_json_integer(json, "samples", result->n_samples);
    for (size_t i = 0; i < CLI_COUNT(metrics); i++) {
        const double value = value_of(result, &metrics[i]);
        if (!isnan(value))
            cli_json_f64(json, metrics[i].key, value);
    }
    if (r->kept)
        fputs(r->kept, json->file);
    cli_json_close(json, '}');
    cli_json_end(json);
}

static void show(reporter *r, const weft_eval_result *result)
{
    if (r->o->common.is_json) {
        show_json(r, result);
        return;
    }
    if (!isnan(result->accuracy))
        printf("accuracy %.2f %%, ", 100.0 * result->accuracy);
    printf("loss %.4f on %" PRId64 " samples\n", result->loss, result->n_samples);
    for (size_t i = 0; i < CLI_COUNT(metrics); i++) {
        const double value = value_of(result, &metrics[i]);
        if (!isnan(value) && metrics[i].is_share)
            printf("%s %.2f %%\n", metrics[i].label, 100.0 * value);
        else if (!isnan(value))
            printf("%s %.4f\n", metrics[i].label, value);
    }
    if (r->kept)
        fputs(r->kept, stdout);
}

static int run_eval(const cli_verb *verb, int argc, char **argv)
{
    options o = {0};
    cli_run run;
    int n_words;
    weft_error err = {0};
    weft_eval_result result;
    weft_eval_options eval_options = WEFT_EVAL_OPTIONS_INIT;
    reporter r = {.o = &o, .json = {stdout, false}};
    int code = cli_parse(verb, argc, argv, &o, &n_words);
    if (code >= 0)
        return code;
    if (n_words != 1)
        return cli_usage(verb, "%d words, expected the folder of a run", n_words);
    code = cli_run_open(&o.common, argv[0], NULL, 0, &run);
    if (code == CLI_OK) {
        eval_options.is_best = o.is_best;
        eval_options.part = o.part;
        eval_options.classes = keep_classes;
        eval_options.user = &r;
        code = cli_run_end(
            weft_eval_run(run.recipe, run.device, argv[0], &eval_options, &result, &err), &err);
        if (code == CLI_OK)
            show(&r, &result);
    }
    free(r.kept);
    cli_run_close(&run);
    return code;
}

static const cli_flag flags[] = {
    {"best", CLI_SWITCH, offsetof(options, is_best), NULL,
     "the weights of the best epoch instead of the last"},
    {"part", CLI_TEXT, offsetof(options, part), "PART", "test, train or validation (test)"},
};

const cli_verb cli_verb_eval = {
    .name = "eval",
    .summary = "loss and metrics of a trained run",
    .arguments = "RUN",
    .wants = CLI_WANTS_DEVICE | CLI_WANTS_PRECISION,
    .flags = flags,
    .n_flags = CLI_COUNT(flags),
    .run = run_eval,
};
