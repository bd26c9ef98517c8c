// Builds the tree of a YAML file by libyaml's document interface: libcyaml, which maps files onto
// structs, gives neither the column nor the words that would have been right.
#include "recipe/yaml_tree.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "weft_config.h"

// Recipes nest five deep; an alias that holds itself would nest for ever.
#define MAX_DEPTH 32

static weft_status fail_at(const char *source, int32_t line, int32_t column, weft_error *err,
                           const char *format, va_list args) WF_PRINTF(5, 0);
static weft_status fail_at(const char *source, int32_t line, int32_t column, weft_error *err,
                           const char *format, va_list args)
{
    char text[768];
    wf_text_vformat(text, sizeof text, format, args);
    if (line == 0)
        WEFT_FAIL(err, WEFT_ERR_RECIPE, "%s: %s", source, text);
    WEFT_FAIL(err, WEFT_ERR_RECIPE, "%s:%d:%d: %s", source, line, column, text);
}

weft_status wf_yaml_fail(const wf_yaml *node, weft_error *err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const weft_status status = fail_at(node->source, node->line, node->column, err, format, args);
    va_end(args);
    return status;
}

weft_status wf_yaml_fail_key(const wf_yaml *map, const wf_yaml_entry *entry, weft_error *err,
                             const char *format, ...)
{
    va_list args;
    va_start(args, format);
    // A key from the command line stands in a map of the file: its value knows where it came from.
    const char *source = entry->line == 0 ? entry->value->source : map->source;
    const weft_status status = fail_at(source, entry->line, entry->column, err, format, args);
    va_end(args);
    return status;
}

const char *wf_yaml_what(const wf_yaml *node, char buf[WF_YAML_WHAT])
{
    if (node->kind == WF_YAML_LIST)
        return "a list";
    if (node->kind == WF_YAML_MAP)
        return "a map";
    if (!node->text[0])
        return "nothing";
    snprintf(buf, WF_YAML_WHAT, "'%.80s'", node->text);
    return buf;
}

wf_yaml_entry *wf_yaml_find(const wf_yaml *map, const char *key)
{
    for (size_t i = 0; i < map->n; i++) {
        if (map->entries[i].key && !strcmp(map->entries[i].key, key))
            return &map->entries[i];
    }
    return NULL;
}

void wf_yaml_remove(wf_yaml *map, const char *key)
{
    wf_yaml_entry *entry = wf_yaml_find(map, key);
    if (!entry)
        return;
    const size_t at = (size_t)(entry - map->entries);
    memmove(entry, entry + 1, (map->n - at - 1) * sizeof *entry);
    map->n--;
}

static weft_status no_memory(weft_error *err)
{
    WEFT_FAIL(err, WEFT_ERR_MEMORY, "memory: no room for the recipe");
}

static wf_yaml *new_node(wf_yaml_tree *tree, wf_yaml_kind kind, const char *source)
{
    wf_yaml *node = wf_arena_take(&tree->arena, sizeof *node);
    if (node) {
        node->kind = kind;
        node->source = source;
        node->text = "";
    }
    return node;
}

// Room for one more entry; the old array stays in the arena.
static weft_status push(wf_yaml_tree *tree, wf_yaml *node, const wf_yaml_entry *entry,
                        weft_error *err)
{
    if (node->n == node->capacity) {
        const size_t capacity = node->capacity ? 2 * node->capacity : 8;
        wf_yaml_entry *entries = wf_arena_take(&tree->arena, capacity * sizeof *entries);
        if (!entries)
            return no_memory(err);
        if (node->n)
            memcpy(entries, node->entries, node->n * sizeof *entries);
        node->entries = entries;
        node->capacity = capacity;
    }
    node->entries[node->n++] = *entry;
    return WEFT_OK;
}

void wf_yaml_deinit(wf_yaml_tree *tree)
{
    wf_arena_deinit(&tree->arena);
    memset(tree, 0, sizeof *tree);
}

#if WEFT_HAVE_YAML

#include <yaml.h>

typedef struct builder {
    wf_yaml_tree *tree;
    yaml_document_t *document;
    const char *source;
    bool has_place; // a file; a word of the command line has none
    weft_error *err;
} builder;

static weft_status build(builder *b, int id, int depth, wf_yaml **out_node);

static weft_status build_map(builder *b, const yaml_node_t *from, int depth, wf_yaml *node)
{
    for (yaml_node_pair_t *pair = from->data.mapping.pairs.start;
         pair < from->data.mapping.pairs.top; pair++) {
        const yaml_node_t *key = yaml_document_get_node(b->document, pair->key);
        wf_yaml_entry entry = {NULL, 0, 0, NULL};
        if (b->has_place) {
            entry.line = (int32_t)key->start_mark.line + 1;
            entry.column = (int32_t)key->start_mark.column + 1;
        }
        WEFT_TRY(build(b, pair->value, depth + 1, &entry.value));
        if (key->type != YAML_SCALAR_NODE)
            return wf_yaml_fail_key(node, &entry, b->err, "a key that is no word");
        entry.key = wf_arena_strdup(&b->tree->arena, (const char *)key->data.scalar.value);
        if (!entry.key)
            return no_memory(b->err);
        const wf_yaml_entry *other = wf_yaml_find(node, entry.key);
        if (other)
            return wf_yaml_fail_key(node, &entry, b->err,
                                    "key '%s' is given twice, first in line %d", entry.key,
                                    other->line);
        WEFT_TRY(push(b->tree, node, &entry, b->err));
    }
    return WEFT_OK;
}

static weft_status build_list(builder *b, const yaml_node_t *from, int depth, wf_yaml *node)
{
    for (yaml_node_item_t *item = from->data.sequence.items.start;
         item < from->data.sequence.items.top; item++) {
        wf_yaml_entry entry = {NULL, 0, 0, NULL};
        WEFT_TRY(build(b, *item, depth + 1, &entry.value));
        WEFT_TRY(push(b->tree, node, &entry, b->err));
    }
    return WEFT_OK;
}

static weft_status build(builder *b, int id, int depth, wf_yaml **out_node)
{
    static const wf_yaml_kind kinds[] = {
        [YAML_SCALAR_NODE] = WF_YAML_SCALAR,
        [YAML_SEQUENCE_NODE] = WF_YAML_LIST,
        [YAML_MAPPING_NODE] = WF_YAML_MAP,
    };
    const yaml_node_t *from = yaml_document_get_node(b->document, id);
    wf_yaml *node = new_node(b->tree, kinds[from->type], b->source);
    if (!node)
        return no_memory(b->err);
    *out_node = node;
    if (b->has_place) {
        node->line = (int32_t)from->start_mark.line + 1;
        node->column = (int32_t)from->start_mark.column + 1;
    }
    if (depth > MAX_DEPTH)
        return wf_yaml_fail(node, b->err, "nested deeper than %d, expected a recipe", MAX_DEPTH);
    if (node->kind == WF_YAML_MAP)
        return build_map(b, from, depth, node);
    if (node->kind == WF_YAML_LIST)
        return build_list(b, from, depth, node);
    node->is_plain = from->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    node->text = wf_arena_strdup(&b->tree->arena, (const char *)from->data.scalar.value);
    return node->text ? WEFT_OK : no_memory(b->err);
}

static weft_status fail_parse(const yaml_parser_t *parser, const builder *b)
{
    if (parser->error == YAML_MEMORY_ERROR)
        return no_memory(b->err);
    const char *what = parser->problem ? parser->problem : "damaged";
    if (!b->has_place)
        WEFT_FAIL(b->err, WEFT_ERR_RECIPE, "%s: no YAML, %s", b->source, what);
    WEFT_FAIL(b->err, WEFT_ERR_RECIPE, "%s:%d:%d: no YAML, %s%s%s", b->source,
              (int)parser->problem_mark.line + 1, (int)parser->problem_mark.column + 1, what,
              parser->context ? " " : "", parser->context ? parser->context : "");
}

// The one document of a text; *out_root NULL when there is none.
static weft_status parse_text(builder *b, const char *text, wf_yaml **out_root)
{
    yaml_parser_t parser;
    yaml_document_t document, second;
    *out_root = NULL;
    if (!yaml_parser_initialize(&parser))
        return no_memory(b->err);
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, strlen(text));
    if (!yaml_parser_load(&parser, &document)) {
        const weft_status failed = fail_parse(&parser, b);
        yaml_parser_delete(&parser);
        return failed;
    }
    weft_status status = WEFT_OK;
    b->document = &document;
    if (yaml_document_get_root_node(&document))
        status = build(b, 1, 0, out_root);
    if (status == WEFT_OK && *out_root) {
        if (!yaml_parser_load(&parser, &second)) {
            status = fail_parse(&parser, b);
        } else {
            const yaml_node_t *more = yaml_document_get_root_node(&second);
            if (more)
                status = wf_error_set(b->err, WEFT_ERR_RECIPE,
                                      "%s:%d:1: a second document, expected one", b->source,
                                      (int)more->start_mark.line + 1);
            yaml_document_delete(&second);
        }
    }
    yaml_document_delete(&document);
    yaml_parser_delete(&parser);
    return status;
}

#else

typedef struct builder {
    wf_yaml_tree *tree;
    const char *source;
    bool has_place;
    weft_error *err;
} builder;

static weft_status parse_text(builder *b, const char *text, wf_yaml **out_root)
{
    (void)text;
    *out_root = NULL;
    WEFT_FAIL(b->err, WEFT_ERR_UNSUPPORTED, "%s: recipes are not read, built without libyaml",
              b->source);
}

#endif

weft_status wf_yaml_parse(const wf_allocator *a, const char *source, const char *text,
                          wf_yaml_tree *out_tree, weft_error *err)
{
    memset(out_tree, 0, sizeof *out_tree);
    wf_arena_init(&out_tree->arena, a);
    const char *name = wf_arena_strdup(&out_tree->arena, source);
    weft_status status = name ? WEFT_OK : no_memory(err);
    if (status == WEFT_OK) {
        builder b = {.tree = out_tree, .source = name, .has_place = true, .err = err};
        status = parse_text(&b, text, &out_tree->root);
        if (status == WEFT_OK && !out_tree->root)
            status = wf_error_set(err, WEFT_ERR_RECIPE, "%s: empty, expected a recipe", name);
        char buf[WF_YAML_WHAT];
        if (status == WEFT_OK && out_tree->root->kind != WF_YAML_MAP)
            status = wf_yaml_fail(out_tree->root, err, "%s, expected a recipe: a map of keys",
                                  wf_yaml_what(out_tree->root, buf));
    }
    if (status != WEFT_OK)
        wf_yaml_deinit(out_tree);
    return status;
}

weft_status wf_yaml_override(wf_yaml_tree *tree, const char *word, weft_error *err)
{
    const char *equals = strchr(word, '=');
    char *path = wf_arena_strdup(&tree->arena, word);
    const char *source = wf_arena_strdup(&tree->arena, word);
    if (!path || !source)
        return no_memory(err);
    if (!equals || equals == word)
        WEFT_FAIL(err, WEFT_ERR_RECIPE, "%s: no setting, expected key=value", word);
    path[equals - word] = 0;
    builder b = {.tree = tree, .source = source, .err = err};
    wf_yaml *value = NULL, *map = tree->root;
    WEFT_TRY(parse_text(&b, equals + 1, &value));
    if (!value && !(value = new_node(tree, WF_YAML_SCALAR, source)))
        return no_memory(err);
    for (char *key = path;;) {
        char *dot = strchr(key, '.');
        if (dot)
            *dot = 0;
        wf_yaml_entry *entry = wf_yaml_find(map, key);
        if (!entry) {
            wf_yaml_entry fresh = {key, 0, 0, dot ? new_node(tree, WF_YAML_MAP, source) : value};
            if (!fresh.value)
                return no_memory(err);
            WEFT_TRY(push(tree, map, &fresh, err));
            entry = &map->entries[map->n - 1];
        }
        if (!dot) {
            // Keeps its place among the keys; what is said about it names the word.
            entry->value = value;
            entry->line = entry->column = 0;
            return WEFT_OK;
        }
        // "loss: cross_entropy" becomes a map when a key of it is set: the scalar's own key is told
        // by the table, which is not known here.
        if (entry->value->kind != WF_YAML_MAP) {
            char what[WF_YAML_WHAT];
            WEFT_FAIL(err, WEFT_ERR_RECIPE, "%s: %s is %s in the recipe, expected a map", source,
                      key, wf_yaml_what(entry->value, what));
        }
        map = entry->value;
        key = dot + 1;
    }
}
