// How a recipe trains: the keys of optimiser, groups, schedule and train, and what nn makes of them.
#include <stdio.h>

#include "recipe/recipe.h"

#include "graph/graph.h"

// Above every f32; range texts leave it out.
#define NO_LIMIT 3.5e38
#define IN(type, member) offsetof(type, member)

// In the order of weft_optimizer_kind and weft_schedule_kind.
static const char *const optimizers[] = {"sgd",  "adam", "adamw", "rmsprop", "adagrad",
                                         "lamb", "lion", "muon",  NULL};
static const char *const schedules[] = {"constant",  "linear", "cosine", "step",
                                        "one_cycle", "wsd",    NULL};

#define BIT(kind) (1u << (kind))
#define HAS_MOMENTUM                                                                               \
    (BIT(WEFT_OPTIMIZER_SGD) | BIT(WEFT_OPTIMIZER_RMSPROP) | BIT(WEFT_OPTIMIZER_MUON))
#define HAS_BETAS                                                                                  \
    (BIT(WEFT_OPTIMIZER_ADAM) | BIT(WEFT_OPTIMIZER_ADAMW) | BIT(WEFT_OPTIMIZER_LAMB) |             \
     BIT(WEFT_OPTIMIZER_LION) | BIT(WEFT_OPTIMIZER_MUON))
#define HAS_EPSILON                                                                                \
    (BIT(WEFT_OPTIMIZER_ADAM) | BIT(WEFT_OPTIMIZER_ADAMW) | BIT(WEFT_OPTIMIZER_RMSPROP) |          \
     BIT(WEFT_OPTIMIZER_ADAGRAD) | BIT(WEFT_OPTIMIZER_LAMB) | BIT(WEFT_OPTIMIZER_MUON))
#define NOT_ONE_CYCLE (~BIT(WEFT_SCHEDULE_ONE_CYCLE))
#define FADING (BIT(WEFT_SCHEDULE_LINEAR) | BIT(WEFT_SCHEDULE_COSINE) | BIT(WEFT_SCHEDULE_WSD))

// The first member of both structs is the kind, which only_for looks at. 0: the kind's own value.
const wf_key wf_recipe_optimizer_keys[] = {
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
     .only_for = HAS_MOMENTUM},
    {.name = "nesterov",
     .kind = WF_KEY_BOOL,
     .offset = IN(wf_recipe_optimizer, is_nesterov),
     .only_for = BIT(WEFT_OPTIMIZER_SGD)},
    {.name = "beta1",
     .kind = WF_KEY_NUMBER,
     .flags = WF_KEY_ABOVE | WF_KEY_BELOW,
     .most = 1.0,
     .offset = IN(wf_recipe_optimizer, beta1),
     .only_for = HAS_BETAS},
    {.name = "beta2",
     .kind = WF_KEY_NUMBER,
     .flags = WF_KEY_ABOVE | WF_KEY_BELOW,
     .most = 1.0,
     .offset = IN(wf_recipe_optimizer, beta2),
     .only_for = HAS_BETAS},
    {.name = "alpha",
     .kind = WF_KEY_NUMBER,
     .flags = WF_KEY_ABOVE | WF_KEY_BELOW,
     .most = 1.0,
     .offset = IN(wf_recipe_optimizer, alpha),
     .only_for = BIT(WEFT_OPTIMIZER_RMSPROP)},
    {.name = "epsilon",
     .kind = WF_KEY_NUMBER,
     .flags = WF_KEY_ABOVE,
     .most = 1.0,
     .offset = IN(wf_recipe_optimizer, epsilon),
     .only_for = HAS_EPSILON},
    {.name = "centered",
     .kind = WF_KEY_BOOL,
     .offset = IN(wf_recipe_optimizer, is_centered),
     .only_for = BIT(WEFT_OPTIMIZER_RMSPROP)},
    {.name = "lr_decay",
     .kind = WF_KEY_NUMBER,
     .most = NO_LIMIT,
     .offset = IN(wf_recipe_optimizer, lr_decay),
     .only_for = BIT(WEFT_OPTIMIZER_ADAGRAD)},
    {.name = "initial_sum",
     .kind = WF_KEY_NUMBER,
     .most = NO_LIMIT,
     .offset = IN(wf_recipe_optimizer, initial_sum),
     .only_for = BIT(WEFT_OPTIMIZER_ADAGRAD)},
    {.name = "weight_decay",
     .kind = WF_KEY_NUMBER,
     .most = NO_LIMIT,
     .offset = IN(wf_recipe_optimizer, weight_decay)},
    {.name = "decay_all", .kind = WF_KEY_BOOL, .offset = IN(wf_recipe_optimizer, decay_all)},
    {.name = NULL},
};

const wf_key wf_recipe_schedule_keys[] = {
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
    {.name = "decay_share",
     .kind = WF_KEY_NUMBER,
     .flags = WF_KEY_ABOVE,
     .most = 1.0,
     .offset = IN(wf_recipe_schedule, decay_share),
     .only_for = BIT(WEFT_SCHEDULE_WSD)},
    {.name = "sqrt_decay",
     .kind = WF_KEY_BOOL,
     .offset = IN(wf_recipe_schedule, is_sqrt_decay),
     .only_for = BIT(WEFT_SCHEDULE_WSD)},
    {.name = NULL},
};

static const wf_key init_from_keys[] = {
    {.name = "file",
     .kind = WF_KEY_TEXT,
     .flags = WF_KEY_OPTIONAL,
     .offset = IN(struct wf_recipe_init, file)},
    {.name = "map",
     .kind = WF_KEY_WORDS,
     .flags = WF_KEY_OPTIONAL,
     .offset = IN(struct wf_recipe_init, map)},
    {.name = "new",
     .kind = WF_KEY_WORDS,
     .flags = WF_KEY_OPTIONAL,
     .offset = IN(struct wf_recipe_init, fresh)},
    {.name = NULL},
};

const wf_key wf_recipe_train_keys[] = {
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
    {.name = "micro_batch",
     .kind = WF_KEY_INTEGER,
     .most = 1e6,
     .offset = IN(wf_recipe_train, micro_batch)},
    {.name = "ema",
     .kind = WF_KEY_NUMBER,
     .flags = WF_KEY_BELOW,
     .most = 1.0,
     .offset = IN(wf_recipe_train, ema)},
    {.name = "patience",
     .kind = WF_KEY_INTEGER,
     .most = 1e9,
     .offset = IN(wf_recipe_train, patience)},
    {.name = "min_delta",
     .kind = WF_KEY_NUMBER,
     .most = NO_LIMIT,
     .offset = IN(wf_recipe_train, min_delta)},
    {.name = "stats_every",
     .kind = WF_KEY_INTEGER,
     .most = 1e12,
     .offset = IN(wf_recipe_train, stats_every)},
    {.name = "tensorboard", .kind = WF_KEY_BOOL, .offset = IN(wf_recipe_train, has_tensorboard)},
    {.name = "init_from",
     .kind = WF_KEY_MAP,
     .flags = WF_KEY_OPTIONAL,
     .offset = IN(wf_recipe_train, init_from),
     .keys = init_from_keys,
     .short_key = "file"},
    {.name = NULL},
};

void wf_recipe_training_defaults(wf_recipe_values *v)
{
    v->schedule.step_size = 1;
    v->schedule.gamma = 0.1;
    v->schedule.warmup_share = 0.3;
    v->schedule.initial_divisor = 25.0;
    v->schedule.final_divisor = 10000.0;
    v->schedule.decay_share = 0.2;
    v->train.epochs = v->train.steps = WF_KEY_UNSET;
    v->train.log_every = 1;
    v->train.loader_threads = 1;
}

static void set_default(double *value, double by_default)
{
    if (*value == 0.0)
        *value = by_default;
}

void wf_recipe_training_resolve(wf_recipe_values *v)
{
    wf_recipe_optimizer *o = &v->optimizer;
    const int32_t kind = o->kind;
    set_default(&o->beta1, 0.9);
    set_default(&o->beta2, kind == WEFT_OPTIMIZER_LION ? 0.99 : 0.999);
    set_default(&o->alpha, 0.99);
    set_default(&o->epsilon, kind == WEFT_OPTIMIZER_ADAGRAD ? 1e-10
                             : kind == WEFT_OPTIMIZER_LAMB  ? 1e-6
                                                            : 1e-8);
    if (kind == WEFT_OPTIMIZER_MUON)
        set_default(&o->momentum, 0.95);
}

weft_optimizer_options wf_recipe_optimizer_options(const weft_recipe *recipe)
{
    const wf_recipe_optimizer *from = &recipe->v.optimizer;
    weft_optimizer_options o = WEFT_OPTIMIZER_OPTIONS_INIT;
    o.kind = (weft_optimizer_kind)from->kind;
    o.momentum = from->momentum;
    o.is_nesterov = from->is_nesterov;
    if (HAS_BETAS >> from->kind & 1) {
        o.beta1 = from->beta1;
        o.beta2 = from->beta2;
    }
    if (o.kind == WEFT_OPTIMIZER_RMSPROP)
        o.beta2 = from->alpha;
    if (HAS_EPSILON >> from->kind & 1)
        o.epsilon = from->epsilon;
    o.is_centered = from->is_centered;
    o.lr_decay = from->lr_decay;
    o.initial_sum = from->initial_sum;
    o.weight_decay = from->weight_decay;
    o.decay_all = from->decay_all;
    o.clip_norm = recipe->v.train.clip_norm;
    o.clip_value = recipe->v.train.clip_value;
    return o;
}

weft_schedule_options wf_recipe_schedule_options(const weft_recipe *recipe, int64_t total_steps)
{
    const wf_recipe_schedule *from = &recipe->v.schedule;
    weft_schedule_options o = WEFT_SCHEDULE_OPTIONS_INIT;
    o.kind = (weft_schedule_kind)from->kind;
    o.lr = recipe->v.optimizer.lr;
    o.total_steps = total_steps;
    if (o.kind == WEFT_SCHEDULE_ONE_CYCLE) {
        o.warmup_share = from->warmup_share;
        o.initial_divisor = from->initial_divisor;
        o.final_divisor = from->final_divisor;
    } else {
        o.warmup_steps = from->warmup;
        o.final_fraction = from->final_fraction;
        o.step_size = from->step_size;
        o.gamma = from->gamma;
    }
    if (o.kind == WEFT_SCHEDULE_WSD) {
        o.decay_share = from->decay_share;
        o.is_sqrt_decay = from->is_sqrt_decay;
    }
    return o;
}

// ---- groups: a list of maps
static const wf_key group_keys[] = {
    {.name = "match",
     .kind = WF_KEY_TEXT,
     .flags = WF_KEY_REQUIRED,
     .offset = IN(wf_recipe_group, match)},
    {.name = "lr_factor",
     .kind = WF_KEY_NUMBER,
     .most = NO_LIMIT,
     .offset = IN(wf_recipe_group, lr_factor)},
    {.name = "weight_decay",
     .kind = WF_KEY_NUMBER,
     .least = -1.0,
     .most = NO_LIMIT,
     .offset = IN(wf_recipe_group, weight_decay)},
    {.name = "frozen", .kind = WF_KEY_BOOL, .offset = IN(wf_recipe_group, is_frozen)},
    {.name = "adamw", .kind = WF_KEY_BOOL, .offset = IN(wf_recipe_group, is_left_to_adamw)},
    {.name = NULL},
};

weft_status wf_groups_read(const wf_key_reader *r, const wf_key *key, const char *path,
                           const wf_yaml *node, void *member)
{
    wf_recipe_groups *groups = member;
    char what[WF_YAML_WHAT], name[64];
    (void)key;
    if (node->kind != WF_YAML_LIST)
        return wf_yaml_fail(node, r->err, "%s: %s, expected a list of maps", path,
                            wf_yaml_what(node, what));
    groups->v = wf_arena_take(r->arena, (node->n + 1) * sizeof *groups->v);
    if (!groups->v)
        WEFT_FAIL(r->err, WEFT_ERR_MEMORY, "memory: no room for the recipe");
    for (size_t i = 0; i < node->n; i++) {
        const wf_yaml *entry = node->entries[i].value;
        groups->v[i] = (wf_recipe_group){.lr_factor = 1.0, .weight_decay = -1.0};
        snprintf(name, sizeof name, "%s[%zu]", path, i);
        if (entry->kind != WF_YAML_MAP)
            return wf_yaml_fail(entry, r->err, "%s: %s, expected a map", name,
                                wf_yaml_what(entry, what));
        WEFT_TRY(wf_keys_read(r, group_keys, entry, name, &groups->v[i]));
    }
    groups->n = node->n;
    return WEFT_OK;
}

void wf_groups_print(const wf_key *key, const void *member, wf_text *out)
{
    const wf_recipe_groups *groups = member;
    (void)key;
    if (groups->n == 0)
        wf_text_append(out, " []");
    for (size_t i = 0; i < groups->n; i++) {
        wf_text_append(out, "\n  - ");
        wf_keys_print_flow(group_keys, &groups->v[i], out);
    }
}

void wf_recipe_group_parameters(const weft_recipe *recipe, weft_nn *nn)
{
    for (size_t i = 0; i < recipe->v.groups.n; i++) {
        const wf_recipe_group *from = &recipe->v.groups.v[i];
        weft_group_options o = WEFT_GROUP_OPTIONS_INIT;
        o.lr_factor = from->lr_factor;
        o.has_own_decay = from->weight_decay >= 0.0;
        o.weight_decay = o.has_own_decay ? from->weight_decay : 0.0;
        o.is_frozen = from->is_frozen;
        o.is_left_to_adamw = from->is_left_to_adamw;
        weft_nn_group(nn, from->match, &o);
    }
}
