// Joining embedded kernel texts: a compiler at run time has no include folder. See gpu_source.h.
#include "device/gpu/gpu_source.h"

#include <string.h>

#define WF_GPU_SOURCE(name, text) {name, text},
static const struct {
    const char *name, *text;
} sources[] = {
#include "weft_generated/gpu_sources.inc"
};

#define MAX_SOURCES 128 // more than there are files; a static assertion would need the count

typedef struct joiner {
    wf_text *text;
    bool is_done[MAX_SOURCES];
    weft_error *err;
} joiner;

size_t wf_gpu_source_count(void)
{
    return WF_COUNT_OF(sources);
}

const char *wf_gpu_source_name(size_t idx)
{
    return sources[idx].name;
}

static size_t find_source(const char *name, size_t len)
{
    for (size_t i = 0; i < WF_COUNT_OF(sources); i++) {
        if (strlen(sources[i].name) == len && memcmp(sources[i].name, name, len) == 0)
            return i;
    }
    return WF_COUNT_OF(sources);
}

const char *wf_gpu_source_find(const char *name)
{
    size_t i = find_source(name, strlen(name));
    return i < WF_COUNT_OF(sources) ? sources[i].text : NULL;
}

static weft_status append(joiner *j, const char *name, size_t len)
{
    size_t idx = find_source(name, len);
    if (idx >= WF_COUNT_OF(sources) || idx >= MAX_SOURCES) {
        WEFT_FAIL(j->err, WEFT_ERR_INTERNAL, "kernel source '%.*s' is not embedded", (int)len,
                  name);
    }
    if (j->is_done[idx])
        return WEFT_OK;
    j->is_done[idx] = true;
    static const char directive[] = "#include \"";
    for (const char *line = sources[idx].text; *line;) {
        const char *end = strchr(line, '\n');
        size_t line_len = end ? (size_t)(end - line) + 1 : strlen(line);
        if (strncmp(line, directive, sizeof directive - 1) == 0) {
            const char *path = line + sizeof directive - 1;
            const char *quote = strchr(path, '"');
            size_t path_len = quote ? (size_t)(quote - path) : 0;
            const char *base = path;
            for (size_t i = 0; i < path_len; i++) {
                if (path[i] == '/')
                    base = path + i + 1;
            }
            WEFT_TRY(append(j, base, (size_t)(path + path_len - base)));
        } else {
            wf_text_append_n(j->text, line, line_len);
        }
        line += line_len;
    }
    return WEFT_OK;
}

weft_status wf_gpu_source_join(wf_text *text, const char *const *names, size_t n, weft_error *err)
{
    joiner j = {.text = text, .err = err};
    for (size_t i = 0; i < n; i++) {
        WEFT_TRY(append(&j, names[i], strlen(names[i])));
    }
    return wf_text_status(text, err);
}

weft_status wf_gpu_source_append(wf_text *text, const char *name, weft_error *err)
{
    return wf_gpu_source_join(text, &name, 1, err);
}
