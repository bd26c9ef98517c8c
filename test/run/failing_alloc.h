// For tests in which every allocation fails once: what ran then must say so, and leave nothing behind.
#ifndef FAILING_ALLOC_H
#define FAILING_ALLOC_H

#include <stdlib.h>

#include "base/compiler.h"
#include "weft/weft.h"
#include "wf_test.h"

typedef struct failing_alloc {
    long countdown; // fails at 0
    long live;
} failing_alloc;

WF_UNUSED static void *failing_reallocate(void *user, void *ptr, size_t size_bytes)
{
    failing_alloc *f = user;
    if (size_bytes == 0) {
        f->live -= ptr != NULL;
        free(ptr);
        return NULL;
    }
    if (f->countdown-- == 0)
        return NULL;
    f->live += ptr == NULL;
    return realloc(ptr, size_bytes);
}

// Runs `go` with allocation 0, stride, 2 stride, .. failing, until none is left to fail.
WF_UNUSED static void failing_alloc_sweep(weft_status (*go)(const weft_context_options *options,
                                                            const char *device),
                                          const char *device, long stride)
{
    failing_alloc f = {0};
    weft_context_options options = WEFT_CONTEXT_OPTIONS_INIT;
    options.reallocate = failing_reallocate;
    options.reallocate_user = &f;
    long n = 0;
    for (; n < 100000; n += stride) {
        f = (failing_alloc){.countdown = n};
        const weft_status status = go(&options, device);
        if (f.live != 0)
            fail_msg("%s, allocation %ld: %ld blocks leak", device, n, f.live);
        if (status == WEFT_OK && f.countdown >= 0)
            break; // none was left to fail
        if (status != WEFT_OK && status != WEFT_ERR_MEMORY)
            fail_msg("%s, allocation %ld: %s", device, n, weft_status_name(status));
    }
    assert_true(n > 100);
}

#endif
