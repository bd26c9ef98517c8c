// The sound reader: folders by class, one rate and length, files that are damaged.
#include "data/data_tools.h"

#include "data/readers.h"
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

// 16 bits, mono: n samples of one value.
static void write_wav(const char *path, uint32_t rate, uint32_t n, int16_t value)
{
    uint8_t bytes[4096] = "RIFF\0\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\0\0\0\0\0\0\0\0\2\0\x10\0data";
    assert_true(44 + 2 * n <= sizeof bytes);
    for (int i = 0; i < 4; i++) {
        bytes[4 + i] = (uint8_t)((36 + 2 * n) >> 8 * i);
        bytes[24 + i] = (uint8_t)(rate >> 8 * i);
        bytes[28 + i] = (uint8_t)(2 * rate >> 8 * i);
        bytes[40 + i] = (uint8_t)(2 * n >> 8 * i);
    }
    for (uint32_t i = 0; i < n; i++)
        memcpy(bytes + 44 + 2 * i, &value, 2);
    temp_write(path, bytes, 44 + 2 * n);
}

static void clips(void **state)
{
    (void)state;
    if (!WEFT_HAVE_SNDFILE)
        WF_SKIP("built without libsndfile");
    wf_dataset *set;
    float clip[100];
    assert_int_equal(wf_directory_create(TEMP("clips/no"), NULL), WEFT_OK);
    assert_int_equal(wf_directory_create(TEMP("clips/yes"), NULL), WEFT_OK);
    write_wav(TEMP("clips/no/1.wav"), 1000, 50, 16384);
    write_wav(TEMP("clips/yes/1.WAV"), 1000, 500, 8192);
    write_wav(TEMP("clips/yes/2.wav"), 2000, 1000, -8192);
    wf_reader_options o = {.path = TEMP("clips"), .rate = 1000, .seconds = 0.1};
    assert_int_equal(wf_readers_open(NULL, &o, &set, NULL), WEFT_OK);
    assert_string_equal(set->reader, "sound");
    assert_int_equal(set->n_samples, 3);
    assert_string_equal(set->class_names[1], "yes");
    assert_string_equal(set->field[0].name, "sound");
    assert_int_equal(set->field[0].dim[0], 100);
    assert_int_equal(wf_field_read(&set->field[0], 0, clip, NULL), WEFT_OK);
    assert_true(clip[49] == 0.5f && clip[50] == 0.0f);
    assert_int_equal(wf_field_read(&set->field[0], 1, clip, NULL), WEFT_OK);
    assert_true(clip[99] == 0.25f);
    assert_int_equal(wf_field_read(&set->field[0], 2, clip, NULL), WEFT_OK);
    assert_true(clip[50] < -0.2499f && clip[50] > -0.2501f); // from 2000 to 1000 a second
    wf_dataset_destroy(set);
    temp_write(TEMP("clips/yes/3.wav"), "RIFF", 4);
    assert_fails(wf_readers_open("sound", &o, &set, err), WEFT_ERR_FORMAT,
                 TEMP("clips/yes/3.wav") ": no sound file that libsndfile reads (Format not "
                                         "recognised.) (1 of 4 files are bad, on_bad: skip leaves "
                                         "them out)");
    o.is_skipping_bad = true;
    assert_int_equal(wf_readers_open("sound", &o, &set, NULL), WEFT_OK);
    assert_int_equal(set->n_samples, 3);
    assert_int_equal(set->n_bad, 1);
    wf_dataset_destroy(set);
    assert_int_equal(wf_file_remove(TEMP("clips/yes/3.wav"), NULL), WEFT_OK);
    o.seconds = 1e9;
    assert_fails(wf_readers_open("sound", &o, &set, err), WEFT_ERR_SHAPE,
                 "data: 1e+09 seconds at a rate of 1000, expected 1 to 1e+08 samples");
}

#if WEFT_HAVE_SNDFILE
// FLAC, AIFF and Ogg cut at every byte (WAV: test/io/sound_test.c). A stream of Ogg pages may end behind any page:
// nothing promises more, and what is there is read.
static void cut_at_every_byte(void **state)
{
    (void)state;
    static const int formats[] = {SF_FORMAT_FLAC | SF_FORMAT_PCM_16,
                                  SF_FORMAT_AIFF | SF_FORMAT_PCM_24,
                                  SF_FORMAT_OGG | SF_FORMAT_VORBIS};
    enum { N = 300 };
    float wave[N];
    for (int i = 0; i < N; i++)
        wave[i] = (float)(i * 37 % 64 - 32) / 40.0f;
    for (size_t k = 0; k < WF_N_TESTS(formats); k++) {
        const bool is_ogg = k == 2;
        SF_INFO info = {.samplerate = 8000, .channels = 1, .format = formats[k]};
        SNDFILE *f = sf_open(TEMP("cut.x"), SFM_WRITE, &info);
        wf_file_map map;
        int n_read = 0;
        assert_non_null(f);
        assert_int_equal(sf_writef_float(f, wave, N), N);
        sf_close(f);
        assert_int_equal(wf_file_map_open(TEMP("cut.x"), &map, NULL), WEFT_OK);
        const size_t size = map.size_bytes;
        wf_file_map_close(&map);
        for (size_t n = size + 1; n-- > 0;) {
            weft_error err = {0};
            wf_sound sound;
            temp_cut(TEMP("cut.x"), n);
            const weft_status status = wf_sound_read(&heap, TEMP("cut.x"), 10.0, &sound, &err);
            n_read += status == WEFT_OK;
            if (status == WEFT_OK) {
                assert_true(is_ogg || n == size);
                assert_in_range(sound.n, is_ogg ? 1 : N, N);
            } else {
                assert_int_equal(status, WEFT_ERR_FORMAT);
                assert_names_file(err.message, TEMP("cut.x"));
            }
            wf_sound_deinit(&sound);
        }
        assert_true(n_read >= 1);
    }
}
#else
static void cut_at_every_byte(void **state)
{
    (void)state;
    WF_SKIP("built without libsndfile");
}
#endif

#define TEST(f) cmocka_unit_test_setup(f, set_up)
const struct CMUnitTest wf_tests_sound_reader[] = {TEST(clips), TEST(cut_at_every_byte)};
const unsigned long wf_n_tests_sound_reader = WF_N_TESTS(wf_tests_sound_reader);
