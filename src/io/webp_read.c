// Decodes WebP, lossy and lossless, with libwebp; what is transparent is laid on white.
#include <string.h>

#include "io/image_codec.h"
#include "weft_config.h"

#if WEFT_HAVE_WEBP
#include <webp/decode.h>

static weft_status decode_pixels(const wf_allocator *a, const char *path, const uint8_t *data,
                                 size_t size_bytes, wf_image *image, weft_error *err)
{
    const size_t n = (size_t)image->height * (size_t)image->width;
    uint8_t *rgba;
    WEFT_TRY(wf_alloc(a, n, 4, &rgba, err));
    const bool is_whole =
        WebPDecodeRGBAInto(data, size_bytes, rgba, n * 4, 4 * image->width) != NULL;
    for (size_t i = 0; is_whole && i < n; i++)
        wf_image_blend(rgba + 4 * i, 3, image->pixels + 3 * i);
    wf_free(a, rgba);
    if (!is_whole)
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: damaged WebP (%zu bytes do not hold its pixels)", path,
                  size_bytes);
    return WEFT_OK;
}

weft_status wf_webp_decode(const wf_allocator *a, const char *path, const uint8_t *data,
                           size_t size_bytes, wf_image *out_image, weft_error *err)
{
    WebPBitstreamFeatures features;
    memset(out_image, 0, sizeof *out_image);
    if (WebPGetFeatures(data, size_bytes, &features) != VP8_STATUS_OK)
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: damaged WebP (no header)", path);
    if (features.has_animation)
        WEFT_FAIL(err, WEFT_ERR_UNSUPPORTED, "%s: an animated WebP, expected one picture", path);
    WEFT_TRY(wf_image_init(out_image, a, features.height, features.width, 3, err));
    const weft_status status = decode_pixels(a, path, data, size_bytes, out_image, err);
    if (status != WEFT_OK)
        wf_image_deinit(out_image);
    return status;
}

#else

weft_status wf_webp_decode(const wf_allocator *a, const char *path, const uint8_t *data,
                           size_t size_bytes, wf_image *out_image, weft_error *err)
{
    (void)a;
    (void)data;
    (void)size_bytes;
    memset(out_image, 0, sizeof *out_image);
    WEFT_FAIL(err, WEFT_ERR_UNSUPPORTED, "%s: this build has no libwebp to read WebP with", path);
}

#endif
