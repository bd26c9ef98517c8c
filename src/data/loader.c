// The prefetching loader: a ring of batch buffers, filled by threads, handed out in order.
//
// Batches are numbered without end; number s belongs to buffer s mod n_slots. A thread takes the next
// number under the lock (so numbers are taken in order, and one permutation at a time is enough: the
// samples are copied to the buffer there), fills the buffer without the lock, and marks it full.
#include "data/loader.h"

#include <string.h>

#include "base/thread.h"
#include "data/draw.h"
#include "data/sample_pack.h"

// Buffers are aligned for the widest vectors and for a GPU's pinned copies.
#define BUFFER_ALIGN ((size_t)64)
// More threads than this only wait for memory.
#define THREADS_MAX 256

typedef struct {
    wf_batch batch;
    uint32_t *sample;                      // [batch_size]
    uint8_t *field[WF_DATASET_MAX_FIELDS]; // [batch_size, ...]
    bool is_full;
    weft_status status;
    weft_error err;
} loader_slot;

typedef struct {
    struct wf_loader *loader;
    wf_thread thread;
    uint8_t *scratch;
} loader_worker;

struct wf_loader {
    wf_allocator allocator;
    const wf_split *split;
    wf_loader_options options;
    int64_t batches_per_epoch;
    size_t size_bytes;
    loader_slot *slots;
    int32_t n_slots;
    loader_worker *workers;
    int32_t n_workers;
    uint32_t *order; // [n] the permutation of order_epoch, NULL when not shuffled
    int64_t order_epoch;

    wf_mutex mutex; // guards what follows, and is_full, status and err of the slots
    wf_cond has_full;
    wf_cond has_room;
    bool has_sync;
    bool is_stopping;
    int64_t taken; // next number that a thread takes
    int64_t given; // numbers handed out
    bool has_given;
};

// Whether batch number s lies behind the last epoch.
static bool is_behind_end(const wf_loader *l, int64_t s)
{
    return l->options.n_epochs > 0 && s / l->batches_per_epoch >= l->options.n_epochs;
}

// Under the lock: the samples of batch number s, and everything that is known before filling.
static void plan_batch(wf_loader *l, int64_t s, loader_slot *slot)
{
    wf_batch *b = &slot->batch;
    int64_t n = l->split->n, size = l->options.batch_size;
    b->epoch = s / l->batches_per_epoch;
    b->index_in_epoch = s % l->batches_per_epoch;
    b->is_last_of_epoch = b->index_in_epoch == l->batches_per_epoch - 1;
    int64_t first = b->index_in_epoch * size;
    b->n = n - first < size ? n - first : size;
    if (l->order && l->order_epoch != b->epoch) {
        wf_draw draw;
        wf_draw_init(&draw, l->options.seed, 0, (uint32_t)b->epoch, WF_DRAW_STREAM_SHUFFLE);
        wf_draw_permutation(&draw, l->order, (uint32_t)n);
        l->order_epoch = b->epoch;
    }
    for (int64_t i = 0; i < b->n; i++) {
        int64_t place = l->order ? (int64_t)l->order[first + i] : first + i;
        slot->sample[i] = (uint32_t)wf_split_sample(l->split, place);
    }
}

static weft_status fill_batch(const wf_loader *l, loader_slot *slot, uint8_t *scratch,
                              weft_error *err)
{
    const wf_dataset *dataset = l->split->dataset;
    for (int32_t f = 0; f < dataset->n_fields; f++) {
        const wf_field *field = &dataset->field[f];
        size_t n = field->sample_bytes / weft_dtype_size(field->dtype);
        for (int64_t i = 0; i < slot->batch.n; i++) {
            WEFT_TRY(wf_sample_pack(l->split, field, &l->options, slot->sample[i],
                                    slot->batch.epoch, scratch, slot->field[f] + (size_t)i * n * 4,
                                    err));
        }
    }
    return WEFT_OK;
}

static void *run_worker(void *arg)
{
    loader_worker *worker = arg;
    wf_loader *l = worker->loader;
    wf_mutex_lock(&l->mutex);
    while (!l->is_stopping && !is_behind_end(l, l->taken)) {
        loader_slot *slot = &l->slots[l->taken % l->n_slots];
        // The last batch handed out is still read by its user: it counts as given only when the next
        // one is asked for.
        if (l->taken - l->given >= l->n_slots) {
            wf_cond_wait(&l->has_room, &l->mutex);
            continue;
        }
        plan_batch(l, l->taken++, slot);
        wf_mutex_unlock(&l->mutex);
        slot->status = fill_batch(l, slot, worker->scratch, &slot->err);
        wf_mutex_lock(&l->mutex);
        slot->is_full = true;
        wf_cond_broadcast(&l->has_full);
    }
    wf_mutex_unlock(&l->mutex);
    return NULL;
}

static weft_status check_field(const wf_field *field, const wf_loader_options *o, weft_error *err)
{
    if (field->dtype == WEFT_F16 || field->dtype == WEFT_BF16) {
        WEFT_FAIL(err, WEFT_ERR_DTYPE,
                  "loader: field '%s' is %s, expected f32, f64, an integer or bool", field->name,
                  weft_dtype_name(field->dtype));
    }
    if (!wf_field_is_image(field))
        return WEFT_OK;
    if (o->normalisation.n_channels && o->normalisation.n_channels != field->dim[0]) {
        WEFT_FAIL(err, WEFT_ERR_SHAPE,
                  "loader: normalisation of %d channels, field '%s' is [%lld,%lld,%lld]",
                  (int)o->normalisation.n_channels, field->name, (long long)field->dim[0],
                  (long long)field->dim[1], (long long)field->dim[2]);
    }
    return WEFT_OK;
}

static weft_status check_augmentation(const wf_augmentation *a, weft_error *err)
{
    const struct {
        const char *name;
        double value, most;
    } rows[] = {
        {"rotate", a->rotate, 179.0},
        {"scale", a->scale, 0.99},
        {"translate", a->translate, 1.0},
        {"colour", a->colour, 1.0},
        {"cutout", (double)a->cutout, 16384.0},
        {"mixup", a->mixup, 1.0},
        {"shift", a->shift, 1.0},
        {"noise", a->noise, 1e6},
    };
    for (size_t i = 0; i < WF_COUNT_OF(rows); i++) {
        if (!(rows[i].value >= 0.0 && rows[i].value <= rows[i].most))
            WEFT_FAIL(err, WEFT_ERR_ATTR, "loader: %s %g, expected 0 to %g", rows[i].name,
                      rows[i].value, rows[i].most);
    }
    return WEFT_OK;
}

static weft_status check_options(const wf_split *split, const wf_loader_options *o, weft_error *err)
{
    if (split->n < 1)
        WEFT_FAIL(err, WEFT_ERR_SHAPE, "loader: the split holds no samples");
    if (split->n > (int64_t)UINT32_MAX || split->dataset->n_samples > (int64_t)UINT32_MAX)
        WEFT_FAIL(err, WEFT_ERR_UNSUPPORTED, "loader: more than 2^32 samples");
    if (o->batch_size < 1)
        WEFT_FAIL(err, WEFT_ERR_ATTR, "loader: batch size %lld, expected 1 or more",
                  (long long)o->batch_size);
    if (o->n_threads < 0 || o->n_threads > THREADS_MAX)
        WEFT_FAIL(err, WEFT_ERR_ATTR, "loader: %d threads, expected 1 to %d", (int)o->n_threads,
                  THREADS_MAX);
    if (o->n_prefetch < 0 || o->n_prefetch > 4 * THREADS_MAX)
        WEFT_FAIL(err, WEFT_ERR_ATTR, "loader: %d batches ahead, expected 2 to %d",
                  (int)o->n_prefetch, 4 * THREADS_MAX);
    if (o->crop_padding < 0 || o->crop_padding > 1024)
        WEFT_FAIL(err, WEFT_ERR_ATTR, "loader: crop padding %d, expected 0 to 1024",
                  (int)o->crop_padding);
    WEFT_TRY(check_augmentation(&o->augment, err));
    for (int32_t c = 0; c < o->normalisation.n_channels; c++) {
        float std = o->normalisation.std[c];
        if (!(std > 0.0f && std - std == 0.0f))
            WEFT_FAIL(err, WEFT_ERR_ATTR, "loader: std %g of channel %d, expected above 0",
                      (double)std, (int)c);
    }
    if (o->start_epoch < 0 || o->start_epoch > INT32_MAX || o->start_batch < 0)
        WEFT_FAIL(err, WEFT_ERR_ATTR, "loader: start at epoch %lld, batch %lld",
                  (long long)o->start_epoch, (long long)o->start_batch);
    for (int32_t f = 0; f < split->dataset->n_fields; f++)
        WEFT_TRY(check_field(&split->dataset->field[f], o, err));
    return WEFT_OK;
}

static weft_status create_slot(wf_loader *l, loader_slot *slot, weft_error *err)
{
    const wf_dataset *dataset = l->split->dataset;
    size_t batch_size = (size_t)l->options.batch_size;
    // A batch never holds more samples than there are.
    if (l->options.batch_size > l->split->n)
        batch_size = (size_t)l->split->n;
    WEFT_TRY(wf_alloc(&l->allocator, batch_size, sizeof *slot->sample, &slot->sample, err));
    slot->batch.sample = slot->sample;
    slot->batch.n_fields = dataset->n_fields;
    for (int32_t f = 0; f < dataset->n_fields; f++) {
        const wf_field *field = &dataset->field[f];
        wf_batch_field *out = &slot->batch.field[f];
        size_t bytes;
        if (!wf_mul_size(field->sample_bytes / weft_dtype_size(field->dtype) * 4, batch_size,
                         &bytes))
            WEFT_FAIL(err, WEFT_ERR_MEMORY, "memory: a batch of %zu samples overflows", batch_size);
        WEFT_TRY(wf_aligned_alloc(bytes, BUFFER_ALIGN, &slot->field[f], err));
        l->size_bytes += bytes;
        out->name = field->name;
        out->dtype = wf_sample_packed_dtype(field);
        out->ndim = field->ndim;
        memcpy(out->dim, field->dim, sizeof out->dim);
        out->data = slot->field[f];
    }
    return WEFT_OK;
}

static weft_status create_workers(wf_loader *l, weft_error *err)
{
    const wf_dataset *dataset = l->split->dataset;
    size_t scratch = 0;
    for (int32_t f = 0; f < dataset->n_fields; f++) {
        size_t bytes = WF_SAMPLE_SCRATCH * dataset->field[f].sample_bytes;
        scratch = bytes > scratch ? bytes : scratch;
    }
    size_t n = l->options.n_threads ? (size_t)l->options.n_threads : 1;
    WEFT_TRY(wf_alloc(&l->allocator, n, sizeof *l->workers, &l->workers, err));
    l->n_workers = (int32_t)n;
    for (size_t i = 0; i < n; i++) {
        loader_worker *worker = &l->workers[i];
        worker->loader = l;
        WEFT_TRY(wf_alloc(&l->allocator, scratch, 1, &worker->scratch, err));
    }
    // After every allocation: threads see finished objects only.
    for (size_t i = 0; i < n; i++)
        WEFT_TRY(wf_thread_start(&l->workers[i].thread, run_worker, &l->workers[i], err));
    return WEFT_OK;
}

static weft_status create_sync(wf_loader *l, weft_error *err)
{
    WEFT_TRY(wf_mutex_init(&l->mutex, err));
    weft_status status = wf_cond_init(&l->has_full, err);
    if (status == WEFT_OK) {
        status = wf_cond_init(&l->has_room, err);
        if (status != WEFT_OK)
            wf_cond_deinit(&l->has_full);
    }
    if (status != WEFT_OK)
        wf_mutex_deinit(&l->mutex);
    l->has_sync = status == WEFT_OK;
    return status;
}

weft_status wf_loader_create(const wf_split *split, const wf_loader_options *options,
                             wf_loader **out_loader, weft_error *err)
{
    wf_loader *l;
    weft_status status;
    *out_loader = NULL;
    WEFT_TRY(check_options(split, options, err));
    const wf_allocator *a = &split->dataset->allocator;
    WEFT_TRY(wf_alloc(a, 1, sizeof *l, &l, err));
    l->allocator = *a;
    l->split = split;
    l->options = *options;
    // Written so that the sum cannot overflow.
    l->batches_per_epoch = (split->n - 1) / options->batch_size + 1;
    l->order_epoch = -1;
    if (options->start_batch > l->batches_per_epoch) {
        status = wf_error_set(err, WEFT_ERR_ATTR, "loader: start at batch %lld of an epoch of %lld",
                              (long long)options->start_batch, (long long)l->batches_per_epoch);
        goto fail;
    }
    l->taken = l->given = options->start_epoch * l->batches_per_epoch + options->start_batch;
    if (options->is_shuffled)
        WEFT_TRY_GOTO(wf_alloc(a, (size_t)split->n, sizeof *l->order, &l->order, err));
    int32_t n_slots = options->n_prefetch ? options->n_prefetch
                                          : (options->n_threads ? options->n_threads : 1) + 2;
    l->n_slots = n_slots < 2 ? 2 : n_slots;
    WEFT_TRY_GOTO(wf_alloc(a, (size_t)l->n_slots, sizeof *l->slots, &l->slots, err));
    for (int32_t i = 0; i < l->n_slots; i++)
        WEFT_TRY_GOTO(create_slot(l, &l->slots[i], err));
    WEFT_TRY_GOTO(create_sync(l, err));
    WEFT_TRY_GOTO(create_workers(l, err));
    *out_loader = l;
    return WEFT_OK;
fail:
    wf_loader_destroy(l);
    return status;
}

weft_status wf_loader_next(wf_loader *l, wf_batch *out_batch, weft_error *err)
{
    memset(out_batch, 0, sizeof *out_batch);
    wf_mutex_lock(&l->mutex);
    if (l->has_given) {
        // The batch before this one may be written over from now on.
        l->slots[l->given % l->n_slots].is_full = false;
        l->given++;
        l->has_given = false;
        wf_cond_broadcast(&l->has_room);
    }
    if (is_behind_end(l, l->given)) {
        out_batch->epoch = l->given / l->batches_per_epoch;
        wf_mutex_unlock(&l->mutex);
        return WEFT_OK;
    }
    loader_slot *slot = &l->slots[l->given % l->n_slots];
    while (!slot->is_full)
        wf_cond_wait(&l->has_full, &l->mutex);
    // A failed batch stays where it is, so that later calls find it again.
    l->has_given = slot->status == WEFT_OK;
    wf_mutex_unlock(&l->mutex);
    if (slot->status != WEFT_OK) {
        if (err)
            *err = slot->err;
        return slot->status;
    }
    *out_batch = slot->batch;
    return WEFT_OK;
}

void wf_loader_position(const wf_loader *l, int64_t *out_epoch, int64_t *out_batch)
{
    // Both are written by the caller's own thread only: no lock.
    int64_t next = l->given + (l->has_given ? 1 : 0);
    *out_epoch = next / l->batches_per_epoch;
    *out_batch = next % l->batches_per_epoch;
}

int64_t wf_loader_batches_per_epoch(const wf_loader *l)
{
    return l->batches_per_epoch;
}

size_t wf_loader_size_bytes(const wf_loader *l)
{
    return l->size_bytes;
}

void wf_loader_destroy(wf_loader *l)
{
    if (!l)
        return;
    if (l->has_sync) {
        wf_mutex_lock(&l->mutex);
        l->is_stopping = true;
        wf_cond_broadcast(&l->has_room);
        wf_mutex_unlock(&l->mutex);
    }
    for (int32_t i = 0; i < l->n_workers; i++) {
        wf_thread_join(&l->workers[i].thread);
        wf_free(&l->allocator, l->workers[i].scratch);
    }
    if (l->has_sync) {
        wf_cond_deinit(&l->has_room);
        wf_cond_deinit(&l->has_full);
        wf_mutex_deinit(&l->mutex);
    }
    for (int32_t i = 0; l->slots && i < l->n_slots; i++) {
        wf_free(&l->allocator, l->slots[i].sample);
        for (int32_t f = 0; f < WF_DATASET_MAX_FIELDS; f++)
            wf_aligned_free(l->slots[i].field[f]);
    }
    wf_free(&l->allocator, l->slots);
    wf_free(&l->allocator, l->workers);
    wf_free(&l->allocator, l->order);
    wf_free(&l->allocator, l);
}
