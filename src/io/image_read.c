// Reads an image file: which decoder, by content and not by name; then the channels that are wanted.
#include <string.h>

#include "base/file.h"
#include "io/image.h"
#include "io/image_codec.h"

typedef struct {
    const char *magic;
    size_t magic_bytes;
    weft_status (*decode)(const wf_allocator *a, const char *path, const uint8_t *data,
                          size_t size_bytes, wf_image *out_image, weft_error *err);
} image_codec;

static const image_codec codecs[] = {
    {"\x89PNG\r\n\x1a\n", 8, wf_png_decode},
    {"\xff\xd8\xff", 3, wf_jpeg_decode},
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

weft_status wf_image_read(const wf_allocator *a, const char *path, int32_t n_channels,
                          wf_image *out_image, weft_error *err)
{
    wf_file_map map;
    const image_codec *codec = NULL;
    memset(out_image, 0, sizeof *out_image);
    WEFT_REQUIRE(err, n_channels == 1 || n_channels == 3, "image: %d channels, expected 1 or 3",
                 (int)n_channels);
    WEFT_TRY(wf_file_map_open(path, &map, err));
    for (size_t i = 0; i < WF_COUNT_OF(codecs) && !codec; i++) {
        if (map.size_bytes >= codecs[i].magic_bytes &&
            !memcmp(map.data, codecs[i].magic, codecs[i].magic_bytes))
            codec = &codecs[i];
    }
    weft_status status;
    if (codec)
        status = codec->decode(a, path, map.data, map.size_bytes, out_image, err);
    else if (map.size_bytes == 0)
        status =
            wf_error_set(err, WEFT_ERR_FORMAT, "%s: the file is empty, expected an image", path);
    else
        status = wf_error_set(err, WEFT_ERR_FORMAT, "%s: neither a PNG nor a JPEG file", path);
    wf_file_map_close(&map);
    if (status == WEFT_OK)
        status = convert_channels(out_image, n_channels, err);
    if (status != WEFT_OK)
        wf_image_deinit(out_image);
    return status;
}
