// NumPy's arrays: every element type, both byte orders, both orders of axes, no axis at all; headers
// that lie; archives stored and deflated, zip64, damaged, bombs.
#include "io/temp_file.h"

#include "io/npy.h"
#include "weft_config.h"

#if WEFT_HAVE_LIBZIP
#include <zip.h>
#endif
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

typedef struct {
    uint8_t bytes[400];
    size_t size;
} npy_file;

// version 1, the dictionary as given, then the elements.
static npy_file make_npy(const char *dictionary, const void *data, size_t size)
{
    npy_file f = {{0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0}, 0};
    const size_t n = strlen(dictionary);
    f.bytes[8] = (uint8_t)n;
    f.bytes[9] = (uint8_t)(n >> 8);
    assert_true(10 + n + size <= sizeof f.bytes);
    memcpy(f.bytes + 10, dictionary, n);
    if (size)
        memcpy(f.bytes + 10 + n, data, size);
    f.size = 10 + n + size;
    return f;
}

#define DICT(descr, fortran, shape)                                                                \
    "{'descr': '" descr "', 'fortran_order': " fortran ", 'shape': " shape ", }   \n"

static weft_status parse(const npy_file *f, size_t size, wf_npy *out, weft_error *err)
{
    // A block of the exact size: a checker of addresses sees any read behind it.
    uint8_t *copy = malloc(size ? size : 1);
    assert_non_null(copy);
    memcpy(copy, f->bytes, size);
    const weft_status status = wf_npy_parse(&heap, "t.npy", copy, size, out, err);
    free(copy);
    return status;
}

static double value_at(const wf_npy *a, size_t i)
{
    switch (a->dtype) {
    case WEFT_U8:
    case WEFT_BOOL: return ((const uint8_t *)a->data)[i];
    case WEFT_I8: return ((const int8_t *)a->data)[i];
    case WEFT_I32: return ((const int32_t *)a->data)[i];
    case WEFT_I64: return (double)((const int64_t *)a->data)[i];
    case WEFT_F32: return (double)((const float *)a->data)[i];
    default: return ((const double *)a->data)[i];
    }
}

static void element_types(void **state)
{
    (void)state;
    static const struct {
        const char *dictionary;
        uint8_t data[16];
        size_t size;
        weft_dtype dtype;
        double values[2];
    } rows[] = {
        {DICT("|b1", "False", "(2,)"), {0, 1}, 2, WEFT_BOOL, {0, 1}},
        {DICT("|u1", "False", "(2,)"), {1, 255}, 2, WEFT_U8, {1, 255}},
        {DICT("|i1", "False", "(2,)"), {1, 255}, 2, WEFT_I8, {1, -1}},
        {DICT("<i2", "False", "(2,)"), {2, 1, 0xFE, 0xFF}, 4, WEFT_I32, {258, -2}},
        {DICT(">i2", "False", "(2,)"), {1, 2, 0xFF, 0xFE}, 4, WEFT_I32, {258, -2}},
        {DICT("<u2", "False", "(2,)"), {2, 1, 0xFE, 0xFF}, 4, WEFT_I32, {258, 65534}},
        {DICT(">i4", "False", "(1,)"), {0xFF, 0xFF, 0xFF, 0xFE}, 4, WEFT_I32, {-2}},
        {DICT("<u4", "False", "(1,)"), {0xFE, 0xFF, 0xFF, 0xFF}, 4, WEFT_I64, {4294967294.0}},
        {DICT("<i8", "False", "(1,)"),
         {0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF},
         8,
         WEFT_I64,
         {-2}},
        {DICT(">u8", "False", "(1,)"), {0, 0, 0, 0, 0, 0, 1, 0}, 8, WEFT_I64, {256}},
        {DICT("<f2", "False", "(2,)"), {0, 0x3E, 0, 0xC0}, 4, WEFT_F32, {1.5, -2}},
        {DICT(">f4", "False", "(1,)"), {0x3F, 0xC0, 0, 0}, 4, WEFT_F32, {1.5}},
        {DICT("<f8", "False", "(1,)"), {0, 0, 0, 0, 0, 0, 0xF8, 0x3F}, 8, WEFT_F64, {1.5}},
    };
    for (size_t i = 0; i < WF_N_TESTS(rows); i++) {
        const npy_file f = make_npy(rows[i].dictionary, rows[i].data, rows[i].size);
        wf_npy a;
        assert_int_equal(parse(&f, f.size, &a, NULL), WEFT_OK);
        assert_int_equal(a.dtype, rows[i].dtype);
        assert_int_equal(a.ndim, 1);
        for (int64_t k = 0; k < a.dim[0]; k++)
            assert_true(value_at(&a, (size_t)k) == rows[i].values[k]);
        wf_npy_deinit(&a);
    }
}

static void orders(void **state)
{
    (void)state;
    static const uint8_t c[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,
                                12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23};
    uint8_t fortran[24];
    wf_npy a;
    // [2,3,4]: element (i,j,k) is 12 i + 4 j + k in one, at i + 2 j + 6 k in the other.
    for (size_t i = 0; i < 24; i++)
        fortran[i / 12 + 2 * (i / 4 % 3) + 6 * (i % 4)] = (uint8_t)i;
    npy_file f = make_npy(DICT("|u1", "False", "(2, 3, 4)"), c, 24);
    assert_int_equal(parse(&f, f.size, &a, NULL), WEFT_OK);
    assert_memory_equal(a.data, c, 24);
    wf_npy_deinit(&a);
    f = make_npy(DICT("|u1", "True", "(2, 3, 4)"), fortran, 24);
    assert_int_equal(parse(&f, f.size, &a, NULL), WEFT_OK);
    assert_int_equal(a.ndim, 3);
    assert_int_equal(a.dim[2], 4);
    assert_memory_equal(a.data, c, 24);
    wf_npy_deinit(&a);
    f = make_npy(DICT("|u1", "True", "()"), c + 7, 1);
    assert_int_equal(parse(&f, f.size, &a, NULL), WEFT_OK);
    assert_int_equal(a.ndim, 0);
    assert_int_equal(*(uint8_t *)a.data, 7);
    wf_npy_deinit(&a);
    f = make_npy(DICT("<f8", "False", "(3, 0)"), NULL, 0);
    assert_int_equal(parse(&f, f.size, &a, NULL), WEFT_OK);
    assert_int_equal(a.size_bytes, 0);
    wf_npy_deinit(&a);
    // Version 2: four bytes of length.
    f = make_npy("\0\0" DICT("|u1", "False", "(3,)"), c, 3);
    const char *dictionary = DICT("|u1", "False", "(3,)");
    const size_t n = strlen(dictionary);
    f.bytes[6] = 2;
    f.bytes[8] = (uint8_t)n;
    memset(f.bytes + 9, 0, 3);
    memcpy(f.bytes + 12, dictionary, n);
    memcpy(f.bytes + 12 + n, c, 3);
    assert_int_equal(parse(&f, 12 + n + 3, &a, NULL), WEFT_OK);
    assert_memory_equal(a.data, c, 3);
    wf_npy_deinit(&a);
}

static void messages(void **state)
{
    (void)state;
    static const struct {
        const char *dictionary;
        weft_status status;
        const char *message;
    } rows[] = {
        {DICT("|O", "False", "(2,)"), WEFT_ERR_UNSUPPORTED,
         "t.npy: elements are '|O', expected b1 u1 i1 i2 u2 i4 u4 i8 u8 f2 f4 or f8"},
        {DICT("<c8", "False", "(2,)"), WEFT_ERR_UNSUPPORTED,
         "t.npy: elements are '<c8', expected b1 u1 i1 i2 u2 i4 u4 i8 u8 f2 f4 or f8"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}", WEFT_ERR_UNSUPPORTED,
         "t.npy: elements are structures, expected numbers"},
        {DICT("|u1", "False", "(1,1,1,1,1,1,1,1,1)"), WEFT_ERR_UNSUPPORTED,
         "t.npy: more than 8 dimensions"},
        {DICT("|u1", "False", "(4294967296, 4294967296)"), WEFT_ERR_FORMAT,
         "t.npy: sizes overflow"},
        {DICT("|u1", "False", "(99999999999999999999,)"), WEFT_ERR_FORMAT,
         "t.npy: header at byte 79, expected a size below 2^63"},
        {DICT("|u1", "False", "(-1,)"), WEFT_ERR_FORMAT,
         "t.npy: header at byte 61, expected a size"},
        {DICT("|u1", "False", "(nan,)"), WEFT_ERR_FORMAT,
         "t.npy: header at byte 61, expected a size"},
        {DICT("|u1", "False", "(1e3,)"), WEFT_ERR_FORMAT,
         "t.npy: header at byte 62, expected a comma"},
        {DICT("|u1", "Maybe", "(1,)"), WEFT_ERR_FORMAT,
         "t.npy: header at byte 44, expected True or False"},
        {"{'descr': '|u1', 'shape': (1,)}", WEFT_ERR_FORMAT,
         "t.npy: header at byte 41, expected descr, fortran_order and shape, once each"},
        {"{'descr': '|u1', 'descr': '|u1'}", WEFT_ERR_FORMAT,
         "t.npy: header at byte 36, expected descr, fortran_order and shape, once each"},
        {"{'descr': '|u1", WEFT_ERR_FORMAT,
         "t.npy: header at byte 24, expected the end of a string"},
        {"[1]", WEFT_ERR_FORMAT, "t.npy: header at byte 10, expected a dictionary"},
        {DICT("|u1", "False", "(5,)"), WEFT_ERR_FORMAT,
         "t.npy: ends at byte 71, expected 76 (71 of header, 5 of data)"},
    };
    wf_npy a;
    for (size_t i = 0; i < WF_N_TESTS(rows); i++) {
        const npy_file f = make_npy(rows[i].dictionary, NULL, 0);
        assert_fails(parse(&f, f.size, &a, err), rows[i].status, rows[i].message);
        assert_null(a.data);
    }
    npy_file f = make_npy(DICT("<u8", "False", "(1,)"), "\0\0\0\0\0\0\0\x80", 8);
    assert_fails(parse(&f, f.size, &a, err), WEFT_ERR_UNSUPPORTED,
                 "t.npy: element 0 is 2^63 or more");
    f.bytes[6] = 4;
    assert_fails(parse(&f, f.size, &a, err), WEFT_ERR_UNSUPPORTED,
                 "t.npy: version 4 at byte 6, expected 1, 2 or 3");
    f.bytes[6] = 2; // the dictionary's first bytes as a length
    assert_int_equal(parse(&f, f.size, &a, NULL), WEFT_ERR_FORMAT);
    f.bytes[0] = 'x';
    assert_fails(parse(&f, f.size, &a, err), WEFT_ERR_FORMAT,
                 "t.npy: no .npy magic in the first 8 of 79 bytes");
    assert_fails(wf_npy_read(&heap, TEMP("none.npy"), &a, err), WEFT_ERR_FILE,
                 "cannot open " TEMP("none.npy") ": No such file or directory");
}

static void cut_and_changed(void **state)
{
    (void)state;
    static const uint8_t data[6] = {1, 2, 3, 4, 5, 6};
    npy_file f = make_npy(DICT("<i2", "True", "(3, 1)"), data, 6);
    wf_npy a;
    for (size_t n = 0; n < f.size; n++) {
        weft_error err = {0};
        assert_int_equal(parse(&f, n, &a, &err), WEFT_ERR_FORMAT);
        assert_names_file(err.message, "t.npy");
        assert_non_null(strstr(err.message, " byte"));
    }
    for (size_t at = 0; at < f.size; at++) {
        for (int bit = 0; bit < 8; bit++) {
            weft_error err = {0};
            f.bytes[at] ^= (uint8_t)(1 << bit);
            const weft_status status = parse(&f, f.size, &a, &err);
            assert_int_equal(status == WEFT_OK, err.message[0] == 0);
            wf_npy_deinit(&a);
            f.bytes[at] ^= (uint8_t)(1 << bit);
        }
    }
}

#if WEFT_HAVE_LIBZIP && WEFT_HAVE_ZLIB
static void put(uint8_t **p, uint64_t value, int n_bytes)
{
    for (int i = 0; i < n_bytes; i++)
        *(*p)++ = (uint8_t)(value >> 8 * i);
}

// An archive of one stored member whose sizes stand in a zip64 extra field, as NumPy writes large ones.
static size_t make_zip64(uint8_t *out, const npy_file *f, uint64_t claimed)
{
    uint8_t *p = out;
    const uint64_t crc = crc32(0, f->bytes, (unsigned)f->size);
    put(&p, 0x04034B50, 4);
    put(&p, 45, 2);
    put(&p, 0, 8); // flags, stored, time
    put(&p, crc, 4);
    put(&p, UINT64_MAX, 8);
    put(&p, 5, 2);
    put(&p, 20, 2);
    memcpy(p, "x.npy", 5);
    p += 5;
    put(&p, 1, 2);
    put(&p, 16, 2);
    put(&p, claimed, 8);
    put(&p, f->size, 8);
    memcpy(p, f->bytes, f->size);
    p += f->size;
    const uint64_t directory = (uint64_t)(p - out);
    put(&p, 0x02014B50, 4);
    put(&p, 45, 2);
    put(&p, 45, 2);
    put(&p, 0, 8);
    put(&p, crc, 4);
    put(&p, UINT64_MAX, 8);
    put(&p, 5, 2);
    put(&p, 20, 2);
    put(&p, 0, 8); // comment, disk, attributes
    put(&p, 0, 6); // attributes, offset
    memcpy(p, "x.npy", 5);
    p += 5;
    put(&p, 1, 2);
    put(&p, 16, 2);
    put(&p, claimed, 8);
    put(&p, f->size, 8);
    const uint64_t length = (uint64_t)(p - out) - directory;
    put(&p, 0x06054B50, 4);
    put(&p, 0, 4);
    put(&p, 1, 2);
    put(&p, 1, 2);
    put(&p, length, 4);
    put(&p, directory, 4);
    put(&p, 0, 2);
    return (size_t)(p - out);
}

static void write_npz(const char *path, const npy_file *x, const npy_file *y, int method)
{
    int code;
    remove(path);
    zip_t *z = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, &code);
    assert_non_null(z);
    const npy_file *files[] = {x, y};
    const char *const names[] = {"x.npy", "y.npy"};
    for (int i = 0; i < 2; i++) {
        zip_source_t *s = zip_source_buffer(z, files[i]->bytes, files[i]->size, 0);
        const zip_int64_t at = zip_file_add(z, names[i], s, ZIP_FL_OVERWRITE);
        assert_true(at >= 0);
        assert_int_equal(zip_set_file_compression(z, (zip_uint64_t)at, method, 9), 0);
    }
    assert_int_equal(zip_close(z), 0);
}

static void archives(void **state)
{
    (void)state;
    static const uint8_t data[6] = {1, 2, 3, 4, 5, 6};
    const npy_file x = make_npy(DICT("|u1", "False", "(6,)"), data, 6);
    const npy_file y = make_npy(DICT("|u1", "False", "(2, 3)"), data, 6);
    for (int k = 0; k < 2; k++) {
        wf_npz *z;
        wf_npy a;
        write_npz(TEMP("a.npz"), &x, &y, k ? ZIP_CM_DEFLATE : ZIP_CM_STORE);
        assert_int_equal(wf_npz_open(&heap, TEMP("a.npz"), &z, NULL), WEFT_OK);
        assert_int_equal(wf_npz_count(z), 2);
        assert_string_equal(wf_npz_name(z, 1), "y");
        assert_int_equal(wf_npz_read(z, "y", &a, NULL), WEFT_OK);
        assert_int_equal(a.ndim, 2);
        assert_memory_equal(a.data, data, 6);
        wf_npy_deinit(&a);
        assert_fails(wf_npz_read(z, "z", &a, err), WEFT_ERR_NAME, TEMP("a.npz") ": no array 'z'");
        wf_npz_close(z);
    }
    uint8_t bytes[1200] = {0};
    wf_npz *z;
    wf_npy a;
    const size_t size = make_zip64(bytes, &x, x.size);
    temp_write(TEMP("64.npz"), bytes, size);
    assert_int_equal(wf_npz_open(&heap, TEMP("64.npz"), &z, NULL), WEFT_OK);
    assert_int_equal(wf_npz_read(z, "x", &a, NULL), WEFT_OK);
    assert_memory_equal(a.data, data, 6);
    wf_npy_deinit(&a);
    wf_npz_close(z);
}

// Cut anywhere, any byte changed: an array as it was, or a message.
static void damaged_archives(void **state)
{
    (void)state;
    static const uint8_t data[6] = {1, 2, 3, 4, 5, 6};
    const npy_file x = make_npy(DICT("|u1", "False", "(6,)"), data, 6);
    uint8_t *bytes;
    size_t size;
    wf_npz *z;
    wf_npy a;
    write_npz(TEMP("d.npz"), &x, &x, ZIP_CM_DEFLATE);
    assert_int_equal(wf_file_read(&heap, TEMP("d.npz"), &bytes, &size, NULL), WEFT_OK);
    for (size_t n = 0; n < 2 * size; n++) {
        weft_error err = {0};
        const bool is_cut = n < size;
        if (!is_cut)
            bytes[n - size] ^= 0x55;
        temp_write(TEMP("d.npz"), bytes, is_cut ? n : size);
        if (!is_cut)
            bytes[n - size] ^= 0x55;
        weft_status status = wf_npz_open(&heap, TEMP("d.npz"), &z, &err);
        if (is_cut)
            assert_int_equal(status, WEFT_ERR_FORMAT);
        if (status == WEFT_OK) {
            status = wf_npz_read(z, "x", &a, &err);
            if (status == WEFT_OK)
                assert_memory_equal(a.data, data, 6);
            wf_npy_deinit(&a);
            wf_npz_close(z);
        }
        if (status != WEFT_OK)
            assert_non_null(strstr(err.message, TEMP("d.npz") ": "));
    }
    wf_free(&heap, bytes);
    uint8_t bomb[1200] = {0};
    temp_write(TEMP("d.npz"), bomb, make_zip64(bomb, &x, (uint64_t)1 << 40));
    weft_status status = wf_npz_open(&heap, TEMP("d.npz"), &z, NULL);
    if (status == WEFT_OK) {
        status = wf_npz_read(z, "x", &a, NULL);
        wf_npz_close(z);
    }
    assert_int_equal(status, WEFT_ERR_FORMAT);
    assert_fails(wf_npz_open(&heap, TEMP("none.npz"), &z, err), WEFT_ERR_FILE,
                 "cannot open " TEMP("none.npz") ": No such file or directory");
    temp_write_text(TEMP("d.npz"), "GIF89a");
    assert_fails(wf_npz_open(&heap, TEMP("d.npz"), &z, err), WEFT_ERR_FORMAT,
                 TEMP("d.npz") ": no zip archive (Not a zip archive)");
}

// A member that unpacks to a thousand times its size, behind a header that promises six bytes.
static void bombs(void **state)
{
    (void)state;
    enum { SIZE = 1 << 20 };
    uint8_t *zeros = calloc(SIZE, 1);
    const npy_file x = make_npy(DICT("|u1", "False", "(6,)"), "123456", 6);
    int code;
    wf_npz *z;
    wf_npy a;
    assert_non_null(zeros);
    memcpy(zeros, x.bytes, x.size);
    remove(TEMP("bomb.npz"));
    zip_t *zip = zip_open(TEMP("bomb.npz"), ZIP_CREATE | ZIP_TRUNCATE, &code);
    assert_non_null(zip);
    zip_source_t *s = zip_source_buffer(zip, zeros, SIZE, 0);
    assert_true(zip_file_add(zip, "x.npy", s, ZIP_FL_OVERWRITE) >= 0);
    assert_int_equal(zip_close(zip), 0);
    assert_int_equal(wf_npz_open(&heap, TEMP("bomb.npz"), &z, NULL), WEFT_OK);
    assert_fails(
        wf_npz_read(z, "x", &a, err), WEFT_ERR_FORMAT,
        TEMP(
            "bomb.npz") ": array 'x': ends at byte 1048576, expected 77 (71 of header, 6 of data)");
    assert_null(a.data);
    wf_npz_close(z);
    free(zeros);
}
#else
static void archives(void **state)
{
    (void)state;
    WF_SKIP("built without libzip");
}
#define damaged_archives archives
#define bombs archives
#endif

#define TEST(f) cmocka_unit_test_setup(f, set_up)
const struct CMUnitTest wf_tests_npy[] = {
    TEST(element_types), TEST(orders),           TEST(messages), TEST(cut_and_changed),
    TEST(archives),      TEST(damaged_archives), TEST(bombs),
};
const unsigned long wf_n_tests_npy = WF_N_TESTS(wf_tests_npy);
