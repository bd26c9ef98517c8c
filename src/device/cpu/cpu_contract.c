// CONTRACT tasks: matrix products of packed panels and register tiles. Stage: PLAN -> PROGRAM, RUN.
//
// Letters: c[m,n] = sum over k of a[m,k] * b[k,n], in any strides. An item is a part of c; its rows of
// a are copied once per pass over k where several panels read them and they lie badly: terms apart, or
// rows that fight for the same lines of a cache. b is packed in the workspace, by a phase before, when
// several items share it; else each item packs what it needs, and a few rows read whole panels where they
// are.
//
// A few rows whose matrix has its terms side by side pack nothing (cpu_gemm_few.c); a few columns are
// that product with a and b exchanged.
#include "device/cpu/cpu_epilogue.h"
#include "device/cpu/cpu_panel.h"

#include <string.h>

#define MAX_PANELS 16         // panels of columns in an item
#define MIN_ITEMS 8           // a product of some size is cut for as many threads at least
#define ITEM_FLOPS 1e6        // and not into smaller items than this
#define MIN_ITEM_ROWS 16      // what reading b costs, as rows of arithmetic
#define MIN_SHARED_ROWS 64    // of an item, before its columns are cut
#define MIN_SHARED_PANELS 4   // of an item that would copy its rows, before its rows are cut
#define COPY_PAD 16           // floats between copied rows
#define COPY_ROWS 16          // rows side by side in a copy whose terms were apart
#define MAX_ITEM_ROWS 384     // of any instruction set; a multiple of COPY_ROWS
#define NEAR_FLOATS (1 << 13) // fit L1
#define FAR_FLOATS (1 << 19)  // do not fit L2
#define FIGHTING_ROWS 2048    // floats from row to row
#define PACK_TERMS 64         // of an item that packs rows
#define PACK_STEP 16          // of them side by side

typedef struct matrix {
    const wf_view *view;
    float *data;
    int64_t row, column; // strides
} matrix;

// How a product is cut: from its sizes and the tile's alone.
typedef struct cut {
    int64_t n_batches, m, n, k;
    int64_t item_rows, item_cols; // of an item
    int64_t n_row_items, n_col_items;
    bool is_few;       // rows, and b's terms lie side by side
    bool is_exchanged; // a and b, m and n: c transposed
    bool is_packed;    // b, in the workspace
} cut;

typedef struct contract_params {
    const wf_cpu_products *products;
    matrix a, b, c;
    cut cut;
    float *packed;
    const int64_t *a_rows, *a_terms; // offsets in a, or in its copy
    bool is_a_copied;
    bool is_a_far;    // larger than L2 and read in place: the first panel fetches rows ahead
    bool is_b_far;    // larger than L2: the next panel is fetched during one
    bool is_b_direct; // whole panels are read from b itself
    bool is_c_direct; // tiles store in c itself
    const wf_cpu_epilogue *epilogue; // NULL: none, and c is stored
    size_t epilogue_scratch;         // where its scratch begins
} contract_params;

static float *get_batch(const matrix *x, int64_t batch)
{
    float *data = x->data;
    for (int32_t i = x->view->type.ndim - 3; i >= 0; i--) {
        data += batch % x->view->type.dims[i] * x->view->strides[i];
        batch /= x->view->type.dims[i];
    }
    return data;
}

// A scan's weight is packed by the first step, in the workspace that all its steps share.
static bool is_b_steady(const wf_task *task)
{
    return task->first_step != WF_NO_INDEX && (task->steady_inputs & 2) != 0;
}

// Do the terms of operand 0 or 1 lie side by side?
static bool has_terms_together(const wf_task *task, int operand)
{
    const wf_view *view = &task->inputs[operand];
    const bool is_transposed = task->node->attrs[operand].u.i != 0;
    return view->strides[view->type.ndim - (is_transposed == (operand == 0) ? 2 : 1)] == 1;
}

// So few rows that packing a weight of which nothing changes between runs would take a good part of them.
#define KEPT_ROWS 512
static bool keeps_packed(const wf_task *task)
{
    const weft_type *out = &wf_task_product(task)->type;
    return (task->fixed_inputs & 2) != 0 && out->dims[out->ndim - 2] <= KEPT_ROWS;
}

// A few rows of tiles wait for their chains, and packing would cost more than they do, unless a scan packs
// once for all its steps; a few columns leave lanes empty.
static void find_few(const wf_cpu_tile_sizes *s, const wf_task *task, cut *q)
{
    q->is_few = q->m <= WF_CPU_FEW && has_terms_together(task, 1) && !is_b_steady(task) &&
                !keeps_packed(task);
    q->is_exchanged = !q->is_few && q->n <= WF_CPU_FEW && q->n % s->lanes != 0 &&
                      q->m >= s->lanes && has_terms_together(task, 0);
    if (q->is_exchanged) {
        const int64_t m = q->m;
        q->m = q->n;
        q->n = m;
        q->is_few = true;
    }
}

static cut get_cut(const wf_cpu_tile_sizes *s, const wf_task *task)
{
    const weft_type *out = &wf_task_product(task)->type, *a = &task->inputs[0].type;
    const bool is_ta = task->node->attrs[0].u.i != 0;
    cut q = {.n_batches = 1};
    for (int32_t i = 0; i < out->ndim - 2; i++)
        q.n_batches *= out->dims[i];
    q.m = out->dims[out->ndim - 2];
    q.n = out->dims[out->ndim - 1];
    q.k = a->dims[a->ndim - (is_ta ? 2 : 1)];
    if (q.n_batches * q.m * q.n == 0)
        return q;
    find_few(s, task, &q);
    const int64_t tiles = wf_cpu_div_up(q.m, s->rows), vectors = wf_cpu_div_up(q.n, s->lanes);
    // Rows whose terms lie apart are copied where columns enough are there to read them.
    const bool is_apart = !has_terms_together(task, 0);
    // Sums that wait for their block's end or for an epilogue want room, too.
    const int64_t share = wf_product_n_blocks(q.k) > 1 || task->epilogue ? 2 : 1;
    int64_t n_row_cuts = q.is_few ? 1 : wf_cpu_div_up(q.m, s->item_rows / share);
    int64_t n_col_cuts = wf_cpu_div_up(vectors * s->lanes, MAX_PANELS * s->cols / share);
    for (;;) {
        q.item_rows = wf_cpu_min(wf_cpu_div_up(tiles, n_row_cuts) * s->rows, q.m);
        q.item_cols = wf_cpu_min(wf_cpu_div_up(vectors, n_col_cuts) * s->lanes, q.n);
        q.n_row_items = wf_cpu_div_up(q.m, q.item_rows);
        q.n_col_items = wf_cpu_div_up(q.n, q.item_cols);
        const int64_t rows = q.item_rows > MIN_ITEM_ROWS ? q.item_rows : MIN_ITEM_ROWS;
        const double flops = 2.0 * (double)(rows * q.item_cols) * (double)q.k;
        if (q.n_batches * q.n_row_items * q.n_col_items >= MIN_ITEMS || flops < 2 * ITEM_FLOPS)
            break;
        // Cutting rows makes items share b, cutting columns makes them copy the same rows.
        const bool is_low = q.item_rows <= MIN_SHARED_ROWS;
        const bool is_narrow = is_apart && q.item_cols <= MIN_SHARED_PANELS * s->cols;
        if ((!is_low && (n_row_cuts > 1 || is_narrow)) || q.item_cols <= s->cols) {
            if (q.item_rows <= s->rows || q.is_few)
                break;
            n_row_cuts *= 2;
        } else {
            n_col_cuts *= 2;
        }
    }
    q.is_packed = !q.is_few && (q.n_row_items > 1 || is_b_steady(task) || keeps_packed(task));
    return q;
}

static size_t workspace(const wf_cpu_device *dev, const wf_task *task)
{
    const wf_cpu_tile_sizes *s = dev->kernels->products->sizes;
    const cut q = get_cut(s, task);
    return q.is_packed ? (size_t)(q.n_batches * wf_cpu_packed_floats(s, q.n, q.k)) * sizeof(float)
                       : 0;
}

// Terms side by side are packed a panel at a time; else a few terms of all columns: both read b in order.
static int64_t get_n_panels(const wf_cpu_tile_sizes *s, const contract_params *p)
{
    // The last two may share what one would hold.
    return p->b.row == 1 ? wf_cpu_div_up(p->cut.item_cols, s->cols) + 1 : 1;
}

static int64_t get_pack_terms(const contract_params *p)
{
    return p->b.row == 1 ? WF_CPU_MAX_PASS_TERMS : PACK_TERMS;
}

static int64_t get_n_packs(const contract_params *p)
{
    const cut *q = &p->cut;
    return q->n_batches * q->n_col_items * get_n_panels(p->products->sizes, p) *
           wf_cpu_div_up(q->k, get_pack_terms(p));
}

// Item: some terms of one panel, or of all, of the columns of one item of c.
static void run_pack(const void *params, int64_t item, const wf_cpu_worker *worker)
{
    const contract_params *p = params;
    const cut *q = &p->cut;
    const wf_cpu_tile_sizes *s = p->products->sizes;
    const int64_t terms = get_pack_terms(p), n_cuts = wf_cpu_div_up(q->k, terms);
    const int64_t n_panels = get_n_panels(s, p), panel = item / n_cuts % n_panels;
    const int64_t begin = item % n_cuts * terms, end = wf_cpu_min(begin + terms, q->k);
    item /= n_cuts * n_panels;
    const int64_t n0 = item % q->n_col_items * q->item_cols, batch = item / q->n_col_items;
    const int64_t n1 = wf_cpu_min(n0 + q->item_cols, q->n), step = n_panels > 1 ? terms : PACK_STEP;
    float *packed = p->packed + batch * wf_cpu_packed_floats(s, q->n, q->k);
    const float *b = get_batch(&p->b, batch);
    (void)worker;
    for (int64_t k0 = begin, k1; k0 < end; k0 = k1) {
        k1 = wf_cpu_min(k0 + step, end);
        for (int64_t j0 = n0, i = 0, width; j0 < n1; j0 += width, i++) {
            width = wf_cpu_panel_width(s, n1, j0);
            if (n_panels > 1 && i != panel)
                continue;
            p->products->pack(packed + j0 * q->k + k0 * width, width,
                              b + j0 * p->b.column + k0 * p->b.row, p->b.row, p->b.column, k1 - k0,
                              wf_cpu_min(width, n1 - j0));
        }
    }
}

// One item at work: where its operands begin, and its part of the scratch.
typedef struct part {
    int64_t batch, m0, n0, n_rows, n_cols;
    const float *a, *b, *packed;
    float *a_copy, *panel, *sums;
    float *to; // chains: c itself, or sums
    int64_t to_row, to_col;
} part;

static int64_t get_copy_floats(const contract_params *p)
{
    const int64_t pass = wf_cpu_pass_terms(p->products->sizes);
    return p->is_a_copied ? (p->cut.item_rows + COPY_PAD) * (pass + COPY_PAD) : 0;
}

static int64_t get_panel_floats(const contract_params *p)
{
    const wf_cpu_tile_sizes *s = p->products->sizes;
    return p->cut.is_few || p->cut.is_packed ? 0 : wf_cpu_pass_terms(s) * s->cols;
}

static float *get_c(const contract_params *p, const part *r)
{
    return get_batch(&p->c, r->batch) + r->m0 * p->c.row + r->n0 * p->c.column;
}

static part get_part(const contract_params *p, int64_t item, const wf_cpu_worker *worker)
{
    const cut *q = &p->cut;
    const wf_cpu_tile_sizes *s = p->products->sizes;
    const int64_t j = item % q->n_col_items;
    item /= q->n_col_items;
    const int64_t i = item % q->n_row_items, batch = item / q->n_row_items;
    part r = {.batch = batch, .m0 = i * q->item_rows, .n0 = j * q->item_cols};
    r.n_rows = wf_cpu_min(q->item_rows, q->m - r.m0);
    r.n_cols = wf_cpu_min(q->item_cols, q->n - r.n0);
    r.a = get_batch(&p->a, batch) + r.m0 * p->a.row;
    r.b = get_batch(&p->b, batch);
    if (q->is_packed && q->k > 0)
        r.packed = p->packed + batch * wf_cpu_packed_floats(s, q->n, q->k);
    if (worker->scratch) {
        r.a_copy = (float *)(void *)worker->scratch;
        r.panel = r.a_copy + get_copy_floats(p);
        r.sums = r.panel + get_panel_floats(p);
    }
    // An epilogue sees rows and columns of the product as they are named, not exchanged.
    const bool is_turned = p->epilogue && q->is_exchanged;
    r.to = p->is_c_direct ? get_c(p, &r) : r.sums;
    r.to_row = p->is_c_direct ? p->c.row : is_turned ? 1 : r.n_cols;
    r.to_col = p->is_c_direct ? p->c.column : is_turned ? r.n_rows : 1;
    return r;
}

// Rows that lie side by side: [rows / 16][term][16]. A few terms at a time, so that each of their lines
// and pages is met once.
static void copy_columns(const contract_params *p, const part *r, const float *a, int64_t n_terms)
{
    for (int64_t t = 0, n; t < n_terms; t += n) {
        n = wf_cpu_min(COPY_ROWS, n_terms - t);
        for (int64_t i = 0; i < r->n_rows; i += COPY_ROWS) {
            p->products->pack(r->a_copy + i * n_terms + t * COPY_ROWS, COPY_ROWS,
                              a + t * p->a.column + i * p->a.row, p->a.column, p->a.row, n,
                              wf_cpu_min(COPY_ROWS, r->n_rows - i));
        }
    }
}

// Where row i and term t of a pass lie from r->a on, or in the copy that is made here.
static const float *get_a(const contract_params *p, const part *r, int64_t k0, int64_t n_terms,
                          int64_t *rows, int64_t *terms)
{
    const float *a = r->a + k0 * p->a.column;
    int64_t row = p->a.row, column = p->a.column, far = COPY_ROWS * row;
    if (p->is_a_copied && column == 1) {
        row = n_terms + COPY_PAD;
        far = COPY_ROWS * row;
        p->products->pack(r->a_copy, row, a, p->a.row, 1, r->n_rows, n_terms);
    } else if (p->is_a_copied) {
        row = 1;
        column = COPY_ROWS;
        far = COPY_ROWS * n_terms;
        copy_columns(p, r, a, n_terms);
    }
    for (int64_t i0 = 0, at = 0; i0 < r->n_rows; i0 += COPY_ROWS, at += far) {
        for (int64_t i = 0; i < COPY_ROWS; i++)
            rows[i0 + i] = at + i * row;
    }
    for (int64_t t = 0, at = 0; t < n_terms; t++, at += column)
        terms[t] = at;
    return p->is_a_copied ? r->a_copy : a;
}

// Where the panel at column j of an item lies: packed, or in b; the terms [k0,k1) of it.
static wf_cpu_ahead get_panel(const contract_params *p, const part *r, int64_t j, int64_t k0,
                              int64_t k1)
{
    const cut *q = &p->cut;
    const int64_t j0 = r->n0 + j, n_terms = k1 - k0;
    const int64_t width = wf_cpu_panel_width(p->products->sizes, r->n0 + r->n_cols, j0);
    const int64_t n_cols = wf_cpu_min(width, r->n_cols - j);
    const float *b = r->b + k0 * p->b.row + j0 * p->b.column;
    if (q->is_packed)
        return (wf_cpu_ahead){r->packed + j0 * q->k + k0 * width, width, n_terms, width};
    if (p->b.row == 1)
        return (wf_cpu_ahead){b, p->b.column, n_cols, n_terms};
    return (wf_cpu_ahead){b, p->b.row, n_terms, n_cols};
}

// sums[m,n] += a[m,k] * b[k,n] over the terms [k0,k1), which lie in one block.
static void run_pass(const contract_params *p, const part *r, wf_cpu_tiles *t, int64_t k0,
                     int64_t k1)
{
    const cut *q = &p->cut;
    const wf_cpu_tile_sizes *s = p->products->sizes;
    float *c = t->c;
    for (int64_t j = 0, width; j < r->n_cols; j += width) {
        const int64_t j0 = r->n0 + j;
        width = wf_cpu_panel_width(s, r->n0 + r->n_cols, j0);
        t->n_cols = wf_cpu_min(width, r->n_cols - j);
        t->c = c + j;
        if (q->is_packed) {
            t->b = r->packed + j0 * q->k + k0 * width;
            t->b_step = width;
        } else if (p->is_b_direct && t->n_cols == width) {
            t->b = r->b + k0 * p->b.row + j0;
            t->b_step = p->b.row;
        } else {
            p->products->pack(r->panel, width, r->b + k0 * p->b.row + j0 * p->b.column, p->b.row,
                              p->b.column, k1 - k0, t->n_cols);
            t->b = r->panel;
            t->b_step = width;
        }
        t->ahead = p->is_b_far && j + width < r->n_cols ? get_panel(p, r, j + width, k0, k1)
                                                        : (wf_cpu_ahead){0};
        t->is_a_far = p->is_a_far && j == 0;
        p->products->tiles(t);
    }
    t->c = c;
}

static void store(const contract_params *p, const part *r, const float *total)
{
    float *c = get_c(p, r);
    for (int64_t i = 0; i < r->n_rows; i++) {
        for (int64_t j = 0; j < r->n_cols; j++)
            c[i * p->c.row + j * p->c.column] = total[i * r->n_cols + j] + 0.0f;
    }
}

// Then chains are the product.
static bool is_one_block(const contract_params *p)
{
    return p->cut.k <= WF_PRODUCT_BLOCK;
}

// The chains of the terms [k0,k1), a whole block.
static void run_few(const contract_params *p, const part *r, int64_t k0, int64_t k1)
{
    const wf_cpu_few few = {.n_rows = r->n_rows,
                            .n_cols = r->n_cols,
                            .n_terms = k1 - k0,
                            .a = r->a + k0 * p->a.column,
                            .a_row = p->a.row,
                            .a_term = p->a.column,
                            .b = r->b + k0 + r->n0 * p->b.column,
                            .b_col = p->b.column,
                            .c = r->to,
                            .c_row = r->to_row,
                            .c_col = r->to_col,
                            .is_last = is_one_block(p)};
    p->products->few(&few);
}

static void run_block(const contract_params *p, const part *r, int64_t begin, int64_t end)
{
    const int64_t pass = wf_cpu_even_pass(p->products->sizes, end - begin);
    int64_t rows[MAX_ITEM_ROWS], terms[WF_CPU_MAX_PASS_TERMS];
    wf_cpu_tiles t = {
        .n_rows = r->n_rows, .a_rows = rows, .a_terms = terms, .c = r->to, .ldc = r->to_row};
    for (int64_t k0 = begin; k0 < end; k0 += pass) {
        const int64_t k1 = wf_cpu_min(k0 + pass, end);
        t.a = get_a(p, r, k0, k1 - k0, rows, terms);
        t.n_terms = k1 - k0;
        t.is_first = k0 == begin;
        t.is_last = k1 == end && is_one_block(p);
        run_pass(p, r, &t, k0, k1);
    }
}

static void finish(const contract_params *p, const part *r, float *total,
                   const wf_cpu_worker *worker)
{
    wf_cpu_block block = {.data = total, .pitch = r->n_cols};
    if (p->cut.is_exchanged) {
        block.pitch = r->n_rows;
        block.a0 = r->batch * p->cut.n + r->n0;
        block.na = r->n_cols;
        block.b0 = r->m0;
        block.nb = r->n_rows;
    } else {
        block.a0 = r->batch * p->cut.m + r->m0;
        block.na = r->n_rows;
        block.b0 = r->n0;
        block.nb = r->n_cols;
    }
    for (int64_t i = 0; i < r->n_rows * r->n_cols && !is_one_block(p); i++)
        total[i] += 0.0f;
    wf_cpu_epilogue_run(p->epilogue, &block, worker->scratch + p->epilogue_scratch);
}

static void run_item(const void *params, int64_t item, const wf_cpu_worker *worker)
{
    const contract_params *p = params;
    const cut *q = &p->cut;
    const part r = get_part(p, item, worker);
    const int64_t len = wf_product_block_len(q->k), n_blocks = wf_product_n_blocks(q->k);
    const int64_t n = r.n_rows * r.n_cols;
    float *total = n_blocks > 1 ? r.sums + 2 * n : r.sums;
    for (int64_t block = 0; block < n_blocks; block++) {
        const int64_t end = wf_cpu_min((block + 1) * len, q->k);
        (q->is_few ? run_few : run_block)(p, &r, block * len, end);
        if (n_blocks > 1)
            wf_cpu_block_close(n_blocks, block, r.sums, r.sums + n, total, n);
    }
    if (n_blocks == 0)
        memset(total, 0, (size_t)n * sizeof *total);
    if (p->epilogue)
        finish(p, &r, total, worker);
    else if (!p->is_c_direct)
        store(p, &r, total);
}

// A product with an epilogue lies in no buffer.
static matrix get_matrix(const wf_cpu_lower *q, const wf_view *view, bool is_transposed)
{
    const int64_t *strides = &view->strides[view->type.ndim - 2];
    return (matrix){view, (float *)(void *)wf_cpu_view_data(q, view),
                    is_transposed ? strides[1] : strides[0],
                    is_transposed ? strides[0] : strides[1]};
}

// Rows of a that several panels read, and which share so few lines of a cache that they are copied.
static bool fights(const contract_params *p, const wf_cpu_tile_sizes *s)
{
    return p->cut.item_cols > 2 * s->cols && p->a.row % FIGHTING_ROWS == 0;
}

static weft_status lower(wf_cpu_lower *q, weft_error *err)
{
    const wf_task *task = q->task;
    const wf_cpu_tile_sizes *s = q->kernels->products->sizes;
    if (strcmp(q->info.op->name, "matmul") != 0) {
        WEFT_FAIL(err, WEFT_ERR_UNSUPPORTED, "cpu: contract tasks of op %s are not known here",
                  q->info.op->name);
    }
    contract_params *p;
    WEFT_TRY(wf_cpu_take(q, 1, sizeof *p, &p, err));
    p->products = q->kernels->products;
    p->cut = get_cut(s, task);
    const cut *c = &p->cut;
    const bool is_ta = q->info.attrs[0].u.i != 0, is_tb = q->info.attrs[1].u.i != 0;
    const int first = c->is_exchanged ? 1 : 0;
    p->a = get_matrix(q, &task->inputs[first], (first ? is_tb : is_ta) != c->is_exchanged);
    p->b = get_matrix(q, &task->inputs[1 - first], (first ? is_ta : is_tb) != c->is_exchanged);
    p->c = get_matrix(q, wf_task_product(task), c->is_exchanged);
    if (c->n_batches * c->m * c->n == 0)
        return WEFT_OK;
    p->packed = (float *)(void *)wf_cpu_workspace(q);
    p->is_a_copied = !c->is_few && c->item_cols > s->cols && (p->a.column != 1 || fights(p, s));
    p->is_a_far = !p->is_a_copied && p->a.column == 1 && c->m * c->k >= FAR_FLOATS;
    p->is_b_far = c->k * c->n >= FAR_FLOATS;
    p->is_b_direct = p->b.column == 1 && (c->m <= 2 * s->rows || c->k * c->n <= NEAR_FLOATS);
    p->is_c_direct =
        !task->epilogue && (p->c.column == 1 || c->is_few) && c->k > 0 && c->k <= WF_PRODUCT_BLOCK;
    const int64_t n_sums = wf_product_n_blocks(c->k) > 1 ? 3 : 1;
    const int64_t sums = p->is_c_direct ? 0 : n_sums * c->item_rows * c->item_cols;
    const int64_t floats = get_copy_floats(p) + get_panel_floats(p) + sums;
    WEFT_TRY(wf_cpu_epilogue_create(q, task->epilogue ? task->epilogue->ndim - 1 : 0,
                                    c->is_exchanged ? c->item_rows : c->item_cols, &p->epilogue,
                                    err));
    p->epilogue_scratch = wf_round_up((size_t)floats * sizeof(float), 64);
    wf_cpu_need_scratch(q, p->epilogue_scratch + wf_cpu_epilogue_scratch(p->epilogue));
    const bool is_packed_before = is_b_steady(task) && task->first_step != q->task_idx;
    if (c->is_packed && c->k > 0 && !is_packed_before) {
        WEFT_TRY(wf_cpu_add_kept_phase(q, run_pack, p, get_n_packs(p), err));
    }
    return wf_cpu_add_phase(q, run_item, p, c->n_batches * c->n_row_items * c->n_col_items, err);
}

static bool keeps_workspace(const wf_cpu_device *dev, const wf_task *task)
{
    return keeps_packed(task) && get_cut(dev->kernels->products->sizes, task).is_packed;
}

const wf_cpu_lowering wf_cpu_lowering_contract = {.kind = WF_TASK_CONTRACT,
                                                  .lower = lower,
                                                  .workspace = workspace,
                                                  .keeps_workspace = keeps_workspace};
