// weft diff: trains one recipe on two sides and names the first step and op whose bits differ.
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "progress.h"
#include "run_verb.h"

#define DEFAULT_STEPS 10

typedef struct options {
    cli_common common;
    int64_t n_steps;
    const char *save;
} options;

static bool is_file(const char *word)
{
    struct stat info;
    return stat(word, &info) == 0 && S_ISREG(info.st_mode);
}

static void show_step(void *user, const weft_step_event *e)
{
    char text[64];
    snprintf(text, sizeof text, "loss %.4f", (double)e->loss);
    cli_progress_show(user, e->step, e->total_steps, text, false);
}

static const char *bits_text(const weft_diff_result *r, uint64_t bits, char out[24])
{
    snprintf(out, 24, "0x%0*" PRIx64, (int)(2 * weft_dtype_size(r->type.dtype)), bits);
    return out;
}

static const char *type_text(const weft_type *type, char *out, size_t size)
{
    size_t n = (size_t)snprintf(out, size, "%s[", weft_dtype_name(type->dtype));
    for (int32_t i = 0; i < type->ndim && n < size; i++) {
        n += (size_t)snprintf(out + n, size - n, "%s%" PRId64, i ? "," : "", type->dims[i]);
    }
    if (n < size)
        snprintf(out + n, size - n, "]");
    return out;
}

static void show_json(const char *a, const char *b, const weft_diff_result *r)
{
    char text[256], bits[24];
    cli_json json = {stdout, false};
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "event", "diff");
    cli_json_text(&json, "a", a);
    cli_json_text(&json, "b", b);
    cli_json_bool(&json, "equal", r->kind == WEFT_DIFF_NONE);
    cli_json_integer(&json, "steps", r->n_steps);
    if (r->kind != WEFT_DIFF_NONE) {
        cli_json_integer(&json, "step", r->step);
        if (r->kind == WEFT_DIFF_OP) {
            cli_json_text(&json, "op", r->op);
            cli_json_text(&json, "scope", r->scope);
            cli_json_text(&json, "place", r->place);
        } else {
            cli_json_text(&json, "variable", r->variable);
        }
        cli_json_text(&json, "type", type_text(&r->type, text, sizeof text));
        cli_json_integer(&json, "element", r->element);
        cli_json_text(&json, "a_bits", bits_text(r, r->a_bits, bits));
        cli_json_text(&json, "b_bits", bits_text(r, r->b_bits, bits));
        cli_json_f64(&json, "a_value", r->a_value);
        cli_json_f64(&json, "b_value", r->b_value);
    }
    cli_json_close(&json, '}');
    cli_json_end(&json);
}

static void show_text(const char *a, const char *b, const weft_diff_result *r)
{
    char text[256], x[24], y[24];
    if (r->kind == WEFT_DIFF_NONE) {
        printf("%s and %s: the same bits in %" PRId64 " steps\n", a, b, r->n_steps);
        return;
    }
    printf("%s and %s: different in step %" PRId64 "\n", a, b, r->step);
    if (r->kind == WEFT_DIFF_OP)
        printf("  %s%s%s%s%s%s\n", r->scope, *r->scope ? "/" : "", r->op, *r->place ? " (" : "",
               r->place, *r->place ? ")" : "");
    else if (r->step == 0)
        printf("  the first value of variable %s\n", r->variable);
    else
        printf("  %s, though each op's result is the same once it is stored by itself\n",
               r->variable);
    printf("  element %" PRId64 " of %s: %s %.9g, %s %.9g\n", r->element,
           type_text(&r->type, text, sizeof text), bits_text(r, r->a_bits, x), r->a_value,
           bits_text(r, r->b_bits, y), r->b_value);
}

// A word that is no file is a device.
static int open_side(const options *o, const cli_run *run, const char *word, weft_diff_side *side)
{
    cli_common with = o->common;
    *side = (weft_diff_side){NULL, NULL};
    if (is_file(word)) {
        side->trace_path = word;
        return CLI_OK;
    }
    with.device = word;
    if (run->recipe)
        with.arithmetic = weft_recipe_arithmetic(run->recipe) == WEFT_FAST ? CLI_ARITHMETIC_FAST
                                                                           : CLI_ARITHMETIC_EXACT;
    return cli_device(&with, run->context, &side->device);
}

static int compare(const options *o, const cli_run *run, char **words, bool has_b,
                   const weft_train_events *events)
{
    weft_diff_side a, b = {NULL, NULL};
    weft_diff_result result = {.kind = WEFT_DIFF_NONE};
    weft_error err = {0};
    const int64_t n_steps = o->n_steps == CLI_UNSET ? DEFAULT_STEPS : o->n_steps;
    int code = open_side(o, run, words[0], &a);
    if (!code && has_b)
        code = open_side(o, run, words[1], &b);
    if (!code && o->save)
        code = cli_run_end(weft_trace_write(run->recipe, a.device, n_steps, o->save, events, &err),
                           &err);
    if (!code && has_b) {
        code =
            cli_run_end(weft_diff_run(run->recipe, &a, &b, n_steps, events, &result, &err), &err);
        cli_progress_clear(events->user);
        if (!code && o->common.is_json)
            show_json(words[0], words[1], &result);
        else if (!code)
            show_text(words[0], words[1], &result);
        if (!code && result.kind != WEFT_DIFF_NONE)
            code = CLI_FAILED;
    }
    cli_progress_clear(events->user);
    weft_device_close(a.device);
    weft_device_close(b.device);
    return code;
}

// Context and recipe; cli_run_open opens a device as well, which costs nothing as null. The context logs
// through the flags it was given, so they must be the verb's own.
static int open_recipe(options *o, const char *path, char **settings, int n, cli_run *run)
{
    o->common.device = "null";
    const int code = cli_run_open(&o->common, path, (const char *const *)settings, (size_t)n, run);
    weft_device_close(run->device);
    run->device = NULL;
    return code;
}

static int run_diff(const cli_verb *verb, int argc, char **argv)
{
    options o = {0};
    cli_run run = {0};
    cli_progress progress;
    weft_train_events events = WEFT_TRAIN_EVENTS_INIT;
    int n_words;
    int code = cli_parse(verb, argc, argv, &o, &n_words);
    if (code >= 0)
        return code;
    // A B RECIPE settings; with --save also A RECIPE settings; two traces need no recipe.
    const bool are_traces = n_words == 2 && !o.save && is_file(argv[0]) && is_file(argv[1]);
    const bool has_b = are_traces || n_words < 3 || !strchr(argv[2], '=');
    const bool is_save = o.save && (n_words == 2 || !has_b);
    const int n_sides = is_save ? 1 : 2;
    if (n_words <= n_sides && !are_traces)
        return cli_usage(verb, "%d words, expected two devices or traces, and a recipe", n_words);
    if (o.save && is_file(argv[0]))
        return cli_usage(verb, "--save writes the trace of a device, '%s' is a file", argv[0]);
    if (o.n_steps == 0)
        return cli_usage(verb, "--steps is 0, expected 1 or more");
    cli_progress_init(&progress, stdout);
    events.user = &progress;
    events.step = o.common.is_json || o.common.is_quiet ? NULL : show_step;
    events.wants_stop = cli_wants_stop;
    cli_catch_interrupt();
    if (are_traces)
        code = cli_context(&o.common, &run.context);
    else
        code = open_recipe(&o, argv[n_sides], argv + n_sides + 1, n_words - n_sides - 1, &run);
    if (!code)
        code = compare(&o, &run, argv, n_sides == 2, &events);
    cli_run_close(&run);
    return code;
}

static const cli_flag flags[] = {
    {"steps", CLI_INTEGER, offsetof(options, n_steps), "N", "compare N steps, not 10"},
    {"save", CLI_TEXT, offsetof(options, save), "FILE", "write A's trace: every op's results"},
};

const cli_verb cli_verb_diff = {
    .name = "diff",
    .summary = "the first step and op where two devices or traces differ",
    .arguments = "A B RECIPE [KEY=VALUE ...]",
    .text =
        "A and B are devices, or files that --save wrote; a recipe may be the folder of a run.\n"
        "With --save FILE, B may be left out. Two traces need no recipe. The recipe is trained\n"
        "on both in memory; where bits differ, that step is taken apart, op by op. Exit code 1\n"
        "on a difference.",
    .wants = CLI_WANTS_SEED,
    .flags = flags,
    .n_flags = CLI_COUNT(flags),
    .run = run_diff,
};
