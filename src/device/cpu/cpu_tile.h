// The tile interpreter: a kernel (codegen/kernel.h) as a list of steps, each a loop over the points of
// one tile that stays in the first-level cache. MAP, ROW and COLUMN tasks differ in how they cut the
// space into tiles and in what a reduction does with one.
//
// Values are arrays of a tile's points, [na][nb], or of its outer points: [na] in a ROW kernel (A are
// the outer axes, B the inner ones), [nb] in a COLUMN kernel (A inner, B outer). A MAP has no outer.
#ifndef WF_CPU_TILE_H
#define WF_CPU_TILE_H

#include "device/cpu/cpu.h"
#include "device/cpu/cpu_walk.h"

typedef enum wf_cpu_step_kind {
    WF_CPU_STEP_LOAD,
    WF_CPU_STEP_CONST,
    WF_CPU_STEP_IOTA,
    WF_CPU_STEP_RANDOM,
    WF_CPU_STEP_APPLY,  // also casts and selects: any function of up to three values
    WF_CPU_STEP_REPEAT, // an outer value for every point
    WF_CPU_STEP_REDUCE,
    WF_CPU_STEP_SECOND,
    WF_CPU_STEP_STORE,
} wf_cpu_step_kind;

// When a step runs.
typedef enum wf_cpu_step_time {
    WF_CPU_TIME_ONCE,   // the same in every tile: at the start of an item
    WF_CPU_TIME_PERIOD, // the same in tiles of equal b0, nb
    WF_CPU_TIME_OUTER,  // once per set of outer points, after the reductions it needs
    WF_CPU_TIME_POINT,  // in each tile
} wf_cpu_step_time;

#define WF_CPU_NO_OPERAND UINT32_MAX

typedef struct wf_cpu_step {
    wf_cpu_step_kind kind;
    wf_cpu_step_time time;
    weft_dtype dtype;
    int32_t size_log2;
    bool is_outer;    // the value, or what a STORE writes
    bool is_block;    // LOAD: of the product that an epilogue reads
    bool is_gathered; // LOAD: always copied, because a store may overwrite what is still read
    bool is_streamed; // STORE: past the caches
    bool has_pitch;   // LOAD: only reductions read it, and they take rows apart from each other
    int32_t level;    // the longest chain of reductions before it
    uint32_t n_args;
    uint32_t args[WF_MAX_ARGS]; // steps
    uint32_t operand;           // LOAD, STORE, IOTA, RANDOM: into operands
    uint32_t direct;            // STORE's operand that this step may write at once
    size_t slot;                // bytes from the scratch's start
    wf_cpu_apply_fn *apply;
    uint64_t bits;
    wf_cpu_random random;
    const wf_cpu_reduce *reduce;
    uint32_t reduce_idx; // among the kernel's reductions
    int64_t kept_until;  // lowering only: the last step that reads it
} wf_cpu_step;

typedef struct wf_cpu_list {
    uint32_t *steps;
    size_t n;
} wf_cpu_list;

// A lowered kernel. Read-only while it runs.
typedef struct wf_cpu_lowered {
    const wf_cpu_elementwise *elementwise;
    const wf_cpu_randoms *randoms;
    const wf_cpu_reduces *reduces;
    wf_kernel_kind kind;
    int64_t size_a, size_b; // points of each group
    int64_t tile_a, tile_b; // the largest tile
    int64_t n_outer_max;    // outer points of the largest tile
    bool has_streams;
    bool
        is_far; // operands that lie behind the second-level cache: the next tile's are fetched during one
    uint32_t n_steps;
    wf_cpu_step *steps;
    wf_cpu_operand *operands; // inputs, outputs, then the logical indices of IOTA and RANDOM
    uint32_t n_reduces;
    uint32_t *reduce_steps; // step of each
    int32_t n_levels;
    wf_cpu_list once, period;
    wf_cpu_list all; // every POINT and OUTER step in order: the whole of B, or of A, is in the tile
    // A walk over tiles for each level, when a tile is only a part: outer[l], points[l] in every
    // tile, the reductions of level l come together; after the last level, the outer stores.
    wf_cpu_list *points; // [n_levels]
    wf_cpu_list *outer;  // [n_levels]
    wf_cpu_list last;
    size_t scratch_bytes;
} wf_cpu_lowered;

// The axes of a kernel, cut in two groups, and the tile's size.
typedef struct wf_cpu_layout {
    int32_t n_a, n_b;
    int32_t a[WEFT_MAX_DIM], b[WEFT_MAX_DIM];
    int64_t tile_a, tile_b;
} wf_cpu_layout;

// Lowers q->task's kernel, or its epilogue.
weft_status wf_cpu_lowered_create(wf_cpu_lower *q, const wf_cpu_layout *layout,
                                  wf_cpu_lowered **out, weft_error *err);
// Points of a MAP's tile: its values stay in a first-level cache.
weft_status wf_cpu_map_points(wf_cpu_lower *q, const wf_kernel *k, int64_t *out, weft_error *err);
// Points of a group's axes.
int64_t wf_cpu_axes_count(const wf_kernel *k, const int32_t *axes, int32_t n);

// A rectangle of a product that one thread has just made: point [a,b] lies at data[(a - a0) * pitch + b - b0].
typedef struct wf_cpu_block {
    const float *data;
    int64_t pitch;
    int64_t a0, na;
    int64_t b0, nb;
} wf_cpu_block;

// Rows of memory that are fetched little by little.
typedef struct wf_cpu_rows_ahead {
    const char *at;
    int64_t n_lines, lines_per_row, pitch_bytes;
    int64_t line; // of the row
} wf_cpu_rows_ahead;

#define WF_CPU_MAX_AHEAD 4 // operands; more are streams that the processor follows by itself

// One thread's state in one item.
typedef struct wf_cpu_run {
    const wf_cpu_lowered *tiles;
    char *scratch;
    char **val;                // [n_steps]
    int64_t *pitch;            // [n_steps], of LOADs that have one
    wf_cpu_parts *parts;       // [n_reduces] where REDUCE writes
    wf_cpu_parts *results;     // [n_reduces] where SECOND reads
    wf_cpu_tile tile, outer;   // and its outer points as a tile of their own
    wf_cpu_tile period;        // for which the PERIOD steps hold; na 0: none
    int64_t first_idx;         // inner index of the tile's first inner point
    const wf_cpu_block *block; // of an epilogue; the caller's
    wf_cpu_rows_ahead ahead[WF_CPU_MAX_AHEAD];
    uint32_t n_ahead;
    int64_t lines_ahead; // of all, before the first was fetched
} wf_cpu_run;

// Prepares the scratch and runs the ONCE steps.
void wf_cpu_run_begin(wf_cpu_run *run, const wf_cpu_lowered *tiles, char *scratch);
// The tile at hand. Read field by field: a copy of what was just written by halves would wait until all
// stores before it have left, those to the last tile's results among them.
static inline void wf_cpu_run_set_tile(wf_cpu_run *run, int64_t a0, int64_t na, int64_t b0,
                                       int64_t nb)
{
    const bool is_column = run->tiles->kind == WF_KERNEL_COLUMN;
    run->tile = (wf_cpu_tile){a0, na, b0, nb};
    run->outer = is_column ? (wf_cpu_tile){0, 1, b0, nb} : (wf_cpu_tile){a0, na, 0, 1};
}
// The tile that comes next: what it reads from memory is fetched between the steps of the one at hand.
void wf_cpu_run_set_next(wf_cpu_run *run, wf_cpu_tile next);
// Runs the steps of a list over the tile: the PERIOD steps first, where they are out of date.
void wf_cpu_run_points(wf_cpu_run *run, const wf_cpu_list *list);
// Runs OUTER steps for the outer points of run->tile.
void wf_cpu_run_outer(wf_cpu_run *run, const wf_cpu_list *list);
// Behind the last tile of an item.
static inline void wf_cpu_run_end(const wf_cpu_run *run)
{
    if (run->tiles->has_streams)
        run->tiles->elementwise->stream_end();
}
// The reduction's value, one for each outer point, is in these parts.
void wf_cpu_run_set_reduced(wf_cpu_run *run, uint32_t reduce_idx, const wf_cpu_parts *parts);
// Bytes of an element of part p of a reduction; 0: it has no such part.
size_t wf_cpu_reduce_part_bytes(const wf_cpu_reduce *reduce, int p);
// Where the results of a reduction over one tile's outer points are kept in the scratch.
wf_cpu_parts wf_cpu_run_parts(const wf_cpu_run *run, uint32_t reduce_idx);

#endif
