// The data of a recipe: parts, splits, normalisation. In: a recipe. Out: splits that the loader takes.
#include <string.h>

#include "data/readers.h"
#include "train/trainer.h"

static const wf_field *image_field(const wf_dataset *dataset)
{
    return wf_dataset_find(dataset, "image");
}

static weft_status check_fields(const wf_dataset *dataset, weft_error *err)
{
    const wf_field *image = image_field(dataset);
    if (!image || image->dtype != WEFT_U8 || image->ndim != 3)
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: no images of u8 [c,h,w], expected some",
                  dataset->source);
    if (!wf_dataset_find(dataset, "label"))
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: no labels beside the images, expected some",
                  dataset->source);
    return WEFT_OK;
}

static weft_status open_part(const weft_recipe *recipe, const char *part, int64_t n_classes,
                             wf_dataset **out, weft_error *err)
{
    const wf_recipe_data *d = &recipe->v.data;
    const wf_reader_options options = {
        .allocator = &recipe->allocator,
        .path = d->dir,
        .part = part,
        .n_classes = n_classes,
    };
    WEFT_TRY(wf_readers_open(d->reader, &options, out, err));
    return check_fields(*out, err);
}

static weft_status resolve_sizes(weft_recipe *recipe, wf_train_data *data, weft_error *err)
{
    wf_recipe_data *d = &recipe->v.data;
    const wf_field *image = image_field(data->train);
    for (int i = 0; i < 3; i++) {
        data->image[i] = image->dim[i];
        if (d->image.n && d->image.v[i] != image->dim[i])
            WEFT_FAIL(err, WEFT_ERR_SHAPE,
                      "%s: images are [%lld,%lld,%lld], the recipe expects [%lld,%lld,%lld]",
                      data->train->source, (long long)image->dim[0], (long long)image->dim[1],
                      (long long)image->dim[2], (long long)d->image.v[0], (long long)d->image.v[1],
                      (long long)d->image.v[2]);
    }
    memcpy(d->image.v, data->image, sizeof data->image);
    d->image.n = 3;
    d->n_classes = data->n_classes = data->train->n_classes;
    if (data->test) {
        const wf_field *other = image_field(data->test);
        if (memcmp(other->dim, image->dim, 3 * sizeof image->dim[0]) != 0)
            WEFT_FAIL(err, WEFT_ERR_SHAPE, "%s: images are of another size than in %s",
                      data->test->source, data->train->source);
    }
    return WEFT_OK;
}

static weft_status resolve_normalisation(weft_recipe *recipe, wf_train_data *data, weft_error *err)
{
    struct wf_normalise *n = &recipe->v.data.normalise;
    wf_normalisation *out = &data->normalisation;
    if (!n->is_on)
        return WEFT_OK;
    if (n->mean.n == 0) {
        WEFT_TRY(wf_normalisation_compute(&data->train_split, image_field(data->train), out, err));
        n->mean.n = n->std.n = out->n_channels;
        memcpy(n->mean.v, out->mean, sizeof n->mean.v);
        memcpy(n->std.v, out->std, sizeof n->std.v);
        return WEFT_OK;
    }
    if (n->mean.n != data->image[0])
        WEFT_FAIL(err, WEFT_ERR_SHAPE, "data.normalise: %d means, the images have %lld channels",
                  n->mean.n, (long long)data->image[0]);
    wf_train_data_from_recipe(recipe, data);
    return WEFT_OK;
}

_Static_assert(WF_NUMBERS_MAX == WF_NORMALISATION_MAX_CHANNELS, "one mean for each channel");

bool wf_train_data_from_recipe(const weft_recipe *recipe, wf_train_data *out)
{
    const wf_recipe_data *d = &recipe->v.data;
    const struct wf_normalise *n = &d->normalise;
    if (d->image.n != 3 || d->n_classes == WF_KEY_UNSET || (n->is_on && n->mean.n == 0))
        return false;
    memcpy(out->image, d->image.v, sizeof out->image);
    out->n_classes = d->n_classes;
    if (n->is_on) {
        out->normalisation.n_channels = n->mean.n;
        memcpy(out->normalisation.mean, n->mean.v, sizeof n->mean.v);
        memcpy(out->normalisation.std, n->std.v, sizeof n->std.v);
    }
    return true;
}

static weft_status make_splits(const weft_recipe *recipe, wf_train_data *data, weft_error *err)
{
    const double fraction = recipe->v.data.validation;
    if (data->test)
        wf_split_init_all(&data->test_split, data->test);
    if (fraction > 0.0)
        return wf_split_init_fraction(&data->train_split, &data->validation_split, data->train,
                                      fraction, (uint64_t)recipe->v.seed, err);
    wf_split_init_all(&data->train_split, data->train);
    wf_split_init_all(&data->validation_split, data->test);
    return WEFT_OK;
}

weft_status wf_train_data_open(weft_recipe *recipe, wf_train_data *out, weft_error *err)
{
    weft_status status;
    const wf_recipe_data *d = &recipe->v.data;
    int64_t n_classes = d->n_classes != WF_KEY_UNSET ? d->n_classes : (int64_t)d->classes.n;
    memset(out, 0, sizeof *out);
    out->allocator = recipe->allocator;
    WEFT_TRY_GOTO(open_part(recipe, "train", n_classes, &out->train, err));
    status = open_part(recipe, "test", out->train->n_classes, &out->test, err);
    // Where validation does not need it, a missing test part is none.
    if (status != WEFT_OK && !(status == WEFT_ERR_FILE && d->validation > 0.0))
        goto fail;
    WEFT_TRY_GOTO(resolve_sizes(recipe, out, err));
    WEFT_TRY_GOTO(make_splits(recipe, out, err));
    if (out->train_split.n < 1 || out->validation_split.n < 1) {
        status = wf_error_set(err, WEFT_ERR_SHAPE,
                              "data: %lld samples to train and %lld to validate with, expected "
                              "one or more",
                              (long long)out->train_split.n, (long long)out->validation_split.n);
        goto fail;
    }
    WEFT_TRY_GOTO(resolve_normalisation(recipe, out, err));
    return WEFT_OK;
fail:
    wf_train_data_close(out);
    return status;
}

void wf_train_data_close(wf_train_data *data)
{
    wf_split_deinit(&data->train_split);
    wf_split_deinit(&data->validation_split);
    wf_split_deinit(&data->test_split);
    wf_dataset_destroy(data->train);
    wf_dataset_destroy(data->test);
    memset(data, 0, sizeof *data);
}

static weft_status digest_part(wf_sha256 *sha, const wf_allocator *a, const wf_dataset *dataset,
                               weft_error *err)
{
    for (int32_t f = 0; f < dataset->n_fields; f++) {
        const wf_field *field = &dataset->field[f];
        wf_sha256_update(sha, field->name, strlen(field->name) + 1);
        if (field->data) {
            wf_sha256_update(sha, field->data, (size_t)dataset->n_samples * field->sample_bytes);
            continue;
        }
        uint8_t *sample;
        weft_status status = wf_alloc(a, field->sample_bytes, 1, &sample, err);
        for (int64_t i = 0; i < dataset->n_samples && status == WEFT_OK; i++) {
            status = wf_field_read(field, i, sample, err);
            wf_sha256_update(sha, sample, field->sample_bytes);
        }
        wf_free(a, sample);
        WEFT_TRY(status);
    }
    return WEFT_OK;
}

weft_status wf_train_data_digest(const wf_train_data *data, char out_hex[WF_SHA256_HEX_BYTES],
                                 weft_error *err)
{
    wf_sha256 sha;
    uint8_t digest[WF_SHA256_BYTES];
    wf_sha256_init(&sha);
    WEFT_TRY(digest_part(&sha, &data->allocator, data->train, err));
    if (data->test)
        WEFT_TRY(digest_part(&sha, &data->allocator, data->test, err));
    wf_sha256_final(&sha, digest);
    wf_sha256_hex(digest, out_hex);
    return WEFT_OK;
}

const char *wf_train_class_name(const weft_recipe *recipe, int64_t class_idx)
{
    const wf_words *classes = &recipe->v.data.classes;
    return class_idx >= 0 && (size_t)class_idx < classes->n ? classes->v[class_idx] : NULL;
}

void wf_train_normalise(const wf_train_data *data, const uint8_t *pixels, float *out)
{
    wf_normalisation_apply_u8(&data->normalisation, pixels, data->image[0],
                              data->image[1] * data->image[2], out);
}
