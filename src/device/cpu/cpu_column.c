// COLUMN tasks: reductions over outer axes, by the column rule (math/sum.h): chunks of 64 inner points,
// one ascending lane each. Stage: PLAN -> PROGRAM, RUN.
//
// A tile is some inner points of one chunk times some outer points, so that the lanes of a vector are
// outer points. Chunk results go up a stack of accumulators, one for each level of the tree. A large
// task is cut twice, by outer points and by units of chunks; the units' results are put together in a
// second phase.
#include "device/cpu/cpu_tile.h"

#include "math/sum.h"

#define CHUNK WF_SUM_COLUMN_CHUNK
#define MAX_LEVELS 7 // 64^7 inner points
#define TILE_POINTS 1024
#define TILE_OUTER 1024       // whole rows where they are no longer, so that they follow each other
#define TILE_OUTER_MOMENTS 32 // a tile holds whole chunks then, and what is computed from them
#define TILE_OUTER_READ 256   // a tile is whole chunks, reduced where they lie
#define TILE_OUTER_TURNED 16  // a tile is whole chunks, which are what lies side by side
#define SMALL_POINTS 16384    // one phase is enough
#define ITEM_POINTS 8192

typedef struct column_params {
    const wf_cpu_lowered *tiles;
    int64_t n_tiles_b;
    int64_t unit_points; // inner points of a unit: a whole subtree
    int64_t n_units;
    int64_t units_per_item;
    int64_t n_items_a; // items along the inner points
    char *workspace;   // [unit][reduction][part][outer], 8 bytes each; NULL: one phase
} column_params;

// The accumulators of one outer tile: level 0 holds the chunk at hand.
typedef struct stack {
    wf_cpu_run *run;
    char *memory;
    int64_t counts[MAX_LEVELS]; // results in each level
    int32_t top;                // the highest level with any
    size_t n;                   // outer points
} stack;

static size_t level_part_bytes(const wf_cpu_lowered *t)
{
    return wf_round_up((size_t)t->tile_b * 8, 64);
}

static size_t stack_bytes(const wf_cpu_lowered *t)
{
    return MAX_LEVELS * t->n_reduces * WF_CPU_N_PARTS * level_part_bytes(t);
}

static const wf_cpu_reduce *get_reduce(const wf_cpu_lowered *t, uint32_t reduce_idx)
{
    return t->steps[t->reduce_steps[reduce_idx]].reduce;
}

static wf_cpu_parts stack_parts(const stack *s, int32_t level, uint32_t reduce_idx)
{
    const wf_cpu_lowered *t = s->run->tiles;
    char *at = s->memory +
               ((size_t)level * t->n_reduces + reduce_idx) * WF_CPU_N_PARTS * level_part_bytes(t);
    wf_cpu_parts parts;
    for (size_t i = 0; i < WF_CPU_N_PARTS; i++)
        parts.part[i] = at + i * level_part_bytes(t);
    return parts;
}

static void start_level(stack *s, int32_t level)
{
    for (uint32_t i = 0; i < s->run->tiles->n_reduces; i++) {
        const wf_cpu_parts acc = stack_parts(s, level, i);
        get_reduce(s->run->tiles, i)->column_start(&acc, s->n);
    }
    s->counts[level] = 0;
}

static void start_stack(stack *s, wf_cpu_run *run, int64_t n)
{
    s->run = run;
    s->memory = run->scratch + wf_round_up(run->tiles->scratch_bytes, 64);
    s->n = (size_t)n;
    s->top = 0;
    for (int32_t level = 0; level < MAX_LEVELS; level++)
        s->counts[level] = 0;
    start_level(s, 0);
}

// The results of a level, or those at `next`, become one more element of the level above.
static void push_up(stack *s, int32_t level)
{
    if (level > s->top || s->counts[level] == 0)
        start_level(s, level);
    if (level > s->top)
        s->top = level;
    for (uint32_t i = 0; i < s->run->tiles->n_reduces; i++) {
        const wf_cpu_parts acc = stack_parts(s, level, i), next = stack_parts(s, level - 1, i);
        get_reduce(s->run->tiles, i)->column_merge(&acc, &next, s->n);
    }
    s->counts[level]++;
    start_level(s, level - 1);
}

static void push_full_levels(stack *s, int32_t level)
{
    for (; s->counts[level] == CHUNK && level + 1 < MAX_LEVELS; level++)
        push_up(s, level + 1);
}

// Level 0 holds a finished chunk.
static void push_chunk(stack *s)
{
    push_up(s, 1);
    push_full_levels(s, 1);
}

// All that there is, in the top level.
static void finish_stack(stack *s)
{
    for (int32_t level = 1; level < s->top; level++) {
        if (s->counts[level] > 0)
            push_up(s, level + 1);
    }
}

// Inner points [first, end), whole chunks but for the last, of one outer tile.
static void walk_inner(stack *s, int64_t first, int64_t end, int64_t b0)
{
    wf_cpu_run *run = s->run;
    const wf_cpu_lowered *t = run->tiles;
    for (int64_t chunk = first; chunk < end; chunk += CHUNK) {
        const int64_t chunk_end = wf_cpu_min(chunk + CHUNK, end);
        for (uint32_t i = 0; i < t->n_reduces; i++)
            run->parts[i] = stack_parts(s, 0, i);
        for (int64_t a = chunk; a < chunk_end; a += t->tile_a) {
            run->first_idx = a;
            wf_cpu_run_set_tile(run, a, wf_cpu_min(t->tile_a, chunk_end - a), b0, (int64_t)s->n);
            const int64_t next = wf_cpu_min(a + t->tile_a, chunk_end);
            if (t->is_far && next < end)
                wf_cpu_run_set_next(
                    run, (wf_cpu_tile){next, wf_cpu_min(t->tile_a, end - next), b0, (int64_t)s->n});
            wf_cpu_run_points(run, &t->points[0]);
        }
        push_chunk(s);
    }
}

// The results are in the stack's top: what is computed from them, and its stores.
static void run_results(stack *s, int64_t b0)
{
    wf_cpu_run *run = s->run;
    const wf_cpu_lowered *t = run->tiles;
    finish_stack(s);
    for (uint32_t i = 0; i < t->n_reduces; i++) {
        const wf_cpu_parts parts = stack_parts(s, s->top, i);
        wf_cpu_run_set_reduced(run, i, &parts);
    }
    wf_cpu_run_set_tile(run, 0, 1, b0, (int64_t)s->n);
    for (int32_t level = 0; level < t->n_levels; level++)
        wf_cpu_run_outer(run, &t->outer[level]);
    wf_cpu_run_outer(run, &t->last);
}

// No inner point at all: the chunk of no rows, whose mean is 0/0.
static void reduce_nothing(stack *s)
{
    const wf_cpu_lowered *t = s->run->tiles;
    for (uint32_t i = 0; i < t->n_reduces; i++) {
        const wf_cpu_parts acc = stack_parts(s, 0, i);
        get_reduce(t, i)->column_rows(&acc, acc.part[0], 0, 0, s->n, 0);
    }
}

// One phase: item = outer tile.
static void run_whole(const void *params, int64_t item, const wf_cpu_worker *worker)
{
    const column_params *p = params;
    const wf_cpu_lowered *t = p->tiles;
    const int64_t b0 = item * t->tile_b;
    wf_cpu_run run;
    stack s;
    wf_cpu_run_begin(&run, t, worker->scratch);
    start_stack(&s, &run, wf_cpu_min(t->tile_b, t->size_b - b0));
    wf_cpu_run_set_tile(&run, 0, 1, b0, (int64_t)s.n);
    wf_cpu_run_outer(&run, &t->outer[0]);
    walk_inner(&s, 0, t->size_a, b0);
    if (t->size_a == 0)
        reduce_nothing(&s);
    run_results(&s, b0);
    wf_cpu_run_end(&run);
}

// ---- two phases
static wf_cpu_parts unit_parts(const column_params *p, int64_t unit, uint32_t reduce_idx,
                               int64_t b0)
{
    const wf_cpu_lowered *t = p->tiles;
    wf_cpu_parts parts;
    for (int i = 0; i < WF_CPU_N_PARTS; i++) {
        const int64_t row = (unit * t->n_reduces + reduce_idx) * WF_CPU_N_PARTS + i;
        parts.part[i] = p->workspace + row * t->size_b * 8 +
                        b0 * (int64_t)wf_cpu_reduce_part_bytes(get_reduce(t, reduce_idx), i);
    }
    return parts;
}

// Item = outer tile and some units.
static void run_units(const void *params, int64_t item, const wf_cpu_worker *worker)
{
    const column_params *p = params;
    const wf_cpu_lowered *t = p->tiles;
    const int64_t b0 = item % p->n_tiles_b * t->tile_b;
    const int64_t first = item / p->n_tiles_b * p->units_per_item;
    const int64_t end = wf_cpu_min(first + p->units_per_item, p->n_units);
    wf_cpu_run run;
    wf_cpu_run_begin(&run, t, worker->scratch);
    const int64_t nb = wf_cpu_min(t->tile_b, t->size_b - b0);
    wf_cpu_run_set_tile(&run, 0, 1, b0, nb);
    wf_cpu_run_outer(&run, &t->outer[0]);
    for (int64_t unit = first; unit < end; unit++) {
        stack s;
        start_stack(&s, &run, nb);
        walk_inner(&s, unit * p->unit_points, wf_cpu_min((unit + 1) * p->unit_points, t->size_a),
                   b0);
        finish_stack(&s);
        for (uint32_t i = 0; i < t->n_reduces; i++) {
            const wf_cpu_parts out = unit_parts(p, unit, i, b0);
            const wf_cpu_parts in = stack_parts(&s, s.top, i);
            get_reduce(t, i)->column_start(&out, s.n);
            get_reduce(t, i)->column_merge(&out, &in, s.n);
        }
    }
    wf_cpu_run_end(&run);
}

// Item = outer tile: the units' results, ascending, are elements of the same tree.
static void run_join(const void *params, int64_t item, const wf_cpu_worker *worker)
{
    const column_params *p = params;
    const wf_cpu_lowered *t = p->tiles;
    const int64_t b0 = item * t->tile_b;
    wf_cpu_run run;
    stack s;
    wf_cpu_run_begin(&run, t, worker->scratch);
    start_stack(&s, &run, wf_cpu_min(t->tile_b, t->size_b - b0));
    for (int64_t unit = 0; unit < p->n_units; unit++) {
        for (uint32_t i = 0; i < t->n_reduces; i++) {
            const wf_cpu_parts acc = stack_parts(&s, 0, i), next = unit_parts(p, unit, i, b0);
            get_reduce(t, i)->column_merge(&acc, &next, s.n);
        }
        if ((unit + 1) % CHUNK == 0 || unit + 1 == p->n_units)
            push_chunk(&s);
    }
    run_results(&s, b0);
}

// ---- lowering
static bool has_moments(const wf_kernel *k)
{
    for (size_t i = 0; i < k->n_insts; i++) {
        if (k->insts[i].kind == WF_INST_REDUCE && k->insts[i].reduce == WF_REDUCE_MOMENTS)
            return true;
    }
    return false;
}

// Whether inner points are only loaded and reduced: a tile has no memory of its own then, and any size.
static bool is_only_read(const wf_kernel *k)
{
    for (size_t i = 0; i < k->n_insts; i++) {
        const wf_inst *inst = &k->insts[i];
        if (!inst->is_outer && inst->kind != WF_INST_LOAD && inst->kind != WF_INST_REDUCE)
            return false;
        if (inst->kind == WF_INST_REDUCE &&
            (k->insts[inst->args[0]].kind != WF_INST_LOAD || k->insts[inst->args[0]].is_outer))
            return false;
    }
    return true;
}

// The last of some axes that has more than one point; -1: none has.
static int32_t last_axis(const wf_kernel *k, const int32_t *axes, int32_t n)
{
    while (n > 0 && k->dims[axes[n - 1]] == 1)
        n--;
    return n > 0 ? axes[n - 1] : -1;
}

// An input whose near elements follow the inner axes.
static bool is_turned(const wf_kernel *k, const wf_cpu_layout *l)
{
    const int32_t a = last_axis(k, l->a, l->n_a), b = last_axis(k, l->b, l->n_b);
    if (a < 0 || b < 0)
        return false;
    for (size_t i = 0; i < k->n_inputs; i++) {
        if (k->inputs[i].strides[a] == 1 && k->inputs[i].strides[b] > 1)
            return true;
    }
    return false;
}

// Outer axis i belongs behind j: the first input that tells them apart decides.
static bool is_nearer(const wf_kernel *k, int32_t i, int32_t j)
{
    for (size_t n = 0; n < k->n_inputs; n++) {
        const int64_t si = k->inputs[n].strides[i], sj = k->inputs[n].strides[j];
        if (si != sj && si != 0 && sj != 0)
            return si < sj;
    }
    return i > j;
}

static wf_cpu_layout get_layout(const wf_kernel *k)
{
    wf_cpu_layout l = {0};
    for (int32_t axis = 0; axis < k->ndim; axis++) {
        if (k->is_inner[axis]) {
            l.a[l.n_a++] = axis; // in ascending logical order: it is the order of the sum
            continue;
        }
        int32_t at = l.n_b++;
        for (; at > 0 && is_nearer(k, l.b[at - 1], axis); at--)
            l.b[at] = l.b[at - 1];
        l.b[at] = axis;
    }
    const int64_t size_a = wf_cpu_axes_count(k, l.a, l.n_a);
    const int64_t size_b = wf_cpu_axes_count(k, l.b, l.n_b);
    l.tile_a = CHUNK;
    if (is_turned(k, &l)) {
        l.tile_b = wf_cpu_min(size_b, TILE_OUTER_TURNED);
    } else if (is_only_read(k)) {
        l.tile_b = wf_cpu_min(size_b, TILE_OUTER_READ);
    } else if (has_moments(k)) {
        l.tile_b = wf_cpu_min(size_b, TILE_OUTER_MOMENTS);
    } else {
        l.tile_b = wf_cpu_min(size_b, TILE_OUTER);
        while (l.tile_a * l.tile_b > TILE_POINTS && l.tile_a > 1)
            l.tile_a /= 2;
    }
    if (l.tile_a > size_a)
        l.tile_a = size_a > 0 ? size_a : 1;
    return l;
}

// How the inner points are cut; n_units <= 1: they are not.
static void get_units(int64_t size_a, int64_t size_b, int64_t tile_b, column_params *p)
{
    const int64_t n_chunks = wf_cpu_div_up(size_a, CHUNK);
    p->unit_points = n_chunks >= 4 * CHUNK ? CHUNK * CHUNK : CHUNK;
    p->n_units = wf_cpu_div_up(size_a, p->unit_points);
    if (size_b == 0 || size_a <= SMALL_POINTS / size_b)
        p->n_units = 1;
    const int64_t points = p->unit_points * (tile_b > 0 ? tile_b : 1);
    p->units_per_item = points >= ITEM_POINTS ? 1 : ITEM_POINTS / points;
    p->n_items_a = wf_cpu_div_up(p->n_units, p->units_per_item);
}

static size_t workspace(const wf_cpu_device *dev, const wf_task *task)
{
    const wf_kernel *k = task->kernel;
    (void)dev;
    const wf_cpu_layout l = get_layout(k);
    const int64_t size_b = wf_cpu_axes_count(k, l.b, l.n_b);
    size_t n_reduces = 0;
    column_params p;
    get_units(wf_cpu_axes_count(k, l.a, l.n_a), size_b, l.tile_b, &p);
    for (size_t i = 0; i < k->n_insts; i++)
        n_reduces += k->insts[i].kind == WF_INST_REDUCE;
    return p.n_units > 1 ? (size_t)p.n_units * n_reduces * WF_CPU_N_PARTS * (size_t)size_b * 8 : 0;
}

static weft_status lower(wf_cpu_lower *q, weft_error *err)
{
    const wf_cpu_layout layout = get_layout(q->task->kernel);
    column_params *p;
    wf_cpu_lowered *t;
    WEFT_TRY(wf_cpu_take(q, 1, sizeof *p, &p, err));
    WEFT_TRY(wf_cpu_lowered_create(q, &layout, &t, err));
    wf_cpu_need_scratch(q, wf_round_up(t->scratch_bytes, 64) + stack_bytes(t));
    get_units(t->size_a, t->size_b, t->tile_b, p);
    p->tiles = t;
    if (t->size_b == 0)
        return WEFT_OK;
    p->n_tiles_b = wf_cpu_div_up(t->size_b, t->tile_b);
    if (p->n_units <= 1)
        return wf_cpu_add_phase(q, run_whole, p, p->n_tiles_b, err);
    p->workspace = wf_cpu_workspace(q);
    WEFT_TRY(wf_cpu_add_phase(q, run_units, p, p->n_tiles_b * p->n_items_a, err));
    return wf_cpu_add_phase(q, run_join, p, p->n_tiles_b, err);
}

const wf_cpu_lowering wf_cpu_lowering_column = {
    .kind = WF_TASK_COLUMN, .lower = lower, .workspace = workspace};
