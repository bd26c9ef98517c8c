// Images in memory and their resizing. In: u8 [h,w,c]. Out: u8 [h2,w2,c].
#include "io/image.h"

#include <string.h>

weft_status wf_image_init(wf_image *out_image, const wf_allocator *a, int32_t height, int32_t width,
                          int32_t n_channels, weft_error *err)
{
    memset(out_image, 0, sizeof *out_image);
    if (height < 1 || width < 1 || height > WF_IMAGE_MAX_SIDE || width > WF_IMAGE_MAX_SIDE) {
        WEFT_FAIL(err, WEFT_ERR_SHAPE, "image: %d x %d pixels, expected sides from 1 to %d",
                  (int)height, (int)width, WF_IMAGE_MAX_SIDE);
    }
    WEFT_REQUIRE(err, n_channels == 1 || n_channels == 3, "image: %d channels, expected 1 or 3",
                 (int)n_channels);
    WEFT_TRY(
        wf_alloc(a, (size_t)height * (size_t)width, (size_t)n_channels, &out_image->pixels, err));
    out_image->allocator = *a;
    out_image->height = height;
    out_image->width = width;
    out_image->n_channels = n_channels;
    return WEFT_OK;
}

void wf_image_deinit(wf_image *image)
{
    if (image->pixels)
        wf_free(&image->allocator, image->pixels);
    memset(image, 0, sizeof *image);
}

// The share of source places in one place of the result, along one axis: at most n places from
// `first` on with integer weights that add up to `total`.
typedef struct {
    int32_t first;
    int32_t n;
    uint32_t total;
} axis_span;

// Shrinking: place i covers [i*src/dst, (i+1)*src/dst) of the source. In units of 1/dst the borders
// are whole numbers, so the weights are exact and add up to src.
static axis_span span_shrink(int32_t src, int32_t dst, int32_t i, uint32_t *weight)
{
    int64_t begin = (int64_t)i * src, end = begin + src;
    axis_span span = {(int32_t)(begin / dst), 0, (uint32_t)src};
    for (int64_t place = span.first; place * dst < end; place++) {
        int64_t low = place * dst > begin ? place * dst : begin;
        int64_t high = (place + 1) * dst < end ? (place + 1) * dst : end;
        weight[span.n++] = (uint32_t)(high - low);
    }
    return span;
}

// Growing: the centre of place i is at (i + 1/2) * src/dst - 1/2 between two source centres. In
// units of 1/(2 dst) that is a whole number.
static axis_span span_grow(int32_t src, int32_t dst, int32_t i, uint32_t *weight)
{
    int64_t unit = 2 * (int64_t)dst;
    int64_t centre = (2 * (int64_t)i + 1) * src - dst;
    if (centre < 0)
        centre = 0;
    if (centre > (int64_t)(src - 1) * unit)
        centre = (int64_t)(src - 1) * unit;
    axis_span span = {(int32_t)(centre / unit), 1, (uint32_t)unit};
    uint32_t part = (uint32_t)(centre % unit);
    weight[0] = span.total - part;
    weight[1] = part;
    if (part)
        span.n = 2;
    return span;
}

// dst[y,x,c] = round(sum over the two spans of src * weight_y * weight_x / (total_y * total_x)).
static void resize_row(const wf_image *src, const axis_span *ys, const uint32_t *weight_y,
                       const axis_span *xs, const uint32_t *weight_x, int32_t max_span,
                       int32_t width, uint8_t *dst)
{
    int32_t c = src->n_channels;
    for (int32_t x = 0; x < width; x++) {
        // Totals are at most 2^15 and 2^15 (sides up to 2^14): the sum stays below 2^38.
        const axis_span *span = &xs[x];
        const uint32_t *weights = weight_x + (size_t)x * (size_t)max_span;
        uint64_t total = (uint64_t)ys->total * span->total;
        for (int32_t k = 0; k < c; k++) {
            uint64_t sum = total / 2;
            for (int32_t i = 0; i < ys->n; i++) {
                const uint8_t *row =
                    src->pixels + (size_t)(ys->first + i) * (size_t)src->width * (size_t)c;
                uint64_t part = 0;
                for (int32_t j = 0; j < span->n; j++)
                    part += (uint64_t)row[(size_t)(span->first + j) * (size_t)c + (size_t)k] *
                            weights[j];
                sum += part * weight_y[i];
            }
            dst[(size_t)x * (size_t)c + (size_t)k] = (uint8_t)(sum / total);
        }
    }
}

static axis_span span_of(int32_t src, int32_t dst, int32_t i, uint32_t *weight)
{
    return dst < src ? span_shrink(src, dst, i, weight) : span_grow(src, dst, i, weight);
}

weft_status wf_image_resize(const wf_image *src, const wf_allocator *a, int32_t height,
                            int32_t width, wf_image *out_image, weft_error *err)
{
    weft_status status;
    axis_span *xs = NULL;
    uint32_t *weight_x = NULL, *weight_y = NULL;
    WEFT_TRY(wf_image_init(out_image, a, height, width, src->n_channels, err));
    // A shrunk place touches at most src/dst + 2 places, a grown one 2.
    int32_t max_x = src->width / width + 2, max_y = src->height / height + 2;
    WEFT_TRY_GOTO(wf_alloc(a, (size_t)width, sizeof *xs, &xs, err));
    WEFT_TRY_GOTO(wf_alloc(a, (size_t)width * (size_t)max_x, sizeof *weight_x, &weight_x, err));
    WEFT_TRY_GOTO(wf_alloc(a, (size_t)max_y, sizeof *weight_y, &weight_y, err));
    for (int32_t x = 0; x < width; x++)
        xs[x] = span_of(src->width, width, x, weight_x + (size_t)x * (size_t)max_x);
    for (int32_t y = 0; y < height; y++) {
        axis_span ys = span_of(src->height, height, y, weight_y);
        resize_row(src, &ys, weight_y, xs, weight_x, max_x, width,
                   out_image->pixels + (size_t)y * (size_t)width * (size_t)src->n_channels);
    }
fail:
    wf_free(a, xs);
    wf_free(a, weight_x);
    wf_free(a, weight_y);
    if (status != WEFT_OK)
        wf_image_deinit(out_image);
    return status;
}
