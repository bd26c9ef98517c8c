// Draws a confusion matrix. In: counts. Out: confusion.png.
#include <stdio.h>
#include <string.h>

#include "io/drawing.h"
#include "train/metrics.h"
#include "train/pictures.h"

#define MARGIN 8
#define LETTERS 14    // of a class's name
#define SMALL 32      // up to so many classes have names and numbers
#define SIDE_SMALL 44 // of a cell with a number
#define SIDE_LEAST 2

typedef struct layout {
    int32_t n, side, left, top;
    bool has_text;
} layout;

static layout plan(int64_t n_classes)
{
    layout l = {.n = (int32_t)n_classes, .has_text = n_classes <= SMALL};
    l.side = l.has_text ? SIDE_SMALL : 640 / l.n;
    l.side = l.side < SIDE_LEAST ? SIDE_LEAST : l.side;
    l.left = MARGIN + (l.has_text ? LETTERS * 6 + MARGIN : 0);
    l.top = l.has_text ? 3 * MARGIN + 14 : MARGIN;
    return l;
}

// White at 0, blue at all of the row.
static wf_colour shade(int64_t part, int64_t whole)
{
    const int64_t share = whole > 0 ? 255 * part / whole : 0;
    const wf_colour c = {{(uint8_t)(255 - share * 220 / 255), (uint8_t)(255 - share * 160 / 255),
                          (uint8_t)(255 - share * 60 / 255)}};
    return c;
}

static void class_text(const weft_recipe *recipe, int64_t c, int32_t n_letters, char *out,
                       size_t n_out)
{
    // Masks have a class before those of the data.
    const bool is_mask = recipe->v.target.kind == WF_TARGET_MASK;
    const char *name =
        is_mask && c == 0 ? "dark" : wf_train_class_name(recipe, is_mask ? c - 1 : c);
    if (name)
        snprintf(out, n_out, "%.*s", n_letters, name);
    else
        snprintf(out, n_out, "%lld", (long long)c);
}

static void draw_row(wf_image *image, const layout *l, const wf_metrics *m,
                     const weft_recipe *recipe, int32_t row)
{
    const int64_t *counts = m->confusion + (int64_t)row * l->n;
    const int32_t top = l->top + row * l->side;
    int64_t whole = 0;
    char text[64];
    for (int32_t i = 0; i < l->n; i++) {
        whole += counts[i];
    }
    for (int32_t i = 0; i < l->n; i++) {
        const int32_t left = l->left + i * l->side, gap = l->has_text ? 1 : 0;
        wf_draw_box(image, top, left, l->side - gap, l->side - gap, shade(counts[i], whole));
        if (!l->has_text)
            continue;
        snprintf(text, sizeof text, "%lld", (long long)counts[i]);
        const int32_t width = wf_text_pixels(1, text);
        const wf_colour ink = 2 * counts[i] > whole ? WF_PAPER : WF_INK;
        if (width <= l->side)
            wf_draw_text(image, top + l->side / 2 - 4, left + (l->side - width) / 2, 1, ink, text);
    }
    if (!l->has_text)
        return;
    class_text(recipe, row, LETTERS, text, sizeof text);
    wf_draw_text(image, top + l->side / 2 - 4, MARGIN, 1, WF_INK, text);
    class_text(recipe, row, l->side / 6, text, sizeof text);
    wf_draw_text(image, l->top - MARGIN - 3, l->left + row * l->side, 1, WF_INK, text);
}

weft_status wf_confusion_draw(const wf_metrics *m, const weft_recipe *recipe, const char *dir,
                              weft_error *err)
{
    wf_image image;
    if (!m->confusion)
        return WEFT_OK;
    const layout l = plan(m->n_classes);
    const int32_t width = l.left + l.n * l.side + MARGIN, height = l.top + l.n * l.side + MARGIN;
    const char *title = "rows: label, columns: predicted";
    const int32_t text_width = l.has_text ? MARGIN + wf_text_pixels(1, title) + MARGIN : 0;
    WEFT_TRY(wf_image_init(&image, &m->allocator, height, width < text_width ? text_width : width,
                           3, err));
    wf_draw_box(&image, 0, 0, image.height, image.width, WF_PAPER);
    if (l.has_text)
        wf_draw_text(&image, MARGIN, MARGIN, 1, WF_INK, title);
    for (int32_t i = 0; i < l.n; i++) {
        draw_row(&image, &l, m, recipe, i);
    }
    const weft_status status = wf_picture_save(&m->allocator, dir, "confusion.png", &image, err);
    wf_image_deinit(&image);
    return status == WEFT_ERR_UNSUPPORTED ? WEFT_OK
                                          : status; // built without libpng, as predictions.png
}
