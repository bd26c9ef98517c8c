// Sheets of pictures with what an autoencoder makes of them, or with masks. In: results of the evaluating program.
// Out: predictions.png.
#include <math.h>
#include <string.h>

#include "train/pictures.h"

#define COLUMNS 10
#define PAIR_ROWS 3 // rows of pairs or triples
#define MOST_ROWS 3 // of one such row: picture, wanted, found

typedef struct sheet {
    wf_program_cache *programs;
    const wf_train_data *data;
    wf_shown shown;
    int64_t n_pixels, n_channels; // of a picture
    int32_t n_rows;               // 2: pairs, 3: triples
    uint8_t *pixels;              // of all cells, [h,w,3] each
    wf_sheet_cell cells[COLUMNS * PAIR_ROWS * MOST_ROWS];
} sheet;

static uint8_t byte_of(float value)
{
    const float scaled = rintf(value * 255.0f);
    return (uint8_t)(scaled >= 255.0f ? 255.0f : scaled > 0.0f ? scaled : 0.0f);
}

// Picture [c,h,w] in the network's units as [h,w,3].
static void paint_picture(const sheet *s, const float *x, uint8_t *out)
{
    const wf_normalisation *n = &s->data->normalisation;
    for (int64_t i = 0; i < s->n_pixels; i++) {
        for (int64_t k = 0; k < 3; k++) {
            const int64_t c = s->n_channels == 1 ? 0 : k;
            float v = x[c * s->n_pixels + i];
            if (n->n_channels)
                v = v * n->std[c] + n->mean[c];
            out[3 * i + k] = byte_of(v);
        }
    }
}

static void paint_class(int64_t class_idx, uint8_t *out)
{
    if (class_idx > 0)
        wf_class_colour(class_idx - 1, out);
    else
        memset(out, 0, 3); // background
}

// The most probable class of each pixel.
static void paint_mask(const sheet *s, const float *probabilities, int64_t n_classes, uint8_t *out)
{
    for (int64_t i = 0; i < s->n_pixels; i++) {
        int64_t best = 0;
        for (int64_t c = 1; c < n_classes; c++) {
            if (probabilities[c * s->n_pixels + i] > probabilities[best * s->n_pixels + i])
                best = c;
        }
        paint_class(best, out + 3 * i);
    }
}

// What the recipe's target says (recipe_task.c computes the same in the graph).
static void paint_wanted(const sheet *s, const float *x, int32_t label, uint8_t *out)
{
    const wf_normalisation *n = &s->data->normalisation;
    const float threshold = (float)s->programs->recipe->v.target.threshold;
    for (int64_t i = 0; i < s->n_pixels; i++) {
        bool is_bright = false;
        for (int64_t c = 0; c < s->n_channels; c++) {
            const float limit = n->n_channels ? (threshold - n->mean[c]) / n->std[c] : threshold;
            is_bright |= x[c * s->n_pixels + i] > limit;
        }
        paint_class(is_bright ? 1 + label : 0, out + 3 * i);
    }
}

static uint8_t *cell_pixels(sheet *s, int64_t sample, int32_t row)
{
    const int64_t at = (sample / COLUMNS * s->n_rows + row) * COLUMNS + sample % COLUMNS;
    const int64_t *dims = s->data->image;
    uint8_t *pixels = s->pixels + at * s->n_pixels * 3;
    s->cells[at] = (wf_sheet_cell){
        .pixels = pixels, .height = (int32_t)dims[1], .width = (int32_t)dims[2], .n_channels = 3};
    return pixels;
}

static void paint_sample(sheet *s, int64_t i)
{
    const wf_shown *shown = &s->shown;
    const float *x = shown->x + i * s->n_channels * s->n_pixels;
    const float *result = shown->result + i * shown->n_result;
    paint_picture(s, x, cell_pixels(s, i, 0));
    if (s->n_rows == 2) {
        paint_picture(s, result, cell_pixels(s, i, 1));
        return;
    }
    paint_wanted(s, x, shown->labels[i], cell_pixels(s, i, 1));
    paint_mask(s, result, shown->n_result / s->n_pixels, cell_pixels(s, i, 2));
}

static weft_status draw(sheet *s, const char *dir, weft_error *err)
{
    const wf_allocator *a = &s->shown.allocator;
    const int64_t n_full = s->shown.n / COLUMNS * COLUMNS;
    const int64_t n = n_full ? n_full : s->shown.n, n_cells = n * s->n_rows;
    WEFT_TRY(wf_alloc(a, (size_t)n_cells, (size_t)s->n_pixels * 3, &s->pixels, err));
    for (int64_t i = 0; i < n; i++) {
        paint_sample(s, i);
    }
    const int32_t columns = n < COLUMNS ? (int32_t)n : COLUMNS;
    // Fewer than a row: the cells stand one below the other, each row as long as the samples are many.
    for (int32_t row = 1; row < s->n_rows && columns < COLUMNS; row++) {
        memmove(&s->cells[row * columns], &s->cells[row * COLUMNS],
                (size_t)columns * sizeof s->cells[0]);
    }
    return wf_sheet_save(a, dir, s->cells, (int32_t)n_cells, columns, err);
}

weft_status wf_reconstructions_draw(wf_program_cache *programs, const wf_split *split,
                                    const char *dir, weft_error *err)
{
    const wf_train_data *data = programs->data;
    sheet s = {.programs = programs,
               .data = data,
               .n_pixels = data->image[1] * data->image[2],
               .n_channels = data->image[0],
               .n_rows = programs->recipe->v.target.kind == WF_TARGET_MASK ? 3 : 2};
    weft_status status = wf_shown_collect(programs, split, "probabilities", COLUMNS * PAIR_ROWS,
                                          true, &s.shown, err);
    if (status == WEFT_OK && s.shown.n > 0)
        status = draw(&s, dir, err);
    wf_free(&programs->arena.allocator, s.pixels);
    wf_shown_deinit(&s.shown);
    return status;
}
