// Draws boxes, lines and text into an RGB image.
#include "io/drawing.h"

#include <stdlib.h>
#include <string.h>

#include "io/sheet_font.h"

void wf_draw_box(wf_image *image, int32_t top, int32_t left, int32_t height, int32_t width,
                 wf_colour c)
{
    for (int32_t y = top < 0 ? 0 : top; y < top + height && y < image->height; y++) {
        for (int32_t x = left < 0 ? 0 : left; x < left + width && x < image->width; x++) {
            memcpy(image->pixels + 3 * ((size_t)y * (size_t)image->width + (size_t)x), c.rgb, 3);
        }
    }
}

// Bresenham's.
void wf_draw_line(wf_image *image, int32_t x0, int32_t y0, int32_t x1, int32_t y1, wf_colour c)
{
    const int32_t dx = abs(x1 - x0), dy = -abs(y1 - y0);
    const int32_t step_x = x0 < x1 ? 1 : -1, step_y = y0 < y1 ? 1 : -1;
    int32_t error = dx + dy;
    for (;;) {
        wf_draw_box(image, y0, x0, 2, 2, c);
        if (x0 == x1 && y0 == y1)
            return;
        const int32_t twice = 2 * error;
        if (twice >= dy) {
            error += dy;
            x0 += step_x;
        }
        if (twice <= dx) {
            error += dx;
            y0 += step_y;
        }
    }
}

static bool begins_letter(char c)
{
    return ((unsigned char)c & 0xC0) != 0x80;
}

int32_t wf_text_pixels(int32_t scale, const char *text)
{
    int32_t n = 0;
    for (; *text; text++) {
        n += begins_letter(*text);
    }
    return n * (WF_SHEET_GLYPH_WIDTH + 1) * scale;
}

int32_t wf_draw_text(wf_image *image, int32_t top, int32_t left, int32_t scale, wf_colour c,
                     const char *text)
{
    int32_t x = left;
    for (; *text; text++) {
        if (!begins_letter(*text))
            continue;
        const uint8_t *glyph = wf_sheet_glyph((unsigned char)*text);
        for (int32_t column = 0; column < WF_SHEET_GLYPH_WIDTH; column++) {
            for (int32_t row = 0; row < WF_SHEET_GLYPH_HEIGHT; row++) {
                if (glyph[column] >> row & 1)
                    wf_draw_box(image, top + row * scale, x + column * scale, scale, scale, c);
            }
        }
        x += (WF_SHEET_GLYPH_WIDTH + 1) * scale;
    }
    return x - left;
}
