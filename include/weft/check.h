// Is this device right, bit for bit? What `weft check` runs.
#ifndef WEFT_CHECK_H
#define WEFT_CHECK_H

#include <weft/device.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum weft_check_status {
    WEFT_CHECK_EQUAL = 0,
    WEFT_CHECK_DIFFERENT = 1,
    WEFT_CHECK_SKIPPED = 2, // the device says that it cannot run this, and why
} weft_check_status;

// One case: an op (or "random graph", "training"), forward and backward.
typedef struct weft_check_event {
    const char *op; // borrowed for the call, like all strings here
    const char *case_name;
    weft_check_status status;
    const char *reason;    // what differed or why skipped; "" when equal
    double ulp_from_truth; // greatest distance from float64; negative: not measured
    const char *graph; // of a random graph that differs: its text, for weft_graph_parse; else NULL
} weft_check_event;

typedef struct weft_check_options {
    size_t struct_size;
    const char *op;      // only this one ("random_graph" and "training" too); NULL: all
    uint32_t every;      // run every n-th case of each op, and training run, only; 0: all
    uint32_t n_random;   // random graphs; 0: 40
    uint64_t first_seed; // of the random graphs
} weft_check_options;
#define WEFT_CHECK_OPTIONS_INIT                                                                    \
    {                                                                                              \
        sizeof(weft_check_options), NULL, 0, 0, 0                                                  \
    }

typedef struct weft_check_result {
    uint64_t n_equal, n_different, n_skipped;
    char digest[65]; // SHA-256 over ref's results in order: the same on every machine
} weft_check_result;

// Runs cases of every op of the device's context, random graphs and short training runs on the
// device and on ref; compares every output's bits (every NaN is one value), and ref's values with
// float64 to the bounds that doc/arithmetic.md gives. On a device opened with WEFT_FAST the comparison
// is to a tolerance. found (may be NULL) is called once per case.
// Errors: WEFT_ERR_NAME (options->op is unknown), WEFT_ERR_MEMORY, and what a lost device gives; a
// difference is no error.
WEFT_API weft_status weft_check_run(weft_context *context, weft_device *device,
                                    const weft_check_options *options,
                                    void (*found)(void *user, const weft_check_event *event),
                                    void *user, weft_check_result *out_result, weft_error *err);

#ifdef __cplusplus
}
#endif
#endif
