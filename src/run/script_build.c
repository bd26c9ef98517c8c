// Building a script: nodes, blocks, signatures. In: calls. Out: a flat list. Stage: RUN.
#include <string.h>

#include "base/text.h"
#include "run/script.h"

weft_status weft_script_create(weft_state *state, weft_script **out_script, weft_error *err)
{
    weft_script *s;
    WEFT_REQUIRE(err, state && out_script, "script: without state");
    *out_script = NULL;
    WEFT_TRY(wf_alloc(&state->device->context->allocator, 1, sizeof *s, &s, err));
    s->state = state;
    wf_arena_init(&s->arena, &state->device->context->allocator);
    *out_script = s;
    return WEFT_OK;
}

void weft_script_destroy(weft_script *s)
{
    if (!s)
        return;
    const wf_allocator a = s->state->device->context->allocator;
    for (size_t i = 0; i < s->n_nodes; i++) {
        wf_script_program_deinit(s, &s->nodes[i]);
        wf_free(&a, s->nodes[i].reads.v);
        wf_free(&a, s->nodes[i].writes.v);
    }
    for (size_t i = 0; i < s->n_values; i++) {
        wf_free(&a, s->values[i].data);
    }
    wf_free(&a, s->nodes);
    wf_free(&a, s->values);
    wf_free(&a, s->open);
    wf_arena_deinit(&s->arena);
    wf_free(&a, s);
}

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.';
}

static size_t name_length(const char *at)
{
    size_t n = 0;
    while (is_name_char(at[n])) {
        n++;
    }
    return n;
}

static weft_status copy_text(weft_script *s, const char *text, const char **out, weft_error *err)
{
    *out = wf_arena_strdup(&s->arena, text);
    if (!*out)
        WEFT_FAIL(err, WEFT_ERR_MEMORY, "out of memory");
    return WEFT_OK;
}

// The value whose name these n characters are: an old one or a new one.
static weft_status name_value(weft_script *s, const char *name, size_t n, uint32_t *out,
                              weft_error *err)
{
    const wf_allocator *a = &s->arena.allocator;
    for (size_t i = 0; i < s->n_values; i++) {
        if (strlen(s->values[i].name) == n && !memcmp(s->values[i].name, name, n)) {
            *out = (uint32_t)i;
            return WEFT_OK;
        }
    }
    WEFT_TRY(wf_array_reserve(a, &s->values, &s->values_capacity, s->n_values + 1,
                              sizeof *s->values, err));
    char *copy = wf_arena_take(&s->arena, n + 1); // zeroed
    if (!copy)
        WEFT_FAIL(err, WEFT_ERR_MEMORY, "out of memory");
    memcpy(copy, name, n);
    *out = (uint32_t)s->n_values;
    s->values[s->n_values++] = (wf_script_value){.name = copy};
    return WEFT_OK;
}

static weft_status add_name(weft_script *s, wf_script_names *names, const char *name, size_t n,
                            weft_error *err)
{
    uint32_t value = 0;
    WEFT_TRY(name_value(s, name, n, &value, err));
    WEFT_TRY(wf_realloc(&s->arena.allocator, &names->v, names->n + 1, sizeof *names->v, err));
    names->v[names->n++] = value;
    return WEFT_OK;
}

// "a, b -> c"
static weft_status parse_signature(weft_script *s, wf_script_node *node, weft_error *err)
{
    wf_script_names *names = &node->reads;
    bool wants_name = false;
    for (const char *at = node->signature; *at;) {
        const size_t n = name_length(at);
        if (*at == ' ') {
            at++;
        } else if (at[0] == '-' && at[1] == '>' && names == &node->reads && !wants_name) {
            names = &node->writes;
            at += 2;
        } else if (n > 0) {
            WEFT_TRY(add_name(s, names, at, n, err));
            at += n + strspn(at + n, " ");
            wants_name = *at == ',';
            if (!wants_name && *at && *at != '-')
                break;
            at += wants_name;
        } else {
            wants_name = true;
            break;
        }
    }
    if (names != &node->writes || wants_name)
        WEFT_FAIL(err, WEFT_ERR_ATTR, "'%s', expected names read and written: \"a, b -> c\"",
                  node->signature);
    return WEFT_OK;
}

static weft_status check_name(const weft_script *s, const char *name, weft_error *err)
{
    if (!name || !*name || name[name_length(name)])
        WEFT_FAIL(err, WEFT_ERR_NAME, "'%s' is no name, expected letters, digits, '_' and '.'",
                  name ? name : "");
    for (size_t i = 0; i < s->n_nodes; i++) {
        if (s->nodes[i].kind != &wf_script_kind_else && !strcmp(s->nodes[i].name, name))
            WEFT_FAIL(err, WEFT_ERR_NAME, "the name is taken by a node before");
    }
    return WEFT_OK;
}

static weft_status copy_names(weft_script *s, wf_script_node *node, const char *name,
                              const char *signature, weft_error *err)
{
    WEFT_TRY(copy_text(s, name, &node->name, err));
    WEFT_TRY(copy_text(s, signature, &node->signature, err));
    if (!node->kind->is_block)
        return parse_signature(s, node, err);
    WEFT_TRY(check_name(s, signature, err));
    return add_name(s, &node->reads, signature, strlen(signature), err);
}

// Appends a node, whose kind and functions are set.
static weft_status append(weft_script *s, const wf_script_node *from, const char *name,
                          const char *signature, weft_error *err)
{
    const wf_allocator *a = &s->arena.allocator;
    WEFT_TRY(
        wf_array_reserve(a, &s->nodes, &s->nodes_capacity, s->n_nodes + 1, sizeof *s->nodes, err));
    WEFT_TRY(wf_array_reserve(a, &s->open, &s->open_capacity, s->n_open + 1, sizeof *s->open, err));
    wf_script_node *node = &s->nodes[s->n_nodes];
    *node = *from;
    node->depth = (int32_t)s->n_open;
    s->n_nodes++; // from here on it is freed with the script
    return copy_names(s, node, name, signature, err);
}

static void add(weft_script *s, const wf_script_node *from, const char *name, const char *signature)
{
    if (!s || s->status != WEFT_OK)
        return;
    s->status = check_name(s, name, &s->error);
    if (s->status == WEFT_OK)
        s->status = append(s, from, name, signature ? signature : "", &s->error);
    if (s->status != WEFT_OK)
        wf_error_prefix(&s->error, "script: %s %s", from->kind->name, name ? name : "");
    else if (from->kind->is_block)
        s->open[s->n_open++] = (uint32_t)(s->n_nodes - 1);
}

void weft_script_program(weft_script *s, const char *name, const char *signature,
                         weft_script_build build, void *user)
{
    const wf_script_node node = {.kind = &wf_script_kind_program, .build = build, .user = user};
    add(s, &node, name, signature);
}

void weft_script_host(weft_script *s, const char *name, const char *signature,
                      weft_script_function function, void *user)
{
    const wf_script_node node = {.kind = &wf_script_kind_host, .function = function, .user = user};
    add(s, &node, name, signature);
}

void weft_script_if(weft_script *s, const char *name, const char *condition)
{
    add(s, &(wf_script_node){.kind = &wf_script_kind_if}, name, condition);
}

void weft_script_while(weft_script *s, const char *name, const char *condition)
{
    add(s, &(wf_script_node){.kind = &wf_script_kind_while}, name, condition);
}

void weft_script_loop(weft_script *s, const char *name, const char *count)
{
    add(s, &(wf_script_node){.kind = &wf_script_kind_loop}, name, count);
    if (!s || s->status != WEFT_OK)
        return;
    wf_script_node *node = &s->nodes[s->n_nodes - 1];
    s->status = add_name(s, &node->writes, name, strlen(name), &s->error);
}

// The innermost open block, which is closed; NULL with an error when there is none.
static wf_script_node *close_block(weft_script *s, const char *what)
{
    if (!s || s->status != WEFT_OK)
        return NULL;
    if (s->n_open == 0) {
        s->status = wf_error_set(&s->error, WEFT_ERR_USAGE, "script: %s without a block", what);
        return NULL;
    }
    wf_script_node *node = &s->nodes[s->open[--s->n_open]];
    node->behind = (uint32_t)s->n_nodes;
    return node;
}

void weft_script_else(weft_script *s)
{
    const wf_script_node *node = close_block(s, "else");
    if (!node)
        return;
    if (node->kind != &wf_script_kind_if) {
        s->status =
            wf_error_set(&s->error, WEFT_ERR_USAGE, "script: %s %s has an else, expected if",
                         node->kind->name, node->name);
        return;
    }
    const char *name = node->name;
    s->status = append(s, &(wf_script_node){.kind = &wf_script_kind_else}, name, node->signature,
                       &s->error);
    if (s->status == WEFT_OK)
        s->open[s->n_open++] = (uint32_t)(s->n_nodes - 1);
}

void weft_script_end(weft_script *s)
{
    close_block(s, "end");
}

weft_status wf_script_status(const weft_script *s, weft_error *err)
{
    if (s->status != WEFT_OK && err)
        *err = s->error;
    return s->status;
}

weft_status weft_script_list(const weft_script *s,
                             void (*found)(void *user, const weft_script_node *node), void *user,
                             weft_error *err)
{
    WEFT_REQUIRE(err, s && found, "script: list without script or function");
    WEFT_TRY(wf_script_status(s, err));
    for (size_t i = 0; i < s->n_nodes; i++) {
        const wf_script_node *n = &s->nodes[i];
        const weft_script_node info = {n->kind->name, n->name, n->signature, n->depth};
        found(user, &info);
    }
    return WEFT_OK;
}
