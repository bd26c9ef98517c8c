// Reads FANN's training files (the form of libfann's copies of the Proben1 sets): a line "samples inputs
// outputs", then for each sample its inputs and its outputs, numbers between blanks. In: a file NAME, or
// a folder or path with NAME.train and NAME.test. Out: fields "value" f32 [inputs] and "label": the
// class where the outputs of every sample are one 1 among zeros (one output of 0 and 1: two classes), else
// f32 [outputs].
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "data/readers.h"
#include "io/byte_source.h"

#define FILE_MAX_BYTES ((size_t)1 << 31)
#define COUNT_MAX 1000000
// Longest number that is looked at.
#define NUMBER_BYTES 64

typedef struct {
    wf_dataset dataset; // first: destroyed through its address
    char *path;
    float *value;  // [n, n_inputs]
    float *output; // [n, n_outputs]
    int32_t *klass;
    int64_t n_inputs, n_outputs;
} fann_dataset;

typedef struct {
    const char *path;
    const char *at;
    size_t line;
    weft_error *err;
} fann_text;

static void destroy_dataset(wf_dataset *dataset)
{
    fann_dataset *d = (fann_dataset *)dataset;
    wf_allocator a = dataset->allocator;
    wf_free(&a, d->value);
    wf_free(&a, d->output);
    wf_free(&a, d->klass);
    wf_free(&a, d->path);
    wf_free(&a, d);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void skip_blanks(fann_text *t)
{
    for (; is_blank(*t->at); t->at++)
        t->line += *t->at == '\n';
}

static weft_status take_number(fann_text *t, const char *what, double *out)
{
    char word[NUMBER_BYTES];
    size_t n = 0;
    skip_blanks(t);
    while (t->at[n] && !is_blank(t->at[n]) && n + 1 < sizeof word)
        n++;
    memcpy(word, t->at, n);
    word[n] = 0;
    if (n == 0)
        WEFT_FAIL(t->err, WEFT_ERR_FORMAT, "%s: ends at line %zu, expected %s", t->path, t->line,
                  what);
    if (!wf_text_parse_f64(word, out) || !((float)*out - (float)*out == 0.0f))
        WEFT_FAIL(t->err, WEFT_ERR_FORMAT, "%s: line %zu: '%s', expected %s", t->path, t->line,
                  word, what);
    t->at += n;
    return WEFT_OK;
}

static weft_status take_count(fann_text *t, const char *what, int64_t *out)
{
    double value;
    WEFT_TRY(take_number(t, what, &value));
    if (!(value >= 1.0 && value <= COUNT_MAX) || value != (double)(int64_t)value)
        WEFT_FAIL(t->err, WEFT_ERR_FORMAT, "%s: line %zu: %g, expected %s from 1 to %d", t->path,
                  t->line, value, what, COUNT_MAX);
    *out = (int64_t)value;
    return WEFT_OK;
}

static weft_status parse(fann_dataset *d, fann_text *t, size_t size)
{
    wf_dataset *set = &d->dataset;
    const wf_allocator *a = &set->allocator;
    double number;
    const char *zero = memchr(t->at, 0, size);
    if (zero)
        WEFT_FAIL(t->err, WEFT_ERR_FORMAT, "%s: byte %zu is 0, expected text", t->path,
                  (size_t)(zero - t->at));
    WEFT_TRY(take_count(t, "a number of samples", &set->n_samples));
    WEFT_TRY(take_count(t, "a number of inputs", &d->n_inputs));
    WEFT_TRY(take_count(t, "a number of outputs", &d->n_outputs));
    const size_t n = (size_t)set->n_samples, per_sample = (size_t)(d->n_inputs + d->n_outputs);
    // Each number takes a byte and a blank: a header cannot ask for more memory than the file is long.
    if (n > size / per_sample)
        WEFT_FAIL(t->err, WEFT_ERR_FORMAT, "%s: line 1: %zu samples of %zu numbers in %zu bytes",
                  t->path, n, per_sample, size);
    WEFT_TRY(wf_alloc(a, n, (size_t)d->n_inputs * sizeof(float), &d->value, t->err));
    WEFT_TRY(wf_alloc(a, n, (size_t)d->n_outputs * sizeof(float), &d->output, t->err));
    for (size_t i = 0; i < n; i++) {
        for (int64_t k = 0; k < d->n_inputs; k++) {
            WEFT_TRY(take_number(t, "an input", &number));
            d->value[i * (size_t)d->n_inputs + (size_t)k] = (float)number;
        }
        for (int64_t k = 0; k < d->n_outputs; k++) {
            WEFT_TRY(take_number(t, "an output", &number));
            d->output[i * (size_t)d->n_outputs + (size_t)k] = (float)number;
        }
    }
    skip_blanks(t);
    if (*t->at)
        WEFT_FAIL(t->err, WEFT_ERR_FORMAT, "%s: line %zu: more than %zu samples", t->path, t->line,
                  n);
    return WEFT_OK;
}

// The class that the outputs of a sample name, or -1.
static int32_t class_of(const float *output, int64_t n)
{
    int32_t found = -1;
    for (int64_t k = 0; k < n; k++) {
        if (output[k] != 0.0f && output[k] != 1.0f)
            return -1;
        if (output[k] == 1.0f && found >= 0)
            return -1;
        found = output[k] == 1.0f ? (int32_t)k : found;
    }
    return n == 1 ? found + 1 : found;
}

static weft_status set_fields(fann_dataset *d, weft_error *err)
{
    wf_dataset *set = &d->dataset;
    const size_t n = (size_t)set->n_samples;
    bool is_class = true;
    WEFT_TRY(wf_alloc(&set->allocator, n, sizeof *d->klass, &d->klass, err));
    for (size_t i = 0; i < n && is_class; i++) {
        d->klass[i] = class_of(d->output + i * (size_t)d->n_outputs, d->n_outputs);
        is_class = d->klass[i] >= 0;
    }
    set->n_fields = 2;
    set->field[0] = (wf_field){.name = "value",
                               .dtype = WEFT_F32,
                               .ndim = 1,
                               .dim = {d->n_inputs},
                               .sample_bytes = (size_t)d->n_inputs * sizeof(float),
                               .data = d->value};
    set->field[1] = (wf_field){.name = "label",
                               .dtype = WEFT_F32,
                               .ndim = 1,
                               .dim = {d->n_outputs},
                               .sample_bytes = (size_t)d->n_outputs * sizeof(float),
                               .data = d->output};
    if (is_class) {
        set->n_classes = d->n_outputs == 1 ? 2 : d->n_outputs;
        set->field[1] = (wf_field){
            .name = "label", .dtype = WEFT_I32, .sample_bytes = sizeof(int32_t), .data = d->klass};
    }
    return WEFT_OK;
}

// "mushroom" stands for mushroom.train and mushroom.test.
static weft_status choose_path(fann_dataset *d, const wf_reader_options *o, weft_error *err)
{
    const wf_allocator *a = &d->dataset.allocator;
    const bool is_test = o->part && !strcmp(o->part, "test");
    wf_text name;
    if (wf_file_is_regular(o->path)) {
        if (is_test)
            WEFT_FAIL(
                err, WEFT_ERR_FILE,
                "%s: one file has no part 'test', expected NAME, for NAME.train and NAME.test, "
                "or another file",
                o->path);
        return wf_strdup(a, o->path, &d->path, err);
    }
    wf_text_init(&name, a);
    wf_text_printf(&name, "%s.%s", o->path, is_test ? "test" : "train");
    weft_status status = wf_text_status(&name, err);
    if (status == WEFT_OK)
        status = wf_strdup(a, wf_text_str(&name), &d->path, err);
    wf_text_deinit(&name);
    return status;
}

static bool probe(const char *path)
{
    const wf_allocator a = wf_allocator_default();
    const char *dot = strrchr(wf_path_base(path), '.');
    wf_text name;
    if (wf_file_is_regular(path))
        return dot && (!strcmp(dot, ".train") || !strcmp(dot, ".test"));
    wf_text_init(&name, &a);
    wf_text_printf(&name, "%s.train", path);
    const bool is_there = wf_file_is_regular(wf_text_str(&name));
    wf_text_deinit(&name);
    return is_there;
}

static weft_status open_dataset(const wf_reader_options *o, wf_dataset **out_dataset,
                                weft_error *err)
{
    fann_dataset *d;
    uint8_t *data = NULL;
    size_t size = 0;
    weft_status status;
    wf_allocator a = o->allocator ? *o->allocator : wf_allocator_default();
    *out_dataset = NULL;
    WEFT_REQUIRE(err, o->path, "data: fann wants a file");
    WEFT_TRY(wf_alloc(&a, 1, sizeof *d, &d, err));
    d->dataset.allocator = a;
    d->dataset.destroy = destroy_dataset;
    WEFT_TRY_GOTO(choose_path(d, o, err));
    d->dataset.source = d->path;
    WEFT_TRY_GOTO(wf_byte_source_read_all(&a, d->path, FILE_MAX_BYTES, &data, &size, err));
    fann_text text = {d->path, (const char *)data, 1, err};
    status = parse(d, &text, size);
    wf_free(&a, data);
    if (status == WEFT_OK)
        status = set_fields(d, err);
    if (status != WEFT_OK)
        goto fail;
    *out_dataset = &d->dataset;
    return WEFT_OK;
fail:
    destroy_dataset(&d->dataset);
    return status;
}

const wf_reader wf_reader_fann = {
    .name = "fann",
    .summary = "FANN's training files: numbers of inputs and outputs",
    .probe = probe,
    .open = open_dataset,
};
