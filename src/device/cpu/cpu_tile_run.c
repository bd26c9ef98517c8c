// The tile interpreter's loop: steps over one tile. Stage: RUN.
#include "device/cpu/cpu_tile.h"

#include <string.h>

#define LINE 64 // bytes of a cache

size_t wf_cpu_reduce_part_bytes(const wf_cpu_reduce *reduce, int p)
{
    if (p == 0)
        return weft_dtype_size(reduce->dtype);
    if (reduce->kind == WF_REDUCE_MOMENTS || (reduce->kind == WF_REDUCE_ARGMAX && p == 1))
        return 4; // M2, count; index
    return 0;
}

static size_t outer_slot_bytes(const wf_cpu_lowered *tiles)
{
    return wf_round_up((size_t)tiles->n_outer_max * 8, 64);
}

wf_cpu_parts wf_cpu_run_parts(const wf_cpu_run *run, uint32_t reduce_idx)
{
    const wf_cpu_step *step = &run->tiles->steps[run->tiles->reduce_steps[reduce_idx]];
    wf_cpu_parts parts;
    for (size_t p = 0; p < WF_CPU_N_PARTS; p++)
        parts.part[p] = run->scratch + step->slot + p * outer_slot_bytes(run->tiles);
    return parts;
}

void wf_cpu_run_set_reduced(wf_cpu_run *run, uint32_t reduce_idx, const wf_cpu_parts *parts)
{
    const uint32_t idx = run->tiles->reduce_steps[reduce_idx];
    const bool is_argmax = run->tiles->steps[idx].reduce->kind == WF_REDUCE_ARGMAX;
    run->results[reduce_idx] = *parts;
    run->val[idx] = parts->part[is_argmax ? 1 : 0];
}

// The first row of a tile becomes all n of them.
static void repeat_row(char *tile, size_t row_bytes, int64_t n)
{
    for (int64_t done = 1; done < n;) {
        const int64_t more = done < n - done ? done : n - done;
        memcpy(tile + (size_t)done * row_bytes, tile, (size_t)more * row_bytes);
        done += more;
    }
}

static void gather(const wf_cpu_elementwise *e, const wf_cpu_operand *op, char *dst,
                   const wf_cpu_tile *t)
{
    if (t->na > 1 && wf_cpu_group_is_constant(&op->a)) {
        const wf_cpu_tile row = {t->a0, 1, t->b0, t->nb};
        wf_cpu_tile_gather(e, dst, op, &row);
        repeat_row(dst, (size_t)t->nb << op->size_log2, t->na);
    } else {
        wf_cpu_tile_gather(e, dst, op, t);
    }
}

// A tile of the block as an operand of its own, from index 0 on.
static wf_cpu_operand block_operand(const wf_cpu_block *block, const wf_cpu_tile *t)
{
    const float *at = block->data + (t->a0 - block->a0) * block->pitch + t->b0 - block->b0;
    return (wf_cpu_operand){.data = (char *)(uintptr_t)at, // only read
                            .size_log2 = 2,
                            .a = {1, {t->na}, {block->pitch}},
                            .b = {1, {t->nb}, {1}}};
}

static void run_load(wf_cpu_run *run, const wf_cpu_step *step, uint32_t idx, const wf_cpu_tile *t)
{
    const wf_cpu_operand *op = &run->tiles->operands[step->operand];
    wf_cpu_operand block;
    wf_cpu_tile own;
    if (step->is_block) {
        block = block_operand(run->block, t);
        own = (wf_cpu_tile){0, t->na, 0, t->nb};
        op = &block;
        t = &own;
    }
    int64_t pitch = t->nb;
    char *at = step->is_gathered ? NULL : wf_cpu_operand_locate(op, t, &pitch);
    if (!at || (pitch != t->nb && !step->has_pitch)) {
        at = run->scratch + step->slot;
        pitch = t->nb;
        gather(run->tiles->elementwise, op, at, t);
    }
    run->val[idx] = at;
    run->pitch[idx] = pitch;
}

// The operand's own memory for a tile, when it is one block.
static char *locate_block(const wf_cpu_run *run, uint32_t operand, const wf_cpu_tile *t)
{
    int64_t pitch;
    char *at = wf_cpu_operand_locate(&run->tiles->operands[operand], t, &pitch);
    return at && pitch == t->nb ? at : NULL;
}

static void run_store(wf_cpu_run *run, const wf_cpu_step *step, const wf_cpu_tile *t)
{
    const char *from = run->val[step->args[0]];
    char *at = locate_block(run, step->operand, t);
    if (!at) {
        wf_cpu_tile_scatter(run->tiles->elementwise, &run->tiles->operands[step->operand], from, t);
    } else if (step->is_streamed) {
        run->tiles->elementwise->stream(at, from, (size_t)(t->na * t->nb) << step->size_log2);
    } else if (at != from) {
        memcpy(at, from, (size_t)(t->na * t->nb) << step->size_log2);
    }
}

static void run_iota(wf_cpu_run *run, const wf_cpu_step *step, uint32_t idx, const wf_cpu_tile *t)
{
    const wf_cpu_operand *op = &run->tiles->operands[step->operand];
    for (int64_t i = 0; i < t->na; i++) {
        const wf_cpu_stretch a = wf_cpu_group_stretch(&op->a, t->a0 + i, 1);
        for (int64_t j = 0; j < t->nb;) {
            const wf_cpu_stretch b = wf_cpu_group_stretch(&op->b, t->b0 + j, t->nb - j);
            char *at = run->val[idx] + (i * t->nb + j) * ((int64_t)1 << step->size_log2);
            run->tiles->elementwise->iota(at, step->dtype,
                                          a.offset + b.offset + (int64_t)step->bits, b.stride,
                                          (size_t)b.len);
            j += b.len;
        }
    }
}

// Four stretches of one length lie one behind the other in the tile, each one element on from the
// last, and share the blocks that numbers are made in: channels last, four cells side by side.
static bool are_four_rows(const wf_cpu_group *g, const wf_cpu_stretch *b, int64_t first, int64_t at,
                          int64_t n)
{
    const int32_t last = g->ndim - 1;
    if (g->ndim < 2 || g->strides[last - 1] != 1 || b->len != g->dims[last] || n < 4 * b->len)
        return false;
    const int64_t row = at / b->len % g->dims[last - 1];
    return first % 4 == 0 && b->stride % 4 == 0 && row + 4 <= g->dims[last - 1];
}

// Stretches of the logical index. The numbers of a tile of rows are one group when rows follow each other.
static void run_random(wf_cpu_run *run, const wf_cpu_step *step, uint32_t idx, const wf_cpu_tile *t)
{
    const wf_cpu_operand *op = &run->tiles->operands[step->operand];
    const wf_cpu_randoms *randoms = run->tiles->randoms;
    wf_cpu_random random = step->random;
    random.seed = *(const int64_t *)(const void *)run->val[step->args[0]];
    random.step = *(const int64_t *)(const void *)run->val[step->args[1]];
    const bool may_share = random.kind != WF_RANDOM_NORMAL;
    for (int64_t i = 0; i < t->na;) {
        wf_cpu_stretch a = wf_cpu_group_stretch(&op->a, t->a0 + i, t->na - i);
        int64_t n_rows = 1;
        for (int64_t j = 0; j < t->nb;) {
            wf_cpu_stretch b = wf_cpu_group_stretch(&op->b, t->b0 + j, t->nb - j);
            uint32_t *at = (uint32_t *)(void *)run->val[idx] + i * t->nb + j;
            const int64_t first = a.offset + b.offset;
            if (b.len == t->nb && a.stride == b.stride * b.len) {
                n_rows = a.len; // they follow each other
                b.len *= a.len;
                randoms->numbers(at, &random, first, b.stride, (size_t)b.len);
                break;
            }
            if (may_share && are_four_rows(&op->b, &b, first, t->b0 + j, t->nb - j)) {
                randoms->four_rows(at, b.len, &random, first, b.stride, (size_t)b.len);
                j += 4 * b.len;
                continue;
            }
            randoms->numbers(at, &random, first, b.stride, (size_t)b.len);
            j += b.len;
        }
        i += n_rows;
    }
}

static void run_repeat(wf_cpu_run *run, const wf_cpu_step *step, uint32_t idx)
{
    const wf_cpu_tile *t = &run->tile;
    const char *from = run->val[step->args[0]];
    if (run->tiles->kind == WF_KERNEL_COLUMN) {
        memcpy(run->val[idx], from, (size_t)t->nb << step->size_log2);
        repeat_row(run->val[idx], (size_t)t->nb << step->size_log2, t->na);
        return;
    }
    run->tiles->elementwise->spreads[step->size_log2](run->val[idx], from, (size_t)t->na,
                                                      (size_t)t->nb);
}

static void run_reduce(wf_cpu_run *run, const wf_cpu_step *step)
{
    const wf_cpu_tile *t = &run->tile;
    const uint32_t arg = step->args[0];
    const bool has_pitch = run->tiles->steps[arg].kind == WF_CPU_STEP_LOAD;
    const int64_t pitch = has_pitch ? run->pitch[arg] : t->nb;
    const wf_cpu_parts *parts = &run->parts[step->reduce_idx];
    if (run->tiles->kind == WF_KERNEL_COLUMN) {
        step->reduce->column_rows(parts, run->val[arg], (size_t)t->na, pitch, (size_t)t->nb,
                                  run->first_idx);
    } else {
        step->reduce->row_chunks(parts, run->val[arg], (size_t)t->na, pitch, (size_t)t->nb,
                                 run->first_idx);
    }
}

static void run_step(wf_cpu_run *run, uint32_t idx)
{
    const wf_cpu_step *step = &run->tiles->steps[idx];
    const wf_cpu_tile *t = step->is_outer ? &run->outer : &run->tile;
    const size_t n = (size_t)(t->na * t->nb);
    if (n == 0 && step->kind != WF_CPU_STEP_REDUCE)
        return; // a row of nothing: only its sum is something
    switch (step->kind) {
    case WF_CPU_STEP_LOAD: run_load(run, step, idx, t); break;
    case WF_CPU_STEP_CONST:
        run->tiles->elementwise->copies[step->size_log2](run->val[idx], 1, &step->bits, 0, n);
        break;
    case WF_CPU_STEP_IOTA: run_iota(run, step, idx, t); break;
    case WF_CPU_STEP_RANDOM: run_random(run, step, idx, t); break;
    case WF_CPU_STEP_APPLY:
        if (step->direct != WF_CPU_NO_OPERAND) {
            char *at = locate_block(run, step->direct, t);
            run->val[idx] = at ? at : run->scratch + step->slot;
        }
        step->apply(run->val[idx], run->val[step->args[0]], run->val[step->args[1]],
                    run->val[step->args[2]], n);
        break;
    case WF_CPU_STEP_REPEAT: run_repeat(run, step, idx); break;
    case WF_CPU_STEP_REDUCE: run_reduce(run, step); break;
    case WF_CPU_STEP_SECOND: {
        const wf_cpu_parts *parts = &run->results[step->reduce_idx];
        run->tiles->reduces->variance((float *)(void *)run->val[idx], parts->part[1],
                                      parts->part[2], n);
        break;
    }
    case WF_CPU_STEP_STORE: run_store(run, step, t); break;
    }
}

void wf_cpu_run_begin(wf_cpu_run *run, const wf_cpu_lowered *tiles, char *scratch)
{
    run->tiles = tiles;
    run->scratch = scratch;
    run->val = (char **)(void *)scratch;
    run->pitch = (int64_t *)(void *)(scratch + tiles->n_steps * sizeof(char *));
    run->parts = (wf_cpu_parts *)(void *)(run->pitch + tiles->n_steps);
    run->results = run->parts + tiles->n_reduces;
    for (uint32_t i = 0; i < tiles->n_steps; i++)
        run->val[i] = scratch + tiles->steps[i].slot;
    for (uint32_t i = 0; i < tiles->n_reduces; i++) {
        run->parts[i] = wf_cpu_run_parts(run, i);
        wf_cpu_run_set_reduced(run, i, &run->parts[i]);
    }
    run->first_idx = 0;
    run->n_ahead = 0;
    run->lines_ahead = 0;
    run->block = NULL;
    run->period = (wf_cpu_tile){0, 0, 0, 0};
    wf_cpu_run_set_tile(run, 0, tiles->tile_a, 0, tiles->tile_b);
    for (size_t i = 0; i < tiles->once.n; i++)
        run_step(run, tiles->once.steps[i]);
}

void wf_cpu_run_set_next(wf_cpu_run *run, wf_cpu_tile next)
{
    const wf_cpu_lowered *t = run->tiles;
    run->n_ahead = 0;
    run->lines_ahead = 0;
    for (uint32_t i = 0; i < t->n_steps && run->n_ahead < WF_CPU_MAX_AHEAD; i++) {
        const wf_cpu_step *step = &t->steps[i];
        int64_t pitch;
        if (step->kind != WF_CPU_STEP_LOAD || step->time != WF_CPU_TIME_POINT || step->is_outer ||
            step->is_block)
            continue;
        const char *at = wf_cpu_operand_locate(&t->operands[step->operand], &next, &pitch);
        if (!at || pitch == 0)
            continue;
        const bool is_block = pitch == next.nb;
        const int64_t n_rows = is_block ? 1 : next.na;
        const int64_t row = (is_block ? next.na * next.nb : next.nb) << step->size_log2;
        const int64_t per_row = (row + LINE - 1) / LINE;
        run->ahead[run->n_ahead++] =
            (wf_cpu_rows_ahead){at, n_rows * per_row, per_row, pitch << step->size_log2, 0};
        run->lines_ahead += n_rows * per_row;
    }
}

static void fetch(wf_cpu_run *run, int64_t n)
{
    while (run->n_ahead > 0) {
        wf_cpu_rows_ahead *r = &run->ahead[run->n_ahead - 1];
        for (; n > 0 && r->n_lines > 0; n--, r->n_lines--) {
            __builtin_prefetch(r->at + r->line * LINE, 0, 2);
            if (++r->line == r->lines_per_row) {
                r->line = 0;
                r->at += r->pitch_bytes;
            }
        }
        if (r->n_lines > 0)
            return;
        run->n_ahead--;
    }
}

void wf_cpu_run_points(wf_cpu_run *run, const wf_cpu_list *list)
{
    const wf_cpu_list *period = &run->tiles->period;
    const bool is_current = run->period.b0 == run->tile.b0 && run->period.nb == run->tile.nb &&
                            run->period.na >= run->tile.na;
    if (period->n > 0 && !is_current) {
        for (size_t i = 0; i < period->n; i++)
            run_step(run, period->steps[i]);
        run->period = run->tile;
    }
    const int64_t share = run->n_ahead > 0 ? run->lines_ahead / (int64_t)list->n + 1 : 0;
    for (size_t i = 0; i < list->n; i++) {
        if (share)
            fetch(run, share);
        run_step(run, list->steps[i]);
    }
}

void wf_cpu_run_outer(wf_cpu_run *run, const wf_cpu_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        run_step(run, list->steps[i]);
}
