// Lists of layers, both ways: from YAML and to it. In: the list under "model", or inside a block.
// Out: wf_layers. Stage: recipe.
#include <stdio.h>
#include <string.h>

#include "recipe/recipe.h"

static weft_status find_kind(const wf_key_reader *r, const wf_yaml *map, const wf_yaml_entry *entry,
                             const wf_yaml *at, const char *word, const wf_layer_kind **out)
{
    const char *names[WF_COUNT_OF(wf_layer_kinds)];
    char list[WF_KEY_LIST], hint[WF_KEY_HINT];
    for (size_t i = 0; i < WF_COUNT_OF(wf_layer_kinds); i++) {
        names[i] = wf_layer_kinds[i].name;
        if (names[i] && !strcmp(names[i], word)) {
            *out = &wf_layer_kinds[i];
            return WEFT_OK;
        }
    }
    wf_key_list(names, list);
    wf_key_hint(word, names, hint);
    if (entry)
        return wf_yaml_fail_key(map, entry, r->err, "model: no layer '%.60s', expected %s%s", word,
                                list, hint);
    return wf_yaml_fail(at, r->err, "model: no layer '%.60s', expected %s%s", word, list, hint);
}

static weft_status read_layer(const wf_key_reader *r, const wf_yaml *node, wf_layer *layer)
{
    char what[WF_YAML_WHAT];
    layer->source = node->source;
    layer->line = node->line;
    layer->column = node->column;
    layer->has_bias = true;
    layer->groups = layer->n_axes = 1;
    layer->slope = 0.01;
    layer->epsilon = 1e-5;
    layer->momentum = 0.1;
    if (node->kind == WF_YAML_SCALAR) {
        WEFT_TRY(find_kind(r, NULL, NULL, node, node->text, &layer->kind));
        // Reports what the kind cannot do without.
        wf_yaml none = *node;
        none.kind = WF_YAML_MAP;
        return wf_keys_read(r, layer->kind->keys, &none, layer->kind->name, layer);
    }
    if (node->kind != WF_YAML_MAP || node->n != 1)
        return wf_yaml_fail(node, r->err,
                            "model: %s of %zu, expected a layer: 'relu' or "
                            "'linear: 10'",
                            wf_yaml_what(node, what), node->n);
    const wf_yaml_entry *entry = &node->entries[0];
    WEFT_TRY(find_kind(r, node, entry, NULL, entry->key, &layer->kind));
    const wf_key key = {.name = layer->kind->name,
                        .kind = WF_KEY_MAP,
                        .flags = WF_KEY_LISTED,
                        .keys = layer->kind->keys,
                        .short_key = layer->kind->short_key};
    const wf_key table[] = {key, {.name = NULL}};
    return wf_keys_read(r, table, node, "", layer);
}

// "conv1", "conv2": by kind and ordinal, where no name is given.
static weft_status name_layers(const wf_key_reader *r, wf_layers *layers)
{
    for (size_t i = 0; i < layers->n; i++) {
        wf_layer *layer = &layers->v[i];
        const wf_yaml at = {.source = layer->source, .line = layer->line, .column = layer->column};
        if (!layer->name) {
            char name[64];
            int ordinal = 1;
            for (size_t k = 0; k < i; k++) {
                ordinal += layers->v[k].kind == layer->kind;
            }
            snprintf(name, sizeof name, "%s%d", layer->kind->name, ordinal);
            layer->name = wf_arena_strdup(r->arena, name);
            if (!layer->name)
                WEFT_FAIL(r->err, WEFT_ERR_MEMORY, "memory: no room for the recipe");
        }
        if (strpbrk(layer->name, "/ ."))
            return wf_yaml_fail(&at, r->err,
                                "model: name '%.60s', expected one without '/', '.' "
                                "and blanks",
                                layer->name);
        for (size_t k = 0; k < i; k++) {
            if (!strcmp(layers->v[k].name, layer->name))
                return wf_yaml_fail(&at, r->err,
                                    "model: two layers are named '%.60s', the first "
                                    "in line %d",
                                    layer->name, layers->v[k].line);
        }
    }
    return WEFT_OK;
}

static weft_status read_list(const wf_key_reader *r, const char *path, const wf_yaml *node,
                             wf_layers *layers)
{
    char what[WF_YAML_WHAT];
    if (node->kind != WF_YAML_LIST)
        return wf_yaml_fail(node, r->err, "%s: %s, expected a list of layers", path,
                            wf_yaml_what(node, what));
    layers->v = wf_arena_take(r->arena, (node->n + 1) * sizeof *layers->v);
    if (!layers->v)
        WEFT_FAIL(r->err, WEFT_ERR_MEMORY, "memory: no room for the recipe");
    layers->n = node->n;
    for (size_t i = 0; i < node->n; i++) {
        WEFT_TRY(read_layer(r, node->entries[i].value, &layers->v[i]));
    }
    return name_layers(r, layers);
}

weft_status wf_layers_read(const wf_key_reader *r, const wf_key *key, const char *path,
                           const wf_yaml *node, void *member)
{
    (void)key;
    return read_list(r, path, node, member);
}

weft_status wf_layer_paths_read(const wf_key_reader *r, const wf_key *key, const char *path,
                                const wf_yaml *node, void *member)
{
    wf_layer_paths *paths = member;
    char what[WF_YAML_WHAT];
    (void)key;
    if (node->kind != WF_YAML_LIST || node->n < 1)
        return wf_yaml_fail(node, r->err, "%s: %s, expected a list of lists of layers", path,
                            wf_yaml_what(node, what));
    paths->v = wf_arena_take(r->arena, node->n * sizeof *paths->v);
    if (!paths->v)
        WEFT_FAIL(r->err, WEFT_ERR_MEMORY, "memory: no room for the recipe");
    paths->n = node->n;
    for (size_t i = 0; i < node->n; i++) {
        WEFT_TRY(read_list(r, path, node->entries[i].value, &paths->v[i]));
    }
    return WEFT_OK;
}

static void print_layer(const wf_layer *layer, wf_text *out)
{
    wf_text_printf(out, "%s: ", layer->kind->name);
    wf_keys_print_flow(layer->kind->keys, layer, out);
}

void wf_layers_print_block(const wf_layers *layers, wf_text *out)
{
    for (size_t i = 0; i < layers->n; i++) {
        wf_text_append(out, "\n  - ");
        print_layer(&layers->v[i], out);
    }
}

void wf_layers_print(const wf_key *key, const void *member, wf_text *out)
{
    const wf_layers *layers = member;
    (void)key;
    wf_text_append(out, "[");
    for (size_t i = 0; i < layers->n; i++) {
        wf_text_append(out, i ? ", {" : "{");
        print_layer(&layers->v[i], out);
        wf_text_append(out, "}");
    }
    wf_text_append(out, "]");
}

void wf_layer_paths_print(const wf_key *key, const void *member, wf_text *out)
{
    const wf_layer_paths *paths = member;
    wf_text_append(out, "[");
    for (size_t i = 0; i < paths->n; i++) {
        wf_text_append(out, i ? ", " : "");
        wf_layers_print(key, &paths->v[i], out);
    }
    wf_text_append(out, "]");
}
