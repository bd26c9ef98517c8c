// IDX files, plain or gzipped: big-endian arrays of any rank up to ours, as LeCun defined them.
//   byte 0, 1: 0; byte 2: element type; byte 3: rank; then rank x u32 sizes; then the elements.
#ifndef WF_DATA_IDX_H
#define WF_DATA_IDX_H

#include "base/file.h"

typedef struct wf_idx {
    wf_allocator allocator;
    weft_dtype dtype; // U8 I8 I32 F32 F64; the file's i16 become I32
    int32_t ndim;
    int64_t dim[WEFT_MAX_DIM];
    const void *data; // row-major, host byte order
    size_t size_bytes;
    void *owned;     // data, when it is in memory
    wf_file_map map; // else the file
} wf_idx;

// Whether the content (not the name) is that of an IDX file.
bool wf_idx_probe(const char *path);
// Errors: WEFT_ERR_FILE; WEFT_ERR_FORMAT (magic, short, long; with file and byte);
// WEFT_ERR_UNSUPPORTED (gzip without zlib, rank).
weft_status wf_idx_open(const wf_allocator *a, const char *path, wf_idx *out_idx, weft_error *err);
// Accepts a zeroed one.
void wf_idx_close(wf_idx *idx);

#endif
