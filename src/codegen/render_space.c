// Merging the axes of a kernel's iteration space. See render_space.h. Stage: PLAN -> PROGRAM.
#include "codegen/render_space.h"

#include <string.h>

// The pattern of an instruction over the kernel's own axes; false when it has none.
static bool inst_strides(const wf_kernel *k, const wf_inst *inst, int64_t out[WEFT_MAX_DIM])
{
    memset(out, 0, WEFT_MAX_DIM * sizeof *out);
    switch (inst->kind) {
    case WF_INST_LOAD:
        memcpy(out, k->inputs[inst->operand].strides, WEFT_MAX_DIM * sizeof *out);
        break;
    case WF_INST_STORE:
        memcpy(out, k->outputs[inst->operand].strides, WEFT_MAX_DIM * sizeof *out);
        break;
    case WF_INST_IOTA: out[inst->axis] = 1; break;
    case WF_INST_RANDOM: {
        int64_t stride = 1;
        for (int32_t i = k->ndim - 1; i >= 0; i--) {
            // An outer number does not vary along the inner axes: its index is that of the outer point.
            if (inst->is_outer && k->is_inner[i])
                continue;
            out[i] = stride;
            stride *= k->dims[i];
        }
        break;
    }
    default: return false;
    }
    for (int32_t i = 0; i < k->ndim; i++) {
        if (k->dims[i] == 1)
            out[i] = 0;
    }
    return true;
}

static uint32_t find_pattern(wf_space *s, const int64_t strides[WEFT_MAX_DIM])
{
    for (size_t i = 0; i < s->n_patterns; i++) {
        if (memcmp(s->patterns[i].strides, strides, WEFT_MAX_DIM * sizeof *strides) == 0) {
            return (uint32_t)i;
        }
    }
    memcpy(s->patterns[s->n_patterns].strides, strides, WEFT_MAX_DIM * sizeof *strides);
    return (uint32_t)s->n_patterns++;
}

// Sorts outer axes before inner ones, keeping the order inside each.
static void split_axes(const wf_kernel *k, wf_space *s, int32_t *axes)
{
    for (int32_t pass = 0; pass < 2; pass++) {
        for (int32_t i = 0; i < k->ndim; i++) {
            bool is_inner = k->kind != WF_KERNEL_MAP && k->is_inner[i];
            if (is_inner != (pass == 1))
                continue;
            (*(is_inner ? &s->inner : &s->outer)) *= k->dims[i];
            if (k->dims[i] != 1)
                axes[s->ndim++] = i;
        }
        if (pass == 0)
            s->n_outer = s->ndim;
    }
}

// Outer axes may be walked in any order: by descending strides of `lead`.
static void order_outer(const wf_space *s, const int64_t *lead, int32_t *axes)
{
    for (int32_t i = 1; i < s->n_outer; i++) {
        int32_t axis = axes[i];
        int32_t j = i;
        for (; j > 0 && lead[axes[j - 1]] < lead[axis]; j--) {
            axes[j] = axes[j - 1];
        }
        axes[j] = axis;
    }
}

static bool can_merge(const wf_space *s, int32_t i)
{
    for (size_t p = 0; p < s->n_patterns; p++) {
        const int64_t *strides = s->patterns[p].strides;
        if (strides[i] != strides[i + 1] * s->dims[i + 1])
            return false;
    }
    return true;
}

static void merge_axes(wf_space *s)
{
    for (int32_t i = s->ndim - 2; i >= 0; i--) {
        if (i == s->n_outer - 1 || !can_merge(s, i))
            continue;
        s->dims[i] *= s->dims[i + 1];
        for (size_t p = 0; p < s->n_patterns; p++) {
            int64_t *strides = s->patterns[p].strides;
            memmove(strides + i, strides + i + 1, (size_t)(WEFT_MAX_DIM - 1 - i) * sizeof *strides);
        }
        memmove(s->dims + i + 1, s->dims + i + 2, (size_t)(WEFT_MAX_DIM - 2 - i) * sizeof *s->dims);
        s->ndim--;
        if (i < s->n_outer)
            s->n_outer--;
    }
}

// Does an index stay below 2^31? Points and elements count.
static bool needs_wide(const wf_kernel *k, const wf_space *s)
{
    // Loops and groups step past the end by less than this.
    const int64_t limit = INT32_MAX - (1 << 20);
    double points = (double)s->outer * (double)s->inner;
    if (points > (double)limit)
        return true;
    for (size_t i = 0; i < k->n_inputs + k->n_outputs; i++) {
        const wf_access *a = i < k->n_inputs ? &k->inputs[i] : &k->outputs[i - k->n_inputs];
        double last = (double)a->offset;
        for (int32_t d = 0; d < k->ndim; d++) {
            double stride = (double)a->strides[d];
            last += (stride < 0 ? -stride : stride) * (double)(k->dims[d] - 1);
        }
        if (last > (double)limit)
            return true;
    }
    return false;
}

static bool first_output(const wf_kernel *k, const int64_t **out_strides)
{
    for (size_t i = 0; i < k->n_outputs; i++) {
        *out_strides = k->outputs[i].strides;
        return true;
    }
    return false;
}

weft_status wf_space_create(wf_arena *memory, const wf_kernel *k, wf_space *out_space,
                            weft_error *err)
{
    wf_space *s = out_space;
    memset(s, 0, sizeof *s);
    s->outer = s->inner = 1;
    s->patterns = wf_arena_take(memory, (k->n_insts + 1) * sizeof *s->patterns);
    s->inst_pattern = wf_arena_take(memory, (k->n_insts + 1) * sizeof *s->inst_pattern);
    if (!s->patterns || !s->inst_pattern)
        WEFT_FAIL(err, WEFT_ERR_MEMORY, "no memory for a kernel's space");
    for (size_t i = 0; i < k->n_insts; i++) {
        int64_t strides[WEFT_MAX_DIM];
        s->inst_pattern[i] =
            inst_strides(k, &k->insts[i], strides) ? find_pattern(s, strides) : WF_NO_PATTERN;
    }
    int32_t axes[WEFT_MAX_DIM] = {0};
    split_axes(k, s, axes);
    const int64_t *lead;
    if (first_output(k, &lead))
        order_outer(s, lead, axes);
    for (size_t p = 0; p < s->n_patterns; p++) {
        wf_pattern old = s->patterns[p];
        memset(&s->patterns[p], 0, sizeof old);
        for (int32_t i = 0; i < s->ndim; i++)
            s->patterns[p].strides[i] = old.strides[axes[i]];
    }
    for (int32_t i = 0; i < s->ndim; i++)
        s->dims[i] = k->dims[axes[i]];
    merge_axes(s);
    s->is_wide = needs_wide(k, s);
    return WEFT_OK;
}
