// CHAIN tasks: cumsum, cumprod and reduce_prod, whose terms follow one another along one axis. Operands
// are dense. Stage: PLAN -> PROGRAM, RUN.
//
// An item is some neighbouring lines: one outer index, up to LANES inner ones, which are walked side by
// side. A single long line is a single chain, and nothing can be made of it but to walk it.
#include "device/cpu/cpu.h"

#include <string.h>

#include "op/chain_common.h"

#define LANES 64

typedef struct chain_params {
    const char *x;
    char *y;
    wf_chain_walk walk;
    int64_t blocks; // of lanes, for each outer index
} chain_params;

typedef struct lines {
    const chain_params *p;
    int64_t outer, first;
    size_t n;
} lines;

static lines get_lines(const chain_params *p, int64_t item)
{
    const int64_t first = item % p->blocks * LANES;
    return (lines){p, item / p->blocks, first, (size_t)wf_cpu_min(LANES, p->walk.inner - first)};
}

// Element of the lines' first one at place k of the chain.
static int64_t at_of(const lines *l, int64_t k)
{
    return wf_chain_at(&l->p->walk, l->outer, k, l->first);
}

// A running sum of one type: the chunks' totals only matter where sums round, and integers wrap to the
// same bits either way. Names: chain_sum_f32, _u32, _u64.
#define CHAIN_SUM(name, type)                                                                      \
    static void name(const void *params, int64_t item, const wf_cpu_worker *worker)                \
    {                                                                                              \
        const lines l = get_lines(params, item);                                                   \
        const wf_chain_walk *w = &l.p->walk;                                                       \
        const type *x = (const type *)(const void *)l.p->x;                                        \
        type *y = (type *)(void *)l.p->y;                                                          \
        type before[LANES] = {0}, sum[LANES];                                                      \
        (void)worker;                                                                              \
        for (int64_t first = 0; first < w->size; first += WF_CHAIN_CHUNK) {                        \
            const int64_t end = wf_cpu_min(first + WF_CHAIN_CHUNK, w->size);                       \
            memset(sum, 0, sizeof sum);                                                            \
            for (int64_t k = first; k < end; k++) {                                                \
                const int64_t at = at_of(&l, k);                                                   \
                for (size_t i = 0; i < l.n; i++) {                                                 \
                    const type next = (type)(sum[i] + x[at + (int64_t)i]);                         \
                    y[at + (int64_t)i] = (type)(before[i] + (w->is_exclusive ? sum[i] : next));    \
                    sum[i] = next;                                                                 \
                }                                                                                  \
            }                                                                                      \
            for (size_t i = 0; i < l.n; i++)                                                       \
                before[i] = (type)(before[i] + sum[i]);                                            \
        }                                                                                          \
    }

// A running product. Names: chain_product_f32, _u32, _u64.
#define CHAIN_PRODUCT(name, type)                                                                  \
    static void name(const void *params, int64_t item, const wf_cpu_worker *worker)                \
    {                                                                                              \
        const lines l = get_lines(params, item);                                                   \
        const wf_chain_walk *w = &l.p->walk;                                                       \
        const type *x = (const type *)(const void *)l.p->x;                                        \
        type *y = (type *)(void *)l.p->y;                                                          \
        type product[LANES];                                                                       \
        (void)worker;                                                                              \
        for (size_t i = 0; i < l.n; i++)                                                           \
            product[i] = 1;                                                                        \
        for (int64_t k = 0; k < w->size; k++) {                                                    \
            const int64_t at = at_of(&l, k);                                                       \
            for (size_t i = 0; i < l.n; i++) {                                                     \
                const type next = (type)(product[i] * x[at + (int64_t)i]);                         \
                y[at + (int64_t)i] = w->is_exclusive ? product[i] : next;                          \
                product[i] = next;                                                                 \
            }                                                                                      \
        }                                                                                          \
    }

// The product alone. Names: chain_reduce_f32, _u32, _u64.
#define CHAIN_REDUCE(name, type)                                                                   \
    static void name(const void *params, int64_t item, const wf_cpu_worker *worker)                \
    {                                                                                              \
        const lines l = get_lines(params, item);                                                   \
        const wf_chain_walk *w = &l.p->walk;                                                       \
        const type *x = (const type *)(const void *)l.p->x;                                        \
        type *y = (type *)(void *)l.p->y + l.outer * w->inner + l.first;                           \
        type product[LANES];                                                                       \
        (void)worker;                                                                              \
        for (size_t i = 0; i < l.n; i++)                                                           \
            product[i] = 1;                                                                        \
        for (int64_t k = 0; k < w->size; k++) {                                                    \
            const int64_t at = at_of(&l, k);                                                       \
            for (size_t i = 0; i < l.n; i++)                                                       \
                product[i] = (type)(product[i] * x[at + (int64_t)i]);                              \
        }                                                                                          \
        memcpy(y, product, l.n * sizeof *y);                                                       \
    }

CHAIN_SUM(chain_sum_f32, float)
CHAIN_SUM(chain_sum_u32, uint32_t)
CHAIN_SUM(chain_sum_u64, uint64_t)
CHAIN_PRODUCT(chain_product_f32, float)
CHAIN_PRODUCT(chain_product_u32, uint32_t)
CHAIN_PRODUCT(chain_product_u64, uint64_t)
CHAIN_REDUCE(chain_reduce_f32, float)
CHAIN_REDUCE(chain_reduce_u32, uint32_t)
CHAIN_REDUCE(chain_reduce_u64, uint64_t)

static const struct {
    const char *op;
    weft_dtype dtype;
    wf_cpu_item_fn *run;
} loops[] = {
    {"cumsum", WEFT_F32, chain_sum_f32},         {"cumsum", WEFT_I32, chain_sum_u32},
    {"cumsum", WEFT_I64, chain_sum_u64},         {"cumprod", WEFT_F32, chain_product_f32},
    {"cumprod", WEFT_I32, chain_product_u32},    {"cumprod", WEFT_I64, chain_product_u64},
    {"reduce_prod", WEFT_F32, chain_reduce_f32}, {"reduce_prod", WEFT_I32, chain_reduce_u32},
    {"reduce_prod", WEFT_I64, chain_reduce_u64},
};

static weft_status lower(wf_cpu_lower *q, weft_error *err)
{
    const wf_task *task = q->task;
    chain_params *p;
    WEFT_TRY(wf_cpu_take(q, 1, sizeof *p, &p, err));
    p->x = wf_cpu_view_data(q, &task->inputs[0]);
    p->y = wf_cpu_view_data(q, &task->outputs[0]);
    p->walk = wf_chain_walk_make(&q->info);
    p->blocks = wf_cpu_div_up(p->walk.inner, LANES);
    for (size_t i = 0; i < WF_COUNT_OF(loops); i++) {
        if (strcmp(q->info.op->name, loops[i].op) == 0 &&
            task->inputs[0].type.dtype == loops[i].dtype) {
            return wf_cpu_add_phase(q, loops[i].run, p, p->walk.outer * p->blocks, err);
        }
    }
    WEFT_FAIL(err, WEFT_ERR_UNSUPPORTED, "cpu: %s of %s has no loop here", q->info.op->name,
              weft_dtype_name(task->inputs[0].type.dtype));
}

const wf_cpu_lowering wf_cpu_lowering_chain = {.kind = WF_TASK_CHAIN, .lower = lower};
