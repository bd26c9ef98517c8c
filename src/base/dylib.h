// Libraries opened while the program runs: drivers, which a machine may or may not have.
#ifndef WF_BASE_DYLIB_H
#define WF_BASE_DYLIB_H

#include "base/error.h"

typedef struct wf_dylib {
    void *handle;
    const char *name; // the one of the names that was found; borrowed
} wf_dylib;

// Opens the first of n names that loads (a name without a slash is searched as the system does).
// Errors: WEFT_ERR_DEVICE "no such library, searched libA.so.1, libA.so (what the loader said last)".
weft_status wf_dylib_open(const char *const *names, size_t n, wf_dylib *out_lib, weft_error *err);
// Accepts a zeroed one. Drivers that start threads are better left open.
void wf_dylib_close(wf_dylib *lib);
// Writes the address of a function into *out_function (a pointer to a function pointer), or NULL
// and false when the library has none of that name.
bool wf_dylib_symbol(const wf_dylib *lib, const char *symbol, void *out_function);

#endif
