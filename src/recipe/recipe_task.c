// What a step trains on and counts: the model's result against the target. In: a batch's values. Out:
// loss, counts, what people look at. A loss or a target is a row of a table here. Stage: recipe.
#include "recipe/recipe.h"

#include "graph/graph.h"
#include "op/build.h"

const char *const wf_loss_names[] = {"cross_entropy", "bce", "mse", "huber", "own", NULL};
const char *const wf_target_names[] = {"label", "image", "mask", "masked", NULL};

typedef struct task {
    const weft_recipe *recipe;
    weft_nn *nn;
    weft_graph *g;
    const wf_task_input *in;
    bool is_training;
    int64_t batch;
    int64_t n_classes; // of the target; 0: none
    weft_val x;        // what the model is given
    weft_val rows;     // positions that count; none: all
} task;

static void fail(const task *t, weft_status code, const char *what, weft_val val)
{
    const weft_type type = weft_val_type(t->g, val);
    char text[WF_TYPE_TEXT];
    wf_graph_fail(t->g, NULL, code, "%s, the data gives %s", what,
                  val.id ? wf_type_text(&type, text) : "none");
}

// ---- targets: [b,..]
static weft_val target_label(task *t)
{
    // A loss of the model's own looks at no label: the program has none.
    if (!t->in->label.id && t->recipe->v.loss.kind != WF_LOSS_OWN)
        fail(t, WEFT_ERR_SHAPE, "target: label", t->in->label);
    return t->in->label;
}

static weft_val target_image(task *t)
{
    return t->in->x;
}

// i32 [b,h,w]: 0 where no channel is above the threshold, else 1 + label.
static weft_val target_mask(task *t)
{
    static const int32_t channels = 1;
    weft_graph *g = t->g;
    const weft_type x = weft_val_type(g, t->in->x), label = weft_val_type(g, t->in->label);
    if (x.ndim != 4 || label.ndim != 1 || label.dtype != WEFT_I32) {
        fail(t, WEFT_ERR_SHAPE, "target: mask wants images and classes",
             x.ndim != 4 ? t->in->x : t->in->label);
        return WEFT_NONE;
    }
    weft_val limits[WF_NUMBERS_MAX];
    for (int64_t c = 0; c < x.dims[1]; c++) {
        // The threshold as the normalisation makes pixels: in f32, as there.
        float limit = (float)t->recipe->v.target.threshold;
        if (t->in->mean)
            limit = (limit - t->in->mean[c]) / t->in->std[c];
        limits[c] = weft_reshape(g, weft_scalar(g, WEFT_F32, (double)limit),
                                 (const int64_t[]){1, 1, 1, 1}, 4);
    }
    weft_scope_push(g, "mask");
    const weft_val limit = weft_concat(g, limits, (size_t)x.dims[1], 1);
    const weft_val bright = weft_cast(g, weft_less(g, limit, t->in->x), WEFT_I32);
    const weft_val is_bright = weft_reduce_max(g, bright, &channels, 1, false);
    const int64_t dims[] = {x.dims[0], 1, 1};
    const weft_val shown =
        weft_add(g, weft_reshape(g, t->in->label, dims, 3), weft_scalar(g, WEFT_I32, 1.0));
    const weft_val mask = weft_mul(g, is_bright, shown);
    weft_scope_pop(g);
    return mask;
}

// i32 [b*k]: the tokens that the model is not shown.
static weft_val target_masked(task *t)
{
    const weft_type x = weft_val_type(t->g, t->in->x);
    if (x.ndim != 2 || x.dtype != WEFT_I32 || x.dims[1] < 1) {
        fail(t, WEFT_ERR_SHAPE, "target: masked wants tokens", t->in->x);
        return WEFT_NONE;
    }
    return wf_task_masked(t->nn, t->in->x, t->n_classes, t->recipe->v.target.share, t->is_training,
                          &t->x, &t->rows);
}

static weft_val (*const targets[])(task *t) = {
    [WF_TARGET_LABEL] = target_label,
    [WF_TARGET_IMAGE] = target_image,
    [WF_TARGET_MASK] = target_mask,
    [WF_TARGET_MASKED] = target_masked,
};

// ---- losses: over everything, by a reduction
typedef struct loss_case {
    const task *t;
    weft_val out, target;
    weft_reduction reduction;
} loss_case;

static weft_val loss_cross_entropy(const loss_case *c)
{
    weft_cross_entropy_options o = WEFT_CROSS_ENTROPY_OPTIONS_INIT;
    o.reduction = c->reduction;
    o.label_smoothing = c->t->is_training ? c->t->recipe->v.loss.label_smoothing : 0.0;
    return weft_cross_entropy(c->t->g, c->out, c->target, &o);
}

static weft_val loss_bce(const loss_case *c)
{
    return weft_bce_with_logits(c->t->g, c->out, c->target, c->reduction);
}

static weft_val loss_mse(const loss_case *c)
{
    return weft_mse(c->t->g, c->out, c->target, c->reduction);
}

static weft_val loss_huber(const loss_case *c)
{
    return weft_huber(c->t->g, c->out, c->target, c->t->recipe->v.loss.delta, c->reduction);
}

static weft_val identity(weft_graph *g, weft_val out)
{
    (void)g;
    return out;
}

static weft_val softmax(weft_graph *g, weft_val out)
{
    return weft_softmax(g, out, 1);
}

static const struct {
    weft_val (*build)(const loss_case *c);
    weft_val (*predict)(weft_graph *g, weft_val out);
} losses[] = {
    [WF_LOSS_CROSS_ENTROPY] = {loss_cross_entropy, softmax},
    [WF_LOSS_BCE] = {loss_bce, weft_sigmoid},
    [WF_LOSS_MSE] = {loss_mse, identity},
    [WF_LOSS_HUBER] = {loss_huber, identity},
    [WF_LOSS_OWN] = {NULL, weft_sigmoid},
};

// Positions [b,t,c] as rows [b*t,c], so that classes are axis 1 everywhere; the target likewise.
static weft_val classes_at_1(const task *t, weft_val out, weft_val *target)
{
    const weft_type x = weft_val_type(t->g, out);
    if (x.ndim != 3)
        return out;
    const int64_t rows = x.dims[0] * x.dims[1], dims[] = {rows, x.dims[2]};
    if (weft_val_count(t->g, *target) == rows)
        *target = wf_build_reshape(t->g, *target, 1, dims);
    return weft_reshape(t->g, out, dims, 2);
}

// [b,classes,..] for a target [b,..].
static bool check_classes(const task *t, weft_val out, weft_val target)
{
    const weft_type x = weft_val_type(t->g, out), y = weft_val_type(t->g, target);
    char text[2][WF_TYPE_TEXT];
    if (!out.id || !target.id)
        return false;
    bool is_fitting = y.dtype == WEFT_I32 && x.ndim == y.ndim + 1 && x.dims[0] == y.dims[0] &&
                      (t->n_classes == 0 || x.dims[1] == t->n_classes);
    for (int32_t i = 1; is_fitting && i < y.ndim; i++) {
        is_fitting = x.dims[i + 1] == y.dims[i];
    }
    if (is_fitting)
        return true;
    weft_type wanted = y;
    wanted.dtype = WEFT_F32;
    wanted.ndim = y.ndim < WEFT_MAX_DIM ? y.ndim + 1 : y.ndim;
    for (int32_t i = wanted.ndim - 1; i > 1; i--) {
        wanted.dims[i] = y.dims[i - 1];
    }
    wanted.dims[1] = t->n_classes;
    wf_graph_fail(
        t->g, NULL, WEFT_ERR_SHAPE, "model: the last layer gives %s, expected %s: %lld classes",
        wf_type_text(&x, text[0]), wf_type_text(&wanted, text[1]), (long long)t->n_classes);
    return false;
}

// Right classes, over all axes but that of the classes.
static weft_val count_correct(const task *t, weft_val out, weft_val target)
{
    weft_graph *g = t->g;
    if (weft_val_type(g, target).ndim == 1)
        return weft_count_correct(g, out, target, NULL);
    const weft_val is_right = weft_equal(g, weft_argmax(g, out, 1, false), target);
    return weft_sum(g, weft_cast(g, is_right, WEFT_I64), NULL, 0, false);
}

// [b] as the mean in training, the sum in evaluation.
static weft_val over_samples(const task *t, weft_val penalty)
{
    return t->is_training ? weft_mean(t->g, penalty, NULL, 0, false)
                          : weft_sum(t->g, penalty, NULL, 0, false);
}

// Only what the model itself says.
static weft_val own_loss(const task *t, weft_val penalty)
{
    if (!penalty.id && weft_graph_status(t->g, NULL) == WEFT_OK)
        wf_graph_fail(t->g, NULL, WEFT_ERR_ATTR,
                      "loss: own, expected a model with a loss of its own, as dbn has in mode rbm");
    return penalty.id ? over_samples(t, penalty) : WEFT_NONE;
}

// The loss of all samples by the recipe's reduction, and the penalty of the model.
static weft_val build_loss(const task *t, weft_val out, weft_val target, weft_val penalty)
{
    weft_graph *g = t->g;
    if (t->recipe->v.loss.kind == WF_LOSS_OWN)
        return own_loss(t, penalty);
    const bool is_sum = t->recipe->v.loss.reduction == 1;
    const int64_t n_elements = weft_val_count(g, target);
    const double per_sample =
        t->batch > 0 && n_elements > 0 ? (double)n_elements / (double)t->batch : 1.0;
    const bool is_mean = t->is_training && !is_sum;
    const loss_case c = {t, out, target, is_mean ? WEFT_REDUCTION_MEAN : WEFT_REDUCTION_SUM};
    weft_val loss = losses[t->recipe->v.loss.kind].build(&c);
    if (t->is_training && is_sum)
        loss = weft_div(g, loss, weft_scalar(g, WEFT_F32, t->batch > 0 ? (double)t->batch : 1.0));
    if (!t->is_training && !is_sum && per_sample != 1.0)
        loss = weft_div(g, loss, weft_scalar(g, WEFT_F32, per_sample));
    return penalty.id ? weft_add(g, loss, over_samples(t, penalty)) : loss;
}

bool wf_recipe_wants_label(const weft_recipe *recipe)
{
    return recipe->v.loss.kind != WF_LOSS_OWN &&
           (recipe->v.target.kind == WF_TARGET_LABEL || recipe->v.target.kind == WF_TARGET_MASK);
}

int64_t wf_recipe_n_classes(const weft_recipe *recipe, int64_t n_classes)
{
    switch (recipe->v.target.kind) {
    case WF_TARGET_IMAGE: return 0;
    case WF_TARGET_MASK: return n_classes + 1;
    default: return n_classes;
    }
}

void wf_recipe_task(const weft_recipe *recipe, weft_nn *nn, const wf_task_input *in,
                    bool is_training, wf_task_result *out)
{
    weft_graph *g = weft_nn_graph(nn);
    task t = {.recipe = recipe, .nn = nn, .g = g, .in = in, .is_training = is_training, .x = in->x};
    wf_family_build family = {.nn = nn};
    *out = (wf_task_result){.n_judged = 1};
    t.n_classes = wf_recipe_n_classes(recipe, in->n_classes);
    t.batch = weft_val_type(g, in->x).dims[0];
    weft_graph_at(g, recipe->v.model.source, recipe->v.model.line, recipe->v.model.column);
    weft_val target = targets[recipe->v.target.kind](&t);
    weft_val y = wf_recipe_build(recipe, nn, t.x, t.n_classes, &family);
    out->out = y;
    out->code = family.code;
    if (recipe->v.loss.kind == WF_LOSS_CROSS_ENTROPY) {
        y = classes_at_1(&t, y, &target);
        if (t.rows.id && y.id)
            out->out = y = weft_gather(g, y, t.rows, 0); // what is judged
        if (!check_classes(&t, y, target))
            return;
        out->correct = count_correct(&t, y, target);
        out->n_judged = t.batch > 0 ? weft_val_count(g, target) / t.batch : 1;
    }
    out->target = target;
    out->loss = build_loss(&t, y, target, family.penalty);
    out->prediction = losses[recipe->v.loss.kind].predict(g, y);
}
