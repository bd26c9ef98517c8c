// Short training runs, one of each family of models: every variable's bits after some steps.
// Stage: check.
#include <stdio.h>
#include <string.h>

#include "check/check.h"
#include "weft/family.h"
#include "weft/nn.h"

#define N_STEPS 6
#define N_ROWS 13 // odd, above a work-group's usual slices
#define N_CLASSES 10

// What the result is held against.
typedef enum goal {
    GOAL_LABELS,  // a class of each row, pixel or position
    GOAL_PICTURE, // what goes in, between 0 and 1
    GOAL_OWN,     // the network has a loss of its own; by hand, that is what build gives
} goal;

// A network by hand, or one of weft/family.h in words, which are its name here too.
typedef struct family {
    const char *name;
    weft_val (*build)(weft_nn *nn, weft_val x); // NULL: the name is "FAMILY key=value .."
    wf_check_input x;
    goal goal;
    weft_optimizer_options optimizer;
    weft_schedule_options schedule;
} family;

static weft_val build_softmax(weft_nn *nn, weft_val x)
{
    return weft_linear(nn, "fc", x, N_CLASSES, NULL);
}

static weft_val build_mlp(weft_nn *nn, weft_val x)
{
    weft_graph *g = weft_nn_graph(nn);
    x = weft_relu(g, weft_linear(nn, "fc1", x, 33, NULL));
    x = weft_gelu(g, weft_linear(nn, "fc2", x, 17, NULL));
    return weft_linear(nn, "fc3", x, N_CLASSES, NULL);
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
    return weft_linear(nn, "fc", weft_flatten(g, x, 1), N_CLASSES, NULL);
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
    return weft_linear(nn, "fc2", x, N_CLASSES, NULL);
}

// x [t,b,i] -> the loss itself: of labels with a repetition, one sample shorter than the others.
static weft_val build_ctc(weft_nn *nn, weft_val x)
{
    static const int32_t labels[] = {1, 1, 2, 0, 9, 4, 7, 7, 7}, lengths[] = {6, 8, 8};
    static const int64_t dims[] = {3, 3};
    weft_graph *g = weft_nn_graph(nn);
    weft_ctc_options o = WEFT_CTC_OPTIONS_INIT;
    o.blank = N_CLASSES;
    o.lengths = weft_constant(g, WEFT_I32, dims, 1, lengths);
    const weft_val logits = weft_linear(nn, "head", x, N_CLASSES + 1, NULL);
    return weft_ctc_loss(g, logits, weft_constant(g, WEFT_I32, dims, 2, labels), &o);
}

// The plainest of optimisers: what is new of a family is in its gradient, and a GPU's compiler has less to do.
#define SGD(lr_)                                                                                   \
    .optimizer = {.struct_size = sizeof(weft_optimizer_options), .kind = WEFT_OPTIMIZER_SGD},      \
    .schedule = {.struct_size = sizeof(weft_schedule_options), .lr = (lr_)}
#define FAMILY(words_, goal_, lr_, ...)                                                            \
    {                                                                                              \
        .name = (words_), .x = __VA_ARGS__, .goal = (goal_), SGD(lr_)                              \
    }
#define PICTURES(...) WF_CHECK_INPUT(WEFT_F32, __VA_ARGS__)
#define TOKENS(...) WF_CHECK_INPUT_FILL(WF_CHECK_INDEX, N_CLASSES, WEFT_I32, __VA_ARGS__)

static const family families[] = {
    {.name = "softmax",
     .build = build_softmax,
     .x = WF_CHECK_INPUT(WEFT_F32, N_ROWS, 31),
     SGD(0.5)},
    {.name = "mlp",
     .build = build_mlp,
     .x = WF_CHECK_INPUT(WEFT_F32, N_ROWS, 31),
     .optimizer = {.struct_size = sizeof(weft_optimizer_options),
                   .kind = WEFT_OPTIMIZER_SGD,
                   .momentum = 0.9,
                   .is_nesterov = true,
                   .weight_decay = 1e-3},
     .schedule = {.struct_size = sizeof(weft_schedule_options),
                  .kind = WEFT_SCHEDULE_LINEAR,
                  .lr = 0.1,
                  .warmup_steps = 2,
                  .total_steps = N_STEPS}},
    {.name = "cnn",
     .build = build_cnn,
     .x = PICTURES(N_ROWS, 1, 12, 11),
     .optimizer = {.struct_size = sizeof(weft_optimizer_options), .kind = WEFT_OPTIMIZER_ADAM},
     .schedule = {.struct_size = sizeof(weft_schedule_options),
                  .kind = WEFT_SCHEDULE_COSINE,
                  .lr = 0.01,
                  .total_steps = N_STEPS}},
    {.name = "batch norm, layer norm, dropout",
     .build = build_norm,
     .x = PICTURES(N_ROWS, 2, 8, 9),
     .optimizer = {.struct_size = sizeof(weft_optimizer_options),
                   .kind = WEFT_OPTIMIZER_ADAMW,
                   .weight_decay = 0.01,
                   .clip_norm = 1.0},
     .schedule = {.struct_size = sizeof(weft_schedule_options),
                  .kind = WEFT_SCHEDULE_ONE_CYCLE,
                  .lr = 0.02,
                  .total_steps = N_STEPS}},
    {.name = "ctc loss",
     .build = build_ctc,
     .x = WF_CHECK_INPUT(WEFT_F32, 8, 3, 5),
     .goal = GOAL_OWN,
     SGD(0.1)},
    FAMILY("unet width=3 levels=1 classes=10", GOAL_LABELS, 0.1, PICTURES(3, 1, 8, 6)),
    FAMILY("autoencoder kind=conv channels=3 code=5", GOAL_PICTURE, 0.1, PICTURES(5, 1, 8, 8)),
    FAMILY("vae hidden=19 code=3", GOAL_PICTURE, 0.1, PICTURES(N_ROWS, 1, 5, 5)),
    FAMILY("dbn hidden=11", GOAL_OWN, 0.1, PICTURES(N_ROWS, 1, 5, 5)), // CD-1
    FAMILY("lstm width=6 hidden=7 layers=1 classes=10", GOAL_LABELS, 0.1, TOKENS(5, 7)),
    FAMILY("gru width=6 layers=1 classes=10", GOAL_LABELS, 0.1, TOKENS(5, 7)),
    FAMILY("gpt width=12 heads=4 layers=1 classes=10", GOAL_LABELS, 0.1, TOKENS(3, 9)),
    FAMILY("vit patch=4 width=12 heads=3 layers=1 classes=10", GOAL_LABELS, 0.1,
           PICTURES(5, 3, 8, 4)),
    FAMILY("audio sample_rate=1000 mels=6 channels=3 dropout=0 classes=10", GOAL_LABELS, 0.1,
           WF_CHECK_INPUT(WEFT_F32, 5, 160)),
};

// Of words apart by single blanks: the family, then its options.
static weft_val build_words(weft_nn *nn, const char *words, weft_val x, weft_family_result *out)
{
    enum { MAX_WORDS = 10 };
    char text[128];
    const char *list[MAX_WORDS];
    size_t n = 0;
    (void)snprintf(text, sizeof text, "%s", words);
    for (char *word = text; word && n < MAX_WORDS; n++) {
        list[n] = word;
        word = strchr(word, ' ');
        if (word)
            *word++ = 0;
    }
    return weft_family(nn, list[0], x, list + 1, n - 1, out);
}

// Another input of the trial, as a value.
static weft_val add_input(wf_check_trial *t, const char *name, const weft_type *type)
{
    t->inputs[t->n_inputs++] = (wf_check_tensor){name, *type, NULL, false};
    return weft_input(t->g, name, type->dtype, type->dims, type->ndim);
}

// The cross-entropy of logits [n,c], [n,c,h,w], or of positions [b,t,c], with labels of the trial's own.
static weft_val build_label_loss(wf_check_trial *t, weft_val logits)
{
    weft_type type = weft_val_type(t->g, logits);
    if (type.ndim == 3) {
        const int64_t rows[] = {type.dims[0] * type.dims[1], type.dims[2]};
        logits = weft_reshape(t->g, logits, rows, 2);
        type = weft_val_type(t->g, logits);
    }
    const int64_t dims[] = {type.dims[0], type.dims[2], type.dims[3]};
    const weft_type of_labels = wf_type_make(WEFT_I32, type.ndim == 4 ? 3 : 1, dims);
    const weft_val labels = add_input(t, "labels", &of_labels);
    if (of_labels.ndim == 1)
        weft_output(t->g, "correct", weft_count_correct(t->g, logits, labels, NULL));
    return weft_cross_entropy(t->g, logits, labels, NULL);
}

static weft_val build_loss(wf_check_trial *t, weft_nn *nn, const family *f)
{
    weft_graph *g = t->g;
    weft_family_result result = {WEFT_NONE, WEFT_NONE, WEFT_NONE};
    weft_val loss = WEFT_NONE, x = add_input(t, "x", &f->x.type);
    if (f->goal == GOAL_PICTURE)
        x = weft_sigmoid(g, x);
    const weft_val out = f->build ? f->build(nn, x) : build_words(nn, f->name, x, &result);
    if (f->build && f->goal == GOAL_OWN)
        return out;
    if (f->goal == GOAL_LABELS)
        loss = build_label_loss(t, out);
    if (f->goal == GOAL_PICTURE)
        loss = weft_bce_with_logits(g, out, x, WEFT_REDUCTION_MEAN);
    if (!result.penalty.id)
        return loss;
    const weft_val own = weft_mean(g, result.penalty, NULL, 0, false);
    return loss.id ? weft_add(g, loss, own) : own;
}

static weft_status build_graph(wf_check_trial *t, const family *f, weft_error *err)
{
    weft_nn *nn;
    const weft_nn_options options = {.struct_size = sizeof options, .is_training = true, .seed = 7};
    WEFT_TRY(weft_nn_create(t->g, &options, &nn, err));
    const weft_val loss = build_loss(t, nn, f);
    weft_output(t->g, "loss", loss);
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
        // The labels are classes, as tokens are.
        const wf_check_fill fill = i == 0 ? f->x.fill : WF_CHECK_INDEX;
        wf_check_fill_data(&in->type, fill, N_CLASSES, f->name, (uint32_t)i, in->data);
    }
    return WEFT_OK;
}

weft_status wf_check_train(wf_check_session *s, weft_error *err)
{
    const size_t every = s->options->every ? s->options->every : 1;
    (void)err;
    for (size_t i = 0; i < WF_COUNT_OF(families); i += every) {
        wf_check_trial trial;
        wf_check_result ref = {.n = 0};
        weft_error why = {0};
        char reason[256] = "";
        weft_check_status status = WEFT_CHECK_DIFFERENT;
        if (init_trial(&trial, s->ctx, &families[i], &why) != WEFT_OK) {
            (void)snprintf(reason, sizeof reason, "%.250s", why.message);
        } else {
            status = wf_check_both(s, &trial, &ref, reason);
            if (status == WEFT_CHECK_EQUAL && ref.ended != WEFT_OK) {
                // Nothing was learnt: that the bits are equal says nothing.
                (void)snprintf(reason, sizeof reason, "ref: a step was bad");
                status = WEFT_CHECK_DIFFERENT;
            }
            wf_check_result_deinit(&ref);
        }
        wf_check_trial_deinit(&trial);
        const weft_check_event event = {"training", families[i].name, status, reason, -1.0, NULL};
        wf_check_tell(s, &event);
    }
    return WEFT_OK;
}
