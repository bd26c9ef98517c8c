// weft lr-find: losses over rising learning rates, a suggestion, a picture.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "run_verb.h"

#define SHOWN_EVERY 5 // rows of the table

typedef struct options {
    cli_common common;
    const char *out_dir, *least, *most;
    int64_t n_steps;
} options;

typedef struct reporter {
    const options *o;
    cli_json json;
} reporter;

static void show_point(void *user, const weft_lr_point *p)
{
    reporter *r = user;
    if (r->o->common.is_json) {
        cli_json_open(&r->json, NULL, '{');
        cli_json_text(&r->json, "event", "lr");
        cli_json_integer(&r->json, "step", p->step);
        cli_json_f32(&r->json, "lr", p->lr);
        cli_json_f32(&r->json, "loss", p->loss);
        cli_json_f64(&r->json, "smoothed", p->smoothed);
        cli_json_close(&r->json, '}');
        cli_json_end(&r->json);
        return;
    }
    if (r->o->common.is_quiet)
        return;
    if (p->step == 1)
        printf("%6s  %-10s  %10s  %10s\n", "step", "lr", "loss", "smoothed");
    if (p->step % SHOWN_EVERY == 0 || p->step == 1)
        printf("%6" PRId64 "  %-10.2e  %10.4f  %10.4f\n", p->step, (double)p->lr, (double)p->loss,
               p->smoothed);
    fflush(stdout);
}

static void show_result(reporter *r, const weft_lr_find_result *result, const char *dir)
{
    if (r->o->common.is_json) {
        cli_json_open(&r->json, NULL, '{');
        cli_json_text(&r->json, "event", "done");
        cli_json_integer(&r->json, "steps", result->n_steps);
        cli_json_bool(&r->json, "diverged", result->is_diverged);
        cli_json_f64(&r->json, "lr_at_least", result->lr_at_least);
        cli_json_f64(&r->json, "lr_steepest", result->lr_steepest);
        cli_json_f64(&r->json, "suggested", result->suggested);
        cli_json_close(&r->json, '}');
        cli_json_end(&r->json);
        return;
    }
    printf("%s after %" PRId64 " steps; the loss is least at %.2e and falls fastest at %.2e\n",
           result->is_diverged ? "diverged" : "ended", result->n_steps, result->lr_at_least,
           result->lr_steepest);
    printf("suggested: optimiser.lr=%.2e\npicture in %s/lr-find.png\n", result->suggested, dir);
}

// A positive number, or false.
static bool parse_rate(const char *text, double *out)
{
    char *end = NULL;
    if (!text)
        return true;
    *out = strtod(text, &end);
    return end != text && !*end && *out > 0.0;
}

static int find(const options *o, const char *path, const char *const *settings, size_t n,
                weft_lr_find_options *find_options)
{
    cli_run run;
    weft_error err = {0};
    weft_lr_find_result result;
    reporter r = {.o = o, .json = {stdout, false}};
    char dir[256];
    int code = cli_run_open(&o->common, path, settings, n, &run);
    if (code == CLI_OK) {
        snprintf(dir, sizeof dir, "runs/%.200s-lr-find", weft_recipe_name(run.recipe));
        find_options->dir = o->out_dir ? o->out_dir : dir;
        find_options->point = show_point;
        find_options->user = &r;
        find_options->wants_stop = cli_wants_stop;
        cli_catch_interrupt();
        code = cli_run_end(weft_lr_find_run(run.recipe, run.device, find_options, &result, &err),
                           &err);
        if (code == CLI_OK)
            show_result(&r, &result, find_options->dir);
    }
    cli_run_close(&run);
    return code;
}

static int run_lr_find(const cli_verb *verb, int argc, char **argv)
{
    options o = {0};
    int n_words;
    weft_lr_find_options find_options = WEFT_LR_FIND_OPTIONS_INIT;
    int code = cli_parse(verb, argc, argv, &o, &n_words);
    if (code >= 0)
        return code;
    if (n_words < 1 || strchr(argv[0], '='))
        return cli_usage(verb, "no recipe, expected a file");
    for (int i = 1; i < n_words; i++) {
        if (!strchr(argv[i], '='))
            return cli_usage(verb, "'%s' beside the recipe, expected key=value", argv[i]);
    }
    if (!parse_rate(o.least, &find_options.least))
        return cli_usage(verb, "--from: '%s', expected a rate above 0", o.least);
    if (!parse_rate(o.most, &find_options.most))
        return cli_usage(verb, "--to: '%s', expected a rate above 0", o.most);
    if (o.n_steps != CLI_UNSET)
        find_options.n_steps = o.n_steps;
    return find(&o, argv[0], (const char *const *)argv + 1, (size_t)(n_words - 1), &find_options);
}

static const cli_flag flags[] = {
    {"out", CLI_TEXT, offsetof(options, out_dir), "DIR", "the folder (runs/NAME-lr-find)"},
    {"from", CLI_TEXT, offsetof(options, least), "RATE", "the first learning rate (1e-7)"},
    {"to", CLI_TEXT, offsetof(options, most), "RATE", "the last learning rate (10)"},
    {"steps", CLI_INTEGER, offsetof(options, n_steps), "N", "steps from one to the other (100)"},
};

const cli_verb cli_verb_lr_find = {
    .name = "lr-find",
    .summary = "learning rates that a recipe stands",
    .arguments = "RECIPE [KEY=VALUE ...]",
    .text =
        "Trains with a rate that rises at every step, until the loss explodes (L. Smith, 2017),\n"
        "and suggests a tenth of the rate where the smoothed loss was least.",
    .wants = CLI_WANTS_DEVICE | CLI_WANTS_PRECISION | CLI_WANTS_SEED,
    .flags = flags,
    .n_flags = CLI_COUNT(flags),
    .run = run_lr_find,
};
