// Status texts and the writing of error messages.
#include "base/error.h"

#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

_Static_assert(sizeof(weft_error) == 1024, "weft_error is part of the ABI");

typedef struct {
    int code;
    const char *name;
    const char *text;
    const char *advice;
} status_row;

static const status_row status_rows[] = {
#define WEFT_STATUS(code, name, text, advice) {code, #name, text, advice},
#include "weft/status_list.inc"
#undef WEFT_STATUS
};

static const status_row *find_status(weft_status code)
{
    for (size_t i = 0; i < WF_COUNT_OF(status_rows); i++) {
        if (status_rows[i].code == (int)code)
            return &status_rows[i];
    }
    static const status_row unknown = {-1, "?", "unknown status", "report it"};
    return &unknown;
}

const char *weft_status_name(weft_status code)
{
    return find_status(code)->name;
}
const char *weft_status_text(weft_status code)
{
    return find_status(code)->text;
}
const char *weft_status_advice(weft_status code)
{
    return find_status(code)->advice;
}

// A message is one line, whatever names and cells of files stand in it.
static void keep_one_line(char *message)
{
    for (; *message; message++) {
        if ((unsigned char)*message < 0x20 || *message == 0x7F)
            *message = ' ';
    }
}

weft_status wf_error_set(weft_error *err, weft_status code, const char *format, ...)
{
    if (err) {
        va_list args;
        va_start(args, format);
        err->code = (int32_t)code;
        err->reserved = 0;
        wf_text_vformat(err->message, sizeof err->message, format, args);
        va_end(args);
        keep_one_line(err->message);
    }
    return code;
}

void wf_error_prefix(weft_error *err, const char *format, ...)
{
    if (!err)
        return;
    char text[sizeof err->message];
    va_list args;
    va_start(args, format);
    int n = wf_text_vformat(text, sizeof text, format, args);
    va_end(args);
    if (n < 0)
        return;
    size_t used = (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    if (used + 3 > sizeof text)
        return;
    memcpy(text + used, ": ", 3);
    used += 2;
    const size_t length = strlen(err->message), room = sizeof text - used - 1;
    memcpy(text + used, err->message, length < room ? length : room);
    text[used + (length < room ? length : room)] = 0;
    memcpy(err->message, text, strlen(text) + 1);
}

void wf_assert_failed(const char *text, const char *file, int line)
{
    fprintf(stderr, "%s:%d: weft broke its own rule: %s\n", file, line, text);
    WF_TRAP();
}
