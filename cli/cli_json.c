// JSON lines. Strings are taken for UTF-8 and escaped where JSON asks for it.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "cli.h"

static void write_string(FILE *file, const char *text)
{
    fputc('"', file);
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(file, "\\%c", c);
        else if (c < 0x20)
            fprintf(file, "\\u%04x", c);
        else
            fputc(c, file);
    }
    fputc('"', file);
}

static void begin(cli_json *json, const char *key)
{
    if (json->needs_comma)
        fputc(',', json->file);
    json->needs_comma = true;
    if (key) {
        write_string(json->file, key);
        fputc(':', json->file);
    }
}

void cli_json_open(cli_json *json, const char *key, char kind)
{
    begin(json, key);
    fputc(kind, json->file);
    json->needs_comma = false;
}

void cli_json_text(cli_json *json, const char *key, const char *value)
{
    begin(json, key);
    if (value)
        write_string(json->file, value);
    else
        fputs("null", json->file);
}

void cli_json_integer(cli_json *json, const char *key, int64_t value)
{
    begin(json, key);
    fprintf(json->file, "%" PRId64, value);
}

// The shortest of the lengths that reads back to the same value.
static void write_number(FILE *file, double value, int least, int most, bool is_f32)
{
    char text[40];
    if (!isfinite(value)) {
        fputs("null", file);
        return;
    }
    for (int digits = least; digits <= most; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        const bool is_same =
            is_f32 ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value;
        if (is_same)
            break;
    }
    fputs(text, file);
}

void cli_json_f32(cli_json *json, const char *key, float value)
{
    begin(json, key);
    write_number(json->file, (double)value, 6, 9, true);
}

void cli_json_f64(cli_json *json, const char *key, double value)
{
    begin(json, key);
    write_number(json->file, value, 6, 17, false);
}

void cli_json_bool(cli_json *json, const char *key, bool value)
{
    begin(json, key);
    fputs(value ? "true" : "false", json->file);
}

void cli_json_close(cli_json *json, char kind)
{
    fputc(kind, json->file);
    json->needs_comma = true;
}

void cli_json_end(cli_json *json)
{
    fputc('\n', json->file);
    fflush(json->file);
    json->needs_comma = false;
}
