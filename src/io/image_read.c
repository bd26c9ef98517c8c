// Reads an image file: which decoder, by content and not by name; then the channels that are wanted.
#include <string.h>

#include "io/byte_source.h"
#include "io/image.h"
#include "io/image_codec.h"

// A gzipped picture that is larger than this is none.
#define UNPACKED_MAX_BYTES ((size_t)1 << 26)

typedef struct {
    const char *magic; // "RIFF....WEBP": dots stand for any byte
    size_t magic_bytes;
    weft_status (*decode)(const wf_allocator *a, const char *path, const uint8_t *data,
                          size_t size_bytes, wf_image *out_image, weft_error *err);
} image_codec;

static const image_codec codecs[] = {
    {"\x89PNG\r\n\x1a\n", 8, wf_png_decode},
    {"\xff\xd8\xff", 3, wf_jpeg_decode},
    {"RIFF....WEBP", 12, wf_webp_decode},
};

// The same picture with n_channels: grey by integer weights of ITU-R 601 in 16 bits.
static weft_status convert_channels(wf_image *image, int32_t n_channels, weft_error *err)
{
    wf_image out;
    if (image->n_channels == n_channels)
        return WEFT_OK;
    WEFT_TRY(wf_image_init(&out, &image->allocator, image->height, image->width, n_channels, err));
    size_t n = (size_t)image->height * (size_t)image->width;
    const uint8_t *src = image->pixels;
    for (size_t i = 0; i < n; i++) {
        if (n_channels == 3) {
            memset(out.pixels + 3 * i, src[i], 3);
        } else {
            const uint8_t *p = src + 3 * i;
            out.pixels[i] =
                (uint8_t)((19595u * p[0] + 38470u * p[1] + 7471u * p[2] + 32768u) >> 16);
        }
    }
    wf_image_deinit(image);
    *image = out;
    return WEFT_OK;
}

static bool has_magic(const image_codec *codec, const uint8_t *data, size_t size)
{
    bool is_equal = size >= codec->magic_bytes;
    for (size_t i = 0; i < codec->magic_bytes && is_equal; i++)
        is_equal = codec->magic[i] == '.' || (uint8_t)codec->magic[i] == data[i];
    return is_equal;
}

static weft_status decode_bytes(const wf_allocator *a, const char *path, const uint8_t *data,
                                size_t size, wf_image *out_image, weft_error *err)
{
    for (size_t i = 0; i < WF_COUNT_OF(codecs); i++) {
        if (has_magic(&codecs[i], data, size))
            return codecs[i].decode(a, path, data, size, out_image, err);
    }
    WEFT_FAIL(err, WEFT_ERR_FORMAT,
              size ? "%s: neither a PNG nor a JPEG nor a WebP file"
                   : "%s: the file is empty, expected an image",
              path);
}

static weft_status decode_packed(const wf_allocator *a, const char *path, wf_image *out_image,
                                 weft_error *err)
{
    uint8_t *data;
    size_t size;
    WEFT_TRY(wf_byte_source_read_all(a, path, UNPACKED_MAX_BYTES, &data, &size, err));
    const weft_status status = decode_bytes(a, path, data, size, out_image, err);
    wf_free(a, data);
    return status;
}

weft_status wf_image_read(const wf_allocator *a, const char *path, int32_t n_channels,
                          wf_image *out_image, weft_error *err)
{
    wf_file_map map;
    memset(out_image, 0, sizeof *out_image);
    WEFT_REQUIRE(err, n_channels == 0 || n_channels == 1 || n_channels == 3,
                 "image: %d channels, expected 0, 1 or 3", (int)n_channels);
    WEFT_TRY(wf_file_map_open(path, &map, err));
    const bool is_packed = map.size_bytes >= 2 && map.data[0] == 0x1F && map.data[1] == 0x8B;
    weft_status status = is_packed
                             ? decode_packed(a, path, out_image, err)
                             : decode_bytes(a, path, map.data, map.size_bytes, out_image, err);
    wf_file_map_close(&map);
    if (status == WEFT_OK && n_channels)
        status = convert_channels(out_image, n_channels, err);
    if (status != WEFT_OK)
        wf_image_deinit(out_image);
    return status;
}
