// All devices, from the names of this folder's folders, and opening one by id.
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "device/device.h"

#define WF_DEVICE(name) extern const wf_driver wf_driver_##name;
#include "weft_generated/device_list.inc"
#undef WF_DEVICE

static const wf_driver *const drivers[] = {
#define WF_DEVICE(name) &wf_driver_##name,
#include "weft_generated/device_list.inc"
#undef WF_DEVICE
};

void weft_devices_list(weft_context *ctx, void (*found)(void *user, const weft_device_info *info),
                       void *user)
{
    for (size_t i = 0; i < WF_COUNT_OF(drivers); i++)
        drivers[i]->enumerate(ctx, found, user);
}

typedef struct {
    weft_arithmetic arithmetic;
    char id[64]; // the choice so far; "" for none
    char name[256];
} choice;

static void prefer_gpu(void *user, const weft_device_info *info)
{
    choice *c = user;
    const bool is_exact = info->exact != WEFT_EXACT_NO || c->arithmetic == WEFT_FAST;
    if (c->id[0] || !info->usable || !is_exact || info->kind != WEFT_DEVICE_GPU)
        return;
    snprintf(c->id, sizeof c->id, "%s", info->id);
    snprintf(c->name, sizeof c->name, "%s", info->name);
}

static weft_status open_auto(weft_context *ctx, const weft_device_options *options,
                             weft_device **out_device, weft_error *err)
{
    choice c = {options->arithmetic, "", ""};
    weft_devices_list(ctx, prefer_gpu, &c);
    if (c.id[0]) {
        wf_context_log(ctx, WEFT_LOG_INFO, "device auto: %s (%s), the first usable GPU", c.id,
                       c.name);
    } else {
        snprintf(c.id, sizeof c.id, "cpu");
        wf_context_log(ctx, WEFT_LOG_INFO, "device auto: cpu, no usable %sGPU was found",
                       options->arithmetic == WEFT_EXACT ? "exact " : "");
    }
    return weft_device_open(ctx, c.id, options, out_device, err);
}

weft_status weft_device_open(weft_context *ctx, const char *id, const weft_device_options *options,
                             weft_device **out_device, weft_error *err)
{
    static const weft_device_options defaults = WEFT_DEVICE_OPTIONS_INIT;
    WEFT_REQUIRE(err, ctx && id && out_device, "device: open without context or id");
    *out_device = NULL;
    if (!options)
        options = &defaults;
    WEFT_REQUIRE(err, options->struct_size == sizeof *options,
                 "device: struct_size is %zu, expected %zu", options->struct_size, sizeof *options);
    if (!strcmp(id, "auto"))
        return open_auto(ctx, options, out_device, err);
    const size_t name_len = strcspn(id, ":");
    const char *names[WF_COUNT_OF(drivers) + 1];
    for (size_t i = 0; i < WF_COUNT_OF(drivers); i++) {
        names[i] = drivers[i]->name;
        if (strlen(names[i]) != name_len || strncmp(names[i], id, name_len) != 0)
            continue;
        const char *selector = id[name_len] == ':' ? id + name_len + 1 : "";
        return drivers[i]->open(ctx, selector, options, out_device, err);
    }
    names[WF_COUNT_OF(drivers)] = "auto";
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)name_len, id);
    const char *nearest = wf_text_nearest(word, names, WF_COUNT_OF(names));
    WEFT_FAIL(err, WEFT_ERR_NAME, "device %s is unknown%s%s; weft devices lists them", id,
              nearest ? ", did you mean " : "", nearest ? nearest : "");
}

void weft_device_close(weft_device *dev)
{
    if (dev)
        dev->driver->close(dev);
}

const char *weft_device_id(const weft_device *dev)
{
    return dev->id;
}
const char *weft_device_name(const weft_device *dev)
{
    return dev->name;
}
const char *weft_device_isa(const weft_device *dev)
{
    return dev->caps.isa ? dev->caps.isa : "";
}
uint32_t weft_device_n_threads(const weft_device *dev)
{
    return dev->caps.n_threads;
}
uint64_t weft_device_peak_bytes(const weft_device *dev)
{
    return dev->peak_buffer_bytes;
}
