// Decodes JPEG with libjpeg: slow integer DCT and smooth chroma, pinned, so that one version gives
// one picture; CMYK and YCCK become RGB; the EXIF orientation is applied.
#include <string.h>

#include "io/image_codec.h"
#include "weft_config.h"

#if WEFT_HAVE_JPEG
#include <setjmp.h>
#include <stdio.h> // jpeglib.h needs FILE before it

#include <jpeglib.h>

typedef struct {
    struct jpeg_error_mgr manager; // first: libjpeg hands out its address
    jmp_buf back;
    const char *path; // what is read
    char message[JMSG_LENGTH_MAX];
} jpeg_errors;

static void take_error(j_common_ptr common)
{
    jpeg_errors *errors = (jpeg_errors *)common->err;
    common->err->format_message(common, errors->message);
    longjmp(errors->back, 1);
}

// A warning means that pixels were made up (data cut short, a corrupt block): level -1. Others are
// traces.
static void take_message(j_common_ptr common, int level)
{
    if (level < 0)
        take_error(common);
}

static void print_nothing(j_common_ptr common)
{
    (void)common;
}

// Adobe's programs store the inks inverted, and say so by their marker.
static void cmyk_to_rgb(const uint8_t *src, int32_t n, bool is_inverted, uint8_t *dst)
{
    for (int32_t i = 0; i < n; i++) {
        uint32_t k = is_inverted ? src[4 * i + 3] : 255u - src[4 * i + 3];
        for (int32_t c = 0; c < 3; c++) {
            uint32_t ink = is_inverted ? src[4 * i + c] : 255u - src[4 * i + c];
            dst[3 * i + c] = (uint8_t)((ink * k + 127) / 255);
        }
    }
}

static int32_t find_orientation(const struct jpeg_decompress_struct *jpeg)
{
    for (jpeg_saved_marker_ptr m = jpeg->marker_list; m; m = m->next) {
        if (m->marker == JPEG_APP0 + 1 && m->data_length >= 6 && !memcmp(m->data, "Exif\0\0", 6))
            return wf_exif_orientation(m->data, m->data_length);
    }
    return 1;
}

static weft_status decode(struct jpeg_decompress_struct *jpeg, const uint8_t *data,
                          size_t size_bytes, const wf_allocator *a, wf_image *out_image,
                          uint8_t **row, int32_t *out_orientation, weft_error *err)
{
    jpeg_errors *errors = (jpeg_errors *)jpeg->err;
    if (setjmp(errors->back))
        return WEFT_ERR_FORMAT;
    jpeg_create_decompress(jpeg);
    jpeg_mem_src(jpeg, data, (unsigned long)size_bytes);
    jpeg_save_markers(jpeg, JPEG_APP0 + 1, 0xFFFF);
    jpeg_read_header(jpeg, TRUE);
    if (jpeg->image_height > WF_IMAGE_MAX_SIDE || jpeg->image_width > WF_IMAGE_MAX_SIDE)
        WEFT_FAIL(err, WEFT_ERR_SHAPE, "%s: %u x %u pixels, expected sides from 1 to %d",
                  errors->path, jpeg->image_height, jpeg->image_width, WF_IMAGE_MAX_SIDE);
    *out_orientation = find_orientation(jpeg);
    bool is_cmyk = jpeg->num_components == 4;
    bool is_grey = jpeg->num_components == 1;
    jpeg->out_color_space = is_cmyk ? JCS_CMYK : is_grey ? JCS_GRAYSCALE : JCS_RGB;
    jpeg->dct_method = JDCT_ISLOW;
    jpeg->do_fancy_upsampling = TRUE;
    jpeg_start_decompress(jpeg);
    weft_status status = wf_image_init(out_image, a, (int32_t)jpeg->output_height,
                                       (int32_t)jpeg->output_width, is_grey ? 1 : 3, err);
    if (status == WEFT_OK)
        status = wf_alloc(a, jpeg->output_width, 4, row, err);
    if (status != WEFT_OK)
        return status;
    size_t row_bytes = (size_t)out_image->width * (size_t)out_image->n_channels;
    while (jpeg->output_scanline < jpeg->output_height) {
        uint8_t *dst = out_image->pixels + (size_t)jpeg->output_scanline * row_bytes;
        JSAMPROW rows[1] = {is_cmyk ? *row : dst};
        jpeg_read_scanlines(jpeg, rows, 1);
        if (is_cmyk)
            cmyk_to_rgb(*row, out_image->width, jpeg->saw_Adobe_marker, dst);
    }
    jpeg_finish_decompress(jpeg);
    return WEFT_OK;
}

// Orientation o of EXIF, by what it does to a place (y, x) of the upright picture:
// 2, 3, 6... each is a transposition (5 to 8) with rows or columns counted from the end.
static weft_status set_upright(wf_image *image, int32_t orientation, weft_error *err)
{
    wf_image out;
    if (orientation == 1)
        return WEFT_OK;
    bool is_transposed = orientation >= 5;
    // Counted in the stored picture.
    bool is_row_reversed =
        orientation == 3 || orientation == 4 || orientation == 7 || orientation == 6;
    bool is_column_reversed =
        orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
    WEFT_TRY(wf_image_init(&out, &image->allocator, is_transposed ? image->width : image->height,
                           is_transposed ? image->height : image->width, image->n_channels, err));
    size_t c = (size_t)image->n_channels;
    for (int32_t y = 0; y < out.height; y++) {
        for (int32_t x = 0; x < out.width; x++) {
            int32_t row = is_transposed ? x : y, column = is_transposed ? y : x;
            if (is_row_reversed)
                row = image->height - 1 - row;
            if (is_column_reversed)
                column = image->width - 1 - column;
            memcpy(out.pixels + ((size_t)y * (size_t)out.width + (size_t)x) * c,
                   image->pixels + ((size_t)row * (size_t)image->width + (size_t)column) * c, c);
        }
    }
    wf_image_deinit(image);
    *image = out;
    return WEFT_OK;
}

weft_status wf_jpeg_decode(const wf_allocator *a, const char *path, const uint8_t *data,
                           size_t size_bytes, wf_image *out_image, weft_error *err)
{
    struct jpeg_decompress_struct jpeg;
    jpeg_errors errors;
    uint8_t *row = NULL;
    int32_t orientation = 1;
    memset(out_image, 0, sizeof *out_image);
    memset(&jpeg, 0, sizeof jpeg);
    memset(&errors, 0, sizeof errors);
    jpeg.err = jpeg_std_error(&errors.manager);
    errors.manager.error_exit = take_error;
    errors.manager.emit_message = take_message;
    errors.manager.output_message = print_nothing;
    errors.path = path;
    weft_status status = decode(&jpeg, data, size_bytes, a, out_image, &row, &orientation, err);
    jpeg_destroy_decompress(&jpeg);
    wf_free(a, row);
    if (errors.message[0])
        status = wf_error_set(err, WEFT_ERR_FORMAT, "%s: damaged JPEG (%s)", path, errors.message);
    if (status == WEFT_OK)
        status = set_upright(out_image, orientation, err);
    if (status != WEFT_OK)
        wf_image_deinit(out_image);
    return status;
}

#else

weft_status wf_jpeg_decode(const wf_allocator *a, const char *path, const uint8_t *data,
                           size_t size_bytes, wf_image *out_image, weft_error *err)
{
    (void)a;
    (void)data;
    (void)size_bytes;
    memset(out_image, 0, sizeof *out_image);
    WEFT_FAIL(err, WEFT_ERR_UNSUPPORTED, "%s: this build has no libjpeg to read JPEG with", path);
}

#endif
