// Event files that TensorBoard reads: scalars by tag and step. A record is the length (u64), its masked
// CRC-32C, the message, its masked CRC-32C; numbers little-endian.
#ifndef WF_IO_EVENT_FILE_H
#define WF_IO_EVENT_FILE_H

#include "base/alloc.h"

typedef struct wf_event_file wf_event_file;

typedef struct wf_event_scalar {
    const char *tag; // "train/loss": curves are grouped by what stands before the first slash
    float value;
} wf_event_scalar;

// <dir>/events.out.tfevents.<n>.weft, the first n that is free. Where the run goes on behind first_step, it
// says that what older files have of later steps is gone.
// Errors: WEFT_ERR_FILE, WEFT_ERR_UNSUPPORTED (built without protobuf-c).
weft_status wf_event_file_create(const wf_allocator *a, const char *dir, int64_t first_step,
                                 wf_event_file **out_file, weft_error *err);
// One event. Values that are not finite are written as they are.
weft_status wf_event_file_write(wf_event_file *file, int64_t step, const wf_event_scalar *scalars,
                                size_t n, weft_error *err);
// Accepts NULL.
void wf_event_file_destroy(wf_event_file *file);

#endif
