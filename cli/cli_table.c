// Tables for people: columns as wide as what stands in them.
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

bool cli_table_open(cli_table *table, int n_columns)
{
    *table = (cli_table){.n_columns = n_columns};
    table->cells = open_memstream(&table->text, &table->size);
    return table->cells && n_columns <= CLI_TABLE_COLUMNS;
}

// Cells lie one behind the other, each with the 0 that ends it.
void cli_table_cell(cli_table *table, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vfprintf(table->cells, format, args);
    va_end(args);
    fputc(0, table->cells);
}

// Characters, not bytes: names may be in any script.
static int width_of(const char *text)
{
    int n = 0;
    for (; *text; text++) {
        n += ((unsigned char)*text & 0xC0) != 0x80;
    }
    return n;
}

// Padding that would end a line is left out.
static void print_cell(const char *cell, int width, bool is_left, bool is_last, FILE *out)
{
    const int padding = width - width_of(cell);
    if (is_left)
        fprintf(out, "%s%*s", cell, is_last ? 0 : padding, "");
    else
        fprintf(out, "%*s%s", padding, "", cell);
    fputs(is_last ? "\n" : "  ", out);
}

void cli_table_close(cli_table *table, int n_left, FILE *out)
{
    int widths[CLI_TABLE_COLUMNS] = {0}, column = 0;
    if (table->cells)
        fclose(table->cells);
    for (size_t at = 0; at < table->size; at += strlen(table->text + at) + 1) {
        const int width = width_of(table->text + at);
        widths[column] = width > widths[column] ? width : widths[column];
        column = (column + 1) % table->n_columns;
    }
    column = 0;
    for (size_t at = 0; at < table->size; at += strlen(table->text + at) + 1) {
        const bool is_last = column + 1 == table->n_columns;
        print_cell(table->text + at, widths[column], column < n_left, is_last, out);
        column = is_last ? 0 : column + 1;
    }
    free(table->text);
    *table = (cli_table){0};
}
