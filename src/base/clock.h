// A clock that never runs backwards.
#ifndef WF_BASE_CLOCK_H
#define WF_BASE_CLOCK_H

#include <stdint.h>

// Nanoseconds since some fixed moment.
uint64_t wf_clock_ns(void);
// The same in seconds.
double wf_clock_seconds(void);

#endif
