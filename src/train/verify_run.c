// Repeats a run in memory and holds it against its receipt, step by step. In: a run folder. Out: the first
// step that differs, if any.
#include <string.h>

#include "train/trainer.h"

static weft_status check_receipt(wf_trainer *t, const wf_receipt *receipt, const char *run_dir,
                                 weft_error *err)
{
    char hex[WF_SHA256_HEX_BYTES];
    if (receipt->arithmetic_version != WEFT_ARITHMETIC_VERSION)
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: computed with arithmetic version %lld, this is %d",
                  run_dir, (long long)receipt->arithmetic_version, WEFT_ARITHMETIC_VERSION);
    WEFT_TRY(wf_recipe_digest(t->recipe, hex, err));
    if (strcmp(hex, receipt->recipe_sha256) != 0)
        WEFT_FAIL(err, WEFT_ERR_FORMAT,
                  "%s: recipe.yaml is not the recipe of the receipt, expected digest %.16s",
                  run_dir, receipt->recipe_sha256);
    WEFT_TRY(wf_train_data_digest(&t->data, hex, err));
    if (strcmp(hex, receipt->data_sha256) != 0)
        WEFT_FAIL(err, WEFT_ERR_FORMAT,
                  "%s: %s holds other data than the receipt, expected "
                  "digest %.16s",
                  run_dir, t->recipe->v.data.dir, receipt->data_sha256);
    return WEFT_OK;
}

static void tell_step(const wf_trainer *t, int64_t n_steps, const weft_train_events *events)
{
    const weft_step_event event = {
        .step = t->step,
        .total_steps = n_steps,
        .epoch = t->epoch + 1,
        .n_epochs = (n_steps + t->steps_per_epoch - 1) / t->steps_per_epoch,
        .loss = t->loss,
        .lr = t->lr,
    };
    if (events && events->step)
        events->step(events->user, &event);
}

static weft_status repeat(wf_trainer *t, const wf_receipt *receipt, int64_t n_steps,
                          const weft_train_events *events, weft_verify_result *out, weft_error *err)
{
    WEFT_TRY(wf_trainer_start(t, 0, 0, err));
    while (t->step < n_steps && !out->first_different) {
        char hex[WF_SHA256_HEX_BYTES];
        WEFT_TRY(wf_trainer_step(t, err));
        wf_sha256_hex(t->history.chain, hex);
        out->n_steps = t->step;
        if (strncmp(hex, receipt->step_digests[t->step - 1], WF_STEP_DIGEST_CHARS) != 0)
            out->first_different = t->step;
        tell_step(t, n_steps, events);
        if (events && events->wants_stop && events->wants_stop(events->user))
            WEFT_FAIL(err, WEFT_ERR_INTERRUPTED, "interrupted at step %lld", (long long)t->step);
    }
    wf_sha256_hex(t->history.chain, out->digest);
    if (out->first_different || n_steps < receipt->n_steps)
        return WEFT_OK;
    char hex[WF_SHA256_HEX_BYTES];
    WEFT_TRY(wf_weights_digest(&t->programs, hex, err));
    out->are_weights_compared = true;
    out->are_weights_equal = !strcmp(hex, receipt->weights_digest);
    return WEFT_OK;
}

weft_status weft_verify_run(weft_recipe *recipe, weft_device *device, const char *run_dir,
                            int64_t n_steps, const weft_train_events *events,
                            weft_verify_result *out, weft_error *err)
{
    wf_receipt receipt;
    wf_trainer trainer;
    WEFT_REQUIRE(err, recipe && device && run_dir && out && n_steps >= 0,
                 "verify: without recipe, device, folder or result");
    memset(out, 0, sizeof *out);
    WEFT_TRY(wf_receipt_load(&recipe->allocator, run_dir, &receipt, err));
    if (n_steps == 0 || n_steps > receipt.n_steps)
        n_steps = receipt.n_steps;
    weft_status status = wf_trainer_init(&trainer, recipe, device, 0, err);
    if (status == WEFT_OK)
        status = check_receipt(&trainer, &receipt, run_dir, err);
    if (status == WEFT_OK)
        status = repeat(&trainer, &receipt, n_steps, events, out, err);
    wf_trainer_deinit(&trainer);
    wf_receipt_deinit(&receipt);
    return status;
}
