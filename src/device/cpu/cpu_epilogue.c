// Epilogues of products by the tile interpreter, over the rectangles in which a product is made. Every point is
// its own, so neither the cut nor the order changes a bit.
#include "device/cpu/cpu_epilogue.h"

struct wf_cpu_epilogue {
    const wf_cpu_lowered *tiles;
};

weft_status wf_cpu_epilogue_create(wf_cpu_lower *q, int32_t column, int64_t n_cols,
                                   const wf_cpu_epilogue **out, weft_error *err)
{
    const wf_kernel *k = q->task->epilogue;
    wf_cpu_epilogue *e;
    wf_cpu_lowered *tiles;
    *out = NULL;
    if (!k)
        return WEFT_OK;
    wf_cpu_layout layout = {.n_b = 1, .b = {column}};
    for (int32_t axis = 0; axis < k->ndim; axis++) {
        if (axis != column)
            layout.a[layout.n_a++] = axis;
    }
    int64_t points;
    WEFT_TRY(wf_cpu_map_points(q, k, &points, err));
    layout.tile_b = wf_cpu_min(n_cols, points);
    layout.tile_a = layout.tile_b > 0 ? points / layout.tile_b : 1;
    WEFT_TRY(wf_cpu_take(q, 1, sizeof *e, &e, err));
    WEFT_TRY(wf_cpu_lowered_create(q, &layout, &tiles, err));
    e->tiles = tiles;
    *out = e;
    return WEFT_OK;
}

size_t wf_cpu_epilogue_scratch(const wf_cpu_epilogue *e)
{
    return e ? e->tiles->scratch_bytes : 0;
}

void wf_cpu_epilogue_run(const wf_cpu_epilogue *e, const wf_cpu_block *block, char *scratch)
{
    const wf_cpu_lowered *t = e->tiles;
    const int64_t a_end = block->a0 + block->na, b_end = block->b0 + block->nb;
    wf_cpu_run run;
    wf_cpu_run_begin(&run, t, scratch);
    run.block = block;
    for (int64_t b0 = block->b0; b0 < b_end; b0 += t->tile_b) {
        for (int64_t a0 = block->a0; a0 < a_end; a0 += t->tile_a) {
            wf_cpu_run_set_tile(&run, a0, wf_cpu_min(t->tile_a, a_end - a0), b0,
                                wf_cpu_min(t->tile_b, b_end - b0));
            wf_cpu_run_points(&run, &t->all);
        }
    }
    wf_cpu_run_end(&run);
}
