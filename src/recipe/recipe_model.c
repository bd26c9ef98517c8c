// The model of a recipe: layers, or a family with options, which are read by the family's own table. In:
// what stands under "model". Out: wf_model. Stage: recipe.
#include <string.h>

#include "recipe/recipe.h"

// Where the options hold the choice of `family` itself, behind the family's own: always 0.
static size_t name_offset(const wf_family *family)
{
    const size_t step = sizeof(int32_t);
    return (family->options_bytes + step - 1) / step * step;
}

// The table of keys that says of a family what its table of options says. `family` is its first key.
static wf_key *keys_of(const wf_key_reader *r, const wf_family *family)
{
    static const wf_key_kind kinds[] = {
        [WF_OPTION_INTEGER] = WF_KEY_INTEGER,   [WF_OPTION_NUMBER] = WF_KEY_NUMBER,
        [WF_OPTION_BOOL] = WF_KEY_BOOL,         [WF_OPTION_CHOICE] = WF_KEY_CHOICE,
        [WF_OPTION_INTEGERS] = WF_KEY_INTEGERS,
    };
    size_t n = 0;
    while (family->options[n].name) {
        n++;
    }
    wf_key *keys = wf_arena_take(r->arena, (n + 2) * sizeof *keys); // zeroed: the end
    const char **names = wf_arena_take(r->arena, 2 * sizeof *names);
    if (!keys || !names)
        return NULL;
    names[0] = family->name;
    keys[0] = (wf_key){
        .name = "family", .kind = WF_KEY_CHOICE, .choices = names, .offset = name_offset(family)};
    for (size_t i = 0; i < n; i++) {
        const wf_option *o = &family->options[i];
        keys[i + 1] = (wf_key){.name = o->name,
                               .kind = kinds[o->kind],
                               .offset = o->offset,
                               .least = o->least,
                               .most = o->most,
                               .choices = o->choices};
    }
    return keys;
}

static weft_status find_family(const wf_key_reader *r, const wf_yaml *node, const wf_family **out)
{
    char list[WF_KEY_LIST], hint[WF_KEY_HINT], what[WF_YAML_WHAT];
    const char *names[WF_FAMILIES_MAX + 1];
    const size_t n = wf_families_count();
    const char *word = node->kind == WF_YAML_SCALAR ? node->text : "";
    *out = wf_families_find(word);
    if (*out)
        return WEFT_OK;
    for (size_t i = 0; i < n; i++) {
        names[i] = wf_families_get(i)->name;
    }
    names[n] = NULL;
    return wf_yaml_fail(node, r->err, "model.family: %s, expected %s%s", wf_yaml_what(node, what),
                        wf_key_list(names, list), wf_key_hint(word, names, hint));
}

static weft_status read_family(const wf_key_reader *r, const char *path, const wf_yaml *node,
                               wf_model *model)
{
    const wf_yaml_entry *entry = wf_yaml_find(node, "family");
    if (!entry)
        return wf_yaml_fail(node, r->err,
                            "%s: a map without 'family', expected a list of layers or "
                            "a map with it",
                            path);
    WEFT_TRY(find_family(r, entry->value, &model->family));
    model->options = wf_arena_take(r->arena, name_offset(model->family) + sizeof(int32_t));
    model->keys = keys_of(r, model->family);
    if (!model->options || !model->keys)
        WEFT_FAIL(r->err, WEFT_ERR_MEMORY, "memory: no room for the recipe");
    memcpy(model->options, model->family->defaults, model->family->options_bytes);
    return wf_keys_read(r, model->keys, node, path, model->options);
}

weft_status wf_model_read(const wf_key_reader *r, const wf_key *key, const char *path,
                          const wf_yaml *node, void *member)
{
    wf_model *model = member;
    char what[WF_YAML_WHAT];
    model->source = node->source;
    model->line = node->line;
    model->column = node->column;
    if (node->kind == WF_YAML_MAP)
        return read_family(r, path, node, model);
    if (node->kind != WF_YAML_LIST || node->n == 0)
        return wf_yaml_fail(node, r->err, "%s: %s, expected a list of layers or a family", path,
                            wf_yaml_what(node, what));
    return wf_layers_read(r, key, path, node, &model->layers);
}

void wf_model_print(const wf_key *key, const void *member, wf_text *out)
{
    const wf_model *model = member;
    (void)key;
    if (!model->family) {
        wf_layers_print_block(&model->layers, out);
        return;
    }
    wf_text_append(out, " ");
    wf_keys_print_flow(model->keys, model->options, out);
}
