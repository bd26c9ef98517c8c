// Images in memory: u8 [h,w,c], c 1 (grey) or 3 (RGB); read from PNG and JPEG, resized, written as
// PNG, and laid out as a sheet of captioned pictures. Everything is integer arithmetic.
#ifndef WF_IO_IMAGE_H
#define WF_IO_IMAGE_H

#include "base/alloc.h"

typedef struct wf_image {
    wf_allocator allocator;
    uint8_t *pixels; // [height, width, n_channels]
    int32_t height;
    int32_t width;
    int32_t n_channels;
} wf_image;

// Sides above this are refused: a header of 20 bytes may claim 4 GiB.
#define WF_IMAGE_MAX_SIDE 16384

// A black image. Errors: WEFT_ERR_MEMORY, WEFT_ERR_SHAPE.
weft_status wf_image_init(wf_image *out_image, const wf_allocator *a, int32_t height, int32_t width,
                          int32_t n_channels, weft_error *err);
// Accepts a zeroed image.
void wf_image_deinit(wf_image *image);

// Reads a PNG or JPEG file, told apart by content, as n_channels (1 or 3). Alpha is dropped; grey
// is (19595 R + 38470 G + 7471 B + 32768) >> 16; a JPEG's EXIF orientation is applied.
// Errors: WEFT_ERR_FILE, WEFT_ERR_FORMAT (damaged, or neither), WEFT_ERR_UNSUPPORTED (built
// without the library).
weft_status wf_image_read(const wf_allocator *a, const char *path, int32_t n_channels,
                          wf_image *out_image, weft_error *err);
// Resizes: each result pixel is the area average where the image shrinks, bilinear (half-pixel
// centres) where it grows, each axis by itself; one rounding.
weft_status wf_image_resize(const wf_image *src, const wf_allocator *a, int32_t height,
                            int32_t width, wf_image *out_image, weft_error *err);
// Writes a PNG; replaces `path` whole or not at all. The same pixels and zlib give the same bytes.
weft_status wf_png_write(const wf_allocator *a, const char *path, const wf_image *image,
                         weft_error *err);

typedef enum wf_sheet_mark {
    WF_SHEET_MARK_NONE = 0,
    WF_SHEET_MARK_RIGHT = 1, // green
    WF_SHEET_MARK_WRONG = 2, // red
} wf_sheet_mark;

typedef struct wf_sheet_cell {
    const uint8_t *pixels; // [height, width, n_channels]
    int32_t height;
    int32_t width;
    int32_t n_channels;
    wf_sheet_mark mark;
    const char *caption; // up to two lines split by '\n'; cut at the cell's width; NULL: none
} wf_sheet_cell;

// Draws the cells in rows of n_columns, each enlarged by a whole factor to at least 84 pixels, with
// its caption below and a frame in the colour of its mark.
weft_status wf_sheet_draw(const wf_allocator *a, const wf_sheet_cell *cells, int32_t n_cells,
                          int32_t n_columns, wf_image *out_image, weft_error *err);

#endif
