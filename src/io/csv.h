// Tables as text: rows of cells between commas, semicolons or tabs (RFC 4180 and what programs make
// of it): quoted cells with separators, line ends and doubled quotes in them, LF or CRLF, a UTF-8
// byte order mark, empty lines, no line end behind the last row. Plain or gzipped.
#ifndef WF_IO_CSV_H
#define WF_IO_CSV_H

#include "base/alloc.h"

typedef struct wf_csv {
    wf_allocator allocator;
    char *text;   // the cells lie in it
    char **cell;  // [n_rows * n_columns], each ends with 0; blanks around unquoted ones are gone
    size_t *line; // [n_rows] where each begins, from 1
    size_t n_rows;
    size_t n_columns;
    char separator;
} wf_csv;

// separator 0: the one of , ; and tab that the first row has most of (a comma where it has none).
// Errors: WEFT_ERR_FILE, WEFT_ERR_FORMAT (UTF-16, no UTF-8, a 0 byte, a quote that is not closed or
// has text behind it, rows of different lengths, no rows), with line and column.
weft_status wf_csv_read(const wf_allocator *a, const char *path, char separator, wf_csv *out_csv,
                        weft_error *err);
// The same from bytes, which it takes (a block of `a` with a 0 at data[size]); source is their name.
weft_status wf_csv_parse(const wf_allocator *a, const char *source, char *take_data, size_t size,
                         char separator, wf_csv *out_csv, weft_error *err);
static inline const char *wf_csv_cell(const wf_csv *csv, size_t row, size_t column)
{
    return csv->cell[row * csv->n_columns + column];
}
// Accepts a zeroed one.
void wf_csv_deinit(wf_csv *csv);

#endif
