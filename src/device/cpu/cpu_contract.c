// CONTRACT tasks: matrix products, 16 columns of one row at a time. Stage: PLAN -> PROGRAM, RUN.
//
// Letters: c[m,n] = sum over k of a[m,k] * b[k,n]; ldX: elements from a row of X to the next.
#include "device/cpu/cpu.h"
#include "device/cpu/cpu_product.h"

#include <string.h>

#define LANES WF_CPU_PRODUCT_LANES
#define ITEM_FLOPS 200000

typedef struct matrix {
    const wf_view *view;
    float *data;
    int64_t row, column; // strides
} matrix;

typedef struct contract_params {
    const wf_cpu_products *products;
    matrix a, b, c;
    int64_t m, n, k;
    int64_t rows_per_item;
    int64_t items_per_batch;
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

static void run_rows(const void *params, int64_t item, const wf_cpu_worker *worker)
{
    const contract_params *p = params;
    const int64_t batch = item / p->items_per_batch;
    const int64_t first = item % p->items_per_batch * p->rows_per_item;
    const int64_t end = wf_cpu_min(first + p->rows_per_item, p->m);
    const float *a = get_batch(&p->a, batch), *b = get_batch(&p->b, batch);
    float *c = get_batch(&p->c, batch);
    (void)worker;
    for (int64_t j = 0; j < p->n; j += LANES) {
        const int64_t n = wf_cpu_min(LANES, p->n - j);
        for (int64_t i = first; i < end; i++) {
            wf_cpu_sum sum;
            wf_cpu_sum_start(&sum, p->products, p->k, (size_t)n);
            wf_cpu_sum_feed(&sum, a + i * p->a.row, p->a.column, b + j * p->b.column, p->b.row,
                            p->b.column, p->k);
            wf_cpu_sum_store(&sum, c + i * p->c.row + j * p->c.column, p->c.column);
        }
    }
}

static matrix get_matrix(const wf_cpu_lower *q, const wf_view *view, bool is_transposed)
{
    const int64_t *strides = &view->strides[view->type.ndim - 2];
    return (matrix){view, (float *)(void *)wf_cpu_view_data(q, view),
                    is_transposed ? strides[1] : strides[0],
                    is_transposed ? strides[0] : strides[1]};
}

static weft_status lower(wf_cpu_lower *q, weft_error *err)
{
    const wf_task *task = q->task;
    const weft_type *out = &task->outputs[0].type, *a = &task->inputs[0].type;
    if (strcmp(q->info.op->name, "matmul") != 0) {
        WEFT_FAIL(err, WEFT_ERR_UNSUPPORTED, "cpu: contract tasks of op %s are not known here",
                  q->info.op->name);
    }
    const bool is_ta = q->info.attrs[0].u.i != 0, is_tb = q->info.attrs[1].u.i != 0;
    contract_params *p;
    WEFT_TRY(wf_cpu_take(q, 1, sizeof *p, &p, err));
    p->products = q->kernels->products;
    p->a = get_matrix(q, &task->inputs[0], is_ta);
    p->b = get_matrix(q, &task->inputs[1], is_tb);
    p->c = get_matrix(q, &task->outputs[0], false);
    p->m = out->dims[out->ndim - 2];
    p->n = out->dims[out->ndim - 1];
    p->k = a->dims[a->ndim - (is_ta ? 2 : 1)];
    int64_t n_batches = 1;
    for (int32_t i = 0; i < out->ndim - 2; i++)
        n_batches *= out->dims[i];
    if (p->m == 0 || p->n == 0)
        return WEFT_OK;
    p->rows_per_item = ITEM_FLOPS / (p->n * (p->k + 1)) + 1;
    p->items_per_batch = wf_cpu_div_up(p->m, p->rows_per_item);
    return wf_cpu_add_phase(q, run_rows, p, n_batches * p->items_per_batch, err);
}

const wf_cpu_lowering wf_cpu_lowering_contract = {.kind = WF_TASK_CONTRACT, .lower = lower};
