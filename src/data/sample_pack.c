// Sample by sample: read, crop, flip, normalise, or convert to the batch's element type.
#include "data/sample_pack.h"

#include <string.h>

#include "data/augment.h"
#include "data/draw.h"

// Words of one sample's stream are apart from the next one's: 4 blocks are 16 words.
#define BLOCKS_PER_SAMPLE 4

weft_dtype wf_sample_packed_dtype(const wf_field *field)
{
    bool is_float = field->dtype == WEFT_F32 || field->dtype == WEFT_F64;
    return is_float || wf_field_is_image(field) ? WEFT_F32 : WEFT_I32;
}

// The order of the draws is part of what a seed means: top, left, flip. What is off draws nothing.
static const uint8_t *augment(const wf_field *field, const wf_loader_options *options,
                              int64_t sample, int64_t epoch, const uint8_t *image, uint8_t *room)
{
    int64_t c = field->dim[0], h = field->dim[1], w = field->dim[2];
    wf_draw draw;
    wf_draw_init(&draw, options->seed, (uint64_t)sample * BLOCKS_PER_SAMPLE, (uint32_t)epoch,
                 WF_DRAW_STREAM_AUGMENT);
    if (options->crop_padding > 0) {
        uint32_t n = 2 * (uint32_t)options->crop_padding + 1;
        int64_t top = wf_draw_below(&draw, n);
        int64_t left = wf_draw_below(&draw, n);
        wf_augment_crop_u8(image, c, h, w, options->crop_padding, top, left, room);
        image = room;
    }
    if (options->is_flipped && wf_draw_below(&draw, 2)) {
        if (image != room)
            memcpy(room, image, field->sample_bytes);
        wf_augment_flip_u8(room, c, h, w);
        image = room;
    }
    return image;
}

static weft_status fail_range(const wf_field *field, int64_t sample, int64_t value, weft_error *err)
{
    WEFT_FAIL(err, WEFT_ERR_INDEX, "data: field '%s' of sample %lld is %lld, expected an i32",
              field->name, (long long)sample, (long long)value);
}

// Elements of any other field, one by one: labels and small arrays.
static weft_status convert(const wf_field *field, int64_t sample, const uint8_t *src, void *dst,
                           weft_error *err)
{
    size_t n = field->sample_bytes / weft_dtype_size(field->dtype);
    float *floats = dst;
    int32_t *ints = dst;
    for (size_t i = 0; i < n; i++) {
        if (field->dtype == WEFT_F32) {
            memcpy(&floats[i], src + 4 * i, 4);
        } else if (field->dtype == WEFT_F64) {
            double value;
            memcpy(&value, src + 8 * i, 8);
            floats[i] = (float)value;
        } else if (field->dtype == WEFT_I32) {
            memcpy(&ints[i], src + 4 * i, 4);
        } else if (field->dtype == WEFT_I64) {
            int64_t value;
            memcpy(&value, src + 8 * i, 8);
            if (value < INT32_MIN || value > INT32_MAX)
                return fail_range(field, sample, value, err);
            ints[i] = (int32_t)value;
        } else {
            ints[i] = field->dtype == WEFT_I8 ? (int32_t)(int8_t)src[i] : (int32_t)src[i];
        }
    }
    return WEFT_OK;
}

weft_status wf_sample_pack(const wf_field *field, const wf_loader_options *options, int64_t sample,
                           int64_t epoch, uint8_t *scratch, void *dst, weft_error *err)
{
    const uint8_t *src = scratch;
    if (field->data)
        src = (const uint8_t *)field->data + (size_t)sample * field->sample_bytes;
    else
        WEFT_TRY(field->read(field->user, sample, scratch, err));
    if (!wf_field_is_image(field)) {
        WEFT_TRY(convert(field, sample, src, dst, err));
        if (field->dtype == WEFT_F32 && field->ndim == 3 && options->normalisation.n_channels) {
            wf_normalisation_apply_f32(&options->normalisation, dst, field->dim[0],
                                       field->dim[1] * field->dim[2], dst);
        }
        return WEFT_OK;
    }
    src = augment(field, options, sample, epoch, src, scratch + field->sample_bytes);
    wf_normalisation_apply_u8(&options->normalisation, src, field->dim[0],
                              field->dim[1] * field->dim[2], dst);
    return WEFT_OK;
}
