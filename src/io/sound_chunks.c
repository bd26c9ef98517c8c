// The chunks of WAV and AIFF, which libsndfile plays as far as they go: files that end too early are refused, so are
// those that hold anything but PCM and float, by the coding's name. In: a file's bytes. Stage: io.
#include "io/sound_chunks.h"

#include <stdio.h>
#include <string.h>

// ---- codings: what the format's chunk says that samples are
#define CODING_BYTES 32

// Of WAV by number. Microsoft, mmreg.h; the numbers are registered in RFC 2361.
#define WAV_PCM 1
#define WAV_FLOAT 3
#define WAV_EXTENSIBLE 0xFFFE
#define WAV_SUBFORMAT 24 // the GUID of an extensible one, which begins with the number
static const struct {
    size_t number;
    const char *name;
} wav_codings[] = {
    {0x02, "Microsoft ADPCM"}, {0x06, "A-law"}, {0x07, "mu-law"}, {0x11, "IMA ADPCM"},
    {0x31, "GSM 6.10"},        {0x50, "MPEG"},  {0x55, "MP3"},
};

// Of AIFF-C by four letters. Apple, "Audio Interchange File Format AIFF-C", 1991, and what came into use later.
#define AIFC_CODING 18 // bytes into the chunk; AIFF has none
static const char *const aifc_whole[] = {"NONE", "twos", "sowt", "raw ", "in24", "42ni", "42n1",
                                         "in32", "23ni", "fl32", "FL32", "fl64", "FL64"};
static const struct {
    const char *letters, *name;
} aifc_codings[] = {{"alaw", "A-law"},  {"ALAW", "A-law"},     {"ulaw", "mu-law"},
                    {"ULAW", "mu-law"}, {"ima4", "IMA ADPCM"}, {"GSM ", "GSM 6.10"}};

// The name of a coding that is neither PCM nor float, else NULL. A format too short to say is libsndfile's to refuse.
static const char *wav_coding(const uint8_t *p, size_t size, char buf[CODING_BYTES])
{
    if (size < 2)
        return NULL;
    size_t number = (size_t)p[0] | (size_t)p[1] << 8;
    if (number == WAV_EXTENSIBLE && size >= WAV_SUBFORMAT + 2)
        number = (size_t)p[WAV_SUBFORMAT] | (size_t)p[WAV_SUBFORMAT + 1] << 8;
    if (number == WAV_PCM || number == WAV_FLOAT || number == WAV_EXTENSIBLE)
        return NULL;
    for (size_t i = 0; i < WF_COUNT_OF(wav_codings); i++) {
        if (number == wav_codings[i].number)
            return wav_codings[i].name;
    }
    snprintf(buf, CODING_BYTES, "format 0x%04zx", number);
    return buf;
}

static const char *aiff_coding(const uint8_t *p, size_t size, char buf[CODING_BYTES])
{
    if (size < AIFC_CODING + 4)
        return NULL;
    p += AIFC_CODING;
    for (size_t i = 0; i < WF_COUNT_OF(aifc_whole); i++) {
        if (!memcmp(p, aifc_whole[i], 4))
            return NULL;
    }
    for (size_t i = 0; i < WF_COUNT_OF(aifc_codings); i++) {
        if (!memcmp(p, aifc_codings[i].letters, 4))
            return aifc_codings[i].name;
    }
    snprintf(buf, CODING_BYTES, "format 0x%02x%02x%02x%02x", p[0], p[1], p[2], p[3]);
    return buf;
}

// ---- chunks
// RIFF and AIFF are chunks of a name, a length and as many bytes, the one little-endian, the other big.
typedef struct {
    const char *form;   // at byte 0
    const char *kind;   // at byte 8; a dot stands for any letter
    const char *format; // the chunks' names
    const char *data;
    bool is_big;
    const char *(*coding)(const uint8_t *p, size_t size, char buf[CODING_BYTES]);
} chunk_file;

static const chunk_file chunk_files[] = {
    {"RIFF", "WAVE", "fmt ", "data", false, wav_coding},
    {"RF64", "WAVE", "fmt ", "data", false, wav_coding}, // its data's length is 2^32 - 1
    {"FORM", "AIF.", "COMM", "SSND", true, aiff_coding},
};

static const chunk_file *find_chunk_file(const uint8_t *data, size_t size)
{
    for (size_t i = 0; size >= 12 && i < WF_COUNT_OF(chunk_files); i++) {
        if (!memcmp(data, chunk_files[i].form, 4) && !memcmp(data + 8, chunk_files[i].kind, 3))
            return &chunk_files[i];
    }
    return NULL;
}

static size_t read_length(const uint8_t *p, bool is_big)
{
    size_t value = 0;
    for (int i = 0; i < 4; i++)
        value = value << 8 | p[is_big ? i : 3 - i];
    return value;
}

static weft_status check_coding(const chunk_file *f, const char *path, const uint8_t *format,
                                size_t size, weft_error *err)
{
    char buf[CODING_BYTES];
    const char *coding = f->coding(format, size, buf);
    if (coding)
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: coded as %s, expected PCM or float", path, coding);
    return WEFT_OK;
}

// Whether all that is left of a file is chunks.
static bool are_chunks(const chunk_file *f, const uint8_t *data, size_t size, size_t at)
{
    while (size - at >= 8) {
        const size_t length = read_length(data + at + 4, f->is_big), left = size - at - 8;
        for (size_t i = 0; i < 4; i++) {
            if (data[at + i] < ' ' || data[at + i] > '~')
                return false;
        }
        if (length > left)
            return false;
        at += 8 + length + (length & 1 && length < left ? 1 : 0);
    }
    return at == size;
}

static weft_status check_chunks(const chunk_file *f, const char *path, const uint8_t *data,
                                size_t size, size_t *out_open_length, weft_error *err)
{
    bool has_format = false;
    for (size_t at = 12; size - at >= 8;) {
        const size_t length = read_length(data + at + 4, f->is_big), left = size - at - 8;
        const bool is_data = !memcmp(data + at, f->data, 4);
        const bool is_format = !memcmp(data + at, f->format, 4);
        has_format = has_format || is_format;
        if (is_data && !has_format && !f->is_big)
            WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: sound data at byte %zu before its format", path,
                      at);
        if (is_data && length == 0 && !are_chunks(f, data, size, at + 8))
            *out_open_length = at + 4;
        if (is_data && (*out_open_length || (length == UINT32_MAX && left > 0)))
            return WEFT_OK;
        if (length > left)
            WEFT_FAIL(err, WEFT_ERR_FORMAT,
                      "%s: ends at byte %zu, %zu bytes short of the chunk at "
                      "byte %zu",
                      path, size, length - left, at);
        if (is_format)
            WEFT_TRY(check_coding(f, path, data + at + 8, length, err));
        if (is_data)
            return WEFT_OK;
        at += 8 + length + (length & 1 && length < left ? 1 : 0);
    }
    WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: ends at byte %zu without sound data", path, size);
}

weft_status wf_sound_chunks_check(const char *path, const uint8_t *data, size_t size,
                                  size_t *out_open_length, weft_error *err)
{
    *out_open_length = 0;
    const chunk_file *f = find_chunk_file(data, size);
    return f ? check_chunks(f, path, data, size, out_open_length, err) : WEFT_OK;
}
