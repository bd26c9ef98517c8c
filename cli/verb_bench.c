// weft bench gemm|conv|NETWORK: how fast, against the device's own limit. Out: a table, or JSON lines.
#include <string.h>

#include <weft/bench.h>

#include "bench_shapes.h"
#include "cli.h"

typedef struct bench_flags {
    cli_common common;
    const char *shape;
    const char *shapes;
    const char *direction;
    const char *storage;
    int64_t time_ms;
    bool has_tasks;
    bool is_cpu_time;
} bench_flags;

static const cli_flag flags[] = {
    {"shape", CLI_TEXT, offsetof(bench_flags, shape), "LIST",
     "gemm: M,K,N[,transA,transB]; conv: N,C,H,K,R[,stride,pad,groups]"},
    {"shapes", CLI_TEXT, offsetof(bench_flags, shapes), "FILE",
     "the rows of a file such as bench/shapes.json"},
    {"direction", CLI_TEXT, offsetof(bench_flags, direction), "D",
     "conv: forward, dX or dW only (all three)"},
    {"storage", CLI_TEXT, offsetof(bench_flags, storage), "TYPE",
     "of networks: what layers hand on is held in f32, bf16 or f16 (f32)"},
    {"time", CLI_INTEGER, offsetof(bench_flags, time_ms), "MS", "for each line (1000)"},
    {"tasks", CLI_SWITCH, offsetof(bench_flags, has_tasks), NULL,
     "as long again task by task: which of them take the time"},
    {"cpu-time", CLI_SWITCH, offsetof(bench_flags, is_cpu_time), NULL,
     "the processor's time instead of the time that passed: for one thread, where others work too"},
};

static const char *const direction_names[] = {"forward", "dX", "dW"};

typedef struct bench {
    const bench_flags *flags;
    weft_context *context;
    weft_device *device;
    double peak; // GFLOP/s; 0: not known
    weft_bench_options options;
    const char *name; // of what is measured
    cli_table tasks;
    weft_bench_task rest; // those that the table leaves out
    weft_error err;
} bench;

static const char *arithmetic_name(const bench *b)
{
    return b->flags->common.arithmetic == CLI_ARITHMETIC_FAST ? "fast" : "exact";
}

// What was measured: a row of the shapes, or a network.
typedef struct subject {
    const char *name, *direction;
    const char *shape;    // for people
    const bench_row *row; // NULL: a network
} subject;

static const char *storage_name(const bench *b)
{
    return b->flags->storage ? b->flags->storage : "f32";
}

static double per_second(int64_t n, const weft_bench_result *r)
{
    return (double)n / r->median_ms * 1e3;
}

static void tell_row(cli_json *json, const bench_row *row)
{
    if (!row) {
        cli_json_text(json, "shape", NULL);
        return;
    }
    cli_json_open(json, "shape", '[');
    cli_json_text(json, NULL, row->name);
    for (size_t i = 0; i < row->n; i++) {
        cli_json_integer(json, NULL, row->v[i]);
    }
    cli_json_close(json, ']');
}

static void tell_json(const bench *b, const subject *s, const weft_bench_result *r)
{
    cli_json json = {stdout, false};
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "name", s->name);
    tell_row(&json, s->row);
    cli_json_text(&json, "direction", s->direction);
    cli_json_text(&json, "device", weft_device_id(b->device));
    cli_json_text(&json, "arithmetic", arithmetic_name(b));
    cli_json_text(&json, "storage", storage_name(b));
    cli_json_text(&json, "isa", weft_device_isa(b->device));
    cli_json_integer(&json, "threads", (int64_t)weft_device_n_threads(b->device));
    cli_json_integer(&json, "batch", r->batch);
    cli_json_f64(&json, "median_ms", r->median_ms);
    cli_json_f64(&json, "spread", r->spread);
    if (r->n_tokens > 0) {
        cli_json_f64(&json, "tokens_per_s", per_second(r->n_tokens, r));
    } else {
        cli_json_f64(&json, "samples_per_s", per_second(r->batch, r));
    }
    cli_json_f64(&json, "gflops", r->gflops);
    if (r->peak_fraction > 0.0) {
        cli_json_f64(&json, "peak_fraction", r->peak_fraction);
    } else {
        cli_json_text(&json, "peak_fraction", NULL);
    }
    cli_json_integer(&json, "bytes", (int64_t)r->bytes);
    cli_json_integer(&json, "planned_bytes", (int64_t)r->planned_bytes);
    cli_json_integer(&json, "peak_rss_bytes", (int64_t)r->peak_rss_bytes);
    cli_json_close(&json, '}');
    cli_json_end(&json);
}

static void tell_task_json(const bench *b, const weft_bench_task *t)
{
    cli_json json = {stdout, false};
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "name", b->name);
    cli_json_text(&json, "task", t->name);
    cli_json_text(&json, "kind", t->kind);
    cli_json_text(&json, "shape", t->shape);
    cli_json_integer(&json, "n_tasks", (int64_t)t->n_tasks);
    cli_json_f64(&json, "ms", t->ms);
    cli_json_f64(&json, "share", t->share);
    cli_json_f64(&json, "flops", t->flops);
    cli_json_f64(&json, "bytes", t->bytes);
    cli_json_close(&json, '}');
    cli_json_end(&json);
}

static void add_task_row(cli_table *table, const weft_bench_task *t)
{
    if (!table->cells)
        return;
    cli_table_cell(table, "%s", t->kind);
    cli_table_cell(table, "%s", t->name);
    cli_table_cell(table, "%s", t->shape);
    cli_table_cell(table, "%llu", (unsigned long long)t->n_tasks);
    cli_table_cell(table, "%.4f", t->ms);
    cli_table_cell(table, "%.1f%%", t->share * 100.0);
    cli_table_cell(table, "%.2f", t->ms > 0.0 ? t->flops / t->ms * 1e-6 : 0.0);
    cli_table_cell(table, "%.2f", t->ms > 0.0 ? t->bytes / t->ms * 1e-6 : 0.0);
}

// Less than this of the time: one row for all such.
#define LEAST_SHARE 0.005

static void found_task(void *user, const weft_bench_task *t)
{
    static const char *const titles[] = {"kind", "of",    "shape",   "tasks",
                                         "ms",   "share", "GFLOP/s", "GB/s"};
    bench *b = user;
    if (b->flags->common.is_json) {
        tell_task_json(b, t);
        return;
    }
    if (!b->tasks.cells && cli_table_open(&b->tasks, CLI_COUNT(titles))) {
        b->rest = (weft_bench_task){.kind = "", .name = "the rest", .shape = ""};
        for (size_t i = 0; i < CLI_COUNT(titles); i++)
            cli_table_cell(&b->tasks, "%s", titles[i]);
    }
    if (t->share >= LEAST_SHARE) {
        add_task_row(&b->tasks, t);
        return;
    }
    b->rest.n_tasks += t->n_tasks;
    b->rest.ms += t->ms;
    b->rest.share += t->share;
    b->rest.flops += t->flops;
    b->rest.bytes += t->bytes;
}

static void tell_tasks(bench *b)
{
    if (!b->tasks.cells)
        return;
    if (b->rest.n_tasks > 0)
        add_task_row(&b->tasks, &b->rest);
    cli_table_close(&b->tasks, 3, stdout);
}

static void tell(bench *b, const subject *s, const weft_bench_result *r)
{
    if (b->flags->common.is_json) {
        tell_json(b, s, r);
        return;
    }
    printf("%-22s %-28s %-8s %10.4f ms +-%4.1f%% %9.2f GFLOP/s", s->row ? s->row->name : s->name,
           s->shape, s->direction, r->median_ms, r->spread * 50.0, r->gflops);
    if (r->peak_fraction > 0.0) {
        printf(" %5.1f%% of peak", r->peak_fraction * 100.0);
    }
    printf("\n");
    tell_tasks(b);
    fflush(stdout);
}

static int run_gemm(bench *b, const bench_row *row)
{
    const weft_bench_gemm_shape s = {row->v[0], row->v[1], row->v[2], row->v[3] != 0,
                                     row->v[4] != 0};
    weft_bench_result r;
    char shape[64];
    b->name = row->name;
    snprintf(shape, sizeof shape, "%lldx%lldx%lld%s%s", (long long)s.m, (long long)s.k,
             (long long)s.n, s.transpose_a ? " At" : "", s.transpose_b ? " Bt" : "");
    if (weft_bench_gemm(b->context, b->device, &s, b->peak, &b->options, &r, &b->err) != WEFT_OK) {
        return cli_fail(&b->err);
    }
    tell(b, &(subject){"gemm", "forward", shape, row}, &r);
    return CLI_OK;
}

static int run_conv(bench *b, const bench_row *row)
{
    const weft_bench_conv_shape s = {.batch = row->v[0],
                                     .in = row->v[1],
                                     .size = row->v[2],
                                     .out = row->v[3],
                                     .window = row->v[4],
                                     .stride = row->v[5],
                                     .pad = row->v[6],
                                     .groups = row->v[7]};
    weft_bench_result r;
    char shape[96];
    b->name = row->name;
    snprintf(shape, sizeof shape, "%lldx%lldx%lldx%lld k%lld %lldx%lld s%lld p%lld g%lld",
             (long long)s.batch, (long long)s.in, (long long)s.size, (long long)s.size,
             (long long)s.out, (long long)s.window, (long long)s.window, (long long)s.stride,
             (long long)s.pad, (long long)s.groups);
    for (int d = 0; d < 3; d++) {
        if (b->flags->direction && strcmp(b->flags->direction, direction_names[d]) != 0) {
            continue;
        }
        if (weft_bench_conv(b->context, b->device, &s, (weft_bench_direction)d, b->peak,
                            &b->options, &r, &b->err) != WEFT_OK) {
            return cli_fail(&b->err);
        }
        tell(b, &(subject){"conv", direction_names[d], shape, row}, &r);
    }
    return CLI_OK;
}

typedef struct suite {
    const char *name;
    size_t least; // numbers that a row must have
    bench_row standard;
    int64_t rest[BENCH_MAX_COLUMNS]; // what stands where a row is shorter than the standard one
    int (*run)(bench *b, const bench_row *row);
} suite;

static const suite suites[] = {
    {"gemm", 3, {"square", {1024, 1024, 1024, 0, 0}, 5}, {0}, run_gemm},
    {"conv", 5, {"3x3 128", {32, 128, 28, 128, 3, 1, 1, 1}, 8}, {0, 0, 0, 0, 0, 1, 0, 1}, run_conv},
};

static int run_suite(const cli_verb *verb, bench *b, const suite *s)
{
    static bench_row rows[BENCH_MAX_ROWS];
    char why[256];
    int n = 1;
    rows[0] = s->standard;
    if (b->flags->shape) {
        if (!bench_row_parse(b->flags->shape, s->least, &rows[0])) {
            return cli_usage(verb, "--shape '%s' is no list of %zu numbers or more",
                             b->flags->shape, s->least);
        }
        snprintf(rows[0].name, sizeof rows[0].name, "%s", s->name);
    } else if (b->flags->shapes) {
        n = bench_rows_read(b->flags->shapes, s->name, rows, why);
        if (n < 0) {
            return cli_usage(verb, "%s", why);
        }
    }
    if (b->flags->storage) {
        return cli_usage(verb, "--storage is of networks, %s is measured in f32", s->name);
    }
    int code = CLI_OK;
    for (int i = 0; code == CLI_OK && i < n; i++) {
        for (; rows[i].n < s->standard.n; rows[i].n++) {
            rows[i].v[rows[i].n] = s->rest[rows[i].n];
        }
        code = s->run(b, &rows[i]);
    }
    return code;
}

static int run_network(const cli_verb *verb, bench *b, const char *name)
{
    weft_bench_result r;
    b->name = name;
    const weft_status status =
        weft_bench_network(b->context, b->device, name, b->peak, &b->options, &r, &b->err);
    if (status == WEFT_ERR_NAME) {
        char list[512] = "";
        for (size_t i = 0; weft_bench_network_name(i); i++) {
            const size_t n = strlen(list);
            snprintf(list + n, sizeof list - n, " %s", weft_bench_network_name(i));
        }
        return cli_usage(verb,
                         "'%s' is no benchmark, expected gemm, conv, or a network with or "
                         "without -infer:%s",
                         name, list);
    }
    if (status != WEFT_OK) {
        return cli_fail(&b->err);
    }
    char shape[64];
    snprintf(shape, sizeof shape, "batch %lld, %.1f %s/s", (long long)r.batch,
             per_second(r.n_tokens ? r.n_tokens : r.batch, &r), r.n_tokens ? "tokens" : "samples");
    const bool is_inference = strstr(name, "-infer") != NULL;
    tell(b, &(subject){name, is_inference ? "infer" : "step", shape, NULL}, &r);
    return CLI_OK;
}

static void say_peak(const bench *b)
{
    if (b->flags->common.is_json || b->flags->common.is_quiet) {
        return;
    }
    printf("%s (%s), %s, %u thread%s", weft_device_id(b->device), weft_device_name(b->device),
           weft_device_isa(b->device), weft_device_n_threads(b->device),
           weft_device_n_threads(b->device) == 1 ? "" : "s");
    if (b->peak > 0.0) {
        printf(", fma peak %.1f GFLOP/s measured", b->peak);
    }
    printf("\n");
}

static int run_words(const cli_verb *verb, bench *b, int n_words, char **words)
{
    static char *const all[] = {"gemm", "conv"};
    int code = CLI_OK;
    if (n_words == 0) {
        n_words = (int)CLI_COUNT(all);
        words = (char **)all;
    }
    for (int i = 0; code == CLI_OK && i < n_words; i++) {
        const suite *s = NULL;
        for (size_t k = 0; k < CLI_COUNT(suites); k++) {
            s = !strcmp(words[i], suites[k].name) ? &suites[k] : s;
        }
        code = s ? run_suite(verb, b, s) : run_network(verb, b, words[i]);
    }
    return code;
}

static int run(const cli_verb *verb, int argc, char **argv)
{
    bench_flags f = {0};
    bench b = {.flags = &f, .options = WEFT_BENCH_OPTIONS_INIT};
    int n_words;
    int code = cli_parse(verb, argc, argv, &f, &n_words);
    if (code >= 0) {
        return code;
    }
    bool is_direction = !f.direction;
    for (size_t i = 0; f.direction && i < CLI_COUNT(direction_names); i++) {
        is_direction |= !strcmp(f.direction, direction_names[i]);
    }
    if (!is_direction) {
        return cli_usage(verb, "--direction is '%s', expected forward, dX or dW", f.direction);
    }
    b.options.is_cpu_time = f.is_cpu_time;
    b.options.storage = f.storage ? weft_dtype_parse(f.storage) : WEFT_DTYPE_NONE;
    if (f.storage && b.options.storage != WEFT_F32 && b.options.storage != WEFT_BF16 &&
        b.options.storage != WEFT_F16) {
        return cli_usage(verb, "--storage is '%s', expected f32, bf16 or f16", f.storage);
    }
    b.options.seconds = f.time_ms == CLI_UNSET ? 1.0 : (double)f.time_ms * 1e-3;
    b.options.task = f.has_tasks ? found_task : NULL;
    b.options.user = &b;
    code = cli_context(&f.common, &b.context);
    if (code == 0) {
        code = cli_device(&f.common, b.context, &b.device);
    }
    if (code == 0 && weft_bench_peak(b.device, &b.peak, &b.err) != WEFT_OK) {
        code = cli_fail(&b.err);
    }
    if (code == 0) {
        say_peak(&b);
        code = run_words(verb, &b, n_words, argv);
    }
    weft_device_close(b.device);
    weft_context_destroy(b.context);
    return code;
}

const cli_verb cli_verb_bench = {
    .name = "bench",
    .summary = "how fast, against the device's own limit",
    .arguments = "[gemm|conv|NETWORK[-infer] ...]",
    .text =
        "Measures real programs: by default the product of two 1024 x 1024 matrices and the 3 x 3\n"
        "convolution of 128 channels, 28 x 28, batch 32, forward and both gradients, its pictures\n"
        "channels last, as between the layers of a network. A network (mlp lenet vgg6 resnet18 ...)\n"
        "is measured as it trains, a step with its batch, or with -infer as it answers for one\n"
        "sample. Medians of windows of several runs; the peak is measured by chains of fma in\n"
        "registers.",
    .wants = CLI_WANTS_DEVICE | CLI_WANTS_PRECISION,
    .flags = flags,
    .n_flags = CLI_COUNT(flags),
    .run = run,
};
