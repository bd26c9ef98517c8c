// Images in memory: u8 [h,w,c], c 1 (grey) or 3 (RGB); read from PNG, JPEG and WebP, resized,
// written as PNG, and laid out as a sheet of captioned pictures. Everything is integer arithmetic.
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

// Reads a PNG, JPEG or WebP file, told apart by content and also where it is gzipped, as n_channels
// (1, 3, or 0: as many as it has). What is transparent is laid on white, (v a + 255 (255 - a) + 127)
// / 255; grey is (19595 R + 38470 G + 7471 B + 32768) >> 16; a JPEG's EXIF orientation is applied.
// Errors: WEFT_ERR_FILE, WEFT_ERR_FORMAT (damaged, or none of them), WEFT_ERR_UNSUPPORTED (built
// without the library).
weft_status wf_image_read(const wf_allocator *a, const char *path, int32_t n_channels,
                          wf_image *out_image, weft_error *err);
// Resizes: each result pixel is the area average where the image shrinks, bilinear (half-pixel
// centres) where it grows, each axis by itself; one rounding.
weft_status wf_image_resize(const wf_image *src, const wf_allocator *a, int32_t height,
                            int32_t width, wf_image *out_image, weft_error *err);
// How a picture comes to another size where the proportions differ.
typedef enum wf_image_fitting {
    WF_IMAGE_STRETCH = 0, // all of it
    WF_IMAGE_CROP = 1,    // the largest part in the middle that has the proportions
    WF_IMAGE_PAD = 2,     // all of it in the middle, black beside it
} wf_image_fitting;
weft_status wf_image_fit(const wf_image *src, const wf_allocator *a, wf_image_fitting fitting,
                         int32_t height, int32_t width, wf_image *out_image, weft_error *err);
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
