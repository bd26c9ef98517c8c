// safetensors files: named tensors behind a JSON header. Read through a map, written in a stream.
// Little-endian, row-major. The format: https://github.com/huggingface/safetensors.
#ifndef WF_IO_SAFETENSORS_H
#define WF_IO_SAFETENSORS_H

#include "base/alloc.h"

typedef struct wf_st_tensor {
    const char *name;
    weft_dtype dtype;
    int32_t ndim;
    int64_t dim[WEFT_MAX_DIM];
    // Reading: inside the map, aligned to 1 byte only (copy it out). Writing: may be NULL for the
    // streaming writer.
    const void *data;
    size_t size_bytes; // reading: set; writing: computed, not read
} wf_st_tensor;

typedef struct wf_st_string {
    const char *key;
    const char *value;
} wf_st_string;

typedef struct wf_safetensors wf_safetensors;

// Maps and checks the whole header: every rule of the format holds when this returns WEFT_OK.
// Errors: WEFT_ERR_FILE, WEFT_ERR_FORMAT (the message names the file and the tensor),
// WEFT_ERR_UNSUPPORTED (dtype or rank that weft does not have).
weft_status wf_safetensors_open(const wf_allocator *a, const char *path, wf_safetensors **out_file,
                                weft_error *err);
void wf_safetensors_close(wf_safetensors *file);
size_t wf_safetensors_count(const wf_safetensors *file);
// In the order of the data. Borrowed until close.
const wf_st_tensor *wf_safetensors_get(const wf_safetensors *file, size_t idx);
// NULL when there is none of that name.
const wf_st_tensor *wf_safetensors_find(const wf_safetensors *file, const char *name);
// A string of __metadata__, NULL when absent.
const char *wf_safetensors_metadata(const wf_safetensors *file, const char *key);
size_t wf_safetensors_metadata_count(const wf_safetensors *file);
wf_st_string wf_safetensors_metadata_get(const wf_safetensors *file, size_t idx);

// Writes tensors whose data is in memory. The same arguments give the same bytes: tensors and
// metadata in the order given, NaNs as the one NaN of their dtype. Replaces `path` whole or not at
// all. Errors: WEFT_ERR_FILE, WEFT_ERR_USAGE (a name twice, an unknown dtype).
weft_status wf_safetensors_write(const wf_allocator *a, const char *path,
                                 const wf_st_tensor *tensors, size_t n_tensors,
                                 const wf_st_string *metadata, size_t n_metadata, weft_error *err);

// The same in pieces, for data that lives on a device: header at create, then the bytes of all
// tensors in order, in pieces that are whole elements and stay within one tensor.
typedef struct wf_safetensors_writer wf_safetensors_writer;
weft_status wf_safetensors_writer_create(const wf_allocator *a, const char *path,
                                         const wf_st_tensor *tensors, size_t n_tensors,
                                         const wf_st_string *metadata, size_t n_metadata,
                                         wf_safetensors_writer **out_writer, weft_error *err);
weft_status wf_safetensors_writer_append(wf_safetensors_writer *writer, const void *data,
                                         size_t size_bytes, weft_error *err);
// Errors: also WEFT_ERR_USAGE when bytes are missing.
weft_status wf_safetensors_writer_commit(wf_safetensors_writer *writer, weft_error *err);
void wf_safetensors_writer_destroy(wf_safetensors_writer *writer);

#endif
