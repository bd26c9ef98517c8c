// IDX files: every element type, plain and gzipped, cut, too long, mismatched; Fashion-MNIST itself.
#include "data/data_tools.h"

#include "base/sha256.h"
#include "data/idx.h"
#include "data/readers.h"
#include "weft_config.h"

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

// An image file of 3 images 2 x 2, pixels 0 .. 11, and its labels 2 0 1.
static const uint8_t images[28] = {0, 0, 8, 3, 0, 0, 0, 3, 0, 0, 0, 2, 0,  0,
                                   0, 2, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
static const uint8_t labels[11] = {0, 0, 8, 1, 0, 0, 0, 3, 2, 0, 1};

static void write_gz(const char *path, const void *data, size_t size)
{
#if WEFT_HAVE_ZLIB
    gzFile f = gzopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(gzwrite(f, data, (unsigned)size), size);
    assert_int_equal(gzclose(f), Z_OK);
#else
    (void)path;
    (void)data;
    (void)size;
    WF_SKIP("built without zlib");
#endif
}

static void element_types(void **state)
{
    (void)state;
    static const struct {
        uint8_t file[16];
        size_t size;
        weft_dtype dtype;
        double values[2];
    } rows[] = {
        {{0, 0, 0x08, 1, 0, 0, 0, 2, 1, 255}, 10, WEFT_U8, {1, 255}},
        {{0, 0, 0x09, 1, 0, 0, 0, 2, 1, 255}, 10, WEFT_I8, {1, -1}},
        {{0, 0, 0x0B, 1, 0, 0, 0, 2, 1, 2, 0xFF, 0xFE}, 12, WEFT_I32, {258, -2}},
        {{0, 0, 0x0C, 1, 0, 0, 0, 2, 0, 0, 1, 2, 0xFF, 0xFF, 0xFF, 0xFE}, 16, WEFT_I32, {258, -2}},
        {{0, 0, 0x0D, 1, 0, 0, 0, 2, 0x3F, 0xC0, 0, 0, 0xC0, 0, 0, 0}, 16, WEFT_F32, {1.5, -2}},
        {{0, 0, 0x0E, 1, 0, 0, 0, 1, 0x3F, 0xF8, 0, 0, 0, 0, 0, 0}, 16, WEFT_F64, {1.5, 0}},
    };
    for (size_t i = 0; i < 2 * WF_N_TESTS(rows); i++) {
        size_t row = i / 2;
        wf_idx idx;
        if (i % 2)
            write_gz(TEMP("typed"), rows[row].file, rows[row].size);
        else
            temp_write(TEMP("typed"), rows[row].file, rows[row].size);
        assert_int_equal(wf_idx_open(&heap, TEMP("typed"), &idx, NULL), WEFT_OK);
        assert_int_equal(idx.dtype, rows[row].dtype);
        assert_int_equal(idx.ndim, 1);
        for (int64_t k = 0; k < idx.dim[0]; k++) {
            double value = idx.dtype == WEFT_U8    ? ((const uint8_t *)idx.data)[k]
                           : idx.dtype == WEFT_I8  ? ((const int8_t *)idx.data)[k]
                           : idx.dtype == WEFT_I32 ? ((const int32_t *)idx.data)[k]
                           : idx.dtype == WEFT_F32 ? (double)((const float *)idx.data)[k]
                                                   : ((const double *)idx.data)[k];
            assert_true(value == rows[row].values[k]);
        }
        wf_idx_close(&idx);
    }
}

static void messages(void **state)
{
    (void)state;
    wf_idx idx;
    uint8_t bytes[40];
    memcpy(bytes, images, sizeof images);
    temp_write(TEMP("bad"), "", 0);
    assert_fails(wf_idx_open(&heap, TEMP("bad"), &idx, err), WEFT_ERR_FORMAT,
                 TEMP("bad") ": ends at byte 0, expected an IDX magic of 4 bytes");
    temp_write(TEMP("bad"), bytes, 27);
    assert_fails(wf_idx_open(&heap, TEMP("bad"), &idx, err), WEFT_ERR_FORMAT,
                 TEMP("bad") ": ends at byte 27, expected 28 (16 of header, 12 of data)");
    temp_write(TEMP("bad"), bytes, 10);
    assert_fails(wf_idx_open(&heap, TEMP("bad"), &idx, err), WEFT_ERR_FORMAT,
                 TEMP("bad") ": ends at byte 10, expected size 2 of 3");
    temp_write(TEMP("bad"), bytes, 29);
    assert_fails(wf_idx_open(&heap, TEMP("bad"), &idx, err), WEFT_ERR_FORMAT,
                 TEMP("bad") ": goes on behind byte 28, where its data ends");
    write_gz(TEMP("bad"), bytes, 29);
    assert_fails(wf_idx_open(&heap, TEMP("bad"), &idx, err), WEFT_ERR_FORMAT,
                 TEMP("bad") ": goes on behind byte 28, where its data ends");
    write_gz(TEMP("bad"), bytes, 27);
    assert_fails(
        wf_idx_open(&heap, TEMP("bad"), &idx, err), WEFT_ERR_FORMAT,
        TEMP("bad") ": ends at byte 27 (unpacked), expected 28 (16 of header, 12 of data)");
    bytes[2] = 0x07;
    temp_write(TEMP("bad"), bytes, 28);
    assert_fails(
        wf_idx_open(&heap, TEMP("bad"), &idx, err), WEFT_ERR_FORMAT,
        TEMP(
            "bad") ": magic 0x00000703 at byte 0, expected 0x0000TTRR (type 08 09 0b 0c 0d or 0e, rank)");
    bytes[2] = 0x08;
    bytes[3] = 9;
    temp_write(TEMP("bad"), bytes, 28);
    assert_fails(wf_idx_open(&heap, TEMP("bad"), &idx, err), WEFT_ERR_UNSUPPORTED,
                 TEMP("bad") ": rank 9 at byte 3, expected at most 8");
    bytes[3] = 3;
    memset(bytes + 4, 0xFF, 12);
    temp_write(TEMP("bad"), bytes, 28);
    assert_fails(wf_idx_open(&heap, TEMP("bad"), &idx, err), WEFT_ERR_FORMAT,
                 TEMP("bad") ": sizes overflow at byte 12");
    bytes[3] = 1;
    write_gz(TEMP("bad"), bytes, 28);
    assert_int_equal(wf_idx_open(&heap, TEMP("bad"), &idx, NULL), WEFT_ERR_FORMAT);
}

// A file cut at any byte is refused, plain or gzipped.
static void cut_at_every_byte(void **state)
{
    (void)state;
    for (int packed = 0; packed < 2; packed++) {
        uint8_t *data;
        size_t size;
        wf_idx idx;
        if (packed)
            write_gz(TEMP("cut.idx"), images, sizeof images);
        else
            temp_write(TEMP("cut.idx"), images, sizeof images);
        assert_int_equal(wf_file_read(&heap, TEMP("cut.idx"), &data, &size, NULL), WEFT_OK);
        for (size_t n = 0; n < size; n++) {
            weft_error err = {0};
            temp_write(TEMP("cut.idx"), data, n);
            assert_int_equal(wf_idx_open(&heap, TEMP("cut.idx"), &idx, &err), WEFT_ERR_FORMAT);
            assert_names_file(err.message, TEMP("cut.idx"));
            assert_non_null(strstr(err.message, " byte "));
        }
        // Each byte of the packed data changed: an error, or (padding bits of deflate) no change.
        for (size_t n = 10; packed && n < size; n++) {
            data[n] ^= 0x20;
            temp_write(TEMP("cut.idx"), data, size);
            if (wf_idx_open(&heap, TEMP("cut.idx"), &idx, NULL) == WEFT_OK)
                assert_memory_equal(idx.data, images + 16, 12);
            wf_idx_close(&idx);
            data[n] ^= 0x20;
        }
        wf_free(&heap, data);
    }
}

static void directory_of_pairs(void **state)
{
    (void)state;
    wf_dataset *set;
    assert_int_equal(wf_directory_create(TEMP("набор 数据"), NULL), WEFT_OK);
    const wf_reader_options o = {.path = TEMP("набор 数据")};
    wf_file_remove(TEMP("набор 数据/train-images.idx3-ubyte"), NULL);
    wf_file_remove(TEMP("набор 数据/train-labels-idx1-ubyte.gz"), NULL);
    assert_fails(wf_readers_open(NULL, &o, &set, err), WEFT_ERR_FORMAT,
                 "data: no reader knows " TEMP("набор 数据"));
    const wf_reader_options missing = {.path = TEMP("no/such/data")};
    assert_fails(wf_readers_open(NULL, &missing, &set, err), WEFT_ERR_FILE,
                 "cannot open " TEMP("no/such/data") ": No such file or directory");
    temp_write_text(TEMP("unknown.data"), "?");
    const wf_reader_options unknown = {.path = TEMP("unknown.data")};
    assert_fails(wf_readers_open(NULL, &unknown, &set, err), WEFT_ERR_FORMAT,
                 "data: no reader knows " TEMP("unknown.data"));
    assert_fails(
        wf_readers_open("idx", &o, &set, err), WEFT_ERR_FILE,
        TEMP(
            "набор 数据") ": no IDX file train-images-idx3-ubyte.gz (also without .gz, or with .idx for -idx)");
    temp_write(TEMP("набор 数据/train-images.idx3-ubyte"), images, sizeof images);
    write_gz(TEMP("набор 数据/train-labels-idx1-ubyte.gz"), labels, sizeof labels);
    assert_int_equal(wf_readers_open(NULL, &o, &set, NULL), WEFT_OK);
    assert_int_equal(set->n_samples, 3);
    assert_int_equal(set->n_classes, 3);
    const wf_field *image = wf_dataset_find(set, "image");
    assert_int_equal(image->ndim, 3);
    assert_int_equal(image->dim[0], 1);
    assert_int_equal(image->dim[2], 2);
    assert_memory_equal(image->data, images + 16, 12);
    uint8_t label;
    assert_int_equal(wf_field_read(wf_dataset_find(set, "label"), 2, &label, NULL), WEFT_OK);
    assert_int_equal(label, 1);
    wf_dataset_destroy(set);
    assert_fails(wf_readers_open("ixd", &o, &set, err), WEFT_ERR_NAME,
                 "data: no reader 'ixd', the nearest is 'idx'");
    const wf_reader_options part = {.path = o.path, .part = "dev"};
    assert_fails(wf_readers_open("idx", &part, &set, err), WEFT_ERR_NAME,
                 "data: no part 'dev', expected train or test");
}

static void pairs_that_do_not_fit(void **state)
{
    (void)state;
    static const uint8_t two[10] = {0, 0, 8, 1, 0, 0, 0, 2, 2, 0};
    static const char *const names[2] = {"shirt", "shoe"};
    wf_dataset *set;
    wf_reader_options o = {.images = TEMP("images"), .labels = TEMP("labels")};
    temp_write(TEMP("images"), images, sizeof images);
    temp_write(TEMP("labels"), two, sizeof two);
    assert_fails(wf_readers_open("idx", &o, &set, err), WEFT_ERR_FORMAT,
                 TEMP("labels") ": 2 labels at byte 4, " TEMP("images") " has 3 images");
    temp_write(TEMP("labels"), images, sizeof images);
    assert_fails(wf_readers_open("idx", &o, &set, err), WEFT_ERR_FORMAT,
                 TEMP("labels") ": u8 of rank 3 at byte 2, expected integer labels of rank 1");
    temp_write(TEMP("labels"), labels, sizeof labels);
    o.n_classes = 2;
    assert_fails(wf_readers_open("idx", &o, &set, err), WEFT_ERR_INDEX,
                 TEMP("labels") ": label 2 of sample 0, expected 0 to 1");
    o.labels = NULL;
    o.class_names = names;
    assert_int_equal(wf_readers_open("idx", &o, &set, NULL), WEFT_OK);
    assert_int_equal(set->n_fields, 1);
    assert_null(set->class_names);
    wf_dataset_destroy(set);
    o.labels = TEMP("labels");
    o.n_classes = 3;
    static const char *const three[3] = {"shirt", "shoe", "bag"};
    o.class_names = three;
    assert_int_equal(wf_readers_open("idx", &o, &set, NULL), WEFT_OK);
    assert_string_equal(set->class_names[2], "bag");
    wf_dataset_destroy(set);
}

static void fashion_mnist(void **state)
{
    (void)state;
    const char *dir = "/usr/share/datasets/fashion-mnist";
    if (!wf_file_is_directory(dir))
        WF_SKIP("%s is not there, install dataset-fashion-mnist", dir);
    if (!WEFT_HAVE_ZLIB)
        WF_SKIP("built without zlib");
    for (int test = 0; test < 2; test++) {
        const wf_reader_options o = {.path = dir, .part = test ? "test" : "train"};
        wf_dataset *set;
        wf_split all;
        wf_normalisation norm;
        int64_t counts[10] = {0};
        assert_int_equal(wf_readers_open(NULL, &o, &set, NULL), WEFT_OK);
        assert_int_equal(set->n_samples, test ? 10000 : 60000);
        assert_int_equal(set->n_classes, 10);
        assert_int_equal(set->field[0].sample_bytes, 784);
        const uint8_t *label = set->field[1].data;
        for (int64_t i = 0; i < set->n_samples; i++)
            counts[label[i]]++;
        for (int k = 0; k < 10; k++)
            assert_int_equal(counts[k], set->n_samples / 10);
        // Published for the training images: mean 0.2860, standard deviation 0.3530.
        wf_split_init_all(&all, set);
        assert_int_equal(wf_normalisation_compute(&all, &set->field[0], &norm, NULL), WEFT_OK);
        if (!test) {
            assert_true(norm.mean[0] > 0.28595f && norm.mean[0] < 0.28605f);
            assert_true(norm.std[0] > 0.35295f && norm.std[0] < 0.35305f);
        }
        wf_dataset_destroy(set);
    }
}

static void allocation_n_fails(void **state)
{
    (void)state;
    static const char *const names[3] = {"shirt", "shoe", "bag"};
    assert_int_equal(wf_directory_create(TEMP("pairs-oom"), NULL), WEFT_OK);
    write_gz(TEMP("pairs-oom/train-images-idx3-ubyte.gz"), images, sizeof images);
    write_gz(TEMP("pairs-oom/train-labels-idx1-ubyte.gz"), labels, sizeof labels);
    for (long n = 0;; n++) {
        failing_heap counts = {n, 0};
        wf_allocator failing = {reallocate_failing, &counts};
        const wf_reader_options o = {
            .allocator = &failing, .path = TEMP("pairs-oom"), .n_classes = 3, .class_names = names};
        wf_dataset *set;
        weft_status status = wf_readers_open("idx", &o, &set, NULL);
        wf_dataset_destroy(set);
        assert_int_equal(counts.held, 0);
        if (status == WEFT_OK)
            break;
        assert_int_equal(status, WEFT_ERR_MEMORY);
    }
}

#define TEST(f) cmocka_unit_test_setup(f, set_up)
const struct CMUnitTest wf_tests_idx[] = {
    TEST(element_types),         TEST(messages),
    TEST(cut_at_every_byte),     TEST(directory_of_pairs),
    TEST(pairs_that_do_not_fit), TEST(fashion_mnist),
    TEST(allocation_n_fails),
};
const unsigned long wf_n_tests_idx = WF_N_TESTS(wf_tests_idx);
