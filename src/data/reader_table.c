// Reads a table, CSV or TSV: a row is a sample. Out: field "value" f32 [features] (numbers normalised,
// a one among zeros for a category) and "label", i32 of classes or f32. What numbers are normalised by
// is learnt from the training split alone, and kept, with types and categories, in data.columns.
#include <math.h> // sqrt alone, which IEEE 754 defines to the last bit
#include <string.h>

#include "base/file.h"
#include "data/table_infer.h"

typedef struct {
    wf_dataset dataset; // first: destroyed through its address
    char *path;
    wf_arena arena; // names, categories
    wf_csv csv;
    size_t n_columns;
    wf_table_column *column; // [n_columns] of the recipe, or of the file
    size_t *place;           // [n_columns] where each stands in the file
    size_t *row;             // [n_samples] rows of csv
    int64_t n_features;
    float *value;   // [n_samples, n_features]
    int32_t *klass; // [n_samples], or
    float *number;
    const char **lines; // the columns as text
    bool is_normalised;
    bool is_given; // the columns came with the recipe: nothing is learnt
} table_dataset;

static void destroy_dataset(wf_dataset *dataset)
{
    table_dataset *d = (table_dataset *)dataset;
    wf_allocator a = dataset->allocator;
    wf_csv_deinit(&d->csv);
    wf_free(&a, d->column);
    wf_free(&a, d->place);
    wf_free(&a, d->row);
    wf_free(&a, d->value);
    wf_free(&a, d->klass);
    wf_free(&a, d->number);
    wf_free(&a, d->lines);
    wf_free(&a, d->path);
    wf_arena_deinit(&d->arena);
    wf_free(&a, d);
}

// ---- columns
// Columns of the recipe are found in the file by name where it has a header, else by place.
static weft_status match_columns(table_dataset *d, size_t first, weft_error *err)
{
    for (size_t i = 0; i < d->n_columns; i++) {
        const wf_table_column *column = &d->column[i];
        size_t c = i;
        if (first) {
            for (c = 0; c < d->csv.n_columns; c++) {
                if (!strcmp(wf_csv_cell(&d->csv, 0, c), column->name))
                    break;
            }
        }
        d->place[i] = c;
        // A table to predict has no target.
        const bool is_needed =
            column->kind == WF_COLUMN_NUMBER || column->kind == WF_COLUMN_CATEGORY;
        if (c >= d->csv.n_columns && is_needed)
            WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: no column '%s', the model was trained with it",
                      d->path, column->name);
    }
    return WEFT_OK;
}

static weft_status given_columns(table_dataset *d, const wf_reader_options *o, size_t first,
                                 weft_error *err)
{
    d->is_given = true;
    for (size_t i = 0; i < d->n_columns; i++)
        WEFT_TRY(wf_table_column_parse(o->columns[i], &d->arena, &d->column[i], err));
    return match_columns(d, first, err);
}

// A header where the options do not say: where the recipe's columns are named there, else by its looks.
static bool has_header(const table_dataset *d, const wf_reader_options *o)
{
    if (o->header != WF_HEADER_AUTO)
        return o->header == WF_HEADER_YES;
    return wf_table_has_header(&d->csv);
}

static weft_status make_columns(table_dataset *d, const wf_reader_options *o, size_t first,
                                weft_error *err)
{
    const wf_allocator *a = &d->dataset.allocator;
    d->n_columns = o->n_columns ? o->n_columns : d->csv.n_columns;
    WEFT_TRY(wf_alloc(a, d->n_columns, sizeof *d->column, &d->column, err));
    WEFT_TRY(wf_alloc(a, d->n_columns, sizeof *d->place, &d->place, err));
    WEFT_TRY(wf_alloc(a, d->n_columns, sizeof *d->lines, &d->lines, err));
    if (o->n_columns)
        return given_columns(d, o, first, err);
    for (size_t i = 0; i < d->n_columns; i++)
        d->place[i] = i;
    return wf_table_infer(&d->csv, d->path, first, o, &d->arena, d->column, err);
}

static const wf_table_column *find_target(const table_dataset *d, size_t *out_place)
{
    for (size_t i = 0; i < d->n_columns; i++) {
        *out_place = d->place[i];
        if (d->column[i].kind == WF_COLUMN_TARGET)
            return *out_place < d->csv.n_columns ? &d->column[i] : NULL;
    }
    return NULL;
}

// ---- rows
static weft_status check_cell(const table_dataset *d, size_t row, size_t i, weft_error *err)
{
    const char *cell = wf_csv_cell(&d->csv, row, d->place[i]);
    const wf_table_column *column = &d->column[i];
    double value = 0.0;
    if (wf_table_cell_is_missing(cell)) {
        if (column->kind != WF_COLUMN_TARGET)
            return WEFT_OK;
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: line %zu, column %zu: no target '%s'", d->path,
                  d->csv.line[row], d->place[i] + 1, column->name);
    }
    const bool is_number = column->kind == WF_COLUMN_NUMBER ||
                           (column->kind == WF_COLUMN_TARGET && column->n_categories == 0);
    if (is_number && (!wf_text_parse_f64(cell, &value) || !(value - value == 0.0) ||
                      !((float)value - (float)value == 0.0f)))
        WEFT_FAIL(err, WEFT_ERR_FORMAT,
                  "%s: line %zu, column %zu: '%.40s' in '%s', expected a number", d->path,
                  d->csv.line[row], d->place[i] + 1, cell, column->name);
    if (column->kind == WF_COLUMN_TARGET && column->n_categories &&
        wf_table_category(column, cell) < 0)
        WEFT_FAIL(err, WEFT_ERR_FORMAT,
                  "%s: line %zu, column %zu: '%.40s' is none of the %zu classes", d->path,
                  d->csv.line[row], d->place[i] + 1, cell, column->n_categories);
    return WEFT_OK;
}

// Rows that can be used; the others are an error, or counted.
static weft_status choose_rows(table_dataset *d, const wf_reader_options *o, size_t first,
                               weft_error *err)
{
    wf_dataset *set = &d->dataset;
    weft_error why = {0};
    WEFT_TRY(wf_alloc(&set->allocator, d->csv.n_rows, sizeof *d->row, &d->row, err));
    for (size_t row = first; row < d->csv.n_rows; row++) {
        weft_status status = WEFT_OK;
        for (size_t i = 0; i < d->n_columns && status == WEFT_OK; i++) {
            if (d->column[i].kind != WF_COLUMN_IGNORED && d->place[i] < d->csv.n_columns)
                status = check_cell(d, row, i, &why);
        }
        if (status == WEFT_OK) {
            d->row[set->n_samples++] = row;
            continue;
        }
        if (!o->is_skipping_bad) {
            if (err)
                *err = why;
            return status;
        }
        if (set->n_bad++ < 10)
            wf_reader_note(o, WEFT_LOG_WARNING, "left out: %s", why.message);
    }
    if (set->n_bad)
        wf_reader_note(o, WEFT_LOG_WARNING, "%s: %lld of %zu rows are bad and left out", d->path,
                       (long long)set->n_bad, d->csv.n_rows - first);
    if (set->n_samples == 0)
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: no rows to use, expected some", d->path);
    return WEFT_OK;
}

// ---- values
static double number_of(const table_dataset *d, int64_t sample, size_t i, bool *out_missing)
{
    const char *cell = wf_csv_cell(&d->csv, d->row[sample], d->place[i]);
    double value = 0.0;
    *out_missing = wf_table_cell_is_missing(cell);
    if (!*out_missing)
        wf_text_parse_f64(cell, &value);
    return value;
}

// y = f32((x - mean) / std), in f64; a missing one is the mean, 0.
static void fill_column(table_dataset *d, size_t i, int64_t at)
{
    const wf_table_column *column = &d->column[i];
    for (int64_t s = 0; s < d->dataset.n_samples; s++) {
        float *out = d->value + s * d->n_features + at;
        bool is_missing;
        if (column->kind == WF_COLUMN_CATEGORY) {
            const int64_t k =
                wf_table_category(column, wf_csv_cell(&d->csv, d->row[s], d->place[i]));
            for (size_t c = 0; c < column->n_categories; c++)
                out[c] = (int64_t)c == k ? 1.0f : 0.0f;
            continue;
        }
        const double x = number_of(d, s, i, &is_missing);
        const double centred = x - column->mean;
        out[0] = is_missing ? 0.0f : (float)(centred / column->std);
        if (column->has_missing)
            out[1] = is_missing ? 1.0f : 0.0f;
    }
}

static void fill_values(table_dataset *d)
{
    int64_t at = 0;
    for (size_t i = 0; i < d->n_columns; i++) {
        const int64_t n = wf_table_column_features(&d->column[i]);
        if (n)
            fill_column(d, i, at);
        at += n;
    }
}

// The columns as lines, for the recipe.
static weft_status print_columns(table_dataset *d, weft_error *err)
{
    wf_text text;
    wf_text_init(&text, &d->dataset.allocator);
    weft_status status = WEFT_OK;
    for (size_t i = 0; i < d->n_columns && status == WEFT_OK; i++) {
        wf_text_clear(&text);
        wf_table_column_print(&d->column[i], &text);
        status = wf_text_status(&text, err);
        d->lines[i] = status == WEFT_OK ? wf_arena_strdup(&d->arena, wf_text_str(&text)) : NULL;
        if (status == WEFT_OK && !d->lines[i])
            status = wf_error_set(err, WEFT_ERR_MEMORY, "memory: no room for the columns");
    }
    wf_text_deinit(&text);
    d->dataset.columns = d->lines;
    d->dataset.n_columns = d->n_columns;
    return status;
}

// Mean and deviation of a number over the split, in f64, in the split's order: m = sum / n, then
// v = sum of (x - m)^2 / n. The product is rounded before it is added (no contraction).
static void learn_column(table_dataset *d, size_t i, const wf_split *split)
{
    wf_table_column *column = &d->column[i];
    double sum = 0.0, squares = 0.0, n = 0.0;
    bool is_missing;
    for (int64_t s = 0; s < split->n; s++) {
        const double x = number_of(d, wf_split_sample(split, s), i, &is_missing);
        sum += is_missing ? 0.0 : x;
        n += is_missing ? 0.0 : 1.0;
    }
    column->mean = n > 0.0 ? sum / n : 0.0;
    for (int64_t s = 0; s < split->n; s++) {
        const double x = number_of(d, wf_split_sample(split, s), i, &is_missing);
        const double centred = is_missing ? 0.0 : x - column->mean;
        const double square = centred * centred;
        squares += square;
    }
    const double std = n > 0.0 ? sqrt(squares / n) : 0.0;
    column->std = std > 0.0 && std - std == 0.0 ? std : 1.0;
}

static weft_status learn(wf_dataset *dataset, const wf_split *train, weft_error *err)
{
    table_dataset *d = (table_dataset *)dataset;
    if (d->is_given || !d->is_normalised)
        return WEFT_OK;
    for (size_t i = 0; i < d->n_columns; i++) {
        if (d->column[i].kind == WF_COLUMN_NUMBER)
            learn_column(d, i, train);
    }
    fill_values(d);
    return print_columns(d, err);
}

static weft_status set_label(table_dataset *d, weft_error *err)
{
    wf_dataset *set = &d->dataset;
    size_t place;
    const wf_table_column *target = find_target(d, &place);
    if (!target)
        return WEFT_OK;
    wf_field *field = &set->field[set->n_fields++];
    const size_t n = (size_t)set->n_samples;
    field->name = "label";
    field->sample_bytes = 4;
    if (target->n_categories) {
        set->n_classes = (int64_t)target->n_categories;
        set->class_names = target->category;
        field->dtype = WEFT_I32;
        WEFT_TRY(wf_alloc(&set->allocator, n, sizeof *d->klass, &d->klass, err));
    } else {
        field->dtype = WEFT_F32;
        field->ndim = 1;
        field->dim[0] = 1;
        WEFT_TRY(wf_alloc(&set->allocator, n, sizeof *d->number, &d->number, err));
    }
    for (size_t s = 0; s < n; s++) {
        const char *cell = wf_csv_cell(&d->csv, d->row[s], place);
        double value = 0.0;
        if (d->klass) {
            d->klass[s] = (int32_t)wf_table_category(target, cell);
            continue;
        }
        wf_text_parse_f64(cell, &value);
        d->number[s] = (float)value;
    }
    field->data = d->klass ? (const void *)d->klass : d->number;
    return WEFT_OK;
}

static weft_status set_fields(table_dataset *d, weft_error *err)
{
    wf_dataset *set = &d->dataset;
    for (size_t i = 0; i < d->n_columns; i++)
        d->n_features += wf_table_column_features(&d->column[i]);
    if (d->n_features == 0)
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: no column besides the target, expected some", d->path);
    WEFT_TRY(wf_alloc(&set->allocator, (size_t)set->n_samples,
                      (size_t)d->n_features * sizeof *d->value, &d->value, err));
    fill_values(d);
    wf_field *field = &set->field[set->n_fields++];
    field->name = "value";
    field->dtype = WEFT_F32;
    field->ndim = 1;
    field->dim[0] = d->n_features;
    field->sample_bytes = (size_t)d->n_features * sizeof *d->value;
    field->data = d->value;
    WEFT_TRY(set_label(d, err));
    return print_columns(d, err);
}

// What was found, for people: rows, and each column by its kind.
static weft_status tell_columns(const table_dataset *d, const wf_reader_options *o, weft_error *err)
{
    wf_text text;
    if (d->is_given || !o->note)
        return WEFT_OK;
    wf_text_init(&text, &d->dataset.allocator);
    for (size_t i = 0; i < d->n_columns; i++) {
        const wf_table_column *c = &d->column[i];
        static const char *const kinds[] = {"number", "category", "ignored", "target"};
        wf_text_printf(&text, "%s%s %s", i ? ", " : "", c->name, kinds[c->kind]);
        if (c->n_categories)
            wf_text_printf(&text, " of %zu", c->n_categories);
        if (c->has_missing)
            wf_text_append(&text, " with missing");
    }
    const weft_status status = wf_text_status(&text, err);
    if (status == WEFT_OK)
        wf_reader_note(o, WEFT_LOG_INFO, "%s: %lld rows: %s", d->path,
                       (long long)d->dataset.n_samples, wf_text_str(&text));
    wf_text_deinit(&text);
    return status;
}

static bool probe(const char *path)
{
    const char *dot = strrchr(wf_path_base(path), '.');
    return dot && (!strcmp(dot, ".csv") || !strcmp(dot, ".tsv")) && wf_file_is_regular(path);
}

// Columns are known by their names, in the run as well: each stands for one.
static weft_status check_names(const table_dataset *d, weft_error *err)
{
    for (size_t c = 1; c < d->csv.n_columns; c++) {
        for (size_t before = 0; before < c; before++) {
            const char *name = wf_csv_cell(&d->csv, 0, c);
            if (!strcmp(name, wf_csv_cell(&d->csv, 0, before)))
                WEFT_FAIL(err, WEFT_ERR_FORMAT,
                          "%s: line 1: columns %zu and %zu are both named '%s', expected a name "
                          "for each, or data.header: no",
                          d->path, before + 1, c + 1, name);
        }
    }
    return WEFT_OK;
}

static weft_status read_table(table_dataset *d, const wf_reader_options *o, weft_error *err)
{
    WEFT_TRY(wf_csv_read(&d->dataset.allocator, d->path, 0, &d->csv, err));
    const size_t first = has_header(d, o) ? 1 : 0;
    if (first)
        WEFT_TRY(check_names(d, err));
    WEFT_TRY(make_columns(d, o, first, err));
    WEFT_TRY(choose_rows(d, o, first, err));
    WEFT_TRY(set_fields(d, err));
    return tell_columns(d, o, err);
}

static weft_status open_dataset(const wf_reader_options *o, wf_dataset **out_dataset,
                                weft_error *err)
{
    table_dataset *d;
    weft_status status;
    wf_allocator a = o->allocator ? *o->allocator : wf_allocator_default();
    *out_dataset = NULL;
    WEFT_REQUIRE(err, o->path, "data: table wants a file");
    if (o->part && strcmp(o->part, "train"))
        WEFT_FAIL(err, WEFT_ERR_FILE,
                  "%s: one table has no part '%s', expected another file, or a fraction", o->path,
                  o->part);
    WEFT_TRY(wf_alloc(&a, 1, sizeof *d, &d, err));
    d->dataset.allocator = a;
    d->dataset.destroy = destroy_dataset;
    d->dataset.learn = learn;
    d->is_normalised = !o->is_raw;
    wf_arena_init(&d->arena, &a);
    WEFT_TRY_GOTO(wf_strdup(&a, o->path, &d->path, err));
    d->dataset.source = d->path;
    WEFT_TRY_GOTO(read_table(d, o, err));
    *out_dataset = &d->dataset;
    return WEFT_OK;
fail:
    destroy_dataset(&d->dataset);
    return status;
}

const wf_reader wf_reader_table = {
    .name = "table",
    .summary = "a table in CSV or TSV, a row for each sample",
    .probe = probe,
    .open = open_dataset,
};
