// Messages, the context and the device of a verb.
#include <inttypes.h>
#include <string.h>

#include "cli.h"

int cli_fail(const weft_error *err)
{
    const weft_status code = (weft_status)err->code;
    fprintf(stderr, "weft: error: %s\n", err->message);
    if (code == WEFT_ERR_DEVICE)
        return CLI_NO_DEVICE;
    if (code == WEFT_ERR_INTERRUPTED)
        return CLI_INTERRUPTED;
    return code == WEFT_ERR_USAGE ? CLI_USAGE : CLI_FAILED;
}

static void log_line(void *user, weft_log_level level, const char *line)
{
    const cli_common *common = user;
    if (level == WEFT_LOG_WARNING)
        fprintf(stderr, "weft: warning: %s\n", line);
    else if (common->is_verbose || (level == WEFT_LOG_INFO && !common->is_quiet))
        fprintf(stderr, "weft: %s\n", line);
}

int cli_context(const cli_common *common, weft_context **out_context)
{
    weft_context_options options = WEFT_CONTEXT_OPTIONS_INIT;
    weft_error err = {0};
    options.log = log_line;
    // The hook only reads it.
    options.log_user = (void *)(uintptr_t)common;
    if (weft_context_create(&options, out_context, &err) != WEFT_OK)
        return cli_fail(&err);
    return CLI_OK;
}

int cli_device(const cli_common *common, weft_context *context, weft_device **out_device)
{
    weft_device_options options = WEFT_DEVICE_OPTIONS_INIT;
    weft_error err = {0};
    if (common->arithmetic == CLI_ARITHMETIC_MIXED) {
        fprintf(stderr, "weft: error: --precision mixed is of recipes, expected exact or fast\n");
        return CLI_USAGE;
    }
    options.arithmetic = common->arithmetic == CLI_ARITHMETIC_FAST ? WEFT_FAST : WEFT_EXACT;
    options.n_threads = common->n_threads == CLI_UNSET ? 0 : (uint32_t)common->n_threads;
    options.isa = common->isa;
    options.no_winograd = common->no_winograd;
    const weft_status status = weft_device_open(context, common->device ? common->device : "cpu",
                                                &options, out_device, &err);
    if (status == WEFT_OK)
        return CLI_OK;
    fprintf(stderr, "weft: error: %s\n", err.message);
    // A device that does not exist is unavailable too: scripts ask for one by name.
    return status == WEFT_ERR_MEMORY ? CLI_FAILED : CLI_NO_DEVICE;
}

const char *cli_size_text(uint64_t size_bytes, char out[CLI_SIZE_TEXT])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)size_bytes;
    size_t unit = 0;
    while (value >= 1024.0 && unit + 1 < CLI_COUNT(units)) {
        value /= 1024.0;
        unit++;
    }
    snprintf(out, CLI_SIZE_TEXT, "%.*f %s", unit ? 1 : 0, value, units[unit]);
    return out;
}
