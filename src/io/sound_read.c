// Reads sound files with libsndfile. Files that end too early, which it plays as far as they go, are told
// of: WAV and AIFF by their own chunks (sound_chunks.c), others by the number of samples that their header promises.
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "io/sound.h"
#include "io/sound_chunks.h"
#include "weft_config.h"

#if WEFT_HAVE_SNDFILE
#include <sndfile.h>

// Frames read at once.
#define CHUNK_FRAMES 4096
// More channels than any recording has.
#define CHANNELS_MAX 64
#define RATE_MAX 1000000

// ---- the file in memory, as libsndfile reads it
typedef struct {
    wf_file_map map;
    size_t at;
    size_t patch_at; // of four bytes that are read as `patch`, or 0
    uint8_t patch[4];
} sound_file;

static sf_count_t file_length(void *user)
{
    return (sf_count_t)((const sound_file *)user)->map.size_bytes;
}

static sf_count_t file_tell(void *user)
{
    return (sf_count_t)((const sound_file *)user)->at;
}

static sf_count_t file_seek(sf_count_t offset, int whence, void *user)
{
    sound_file *f = user;
    const sf_count_t size = file_length(user);
    const sf_count_t from = whence == SEEK_CUR ? (sf_count_t)f->at : whence == SEEK_END ? size : 0;
    if (offset < -from || offset > SF_COUNT_MAX - from)
        return -1; // behind the end is fine, as in any file
    f->at = (size_t)(from + offset);
    return from + offset;
}

static sf_count_t file_read(void *dst, sf_count_t count, void *user)
{
    sound_file *f = user;
    const size_t left = f->at < f->map.size_bytes ? f->map.size_bytes - f->at : 0;
    const size_t n = count < 0 ? 0 : (size_t)count < left ? (size_t)count : left;
    if (n)
        memcpy(dst, f->map.data + f->at, n);
    for (size_t i = 0; i < sizeof f->patch && f->patch_at; i++) {
        const size_t place = f->patch_at + i;
        if (place >= f->at && place - f->at < n)
            ((uint8_t *)dst)[place - f->at] = f->patch[i];
    }
    f->at += n;
    return (sf_count_t)n;
}

static SF_VIRTUAL_IO file_functions = {
    .get_filelen = file_length, .seek = file_seek, .read = file_read, .tell = file_tell};

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

static weft_status read_file(sound_file *f, const char *path, double most_seconds, wf_sound *sound,
                             weft_error *err)
{
    SF_INFO info = {0};
    SNDFILE *file = sf_open_virtual(&file_functions, SFM_READ, &info, f);
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

// libsndfile takes an open length of 2^32 - 1 for what it is, one of 0 for no samples: that is patched.
static weft_status check_file(sound_file *f, const char *path, weft_error *err)
{
    const size_t size = f->map.size_bytes;
    if (size == 0)
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: the file is empty, expected a sound", path);
    WEFT_TRY(wf_sound_chunks_check(path, f->map.data, size, &f->patch_at, err));
    memset(f->patch, 0xFF, sizeof f->patch);
    return WEFT_OK;
}

static weft_status read_sound(const char *path, double most_seconds, wf_sound *sound,
                              weft_error *err)
{
    sound_file f = {0};
    WEFT_TRY(wf_file_map_open(path, &f.map, err));
    weft_status status = check_file(&f, path, err);
    if (status == WEFT_OK)
        status = read_file(&f, path, most_seconds, sound, err);
    wf_file_map_close(&f.map);
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
