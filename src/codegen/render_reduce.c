// Reductions as text: the state of each kind, and where partial states lie in the workspace.
// See render_text.h; the functions named here are in gpu_reduce.h.
#include "codegen/render_stages.h"

// Names are made by the dtype: WF_REDUCE_TEXT(f32) names wf_sum_f32, wf_max_f32, wf_argmax_f32, ...
#define ROW(d, bytes)                                                                              \
    {                                                                                              \
        {"wf_" #d, "wf_sum_first_" #d, "wf_sum_" #d, "wf_sum_add_" #d, bytes, false},              \
            {"wf_" #d, "wf_max_first_" #d, "wf_max_" #d, "wf_max_add_" #d, bytes, false},          \
            {"wf_" #d, "wf_min_first_" #d, "wf_min_" #d, "wf_min_add_" #d, bytes, false},          \
            {"wf_argmax_state_" #d,                                                                \
             "wf_argmax_first_" #d "()",                                                           \
             "wf_argmax_" #d,                                                                      \
             "wf_argmax_add_" #d,                                                                  \
             16,                                                                                   \
             false},                                                                               \
    }
static const wf_reduce_text f32_rows[] = ROW(f32, 4);
static const wf_reduce_text i8_rows[] = ROW(i8, 1);
static const wf_reduce_text u8_rows[] = ROW(u8, 1);
static const wf_reduce_text i32_rows[] = ROW(i32, 4);
static const wf_reduce_text i64_rows[] = ROW(i64, 8);
static const wf_reduce_text moments_row = {
    "wf_moments", "wf_moments_first()", "wf_moments_merge", "wf_sum_add_f32", 12, true};

wf_reduce_text wf_render_reduce(wf_renderer *r, const wf_inst *inst)
{
    weft_dtype dtype = r->k->insts[inst->args[0]].dtype;
    if (inst->reduce == WF_REDUCE_MOMENTS && dtype == WEFT_F32)
        return moments_row;
    const wf_reduce_text *rows = NULL;
    switch (dtype) {
    case WEFT_F32: rows = f32_rows; break;
    case WEFT_I8: rows = i8_rows; break;
    case WEFT_U8:
    case WEFT_BOOL: rows = u8_rows; break;
    case WEFT_I32: rows = i32_rows; break;
    case WEFT_I64: rows = i64_rows; break;
    default: break;
    }
    if (!rows || inst->reduce == WF_REDUCE_MOMENTS) {
        r->status =
            wf_error_set(r->err, WEFT_ERR_UNSUPPORTED,
                         "reduction of %s, f32 or integers were expected", weft_dtype_name(dtype));
        rows = f32_rows;
    }
    wf_reduce_text text = rows[inst->reduce == WF_REDUCE_MOMENTS ? WF_REDUCE_SUM : inst->reduce];
    text.is_ordered = inst->reduce == WF_REDUCE_SUM && dtype == WEFT_F32;
    return text;
}

void wf_stages_open(wf_renderer *r)
{
    r->stage_values[0] = wf_render_value(r, 0); // states per outer point in the source
    r->stage_values[1] = wf_render_value(r, 0); // and in the destination
    r->stage_values[2] = (uint32_t)r->n_values;
    for (size_t i = 0; i < r->k->n_insts; i++) {
        if (r->k->insts[i].kind != WF_INST_REDUCE)
            continue;
        wf_render_value(r, 0); // where the source's states begin, in units of WF_STATE_BYTES
        wf_render_value(r, 0); // and of the destination's
    }
}

size_t wf_stages_level_bytes(const wf_kernel *k, int64_t n_states, int64_t outer)
{
    size_t n_reduces = 0;
    for (size_t i = 0; i < k->n_insts; i++) {
        n_reduces += k->insts[i].kind == WF_INST_REDUCE;
    }
    return n_reduces * (size_t)n_states * (size_t)outer * WF_STATE_BYTES;
}

// Where level's states of the n-th reduction begin.
static int64_t section(const wf_renderer *r, size_t level_start, int64_t n_states, size_t nth)
{
    int64_t start = r->task->workspace_offset + (int64_t)level_start;
    return start / WF_STATE_BYTES + (int64_t)nth * n_states * r->space.outer;
}

void wf_stages_fill(wf_renderer *r, int64_t *values, const wf_stage *src, const wf_stage *dst)
{
    values[r->stage_values[0]] = src->n_states;
    values[r->stage_values[1]] = dst->n_states;
    size_t nth = 0;
    for (size_t i = 0; i < r->k->n_insts; i++) {
        if (r->k->insts[i].kind != WF_INST_REDUCE)
            continue;
        values[r->stage_values[2] + 2 * nth] = section(r, src->start_bytes, src->n_states, nth);
        values[r->stage_values[2] + 2 * nth + 1] = section(r, dst->start_bytes, dst->n_states, nth);
        nth++;
    }
}

uint32_t wf_stages_offset(const wf_renderer *r, size_t inst, bool is_dst)
{
    uint32_t nth = 0;
    for (size_t i = 0; i < inst; i++) {
        nth += r->k->insts[i].kind == WF_INST_REDUCE;
    }
    return r->stage_values[2] + 2 * nth + (is_dst ? 1 : 0);
}

// The values that the rest of the kernel sees: v<i> of REDUCE and of SECOND, from state <name><i>.
void wf_render_results(wf_renderer *r, int32_t level, const char *name)
{
    for (size_t i = 0; i < r->k->n_insts; i++) {
        const wf_inst *inst = &r->k->insts[i];
        if (inst->kind == WF_INST_REDUCE && (level < 0 || inst->level == level)) {
            const char *type = wf_render_type(r, inst->dtype);
            bool is_moments = inst->reduce == WF_REDUCE_MOMENTS;
            wf_text_printf(r->text, "    const %s v%zu = (%s)%s(%s%zu)%s;\n", type, i, type,
                           is_moments ? "wf_moments_mean" : "", name, i,
                           inst->reduce == WF_REDUCE_ARGMAX ? ".i" : "");
        } else if (inst->kind == WF_INST_SECOND) {
            const wf_inst *first = &r->k->insts[inst->args[0]];
            if (level >= 0 && first->level != level)
                continue;
            wf_text_printf(r->text, "    const wf_f32 v%zu = wf_moments_variance(%s%u);\n", i, name,
                           inst->args[0]);
        }
    }
}
