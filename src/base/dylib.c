// dlopen and dlsym, with a message that lists what was searched.
#include "base/dylib.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

weft_status wf_dylib_open(const char *const *names, size_t n, wf_dylib *out_lib, weft_error *err)
{
    char searched[512] = "";
    char said[256] = "nothing to search";
    size_t used = 0;
    out_lib->handle = NULL;
    out_lib->name = NULL;
    for (size_t i = 0; i < n; i++) {
        // Local: two drivers may export the same names.
        void *handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (handle) {
            out_lib->handle = handle;
            out_lib->name = names[i];
            return WEFT_OK;
        }
        const char *reason = dlerror();
        snprintf(said, sizeof said, "%s", reason ? reason : "no reason given");
        int wrote =
            snprintf(searched + used, sizeof searched - used, "%s%s", i ? ", " : "", names[i]);
        if (wrote > 0 && (size_t)wrote < sizeof searched - used)
            used += (size_t)wrote;
    }
    WEFT_FAIL(err, WEFT_ERR_DEVICE, "no such library, searched %s (%s)", searched, said);
}

void wf_dylib_close(wf_dylib *lib)
{
    if (lib->handle)
        dlclose(lib->handle);
    lib->handle = NULL;
    lib->name = NULL;
}

bool wf_dylib_symbol(const wf_dylib *lib, const char *symbol, void *out_function)
{
    void *address = lib->handle ? dlsym(lib->handle, symbol) : NULL;
    // POSIX promises that the bits of an object pointer from dlsym are those of the function pointer.
    memcpy(out_function, &address, sizeof address);
    return address != NULL;
}
