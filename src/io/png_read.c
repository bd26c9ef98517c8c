// Decodes PNG with libpng: any bit depth, palette, interlaced; 16 bits scaled to 8, what is
// transparent laid on white.
#include <string.h>

#include "io/image_codec.h"
#include "weft_config.h"

#if WEFT_HAVE_PNG
#include <png.h>
#include <setjmp.h>

// What the callbacks share. `message` is filled before the jump.
typedef struct {
    const uint8_t *data;
    size_t size_bytes;
    size_t at;
    char message[160];
} png_source;

static void take_error(png_structp png, png_const_charp text)
{
    png_source *source = png_get_error_ptr(png);
    strncpy(source->message, text, sizeof source->message - 1);
    png_longjmp(png, 1);
}

// Warnings concern text chunks, profiles and the like, none of which change pixels.
static void take_warning(png_structp png, png_const_charp text)
{
    (void)png;
    (void)text;
}

static void read_bytes(png_structp png, png_bytep dst, size_t n)
{
    png_source *source = png_get_io_ptr(png);
    if (n > source->size_bytes - source->at)
        png_error(png, "the file ends too early");
    memcpy(dst, source->data + source->at, n);
    source->at += n;
}

// Header and conversions; returns the channels of a decoded row, alpha included.
static int32_t prepare(png_structp png, png_infop info)
{
    // A picture does not need more memory for a chunk than this.
    png_set_chunk_malloc_max(png, 8u << 20);
    png_set_user_limits(png, WF_IMAGE_MAX_SIDE, WF_IMAGE_MAX_SIDE);
    png_read_info(png, info);
    png_set_scale_16(png);
    png_set_expand(png);
    png_set_interlace_handling(png);
    png_read_update_info(png, info);
    return (int32_t)png_get_channels(png, info);
}

// All that may jump is called from here; locals that the jump must not lose live in the caller.
static weft_status decode(png_structp png, png_infop info, const wf_allocator *a,
                          wf_image *out_image, uint8_t **blended, weft_error *err)
{
    if (setjmp(png_jmpbuf(png)))
        return WEFT_ERR_FORMAT;
    const int32_t n_read = prepare(png, info), n_channels = n_read < 3 ? 1 : 3;
    weft_status status = wf_image_init(out_image, a, (int32_t)png_get_image_height(png, info),
                                       (int32_t)png_get_image_width(png, info), n_channels, err);
    const size_t n = (size_t)out_image->height * (size_t)out_image->width;
    if (status == WEFT_OK && n_read != n_channels)
        status = wf_alloc(a, n, (size_t)n_read, blended, err);
    if (status != WEFT_OK)
        return status;
    uint8_t *pixels = *blended ? *blended : out_image->pixels;
    size_t row_bytes = (size_t)out_image->width * (size_t)n_read;
    if (png_get_rowbytes(png, info) != row_bytes)
        png_error(png, "rows have an unexpected length");
    int n_passes = png_get_interlace_type(png, info) == PNG_INTERLACE_NONE ? 1 : 7;
    for (int pass = 0; pass < n_passes; pass++) {
        for (int32_t y = 0; y < out_image->height; y++)
            png_read_row(png, pixels + (size_t)y * row_bytes, NULL);
    }
    png_read_end(png, NULL);
    for (size_t i = 0; *blended && i < n; i++)
        wf_image_blend(pixels + i * (size_t)n_read, n_channels,
                       out_image->pixels + i * (size_t)n_channels);
    return WEFT_OK;
}

weft_status wf_png_decode(const wf_allocator *a, const char *path, const uint8_t *data,
                          size_t size_bytes, wf_image *out_image, weft_error *err)
{
    png_source source = {data, size_bytes, 0, ""};
    uint8_t *blended = NULL;
    png_structp png =
        png_create_read_struct(PNG_LIBPNG_VER_STRING, &source, take_error, take_warning);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    memset(out_image, 0, sizeof *out_image);
    if (!info) {
        png_destroy_read_struct(&png, NULL, NULL);
        WEFT_FAIL(err, WEFT_ERR_MEMORY, "memory: no room to read %s", path);
    }
    png_set_read_fn(png, &source, read_bytes);
    weft_status status = decode(png, info, a, out_image, &blended, err);
    wf_free(a, blended);
    png_destroy_read_struct(&png, &info, NULL);
    if (source.message[0])
        status = wf_error_set(err, WEFT_ERR_FORMAT, "%s: damaged PNG (%s)", path, source.message);
    if (status != WEFT_OK)
        wf_image_deinit(out_image);
    return status;
}

#else

weft_status wf_png_decode(const wf_allocator *a, const char *path, const uint8_t *data,
                          size_t size_bytes, wf_image *out_image, weft_error *err)
{
    (void)a;
    (void)data;
    (void)size_bytes;
    memset(out_image, 0, sizeof *out_image);
    WEFT_FAIL(err, WEFT_ERR_UNSUPPORTED, "%s: this build has no libpng to read PNG with", path);
}

#endif
