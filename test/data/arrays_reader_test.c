// The readers of NumPy's arrays and of CIFAR: names, shapes, labels, and what is wrong with them.
#include "data/data_tools.h"

#include "data/readers.h"

static wf_allocator heap;

static int set_up(void **state)
{
    (void)state;
    heap = wf_allocator_default();
    return 0;
}

static void write_npy(const char *path, const char *descr, const char *shape, const void *data,
                      size_t size)
{
    uint8_t bytes[600] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
    const int n = snprintf((char *)bytes + 10, 200,
                           "{'descr': '%s', 'fortran_order': False, 'shape': %s}\n", descr, shape);
    bytes[8] = (uint8_t)n;
    memcpy(bytes + 10 + n, data, size);
    temp_write(path, bytes, 10 + (size_t)n + size);
}

static wf_reader_options options(const char *path, const char *part)
{
    return (wf_reader_options){.path = path, .part = part};
}

static void images_and_classes(void **state)
{
    (void)state;
    uint8_t pixels[2 * 2 * 2 * 3], out[12];
    wf_dataset *set;
    int64_t label;
    for (uint8_t i = 0; i < 24; i++)
        pixels[i] = i;
    assert_int_equal(wf_directory_create(TEMP("npy"), NULL), WEFT_OK);
    write_npy(TEMP("npy/x_train.npy"), "|u1", "(2, 2, 2, 3)", pixels, 24);
    write_npy(TEMP("npy/y_train.npy"), "<i8", "(2, 1)", (int64_t[]){1, 4}, 16);
    wf_reader_options o = options(TEMP("npy"), "train");
    assert_int_equal(wf_readers_open(NULL, &o, &set, NULL), WEFT_OK);
    assert_string_equal(set->reader, "arrays");
    assert_string_equal(set->field[0].name, "image");
    assert_int_equal(set->field[0].dim[0], 3); // channels first
    assert_int_equal(set->n_classes, 5);
    assert_int_equal(wf_field_read(&set->field[0], 1, out, NULL), WEFT_OK);
    assert_memory_equal(out, "\x0C\x0F\x12\x15\x0D\x10\x13\x16\x0E\x11\x14\x17", 12);
    assert_int_equal(wf_dataset_label(set, 1, &label, NULL), WEFT_OK);
    assert_int_equal(label, 4);
    wf_dataset_destroy(set);
    o.part = "test";
    assert_fails(wf_readers_open("arrays", &o, &set, err), WEFT_ERR_FILE,
                 TEMP("npy") ": no file x_test.npy");
    o.part = "train";
    o.n_classes = 4;
    assert_fails(wf_readers_open("arrays", &o, &set, err), WEFT_ERR_INDEX,
                 TEMP("npy") ": label 4 of sample 1, expected 0 to 3");
    write_npy(TEMP("npy/y_train.npy"), "<i8", "(3,)", (int64_t[]){1, 4, 2}, 24);
    assert_fails(wf_readers_open("arrays", &o, &set, err), WEFT_ERR_FORMAT,
                 TEMP("npy") ": 3 labels, expected 2, one for each sample");
}

static void rows_and_values(void **state)
{
    (void)state;
    wf_dataset *set;
    float x[6] = {1, 2, 3, 4, 5, 6};
    assert_int_equal(wf_directory_create(TEMP("npyv"), NULL), WEFT_OK);
    write_npy(TEMP("npyv/x.npy"), "<f4", "(2, 3)", x, sizeof x);
    write_npy(TEMP("npyv/y.npy"), "<f8", "(2,)", (double[]){0.5, -1.5}, 16);
    wf_reader_options o = options(TEMP("npyv"), NULL);
    assert_int_equal(wf_readers_open("arrays", &o, &set, NULL), WEFT_OK);
    assert_string_equal(set->field[0].name, "input");
    assert_int_equal(set->field[0].ndim, 1);
    assert_int_equal(set->n_classes, 0);
    assert_int_equal(wf_dataset_find(set, "label")->dtype, WEFT_F64);
    wf_dataset_destroy(set);
    memset(&x[4], 0xFF, 4); // a NaN
    write_npy(TEMP("npyv/x.npy"), "<f4", "(2, 3)", x, sizeof x);
    assert_fails(wf_readers_open("arrays", &o, &set, err), WEFT_ERR_FORMAT,
                 TEMP("npyv") ": sample 1 holds nan at element 1");
    write_npy(TEMP("npyv/x.npy"), "<f4", "()", x, 4);
    assert_fails(wf_readers_open("arrays", &o, &set, err), WEFT_ERR_FORMAT,
                 TEMP("npyv") ": the input has no samples (0 dimensions)");
    write_npy(TEMP("npyv/x.npy"), "<f4", "(0, 3)", x, 0);
    assert_fails(wf_readers_open("arrays", &o, &set, err), WEFT_ERR_FORMAT,
                 TEMP("npyv") ": the input has no samples (2 dimensions)");
    o = options(TEMP("npyv/y.npy"), "test");
    assert_fails(wf_readers_open(NULL, &o, &set, err), WEFT_ERR_FILE,
                 TEMP("npyv/y.npy") ": one array has no part 'test'");
}

static uint8_t records[5 * 3074];

static void cifar(void **state)
{
    (void)state;
    wf_dataset *set;
    int64_t label;
    uint8_t pixels[3072];
    assert_int_equal(wf_directory_create(TEMP("cifar10"), NULL), WEFT_OK);
    assert_int_equal(wf_directory_create(TEMP("cifar100"), NULL), WEFT_OK);
    for (int k = 1; k <= 6; k++) {
        char path[256];
        for (size_t i = 0; i < 2; i++) {
            records[i * 3073] = (uint8_t)(k + (int)i);
            memset(records + i * 3073 + 1, 10 * k + (int)i, 3072);
        }
        snprintf(path, sizeof path, k < 6 ? "%s/data_batch_%d.bin" : "%s/test_batch.bin",
                 TEMP("cifar10"), k);
        temp_write(path, records, 2 * 3073);
    }
    temp_write(TEMP("cifar10/batches.meta.txt"), "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n\n", 21);
    wf_reader_options o = options(TEMP("cifar10"), "train");
    assert_int_equal(wf_readers_open(NULL, &o, &set, NULL), WEFT_OK);
    assert_string_equal(set->reader, "cifar");
    assert_int_equal(set->n_samples, 10);
    assert_int_equal(set->n_classes, 10);
    assert_string_equal(set->class_names[9], "j");
    assert_int_equal(wf_field_read(&set->field[0], 7, pixels, NULL), WEFT_OK);
    assert_int_equal(pixels[3071], 41);
    wf_dataset_destroy(set);
    o.part = "test";
    assert_int_equal(wf_readers_open(NULL, &o, &set, NULL), WEFT_OK);
    assert_int_equal(wf_dataset_label(set, 1, &label, NULL), WEFT_OK);
    assert_int_equal(label, 7);
    wf_dataset_destroy(set);
    for (size_t i = 0; i < 3; i++) {
        records[i * 3074] = 19;
        records[i * 3074 + 1] = (uint8_t)(97 + i);
    }
    temp_write(TEMP("cifar100/train.bin"), records, 3 * 3074);
    o = options(TEMP("cifar100/train.bin"), NULL);
    assert_int_equal(wf_readers_open("cifar", &o, &set, NULL), WEFT_OK);
    assert_int_equal(set->n_classes, 100);
    assert_int_equal(wf_dataset_label(set, 2, &label, NULL), WEFT_OK);
    assert_int_equal(label, 99);
    wf_dataset_destroy(set);
    records[2 * 3074 + 1] = 100;
    temp_write(TEMP("cifar100/train.bin"), records, 3 * 3074);
    o = options(TEMP("cifar100"), "train");
    assert_fails(
        wf_readers_open(NULL, &o, &set, err), WEFT_ERR_INDEX,
        TEMP("cifar100/train.bin") ": label 100 at byte 6149, expected 0 to 99 (CIFAR-100)");
    temp_write(TEMP("cifar100/train.bin"), records, 3 * 3074 - 1);
    assert_fails(wf_readers_open(NULL, &o, &set, err), WEFT_ERR_FORMAT,
                 TEMP("cifar100/train.bin") ": 9221 bytes, cut in record 2: expected a multiple of "
                                            "3074 (CIFAR-100)");
    temp_write(TEMP("cifar100/train.bin"), records, 0);
    assert_fails(wf_readers_open(NULL, &o, &set, err), WEFT_ERR_FORMAT,
                 TEMP("cifar100/train.bin") ": 0 bytes, cut in record 0: expected a multiple of "
                                            "3074 (CIFAR-100)");
    o.part = "test";
    assert_fails(wf_readers_open(NULL, &o, &set, err), WEFT_ERR_FILE,
                 "cannot open " TEMP("cifar100/test.bin") ": No such file or directory");
}

// Two records cut at every byte: only whole ones are read. A folder's file and a known name say which set it is.
static void cut_cifar(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        const char *kind;
        size_t record;
    } files[] = {{TEMP("cifar-cut/train.bin"), "CIFAR-100", 3074},
                 {TEMP("cifar-cut/data_batch_1.bin"), "CIFAR-10", 3073}};
    assert_int_equal(wf_directory_create(TEMP("cifar-cut"), NULL), WEFT_OK);
    memset(records, 1, sizeof records);
    for (size_t i = 0; i < WF_N_TESTS(files); i++) {
        const size_t record = files[i].record;
        const wf_reader_options o = options(files[i].path, NULL);
        temp_write(files[i].path, records, 2 * record);
        for (size_t n = 2 * record + 1; n-- > 0;) {
            wf_dataset *set;
            char text[400];
            temp_cut(files[i].path, n);
            if (n && n % record == 0) {
                assert_int_equal(wf_readers_open("cifar", &o, &set, NULL), WEFT_OK);
                assert_int_equal(set->n_samples, n / record);
                wf_dataset_destroy(set);
                continue;
            }
            snprintf(text, sizeof text,
                     "%s: %zu bytes, cut in record %zu: expected a multiple of %zu (%s)",
                     files[i].path, n, n / record, record, files[i].kind);
            assert_fails(wf_readers_open("cifar", &o, &set, err), WEFT_ERR_FORMAT, text);
        }
    }
}

static void allocation_n_fails(void **state)
{
    (void)state;
    static const char *const paths[] = {TEMP("cifar10"), TEMP("npya")};
    assert_int_equal(wf_directory_create(TEMP("npya"), NULL), WEFT_OK);
    write_npy(TEMP("npya/x.npy"), "|u1", "(2, 2, 2, 1)", "12345678", 8);
    write_npy(TEMP("npya/y.npy"), "|u1", "(2,)", "\0\1", 2);
    for (size_t i = 0; i < 2; i++) {
        for (long n = 0;; n++) {
            failing_heap counts = {n, 0};
            wf_allocator a = {reallocate_failing, &counts};
            wf_dataset *set;
            wf_reader_options o = options(paths[i], "train");
            o.allocator = &a;
            const weft_status status = wf_readers_open(i ? "arrays" : "cifar", &o, &set, NULL);
            assert_true(status == WEFT_OK || status == WEFT_ERR_MEMORY);
            wf_dataset_destroy(set);
            assert_int_equal(counts.held, 0);
            if (status == WEFT_OK)
                break;
        }
    }
}

#define TEST(f) cmocka_unit_test_setup(f, set_up)
const struct CMUnitTest wf_tests_arrays_reader[] = {
    TEST(images_and_classes), TEST(rows_and_values),    TEST(cifar),
    TEST(cut_cifar),          TEST(allocation_n_fails),
};
const unsigned long wf_n_tests_arrays_reader = WF_N_TESTS(wf_tests_arrays_reader);
