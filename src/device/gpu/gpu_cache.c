// Compiled sources in memory, by the digest of their text: bounded, the longest unused goes first.
// See gpu_api.h.
#include <string.h>

#include "base/sha256.h"
#include "device/gpu/gpu_api.h"

static void key_of(const wf_gpu_device *dev, const char *source, uint8_t out_key[32])
{
    wf_sha256 sha;
    wf_sha256_init(&sha);
    wf_sha256_update(&sha, dev->identity, strlen(dev->identity) + 1);
    const char *prefix = wf_text_str(&dev->prefix);
    wf_sha256_update(&sha, prefix, strlen(prefix) + 1);
    wf_sha256_update(&sha, source, strlen(source) + 1);
    wf_sha256_final(&sha, out_key);
}

static weft_status build(wf_gpu_device *dev, const uint8_t key[32], const char *source,
                         wf_gpu_module **out_module, weft_error *err)
{
    const wf_allocator *a = &dev->base.context->allocator;
    uint8_t *binary;
    size_t size;
    if (wf_gpu_disk_read(a, key, &binary, &size)) {
        weft_status status = dev->api->module_load(dev, binary, size, out_module);
        wf_free(a, binary);
        if (status == WEFT_OK)
            return WEFT_OK;
    }
    wf_text whole;
    wf_text_init(&whole, a);
    wf_text_append(&whole, wf_text_str(&dev->prefix));
    wf_text_append(&whole, source);
    weft_status status = wf_text_status(&whole, err);
    if (status == WEFT_OK)
        status = dev->api->module_build(dev, wf_text_str(&whole), out_module, err);
    if (status == WEFT_ERR_COMPILE) {
        char path[512];
        wf_gpu_disk_save_source(a, key, wf_text_str(&whole), path);
        if (path[0])
            wf_error_prefix(err, "source saved as %s", path);
    }
    wf_text_deinit(&whole);
    if (status == WEFT_OK &&
        dev->api->module_save(dev, *out_module, &binary, &size, NULL) == WEFT_OK) {
        wf_gpu_disk_write(a, key, binary, size);
        wf_free(a, binary);
    }
    return status;
}

// A free place: a new one, or that of the module which was unused longest. NULL when all are in use.
static wf_gpu_cache_entry *free_entry(wf_gpu_device *dev)
{
    if (dev->n_cached < WF_GPU_CACHE_ENTRIES)
        return &dev->cache[dev->n_cached++];
    wf_gpu_cache_entry *oldest = NULL;
    for (size_t i = 0; i < dev->n_cached; i++) {
        wf_gpu_cache_entry *e = &dev->cache[i];
        if (e->n_users == 0 && (!oldest || e->last_use < oldest->last_use))
            oldest = e;
    }
    if (oldest)
        dev->api->module_destroy(dev, oldest->module);
    return oldest;
}

weft_status wf_gpu_module_get(wf_gpu_device *dev, const char *source, wf_gpu_module **out_module,
                              weft_error *err)
{
    *out_module = NULL;
    uint8_t key[32];
    key_of(dev, source, key);
    dev->cache_clock++;
    for (size_t i = 0; i < dev->n_cached; i++) {
        wf_gpu_cache_entry *e = &dev->cache[i];
        if (memcmp(e->key, key, sizeof key) != 0)
            continue;
        e->n_users++;
        e->last_use = dev->cache_clock;
        *out_module = e->module;
        return WEFT_OK;
    }
    wf_gpu_module *module;
    WEFT_TRY(build(dev, key, source, &module, err));
    wf_gpu_cache_entry *e = free_entry(dev);
    if (!e) {
        dev->api->module_destroy(dev, module);
        WEFT_FAIL(err, WEFT_ERR_UNSUPPORTED,
                  "more than %d different kernels are in use at one time", WF_GPU_CACHE_ENTRIES);
    }
    memcpy(e->key, key, sizeof key);
    e->module = module;
    e->n_users = 1;
    e->last_use = dev->cache_clock;
    *out_module = module;
    return WEFT_OK;
}

void wf_gpu_module_release(wf_gpu_device *dev, wf_gpu_module *module)
{
    for (size_t i = 0; i < dev->n_cached; i++) {
        if (dev->cache[i].module == module)
            dev->cache[i].n_users--;
    }
}

size_t wf_gpu_n_compiled(weft_device *dev)
{
    return ((wf_gpu_device *)dev)->n_cached;
}

weft_status wf_gpu_device_init(wf_gpu_device *dev, weft_error *err)
{
    wf_text_init(&dev->joined_kernel, &dev->base.context->allocator);
    return dev->base.driver->buffer_create(&dev->base, sizeof(uint32_t), &dev->status, err);
}

void wf_gpu_device_deinit(wf_gpu_device *dev)
{
    for (size_t i = 0; i < dev->n_cached; i++) {
        dev->api->module_destroy(dev, dev->cache[i].module);
    }
    dev->n_cached = 0;
    if (dev->status)
        dev->base.driver->buffer_destroy(&dev->base, dev->status);
    wf_text_deinit(&dev->joined_kernel);
    wf_text_deinit(&dev->prefix);
}
