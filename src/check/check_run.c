// A trial on a device, through compile and run as any program: the bits of every output and variable.
// Stage: check.
#include <string.h>

#include "check/check.h"
#include "run/run_internal.h"

static weft_status take(wf_check_result *r, const char *name, const weft_type *type,
                        wf_check_tensor **out, weft_error *err)
{
    if (r->n == WF_CHECK_MAX_TENSORS) {
        WEFT_FAIL(err, WEFT_ERR_INTERNAL, "check: a trial with more than %d results",
                  WF_CHECK_MAX_TENSORS);
    }
    wf_check_tensor *t = &r->tensors[r->n];
    const size_t bytes = (size_t)wf_type_count(type) * weft_dtype_size(type->dtype);
    *t = (wf_check_tensor){wf_arena_strdup(&r->memory, name), *type,
                           wf_arena_take(&r->memory, bytes), false};
    if (!t->name || !t->data) {
        WEFT_FAIL(err, WEFT_ERR_MEMORY, "check: %zu bytes for a result are not available", bytes);
    }
    r->n++;
    *out = t;
    return WEFT_OK;
}

static size_t bytes_of(const wf_check_tensor *t)
{
    return (size_t)wf_type_count(&t->type) * weft_dtype_size(t->type.dtype);
}

static weft_status read_results(const wf_check_trial *trial, weft_program *program,
                                weft_state *state, wf_check_result *out, weft_error *err)
{
    wf_check_tensor *t = NULL;
    for (size_t i = 0; i < trial->g->n_outputs; i++) {
        const wf_output *o = &trial->g->outputs[i];
        WEFT_TRY(take(out, o->name, wf_graph_type(trial->g, o->val), &t, err));
        WEFT_TRY(weft_program_read(program, o->name, t->data, bytes_of(t), err));
    }
    for (size_t i = 0; i < weft_state_count(state); i++) {
        const char *name = weft_state_name(state, i);
        const weft_type type = weft_state_type(state, name);
        WEFT_TRY(take(out, name, &type, &t, err));
        WEFT_TRY(weft_state_read(state, name, t->data, bytes_of(t), err));
    }
    return WEFT_OK;
}

static weft_status run_program(const wf_check_trial *trial, weft_program *program,
                               wf_check_result *out, weft_error *err)
{
    for (size_t i = 0; i < trial->n_inputs; i++) {
        const wf_check_tensor *in = &trial->inputs[i];
        weft_error missing = {0};
        const weft_status status =
            weft_program_write(program, in->name, in->data, bytes_of(in), &missing);
        // An input on which no output depends is not in the program.
        if (status != WEFT_OK && status != WEFT_ERR_NAME) {
            WEFT_FAIL(err, status, "%s", missing.message);
        }
    }
    for (int32_t i = 0; i < trial->n_runs; i++) {
        WEFT_TRY(weft_program_run(program, err));
    }
    out->ended = weft_program_check(program, NULL);
    return WEFT_OK;
}

weft_status wf_check_trial_run(const wf_check_trial *trial, weft_device *device,
                               wf_check_result *out, weft_error *err)
{
    weft_state *state = NULL;
    weft_program *program = NULL;
    *out = (wf_check_result){.n = 0};
    wf_arena_init(&out->memory, &trial->ctx->allocator);
    weft_status status = weft_state_create(device, &state, err);
    if (status == WEFT_OK) {
        status = weft_compile(state, trial->g, NULL, &program, err);
    }
    if (status == WEFT_OK) {
        status = run_program(trial, program, out, err);
    }
    if (status == WEFT_OK) {
        status = read_results(trial, program, state, out, err);
    }
    weft_program_destroy(program);
    weft_state_destroy(state);
    return status;
}

void wf_check_result_deinit(wf_check_result *result)
{
    wf_arena_deinit(&result->memory);
}
