// Columns of tables as text and back.
#include "data/table_columns.h"

#include <string.h>
#include <strings.h>

bool wf_table_cell_is_missing(const char *cell)
{
    static const char *const words[] = {"", "?", "na", "n/a", "nan", "null", "none"};
    for (size_t i = 0; i < WF_COUNT_OF(words); i++) {
        if (!strcasecmp(cell, words[i]))
            return true;
    }
    return false;
}

int64_t wf_table_category(const wf_table_column *column, const char *cell)
{
    size_t low = 0, high = column->n_categories;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = strcmp(cell, column->category[middle]);
        if (order == 0)
            return (int64_t)middle;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return -1;
}

int64_t wf_table_column_features(const wf_table_column *column)
{
    if (column->kind == WF_COLUMN_NUMBER)
        return column->has_missing ? 2 : 1;
    return column->kind == WF_COLUMN_CATEGORY ? (int64_t)column->n_categories : 0;
}

static void print_escaped(const char *text, wf_text *out)
{
    for (; *text; text++) {
        if (strchr(":,\\", *text))
            wf_text_append_char(out, '\\');
        wf_text_append_char(out, *text);
    }
}

static const char *const kind_names[] = {"number", "category", "ignored", "target"};

void wf_table_column_print(const wf_table_column *column, wf_text *out)
{
    print_escaped(column->name, out);
    wf_text_printf(out, ": %s", kind_names[column->kind]);
    if (column->kind == WF_COLUMN_NUMBER) {
        wf_text_append(out, ", mean ");
        wf_text_append_f64(out, column->mean);
        wf_text_append(out, ", std ");
        wf_text_append_f64(out, column->std);
        if (column->has_missing)
            wf_text_append(out, ", missing");
    }
    for (size_t i = 0; i < column->n_categories; i++) {
        wf_text_append(out, ", ");
        print_escaped(column->category[i], out);
    }
}

// The piece up to an unescaped `end` or comma, without escapes, in the arena; *at moves behind it and the
// blank that follows. *out_end: what ended it, 0 at the end of the line.
static char *take_piece(const char **at, wf_arena *arena, char *out_end)
{
    const char *p = *at;
    char *piece = wf_arena_take(arena, strlen(p) + 1);
    size_t n = 0;
    if (!piece)
        return NULL;
    for (; *p && *p != ',' && *p != ':'; p++) {
        if (*p == '\\' && p[1])
            p++;
        piece[n++] = *p;
    }
    *out_end = *p;
    p += *p != 0;
    p += *p == ' ';
    *at = p;
    return piece;
}

static weft_status fail_line(const char *line, const char *expected, weft_error *err)
{
    WEFT_FAIL(err, WEFT_ERR_FORMAT, "data.columns: '%.80s', expected %s", line, expected);
}

static weft_status parse_number(const char *line, const char *at, wf_arena *arena,
                                wf_table_column *out, weft_error *err)
{
    static const char expected[] = "number, mean M, std S";
    char end;
    for (int i = 0; *at; i++) {
        const char *piece = take_piece(&at, arena, &end);
        if (!piece)
            WEFT_FAIL(err, WEFT_ERR_MEMORY, "memory: no room for the columns");
        const bool is_right =
            i == 0   ? !strncmp(piece, "mean ", 5) && wf_text_parse_f64(piece + 5, &out->mean)
            : i == 1 ? !strncmp(piece, "std ", 4) && wf_text_parse_f64(piece + 4, &out->std)
            : i == 2 ? !strcmp(piece, "missing")
                     : false;
        if (!is_right)
            return fail_line(line, expected, err);
        out->has_missing = i == 2;
    }
    if (!(out->std > 0.0 && out->std - out->std == 0.0 && out->mean - out->mean == 0.0))
        return fail_line(line, expected, err);
    return WEFT_OK;
}

static weft_status parse_categories(const char *line, const char *at, wf_arena *arena,
                                    wf_table_column *out, weft_error *err)
{
    size_t n_most = 1;
    char end;
    for (const char *p = at; *p; p++)
        n_most += *p == ',';
    out->category = wf_arena_take(arena, n_most * sizeof *out->category);
    while (out->category && *at) {
        const char *piece = take_piece(&at, arena, &end);
        if (!piece)
            break;
        if (out->n_categories && strcmp(out->category[out->n_categories - 1], piece) >= 0)
            return fail_line(line, "categories in order, each once", err);
        out->category[out->n_categories++] = piece;
    }
    if (!out->category || *at)
        WEFT_FAIL(err, WEFT_ERR_MEMORY, "memory: no room for the columns");
    return WEFT_OK;
}

weft_status wf_table_column_parse(const char *line, wf_arena *arena, wf_table_column *out,
                                  weft_error *err)
{
    const char *at = line;
    char end = 0;
    memset(out, 0, sizeof *out);
    out->name = take_piece(&at, arena, &end);
    if (!out->name)
        WEFT_FAIL(err, WEFT_ERR_MEMORY, "memory: no room for the columns");
    const char *kind = end == ':' ? take_piece(&at, arena, &end) : "";
    size_t i = 0;
    while (kind && i < WF_COUNT_OF(kind_names) && strcmp(kind, kind_names[i]) != 0)
        i++;
    if (!kind)
        WEFT_FAIL(err, WEFT_ERR_MEMORY, "memory: no room for the columns");
    if (i == WF_COUNT_OF(kind_names))
        return fail_line(line, "'name: ' and number, category, ignored or target", err);
    out->kind = (wf_column_kind)i;
    if (out->kind == WF_COLUMN_NUMBER)
        return parse_number(line, at, arena, out, err);
    if (out->kind == WF_COLUMN_IGNORED)
        return *at ? fail_line(line, "nothing behind 'ignored'", err) : WEFT_OK;
    WEFT_TRY(parse_categories(line, at, arena, out, err));
    if (out->kind == WF_COLUMN_CATEGORY && out->n_categories == 0)
        return fail_line(line, "category, and the categories", err);
    return WEFT_OK;
}
