// The passes over memory of a training step, task by task: weft inspect --passes.
#include "pass_listing.h"

#include <inttypes.h>

typedef struct pass_listing {
    cli_json json;
    cli_table tasks;
    bool is_json;
    int n_tasks;
    uint64_t n_reads, n_writes, bytes_read, bytes_written;
} pass_listing;

static void found_task(void *user, const weft_task_info *info)
{
    pass_listing *l = user;
    l->n_tasks++;
    l->n_reads += info->n_reads;
    l->n_writes += info->n_writes;
    l->bytes_read += info->bytes_read;
    l->bytes_written += info->bytes_written;
    if (!l->is_json) {
        cli_table_cell(&l->tasks, "%s%s", info->kind, info->has_epilogue ? " +" : "");
        cli_table_cell(&l->tasks, "%s", info->name);
        cli_table_cell(&l->tasks, "%u", info->n_reads);
        cli_table_cell(&l->tasks, "%u", info->n_writes);
        cli_table_cell(&l->tasks, "%" PRIu64, info->bytes_read);
        cli_table_cell(&l->tasks, "%" PRIu64, info->bytes_written);
        return;
    }
    cli_json_open(&l->json, NULL, '{');
    cli_json_text(&l->json, "kind", info->kind);
    cli_json_text(&l->json, "name", info->name);
    cli_json_bool(&l->json, "epilogue", info->has_epilogue);
    cli_json_integer(&l->json, "reads", info->n_reads);
    cli_json_integer(&l->json, "writes", info->n_writes);
    cli_json_integer(&l->json, "bytes_read", (int64_t)info->bytes_read);
    cli_json_integer(&l->json, "bytes_written", (int64_t)info->bytes_written);
    cli_json_close(&l->json, '}');
}

static bool begin_passes(pass_listing *l, const cli_run *run)
{
    static const char *const titles[] = {"task",   "name",       "reads",
                                         "writes", "bytes read", "written"};
    if (l->is_json) {
        cli_json_open(&l->json, NULL, '{');
        cli_json_text(&l->json, "name", weft_recipe_name(run->recipe));
        cli_json_text(&l->json, "device", weft_device_id(run->device));
        cli_json_open(&l->json, "tasks", '[');
        return true;
    }
    const bool is_open = cli_table_open(&l->tasks, CLI_COUNT(titles));
    for (size_t i = 0; i < CLI_COUNT(titles) && is_open; i++)
        cli_table_cell(&l->tasks, "%s", titles[i]);
    return is_open;
}

static void end_passes(pass_listing *l)
{
    char size[2][CLI_SIZE_TEXT];
    if (!l->is_json) {
        cli_table_close(&l->tasks, 2, stdout);
        printf("\n%d tasks, %" PRIu64 " passes over tensors: %" PRIu64 " reads of %s, %" PRIu64
               " writes of %s\n",
               l->n_tasks, l->n_reads + l->n_writes, l->n_reads,
               cli_size_text(l->bytes_read, size[0]), l->n_writes,
               cli_size_text(l->bytes_written, size[1]));
        return;
    }
    cli_json_close(&l->json, ']');
    cli_json_integer(&l->json, "reads", (int64_t)l->n_reads);
    cli_json_integer(&l->json, "writes", (int64_t)l->n_writes);
    cli_json_integer(&l->json, "bytes_read", (int64_t)l->bytes_read);
    cli_json_integer(&l->json, "bytes_written", (int64_t)l->bytes_written);
    cli_json_close(&l->json, '}');
    cli_json_end(&l->json);
}

int cli_list_passes(const cli_run *run, int64_t batch, bool is_json)
{
    weft_error err = {0};
    pass_listing l = {.json = {stdout, false}, .is_json = is_json};
    if (!begin_passes(&l, run))
        return CLI_FAILED;
    const weft_status status =
        weft_inspect_passes(run->recipe, run->device, batch, found_task, &l, &err);
    if (status == WEFT_OK)
        end_passes(&l);
    else
        cli_table_close(&l.tasks, 2, stdout);
    return cli_run_end(status, &err);
}
