// weft devices: every device, usable or not, and why. Out: a table, or with --json one array.
#include "cli.h"

typedef struct devices_flags {
    cli_common common;
} devices_flags;

typedef struct listing {
    cli_json json;
    bool is_json;
} listing;

static const char *kind_name(weft_device_kind kind)
{
    return kind == WEFT_DEVICE_CPU ? "cpu" : kind == WEFT_DEVICE_GPU ? "gpu" : "accelerator";
}

static const char *exact_name(weft_exactness exact)
{
    return exact == WEFT_EXACT_NATIVE ? "native" : exact == WEFT_EXACT_EMULATED ? "emulated" : "no";
}

static void tell_json(cli_json *json, const weft_device_info *info)
{
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "id", info->id);
    cli_json_text(json, "name", info->name);
    cli_json_text(json, "kind", kind_name(info->kind));
    cli_json_bool(json, "usable", info->usable);
    cli_json_text(json, "exact", exact_name(info->exact));
    cli_json_text(json, "reason", info->reason);
    cli_json_integer(json, "memory_bytes", (int64_t)info->memory_bytes);
    cli_json_integer(json, "compute_units", (int64_t)info->compute_units);
    cli_json_close(json, '}');
}

static void found(void *user, const weft_device_info *info)
{
    listing *l = user;
    if (l->is_json) {
        tell_json(&l->json, info);
        return;
    }
    char size[CLI_SIZE_TEXT] = "";
    printf("%-10s %-11s %-11s %s", info->id, kind_name(info->kind),
           !info->usable                        ? "unavailable"
           : info->exact == WEFT_EXACT_NATIVE   ? "exact"
           : info->exact == WEFT_EXACT_EMULATED ? "emulated"
                                                : "fast only",
           info->name);
    if (info->memory_bytes) {
        printf(", %s", cli_size_text(info->memory_bytes, size));
    }
    if (info->compute_units) {
        printf(", %u compute unit%s", info->compute_units, info->compute_units == 1 ? "" : "s");
    }
    printf("\n");
    if (info->reason[0]) {
        printf("%-10s %s\n", "", info->reason);
    }
}

static int run(const cli_verb *verb, int argc, char **argv)
{
    devices_flags f = {0};
    int n_words;
    weft_context *context;
    int code = cli_parse(verb, argc, argv, &f, &n_words);
    if (code >= 0) {
        return code;
    }
    if (n_words > 0) {
        return cli_usage(verb, "takes no arguments, '%s' is one", argv[0]);
    }
    code = cli_context(&f.common, &context);
    if (code != 0) {
        return code;
    }
    listing l = {{stdout, false}, f.common.is_json};
    if (l.is_json) {
        cli_json_open(&l.json, NULL, '[');
    }
    weft_devices_list(context, found, &l);
    if (l.is_json) {
        cli_json_close(&l.json, ']');
        cli_json_end(&l.json);
    }
    weft_context_destroy(context);
    return CLI_OK;
}

const cli_verb cli_verb_devices = {
    .name = "devices",
    .summary = "every device, usable or not, and why",
    .arguments = "",
    .text =
        "\"exact\" devices give the canonical bits, \"emulated\" ones with divide, square root or\n"
        "fma in software; \"fast only\" ones cannot, and the reason shows the operand that failed.",
    .run = run,
};
