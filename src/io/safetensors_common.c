// The table of element types that safetensors and weft have in common.
#include "io/safetensors_common.h"

#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "safetensors files are little-endian: reader and writer need byte swaps on this machine"
#endif

static const char *const dtype_names[WEFT_N_DTYPES] = {
    [WEFT_F32] = "F32",   [WEFT_F64] = "F64", [WEFT_F16] = "F16",
    [WEFT_BF16] = "BF16", [WEFT_I8] = "I8",   [WEFT_U8] = "U8",
    [WEFT_I32] = "I32",   [WEFT_I64] = "I64", [WEFT_BOOL] = "BOOL",
};

const char *wf_st_dtype_name(weft_dtype dtype)
{
    return (unsigned)dtype < WEFT_N_DTYPES ? dtype_names[dtype] : NULL;
}

weft_dtype wf_st_dtype_parse(const char *name)
{
    for (int i = 0; i < WEFT_N_DTYPES; i++) {
        if (dtype_names[i] && !strcmp(dtype_names[i], name))
            return (weft_dtype)i;
    }
    return WEFT_DTYPE_NONE;
}
