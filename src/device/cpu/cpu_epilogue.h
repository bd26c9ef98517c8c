// Elementwise work on a product while its block is in the cache: the epilogue of CONTRACT and CONV tasks.
// Stage: PROGRAM, RUN.
#ifndef WF_CPU_EPILOGUE_H
#define WF_CPU_EPILOGUE_H

#include "device/cpu/cpu_tile.h"

typedef struct wf_cpu_epilogue wf_cpu_epilogue;

// Lowers the task's epilogue; *out NULL: it has none. Columns of the product are the axis `column` of the
// epilogue's space, its rows are the other axes in their order, as one index. Blocks have up to n_cols columns.
// A caller that makes rectangles needs wf_cpu_epilogue_scratch() bytes behind its own scratch.
weft_status wf_cpu_epilogue_create(wf_cpu_lower *q, int32_t column, int64_t n_cols,
                                   const wf_cpu_epilogue **out, weft_error *err);
// Of NULL: 0.
size_t wf_cpu_epilogue_scratch(const wf_cpu_epilogue *e);
// Runs it on rows and columns that are final: block->a0 is the first row, block->b0 the first column.
// scratch: 64-byte aligned.
void wf_cpu_epilogue_run(const wf_cpu_epilogue *e, const wf_cpu_block *block, char *scratch);

#endif
