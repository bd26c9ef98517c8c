// Boxes, lines and text on an RGB image; everything is clipped to it.
#ifndef WF_IO_DRAWING_H
#define WF_IO_DRAWING_H

#include "io/image.h"

typedef struct wf_colour {
    uint8_t rgb[3];
} wf_colour;

#define WF_INK ((wf_colour){{32, 32, 32}})
#define WF_PAPER ((wf_colour){{255, 255, 255}})

void wf_draw_box(wf_image *image, int32_t top, int32_t left, int32_t height, int32_t width,
                 wf_colour c);
// From pixel to pixel, both included, 2 pixels thick.
void wf_draw_line(wf_image *image, int32_t x0, int32_t y0, int32_t x1, int32_t y1, wf_colour c);
// ASCII in the font of sheets (6 pixels a letter, 7 high), each dot a box of scale pixels; other letters are
// shown as '?'. Returns the width in pixels.
int32_t wf_draw_text(wf_image *image, int32_t top, int32_t left, int32_t scale, wf_colour c,
                     const char *text);
int32_t wf_text_pixels(int32_t scale, const char *text);

#endif
