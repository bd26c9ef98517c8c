// Trainings of one recipe one behind the other: each phase is the recipe with some keys of its own. In: the list under
// `phases`. Out: values of each. Stage: recipe.
#include <string.h>

#include "recipe/recipe.h"

// What a phase may say: its name and sections. Of the first three of these it changes single keys, the others it
// replaces.
static const char *const keys[] = {"name",   "data",      "model",  "train",    "loss",
                                   "target", "optimiser", "groups", "schedule", NULL};
#define FIRST_MERGED 1
#define LAST_MERGED 3

static weft_status no_memory(weft_error *err)
{
    WEFT_FAIL(err, WEFT_ERR_MEMORY, "memory: no room for the recipe");
}

// A map that is to be changed: its entries are a copy with room for n_more.
static wf_yaml *copy_map(wf_arena *arena, const wf_yaml *from, size_t n_more)
{
    wf_yaml *map = wf_arena_take(arena, sizeof *map);
    wf_yaml_entry *entries = wf_arena_take(arena, (from->n + n_more) * sizeof *entries);
    if (!map || !entries)
        return NULL;
    *map = *from;
    if (from->n)
        memcpy(entries, from->entries, from->n * sizeof *entries);
    map->entries = entries;
    map->capacity = from->n + n_more;
    return map;
}

// Room is there.
static void put(wf_yaml *map, const wf_yaml_entry *entry)
{
    wf_yaml_entry *old = wf_yaml_find(map, entry->key);
    if (old)
        *old = *entry;
    else
        map->entries[map->n++] = *entry;
}

// A section with the phase's keys over the recipe's.
static weft_status merge(weft_recipe *recipe, const wf_yaml *base, const wf_yaml *over,
                         wf_yaml **out, weft_error *err)
{
    wf_yaml *map = copy_map(&recipe->arena, base, over->n);
    if (!map)
        return no_memory(err);
    // The length is one thing with two names.
    if (wf_yaml_find(over, "steps") || wf_yaml_find(over, "epochs")) {
        wf_yaml_remove(map, "steps");
        wf_yaml_remove(map, "epochs");
    }
    for (size_t i = 0; i < over->n; i++) {
        put(map, &over->entries[i]);
    }
    map->source = over->source;
    map->line = over->line;
    map->column = over->column;
    *out = map;
    return WEFT_OK;
}

// Its place in the list of keys, or the place of the list's end.
static size_t find_key(const char *name)
{
    size_t at = 0;
    while (keys[at] && strcmp(keys[at], name) != 0) {
        at++;
    }
    return at;
}

static weft_status check_known(const wf_yaml *phase, weft_error *err)
{
    char list[WF_KEY_LIST], hint[WF_KEY_HINT];
    for (size_t i = 0; i < phase->n; i++) {
        const wf_yaml_entry *entry = &phase->entries[i];
        if (!keys[find_key(entry->key)])
            return wf_yaml_fail_key(phase, entry, err,
                                    "unknown key '%.60s' in phases, expected %s%s", entry->key,
                                    wf_key_list(keys, list), wf_key_hint(entry->key, keys, hint));
    }
    return WEFT_OK;
}

static weft_status put_section(weft_recipe *recipe, wf_yaml *root, const wf_yaml_entry *entry,
                               weft_error *err)
{
    const size_t at = find_key(entry->key);
    wf_yaml_entry section = *entry;
    const wf_yaml_entry *base = wf_yaml_find(root, entry->key);
    const bool is_merged = at >= FIRST_MERGED && at <= LAST_MERGED && base &&
                           base->value->kind == WF_YAML_MAP && entry->value->kind == WF_YAML_MAP;
    if (is_merged)
        WEFT_TRY(merge(recipe, base->value, entry->value, &section.value, err));
    put(root, &section);
    return WEFT_OK;
}

static weft_status read_name(weft_recipe *recipe, const wf_yaml *phase, size_t n_before,
                             const char **out, weft_error *err)
{
    char what[WF_YAML_WHAT];
    const wf_yaml_entry *entry = wf_yaml_find(phase, "name");
    if (!entry)
        return wf_yaml_fail(phase, err, "phases: no key 'name', expected one");
    const wf_yaml *node = entry->value;
    if (node->kind != WF_YAML_SCALAR || !node->text[0] || strpbrk(node->text, "/ ."))
        return wf_yaml_fail(node, err, "phases.name: %s, expected one without '/', '.' and blanks",
                            wf_yaml_what(node, what));
    for (size_t i = 0; i < n_before; i++) {
        if (!strcmp(recipe->phases[i].name, node->text))
            return wf_yaml_fail(node, err, "phases.name: '%.60s' is another phase's", node->text);
    }
    *out = node->text;
    return WEFT_OK;
}

static weft_status read_phase(weft_recipe *recipe, const wf_yaml *root, const wf_yaml *phase,
                              size_t at, weft_error *err)
{
    char what[WF_YAML_WHAT];
    if (phase->kind != WF_YAML_MAP)
        return wf_yaml_fail(phase, err, "phases: %s, expected a map with a name",
                            wf_yaml_what(phase, what));
    wf_yaml *merged = copy_map(&recipe->arena, root, phase->n);
    if (!merged)
        return no_memory(err);
    WEFT_TRY(check_known(phase, err));
    WEFT_TRY(read_name(recipe, phase, at, &recipe->phases[at].name, err));
    for (size_t i = 0; i < phase->n; i++) {
        if (strcmp(phase->entries[i].key, "name") != 0)
            WEFT_TRY(put_section(recipe, merged, &phase->entries[i], err));
    }
    recipe->tree.root = merged;
    WEFT_TRY(wf_recipe_read_values(recipe, err));
    recipe->phases[at].v = recipe->v;
    return WEFT_OK;
}

// train.steps of the command line is the length of all phases together.
static void find_budget(weft_recipe *recipe, const wf_yaml *root)
{
    const wf_yaml_entry *train = wf_yaml_find(root, "train");
    const wf_yaml_entry *steps =
        train && train->value->kind == WF_YAML_MAP ? wf_yaml_find(train->value, "steps") : NULL;
    int64_t n;
    if (steps && steps->line == 0 && steps->value->kind == WF_YAML_SCALAR &&
        wf_text_parse_i64(steps->value->text, &n) && n > 0)
        recipe->step_budget = n;
}

weft_status wf_phases_read(weft_recipe *recipe, const wf_yaml *node, weft_error *err)
{
    wf_yaml *root = recipe->tree.root;
    char what[WF_YAML_WHAT];
    if (node->kind != WF_YAML_LIST || node->n == 0)
        return wf_yaml_fail(node, err, "phases: %s, expected a list of maps",
                            wf_yaml_what(node, what));
    recipe->phases = wf_arena_take(&recipe->arena, node->n * sizeof *recipe->phases);
    if (!recipe->phases)
        return no_memory(err);
    find_budget(recipe, root);
    for (size_t i = 0; i < node->n; i++) {
        WEFT_TRY(read_phase(recipe, root, node->entries[i].value, i, err));
    }
    recipe->n_phases = node->n;
    return WEFT_OK;
}
