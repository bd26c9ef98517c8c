// The only place with compiler extensions.
#ifndef WF_BASE_COMPILER_H
#define WF_BASE_COMPILER_H

#if defined(__GNUC__) || defined(__clang__)
#define WF_PRINTF(format_idx, first_idx) __attribute__((format(printf, format_idx, first_idx)))
#define WF_NOINLINE __attribute__((noinline))
#define WF_LIKELY(x) __builtin_expect(!!(x), 1)
#define WF_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define WF_TRAP() __builtin_trap()
#define WF_UNUSED __attribute__((unused))
#else
#define WF_PRINTF(format_idx, first_idx)
#define WF_NOINLINE
#define WF_LIKELY(x) (x)
#define WF_UNLIKELY(x) (x)
#define WF_TRAP() (*(volatile int *)0 = 0)
#define WF_UNUSED
#endif

#define WF_COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#endif
