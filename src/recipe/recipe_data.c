// The keys of a recipe's `data:`. What they mean is in doc/recipes.md; readers get them by
// wf_train_data_open.
#include <string.h>

#include "recipe/recipe.h"

#define IN(type, member) offsetof(type, member)

static const char *const on_bad[] = {"stop", "skip", NULL};
static const char *const fittings[] = {"stretch", "crop", "pad", NULL};
static const char *const target_is[] = {"auto", "class", "value", NULL};
static const char *const headers[] = {"auto", "yes", "no", NULL};
static const char *const units[] = {"char", "byte", NULL};

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

static const wf_key augment_keys[] = {
    {.name = "crop",
     .kind = WF_KEY_INTEGER,
     .offset = IN(struct wf_recipe_augment, crop),
     .least = 0,
     .most = 1024},
    {.name = "flip", .kind = WF_KEY_BOOL, .offset = IN(struct wf_recipe_augment, is_flipped)},
    {.name = "rotate",
     .kind = WF_KEY_NUMBER,
     .flags = WF_KEY_OPTIONAL,
     .most = 179.0,
     .offset = IN(struct wf_recipe_augment, rotate)},
    {.name = "scale",
     .kind = WF_KEY_NUMBER,
     .flags = WF_KEY_OPTIONAL,
     .most = 0.99,
     .offset = IN(struct wf_recipe_augment, scale)},
    {.name = "translate",
     .kind = WF_KEY_NUMBER,
     .flags = WF_KEY_OPTIONAL,
     .most = 1.0,
     .offset = IN(struct wf_recipe_augment, translate)},
    {.name = "colour",
     .kind = WF_KEY_NUMBER,
     .flags = WF_KEY_OPTIONAL,
     .most = 1.0,
     .offset = IN(struct wf_recipe_augment, colour)},
    {.name = "mixup",
     .kind = WF_KEY_NUMBER,
     .flags = WF_KEY_OPTIONAL,
     .most = 1.0,
     .offset = IN(struct wf_recipe_augment, mixup)},
    {.name = "shift",
     .kind = WF_KEY_NUMBER,
     .flags = WF_KEY_OPTIONAL,
     .most = 1.0,
     .offset = IN(struct wf_recipe_augment, shift)},
    {.name = "noise",
     .kind = WF_KEY_NUMBER,
     .flags = WF_KEY_OPTIONAL,
     .most = 1e6,
     .offset = IN(struct wf_recipe_augment, noise)},
    {.name = "cutout",
     .kind = WF_KEY_INTEGER,
     .least = 0,
     .most = 16384,
     .offset = IN(struct wf_recipe_augment, cutout)},
    {.name = NULL},
};

const wf_key wf_recipe_data_keys[] = {
    {.name = "reader",
     .kind = WF_KEY_TEXT,
     .flags = WF_KEY_OPTIONAL,
     .offset = IN(wf_recipe_data, reader)},
    {.name = "dir",
     .kind = WF_KEY_TEXT,
     .flags = WF_KEY_OPTIONAL,
     .offset = IN(wf_recipe_data, dir)},
    {.name = "file",
     .kind = WF_KEY_TEXT,
     .flags = WF_KEY_OPTIONAL,
     .offset = IN(wf_recipe_data, file)},
    {.name = "test",
     .kind = WF_KEY_TEXT,
     .flags = WF_KEY_OPTIONAL,
     .offset = IN(wf_recipe_data, test)},
    {.name = "on_bad",
     .kind = WF_KEY_CHOICE,
     .flags = WF_KEY_OPTIONAL,
     .choices = on_bad,
     .offset = IN(wf_recipe_data, on_bad)},
    {.name = "fit",
     .kind = WF_KEY_CHOICE,
     .flags = WF_KEY_OPTIONAL,
     .choices = fittings,
     .offset = IN(wf_recipe_data, fit)},
    {.name = "target",
     .kind = WF_KEY_TEXT,
     .flags = WF_KEY_OPTIONAL,
     .offset = IN(wf_recipe_data, target)},
    {.name = "target_is",
     .kind = WF_KEY_CHOICE,
     .flags = WF_KEY_OPTIONAL,
     .choices = target_is,
     .offset = IN(wf_recipe_data, target_is)},
    {.name = "header",
     .kind = WF_KEY_CHOICE,
     .flags = WF_KEY_OPTIONAL,
     .choices = headers,
     .offset = IN(wf_recipe_data, header)},
    {.name = "ignore",
     .kind = WF_KEY_WORDS,
     .flags = WF_KEY_OPTIONAL,
     .offset = IN(wf_recipe_data, ignore)},
    {.name = "columns",
     .kind = WF_KEY_WORDS,
     .flags = WF_KEY_OPTIONAL,
     .offset = IN(wf_recipe_data, columns)},
    {.name = "rate",
     .kind = WF_KEY_INTEGER,
     .flags = WF_KEY_OPTIONAL,
     .least = 1,
     .most = 1e6,
     .offset = IN(wf_recipe_data, rate)},
    {.name = "seconds",
     .kind = WF_KEY_NUMBER,
     .flags = WF_KEY_OPTIONAL,
     .least = 0.0,
     .most = 1e6,
     .offset = IN(wf_recipe_data, seconds)},
    {.name = "unit",
     .kind = WF_KEY_CHOICE,
     .flags = WF_KEY_OPTIONAL,
     .choices = units,
     .offset = IN(wf_recipe_data, unit)},
    {.name = "context",
     .kind = WF_KEY_INTEGER,
     .flags = WF_KEY_OPTIONAL,
     .least = 1,
     .most = 1e6,
     .offset = IN(wf_recipe_data, context)},
    {.name = "stride",
     .kind = WF_KEY_INTEGER,
     .flags = WF_KEY_OPTIONAL,
     .least = 1,
     .most = 1e6,
     .offset = IN(wf_recipe_data, stride)},
    {.name = "vocabulary",
     .kind = WF_KEY_TEXT,
     .flags = WF_KEY_OPTIONAL,
     .offset = IN(wf_recipe_data, vocabulary)},
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
    {.name = "take",
     .kind = WF_KEY_INTEGER,
     .flags = WF_KEY_OPTIONAL,
     .least = 1,
     .most = 1e12,
     .offset = IN(wf_recipe_data, take)},
    {.name = "stratified",
     .kind = WF_KEY_BOOL,
     .flags = WF_KEY_OPTIONAL,
     .offset = IN(wf_recipe_data, is_stratified)},
    {.name = NULL},
};
