// Reads pictures of any kind and size: a folder for each class, or a list of path and label. In: a
// folder or a CSV file. Out: fields "image" u8 [c,h,w], all brought to one size, and "label".
//
// Every file is decoded before a data set is handed out, on several threads: a bad one is named then,
// not in the middle of a training. Pictures stay in memory where they fit, else they are decoded again
// by the loader's threads.
#include <string.h>

#include "data/file_list.h"
#include "io/image.h"

// The side that pictures get where their own sizes differ and none is asked for.
#define DEFAULT_SIDE 64

static const wf_file_kind pictures = {
    "pictures", ".png, .jpg or .webp files", {"png", "jpg", "jpeg", "jpe", "webp", NULL}};
// What is kept of a file's first look.
enum { FOUND_CHANNELS, FOUND_HEIGHT, FOUND_WIDTH };

typedef struct {
    wf_dataset dataset; // first: destroyed through its address
    wf_file_list list;
    int32_t n_channels, height, width;
    wf_image_fitting fitting;
    uint8_t *pixels; // [n, c,h,w], or NULL: decoded when asked for
    int32_t *label;
} images_dataset;

static void destroy_dataset(wf_dataset *dataset)
{
    images_dataset *d = (images_dataset *)dataset;
    wf_allocator a = dataset->allocator;
    wf_file_list_deinit(&d->list);
    wf_free(&a, d->pixels);
    wf_free(&a, d->label);
    wf_free(&a, d);
}

// [h,w,c] of any size -> [c,h,w] of ours.
static weft_status place_pixels(const images_dataset *d, const wf_image *image, uint8_t *dst,
                                weft_error *err)
{
    wf_image fitting;
    const size_t c = (size_t)d->n_channels, n = (size_t)d->height * (size_t)d->width;
    WEFT_TRY(
        wf_image_fit(image, &image->allocator, d->fitting, d->height, d->width, &fitting, err));
    for (size_t k = 0; k < c; k++) {
        for (size_t i = 0; i < n; i++)
            dst[k * n + i] = fitting.pixels[i * c + k];
    }
    wf_image_deinit(&fitting);
    return WEFT_OK;
}

static weft_status read_file(const images_dataset *d, size_t i, uint8_t *dst, int32_t found[3],
                             weft_error *err)
{
    wf_image image;
    // Several threads do this at once, and a context's allocator need not bear that.
    const wf_allocator a = wf_allocator_default();
    WEFT_TRY(wf_image_read(&a, d->list.v[i].path, d->n_channels, &image, err));
    if (found) {
        found[FOUND_CHANNELS] = image.n_channels;
        found[FOUND_HEIGHT] = image.height;
        found[FOUND_WIDTH] = image.width;
    }
    const weft_status status = dst ? place_pixels(d, &image, dst, err) : WEFT_OK;
    wf_image_deinit(&image);
    return status;
}

static weft_status read_image(void *user, int64_t sample, void *out, weft_error *err)
{
    return read_file(user, (size_t)sample, out, NULL, err);
}

static weft_status look_at_file(void *user, size_t i, void *dst, weft_error *err)
{
    images_dataset *d = user;
    return read_file(d, i, dst, d->list.v[i].found, err);
}

// ---- sizes
// The files' own, where they agree; else a square. Grey only where all are.
static void choose_size(images_dataset *d, const wf_reader_options *o)
{
    bool is_one_size = true;
    const int32_t *first = d->list.v[0].found;
    d->n_channels = 1;
    d->height = first[FOUND_HEIGHT];
    d->width = first[FOUND_WIDTH];
    for (size_t i = 0; i < d->list.n; i++) {
        const int32_t *found = d->list.v[i].found;
        is_one_size =
            is_one_size && found[FOUND_HEIGHT] == d->height && found[FOUND_WIDTH] == d->width;
        if (found[FOUND_CHANNELS] > d->n_channels)
            d->n_channels = found[FOUND_CHANNELS];
    }
    if (is_one_size)
        return;
    d->height = d->width = DEFAULT_SIDE;
    wf_reader_note(o, WEFT_LOG_INFO,
                   "%s: pictures of several sizes become %d x %d, data.image: [c, h, w] chooses",
                   d->list.path, DEFAULT_SIDE, DEFAULT_SIDE);
}

static weft_status read_all(images_dataset *d, const wf_reader_options *o, weft_error *err)
{
    int64_t *n_bad = &d->dataset.n_bad;
    wf_file_pass pass = {.list = &d->list, .read = look_at_file, .user = d};
    if (o->image[0] > 0) {
        d->n_channels = (int32_t)o->image[0];
        d->height = (int32_t)o->image[1];
        d->width = (int32_t)o->image[2];
    } else {
        WEFT_TRY(wf_file_pass_run(&pass, o, n_bad, err));
        choose_size(d, o);
    }
    pass.sample_bytes = (size_t)d->n_channels * (size_t)d->height * (size_t)d->width;
    WEFT_TRY(wf_file_pass_keep(&pass, &d->dataset.allocator, err));
    d->pixels = pass.kept;
    // Too large to keep, and looked at already.
    if (!pass.kept && o->image[0] == 0)
        return WEFT_OK;
    return wf_file_pass_run(&pass, o, n_bad, err);
}

static weft_status set_fields(images_dataset *d, weft_error *err)
{
    wf_dataset *set = &d->dataset;
    wf_field *image = &set->field[set->n_fields++];
    image->name = "image";
    image->dtype = WEFT_U8;
    image->ndim = 3;
    image->dim[0] = d->n_channels;
    image->dim[1] = d->height;
    image->dim[2] = d->width;
    image->sample_bytes = (size_t)d->n_channels * (size_t)d->height * (size_t)d->width;
    image->data = d->pixels;
    image->read = read_image;
    image->user = d;
    return wf_file_list_label(&d->list, set, &d->label, err);
}

static bool probe(const char *path)
{
    return wf_file_list_probe(&pictures, path);
}

static weft_status open_dataset(const wf_reader_options *o, wf_dataset **out_dataset,
                                weft_error *err)
{
    images_dataset *d;
    weft_status status;
    wf_allocator a = o->allocator ? *o->allocator : wf_allocator_default();
    *out_dataset = NULL;
    WEFT_REQUIRE(err, o->path, "data: images wants a folder or a list");
    if (o->image[0] &&
        ((o->image[0] != 1 && o->image[0] != 3) || o->image[1] < 1 || o->image[2] < 1 ||
         o->image[1] > WF_IMAGE_MAX_SIDE || o->image[2] > WF_IMAGE_MAX_SIDE))
        WEFT_FAIL(
            err, WEFT_ERR_SHAPE,
            "data: images of [%lld,%lld,%lld], expected 1 or 3 channels and sides from 1 to %d",
            (long long)o->image[0], (long long)o->image[1], (long long)o->image[2],
            WF_IMAGE_MAX_SIDE);
    WEFT_TRY(wf_alloc(&a, 1, sizeof *d, &d, err));
    d->dataset.allocator = a;
    d->dataset.destroy = destroy_dataset;
    d->fitting = o->fitting;
    WEFT_TRY_GOTO(wf_file_list_open(&d->list, &pictures, o, err));
    d->dataset.source = d->list.path;
    WEFT_TRY_GOTO(read_all(d, o, err));
    WEFT_TRY_GOTO(set_fields(d, err));
    *out_dataset = &d->dataset;
    return WEFT_OK;
fail:
    destroy_dataset(&d->dataset);
    return status;
}

const wf_reader wf_reader_images = {
    .name = "images",
    .summary = "pictures in a folder for each class, or a list of path,label",
    .probe = probe,
    .open = open_dataset,
};
