// Reads back what print.c writes. Every fault is one line with the text's line and column.
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph/graph.h"
#include "graph/op_info.h"

#define MAX_ATTRS 16
#define MAX_REGION_DEPTH 8 // scans within scans
#define MAX_INPUTS 64      // of one node in a text; concat of more is built in steps

typedef struct {
    weft_context *ctx;
    weft_graph *g;
    const char *cursor;
    const char *line_start;
    int line;
    weft_error *err;
    int depth;        // of regions
    wf_arena scratch; // attribute lists, texts and data until the node has copied them
} parser;

#define PARSE_FAIL(p, ...)                                                                         \
    do {                                                                                           \
        wf_error_set((p)->err, WEFT_ERR_FORMAT, __VA_ARGS__);                                      \
        wf_error_prefix((p)->err, "graph text line %d column %d", (p)->line,                       \
                        (int)((p)->cursor - (p)->line_start) + 1);                                 \
        return WEFT_ERR_FORMAT;                                                                    \
    } while (0)

static void skip_blanks(parser *p)
{
    while (*p->cursor == ' ' || *p->cursor == '\t' || *p->cursor == '\r')
        p->cursor++;
}

static bool take(parser *p, const char *token)
{
    skip_blanks(p);
    size_t n = strlen(token);
    if (strncmp(p->cursor, token, n) != 0)
        return false;
    p->cursor += n;
    return true;
}

static weft_status expect(parser *p, const char *token)
{
    if (!take(p, token))
        PARSE_FAIL(p, "expected '%s'", token);
    return WEFT_OK;
}

static weft_status take_word(parser *p, char *out, size_t size)
{
    skip_blanks(p);
    size_t n = 0;
    while ((isalnum((unsigned char)*p->cursor) || *p->cursor == '_') && n + 1 < size) {
        out[n++] = *p->cursor++;
    }
    out[n] = 0;
    if (n == 0)
        PARSE_FAIL(p, "expected a word");
    return WEFT_OK;
}

static weft_status take_int(parser *p, int64_t *out)
{
    skip_blanks(p);
    char *end;
    long long v = strtoll(p->cursor, &end, 10);
    if (end == p->cursor)
        PARSE_FAIL(p, "expected an integer");
    p->cursor = end;
    *out = v;
    return WEFT_OK;
}

static weft_status take_string(parser *p, const char **out)
{
    WEFT_TRY(expect(p, "\""));
    char *text = wf_arena_take(&p->scratch, strlen(p->cursor) + 1);
    if (!text)
        WEFT_FAIL(p->err, WEFT_ERR_MEMORY, "memory for graph text is not available");
    size_t n = 0;
    while (*p->cursor && *p->cursor != '"' && *p->cursor != '\n') {
        char c = *p->cursor++;
        if (c == '\\' && *p->cursor == 'x' && isxdigit((unsigned char)p->cursor[1]) &&
            isxdigit((unsigned char)p->cursor[2])) {
            const char hex[3] = {p->cursor[1], p->cursor[2], 0};
            c = (char)strtol(hex, NULL, 16);
            p->cursor += 3;
        } else if (c == '\\' && *p->cursor) {
            c = *p->cursor++;
        }
        text[n++] = c;
    }
    text[n] = 0;
    *out = text;
    return expect(p, "\"");
}

static weft_status take_value_id(parser *p, weft_val *out)
{
    int64_t id;
    WEFT_TRY(expect(p, "%"));
    WEFT_TRY(take_int(p, &id));
    if (id < 1 || (size_t)id >= p->g->n_values)
        PARSE_FAIL(p, "value %%%" PRId64 " is unknown", id);
    out->id = (uint32_t)id;
    return WEFT_OK;
}

static weft_status take_ints(parser *p, wf_attr *out)
{
    WEFT_TRY(expect(p, "["));
    int64_t *ints = wf_arena_take(&p->scratch, (strlen(p->cursor) / 2 + 1) * sizeof *ints);
    if (!ints)
        WEFT_FAIL(p->err, WEFT_ERR_MEMORY, "memory for graph text is not available");
    size_t n = 0;
    while (!take(p, "]")) {
        if (n)
            WEFT_TRY(expect(p, ","));
        WEFT_TRY(take_int(p, &ints[n++]));
    }
    *out = wf_attr_ints(ints, n);
    return WEFT_OK;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return -1;
}

static weft_status take_data(parser *p, wf_attr *out)
{
    WEFT_TRY(expect(p, "x"));
    size_t digits = 0;
    while (hex_digit(p->cursor[digits]) >= 0)
        digits++;
    if (digits % 2)
        PARSE_FAIL(p, "data has half a byte");
    unsigned char *bytes = wf_arena_take(&p->scratch, digits / 2);
    if (!bytes)
        WEFT_FAIL(p->err, WEFT_ERR_MEMORY, "memory for graph text is not available");
    for (size_t i = 0; i < digits / 2; i++, p->cursor += 2) {
        bytes[i] = (unsigned char)(hex_digit(p->cursor[0]) * 16 + hex_digit(p->cursor[1]));
    }
    *out = wf_attr_data(bytes, digits / 2);
    return WEFT_OK;
}

static weft_status parse_lines(parser *p, const char *end);

// The lines of a graph of its own, from behind "(" to ")". It lives until the node has copied it.
static weft_status take_region(parser *p, wf_attr *out)
{
    weft_graph *outer = p->g, *region;
    WEFT_TRY(expect(p, "("));
    if (p->depth == MAX_REGION_DEPTH)
        PARSE_FAIL(p, "regions are nested deeper than %d", MAX_REGION_DEPTH);
    WEFT_TRY(wf_array_reserve(&p->ctx->allocator, &outer->regions, &outer->regions_capacity,
                              outer->n_regions + 1, sizeof(weft_graph *), p->err));
    WEFT_TRY(weft_graph_create(p->ctx, &region, p->err));
    outer->regions[outer->n_regions++] = region;
    region->is_region = true;
    p->g = region;
    p->depth++;
    const weft_status status = parse_lines(p, ")");
    p->depth--;
    p->g = outer;
    WEFT_TRY(status);
    region->scopes[0] = "";
    *out = wf_attr_graph(region);
    return WEFT_OK;
}

static weft_status take_attr(parser *p, wf_attr_kind kind, wf_attr *out)
{
    char word[64];
    switch (kind) {
    case WF_ATTR_INT: {
        int64_t i;
        WEFT_TRY(take_int(p, &i));
        *out = wf_attr_int(i);
        return WEFT_OK;
    }
    case WF_ATTR_BOOL:
        WEFT_TRY(take_word(p, word, sizeof word));
        *out = wf_attr_int(!strcmp(word, "true"));
        return WEFT_OK;
    case WF_ATTR_DTYPE:
        WEFT_TRY(take_word(p, word, sizeof word));
        *out = wf_attr_int(weft_dtype_parse(word));
        if (out->u.i == WEFT_DTYPE_NONE)
            PARSE_FAIL(p, "dtype %s is unknown", word);
        return WEFT_OK;
    case WF_ATTR_FLOAT: {
        WEFT_TRY(expect(p, "0x"));
        char *end;
        uint64_t bits = strtoull(p->cursor, &end, 16);
        p->cursor = end;
        double f;
        memcpy(&f, &bits, sizeof f);
        *out = wf_attr_float(f);
        return WEFT_OK;
    }
    case WF_ATTR_TEXT: {
        const char *text;
        WEFT_TRY(take_string(p, &text));
        *out = wf_attr_text(text);
        return WEFT_OK;
    }
    case WF_ATTR_INTS: return take_ints(p, out);
    case WF_ATTR_DATA: return take_data(p, out);
    case WF_ATTR_GRAPH: return take_region(p, out);
    }
    return WEFT_ERR_INTERNAL;
}

static weft_status take_attrs(parser *p, const wf_op *op, wf_attr *attrs)
{
    size_t n = wf_op_n_attrs(op);
    if (n > MAX_ATTRS)
        PARSE_FAIL(p, "op %s has too many attributes", wf_op_name(op));
    for (size_t i = 0; i < n; i++) {
        char word[64];
        WEFT_TRY(expect(p, i ? "," : "{"));
        WEFT_TRY(take_word(p, word, sizeof word));
        if (strcmp(word, wf_op_attr_name(op, i)) != 0) {
            PARSE_FAIL(p, "attribute %s, expected %s", word, wf_op_attr_name(op, i));
        }
        WEFT_TRY(expect(p, "="));
        WEFT_TRY(take_attr(p, wf_op_attr_kind(op, i), &attrs[i]));
    }
    return n ? expect(p, "}") : WEFT_OK;
}

// %3 = op(%1, %2) {..} @"scope" -> types. The types are inferred again and must agree.
static weft_status parse_node(parser *p)
{
    char word[64];
    int64_t id;
    WEFT_TRY(take_int(p, &id));
    if ((size_t)id != p->g->n_values) {
        PARSE_FAIL(p, "value %%%" PRId64 " is out of order, expected %%%zu", id, p->g->n_values);
    }
    WEFT_TRY(expect(p, "="));
    WEFT_TRY(take_word(p, word, sizeof word));
    const wf_op *op = wf_op_find(p->ctx, word);
    if (!op)
        PARSE_FAIL(p, "op %s is unknown", word);
    weft_val inputs[MAX_INPUTS];
    size_t n_inputs = 0;
    if (take(p, "(")) {
        do {
            if (n_inputs == MAX_INPUTS)
                PARSE_FAIL(p, "more than %d operands", MAX_INPUTS);
            WEFT_TRY(take_value_id(p, &inputs[n_inputs++]));
        } while (take(p, ","));
        WEFT_TRY(expect(p, ")"));
    }
    wf_attr attrs[MAX_ATTRS] = {{{0}, 0}};
    WEFT_TRY(take_attrs(p, op, attrs));
    if (take(p, "@")) {
        const char *scope;
        WEFT_TRY(take_string(p, &scope));
        p->g->scopes[0] = wf_arena_strdup(&p->g->arena, scope);
    } else {
        p->g->scopes[0] = "";
    }
    weft_val first = wf_graph_add(p->g, op, inputs, n_inputs, attrs);
    if (!first.id) {
        wf_error_set(p->err, WEFT_ERR_FORMAT, "graph text line %d: %s", p->line,
                     p->g->error.message);
        return WEFT_ERR_FORMAT;
    }
    for (uint32_t i = 0; i < wf_graph_producer(p->g, first.id)->n_outputs; i++) {
        char text[WF_TYPE_TEXT];
        WEFT_TRY(expect(p, i ? "," : "->"));
        const char *type = wf_type_text(wf_graph_type(p->g, first.id + i), text);
        if (!take(p, type))
            PARSE_FAIL(p, "expected type %s", type);
    }
    return WEFT_OK;
}

// Nodes and outputs up to `end`; "" is the end of the text.
static weft_status parse_lines(parser *p, const char *end)
{
    for (;;) {
        skip_blanks(p);
        if (*end ? take(p, end) : *p->cursor == 0)
            return WEFT_OK;
        if (*p->cursor == '\n') {
            p->cursor++;
            p->line++;
            p->line_start = p->cursor;
            continue;
        }
        if (take(p, "%")) {
            WEFT_TRY(parse_node(p));
        } else if (take(p, "output")) {
            const char *name;
            weft_val val;
            WEFT_TRY(take_string(p, &name));
            WEFT_TRY(expect(p, "="));
            WEFT_TRY(take_value_id(p, &val));
            weft_output(p->g, name, val);
            if (p->g->error.code)
                PARSE_FAIL(p, "%s", p->g->error.message);
        } else {
            PARSE_FAIL(p, "expected a node or an output");
        }
        skip_blanks(p);
        if (*p->cursor && *p->cursor != '\n')
            PARSE_FAIL(p, "text behind the end of the line");
    }
}

weft_status weft_graph_parse(weft_context *ctx, const char *text, weft_graph **out_graph,
                             weft_error *err)
{
    WEFT_REQUIRE(err, ctx && text && out_graph, "graph: parse without context or text");
    *out_graph = NULL;
    parser p = {ctx, NULL, text, text, 1, err, 0, {{0}, NULL}};
    WEFT_TRY(weft_graph_create(ctx, &p.g, err));
    wf_arena_init(&p.scratch, &ctx->allocator);
    weft_status status = expect(&p, "weft graph 1");
    if (status == WEFT_OK)
        status = parse_lines(&p, "");
    wf_arena_deinit(&p.scratch);
    if (status != WEFT_OK) {
        weft_graph_destroy(p.g);
        return status;
    }
    p.g->scopes[0] = "";
    *out_graph = p.g;
    return WEFT_OK;
}
