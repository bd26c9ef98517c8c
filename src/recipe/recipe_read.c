// Reads a recipe file: text -> tree -> settings of the command line -> values. In: a path. Out: weft_recipe.
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "data/readers.h"
#include "graph/graph.h"
#include "recipe/recipe.h"

// A relative path is looked for from here, then from the recipe's own folder; what is found is kept
// whole, so that the resolved recipe reads the same from anywhere.
static weft_status find_path(weft_recipe *recipe, const char **path, weft_error *err)
{
    char *joined = NULL, *found = NULL;
    if (!*path || (*path)[0] == '/')
        return WEFT_OK;
    if (!wf_file_is_directory(*path) && !wf_file_is_regular(*path)) {
        const char *base = wf_path_base(recipe->path);
        char *folder = wf_arena_strdup(&recipe->arena, recipe->path);
        if (folder && base != recipe->path) {
            folder[base - recipe->path - 1] = 0;
            WEFT_TRY(wf_path_join(&recipe->allocator, folder, *path, &joined, err));
        }
    }
    found = realpath(joined ? joined : *path, NULL);
    if (found) {
        *path = wf_arena_strdup(&recipe->arena, found);
        // From the C library, whatever the context's allocator is.
        const wf_allocator libc = wf_allocator_default();
        wf_free(&libc, found);
    }
    wf_free(&recipe->allocator, joined);
    if (!*path)
        WEFT_FAIL(err, WEFT_ERR_MEMORY, "memory: no room for the recipe");
    return WEFT_OK;
}

static weft_status find_data(weft_recipe *recipe, weft_error *err)
{
    wf_recipe_data *data = &recipe->v.data;
    if (data->file)
        data->dir = data->file;
    data->file = NULL;
    WEFT_TRY(find_path(recipe, &data->dir, err));
    WEFT_TRY(find_path(recipe, &recipe->v.train.init_from.file, err));
    return find_path(recipe, &data->test, err);
}

// Rules between keys, which the table cannot say.
static weft_status check_values(weft_recipe *recipe, weft_error *err)
{
    wf_recipe_values *v = &recipe->v;
    const wf_yaml *root = recipe->tree.root;
    const wf_yaml *train = wf_yaml_find(root, "train")->value;
    const wf_yaml *data = wf_yaml_find(root, "data")->value;
    if (v->train.epochs != WF_KEY_UNSET && v->train.steps != WF_KEY_UNSET)
        return wf_yaml_fail_key(train, wf_yaml_find(train, "steps"), err,
                                "train: steps beside epochs, expected one of them");
    if (v->train.epochs == WF_KEY_UNSET && v->train.steps == WF_KEY_UNSET)
        return wf_yaml_fail(train, err, "train: no key 'epochs' and no 'steps', expected one");
    if (v->data.dir && v->data.file)
        return wf_yaml_fail_key(data, wf_yaml_find(data, "file"), err,
                                "data: file beside dir, expected one of them");
    const wf_reader *reader = v->data.reader ? wf_readers_find(v->data.reader) : NULL;
    if (!v->data.dir && !v->data.file && !(reader && reader->is_pathless))
        return wf_yaml_fail(data, err, "data: no key 'dir' and no 'file', expected one");
    if (v->data.image.n != 0 && v->data.image.n != 3)
        return wf_yaml_fail(wf_yaml_find(data, "image")->value, err,
                            "data.image: %d sizes, expected [channels, height, width]",
                            v->data.image.n);
    if (v->data.classes.n && v->data.n_classes != WF_KEY_UNSET &&
        (int64_t)v->data.classes.n != v->data.n_classes)
        return wf_yaml_fail(wf_yaml_find(data, "classes")->value, err,
                            "data.classes: %zu names, expected %lld", v->data.classes.n,
                            (long long)v->data.n_classes);
    if (v->optimizer.is_nesterov && v->optimizer.momentum == 0.0) {
        const wf_yaml *optimizer = wf_yaml_find(root, "optimiser")->value;
        return wf_yaml_fail_key(optimizer, wf_yaml_find(optimizer, "nesterov"), err,
                                "optimiser.nesterov: momentum is 0, expected above 0");
    }
    return WEFT_OK;
}

weft_status wf_recipe_read_values(weft_recipe *recipe, weft_error *err)
{
    const wf_key_reader reader = {&recipe->arena, err};
    wf_recipe_defaults(&recipe->v);
    WEFT_TRY(wf_keys_read(&reader, wf_recipe_keys, recipe->tree.root, "", &recipe->v));
    wf_recipe_training_resolve(&recipe->v);
    WEFT_TRY(check_values(recipe, err));
    return find_data(recipe, err);
}

static weft_status apply_settings(weft_recipe *recipe, const char *const *settings,
                                  size_t n_settings, weft_error *err)
{
    for (size_t i = 0; i < n_settings; i++) {
        WEFT_TRY(wf_yaml_override(&recipe->tree, settings[i], err));
        wf_yaml_entry *train = wf_yaml_find(recipe->tree.root, "train");
        if (!train || train->value->kind != WF_YAML_MAP)
            continue;
        // The length is one thing with two names: setting one takes the file's other away.
        if (!strncmp(settings[i], "train.steps=", strlen("train.steps=")))
            wf_yaml_remove(train->value, "epochs");
        if (!strncmp(settings[i], "train.epochs=", strlen("train.epochs=")))
            wf_yaml_remove(train->value, "steps");
    }
    return WEFT_OK;
}

static weft_status read_into(weft_recipe *recipe, const char *path, const char *text,
                             const char *const *settings, size_t n_settings, weft_error *err)
{
    recipe->path = wf_arena_strdup(&recipe->arena, path);
    if (!recipe->path)
        WEFT_FAIL(err, WEFT_ERR_MEMORY, "memory: no room for the recipe");
    WEFT_TRY(wf_yaml_parse(&recipe->allocator, path, text, &recipe->tree, err));
    WEFT_TRY(apply_settings(recipe, settings, n_settings, err));
    const wf_yaml_entry *phases = wf_yaml_find(recipe->tree.root, "phases");
    if (!phases)
        return wf_recipe_read_values(recipe, err);
    const wf_yaml *list = phases->value;
    wf_yaml_remove(recipe->tree.root, "phases");
    return wf_phases_read(recipe, list, err);
}

weft_status wf_recipe_read_text(weft_context *context, const char *path, const char *text,
                                const char *const *settings, size_t n_settings,
                                weft_recipe **out_recipe, weft_error *err)
{
    weft_recipe *recipe;
    WEFT_TRY(wf_alloc(&context->allocator, 1, sizeof *recipe, &recipe, err));
    recipe->context = context;
    recipe->allocator = context->allocator;
    wf_arena_init(&recipe->arena, &recipe->allocator);
    const weft_status status = read_into(recipe, path, text, settings, n_settings, err);
    if (status != WEFT_OK) {
        weft_recipe_destroy(recipe);
        return status;
    }
    *out_recipe = recipe;
    return WEFT_OK;
}

weft_status weft_recipe_read(weft_context *context, const char *path, const char *const *settings,
                             size_t n_settings, weft_recipe **out_recipe, weft_error *err)
{
    char *text = NULL;
    WEFT_REQUIRE(err, context && path && out_recipe && (settings || !n_settings),
                 "recipe: read without context, path or settings");
    *out_recipe = NULL;
    WEFT_TRY(wf_file_read_text(&context->allocator, path, &text, err));
    const weft_status status =
        wf_recipe_read_text(context, path, text, settings, n_settings, out_recipe, err);
    wf_free(&context->allocator, text);
    return status;
}

weft_status weft_recipe_read_run(weft_context *context, const char *run_dir,
                                 const char *const *settings, size_t n_settings,
                                 weft_recipe **out_recipe, weft_error *err)
{
    char *path;
    WEFT_REQUIRE(err, context && run_dir && out_recipe, "recipe: read without context or folder");
    *out_recipe = NULL;
    if (!wf_file_is_directory(run_dir))
        WEFT_FAIL(err, WEFT_ERR_FILE, "%s: no folder, expected the folder of a run", run_dir);
    WEFT_TRY(wf_path_join(&context->allocator, run_dir, "recipe.yaml", &path, err));
    weft_status status;
    if (wf_file_is_regular(path))
        status = weft_recipe_read(context, path, settings, n_settings, out_recipe, err);
    else
        status = wf_error_set(err, WEFT_ERR_FILE,
                              "%s: no recipe.yaml in it, expected the folder "
                              "of a run",
                              run_dir);
    wf_free(&context->allocator, path);
    return status;
}

void weft_recipe_destroy(weft_recipe *recipe)
{
    if (!recipe)
        return;
    const wf_allocator a = recipe->allocator;
    wf_yaml_deinit(&recipe->tree);
    wf_arena_deinit(&recipe->arena);
    wf_free(&a, recipe);
}

const char *weft_recipe_name(const weft_recipe *recipe)
{
    return recipe->v.name;
}

weft_arithmetic weft_recipe_arithmetic(const weft_recipe *recipe)
{
    return (weft_arithmetic)recipe->v.arithmetic;
}

weft_status wf_recipe_print(const weft_recipe *recipe, wf_text *out, weft_error *err)
{
    wf_text_append(out, "# The recipe of this run, as it was resolved.\n");
    wf_keys_print(wf_recipe_keys, &recipe->v, 0, out);
    return wf_text_status(out, err);
}
