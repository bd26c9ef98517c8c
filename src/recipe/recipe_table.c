// The keys of a recipe, their ranges and defaults. doc/recipes.md describes the same for people.
#include <string.h>

#include "recipe/recipe.h"

// Above every f32; range texts leave it out.
#define NO_LIMIT 3.5e38
#define AT(member) offsetof(wf_recipe_values, member)
#define IN(type, member) offsetof(type, member)

static const char *const arithmetics[] = {"exact", "fast", NULL};
static const char *const storages[] = {"f32", NULL};
static const char *const losses[] = {"cross_entropy", NULL};
static const char *const optimizers[] = {"sgd", "adam", "adamw", NULL};
static const char *const schedules[] = {"constant", "linear", "cosine", "step", "one_cycle", NULL};

#define BIT(kind) (1u << (kind))
#define NOT_ONE_CYCLE                                                                              \
    (BIT(WEFT_SCHEDULE_CONSTANT) | BIT(WEFT_SCHEDULE_LINEAR) | BIT(WEFT_SCHEDULE_COSINE) |         \
     BIT(WEFT_SCHEDULE_STEP))
#define FADING (BIT(WEFT_SCHEDULE_LINEAR) | BIT(WEFT_SCHEDULE_COSINE))

// ---- normalise: true, false, or the numbers themselves
static const wf_key normalise_keys[] = {
    {.name = "mean",
     .kind = WF_KEY_NUMBERS,
     .flags = WF_KEY_REQUIRED,
     .least = -1e6,
     .most = 1e6,
     .offset = IN(struct wf_normalise, mean)},
    {.name = "std",
     .kind = WF_KEY_NUMBERS,
     .flags = WF_KEY_REQUIRED | WF_KEY_ABOVE,
     .least = 0.0,
     .most = 1e6,
     .offset = IN(struct wf_normalise, std)},
    {.name = NULL},
};

static weft_status read_normalise(const wf_key_reader *r, const wf_key *key, const char *path,
                                  const wf_yaml *node, void *member)
{
    struct wf_normalise *n = member;
    (void)key;
    if (node->kind != WF_YAML_MAP)
        return wf_key_read_bool(r, path, node, &n->is_on);
    n->is_on = true;
    WEFT_TRY(wf_keys_read(r, normalise_keys, node, path, n));
    if (n->mean.n != n->std.n)
        return wf_yaml_fail(node, r->err, "%s: %d means and %d deviations, expected as many", path,
                            n->mean.n, n->std.n);
    return WEFT_OK;
}

static void print_normalise(const wf_key *key, const void *member, wf_text *out)
{
    const struct wf_normalise *n = member;
    (void)key;
    wf_text_append(out, " ");
    if (n->is_on && n->mean.n)
        wf_keys_print_flow(normalise_keys, n, out);
    else
        wf_text_append(out, n->is_on ? "true" : "false");
}

// ---- validation: test, or a fraction of the training data
static weft_status read_validation(const wf_key_reader *r, const wf_key *key, const char *path,
                                   const wf_yaml *node, void *member)
{
    double *fraction = member;
    char what[WF_YAML_WHAT];
    (void)key;
    if (node->kind == WF_YAML_SCALAR && !strcmp(node->text, "test")) {
        *fraction = 0.0;
        return WEFT_OK;
    }
    if (node->kind != WF_YAML_SCALAR || !wf_text_parse_f64(node->text, fraction) ||
        !(*fraction > 0.0 && *fraction < 1.0)) {
        return wf_yaml_fail(node, r->err, "%s: %s, expected test or a fraction above 0 and below 1",
                            path, wf_yaml_what(node, what));
    }
    return WEFT_OK;
}

static void print_validation(const wf_key *key, const void *member, wf_text *out)
{
    const double fraction = *(const double *)member;
    (void)key;
    wf_text_append(out, " ");
    if (fraction > 0.0)
        wf_text_append_f64(out, fraction);
    else
        wf_text_append(out, "test");
}

// ---- the tables
static const wf_key augment_keys[] = {
    {.name = "crop",
     .kind = WF_KEY_INTEGER,
     .offset = AT(data.augment.crop) - AT(data.augment),
     .least = 0,
     .most = 1024},
    {.name = "flip", .kind = WF_KEY_BOOL, .offset = AT(data.augment.is_flipped) - AT(data.augment)},
    {.name = NULL},
};

static const wf_key data_keys[] = {
    {.name = "reader", .kind = WF_KEY_TEXT, .offset = IN(wf_recipe_data, reader)},
    {.name = "dir",
     .kind = WF_KEY_TEXT,
     .flags = WF_KEY_REQUIRED,
     .offset = IN(wf_recipe_data, dir)},
    {.name = "image",
     .kind = WF_KEY_SIZES,
     .flags = WF_KEY_OPTIONAL,
     .least = 1,
     .most = 16384,
     .offset = IN(wf_recipe_data, image)},
    {.name = "n_classes",
     .kind = WF_KEY_INTEGER,
     .flags = WF_KEY_OPTIONAL,
     .least = 1,
     .most = 1e6,
     .offset = IN(wf_recipe_data, n_classes)},
    {.name = "classes",
     .kind = WF_KEY_WORDS,
     .flags = WF_KEY_OPTIONAL,
     .offset = IN(wf_recipe_data, classes)},
    {.name = "normalise",
     .kind = WF_KEY_CUSTOM,
     .offset = IN(wf_recipe_data, normalise),
     .read = read_normalise,
     .print = print_normalise},
    {.name = "augment",
     .kind = WF_KEY_MAP,
     .offset = IN(wf_recipe_data, augment),
     .keys = augment_keys},
    {.name = "validation",
     .kind = WF_KEY_CUSTOM,
     .offset = IN(wf_recipe_data, validation),
     .read = read_validation,
     .print = print_validation},
    {.name = NULL},
};

static const wf_key loss_keys[] = {
    {.name = "kind",
     .kind = WF_KEY_CHOICE,
     .flags = WF_KEY_REQUIRED,
     .choices = losses,
     .offset = AT(loss.kind) - AT(loss)},
    {.name = "label_smoothing",
     .kind = WF_KEY_NUMBER,
     .least = 0.0,
     .most = 1.0,
     .offset = AT(loss.label_smoothing) - AT(loss)},
    {.name = NULL},
};

static const wf_key optimizer_keys[] = {
    {.name = "kind",
     .kind = WF_KEY_CHOICE,
     .flags = WF_KEY_REQUIRED,
     .choices = optimizers,
     .offset = IN(wf_recipe_optimizer, kind)},
    {.name = "lr",
     .kind = WF_KEY_NUMBER,
     .flags = WF_KEY_REQUIRED | WF_KEY_ABOVE,
     .most = NO_LIMIT,
     .offset = IN(wf_recipe_optimizer, lr)},
    {.name = "momentum",
     .kind = WF_KEY_NUMBER,
     .flags = WF_KEY_BELOW,
     .most = 1.0,
     .offset = IN(wf_recipe_optimizer, momentum),
     .only_for = WF_OPTIMIZER_IS_SGD},
    {.name = "nesterov",
     .kind = WF_KEY_BOOL,
     .offset = IN(wf_recipe_optimizer, is_nesterov),
     .only_for = WF_OPTIMIZER_IS_SGD},
    {.name = "beta1",
     .kind = WF_KEY_NUMBER,
     .flags = WF_KEY_ABOVE | WF_KEY_BELOW,
     .most = 1.0,
     .offset = IN(wf_recipe_optimizer, beta1),
     .only_for = WF_OPTIMIZER_IS_ADAM},
    {.name = "beta2",
     .kind = WF_KEY_NUMBER,
     .flags = WF_KEY_ABOVE | WF_KEY_BELOW,
     .most = 1.0,
     .offset = IN(wf_recipe_optimizer, beta2),
     .only_for = WF_OPTIMIZER_IS_ADAM},
    {.name = "epsilon",
     .kind = WF_KEY_NUMBER,
     .flags = WF_KEY_ABOVE,
     .most = 1.0,
     .offset = IN(wf_recipe_optimizer, epsilon),
     .only_for = WF_OPTIMIZER_IS_ADAM},
    {.name = "weight_decay",
     .kind = WF_KEY_NUMBER,
     .most = NO_LIMIT,
     .offset = IN(wf_recipe_optimizer, weight_decay)},
    {.name = "decay_all", .kind = WF_KEY_BOOL, .offset = IN(wf_recipe_optimizer, decay_all)},
    {.name = NULL},
};

static const wf_key schedule_keys[] = {
    {.name = "kind",
     .kind = WF_KEY_CHOICE,
     .flags = WF_KEY_REQUIRED,
     .choices = schedules,
     .offset = IN(wf_recipe_schedule, kind)},
    {.name = "warmup",
     .kind = WF_KEY_INTEGER,
     .most = 1e12,
     .offset = IN(wf_recipe_schedule, warmup),
     .only_for = NOT_ONE_CYCLE},
    {.name = "final_fraction",
     .kind = WF_KEY_NUMBER,
     .most = 1.0,
     .offset = IN(wf_recipe_schedule, final_fraction),
     .only_for = FADING},
    {.name = "step_size",
     .kind = WF_KEY_INTEGER,
     .least = 1,
     .most = 1e12,
     .offset = IN(wf_recipe_schedule, step_size),
     .only_for = BIT(WEFT_SCHEDULE_STEP)},
    {.name = "gamma",
     .kind = WF_KEY_NUMBER,
     .flags = WF_KEY_ABOVE,
     .most = 1.0,
     .offset = IN(wf_recipe_schedule, gamma),
     .only_for = BIT(WEFT_SCHEDULE_STEP)},
    {.name = "warmup_share",
     .kind = WF_KEY_NUMBER,
     .flags = WF_KEY_ABOVE | WF_KEY_BELOW,
     .most = 1.0,
     .offset = IN(wf_recipe_schedule, warmup_share),
     .only_for = BIT(WEFT_SCHEDULE_ONE_CYCLE)},
    {.name = "initial_divisor",
     .kind = WF_KEY_NUMBER,
     .least = 1.0,
     .most = NO_LIMIT,
     .offset = IN(wf_recipe_schedule, initial_divisor),
     .only_for = BIT(WEFT_SCHEDULE_ONE_CYCLE)},
    {.name = "final_divisor",
     .kind = WF_KEY_NUMBER,
     .least = 1.0,
     .most = NO_LIMIT,
     .offset = IN(wf_recipe_schedule, final_divisor),
     .only_for = BIT(WEFT_SCHEDULE_ONE_CYCLE)},
    {.name = NULL},
};

static const wf_key train_keys[] = {
    {.name = "batch",
     .kind = WF_KEY_INTEGER,
     .flags = WF_KEY_REQUIRED,
     .least = 1,
     .most = 1e6,
     .offset = IN(wf_recipe_train, batch)},
    {.name = "epochs",
     .kind = WF_KEY_INTEGER,
     .flags = WF_KEY_OPTIONAL,
     .least = 1,
     .most = 1e9,
     .offset = IN(wf_recipe_train, epochs)},
    {.name = "steps",
     .kind = WF_KEY_INTEGER,
     .flags = WF_KEY_OPTIONAL,
     .least = 1,
     .most = 1e12,
     .offset = IN(wf_recipe_train, steps)},
    {.name = "checkpoint_every",
     .kind = WF_KEY_INTEGER,
     .most = 1e12,
     .offset = IN(wf_recipe_train, checkpoint_every)},
    {.name = "log_every",
     .kind = WF_KEY_INTEGER,
     .least = 1,
     .most = 1e12,
     .offset = IN(wf_recipe_train, log_every)},
    {.name = "clip_norm",
     .kind = WF_KEY_NUMBER,
     .most = NO_LIMIT,
     .offset = IN(wf_recipe_train, clip_norm)},
    {.name = "clip_value",
     .kind = WF_KEY_NUMBER,
     .most = NO_LIMIT,
     .offset = IN(wf_recipe_train, clip_value)},
    {.name = "loader_threads",
     .kind = WF_KEY_INTEGER,
     .least = 1,
     .most = 256,
     .offset = IN(wf_recipe_train, loader_threads)},
    {.name = NULL},
};

const wf_key wf_recipe_keys[] = {
    {.name = "name", .kind = WF_KEY_TEXT, .flags = WF_KEY_REQUIRED, .offset = AT(name)},
    {.name = "seed", .kind = WF_KEY_INTEGER, .most = NO_LIMIT, .offset = AT(seed)},
    {.name = "arithmetic", .kind = WF_KEY_CHOICE, .choices = arithmetics, .offset = AT(arithmetic)},
    {.name = "storage", .kind = WF_KEY_CHOICE, .choices = storages, .offset = AT(storage)},
    {.name = "data",
     .kind = WF_KEY_MAP,
     .flags = WF_KEY_REQUIRED,
     .offset = AT(data),
     .keys = data_keys},
    {.name = "model",
     .kind = WF_KEY_CUSTOM,
     .flags = WF_KEY_REQUIRED,
     .offset = AT(model),
     .read = wf_layers_read,
     .print = wf_layers_print},
    {.name = "loss",
     .kind = WF_KEY_MAP,
     .offset = AT(loss),
     .keys = loss_keys,
     .short_key = "kind"},
    {.name = "optimiser",
     .kind = WF_KEY_MAP,
     .flags = WF_KEY_REQUIRED,
     .offset = AT(optimizer),
     .keys = optimizer_keys},
    {.name = "schedule",
     .kind = WF_KEY_MAP,
     .offset = AT(schedule),
     .keys = schedule_keys,
     .short_key = "kind"},
    {.name = "train",
     .kind = WF_KEY_MAP,
     .flags = WF_KEY_REQUIRED,
     .offset = AT(train),
     .keys = train_keys},
    {.name = NULL},
};

void wf_recipe_defaults(wf_recipe_values *v)
{
    memset(v, 0, sizeof *v);
    v->data.reader = "idx";
    v->data.n_classes = WF_KEY_UNSET;
    v->data.normalise.is_on = true;
    v->optimizer.beta1 = 0.9;
    v->optimizer.beta2 = 0.999;
    v->optimizer.epsilon = 1e-8;
    v->schedule.step_size = 1;
    v->schedule.gamma = 0.1;
    v->schedule.warmup_share = 0.3;
    v->schedule.initial_divisor = 25.0;
    v->schedule.final_divisor = 10000.0;
    v->train.epochs = v->train.steps = WF_KEY_UNSET;
    v->train.log_every = 1;
    v->train.loader_threads = 1;
}
