// Failing with one line of text, and passing failure up. See the four kinds of error in
// CONTRIBUTING.md.
#ifndef WF_BASE_ERROR_H
#define WF_BASE_ERROR_H

#include "base/compiler.h"
#include "weft/base.h"

// Returns the expression's status from the calling function unless it is WEFT_OK.
#define WEFT_TRY(expr)                                                                             \
    do {                                                                                           \
        weft_status wf_try_status = (expr);                                                        \
        if (wf_try_status != WEFT_OK)                                                              \
            return wf_try_status;                                                                  \
    } while (0)

// Writes the message (printf format) into err, if any, and returns the code.
#define WEFT_FAIL(err, code, ...) return wf_error_set((err), (code), __VA_ARGS__)

// For functions with a `fail:` label: sets `status` and jumps there.
#define WEFT_TRY_GOTO(expr)                                                                        \
    do {                                                                                           \
        status = (expr);                                                                           \
        if (status != WEFT_OK)                                                                     \
            goto fail;                                                                             \
    } while (0)

weft_status wf_error_set(weft_error *err, weft_status code, const char *format, ...)
    WF_PRINTF(3, 4);

// Puts "phrase: " before the message: a stage boundary may say which file or stage it was.
void wf_error_prefix(weft_error *err, const char *format, ...) WF_PRINTF(2, 3);

// An invariant of ours: never reachable from any input. Traps in debug builds.
#ifdef NDEBUG
#define WEFT_ASSERT(cond) ((void)sizeof(cond))
#else
#define WEFT_ASSERT(cond) ((cond) ? (void)0 : wf_assert_failed(#cond, __FILE__, __LINE__))
#endif
void wf_assert_failed(const char *text, const char *file, int line);

// The caller broke the contract: WEFT_ERR_USAGE.
#define WEFT_REQUIRE(err, cond, ...)                                                               \
    do {                                                                                           \
        if (!(cond))                                                                               \
            return wf_error_set((err), WEFT_ERR_USAGE, __VA_ARGS__);                               \
    } while (0)

#endif
