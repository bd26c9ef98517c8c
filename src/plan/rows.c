// Operands and results of ops that go by rows (op.h, row_inputs): heads of attention, which are parts of the
// columns of one matrix. Such an op reads them where the matrix lies and writes them where their reader wants
// them, so that taking heads apart and putting them together costs nothing.
#include <string.h>

#include "plan/planner.h"

// Operands of a concat that are looked through.
#define MAX_PLACED 16

static bool has_rows(const wf_strided *at)
{
    return at->ndim > 0 && (at->strides[at->ndim - 1] == 1 || at->dims[at->ndim - 1] <= 1);
}

weft_status wf_plan_locate_rows(wf_planner *p, wf_id id, wf_location *out)
{
    WEFT_TRY(wf_plan_locate(p, id, out));
    return has_rows(&out->at) ? WEFT_OK : wf_plan_locate_dense(p, id, WF_DENSE_ROW_MAJOR, out);
}

static wf_location dense_of(const wf_planner *p, wf_id id)
{
    return wf_plan_dense(WF_NO_INDEX, wf_planner_type(p, id), false);
}

// A concat that alone reads the value, and its place there.
static bool find_in_whole(const wf_planner *p, wf_id id, wf_id *out_whole, wf_strided *at)
{
    const wf_node *user = &p->g->nodes[p->uses[p->use_start[id]]];
    weft_type in[MAX_PLACED];
    if (!user->op->place || user->op->fill || user->n_inputs > MAX_PLACED)
        return false;
    uint32_t input = 0;
    for (uint32_t i = 0; i < user->n_inputs; i++) {
        in[i] = *wf_planner_type(p, user->inputs[i]);
        input = user->inputs[i] == id ? i : input;
    }
    *out_whole = user->first_output;
    const wf_location *known = &p->locations[*out_whole];
    const wf_location whole = known->is_known ? *known : dense_of(p, *out_whole);
    const wf_node_info info = {user->op,   user->n_inputs, in, 1, wf_planner_type(p, *out_whole),
                               user->attrs};
    *at = wf_plan_place_of(&info, input, &whole).at;
    return true;
}

// Where a reader wants the value, through views; in the whole that it is a part of, or in a buffer of its own.
static bool find_wish(const wf_planner *p, wf_id id, wf_id *out_whole, wf_strided *at)
{
    const uint32_t first = p->use_start[id], end = p->use_start[id + 1];
    *out_whole = 0;
    if (p->is_output[id])
        return false;
    if (end - first == 1 && find_in_whole(p, id, out_whole, at))
        return true;
    for (uint32_t u = first; u < end; u++) {
        const wf_node *user = &p->g->nodes[p->uses[u]];
        const weft_type *t = wf_planner_type(p, id);
        wf_strided result;
        if (!user->op->unview || user->n_inputs != 1)
            continue;
        if (!find_wish(p, user->first_output, out_whole, &result)) {
            *out_whole = 0;
            result = dense_of(p, user->first_output).at;
        }
        const wf_node_info info = {user->op,   1, t, 1, wf_planner_type(p, user->first_output),
                                   user->attrs};
        *at = (wf_strided){.ndim = t->ndim};
        memcpy(at->dims, t->dims, sizeof at->dims);
        if (user->op->unview(&info, &result, at))
            return true;
    }
    return false;
}

weft_status wf_plan_place_rows(wf_planner *p, wf_id id)
{
    wf_id whole;
    wf_strided at;
    wf_location *l = &p->locations[id];
    if (l->is_known || !find_wish(p, id, &whole, &at) || !has_rows(&at))
        return WEFT_OK;
    if (whole) {
        WEFT_TRY(wf_plan_place_value(p, whole, WF_BUFFER_ARENA));
        l->buffer = p->locations[whole].buffer;
    } else {
        WEFT_TRY(wf_plan_add_buffer(p, WF_BUFFER_ARENA,
                                    wf_plan_type_bytes(p, wf_planner_type(p, id)), &l->buffer));
    }
    l->at = at;
    l->is_known = true;
    return WEFT_OK;
}
