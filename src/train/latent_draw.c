// The plane of an autoencoder's code. In: codes and labels of some samples. Out: latent.png.
#include <string.h>

#include "train/pictures.h"

#define POINTS 2000
#define SIDE 512
#define MARGIN 12
#define RADIUS 2

typedef struct range {
    int64_t unit; // of the code
    float low, high;
} range;

static double variance(const wf_shown *s, int64_t unit)
{
    double sum = 0.0, squares = 0.0;
    for (int64_t i = 0; i < s->n; i++) {
        const double v = (double)s->result[i * s->n_result + unit];
        sum += v;
        squares += v * v;
    }
    const double mean = sum / (double)s->n;
    return squares / (double)s->n - mean * mean;
}

static range range_of(const wf_shown *s, int64_t unit)
{
    range r = {unit, s->result[unit], s->result[unit]};
    for (int64_t i = 1; i < s->n; i++) {
        const float v = s->result[i * s->n_result + unit];
        r.low = v < r.low ? v : r.low;
        r.high = v > r.high ? v : r.high;
    }
    return r;
}

// The two units that vary most, the lower one first.
static void choose_units(const wf_shown *s, range out[2])
{
    int64_t best[2] = {-1, -1};
    double most[2] = {0.0, 0.0};
    for (int64_t unit = 0; unit < s->n_result; unit++) {
        const double v = variance(s, unit);
        if (best[0] < 0 || v > most[0]) {
            best[1] = best[0];
            most[1] = most[0];
            best[0] = unit;
            most[0] = v;
        } else if (best[1] < 0 || v > most[1]) {
            best[1] = unit;
            most[1] = v;
        }
    }
    const bool is_first = best[0] < best[1];
    out[0] = range_of(s, best[is_first ? 0 : 1]);
    out[1] = range_of(s, best[is_first ? 1 : 0]);
}

static int32_t place(const range *r, float value)
{
    const float width = r->high - r->low;
    const float share = width > 0.0f ? (value - r->low) / width : 0.5f;
    return MARGIN + (int32_t)(share * (float)(SIDE - 2 * MARGIN));
}

static void draw_point(wf_image *image, int32_t x, int32_t y, const uint8_t rgb[3])
{
    for (int32_t dy = -RADIUS; dy <= RADIUS; dy++) {
        for (int32_t dx = -RADIUS; dx <= RADIUS; dx++) {
            if (dx * dx + dy * dy <= RADIUS * RADIUS)
                memcpy(image->pixels + 3 * ((y + dy) * SIDE + x + dx), rgb, 3);
        }
    }
}

static weft_status draw(const wf_shown *s, const char *dir, weft_error *err)
{
    const wf_allocator *a = &s->allocator;
    wf_image image;
    range axes[2];
    uint8_t rgb[3];
    choose_units(s, axes);
    WEFT_TRY(wf_image_init(&image, a, SIDE, SIDE, 3, err));
    memset(image.pixels, 255, (size_t)SIDE * SIDE * 3);
    for (int64_t i = 0; i < s->n; i++) {
        const float *code = s->result + i * s->n_result;
        wf_class_colour(s->labels[i], rgb);
        // Upwards is more.
        draw_point(&image, place(&axes[0], code[axes[0].unit]),
                   SIDE - 1 - place(&axes[1], code[axes[1].unit]), rgb);
    }
    const weft_status status = wf_picture_save(a, dir, "latent.png", &image, err);
    wf_image_deinit(&image);
    return status;
}

weft_status wf_latent_draw(wf_program_cache *programs, const wf_split *split, const char *dir,
                           weft_error *err)
{
    wf_shown shown;
    weft_status status = wf_shown_collect(programs, split, "code", POINTS, false, &shown, err);
    if (status == WEFT_OK && shown.n > 1 && shown.n_result > 1)
        status = draw(&shown, dir, err);
    wf_shown_deinit(&shown);
    return status;
}
