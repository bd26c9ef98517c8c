// weft eval: loss and accuracy of a run's weights.
#include <inttypes.h>

#include "run_verb.h"

typedef struct options {
    cli_common common;
    bool is_best;
    const char *part;
} options;

static void show(const options *o, const weft_eval_result *result)
{
    cli_json json = {stdout, false};
    if (!o->common.is_json) {
        printf("accuracy %.2f %%, loss %.4f on %" PRId64 " samples\n", 100.0 * result->accuracy,
               result->loss, result->n_samples);
        return;
    }
    cli_json_open(&json, NULL, '{');
    cli_json_f64(&json, "loss", result->loss);
    cli_json_f64(&json, "accuracy", result->accuracy);
    cli_json_integer(&json, "samples", result->n_samples);
    cli_json_close(&json, '}');
    cli_json_end(&json);
}

static int run_eval(const cli_verb *verb, int argc, char **argv)
{
    options o = {0};
    cli_run run;
    int n_words;
    weft_error err = {0};
    weft_eval_result result;
    weft_eval_options eval_options = WEFT_EVAL_OPTIONS_INIT;
    int code = cli_parse(verb, argc, argv, &o, &n_words);
    if (code >= 0)
        return code;
    if (n_words != 1)
        return cli_usage(verb, "%d words, expected the folder of a run", n_words);
    code = cli_run_open(&o.common, argv[0], NULL, 0, &run);
    if (code == CLI_OK) {
        eval_options.is_best = o.is_best;
        eval_options.part = o.part;
        code = cli_run_end(
            weft_eval_run(run.recipe, run.device, argv[0], &eval_options, &result, &err), &err);
        if (code == CLI_OK)
            show(&o, &result);
    }
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
    .summary = "loss and accuracy of a trained run",
    .arguments = "RUN",
    .wants = CLI_WANTS_DEVICE | CLI_WANTS_PRECISION,
    .flags = flags,
    .n_flags = CLI_COUNT(flags),
    .run = run_eval,
};
