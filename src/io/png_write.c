// Writes PNG with libpng into a file that appears whole or not at all.
#include <string.h>

#include "base/file.h"
#include "io/image.h"
#include "weft_config.h"

#if WEFT_HAVE_PNG
#include <png.h>
#include <setjmp.h>

typedef struct {
    wf_file_writer *file;
    weft_error *err;
    weft_status status; // of the file; WEFT_OK when libpng itself failed
    char message[160];
} png_sink;

static void take_error(png_structp png, png_const_charp text)
{
    png_sink *sink = png_get_error_ptr(png);
    strncpy(sink->message, text, sizeof sink->message - 1);
    png_longjmp(png, 1);
}

static void take_warning(png_structp png, png_const_charp text)
{
    (void)png;
    (void)text;
}

static void write_bytes(png_structp png, png_bytep data, size_t n)
{
    png_sink *sink = png_get_io_ptr(png);
    sink->status = wf_file_writer_append(sink->file, data, n, sink->err);
    if (sink->status != WEFT_OK)
        png_error(png, "the file cannot be written");
}

static void flush_nothing(png_structp png)
{
    (void)png;
}

static bool encode(png_structp png, png_infop info, const wf_image *image)
{
    if (setjmp(png_jmpbuf(png)))
        return false;
    png_set_IHDR(png, info, (png_uint_32)image->width, (png_uint_32)image->height, 8,
                 image->n_channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    size_t row_bytes = (size_t)image->width * (size_t)image->n_channels;
    for (int32_t y = 0; y < image->height; y++)
        png_write_row(png, image->pixels + (size_t)y * row_bytes);
    png_write_end(png, info);
    return true;
}

weft_status wf_png_write(const wf_allocator *a, const char *path, const wf_image *image,
                         weft_error *err)
{
    png_sink sink = {NULL, err, WEFT_OK, ""};
    png_structp png = NULL;
    png_infop info = NULL;
    weft_status status;
    WEFT_TRY_GOTO(wf_file_writer_create(a, path, &sink.file, err));
    png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &sink, take_error, take_warning);
    info = png ? png_create_info_struct(png) : NULL;
    if (!info) {
        status = wf_error_set(err, WEFT_ERR_MEMORY, "memory: no room to write %s", path);
        goto fail;
    }
    png_set_write_fn(png, &sink, write_bytes, flush_nothing);
    if (!encode(png, info, image)) {
        status = sink.status != WEFT_OK ? sink.status
                                        : wf_error_set(err, WEFT_ERR_INTERNAL,
                                                       "cannot encode %s (%s)", path, sink.message);
        goto fail;
    }
    status = wf_file_writer_commit(sink.file, err);
fail:
    png_destroy_write_struct(&png, &info);
    wf_file_writer_destroy(sink.file);
    return status;
}

#else

weft_status wf_png_write(const wf_allocator *a, const char *path, const wf_image *image,
                         weft_error *err)
{
    (void)a;
    (void)image;
    WEFT_FAIL(err, WEFT_ERR_UNSUPPORTED, "%s: this build has no libpng to write PNG with", path);
}

#endif
