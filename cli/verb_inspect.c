// weft inspect: layers of a recipe or run, parameters, flops, and memory by batch size.
#include <inttypes.h>

#include "pass_listing.h"

typedef struct options {
    cli_common common;
    int64_t batch;
    bool wants_passes;
} options;

typedef struct listing {
    cli_json json;
    cli_table layers; // of people; printed when all are known
    bool is_json;
    const cli_run *run;
    bool has_begun, is_out_of_memory;
    int64_t n_parameters;
    uint64_t flops;
    int n_memory, n_nodes;
} listing;

static const char *shape_text(const weft_layer_info *info, char out[128])
{
    int at = snprintf(out, 128, "[");
    for (int32_t i = 0; i < info->ndim && at < 120; i++) {
        at += snprintf(out + at, (size_t)(128 - at), "%s%" PRId64, i ? "," : "", info->dims[i]);
    }
    snprintf(out + at, (size_t)(128 - at), "]");
    return out;
}

static void add_row(cli_table *t, const char *name, const char *kind, const char *shape,
                    int64_t n_parameters, uint64_t flops)
{
    if (!t->cells)
        return;
    cli_table_cell(t, "%s", name);
    cli_table_cell(t, "%s", kind);
    cli_table_cell(t, "%s", shape);
    cli_table_cell(t, "%" PRId64, n_parameters);
    cli_table_cell(t, "%" PRIu64, flops);
}

// In front of the first layer: where there is none to list, an error is all that is said.
static void begin(listing *l)
{
    if (l->has_begun)
        return;
    l->has_begun = true;
    if (!l->is_json) {
        static const char *const titles[] = {"layer", "kind", "shape", "parameters", "flops"};
        printf("%s on %s\n\n", weft_recipe_name(l->run->recipe), weft_device_id(l->run->device));
        l->is_out_of_memory = !cli_table_open(&l->layers, CLI_COUNT(titles));
        for (size_t i = 0; i < CLI_COUNT(titles) && !l->is_out_of_memory; i++)
            cli_table_cell(&l->layers, "%s", titles[i]);
        return;
    }
    cli_json_open(&l->json, NULL, '{');
    cli_json_text(&l->json, "name", weft_recipe_name(l->run->recipe));
    cli_json_text(&l->json, "device", weft_device_id(l->run->device));
    cli_json_open(&l->json, "layers", '[');
}

static void found_layer(void *user, const weft_layer_info *info)
{
    listing *l = user;
    char shape[128];
    begin(l);
    l->n_parameters += info->n_parameters;
    l->flops += info->flops;
    if (!l->is_json) {
        add_row(&l->layers, info->name, info->kind, shape_text(info, shape), info->n_parameters,
                info->flops);
        return;
    }
    cli_json_open(&l->json, NULL, '{');
    cli_json_text(&l->json, "name", info->name);
    cli_json_text(&l->json, "kind", info->kind);
    cli_json_open(&l->json, "shape", '[');
    for (int32_t i = 0; i < info->ndim; i++) {
        cli_json_integer(&l->json, NULL, info->dims[i]);
    }
    cli_json_close(&l->json, ']');
    cli_json_integer(&l->json, "parameters", info->n_parameters);
    cli_json_integer(&l->json, "flops", (int64_t)info->flops);
    cli_json_close(&l->json, '}');
}

// The layers are behind us when the first of these comes.
static void end_layers(listing *l)
{
    if (l->n_memory++)
        return;
    begin(l);
    if (!l->is_json) {
        add_row(&l->layers, "total", "", "", l->n_parameters, l->flops);
        cli_table_close(&l->layers, 3, stdout);
        printf("\n%8s %14s %16s\n", "batch", "memory", "flops of a step");
        return;
    }
    cli_json_close(&l->json, ']');
    cli_json_integer(&l->json, "parameters", l->n_parameters);
    cli_json_integer(&l->json, "flops", (int64_t)l->flops);
    cli_json_open(&l->json, "memory", '[');
}

static void found_memory(void *user, const weft_memory_info *info)
{
    listing *l = user;
    char size[CLI_SIZE_TEXT];
    end_layers(l);
    if (!l->is_json) {
        printf("%8" PRId64 " %14s %16" PRIu64 "\n", info->batch,
               cli_size_text(info->planned_bytes, size), info->step_flops);
        return;
    }
    cli_json_open(&l->json, NULL, '{');
    cli_json_integer(&l->json, "batch", info->batch);
    cli_json_integer(&l->json, "planned_bytes", (int64_t)info->planned_bytes);
    cli_json_integer(&l->json, "step_flops", (int64_t)info->step_flops);
    cli_json_close(&l->json, '}');
}

// The memory is behind us when the first of these comes.
static void found_node(void *user, const weft_script_node *node)
{
    listing *l = user;
    const bool is_first = l->n_nodes++ == 0;
    if (!l->is_json) {
        if (is_first)
            printf("\nweft sample, node by node (on the device: program)\n");
        printf("%*s%-8s %-*s %s\n", 2 * node->depth, "", node->kind, 18 - 2 * node->depth,
               node->name, node->signature);
        return;
    }
    if (is_first) {
        cli_json_close(&l->json, ']');
        cli_json_open(&l->json, "sample", '[');
    }
    cli_json_open(&l->json, NULL, '{');
    cli_json_text(&l->json, "kind", node->kind);
    cli_json_text(&l->json, "name", node->name);
    cli_json_text(&l->json, "signature", node->signature);
    cli_json_integer(&l->json, "depth", node->depth);
    cli_json_close(&l->json, '}');
}

static int inspect(const options *o, const cli_run *run)
{
    static const int64_t usual[] = {1, 32, 64, 128, 256, 512};
    weft_error err = {0};
    weft_inspect_events events = WEFT_INSPECT_EVENTS_INIT;
    listing l = {.json = {stdout, false}, .is_json = o->common.is_json, .run = run};
    events.user = &l;
    events.layer = found_layer;
    events.memory = found_memory;
    events.script = found_node;
    const bool is_one = o->batch != CLI_UNSET;
    const weft_status status =
        weft_inspect_run(run->recipe, run->device, is_one ? &o->batch : usual,
                         is_one ? 1 : CLI_COUNT(usual), &events, &err);
    // What was found before an error is shown with it.
    if (!l.is_json && l.layers.cells)
        cli_table_close(&l.layers, 3, stdout);
    if (status == WEFT_OK && l.is_json) {
        cli_json_close(&l.json, ']');
        cli_json_close(&l.json, '}');
        cli_json_end(&l.json);
    }
    return l.is_out_of_memory ? CLI_FAILED : cli_run_end(status, &err);
}

static int run_inspect(const cli_verb *verb, int argc, char **argv)
{
    options o = {0};
    cli_run run;
    int n_words;
    int code = cli_parse(verb, argc, argv, &o, &n_words);
    if (code >= 0)
        return code;
    if (n_words < 1)
        return cli_usage(verb, "no recipe, expected a file or the folder of a run");
    code = cli_run_open(&o.common, argv[0], (const char *const *)argv + 1, (size_t)(n_words - 1),
                        &run);
    if (code == CLI_OK)
        code = o.wants_passes
                   ? cli_list_passes(&run, o.batch == CLI_UNSET ? 0 : o.batch, o.common.is_json)
                   : inspect(&o, &run);
    cli_run_close(&run);
    return code;
}

static const cli_flag flags[] = {
    {"batch", CLI_INTEGER, offsetof(options, batch), "N", "memory for this batch size only"},
    {"passes", CLI_SWITCH, offsetof(options, wants_passes), NULL,
     "instead: the tasks of a step and the bytes that each moves"},
};

const cli_verb cli_verb_inspect = {
    .name = "inspect",
    .summary = "layers, shapes, parameters, flops, memory by batch size",
    .arguments = "RECIPE|RUN [KEY=VALUE ...]",
    .text =
        "Flops of layers are forward, for one sample; those of a step hold all of it. Memory is\n"
        "what a training takes: weights, optimiser, and the programs of whole and short\n"
        "batches, planned for the device. Passes are those of a training step over memory: an\n"
        "operand read, a result written. Nothing runs.",
    .wants = CLI_WANTS_DEVICE | CLI_WANTS_PRECISION | CLI_WANTS_SEED,
    .flags = flags,
    .n_flags = CLI_COUNT(flags),
    .run = run_inspect,
};
