// NumPy's arrays: one in a .npy file, several by name in an .npz archive.
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#ifndef WF_IO_NPY_H
#define WF_IO_NPY_H

#include "base/alloc.h"

typedef struct wf_npy {
    wf_allocator allocator;
    weft_dtype
        dtype; // U8 I8 BOOL I32 I64 F32 F64; the file's f16 become F32, i16 and u16 I32, u32 I64
    int32_t ndim;
    int64_t dim[WEFT_MAX_DIM];
    void *data; // row-major, host byte order
    size_t size_bytes;
} wf_npy;

// Bytes of a .npy file; source is their name. Fortran's order and big-endian elements are turned.
// Errors: WEFT_ERR_FORMAT (magic, header, size; with byte), WEFT_ERR_UNSUPPORTED (rank, objects,
// structures, strings, complex numbers; u64 above 2^63).
weft_status wf_npy_parse(const wf_allocator *a, const char *source, const uint8_t *data,
                         size_t size, wf_npy *out_array, weft_error *err);
weft_status wf_npy_read(const wf_allocator *a, const char *path, wf_npy *out_array,
                        weft_error *err);
// Accepts a zeroed one.
void wf_npy_deinit(wf_npy *array);

// An .npz archive: NAME.npy for each array. Also zip64.
typedef struct wf_npz wf_npz;
weft_status wf_npz_open(const wf_allocator *a, const char *path, wf_npz **out_archive,
                        weft_error *err);
size_t wf_npz_count(const wf_npz *archive);
// Without ".npy". Borrowed until close.
const char *wf_npz_name(const wf_npz *archive, size_t idx);
// The array of that name. Errors: WEFT_ERR_NAME (none), and those of wf_npy_parse.
weft_status wf_npz_read(wf_npz *archive, const char *name, wf_npy *out_array, weft_error *err);
void wf_npz_close(wf_npz *archive);

#endif
