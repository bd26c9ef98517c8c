// labels: exhaustive opencl (check_opencl and check_opencl_rest run the same cases; this adds the other layout)
// Every case of every op, forward and backward, dense and strided, on the first exact OpenCL device: the
// bits of ref.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "opencl_open.h"
#include "weft/run.h"
#include "wf_test.h"

typedef struct counts {
    int equal, different, skipped;
} counts;

static void try_case(weft_context *ctx, weft_device *ref, weft_device *dev, const wf_op *op,
                     const wf_check_case *one, wf_check_layout layout, counts *n)
{
    wf_check_trial trial;
    wf_check_result expected, got;
    weft_error err = {0};
    char reason[256];
    if (wf_check_trial_init(&trial, ctx, op->name, one, layout, &err) != WEFT_OK) {
        fail_msg("%s, %s: %s", op->name, one->name, err.message);
    }
    if (wf_check_trial_run(&trial, ref, &expected, &err) != WEFT_OK)
        fail_msg("ref: %s", err.message);
    weft_status status = wf_check_trial_run(&trial, dev, &got, &err);
    if (status == WEFT_ERR_UNSUPPORTED) {
        n->skipped++;
        print_message("%s, %s: %s\n", op->name, one->name, err.message);
    } else if (status != WEFT_OK) {
        n->different++;
        print_message("%s, %s, layout %d: %s\n", op->name, one->name, (int)layout, err.message);
    } else if (!wf_check_equal(&expected, &got, reason)) {
        n->different++;
        print_message("%s, %s, layout %d: %s\n", op->name, one->name, (int)layout, reason);
    } else {
        n->equal++;
    }
    if (status == WEFT_OK)
        wf_check_result_deinit(&got);
    wf_check_result_deinit(&expected);
    wf_check_trial_deinit(&trial);
}

// WEFT_TEST_OP: only the op of that name.
static void every_op(void **state)
{
    (void)state;
    weft_context *ctx;
    weft_device *dev = opencl_open_exact(&ctx);
    weft_device *ref;
    weft_error err = {0};
    counts n = {0, 0, 0};
    const char *only = getenv("WEFT_TEST_OP");
    assert_int_equal(weft_device_open(ctx, "ref", NULL, &ref, &err), WEFT_OK);
    for (size_t i = 0; i < ctx->n_ops; i++) {
        const wf_op *op = ctx->ops[i];
        wf_check_list list;
        if (only && strcmp(only, op->name) != 0)
            continue;
        assert_int_equal(wf_check_list_init(&list, ctx, op, &err), WEFT_OK);
        for (size_t c = 0; c < list.n; c++) {
            // A quarter of the cases of each op; all of them, in both layouts, in a sweep: each compiles a kernel.
            if (!wf_test_is_full() && c % 4 != i % 4)
                continue;
            for (int layout = 0; layout < (wf_test_is_full() ? WF_CHECK_N_LAYOUTS : 1); layout++) {
                try_case(ctx, ref, dev, op, &list.items[c], (wf_check_layout)layout, &n);
            }
        }
        wf_check_list_deinit(&list);
    }
    print_message("%d equal, %d different, %d skipped\n", n.equal, n.different, n.skipped);
    assert_int_equal(n.different, 0);
    weft_device_close(ref);
    weft_device_close(dev);
    weft_context_destroy(ctx);
}

const struct CMUnitTest wf_tests_opencl_op[] = {cmocka_unit_test(every_op)};
const unsigned long wf_n_tests_opencl_op = WF_N_TESTS(wf_tests_opencl_op);
