// What the verbs that work on recipes and run folders share.
#ifndef CLI_RUN_VERB_H
#define CLI_RUN_VERB_H

#include "cli.h"

// A recipe, a context and a device: most verbs open these three and close them.
typedef struct cli_run {
    weft_context *context;
    weft_recipe *recipe;
    weft_device *device;
} cli_run;

// Opens all three. path is a recipe file, or the folder of a run. settings are words key=value, to which
// --seed and --precision are added. Returns 0 or an exit code, after a message.
int cli_run_open(const cli_common *common, const char *path, const char *const *settings,
                 size_t n_settings, cli_run *out_run);
// The same with a recipe for data and a model's name instead of a file.
int cli_run_make(const cli_common *common, const char *data, const char *model,
                 const char *const *settings, size_t n_settings, cli_run *out_run);
void cli_run_close(cli_run *run);
// The exit code of a library call's status, after its message.
int cli_run_end(weft_status status, const weft_error *err);

// From here on SIGINT and SIGTERM only set a flag; a second one ends the process at once.
void cli_catch_interrupt(void);
// For weft_train_events.wants_stop.
bool cli_wants_stop(void *user);

#endif
