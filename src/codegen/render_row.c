// ROW kernels as text: 32 lanes walk a row, chunk by chunk, once per level; lanes, folds and the tree over
// chunks are macros of gpu_reduce.h. See render_text.h and doc/arithmetic.md, Sums.
#include <inttypes.h>

#include "codegen/render_stages.h"
#include "math/sum.h"

// Rows shorter than this are walked by one group: a launch more costs about as much as eight chunks.
#define STAGED_MIN_INNER (8 * WF_SUM_ROW_CHUNK)
// Three levels of 1024.
#define MAX_INNER ((int64_t)WF_SUM_ROW_CHUNK * WF_SUM_ROW_CHUNK * WF_SUM_ROW_CHUNK)

static bool is_point_work(const wf_inst *inst)
{
    return inst->kind == WF_INST_REDUCE || (inst->kind == WF_INST_STORE && !inst->is_outer);
}

static int32_t last_walk(const wf_kernel *k)
{
    int32_t last = -1;
    for (size_t i = 0; i < k->n_insts; i++) {
        if (is_point_work(&k->insts[i]) && k->insts[i].level > last)
            last = k->insts[i].level;
    }
    return last;
}

bool wf_row_is_staged(const wf_kernel *k, const wf_render_options *options)
{
    return last_walk(k) == 0 && wf_kernel_inner(k) >= STAGED_MIN_INNER &&
           wf_kernel_outer(k) < 4 * (int64_t)options->n_units;
}

static bool is_reduce_of(const wf_inst *inst, int32_t level)
{
    return inst->kind == WF_INST_REDUCE && (level < 0 || inst->level == level);
}

static bool level_has(const wf_renderer *r, int32_t level, bool of_moments)
{
    for (size_t i = 0; i < r->k->n_insts; i++) {
        const wf_inst *inst = &r->k->insts[i];
        if (is_reduce_of(inst, level) && (inst->reduce == WF_REDUCE_MOMENTS) == of_moments)
            return true;
    }
    return false;
}

// What one pass over a chunk does with its points.
typedef enum walk_kind {
    WALK_SUMS,    // every reduction takes its element
    WALK_SQUARES, // moments take the squared distance from m<i>
    WALK_STORES,  // nothing but stores
} walk_kind;

static void render_adds(wf_renderer *r, int32_t level, walk_kind kind)
{
    for (size_t i = 0; i < r->k->n_insts && kind != WALK_STORES; i++) {
        const wf_inst *inst = &r->k->insts[i];
        if (!is_reduce_of(inst, level))
            continue;
        bool is_moments = inst->reduce == WF_REDUCE_MOMENTS;
        if (kind == WALK_SUMS) {
            const char *a = is_moments ? "s" : "a";
            wf_text_printf(
                r->text, "                WF_OF_LANE(%s%zu) = %s(WF_OF_LANE(%s%zu), v%u, point);\n",
                a, i, wf_render_reduce(r, inst).add, a, i, inst->args[0]);
        } else if (is_moments) {
            wf_text_printf(
                r->text,
                "                const wf_f32 d%zu = v%u - m%zu;\n"
                "                WF_OF_LANE(q%zu) = WF_FMA(d%zu, d%zu, WF_OF_LANE(q%zu));\n",
                i, inst->args[0], i, i, i, i, i);
        }
    }
}

static void render_chunk_walk(wf_renderer *r, int32_t level, walk_kind kind, bool with_stores)
{
    for (size_t i = 0; i < r->k->n_insts; i++)
        r->needed[i] = false;
    bool any = false;
    for (size_t i = 0; i < r->k->n_insts; i++) {
        const wf_inst *inst = &r->k->insts[i];
        bool is_store = inst->kind == WF_INST_STORE && !inst->is_outer && with_stores;
        bool is_reduced = is_reduce_of(inst, level) && kind != WALK_STORES &&
                          (kind == WALK_SUMS || inst->reduce == WF_REDUCE_MOMENTS);
        if (is_store)
            wf_render_need(r, i);
        if (is_reduced)
            wf_render_need(r, inst->args[0]);
        any |= is_store || is_reduced;
    }
    if (!any)
        return;
    wf_text_append(r->text,
                   "        for (wf_i32 j = 0; j < WF_SUM_ROW_CHUNK / WF_SUM_LANES; j++) {\n"
                   "            if (base + j * WF_SUM_LANES >= n) break;\n"
                   "            WF_LANES {\n"
                   "                const wf_idx point = base + j * WF_SUM_LANES + lane;\n"
                   "                if (point < n) {\n");
    wf_render_inner_point(r, "                ", "point");
    wf_render_points(r, "                ");
    render_adds(r, level, kind);
    wf_text_append(r->text, "                }\n            }\n        }\n");
}

// The chunk at `base`: r<i> of each reduction whose order matters (of all, when cut into launches).
static void render_chunk(wf_renderer *r, int32_t level, bool with_stores, bool fold_all)
{
    bool has_moments = level_has(r, level, true);
    for (size_t i = 0; i < r->k->n_insts; i++) {
        const wf_inst *inst = &r->k->insts[i];
        if (!is_reduce_of(inst, level))
            continue;
        if (inst->reduce == WF_REDUCE_MOMENTS) {
            wf_text_printf(r->text,
                           "        WF_LANE_STATE(wf_f32, s%zu, 0.0f);\n"
                           "        WF_LANE_STATE(wf_f32, q%zu, 0.0f);\n"
                           "        wf_f32 m%zu;\n",
                           i, i, i);
        } else if (wf_render_reduce(r, inst).is_ordered) {
            wf_text_printf(r->text, "        WF_LANE_RESET(a%zu, 0.0f);\n", i);
        }
    }
    render_chunk_walk(r, level, WALK_SUMS, with_stores && !has_moments);
    for (size_t i = 0; i < r->k->n_insts; i++) {
        const wf_inst *inst = &r->k->insts[i];
        if (!is_reduce_of(inst, level) || inst->reduce != WF_REDUCE_MOMENTS)
            continue;
        wf_text_printf(
            r->text,
            "        WF_LANE_FOLD(g%zu, s%zu, m%zu, wf_sum_f32);\n"
            "        const wf_f32 n%zu = (wf_f32)(n - base < WF_SUM_ROW_CHUNK ? n - base : "
            "WF_SUM_ROW_CHUNK);\n"
            "        m%zu = WF_DIV(m%zu, n%zu);\n",
            i, i, i, i, i, i, i);
    }
    if (has_moments)
        render_chunk_walk(r, level, WALK_SQUARES, false);
    if (has_moments && with_stores)
        render_chunk_walk(r, level, WALK_STORES, true);
    for (size_t i = 0; i < r->k->n_insts; i++) {
        const wf_inst *inst = &r->k->insts[i];
        if (!is_reduce_of(inst, level))
            continue;
        wf_reduce_text t = wf_render_reduce(r, inst);
        if (inst->reduce == WF_REDUCE_MOMENTS) {
            wf_text_printf(r->text,
                           "        WF_LANE_FOLD(g%zu, q%zu, r%zu.m2, wf_sum_f32);\n"
                           "        r%zu.n = n%zu;\n        r%zu.mean = m%zu;\n",
                           i, i, i, i, i, i, i);
        } else if (t.is_ordered || fold_all) {
            wf_text_printf(r->text, "        WF_LANE_FOLD(f%zu, a%zu, r%zu, %s);\n", i, i, i,
                           t.merge);
        }
    }
}

static void render_states(wf_renderer *r, int32_t level)
{
    for (size_t i = 0; i < r->k->n_insts; i++) {
        const wf_inst *inst = &r->k->insts[i];
        if (!is_reduce_of(inst, level))
            continue;
        wf_reduce_text t = wf_render_reduce(r, inst);
        wf_text_printf(r->text, "    %s r%zu = %s;\n", t.type, i, t.first);
        if (inst->reduce != WF_REDUCE_MOMENTS || level < 0) {
            wf_text_printf(r->text, "    WF_LANE_STATE(%s, a%zu, %s);\n", t.type, i, t.first);
        }
        if (t.is_ordered) {
            wf_text_printf(r->text,
                           "    WF_LANE_STATE(%s, b%zu, %s);\n"
                           "    WF_LANE_STATE(%s, c%zu_, %s);\n",
                           t.type, i, t.first, t.type, i, t.first);
        }
    }
}

// for each thousand of chunks, for each chunk of `base`; `end` names the number of elements.
static void render_tree_open(wf_renderer *r, int32_t level, const char *end)
{
    wf_text_printf(r->text, "    for (wf_i64 top = 0; top < %s; top += WF_ROW_TOP) {\n", end);
    for (size_t i = 0; i < r->k->n_insts; i++) {
        if (!is_reduce_of(&r->k->insts[i], level))
            continue;
        wf_reduce_text t = wf_render_reduce(r, &r->k->insts[i]);
        if (t.is_ordered)
            wf_text_printf(r->text, "        WF_LANE_RESET(b%zu, %s);\n", i, t.first);
    }
    wf_text_printf(
        r->text,
        "    for (wf_idx base = (wf_idx)top; base < %s && base - top < WF_ROW_TOP; base += "
        "WF_SUM_ROW_CHUNK) {\n",
        end);
}

static void render_tree_close(wf_renderer *r, int32_t level)
{
    for (size_t i = 0; i < r->k->n_insts; i++) {
        if (!is_reduce_of(&r->k->insts[i], level))
            continue;
        wf_reduce_text t = wf_render_reduce(r, &r->k->insts[i]);
        if (!t.is_ordered)
            continue;
        wf_text_printf(
            r->text,
            "        WF_LANE_MERGE(b%zu, base / WF_SUM_ROW_CHUNK %% WF_SUM_LANES, r%zu, %s);\n", i,
            i, t.merge);
    }
    wf_text_append(r->text, "    }\n");
    for (size_t i = 0; i < r->k->n_insts; i++) {
        if (!is_reduce_of(&r->k->insts[i], level))
            continue;
        wf_reduce_text t = wf_render_reduce(r, &r->k->insts[i]);
        if (!t.is_ordered)
            continue;
        wf_text_printf(
            r->text,
            "        WF_LANE_FOLD(f%zu, b%zu, r%zu, %s);\n"
            "        WF_LANE_MERGE(c%zu_, top / WF_ROW_TOP %% WF_SUM_LANES, r%zu, %s);\n",
            i, i, i, t.merge, i, i, t.merge);
    }
    wf_text_append(r->text, "    }\n");
    for (size_t i = 0; i < r->k->n_insts; i++) {
        if (!is_reduce_of(&r->k->insts[i], level))
            continue;
        wf_reduce_text t = wf_render_reduce(r, &r->k->insts[i]);
        if (t.is_ordered) {
            wf_text_printf(r->text, "    WF_LANE_FOLD(f%zu, c%zu_, r%zu, %s);\n", i, i, i, t.merge);
        } else {
            wf_text_printf(r->text, "    WF_LANE_FOLD(f%zu, a%zu, r%zu, %s);\n", i, i, i, t.merge);
        }
    }
}

static void render_row_head(wf_renderer *r, const char *name)
{
    wf_render_head(r, name, r->options->is_cpu ? 1 : WF_SUM_LANES);
    for (size_t i = 0; i < r->k->n_insts; i++) {
        if (r->k->insts[i].kind != WF_INST_REDUCE)
            continue;
        wf_text_printf(r->text, "    WF_LANE_LOCAL(%s, f%zu);\n",
                       wf_render_reduce(r, &r->k->insts[i]).type, i);
        // Moments fold single sums and whole states in turn.
        if (r->k->insts[i].reduce == WF_REDUCE_MOMENTS) {
            wf_text_printf(r->text, "    WF_LANE_LOCAL(wf_f32, g%zu);\n", i);
        }
    }
    wf_text_printf(r->text, "    WF_LANE_OPEN();\n    const wf_idx n = p.v[%u];\n", r->inner_value);
}

static void render_outer_stores(wf_renderer *r)
{
    wf_text_append(r->text, "    WF_LANE_ONE {\n");
    for (size_t i = 0; i < r->k->n_insts; i++) {
        if (r->k->insts[i].kind == WF_INST_STORE && r->k->insts[i].is_outer)
            wf_render_store(r, "        ", i);
    }
    wf_text_append(r->text, "    }\n}\n");
}

static wf_render_launch *add_launch(wf_renderer *r, const char *name, int64_t n_groups)
{
    wf_render_launch *launch = &r->out->launches[r->out->n_launches++];
    launch->name = name;
    launch->group_size = r->options->is_cpu ? 1 : WF_SUM_LANES;
    launch->n_groups = n_groups;
    return launch;
}

static void render_whole(wf_renderer *r)
{
    int32_t last = last_walk(r->k);
    render_row_head(r, "wf_row");
    wf_text_append(r->text, "    const wf_idx outer = WF_GROUP_ID(0);\n");
    wf_render_outer_point(r, "outer");
    for (int32_t level = 0; level < r->k->n_levels; level++) {
        wf_render_outer_insts(r, level);
        bool has_reduces = level_has(r, level, false) || level_has(r, level, true);
        if (!has_reduces && level != last)
            continue;
        render_states(r, level);
        render_tree_open(r, level, "n");
        render_chunk(r, level, level == last, false);
        render_tree_close(r, level);
        wf_render_results(r, level, "r");
    }
    render_outer_stores(r);
    add_launch(r, "wf_row", r->space.outer);
}

static void render_partial(wf_renderer *r)
{
    render_row_head(r, "wf_row_partial");
    wf_text_printf(r->text,
                   "    const wf_idx outer = WF_GROUP_ID(0) / p.v[%u];\n"
                   "    const wf_idx chunk = WF_GROUP_ID(0) %% p.v[%u];\n"
                   "    const wf_idx base = chunk * WF_SUM_ROW_CHUNK;\n",
                   r->stage_values[1], r->stage_values[1]);
    wf_render_outer_point(r, "outer");
    wf_render_outer_insts(r, 0);
    for (size_t i = 0; i < r->k->n_insts; i++) {
        const wf_inst *inst = &r->k->insts[i];
        if (inst->kind != WF_INST_REDUCE)
            continue;
        wf_reduce_text t = wf_render_reduce(r, inst);
        wf_text_printf(r->text, "    %s r%zu = %s;\n", t.type, i, t.first);
        if (inst->reduce != WF_REDUCE_MOMENTS) {
            wf_text_printf(r->text, "    WF_LANE_STATE(%s, a%zu, %s);\n", t.type, i, t.first);
        }
    }
    render_chunk(r, 0, true, true);
    wf_text_append(r->text, "    WF_LANE_ONE {\n");
    for (size_t i = 0; i < r->k->n_insts; i++) {
        if (r->k->insts[i].kind != WF_INST_REDUCE)
            continue;
        wf_text_printf(
            r->text,
            "        ((WF_GLOBAL %s *)(work + (wf_i64)p.v[%u] * 16))[chunk * p.v[%u] + outer] = r%zu;\n",
            wf_render_reduce(r, &r->k->insts[i]).type, wf_stages_offset(r, i, true),
            r->points_value, i);
    }
    wf_text_append(r->text, "    }\n}\n");
}

static void render_final(wf_renderer *r)
{
    render_row_head(r, "wf_row_final");
    wf_text_printf(r->text,
                   "    const wf_idx outer = WF_GROUP_ID(0);\n"
                   "    const wf_idx n_states = p.v[%u];\n",
                   r->stage_values[0]);
    wf_render_outer_point(r, "outer");
    wf_render_outer_insts(r, 0);
    render_states(r, -1);
    render_tree_open(r, -1, "n_states");
    for (size_t i = 0; i < r->k->n_insts; i++) {
        if (r->k->insts[i].kind != WF_INST_REDUCE)
            continue;
        wf_reduce_text t = wf_render_reduce(r, &r->k->insts[i]);
        if (t.is_ordered)
            wf_text_printf(r->text, "        WF_LANE_RESET(a%zu, %s);\n", i, t.first);
        wf_text_printf(
            r->text,
            "        for (wf_i32 j = 0; j < WF_SUM_ROW_CHUNK / WF_SUM_LANES; j++) {\n"
            "            WF_LANES {\n"
            "                const wf_idx state = base + j * WF_SUM_LANES + lane;\n"
            "                if (state < n_states) {\n"
            "                    WF_OF_LANE(a%zu) = %s(WF_OF_LANE(a%zu), ((WF_GLOBAL const %s *)(work + "
            "(wf_i64)p.v[%u] * 16))[state * p.v[%u] + outer]);\n"
            "                }\n"
            "            }\n"
            "        }\n",
            i, t.merge, i, t.type, wf_stages_offset(r, i, false), r->points_value);
        if (t.is_ordered) {
            wf_text_printf(r->text, "        WF_LANE_FOLD(f%zu, a%zu, r%zu, %s);\n", i, i, i,
                           t.merge);
        }
    }
    render_tree_close(r, -1);
    wf_render_results(r, -1, "r");
    for (int32_t level = 1; level < r->k->n_levels; level++)
        wf_render_outer_insts(r, level);
    render_outer_stores(r);
}

void wf_render_row(wf_renderer *r)
{
    if (r->space.inner > MAX_INNER) {
        r->status = wf_error_set(r->err, WEFT_ERR_UNSUPPORTED,
                                 "a row of %" PRId64 " elements, at most %" PRId64 " were expected",
                                 r->space.inner, MAX_INNER);
        return;
    }
    if (!r->out->has_workspace) {
        render_whole(r);
        return;
    }
    render_partial(r);
    render_final(r);
    wf_stage none = {0, 0};
    wf_stage chunks = {(r->space.inner + WF_SUM_ROW_CHUNK - 1) / WF_SUM_ROW_CHUNK, 0};
    wf_render_launch *partial = add_launch(r, "wf_row_partial", r->space.outer * chunks.n_states);
    wf_render_launch *final = add_launch(r, "wf_row_final", r->space.outer);
    partial->values = wf_arena_take(&r->out->memory, r->n_values * sizeof *partial->values);
    final->values = wf_arena_take(&r->out->memory, r->n_values * sizeof *final->values);
    if (!partial->values || !final->values) {
        r->status = wf_error_set(r->err, WEFT_ERR_MEMORY, "no memory for a kernel's arguments");
        return;
    }
    for (size_t i = 0; i < r->n_values; i++)
        partial->values[i] = final->values[i] = r->values[i];
    wf_stages_fill(r, partial->values, &none, &chunks);
    wf_stages_fill(r, final->values, &chunks, &none);
}
