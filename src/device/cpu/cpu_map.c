// MAP tasks: fused elementwise work over one space, in tiles. Stage: PLAN -> PROGRAM, RUN.
//
// The order of the points is free, so the axes are sorted to walk memory forwards; trailing axes that
// every operand walks as one are group B.
#include "device/cpu/cpu_tile.h"

// A tile's values stay in a first-level cache of 32 KiB: a kernel of n instructions has about n / 2 of
// them at one time. No less than 256 points, so that the cost of a step's call stays below a tenth of
// its work.
#define TILE_BYTES 24576
#define TILE_POINTS_MIN 256
#define TILE_POINTS_MAX 2048
// Points of one item: some 5 to 50 microseconds of work, enough to hide the taking of an item.
#define ITEM_POINTS 8192
// A tile that turns rows into columns: a run of a cache line on one side, four on the other.
#define TURN_A 16
#define TURN_B 64

typedef struct map_params {
    const wf_cpu_lowered *tiles;
    int64_t n_tiles_b;
    int64_t n_tiles;
    int64_t item_tiles;
} map_params;

static void run_item(const void *params, int64_t item, const wf_cpu_worker *worker)
{
    const map_params *p = params;
    const wf_cpu_lowered *t = p->tiles;
    wf_cpu_run run;
    wf_cpu_run_begin(&run, t, worker->scratch);
    const int64_t end = wf_cpu_min((item + 1) * p->item_tiles, p->n_tiles);
    for (int64_t i = item * p->item_tiles; i < end; i++) {
        wf_cpu_tile tile = {.a0 = i / p->n_tiles_b * t->tile_a, .b0 = i % p->n_tiles_b * t->tile_b};
        tile.na = wf_cpu_min(t->tile_a, t->size_a - tile.a0);
        tile.nb = wf_cpu_min(t->tile_b, t->size_b - tile.b0);
        wf_cpu_run_points(&run, &t->all, &tile);
    }
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

static int64_t get_tile_points(const wf_kernel *k)
{
    int64_t points = TILE_POINTS_MAX;
    const int64_t wanted = 2 * TILE_BYTES / (4 * (int64_t)(k->n_insts + 1));
    while (points > TILE_POINTS_MIN && points > wanted)
        points /= 2;
    return points;
}

static wf_cpu_layout get_layout(const wf_kernel *k)
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
    const int64_t points = get_tile_points(k);
    const int64_t size_a = wf_cpu_axes_count(k, l.a, l.n_a);
    const int64_t size_b = wf_cpu_axes_count(k, l.b, l.n_b);
    l.tile_b = wf_cpu_min(size_b, is_turned(k, &l) ? TURN_B : points);
    l.tile_a = wf_cpu_min(size_a, l.tile_b > 0 ? points / l.tile_b : 1);
    return l;
}

static weft_status lower(wf_cpu_lower *q, weft_error *err)
{
    const wf_cpu_layout layout = get_layout(q->task->kernel);
    map_params *p;
    wf_cpu_lowered *tiles;
    WEFT_TRY(wf_cpu_take(q, 1, sizeof *p, &p, err));
    WEFT_TRY(wf_cpu_lowered_create(q, &layout, &tiles, err));
    p->tiles = tiles;
    if (tiles->size_a == 0 || tiles->size_b == 0)
        return WEFT_OK;
    p->n_tiles_b = wf_cpu_div_up(tiles->size_b, tiles->tile_b);
    p->n_tiles = p->n_tiles_b * wf_cpu_div_up(tiles->size_a, tiles->tile_a);
    p->item_tiles = ITEM_POINTS / (tiles->tile_a * tiles->tile_b);
    if (p->item_tiles < 1)
        p->item_tiles = 1;
    return wf_cpu_add_phase(q, run_item, p, wf_cpu_div_up(p->n_tiles, p->item_tiles), err);
}

const wf_cpu_lowering wf_cpu_lowering_map = {.kind = WF_TASK_MAP, .lower = lower};
