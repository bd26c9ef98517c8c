// What every unit test includes: cmocka, and skips that carry their reason.
//
// A file test/**/<stem>_test.c exports
//     const struct CMUnitTest wf_tests_<stem>[] = {cmocka_unit_test(one), cmocka_unit_test(two)};
//     const unsigned long wf_n_tests_<stem> = WF_N_TESTS(wf_tests_<stem>);
// and is found by its name. Strings given to the compiler: WEFT_SOURCE_DIR (the tree), WEFT_BINARY (the
// command weft), WEFT_BUILD_DIR, WEFT_TEST_TMP (where to write: the folder that
// the runner made for this file, and is in).
//
// A line "// labels: ..." among the first ten of the file says where it runs besides `make check`:
//     full        only in make check-full       exhaustive  only in make check-exhaustive
//     sweep       in make check, and again in check-full with wf_test_is_full() true
//     oclgrind    also under Oclgrind, which must have nothing to say (sizes <= 64: it is slow)
//     valgrind    also under valgrind           opencl      uses an OpenCL driver: not under TSan
//     noasan, notsan  not under that sanitizer, with the reason beside the line
#ifndef WF_TEST_H
#define WF_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// cmocka 1.1 needs the five headers above before it.
#include <cmocka.h>

#define WF_N_TESTS(tests) (sizeof(tests) / sizeof((tests)[0]))

// Leaves the running test as skipped. Only for what this machine lacks (an instruction set, a device, a
// library): the reason is printed, counted and listed at the end. A plain skip() counts as a failure.
#define WF_SKIP(...) wf_test_skip(__FILE__, __LINE__, __VA_ARGS__)

#if defined(__GNUC__)
__attribute__((noreturn, format(printf, 3, 4)))
#endif
void wf_test_skip(const char *file, int line, const char *format, ...);

// True in `make check-full` (WEFT_TEST_FULL=1; give the file the label sweep): the test may then take its longer sweep.
bool wf_test_is_full(void);

#endif
