// Reads sound files with libsndfile. Files that end too early, which it plays as far as they go, are told
// of: WAV and AIFF by their own chunks, others by the number of samples that their header promises.
#include <string.h>

#include "base/file.h"
#include "io/sound.h"
#include "weft_config.h"

#if WEFT_HAVE_SNDFILE
#include <sndfile.h>

// Frames read at once.
#define CHUNK_FRAMES 4096
// More channels than any recording has.
#define CHANNELS_MAX 64
#define RATE_MAX 1000000

// RIFF and AIFF are chunks of a name, a length and as many bytes, the one little-endian, the other big.
typedef struct {
    const char *form;   // at byte 0
    const char *kind;   // at byte 8; a dot stands for any letter
    const char *format; // the chunks' names
    const char *data;
    bool is_big;
} chunk_file;

static const chunk_file chunk_files[] = {
    {"RIFF", "WAVE", "fmt ", "data", false},
    {"FORM", "AIF.", "COMM", "SSND", true},
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

// A length of 0 or 2^32 - 1 of the data is what a program writes that streams: it goes to the end of the
// file then.
static weft_status check_chunks(const chunk_file *f, const char *path, const uint8_t *data,
                                size_t size, weft_error *err)
{
    bool has_format = false;
    for (size_t at = 12; size - at >= 8;) {
        const size_t length = read_length(data + at + 4, f->is_big), left = size - at - 8;
        const bool is_data = !memcmp(data + at, f->data, 4);
        has_format = has_format || !memcmp(data + at, f->format, 4);
        if (is_data && !has_format && !f->is_big)
            WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: sound data at byte %zu before its format", path,
                      at);
        if (is_data && (length == 0 || length == UINT32_MAX) && left > 0)
            return WEFT_OK;
        if (length > left)
            WEFT_FAIL(err, WEFT_ERR_FORMAT,
                      "%s: ends at byte %zu, %zu bytes short of the chunk at "
                      "byte %zu",
                      path, size, length - left, at);
        if (is_data)
            return WEFT_OK;
        at += 8 + length + (length & 1 && length < left ? 1 : 0);
    }
    WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: ends at byte %zu without sound data", path, size);
}

static weft_status check_file(const char *path, weft_error *err)
{
    wf_file_map map;
    WEFT_TRY(wf_file_map_open(path, &map, err));
    weft_status status = WEFT_OK;
    if (map.size_bytes == 0)
        status =
            wf_error_set(err, WEFT_ERR_FORMAT, "%s: the file is empty, expected a sound", path);
    const chunk_file *chunks = find_chunk_file(map.data, map.size_bytes);
    if (chunks)
        status = check_chunks(chunks, path, map.data, map.size_bytes, err);
    wf_file_map_close(&map);
    return status;
}

// One chunk of frames to mono: channels added in order, then divided.
static weft_status add_frames(wf_sound *sound, const char *path, const float *frames, int64_t n,
                              int n_channels, weft_error *err)
{
    for (int64_t i = 0; i < n; i++) {
        float sum = frames[i * n_channels];
        for (int c = 1; c < n_channels; c++)
            sum += frames[i * n_channels + c];
        const float mean = sum / (float)n_channels;
        if (!(mean - mean == 0.0f))
            WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: sample %lld is no number", path,
                      (long long)(sound->n + i));
        sound->sample[sound->n + i] = mean;
    }
    sound->n += n;
    return WEFT_OK;
}

static weft_status read_frames(SNDFILE *file, const SF_INFO *info, const char *path, int64_t most,
                               wf_sound *sound, weft_error *err)
{
    const wf_allocator *a = &sound->allocator;
    size_t capacity = 0;
    float *chunk;
    weft_status status = WEFT_OK;
    WEFT_TRY(wf_alloc(a, CHUNK_FRAMES * (size_t)info->channels, sizeof *chunk, &chunk, err));
    while (sound->n < most && status == WEFT_OK) {
        const int64_t left = most - sound->n;
        const sf_count_t n = sf_readf_float(file, chunk, left < CHUNK_FRAMES ? left : CHUNK_FRAMES);
        if (n <= 0)
            break;
        status = wf_array_reserve(a, &sound->sample, &capacity, (size_t)(sound->n + n),
                                  sizeof *sound->sample, err);
        if (status == WEFT_OK)
            status = add_frames(sound, path, chunk, n, info->channels, err);
    }
    wf_free(a, chunk);
    WEFT_TRY(status);
    if (sound->n < most && sound->n < info->frames && info->frames != SF_COUNT_MAX)
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: damaged or cut short behind sample %lld of %lld (%s)",
                  path, (long long)sound->n, (long long)info->frames, sf_strerror(file));
    if (sound->n == 0)
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: holds no samples", path);
    return WEFT_OK;
}

static weft_status read_sound(const char *path, double most_seconds, wf_sound *sound,
                              weft_error *err)
{
    SF_INFO info = {0};
    WEFT_TRY(check_file(path, err));
    SNDFILE *file = sf_open(path, SFM_READ, &info);
    if (!file)
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: no sound file that libsndfile reads (%s)", path,
                  sf_strerror(NULL));
    weft_status status = WEFT_OK;
    if (info.channels < 1 || info.channels > CHANNELS_MAX || info.samplerate < 1 ||
        info.samplerate > RATE_MAX)
        status =
            wf_error_set(err, WEFT_ERR_FORMAT,
                         "%s: %d channels at %d samples a second, expected 1 to %d and 1 to %d",
                         path, info.channels, info.samplerate, CHANNELS_MAX, RATE_MAX);
    if (status == WEFT_OK) {
        const double most = most_seconds * (double)info.samplerate;
        sound->rate = info.samplerate;
        status = read_frames(file, &info, path, most < 1e12 ? (int64_t)most + 1 : (int64_t)1e12,
                             sound, err);
    }
    sf_close(file);
    return status;
}

weft_status wf_sound_read(const wf_allocator *a, const char *path, double most_seconds,
                          wf_sound *out, weft_error *err)
{
    memset(out, 0, sizeof *out);
    out->allocator = *a;
    const weft_status status = read_sound(path, most_seconds, out, err);
    if (status != WEFT_OK)
        wf_sound_deinit(out);
    return status;
}

#else

weft_status wf_sound_read(const wf_allocator *a, const char *path, double most_seconds,
                          wf_sound *out, weft_error *err)
{
    (void)a;
    (void)most_seconds;
    memset(out, 0, sizeof *out);
    WEFT_FAIL(err, WEFT_ERR_UNSUPPORTED, "%s: this build has no libsndfile to read sound with",
              path);
}

#endif
