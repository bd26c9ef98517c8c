// What a kind of GPU driver (OpenCL, CUDA, HIP) gives to the code that all of them share, and the part
// of a device that the shared code sees. A new driver fills in a wf_gpu_api and its own buffers.
#ifndef WF_GPU_API_H
#define WF_GPU_API_H

#include "base/text.h"
#include "codegen/render.h"
#include "device/device.h"

typedef struct wf_gpu_device wf_gpu_device;
typedef struct wf_gpu_module wf_gpu_module; // compiled source: each driver defines its own
typedef struct wf_gpu_launch wf_gpu_launch; // a kernel with its arguments, ready to be enqueued

// A pointer to a buffer's start, or data by value.
typedef struct wf_gpu_arg {
    wf_device_buffer *buffer;
    const void *data; // borrowed until launch_create returns
    size_t size_bytes;
} wf_gpu_arg;

typedef struct wf_gpu_launch_spec {
    const char *kernel;
    uint32_t group[3];
    uint32_t n_groups[3];
    size_t n_args;
    const wf_gpu_arg *args;
} wf_gpu_launch_spec;

typedef struct wf_gpu_api {
    // Errors: WEFT_ERR_COMPILE with the compiler's first error line; the source is saved and its path named.
    weft_status (*module_build)(wf_gpu_device *dev, const char *source, wf_gpu_module **out_module,
                                weft_error *err);
    // A binary that module_save gave earlier; any failure means "build it again".
    weft_status (*module_load)(wf_gpu_device *dev, const uint8_t *binary, size_t size_bytes,
                               wf_gpu_module **out_module);
    // Free *out_binary with wf_free.
    weft_status (*module_save)(wf_gpu_device *dev, wf_gpu_module *module, uint8_t **out_binary,
                               size_t *out_size_bytes, weft_error *err);
    void (*module_destroy)(wf_gpu_device *dev, wf_gpu_module *module);
    weft_status (*launch_create)(wf_gpu_device *dev, wf_gpu_module *module,
                                 const wf_gpu_launch_spec *spec, wf_gpu_launch **out_launch,
                                 weft_error *err);
    void (*launch_destroy)(wf_gpu_device *dev, wf_gpu_launch *launch);
    // In order, behind everything enqueued before; returns at once.
    weft_status (*launch_enqueue)(wf_gpu_device *dev, wf_gpu_launch *launch, weft_error *err);
    weft_status (*fill_u32)(wf_gpu_device *dev, wf_device_buffer *buffer, uint32_t value,
                            weft_error *err);
} wf_gpu_api;

// Tile sizes of the product kernels: data, so that a tuner can set them.
typedef struct wf_gpu_tile {
    uint32_t m, n, k;          // of a work-group
    uint32_t group_m, group_n; // its work-items
} wf_gpu_tile;

#define WF_GPU_CACHE_ENTRIES 512 // modules kept: a large model has about a hundred

typedef struct wf_gpu_cache_entry {
    uint8_t key[32];
    wf_gpu_module *module;
    uint32_t n_users;
    uint64_t last_use;
} wf_gpu_cache_entry;

struct wf_gpu_device {
    weft_device base; // first: a weft_device points here
    const wf_gpu_api *api;
    wf_render_options render;
    uint32_t max_group_size;
    size_t local_bytes;
    wf_gpu_tile tile;
    wf_text prefix;     // #defines in front of every source
    char identity[768]; // of device, driver and build options, for the cache on disk
    wf_device_buffer *status;
    wf_gpu_cache_entry cache[WF_GPU_CACHE_ENTRIES];
    size_t n_cached;
    uint64_t cache_clock;
    wf_text joined_kernel; // what stands in front of rendered kernels, joined once
};

// Sets up what is shared once the driver has filled in base, api, render, limits, identity and prefix.
// Creates the status buffer.
weft_status wf_gpu_device_init(wf_gpu_device *dev, weft_error *err);
void wf_gpu_device_deinit(wf_gpu_device *dev);

// The shared entries of the driver table.
size_t wf_gpu_task_workspace(weft_device *dev, const wf_task *task);
weft_status wf_gpu_program_create(weft_device *dev, const wf_plan *plan,
                                  const wf_program_memory *memory, wf_device_program **out_program,
                                  weft_error *err);
void wf_gpu_program_destroy(weft_device *dev, wf_device_program *program);
weft_status wf_gpu_enqueue(weft_device *dev, wf_device_program *program, size_t first, size_t n,
                           weft_error *err);
weft_status wf_gpu_status_read(weft_device *dev, wf_device_program *program, uint32_t *out_word,
                               weft_error *err);
size_t wf_gpu_n_compiled(weft_device *dev);

// The module of a source (which does not hold the prefix): from memory, from disk, or built. Give back
// with release.
weft_status wf_gpu_module_get(wf_gpu_device *dev, const char *source, wf_gpu_module **out_module,
                              weft_error *err);
void wf_gpu_module_release(wf_gpu_device *dev, wf_gpu_module *module);

// ---- the cache on disk: $XDG_CACHE_HOME/weft or ~/.cache/weft. Nothing here can fail a program: a
// missing or damaged entry is no entry.
// key: 32 bytes. Free *out_data with wf_free.
bool wf_gpu_disk_read(const wf_allocator *a, const uint8_t key[32], uint8_t **out_data,
                      size_t *out_size_bytes);
void wf_gpu_disk_write(const wf_allocator *a, const uint8_t key[32], const void *data,
                       size_t size_bytes);
// Saves a text that did not compile; writes its path into out_path ("" when that is not possible).
void wf_gpu_disk_save_source(const wf_allocator *a, const uint8_t key[32], const char *source,
                             char out_path[512]);

#endif
