// The list of readers, made from file names, and the choice of one.
#include "data/readers.h"

#include <stdarg.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"

// A line of a note: paths may be long.
#define NOTE_BYTES 1024

// The names wf_reader_<NAME> are made here.
#define WF_READER(name) extern const wf_reader wf_reader_##name;
#include "weft_generated/reader_list.inc"
#undef WF_READER

static const wf_reader *const readers[] = {
#define WF_READER(name) &wf_reader_##name,
#include "weft_generated/reader_list.inc"
#undef WF_READER
};

size_t wf_readers_count(void)
{
    return WF_COUNT_OF(readers);
}

const wf_reader *wf_readers_get(size_t idx)
{
    return idx < WF_COUNT_OF(readers) ? readers[idx] : NULL;
}

const wf_reader *wf_readers_find(const char *name)
{
    for (size_t i = 0; i < WF_COUNT_OF(readers); i++) {
        if (!strcmp(readers[i]->name, name))
            return readers[i];
    }
    return NULL;
}

void wf_reader_note(const wf_reader_options *options, weft_log_level level, const char *format, ...)
{
    char text[NOTE_BYTES];
    va_list args;
    if (!options->note)
        return;
    va_start(args, format);
    wf_text_vformat(text, sizeof text, format, args);
    va_end(args);
    options->note(options->note_user, level, text);
}

const wf_reader *wf_readers_probe(const char *path)
{
    for (size_t i = 0; i < WF_COUNT_OF(readers); i++) {
        if (readers[i]->probe(path))
            return readers[i];
    }
    return NULL;
}

static weft_status fail_unknown(const char *name, weft_error *err)
{
    const char *names[WF_COUNT_OF(readers)];
    for (size_t i = 0; i < WF_COUNT_OF(readers); i++)
        names[i] = readers[i]->name;
    const char *near = wf_text_nearest(name, names, WF_COUNT_OF(readers));
    WEFT_FAIL(err, WEFT_ERR_NAME, "data: no reader '%s'%s%s%s", name,
              near ? ", the nearest is '" : "", near ? near : "", near ? "'" : "");
}

// No reader is named, and none knows the path.
static weft_status fail_unread(const char *path, weft_error *err)
{
    wf_file_map map;
    if (!path)
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "data: no reader knows it without a path");
    if (!wf_file_is_directory(path)) {
        WEFT_TRY(wf_file_map_open(path, &map, err)); // what is not there
        wf_file_map_close(&map);
    }
    WEFT_FAIL(err, WEFT_ERR_FORMAT, "data: no reader knows %s", path);
}

weft_status wf_readers_open(const char *name, const wf_reader_options *options,
                            wf_dataset **out_dataset, weft_error *err)
{
    const wf_reader *reader = name ? wf_readers_find(name) : NULL;
    *out_dataset = NULL;
    if (name && !reader)
        return fail_unknown(name, err);
    if (!reader && options->path)
        reader = wf_readers_probe(options->path);
    if (!reader)
        return fail_unread(options->path, err);
    WEFT_TRY(reader->open(options, out_dataset, err));
    (*out_dataset)->reader = reader->name;
    return WEFT_OK;
}
