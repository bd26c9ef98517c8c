// The headers of src/math as one text, the includes between them put in place once each, as a GPU
// program gets them.
#ifndef WF_TEST_MATH_SOURCE_H
#define WF_TEST_MATH_SOURCE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    char *text;
    size_t len, cap;
    char seen[64][64]; // names already put in place
    int n_seen;
} math_source;

static inline void math_source_append(math_source *s, const char *text)
{
    const size_t len = strlen(text);
    if (s->len + len + 1 > s->cap) {
        s->cap = 2 * (s->len + len + 1);
        s->text = realloc(s->text, s->cap);
        assert_non_null(s->text);
    }
    memcpy(s->text + s->len, text, len + 1);
    s->len += len;
}

// name as the include line has it: "math/exponential.h".
static inline void math_source_include(math_source *s, const char *name)
{
    char path[512], line[512], inner[64];
    for (int i = 0; i < s->n_seen; i++)
        if (strcmp(s->seen[i], name) == 0)
            return;
    assert_true(s->n_seen < 64 && strlen(name) < 64);
    memcpy(s->seen[s->n_seen++], name, strlen(name) + 1);
    snprintf(path, sizeof path, "%s/src/%s", WEFT_SOURCE_DIR, name);
    FILE *f = fopen(path, "r");
    if (f == NULL)
        fail_msg("%s cannot be read", path);
    while (fgets(line, sizeof line, f) != NULL) {
        if (sscanf(line, "#include \"%63[^\"]\"", inner) == 1)
            math_source_include(s, inner);
        else
            math_source_append(s, line);
    }
    fclose(f);
}

#endif
