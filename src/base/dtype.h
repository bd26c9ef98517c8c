// Kinds of dtype, asked in one place so that no op lists dtypes by hand.
#ifndef WF_BASE_DTYPE_H
#define WF_BASE_DTYPE_H

#include "weft/base.h"

// Bit of a dtype in the sets that op descriptors hold.
#define WF_DTYPE_BIT(d) (1u << (d))

#define WF_DTYPES_FLOAT                                                                            \
    (WF_DTYPE_BIT(WEFT_F32) | WF_DTYPE_BIT(WEFT_F64) | WF_DTYPE_BIT(WEFT_F16) |                    \
     WF_DTYPE_BIT(WEFT_BF16))
#define WF_DTYPES_INT                                                                              \
    (WF_DTYPE_BIT(WEFT_I8) | WF_DTYPE_BIT(WEFT_U8) | WF_DTYPE_BIT(WEFT_I32) |                      \
     WF_DTYPE_BIT(WEFT_I64))
#define WF_DTYPES_ALL (WF_DTYPES_FLOAT | WF_DTYPES_INT | WF_DTYPE_BIT(WEFT_BOOL))

static inline bool wf_dtype_is_float(weft_dtype d)
{
    return (WF_DTYPES_FLOAT >> d) & 1u;
}
static inline bool wf_dtype_is_int(weft_dtype d)
{
    return (WF_DTYPES_INT >> d) & 1u;
}

#endif
