// Predictions: of files and of samples of the test part, and the sheet that a training leaves.
// In: weights of a run; pictures, sounds, tables. Out: probabilities by class; predictions.png.
#include <stdio.h>
#include <string.h>

#include "data/readers.h"
#include "io/sound.h"
#include "train/pictures.h"

#define SHEET_CELLS 40
#define SHEET_COLUMNS 8

// Images of one batch and what comes out.
typedef struct predictor {
    wf_allocator allocator;
    wf_program_cache *programs;
    const wf_train_data *data;
    size_t n_values;    // of a sample: of a picture c*h*w
    float *values;      // [batch, n_values]
    uint8_t *labels;    // [batch, ..], zeros: the loss is not looked at
    size_t label_bytes; // of a sample
    float *probabilities;
    int64_t batch;
} predictor;

static weft_status predictor_init(predictor *p, wf_program_cache *programs, int64_t batch,
                                  weft_error *err)
{
    const wf_train_data *data = programs->data;
    memset(p, 0, sizeof *p);
    p->allocator = programs->arena.allocator;
    p->programs = programs;
    p->data = data;
    p->batch = batch;
    p->n_values = 1;
    for (int32_t i = 0; i < data->input.ndim; i++)
        p->n_values *= (size_t)data->input.dim[i];
    p->label_bytes = data->label.name ? 4 : 0;
    for (int32_t i = 0; i < data->label.ndim; i++)
        p->label_bytes *= (size_t)data->label.dim[i];
    WEFT_TRY(wf_alloc(&p->allocator, (size_t)batch, p->n_values * sizeof(float), &p->values, err));
    WEFT_TRY(wf_alloc(&p->allocator, (size_t)batch, p->label_bytes, &p->labels, err));
    return wf_alloc(&p->allocator, (size_t)batch, (size_t)data->n_classes * sizeof(float),
                    &p->probabilities, err);
}

static void predictor_deinit(predictor *p)
{
    wf_free(&p->allocator, p->values);
    wf_free(&p->allocator, p->labels);
    wf_free(&p->allocator, p->probabilities);
}

static weft_status predict(predictor *p, weft_error *err)
{
    weft_program *program;
    const size_t batch = (size_t)p->batch;
    WEFT_TRY(wf_program_get(p->programs, WF_PROGRAM_EVAL, p->batch, &program, err));
    WEFT_TRY(weft_program_write(program, p->data->input.name, p->values,
                                batch * p->n_values * sizeof(float), err));
    if (p->label_bytes)
        WEFT_TRY(weft_program_write(program, p->data->label.name, p->labels, batch * p->label_bytes,
                                    err));
    WEFT_TRY(weft_program_run(program, err));
    return weft_program_read(program, "probabilities", p->probabilities,
                             batch * (size_t)p->data->n_classes * sizeof(float), err);
}

static int64_t greatest(const float *values, int64_t n)
{
    int64_t best = 0;
    for (int64_t i = 1; i < n; i++) {
        best = values[i] > values[best] ? i : best;
    }
    return best;
}

// Pixels and label of a sample of the data.
static weft_status read_sample(const wf_dataset *dataset, int64_t sample, uint8_t *pixels,
                               int64_t *out_label, weft_error *err)
{
    WEFT_TRY(wf_field_read(&dataset->field[0], sample, pixels, err));
    return wf_dataset_label(dataset, sample, out_label, err);
}

// ---- weft predict
typedef struct finder {
    predictor p;
    const weft_recipe *recipe;
    void (*found)(void *user, const weft_prediction *prediction);
    void *user;
    uint8_t *pixels; // [c,h,w]
} finder;

static weft_status report(finder *f, const char *source, int64_t label, weft_error *err)
{
    WEFT_TRY(predict(&f->p, err));
    const wf_words *classes = &f->recipe->v.data.classes;
    const weft_prediction prediction = {
        .source = source,
        .n_classes = f->p.data->n_classes,
        .class_names = (int64_t)classes->n == f->p.data->n_classes ? classes->v : NULL,
        .probabilities = f->p.probabilities,
        .predicted = greatest(f->p.probabilities, f->p.data->n_classes),
        .label = label,
    };
    f->found(f->user, &prediction);
    return WEFT_OK;
}

static weft_status predict_image(finder *f, const char *path, weft_error *err)
{
    const int64_t *dims = f->p.data->image;
    wf_image read = {0}, fitting = {0};
    weft_status status;
    if (dims[0] != 1 && dims[0] != 3)
        WEFT_FAIL(err, WEFT_ERR_UNSUPPORTED,
                  "%s: the model takes images of %lld channels, "
                  "files have 1 or 3",
                  path, (long long)dims[0]);
    WEFT_TRY_GOTO(wf_image_read(&f->p.allocator, path, (int32_t)dims[0], &read, err));
    WEFT_TRY_GOTO(wf_image_fit(&read, &f->p.allocator, (wf_image_fitting)f->recipe->v.data.fit,
                               (int32_t)dims[1], (int32_t)dims[2], &fitting, err));
    // [h,w,c] -> [c,h,w]
    for (int64_t c = 0; c < dims[0]; c++) {
        for (int64_t i = 0; i < dims[1] * dims[2]; i++) {
            f->pixels[c * dims[1] * dims[2] + i] = fitting.pixels[i * dims[0] + c];
        }
    }
    wf_train_normalise(f->p.data, f->pixels, f->p.values);
    status = report(f, path, -1, err);
fail:
    wf_image_deinit(&fitting);
    wf_image_deinit(&read);
    return status;
}

static weft_status predict_sound(finder *f, const char *path, weft_error *err)
{
    const wf_recipe_data *d = &f->recipe->v.data;
    wf_sound sound;
    // A second more than the clip: what the filter of another rate looks at.
    WEFT_TRY(wf_sound_read(&f->p.allocator, path, d->seconds + 1.0, &sound, err));
    weft_status status =
        wf_sound_fit(&sound, (int32_t)d->rate, f->p.data->input.dim[0], f->p.values, err);
    wf_sound_deinit(&sound);
    return status == WEFT_OK ? report(f, path, -1, err) : status;
}

// Row by row, with the label of each where it has one.
static weft_status predict_rows(finder *f, const wf_dataset *rows, const char *path,
                                weft_error *err)
{
    const wf_field *field = &rows->field[0];
    const bool has_label = wf_dataset_find(rows, "label") && rows->n_classes > 0;
    char source[512];
    if (field->dtype != WEFT_F32 || field->sample_bytes != f->p.n_values * sizeof(float))
        WEFT_FAIL(err, WEFT_ERR_SHAPE, "%s: rows are not those that the model takes", path);
    for (int64_t i = 0; i < rows->n_samples; i++) {
        int64_t label = -1;
        WEFT_TRY(wf_field_read(field, i, f->p.values, err));
        if (has_label)
            WEFT_TRY(wf_dataset_label(rows, i, &label, err));
        snprintf(source, sizeof source, "%.480s row %lld", path, (long long)(i + 1));
        WEFT_TRY(report(f, source, label, err));
    }
    return WEFT_OK;
}

static weft_status predict_table(finder *f, const char *path, weft_error *err)
{
    const wf_recipe_data *d = &f->recipe->v.data;
    const wf_reader_options options = {
        .allocator = &f->p.allocator,
        .path = path,
        .header = (wf_header)d->header,
        .columns = d->columns.v,
        .n_columns = d->columns.n,
    };
    wf_dataset *rows;
    WEFT_TRY(wf_readers_open(d->reader, &options, &rows, err));
    const weft_status status = predict_rows(f, rows, path, err);
    wf_dataset_destroy(rows);
    return status;
}

// Files by what the model takes.
static weft_status predict_file(finder *f, const char *path, weft_error *err)
{
    static const struct {
        const char *input;
        weft_status (*predict)(finder *f, const char *path, weft_error *err);
    } kinds[] = {{"image", predict_image}, {"sound", predict_sound}, {"value", predict_table}};
    for (size_t i = 0; i < WF_COUNT_OF(kinds); i++) {
        if (!strcmp(f->p.data->input.name, kinds[i].input))
            return kinds[i].predict(f, path, err);
    }
    WEFT_FAIL(err, WEFT_ERR_UNSUPPORTED,
              "%s: the model takes '%s', expected one of pictures, sounds or tables", path,
              f->p.data->input.name);
}

static weft_status predict_index(finder *f, int64_t sample, weft_error *err)
{
    const wf_dataset *test = f->p.data->test;
    char source[32];
    int64_t label;
    if (sample < 0 || sample >= test->n_samples)
        WEFT_FAIL(err, WEFT_ERR_INDEX, "sample %lld, expected 0 to %lld", (long long)sample,
                  (long long)(test->n_samples - 1));
    snprintf(source, sizeof source, "test %lld", (long long)sample);
    if (f->p.data->image[0]) {
        WEFT_TRY(read_sample(test, sample, f->pixels, &label, err));
        wf_train_normalise(f->p.data, f->pixels, f->p.values);
        return report(f, source, label, err);
    }
    if (test->field[0].dtype != WEFT_F32)
        WEFT_FAIL(err, WEFT_ERR_UNSUPPORTED, "predict: samples are %s, expected pictures or f32",
                  weft_dtype_name(test->field[0].dtype));
    WEFT_TRY(read_sample(test, sample, (uint8_t *)f->p.values, &label, err));
    return report(f, source, label, err);
}

static weft_status predict_all(finder *f, const weft_predict_options *o, const char *run_dir,
                               weft_error *err)
{
    WEFT_TRY(wf_weights_load(f->p.programs, run_dir,
                             o->is_best ? "best.safetensors" : "weights.safetensors", err));
    WEFT_TRY(wf_alloc(&f->p.allocator, f->p.n_values, 1, &f->pixels, err));
    for (size_t i = 0; i < o->n_files; i++) {
        WEFT_TRY(predict_file(f, o->files[i], err));
    }
    for (size_t i = 0; i < o->n_indices; i++) {
        WEFT_TRY(predict_index(f, o->indices[i], err));
    }
    return WEFT_OK;
}

weft_status weft_predict_run(weft_recipe *recipe, weft_device *device, const char *run_dir,
                             const weft_predict_options *options,
                             void (*found)(void *user, const weft_prediction *prediction),
                             void *user, weft_error *err)
{
    wf_train_data data = {0};
    weft_state *state = NULL;
    wf_program_cache programs = {0};
    finder f = {.recipe = recipe, .found = found, .user = user};
    weft_status status;
    WEFT_REQUIRE(err, recipe && device && run_dir && options && found,
                 "predict: without recipe, device, folder, options or found");
    WEFT_REQUIRE(err, options->struct_size == sizeof *options,
                 "predict: struct_size is %zu, expected %zu", options->struct_size,
                 sizeof *options);
    f.p.allocator = recipe->allocator;
    // Files need nothing of the data set where the recipe is a resolved one.
    if (options->n_indices > 0 || !wf_train_data_from_recipe(recipe, &data))
        WEFT_TRY(wf_train_data_open(recipe, &data, err));
    if (options->n_indices > 0 && !data.test) {
        status = wf_error_set(err, WEFT_ERR_FILE, "%s: no test part, expected one for an index",
                              recipe->v.data.dir);
        goto fail;
    }
    if (data.n_classes < 1) {
        status = wf_error_set(err, WEFT_ERR_UNSUPPORTED,
                              "predict: the model has no classes, expected some");
        goto fail;
    }
    WEFT_TRY_GOTO(weft_state_create(device, &state, err));
    wf_program_cache_init(&programs, recipe, &data, state, 1);
    WEFT_TRY_GOTO(predictor_init(&f.p, &programs, 1, err));
    WEFT_TRY_GOTO(predict_all(&f, options, run_dir, err));
fail:
    wf_free(&f.p.allocator, f.pixels);
    predictor_deinit(&f.p);
    wf_program_cache_deinit(&programs);
    weft_state_destroy(state);
    wf_train_data_close(&data);
    return status;
}

// ---- the sheet
typedef struct sheet {
    predictor p;
    const weft_recipe *recipe;
    const wf_split *split;
    int64_t n;
    uint8_t *pixels; // [n, h,w,c]
    uint8_t *planes; // one sample [c,h,w]
    int64_t *labels; // [n]
    char (*captions)[64];
    wf_sheet_cell cells[SHEET_CELLS];
} sheet;

static void describe_cell(sheet *s, int64_t i, const float *probabilities)
{
    const int64_t *dims = s->p.data->image;
    const int64_t predicted = greatest(probabilities, s->p.data->n_classes);
    const char *says = wf_train_class_name(s->recipe, predicted);
    const char *is = wf_train_class_name(s->recipe, s->labels[i]);
    const bool is_right = predicted == s->labels[i];
    char number[2][24];
    if (!says || !is) {
        snprintf(number[0], sizeof number[0], "class %lld", (long long)predicted);
        snprintf(number[1], sizeof number[1], "class %lld", (long long)s->labels[i]);
        says = number[0];
        is = number[1];
    }
    if (is_right)
        snprintf(s->captions[i], sizeof s->captions[i], "%.28s", says);
    else
        snprintf(s->captions[i], sizeof s->captions[i], "%.28s\nis %.24s", says, is);
    s->cells[i] = (wf_sheet_cell){
        .pixels = s->pixels + (size_t)i * s->p.n_values,
        .height = (int32_t)dims[1],
        .width = (int32_t)dims[2],
        .n_channels = (int32_t)dims[0],
        .mark = is_right ? WF_SHEET_MARK_RIGHT : WF_SHEET_MARK_WRONG,
        .caption = s->captions[i],
    };
}

// Sample i of the sheet: as the network takes it, and as people look at it.
static weft_status load_cell(sheet *s, int64_t i, int64_t slot, weft_error *err)
{
    const int64_t *dims = s->p.data->image;
    const int64_t n = dims[1] * dims[2];
    WEFT_TRY(read_sample(s->split->dataset, wf_split_sample(s->split, i), s->planes, &s->labels[i],
                         err));
    wf_train_normalise(s->p.data, s->planes, s->p.values + (size_t)slot * s->p.n_values);
    uint8_t *out = s->pixels + (size_t)i * s->p.n_values;
    for (int64_t c = 0; c < dims[0]; c++) {
        for (int64_t k = 0; k < n; k++) {
            out[k * dims[0] + c] = s->planes[c * n + k];
        }
    }
    return WEFT_OK;
}

static weft_status fill_sheet(sheet *s, weft_error *err)
{
    const wf_allocator *a = &s->p.allocator;
    WEFT_TRY(wf_alloc(a, (size_t)s->n, s->p.n_values, &s->pixels, err));
    WEFT_TRY(wf_alloc(a, 1, s->p.n_values, &s->planes, err));
    WEFT_TRY(wf_alloc(a, (size_t)s->n, sizeof *s->labels, &s->labels, err));
    WEFT_TRY(wf_alloc(a, (size_t)s->n, sizeof *s->captions, &s->captions, err));
    for (int64_t first = 0; first < s->n; first += s->p.batch) {
        const int64_t left = s->n - first < s->p.batch ? s->n - first : s->p.batch;
        for (int64_t k = 0; k < left; k++) {
            WEFT_TRY(load_cell(s, first + k, k, err));
        }
        WEFT_TRY(predict(&s->p, err));
        for (int64_t k = 0; k < left; k++) {
            describe_cell(s, first + k, s->p.probabilities + k * s->p.data->n_classes);
        }
    }
    return WEFT_OK;
}

// Where the result is no class of the sample.
static weft_status draw_pictures(wf_program_cache *programs, const wf_split *split, const char *dir,
                                 weft_error *err)
{
    weft_status status = wf_reconstructions_draw(programs, split, dir, err);
    if (status == WEFT_OK)
        status = wf_latent_draw(programs, split, dir, err);
    // Built without libpng: the run is whole without its pictures.
    return status == WEFT_ERR_UNSUPPORTED ? WEFT_OK : status;
}

weft_status wf_predictions_draw(wf_program_cache *programs, const char *dir, weft_error *err)
{
    const wf_train_data *data = programs->data;
    sheet s = {.recipe = programs->recipe,
               .split = data->test ? &data->test_split : &data->validation_split};
    // Pictures are grey or RGB.
    if (data->image[0] != 1 && data->image[0] != 3)
        return WEFT_OK;
    if (programs->recipe->v.target.kind != WF_TARGET_LABEL)
        return draw_pictures(programs, s.split, dir, err);
    s.n = s.split->n < SHEET_CELLS ? s.split->n : SHEET_CELLS;
    // A program that the run has already, so that the sheet takes no memory that was not planned.
    const wf_recipe_train *train = &programs->recipe->v.train;
    const int64_t n = data->validation_split.n, batch = wf_program_eval_batch(train, train->batch);
    weft_status status = predictor_init(&s.p, programs, n >= batch ? batch : n, err);
    if (status == WEFT_OK)
        status = fill_sheet(&s, err);
    if (status == WEFT_OK)
        status = wf_sheet_save(&s.p.allocator, dir, s.cells, (int32_t)s.n, SHEET_COLUMNS, err);
    const wf_allocator *a = &s.p.allocator;
    wf_free(a, s.pixels);
    wf_free(a, s.planes);
    wf_free(a, s.labels);
    wf_free(a, s.captions);
    predictor_deinit(&s.p);
    // Built without libpng: the run is whole without its picture.
    return status == WEFT_ERR_UNSUPPORTED ? WEFT_OK : status;
}
