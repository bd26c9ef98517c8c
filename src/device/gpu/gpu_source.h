// The texts of kernels and of src/math that the build embedded, joined into one source.
#ifndef WF_GPU_SOURCE_H
#define WF_GPU_SOURCE_H

#include "base/text.h"

// The text of a file by its name without folder; NULL when there is none. Static.
const char *wf_gpu_source_find(const char *name);
size_t wf_gpu_source_count(void);
const char *wf_gpu_source_name(size_t idx);

// Appends `name` with each #include "..." replaced by that file, once in the whole text. Lines of other
// includes are kept. Errors: WEFT_ERR_INTERNAL (a file that was not embedded).
weft_status wf_gpu_source_append(wf_text *text, const char *name, weft_error *err);
// The same for a text of several roots, in order.
weft_status wf_gpu_source_join(wf_text *text, const char *const *names, size_t n, weft_error *err);

#endif
