// Images: PNG out and in, the kinds of PNG and JPEG that exist, damage, resizing, contact sheets.
#include "io/temp_file.h"

#include <stdlib.h>

#include "io/image.h"
#include "io/image_codec.h"
#include "weft_config.h"

#if WEFT_HAVE_PNG
#include <png.h>
#endif
#if WEFT_HAVE_JPEG
#include <jpeglib.h>
#endif
#if WEFT_HAVE_WEBP
#include <webp/encode.h>
#endif
#if WEFT_HAVE_ZLIB
#include <zlib.h>
#endif

static wf_allocator heap;

static int set_up(void **state)
{
    (void)state;
    heap = wf_allocator_default();
    return 0;
}

static void need_png(void)
{
    if (!WEFT_HAVE_PNG)
        WF_SKIP("built without libpng");
}

static wf_image pattern(int32_t height, int32_t width, int32_t n_channels)
{
    wf_image image;
    assert_int_equal(wf_image_init(&image, &heap, height, width, n_channels, NULL), WEFT_OK);
    for (size_t i = 0; i < (size_t)(height * width * n_channels); i++)
        image.pixels[i] = (uint8_t)(i * 37 + i / 11);
    return image;
}

static void png_round_trip(void **state)
{
    (void)state;
    need_png();
    for (int32_t c = 1; c <= 3; c += 2) {
        wf_image image = pattern(5, 7, c), back;
        assert_int_equal(wf_png_write(&heap, TEMP("рис 図.png"), &image, NULL), WEFT_OK);
        assert_int_equal(wf_image_read(&heap, TEMP("рис 図.png"), c, &back, NULL), WEFT_OK);
        assert_int_equal(back.height, 5);
        assert_int_equal(back.width, 7);
        assert_int_equal(back.n_channels, c);
        assert_memory_equal(back.pixels, image.pixels, (size_t)(35 * c));
        wf_image_deinit(&back);
        // The other number of channels: grey to RGB copies, RGB to grey weighs.
        assert_int_equal(wf_image_read(&heap, TEMP("рис 図.png"), 4 - c, &back, NULL), WEFT_OK);
        for (size_t i = 0; i < 35; i++) {
            const uint8_t *p = image.pixels + 3 * i;
            if (c == 1)
                assert_int_equal(back.pixels[3 * i + 2], image.pixels[i]);
            else
                assert_int_equal(back.pixels[i],
                                 (19595 * p[0] + 38470 * p[1] + 7471 * p[2] + 32768) >> 16);
        }
        wf_image_deinit(&back);
        wf_image_deinit(&image);
    }
}

#if WEFT_HAVE_PNG
// A 4 x 4 PNG of any kind, all rows from `row`; has_key: grey 2 and the colour 4, 5, 6 are transparent.
static void write_png_kind(const char *path, int depth, int type, int interlace, bool has_key,
                           const uint8_t *row)
{
    FILE *f = fopen(path, "wb");
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    const png_color palette[2] = {{10, 20, 30}, {200, 210, 220}};
    const png_byte alpha[2] = {0, 128};
    const png_color_16 key = {.red = 4, .green = 5, .blue = 6, .gray = 2};
    assert_non_null(f);
    png_init_io(png, f);
    png_set_IHDR(png, info, 4, 4, depth, type, interlace, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    if (type == PNG_COLOR_TYPE_PALETTE) {
        png_set_PLTE(png, info, palette, 2);
        png_set_tRNS(png, info, alpha, 2, NULL);
    }
    if (has_key)
        png_set_tRNS(png, info, NULL, 0, &key);
    png_write_info(png, info);
    int n_passes = png_set_interlace_handling(png);
    for (int i = 0; i < 4 * n_passes; i++)
        png_write_row(png, row);
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    fclose(f);
}

typedef struct {
    int depth;
    int type;
    bool has_key;
    uint8_t row[32];
    uint8_t rgb[4][3]; // the row that must come out
} png_kind;

#define GREYS(a, b, c, d)                                                                          \
    {                                                                                              \
        {a, a, a}, {b, b, b}, {c, c, c},                                                           \
        {                                                                                          \
            d, d, d                                                                                \
        }                                                                                          \
    }
#define HALF_PALETTE                                                                               \
    {                                                                                              \
        {255, 255, 255}, {227, 232, 237}, {255, 255, 255},                                         \
        {                                                                                          \
            227, 232, 237                                                                          \
        }                                                                                          \
    }

// pjreddie/darknet#1138, AlexeyAB#4131, stylegan2-pytorch#108: every kind of PNG.
static const png_kind png_kind_rows[] = {
    {1, PNG_COLOR_TYPE_GRAY, false, {0x50}, GREYS(0, 255, 0, 255)},
    {2, PNG_COLOR_TYPE_GRAY, false, {0x1B}, GREYS(0, 85, 170, 255)},
    {4, PNG_COLOR_TYPE_GRAY, false, {0x0F, 0x1E}, GREYS(0, 255, 17, 238)},
    {8, PNG_COLOR_TYPE_GRAY, false, {1, 2, 3, 4}, GREYS(1, 2, 3, 4)},
    {8, PNG_COLOR_TYPE_GRAY, true, {1, 2, 3, 4}, GREYS(1, 255, 3, 4)},
    {2, PNG_COLOR_TYPE_GRAY, true, {0x1B}, GREYS(0, 85, 255, 255)},
    {16, PNG_COLOR_TYPE_GRAY, false, {1, 1, 2, 2, 3, 3, 255, 255}, GREYS(1, 2, 3, 255)},
    {8, PNG_COLOR_TYPE_GRAY_ALPHA, false, {1, 0, 2, 255, 3, 9, 4, 0}, GREYS(255, 2, 246, 255)},
    // an alpha of one bit: there or not
    {8, PNG_COLOR_TYPE_GRAY_ALPHA, false, {1, 0, 2, 255, 3, 255, 4, 0}, GREYS(255, 2, 3, 255)},
    {16,
     PNG_COLOR_TYPE_GRAY_ALPHA,
     false,
     {1, 1, 0, 0, 2, 2, 255, 255, 3, 3, 255, 255, 4, 4, 0, 0},
     GREYS(255, 2, 3, 255)},
    {8,
     PNG_COLOR_TYPE_RGB,
     false,
     {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12},
     {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 11, 12}}},
    {8,
     PNG_COLOR_TYPE_RGB,
     true,
     {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12},
     {{1, 2, 3}, {255, 255, 255}, {7, 8, 9}, {10, 11, 12}}},
    {16,
     PNG_COLOR_TYPE_RGB,
     false,
     {1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12},
     {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 11, 12}}},
    {8,
     PNG_COLOR_TYPE_RGB_ALPHA,
     false,
     {1, 2, 3, 0, 4, 5, 6, 255, 7, 8, 9, 1, 10, 11, 12, 0},
     {{255, 255, 255}, {4, 5, 6}, {254, 254, 254}, {255, 255, 255}}},
    {16,
     PNG_COLOR_TYPE_RGB_ALPHA,
     false,
     {1, 1, 2, 2, 3, 3, 0,   0,   4,  4,  5,  5,  6,  6,  255, 255,
      7, 7, 8, 8, 9, 9, 255, 255, 10, 10, 11, 11, 12, 12, 0,   0},
     {{255, 255, 255}, {4, 5, 6}, {7, 8, 9}, {255, 255, 255}}},
    {1, PNG_COLOR_TYPE_PALETTE, false, {0x50}, HALF_PALETTE},
    {2, PNG_COLOR_TYPE_PALETTE, false, {0x11}, HALF_PALETTE},
    {4, PNG_COLOR_TYPE_PALETTE, false, {0x01, 0x01}, HALF_PALETTE},
    {8, PNG_COLOR_TYPE_PALETTE, false, {0, 1, 0, 1}, HALF_PALETTE},
};

// Read with the number of channels that is asked for; 0: the file's own.
static void expect_png_kind(const png_kind *kind, int32_t n_channels)
{
    wf_image image;
    const bool is_grey =
        kind->type == PNG_COLOR_TYPE_GRAY || kind->type == PNG_COLOR_TYPE_GRAY_ALPHA;
    const int32_t n = n_channels ? n_channels : is_grey ? 1 : 3;
    assert_int_equal(wf_image_read(&heap, TEMP("kind.png"), n_channels, &image, NULL), WEFT_OK);
    assert_int_equal(image.n_channels, n);
    for (int32_t i = 0; i < 16; i++) {
        const uint8_t *p = kind->rgb[i % 4];
        const uint8_t grey = (uint8_t)((19595 * p[0] + 38470 * p[1] + 7471 * p[2] + 32768) >> 16);
        assert_memory_equal(image.pixels + n * i, n == 3 ? p : &grey, (size_t)n);
    }
    wf_image_deinit(&image);
}

static void png_kinds(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * WF_N_TESTS(png_kind_rows); i++) {
        const png_kind *kind = &png_kind_rows[i / 2];
        write_png_kind(TEMP("kind.png"), kind->depth, kind->type,
                       i % 2 ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, kind->has_key, kind->row);
        expect_png_kind(kind, 0);
        expect_png_kind(kind, 1);
        expect_png_kind(kind, 3);
    }
}
#else
static void png_kinds(void **state)
{
    (void)state;
    need_png();
}
#endif

static void damaged_png(void **state)
{
    (void)state;
    need_png();
    wf_image image = pattern(5, 7, 3), back;
    uint8_t *bytes;
    size_t size;
    assert_int_equal(wf_png_write(&heap, TEMP("cut.png"), &image, NULL), WEFT_OK);
    assert_int_equal(wf_file_read(&heap, TEMP("cut.png"), &bytes, &size, NULL), WEFT_OK);
    for (size_t n = 0; n < size; n++) {
        weft_error err = {0};
        temp_write(TEMP("cut.png"), bytes, n);
        assert_int_equal(wf_image_read(&heap, TEMP("cut.png"), 3, &back, &err), WEFT_ERR_FORMAT);
        assert_null(back.pixels);
        assert_non_null(strstr(err.message, TEMP("cut.png") ": "));
    }
    temp_write(TEMP("cut.png"), bytes, 60);
    assert_fails(wf_image_read(&heap, TEMP("cut.png"), 3, &back, err), WEFT_ERR_FORMAT,
                 TEMP("cut.png") ": damaged PNG (the file ends too early)");
    // Width and height, at byte 16, with the check sum of the chunk behind them.
    static const uint8_t huge[17] = {0x7F, 0xFF, 0xFF, 0xFF, 0x7F, 0xFF, 0xFF, 0xFF, 8,
                                     2,    0,    0,    0,    0x9B, 0xAB, 0x9C, 0x31};
    memcpy(bytes + 16, huge, sizeof huge);
    temp_write(TEMP("cut.png"), bytes, size);
    assert_fails(wf_image_read(&heap, TEMP("cut.png"), 3, &back, err), WEFT_ERR_FORMAT,
                 TEMP("cut.png") ": damaged PNG (Invalid IHDR data)");
    temp_write(TEMP("cut.png"), "GIF89a", 6);
    assert_fails(wf_image_read(&heap, TEMP("cut.png"), 3, &back, err), WEFT_ERR_FORMAT,
                 TEMP("cut.png") ": neither a PNG nor a JPEG nor a WebP file");
    temp_write(TEMP("cut.png"), "", 0);
    assert_fails(wf_image_read(&heap, TEMP("cut.png"), 3, &back, err), WEFT_ERR_FORMAT,
                 TEMP("cut.png") ": the file is empty, expected an image");
    assert_fails(wf_image_read(&heap, TEMP("none.png"), 3, &back, err), WEFT_ERR_FILE,
                 "cannot open " TEMP("none.png") ": No such file or directory");
    wf_free(&heap, bytes);
    wf_image_deinit(&image);
}

#if WEFT_HAVE_JPEG
typedef struct {
    J_COLOR_SPACE space;  // of the pixels
    J_COLOR_SPACE stored; // of the file
    bool is_unmarked;     // no marker of Adobe's
    int orientation;      // 0: no EXIF
} jpeg_kind;

static void write_jpeg_pixels(const char *path, jpeg_kind kind, int n, int height, int width,
                              const uint8_t *pixels)
{
    uint8_t exif[] = "Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\0\0\0\0\0\0\0";
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_stdio_dest(&jpeg, f);
    jpeg.image_width = (JDIMENSION)width;
    jpeg.image_height = (JDIMENSION)height;
    jpeg.input_components = n;
    jpeg.in_color_space = kind.space;
    jpeg_set_defaults(&jpeg);
    jpeg_set_colorspace(&jpeg, kind.stored);
    if (kind.is_unmarked)
        jpeg.write_Adobe_marker = FALSE;
    jpeg_set_quality(&jpeg, 100, TRUE);
    jpeg_start_compress(&jpeg, TRUE);
    if (kind.orientation > 0) {
        exif[6 + 8 + 2 + 9] = (uint8_t)kind.orientation;
        jpeg_write_marker(&jpeg, JPEG_APP0 + 1, exif, sizeof exif - 1);
    }
    for (int y = 0; y < height; y++) {
        JSAMPROW rows[1] = {(JSAMPROW)(uintptr_t)(pixels + (size_t)(y * width * n))};
        jpeg_write_scanlines(&jpeg, rows, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    fclose(f);
}

// 16 x 24, left half and right half of one colour each.
static void write_jpeg(const char *path, jpeg_kind kind, int n, const uint8_t *left,
                       const uint8_t *right)
{
    uint8_t pixels[16 * 24 * 4];
    for (int i = 0; i < 16 * 24; i++)
        memcpy(pixels + i * n, i % 24 < 12 ? left : right, (size_t)n);
    write_jpeg_pixels(path, kind, n, 16, 24, pixels);
}

static const jpeg_kind jpeg_rgb = {JCS_RGB, JCS_YCbCr, false, 0};
static const jpeg_kind jpeg_grey = {JCS_GRAYSCALE, JCS_GRAYSCALE, false, 0};

static void near_colour(const uint8_t *p, int r, int g, int b)
{
    assert_in_range(p[0] + 4, r, r + 8);
    assert_in_range(p[1] + 4, g, g + 8);
    assert_in_range(p[2] + 4, b, b + 8);
}

static void jpeg_colours(void **state)
{
    (void)state;
    static const uint8_t red[3] = {220, 30, 40}, blue[3] = {20, 40, 200}, dark[1] = {50},
                         light[1] = {200};
    wf_image image;
    write_jpeg(TEMP("a.jpg"), jpeg_rgb, 3, red, blue);
    assert_int_equal(wf_image_read(&heap, TEMP("a.jpg"), 3, &image, NULL), WEFT_OK);
    assert_int_equal(image.height, 16);
    assert_int_equal(image.width, 24);
    near_colour(image.pixels, 220, 30, 40);
    near_colour(image.pixels + 3 * 23, 20, 40, 200);
    wf_image_deinit(&image);
    write_jpeg(TEMP("a.jpg"), jpeg_grey, 1, dark, light);
    assert_int_equal(wf_image_read(&heap, TEMP("a.jpg"), 3, &image, NULL), WEFT_OK);
    near_colour(image.pixels + 3 * 23, 200, 200, 200);
    wf_image_deinit(&image);
}

// nothings/stb#969, PR#427; zune-image#442: four inks, as CMYK and as YCCK (Adobe's transforms 0 and 2), which
// Adobe stores inverted, and without Adobe's marker, where 255 is all the ink. A light picture stays light.
static void jpeg_inks(void **state)
{
    (void)state;
    static const uint8_t adobe_cyan[4] = {40, 250, 250, 255}, adobe_white[4] = {250, 250, 250, 250};
    static const uint8_t cyan[4] = {215, 5, 5, 0}, white[4] = {5, 5, 5, 5};
    static const jpeg_kind kinds[] = {{JCS_CMYK, JCS_CMYK, false, 0},
                                      {JCS_CMYK, JCS_YCCK, false, 0},
                                      {JCS_CMYK, JCS_CMYK, true, 0}};
    wf_image image;
    for (size_t i = 0; i < WF_N_TESTS(kinds); i++) {
        const bool is_adobe = !kinds[i].is_unmarked;
        write_jpeg(TEMP("a.jpg"), kinds[i], 4, is_adobe ? adobe_cyan : cyan,
                   is_adobe ? adobe_white : white);
        assert_int_equal(wf_image_read(&heap, TEMP("a.jpg"), 3, &image, NULL), WEFT_OK);
        near_colour(image.pixels, 40, 250, 250);
        near_colour(image.pixels + 3 * 23, 245, 245, 245);
        size_t sum = 0;
        for (size_t k = 0; k < 16 * 24 * 3; k++)
            sum += image.pixels[k];
        assert_true(sum > (size_t)128 * 16 * 24 * 3);
        wf_image_deinit(&image);
    }
}

// Where the place (y, x) of the upright picture of h rows and w columns is stored, by the definition of EXIF: where the
// first row and the first column of what is stored are seen.
static void stored_place(int orientation, int h, int w, int y, int x, int *row, int *column)
{
    const int up = h - 1 - y, left = w - 1 - x;
    const int rows[9] = {0, y, y, up, up, x, left, left, x};
    const int columns[9] = {0, x, left, left, x, y, y, up, up};
    *row = rows[orientation];
    *column = columns[orientation];
}

// tensorflow#8430, vision#7977, Yolo_mark#107: eight files, the same pixels out. A block of one value loses
// nothing at quality 100.
static void jpeg_orientation(void **state)
{
    (void)state;
    enum { H = 16, W = 24, SIDE = 8 };
    static const uint8_t blocks[2][3] = {{20, 60, 100}, {140, 180, 220}};
    for (int o = 1; o <= 8; o++) {
        jpeg_kind kind = jpeg_grey;
        uint8_t stored[H * W];
        wf_image image;
        const int width = o >= 5 ? H : W;
        kind.orientation = o;
        for (int i = 0; i < H * W; i++) {
            int row, column;
            stored_place(o, H, W, i / W, i % W, &row, &column);
            stored[row * width + column] = blocks[i / W / SIDE][i % W / SIDE];
        }
        write_jpeg_pixels(TEMP("o.jpg"), kind, 1, H * W / width, width, stored);
        assert_int_equal(wf_image_read(&heap, TEMP("o.jpg"), 1, &image, NULL), WEFT_OK);
        assert_int_equal(image.width, W);
        assert_int_equal(image.height, H);
        for (int i = 0; i < H * W; i++)
            assert_int_equal(image.pixels[i], blocks[i / W / SIDE][i % W / SIDE]);
        wf_image_deinit(&image);
    }
}

static void damaged_jpeg(void **state)
{
    (void)state;
    static const uint8_t red[3] = {220, 30, 40}, blue[3] = {20, 40, 200};
    wf_image image;
    uint8_t *bytes;
    size_t size;
    jpeg_kind kind = jpeg_rgb;
    kind.orientation = 6;
    write_jpeg(TEMP("cut.jpg"), kind, 3, red, blue);
    assert_int_equal(wf_file_read(&heap, TEMP("cut.jpg"), &bytes, &size, NULL), WEFT_OK);
    for (size_t n = 0; n < size; n++) {
        weft_error err = {0};
        temp_write(TEMP("cut.jpg"), bytes, n);
        assert_int_equal(wf_image_read(&heap, TEMP("cut.jpg"), 3, &image, &err), WEFT_ERR_FORMAT);
        assert_null(image.pixels);
        assert_names_file(err.message, TEMP("cut.jpg"));
    }
    temp_write(TEMP("cut.jpg"), bytes, size - 10);
    assert_fails(wf_image_read(&heap, TEMP("cut.jpg"), 3, &image, err), WEFT_ERR_FORMAT,
                 TEMP("cut.jpg") ": damaged JPEG (Premature end of JPEG file)");
    // Its header claims more than any picture has: height and width stand 5 bytes behind SOF0.
    size_t at = 0;
    while (bytes[at] != 0xFF || bytes[at + 1] != 0xC0)
        at++;
    memset(bytes + at + 5, 0xFF, 4);
    temp_write(TEMP("cut.jpg"), bytes, size);
    assert_int_equal(wf_image_read(&heap, TEMP("cut.jpg"), 3, &image, NULL), WEFT_ERR_FORMAT);
    bytes[at + 5] = bytes[at + 7] = 0x40; // 16639
    temp_write(TEMP("cut.jpg"), bytes, size);
    assert_fails(wf_image_read(&heap, TEMP("cut.jpg"), 3, &image, err), WEFT_ERR_SHAPE,
                 TEMP("cut.jpg") ": 16639 x 16639 pixels, expected sides from 1 to 16384");
    wf_free(&heap, bytes);
}
#else
static void no_jpeg(void **state)
{
    (void)state;
    WF_SKIP("built without libjpeg");
}
#define jpeg_colours no_jpeg
#define jpeg_inks no_jpeg
#define jpeg_orientation no_jpeg
#define damaged_jpeg no_jpeg
#endif

#if WEFT_HAVE_WEBP
static void webp(void **state)
{
    (void)state;
    // A red half, transparent where it ends.
    uint8_t rgba[6 * 8 * 4], *out;
    wf_image image;
    for (int i = 0; i < 48; i++)
        memcpy(rgba + 4 * i, i % 8 < 4 ? "\xC8\x1E\x28\xFF" : "\x0A\x14\x1E\x00", 4);
    size_t size = WebPEncodeLosslessRGBA(rgba, 8, 6, 32, &out);
    assert_true(size > 0);
    temp_write(TEMP("a.webp"), out, size);
    assert_int_equal(wf_image_read(&heap, TEMP("a.webp"), 3, &image, NULL), WEFT_OK);
    assert_int_equal(image.height, 6);
    assert_int_equal(image.width, 8);
    assert_memory_equal(image.pixels, "\xC8\x1E\x28", 3);
    assert_memory_equal(image.pixels + 3 * 7, "\xFF\xFF\xFF", 3);
    wf_image_deinit(&image);
    for (size_t n = 0; n < size; n++) {
        weft_error err = {0};
        temp_write(TEMP("a.webp"), out, n);
        weft_status status = wf_image_read(&heap, TEMP("a.webp"), 3, &image, &err);
        // The last byte may be padding.
        assert_true(status == WEFT_ERR_FORMAT || (n == size - 1 && status == WEFT_OK));
        if (status == WEFT_OK)
            wf_image_deinit(&image);
        else
            assert_non_null(strstr(err.message, TEMP("a.webp") ": "));
    }
    WebPFree(out);
}
#else
static void webp(void **state)
{
    (void)state;
    WF_SKIP("built without libwebp");
}
#endif

#if WEFT_HAVE_ZLIB
static void wrap_in_gzip(const char *path)
{
    uint8_t *bytes;
    size_t size;
    assert_int_equal(wf_file_read(&heap, path, &bytes, &size, NULL), WEFT_OK);
    gzFile f = gzopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(gzwrite(f, bytes, (unsigned)size), size);
    assert_int_equal(gzclose(f), Z_OK);
    wf_free(&heap, bytes);
}
#endif

// ImageNet holds JPEG files that are gzipped.
static void gzipped_picture(void **state)
{
    (void)state;
    need_png();
#if WEFT_HAVE_ZLIB
    wf_image image = pattern(3, 4, 3), back;
    assert_int_equal(wf_png_write(&heap, TEMP("z.png"), &image, NULL), WEFT_OK);
    wrap_in_gzip(TEMP("z.png"));
    assert_int_equal(wf_image_read(&heap, TEMP("z.png"), 0, &back, NULL), WEFT_OK);
    assert_memory_equal(back.pixels, image.pixels, 36);
    wf_image_deinit(&back);
#if WEFT_HAVE_JPEG
    static const uint8_t red[3] = {220, 30, 40}, blue[3] = {20, 40, 200};
    write_jpeg(TEMP("z.jpg"), jpeg_rgb, 3, red, blue);
    wrap_in_gzip(TEMP("z.jpg"));
    assert_int_equal(wf_image_read(&heap, TEMP("z.jpg"), 3, &back, NULL), WEFT_OK);
    near_colour(back.pixels, 220, 30, 40);
    wf_image_deinit(&back);
#endif
    // Zeros without end.
    static const uint8_t zeros[1 << 20];
    gzFile f = gzopen(TEMP("bomb.png"), "wb1");
    assert_non_null(f);
    for (int i = 0; i < 70; i++)
        assert_int_equal(gzwrite(f, zeros, sizeof zeros), sizeof zeros);
    assert_int_equal(gzclose(f), Z_OK);
    assert_fails(wf_image_read(&heap, TEMP("bomb.png"), 3, &back, err), WEFT_ERR_FORMAT,
                 TEMP("bomb.png") ": unpacks to more than 67108864 bytes");
    wf_image_deinit(&image);
#endif
}

static void fittings(void **state)
{
    (void)state;
    wf_image image = {.pixels = NULL}, out;
    assert_int_equal(wf_image_init(&image, &heap, 2, 6, 1, NULL), WEFT_OK);
    memcpy(image.pixels, "\x0A\x14\x1E\x28\x32\x3C\x0A\x14\x1E\x28\x32\x3C", 12);
    assert_int_equal(wf_image_fit(&image, &heap, WF_IMAGE_STRETCH, 2, 2, &out, NULL), WEFT_OK);
    assert_memory_equal(out.pixels, "\x14\x32\x14\x32", 4);
    wf_image_deinit(&out);
    assert_int_equal(wf_image_fit(&image, &heap, WF_IMAGE_CROP, 2, 2, &out, NULL), WEFT_OK);
    assert_memory_equal(out.pixels, "\x1E\x28\x1E\x28", 4);
    wf_image_deinit(&out);
    assert_int_equal(wf_image_fit(&image, &heap, WF_IMAGE_PAD, 6, 6, &out, NULL), WEFT_OK);
    static const uint8_t none[6];
    for (int y = 0; y < 6; y++)
        assert_memory_equal(out.pixels + 6 * y, y == 2 || y == 3 ? image.pixels : none, 6);
    wf_image_deinit(&out);
    // Every size into every other.
    for (int32_t h = 1; h < 9; h++) {
        for (int32_t w = 1; w < 9; w++) {
            for (int kind = 0; kind < 3; kind++) {
                assert_int_equal(
                    wf_image_fit(&image, &heap, (wf_image_fitting)kind, h, w, &out, NULL), WEFT_OK);
                assert_int_equal(out.height * 10 + out.width, h * 10 + w);
                wf_image_deinit(&out);
            }
        }
    }
    assert_fails(wf_image_fit(&image, &heap, WF_IMAGE_CROP, 2, 0, &out, err), WEFT_ERR_SHAPE,
                 "image: 2 x 0 pixels, expected sides from 1 to 16384");
    wf_image_deinit(&image);
}

static void exif_is_read_carefully(void **state)
{
    (void)state;
    static const uint8_t little[] =
        "Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0";
    uint8_t far[sizeof little];
    assert_int_equal(wf_exif_orientation(little, sizeof little - 1), 6);
    for (size_t n = 0; n < 6 + 8 + 2 + 12; n++) {
        uint8_t *cut = malloc(n ? n : 1);
        assert_non_null(cut);
        memcpy(cut, little, n);
        assert_int_equal(wf_exif_orientation(cut, n), 1);
        free(cut);
    }
    memcpy(far, little, sizeof little);
    memset(far + 10, 0xFF, 4);
    assert_int_equal(wf_exif_orientation(far, sizeof far - 1), 1);
}

static void resizing(void **state)
{
    (void)state;
    wf_image image = {.pixels = NULL}, out;
    assert_int_equal(wf_image_init(&image, &heap, 1, 4, 1, NULL), WEFT_OK);
    memcpy(image.pixels, "\x00\x64\xC8\xC9", 4);
    static const struct {
        int32_t width;
        uint8_t row[8];
    } rows[] = {
        {4, {0, 100, 200, 201}},
        {2, {50, 201}},      // 200.5 rounds up
        {3, {25, 150, 201}}, // (0*3 + 100)/4, (100*2 + 200*2)/4, (200 + 201*3)/4
        {1, {125}},          // 501/4
        {8, {0, 25, 75, 125, 175, 200, 201, 201}}, // quarter and three quarters between centres
    };
    for (size_t i = 0; i < WF_N_TESTS(rows); i++) {
        assert_int_equal(wf_image_resize(&image, &heap, 2, rows[i].width, &out, NULL), WEFT_OK);
        assert_memory_equal(out.pixels, rows[i].row, (size_t)rows[i].width);
        assert_memory_equal(out.pixels + rows[i].width, rows[i].row, (size_t)rows[i].width);
        wf_image_deinit(&out);
    }
    assert_fails(wf_image_resize(&image, &heap, 0, 5, &out, err), WEFT_ERR_SHAPE,
                 "image: 0 x 5 pixels, expected sides from 1 to 16384");
    wf_image_deinit(&image);
    // Colours stay apart, and one colour stays itself at any size.
    image = pattern(9, 13, 3);
    memset(image.pixels, 77, 9 * 13 * 3);
    for (int32_t side = 1; side < 30; side++) {
        assert_int_equal(wf_image_resize(&image, &heap, side, 31 - side, &out, NULL), WEFT_OK);
        for (int32_t i = 0; i < side * (31 - side) * 3; i++)
            assert_int_equal(out.pixels[i], 77);
        wf_image_deinit(&out);
    }
    wf_image_deinit(&image);
}

static void contact_sheet(void **state)
{
    (void)state;
    need_png();
    wf_image grey = pattern(28, 28, 1), colour = pattern(20, 28, 3), sheet, back;
    const wf_sheet_cell cells[] = {
        {grey.pixels, 28, 28, 1, WF_SHEET_MARK_RIGHT, "Ankle boot\n99.9 %"},
        {grey.pixels, 28, 28, 1, WF_SHEET_MARK_WRONG, "T-shirt/top, a long one\nis Shirt (0.51)"},
        {colour.pixels, 20, 28, 3, WF_SHEET_MARK_NONE, NULL},
        {grey.pixels, 28, 28, 1, WF_SHEET_MARK_RIGHT,
         "Gr\xC3\xB6\xC3\x9F"
         "e 0123456789\nthe quick fox"},
    };
    assert_int_equal(wf_sheet_draw(&heap, cells, 4, 3, &sheet, NULL), WEFT_OK);
    // Three columns of 84 + frame 6 + gap 8, two rows with captions of 20.
    assert_int_equal(sheet.width, 3 * 98 + 8);
    assert_int_equal(sheet.height, 2 * (98 + 20) + 8);
    const uint8_t *frame = sheet.pixels + (8 * (size_t)sheet.width + 8) * 3;
    assert_int_equal(frame[1], 150); // green
    assert_int_equal(frame[98 * 3], 210);
    const uint8_t *first = sheet.pixels + (11 * (size_t)sheet.width + 11) * 3;
    assert_int_equal(first[3 * 3], grey.pixels[1]); // enlarged three times
    assert_int_equal(wf_png_write(&heap, TEMP("sheet.png"), &sheet, NULL), WEFT_OK);
    assert_int_equal(wf_image_read(&heap, TEMP("sheet.png"), 3, &back, NULL), WEFT_OK);
    assert_memory_equal(back.pixels, sheet.pixels, (size_t)sheet.width * (size_t)sheet.height * 3);
    wf_image_deinit(&back);
    assert_fails(wf_sheet_draw(&heap, cells, 4, 0, &back, err), WEFT_ERR_USAGE,
                 "sheet: 4 cells in 0 columns");
    wf_image_deinit(&sheet);
    wf_image_deinit(&grey);
    wf_image_deinit(&colour);
}

#define TEST(f) cmocka_unit_test_setup(f, set_up)
const struct CMUnitTest wf_tests_image[] = {
    TEST(png_round_trip), TEST(png_kinds),        TEST(damaged_png),  TEST(jpeg_colours),
    TEST(jpeg_inks),      TEST(jpeg_orientation), TEST(damaged_jpeg), TEST(exif_is_read_carefully),
    TEST(resizing),       TEST(contact_sheet),    TEST(webp),         TEST(gzipped_picture),
    TEST(fittings),
};
const unsigned long wf_n_tests_image = WF_N_TESTS(wf_tests_image);
