// weft check: is this device right, bit for bit? One line per op; with --json one line per case.
// In: a device. Out: exit 0 when nothing differs, else 1.
#include <math.h>
#include <string.h>

#include <weft/check.h>

#include "cli.h"

typedef struct check_flags {
    cli_common common;
    const char *op;
    int64_t every;
    int64_t n_random;
    int64_t first_seed;
} check_flags;

static const cli_flag flags[] = {
    {"op", CLI_TEXT, offsetof(check_flags, op), "NAME",
     "only this op (also random_graph, training)"},
    {"every", CLI_INTEGER, offsetof(check_flags, every), "N",
     "every N-th case of each op and training run only"},
    {"random", CLI_INTEGER, offsetof(check_flags, n_random), "N", "random graphs (40)"},
    {"first-seed", CLI_INTEGER, offsetof(check_flags, first_seed), "N",
     "seed of the first random graph (0)"},
};

// What the lines are made from: the cases of the op at hand.
typedef struct report {
    bool is_json, is_quiet;
    char op[64];
    uint64_t n_equal, n_different, n_skipped;
    double ulp;
} report;

static void end_op(report *r)
{
    if (!r->op[0]) {
        return;
    }
    const bool is_bad = r->n_different > 0;
    if (!r->is_json && (!r->is_quiet || is_bad)) {
        printf("%-24s %4llu equal", r->op, (unsigned long long)r->n_equal);
        if (r->n_different) {
            printf(", %llu DIFFERENT", (unsigned long long)r->n_different);
        }
        if (r->n_skipped) {
            printf(", %llu skipped", (unsigned long long)r->n_skipped);
        }
        if (r->ulp >= 0) {
            printf("   at most %.3g from float64", r->ulp);
        }
        printf("\n");
        fflush(stdout);
    }
    r->op[0] = 0;
    r->n_equal = r->n_different = r->n_skipped = 0;
    r->ulp = -1.0;
}

static const char *const status_names[] = {"equal", "different", "skipped"};

static void tell_json(const weft_check_event *event)
{
    cli_json json = {stdout, false};
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "event", "op");
    cli_json_text(&json, "op", event->op);
    cli_json_text(&json, "case", event->case_name);
    cli_json_text(&json, "status", status_names[event->status]);
    cli_json_text(&json, "reason", event->reason);
    cli_json_f64(&json, "ulp_from_truth",
                 event->ulp_from_truth < 0 ? (double)NAN : event->ulp_from_truth);
    if (event->graph) {
        cli_json_text(&json, "graph", event->graph);
    }
    cli_json_close(&json, '}');
    cli_json_end(&json);
}

static void found(void *user, const weft_check_event *event)
{
    report *r = user;
    if (strcmp(r->op, event->op) != 0) {
        end_op(r);
        snprintf(r->op, sizeof r->op, "%s", event->op);
    }
    r->n_equal += event->status == WEFT_CHECK_EQUAL;
    r->n_different += event->status == WEFT_CHECK_DIFFERENT;
    r->n_skipped += event->status == WEFT_CHECK_SKIPPED;
    r->ulp = event->ulp_from_truth > r->ulp ? event->ulp_from_truth : r->ulp;
    if (r->is_json) {
        tell_json(event);
        return;
    }
    if (event->status != WEFT_CHECK_EQUAL) {
        printf("  %s, %s: %s: %s\n", event->op, event->case_name, status_names[event->status],
               event->reason);
    }
    if (event->graph) {
        printf("%s", event->graph);
    }
}

static void say_done(const report *r, const weft_check_result *result, const weft_device *device)
{
    if (r->is_json) {
        cli_json json = {stdout, false};
        cli_json_open(&json, NULL, '{');
        cli_json_text(&json, "event", "done");
        cli_json_integer(&json, "equal", (int64_t)result->n_equal);
        cli_json_integer(&json, "different", (int64_t)result->n_different);
        cli_json_integer(&json, "skipped", (int64_t)result->n_skipped);
        cli_json_text(&json, "digest", result->digest);
        cli_json_close(&json, '}');
        cli_json_end(&json);
        return;
    }
    printf("%s (%s): %llu equal, %llu different, %llu skipped\ndigest %s\n", weft_device_id(device),
           weft_device_name(device), (unsigned long long)result->n_equal,
           (unsigned long long)result->n_different, (unsigned long long)result->n_skipped,
           result->digest);
}

static int run(const cli_verb *verb, int argc, char **argv)
{
    check_flags f = {0};
    int n_words;
    weft_context *context = NULL;
    weft_device *device = NULL;
    weft_error err = {0};
    weft_check_result result;
    int code = cli_parse(verb, argc, argv, &f, &n_words);
    if (code >= 0) {
        return code;
    }
    if (n_words > 0) {
        return cli_usage(verb, "takes no arguments, '%s' is one", argv[0]);
    }
    code = cli_context(&f.common, &context);
    if (code == 0) {
        code = cli_device(&f.common, context, &device);
    }
    if (code == 0) {
        report r = {.is_json = f.common.is_json, .is_quiet = f.common.is_quiet, .ulp = -1.0};
        weft_check_options o = WEFT_CHECK_OPTIONS_INIT;
        o.op = f.op;
        o.every = f.every == CLI_UNSET ? 0 : (uint32_t)f.every;
        o.n_random = f.n_random == CLI_UNSET ? 0 : (uint32_t)f.n_random;
        o.first_seed = f.first_seed == CLI_UNSET ? 0 : (uint64_t)f.first_seed;
        if (weft_check_run(context, device, &o, found, &r, &result, &err) != WEFT_OK) {
            code = cli_fail(&err);
        } else {
            end_op(&r);
            say_done(&r, &result, device);
            code = result.n_different ? CLI_FAILED : CLI_OK;
        }
    }
    weft_device_close(device);
    weft_context_destroy(context);
    return code;
}

const cli_verb cli_verb_check = {
    .name = "check",
    .summary = "is this device right, bit for bit?",
    .arguments = "",
    .text =
        "Runs cases of every op, forward and backward, random graphs and short training runs on\n"
        "the device and on the reference, and compares the bits; the reference itself is held\n"
        "against float64 and finite differences. Ends with the digest of the reference's results,\n"
        "which every machine prints. With --precision fast it compares within a tolerance.",
    .wants = CLI_WANTS_DEVICE | CLI_WANTS_PRECISION,
    .flags = flags,
    .n_flags = CLI_COUNT(flags),
    .run = run,
};
