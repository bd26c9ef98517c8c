// Contact sheets: pictures in a grid, each with a frame that says right or wrong and a caption in a
// small built-in font. In: pixels of each cell. Out: one RGB image.
#include <string.h>

#include "io/image.h"
#include "io/sheet_font.h"

#define PICTURE_SIDE_MIN 84 // a picture is enlarged to at least this
#define FRAME 3
#define GAP 8
#define CAPTION_LINES 2
#define CAPTION_HEIGHT (CAPTION_LINES * (WF_SHEET_GLYPH_HEIGHT + 2) + 2)

typedef struct {
    uint8_t rgb[3];
} colour;

static const colour background = {{255, 255, 255}};
static const colour ink = {{32, 32, 32}};
static const colour marks[] = {
    [WF_SHEET_MARK_NONE] = {{176, 176, 176}},
    [WF_SHEET_MARK_RIGHT] = {{34, 150, 70}},
    [WF_SHEET_MARK_WRONG] = {{210, 40, 40}},
};

// Clipped to the image.
static void fill_box(wf_image *image, int32_t top, int32_t left, int32_t height, int32_t width,
                     colour c)
{
    for (int32_t y = top < 0 ? 0 : top; y < top + height && y < image->height; y++) {
        for (int32_t x = left < 0 ? 0 : left; x < left + width && x < image->width; x++)
            memcpy(image->pixels + 3 * ((size_t)y * (size_t)image->width + (size_t)x), c.rgb, 3);
    }
}

// One line of text up to '\n' or the width; returns what follows the '\n', or NULL.
static const char *draw_line(wf_image *image, int32_t top, int32_t left, int32_t width,
                             const char *text)
{
    int32_t x = left;
    for (; *text && *text != '\n'; text++) {
        unsigned char c = (unsigned char)*text;
        if ((c & 0xC0) == 0x80) // the rest of a UTF-8 letter, which the font shows as one '?'
            continue;
        const uint8_t *glyph = wf_sheet_glyph(c);
        if (x + WF_SHEET_GLYPH_WIDTH > left + width)
            continue;
        for (int32_t column = 0; column < WF_SHEET_GLYPH_WIDTH; column++) {
            for (int32_t row = 0; row < WF_SHEET_GLYPH_HEIGHT; row++) {
                if (glyph[column] >> row & 1)
                    fill_box(image, top + row, x + column, 1, 1, ink);
            }
        }
        x += WF_SHEET_GLYPH_WIDTH + 1;
    }
    return *text ? text + 1 : NULL;
}

static void draw_picture(wf_image *image, int32_t top, int32_t left, int32_t scale,
                         const wf_sheet_cell *cell)
{
    for (int32_t y = 0; y < cell->height; y++) {
        for (int32_t x = 0; x < cell->width; x++) {
            size_t place = (size_t)y * (size_t)cell->width + (size_t)x;
            const uint8_t *p = cell->pixels + place * (size_t)cell->n_channels;
            bool is_grey = cell->n_channels == 1;
            colour c = {{p[0], p[is_grey ? 0 : 1], p[is_grey ? 0 : 2]}};
            fill_box(image, top + y * scale, left + x * scale, scale, scale, c);
        }
    }
}

static weft_status check_cells(const wf_sheet_cell *cells, int32_t n_cells, int32_t n_columns,
                               int32_t *out_side, weft_error *err)
{
    int32_t side = 1;
    WEFT_REQUIRE(err, n_cells > 0 && n_columns > 0, "sheet: %d cells in %d columns", (int)n_cells,
                 (int)n_columns);
    for (int32_t i = 0; i < n_cells; i++) {
        const wf_sheet_cell *c = &cells[i];
        WEFT_REQUIRE(err,
                     c->height > 0 && c->width > 0 && c->height <= WF_IMAGE_MAX_SIDE &&
                         c->width <= WF_IMAGE_MAX_SIDE &&
                         (c->n_channels == 1 || c->n_channels == 3) &&
                         (unsigned)c->mark <= WF_SHEET_MARK_WRONG,
                     "sheet: cell %d is [%d,%d,%d]", (int)i, (int)c->height, (int)c->width,
                     (int)c->n_channels);
        side = c->height > side ? c->height : side;
        side = c->width > side ? c->width : side;
    }
    *out_side = side;
    return WEFT_OK;
}

weft_status wf_sheet_draw(const wf_allocator *a, const wf_sheet_cell *cells, int32_t n_cells,
                          int32_t n_columns, wf_image *out_image, weft_error *err)
{
    int32_t side = 1;
    memset(out_image, 0, sizeof *out_image);
    WEFT_TRY(check_cells(cells, n_cells, n_columns, &side, err));
    int32_t scale = (PICTURE_SIDE_MIN + side - 1) / side;
    int32_t inner = side * scale;
    int64_t step_x = inner + 2 * FRAME + GAP, step_y = step_x + CAPTION_HEIGHT;
    int32_t n_used = n_cells < n_columns ? n_cells : n_columns;
    int64_t height = ((n_cells - 1) / n_columns + 1) * step_y + GAP;
    int64_t width = n_used * step_x + GAP;
    if (height > WF_IMAGE_MAX_SIDE || width > WF_IMAGE_MAX_SIDE) {
        WEFT_FAIL(err, WEFT_ERR_SHAPE, "sheet: %lld x %lld pixels, expected sides up to %d",
                  (long long)height, (long long)width, WF_IMAGE_MAX_SIDE);
    }
    WEFT_TRY(wf_image_init(out_image, a, (int32_t)height, (int32_t)width, 3, err));
    fill_box(out_image, 0, 0, out_image->height, out_image->width, background);
    for (int32_t i = 0; i < n_cells; i++) {
        int32_t top = GAP + (int32_t)(i / n_columns * step_y);
        int32_t left = GAP + (int32_t)(i % n_columns * step_x);
        int32_t outer = inner + 2 * FRAME;
        fill_box(out_image, top, left, outer, outer, marks[cells[i].mark]);
        fill_box(out_image, top + FRAME, left + FRAME, inner, inner, background);
        draw_picture(out_image, top + FRAME, left + FRAME, scale, &cells[i]);
        const char *line = cells[i].caption;
        for (int32_t k = 0; k < CAPTION_LINES && line; k++) {
            int32_t at = top + outer + 3 + k * (WF_SHEET_GLYPH_HEIGHT + 2);
            line = draw_line(out_image, at, left, outer, line);
        }
    }
    return WEFT_OK;
}
