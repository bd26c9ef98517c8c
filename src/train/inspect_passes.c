// The passes over memory of a training step: its plan's tasks and the bytes that each moves. In: a recipe. Out:
// rows. Nothing runs.
#include "base/text.h"
#include "train/trainer.h"

static weft_status tell_task(const weft_context *ctx, const wf_task *task,
                             void (*found)(void *, const weft_task_info *), void *user,
                             weft_error *err)
{
    wf_text name;
    wf_text_init(&name, &ctx->allocator);
    wf_task_write_name(&name, task);
    const weft_status status = wf_text_status(&name, err);
    const weft_task_info info = {.kind = wf_task_kind_name(task->kind),
                                 .name = wf_text_str(&name),
                                 .has_epilogue = task->epilogue != NULL,
                                 .n_reads = (uint32_t)task->n_inputs,
                                 .n_writes = (uint32_t)task->n_outputs,
                                 .bytes_read = (uint64_t)(task->cost.bytes - task->bytes_written),
                                 .bytes_written = (uint64_t)task->bytes_written};
    if (status == WEFT_OK)
        found(user, &info);
    wf_text_deinit(&name);
    return status;
}

weft_status weft_inspect_passes(weft_recipe *recipe, weft_device *device, int64_t batch,
                                void (*found)(void *user, const weft_task_info *info), void *user,
                                weft_error *err)
{
    wf_trainer trainer;
    weft_graph *g;
    wf_plan *plan = NULL;
    WEFT_REQUIRE(err, recipe && device && found, "inspect: without recipe, device or receiver");
    if (batch < 0)
        WEFT_FAIL(err, WEFT_ERR_ATTR, "batch %lld, expected 0 or more", (long long)batch);
    weft_status status = wf_trainer_init(&trainer, recipe, device, 0, err);
    if (status == WEFT_OK)
        status = wf_program_graph(&trainer.programs, WF_PROGRAM_TRAIN,
                                  batch ? batch : recipe->v.train.batch, &g, err);
    if (status == WEFT_OK) {
        status = wf_compile_plan(trainer.state, g, &plan, err);
        weft_graph_destroy(g);
    }
    for (size_t i = 0; status == WEFT_OK && i < plan->n_tasks; i++)
        status = tell_task(trainer.context, &plan->tasks[i], found, user, err);
    wf_plan_destroy(plan);
    wf_trainer_deinit(&trainer);
    return status;
}
