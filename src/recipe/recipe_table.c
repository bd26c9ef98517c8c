// The keys of a recipe, their ranges and defaults. doc/recipes.md describes the same for people.
#include <string.h>

#include "recipe/recipe.h"

// Above every f32; range texts leave it out.
#define NO_LIMIT 3.5e38
#define AT(member) offsetof(wf_recipe_values, member)
#define IN(type, member) offsetof(type, member)

static const char *const arithmetics[] = {"exact", "fast", NULL};
static const char *const storages[] = {"f32", "bf16", "f16", NULL};
static const char *const reductions[] = {"mean", "sum", NULL};

#define BIT(kind) (1u << (kind))

// ---- the tables
static const wf_key loss_keys[] = {
    {.name = "kind",
     .kind = WF_KEY_CHOICE,
     .flags = WF_KEY_REQUIRED,
     .choices = wf_loss_names,
     .offset = IN(wf_recipe_loss, kind)},
    {.name = "label_smoothing",
     .kind = WF_KEY_NUMBER,
     .least = 0.0,
     .most = 1.0,
     .offset = IN(wf_recipe_loss, label_smoothing),
     .only_for = BIT(WF_LOSS_CROSS_ENTROPY)},
    {.name = "delta",
     .kind = WF_KEY_NUMBER,
     .flags = WF_KEY_ABOVE,
     .most = NO_LIMIT,
     .offset = IN(wf_recipe_loss, delta),
     .only_for = BIT(WF_LOSS_HUBER)},
    {.name = "reduction",
     .kind = WF_KEY_CHOICE,
     .choices = reductions,
     .offset = IN(wf_recipe_loss, reduction)},
    {.name = NULL},
};

static const wf_key target_keys[] = {
    {.name = "kind",
     .kind = WF_KEY_CHOICE,
     .flags = WF_KEY_REQUIRED,
     .choices = wf_target_names,
     .offset = IN(wf_recipe_target, kind)},
    {.name = "threshold",
     .kind = WF_KEY_NUMBER,
     .most = 1.0,
     .offset = IN(wf_recipe_target, threshold),
     .only_for = BIT(WF_TARGET_MASK)},
    {.name = "share",
     .kind = WF_KEY_NUMBER,
     .flags = WF_KEY_ABOVE,
     .most = 1.0,
     .offset = IN(wf_recipe_target, share),
     .only_for = BIT(WF_TARGET_MASKED)},
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
     .keys = wf_recipe_data_keys},
    {.name = "model",
     .kind = WF_KEY_CUSTOM,
     .flags = WF_KEY_REQUIRED,
     .offset = AT(model),
     .read = wf_model_read,
     .print = wf_model_print},
    {.name = "loss",
     .kind = WF_KEY_MAP,
     .offset = AT(loss),
     .keys = loss_keys,
     .short_key = "kind"},
    {.name = "target",
     .kind = WF_KEY_MAP,
     .offset = AT(target),
     .keys = target_keys,
     .short_key = "kind"},
    {.name = "optimiser",
     .kind = WF_KEY_MAP,
     .flags = WF_KEY_REQUIRED,
     .offset = AT(optimizer),
     .keys = wf_recipe_optimizer_keys},
    {.name = "groups",
     .kind = WF_KEY_CUSTOM,
     .offset = AT(groups),
     .read = wf_groups_read,
     .print = wf_groups_print},
    {.name = "schedule",
     .kind = WF_KEY_MAP,
     .offset = AT(schedule),
     .keys = wf_recipe_schedule_keys,
     .short_key = "kind"},
    {.name = "train",
     .kind = WF_KEY_MAP,
     .flags = WF_KEY_REQUIRED,
     .offset = AT(train),
     .keys = wf_recipe_train_keys},
    {.name = "phases", .flags = WF_KEY_ELSEWHERE}, // recipe_phase.c
    {.name = NULL},
};

void wf_recipe_defaults(wf_recipe_values *v)
{
    memset(v, 0, sizeof *v);
    v->data.take = v->data.n_classes = v->data.context = v->data.stride = v->data.rate =
        WF_KEY_UNSET;
    v->data.normalise.is_on = true;
    v->loss.delta = 1.0;
    v->target.share = 0.15;
    wf_recipe_training_defaults(v);
}
