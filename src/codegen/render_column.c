// COLUMN kernels as text: a work-item adds one chunk of 64 inner points of one outer point into the
// workspace; launches of the tree add 64 chunks each until one launch can finish. See render_text.h
// and doc/arithmetic.md, Sums.
#include <inttypes.h>

#include "codegen/render_stages.h"
#include "math/sum.h"

// Should neighbouring work-items take neighbouring outer points, or neighbouring chunks? Outer points, when
// what they read then lies side by side.
static bool is_outer_fastest(const wf_renderer *r)
{
    if (r->space.n_outer == 0)
        return false;
    for (size_t i = 0; i < r->k->n_insts; i++) {
        if (r->k->insts[i].kind != WF_INST_LOAD || r->k->insts[i].is_outer)
            continue;
        const int64_t *strides = r->space.patterns[r->space.inst_pattern[i]].strides;
        if (strides[r->space.n_outer - 1] == 1)
            return true;
    }
    return false;
}

static void render_item(wf_renderer *r)
{
    bool outer_fastest = is_outer_fastest(r);
    wf_text_printf(r->text,
                   "    const wf_idx item = (wf_idx)WF_GROUP_ID(0) * %u + WF_LOCAL_ID(0);\n"
                   "    const wf_idx n_outer = p.v[%u];\n"
                   "    const wf_idx n_states = p.v[%u];\n"
                   "    if (item >= n_outer * n_states) return;\n",
                   r->options->group_size, r->points_value, r->stage_values[1]);
    wf_text_append(r->text, outer_fastest ? "    const wf_idx outer = item % n_outer;\n"
                                            "    const wf_idx state = item / n_outer;\n"
                                          : "    const wf_idx state = item % n_states;\n"
                                            "    const wf_idx outer = item / n_states;\n");
}

// The inner coordinates walk with the points: no division in the loop.
static void render_coordinates_start(wf_renderer *r)
{
    int32_t first = r->space.n_outer;
    wf_text_append(r->text, "        wf_idx rest = begin;\n");
    for (int32_t i = r->space.ndim - 1; i >= first; i--) {
        if (i == first) {
            wf_text_printf(r->text, "        wf_idx c%d = rest;\n", i);
        } else {
            wf_text_printf(
                r->text, "        wf_idx c%d = rest %% p.v[%u];\n        rest = rest / p.v[%u];\n",
                i, r->dim_value[i], r->dim_value[i]);
        }
    }
}

static void render_coordinates_next(wf_renderer *r)
{
    int32_t first = r->space.n_outer;
    for (int32_t i = r->space.ndim - 1; i >= first; i--) {
        wf_text_printf(r->text, "            c%d = c%d + 1;\n", i, i);
        if (i == first)
            break;
        wf_text_printf(r->text, "            if (c%d == p.v[%u]) {\n            c%d = 0;\n", i,
                       r->dim_value[i], i);
    }
    for (int32_t i = r->space.ndim - 1; i > first; i--)
        wf_text_append(r->text, "            }\n");
}

static void render_pass(wf_renderer *r, bool is_squares)
{
    for (size_t i = 0; i < r->k->n_insts; i++)
        r->needed[i] = false;
    for (size_t i = 0; i < r->k->n_insts; i++) {
        const wf_inst *inst = &r->k->insts[i];
        if (inst->kind == WF_INST_STORE && !inst->is_outer && !is_squares)
            wf_render_need(r, i);
        if (inst->kind == WF_INST_REDUCE && (!is_squares || inst->reduce == WF_REDUCE_MOMENTS)) {
            wf_render_need(r, inst->args[0]);
        }
    }
    wf_text_append(r->text, "    {\n");
    render_coordinates_start(r);
    wf_text_append(r->text, "        for (wf_idx point = begin; point < end; point++) {\n");
    wf_render_inner_point(r, "            ", NULL);
    wf_render_points(r, "            ");
    for (size_t i = 0; i < r->k->n_insts; i++) {
        const wf_inst *inst = &r->k->insts[i];
        if (inst->kind != WF_INST_REDUCE)
            continue;
        if (is_squares) {
            if (inst->reduce != WF_REDUCE_MOMENTS)
                continue;
            wf_text_printf(
                r->text,
                "            { const wf_f32 d = v%u - a%zu.mean; a%zu.m2 = WF_FMA(d, d, a%zu.m2); }\n",
                inst->args[0], i, i, i);
        } else {
            bool is_moments = inst->reduce == WF_REDUCE_MOMENTS;
            wf_text_printf(r->text, "            a%zu%s = %s(a%zu%s, v%u, point);\n", i,
                           is_moments ? ".mean" : "", wf_render_reduce(r, inst).add, i,
                           is_moments ? ".mean" : "", inst->args[0]);
        }
    }
    render_coordinates_next(r);
    wf_text_append(r->text, "        }\n    }\n");
}

static void render_states(wf_renderer *r)
{
    for (size_t i = 0; i < r->k->n_insts; i++) {
        if (r->k->insts[i].kind != WF_INST_REDUCE)
            continue;
        wf_reduce_text t = wf_render_reduce(r, &r->k->insts[i]);
        wf_text_printf(r->text, "    %s a%zu = %s;\n", t.type, i, t.first);
    }
}

static void render_save(wf_renderer *r)
{
    for (size_t i = 0; i < r->k->n_insts; i++) {
        if (r->k->insts[i].kind != WF_INST_REDUCE)
            continue;
        wf_text_printf(
            r->text,
            "    ((WF_GLOBAL %s *)(work + (wf_i64)p.v[%u] * 16))[state * n_outer + outer] = a%zu;\n",
            wf_render_reduce(r, &r->k->insts[i]).type, wf_stages_offset(r, i, true), i);
    }
    wf_text_append(r->text, "}\n");
}

static void render_partial(wf_renderer *r)
{
    wf_render_head(r, "wf_column_partial", r->options->group_size);
    render_item(r);
    wf_text_printf(
        r->text,
        "    const wf_idx begin = state * WF_SUM_COLUMN_CHUNK;\n"
        "    const wf_idx end = p.v[%u] - begin < WF_SUM_COLUMN_CHUNK ? p.v[%u] : begin + "
        "WF_SUM_COLUMN_CHUNK;\n",
        r->inner_value, r->inner_value);
    wf_render_outer_point(r, "outer");
    wf_render_outer_insts(r, 0);
    render_states(r);
    render_pass(r, false);
    bool has_moments = false;
    for (size_t i = 0; i < r->k->n_insts; i++) {
        if (r->k->insts[i].kind != WF_INST_REDUCE || r->k->insts[i].reduce != WF_REDUCE_MOMENTS)
            continue;
        has_moments = true;
        wf_text_printf(
            r->text,
            "    a%zu.n = (wf_f32)(end - begin);\n    a%zu.mean = WF_DIV(a%zu.mean, a%zu.n);\n", i,
            i, i, i);
    }
    if (has_moments)
        render_pass(r, true);
    render_save(r);
}

// a<i> over the source's states [begin, end).
static void render_merges(wf_renderer *r)
{
    render_states(r);
    for (size_t i = 0; i < r->k->n_insts; i++) {
        if (r->k->insts[i].kind != WF_INST_REDUCE)
            continue;
        wf_reduce_text t = wf_render_reduce(r, &r->k->insts[i]);
        wf_text_printf(
            r->text,
            "    for (wf_idx s = begin; s < end; s++) {\n"
            "        a%zu = %s(a%zu, ((WF_GLOBAL const %s *)(work + (wf_i64)p.v[%u] * 16))[s * n_outer + outer]);\n"
            "    }\n",
            i, t.merge, i, t.type, wf_stages_offset(r, i, false));
    }
}

static void render_tree(wf_renderer *r)
{
    wf_render_head(r, "wf_column_tree", r->options->group_size);
    render_item(r);
    wf_text_printf(
        r->text,
        "    const wf_idx begin = state * WF_SUM_COLUMN_CHUNK;\n"
        "    const wf_idx end = p.v[%u] - begin < WF_SUM_COLUMN_CHUNK ? p.v[%u] : begin + "
        "WF_SUM_COLUMN_CHUNK;\n",
        r->stage_values[0], r->stage_values[0]);
    render_merges(r);
    render_save(r);
}

static void render_final(wf_renderer *r)
{
    wf_render_head(r, "wf_column_final", r->options->group_size);
    wf_text_printf(r->text,
                   "    const wf_idx outer = (wf_idx)WF_GROUP_ID(0) * %u + WF_LOCAL_ID(0);\n"
                   "    const wf_idx n_outer = p.v[%u];\n"
                   "    const wf_idx begin = 0;\n"
                   "    const wf_idx end = p.v[%u];\n"
                   "    if (outer >= n_outer) return;\n",
                   r->options->group_size, r->points_value, r->stage_values[0]);
    wf_render_outer_point(r, "outer");
    wf_render_outer_insts(r, 0);
    render_merges(r);
    wf_render_results(r, -1, "a");
    for (int32_t level = 1; level < r->k->n_levels; level++)
        wf_render_outer_insts(r, level);
    for (size_t i = 0; i < r->k->n_insts; i++) {
        if (r->k->insts[i].kind == WF_INST_STORE && r->k->insts[i].is_outer)
            wf_render_store(r, "    ", i);
    }
    wf_text_append(r->text, "}\n");
}

static void add_launch(wf_renderer *r, const char *name, int64_t n_items, const wf_stage *src,
                       const wf_stage *dst)
{
    wf_render_launch *launch = &r->out->launches[r->out->n_launches++];
    launch->name = name;
    launch->group_size = r->options->group_size;
    launch->n_groups = (n_items + launch->group_size - 1) / launch->group_size;
    launch->values = wf_arena_take(&r->out->memory, r->n_values * sizeof *launch->values);
    if (!launch->values) {
        r->status = wf_error_set(r->err, WEFT_ERR_MEMORY, "no memory for a kernel's arguments");
        return;
    }
    for (size_t i = 0; i < r->n_values; i++)
        launch->values[i] = r->values[i];
    wf_stages_fill(r, launch->values, src, dst);
}

void wf_render_column(wf_renderer *r)
{
    render_partial(r);
    render_tree(r);
    render_final(r);
    wf_stage src = {0, 0};
    wf_stage dst = {(r->space.inner + WF_SUM_COLUMN_CHUNK - 1) / WF_SUM_COLUMN_CHUNK, 0};
    const char *name = "wf_column_partial";
    while (r->status == WEFT_OK && dst.n_states > 0) {
        add_launch(r, name, r->space.outer * dst.n_states, &src, &dst);
        src = dst;
        if (src.n_states <= WF_SUM_COLUMN_CHUNK)
            break;
        dst.start_bytes =
            src.start_bytes + wf_stages_level_bytes(r->k, src.n_states, r->space.outer);
        dst.n_states = (src.n_states + WF_SUM_COLUMN_CHUNK - 1) / WF_SUM_COLUMN_CHUNK;
        name = "wf_column_tree";
    }
    wf_stage none = {0, 0};
    if (r->status == WEFT_OK)
        add_launch(r, "wf_column_final", r->space.outer, &src, &none);
}
