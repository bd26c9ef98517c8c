// The allocator, arenas and growable arrays. The only file that calls malloc and free.
#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

#ifdef __linux__
#include <sys/mman.h>
#endif

static void *reallocate_default(void *user, void *ptr, size_t size_bytes)
{
    (void)user;
    if (size_bytes == 0) {
        free(ptr);
        return NULL;
    }
    return realloc(ptr, size_bytes);
}

wf_allocator wf_allocator_default(void)
{
    wf_allocator a = {reallocate_default, NULL};
    return a;
}

bool wf_mul_size(size_t a, size_t b, size_t *out)
{
    *out = 0;
    if (b && a > SIZE_MAX / b)
        return false;
    *out = a * b;
    return true;
}

bool wf_add_size(size_t a, size_t b, size_t *out)
{
    *out = 0;
    if (a > SIZE_MAX - b)
        return false;
    *out = a + b;
    return true;
}

weft_status wf_alloc(const wf_allocator *a, size_t count, size_t size_bytes, void *out_ptr,
                     weft_error *err)
{
    void *ptr = NULL;
    size_t bytes = 0;
    memcpy(out_ptr, &ptr, sizeof ptr);
    if (!wf_mul_size(count, size_bytes, &bytes)) {
        WEFT_FAIL(err, WEFT_ERR_MEMORY, "memory: %zu elements of %zu bytes overflow", count,
                  size_bytes);
    }
    if (bytes == 0)
        bytes = 1;
    ptr = a->reallocate(a->user, NULL, bytes);
    if (!ptr)
        WEFT_FAIL(err, WEFT_ERR_MEMORY, "memory: %zu bytes are not available", bytes);
    memset(ptr, 0, bytes);
    memcpy(out_ptr, &ptr, sizeof ptr);
    return WEFT_OK;
}

weft_status wf_realloc(const wf_allocator *a, void *inout_ptr, size_t new_count, size_t size_bytes,
                       weft_error *err)
{
    void *ptr;
    size_t bytes = 0;
    memcpy(&ptr, inout_ptr, sizeof ptr);
    if (!wf_mul_size(new_count, size_bytes, &bytes)) {
        WEFT_FAIL(err, WEFT_ERR_MEMORY, "memory: %zu elements of %zu bytes overflow", new_count,
                  size_bytes);
    }
    if (bytes == 0)
        bytes = 1;
    ptr = a->reallocate(a->user, ptr, bytes);
    if (!ptr)
        WEFT_FAIL(err, WEFT_ERR_MEMORY, "memory: %zu bytes are not available", bytes);
    memcpy(inout_ptr, &ptr, sizeof ptr);
    return WEFT_OK;
}

void wf_free(const wf_allocator *a, void *ptr)
{
    if (ptr)
        a->reallocate(a->user, ptr, 0);
}

weft_status wf_aligned_alloc(size_t size_bytes, size_t alignment, void *out_ptr, weft_error *err)
{
    size_t bytes = wf_round_up(size_bytes ? size_bytes : 1, alignment);
    void *ptr = bytes >= size_bytes ? aligned_alloc(alignment, bytes) : NULL;
    memcpy(out_ptr, &ptr, sizeof ptr);
    if (!ptr)
        WEFT_FAIL(err, WEFT_ERR_MEMORY, "memory: %zu bytes are not available", size_bytes);
    return WEFT_OK;
}

void wf_aligned_free(void *ptr)
{
    free(ptr);
}

#define PAGE_BYTES ((size_t)4096)
#define HUGE_PAGE_BYTES ((size_t)2 * 1024 * 1024)

weft_status wf_pages_alloc(size_t size_bytes, void *out_ptr, weft_error *err)
{
    // The bytes in whole huge pages; a last one that is less than half full is left to small pages.
    const size_t huge_bytes = size_bytes < SIZE_MAX - HUGE_PAGE_BYTES
                                  ? (size_bytes + HUGE_PAGE_BYTES / 2) & ~(HUGE_PAGE_BYTES - 1)
                                  : 0;
    if (huge_bytes == 0)
        return wf_aligned_alloc(size_bytes, PAGE_BYTES, out_ptr, err);
    WEFT_TRY(wf_aligned_alloc(size_bytes, HUGE_PAGE_BYTES, out_ptr, err));
#ifdef MADV_HUGEPAGE
    void *ptr;
    memcpy(&ptr, out_ptr, sizeof ptr);
    (void)madvise(ptr, huge_bytes, MADV_HUGEPAGE); // refused: slower, nothing else
#endif
    return WEFT_OK;
}

weft_status wf_strdup(const wf_allocator *a, const char *text, char **out, weft_error *err)
{
    *out = NULL;
    if (!text)
        return WEFT_OK;
    size_t n = strlen(text) + 1;
    WEFT_TRY(wf_alloc(a, n, 1, out, err));
    memcpy(*out, text, n);
    return WEFT_OK;
}

// Blocks of 64 KiB: a graph of a hundred nodes fits in one.
#define ARENA_BLOCK_BYTES ((size_t)64 * 1024)
#define ARENA_ALIGN ((size_t)16)

typedef struct wf_arena_block {
    struct wf_arena_block *next;
    size_t used_bytes;
    size_t size_bytes;
    size_t padding; // keeps the data 16-aligned
} wf_arena_block;

void wf_arena_init(wf_arena *arena, const wf_allocator *a)
{
    arena->allocator = *a;
    arena->head = NULL;
}

void wf_arena_deinit(wf_arena *arena)
{
    for (wf_arena_block *b = arena->head; b;) {
        wf_arena_block *next = b->next;
        wf_free(&arena->allocator, b);
        b = next;
    }
    arena->head = NULL;
}

void *wf_arena_take(wf_arena *arena, size_t size_bytes)
{
    size_t need = wf_round_up(size_bytes ? size_bytes : 1, ARENA_ALIGN);
    if (need < size_bytes)
        return NULL;
    wf_arena_block *b = arena->head;
    if (!b || b->size_bytes - b->used_bytes < need) {
        size_t size = need > ARENA_BLOCK_BYTES ? need : ARENA_BLOCK_BYTES;
        size_t bytes;
        if (!wf_add_size(size, sizeof *b, &bytes))
            return NULL;
        if (wf_alloc(&arena->allocator, bytes, 1, &b, NULL) != WEFT_OK)
            return NULL;
        b->size_bytes = size;
        b->next = arena->head;
        arena->head = b;
    }
    void *ptr = (char *)(b + 1) + b->used_bytes;
    b->used_bytes += need;
    return ptr;
}

char *wf_arena_strdup(wf_arena *arena, const char *text)
{
    if (!text)
        return NULL;
    size_t n = strlen(text) + 1;
    char *copy = wf_arena_take(arena, n);
    if (copy)
        memcpy(copy, text, n);
    return copy;
}

weft_status wf_array_reserve(const wf_allocator *a, void *inout_array, size_t *inout_capacity,
                             size_t needed, size_t elem_bytes, weft_error *err)
{
    if (needed <= *inout_capacity)
        return WEFT_OK;
    size_t capacity = *inout_capacity ? *inout_capacity : 16;
    while (capacity < needed) {
        if (!wf_mul_size(capacity, 2, &capacity))
            capacity = needed;
    }
    WEFT_TRY(wf_realloc(a, inout_array, capacity, elem_bytes, err));
    *inout_capacity = capacity;
    return WEFT_OK;
}
