// Products become launches: chains of every block, then the sum of the blocks. See gpu_product_lower.h.
#include "device/gpu/gpu_product_lower.h"

#include <string.h>

#include "device/gpu/gpu_source.h"
#include "math/product.h"

// The integers of the kernel's wf_product, in its order.
#define MAX_VALUES 96

void wf_gpu_product_init(wf_gpu_product *p)
{
    memset(p, 0, sizeof *p);
    p->m = p->n = p->k = 1;
    for (int i = 0; i < 6; i++)
        p->batch_size[i] = 1;
    for (int i = 0; i < 4; i++)
        p->term_size[i] = p->column_size[i] = 1;
    for (int i = 0; i < 3; i++)
        p->limit[i] = p->stride[i] = 1;
}

static int64_t count_batches(const wf_gpu_product *p)
{
    int64_t n = 1;
    for (int i = 0; i < 6; i++)
        n *= p->batch_size[i];
    return n;
}

size_t wf_gpu_product_workspace(const wf_gpu_product *p)
{
    int64_t n_blocks = wf_product_n_blocks(p->k);
    if (n_blocks < 2)
        return 0;
    return (size_t)n_blocks * (size_t)count_batches(p) * (size_t)p->m * (size_t)p->n *
           sizeof(float);
}

// How far an operand is reached from its offset, at most.
static double reach(const wf_view *v, int64_t offset)
{
    double last = (double)offset;
    for (int32_t i = 0; i < v->type.ndim; i++) {
        double stride = (double)v->strides[i];
        last += (stride < 0 ? -stride : stride) * (double)v->type.dims[i];
    }
    return last;
}

typedef struct values {
    int64_t v[MAX_VALUES];
    size_t n;
} values;

static void add(values *list, int64_t value)
{
    list->v[list->n++] = value;
}

static void add_all(values *list, const int64_t *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        add(list, from[i]);
}

static void fill_values(values *list, const wf_gpu_builder *b, const wf_gpu_product *p,
                        const wf_gpu_tile *tile, int64_t work_offset, const int64_t offsets[3])
{
    int64_t n_blocks = wf_product_n_blocks(p->k);
    add(list, p->m);
    add(list, p->n);
    add(list, p->k);
    add(list, wf_product_block_len(p->k));
    add(list, n_blocks);
    add(list, (p->m + tile->m - 1) / tile->m);
    add(list, (p->n + tile->n - 1) / tile->n);
    add(list, count_batches(p));
    add(list, p->a_offset + offsets[0]);
    add(list, p->b_offset + offsets[1]);
    add(list, p->c_offset + offsets[2]);
    add(list, work_offset);
    add(list, p->a_m);
    add(list, p->c_m);
    add(list, b->task_idx);
    add(list, b->task->is_gated);
    add_all(list, p->batch_size, 6);
    add_all(list, p->batch_a, 6);
    add_all(list, p->batch_b, 6);
    add_all(list, p->batch_c, 6);
    add_all(list, p->term_size, 4);
    add_all(list, p->term_a, 4);
    add_all(list, p->term_b, 4);
    add_all(list, p->term_scale, 3);
    add_all(list, p->term_shift, 3);
    add_all(list, p->column_size, 4);
    add_all(list, p->column_b, 4);
    add_all(list, p->column_c, 4);
    add_all(list, p->column_scale, 3);
    add_all(list, p->column_shift, 3);
    add_all(list, p->limit, 3);
    add_all(list, p->stride, 3);
    add_all(list, p->cell_b, 3);
}

static weft_status make_source(const wf_gpu_builder *b, const wf_gpu_product *p,
                               const wf_gpu_tile *tile, bool is_wide, wf_text *out)
{
    WEFT_TRY(wf_gpu_source_start(b, out));
    wf_text_printf(out,
                   "#define WF_PRODUCT_KIND %d\n#define WF_TERM_SPATIAL %d\n"
                   "#define WF_TILE_M %u\n#define WF_TILE_N %u\n#define WF_TILE_K %u\n"
                   "#define WF_GROUP_M %u\n#define WF_GROUP_N %u\n%s%s%s",
                   p->kind, p->term_spatial, tile->m, tile->n, tile->k, tile->group_m,
                   tile->group_n, is_wide ? "#define WF_PRODUCT_WIDE\n" : "",
                   p->a_k_fast && !b->dev->render.is_cpu ? "#define WF_A_K_FAST\n" : "",
                   p->b_k_fast && !b->dev->render.is_cpu ? "#define WF_B_K_FAST\n" : "");
    weft_status status = wf_gpu_source_append(out, "gpu_product.h", b->err);
    if (status != WEFT_OK)
        wf_text_deinit(out);
    return status;
}

// The tile of a device: data, to be tuned.
static wf_gpu_tile choose_tile(const wf_gpu_device *dev)
{
    static const wf_gpu_tile cpu = {64, 128, 64, 1, 1};
    static const wf_gpu_tile large = {64, 64, 16, 16, 16};
    static const wf_gpu_tile small = {32, 32, 16, 8, 8};
    if (dev->tile.m)
        return dev->tile;
    if (dev->render.is_cpu)
        return cpu;
    return dev->max_group_size >= 256 ? large : small;
}

static weft_status add_kernel(wf_gpu_builder *b, const char *source, const char *name,
                              uint32_t group, int64_t n_groups, const wf_gpu_arg *args,
                              size_t n_args)
{
    if (n_groups == 0)
        return WEFT_OK;
    if (n_groups > INT32_MAX)
        WEFT_FAIL(b->err, WEFT_ERR_UNSUPPORTED, "a product of more than 2^31 work-groups");
    wf_gpu_launch_spec spec = {.kernel = name,
                               .group = {group, 1, 1},
                               .n_groups = {(uint32_t)n_groups, 1, 1},
                               .n_args = n_args,
                               .args = args};
    return wf_gpu_add_launch(b, source, &spec);
}

weft_status wf_gpu_product_lower(wf_gpu_builder *b, const wf_gpu_product *p, const wf_view *a_view,
                                 const wf_view *b_view, const wf_view *c_view)
{
    wf_gpu_tile tile = choose_tile(b->dev);
    wf_gpu_place at_a = wf_gpu_place_view(b, a_view);
    wf_gpu_place at_b = wf_gpu_place_view(b, b_view);
    wf_gpu_place at_c = wf_gpu_place_view(b, c_view);
    wf_gpu_place work = {b->dev->status,
                         0}; // named and not touched, unless there are blocks to add
    if (b->task->workspace != WF_NO_INDEX)
        work = wf_gpu_place_of(b, b->task->workspace, WEFT_F32, 0);
    const int64_t offsets[] = {at_a.offset, at_b.offset, at_c.offset};
    values list = {.n = 0};
    fill_values(&list, b, p, &tile, work.offset, offsets);
    double work_end = (double)work.offset + (double)(wf_gpu_product_workspace(p) / sizeof(float));
    double limit = (double)(INT32_MAX - (1 << 20));
    bool is_wide = reach(a_view, at_a.offset) > limit || reach(b_view, at_b.offset) > limit ||
                   reach(c_view, at_c.offset) > limit || work_end > limit ||
                   (double)p->m * (double)p->n > limit;
    int32_t narrow[MAX_VALUES];
    for (size_t i = 0; i < list.n; i++)
        narrow[i] = (int32_t)list.v[i];
    const wf_gpu_arg args[] = {{at_a.buffer, NULL, 0},
                               {at_b.buffer, NULL, 0},
                               {at_c.buffer, NULL, 0},
                               {work.buffer, NULL, 0},
                               {b->dev->status, NULL, 0},
                               {NULL, is_wide ? (const void *)list.v : (const void *)narrow,
                                list.n * (is_wide ? sizeof(int64_t) : sizeof(int32_t))}};
    int64_t n_blocks = wf_product_n_blocks(p->k);
    int64_t n_results = p->m * p->n * count_batches(p);
    if (n_results == 0)
        return WEFT_OK;
    int64_t tiles =
        (p->m + tile.m - 1) / tile.m * ((p->n + tile.n - 1) / tile.n) * count_batches(p) * n_blocks;
    wf_text source;
    WEFT_TRY(make_source(b, p, &tile, is_wide, &source));
    weft_status status = add_kernel(b, wf_text_str(&source), "wf_product_chains",
                                    tile.group_m * tile.group_n, tiles, args, WF_COUNT_OF(args));
    if (status == WEFT_OK && n_blocks != 1) {
        status = add_kernel(b, wf_text_str(&source), "wf_product_combine", 64,
                            (n_results + 63) / 64, args, WF_COUNT_OF(args));
    }
    wf_text_deinit(&source);
    return status;
}
