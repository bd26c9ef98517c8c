// Sounds: WAV files made byte by byte in every kind that programs write, FLAC and Ogg, files that end too
// early; the resampler against the sine it was given.
#include "io/temp_file.h"

#include <math.h>

#include "io/resample.h"
#include "io/sound.h"
#include "weft_config.h"

#if WEFT_HAVE_SNDFILE
#include <sndfile.h>
#endif

static wf_allocator heap;

static int set_up(void **state)
{
    (void)state;
    heap = wf_allocator_default();
    return 0;
}

static void need_sndfile(void)
{
    if (!WEFT_HAVE_SNDFILE)
        WF_SKIP("built without libsndfile");
}

#define PATH TEMP("a.wav")

static uint8_t *put(uint8_t *p, uint64_t value, int n_bytes)
{
    for (int i = 0; i < n_bytes; i++)
        *p++ = (uint8_t)(value >> 8 * i);
    return p;
}

typedef struct {
    int format; // 1 PCM, 3 float, 0xFFFE extensible
    int bits, valid_bits, n_channels;
    int extension;      // bytes behind the format's sixteen, 0: none
    uint32_t data_size; // written instead of the true one, 1: the true one
    int subformat;      // of an extension, 0: PCM
} wav_kind;

// Returns the file's length.
static size_t make_wav(uint8_t *out, wav_kind k, const void *data, size_t size)
{
    uint8_t *p = out;
    const uint32_t n_format = 16 + (k.extension ? 2 + (uint32_t)k.extension : 0);
    memcpy(p, "RIFF", 4);
    p = put(p + 4, 4 + 8 + n_format + 8 + size, 4);
    memcpy(p, "WAVEfmt ", 8);
    p = put(p + 8, n_format, 4);
    p = put(p, (uint64_t)k.format, 2);
    p = put(p, (uint64_t)k.n_channels, 2);
    p = put(p, 8000, 4);
    p = put(p, (uint64_t)(8000 * k.n_channels * k.bits / 8), 4);
    p = put(p, (uint64_t)(k.n_channels * k.bits / 8), 2);
    p = put(p, (uint64_t)k.bits, 2);
    if (k.extension) {
        static const uint8_t guid[16] = {1,    0, 0, 0,    0, 0,    0x10, 0,
                                         0x80, 0, 0, 0xAA, 0, 0x38, 0x9B, 0x71};
        uint8_t *first = put(p, (uint64_t)k.extension, 2);
        memset(first, 0, (size_t)k.extension);
        p = put(first, (uint64_t)k.valid_bits, 2);
        p = put(p, 0, 4);
        memcpy(p, guid, 16);
        if (k.subformat)
            put(p, (uint64_t)k.subformat, 2);
        p = first + k.extension;
    }
    memcpy(p, "data", 4);
    p = put(p + 4, k.data_size == 1 ? size : k.data_size, 4);
    if (size)
        memcpy(p, data, size);
    return (size_t)(p - out) + size;
}

static weft_status read_kind(wav_kind k, const void *data, size_t size, wf_sound *sound,
                             weft_error *err)
{
    uint8_t bytes[512];
    const size_t n = make_wav(bytes, k, data, size);
    temp_write(PATH, bytes, n);
    return wf_sound_read(&heap, PATH, 10.0, sound, err);
}

// jstrait/wavefile#37, bwavfile PR#22.
static void wav_kinds(void **state)
{
    (void)state;
    need_sndfile();
    static const float floats[3] = {0.25f, -1.0f, 1.5f};
    static const struct {
        wav_kind kind;
        uint8_t data[16];
        size_t size;
        float values[3];
    } rows[] = {
        {{1, 8, 8, 1, 0, 1, 0}, {0, 128, 192}, 3, {-1.0f, 0.0f, 0.5f}},
        {{1, 16, 16, 1, 0, 1, 0},
         {0, 0x80, 0xFF, 0x7F, 0, 0x40},
         6,
         {-1.0f, 32767.0f / 32768.0f, 0.5f}},
        {{1, 24, 24, 1, 0, 1, 0},
         {0, 0, 0x80, 0xFF, 0xFF, 0x7F, 0xFF, 0xFF, 0xFF},
         9,
         {-1.0f, 0.99999988f, -0x1p-23f}},
        {{0xFFFE, 24, 24, 1, 22, 1, 0},
         {0, 0, 0x80, 0xFF, 0xFF, 0x7F, 0xFF, 0xFF, 0xFF},
         9,
         {-1.0f, 0.99999988f, -0x1p-23f}},
        {{0xFFFE, 16, 12, 1, 22, 1, 0},
         {0, 0x80, 0xF0, 0x7F, 0, 0x40},
         6,
         {-1.0f, 32752.0f / 32768.0f, 0.5f}},
        {{0xFFFE, 16, 16, 1, 40, 1, 0},
         {0, 0x80, 0xFF, 0x7F, 0, 0x40},
         6,
         {-1.0f, 32767.0f / 32768.0f, 0.5f}},
        {{1, 16, 16, 2, 0, 1, 0},
         {0, 0x40, 0, 0x20, 0, 0, 0, 0x80, 0, 0x40, 0, 0xC0},
         12,
         {0.375f, -0.5f, 0.0f}},
        {{1, 16, 16, 1, 0, UINT32_MAX, 0},
         {0, 0x80, 0xFF, 0x7F, 0, 0x40},
         6,
         {-1.0f, 32767.0f / 32768.0f, 0.5f}},
        {{1, 16, 16, 1, 0, 0, 0},
         {0, 0x80, 0xFF, 0x7F, 0, 0x40},
         6,
         {-1.0f, 32767.0f / 32768.0f, 0.5f}},
        {{1, 24, 24, 1, 0, 0, 0},
         {0, 0, 0x80, 0xFF, 0xFF, 0x7F, 0xFF, 0xFF, 0xFF},
         9,
         {-1.0f, 0.99999988f, -0x1p-23f}},
        {{0xFFFE, 24, 24, 1, 40, UINT32_MAX, 0},
         {0, 0, 0x80, 0xFF, 0xFF, 0x7F, 0xFF, 0xFF, 0xFF},
         9,
         {-1.0f, 0.99999988f, -0x1p-23f}},
        {{0xFFFE, 24, 20, 1, 22, 1, 0},
         {0, 0, 0x80, 0xF0, 0xFF, 0x7F, 0xF0, 0xFF, 0xFF},
         9,
         {-1.0f, 8388592.0f / 8388608.0f, -0x1p-19f}},
        {{0xFFFE, 32, 24, 1, 22, 1, 0},
         {0, 0, 0, 0x80, 0, 0xFF, 0xFF, 0x7F, 0, 0xFF, 0xFF, 0xFF},
         12,
         {-1.0f, 0.99999988f, -0x1p-23f}},
        {{0xFFFE, 8, 8, 1, 22, 1, 0}, {0, 128, 192}, 3, {-1.0f, 0.0f, 0.5f}},
        {{0xFFFE, 32, 32, 1, 22, 1, 3},
         {0, 0, 0x80, 0x3E, 0, 0, 0x80, 0xBF, 0, 0, 0xC0, 0x3F},
         12,
         {0.25f, -1.0f, 1.5f}},
    };
    for (size_t i = 0; i < WF_N_TESTS(rows); i++) {
        wf_sound sound;
        weft_error err = {0};
        const weft_status status =
            read_kind(rows[i].kind, rows[i].data, rows[i].size, &sound, &err);
        if (status != WEFT_OK)
            print_message("row %zu: %s\n", i, err.message);
        assert_int_equal(status, WEFT_OK);
        assert_int_equal(sound.n, 3);
        assert_int_equal(sound.rate, 8000);
        for (int k = 0; k < 3; k++)
            assert_true(sound.sample[k] == rows[i].values[k]);
        wf_sound_deinit(&sound);
    }
    wf_sound sound;
    assert_int_equal(read_kind((wav_kind){3, 32, 32, 1, 0, 1, 0}, floats, 12, &sound, NULL),
                     WEFT_OK);
    assert_memory_equal(sound.sample, floats, 12);
    wf_sound_deinit(&sound);
    static const uint8_t nan[8] = {0, 0, 0, 0, 0, 0, 0xC0, 0x7F};
    assert_fails(read_kind((wav_kind){3, 32, 32, 1, 0, 1, 0}, nan, 8, &sound, err), WEFT_ERR_FORMAT,
                 PATH ": sample 1 is no number");
}

// A length of 0 means that the samples go to the end of the file, unless what follows are chunks: then there are
// no samples. Programs that stream may leave the length of the whole open, too.
static void lengths_that_are_open(void **state)
{
    (void)state;
    need_sndfile();
    static const uint8_t samples[] = {0, 0x80, 0xFF, 0x7F, 0, 0x40};
    static const uint8_t chunks[] = {'L', 'I', 'S', 'T', 3,   0,   0, 0, 'a', 'b',
                                     'c', 0,   'i', 'd', '3', ' ', 0, 0, 0,   0};
    static const uint32_t open[] = {0, UINT32_MAX};
    wav_kind kind = {1, 16, 16, 1, 0, 0, 0};
    wf_sound sound;
    for (size_t i = 0; i < 4; i++) {
        uint8_t bytes[512];
        kind.data_size = open[i / 2];
        const size_t n = make_wav(bytes, kind, samples, sizeof samples);
        put(bytes + 4, open[i % 2], 4);
        temp_write(PATH, bytes, n);
        assert_int_equal(wf_sound_read(&heap, PATH, 10.0, &sound, NULL), WEFT_OK);
        assert_int_equal(sound.n, 3);
        assert_true(sound.sample[0] == -1.0f && sound.sample[2] == 0.5f);
        wf_sound_deinit(&sound);
    }
    kind.data_size = 0;
    assert_fails(read_kind(kind, chunks, sizeof chunks, &sound, err), WEFT_ERR_FORMAT,
                 PATH ": holds no samples");
}

// What is no plain number is refused by name, wherever the file says it.
static void other_codings_are_named(void **state)
{
    (void)state;
    need_sndfile();
    static const struct {
        wav_kind kind;
        const char *name;
    } rows[] = {
        {{0x06, 8, 8, 1, 0, 1, 0}, "A-law"},
        {{0x07, 8, 8, 1, 0, 1, 0}, "mu-law"},
        {{0xFFFE, 8, 8, 1, 22, 1, 0x06}, "A-law"},
        {{0xFFFE, 8, 8, 1, 40, 0, 0x07}, "mu-law"},
        {{0x02, 4, 4, 1, 0, 1, 0}, "Microsoft ADPCM"},
        {{0x11, 4, 4, 1, 0, 1, 0}, "IMA ADPCM"},
        {{0x31, 0, 0, 1, 0, 1, 0}, "GSM 6.10"},
        {{0x50, 0, 0, 1, 0, 1, 0}, "MPEG"},
        {{0x55, 0, 0, 1, 0, 1, 0}, "MP3"},
        {{0xF1AC, 16, 16, 1, 0, 1, 0}, "format 0xf1ac"},
    };
    for (size_t i = 0; i < WF_N_TESTS(rows); i++) {
        wf_sound sound;
        weft_error err = {0};
        char expected[256];
        snprintf(expected, sizeof expected, PATH ": coded as %s, expected PCM or float",
                 rows[i].name);
        assert_int_equal(read_kind(rows[i].kind, "\x55\xD5\x2A", 3, &sound, &err), WEFT_ERR_FORMAT);
        assert_string_equal(err.message, expected);
        assert_null(sound.sample);
    }
}

#if WEFT_HAVE_SNDFILE
static weft_status read_back(int format, wf_sound *sound, weft_error *err)
{
    static const float wave[3] = {0.5f, -0.25f, 0.0f};
    SF_INFO info = {.samplerate = 8000, .channels = 1, .format = format};
    SNDFILE *f = sf_open(TEMP("coding.x"), SFM_WRITE, &info);
    assert_non_null(f);
    assert_int_equal(sf_writef_float(f, wave, 3), 3);
    sf_close(f);
    return wf_sound_read(&heap, TEMP("coding.x"), 1.0, sound, err);
}

// AIFF-C says it in four letters, RF64 as WAV does.
static void codings_of_other_containers(void **state)
{
    (void)state;
    static const int good[] = {
        SF_FORMAT_AIFF | SF_FORMAT_PCM_16, SF_FORMAT_AIFF | SF_FORMAT_FLOAT,
        SF_FORMAT_AIFF | SF_FORMAT_DOUBLE, SF_FORMAT_AIFF | SF_FORMAT_PCM_24 | SF_ENDIAN_LITTLE,
        SF_FORMAT_RF64 | SF_FORMAT_PCM_16, SF_FORMAT_RF64 | SF_FORMAT_FLOAT,
        SF_FORMAT_WAV | SF_FORMAT_DOUBLE};
    static const struct {
        int format;
        const char *name;
    } bad[] = {
        {SF_FORMAT_AIFF | SF_FORMAT_ALAW, "A-law"},
        {SF_FORMAT_AIFF | SF_FORMAT_ULAW, "mu-law"},
        {SF_FORMAT_AIFF | SF_FORMAT_IMA_ADPCM, "IMA ADPCM"},
        {SF_FORMAT_RF64 | SF_FORMAT_ALAW, "A-law"},
    };
    wf_sound sound;
    for (size_t i = 0; i < WF_N_TESTS(good); i++) {
        weft_error err = {0};
        if (read_back(good[i], &sound, &err) != WEFT_OK)
            fail_msg("row %zu: %s", i, err.message);
        assert_int_equal(sound.n, 3);
        assert_true(sound.sample[0] == 0.5f && sound.sample[1] == -0.25f);
        wf_sound_deinit(&sound);
    }
    for (size_t i = 0; i < WF_N_TESTS(bad); i++) {
        weft_error err = {0};
        char expected[256];
        snprintf(expected, sizeof expected, TEMP("coding.x") ": coded as %s, expected PCM or float",
                 bad[i].name);
        assert_int_equal(read_back(bad[i].format, &sound, &err), WEFT_ERR_FORMAT);
        assert_string_equal(err.message, expected);
    }
    // Letters that nobody here knows.
    uint8_t *bytes;
    size_t size, at = 0;
    read_back(SF_FORMAT_AIFF | SF_FORMAT_ULAW, &sound, NULL);
    assert_int_equal(wf_file_read(&heap, TEMP("coding.x"), &bytes, &size, NULL), WEFT_OK);
    while (at + 4 < size && memcmp(bytes + at, "ulaw", 4) != 0)
        at++;
    memcpy(bytes + at, "QDMC", 4);
    temp_write(TEMP("coding.x"), bytes, size);
    wf_free(&heap, bytes);
    assert_fails(wf_sound_read(&heap, TEMP("coding.x"), 1.0, &sound, err), WEFT_ERR_FORMAT,
                 TEMP("coding.x") ": coded as format 0x51444d43, expected PCM or float");
}
#else
static void codings_of_other_containers(void **state)
{
    (void)state;
    need_sndfile();
}
#endif

static void wrong_files(void **state)
{
    (void)state;
    need_sndfile();
    wf_sound sound;
    const wav_kind plain = {1, 16, 16, 1, 0, 1, 0};
    uint8_t bytes[512];
    assert_fails(read_kind(plain, "", 0, &sound, err), WEFT_ERR_FORMAT, PATH ": holds no samples");
    temp_write(PATH, "", 0);
    assert_fails(wf_sound_read(&heap, PATH, 1.0, &sound, err), WEFT_ERR_FORMAT,
                 PATH ": the file is empty, expected a sound");
    assert_fails(wf_sound_read(&heap, TEMP("none.wav"), 1.0, &sound, err), WEFT_ERR_FILE,
                 "cannot open " TEMP("none.wav") ": No such file or directory");
    const size_t size = make_wav(bytes, plain, "\1\2\3\4\5\6", 6);
    temp_write(PATH, bytes, size - 2);
    assert_fails(wf_sound_read(&heap, PATH, 1.0, &sound, err), WEFT_ERR_FORMAT,
                 PATH ": ends at byte 48, 2 bytes short of the chunk at byte 36");
    for (size_t n = 0; n < size; n++) {
        weft_error err = {0};
        temp_write(PATH, bytes, n);
        const weft_status status = wf_sound_read(&heap, PATH, 1.0, &sound, &err);
        assert_int_equal(status, WEFT_ERR_FORMAT);
        assert_non_null(strstr(err.message, PATH ": "));
    }
    for (size_t at = 0; at < size; at++) {
        for (int bit = 0; bit < 8; bit += 3) {
            weft_error err = {0};
            bytes[at] ^= (uint8_t)(1 << bit);
            temp_write(PATH, bytes, size);
            const weft_status status = wf_sound_read(&heap, PATH, 1.0, &sound, &err);
            assert_int_equal(status == WEFT_OK, err.message[0] == 0);
            wf_sound_deinit(&sound);
            bytes[at] ^= (uint8_t)(1 << bit);
        }
    }
}

#if WEFT_HAVE_SNDFILE
static void other_formats(void **state)
{
    (void)state;
    static const int formats[] = {SF_FORMAT_FLAC | SF_FORMAT_PCM_16,
                                  SF_FORMAT_OGG | SF_FORMAT_VORBIS,
                                  SF_FORMAT_AIFF | SF_FORMAT_PCM_24};
    enum { N = 4000 };
    float wave[N];
    for (int i = 0; i < N; i++)
        wave[i] = 0.5f * (float)sin(i * 0.05);
    for (size_t k = 0; k < WF_N_TESTS(formats); k++) {
        SF_INFO info = {.samplerate = 8000, .channels = 1, .format = formats[k]};
        SNDFILE *f = sf_open(TEMP("звук.x"), SFM_WRITE, &info);
        assert_non_null(f);
        assert_int_equal(sf_writef_float(f, wave, N), N);
        sf_close(f);
        wf_sound sound;
        assert_int_equal(wf_sound_read(&heap, TEMP("звук.x"), 10.0, &sound, NULL), WEFT_OK);
        assert_int_equal(sound.n, N);
        double worst = 0.0;
        for (int i = 0; i < N; i++)
            worst = fmax(worst, fabs((double)(sound.sample[i] - wave[i])));
        assert_true(worst < (k == 1 ? 0.05 : 1e-4)); // Vorbis is lossy
        wf_sound_deinit(&sound);
        // Only the beginning is asked for.
        assert_int_equal(wf_sound_read(&heap, TEMP("звук.x"), 0.1, &sound, NULL), WEFT_OK);
        assert_int_equal(sound.n, 801);
        wf_sound_deinit(&sound);
        uint8_t *bytes;
        size_t size;
        assert_int_equal(wf_file_read(&heap, TEMP("звук.x"), &bytes, &size, NULL), WEFT_OK);
        for (size_t n = 0; n < size; n += 1 + size / 60) {
            weft_error err = {0};
            temp_write(TEMP("cut.x"), bytes, n);
            const weft_status status = wf_sound_read(&heap, TEMP("cut.x"), 10.0, &sound, &err);
            // A stream of Ogg pages may end behind any page: nothing promises more.
            assert_true(status == WEFT_ERR_FORMAT || (k == 1 && status == WEFT_OK));
            wf_sound_deinit(&sound);
        }
        wf_free(&heap, bytes);
    }
}
#else
static void other_formats(void **state)
{
    (void)state;
    need_sndfile();
}
#endif

// A sine comes out as the sine of the other rate, away from the ends; what the new rate cannot hold is gone.
static void resampling(void **state)
{
    (void)state;
    static const struct {
        int32_t from, to;
        double hertz, gain;
    } rows[] = {
        {8000, 16000, 440.0, 1.0},   {44100, 16000, 440.0, 1.0}, {16000, 44100, 3000.0, 1.0},
        {22050, 16000, 5000.0, 1.0}, {48000, 8000, 1000.0, 1.0}, {48000, 8000, 9000.0, 0.0},
    };
    enum { N = 6000 };
    static float src[N], dst[N * 4];
    for (size_t k = 0; k < WF_N_TESTS(rows); k++) {
        wf_resampler r;
        assert_int_equal(wf_resampler_init(&r, &heap, rows[k].from, rows[k].to, NULL), WEFT_OK);
        const double step = 2.0 * 3.14159265358979 * rows[k].hertz;
        for (int i = 0; i < N; i++)
            src[i] = (float)sin(step * i / rows[k].from);
        const int64_t n = wf_resampler_length(&r, N);
        assert_int_equal(n, ((int64_t)N * rows[k].to + rows[k].from - 1) / rows[k].from);
        wf_resample(&r, src, N, dst, n);
        double worst = 0.0;
        for (int64_t i = n / 4; i < n * 3 / 4; i++)
            worst = fmax(worst,
                         fabs((double)dst[i] - rows[k].gain * sin(step * (double)i / rows[k].to)));
        assert_true(worst < 2e-3);
        // Silence before and behind: a constant keeps its value inside.
        for (int i = 0; i < N; i++)
            src[i] = 0.5f;
        wf_resample(&r, src, N, dst, n);
        assert_true(fabs((double)dst[n / 2] - 0.5) < 1e-6);
        wf_resampler_deinit(&r);
    }
    wf_resampler r;
    assert_fails(wf_resampler_init(&r, &heap, 999983, 999979, err), WEFT_ERR_UNSUPPORTED,
                 "resample: from 999983 to 999979 samples a second is 999979 / 999983, expected a "
                 "simpler fraction");
}

// The bits are fixed: two weights, and a sum of them.
static void resampled_bits(void **state)
{
    (void)state;
    wf_resampler r;
    static const float one[1] = {1.0f};
    float out[6];
    assert_int_equal(wf_resampler_init(&r, &heap, 2, 3, NULL), WEFT_OK);
    assert_int_equal(r.half, 16);
    wf_resample(&r, one, 1, out, 6);
    uint32_t bits[6];
    memcpy(bits, out, sizeof bits);
    assert_int_equal(bits[0], 0x3F800000u); // at the sample itself every other weight is 0
    assert_int_equal(bits[1], 0x3ED2CC03u);
    assert_int_equal(bits[2], 0xBE50187Fu);
    assert_int_equal(bits[3], 0x00000000u);
    wf_resampler_deinit(&r);
}

static void fitting(void **state)
{
    (void)state;
    float sample[4] = {1, 2, 3, 4}, out[6];
    const wf_sound sound = {.allocator = heap, .sample = sample, .n = 4, .rate = 100};
    assert_int_equal(wf_sound_fit(&sound, 100, 6, out, NULL), WEFT_OK);
    assert_memory_equal(out, ((float[]){1, 2, 3, 4, 0, 0, 0}), 24);
    assert_int_equal(wf_sound_fit(&sound, 100, 2, out, NULL), WEFT_OK);
    assert_true(out[1] == 2.0f && out[2] == 3.0f);
    assert_int_equal(wf_sound_fit(&sound, 50, 6, out, NULL), WEFT_OK);
    assert_true(out[1] != 0.0f && out[2] == 0.0f);
}

#define TEST(f) cmocka_unit_test_setup(f, set_up)
const struct CMUnitTest wf_tests_sound[] = {
    TEST(wav_kinds),
    TEST(lengths_that_are_open),
    TEST(other_codings_are_named),
    TEST(codings_of_other_containers),
    TEST(wrong_files),
    TEST(other_formats),
    TEST(resampling),
    TEST(resampled_bits),
    TEST(fitting),
};
const unsigned long wf_n_tests_sound = WF_N_TESTS(wf_tests_sound);
