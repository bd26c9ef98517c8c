// y = random(seed, step): bits, uniform or normal numbers by Philox4x32-10 (src/math/philox.h).
//   seed, step [] i64 -> y of `dims`: i32 (bits), f32 in [0,1) (uniform), f32 (normal)
// A number depends on seed, step, its logical index and `stream`, which the constructor makes from the
// scope and the op's ordinal in it; only the low 32 bits of step count.
#include <stdio.h>
#include <string.h>

#include "math/philox.h"
#include "op/check_case.h"
#include "op/inst.h"
#include "op/source.h"

enum { ATTR_DIMS, ATTR_KIND, ATTR_STREAM };
static const wf_attr_spec attrs[] = {
    {"dims", WF_ATTR_INTS}, {"kind", WF_ATTR_TEXT}, {"stream", WF_ATTR_INT}};

static const char *const kinds[] = {"bits", "uniform", "normal"}; // in the order of wf_random_kind

// False for a kind that no version knows.
static bool kind_get(const wf_node_info *info, wf_random_kind *out_kind)
{
    const char *given = info->attrs[ATTR_KIND].u.text;
    for (size_t i = 0; given && i < WF_COUNT_OF(kinds); i++) {
        if (!strcmp(given, kinds[i])) {
            *out_kind = (wf_random_kind)i;
            return true;
        }
    }
    return false;
}

static weft_status infer(const wf_node_info *info, weft_type *out, weft_error *err)
{
    static const char *const names[] = {"seed", "step"};
    const wf_attr *a = info->attrs;
    wf_random_kind kind;
    char text[WF_TYPE_TEXT];
    for (size_t i = 0; i < 2; i++) {
        if (info->in[i].dtype != WEFT_I64 || info->in[i].ndim != 0) {
            WEFT_FAIL(err, info->in[i].dtype != WEFT_I64 ? WEFT_ERR_DTYPE : WEFT_ERR_SHAPE,
                      "%s is %s, expected i64[]", names[i], wf_type_text(&info->in[i], text));
        }
    }
    if (!kind_get(info, &kind)) {
        WEFT_FAIL(err, WEFT_ERR_ATTR, "kind is \"%s\", expected bits, uniform or normal",
                  a[ATTR_KIND].u.text ? a[ATTR_KIND].u.text : "");
    }
    if (a[ATTR_STREAM].u.i < 0 || a[ATTR_STREAM].u.i > UINT32_MAX) {
        WEFT_FAIL(err, WEFT_ERR_ATTR, "stream is %lld, expected 0 to %u",
                  (long long)a[ATTR_STREAM].u.i, UINT32_MAX);
    }
    return wf_infer_dims(kind == WF_RANDOM_BITS ? WEFT_I32 : WEFT_F32, a[ATTR_DIMS].u.ints,
                         a[ATTR_DIMS].n, out, err);
}

static void lower(const wf_node_info *info, wf_inst *out)
{
    wf_random_kind kind = WF_RANDOM_BITS;
    (void)kind_get(info, &kind); // infer has checked it
    out->kind = WF_INST_RANDOM;
    out->random = kind;
    out->stream = (uint32_t)info->attrs[ATTR_STREAM].u.i;
}

static weft_status eval(wf_eval *q, weft_error *err)
{
    wf_random_kind kind;
    if (!kind_get(q->info, &kind))
        WEFT_FAIL(err, WEFT_ERR_INTERNAL, "random: an unknown kind reached eval");
    const uint64_t seed = (uint64_t)wf_tensor_get_int(&q->in[0], 0);
    const uint32_t step = (uint32_t)(uint64_t)wf_tensor_get_int(&q->in[1], 0);
    const uint32_t stream = (uint32_t)q->info->attrs[ATTR_STREAM].u.i;
    const wf_tensor *y = &q->out[0];
    const int64_t count = wf_type_count(&y->type);
    for (int64_t i = 0; i < count; i++) {
        if (kind == WF_RANDOM_BITS) {
            const uint32_t word = wf_random_word(seed, step, stream, (uint64_t)i);
            memcpy((char *)y->data + 4 * i, &word, 4);
            continue;
        }
        const float x = kind == WF_RANDOM_UNIFORM
                            ? wf_random_uniform(seed, step, stream, (uint64_t)i)
                            : wf_random_normal(seed, step, stream, (uint64_t)i);
        if (y->is_truth)
            ((double *)y->data)[i] = (double)x; // the numbers are what they are: no truth beyond
        else
            ((float *)y->data)[i] = x;
    }
    return WEFT_OK;
}

static weft_val build_case(weft_graph *g, const weft_val *in, const int64_t *p)
{
    const wf_random_kind kind = (wf_random_kind)p[0];
    return kind == WF_RANDOM_BITS      ? weft_random_bits(g, in[0], in[1], p + 1, 2)
           : kind == WF_RANDOM_UNIFORM ? weft_random_uniform(g, in[0], in[1], p + 1, 2)
                                       : weft_random_normal(g, in[0], in[1], p + 1, 2);
}

static void cases(wf_check_list *list)
{
    static const int64_t sizes[][2] = {{0, 3}, {1, 1}, {31, 1}, {4, 8}, {3, 11}, {61, 83}};
    for (size_t kind = 0; kind < WF_COUNT_OF(kinds); kind++) {
        for (size_t i = 0; i < WF_COUNT_OF(sizes); i++) {
            const int64_t *d = sizes[i];
            wf_check_add(
                list,
                (wf_check_case){
                    .name = wf_check_name(list, "%s %dx%d", kinds[kind], (int)d[0], (int)d[1]),
                    .build = build_case,
                    .params = {(int64_t)kind, d[0], d[1]},
                    .n_inputs = 2,
                    .inputs = {{wf_type_make(WEFT_I64, 0, NULL), WF_CHECK_SPECIAL, 0},
                               {wf_type_make(WEFT_I64, 0, NULL), WF_CHECK_INDEX, 100000}},
                    .no_gradient = true});
        }
    }
}

const wf_op wf_op_random = {
    .name = "random",
    .n_inputs = 2,
    .n_outputs = 1,
    .flags = WF_OP_ZERO_GRADIENT,
    .task = WF_TASK_MAP,
    .attrs = attrs,
    .n_attrs = WF_COUNT_OF(attrs),
    .infer = infer,
    .lower = lower,
    .eval = eval,
    .eval_truth = eval,
    .cost = wf_cost_move,
    .cases = cases,
};

// FNV-1a over "scope#ordinal", then the finisher of MurmurHash3, which spreads the last bytes.
static uint32_t stream_hash(const char *scope, uint32_t ordinal)
{
    char tail[16];
    snprintf(tail, sizeof tail, "#%u", ordinal);
    uint32_t h = 2166136261u;
    const char *const parts[] = {scope, tail};
    for (size_t i = 0; i < WF_COUNT_OF(parts); i++) {
        for (const char *c = parts[i]; *c; c++) {
            h = (h ^ (uint8_t)*c) * 16777619u;
        }
    }
    h = (h ^ (h >> 16)) * 0x85ebca6bu;
    h = (h ^ (h >> 13)) * 0xc2b2ae35u;
    return h ^ (h >> 16);
}

// How many random nodes the graph has in this scope: the next one's ordinal.
static uint32_t count_in_scope(const weft_graph *g, const char *scope)
{
    uint32_t n = 0;
    for (size_t i = 0; i < g->n_nodes; i++) {
        n += g->nodes[i].op == &wf_op_random && !strcmp(g->nodes[i].scope, scope);
    }
    return n;
}

static weft_val build(weft_graph *g, weft_val seed, weft_val step, const int64_t *dims,
                      int32_t ndim, wf_random_kind kind)
{
    const weft_val in[] = {seed, step};
    if (!wf_build_ready(g, &wf_op_random, in, 2) || !wf_build_dims(g, &wf_op_random, dims, ndim))
        return WEFT_NONE;
    const char *scope = g->scopes[g->scope_depth];
    const wf_attr list[] = {wf_attr_ints(dims, (size_t)ndim), wf_attr_text(kinds[kind]),
                            wf_attr_int(stream_hash(scope, count_in_scope(g, scope)))};
    return wf_graph_add(g, &wf_op_random, in, 2, list);
}

weft_val weft_random_bits(weft_graph *g, weft_val seed, weft_val step, const int64_t *dims,
                          int32_t ndim)
{
    return build(g, seed, step, dims, ndim, WF_RANDOM_BITS);
}

weft_val weft_random_uniform(weft_graph *g, weft_val seed, weft_val step, const int64_t *dims,
                             int32_t ndim)
{
    return build(g, seed, step, dims, ndim, WF_RANDOM_UNIFORM);
}

weft_val weft_random_normal(weft_graph *g, weft_val seed, weft_val step, const int64_t *dims,
                            int32_t ndim)
{
    return build(g, seed, step, dims, ndim, WF_RANDOM_NORMAL);
}
