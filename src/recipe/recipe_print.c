// Prints structs of a recipe by their tables, so that reading gives the same structs again.
#include <string.h>

#include "recipe/recipe_keys.h"

void wf_key_print_text(const char *text, wf_text *out)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./";
    static const char *const words[] = {"true", "false", "null", "yes", "no", "on", "off"};
    const char first = text[0];
    bool is_plain =
        text[strspn(text, plain)] == 0 &&
        ((first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z') || first == '/');
    for (size_t i = 0; i < WF_COUNT_OF(words); i++) {
        is_plain = is_plain && strcmp(text, words[i]) != 0;
    }
    // JSON's strings are YAML's double-quoted ones.
    if (is_plain)
        wf_text_append(out, text);
    else
        wf_text_append_json_string(out, text);
}

static void print_sizes(const wf_sizes *sizes, wf_text *out)
{
    if (sizes->n == 1) {
        wf_text_printf(out, "%lld", (long long)sizes->v[0]);
        return;
    }
    for (int32_t i = 0; i < sizes->n; i++) {
        wf_text_printf(out, "%s%lld", i ? ", " : "[", (long long)sizes->v[i]);
    }
    wf_text_append(out, "]");
}

static void print_integers(const wf_integers *integers, wf_text *out)
{
    wf_text_append(out, "[");
    for (int32_t i = 0; i < integers->n; i++) {
        wf_text_printf(out, "%s%lld", i ? ", " : "", (long long)integers->v[i]);
    }
    wf_text_append(out, "]");
}

static void print_numbers(const wf_numbers *numbers, wf_text *out)
{
    for (int32_t i = 0; i < numbers->n; i++) {
        wf_text_append(out, i ? ", " : "[");
        wf_text_append_f32(out, numbers->v[i]);
    }
    wf_text_append(out, "]");
}

static void print_words(const wf_words *words, wf_text *out)
{
    for (size_t i = 0; i < words->n; i++) {
        wf_text_append(out, i ? ", " : "[");
        wf_key_print_text(words->v[i], out);
    }
    wf_text_append(out, "]");
}

static void print_value(const wf_key *key, const void *member, wf_text *out)
{
    switch (key->kind) {
    case WF_KEY_TEXT: wf_key_print_text(*(const char *const *)member, out); break;
    case WF_KEY_INTEGER: wf_text_printf(out, "%lld", (long long)*(const int64_t *)member); break;
    case WF_KEY_NUMBER: wf_text_append_f64(out, *(const double *)member); break;
    case WF_KEY_BOOL: wf_text_append(out, *(const bool *)member ? "true" : "false"); break;
    case WF_KEY_CHOICE: wf_text_append(out, key->choices[*(const int32_t *)member]); break;
    case WF_KEY_SIZES: print_sizes(member, out); break;
    case WF_KEY_NUMBERS: print_numbers(member, out); break;
    case WF_KEY_INTEGERS: print_integers(member, out); break;
    case WF_KEY_WORDS: print_words(member, out); break;
    case WF_KEY_MAP: wf_keys_print_flow(key->keys, member, out); break;
    case WF_KEY_CUSTOM: key->print(key, member, out); break;
    }
}

static bool is_unset(const wf_key *key, const void *member)
{
    switch (key->kind) {
    case WF_KEY_MAP:
        for (const wf_key *k = key->keys; k->name; k++) {
            if (!is_unset(k, (const char *)member + k->offset))
                return false;
        }
        return true;
    case WF_KEY_TEXT: return *(const char *const *)member == NULL;
    case WF_KEY_INTEGER: return *(const int64_t *)member == WF_KEY_UNSET;
    case WF_KEY_SIZES: return ((const wf_sizes *)member)->n == 0;
    case WF_KEY_NUMBERS: return ((const wf_numbers *)member)->n == 0;
    case WF_KEY_WORDS: return ((const wf_words *)member)->n == 0;
    case WF_KEY_CHOICE: return *(const int32_t *)member == 0;
    case WF_KEY_BOOL: return !*(const bool *)member;
    case WF_KEY_NUMBER: return *(const double *)member == 0.0;
    default: return false;
    }
}

static bool is_printed(const wf_key *keys, const wf_key *key, const void *target)
{
    int32_t choice;
    if (key->flags & WF_KEY_ELSEWHERE)
        return false;
    if ((key->flags & WF_KEY_OPTIONAL) && is_unset(key, (const char *)target + key->offset))
        return false;
    if (!key->only_for)
        return true;
    memcpy(&choice, (const char *)target + keys[0].offset, sizeof choice);
    return key->only_for >> choice & 1;
}

void wf_keys_print(const wf_key *keys, const void *target, int indent, wf_text *out)
{
    for (const wf_key *key = keys; key->name; key++) {
        const void *member = (const char *)target + key->offset;
        if (!is_printed(keys, key, target))
            continue;
        wf_text_printf(out, "%*s%s:", indent, "", key->name);
        if (key->kind == WF_KEY_MAP) {
            wf_text_append(out, "\n");
            wf_keys_print(key->keys, member, indent + 2, out);
            continue;
        }
        // A custom one may begin a line of its own: it writes the blank itself.
        if (key->kind != WF_KEY_CUSTOM)
            wf_text_append(out, " ");
        print_value(key, member, out);
        wf_text_append(out, "\n");
    }
}

void wf_keys_print_flow(const wf_key *keys, const void *target, wf_text *out)
{
    const char *glue = "{";
    for (const wf_key *key = keys; key->name; key++) {
        if (!is_printed(keys, key, target))
            continue;
        wf_text_printf(out, "%s%s: ", glue, key->name);
        print_value(key, (const char *)target + key->offset, out);
        glue = ", ";
    }
    wf_text_append(out, *glue == '{' ? "{}" : "}");
}
