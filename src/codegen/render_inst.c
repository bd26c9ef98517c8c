// Points and instructions as text: coordinates, indices, loads, values, stores. See render_text.h.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "codegen/render_text.h"

uint32_t wf_render_value(wf_renderer *r, int64_t value)
{
    if (r->n_values == r->values_capacity) {
        size_t capacity = r->values_capacity ? 2 * r->values_capacity : 64;
        int64_t *grown = wf_arena_take(&r->out->memory, capacity * sizeof *grown);
        if (!grown) {
            r->status = wf_error_set(r->err, WEFT_ERR_MEMORY, "no memory for a kernel's arguments");
            return 0;
        }
        if (r->n_values)
            memcpy(grown, r->values, r->n_values * sizeof *grown);
        r->values = grown;
        r->values_capacity = capacity;
    }
    r->values[r->n_values] = value;
    return (uint32_t)r->n_values++;
}

void wf_render_head(wf_renderer *r, const char *name, uint32_t group_size)
{
    const wf_kernel *k = r->k;
    wf_text_printf(r->text, "WF_KERNEL WF_KERNEL_SIZE(%u, 1, 1) void %s(", group_size, name);
    for (size_t i = 0; i < k->n_inputs; i++) {
        wf_text_printf(r->text, "WF_GLOBAL const %s *in%zu, ",
                       wf_render_type(r, k->inputs[i].dtype), i);
    }
    for (size_t i = 0; i < k->n_outputs; i++) {
        wf_text_printf(r->text, "WF_GLOBAL %s *out%zu, ", wf_render_type(r, k->outputs[i].dtype),
                       i);
    }
    if (r->out->has_workspace)
        wf_text_append(r->text, "WF_GLOBAL wf_u8 *work, ");
    wf_text_printf(r->text,
                   "WF_GLOBAL wf_u32 *status, const wf_values p)\n{\n"
                   "    if (p.v[%u] && *status != WF_STATUS_GOOD) return;\n",
                   r->gated_value);
}

// Coordinates c<first> .. c<last> from the linear index named `from`, the last fastest.
static void render_coordinates(wf_renderer *r, const char *indent, int32_t first, int32_t last,
                               const char *from)
{
    if (last < first)
        return;
    if (last == first) {
        wf_text_printf(r->text, "%sconst wf_idx c%d = %s;\n", indent, first, from);
        return;
    }
    for (int32_t i = last; i > first; i--) {
        const char *rest = i == last ? from : "rest";
        // Blocks would hide the coordinates: each step has a name of its own instead.
        if (i == last) {
            wf_text_printf(r->text, "%sconst wf_idx c%d = %s %% p.v[%u];\n", indent, i, rest,
                           r->dim_value[i]);
            wf_text_printf(r->text, "%sconst wf_idx rest%d = %s / p.v[%u];\n", indent, i, rest,
                           r->dim_value[i]);
        } else {
            wf_text_printf(r->text, "%sconst wf_idx c%d = rest%d %% p.v[%u];\n", indent, i, i + 1,
                           r->dim_value[i]);
            wf_text_printf(r->text, "%sconst wf_idx rest%d = rest%d / p.v[%u];\n", indent, i, i + 1,
                           r->dim_value[i]);
        }
    }
    wf_text_printf(r->text, "%sconst wf_idx c%d = rest%d;\n", indent, first, first + 1);
}

// Sum of coordinate * stride over axes [first, last); false when no axis varies.
static bool render_index(wf_renderer *r, size_t pattern, int32_t first, int32_t last)
{
    bool any = false;
    for (int32_t i = first; i < last; i++) {
        int64_t stride = r->space.patterns[pattern].strides[i];
        if (stride == 0)
            continue;
        wf_text_append(r->text, any ? " + " : "");
        if (stride == 1) {
            wf_text_printf(r->text, "c%d", i);
        } else {
            wf_text_printf(r->text, "c%d * p.v[%u]", i,
                           r->stride_value[pattern * WEFT_MAX_DIM + (size_t)i]);
        }
        any = true;
    }
    return any;
}

void wf_render_outer_point(wf_renderer *r, const char *from)
{
    render_coordinates(r, "    ", 0, r->space.n_outer - 1, from);
    for (size_t p = 0; p < r->space.n_patterns; p++) {
        wf_text_printf(r->text, "    const wf_idx y%zu = ", p);
        if (!render_index(r, p, 0, r->space.n_outer))
            wf_text_append(r->text, "0");
        wf_text_append(r->text, ";\n");
    }
}

void wf_render_inner_point(wf_renderer *r, const char *indent, const char *from)
{
    if (from)
        render_coordinates(r, indent, r->space.n_outer, r->space.ndim - 1, from);
    for (size_t p = 0; p < r->space.n_patterns; p++) {
        bool is_used = false;
        for (size_t i = 0; i < r->k->n_insts; i++) {
            is_used |= r->space.inst_pattern[i] == p && r->needed[i] && !r->k->insts[i].is_outer;
        }
        if (!is_used)
            continue;
        wf_text_printf(r->text, "%sconst wf_idx x%zu = y%zu", indent, p, p);
        bool varies = false;
        for (int32_t i = r->space.n_outer; i < r->space.ndim; i++)
            varies |= r->space.patterns[p].strides[i] != 0;
        if (varies) {
            wf_text_append(r->text, " + ");
            render_index(r, p, r->space.n_outer, r->space.ndim);
        }
        wf_text_append(r->text, ";\n");
    }
}

void wf_render_need(wf_renderer *r, size_t i)
{
    const wf_inst *inst = &r->k->insts[i];
    if (r->needed[i] || inst->is_outer)
        return;
    r->needed[i] = true;
    for (uint32_t a = 0; a < inst->n_args; a++)
        wf_render_need(r, inst->args[a]);
}

// Zeros and ones stand in the text. Other constants are values, like sizes: many of them are made from sizes
// (the count that a mean divides by), and a batch size more must not be a text more.
static bool is_plain_const(const wf_inst *inst)
{
    return inst->bits == 0 || inst->bits == 1 ||
           (inst->dtype == WEFT_F32 && (uint32_t)inst->bits == 0x3f800000u);
}

void wf_render_reserve_const(wf_renderer *r, size_t i)
{
    const wf_inst *inst = &r->k->insts[i];
    if (is_plain_const(inst))
        return;
    r->offset_value[i] = wf_render_value(r, (int64_t)(inst->bits & UINT32_MAX));
    if (weft_dtype_size(inst->dtype) == 8)
        wf_render_value(r, (int64_t)(inst->bits >> 32));
}

static void render_const(wf_renderer *r, size_t i)
{
    const wf_inst *inst = &r->k->insts[i];
    char low[64], high[64];
    if (is_plain_const(inst)) {
        snprintf(low, sizeof low, "0x%" PRIx32 "u", (uint32_t)inst->bits);
        snprintf(high, sizeof high, "0u");
    } else {
        snprintf(low, sizeof low, "(wf_u32)p.v[%u]", r->offset_value[i]);
        snprintf(high, sizeof high, "(wf_u32)p.v[%u]", r->offset_value[i] + 1);
    }
    switch (inst->dtype) {
    case WEFT_F32: wf_text_printf(r->text, "wf_as_f32(%s)", low); break;
    case WEFT_F64:
        wf_text_printf(r->text, "%s((wf_u64)%s << 32 | %s)", r->options->has_f64 ? "wf_as_f64" : "",
                       high, low);
        break;
    case WEFT_I64: wf_text_printf(r->text, "(wf_i64)((wf_u64)%s << 32 | %s)", high, low); break;
    default: wf_text_printf(r->text, "(%s)%s", wf_render_type(r, inst->dtype), low);
    }
}

// x: per point, y: per outer point.
static void render_inst(wf_renderer *r, const char *indent, size_t i)
{
    const wf_inst *inst = &r->k->insts[i];
    char xy = inst->is_outer ? 'y' : 'x';
    uint32_t pattern = r->space.inst_pattern[i];
    wf_text_printf(r->text, "%sconst %s v%zu = ", indent, wf_render_type(r, inst->dtype), i);
    switch (inst->kind) {
    case WF_INST_LOAD:
        wf_text_printf(r->text, "in%u[p.v[%u] + %c%u]", inst->operand, r->offset_value[i], xy,
                       pattern);
        break;
    case WF_INST_CONST: render_const(r, i); break;
    case WF_INST_IOTA:
        wf_text_printf(r->text, "(%s)(%c%u + p.v[%u])", wf_render_type(r, inst->dtype), xy, pattern,
                       r->offset_value[i]);
        break;
    case WF_INST_RANDOM: {
        static const char *const names[] = {"word", "uniform", "normal"};
        wf_text_printf(r->text,
                       "(%s)wf_random_%s((wf_u64)v%u, (wf_u32)v%u, 0x%08" PRIx32 "u, (wf_u64)%c%u)",
                       wf_render_type(r, inst->dtype), names[inst->random], inst->args[0],
                       inst->args[1], inst->stream, xy, pattern);
        break;
    }
    case WF_INST_APPLY: wf_render_apply(r, inst); break;
    case WF_INST_CAST: wf_render_cast(r, inst); break;
    case WF_INST_SELECT:
        wf_text_printf(r->text, "v%u ? v%u : v%u", inst->args[0], inst->args[1], inst->args[2]);
        break;
    default: break;
    }
    wf_text_append(r->text, ";\n");
}

void wf_render_store(wf_renderer *r, const char *indent, size_t i)
{
    const wf_inst *inst = &r->k->insts[i];
    wf_text_printf(r->text, "%sout%u[p.v[%u] + %c%u] = v%u;\n", indent, inst->operand,
                   r->offset_value[i], inst->is_outer ? 'y' : 'x', r->space.inst_pattern[i],
                   inst->args[0]);
}

void wf_render_points(wf_renderer *r, const char *indent)
{
    for (size_t i = 0; i < r->k->n_insts; i++) {
        const wf_inst *inst = &r->k->insts[i];
        if (!r->needed[i] || inst->is_outer)
            continue;
        if (inst->kind == WF_INST_STORE) {
            wf_render_store(r, indent, i);
        } else if (inst->kind != WF_INST_REDUCE && inst->kind != WF_INST_SECOND) {
            render_inst(r, indent, i);
        }
    }
}

void wf_render_outer_insts(wf_renderer *r, int32_t level)
{
    for (size_t i = 0; i < r->k->n_insts; i++) {
        const wf_inst *inst = &r->k->insts[i];
        if (!inst->is_outer || inst->level != level)
            continue;
        if (inst->kind == WF_INST_REDUCE || inst->kind == WF_INST_SECOND ||
            inst->kind == WF_INST_STORE)
            continue;
        render_inst(r, "    ", i);
    }
}
