// Header, types, categories and target of a table.
#include "data/table_infer.h"

#include <stdlib.h>
#include <string.h>

// More texts than this are no categories: names, dates, numbers of rows.
#define CATEGORIES_MAX 256
// A number with more values than this is measured, not classified.
#define CLASSES_OF_NUMBER_MAX 20
// Classes of a text.
#define CLASSES_MAX 10000

static bool is_number(const char *cell)
{
    double value;
    return wf_text_parse_f64(cell, &value);
}

// Some cell below the first row is a number.
static bool has_number(const wf_csv *csv, size_t column)
{
    for (size_t row = 1; row < csv->n_rows; row++) {
        const char *cell = wf_csv_cell(csv, row, column);
        if (!wf_table_cell_is_missing(cell))
            return is_number(cell);
    }
    return false;
}

bool wf_table_has_header(const wf_csv *csv)
{
    bool is_over_numbers = false, is_new = true;
    for (size_t c = 0; c < csv->n_columns; c++) {
        const char *cell = wf_csv_cell(csv, 0, c);
        if (wf_table_cell_is_missing(cell) || is_number(cell))
            return false;
        is_over_numbers = is_over_numbers || has_number(csv, c);
    }
    for (size_t c = 0; c < csv->n_columns && is_new; c++) {
        const char *cell = wf_csv_cell(csv, 0, c);
        for (size_t k = 0; k < c && is_new; k++)
            is_new = strcmp(cell, wf_csv_cell(csv, 0, k)) != 0;
        for (size_t row = 1; row < csv->n_rows && is_new; row++)
            is_new = strcmp(cell, wf_csv_cell(csv, row, c)) != 0;
    }
    return is_over_numbers || is_new;
}

static int compare_cells(const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;
    return strcmp(*x, *y);
}

// The different cells that are not missing, sorted; at most n_most of them, else *out_n is n_most + 1.
static weft_status find_categories(const wf_csv *csv, size_t first, size_t column, size_t n_most,
                                   wf_arena *arena, wf_table_column *out, weft_error *err)
{
    const char **all;
    size_t n = 0, n_different = 0;
    const wf_allocator *a = &csv->allocator;
    WEFT_TRY(wf_alloc(a, csv->n_rows, sizeof *all, &all, err));
    for (size_t row = first; row < csv->n_rows; row++) {
        const char *cell = wf_csv_cell(csv, row, column);
        if (!wf_table_cell_is_missing(cell))
            all[n++] = cell;
    }
    if (n)
        qsort(all, n, sizeof *all, compare_cells);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || strcmp(all[i], all[n_different - 1]) != 0)
            all[n_different++] = all[i];
    }
    out->n_categories = n_different <= n_most ? n_different : n_most + 1;
    weft_status status = WEFT_OK;
    if (n_different && n_different <= n_most) {
        out->category = wf_arena_take(arena, n_different * sizeof *out->category);
        for (size_t i = 0; out->category && i < n_different; i++) {
            out->category[i] = wf_arena_strdup(arena, all[i]);
            if (!out->category[i])
                out->category = NULL;
        }
        if (!out->category)
            status = wf_error_set(err, WEFT_ERR_MEMORY, "memory: no room for the columns");
    }
    wf_free(a, all);
    return status;
}

typedef struct {
    bool is_number; // every cell that is not missing
    bool is_whole;
    size_t n_missing, n_there;
} column_look;

static column_look look_at(const wf_csv *csv, size_t first, size_t column)
{
    column_look look = {true, true, 0, 0};
    for (size_t row = first; row < csv->n_rows; row++) {
        const char *cell = wf_csv_cell(csv, row, column);
        double value;
        if (wf_table_cell_is_missing(cell)) {
            look.n_missing++;
            continue;
        }
        look.n_there++;
        look.is_number = look.is_number && wf_text_parse_f64(cell, &value);
        // Above 2^53 every number is whole, and none is a class.
        look.is_whole = look.is_number && look.is_whole && value < 0x1p53 && value > -0x1p53 &&
                        value == (double)(int64_t)value;
    }
    look.is_number = look.is_number && look.n_there > 0;
    return look;
}

static weft_status infer_target(const wf_csv *csv, const char *path, size_t first, size_t c,
                                const wf_reader_options *o, wf_arena *arena, wf_table_column *out,
                                weft_error *err)
{
    const column_look look = look_at(csv, first, c);
    const bool may_be_value = look.is_number && o->target_kind != WF_TARGET_IS_CLASS;
    out->kind = WF_COLUMN_TARGET;
    if (o->target_kind == WF_TARGET_IS_VALUE && !look.is_number)
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: target '%s' is no number in every row", path,
                  out->name);
    if (may_be_value && (!look.is_whole || o->target_kind == WF_TARGET_IS_VALUE))
        return WEFT_OK;
    const size_t most = may_be_value ? CLASSES_OF_NUMBER_MAX : CLASSES_MAX;
    WEFT_TRY(find_categories(csv, first, c, most, arena, out, err));
    if (out->n_categories > most && may_be_value) {
        out->n_categories = 0;
        return WEFT_OK;
    }
    if (out->n_categories > most || out->n_categories == 0)
        WEFT_FAIL(err, WEFT_ERR_FORMAT,
                  "%s: target '%s' has %s different values, expected 1 to %d "
                  "classes",
                  path, out->name, out->n_categories ? "more" : "no", CLASSES_MAX);
    return WEFT_OK;
}

static weft_status infer_input(const wf_csv *csv, const char *path, size_t first, size_t c,
                               wf_arena *arena, wf_table_column *out, weft_error *err)
{
    const column_look look = look_at(csv, first, c);
    out->has_missing = look.n_missing > 0;
    if (look.n_there == 0) {
        out->kind = WF_COLUMN_IGNORED;
        out->has_missing = false;
        return WEFT_OK;
    }
    if (look.is_number) {
        out->kind = WF_COLUMN_NUMBER;
        out->std = 1.0;
        return WEFT_OK;
    }
    out->kind = WF_COLUMN_CATEGORY;
    WEFT_TRY(find_categories(csv, first, c, CATEGORIES_MAX, arena, out, err));
    if (out->n_categories > CATEGORIES_MAX)
        WEFT_FAIL(
            err, WEFT_ERR_FORMAT,
            "%s: column '%s' has more than %d different texts, data.ignore: [%s] leaves it out",
            path, out->name, CATEGORIES_MAX, out->name);
    return WEFT_OK;
}

static weft_status name_column(const wf_csv *csv, size_t first, size_t c, wf_arena *arena,
                               wf_table_column *out, weft_error *err)
{
    char number[32];
    memset(out, 0, sizeof *out);
    wf_text_format(number, sizeof number, "c%zu", c + 1);
    out->name = wf_arena_strdup(arena, first ? wf_csv_cell(csv, 0, c) : number);
    if (!out->name)
        WEFT_FAIL(err, WEFT_ERR_MEMORY, "memory: no room for the columns");
    return WEFT_OK;
}

static bool is_listed(const char *name, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(name, list[i]))
            return true;
    }
    return false;
}

// The target's place: by name, else the last column.
static weft_status find_target(const wf_csv *csv, const char *path, const wf_reader_options *o,
                               const wf_table_column *columns, size_t *out, weft_error *err)
{
    *out = csv->n_columns - 1;
    for (size_t c = 0; o->target && c < csv->n_columns; c++) {
        if (!strcmp(columns[c].name, o->target)) {
            *out = c;
            return WEFT_OK;
        }
    }
    if (!o->target)
        return WEFT_OK;
    const char *names[64];
    size_t n = 0;
    for (; n < csv->n_columns && n < WF_COUNT_OF(names); n++)
        names[n] = columns[n].name;
    const char *near = wf_text_nearest(o->target, names, n);
    WEFT_FAIL(err, WEFT_ERR_NAME, "%s: no column '%s'%s%s%s", path, o->target,
              near ? ", the nearest is '" : "", near ? near : "", near ? "'" : "");
}

weft_status wf_table_infer(const wf_csv *csv, const char *path, size_t first,
                           const wf_reader_options *o, wf_arena *arena, wf_table_column *columns,
                           weft_error *err)
{
    size_t target;
    for (size_t c = 0; c < csv->n_columns; c++)
        WEFT_TRY(name_column(csv, first, c, arena, &columns[c], err));
    WEFT_TRY(find_target(csv, path, o, columns, &target, err));
    for (size_t c = 0; c < csv->n_columns; c++) {
        if (c == target)
            WEFT_TRY(infer_target(csv, path, first, c, o, arena, &columns[c], err));
        else if (is_listed(columns[c].name, o->ignored, o->n_ignored))
            columns[c].kind = WF_COLUMN_IGNORED;
        else
            WEFT_TRY(infer_input(csv, path, first, c, arena, &columns[c], err));
    }
    return WEFT_OK;
}
