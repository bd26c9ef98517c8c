// See guarded_device.h. Programs run on a copy of their plan, whose buffers lie far apart.
#include "guarded_device.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device/host_buffer.h"
#include "wf_test.h"

extern const wf_driver wf_driver_cpu;

struct wf_device_program {
    wf_device_program *inner;
    const wf_plan *plan;
    wf_device_buffer *arena;
    wf_plan apart;
    wf_program_memory memory;
    wf_device_buffer guarded_arena, guarded_constants;
    size_t map_bytes, constants_map_bytes;
};

static wf_driver drivers[2]; // of buffers that begin, that end at such a page

static bool ends_there(const weft_device *dev)
{
    return dev->driver == &drivers[1];
}

static size_t get_page(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t to_pages(size_t bytes)
{
    return wf_round_up(bytes, get_page());
}

static char *take_pages(size_t bytes)
{
    char *map = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(map != MAP_FAILED);
    return map;
}

// Makes place for a buffer behind the page at map + *used, and takes a page behind it: its offset.
static size_t place(char *map, size_t *used, size_t bytes, bool is_at_end)
{
    const size_t first = *used + get_page(), inner = to_pages(bytes);
    if (map && inner)
        assert_int_equal(mprotect(map + first, inner, PROT_READ | PROT_WRITE), 0);
    *used = first + inner;
    return first + (is_at_end ? inner - bytes : 0);
}

static weft_status buffer_create(weft_device *dev, size_t bytes, wf_device_buffer **out,
                                 weft_error *err)
{
    (void)err;
    wf_device_buffer *b = malloc(sizeof *b);
    size_t used = 0;
    assert_non_null(b);
    char *map = take_pages(to_pages(bytes) + 2 * get_page());
    *b = (wf_device_buffer){.data = map + place(map, &used, bytes, ends_there(dev)),
                            .size_bytes = bytes};
    *out = b;
    return WEFT_OK;
}

static void buffer_destroy(weft_device *dev, wf_device_buffer *b)
{
    if (!b)
        return;
    const size_t inner = to_pages(b->size_bytes);
    char *map = b->data - (ends_there(dev) ? inner - b->size_bytes : 0) - get_page();
    (void)munmap(map, inner + 2 * get_page());
    free(b);
}

static bool is_constant(const wf_buffer *b)
{
    return b->kind == WF_BUFFER_CONSTANT;
}

static bool is_in_arena(const wf_buffer *b)
{
    return b->kind != WF_BUFFER_CONSTANT && b->kind != WF_BUFFER_VARIABLE;
}

// Gives the buffers of one place new offsets. map NULL: only counts. Returns the bytes that they take.
static size_t spread(const wf_plan *plan, wf_buffer *buffers, bool (*belongs)(const wf_buffer *),
                     char *map, bool is_at_end)
{
    size_t used = 0;
    for (uint32_t i = 0; i < plan->n_buffers; i++) {
        if (belongs(&plan->buffers[i]) && wf_plan_root(plan, i) == i)
            buffers[i].offset_bytes = place(map, &used, plan->buffers[i].size_bytes, is_at_end);
    }
    for (uint32_t i = 0; i < plan->n_buffers; i++) {
        if (belongs(&plan->buffers[i]))
            buffers[i].offset_bytes = buffers[wf_plan_root(plan, i)].offset_bytes;
    }
    return used + get_page();
}

static void copy_all(const wf_plan *from_plan, const char *from, const wf_plan *to_plan, char *to,
                     bool (*belongs)(const wf_buffer *))
{
    for (uint32_t i = 0; i < from_plan->n_buffers; i++) {
        const wf_buffer *b = &from_plan->buffers[i];
        if (belongs(b) && b->size_bytes)
            memcpy(to + to_plan->buffers[i].offset_bytes, from + b->offset_bytes, b->size_bytes);
    }
}

static bool is_input(const wf_buffer *b)
{
    return b->kind == WF_BUFFER_INPUT;
}

static bool is_read(const wf_buffer *b)
{
    return b->kind == WF_BUFFER_OUTPUT || b->kind == WF_BUFFER_INPUT;
}

static weft_status program_create(weft_device *dev, const wf_plan *plan,
                                  const wf_program_memory *memory, wf_device_program **out,
                                  weft_error *err)
{
    wf_device_program *p = calloc(1, sizeof *p);
    const bool is_at_end = ends_there(dev);
    wf_buffer *buffers = malloc((plan->n_buffers + 1) * sizeof *buffers);
    assert_true(p && buffers);
    memcpy(buffers, plan->buffers, plan->n_buffers * sizeof *buffers);
    p->plan = plan;
    p->arena = memory->arena;
    p->apart = *plan;
    p->apart.buffers = buffers;
    p->memory = *memory;
    p->map_bytes = spread(plan, buffers, is_in_arena, NULL, is_at_end);
    p->guarded_arena = (wf_device_buffer){take_pages(p->map_bytes), p->map_bytes, 0};
    (void)spread(plan, buffers, is_in_arena, p->guarded_arena.data, is_at_end);
    p->memory.arena = &p->guarded_arena;
    if (memory->constants) {
        p->constants_map_bytes = spread(plan, buffers, is_constant, NULL, is_at_end);
        p->guarded_constants =
            (wf_device_buffer){take_pages(p->constants_map_bytes), p->constants_map_bytes, 0};
        (void)spread(plan, buffers, is_constant, p->guarded_constants.data, is_at_end);
        copy_all(plan, memory->constants->data, &p->apart, p->guarded_constants.data, is_constant);
        p->memory.constants = &p->guarded_constants;
    }
    *out = p;
    return wf_driver_cpu.program_create(dev, &p->apart, &p->memory, &p->inner, err);
}

static void program_destroy(weft_device *dev, wf_device_program *p)
{
    if (!p)
        return;
    wf_driver_cpu.program_destroy(dev, p->inner);
    (void)munmap(p->guarded_arena.data, p->map_bytes);
    if (p->constants_map_bytes)
        (void)munmap(p->guarded_constants.data, p->constants_map_bytes);
    free(p->apart.buffers);
    free(p);
}

static weft_status enqueue(weft_device *dev, wf_device_program *p, size_t first, size_t n,
                           weft_error *err)
{
    if (first == 0)
        copy_all(p->plan, p->arena->data, &p->apart, p->guarded_arena.data, is_input);
    const weft_status status = wf_driver_cpu.enqueue(dev, p->inner, first, n, err);
    copy_all(&p->apart, p->guarded_arena.data, p->plan, p->arena->data, is_read);
    return status;
}

static weft_status status_read(weft_device *dev, wf_device_program *p, uint32_t *out_word,
                               weft_error *err)
{
    return wf_driver_cpu.status_read(dev, p->inner, out_word, err);
}

void guarded_device_wrap(weft_device *dev, bool is_at_end)
{
    wf_driver *driver = &drivers[is_at_end];
    *driver = wf_driver_cpu;
    driver->buffer_create = buffer_create;
    driver->buffer_destroy = buffer_destroy;
    driver->program_create = program_create;
    driver->program_destroy = program_destroy;
    driver->enqueue = enqueue;
    driver->status_read = status_read;
    dev->driver = driver;
}
