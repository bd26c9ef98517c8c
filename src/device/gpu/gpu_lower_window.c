// Pooling tasks on a GPU: sizes, strides of the operands, one launch. Kernels: gpu_window.h.
#include <string.h>

#include "device/gpu/gpu_lower.h"
#include "device/gpu/gpu_source.h"
#include "op/window_common.h"

#define MAX_VALUES 64

typedef struct values {
    int64_t v[MAX_VALUES];
    size_t n;
} values;

static void add_all(values *list, const int64_t *from, size_t n)
{
    memcpy(list->v + list->n, from, n * sizeof *from);
    list->n += n;
}

// Sample, channel and three cell strides of a view; zeros for a missing one.
static void add_strides(values *list, const wf_view *v)
{
    int64_t s[5] = {0};
    if (v) {
        int32_t rank = v->type.ndim - 2;
        s[0] = v->strides[0];
        s[1] = v->strides[1];
        for (int32_t i = 0; i < rank; i++)
            s[5 - rank + i] = v->strides[2 + i];
    }
    add_all(list, s, 5);
}

static double reach(const wf_view *v, int64_t offset)
{
    double last = (double)offset;
    for (int32_t i = 0; v && i < v->type.ndim; i++)
        last += (double)v->strides[i] * (double)v->type.dims[i];
    return last;
}

// Which operands play x, y and where, by the op's name.
typedef struct roles {
    int kind;
    const wf_view *x, *y, *where;
    bool is_grad;
} roles;

static weft_status find_roles(const wf_gpu_builder *b, roles *out)
{
    const wf_task *t = b->task;
    const char *name = t->node->op->name;
    if (!strcmp(name, "window_max")) {
        *out = (roles){0, &t->inputs[0], &t->outputs[0], &t->outputs[1], false};
    } else if (!strcmp(name, "window_max_grad")) {
        *out = (roles){1, &t->outputs[0], &t->inputs[1], &t->inputs[0], true};
    } else if (!strcmp(name, "window_mean")) {
        *out = (roles){2, &t->inputs[0], &t->outputs[0], NULL, false};
    } else if (!strcmp(name, "window_mean_grad")) {
        *out = (roles){3, &t->outputs[0], &t->inputs[0], NULL, true};
    } else {
        WEFT_FAIL(b->err, WEFT_ERR_UNSUPPORTED, "%s has no kernel for %s", name, b->dev->base.id);
    }
    return WEFT_OK;
}

static void fill_values(values *list, const wf_gpu_builder *b, const roles *r,
                        const wf_window_shape *s, const wf_gpu_place places[3])
{
    const int64_t head[] = {r->x->type.dims[0], r->x->type.dims[1], b->task_idx, b->task->is_gated,
                            s->count_include_pad};
    add_all(list, head, WF_COUNT_OF(head));
    add_all(list, s->in, 3);
    add_all(list, s->window, 3);
    add_all(list, s->out, 3);
    add_all(list, s->stride, 3);
    add_all(list, s->pad, 3);
    add_all(list, s->pad_after, 3);
    add_all(list, s->dilation, 3);
    const int64_t offsets[] = {places[0].offset, places[1].offset, places[2].offset};
    add_all(list, offsets, 3);
    add_strides(list, r->x);
    add_strides(list, r->y);
    add_strides(list, r->where);
}

weft_status wf_gpu_lower_window(wf_gpu_builder *b)
{
    roles r = {0};
    WEFT_TRY(find_roles(b, &r));
    const wf_task *t = b->task;
    weft_type in[2], out[2];
    for (size_t i = 0; i < t->n_inputs; i++)
        in[i] = t->inputs[i].type;
    for (size_t i = 0; i < t->n_outputs; i++)
        out[i] = t->outputs[i].type;
    const wf_node_info info = {t->node->op, t->n_inputs, in, t->n_outputs, out, t->node->attrs};
    wf_window_shape s;
    WEFT_TRY(wf_window_shape_get(&info, r.is_grad, &s, b->err));
    int64_t n_items = s.n_planes * wf_window_volume(r.is_grad ? s.in : s.out);
    if (n_items == 0)
        return WEFT_OK;
    const wf_gpu_place places[] = {wf_gpu_place_view(b, r.x), wf_gpu_place_view(b, r.y),
                                   r.where ? wf_gpu_place_view(b, r.where)
                                           : (wf_gpu_place){b->dev->status, 0}};
    values list = {.n = 0};
    fill_values(&list, b, &r, &s, places);
    double limit = (double)(INT32_MAX - (1 << 20));
    bool is_wide = reach(r.x, places[0].offset) > limit || reach(r.y, places[1].offset) > limit ||
                   reach(r.where, places[2].offset) > limit;
    int32_t narrow[MAX_VALUES];
    for (size_t i = 0; i < list.n; i++)
        narrow[i] = (int32_t)list.v[i];
    const wf_gpu_arg args[] = {{places[0].buffer, NULL, 0},
                               {places[1].buffer, NULL, 0},
                               {places[2].buffer, NULL, 0},
                               {b->dev->status, NULL, 0},
                               {NULL, is_wide ? (const void *)list.v : (const void *)narrow,
                                list.n * (is_wide ? sizeof(int64_t) : sizeof(int32_t))}};
    const wf_gpu_launch_spec spec = {
        .kernel = r.is_grad ? "wf_window_backward" : "wf_window_forward",
        .group = {64, 1, 1},
        .n_groups = {(uint32_t)((n_items + 63) / 64), 1, 1},
        .n_args = WF_COUNT_OF(args),
        .args = args,
    };
    wf_text source;
    WEFT_TRY(wf_gpu_source_start(b, &source));
    wf_text_printf(&source, "#define WF_WINDOW_KIND %d\n%s", r.kind,
                   is_wide ? "#define WF_WINDOW_WIDE\n" : "");
    weft_status status = wf_gpu_source_append(&source, "gpu_window.h", b->err);
    if (status == WEFT_OK)
        status = wf_gpu_add_launch(b, wf_text_str(&source), &spec);
    wf_text_deinit(&source);
    return status;
}
