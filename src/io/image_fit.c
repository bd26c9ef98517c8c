// Brings pictures of any size to one size: stretched, cut in the middle, or padded. Integer places
// only. In: an image. Out: an image of the wanted sides.
#include <string.h>

#include "io/image.h"

// Copies the part of src at (top, left) as large as part goes to (to_top, to_left) of dst.
static void copy_part(const wf_image *src, int32_t top, int32_t left, int32_t height, int32_t width,
                      wf_image *dst, int32_t to_top, int32_t to_left)
{
    const size_t c = (size_t)src->n_channels;
    for (int32_t y = 0; y < height; y++) {
        memcpy(dst->pixels + ((size_t)(to_top + y) * (size_t)dst->width + (size_t)to_left) * c,
               src->pixels + ((size_t)(top + y) * (size_t)src->width + (size_t)left) * c,
               (size_t)width * c);
    }
}

// round(a * b / c), at least 1 and at most `most`.
static int32_t scaled(int32_t a, int32_t b, int32_t c, int32_t most)
{
    const int64_t value = (2 * (int64_t)a * b + c) / (2 * (int64_t)c);
    return value < 1 ? 1 : value > most ? most : (int32_t)value;
}

// The largest part in the middle that has the wanted proportions.
static weft_status fit_crop(const wf_image *src, const wf_allocator *a, int32_t height,
                            int32_t width, wf_image *out, weft_error *err)
{
    int32_t h = src->height, w = src->width;
    wf_image part;
    if ((int64_t)w * height > (int64_t)h * width)
        w = scaled(h, width, height, w);
    else
        h = scaled(w, height, width, h);
    WEFT_TRY(wf_image_init(&part, a, h, w, src->n_channels, err));
    copy_part(src, (src->height - h) / 2, (src->width - w) / 2, h, w, &part, 0, 0);
    const weft_status status = wf_image_resize(&part, a, height, width, out, err);
    wf_image_deinit(&part);
    return status;
}

// All of it, black beside it.
static weft_status fit_pad(const wf_image *src, const wf_allocator *a, int32_t height,
                           int32_t width, wf_image *out, weft_error *err)
{
    int32_t h = height, w = width;
    wf_image part;
    if ((int64_t)src->width * height > (int64_t)src->height * width)
        h = scaled(width, src->height, src->width, height);
    else
        w = scaled(height, src->width, src->height, width);
    WEFT_TRY(wf_image_resize(src, a, h, w, &part, err));
    const weft_status status = wf_image_init(out, a, height, width, src->n_channels, err);
    if (status == WEFT_OK)
        copy_part(&part, 0, 0, h, w, out, (height - h) / 2, (width - w) / 2);
    wf_image_deinit(&part);
    return status;
}

weft_status wf_image_fit(const wf_image *src, const wf_allocator *a, wf_image_fitting fitting,
                         int32_t height, int32_t width, wf_image *out, weft_error *err)
{
    memset(out, 0, sizeof *out);
    if (height < 1 || width < 1 || height > WF_IMAGE_MAX_SIDE || width > WF_IMAGE_MAX_SIDE)
        return wf_image_init(out, a, height, width, src->n_channels, err); // says why not
    switch (fitting) {
    case WF_IMAGE_CROP: return fit_crop(src, a, height, width, out, err);
    case WF_IMAGE_PAD: return fit_pad(src, a, height, width, out, err);
    default: return wf_image_resize(src, a, height, width, out, err);
    }
}
