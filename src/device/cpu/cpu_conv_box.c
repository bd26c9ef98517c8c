// Units of a convolution's outputs, and the box of input that each reads. Stage: PROGRAM, RUN.
//
// Copying costs a load and a store for each input cell against window x channels terms, and takes the
// edges, the stride's holes and foreign layouts out of the inner loops.
#include "device/cpu/cpu_conv.h"

#include <string.h>

#define BOX_FLOATS (48 << 10)    // of a box: with the weights at hand it stays in L2
#define LARGE_FLOATS (160 << 10) // where weights come from further anyway, or lines overlap much
#define BOX_MAX_FLOATS (1 << 20) // where even a few cells need more than the first
#define MIN_CELLS 16             // a unit of fewer is not worth its box
#define PLANAR_SLACK 16          // floats of the longest vector

static int64_t get_extent(const wf_cpu_box *b, int axis, int64_t size)
{
    return (size - 1) * b->step[axis] + (b->window[axis] - 1) * b->dilation[axis] + 1;
}

// Floats between neighbouring cells of a box: a large power of two would use a few lines of L1 only.
static int64_t get_cell_pitch(const wf_cpu_box *b)
{
    return b->channels >= 128 && b->channels % 64 == 0 ? b->channels + 16 : b->channels;
}

// Behind a planar box: vectors end past the last line, and so do the zeros of what is packed last.
static int64_t get_slack(const wf_cpu_box *b)
{
    return b->planar ? PLANAR_SLACK + (b->base[2] < 0 ? -b->base[2] : 0) : 0;
}

static double get_floats(const wf_cpu_box *b, int64_t n_samples, const int64_t *size)
{
    double floats = (double)(b->planar ? b->channels : get_cell_pitch(b)) * (double)n_samples;
    for (int i = 0; i < WF_CONV_AXES; i++)
        floats *= (double)get_extent(b, i, size[i]);
    return b->is_direct ? 0.0 : floats + (double)get_slack(b);
}

static bool is_inside(const wf_cpu_box *b)
{
    for (int i = 0; i < WF_CONV_AXES; i++) {
        if (b->hole[i] != 1 || b->base[i] < 0 ||
            b->base[i] + get_extent(b, i, b->out[i]) > b->src_size[i])
            return false;
    }
    return b->src.c == 1 || b->channels == 1;
}

// Grows the unit axis by axis from the last, then by samples, while it fits.
static void grow(wf_cpu_box *b, int64_t target, double max_floats)
{
    int64_t *size = b->unit_size, n_cells = 1;
    b->unit_samples = 1;
    for (int i = 0; i < WF_CONV_AXES; i++)
        size[i] = 1;
    for (int i = WF_CONV_AXES - 1; i >= 0; i--) {
        while (size[i] < b->out[i]) {
            size[i]++;
            if (n_cells * size[i] > target || get_floats(b, 1, size) > max_floats) {
                size[i]--;
                break;
            }
        }
        n_cells *= size[i];
        if (size[i] < b->out[i]) {
            // Slices of one size, as far as they go.
            size[i] = wf_cpu_div_up(b->out[i], wf_cpu_div_up(b->out[i], size[i]));
            return;
        }
    }
    while (b->unit_samples < b->n && (b->unit_samples + 1) * n_cells <= target &&
           get_floats(b, b->unit_samples + 1, size) <= max_floats)
        b->unit_samples++;
    b->unit_samples = wf_cpu_div_up(b->n, wf_cpu_div_up(b->n, b->unit_samples));
}

static void set_pitches(wf_cpu_box *b)
{
    const int64_t line = get_extent(b, 2, b->unit_size[2]);
    b->pitch_c = b->planar ? line : 1;
    b->pitch[2] = b->planar ? 1 : get_cell_pitch(b);
    b->pitch[1] = b->planar ? b->channels * line : b->pitch[2] * line;
    b->pitch[0] = b->pitch[1] * get_extent(b, 1, b->unit_size[1]);
    b->pitch_n = b->pitch[0] * get_extent(b, 0, b->unit_size[0]);
    if (b->is_direct) {
        memcpy(b->pitch, b->src.space, sizeof b->pitch);
        b->pitch_n = b->src.n;
    }
}

bool wf_cpu_box_cut(wf_cpu_box *b, int64_t target)
{
    b->is_direct = !b->planar && is_inside(b);
    for (double max_floats = b->is_large ? LARGE_FLOATS : BOX_FLOATS;; max_floats *= 4) {
        grow(b, target, max_floats);
        b->unit_cells = b->unit_samples * wf_conv_volume(b->unit_size);
        const double floats = get_floats(b, b->unit_samples, b->unit_size);
        if (floats <= max_floats &&
            (b->unit_cells >= wf_cpu_min(target, MIN_CELLS) ||
             b->unit_cells == b->n * wf_conv_volume(b->out) || max_floats >= BOX_MAX_FLOATS)) {
            b->floats = (int64_t)floats;
            break;
        }
        if (max_floats >= BOX_MAX_FLOATS)
            return false;
    }
    b->n_units = wf_cpu_div_up(b->n, b->unit_samples);
    for (int i = 0; i < WF_CONV_AXES; i++)
        b->n_units *= wf_cpu_div_up(b->out[i], b->unit_size[i]);
    b->n_terms = wf_conv_volume(b->window) * b->channels;
    set_pitches(b);
    return true;
}

weft_status wf_cpu_box_tables(wf_cpu_box *b, wf_cpu_lower *q, weft_error *err)
{
    int64_t *cells, *terms, at[WF_CONV_AXES];
    WEFT_TRY(wf_cpu_take(q, (size_t)b->unit_cells, sizeof *cells, &cells, err));
    WEFT_TRY(wf_cpu_take(q, (size_t)b->n_terms, sizeof *terms, &terms, err));
    const int64_t per_sample = wf_conv_volume(b->unit_size);
    for (int64_t i = 0; i < b->unit_cells; i++) {
        wf_conv_split(i % per_sample, b->unit_size, at);
        cells[i] = i / per_sample * b->pitch_n;
        for (int a = 0; a < WF_CONV_AXES; a++)
            cells[i] += at[a] * b->step[a] * b->pitch[a];
    }
    for (int64_t i = 0; i < b->n_terms; i++) {
        wf_conv_split(i / b->channels, b->window, at);
        terms[i] = i % b->channels * b->pitch_c;
        for (int a = 0; a < WF_CONV_AXES; a++) {
            const int64_t t = b->is_flipped ? b->window[a] - 1 - at[a] : at[a];
            terms[i] += t * b->dilation[a] * b->pitch[a];
        }
    }
    b->cells = cells;
    b->terms = terms;
    return WEFT_OK;
}

wf_cpu_unit wf_cpu_box_unit(const wf_cpu_box *b, int64_t idx)
{
    wf_cpu_unit u;
    int64_t cell = 0, n_cells = 1;
    for (int i = WF_CONV_AXES - 1; i >= 0; i--) {
        const int64_t n = wf_cpu_div_up(b->out[i], b->unit_size[i]);
        u.start[i] = idx % n * b->unit_size[i];
        u.size[i] = wf_cpu_min(b->unit_size[i], b->out[i] - u.start[i]);
        idx /= n;
        n_cells *= u.size[i];
    }
    for (int i = 0; i < WF_CONV_AXES; i++)
        cell = cell * b->out[i] + u.start[i];
    u.sample = idx * b->unit_samples;
    u.n_samples = wf_cpu_min(b->unit_samples, b->n - u.sample);
    u.first_cell = u.sample * wf_conv_volume(b->out) + cell;
    u.n_cells = u.n_samples * n_cells;
    return u;
}

// The unit that holds a cell: units hold consecutive cells, so a search by halves finds it.
int64_t wf_cpu_box_find(const wf_cpu_box *box, int64_t cell)
{
    int64_t low = 0, high = box->n_units;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (wf_cpu_box_unit(box, middle).first_cell <= cell)
            low = middle;
        else
            high = middle;
    }
    return low;
}

// Where place `at` of an axis lies in src; -1: nowhere.
static int64_t get_src(const wf_cpu_box *b, int axis, int64_t at)
{
    const int64_t hole = b->hole[axis];
    if (at < 0)
        return -1;
    if (hole > 1) {
        if (at % hole)
            return -1;
        at /= hole;
    }
    return at < b->src_size[axis] ? at : -1;
}

int64_t wf_cpu_box_place(const wf_cpu_box *b, int axis, int64_t out, int64_t tap)
{
    const int64_t t = b->is_flipped ? b->window[axis] - 1 - tap : tap;
    return get_src(b, axis, out * b->step[axis] + b->base[axis] + t * b->dilation[axis]);
}

void wf_cpu_box_lines(const wf_cpu_box *b, const float *sample, const int64_t o[WF_CONV_AXES],
                      const float **lines)
{
    for (int64_t r0 = 0; r0 < b->window[0]; r0++) {
        const int64_t at0 = wf_cpu_box_place(b, 0, o[0], r0);
        for (int64_t r1 = 0; r1 < b->window[1]; r1++) {
            const int64_t at1 = wf_cpu_box_place(b, 1, o[1], r1);
            *lines++ =
                at0 < 0 || at1 < 0 ? NULL : sample + at0 * b->src.space[0] + at1 * b->src.space[1];
        }
    }
}

// One line of places along the last axis.
static void fill_line(const wf_cpu_box *b, const float *src, int64_t first, int64_t n, float *to)
{
    const int64_t pitch = b->pitch[2], hole = b->hole[2];
    if (hole == 1 && b->src.c == 1 && pitch == b->channels && b->src.space[2] == pitch) {
        const int64_t before = first < 0 ? wf_cpu_min(-first, n) : 0;
        const int64_t end = wf_cpu_min(n, b->src_size[2] - first);
        memset(to, 0, (size_t)(before * pitch) * sizeof *to);
        if (end > before) {
            memcpy(to + before * pitch, src + (first + before) * pitch,
                   (size_t)((end - before) * pitch) * sizeof *to);
        }
        const int64_t after = end > before ? end : before;
        memset(to + after * pitch, 0, (size_t)((n - after) * pitch) * sizeof *to);
        return;
    }
    for (int64_t i = 0; i < n; i++, to += pitch) {
        const int64_t at = get_src(b, 2, first + i);
        if (at < 0) {
            memset(to, 0, (size_t)b->channels * sizeof *to);
        } else if (b->src.c == 1) {
            memcpy(to, src + at * b->src.space[2], (size_t)b->channels * sizeof *to);
        } else {
            for (int64_t c = 0; c < b->channels; c++)
                to[c] = src[at * b->src.space[2] + c * b->src.c];
        }
    }
}

// One line of a planar box. What is packed is followed by zeros to the line's length: those of one channel
// begin the next, those of the last the line behind, which comes later.
static void fill_planes(const wf_cpu_box *b, const float *src, int64_t first, int64_t n, float *to)
{
    const int64_t before = first < 0 ? wf_cpu_min(-first, n) : 0;
    const int64_t end = wf_cpu_min(n, b->src_size[2] - first);
    if (end <= before) {
        memset(to, 0, (size_t)b->pitch[1] * sizeof *to);
        return;
    }
    memset(to, 0, (size_t)before * sizeof *to);
    b->planar->pack(to + before, b->pitch_c, src + (first + before) * b->src.space[2], b->src.c,
                    b->src.space[2], b->channels, end - before);
}

const float *wf_cpu_box_fill(const wf_cpu_box *b, const wf_cpu_unit *u, int64_t group, float *buf)
{
    const float *src = b->src.data + u->sample * b->src.n + group * b->channels * b->src.c;
    int64_t first[WF_CONV_AXES], extent[WF_CONV_AXES];
    for (int i = 0; i < WF_CONV_AXES; i++) {
        first[i] = u->start[i] * b->step[i] + b->base[i];
        extent[i] = get_extent(b, i, u->size[i]);
    }
    if (b->is_direct) {
        return src + first[0] * b->src.space[0] + first[1] * b->src.space[1] +
               first[2] * b->src.space[2];
    }
    for (int64_t n = 0; n < u->n_samples; n++) {
        for (int64_t i = 0; i < extent[0]; i++) {
            const int64_t at0 = get_src(b, 0, first[0] + i);
            for (int64_t j = 0; j < extent[1]; j++) {
                const int64_t at1 = get_src(b, 1, first[1] + j);
                float *to = buf + n * b->pitch_n + i * b->pitch[0] + j * b->pitch[1];
                const float *from =
                    src + n * b->src.n + at0 * b->src.space[0] + at1 * b->src.space[1];
                if (at0 < 0 || at1 < 0)
                    memset(to, 0, (size_t)b->pitch[1] * sizeof *to);
                else if (b->planar)
                    fill_planes(b, from, first[2], extent[2], to);
                else
                    fill_line(b, from, first[2], extent[2], to);
            }
        }
    }
    const int64_t slack = get_slack(b);
    memset(buf + b->floats - slack, 0, (size_t)slack * sizeof *buf);
    return buf;
}
