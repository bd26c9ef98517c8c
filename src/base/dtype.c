// Names and sizes of the element types.
#include "base/dtype.h"

#include <string.h>

static const struct {
    const char *name;
    size_t size_bytes;
} dtype_rows[WEFT_N_DTYPES] = {
    [WEFT_DTYPE_NONE] = {"none", 0}, [WEFT_F32] = {"f32", 4},   [WEFT_F64] = {"f64", 8},
    [WEFT_F16] = {"f16", 2},         [WEFT_BF16] = {"bf16", 2}, [WEFT_I8] = {"i8", 1},
    [WEFT_U8] = {"u8", 1},           [WEFT_I32] = {"i32", 4},   [WEFT_I64] = {"i64", 8},
    [WEFT_BOOL] = {"bool", 1},
};

static bool is_known(weft_dtype dtype)
{
    return (unsigned)dtype < WEFT_N_DTYPES;
}

const char *weft_dtype_name(weft_dtype dtype)
{
    return is_known(dtype) ? dtype_rows[dtype].name : "?";
}

size_t weft_dtype_size(weft_dtype dtype)
{
    return is_known(dtype) ? dtype_rows[dtype].size_bytes : 0;
}

weft_dtype weft_dtype_parse(const char *name)
{
    for (int i = 1; name && i < WEFT_N_DTYPES; i++) {
        if (!strcmp(dtype_rows[i].name, name))
            return (weft_dtype)i;
    }
    return WEFT_DTYPE_NONE;
}
