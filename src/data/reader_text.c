// Reads a text file as windows of tokens for models that say what comes next. In: a file, UTF-8 or
// any bytes, plain or gzipped. Out: fields "token" i32 [context] and "label" i32 [context], the token
// behind each. Sample i begins at token i * stride; what is left at the end and too short is not used.
#include <string.h>

#include "data/readers.h"
#include "data/vocabulary.h"
#include "io/byte_source.h"

// Tokens are numbered by i32 places, and four bytes each are held.
#define TEXT_MAX_BYTES ((size_t)1 << 31)

typedef struct {
    wf_dataset dataset; // first: destroyed through its address
    char *path;
    wf_vocabulary vocabulary;
    wf_text characters;
    int32_t *token; // [n_tokens]
    size_t n_tokens;
    int64_t stride;
} text_dataset;

static void destroy_dataset(wf_dataset *dataset)
{
    text_dataset *d = (text_dataset *)dataset;
    wf_allocator a = dataset->allocator;
    wf_vocabulary_deinit(&d->vocabulary);
    wf_text_deinit(&d->characters);
    wf_free(&a, d->token);
    wf_free(&a, d->path);
    wf_free(&a, d);
}

static weft_status read_window(const text_dataset *d, int64_t sample, int64_t shift, void *out)
{
    const wf_field *field = &d->dataset.field[0];
    memcpy(out, d->token + sample * d->stride + shift, field->sample_bytes);
    return WEFT_OK;
}

static weft_status read_token(void *user, int64_t sample, void *out, weft_error *err)
{
    (void)err;
    return read_window(user, sample, 0, out);
}

static weft_status read_label(void *user, int64_t sample, void *out, weft_error *err)
{
    (void)err;
    return read_window(user, sample, 1, out);
}

static void add_field(text_dataset *d, const char *name, int64_t context,
                      weft_status (*read)(void *, int64_t, void *, weft_error *))
{
    wf_field *field = &d->dataset.field[d->dataset.n_fields++];
    field->name = name;
    field->dtype = WEFT_I32;
    field->ndim = 1;
    field->dim[0] = context;
    field->sample_bytes = (size_t)context * sizeof(int32_t);
    field->read = read;
    field->user = d;
}

// Byte order marks: that of UTF-8 is dropped, others are no UTF-8.
static weft_status skip_mark(const char *path, const uint8_t **data, size_t *size, weft_error *err)
{
    const uint8_t *p = *data;
    if (*size >= 3 && p[0] == 0xEF && p[1] == 0xBB && p[2] == 0xBF) {
        *data += 3;
        *size -= 3;
    }
    if (*size >= 2 && ((p[0] == 0xFF && p[1] == 0xFE) || (p[0] == 0xFE && p[1] == 0xFF)))
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: begins as UTF-16 does, expected UTF-8", path);
    return WEFT_OK;
}

static weft_status tokenise(text_dataset *d, const wf_reader_options *o, const uint8_t *data,
                            size_t size, weft_error *err)
{
    const wf_allocator *a = &d->dataset.allocator;
    if (o->is_bytes) {
        wf_vocabulary_init_bytes(&d->vocabulary, a);
    } else {
        WEFT_TRY(skip_mark(d->path, &data, &size, err));
        if (o->vocabulary)
            WEFT_TRY(wf_vocabulary_init_text(&d->vocabulary, a, o->vocabulary, err));
        else
            WEFT_TRY(wf_vocabulary_init_find(&d->vocabulary, a, d->path, data, size, err));
    }
    wf_vocabulary_print(&d->vocabulary, &d->characters);
    WEFT_TRY(wf_text_status(&d->characters, err));
    WEFT_TRY(wf_alloc(a, size, sizeof *d->token, &d->token, err));
    return wf_vocabulary_encode(&d->vocabulary, d->path, data, size, d->token, &d->n_tokens, err);
}

static weft_status cut_samples(text_dataset *d, const wf_reader_options *o, weft_error *err)
{
    wf_dataset *set = &d->dataset;
    if (o->context < 1 || o->context > INT32_MAX || o->stride < 0 || o->stride > INT32_MAX)
        WEFT_FAIL(err, WEFT_ERR_ATTR, "data: context %lld and stride %lld, expected 1 or more",
                  (long long)o->context, (long long)o->stride);
    d->stride = o->stride ? o->stride : o->context;
    if ((int64_t)d->n_tokens <= o->context)
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: %zu %s, expected more than the context of %lld",
                  d->path, d->n_tokens, o->is_bytes ? "bytes" : "characters",
                  (long long)o->context);
    set->n_samples = ((int64_t)d->n_tokens - 1 - o->context) / d->stride + 1;
    set->n_classes = d->vocabulary.n;
    set->is_sequence = true;
    set->n_shared = (o->context - 1) / d->stride;
    if (d->vocabulary.code)
        set->vocabulary = wf_text_str(&d->characters);
    add_field(d, "token", o->context, read_token);
    add_field(d, "label", o->context, read_label);
    return WEFT_OK;
}

// Text has no mark to know it by: only what is named after it is taken for it.
static bool probe(const char *path)
{
    const char *dot = strrchr(wf_path_base(path), '.');
    return dot && !strcmp(dot, ".txt") && wf_file_is_regular(path);
}

static weft_status open_dataset(const wf_reader_options *options, wf_dataset **out_dataset,
                                weft_error *err)
{
    text_dataset *d;
    uint8_t *data = NULL;
    size_t size;
    weft_status status;
    wf_allocator a = options->allocator ? *options->allocator : wf_allocator_default();
    *out_dataset = NULL;
    WEFT_REQUIRE(err, options->path, "data: text wants a file");
    if (options->part && strcmp(options->part, "train"))
        WEFT_FAIL(err, WEFT_ERR_FILE,
                  "%s: one text has no part '%s', expected another file, or a fraction",
                  options->path, options->part);
    WEFT_TRY(wf_alloc(&a, 1, sizeof *d, &d, err));
    d->dataset.allocator = a;
    d->dataset.destroy = destroy_dataset;
    wf_text_init(&d->characters, &a);
    WEFT_TRY_GOTO(wf_strdup(&a, options->path, &d->path, err));
    d->dataset.source = d->path;
    WEFT_TRY_GOTO(wf_byte_source_read_all(&a, d->path, TEXT_MAX_BYTES, &data, &size, err));
    status = tokenise(d, options, data, size, err);
    wf_free(&a, data);
    if (status == WEFT_OK)
        status = cut_samples(d, options, err);
    if (status != WEFT_OK)
        goto fail;
    *out_dataset = &d->dataset;
    return WEFT_OK;
fail:
    destroy_dataset(&d->dataset);
    return status;
}

const wf_reader wf_reader_text = {
    .name = "text",
    .summary = "a text as windows of characters or bytes, each with what follows",
    .probe = probe,
    .open = open_dataset,
};
