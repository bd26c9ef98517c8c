// Mean and standard deviation of image channels, and their use.
#include <math.h> // sqrt alone, which IEEE 754 defines to the last bit
#include <string.h>

#include "data/dataset.h"

// Sums over a channel stay below 2^64 for this many pixels of a u8.
#define PIXELS_MAX ((int64_t)1 << 47)

// The exact sums of one channel.
typedef struct {
    uint64_t sum;
    uint64_t sum_squares;
} channel_sums;

static void add_image(const uint8_t *image, int64_t n_channels, int64_t n_pixels,
                      channel_sums *sums)
{
    for (int64_t c = 0; c < n_channels; c++) {
        uint64_t sum = 0, squares = 0;
        for (int64_t i = 0; i < n_pixels; i++) {
            uint32_t x = image[c * n_pixels + i];
            sum += x;
            squares += x * x;
        }
        sums[c].sum += sum;
        sums[c].sum_squares += squares;
    }
}

// In f64, in this order: m = sum / n; v = sum_squares / n - m * m; mean = m / 255; std = sqrt(v) / 255;
// then one rounding each to f32. The product is rounded before the difference (no contraction).
static void finish_channel(const channel_sums *sums, int64_t n, float *out_mean, float *out_std)
{
    double m = (double)sums->sum / (double)n;
    double mm = m * m;
    double v = (double)sums->sum_squares / (double)n - mm;
    *out_mean = (float)(m / 255.0);
    *out_std = v > 0.0 ? (float)(sqrt(v) / 255.0) : 0.0f;
    // Rounding leaves a constant channel a few 2^-53 of m * m; a pixel that differs makes v at least
    // 1/n - 1/n^2, which is far larger.
    if (v <= mm * 0x1p-50)
        *out_std = 1.0f;
}

weft_status wf_normalisation_compute(const wf_split *split, const wf_field *field,
                                     wf_normalisation *out_normalisation, weft_error *err)
{
    channel_sums sums[WF_NORMALISATION_MAX_CHANNELS] = {{0, 0}};
    uint8_t *image = NULL;
    memset(out_normalisation, 0, sizeof *out_normalisation);
    if (field->dtype != WEFT_U8 || field->ndim != 3) {
        WEFT_FAIL(err, WEFT_ERR_DTYPE,
                  "normalise: field '%s' is %s with %d dimensions, expected u8 [c,h,w]",
                  field->name, weft_dtype_name(field->dtype), (int)field->ndim);
    }
    int64_t n_channels = field->dim[0], n_pixels = field->dim[1] * field->dim[2];
    if (n_channels < 1 || n_channels > WF_NORMALISATION_MAX_CHANNELS || n_pixels < 1 ||
        split->n < 1 || split->n > PIXELS_MAX / n_pixels) {
        WEFT_FAIL(
            err, WEFT_ERR_SHAPE,
            "normalise: %lld samples of [%lld,%lld,%lld], expected 1 to %d channels and some pixels",
            (long long)split->n, (long long)field->dim[0], (long long)field->dim[1],
            (long long)field->dim[2], WF_NORMALISATION_MAX_CHANNELS);
    }
    const wf_allocator *a = &split->dataset->allocator;
    weft_status status = WEFT_OK;
    if (!field->data)
        WEFT_TRY(wf_alloc(a, field->sample_bytes, 1, &image, err));
    for (int64_t i = 0; i < split->n && status == WEFT_OK; i++) {
        int64_t sample = wf_split_sample(split, i);
        const uint8_t *pixels = image;
        if (field->data)
            pixels = (const uint8_t *)field->data + (size_t)sample * field->sample_bytes;
        else
            status = field->read(field->user, sample, image, err);
        if (status == WEFT_OK)
            add_image(pixels, n_channels, n_pixels, sums);
    }
    wf_free(a, image);
    WEFT_TRY(status);
    out_normalisation->n_channels = (int32_t)n_channels;
    for (int64_t c = 0; c < n_channels; c++) {
        finish_channel(&sums[c], split->n * n_pixels, &out_normalisation->mean[c],
                       &out_normalisation->std[c]);
    }
    return WEFT_OK;
}

void wf_normalisation_apply_u8(const wf_normalisation *normalisation, const uint8_t *src,
                               int64_t n_channels, int64_t n_pixels, float *dst)
{
    for (int64_t c = 0; c < n_channels; c++) {
        bool is_given = c < normalisation->n_channels;
        float mean = is_given ? normalisation->mean[c] : 0.0f;
        float std = is_given ? normalisation->std[c] : 1.0f;
        // Every value there can be, once: the divisions are the cost otherwise. The bits are the same.
        float value[256];
        for (int x = 0; x < 256; x++)
            value[x] = ((float)x / 255.0f - mean) / std;
        for (int64_t i = c * n_pixels; i < (c + 1) * n_pixels; i++)
            dst[i] = value[src[i]];
    }
}

void wf_normalisation_apply_f32(const wf_normalisation *normalisation, const float *src,
                                int64_t n_channels, int64_t n_pixels, float *dst)
{
    for (int64_t c = 0; c < n_channels; c++) {
        bool is_given = c < normalisation->n_channels;
        float mean = is_given ? normalisation->mean[c] : 0.0f;
        float std = is_given ? normalisation->std[c] : 1.0f;
        for (int64_t i = c * n_pixels; i < (c + 1) * n_pixels; i++)
            dst[i] = (src[i] - mean) / std;
    }
}
