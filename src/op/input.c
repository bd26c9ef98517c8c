// y = what the program is given at each run under a name.
#include "op/source.h"

enum { ATTR_NAME, ATTR_DTYPE, ATTR_DIMS };
static const wf_attr_spec attrs[] = {
    {"name", WF_ATTR_TEXT}, {"dtype", WF_ATTR_DTYPE}, {"dims", WF_ATTR_INTS}};

static weft_status infer(const wf_node_info *info, weft_type *out, weft_error *err)
{
    if (!info->attrs[ATTR_NAME].u.text) {
        WEFT_FAIL(err, WEFT_ERR_ATTR, "name is not given");
    }
    return wf_infer_source(&info->attrs[ATTR_DTYPE], &info->attrs[ATTR_DIMS], out, err);
}

const wf_op wf_op_input = {
    .name = "input",
    .n_outputs = 1,
    .flags = WF_OP_SOURCE,
    .task = WF_TASK_NONE,
    .attrs = attrs,
    .n_attrs = WF_COUNT_OF(attrs),
    .infer = infer,
    .cost = wf_cost_none,
};

weft_val weft_input(weft_graph *g, const char *name, weft_dtype dtype, const int64_t *dims,
                    int32_t ndim)
{
    if (!wf_build_dims(g, &wf_op_input, dims, ndim) || !wf_build_name(g, &wf_op_input, name)) {
        return WEFT_NONE;
    }
    const wf_attr list[] = {wf_attr_text(name), wf_attr_int(dtype),
                            wf_attr_ints(dims, (size_t)ndim)};
    return wf_graph_add(g, &wf_op_input, NULL, 0, list);
}
