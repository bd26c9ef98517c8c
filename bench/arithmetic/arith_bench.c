// Measures each definition against the same kernel without it, against oneDNN and against the machine's peak.
//
// Peak and bandwidth are measured beside every kernel, in the same interleaved rounds. Candidates of one group differ in one thing.
#include "arith_bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "arith_measure.h"
#include "arith_onednn.h"
#include "arith_reference.h"

static const double BUDGET_S = 0.5; // per group of candidates

static void heading(const char *isa, const char *what)
{
    printf("\n%s: %s\n", isa, what);
    printf("  %-44s %10s %19s %9s %8s\n", "", "median ms", "quartiles", "rate", "of limit");
}

// Rates in GFLOP/s or GB/s; list[0] is the limit (peak or bandwidth) when it has work of its own in `limit_work`.
static void print_group(const arith_timed *list, int n, double work, double limit_rate)
{
    for (int i = 0; i < n; i++) {
        double rate = work / list[i].median_s * 1e-9;
        printf("  %-44s %10.4f %9.4f-%-9.4f %9.1f %7.1f%%\n", list[i].name, list[i].median_s * 1e3,
               list[i].low_s * 1e3, list[i].high_s * 1e3, rate, 100.0 * rate / limit_rate);
    }
    fflush(stdout);
}

// ---- the machine ----

typedef struct {
    const arith_kernels *kernels;
    int64_t rounds;
    const float *x;
    int64_t n;
} machine_ctx;

static volatile double sink;

static void run_peak(void *ctx)
{
    machine_ctx *m = ctx;
    sink = m->kernels->peak(m->rounds);
}

static void run_read(void *ctx)
{
    machine_ctx *m = ctx;
    sink = (double)m->kernels->read(m->x, m->n);
}

static arith_timed peak_candidate(machine_ctx *m)
{
    return (arith_timed){.name = "peak: fma chains in registers", .run = run_peak, .ctx = m};
}

static double peak_rate(const machine_ctx *m, const arith_timed *peak)
{
    return 2.0 * 12 * m->kernels->vector_floats * (double)m->rounds / peak->median_s * 1e-9;
}

// ---- products ----

typedef struct {
    const arith_kernels *kernels;
    int64_t m, n, k, block;
    float *a, *b, *packed, *c, *work;
    int does_pack;
} contract_ctx;

static void run_contract(void *ctx)
{
    contract_ctx *x = ctx;
    if (x->does_pack) {
        x->kernels->pack(x->n, x->k, x->b, x->n, 1, x->packed);
    }
    x->kernels->contract(x->m, x->n, x->k, x->a, x->k, x->packed, x->c, x->block, x->work);
}

static void run_dot_rows(void *ctx)
{
    contract_ctx *x = ctx;
    x->kernels->dot_rows(x->n, x->k, x->a, x->b, x->c);
}

#ifdef ARITH_ONEDNN
static void run_onednn_contract(void *ctx)
{
    contract_ctx *x = ctx;
    arith_onednn_contract(x->m, x->n, x->k, x->a, x->b, x->c);
}
#endif

static contract_ctx contract_create(const arith_kernels *kernels, int64_t m, int64_t n, int64_t k)
{
    contract_ctx x = {.kernels = kernels, .m = m, .n = n, .k = k, .block = ARITH_BLOCK};
    x.a = arith_floats(m * k);
    x.b = arith_floats(k * n);
    x.packed = arith_floats(kernels->packed_floats(n, k));
    x.c = arith_floats(m * n);
    x.work = arith_floats(2 * m * n);
    arith_random(x.a, m * k, 1);
    arith_random(x.b, k * n, 2);
    kernels->pack(n, k, x.b, n, 1, x.packed);
    return x;
}

static void contract_destroy(contract_ctx *x)
{
    free(x->a), free(x->b), free(x->packed), free(x->c), free(x->work);
}

static void bench_contract(machine_ctx *machine, int64_t m, int64_t n, int64_t k, int with_blocks)
{
    contract_ctx x = contract_create(machine->kernels, m, n, k);
    contract_ctx packing = x, whole = x, half = x, twice = x;
    packing.does_pack = 1;
    whole.block = k;
    half.block = ARITH_BLOCK / 2;
    twice.block = ARITH_BLOCK * 2;
    arith_timed list[8];
    int count = 0;
    list[count++] = peak_candidate(machine);
    list[count++] =
        (arith_timed){.name = "definition (b packed before)", .run = run_contract, .ctx = &x};
    list[count++] = (arith_timed){
        .name = "definition (b packed each time)", .run = run_contract, .ctx = &packing};
    if (with_blocks) {
        list[count++] = (arith_timed){.name = "without blocks", .run = run_contract, .ctx = &whole};
        list[count++] = (arith_timed){.name = "blocks of 2048", .run = run_contract, .ctx = &half};
        list[count++] = (arith_timed){.name = "blocks of 8192", .run = run_contract, .ctx = &twice};
    }
#ifdef ARITH_ONEDNN
    list[count++] = (arith_timed){.name = "oneDNN sgemm", .run = run_onednn_contract, .ctx = &x};
#endif
    arith_measure(list, count, BUDGET_S);
    char what[96];
    snprintf(what, sizeof what, "contract %lldx%lldx%lld (m,n,k), GFLOP/s of peak", (long long)m,
             (long long)n, (long long)k);
    heading(machine->kernels->name, what);
    printf("  %-44s %10s %19s %9.1f %7.1f%%\n", list[0].name, "", "", peak_rate(machine, &list[0]),
           100.0);
    print_group(list + 1, count - 1, 2.0 * (double)m * (double)n * (double)k,
                peak_rate(machine, &list[0]));
    contract_destroy(&x);
}

static void bench_row(machine_ctx *machine, int64_t n, int64_t k)
{
    contract_ctx x = contract_create(machine->kernels, 1, n, k);
    machine_ctx read = {.kernels = machine->kernels, .x = x.b, .n = n * k};
    arith_timed list[] = {
        {.name = "limit: reading b", .run = run_read, .ctx = &read},
        {.name = "definition: vectors over n, panels", .run = run_contract, .ctx = &x},
        {.name = "free: dot products, vectors over k", .run = run_dot_rows, .ctx = &x}};
    arith_measure(list, 3, BUDGET_S);
    char what[96];
    snprintf(what, sizeof what, "one row times [%lld,%lld], GB/s of read bandwidth", (long long)k,
             (long long)n);
    heading(machine->kernels->name, what);
    double bytes = 4.0 * (double)n * (double)k;
    print_group(list, 3, bytes, bytes / list[0].median_s * 1e-9);
    contract_destroy(&x);
}

// The error of a product of k terms by the length of its blocks, against float64.
static void print_block_errors(int64_t k)
{
    enum { M = 8, N = 48 };
    float *a = arith_floats(M * k), *b = arith_floats(k * N), *c = arith_floats(M * N);
    double *truth = malloc(2 * M * N * sizeof *truth);
    arith_random(a, M * k, 11);
    arith_random(b, k * N, 12);
    for (int64_t i = 0; i < k * N; i++) {
        b[i] =
            b[i] * 0.5f + 0.5f; // of one sign: the sum grows with k, the hard case for a long chain
    }
    for (int64_t i = 0; i < M * k; i++) {
        a[i] = a[i] * 0.5f + 0.5f;
    }
    truth_contract(M, N, k, a, k, 1, b, truth, truth + M * N);
    printf("  k = %-8lld rms error in ulp of the sum:", (long long)k);
    const int64_t blocks[] = {1024, 2048, 4096, 8192, k};
    for (int i = 0; i < 5; i++) {
        reference_contract(M, N, k, a, k, 1, b, c, blocks[i]);
        double sum = 0.0;
        for (int j = 0; j < M * N; j++) {
            double e = ((double)c[j] - truth[j]) / (truth[j] * 0x1p-23);
            sum += e * e;
        }
        printf("  %s %.1f",
               i == 4   ? "no cut"
               : i == 0 ? "1024"
               : i == 1 ? "2048"
               : i == 2 ? "4096"
                        : "8192",
               sqrt(sum / (M * N)));
    }
    printf("\n");
    free(a), free(b), free(c), free(truth);
}

// ---- convolution ----

typedef struct {
    const arith_kernels *kernels;
    arith_conv g;
    int64_t block;
    int direction;
    float *x, *y, *w, *packed, *packed_input, *work, *zeros;
    void *onednn;
} conv_ctx;

static void run_conv(void *ctx)
{
    conv_ctx *v = ctx;
    if (v->direction == 0) {
        v->kernels->conv(&v->g, v->x, v->packed, v->y, v->block, v->work, v->zeros);
    } else if (v->direction == 1) {
        v->kernels->conv_input(&v->g, v->y, v->packed_input, v->x, v->block, v->work, v->zeros);
    } else {
        v->kernels->conv_weight(&v->g, v->x, v->y, v->w, v->block, v->work);
    }
}

#ifdef ARITH_ONEDNN
static void run_onednn_conv(void *ctx)
{
    arith_onednn_conv_run(((conv_ctx *)ctx)->onednn);
}
#endif

static void bench_conv(machine_ctx *machine, const arith_conv *g)
{
    static const char *const names[] = {"forward", "input gradient", "weight gradient"};
    const arith_kernels *kernels = machine->kernels;
    int64_t x_n = g->n * g->h * g->w * g->c, y_n = g->n * g->p * g->q * g->k,
            w_n = g->r * g->s * g->c * g->k;
    conv_ctx v = {.kernels = kernels, .g = *g, .block = ARITH_BLOCK};
    v.x = arith_floats(x_n), v.y = arith_floats(y_n), v.w = arith_floats(w_n),
    v.zeros = arith_floats(g->c + g->k);
    v.packed = arith_floats(kernels->packed_floats(g->k, g->r * g->s * g->c));
    v.packed_input = arith_floats(kernels->packed_floats(g->c, g->r * g->s * g->k));
    v.work = arith_floats(2 * (x_n > y_n ? x_n : y_n) + 2 * w_n + 64 + y_n);
    arith_random(v.x, x_n, 1);
    arith_random(v.y, y_n, 2);
    arith_random(v.w, w_n, 3);
    kernels->pack(g->k, g->r * g->s * g->c, v.w, g->k, 1, v.packed);
    kernels->pack(g->c, g->r * g->s * g->k, v.w, g->c, 1, v.packed_input);
    for (v.direction = 0; v.direction < 3; v.direction++) {
        conv_ctx whole = v;
        whole.block = INT32_MAX;
        arith_timed list[4];
        int count = 0;
        list[count++] = peak_candidate(machine);
        list[count++] = (arith_timed){.name = "definition", .run = run_conv, .ctx = &v};
        list[count++] = (arith_timed){.name = "without blocks", .run = run_conv, .ctx = &whole};
#ifdef ARITH_ONEDNN
        v.onednn = arith_onednn_conv_create(g, v.direction);
        char name[96];
        snprintf(name, sizeof name, "oneDNN direct, %s", arith_onednn_conv_name(v.onednn));
        list[count++] = (arith_timed){.name = name, .run = run_onednn_conv, .ctx = &v};
#endif
        arith_measure(list, count, BUDGET_S);
        char what[128];
        snprintf(what, sizeof what,
                 "conv %lldx%lld %lld->%lld, %lldx%lld, batch %lld, %s, GFLOP/s of peak",
                 (long long)g->r, (long long)g->s, (long long)g->c, (long long)g->k,
                 (long long)g->h, (long long)g->w, (long long)g->n, names[v.direction]);
        heading(kernels->name, what);
        printf("  %-44s %10s %19s %9.1f %7.1f%%\n", list[0].name, "", "",
               peak_rate(machine, &list[0]), 100.0);
        print_group(list + 1, count - 1, 2.0 * (double)y_n * (double)(g->r * g->s * g->c),
                    peak_rate(machine, &list[0]));
#ifdef ARITH_ONEDNN
        arith_onednn_conv_destroy(v.onednn);
#endif
    }
    free(v.x), free(v.y), free(v.w), free(v.zeros), free(v.packed), free(v.packed_input),
        free(v.work);
}

// ---- sums ----

typedef struct {
    const arith_kernels *kernels;
    const float *x;
    int64_t n, rows, cols, chunk;
    int lanes;
    float *y, *work;
    arith_moments *store;
} sum_ctx;

static void run_row_sum(void *ctx)
{
    sum_ctx *s = ctx;
    sink = (double)s->kernels->row_sum(s->x, s->n, s->chunk, s->lanes, s->work);
}

static void run_column_sum(void *ctx)
{
    sum_ctx *s = ctx;
    s->kernels->column_sum(s->x, s->rows, s->cols, s->chunk, s->y, s->work);
}

static void run_moments(void *ctx)
{
    sum_ctx *s = ctx;
    sink = (double)s->kernels->moments(s->x, s->n, s->store).m2;
}

static void run_moments_free(void *ctx)
{
    sum_ctx *s = ctx;
    sink = (double)s->kernels->moments_free(s->x, s->n).m2;
}

static void bench_row_sum(machine_ctx *machine, const float *x, int64_t n, float *work)
{
    sum_ctx s = {.kernels = machine->kernels,
                 .x = x,
                 .n = n,
                 .chunk = ARITH_ROW_CHUNK,
                 .lanes = ARITH_LANES,
                 .work = work};
    sum_ctx lanes16 = s, lanes64 = s, half = s, twice = s;
    lanes16.lanes = 16, lanes64.lanes = 64, half.chunk = 512, twice.chunk = 2048;
    machine_ctx read = {.kernels = machine->kernels, .x = x, .n = n};
    arith_timed list[] = {
        {.name = "free: plain lanes in any order", .run = run_read, .ctx = &read},
        {.name = "definition: chunk 1024, 32 lanes", .run = run_row_sum, .ctx = &s},
        {.name = "chunk 1024, 16 lanes", .run = run_row_sum, .ctx = &lanes16},
        {.name = "chunk 1024, 64 lanes", .run = run_row_sum, .ctx = &lanes64},
        {.name = "chunk 512, 32 lanes", .run = run_row_sum, .ctx = &half},
        {.name = "chunk 2048, 32 lanes", .run = run_row_sum, .ctx = &twice}};
    arith_measure(list, 6, BUDGET_S);
    char what[96];
    snprintf(what, sizeof what, "row sum of %lld floats, GB/s of reading", (long long)n);
    heading(machine->kernels->name, what);
    print_group(list, 6, 4.0 * (double)n, 4.0 * (double)n / list[0].median_s * 1e-9);
}

static void bench_column_sum(machine_ctx *machine, const float *x, int64_t rows, int64_t cols,
                             float *work)
{
    sum_ctx s = {.kernels = machine->kernels,
                 .x = x,
                 .rows = rows,
                 .cols = cols,
                 .chunk = ARITH_COLUMN_CHUNK,
                 .work = work};
    s.y = arith_floats(cols);
    sum_ctx whole = s, half = s, twice = s;
    whole.chunk = rows, half.chunk = 32, twice.chunk = 128;
    machine_ctx read = {.kernels = machine->kernels, .x = x, .n = rows * cols};
    arith_timed list[] = {
        {.name = "limit: reading x", .run = run_read, .ctx = &read},
        {.name = "definition: chunk 64", .run = run_column_sum, .ctx = &s},
        {.name = "free: one chunk of all rows", .run = run_column_sum, .ctx = &whole},
        {.name = "chunk 32", .run = run_column_sum, .ctx = &half},
        {.name = "chunk 128", .run = run_column_sum, .ctx = &twice}};
    arith_measure(list, 5, BUDGET_S);
    char what[96];
    snprintf(what, sizeof what, "column sum of [%lld,%lld], GB/s of reading", (long long)rows,
             (long long)cols);
    heading(machine->kernels->name, what);
    print_group(list, 5, 4.0 * (double)(rows * cols),
                4.0 * (double)(rows * cols) / list[0].median_s * 1e-9);
    free(s.y);
}

static void bench_moments(machine_ctx *machine, const float *x, int64_t n)
{
    sum_ctx s = {.kernels = machine->kernels, .x = x, .n = n};
    s.store = malloc(((size_t)n / ARITH_ROW_CHUNK + 1) * sizeof *s.store);
    machine_ctx read = {.kernels = machine->kernels, .x = x, .n = n};
    arith_timed list[] = {
        {.name = "limit: reading x", .run = run_read, .ctx = &read},
        {.name = "definition: two passes in a chunk, Chan", .run = run_moments, .ctx = &s},
        {.name = "free: sum and sum of squares", .run = run_moments_free, .ctx = &s}};
    arith_measure(list, 3, BUDGET_S);
    char what[96];
    snprintf(what, sizeof what, "moments of %lld floats, GB/s of reading", (long long)n);
    heading(machine->kernels->name, what);
    print_group(list, 3, 4.0 * (double)n, 4.0 * (double)n / list[0].median_s * 1e-9);
    free(s.store);
}

// The error of sums of numbers of one sign, by their constants.
static void print_sum_errors(void)
{
    int64_t n = 1 << 22;
    float *x = arith_floats(n), *work = arith_floats(n);
    arith_random(x, n, 21);
    double truth = 0.0;
    for (int64_t i = 0; i < n; i++) {
        x[i] = x[i] * 0.5f + 0.5f;
        truth += (double)x[i];
    }
    printf("  row sum of 2^22 uniform numbers, error in ulp of the sum (chunk/lanes):");
    const int64_t chunks[] = {1024, 1024, 1024, 512, 2048};
    const int lanes[] = {32, 16, 64, 32, 32};
    for (int i = 0; i < 5; i++) {
        double e = ((double)reference_row_sum(x, n, chunks[i], lanes[i], work) - truth) /
                   (truth * 0x1p-23);
        printf("  %lld/%d %.2f", (long long)chunks[i], lanes[i], e);
    }
    float one = 0.0f;
    for (int64_t i = 0; i < n; i++) {
        one += x[i];
    }
    printf("  plain loop %.0f\n  column sum of 2^22 uniform numbers (chunk):",
           ((double)one - truth) / (truth * 0x1p-23));
    const int64_t columns[] = {32, 64, 128};
    for (int i = 0; i < 3; i++) {
        float y;
        reference_column_sum(x, n, 1, columns[i], &y, work);
        printf("  %lld %.2f", (long long)columns[i], ((double)y - truth) / (truth * 0x1p-23));
    }
    printf("\n");
    free(x), free(work);
}

// ---- attention ----

typedef struct {
    const arith_kernels *kernels;
    arith_attention g;
    float *q, *k, *v, *o, *state;
} attention_ctx;

static void run_attention(void *ctx)
{
    attention_ctx *a = ctx;
    a->kernels->attention(&a->g, a->q, a->k, a->v, a->o, a->state);
}

static void bench_attention(machine_ctx *machine, int is_causal)
{
    const arith_kernels *kernels = machine->kernels;
    static const int64_t keys[] = {64, 32, 128, 512};
    static const char *const names[] = {"definition: blocks of 64 keys", "blocks of 32 keys",
                                        "blocks of 128 keys", "free: one block of all keys"};
    attention_ctx ctx[4];
    arith_timed list[5];
    list[0] = peak_candidate(machine);
    int64_t heads = 8, t = 512, d = 64, n = heads * t * d;
    for (int i = 0; i < 4; i++) {
        attention_ctx *a = &ctx[i];
        *a = (attention_ctx){.kernels = kernels, .g = {heads, t, t, d, is_causal, keys[i]}};
        a->q = arith_floats(n), a->k = arith_floats(n), a->v = arith_floats(n),
        a->o = arith_floats(n);
        a->state = arith_floats(2 * heads * t);
        float *plain = arith_floats(n);
        arith_random(a->q, n, 1);
        arith_random(plain, n, 2);
        arith_random(a->v, n, 3); // already as panels: any numbers do
        for (int64_t at = 0; at < heads * t; at += keys[i]) {
            kernels->pack(keys[i], d, plain + at * d, 1, d, a->k + at * d);
        }
        free(plain);
        list[i + 1] = (arith_timed){.name = names[i], .run = run_attention, .ctx = a};
    }
    arith_measure(list, 5, BUDGET_S);
    heading(kernels->name, is_causal
                               ? "attention, 8 heads, 512 x 512, d 64, causal, GFLOP/s of peak"
                               : "attention, 8 heads, 512 x 512, d 64, GFLOP/s of peak");
    double flops = 4.0 * (double)(heads * t * t * d) * (is_causal ? 0.5 : 1.0);
    printf("  %-44s %10s %19s %9.1f %7.1f%%\n", list[0].name, "", "", peak_rate(machine, &list[0]),
           100.0);
    print_group(list + 1, 4, flops, peak_rate(machine, &list[0]));
    for (int i = 0; i < 4; i++) {
        free(ctx[i].q), free(ctx[i].k), free(ctx[i].v), free(ctx[i].o), free(ctx[i].state);
    }
}

static void bench_isa(const arith_kernels *kernels, const float *x, int64_t n, float *work)
{
    machine_ctx machine = {.kernels = kernels, .rounds = 100000};
    if (kernels->vector_floats == 4) {
        // No fma instruction: the price of emulating it is all there is to know.
        machine.rounds = 2000;
        bench_contract(&machine, 128, 128, 128, 0);
        bench_row_sum(&machine, x, 1 << 16, work);
        return;
    }
    bench_contract(&machine, 1024, 1024, 1024, 0);
    bench_contract(&machine, 256, 256, 16384, 1);
    bench_row(&machine, 4096, 1024);
    arith_conv g = {.n = 32,
                    .h = 28,
                    .w = 28,
                    .c = 128,
                    .k = 128,
                    .r = 3,
                    .s = 3,
                    .p = 28,
                    .q = 28,
                    .stride = 1,
                    .pad = 1};
    bench_conv(&machine, &g);
    arith_conv wide = {.n = 8,
                       .h = 14,
                       .w = 14,
                       .c = 512,
                       .k = 512,
                       .r = 3,
                       .s = 3,
                       .p = 14,
                       .q = 14,
                       .stride = 1,
                       .pad = 1};
    bench_conv(&machine, &wide);
    bench_row_sum(&machine, x, 1 << 16, work);
    bench_row_sum(&machine, x, n, work);
    bench_column_sum(&machine, x, 1024, 64, work);
    bench_column_sum(&machine, x, n / 256, 256, work);
    bench_moments(&machine, x, 1 << 16);
    bench_moments(&machine, x, n);
    bench_attention(&machine, 0);
    bench_attention(&machine, 1);
}

void arith_bench(const arith_kernels *const *list, int n)
{
    int64_t size = 1 << 25; // 128 MiB: beyond L2; a shared L3 may still hold it
    float *x = arith_floats(size), *work = arith_floats(size / 16);
    arith_random(x, size, 5);
    // The plain loops make the errors, so one instruction set prints them for all.
    if (n > 0 && list[0]->vector_floats == 4) {
        printf("\nerrors by constant (numbers of one sign)\n");
        print_block_errors(4096);
        print_block_errors(16384);
        print_block_errors(131072);
        print_sum_errors();
        printf(
            "\ntimes are processor time of one thread: median and quartiles of interleaved rounds\n");
    }
    for (int i = 0; i < n; i++) {
        bench_isa(list[i], x, size, work);
    }
    free(x), free(work);
}
