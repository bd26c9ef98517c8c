// The cases of dynamic_slice and dynamic_update: see index_common.h.
#include "op/index_common.h"

wf_check_case wf_start_case(size_t idx)
{
    static const struct {
        const char *name;
        int32_t axis;
        weft_dtype dtype, start;
        int64_t dims[3], size;
        wf_check_fill fill;
    } table[WF_START_N_CASES] = {
        {"one", 0, WEFT_F32, WEFT_I32, {1, 1, 1}, 1, WF_CHECK_NORMAL},
        {"nothing", 1, WEFT_F32, WEFT_I32, {3, 5, 2}, 0, WF_CHECK_NORMAL},
        {"rows", 0, WEFT_F32, WEFT_I64, {33, 3, 31}, 7, WF_CHECK_NORMAL},
        {"middle axis", 1, WEFT_F32, WEFT_I32, {3, 32, 5}, 9, WF_CHECK_NORMAL},
        {"last axis", 2, WEFT_F32, WEFT_I32, {2, 3, 70}, 33, WF_CHECK_SPECIAL},
        {"whole axis", 1, WEFT_F32, WEFT_I32, {2, 8, 3}, 8, WF_CHECK_NORMAL},
        {"u8", 1, WEFT_U8, WEFT_I32, {2, 9, 3}, 5, WF_CHECK_NORMAL},
        {"bf16", 2, WEFT_BF16, WEFT_I32, {2, 3, 9}, 4, WF_CHECK_NORMAL},
        {"i64", 0, WEFT_I64, WEFT_I64, {9, 1, 2}, 5, WF_CHECK_NORMAL},
    };
    const weft_dtype dtype = table[idx].dtype;
    int64_t part[3] = {table[idx].dims[0], table[idx].dims[1], table[idx].dims[2]};
    const int64_t room = part[table[idx].axis] - table[idx].size + 1;
    part[table[idx].axis] = table[idx].size;
    return (wf_check_case){
        .name = table[idx].name,
        .params = {table[idx].axis, table[idx].size},
        .n_inputs = 3,
        .inputs = {{wf_type_make(dtype, 3, table[idx].dims), table[idx].fill, 0},
                   {wf_type_make(table[idx].start, 0, NULL), WF_CHECK_INDEX, room},
                   {wf_type_make(dtype, 3, part), table[idx].fill, 0}},
        .no_gradient = dtype != WEFT_F32};
}
