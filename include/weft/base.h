// Status codes, errors, dtypes, the context: what every other weft header uses.
#ifndef WEFT_BASE_H
#define WEFT_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32)
#define WEFT_API
#else
#define WEFT_API __attribute__((visibility("default")))
#endif

#define WEFT_VERSION_MAJOR 0
#define WEFT_VERSION_MINOR 1
#define WEFT_VERSION_PATCH 0

// The version of doc/arithmetic.md that this build computes by. Digests and checkpoints carry it.
#define WEFT_ARITHMETIC_VERSION 1

// The most dimensions that a value can have: enough for a batched 3-D convolution with groups
// split out, and small enough to keep shapes inline.
#define WEFT_MAX_DIM 8

typedef enum weft_status {
#define WEFT_STATUS(code, name, text, advice) WEFT_##name = code,
#include <weft/status_list.inc>
#undef WEFT_STATUS
} weft_status;

// What went wrong, in one line. Owned by the caller, no allocation; every function that takes one
// accepts NULL. Written only by the function that detects the failure.
typedef struct weft_error {
    int32_t code;       // a weft_status
    int32_t reserved;   // 0
    char message[1016]; // lower case, no full stop, ends with 0
} weft_error;

// The element types. Values are stored in host byte order; bool is one byte, 0 or 1.
typedef enum weft_dtype {
    WEFT_DTYPE_NONE = 0,
    WEFT_F32 = 1,
    WEFT_F64 = 2,
    WEFT_F16 = 3,
    WEFT_BF16 = 4,
    WEFT_I8 = 5,
    WEFT_U8 = 6,
    WEFT_I32 = 7,
    WEFT_I64 = 8,
    WEFT_BOOL = 9,
    WEFT_N_DTYPES = 10,
} weft_dtype;

typedef enum weft_log_level {
    WEFT_LOG_DEBUG = 0,
    WEFT_LOG_INFO = 1,
    WEFT_LOG_WARNING = 2,
} weft_log_level;

// Allocator, log hook and op registry that the objects made from it share. One thread at a time
// may create objects from a context; the objects are then independent.
typedef struct weft_context weft_context;

typedef struct weft_context_options {
    size_t struct_size;
    // Called for every block; size 0 frees, ptr NULL allocates. NULL: the C library's.
    void *(*reallocate)(void *user, void *ptr, size_t size_bytes);
    void *reallocate_user;
    // Called with one line, no newline. NULL: nothing is said.
    void (*log)(void *user, weft_log_level level, const char *line);
    void *log_user;
} weft_context_options;
#define WEFT_CONTEXT_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(weft_context_options), NULL, NULL, NULL, NULL                                       \
    }

// "0.1.0". Static.
WEFT_API const char *weft_version(void);

// "shape", "dtype", ... of a code, its default text and what to do about it. Static strings.
WEFT_API const char *weft_status_name(weft_status code);
WEFT_API const char *weft_status_text(weft_status code);
WEFT_API const char *weft_status_advice(weft_status code);

// "f32", "bool", ...; "?" for a value outside the enum. Static.
WEFT_API const char *weft_dtype_name(weft_dtype dtype);
// The dtype of that name, or WEFT_DTYPE_NONE.
WEFT_API weft_dtype weft_dtype_parse(const char *name);
// Bytes of one element; 0 for a value outside the enum.
WEFT_API size_t weft_dtype_size(weft_dtype dtype);

// Creates a context. options may be NULL.
// Errors: WEFT_ERR_MEMORY, WEFT_ERR_USAGE (struct_size). Ownership: destroy it after all its objects.
WEFT_API weft_status weft_context_create(const weft_context_options *options,
                                         weft_context **out_context, weft_error *err);
// Accepts NULL.
WEFT_API void weft_context_destroy(weft_context *context);

#ifdef __cplusplus
}
#endif
#endif
