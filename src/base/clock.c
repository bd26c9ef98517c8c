// The monotonic clock of POSIX.
#include "base/clock.h"

#include <time.h>

uint64_t wf_clock_ns(void)
{
    struct timespec now;
    // Cannot fail: the clock id is known and the pointer is valid.
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

double wf_clock_seconds(void)
{
    return (double)wf_clock_ns() * 1e-9;
}
