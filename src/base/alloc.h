// All memory of the library goes through these: one allocator per context, checked sizes.
#ifndef WF_BASE_ALLOC_H
#define WF_BASE_ALLOC_H

#include "base/error.h"

typedef struct wf_allocator {
    void *(*reallocate)(void *user, void *ptr, size_t size_bytes);
    void *user;
} wf_allocator;

// The C library's malloc family.
wf_allocator wf_allocator_default(void);

// Zeroed memory for count elements of size_bytes each; *out is NULL on failure. count 0 is valid.
weft_status wf_alloc(const wf_allocator *a, size_t count, size_t size_bytes, void *out_ptr,
                     weft_error *err);
// Grows to new_count elements (contents kept, the rest not zeroed). *ptr unchanged on failure.
weft_status wf_realloc(const wf_allocator *a, void *inout_ptr, size_t new_count, size_t size_bytes,
                       weft_error *err);
// Accepts NULL.
void wf_free(const wf_allocator *a, void *ptr);

// Memory with an alignment (a power of two), not zeroed, not through the context's hook: for tensor
// arenas, whose pages are touched by their owners. Free with wf_aligned_free.
weft_status wf_aligned_alloc(size_t size_bytes, size_t alignment, void *out_ptr, weft_error *err);
void wf_aligned_free(void *ptr);
// The same for memory that a program walks through in every step: at a page's boundary, and from half
// a huge page on made of huge pages, where the system offers them.
weft_status wf_pages_alloc(size_t size_bytes, void *out_ptr, weft_error *err);

// false on overflow, *out then 0.
bool wf_mul_size(size_t a, size_t b, size_t *out);
bool wf_add_size(size_t a, size_t b, size_t *out);
// Rounds up to a multiple of step (a power of two).
static inline size_t wf_round_up(size_t x, size_t step)
{
    return (x + step - 1) & ~(step - 1);
}

// A copy of a string. NULL in, NULL out.
weft_status wf_strdup(const wf_allocator *a, const char *text, char **out, weft_error *err);

// A region of small blocks freed all at once: graph nodes, names.
typedef struct wf_arena {
    wf_allocator allocator;
    struct wf_arena_block *head;
} wf_arena;

void wf_arena_init(wf_arena *arena, const wf_allocator *a);
void wf_arena_deinit(wf_arena *arena);
// Zeroed, aligned to 16; NULL when memory is out.
void *wf_arena_take(wf_arena *arena, size_t size_bytes);
char *wf_arena_strdup(wf_arena *arena, const char *text);

// Growable arrays: WF_GROW(alloc, array, n, capacity, needed, err) as a statement-expression-free
// helper; returns a status. Capacity doubles so that pushes are amortised.
weft_status wf_array_reserve(const wf_allocator *a, void *inout_array, size_t *inout_capacity,
                             size_t needed, size_t elem_bytes, weft_error *err);

#endif
