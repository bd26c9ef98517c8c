// For tests of devices by the check engine: every case that differs is printed, none may.
#ifndef CHECK_SESSION_H
#define CHECK_SESSION_H

#include <stdio.h>
#include <string.h>

#include "weft/check.h"
#include "wf_test.h"

static void check_found(void *user, const weft_check_event *event)
{
    (void)user;
    if (event->status != WEFT_CHECK_EQUAL) {
        printf("%s, %s: %s\n%s", event->op, event->case_name, event->reason,
               event->graph ? event->graph : "");
    }
}

// All of weft_check_run on a device; a skip is a failure too unless n_skipped says how many there may be.
static weft_check_result check_device(weft_context *ctx, weft_device *device,
                                      const weft_check_options *options)
{
    weft_check_result result;
    weft_error err;
    if (weft_check_run(ctx, device, options, check_found, NULL, &result, &err) != WEFT_OK) {
        fail_msg("%s", err.message);
    }
    printf("%s %s: %llu equal, %llu different, %llu skipped, digest %s\n", weft_device_id(device),
           weft_device_isa(device), (unsigned long long)result.n_equal,
           (unsigned long long)result.n_different, (unsigned long long)result.n_skipped,
           result.digest);
    assert_int_equal(result.n_different, 0);
    return result;
}

#endif
