// Writes event files for TensorBoard. In: scalars. Out: records of protobuf messages.
#include "io/event_file.h"

#include "base/error.h"
#include "weft_config.h"

#if WEFT_HAVE_PROTOBUF_C

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "io/crc32c.h"
#include <tensorboard.pb-c.h> // generated

#define VERSION "brain.Event:2"
#define HEAD_BYTES 12
#define TAIL_BYTES 4

struct wf_event_file {
    wf_allocator allocator;
    char *path;
    FILE *file;
    uint8_t *record;
    size_t capacity;
    Wf__Summary__Value *values;
    Wf__Summary__Value **pointers;
    size_t values_capacity, pointers_capacity;
};

static void put_le(uint8_t *out, uint64_t value, int n_bytes)
{
    for (int i = 0; i < n_bytes; i++) {
        out[i] = (uint8_t)(value >> 8 * i);
    }
}

static double wall_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static weft_status write_event(wf_event_file *f, Wf__Event *event, weft_error *err)
{
    event->wall_time = wall_time();
    const size_t size = wf__event__get_packed_size(event);
    WEFT_TRY(wf_array_reserve(&f->allocator, &f->record, &f->capacity,
                              HEAD_BYTES + size + TAIL_BYTES, 1, err));
    uint8_t *message = f->record + HEAD_BYTES;
    wf__event__pack(event, message);
    put_le(f->record, size, 8);
    put_le(f->record + 8, wf_crc32c_masked(f->record, 8), 4);
    put_le(message + size, wf_crc32c_masked(message, size), 4);
    const size_t all = HEAD_BYTES + size + TAIL_BYTES;
    if (fwrite(f->record, 1, all, f->file) != all || fflush(f->file) != 0)
        WEFT_FAIL(err, WEFT_ERR_FILE, "cannot write %s: %s", f->path, strerror(errno));
    return WEFT_OK;
}

static weft_status open_free_name(wf_event_file *f, const char *dir, weft_error *err)
{
    char name[64];
    for (int n = 0; !f->file; n++) {
        snprintf(name, sizeof name, "events.out.tfevents.%010d.weft", n);
        WEFT_TRY(wf_path_join(&f->allocator, dir, name, &f->path, err));
        f->file = fopen(f->path, "wbx");
        if (!f->file && errno != EEXIST)
            WEFT_FAIL(err, WEFT_ERR_FILE, "cannot create %s: %s", f->path, strerror(errno));
        if (!f->file) {
            wf_free(&f->allocator, f->path);
            f->path = NULL;
        }
    }
    return WEFT_OK;
}

static weft_status write_head(wf_event_file *f, int64_t first_step, weft_error *err)
{
    Wf__Event version = WF__EVENT__INIT, start = WF__EVENT__INIT;
    Wf__SessionLog log = WF__SESSION_LOG__INIT;
    char text[] = VERSION;
    version.file_version = text;
    WEFT_TRY(write_event(f, &version, err));
    if (first_step == 0)
        return WEFT_OK;
    log.has_status = 1;
    log.status = WF__SESSION_LOG__SESSION_STATUS__START;
    start.has_step = 1;
    start.step = first_step + 1;
    start.session_log = &log;
    return write_event(f, &start, err);
}

weft_status wf_event_file_create(const wf_allocator *a, const char *dir, int64_t first_step,
                                 wf_event_file **out_file, weft_error *err)
{
    wf_event_file *f;
    *out_file = NULL;
    WEFT_TRY(wf_alloc(a, 1, sizeof *f, &f, err));
    f->allocator = *a;
    weft_status status = open_free_name(f, dir, err);
    if (status == WEFT_OK)
        status = write_head(f, first_step, err);
    if (status != WEFT_OK) {
        wf_event_file_destroy(f);
        return status;
    }
    *out_file = f;
    return WEFT_OK;
}

weft_status wf_event_file_write(wf_event_file *f, int64_t step, const wf_event_scalar *scalars,
                                size_t n, weft_error *err)
{
    Wf__Event event = WF__EVENT__INIT;
    Wf__Summary summary = WF__SUMMARY__INIT;
    WEFT_TRY(wf_array_reserve(&f->allocator, &f->values, &f->values_capacity, n, sizeof *f->values,
                              err));
    WEFT_TRY(wf_array_reserve(&f->allocator, &f->pointers, &f->pointers_capacity, n,
                              sizeof *f->pointers, err));
    for (size_t i = 0; i < n; i++) {
        Wf__Summary__Value *v = &f->values[i];
        wf__summary__value__init(v);
        // The library does not change what it packs; its type is that of what it unpacks.
        memcpy(&v->tag, &scalars[i].tag, sizeof v->tag);
        v->has_simple_value = 1;
        v->simple_value = scalars[i].value;
        f->pointers[i] = v;
    }
    summary.n_value = n;
    summary.value = f->pointers;
    event.has_step = 1;
    event.step = step;
    event.summary = &summary;
    return write_event(f, &event, err);
}

void wf_event_file_destroy(wf_event_file *f)
{
    if (!f)
        return;
    const wf_allocator a = f->allocator;
    if (f->file)
        fclose(f->file);
    wf_free(&a, f->values);
    wf_free(&a, f->pointers);
    wf_free(&a, f->record);
    wf_free(&a, f->path);
    wf_free(&a, f);
}

#else

weft_status wf_event_file_create(const wf_allocator *a, const char *dir, int64_t first_step,
                                 wf_event_file **out_file, weft_error *err)
{
    (void)a;
    (void)first_step;
    *out_file = NULL;
    WEFT_FAIL(err, WEFT_ERR_UNSUPPORTED,
              "%s: this build has no protobuf-c to write event files with", dir);
}

weft_status wf_event_file_write(wf_event_file *file, int64_t step, const wf_event_scalar *scalars,
                                size_t n, weft_error *err)
{
    (void)file;
    (void)step;
    (void)scalars;
    (void)n;
    WEFT_FAIL(err, WEFT_ERR_UNSUPPORTED, "this build has no protobuf-c to write event files with");
}

void wf_event_file_destroy(wf_event_file *file)
{
    (void)file;
}

#endif
