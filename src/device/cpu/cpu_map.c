// MAP tasks: fused elementwise work over one space, in tiles. Stage: PLAN -> PROGRAM, RUN.
//
// The order of the points is free, so the axes are sorted to walk memory forwards; trailing axes that
// every operand walks as one are group B.
#include "device/cpu/cpu_tile.h"

// A tile's values and the operands' elements stay in a first-level cache of 32 KiB. No less than 256
// points, so that the cost of a step's call stays below a fifth of its work.
#define TILE_BYTES 28672
#define TILE_POINTS_MIN 256
#define TILE_POINTS_MAX 2048
// Points of one item: some 5 to 50 microseconds of work, enough to hide the taking of an item and what is
// computed once in it; a large task has as many items as balance any number of cores of today.
#define ITEM_POINTS_MIN 8192
#define ITEM_POINTS_MAX 65536
#define ITEMS 64
// Rows of an operand that do not follow each other are read and written one by one from this length on;
// shorter ones are copied.
#define ROW_POINTS 128
// A tile that turns rows into columns: a run of a cache line on one side, four on the other.
#define TURN_A 16
#define TURN_B 64

typedef struct map_params {
    const wf_cpu_lowered *tiles;
    int64_t n_tiles_b;
    int64_t n_tiles;
    int64_t item_tiles;
} map_params;

static wf_cpu_tile get_tile(const map_params *p, int64_t i)
{
    const wf_cpu_lowered *t = p->tiles;
    const int64_t a0 = i / p->n_tiles_b * t->tile_a, b0 = i % p->n_tiles_b * t->tile_b;
    return (wf_cpu_tile){a0, wf_cpu_min(t->tile_a, t->size_a - a0), b0,
                         wf_cpu_min(t->tile_b, t->size_b - b0)};
}

static void run_item(const void *params, int64_t item, const wf_cpu_worker *worker)
{
    const map_params *p = params;
    const wf_cpu_lowered *t = p->tiles;
    wf_cpu_run run;
    wf_cpu_run_begin(&run, t, worker->scratch);
    const int64_t end = wf_cpu_min((item + 1) * p->item_tiles, p->n_tiles);
    for (int64_t i = item * p->item_tiles; i < end; i++) {
        const wf_cpu_tile tile = get_tile(p, i);
        wf_cpu_run_set_tile(&run, tile.a0, tile.na, tile.b0, tile.nb);
        if (t->is_far && i + 1 < end)
            wf_cpu_run_set_next(&run, get_tile(p, i + 1));
        wf_cpu_run_points(&run, &t->all);
    }
    wf_cpu_run_end(&run);
}

// -1: axis i belongs before axis j, 1: behind it, 0: no matter. The first operand that tells them
// apart decides: outputs, then inputs.
static int compare_axes(const wf_kernel *k, int32_t i, int32_t j)
{
    for (size_t n = 0; n < k->n_outputs + k->n_inputs; n++) {
        const wf_access *op = n < k->n_outputs ? &k->outputs[n] : &k->inputs[n - k->n_outputs];
        const int64_t si = op->strides[i] < 0 ? -op->strides[i] : op->strides[i];
        const int64_t sj = op->strides[j] < 0 ? -op->strides[j] : op->strides[j];
        if (si != sj && si != 0 && sj != 0)
            return si > sj ? -1 : 1;
    }
    return 0;
}

static int32_t sort_axes(const wf_kernel *k, int32_t axes[WEFT_MAX_DIM])
{
    int32_t n = 0;
    for (int32_t axis = 0; axis < k->ndim; axis++) {
        if (k->dims[axis] == 1)
            continue;
        int32_t at = n++;
        for (; at > 0 && compare_axes(k, axes[at - 1], axis) > 0; at--)
            axes[at] = axes[at - 1];
        axes[at] = axis;
    }
    return n;
}

static bool is_merged(const wf_access *op, const wf_kernel *k, int32_t slow, int32_t fast)
{
    return op->strides[slow] == op->strides[fast] * k->dims[fast];
}

static bool all_merge(const wf_kernel *k, int32_t slow, int32_t fast)
{
    for (size_t i = 0; i < k->n_inputs; i++) {
        if (!is_merged(&k->inputs[i], k, slow, fast))
            return false;
    }
    for (size_t i = 0; i < k->n_outputs; i++) {
        if (!is_merged(&k->outputs[i], k, slow, fast))
            return false;
    }
    return true;
}

// An operand that lies the other way round: its near elements follow group A.
static bool is_turned(const wf_kernel *k, const wf_cpu_layout *l)
{
    if (l->n_a == 0 || l->n_b == 0)
        return false;
    const int32_t a = l->a[l->n_a - 1], b = l->b[l->n_b - 1];
    for (size_t i = 0; i < k->n_inputs; i++) {
        const int64_t sa = k->inputs[i].strides[a], sb = k->inputs[i].strides[b];
        if (sa == 1 && sb != 0 && sb != 1)
            return k->dims[a] >= TURN_A && k->dims[b] >= TURN_A;
    }
    return false;
}

// Values that a tile holds at one time, each in an array of its own: constants always, others until their
// last reader.
static weft_status count_live(wf_cpu_lower *q, const wf_kernel *k, int64_t *out_n, weft_error *err)
{
    int64_t *change, n_live = 0; // at each instruction: values that begin less those that ended
    *out_n = 0;
    WEFT_TRY(wf_cpu_take(q, k->n_insts + 1, sizeof *change, &change, err));
    for (size_t i = 0; i < k->n_insts; i++) {
        const bool is_fixed = k->insts[i].kind == WF_INST_CONST;
        size_t last = is_fixed ? k->n_insts - 1 : i;
        for (size_t r = i + 1; r < k->n_insts && !is_fixed; r++) {
            for (uint32_t a = 0; a < k->insts[r].n_args; a++)
                last = k->insts[r].args[a] == i ? r : last;
        }
        if (k->insts[i].kind == WF_INST_STORE)
            continue;
        change[is_fixed ? 0 : i]++;
        change[last + 1]--;
    }
    for (size_t i = 0; i < k->n_insts; i++) {
        n_live += change[i];
        *out_n = n_live > *out_n ? n_live : *out_n;
    }
    return WEFT_OK;
}

weft_status wf_cpu_map_points(wf_cpu_lower *q, const wf_kernel *k, int64_t *out, weft_error *err)
{
    int64_t n_live;
    WEFT_TRY(count_live(q, k, &n_live, err));
    const int64_t wanted = TILE_BYTES / (4 * (n_live + (int64_t)k->n_outputs + 1));
    for (*out = TILE_POINTS_MAX; *out > TILE_POINTS_MIN && *out > wanted;)
        *out /= 2;
    return WEFT_OK;
}

// Whether rows of nb points follow each other in every operand that has rows.
static bool do_rows_follow(const wf_kernel *k, const wf_cpu_layout *l)
{
    if (l->n_a == 0 || l->n_b == 0)
        return true;
    const int32_t a = l->a[l->n_a - 1], b = l->b[l->n_b - 1];
    const int64_t nb = wf_cpu_axes_count(k, l->b, l->n_b);
    for (size_t i = 0; i < k->n_inputs + k->n_outputs; i++) {
        const wf_access *op = i < k->n_inputs ? &k->inputs[i] : &k->outputs[i - k->n_inputs];
        if (op->strides[b] == 1 && op->strides[a] != nb && op->strides[a] != 0)
            return false;
    }
    return true;
}

static wf_cpu_layout get_layout(const wf_kernel *k, int64_t points)
{
    wf_cpu_layout l = {0};
    int32_t axes[WEFT_MAX_DIM];
    const int32_t n = sort_axes(k, axes);
    int32_t first_b = n > 0 ? n - 1 : 0;
    while (first_b > 0 && all_merge(k, axes[first_b - 1], axes[first_b]))
        first_b--;
    for (int32_t i = 0; i < n; i++) {
        if (i < first_b)
            l.a[l.n_a++] = axes[i];
        else
            l.b[l.n_b++] = axes[i];
    }
    const int64_t size_a = wf_cpu_axes_count(k, l.a, l.n_a);
    const int64_t size_b = wf_cpu_axes_count(k, l.b, l.n_b);
    l.tile_b = wf_cpu_min(size_b, is_turned(k, &l) ? TURN_B : points);
    l.tile_a = wf_cpu_min(size_a, l.tile_b > 0 ? points / l.tile_b : 1);
    if (l.tile_b >= ROW_POINTS && !do_rows_follow(k, &l))
        l.tile_a = 1;
    return l;
}

static weft_status lower(wf_cpu_lower *q, weft_error *err)
{
    int64_t points;
    map_params *p;
    wf_cpu_lowered *tiles;
    WEFT_TRY(wf_cpu_map_points(q, q->task->kernel, &points, err));
    const wf_cpu_layout layout = get_layout(q->task->kernel, points);
    WEFT_TRY(wf_cpu_take(q, 1, sizeof *p, &p, err));
    WEFT_TRY(wf_cpu_lowered_create(q, &layout, &tiles, err));
    p->tiles = tiles;
    if (tiles->size_a == 0 || tiles->size_b == 0)
        return WEFT_OK;
    p->n_tiles_b = wf_cpu_div_up(tiles->size_b, tiles->tile_b);
    p->n_tiles = p->n_tiles_b * wf_cpu_div_up(tiles->size_a, tiles->tile_a);
    const int64_t tile_points = tiles->tile_a * tiles->tile_b;
    const int64_t wanted = p->n_tiles * tile_points / ITEMS;
    const int64_t item_points = wanted < ITEM_POINTS_MIN   ? ITEM_POINTS_MIN
                                : wanted < ITEM_POINTS_MAX ? wanted
                                                           : ITEM_POINTS_MAX;
    p->item_tiles = wf_cpu_div_up(item_points, tile_points);
    return wf_cpu_add_phase(q, run_item, p, wf_cpu_div_up(p->n_tiles, p->item_tiles), err);
}

const wf_cpu_lowering wf_cpu_lowering_map = {.kind = WF_TASK_MAP, .lower = lower};
