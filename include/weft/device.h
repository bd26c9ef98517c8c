// Devices: what this machine has, and opening one.
#ifndef WEFT_DEVICE_H
#define WEFT_DEVICE_H

#include <weft/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_device weft_device;

typedef enum weft_arithmetic {
    WEFT_EXACT = 0, // the canonical bits; refused by devices that cannot give them
    WEFT_FAST = 1,  // within stated tolerances
} weft_arithmetic;

typedef enum weft_device_kind {
    WEFT_DEVICE_CPU = 0,
    WEFT_DEVICE_GPU = 1,
    WEFT_DEVICE_ACCELERATOR = 2,
} weft_device_kind;

typedef enum weft_exactness {
    WEFT_EXACT_NO = 0,
    WEFT_EXACT_NATIVE = 1,
    WEFT_EXACT_EMULATED = 2, // divide, square root or fma in software
} weft_exactness;

typedef struct weft_device_info {
    char id[64]; // what weft_device_open takes: "cpu", "opencl:1"
    char name[256];
    weft_device_kind kind;
    bool usable;
    weft_exactness exact;
    char reason[512]; // why not usable, or why not exact; else ""
    uint64_t memory_bytes;
    uint32_t compute_units;
} weft_device_info;

typedef struct weft_device_options {
    size_t struct_size;
    weft_arithmetic arithmetic;
    uint32_t n_threads; // cpu: 0 is one per core that the process may use
    const char *isa;    // cpu: NULL is the best; "scalar", "avx2", "avx512", "neon"
    bool no_winograd;   // cpu in WEFT_FAST: convolutions add their own products, as in WEFT_EXACT
} weft_device_options;
#define WEFT_DEVICE_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(weft_device_options), WEFT_EXACT, 0, NULL, false                                    \
    }

// Calls found once per device, usable or not.
WEFT_API void weft_devices_list(weft_context *context,
                                void (*found)(void *user, const weft_device_info *info),
                                void *user);

// Opens a device by id: "cpu", "ref", "ref:f64", "null", "opencl", "opencl:N", "auto".
// "auto": the first usable GPU that is exact (or any in WEFT_FAST), else cpu; the choice and why is
// logged. Never another device than the one asked for.
// Errors: WEFT_ERR_NAME (unknown id, with the nearest), WEFT_ERR_DEVICE (not available, and why).
WEFT_API weft_status weft_device_open(weft_context *context, const char *id,
                                      const weft_device_options *options, weft_device **out_device,
                                      weft_error *err);
// Accepts NULL. Destroy states and programs first.
WEFT_API void weft_device_close(weft_device *device);

WEFT_API const char *weft_device_id(const weft_device *device);
WEFT_API const char *weft_device_name(const weft_device *device);
WEFT_API const char *weft_device_isa(const weft_device *device);
WEFT_API uint32_t weft_device_n_threads(const weft_device *device);
// The most bytes of buffers that were ever allocated on it at one time.
WEFT_API uint64_t weft_device_peak_bytes(const weft_device *device);

#ifdef __cplusplus
}
#endif
#endif
