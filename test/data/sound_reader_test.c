// The sound reader: folders by class, one rate and length, files that are damaged.
#include "data/data_tools.h"

#include "data/readers.h"
#include "weft_config.h"

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

#define TEST(f) cmocka_unit_test_setup(f, set_up)
const struct CMUnitTest wf_tests_sound_reader[] = {TEST(clips)};
const unsigned long wf_n_tests_sound_reader = WF_N_TESTS(wf_tests_sound_reader);
