// weft verify: repeats a run from its receipt, on this machine and device, and compares every step.
#include <inttypes.h>

#include "progress.h"
#include "run_verb.h"

typedef struct options {
    cli_common common;
    int64_t n_steps;
} options;

static void show_step(void *user, const weft_step_event *e)
{
    char text[64];
    snprintf(text, sizeof text, "loss %.4f", (double)e->loss);
    cli_progress_show(user, e->step, e->total_steps, text, false);
}

static void show_json(const cli_run *run, const weft_verify_result *result, bool is_equal)
{
    cli_json json = {stdout, false};
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "event", "verify");
    cli_json_text(&json, "device", weft_device_id(run->device));
    cli_json_bool(&json, "equal", is_equal);
    cli_json_integer(&json, "steps", result->n_steps);
    if (result->first_different)
        cli_json_integer(&json, "first_different", result->first_different);
    if (result->are_weights_compared)
        cli_json_bool(&json, "weights_equal", result->are_weights_equal);
    cli_json_text(&json, "digest", result->digest);
    cli_json_close(&json, '}');
    cli_json_end(&json);
}

static void show_text(const cli_run *run, const weft_verify_result *result, bool is_equal)
{
    const char *device = weft_device_id(run->device);
    if (result->first_different)
        printf("%s: different, the first step whose loss has other bits is %" PRId64 "\n", device,
               result->first_different);
    else if (!is_equal)
        printf("%s: different, %" PRId64 " steps have the same losses but the weights differ\n",
               device, result->n_steps);
    else
        printf("%s: the same bits in %" PRId64 " steps%s, digest %.16s\n", device, result->n_steps,
               result->are_weights_compared ? " and in the final weights" : "", result->digest);
}

static int run_verify(const cli_verb *verb, int argc, char **argv)
{
    options o = {0};
    cli_run run;
    int n_words;
    weft_error err = {0};
    weft_verify_result result;
    cli_progress progress;
    weft_train_events events = WEFT_TRAIN_EVENTS_INIT;
    int code = cli_parse(verb, argc, argv, &o, &n_words);
    if (code >= 0)
        return code;
    if (n_words != 1)
        return cli_usage(verb, "%d words, expected the folder of a run", n_words);
    code = cli_run_open(&o.common, argv[0], NULL, 0, &run);
    if (code == CLI_OK) {
        cli_progress_init(&progress, stdout);
        events.user = &progress;
        events.step = o.common.is_json || o.common.is_quiet ? NULL : show_step;
        events.wants_stop = cli_wants_stop;
        cli_catch_interrupt();
        const int64_t n_steps = o.n_steps == CLI_UNSET ? 0 : o.n_steps;
        code = cli_run_end(
            weft_verify_run(run.recipe, run.device, argv[0], n_steps, &events, &result, &err),
            &err);
        cli_progress_clear(&progress);
    }
    if (code == CLI_OK) {
        const bool is_equal =
            !result.first_different && (!result.are_weights_compared || result.are_weights_equal);
        if (o.common.is_json)
            show_json(&run, &result, is_equal);
        else
            show_text(&run, &result, is_equal);
        code = is_equal ? CLI_OK : CLI_FAILED;
    }
    cli_run_close(&run);
    return code;
}

static const cli_flag flags[] = {
    {"steps", CLI_INTEGER, offsetof(options, n_steps), "N", "only the first N steps"},
};

const cli_verb cli_verb_verify = {
    .name = "verify",
    .summary = "repeat a run on this device: the same bits?",
    .arguments = "RUN",
    .text = "Exit code 1 on a difference. The run is repeated as its recipe.yaml says, and held\n"
            "against the digests in its receipt.json; nothing is written.",
    .wants = CLI_WANTS_DEVICE,
    .flags = flags,
    .n_flags = CLI_COUNT(flags),
    .run = run_verify,
};
