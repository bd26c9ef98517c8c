// Reads sounds: a folder for each class, or a list of path and label. In: WAV, FLAC, Ogg files of any
// rate, length and number of channels. Out: fields "sound" f32 [samples], all at one rate and of one
// length, and "label".
//
// Every file is read before a data set is handed out: a bad one is named then.
#include <string.h>

#include "data/file_list.h"
#include "io/sound.h"

// The filter looks this far behind the end of a clip: 16 crossings at an eighth of the rate.
#define MARGIN_SECONDS 1.0
#define SAMPLES_MAX 1e8

static const wf_file_kind sounds = {
    "sounds", ".wav, .flac or .ogg files", {"wav", "flac", "ogg", "oga", "aiff", "aif", NULL}};

typedef struct {
    wf_dataset dataset; // first: destroyed through its address
    wf_file_list list;
    int32_t rate;
    int64_t n_samples; // of a clip
    float *kept;       // [n, n_samples], or NULL: read when asked for
    int32_t *label;
} sound_dataset;

static void destroy_dataset(wf_dataset *dataset)
{
    sound_dataset *d = (sound_dataset *)dataset;
    wf_allocator a = dataset->allocator;
    wf_file_list_deinit(&d->list);
    wf_free(&a, d->kept);
    wf_free(&a, d->label);
    wf_free(&a, d);
}

static weft_status read_file(void *user, size_t i, void *dst, weft_error *err)
{
    const sound_dataset *d = user;
    wf_sound sound;
    // Several threads do this at once, and a context's allocator need not bear that.
    const wf_allocator a = wf_allocator_default();
    const double seconds = (double)d->n_samples / (double)d->rate + MARGIN_SECONDS;
    WEFT_TRY(wf_sound_read(&a, d->list.v[i].path, seconds, &sound, err));
    const weft_status status =
        dst ? wf_sound_fit(&sound, d->rate, d->n_samples, dst, err) : WEFT_OK;
    wf_sound_deinit(&sound);
    return status;
}

static weft_status read_sample(void *user, int64_t sample, void *out, weft_error *err)
{
    return read_file(user, (size_t)sample, out, err);
}

static weft_status set_length(sound_dataset *d, const wf_reader_options *o, weft_error *err)
{
    const double seconds = o->seconds > 0.0 ? o->seconds : WF_SOUND_SECONDS;
    d->rate = o->rate > 0 ? o->rate : WF_SOUND_RATE;
    const double n = seconds * (double)d->rate + 0.5;
    if (!(n >= 1.0 && n < SAMPLES_MAX))
        WEFT_FAIL(err, WEFT_ERR_SHAPE, "data: %g seconds at a rate of %d, expected 1 to %g samples",
                  seconds, (int)d->rate, SAMPLES_MAX);
    d->n_samples = (int64_t)n;
    return WEFT_OK;
}

static weft_status read_all(sound_dataset *d, const wf_reader_options *o, weft_error *err)
{
    wf_file_pass pass = {.list = &d->list,
                         .read = read_file,
                         .user = d,
                         .sample_bytes = (size_t)d->n_samples * sizeof(float)};
    WEFT_TRY(wf_file_pass_keep(&pass, &d->dataset.allocator, err));
    d->kept = (float *)(void *)pass.kept;
    return wf_file_pass_run(&pass, o, &d->dataset.n_bad, err);
}

static weft_status set_fields(sound_dataset *d, weft_error *err)
{
    wf_dataset *set = &d->dataset;
    set->field[set->n_fields++] = (wf_field){.name = "sound",
                                             .dtype = WEFT_F32,
                                             .ndim = 1,
                                             .dim = {d->n_samples},
                                             .sample_bytes = (size_t)d->n_samples * sizeof(float),
                                             .data = d->kept,
                                             .read = read_sample,
                                             .user = d};
    return wf_file_list_label(&d->list, set, &d->label, err);
}

static bool probe(const char *path)
{
    return wf_file_list_probe(&sounds, path);
}

static weft_status open_dataset(const wf_reader_options *o, wf_dataset **out_dataset,
                                weft_error *err)
{
    sound_dataset *d;
    weft_status status;
    wf_allocator a = o->allocator ? *o->allocator : wf_allocator_default();
    *out_dataset = NULL;
    WEFT_REQUIRE(err, o->path, "data: sound wants a folder or a list");
    WEFT_TRY(wf_alloc(&a, 1, sizeof *d, &d, err));
    d->dataset.allocator = a;
    d->dataset.destroy = destroy_dataset;
    WEFT_TRY_GOTO(set_length(d, o, err));
    WEFT_TRY_GOTO(wf_file_list_open(&d->list, &sounds, o, err));
    d->dataset.source = d->list.path;
    WEFT_TRY_GOTO(read_all(d, o, err));
    WEFT_TRY_GOTO(set_fields(d, err));
    *out_dataset = &d->dataset;
    return WEFT_OK;
fail:
    destroy_dataset(&d->dataset);
    return status;
}

const wf_reader wf_reader_sound = {
    .name = "sound",
    .summary = "sounds in a folder for each class, or a list of path,label",
    .probe = probe,
    .open = open_dataset,
};
