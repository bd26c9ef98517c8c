// Reads maps of a recipe by their tables. In: a YAML map, a table, a struct of defaults. Out: the struct.
#include "recipe/recipe_keys.h"

#include <stdio.h>
#include <string.h>

// Keys of one table and words of one list stay below this; longer ones are only cut in messages.
#define MAX_LISTED 64
#define PATH_BYTES 96

const char *wf_key_list(const char *const *list, char buf[WF_KEY_LIST])
{
    size_t at = 0;
    buf[0] = 0;
    for (size_t i = 0; list[i] && at + 1 < WF_KEY_LIST; i++) {
        const char *glue = i == 0 ? "" : list[i + 1] ? ", " : " or ";
        const int n = snprintf(buf + at, WF_KEY_LIST - at, "%s%s", glue, list[i]);
        at += n > 0 ? (size_t)n : 0;
    }
    return buf;
}

const char *wf_key_hint(const char *word, const char *const *list, char buf[WF_KEY_HINT])
{
    size_t n = 0;
    while (list[n]) {
        n++;
    }
    const char *nearest = wf_text_nearest(word, list, n);
    buf[0] = 0;
    if (nearest)
        snprintf(buf, WF_KEY_HINT, ", did you mean '%s'", nearest);
    return buf;
}

// "0 to 1", "above 0 and below 1", "1 or more".
static const char *range_text(double least, double most, uint32_t flags, char buf[96])
{
    char low[WF_TEXT_NUMBER_BYTES], high[WF_TEXT_NUMBER_BYTES];
    wf_text_format_f64(least, low);
    wf_text_format_f64(most, high);
    const bool has_most = most < 9e18;
    if (flags & (WF_KEY_ABOVE | WF_KEY_BELOW)) {
        const int n = snprintf(buf, 96, flags & WF_KEY_ABOVE ? "above %s" : "%s or more", low);
        if (has_most && n > 0)
            snprintf(buf + n, 96 - (size_t)n, flags & WF_KEY_BELOW ? " and below %s" : " up to %s",
                     high);
    } else if (has_most) {
        snprintf(buf, 96, "%s to %s", low, high);
    } else {
        snprintf(buf, 96, "%s or more", low);
    }
    return buf;
}

static const char *integer_range_text(double least, double most, char buf[96])
{
    if (most < 9e18)
        snprintf(buf, 96, "%lld to %lld", (long long)least, (long long)most);
    else
        snprintf(buf, 96, "%lld or more", (long long)least);
    return buf;
}

weft_status wf_key_read_integer(const wf_key_reader *r, const char *path, const wf_yaml *node,
                                double least, double most, int64_t *out)
{
    char what[WF_YAML_WHAT], range[96];
    int64_t value = 0;
    const bool is_integer =
        node->kind == WF_YAML_SCALAR && node->is_plain && wf_text_parse_i64(node->text, &value);
    if (!is_integer || (double)value < least || (double)value > most) {
        return wf_yaml_fail(node, r->err, "%s: %s, expected a whole number, %s", path,
                            wf_yaml_what(node, what), integer_range_text(least, most, range));
    }
    *out = value;
    return WEFT_OK;
}

weft_status wf_key_read_number(const wf_key_reader *r, const wf_key *key, const char *path,
                               const wf_yaml *node, double *out)
{
    char what[WF_YAML_WHAT], range[96];
    double value = 0.0;
    const bool is_number =
        node->kind == WF_YAML_SCALAR && node->is_plain && wf_text_parse_f64(node->text, &value);
    const bool is_high = key->flags & WF_KEY_ABOVE ? value > key->least : value >= key->least;
    const bool is_low = key->flags & WF_KEY_BELOW ? value < key->most : value <= key->most;
    if (!is_number || !is_high || !is_low) {
        return wf_yaml_fail(node, r->err, "%s: %s, expected a number, %s", path,
                            wf_yaml_what(node, what),
                            range_text(key->least, key->most, key->flags, range));
    }
    *out = value;
    return WEFT_OK;
}

weft_status wf_key_read_bool(const wf_key_reader *r, const char *path, const wf_yaml *node,
                             bool *out)
{
    char what[WF_YAML_WHAT];
    const bool is_plain = node->kind == WF_YAML_SCALAR && node->is_plain;
    if (is_plain && !strcmp(node->text, "true"))
        *out = true;
    else if (is_plain && !strcmp(node->text, "false"))
        *out = false;
    else
        return wf_yaml_fail(node, r->err, "%s: %s, expected true or false", path,
                            wf_yaml_what(node, what));
    return WEFT_OK;
}

weft_status wf_key_read_choice(const wf_key_reader *r, const char *path, const wf_yaml *node,
                               const char *const *choices, int32_t *out)
{
    char what[WF_YAML_WHAT], list[WF_KEY_LIST], hint[WF_KEY_HINT] = "";
    if (node->kind == WF_YAML_SCALAR) {
        for (int32_t i = 0; choices[i]; i++) {
            if (!strcmp(node->text, choices[i])) {
                *out = i;
                return WEFT_OK;
            }
        }
        wf_key_hint(node->text, choices, hint);
    }
    return wf_yaml_fail(node, r->err, "%s: %s, expected %s%s", path, wf_yaml_what(node, what),
                        wf_key_list(choices, list), hint);
}

static weft_status read_text(const wf_key_reader *r, const char *path, const wf_yaml *node,
                             const char **out)
{
    char what[WF_YAML_WHAT];
    if (node->kind != WF_YAML_SCALAR || !node->text[0])
        return wf_yaml_fail(node, r->err, "%s: %s, expected a text", path,
                            wf_yaml_what(node, what));
    *out = wf_arena_strdup(r->arena, node->text);
    if (!*out)
        WEFT_FAIL(r->err, WEFT_ERR_MEMORY, "memory: no room for the recipe");
    return WEFT_OK;
}

static weft_status read_sizes(const wf_key_reader *r, const wf_key *key, const char *path,
                              const wf_yaml *node, wf_sizes *out)
{
    char what[WF_YAML_WHAT];
    out->n = 1;
    if (node->kind == WF_YAML_SCALAR)
        return wf_key_read_integer(r, path, node, key->least, key->most, &out->v[0]);
    if (node->kind != WF_YAML_LIST || node->n < 1 || node->n > WF_SIZES_MAX)
        return wf_yaml_fail(node, r->err,
                            "%s: %s of %zu, expected a whole number or a list of 1 to %d", path,
                            wf_yaml_what(node, what), node->n, WF_SIZES_MAX);
    out->n = (int32_t)node->n;
    for (size_t i = 0; i < node->n; i++) {
        WEFT_TRY(wf_key_read_integer(r, path, node->entries[i].value, key->least, key->most,
                                     &out->v[i]));
    }
    return WEFT_OK;
}

static weft_status read_numbers(const wf_key_reader *r, const wf_key *key, const char *path,
                                const wf_yaml *node, wf_numbers *out)
{
    char what[WF_YAML_WHAT];
    if (node->kind != WF_YAML_LIST || node->n < 1 || node->n > WF_NUMBERS_MAX)
        return wf_yaml_fail(node, r->err, "%s: %s, expected a list of 1 to %d numbers", path,
                            wf_yaml_what(node, what), WF_NUMBERS_MAX);
    out->n = (int32_t)node->n;
    for (size_t i = 0; i < node->n; i++) {
        double value;
        WEFT_TRY(wf_key_read_number(r, key, path, node->entries[i].value, &value));
        // Read again as f32: two roundings might not give the nearest.
        if (!wf_text_parse_f32(node->entries[i].value->text, &out->v[i]))
            return wf_yaml_fail(node, r->err, "%s: '%s', expected a number", path,
                                node->entries[i].value->text);
    }
    return WEFT_OK;
}

static weft_status read_integers(const wf_key_reader *r, const wf_key *key, const char *path,
                                 const wf_yaml *node, wf_integers *out)
{
    char what[WF_YAML_WHAT];
    out->n = 1;
    if (node->kind == WF_YAML_SCALAR)
        return wf_key_read_integer(r, path, node, key->least, key->most, &out->v[0]);
    if (node->kind != WF_YAML_LIST || node->n > WF_INTEGERS_MAX)
        return wf_yaml_fail(node, r->err,
                            "%s: %s of %zu, expected a whole number or a list of 0 to %d", path,
                            wf_yaml_what(node, what), node->n, WF_INTEGERS_MAX);
    out->n = (int32_t)node->n;
    for (size_t i = 0; i < node->n; i++) {
        WEFT_TRY(wf_key_read_integer(r, path, node->entries[i].value, key->least, key->most,
                                     &out->v[i]));
    }
    return WEFT_OK;
}

static weft_status read_words(const wf_key_reader *r, const char *path, const wf_yaml *node,
                              wf_words *out)
{
    char what[WF_YAML_WHAT];
    if (node->kind != WF_YAML_LIST || node->n < 1)
        return wf_yaml_fail(node, r->err, "%s: %s, expected a list of texts", path,
                            wf_yaml_what(node, what));
    out->v = wf_arena_take(r->arena, node->n * sizeof *out->v);
    if (!out->v)
        WEFT_FAIL(r->err, WEFT_ERR_MEMORY, "memory: no room for the recipe");
    for (size_t i = 0; i < node->n; i++) {
        WEFT_TRY(read_text(r, path, node->entries[i].value, &out->v[i]));
    }
    out->n = node->n;
    return WEFT_OK;
}

static weft_status read_map(const wf_key_reader *r, const wf_key *key, const char *path,
                            const wf_yaml *node, void *member)
{
    char what[WF_YAML_WHAT];
    if (node->kind == WF_YAML_MAP)
        return wf_keys_read(r, key->keys, node, path, member);
    const bool is_short = node->kind == WF_YAML_SCALAR || (key->flags & WF_KEY_LISTED);
    if (!is_short || !key->short_key)
        return wf_yaml_fail(node, r->err, "%s: %s, expected a map", path, wf_yaml_what(node, what));
    // "loss: cross_entropy" is "loss: {kind: cross_entropy}".
    wf_yaml_entry entry = {key->short_key, node->line, node->column, NULL};
    wf_yaml scalar = *node;
    wf_yaml map = {.kind = WF_YAML_MAP,
                   .source = node->source,
                   .line = node->line,
                   .column = node->column,
                   .entries = &entry,
                   .n = 1};
    entry.value = &scalar;
    return wf_keys_read(r, key->keys, &map, path, member);
}

static weft_status read_one(const wf_key_reader *r, const wf_key *key, const char *path,
                            const wf_yaml *node, void *target)
{
    void *member = (char *)target + key->offset;
    switch (key->kind) {
    case WF_KEY_TEXT: return read_text(r, path, node, member);
    case WF_KEY_INTEGER: return wf_key_read_integer(r, path, node, key->least, key->most, member);
    case WF_KEY_NUMBER: return wf_key_read_number(r, key, path, node, member);
    case WF_KEY_BOOL: return wf_key_read_bool(r, path, node, member);
    case WF_KEY_CHOICE: return wf_key_read_choice(r, path, node, key->choices, member);
    case WF_KEY_SIZES: return read_sizes(r, key, path, node, member);
    case WF_KEY_NUMBERS: return read_numbers(r, key, path, node, member);
    case WF_KEY_INTEGERS: return read_integers(r, key, path, node, member);
    case WF_KEY_WORDS: return read_words(r, path, node, member);
    case WF_KEY_MAP: return read_map(r, key, path, node, member);
    case WF_KEY_CUSTOM: return key->read(r, key, path, node, member);
    }
    return WEFT_OK;
}

static weft_status check_known(const wf_key_reader *r, const wf_key *keys, const wf_yaml *map,
                               const char *path)
{
    const char *names[MAX_LISTED + 1];
    size_t n = 0;
    for (; keys[n].name && n < MAX_LISTED; n++) {
        names[n] = keys[n].name;
    }
    names[n] = NULL;
    for (size_t i = 0; i < map->n; i++) {
        bool is_known = false;
        for (size_t k = 0; k < n && !is_known; k++) {
            is_known = !strcmp(names[k], map->entries[i].key);
        }
        if (is_known)
            continue;
        char hint[WF_KEY_HINT], list[WF_KEY_LIST];
        const char *key = map->entries[i].key;
        return wf_yaml_fail_key(map, &map->entries[i], r->err,
                                "unknown key '%.60s'%s%s, expected %s%s", key, *path ? " in " : "",
                                path, wf_key_list(names, list), wf_key_hint(key, names, hint));
    }
    return WEFT_OK;
}

// The key only means something with some choices of the first key: said, rather than ignored.
static weft_status check_applies(const wf_key_reader *r, const wf_key *keys, const wf_key *key,
                                 const wf_yaml *map, const wf_yaml_entry *entry, const char *path,
                                 const void *target)
{
    if (!key->only_for)
        return WEFT_OK;
    int32_t choice;
    memcpy(&choice, (const char *)target + keys[0].offset, sizeof choice);
    if (key->only_for >> choice & 1)
        return WEFT_OK;
    const char *with[MAX_LISTED + 1];
    char list[WF_KEY_LIST];
    size_t n = 0;
    for (int32_t i = 0; keys[0].choices[i]; i++) {
        if (key->only_for >> i & 1)
            with[n++] = keys[0].choices[i];
    }
    with[n] = NULL;
    return wf_yaml_fail_key(map, entry, r->err, "%s.%s: %s %s has no such key, expected it with %s",
                            path, key->name, keys[0].name, keys[0].choices[choice],
                            wf_key_list(with, list));
}

weft_status wf_keys_read(const wf_key_reader *r, const wf_key *keys, const wf_yaml *map,
                         const char *path, void *target)
{
    WEFT_TRY(check_known(r, keys, map, path));
    for (const wf_key *key = keys; key->name; key++) {
        const wf_yaml_entry *entry = wf_yaml_find(map, key->name);
        if (key->flags & WF_KEY_ELSEWHERE)
            continue;
        if (!entry) {
            if (!(key->flags & WF_KEY_REQUIRED))
                continue;
            if (*path)
                return wf_yaml_fail(map, r->err, "%s: no key '%s', expected one", path, key->name);
            return wf_yaml_fail(map, r->err, "no key '%s', expected one", key->name);
        }
        char full[PATH_BYTES];
        snprintf(full, sizeof full, "%s%s%s", path, *path ? "." : "", key->name);
        WEFT_TRY(check_applies(r, keys, key, map, entry, path, target));
        WEFT_TRY(read_one(r, key, full, entry->value, target));
    }
    return WEFT_OK;
}
