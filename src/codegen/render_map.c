// MAP kernels as text: one work-item a point. See render_text.h.
#include "codegen/render_text.h"

void wf_render_map(wf_renderer *r)
{
    uint32_t size = r->options->group_size;
    wf_render_head(r, "wf_map", size);
    wf_text_printf(r->text,
                   "    const wf_idx point = (wf_idx)WF_GROUP_ID(0) * %u + WF_LOCAL_ID(0);\n"
                   "    if (point >= p.v[%u]) return;\n",
                   size, r->points_value);
    // All axes of a map are outer ones, its instructions are per point.
    wf_render_outer_point(r, "point");
    for (size_t i = 0; i < r->k->n_insts; i++) {
        r->needed[i] = true;
    }
    wf_render_inner_point(r, "    ", "0");
    wf_render_points(r, "    ");
    wf_text_append(r->text, "}\n");
    wf_render_launch *launch = &r->out->launches[r->out->n_launches++];
    launch->name = "wf_map";
    launch->group_size = size;
    launch->n_groups = (r->space.outer + size - 1) / size;
}
