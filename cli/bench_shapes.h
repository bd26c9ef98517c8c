// Shapes for `weft bench`, from the command line or from a file such as bench/shapes.json.
#ifndef CLI_BENCH_SHAPES_H
#define CLI_BENCH_SHAPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BENCH_MAX_ROWS 128
#define BENCH_MAX_COLUMNS 8

typedef struct bench_row {
    char name[48];
    int64_t v[BENCH_MAX_COLUMNS]; // gemm: M K N transA transB; conv: N C H K R stride pad groups
    size_t n;
} bench_row;

// "1024,1024,1024,0,1": at least `least` numbers, at most BENCH_MAX_COLUMNS; the rest 0.
bool bench_row_parse(const char *text, size_t least, bench_row *out);
// Rows of the object `kind` ("gemm", "conv") of a file: {"gemm": {"rows": [["name", 1, 2, ..], ..]}}.
// Returns how many, or -1 with a message in why.
int bench_rows_read(const char *path, const char *kind, bench_row out[BENCH_MAX_ROWS],
                    char why[256]);

#endif
