// weft predict: what a trained run says of files, or of samples of its test data.
#include <inttypes.h>

#include "run_verb.h"

typedef struct options {
    cli_common common;
    bool is_best;
    int64_t index;
} options;

#define N_SHOWN 3 // classes of a line

// The class of the next smaller probability; equals in the order of the classes.
static int64_t next_class(const weft_prediction *p, int64_t last)
{
    int64_t best = -1;
    for (int64_t i = 0; i < p->n_classes; i++) {
        const bool is_behind = last < 0 || p->probabilities[i] < p->probabilities[last] ||
                               (p->probabilities[i] == p->probabilities[last] && i > last);
        if (is_behind && (best < 0 || p->probabilities[i] > p->probabilities[best]))
            best = i;
    }
    return best;
}

static void print_class(const weft_prediction *p, int64_t i)
{
    if (p->class_names)
        printf("%s", p->class_names[i]);
    else
        printf("class %" PRId64, i);
}

static void show_text(const weft_prediction *p)
{
    printf("%s:", p->source);
    int64_t class_idx = -1;
    for (int i = 0; i < N_SHOWN && i < p->n_classes; i++) {
        class_idx = next_class(p, class_idx);
        if (class_idx < 0)
            break;
        printf("%s ", i ? "," : "");
        print_class(p, class_idx);
        printf(" %.1f %%", 100.0 * (double)p->probabilities[class_idx]);
    }
    if (p->label >= 0) {
        printf(p->label == p->predicted ? " (right: " : " (wrong: ");
        print_class(p, p->label);
        printf(")");
    }
    printf("\n");
}

static void json_class(cli_json *json, const char *key, const weft_prediction *p, int64_t i)
{
    if (p->class_names && i >= 0)
        cli_json_text(json, key, p->class_names[i]);
    else
        cli_json_text(json, key, NULL);
}

static void show_json(const weft_prediction *p)
{
    cli_json json = {stdout, false};
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "source", p->source);
    cli_json_integer(&json, "class", p->predicted);
    json_class(&json, "name", p, p->predicted);
    if (p->label >= 0) {
        cli_json_integer(&json, "label", p->label);
        json_class(&json, "label_name", p, p->label);
    }
    cli_json_open(&json, "probabilities", '[');
    for (int64_t i = 0; i < p->n_classes; i++) {
        cli_json_f32(&json, NULL, p->probabilities[i]);
    }
    cli_json_close(&json, ']');
    cli_json_close(&json, '}');
    cli_json_end(&json);
}

static void found(void *user, const weft_prediction *prediction)
{
    const options *o = user;
    if (o->common.is_json)
        show_json(prediction);
    else
        show_text(prediction);
}

static int run_predict(const cli_verb *verb, int argc, char **argv)
{
    options o = {0};
    cli_run run;
    int n_words;
    weft_error err = {0};
    weft_predict_options predict_options = WEFT_PREDICT_OPTIONS_INIT;
    int code = cli_parse(verb, argc, argv, &o, &n_words);
    if (code >= 0)
        return code;
    if (n_words < 1)
        return cli_usage(verb, "no run, expected the folder of a run and what to predict");
    if (n_words == 1 && o.index == CLI_UNSET)
        return cli_usage(verb, "nothing to predict, expected files or --index N");
    code = cli_run_open(&o.common, argv[0], NULL, 0, &run);
    if (code == CLI_OK) {
        predict_options.is_best = o.is_best;
        predict_options.files = (const char *const *)argv + 1;
        predict_options.n_files = (size_t)(n_words - 1);
        predict_options.indices = &o.index;
        predict_options.n_indices = o.index != CLI_UNSET;
        code = cli_run_end(
            weft_predict_run(run.recipe, run.device, argv[0], &predict_options, found, &o, &err),
            &err);
    }
    cli_run_close(&run);
    return code;
}

static const cli_flag flags[] = {
    {"index", CLI_INTEGER, offsetof(options, index), "N", "a sample of the test data, from 0"},
    {"best", CLI_SWITCH, offsetof(options, is_best), NULL,
     "the weights of the best epoch instead of the last"},
};

const cli_verb cli_verb_predict = {
    .name = "predict",
    .summary = "what a trained run says of files",
    .arguments = "RUN [FILE ...]",
    .text =
        "FILE is what the model was trained on: a PNG, JPEG or WebP image or a sound, brought to the size that\n"
        "it takes, or a table, of which every row is told.",
    .wants = CLI_WANTS_DEVICE | CLI_WANTS_PRECISION,
    .flags = flags,
    .n_flags = CLI_COUNT(flags),
    .run = run_predict,
};
