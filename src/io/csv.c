// Parses tables in place: cells are ended with zeros, quotes inside them are moved together.
#include "io/csv.h"

#include <string.h>

#include "base/utf8.h"
#include "io/byte_source.h"

// Cells are counted by i32 in models; and a table is held whole.
#define CSV_MAX_BYTES ((size_t)1 << 31)

typedef struct {
    const char *source;
    wf_csv *csv;
    char *at;
    char *end;
    char *line_start;
    size_t line;
    size_t n_cells, cell_capacity, line_capacity;
    weft_error *err;
} csv_parser;

static size_t column_of(const csv_parser *p)
{
    return (size_t)(p->at - p->line_start) + 1;
}

static bool is_line_end(const csv_parser *p)
{
    return p->at == p->end || *p->at == '\n' || (*p->at == '\r' && p->at[1] == '\n');
}

static void pass_line_end(csv_parser *p)
{
    if (p->at == p->end)
        return;
    p->at += *p->at == '\r' ? 2 : 1;
    p->line++;
    p->line_start = p->at;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

// The separator that the first row has most of, outside quotes.
static char find_separator(const csv_parser *p)
{
    static const char kinds[] = ",;\t";
    size_t count[3] = {0};
    bool is_quoted = false;
    for (const char *c = p->at; c < p->end && (is_quoted || *c != '\n'); c++) {
        const char *kind = *c ? strchr(kinds, *c) : NULL;
        if (*c == '"')
            is_quoted = !is_quoted;
        else if (kind && !is_quoted)
            count[kind - kinds]++;
    }
    size_t best = 0;
    for (size_t i = 1; i < 3; i++)
        best = count[i] > count[best] ? i : best;
    return kinds[best];
}

static weft_status add_cell(csv_parser *p, char *cell)
{
    wf_csv *csv = p->csv;
    WEFT_TRY(wf_array_reserve(&csv->allocator, &csv->cell, &p->cell_capacity, p->n_cells + 1,
                              sizeof *csv->cell, p->err));
    csv->cell[p->n_cells++] = cell;
    return WEFT_OK;
}

// at is behind the opening quote. *out_end: where the cell's own characters end.
static weft_status read_quoted(csv_parser *p, char **out_end)
{
    const size_t line = p->line, column = column_of(p) - 1;
    char *dst = p->at;
    for (;;) {
        if (p->at == p->end)
            WEFT_FAIL(p->err, WEFT_ERR_FORMAT,
                      "%s: line %zu, column %zu: a quote that is never closed", p->source, line,
                      column);
        if (*p->at == '"' && p->at[1] != '"')
            break;
        if (*p->at == '"')
            p->at++;
        *dst++ = *p->at;
        if (*p->at++ == '\n') {
            p->line++;
            p->line_start = p->at;
        }
    }
    p->at++;
    while (p->at < p->end && *p->at == ' ')
        p->at++;
    *out_end = dst;
    if (is_line_end(p) || *p->at == p->csv->separator)
        return WEFT_OK;
    WEFT_FAIL(p->err, WEFT_ERR_FORMAT,
              "%s: line %zu, column %zu: text behind a closing quote, expected a separator",
              p->source, p->line, column_of(p));
}

// One cell and what ends it; *out_is_last: a line end did.
static weft_status read_cell(csv_parser *p, bool *out_is_last)
{
    const char separator = p->csv->separator;
    char *cell, *end = NULL;
    while (p->at < p->end && is_blank(*p->at) && *p->at != separator)
        p->at++;
    if (p->at < p->end && *p->at == '"') {
        cell = ++p->at;
        WEFT_TRY(read_quoted(p, &end));
    } else {
        cell = p->at;
        while (!is_line_end(p) && *p->at != separator)
            p->at++;
        for (end = p->at; end > cell && is_blank(end[-1]);)
            end--;
    }
    *out_is_last = is_line_end(p);
    if (*out_is_last)
        pass_line_end(p);
    else
        p->at++;
    // After looking at what was there.
    *end = 0;
    return add_cell(p, cell);
}

static weft_status read_row(csv_parser *p)
{
    wf_csv *csv = p->csv;
    const size_t first = p->n_cells, line = p->line;
    bool is_last = false;
    while (!is_last)
        WEFT_TRY(read_cell(p, &is_last));
    const size_t n = p->n_cells - first;
    if (n == 1 && csv->cell[first][0] == 0 && csv->n_columns != 1) {
        p->n_cells = first; // an empty line
        return WEFT_OK;
    }
    if (csv->n_columns == 0)
        csv->n_columns = n;
    if (n != csv->n_columns)
        WEFT_FAIL(p->err, WEFT_ERR_FORMAT, "%s: line %zu: %zu cells, the first row has %zu",
                  p->source, line, n, csv->n_columns);
    WEFT_TRY(wf_array_reserve(&csv->allocator, &csv->line, &p->line_capacity, csv->n_rows + 1,
                              sizeof *csv->line, p->err));
    csv->line[csv->n_rows++] = line;
    return WEFT_OK;
}

static weft_status check_bytes(csv_parser *p, size_t size)
{
    const unsigned char *b = (const unsigned char *)p->at;
    if (size >= 2 && ((b[0] == 0xFF && b[1] == 0xFE) || (b[0] == 0xFE && b[1] == 0xFF)))
        WEFT_FAIL(p->err, WEFT_ERR_FORMAT, "%s: begins as UTF-16 does, expected UTF-8", p->source);
    if (size >= 3 && b[0] == 0xEF && b[1] == 0xBB && b[2] == 0xBF)
        p->at = p->line_start = p->at + 3;
    const char *first = p->at;
    size_t line_start = 0;
    for (size_t at = 0, n = (size_t)(p->end - first), length; at < n; at += length) {
        uint32_t code;
        length = wf_utf8_read((const uint8_t *)first, n, at, &code);
        if (length == 0 || code == 0)
            WEFT_FAIL(
                p->err, WEFT_ERR_FORMAT,
                "%s: line %zu, column %zu: byte 0x%02x is no UTF-8 text there, expected UTF-8",
                p->source, p->line, at - line_start + 1, (unsigned char)first[at]);
        if (code == '\n') {
            p->line++;
            line_start = at + 1;
        }
    }
    p->line = 1;
    return WEFT_OK;
}

weft_status wf_csv_parse(const wf_allocator *a, const char *source, char *take_data, size_t size,
                         char separator, wf_csv *out, weft_error *err)
{
    csv_parser p = {.source = source, .csv = out, .line = 1, .err = err};
    memset(out, 0, sizeof *out);
    out->allocator = *a;
    out->text = take_data;
    p.at = p.line_start = take_data;
    p.end = take_data + size;
    weft_status status = check_bytes(&p, size);
    out->separator = separator ? separator : find_separator(&p);
    while (status == WEFT_OK && p.at < p.end)
        status = read_row(&p);
    if (status == WEFT_OK && out->n_rows == 0)
        status = wf_error_set(err, WEFT_ERR_FORMAT, "%s: no rows, expected a table", source);
    if (status != WEFT_OK)
        wf_csv_deinit(out);
    return status;
}

weft_status wf_csv_read(const wf_allocator *a, const char *path, char separator, wf_csv *out,
                        weft_error *err)
{
    uint8_t *data;
    size_t size;
    memset(out, 0, sizeof *out);
    WEFT_TRY(wf_byte_source_read_all(a, path, CSV_MAX_BYTES, &data, &size, err));
    return wf_csv_parse(a, path, (char *)data, size, separator, out, err);
}

void wf_csv_deinit(wf_csv *csv)
{
    if (csv->text) {
        wf_free(&csv->allocator, csv->cell);
        wf_free(&csv->allocator, csv->line);
        wf_free(&csv->allocator, csv->text);
    }
    csv->text = NULL;
    csv->cell = NULL;
    csv->line = NULL;
    csv->n_rows = csv->n_columns = 0;
}
