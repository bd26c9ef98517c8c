// What the reader and the writer of safetensors share: the names of element types in the file.
#ifndef WF_IO_SAFETENSORS_COMMON_H
#define WF_IO_SAFETENSORS_COMMON_H

#include "weft/base.h"

// The format's own bound on the header (100 MB): a length above it is damage, not a header.
#define WF_ST_HEADER_MAX_BYTES ((size_t)100000000)
#define WF_ST_LENGTH_BYTES ((size_t)8)

// "F32", ...; NULL when the format has no such type.
const char *wf_st_dtype_name(weft_dtype dtype);
// WEFT_DTYPE_NONE when weft has no such type.
weft_dtype wf_st_dtype_parse(const char *name);

#endif
