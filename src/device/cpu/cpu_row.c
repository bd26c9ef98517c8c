// ROW tasks: elementwise work and reductions over the trailing axes, by the row rule (math/sum.h).
// Stage: PLAN -> PROGRAM, RUN.
//
// A row of one chunk lies wholly in a tile, with others if it is short: one pass through the steps.
// A longer row is walked once for each level of reductions, chunk by chunk; chunk results go through
// the tree before the next level. With many rows an item is some rows; with few, an item is some
// chunks, and a level takes two phases: chunks, then the trees.
#include "device/cpu/cpu_tile.h"

#include "math/sum.h"

#define CHUNK WF_SUM_ROW_CHUNK
#define ITEM_POINTS 8192
// From this many rows on, rows alone keep any number of cores of today's machines busy.
#define MANY_ROWS 64

typedef struct row_params {
    const wf_cpu_lowered *tiles;
    int64_t rows_per_item;
    int64_t n_chunks;
    int64_t chunks_per_item;
    int64_t items_per_row;
    int32_t level;
    char *workspace; // chunk results of every row; NULL: they are in the scratch
} row_params;

// ---- rows of one chunk
static void run_short_rows(const void *params, int64_t item, const wf_cpu_worker *worker)
{
    const row_params *p = params;
    const wf_cpu_lowered *t = p->tiles;
    wf_cpu_run run;
    wf_cpu_run_begin(&run, t, worker->scratch);
    const int64_t end = wf_cpu_min((item + 1) * p->rows_per_item, t->size_a);
    for (int64_t row = item * p->rows_per_item; row < end; row += t->tile_a) {
        wf_cpu_run_set_tile(&run, row, wf_cpu_min(t->tile_a, end - row), 0, t->size_b);
        wf_cpu_run_points(&run, &t->all);
    }
    wf_cpu_run_end(&run);
}

// ---- long rows. A reduction's chunk results of one row: n_chunks of each part, one after another.
static size_t part_bytes(int64_t n_chunks)
{
    return wf_round_up((size_t)n_chunks * 8, 64);
}
static size_t row_bytes(uint32_t n_reduces, int64_t n_chunks)
{
    return n_reduces * WF_CPU_N_PARTS * part_bytes(n_chunks);
}

static wf_cpu_parts get_results(const row_params *p, const wf_cpu_run *run, int64_t row,
                                uint32_t reduce_idx, int64_t chunk)
{
    const wf_cpu_lowered *t = p->tiles;
    const wf_cpu_reduce *reduce = t->steps[t->reduce_steps[reduce_idx]].reduce;
    char *at = p->workspace ? p->workspace + (size_t)row * row_bytes(t->n_reduces, p->n_chunks)
                            : run->scratch + wf_round_up(t->scratch_bytes, 64);
    wf_cpu_parts parts;
    at += reduce_idx * WF_CPU_N_PARTS * part_bytes(p->n_chunks);
    for (int i = 0; i < WF_CPU_N_PARTS; i++) {
        parts.part[i] = at + (size_t)i * part_bytes(p->n_chunks) +
                        (size_t)chunk * wf_cpu_reduce_part_bytes(reduce, i);
    }
    return parts;
}

static int32_t reduce_level(const wf_cpu_lowered *t, uint32_t reduce_idx)
{
    return t->steps[t->reduce_steps[reduce_idx]].level;
}

// What the row's outer values are before the walk of a level.
static void run_outer_until(const row_params *p, wf_cpu_run *run, int64_t row, int32_t level)
{
    const wf_cpu_lowered *t = p->tiles;
    wf_cpu_run_set_tile(run, row, 1, 0, 1);
    for (uint32_t i = 0; i < t->n_reduces; i++) {
        if (reduce_level(t, i) < level) {
            const wf_cpu_parts parts = get_results(p, run, row, i, 0);
            wf_cpu_run_set_reduced(run, i, &parts);
        }
    }
    for (int32_t l = 0; l <= level; l++)
        wf_cpu_run_outer(run, &t->outer[l]);
}

static void walk_chunks(const row_params *p, wf_cpu_run *run, int64_t row, int32_t level,
                        int64_t chunk, int64_t n)
{
    const wf_cpu_lowered *t = p->tiles;
    for (int64_t end = chunk + n; chunk < end; chunk++) {
        for (uint32_t i = 0; i < t->n_reduces; i++)
            run->parts[i] = get_results(p, run, row, i, chunk);
        run->first_idx = chunk * CHUNK;
        wf_cpu_run_set_tile(run, row, 1, run->first_idx,
                            wf_cpu_min(CHUNK, t->size_b - run->first_idx));
        wf_cpu_run_points(run, &t->points[level]);
    }
}

static void join_chunks(const row_params *p, const wf_cpu_run *run, int64_t row, int32_t level)
{
    const wf_cpu_lowered *t = p->tiles;
    for (uint32_t i = 0; i < t->n_reduces; i++) {
        if (reduce_level(t, i) != level)
            continue;
        const wf_cpu_parts parts = get_results(p, run, row, i, 0);
        t->steps[t->reduce_steps[i]].reduce->row_tree(&parts, (size_t)p->n_chunks);
    }
}

static void run_last(const row_params *p, wf_cpu_run *run, int64_t row)
{
    wf_cpu_run_set_tile(run, row, 1, 0, 1);
    wf_cpu_run_outer(run, &p->tiles->last);
}

static void run_long_rows(const void *params, int64_t item, const wf_cpu_worker *worker)
{
    const row_params *p = params;
    const wf_cpu_lowered *t = p->tiles;
    wf_cpu_run run;
    wf_cpu_run_begin(&run, t, worker->scratch);
    const int64_t end = wf_cpu_min((item + 1) * p->rows_per_item, t->size_a);
    for (int64_t row = item * p->rows_per_item; row < end; row++) {
        for (int32_t level = 0; level < t->n_levels; level++) {
            run_outer_until(p, &run, row, level);
            if (t->points[level].n == 0)
                continue;
            walk_chunks(p, &run, row, level, 0, p->n_chunks);
            join_chunks(p, &run, row, level);
        }
        run_last(p, &run, row);
    }
    wf_cpu_run_end(&run);
}

static void run_some_chunks(const void *params, int64_t item, const wf_cpu_worker *worker)
{
    const row_params *p = params;
    wf_cpu_run run;
    const int64_t row = item / p->items_per_row;
    const int64_t chunk = item % p->items_per_row * p->chunks_per_item;
    wf_cpu_run_begin(&run, p->tiles, worker->scratch);
    run_outer_until(p, &run, row, p->level);
    walk_chunks(p, &run, row, p->level, chunk, wf_cpu_min(p->chunks_per_item, p->n_chunks - chunk));
    wf_cpu_run_end(&run);
}

// One row: the trees of a level; after the last, the outer values and their stores.
static void run_trees(const void *params, int64_t row, const wf_cpu_worker *worker)
{
    const row_params *p = params;
    wf_cpu_run run;
    wf_cpu_run_begin(&run, p->tiles, worker->scratch);
    join_chunks(p, &run, row, p->level);
    if (p->level == p->tiles->n_levels - 1) {
        run_outer_until(p, &run, row, p->level);
        run_last(p, &run, row);
    }
}

// ---- lowering
static wf_cpu_layout get_layout(const wf_kernel *k)
{
    wf_cpu_layout l = {0};
    for (int32_t i = 0; i < k->ndim; i++) {
        if (k->is_inner[i])
            l.b[l.n_b++] = i;
        else
            l.a[l.n_a++] = i;
    }
    const int64_t size_a = wf_cpu_axes_count(k, l.a, l.n_a);
    const int64_t size_b = wf_cpu_axes_count(k, l.b, l.n_b);
    l.tile_b = wf_cpu_min(size_b, CHUNK);
    l.tile_a = size_b > CHUNK ? 1 : wf_cpu_min(size_a, CHUNK / (size_b > 0 ? size_b : 1));
    return l;
}

static uint32_t count_reduces(const wf_kernel *k)
{
    uint32_t n = 0;
    for (size_t i = 0; i < k->n_insts; i++)
        n += k->insts[i].kind == WF_INST_REDUCE;
    return n;
}

static bool is_cut_by_chunks(int64_t n_rows, int64_t row_len)
{
    return n_rows < MANY_ROWS && row_len > 4 * ITEM_POINTS;
}

static size_t workspace(const wf_cpu_device *dev, const wf_task *task)
{
    const wf_kernel *k = task->kernel;
    (void)dev;
    const wf_cpu_layout l = get_layout(k);
    const int64_t n_rows = wf_cpu_axes_count(k, l.a, l.n_a);
    const int64_t row_len = wf_cpu_axes_count(k, l.b, l.n_b);
    if (!is_cut_by_chunks(n_rows, row_len))
        return 0;
    return (size_t)n_rows * row_bytes(count_reduces(k), wf_cpu_div_up(row_len, CHUNK));
}

static weft_status add_level_phases(wf_cpu_lower *q, const row_params *base, weft_error *err)
{
    const wf_cpu_lowered *t = base->tiles;
    for (int32_t level = 0; level < t->n_levels; level++) {
        row_params *p;
        WEFT_TRY(wf_cpu_take(q, 1, sizeof *p, &p, err));
        *p = *base;
        p->level = level;
        if (t->points[level].n > 0)
            WEFT_TRY(wf_cpu_add_phase(q, run_some_chunks, p, t->size_a * p->items_per_row, err));
        if (t->points[level].n > 0 || level == t->n_levels - 1)
            WEFT_TRY(wf_cpu_add_phase(q, run_trees, p, t->size_a, err));
    }
    return WEFT_OK;
}

static weft_status lower(wf_cpu_lower *q, weft_error *err)
{
    const wf_cpu_layout layout = get_layout(q->task->kernel);
    row_params *p;
    wf_cpu_lowered *t;
    WEFT_TRY(wf_cpu_take(q, 1, sizeof *p, &p, err));
    WEFT_TRY(wf_cpu_lowered_create(q, &layout, &t, err));
    p->tiles = t;
    if (t->size_a == 0)
        return WEFT_OK;
    const int64_t row_len = t->size_b > 0 ? t->size_b : 1;
    p->rows_per_item = ITEM_POINTS / row_len > 1 ? ITEM_POINTS / row_len : 1;
    if (t->size_b <= CHUNK) {
        return wf_cpu_add_phase(q, run_short_rows, p, wf_cpu_div_up(t->size_a, p->rows_per_item),
                                err);
    }
    p->n_chunks = wf_cpu_div_up(t->size_b, CHUNK);
    if (!is_cut_by_chunks(t->size_a, t->size_b)) {
        wf_cpu_need_scratch(q, wf_round_up(t->scratch_bytes, 64) +
                                   row_bytes(t->n_reduces, p->n_chunks));
        return wf_cpu_add_phase(q, run_long_rows, p, wf_cpu_div_up(t->size_a, p->rows_per_item),
                                err);
    }
    p->workspace = wf_cpu_workspace(q);
    p->chunks_per_item = ITEM_POINTS / CHUNK;
    p->items_per_row = wf_cpu_div_up(p->n_chunks, p->chunks_per_item);
    return add_level_phases(q, p, err);
}

const wf_cpu_lowering wf_cpu_lowering_row = {
    .kind = WF_TASK_ROW, .lower = lower, .workspace = workspace};
