// Reads pictures of any kind and size: a folder for each class, or a list of path and label. In: a
// folder or a CSV file. Out: fields "image" u8 [c,h,w], all brought to one size, and "label".
//
// Every file is decoded before a data set is handed out, on several threads: a bad one is named then,
// not in the middle of a training. Pictures stay in memory where they fit, else they are decoded again
// by the loader's threads.
#include <string.h>

#include "base/file.h"
#include "base/thread.h"
#include "data/image_list.h"
#include "io/image.h"

// Kept in memory up to this size.
#define KEPT_MAX_BYTES ((size_t)1 << 30)
// The side that pictures get where their own sizes differ and none is asked for.
#define DEFAULT_SIDE 64
// So many bad files are named; the others are counted.
#define NAMED_MAX 10
#define THREADS_MAX 16

typedef struct {
    wf_dataset dataset; // first: destroyed through its address
    char *path;
    wf_image_list list;
    int32_t n_channels, height, width;
    wf_image_fitting fitting;
    uint8_t *pixels; // [n, c,h,w], or NULL: decoded when asked for
    int32_t *label;
} images_dataset;

// What one pass over the files finds.
typedef struct {
    int32_t n_channels, height, width; // of the file
    bool is_bad;
} image_finding;

typedef struct {
    images_dataset *d;
    image_finding *finding; // [n]
    wf_mutex mutex;         // guards what follows
    size_t next;
    size_t n_bad;
    size_t first_bad; // the bad file that is first in the list, whoever found it
    weft_error first;
    weft_status status; // of what is no file's fault
    weft_error err;
} image_pass;

static void destroy_dataset(wf_dataset *dataset)
{
    images_dataset *d = (images_dataset *)dataset;
    wf_allocator a = dataset->allocator;
    wf_image_list_deinit(&d->list);
    wf_free(&a, d->pixels);
    wf_free(&a, d->label);
    wf_free(&a, d->path);
    wf_free(&a, d);
}

// [h,w,c] of any size -> [c,h,w] of ours.
static weft_status place_pixels(const images_dataset *d, const wf_image *image, uint8_t *dst,
                                weft_error *err)
{
    wf_image fitting;
    const size_t c = (size_t)d->n_channels, n = (size_t)d->height * (size_t)d->width;
    WEFT_TRY(
        wf_image_fit(image, &d->dataset.allocator, d->fitting, d->height, d->width, &fitting, err));
    for (size_t k = 0; k < c; k++) {
        for (size_t i = 0; i < n; i++)
            dst[k * n + i] = fitting.pixels[i * c + k];
    }
    wf_image_deinit(&fitting);
    return WEFT_OK;
}

static weft_status read_file(const images_dataset *d, size_t i, uint8_t *dst, image_finding *found,
                             weft_error *err)
{
    wf_image image;
    // Several threads do this at once, and a context's allocator need not bear that.
    const wf_allocator a = wf_allocator_default();
    WEFT_TRY(wf_image_read(&a, d->list.v[i].path, d->n_channels, &image, err));
    if (found)
        *found = (image_finding){image.n_channels, image.height, image.width, false};
    const weft_status status = dst ? place_pixels(d, &image, dst, err) : WEFT_OK;
    wf_image_deinit(&image);
    return status;
}

static weft_status read_image(void *user, int64_t sample, void *out, weft_error *err)
{
    return read_file(user, (size_t)sample, out, NULL, err);
}

// ---- the pass over all files
static bool is_fault_of_file(weft_status status)
{
    return status == WEFT_ERR_FORMAT || status == WEFT_ERR_FILE || status == WEFT_ERR_UNSUPPORTED ||
           status == WEFT_ERR_SHAPE;
}

static void take_failure(image_pass *p, size_t i, weft_status status, const weft_error *err)
{
    if (!is_fault_of_file(status)) {
        p->status = status;
        p->err = *err;
        return;
    }
    p->finding[i].is_bad = true;
    if (p->n_bad == 0 || i < p->first_bad) {
        p->first_bad = i;
        p->first = *err;
    }
    p->n_bad++;
}

static void *run_pass(void *arg)
{
    image_pass *p = arg;
    const images_dataset *d = p->d;
    const size_t bytes = (size_t)d->n_channels * (size_t)d->height * (size_t)d->width;
    wf_mutex_lock(&p->mutex);
    while (p->next < d->list.n && p->status == WEFT_OK) {
        const size_t i = p->next++;
        weft_error err = {0};
        wf_mutex_unlock(&p->mutex);
        const weft_status status =
            read_file(d, i, d->pixels ? d->pixels + i * bytes : NULL, &p->finding[i], &err);
        wf_mutex_lock(&p->mutex);
        if (status != WEFT_OK)
            take_failure(p, i, status, &err);
    }
    wf_mutex_unlock(&p->mutex);
    return NULL;
}

static weft_status pass_all(image_pass *p, weft_error *err)
{
    wf_thread threads[THREADS_MAX] = {0};
    int32_t n = wf_thread_n_processors();
    p->next = p->n_bad = 0;
    p->status = WEFT_OK;
    n = n < THREADS_MAX ? n : THREADS_MAX;
    WEFT_TRY(wf_mutex_init(&p->mutex, err));
    // This thread is one of them; where the system gives no more, it is the only one.
    for (int32_t i = 1; i < n; i++) {
        if (wf_thread_start(&threads[i], run_pass, p, NULL) != WEFT_OK)
            break;
    }
    run_pass(p);
    for (int32_t i = 1; i < n; i++)
        wf_thread_join(&threads[i]);
    wf_mutex_deinit(&p->mutex);
    if (p->status != WEFT_OK && err)
        *err = p->err;
    return p->status;
}

// ---- bad files
static weft_status fail_bad(const image_pass *p, weft_error *err)
{
    const wf_image_file *file = &p->d->list.v[p->first_bad];
    if (file->line)
        WEFT_FAIL(err, WEFT_ERR_FORMAT,
                  "%s: line %zu: %s (%zu of %zu files are bad, on_bad: skip "
                  "leaves them out)",
                  p->d->path, file->line, p->first.message, p->n_bad, p->d->list.n);
    WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s (%zu of %zu files are bad, on_bad: skip leaves them out)",
              p->first.message, p->n_bad, p->d->list.n);
}

// Takes the bad files out of the list, and tells which they are.
static weft_status skip_bad(image_pass *p, const wf_reader_options *o, weft_error *err)
{
    wf_image_list *list = &p->d->list;
    size_t kept = 0, named = 0;
    for (size_t i = 0; i < list->n; i++) {
        if (!p->finding[i].is_bad) {
            p->finding[kept] = p->finding[i];
            list->v[kept++] = list->v[i];
            continue;
        }
        weft_error why = {0};
        if (named++ < NAMED_MAX && read_file(p->d, i, NULL, NULL, &why) != WEFT_OK)
            wf_reader_note(o, "left out: %s", why.message);
    }
    wf_reader_note(o, "%s: %zu of %zu files are bad and left out", p->d->path, p->n_bad, list->n);
    p->d->dataset.n_bad = (int64_t)p->n_bad;
    list->n = kept;
    if (kept == 0)
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: every file is bad, the first: %s", p->d->path,
                  p->first.message);
    return WEFT_OK;
}

static weft_status check_files(image_pass *p, const wf_reader_options *o, weft_error *err)
{
    WEFT_TRY(pass_all(p, err));
    if (p->n_bad == 0)
        return WEFT_OK;
    return o->is_skipping_bad ? skip_bad(p, o, err) : fail_bad(p, err);
}

// ---- sizes
// The files' own, where they agree; else a square. Grey only where all are.
static void choose_size(const image_pass *p, const wf_reader_options *o)
{
    images_dataset *d = p->d;
    bool is_one_size = true;
    d->n_channels = 1;
    d->height = p->finding[0].height;
    d->width = p->finding[0].width;
    for (size_t i = 0; i < d->list.n; i++) {
        const image_finding *f = &p->finding[i];
        is_one_size = is_one_size && f->height == d->height && f->width == d->width;
        d->n_channels = f->n_channels > d->n_channels ? f->n_channels : d->n_channels;
    }
    if (is_one_size)
        return;
    d->height = d->width = DEFAULT_SIDE;
    wf_reader_note(o, "%s: pictures of several sizes become %d x %d, data.image: [c, h, w] chooses",
                   d->path, DEFAULT_SIDE, DEFAULT_SIDE);
}

static weft_status take_memory(images_dataset *d, weft_error *err)
{
    size_t bytes;
    const size_t one = (size_t)d->n_channels * (size_t)d->height * (size_t)d->width;
    if (!wf_mul_size(one, d->list.n, &bytes) || bytes > KEPT_MAX_BYTES)
        return WEFT_OK;
    return wf_alloc(&d->dataset.allocator, bytes, 1, &d->pixels, err);
}

static weft_status read_all(images_dataset *d, const wf_reader_options *o, weft_error *err)
{
    image_pass pass = {.d = d};
    weft_status status;
    const bool is_given = o->image[0] > 0;
    const wf_allocator *a = &d->dataset.allocator;
    WEFT_TRY(wf_alloc(a, d->list.n, sizeof *pass.finding, &pass.finding, err));
    if (is_given) {
        d->n_channels = (int32_t)o->image[0];
        d->height = (int32_t)o->image[1];
        d->width = (int32_t)o->image[2];
    } else {
        WEFT_TRY_GOTO(check_files(&pass, o, err));
        choose_size(&pass, o);
    }
    WEFT_TRY_GOTO(take_memory(d, err));
    // Behind a bad file the kept pixels would stand in the wrong places: once more, without it.
    const size_t n = d->list.n;
    status = check_files(&pass, o, err);
    if (status == WEFT_OK && d->list.n < n && d->pixels)
        status = check_files(&pass, o, err);
fail:
    wf_free(a, pass.finding);
    return status;
}

static weft_status set_fields(images_dataset *d, weft_error *err)
{
    wf_dataset *set = &d->dataset;
    const wf_image_list *list = &d->list;
    set->n_samples = (int64_t)list->n;
    set->n_classes = (int64_t)list->n_classes;
    set->class_names = list->class_names;
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
    WEFT_TRY(wf_alloc(&set->allocator, list->n, sizeof *d->label, &d->label, err));
    for (size_t i = 0; i < list->n; i++)
        d->label[i] = list->v[i].label;
    wf_field *label = &set->field[set->n_fields++];
    label->name = "label";
    label->dtype = WEFT_I32;
    label->sample_bytes = sizeof(int32_t);
    label->data = d->label;
    return WEFT_OK;
}

// ---- parts
static const char *const train_names[] = {"train", "training", NULL};
static const char *const test_names[] = {"test", "val", "valid", "validation", NULL};

// dir/NAME for the first of the names that is a folder, else NULL.
static weft_status find_part(const wf_allocator *a, const char *dir, const char *const *names,
                             char **out_path, weft_error *err)
{
    *out_path = NULL;
    for (; *names; names++) {
        WEFT_TRY(wf_path_join(a, dir, *names, out_path, err));
        if (wf_file_is_directory(*out_path))
            return WEFT_OK;
        wf_free(a, *out_path);
        *out_path = NULL;
    }
    return WEFT_OK;
}

// A folder "train" (with or without "test" beside it) holds the training part, else the whole does.
static weft_status choose_path(images_dataset *d, const wf_reader_options *o, weft_error *err)
{
    const wf_allocator *a = &d->dataset.allocator;
    const bool is_test = o->part && !strcmp(o->part, "test");
    if (o->part && wf_file_is_directory(o->path))
        WEFT_TRY(find_part(a, o->path, is_test ? test_names : train_names, &d->path, err));
    if (d->path)
        return WEFT_OK;
    if (is_test)
        WEFT_FAIL(err, WEFT_ERR_FILE, "%s: no folder test, val, valid or validation in it",
                  o->path);
    return wf_strdup(a, o->path, &d->path, err);
}

static bool probe(const char *path)
{
    const wf_allocator a = wf_allocator_default();
    wf_reader_options o = {.path = path};
    wf_image_list list;
    char *part = NULL;
    if (!wf_file_is_directory(path) || find_part(&a, path, train_names, &part, NULL) != WEFT_OK)
        return false;
    const bool is_known = wf_image_list_from_folder(&list, &o, part ? part : path, NULL) == WEFT_OK;
    wf_free(&a, part);
    if (is_known)
        wf_image_list_deinit(&list);
    return is_known;
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
    WEFT_TRY_GOTO(choose_path(d, o, err));
    d->dataset.source = d->path;
    if (wf_file_is_directory(d->path))
        WEFT_TRY_GOTO(wf_image_list_from_folder(&d->list, o, d->path, err));
    else
        WEFT_TRY_GOTO(wf_image_list_from_csv(&d->list, o, d->path, err));
    if (d->list.n_others)
        wf_reader_note(o, "%s: %zu files are no pictures by their names", d->path,
                       d->list.n_others);
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
