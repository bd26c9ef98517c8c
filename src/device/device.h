// The driver vtable: what a device is to the rest of weft. One folder per device exports one
// `const wf_driver wf_driver_<name>` from <name>_device.c. To add a device, copy null/.
#ifndef WF_DEVICE_DEVICE_H
#define WF_DEVICE_DEVICE_H

#include "plan/plan.h"
#include "weft/device.h"

typedef struct wf_driver wf_driver;
typedef struct wf_device_buffer wf_device_buffer; // each driver defines its own
typedef struct wf_device_program wf_device_program;

typedef struct wf_device_caps {
    bool fuse; // see wf_plan_options
    bool apart_rows;
    bool channels_last;
    uint32_t epilogues;
    bool is_truth; // floats are held as double: the float64 mode of ref
    size_t elem_bytes[WEFT_N_DTYPES];
    size_t max_buffer_bytes; // the largest single buffer
    size_t program_bytes;    // of buffers that a program has beside the plan's: a status word
    uint32_t n_threads;      // as opened
    const char *isa;         // "avx512", "scalar", or the OpenCL device's name
} wf_device_caps;

// Every driver's device begins with this.
struct weft_device {
    const wf_driver *driver;
    weft_context *context;
    wf_device_caps caps;
    char id[64];    // "cpu", "opencl:0"
    char name[256]; // the processor's name
    weft_arithmetic arithmetic;
    size_t buffer_bytes;      // allocated now ...
    size_t peak_buffer_bytes; // ... and at most
};

// Where a program's operands live. variables[i] belongs to plan->variables[i].
typedef struct wf_program_memory {
    wf_device_buffer *arena;
    wf_device_buffer *constants; // NULL when the plan has none
    wf_device_buffer **variables;
} wf_program_memory;

#define WF_STATUS_GOOD UINT32_MAX // status word: the lowest index of a task that went bad

struct wf_driver {
    const char *name;
    // Calls found() for each device of this kind, usable or not, with everything `weft devices`
    // shows. A missing driver library is one unusable entry with the reason and what to install.
    void (*enumerate)(weft_context *ctx, void (*found)(void *user, const weft_device_info *info),
                      void *user);
    // selector: what followed "name:" in the id; "" for the first usable.
    weft_status (*open)(weft_context *ctx, const char *selector, const weft_device_options *options,
                        weft_device **out_device, weft_error *err);
    void (*close)(weft_device *dev);

    weft_status (*buffer_create)(weft_device *dev, size_t size_bytes, wf_device_buffer **out,
                                 weft_error *err); // zeroed
    void (*buffer_destroy)(weft_device *dev, wf_device_buffer *buffer);
    // Host copies; they wait for what is enqueued before them.
    weft_status (*buffer_write)(weft_device *dev, wf_device_buffer *dst, size_t offset_bytes,
                                const void *src, size_t size_bytes, weft_error *err);
    weft_status (*buffer_read)(weft_device *dev, wf_device_buffer *src, size_t offset_bytes,
                               void *dst, size_t size_bytes, weft_error *err);
    weft_status (*buffer_copy)(weft_device *dev, wf_device_buffer *src, size_t src_offset_bytes,
                               wf_device_buffer *dst, size_t dst_offset_bytes, size_t size_bytes,
                               weft_error *err);

    // Scratch bytes that a task wants from the arena.
    size_t (*task_workspace)(weft_device *dev, const wf_task *task);
    // Shall they be its own from run to run (wf_plan_options)? NULL: of no task.
    bool (*keeps_workspace)(weft_device *dev, const wf_task *task);
    // Lowers every task of the plan; says which task it cannot run, and why
    // (WEFT_ERR_UNSUPPORTED). plan and memory outlive the program.
    weft_status (*program_create)(weft_device *dev, const wf_plan *plan,
                                  const wf_program_memory *memory, wf_device_program **out,
                                  weft_error *err);
    void (*program_destroy)(weft_device *dev, wf_device_program *program);
    // Starts tasks [first, first + n). When first is 0 the status word is set to good first.
    weft_status (*enqueue)(weft_device *dev, wf_device_program *program, size_t first, size_t n,
                           weft_error *err);
    weft_status (*wait)(weft_device *dev, weft_error *err);
    // Waits, then the status word.
    weft_status (*status_read)(weft_device *dev, wf_device_program *program, uint32_t *out_word,
                               weft_error *err);
    // Compiled kernels held now (0 for devices that compile nothing): for tests of the cache.
    size_t (*n_compiled)(weft_device *dev);
    // The greatest f32 rate that the device was seen to reach, in GFLOP/s, measured by the call: what
    // benchmarks are held against. NULL: not known.
    double (*peak_gflops)(weft_device *dev);
};

#endif
