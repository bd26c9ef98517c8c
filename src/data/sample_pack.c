// Sample by sample: read, change at random, normalise, or convert to the batch's element type.
#include "data/sample_pack.h"

#include <string.h>

#include "data/augment.h"
#include "data/draw.h"
#include "math/philox.h"

// Words of one sample's stream are apart from the next one's: 4 blocks are 16 words.
#define BLOCKS_PER_SAMPLE 4

weft_dtype wf_sample_packed_dtype(const wf_field *field)
{
    bool is_float = field->dtype == WEFT_F32 || field->dtype == WEFT_F64;
    return is_float || wf_field_is_image(field) ? WEFT_F32 : WEFT_I32;
}

bool wf_field_is_sound(const wf_field *field)
{
    return field->dtype == WEFT_F32 && field->ndim == 1 && !strcmp(field->name, "sound");
}

// A whole number from -limit to limit.
static int64_t draw_around(wf_draw *draw, int64_t limit)
{
    return (int64_t)wf_draw_below(draw, 2 * (uint32_t)limit + 1) - limit;
}

// The nearest whole number to value * unit.
static int64_t in_units(double value, double unit)
{
    return (int64_t)(value * unit + 0.5);
}

static void turn_and_move(const wf_field *field, const wf_augmentation *a, wf_draw *draw,
                          const uint8_t *image, uint8_t *room)
{
    int64_t matrix[6], turn = 0, scale = 65536, down = 0, right = 0;
    // In 2^-24 of a turn, in 2^-16, in pixels.
    if (a->rotate > 0.0)
        turn = draw_around(draw, in_units(a->rotate / 360.0, 0x1p24)) * 256;
    if (a->scale > 0.0)
        scale += draw_around(draw, in_units(a->scale, 65536.0));
    if (a->translate > 0.0) {
        down = draw_around(draw, in_units(a->translate, (double)field->dim[1]));
        right = draw_around(draw, in_units(a->translate, (double)field->dim[2]));
    }
    wf_augment_matrix((uint32_t)turn, scale, down, right, matrix);
    wf_augment_affine_u8(image, field->dim[0], field->dim[1], field->dim[2], matrix, room);
}

static void change_colours(const wf_field *field, const wf_augmentation *a, wf_draw *draw,
                           uint8_t *image)
{
    const int64_t limit = in_units(a->colour, 256.0);
    const int32_t brightness = 256 + (int32_t)draw_around(draw, limit);
    const int32_t contrast = 256 + (int32_t)draw_around(draw, limit);
    const int32_t saturation = 256 + (int32_t)draw_around(draw, limit);
    wf_augment_colour_u8(image, field->dim[0], field->dim[1] * field->dim[2], brightness, contrast,
                         saturation);
}

// Two rooms that take turns: what `image` points to is never written.
typedef struct {
    const uint8_t *image;
    uint8_t *room[2];
    size_t size;
} working_image;

static uint8_t *other_room(const working_image *w)
{
    return w->image == w->room[0] ? w->room[1] : w->room[0];
}

static uint8_t *own_image(working_image *w)
{
    if (w->image != w->room[0] && w->image != w->room[1]) {
        memcpy(w->room[0], w->image, w->size);
        w->image = w->room[0];
    }
    return w->image == w->room[0] ? w->room[0] : w->room[1];
}

// The order of the draws is part of what a seed means: top, left, flip, turn, scale, down, right,
// brightness, contrast, saturation, place of the square. What is off draws nothing.
static const uint8_t *augment(const wf_field *field, const wf_loader_options *options,
                              int64_t sample, int64_t epoch, const uint8_t *image, uint8_t *rooms)
{
    const wf_augmentation *a = &options->augment;
    const int64_t c = field->dim[0], h = field->dim[1], w = field->dim[2];
    working_image work = {image, {rooms, rooms + field->sample_bytes}, field->sample_bytes};
    wf_draw draw;
    wf_draw_init(&draw, options->seed, (uint64_t)sample * BLOCKS_PER_SAMPLE, (uint32_t)epoch,
                 WF_DRAW_STREAM_AUGMENT);
    if (options->crop_padding > 0) {
        uint32_t n = 2 * (uint32_t)options->crop_padding + 1;
        int64_t top = wf_draw_below(&draw, n);
        int64_t left = wf_draw_below(&draw, n);
        uint8_t *room = other_room(&work);
        wf_augment_crop_u8(work.image, c, h, w, options->crop_padding, top, left, room);
        work.image = room;
    }
    if (options->is_flipped && wf_draw_below(&draw, 2))
        wf_augment_flip_u8(own_image(&work), c, h, w);
    if (a->rotate > 0.0 || a->scale > 0.0 || a->translate > 0.0) {
        uint8_t *room = other_room(&work);
        turn_and_move(field, a, &draw, work.image, room);
        work.image = room;
    }
    if (a->colour > 0.0)
        change_colours(field, a, &draw, own_image(&work));
    if (a->cutout > 0) {
        const int64_t y = wf_draw_below(&draw, (uint32_t)h);
        const int64_t x = wf_draw_below(&draw, (uint32_t)w);
        wf_augment_cutout_u8(own_image(&work), c, h, w, y, x, a->cutout);
    }
    return work.image;
}

// With whom a sample is mixed, if at all: the share of the sample itself in 2^-16 is uniform, and the label is
// that of either by the same chances, so that on average the loss is that of mixup (H. Zhang et al., 2018,
// alpha 1). All fields of a sample draw the same.
typedef struct {
    bool is_mixed;
    int64_t sample;
    uint32_t share;
    bool has_other_label;
} mixture;

static mixture draw_mixture(const wf_split *split, const wf_loader_options *options, int64_t sample,
                            int64_t epoch)
{
    mixture mix = {.is_mixed = false};
    wf_draw draw;
    if (!(options->augment.mixup > 0.0) || !wf_field_is_image(&split->dataset->field[0]))
        return mix;
    wf_draw_init(&draw, options->seed, (uint64_t)sample * BLOCKS_PER_SAMPLE, (uint32_t)epoch,
                 WF_DRAW_STREAM_MIX);
    mix.is_mixed = wf_draw_below(&draw, 65536) < in_units(options->augment.mixup, 65536.0);
    mix.sample = wf_split_sample(split, wf_draw_below(&draw, (uint32_t)split->n));
    mix.share = wf_draw_below(&draw, 65537);
    mix.has_other_label = wf_draw_below(&draw, 65536) >= mix.share;
    return mix;
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

// Noise of element i is drawn for (seed, epoch, sample, i).
static void change_sound(const wf_field *field, const wf_loader_options *options, int64_t sample,
                         int64_t epoch, float *sound)
{
    const wf_augmentation *a = &options->augment;
    const int64_t n = field->dim[0];
    if (a->shift > 0.0) {
        wf_draw draw;
        wf_draw_init(&draw, options->seed, (uint64_t)sample * BLOCKS_PER_SAMPLE, (uint32_t)epoch,
                     WF_DRAW_STREAM_AUGMENT);
        wf_augment_shift_f32(sound, n, draw_around(&draw, in_units(a->shift, (double)n)));
    }
    for (int64_t i = 0; i < n && a->noise > 0.0; i++) {
        const float noise = wf_random_normal(options->seed, (uint32_t)epoch, WF_DRAW_STREAM_NOISE,
                                             (uint64_t)(sample * n + i));
        const float scaled = noise * (float)a->noise;
        sound[i] += scaled;
    }
}

// The bytes of a sample: in the data set, or read into room.
static weft_status find_bytes(const wf_field *field, int64_t sample, uint8_t *room,
                              const uint8_t **out, weft_error *err)
{
    *out = room;
    if (!field->data)
        return field->read(field->user, sample, room, err);
    *out = (const uint8_t *)field->data + (size_t)sample * field->sample_bytes;
    return WEFT_OK;
}

static weft_status pack_image(const wf_field *field, const wf_loader_options *options,
                              int64_t sample, int64_t epoch, const mixture *mix, uint8_t *scratch,
                              float *dst, weft_error *err)
{
    const size_t size = field->sample_bytes;
    const uint8_t *src, *other;
    uint8_t *rooms = scratch + size, *last = scratch + 3 * size;
    WEFT_TRY(find_bytes(field, sample, scratch, &src, err));
    src = augment(field, options, sample, epoch, src, rooms);
    if (mix->is_mixed) {
        memcpy(last, src, size);
        WEFT_TRY(find_bytes(field, mix->sample, scratch, &other, err));
        other = augment(field, options, mix->sample, epoch, other, rooms);
        wf_augment_mix_u8(last, other, size, mix->share);
        src = last;
    }
    wf_normalisation_apply_u8(&options->normalisation, src, field->dim[0],
                              field->dim[1] * field->dim[2], dst);
    return WEFT_OK;
}

weft_status wf_sample_pack(const wf_split *split, const wf_field *field,
                           const wf_loader_options *options, int64_t sample, int64_t epoch,
                           uint8_t *scratch, void *dst, weft_error *err)
{
    const uint8_t *src;
    const mixture mix = draw_mixture(split, options, sample, epoch);
    if (wf_field_is_image(field))
        return pack_image(field, options, sample, epoch, &mix, scratch, dst, err);
    const bool is_other = mix.is_mixed && mix.has_other_label && !strcmp(field->name, "label");
    WEFT_TRY(find_bytes(field, is_other ? mix.sample : sample, scratch, &src, err));
    WEFT_TRY(convert(field, sample, src, dst, err));
    if (wf_field_is_sound(field))
        change_sound(field, options, sample, epoch, dst);
    if (field->dtype == WEFT_F32 && field->ndim == 3 && options->normalisation.n_channels)
        wf_normalisation_apply_f32(&options->normalisation, dst, field->dim[0],
                                   field->dim[1] * field->dim[2], dst);
    return WEFT_OK;
}
