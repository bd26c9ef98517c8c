// Finds out what the columns of a table hold. Stage: data.
#ifndef WF_DATA_TABLE_INFER_H
#define WF_DATA_TABLE_INFER_H

#include "data/readers.h"
#include "data/table_columns.h"
#include "io/csv.h"

// Whether the first row names the columns: none of its cells is a number or missing, and some column
// holds numbers below, or its cells differ and do not come again.
bool wf_table_has_header(const wf_csv *csv);
// Columns of the table's own, from row `first` on; names from row 0 where first is 1, else c1, c2, ...
// A column whose cells are numbers or missing is a number; the target is a class unless it is a number
// with parts or with more than 20 values, or the options say. out_columns: [csv->n_columns].
// Errors: WEFT_ERR_NAME (no column of the target's name), WEFT_ERR_FORMAT (too many different texts).
weft_status wf_table_infer(const wf_csv *csv, const char *path, size_t first,
                           const wf_reader_options *options, wf_arena *arena,
                           wf_table_column *out_columns, weft_error *err);

#endif
