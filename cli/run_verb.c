// Opens recipe, context and device for a verb; catches interrupts.
#include "run_verb.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static volatile sig_atomic_t is_interrupted;

static void on_signal(int number)
{
    is_interrupted = 1;
    // The next one acts as it always does.
    signal(number, SIG_DFL);
}

void cli_catch_interrupt(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool cli_wants_stop(void *user)
{
    (void)user;
    return is_interrupted != 0;
}

int cli_run_end(weft_status status, const weft_error *err)
{
    return status == WEFT_OK ? CLI_OK : cli_fail(err);
}

// The words and the flags that are short for words. Free the array.
static const char **all_settings(const cli_common *common, const char *const *settings, size_t n,
                                 char seed[48], size_t *out_n)
{
    const char **all = calloc(n + 3, sizeof *all);
    if (!all)
        return NULL;
    if (n)
        memcpy(all, settings, n * sizeof *all);
    if (common->seed != CLI_UNSET) {
        snprintf(seed, 48, "seed=%" PRId64, common->seed);
        all[n++] = seed;
    }
    if (common->arithmetic != CLI_ARITHMETIC_UNSET)
        all[n++] =
            common->arithmetic == CLI_ARITHMETIC_EXACT ? "arithmetic=exact" : "arithmetic=fast";
    if (common->arithmetic == CLI_ARITHMETIC_MIXED)
        all[n++] = "storage=bf16";
    *out_n = n;
    return all;
}

// Where a recipe comes from: a file or a run folder, or data and a model's name.
typedef struct recipe_source {
    const char *path; // NULL: the other two
    const char *data, *model;
} recipe_source;

static weft_status read_recipe(weft_context *context, const recipe_source *from,
                               const char *const *settings, size_t n, weft_recipe **out,
                               weft_error *err)
{
    struct stat info;
    if (!from->path)
        return weft_recipe_make(context, from->data, from->model, settings, n, out, err);
    if (stat(from->path, &info) == 0 && S_ISDIR(info.st_mode))
        return weft_recipe_read_run(context, from->path, settings, n, out, err);
    return weft_recipe_read(context, from->path, settings, n, out, err);
}

static int open_run(const cli_common *common, const recipe_source *from,
                    const char *const *settings, size_t n_settings, cli_run *out)
{
    weft_error err = {0};
    char seed[48];
    size_t n = 0;
    memset(out, 0, sizeof *out);
    int code = cli_context(common, &out->context);
    if (code)
        return code;
    const char **all = all_settings(common, settings, n_settings, seed, &n);
    if (!all) {
        fprintf(stderr, "weft: error: out of memory\n");
        return CLI_FAILED;
    }
    const weft_status status = read_recipe(out->context, from, all, n, &out->recipe, &err);
    free(all);
    if (status != WEFT_OK)
        return cli_fail(&err);
    cli_common with = *common;
    with.arithmetic = weft_recipe_arithmetic(out->recipe) == WEFT_FAST ? CLI_ARITHMETIC_FAST
                                                                       : CLI_ARITHMETIC_EXACT;
    return cli_device(&with, out->context, &out->device);
}

int cli_run_open(const cli_common *common, const char *path, const char *const *settings,
                 size_t n_settings, cli_run *out)
{
    return open_run(common, &(recipe_source){.path = path}, settings, n_settings, out);
}

int cli_run_make(const cli_common *common, const char *data, const char *model,
                 const char *const *settings, size_t n_settings, cli_run *out)
{
    return open_run(common, &(recipe_source){.data = data, .model = model}, settings, n_settings,
                    out);
}

void cli_run_close(cli_run *run)
{
    weft_device_close(run->device);
    weft_recipe_destroy(run->recipe);
    weft_context_destroy(run->context);
}
