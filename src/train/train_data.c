// The data of a recipe: parts, splits, normalisation. In: a recipe. Out: splits that the loader takes.
#include <string.h>

#include "data/readers.h"
#include "data/sample_pack.h"
#include "data/table_columns.h"
#include "train/trainer.h"

static bool is_images(const wf_dataset *dataset)
{
    return wf_field_is_image(&dataset->field[0]);
}

static void log_note(void *user, weft_log_level level, const char *text)
{
    const weft_recipe *recipe = user;
    wf_context_log(recipe->context, level, "%s", text);
}

static weft_status copy_text(weft_recipe *recipe, const char *text, const char **out,
                             weft_error *err)
{
    *out = text ? wf_arena_strdup(&recipe->arena, text) : NULL;
    if (text && !*out)
        WEFT_FAIL(err, WEFT_ERR_MEMORY, "memory: no room for the recipe");
    return WEFT_OK;
}

// What the recipe itself gives stays.
static weft_status copy_words(weft_recipe *recipe, const char *const *words, size_t n,
                              wf_words *out, weft_error *err)
{
    if (out->n || !words)
        return WEFT_OK;
    out->v = wf_arena_take(&recipe->arena, n * sizeof *out->v);
    if (!out->v)
        WEFT_FAIL(err, WEFT_ERR_MEMORY, "memory: no room for the recipe");
    for (; out->n < n; out->n++)
        WEFT_TRY(copy_text(recipe, words[out->n], &out->v[out->n], err));
    return WEFT_OK;
}

// The options of data: as a reader takes them. Where the training part is open, its classes and
// characters are those of the test part.
static wf_reader_options reader_options(weft_recipe *recipe, const wf_dataset *train)
{
    const wf_recipe_data *d = &recipe->v.data;
    wf_reader_options o = {
        .allocator = &recipe->allocator,
        .path = d->dir,
        .note = log_note,
        .note_user = recipe,
        .n_classes = d->n_classes != WF_KEY_UNSET ? d->n_classes : (int64_t)d->classes.n,
        .class_names = d->classes.n ? d->classes.v : NULL,
        .is_skipping_bad = d->on_bad == 1,
        .image = {d->image.v[0], d->image.v[1], d->image.v[2]},
        .fitting = (wf_image_fitting)d->fit,
        .rate = d->rate != WF_KEY_UNSET ? (int32_t)d->rate : 0,
        .seconds = d->seconds,
        .target = d->target,
        .target_kind = (wf_target_is)d->target_is,
        .header = (wf_header)d->header,
        .ignored = d->ignore.v,
        .n_ignored = d->ignore.n,
        .columns = d->columns.v,
        .n_columns = d->columns.n,
        .is_raw = !d->normalise.is_on,
        .context = d->context != WF_KEY_UNSET ? d->context : 0,
        .stride = d->stride != WF_KEY_UNSET ? d->stride : 0,
        .is_bytes = d->unit == 1,
        .vocabulary = d->vocabulary,
    };
    if (train) {
        o.n_classes = train->n_classes;
        o.class_names = train->class_names ? train->class_names : o.class_names;
        o.vocabulary = train->vocabulary;
        o.columns = train->columns;
        o.n_columns = train->n_columns;
        for (int i = 0; i < 3 && is_images(train); i++)
            o.image[i] = train->field[0].dim[i];
    }
    return o;
}

static weft_status open_train(weft_recipe *recipe, wf_dataset **out, weft_error *err)
{
    wf_reader_options o = reader_options(recipe, NULL);
    o.part = "train";
    WEFT_TRY(wf_readers_open(recipe->v.data.reader, &o, out, err));
    if ((*out)->n_fields < 1 || (*out)->n_samples < 1)
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: no samples, expected some", (*out)->source);
    return WEFT_OK;
}

// A missing test part is none where validation takes a fraction.
static weft_status open_test(weft_recipe *recipe, const wf_dataset *train, wf_dataset **out,
                             weft_error *err)
{
    const wf_recipe_data *d = &recipe->v.data;
    wf_reader_options o = reader_options(recipe, train);
    weft_error missing = {0};
    o.part = "test";
    if (d->test) {
        o.path = d->test;
        o.part = NULL;
    }
    const weft_status status = wf_readers_open(train->reader, &o, out, &missing);
    if (status == WEFT_OK || (status == WEFT_ERR_FILE && !d->test && d->validation > 0.0))
        return WEFT_OK;
    if (err)
        *err = missing;
    return status;
}

static void describe_field(const wf_field *field, wf_data_field *out)
{
    out->name = field->name;
    out->dtype = wf_sample_packed_dtype(field);
    out->ndim = field->ndim;
    memcpy(out->dim, field->dim, sizeof out->dim);
}

static weft_status resolve_image(weft_recipe *recipe, wf_train_data *data, weft_error *err)
{
    wf_recipe_data *d = &recipe->v.data;
    const wf_field *image = &data->train->field[0];
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
    return WEFT_OK;
}

// What was found goes into the recipe, so that it reads the same without looking again.
static weft_status resolve_names(weft_recipe *recipe, const wf_dataset *train, weft_error *err)
{
    wf_recipe_data *d = &recipe->v.data;
    d->n_classes = train->n_classes ? train->n_classes : WF_KEY_UNSET;
    WEFT_TRY(copy_text(recipe, train->reader, &d->reader, err));
    if (wf_field_is_sound(&train->field[0])) {
        d->rate = d->rate != WF_KEY_UNSET ? d->rate : WF_SOUND_RATE;
        d->seconds = (double)train->field[0].dim[0] / (double)d->rate;
    }
    WEFT_TRY(copy_text(recipe, train->vocabulary, &d->vocabulary, err));
    WEFT_TRY(copy_words(recipe, train->columns, train->n_columns, &d->columns, err));
    return copy_words(recipe, train->class_names, (size_t)train->n_classes, &d->classes, err);
}

static weft_status resolve_sizes(weft_recipe *recipe, wf_train_data *data, weft_error *err)
{
    const wf_field *input = &data->train->field[0];
    // What an autoencoder has no use for is no input of its programs.
    const bool has_label = wf_recipe_wants_label(recipe);
    const wf_field *label = has_label ? wf_dataset_find(data->train, "label") : NULL;
    describe_field(input, &data->input);
    if (label)
        describe_field(label, &data->label);
    data->n_classes = data->train->n_classes;
    WEFT_TRY(resolve_names(recipe, data->train, err));
    if (is_images(data->train))
        WEFT_TRY(resolve_image(recipe, data, err));
    if (data->test) {
        const wf_field *other = &data->test->field[0];
        if (other->ndim != input->ndim || other->dtype != input->dtype ||
            memcmp(other->dim, input->dim, sizeof input->dim) != 0)
            WEFT_FAIL(err, WEFT_ERR_SHAPE, "%s: samples are of another size or type than in %s",
                      data->test->source, data->train->source);
    }
    return WEFT_OK;
}

static weft_status resolve_normalisation(weft_recipe *recipe, wf_train_data *data, weft_error *err)
{
    struct wf_normalise *n = &recipe->v.data.normalise;
    wf_normalisation *out = &data->normalisation;
    if (!n->is_on || !is_images(data->train))
        return WEFT_OK;
    if (n->mean.n == 0) {
        WEFT_TRY(wf_normalisation_compute(&data->train_split, &data->train->field[0], out, err));
        n->mean.n = n->std.n = out->n_channels;
        memcpy(n->mean.v, out->mean, sizeof n->mean.v);
        memcpy(n->std.v, out->std, sizeof n->std.v);
        return WEFT_OK;
    }
    if (n->mean.n != data->image[0])
        WEFT_FAIL(err, WEFT_ERR_SHAPE, "data.normalise: %d means, the images have %lld channels",
                  n->mean.n, (long long)data->image[0]);
    out->n_channels = n->mean.n;
    memcpy(out->mean, n->mean.v, sizeof n->mean.v);
    memcpy(out->std, n->std.v, sizeof n->std.v);
    return WEFT_OK;
}

_Static_assert(WF_NUMBERS_MAX == WF_NORMALISATION_MAX_CHANNELS, "one mean for each channel");

static bool image_from_recipe(const weft_recipe *recipe, wf_train_data *out)
{
    const wf_recipe_data *d = &recipe->v.data;
    const struct wf_normalise *n = &d->normalise;
    if (d->image.n != 3 || (n->is_on && n->mean.n == 0))
        return false;
    memcpy(out->image, d->image.v, sizeof out->image);
    out->input = (wf_data_field){.name = "image", .dtype = WEFT_F32, .ndim = 3};
    memcpy(out->input.dim, d->image.v, sizeof out->image);
    if (n->is_on) {
        out->normalisation.n_channels = n->mean.n;
        memcpy(out->normalisation.mean, n->mean.v, sizeof n->mean.v);
        memcpy(out->normalisation.std, n->std.v, sizeof n->std.v);
    }
    return true;
}

static bool sound_from_recipe(const weft_recipe *recipe, wf_train_data *out)
{
    const wf_recipe_data *d = &recipe->v.data;
    if (!d->reader || strcmp(d->reader, "sound") != 0 || d->rate == WF_KEY_UNSET ||
        !(d->seconds > 0.0))
        return false;
    out->input = (wf_data_field){.name = "sound", .dtype = WEFT_F32, .ndim = 1};
    out->input.dim[0] = (int64_t)(d->seconds * (double)d->rate + 0.5);
    return true;
}

static bool table_from_recipe(const weft_recipe *recipe, wf_train_data *out)
{
    const wf_recipe_data *d = &recipe->v.data;
    wf_arena arena;
    wf_table_column column;
    if (!d->reader || strcmp(d->reader, "table") != 0 || d->columns.n == 0)
        return false;
    out->input = (wf_data_field){.name = "value", .dtype = WEFT_F32, .ndim = 1};
    wf_arena_init(&arena, &recipe->allocator);
    bool is_right = true;
    for (size_t i = 0; i < d->columns.n && is_right; i++) {
        is_right = wf_table_column_parse(d->columns.v[i], &arena, &column, NULL) == WEFT_OK;
        out->input.dim[0] += is_right ? wf_table_column_features(&column) : 0;
    }
    wf_arena_deinit(&arena);
    return is_right;
}

bool wf_train_data_from_recipe(const weft_recipe *recipe, wf_train_data *out)
{
    const wf_recipe_data *d = &recipe->v.data;
    memset(out, 0, sizeof *out);
    out->allocator = recipe->allocator;
    if (d->n_classes == WF_KEY_UNSET ||
        !(image_from_recipe(recipe, out) || sound_from_recipe(recipe, out) ||
          table_from_recipe(recipe, out)))
        return false;
    if (wf_recipe_wants_label(recipe))
        out->label = (wf_data_field){.name = "label", .dtype = WEFT_I32};
    out->n_classes = d->n_classes;
    return true;
}

// Of the training part: validation is cut off where a fraction is asked for.
static weft_status split_train(const weft_recipe *recipe, wf_train_data *data, weft_error *err)
{
    const wf_recipe_data *d = &recipe->v.data;
    const uint64_t seed = (uint64_t)recipe->v.seed;
    if (d->validation > 0.0 && d->is_stratified)
        return wf_split_init_stratified(&data->train_split, &data->validation_split, data->train,
                                        d->validation, seed, err);
    if (d->validation > 0.0)
        return wf_split_init_fraction(&data->train_split, &data->validation_split, data->train,
                                      d->validation, seed, err);
    wf_split_init_all(&data->train_split, data->train);
    return WEFT_OK;
}

static weft_status open_all(weft_recipe *recipe, wf_train_data *out, weft_error *err)
{
    WEFT_TRY(open_train(recipe, &out->train, err));
    WEFT_TRY(split_train(recipe, out, err));
    const int64_t take = recipe->v.data.take;
    if (take != WF_KEY_UNSET && take < out->train_split.n)
        out->train_split.n = take;
    // The test part is read by what was learnt from the training split.
    WEFT_TRY(wf_dataset_learn(out->train, &out->train_split, err));
    WEFT_TRY(open_test(recipe, out->train, &out->test, err));
    if (out->test) {
        wf_split_init_all(&out->test_split, out->test);
        if (recipe->v.data.validation <= 0.0)
            wf_split_init_all(&out->validation_split, out->test);
    }
    WEFT_TRY(resolve_sizes(recipe, out, err));
    if (out->train_split.n < 1 || out->validation_split.n < 1)
        WEFT_FAIL(err, WEFT_ERR_SHAPE,
                  "data: %lld samples to train and %lld to validate with, expected one or more",
                  (long long)out->train_split.n, (long long)out->validation_split.n);
    return resolve_normalisation(recipe, out, err);
}

weft_status wf_train_data_open(weft_recipe *recipe, wf_train_data *out, weft_error *err)
{
    memset(out, 0, sizeof *out);
    out->allocator = recipe->allocator;
    const weft_status status = open_all(recipe, out, err);
    if (status != WEFT_OK)
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

weft_val wf_train_input(weft_graph *g, const wf_data_field *field, int64_t batch)
{
    int64_t dims[WEFT_MAX_DIM] = {batch};
    if (!field->name)
        return WEFT_NONE;
    if (field->ndim + 1 > WEFT_MAX_DIM) {
        wf_graph_fail(g, NULL, WEFT_ERR_SHAPE,
                      "data: field '%s' has %d dimensions, expected at most %d", field->name,
                      (int)field->ndim, WEFT_MAX_DIM - 1);
        return WEFT_NONE;
    }
    memcpy(dims + 1, field->dim, (size_t)field->ndim * sizeof dims[0]);
    return weft_input(g, field->name, field->dtype, dims, field->ndim + 1);
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
