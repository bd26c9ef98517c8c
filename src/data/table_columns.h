// The columns of a table as a model takes them: numbers normalised, texts as one of their categories,
// the target. They are found in a training table, kept in the resolved recipe as a line each, and read
// again for other rows. Stage: data.
//
//     "age: number, mean 38.5, std 12.1"             one feature
//     "age: number, mean 38.5, std 12.1, missing"    two: the second is 1 where the number is missing
//     "sex: category, f, m"                          a feature for each category
//     "row: ignored"
//     "kind: target, setosa, versicolor"             classes
//     "price: target"                                a number
// In names and categories : , and \ have a \ before them.
#ifndef WF_DATA_TABLE_COLUMNS_H
#define WF_DATA_TABLE_COLUMNS_H

#include "base/text.h"

typedef enum wf_column_kind {
    WF_COLUMN_NUMBER,
    WF_COLUMN_CATEGORY,
    WF_COLUMN_IGNORED,
    WF_COLUMN_TARGET,
} wf_column_kind;

typedef struct wf_table_column {
    const char *name;
    wf_column_kind kind;
    const char **category; // [n_categories] sorted; of a target without: it is a number
    size_t n_categories;
    double mean, std;
    bool has_missing; // of a number: a feature says where it is
} wf_table_column;

// Whether a cell says that its value is missing: empty, ?, NA, N/A, nan, null, none in any case.
bool wf_table_cell_is_missing(const char *cell);
// The category's place, or -1.
int64_t wf_table_category(const wf_table_column *column, const char *cell);
// Features that the column gives.
int64_t wf_table_column_features(const wf_table_column *column);
void wf_table_column_print(const wf_table_column *column, wf_text *out);
// Reads what print gave; names and categories are copied to the arena.
// Errors: WEFT_ERR_FORMAT, WEFT_ERR_MEMORY.
weft_status wf_table_column_parse(const char *line, wf_arena *arena, wf_table_column *out_column,
                                  weft_error *err);

#endif
