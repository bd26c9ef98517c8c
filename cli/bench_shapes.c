// Reads shapes: a list of numbers, or the rows of a JSON file of a fixed form (so that no JSON library
// is needed for it). See bench_shapes.h.
#include "bench_shapes.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX_BYTES (1 << 20)

bool bench_row_parse(const char *text, size_t least, bench_row *out)
{
    *out = (bench_row){.n = 0};
    while (out->n < BENCH_MAX_COLUMNS) {
        char *end;
        out->v[out->n] = strtoll(text, &end, 10);
        if (end == text) {
            return false;
        }
        out->n++;
        if (*end == '\0') {
            return out->n >= least;
        }
        if (*end != ',' && *end != 'x') {
            return false;
        }
        text = end + 1;
    }
    return false;
}

static const char *skip_blank(const char *at)
{
    while (*at && (isspace((unsigned char)*at) || *at == ',')) {
        at++;
    }
    return at;
}

// One row: ["name", 1, 2, ...]. NULL: it is not one.
static const char *read_row(const char *at, bench_row *out)
{
    *out = (bench_row){.n = 0};
    at = skip_blank(at + 1);
    const char *end = *at == '"' ? strchr(at + 1, '"') : NULL;
    if (!end || (size_t)(end - at) > sizeof out->name) {
        return NULL;
    }
    memcpy(out->name, at + 1, (size_t)(end - at) - 1);
    for (at = skip_blank(end + 1); *at != ']'; at = skip_blank(at)) {
        char *next;
        if (out->n == BENCH_MAX_COLUMNS) {
            return NULL;
        }
        out->v[out->n++] = strtoll(at, &next, 10);
        if (next == at) {
            return NULL;
        }
        at = next;
    }
    return at + 1;
}

static int read_rows(const char *text, const char *path, const char *kind, bench_row *out,
                     char why[256])
{
    char key[32];
    int n = 0;
    snprintf(key, sizeof key, "\"%s\"", kind);
    const char *at = strstr(text, key);
    at = at ? strstr(at, "\"rows\"") : NULL;
    at = at ? strchr(at, '[') : NULL;
    if (!at) {
        snprintf(why, 256, "%.180s: has no rows of %s", path, kind);
        return -1;
    }
    for (at = skip_blank(at + 1); *at == '['; at = skip_blank(at)) {
        at = n < BENCH_MAX_ROWS ? read_row(at, &out[n]) : NULL;
        if (!at) {
            snprintf(why, 256, "%.180s: row %d of %s is no [\"name\", number, ...]", path, n + 1,
                     kind);
            return -1;
        }
        n++;
    }
    return n;
}

int bench_rows_read(const char *path, const char *kind, bench_row out[BENCH_MAX_ROWS],
                    char why[256])
{
    FILE *file = fopen(path, "r");
    if (!file) {
        snprintf(why, 256, "%.200s: cannot be opened", path);
        return -1;
    }
    char *text = calloc(FILE_MAX_BYTES + 1, 1);
    const size_t n = text ? fread(text, 1, FILE_MAX_BYTES, file) : 0;
    fclose(file);
    int rows = -1;
    if (n > 0) {
        rows = read_rows(text, path, kind, out, why);
    } else {
        snprintf(why, 256, "%.200s: cannot be read", path);
    }
    free(text);
    return rows;
}
