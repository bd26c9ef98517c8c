// Weights as other programs keep them: one safetensors file, or shards with an index. Stage: io.
#ifndef WF_IO_TENSOR_FILES_H
#define WF_IO_TENSOR_FILES_H

#include "io/safetensors.h"

typedef struct wf_tensor_files wf_tensor_files;

// path: a .safetensors file; an index "NAME.safetensors.index.json" ({"weight_map": {tensor: file}}); or a
// folder with one index, or else one model.safetensors or weights.safetensors. Every file is mapped, and
// its header checked, here. Errors: WEFT_ERR_FILE, WEFT_ERR_FORMAT (also a tensor that is not in the file
// that the index names, or in two), WEFT_ERR_UNSUPPORTED (built without cJSON).
weft_status wf_tensor_files_open(const wf_allocator *a, const char *path,
                                 wf_tensor_files **out_files, weft_error *err);
size_t wf_tensor_files_count(const wf_tensor_files *files);
// Sorted by name. Borrowed until close.
const wf_st_tensor *wf_tensor_files_get(const wf_tensor_files *files, size_t idx);
// NULL when there is none of that name.
const wf_st_tensor *wf_tensor_files_find(const wf_tensor_files *files, const char *name);
void wf_tensor_files_close(wf_tensor_files *files);

#endif
