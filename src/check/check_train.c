// Short training runs, one of each family of models: every variable's bits after some steps.
// Stage: check.
#include <stdio.h>
#include <string.h>

#include "check/check.h"
#include "weft/nn.h"

#define N_STEPS 6
#define N_ROWS 13 // odd, above a work-group's usual slices

typedef struct family {
    const char *name;
    int32_t ndim; // of x
    int64_t dims[4];
    int64_t n_classes;
    weft_val (*build)(weft_nn *nn, weft_val x);
    weft_optimizer_options optimizer;
    weft_schedule_options schedule;
} family;

static weft_val build_softmax(weft_nn *nn, weft_val x)
{
    return weft_linear(nn, "fc", x, 10, NULL);
}

static weft_val build_mlp(weft_nn *nn, weft_val x)
{
    weft_graph *g = weft_nn_graph(nn);
    x = weft_relu(g, weft_linear(nn, "fc1", x, 33, NULL));
    x = weft_gelu(g, weft_linear(nn, "fc2", x, 17, NULL));
    return weft_linear(nn, "fc3", x, 10, NULL);
}

static weft_val build_cnn(weft_nn *nn, weft_val x)
{
    static const int64_t window[] = {3, 3}, pad[] = {1, 1}, pool[] = {2, 2};
    weft_graph *g = weft_nn_graph(nn);
    weft_conv_layer_options o = WEFT_CONV_LAYER_OPTIONS_INIT;
    o.conv.pad_before = o.conv.pad_after = pad;
    x = weft_relu(g, weft_conv_layer(nn, "conv1", x, 5, window, &o));
    x = weft_max_pool(g, x, pool, NULL);
    x = weft_silu(g, weft_conv_layer(nn, "conv2", x, 7, window, &o));
    x = weft_mean_pool(g, x, pool, NULL);
    return weft_linear(nn, "fc", weft_flatten(g, x, 1), 10, NULL);
}

static weft_val build_norm(weft_nn *nn, weft_val x)
{
    static const int64_t window[] = {3, 3};
    weft_graph *g = weft_nn_graph(nn);
    x = weft_conv_layer(nn, "conv1", x, 6, window, NULL);
    x = weft_relu(g, weft_batch_norm(nn, "bn1", x, NULL));
    x = weft_dropout(nn, x, 0.25);
    x = weft_layer_norm(nn, "ln", weft_global_mean_pool(g, x), NULL);
    x = weft_dropout(nn, weft_tanh(g, weft_linear(nn, "fc1", x, 19, NULL)), 0.5);
    return weft_linear(nn, "fc2", x, 10, NULL);
}

static const family families[] = {
    {"softmax",
     2,
     {N_ROWS, 31},
     10,
     build_softmax,
     {.struct_size = sizeof(weft_optimizer_options), .kind = WEFT_OPTIMIZER_SGD},
     {.struct_size = sizeof(weft_schedule_options), .kind = WEFT_SCHEDULE_CONSTANT, .lr = 0.5}},
    {"mlp",
     2,
     {N_ROWS, 31},
     10,
     build_mlp,
     {.struct_size = sizeof(weft_optimizer_options),
      .kind = WEFT_OPTIMIZER_SGD,
      .momentum = 0.9,
      .is_nesterov = true,
      .weight_decay = 1e-3},
     {.struct_size = sizeof(weft_schedule_options),
      .kind = WEFT_SCHEDULE_LINEAR,
      .lr = 0.1,
      .warmup_steps = 2,
      .total_steps = N_STEPS}},
    {"cnn",
     4,
     {N_ROWS, 1, 12, 11},
     10,
     build_cnn,
     {.struct_size = sizeof(weft_optimizer_options), .kind = WEFT_OPTIMIZER_ADAM},
     {.struct_size = sizeof(weft_schedule_options),
      .kind = WEFT_SCHEDULE_COSINE,
      .lr = 0.01,
      .total_steps = N_STEPS}},
    {"batch norm, layer norm, dropout",
     4,
     {N_ROWS, 2, 8, 9},
     10,
     build_norm,
     {.struct_size = sizeof(weft_optimizer_options),
      .kind = WEFT_OPTIMIZER_ADAMW,
      .weight_decay = 0.01,
      .clip_norm = 1.0},
     {.struct_size = sizeof(weft_schedule_options),
      .kind = WEFT_SCHEDULE_ONE_CYCLE,
      .lr = 0.02,
      .total_steps = N_STEPS}},
};

static weft_status build_graph(wf_check_trial *t, const family *f, weft_error *err)
{
    weft_nn *nn;
    const weft_nn_options options = {.struct_size = sizeof options, .is_training = true, .seed = 7};
    const int64_t n_rows = f->dims[0];
    WEFT_TRY(weft_nn_create(t->g, &options, &nn, err));
    t->inputs[0] = (wf_check_tensor){"x", wf_type_make(WEFT_F32, f->ndim, f->dims), NULL, false};
    t->inputs[1] = (wf_check_tensor){"labels", wf_type_make(WEFT_I32, 1, &n_rows), NULL, false};
    t->n_inputs = 2;
    const weft_val x = weft_input(t->g, "x", WEFT_F32, f->dims, f->ndim);
    const weft_val labels = weft_input(t->g, "labels", WEFT_I32, &n_rows, 1);
    const weft_val logits = f->build(nn, x);
    const weft_val loss = weft_cross_entropy(t->g, logits, labels, NULL);
    weft_output(t->g, "loss", loss);
    weft_output(t->g, "correct", weft_count_correct(t->g, logits, labels, NULL));
    weft_output(t->g, "lr", weft_train_step(nn, loss, &f->optimizer, &f->schedule));
    weft_nn_destroy(nn);
    return weft_graph_status(t->g, err);
}

static weft_status init_trial(wf_check_trial *t, weft_context *ctx, const family *f,
                              weft_error *err)
{
    *t = (wf_check_trial){.ctx = ctx, .n_runs = N_STEPS};
    wf_arena_init(&t->memory, &ctx->allocator);
    WEFT_TRY(weft_graph_create(ctx, &t->g, err));
    WEFT_TRY(build_graph(t, f, err));
    for (size_t i = 0; i < t->n_inputs; i++) {
        wf_check_tensor *in = &t->inputs[i];
        in->data = wf_arena_take(&t->memory, (size_t)wf_type_count(&in->type) *
                                                 weft_dtype_size(in->type.dtype));
        if (!in->data) {
            WEFT_FAIL(err, WEFT_ERR_MEMORY, "check: memory for a training run is not available");
        }
        wf_check_fill_data(&in->type, i == 0 ? WF_CHECK_NORMAL : WF_CHECK_INDEX, f->n_classes,
                           f->name, (uint32_t)i, in->data);
    }
    return WEFT_OK;
}

weft_status wf_check_train(wf_check_session *s, weft_error *err)
{
    (void)err;
    for (size_t i = 0; i < WF_COUNT_OF(families); i++) {
        wf_check_trial trial;
        wf_check_result ref = {.n = 0};
        weft_error why = {0};
        char reason[256] = "";
        weft_check_status status = WEFT_CHECK_DIFFERENT;
        if (init_trial(&trial, s->ctx, &families[i], &why) != WEFT_OK) {
            (void)snprintf(reason, sizeof reason, "%.250s", why.message);
        } else {
            status = wf_check_both(s, &trial, &ref, reason);
            wf_check_result_deinit(&ref);
        }
        wf_check_trial_deinit(&trial);
        const weft_check_event event = {"training", families[i].name, status, reason, -1.0, NULL};
        wf_check_tell(s, &event);
    }
    return WEFT_OK;
}
