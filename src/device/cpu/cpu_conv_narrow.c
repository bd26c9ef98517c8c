// Forward and input gradient where a cell has a few channels of result only: first layers and their input
// gradients. Vectors run over the cells of a line, and the box is planar. Stage: PLAN -> PROGRAM, RUN.
#include "device/cpu/cpu_conv.h"

#define MAX_VECTORS 8

void wf_cpu_conv_narrow_choose(wf_cpu_conv *c, int64_t n_terms)
{
    const wf_cpu_lanes *lanes = c->lanes;
    const int64_t line = c->box.out[2], filled = wf_cpu_div_up(line, lanes->lanes) * lanes->lanes;
    bool fits = c->kind != WF_CONV_GRAD_WEIGHT && c->n_cols <= WF_CPU_PLANE_ROWS &&
                lanes->plane_vectors[c->n_cols] > 0 && n_terms <= WF_PRODUCT_BLOCK &&
                c->box.step[2] == 1;
    for (int i = 0; i < WF_CONV_AXES; i++)
        fits &= c->box.hole[i] == 1;
    // Four fifths: a tile of one vector of channels wastes about as much as that.
    c->is_narrow = fits && c->n_cols * filled * 5 <= lanes->lanes * line * 4;
    c->box.planar = c->is_narrow ? c->products : NULL;
}

size_t wf_cpu_conv_narrow_scratch(const wf_cpu_conv *c)
{
    return (size_t)(wf_cpu_div_up(c->box.floats, 16) * 16 + WF_CPU_PLANE_FLOATS) * sizeof(float);
}

// Vectors of cells on their way through the kernel.
typedef struct vectors {
    int64_t n, cells[MAX_VECTORS]; // where each begins in the box
    float *out[MAX_VECTORS];       // and in the result
    int64_t n_cells[MAX_VECTORS];
} vectors;

static void flush(const wf_cpu_conv *c, vectors *v, wf_cpu_planes *planes, int64_t most)
{
    const wf_cpu_tensor *out = c->kind == WF_CONV_FORWARD ? &c->y : &c->x;
    const int64_t lanes = c->lanes->lanes, n_rows = c->n_cols, row = most * lanes;
    for (int64_t i = v->n; i < most; i++)
        v->cells[i] = v->cells[0];
    c->lanes->planes(planes);
    for (int64_t i = 0; i < v->n; i++) {
        const float *from = planes->c + i * lanes;
        float *to = v->out[i];
        for (int64_t j = 0; j < v->n_cells[i]; j++, from++, to += out->space[2]) {
            for (int64_t k = 0; k < n_rows; k++)
                to[k * out->c] = from[k * row] + 0.0f;
        }
    }
    v->n = 0;
}

void wf_cpu_conv_narrow_unit(const wf_cpu_conv *c, int64_t item, const wf_cpu_worker *worker)
{
    const wf_cpu_box *box = &c->box;
    const wf_cpu_tensor *out = c->kind == WF_CONV_FORWARD ? &c->y : &c->x;
    const int64_t group = item % c->s.groups, lanes = c->lanes->lanes;
    const wf_cpu_unit u = wf_cpu_box_unit(box, item / c->s.groups);
    const int64_t n_lines = u.size[0] * u.size[1], most = c->lanes->plane_vectors[c->n_cols];
    float *buf = (float *)(void *)worker->scratch;
    vectors v = {.n = 0};
    wf_cpu_planes planes = {.n_rows = c->n_cols,
                            .n_terms = box->n_terms,
                            .a = c->workspace + group * wf_cpu_conv_packed_floats(c),
                            .b = wf_cpu_box_fill(box, &u, group, buf),
                            .b_terms = box->terms,
                            .b_cells = v.cells,
                            .c = buf + wf_cpu_div_up(box->floats, 16) * 16};
    for (int64_t line = 0; line < u.n_samples * n_lines; line++) {
        const int64_t sample = line / n_lines, i0 = line % n_lines / u.size[1];
        const int64_t i1 = line % u.size[1];
        const int64_t at[WF_CONV_AXES] = {u.start[0] + i0, u.start[1] + i1, u.start[2]};
        const int64_t from = sample * box->pitch_n + i0 * box->step[0] * box->pitch[0] +
                             i1 * box->step[1] * box->pitch[1];
        float *to = out->data + (u.sample + sample) * out->n + group * c->n_cols * out->c +
                    wf_cpu_conv_offset(out, at);
        for (int64_t i = 0; i < u.size[2]; i += lanes) {
            v.cells[v.n] = from + i;
            v.out[v.n] = to + i * out->space[2];
            v.n_cells[v.n++] = wf_cpu_min(lanes, u.size[2] - i);
            if (v.n == most)
                flush(c, &v, &planes, most);
        }
    }
    if (v.n > 0)
        flush(c, &v, &planes, most);
}
