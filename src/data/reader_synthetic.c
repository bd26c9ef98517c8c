// Makes samples up, for benchmarks and for looking at models without data: pictures, or tokens where a context is
// asked for. In: sizes. Out: fields "image" u8 [c,h,w] and "label" i32, or "token" and "label" i32 [context]. The
// values are a hash of part, sample and place; the mean brightness of a picture tells its class, so that a
// network can learn something.
#include <string.h>

#include "data/readers.h"

#define N_TRAIN 1024
#define N_TEST 256
#define N_CLASSES 10
#define SIZE_MAX_SIDE 16384

typedef struct synthetic {
    wf_dataset dataset; // first: destroyed through its address
    uint32_t salt;      // of the part
    int64_t n_values;   // of field 0
} synthetic;

// A finaliser of 32 bits: every bit of x reaches every bit of the result.
static uint32_t mix(uint32_t x)
{
    x = (x ^ (x >> 16)) * 0x7feb352du;
    x = (x ^ (x >> 15)) * 0x846ca68bu;
    return x ^ (x >> 16);
}

static uint32_t label_of(const synthetic *d, int64_t sample)
{
    const int64_t n = d->dataset.n_classes;
    return (uint32_t)(mix(d->salt + (uint32_t)sample) % (uint64_t)n);
}

static weft_status read_image(void *user, int64_t sample, void *out_sample, weft_error *err)
{
    const synthetic *d = user;
    const int64_t n_classes = d->dataset.n_classes;
    const uint32_t base = (uint32_t)(label_of(d, sample) * 128 / n_classes);
    const uint32_t seed = mix(d->salt ^ mix((uint32_t)sample + 0x9e3779b9u));
    uint8_t *out = out_sample;
    (void)err;
    for (int64_t i = 0; i < d->n_values; i++) {
        out[i] = (uint8_t)(base + (mix(seed + (uint32_t)i) & 127));
    }
    return WEFT_OK;
}

static weft_status read_label(void *user, int64_t sample, void *out_sample, weft_error *err)
{
    const int32_t label = (int32_t)label_of(user, sample);
    (void)err;
    memcpy(out_sample, &label, sizeof label);
    return WEFT_OK;
}

// Token t+1 is a step on from token t, of a size that the sample has: it can be learnt.
static void fill_tokens(const synthetic *d, int64_t sample, int64_t first, int32_t *out)
{
    const int64_t n_classes = d->dataset.n_classes;
    const uint32_t seed = mix(d->salt ^ mix((uint32_t)sample + 0x9e3779b9u));
    const int64_t step = 1 + seed % 3, begin = (seed >> 8) % n_classes;
    for (int64_t t = 0; t < d->n_values; t++) {
        out[t] = (int32_t)((begin + (first + t) * step) % n_classes);
    }
}

static weft_status read_tokens(void *user, int64_t sample, void *out_sample, weft_error *err)
{
    (void)err;
    fill_tokens(user, sample, 0, out_sample);
    return WEFT_OK;
}

static weft_status read_next(void *user, int64_t sample, void *out_sample, weft_error *err)
{
    (void)err;
    fill_tokens(user, sample, 1, out_sample);
    return WEFT_OK;
}

static void destroy_dataset(wf_dataset *dataset)
{
    const wf_allocator a = dataset->allocator;
    wf_free(&a, dataset);
}

typedef weft_status (*read_call)(void *user, int64_t sample, void *out_sample, weft_error *err);

static void add_field(synthetic *d, const char *name, weft_dtype dtype, int32_t ndim,
                      const int64_t *dim, read_call read)
{
    wf_field *field = &d->dataset.field[d->dataset.n_fields++];
    field->name = name;
    field->dtype = dtype;
    field->ndim = ndim;
    field->sample_bytes = weft_dtype_size(dtype);
    for (int32_t i = 0; i < ndim; i++) {
        field->dim[i] = dim[i];
        field->sample_bytes *= (size_t)dim[i];
    }
    field->read = read;
    field->user = d;
}

static weft_status set_fields(synthetic *d, const wf_reader_options *options, weft_error *err)
{
    const int64_t *image = options->image;
    d->n_values = options->context;
    if (options->context > 0) {
        add_field(d, "token", WEFT_I32, 1, &options->context, read_tokens);
        add_field(d, "label", WEFT_I32, 1, &options->context, read_next);
        return WEFT_OK;
    }
    d->n_values = 1;
    for (int i = 0; i < 3; i++) {
        if (image[i] < 1 || image[i] > SIZE_MAX_SIDE)
            WEFT_FAIL(err, WEFT_ERR_SHAPE,
                      "data: synthetic pictures of [%lld,%lld,%lld], expected data.image or "
                      "data.context",
                      (long long)image[0], (long long)image[1], (long long)image[2]);
        WEFT_REQUIRE(err, d->n_values <= INT32_MAX / image[i], "data: pictures too large");
        d->n_values *= image[i];
    }
    add_field(d, "image", WEFT_U8, 3, image, read_image);
    add_field(d, "label", WEFT_I32, 0, NULL, read_label);
    return WEFT_OK;
}

static bool probe(const char *path)
{
    (void)path;
    return false;
}

static weft_status open_dataset(const wf_reader_options *options, wf_dataset **out_dataset,
                                weft_error *err)
{
    const wf_allocator a = options->allocator ? *options->allocator : wf_allocator_default();
    const bool is_test = options->part && !strcmp(options->part, "test");
    synthetic *d;
    *out_dataset = NULL;
    WEFT_TRY(wf_alloc(&a, 1, sizeof *d, &d, err));
    d->dataset.allocator = a;
    d->dataset.destroy = destroy_dataset;
    d->dataset.source = "synthetic data";
    d->dataset.n_samples = is_test ? N_TEST : N_TRAIN;
    d->dataset.n_classes = options->n_classes > 0 ? options->n_classes : N_CLASSES;
    d->salt = is_test ? 0x51ed270bu : 0x2545f491u;
    const weft_status status = set_fields(d, options, err);
    if (status != WEFT_OK) {
        destroy_dataset(&d->dataset);
        return status;
    }
    *out_dataset = &d->dataset;
    return WEFT_OK;
}

const wf_reader wf_reader_synthetic = {
    .name = "synthetic",
    .summary = "made-up pictures or tokens of a given size",
    .is_pathless = true,
    .probe = probe,
    .open = open_dataset,
};
