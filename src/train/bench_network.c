// How fast the benchmark networks (recipes/bench) train and answer: one batch of their data, again and again.
// In: a name. Out: figures. Stage: train.
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"
#include "train/trainer.h"

static const struct {
    const char *file, *text; // "mlp.yaml"
} networks[] = {
#define WF_BENCH_RECIPE(file, text) {file, text},
#include "weft_generated/bench_recipes.inc"
#undef WF_BENCH_RECIPE
};

#define NAME_BYTES 32
static const char suffix[] = "-infer";

const char *weft_bench_network_name(size_t idx)
{
    static char names[WF_COUNT_OF(networks)][NAME_BYTES];
    if (idx >= WF_COUNT_OF(networks))
        return NULL;
    const size_t n = strlen(networks[idx].file) - strlen(".yaml");
    WEFT_ASSERT(n < NAME_BYTES);
    memcpy(names[idx], networks[idx].file, n);
    return names[idx];
}

// "mlp" or "mlp-infer"
static weft_status find(const char *name, const char **out_text, bool *out_is_inference,
                        weft_error *err)
{
    const size_t length = strlen(name), tail = sizeof suffix - 1;
    *out_is_inference = length > tail && !strcmp(name + length - tail, suffix);
    const size_t n = *out_is_inference ? length - tail : length;
    for (size_t i = 0; i < WF_COUNT_OF(networks); i++) {
        const char *known = weft_bench_network_name(i);
        if (strlen(known) == n && !memcmp(known, name, n)) {
            *out_text = networks[i].text;
            return WEFT_OK;
        }
    }
    WEFT_FAIL(err, WEFT_ERR_NAME, "bench: no network '%s'", name);
}

static double program_bytes(const weft_program *p)
{
    double bytes = 0.0;
    for (size_t i = 0; i < p->plan->n_tasks; i++) {
        bytes += p->plan->tasks[i].cost.bytes;
    }
    return bytes;
}

static weft_status measure(const wf_trainer *t, weft_program *program, wf_bench_scale *scale,
                           int64_t batch, weft_bench_result *out, weft_error *err)
{
    const wf_data_field *input = &t->data.input;
    scale->flops = (double)weft_program_flops(program);
    scale->bytes = program_bytes(program);
    out->batch = batch;
    out->n_tokens = input->dtype == WEFT_I32 && input->ndim == 1 ? batch * input->dim[0] : 0;
    return wf_bench_program(program, scale, out, err);
}

static weft_status measure_training(wf_trainer *t, const wf_batch *batch, wf_bench_scale *scale,
                                    weft_bench_result *out, weft_error *err)
{
    weft_program *program;
    WEFT_TRY(wf_program_get(&t->programs, WF_PROGRAM_TRAIN, batch->n, &program, err));
    WEFT_TRY(wf_program_write_samples(&t->programs, program, batch, 0, batch->n, err));
    return measure(t, program, scale, batch->n, out, err);
}

// One sample, without a loss.
static weft_status compile_inference(const wf_trainer *t, weft_program **out_program,
                                     weft_error *err)
{
    weft_graph *g = NULL;
    weft_nn *nn = NULL;
    weft_nn_options options = WEFT_NN_OPTIONS_INIT;
    weft_status status;
    options.storage = wf_recipe_storage(t->recipe);
    WEFT_TRY_GOTO(weft_graph_create(t->context, &g, err));
    WEFT_TRY_GOTO(weft_nn_create(g, &options, &nn, err));
    const weft_val x = wf_train_input(g, &t->data.input, 1);
    const int64_t n_classes = wf_recipe_n_classes(t->recipe, t->data.n_classes);
    weft_output(g, "out", wf_recipe_build(t->recipe, nn, x, n_classes, NULL));
    status = weft_compile(t->state, g, NULL, out_program, err);
fail:
    weft_nn_destroy(nn);
    weft_graph_destroy(g);
    return status;
}

static weft_status measure_inference(wf_trainer *t, const wf_batch *batch, wf_bench_scale *scale,
                                     weft_bench_result *out, weft_error *err)
{
    weft_program *program = NULL;
    weft_status status = compile_inference(t, &program, err);
    if (status == WEFT_OK)
        status = wf_program_write_field(program, batch, t->data.input.name, 0, 1, err);
    if (status == WEFT_OK)
        status = measure(t, program, scale, 1, out, err);
    weft_program_destroy(program);
    return status;
}

static weft_status read_recipe(weft_context *context, const char *name, const char *text,
                               const weft_bench_options *options, weft_recipe **out,
                               weft_error *err)
{
    char storage[32];
    const char *const settings[] = {storage};
    const bool is_given = options && options->storage != WEFT_DTYPE_NONE;
    if (is_given)
        snprintf(storage, sizeof storage, "storage=%s", weft_dtype_name(options->storage));
    return wf_recipe_read_text(context, name, text, settings, is_given, out, err);
}

weft_status weft_bench_network(weft_context *context, weft_device *device, const char *name,
                               double peak_gflops, const weft_bench_options *options,
                               weft_bench_result *out, weft_error *err)
{
    wf_trainer trainer = {.step = 0};
    weft_recipe *recipe = NULL;
    wf_batch batch;
    const char *text = NULL;
    bool is_inference = false;
    weft_status status;
    WEFT_REQUIRE(err, context && device && name && out, "bench: without device, name or result");
    wf_bench_scale scale = {.peak_gflops = peak_gflops};
    WEFT_TRY(wf_bench_options_get(options, &scale.options, err));
    WEFT_TRY(find(name, &text, &is_inference, err));
    WEFT_TRY(read_recipe(context, name, text, options, &recipe, err));
    WEFT_TRY_GOTO(wf_trainer_init(&trainer, recipe, device, 0, err));
    WEFT_TRY_GOTO(wf_trainer_start(&trainer, 0, 0, err));
    WEFT_TRY_GOTO(wf_loader_next(trainer.loader, &batch, err));
    status = is_inference ? measure_inference(&trainer, &batch, &scale, out, err)
                          : measure_training(&trainer, &batch, &scale, out, err);
fail:
    wf_trainer_deinit(&trainer);
    weft_recipe_destroy(recipe);
    return status;
}
