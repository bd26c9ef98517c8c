// The list of families, made from file names, and a family built from words "key=value". In: a name.
// Out: graph values. Stage: nn.
#include "nn/family.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "weft/family.h"

// The names wf_family_<NAME> are made here.
#define WF_FAMILY(name) extern const wf_family wf_family_##name;
#include "weft_generated/family_list.inc"
#undef WF_FAMILY

static const wf_family *const families[] = {
#define WF_FAMILY(name) &wf_family_##name,
#include "weft_generated/family_list.inc"
#undef WF_FAMILY
};

// Options of one family in a message; more are cut.
#define MAX_LISTED 64
#define LIST_BYTES 512

_Static_assert(WF_COUNT_OF(families) <= WF_FAMILIES_MAX, "room for every family in a message");

size_t wf_families_count(void)
{
    return WF_COUNT_OF(families);
}

const wf_family *wf_families_get(size_t idx)
{
    return idx < WF_COUNT_OF(families) ? families[idx] : NULL;
}

const char *weft_family_name(size_t idx)
{
    return idx < WF_COUNT_OF(families) ? families[idx]->name : NULL;
}

const wf_family *wf_families_find(const char *name)
{
    for (size_t i = 0; i < WF_COUNT_OF(families); i++) {
        if (!strcmp(families[i]->name, name))
            return families[i];
    }
    return NULL;
}

int64_t wf_family_classes(const wf_family_build *b, int64_t given)
{
    const int64_t n = given ? given : b->n_classes;
    if (n < 1 && wf_nn_begin(b->nn))
        wf_graph_fail(b->nn->g, NULL, WEFT_ERR_ATTR,
                      "family: classes is 0 and the data has none, expected 1 or more");
    return n;
}

// "'a', expected b, c or d, did you mean 'b'" of a list that ends with NULL.
static const char *expected_text(const char *word, const char *const *names, size_t n,
                                 char buf[LIST_BYTES])
{
    size_t at = 0;
    buf[0] = 0;
    for (size_t i = 0; i < n && at + 1 < LIST_BYTES; i++) {
        const char *glue = i == 0 ? "" : i + 1 < n ? ", " : " or ";
        const int more = snprintf(buf + at, LIST_BYTES - at, "%s%s", glue, names[i]);
        at += more > 0 ? (size_t)more : 0;
    }
    const char *nearest = wf_text_nearest(word, names, n);
    if (nearest && at + 1 < LIST_BYTES)
        snprintf(buf + at, LIST_BYTES - at, ", did you mean '%s'", nearest);
    return buf;
}

static bool parse_integer(const wf_option *option, const char *text, int64_t *out)
{
    return wf_text_parse_i64(text, out) && (double)*out >= option->least &&
           (double)*out <= option->most;
}

// "64,32" as integers.
static bool parse_integers(const wf_option *option, const char *text, wf_integers *out)
{
    char word[32];
    out->n = 0;
    for (;;) {
        const size_t len = strcspn(text, ",");
        if (len >= sizeof word || out->n == WF_INTEGERS_MAX)
            return false;
        memcpy(word, text, len);
        word[len] = 0;
        if (!parse_integer(option, word, &out->v[out->n++]))
            return false;
        if (!text[len])
            return true;
        text += len + 1;
    }
}

static bool parse_choice(const wf_option *option, const char *text, int32_t *out)
{
    for (int32_t i = 0; option->choices[i]; i++) {
        if (!strcmp(option->choices[i], text)) {
            *out = i;
            return true;
        }
    }
    return false;
}

static bool parse_value(const wf_option *option, const char *text, void *member)
{
    switch (option->kind) {
    case WF_OPTION_INTEGER: return parse_integer(option, text, member);
    case WF_OPTION_NUMBER: {
        double *value = member;
        return wf_text_parse_f64(text, value) && *value >= option->least && *value <= option->most;
    }
    case WF_OPTION_BOOL:
        *(bool *)member = !strcmp(text, "true");
        return !strcmp(text, "true") || !strcmp(text, "false");
    case WF_OPTION_CHOICE: return parse_choice(option, text, member);
    case WF_OPTION_INTEGERS: return parse_integers(option, text, member);
    }
    return false;
}

static void fail_value(weft_graph *g, const wf_family *family, const wf_option *option,
                       const char *text)
{
    char list[LIST_BYTES];
    size_t n = 0;
    if (option->kind == WF_OPTION_CHOICE) {
        while (option->choices[n]) {
            n++;
        }
        wf_graph_fail(g, NULL, WEFT_ERR_ATTR, "%s: %s is '%.60s', expected %s", family->name,
                      option->name, text, expected_text(text, option->choices, n, list));
    } else if (option->kind == WF_OPTION_BOOL) {
        wf_graph_fail(g, NULL, WEFT_ERR_ATTR, "%s: %s is '%.60s', expected true or false",
                      family->name, option->name, text);
    } else {
        wf_graph_fail(g, NULL, WEFT_ERR_ATTR, "%s: %s is '%.60s', expected %g to %g", family->name,
                      option->name, text, option->least, option->most);
    }
}

// False after recording an error.
static bool set_option(weft_graph *g, const wf_family *family, const char *word, void *values)
{
    const char *names[MAX_LISTED];
    char key[64], list[LIST_BYTES];
    const size_t len = strcspn(word, "=");
    size_t n = 0;
    snprintf(key, sizeof key, "%.*s", (int)(len < sizeof key ? len : sizeof key - 1), word);
    for (const wf_option *o = family->options; o->name; o++) {
        if (n < MAX_LISTED)
            names[n++] = o->name;
        if (strcmp(o->name, key) != 0 || !word[len])
            continue;
        if (parse_value(o, word + len + 1, (char *)values + o->offset))
            return true;
        fail_value(g, family, o, word + len + 1);
        return false;
    }
    wf_graph_fail(g, NULL, WEFT_ERR_NAME, "%s: no option '%.60s', expected key=value with %s",
                  family->name, word, expected_text(key, names, n, list));
    return false;
}

weft_val weft_family(weft_nn *nn, const char *name, weft_val x, const char *const *options,
                     size_t n_options, weft_family_result *out_result)
{
    weft_graph *g = wf_nn_begin(nn);
    if (out_result)
        *out_result = (weft_family_result){WEFT_NONE, WEFT_NONE, WEFT_NONE};
    if (!g || !x.id)
        return WEFT_NONE;
    const wf_family *family = name ? wf_families_find(name) : NULL;
    if (!family) {
        const char *names[WF_COUNT_OF(families)];
        char list[LIST_BYTES];
        for (size_t i = 0; i < WF_COUNT_OF(families); i++) {
            names[i] = families[i]->name;
        }
        wf_graph_fail(g, NULL, WEFT_ERR_NAME, "family: '%.60s' is unknown, expected %s",
                      name ? name : "",
                      expected_text(name ? name : "", names, WF_COUNT_OF(families), list));
        return WEFT_NONE;
    }
    void *values = wf_arena_take(&g->arena, family->options_bytes);
    if (!values) {
        wf_graph_fail(g, NULL, WEFT_ERR_MEMORY, "memory: options of %s", family->name);
        return WEFT_NONE;
    }
    memcpy(values, family->defaults, family->options_bytes);
    for (size_t i = 0; i < n_options; i++) {
        if (!set_option(g, family, options[i], values))
            return WEFT_NONE;
    }
    wf_family_build b = {.nn = nn, .options = values, .x = x};
    const weft_val out = family->build(&b);
    if (out_result)
        *out_result = (weft_family_result){out, b.penalty, b.code};
    return out;
}
