// Loss and accuracy of a run's weights on a part of its data. In: a run folder. Out: two numbers.
#include <string.h>

#include "train/trainer.h"

static weft_status choose_part(const wf_train_data *data, const char *part, const wf_split **out,
                               weft_error *err)
{
    static const char *const names[] = {"test", "train", "validation", NULL};
    const wf_split *const splits[] = {&data->test_split, &data->train_split,
                                      &data->validation_split};
    char hint[WF_KEY_HINT], list[WF_KEY_LIST];
    for (size_t i = 0; names[i]; i++) {
        if (strcmp(names[i], part) != 0)
            continue;
        *out = splits[i];
        if (splits[i]->n == 0)
            WEFT_FAIL(err, WEFT_ERR_FILE, "data: no %s part", part);
        return WEFT_OK;
    }
    WEFT_FAIL(err, WEFT_ERR_NAME, "data: no part '%s', expected %s%s", part,
              wf_key_list(names, list), wf_key_hint(part, names, hint));
}

weft_status weft_eval_run(weft_recipe *recipe, weft_device *device, const char *run_dir,
                          const weft_eval_options *options, weft_eval_result *out, weft_error *err)
{
    static const weft_eval_options defaults = WEFT_EVAL_OPTIONS_INIT;
    const weft_eval_options *o = options ? options : &defaults;
    wf_train_data data;
    const wf_split *split = NULL;
    weft_state *state = NULL;
    wf_program_cache programs = {0};
    weft_status status;
    WEFT_REQUIRE(err, recipe && device && run_dir && out,
                 "eval: without recipe, device, folder or result");
    WEFT_REQUIRE(err, o->struct_size == sizeof *o, "eval: struct_size is %zu, expected %zu",
                 o->struct_size, sizeof *o);
    memset(out, 0, sizeof *out);
    WEFT_TRY(wf_train_data_open(recipe, &data, err));
    WEFT_TRY_GOTO(choose_part(&data, o->part ? o->part : "test", &split, err));
    WEFT_TRY_GOTO(weft_state_create(device, &state, err));
    wf_program_cache_init(&programs, recipe, &data, state, 1);
    WEFT_TRY_GOTO(wf_weights_load(&programs, run_dir,
                                  o->is_best ? "best.safetensors" : "weights.safetensors", err));
    WEFT_TRY_GOTO(wf_evaluate(&programs, split, recipe->v.train.batch,
                              (int32_t)recipe->v.train.loader_threads, &out->loss, &out->accuracy,
                              err));
    out->n_samples = split->n;
fail:
    wf_program_cache_deinit(&programs);
    weft_state_destroy(state);
    wf_train_data_close(&data);
    return status;
}
