// Floats beside a page that may not be touched, for tests of kernels: reading past an end is a crash.
#ifndef GUARDED_H
#define GUARDED_H

#include <sys/mman.h>
#include <unistd.h>

#include "wf_test.h"

// n floats that end where the next page may not be touched, or begin where the page before may not.
typedef struct guarded {
    char *map;
    size_t map_bytes;
    float *data;
} guarded;

static inline guarded guard(size_t n, bool is_at_end)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t inner = (n * 4 + page - 1) / page * page;
    guarded g = {.map_bytes = inner + 2 * page};
    g.map = mmap(NULL, g.map_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(g.map != MAP_FAILED);
    if (inner)
        assert_int_equal(mprotect(g.map + page, inner, PROT_READ | PROT_WRITE), 0);
    g.data = (float *)(void *)(g.map + page + (is_at_end ? inner - n * 4 : 0));
    for (size_t i = 0; i < n; i++)
        g.data[i] = (float)(i % 7) - 3.0f;
    return g;
}

static inline void unguard(guarded *g)
{
    (void)munmap(g->map, g->map_bytes);
}

#endif
