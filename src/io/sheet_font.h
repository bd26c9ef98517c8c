// A font of 5 x 7 dots for captions: the printable ASCII characters.
#ifndef WF_IO_SHEET_FONT_H
#define WF_IO_SHEET_FONT_H

#include <stdint.h>

#define WF_SHEET_GLYPH_WIDTH 5
#define WF_SHEET_GLYPH_HEIGHT 7

// Five columns from the left; bit 0 is the top dot. '?' for what the font does not have.
const uint8_t *wf_sheet_glyph(unsigned char c);

#endif
