// safetensors: what is written, what is read back, and every way a file can be wrong.
#include "io/temp_file.h"

#include <stdlib.h>

#include "base/text.h"
#include "io/safetensors.h"
#include "weft_config.h"

static void need_cjson(void)
{
    if (!WEFT_HAVE_CJSON)
        WF_SKIP("built without cJSON");
}

static const wf_st_string strings[] = {{"step", "12"}, {"note", "a \"quoted\"\nline"}};
static const float weights[6] = {1, 2, 3, 4, 5, 6};
static const int64_t wide[1] = {-5};

static void two_tensors(wf_st_tensor t[3])
{
    memset(t, 0, 3 * sizeof *t);
    t[0] = (wf_st_tensor){
        .name = "conv1/weight", .dtype = WEFT_F32, .ndim = 2, .dim = {2, 3}, .data = weights};
    t[1] = (wf_st_tensor){.name = "none", .dtype = WEFT_U8, .ndim = 1, .dim = {0}};
    t[2] = (wf_st_tensor){.name = "step", .dtype = WEFT_I64, .ndim = 0, .data = wide};
}

static void bytes_are_fixed(void **state)
{
    (void)state;
    wf_allocator heap = wf_allocator_default();
    wf_st_tensor t[3];
    uint8_t *data;
    size_t size;
    static const char header[] =
        "{\"__metadata__\":{\"step\":\"12\",\"note\":\"a \\\"quoted\\\"\\nline\"},"
        "\"conv1/weight\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]},"
        "\"none\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[24,24]},"
        "\"step\":{\"dtype\":\"I64\",\"shape\":[],\"data_offsets\":[24,32]}}";
    size_t padded = (sizeof header - 1 + 7) / 8 * 8;
    two_tensors(t);
    assert_int_equal(wf_safetensors_write(&heap, TEMP("two.safetensors"), t, 3, strings, 2, NULL),
                     WEFT_OK);
    assert_int_equal(wf_file_read(&heap, TEMP("two.safetensors"), &data, &size, NULL), WEFT_OK);
    assert_int_equal(size, 8 + padded + 32);
    assert_int_equal(data[0] | data[1] << 8, padded);
    assert_memory_equal(data + 8, header, sizeof header - 1);
    for (size_t i = sizeof header - 1; i < padded; i++)
        assert_int_equal(data[8 + i], ' ');
    assert_memory_equal(data + 8 + padded, weights, 24);
    assert_memory_equal(data + 8 + padded + 24, wide, 8);
    wf_free(&heap, data);
}

static void reads_back(void **state)
{
    (void)state;
    need_cjson();
    wf_allocator heap = wf_allocator_default();
    wf_st_tensor t[3];
    wf_safetensors *f;
    const char *path = TEMP("模型 модель \xF0\x9F\x98\x80.safetensors");
    two_tensors(t);
    assert_int_equal(wf_safetensors_write(&heap, path, t, 3, strings, 2, NULL), WEFT_OK);
    assert_int_equal(wf_safetensors_open(&heap, path, &f, NULL), WEFT_OK);
    assert_int_equal(wf_safetensors_count(f), 3);
    const wf_st_tensor *w = wf_safetensors_find(f, "conv1/weight");
    assert_ptr_equal(w, wf_safetensors_get(f, 0));
    assert_int_equal(w->dtype, WEFT_F32);
    assert_int_equal(w->ndim, 2);
    assert_int_equal(w->dim[1], 3);
    assert_int_equal(w->size_bytes, 24);
    assert_memory_equal(w->data, weights, 24);
    assert_int_equal(wf_safetensors_find(f, "step")->ndim, 0);
    assert_int_equal(wf_safetensors_find(f, "none")->size_bytes, 0);
    assert_null(wf_safetensors_find(f, "bias"));
    assert_null(wf_safetensors_get(f, 3));
    assert_string_equal(wf_safetensors_metadata(f, "note"), strings[1].value);
    assert_null(wf_safetensors_metadata(f, "other"));
    assert_int_equal(wf_safetensors_metadata_count(f), 2);
    assert_string_equal(wf_safetensors_metadata_get(f, 0).key, "step");
    wf_safetensors_close(f);
}

static void cut_at_every_byte(void **state)
{
    (void)state;
    need_cjson();
    wf_allocator heap = wf_allocator_default();
    wf_st_tensor t[3];
    wf_safetensors *f;
    uint8_t *data;
    size_t size;
    two_tensors(t);
    assert_int_equal(wf_safetensors_write(&heap, TEMP("cut"), t, 3, strings, 2, NULL), WEFT_OK);
    assert_int_equal(wf_file_read(&heap, TEMP("cut"), &data, &size, NULL), WEFT_OK);
    for (size_t n = 0; n < size; n++) {
        weft_error err = {0};
        // A block of exactly n bytes, so that a checker of addresses sees any read behind it.
        temp_write(TEMP("cut"), data, n);
        assert_int_equal(wf_safetensors_open(&heap, TEMP("cut"), &f, &err), WEFT_ERR_FORMAT);
        assert_null(f);
        assert_names_file(err.message, TEMP("cut"));
    }
    wf_free(&heap, data);
}

// Header texts (data_bytes zero bytes behind them) and the whole message behind "path: ".
static const struct {
    const char *header;
    size_t data_bytes;
    weft_status status;
    const char *message;
} wrong_headers[] = {
    {"{\"w\":{\"dtype\":\"F32\",\"shape\":[32,8],\"data_offsets\":[0,65536]}}", 1024,
     WEFT_ERR_FORMAT, "tensor 'w' has data_offsets [0,65536], the file holds 1024 bytes of data"},
    {"{\"w\":{\"dtype\":\"F32\",\"shape\":[32,8],\"data_offsets\":[0,65536]}}", 65536,
     WEFT_ERR_FORMAT, "tensor 'w' has 65536 bytes of data, its shape and dtype need 1024"},
    {"{\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[]}}", 8, WEFT_ERR_FORMAT,
     "tensor 'w' has data_offsets that are not two whole numbers from 0 to 2^53"},
    {"{\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8]}}", 8, WEFT_ERR_FORMAT,
     "tensor 'w' has data_offsets that are not two whole numbers from 0 to 2^53"},
    {"{\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[64,0]}}", 64, WEFT_ERR_FORMAT,
     "tensor 'w' has data_offsets [64,0], the file holds 64 bytes of data"},
    {"{\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[-16,0]}}", 8, WEFT_ERR_FORMAT,
     "tensor 'w' has data_offsets that are not two whole numbers from 0 to 2^53"},
    {"{\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,1099511627792]}}", 8,
     WEFT_ERR_FORMAT,
     "tensor 'w' has data_offsets [0,1099511627792], the file holds 8 bytes of data"},
    {"{\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0.5,8]}}", 8, WEFT_ERR_FORMAT,
     "tensor 'w' has data_offsets that are not two whole numbers from 0 to 2^53"},
    {"{\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,9007199254740993]}}", 8,
     WEFT_ERR_FORMAT, "tensor 'w' has data_offsets that are not two whole numbers from 0 to 2^53"},
    {"{\"w\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,8]}}", 8,
     WEFT_ERR_FORMAT, "tensor 'w' has a shape whose size overflows"},
    {"{\"w\":{\"dtype\":\"F32\",\"shape\":[-2],\"data_offsets\":[0,8]}}", 8, WEFT_ERR_FORMAT,
     "tensor 'w' has a dimension 0 that is not a whole number from 0 to 2^53"},
    {"{\"w\":{\"dtype\":\"F32\",\"shape\":[1e400],\"data_offsets\":[0,8]}}", 8, WEFT_ERR_FORMAT,
     "tensor 'w' has a dimension 0 that is not a whole number from 0 to 2^53"},
    {"{\"w\":{\"dtype\":\"F32\",\"shape\":[NaN],\"data_offsets\":[0,8]}}", 8, WEFT_ERR_FORMAT,
     "header is not JSON from byte 37 on"},
    {"{\"w\":{\"dtype\":\"F32\",\"data_offsets\":[0,8]}}", 8, WEFT_ERR_FORMAT,
     "tensor 'w' has no shape array"},
    {"{\"w\":{\"shape\":[2],\"data_offsets\":[0,8]}}", 8, WEFT_ERR_FORMAT,
     "tensor 'w' has no dtype"},
    {"{\"w\":7}", 0, WEFT_ERR_FORMAT, "tensor 'w' has no dtype"},
    {"{\"w\":{\"dtype\":\"F8_E4M3\",\"shape\":[2],\"data_offsets\":[0,2]}}", 2,
     WEFT_ERR_UNSUPPORTED,
     "tensor 'w' has dtype F8_E4M3, expected F32 F64 F16 BF16 I8 U8 I32 I64 or BOOL"},
    {"{\"w\":{\"dtype\":\"U8\",\"shape\":[1,1,1,1,1,1,1,1,1],\"data_offsets\":[0,1]}}", 1,
     WEFT_ERR_UNSUPPORTED, "tensor 'w' has 9 dimensions, expected at most 8"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},\"b\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[2,6]}}",
     6, WEFT_ERR_FORMAT, "tensor 'b' begins at byte 2 of the data, the one before it ends at 4"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[2,6]}}", 6, WEFT_ERR_FORMAT,
     "tensor 'a' begins at byte 2 of the data, the header ends at 0"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[4,8]}}",
     8, WEFT_ERR_FORMAT, "tensor 'a' is there twice"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]}}", 6, WEFT_ERR_FORMAT,
     "2 bytes of data belong to no tensor"},
    {"{\"__metadata__\":{\"a\":1}}", 0, WEFT_ERR_FORMAT,
     "__metadata__ has 'a', which is not a string"},
    {"{\"__metadata__\":[]}", 0, WEFT_ERR_FORMAT, "__metadata__ is not an object of strings"},
    {"[]", 0, WEFT_ERR_FORMAT, "header is not a JSON object"},
    {"{\"a\":}", 0, WEFT_ERR_FORMAT, "header is not JSON from byte 13 on"},
    {"{} x", 0, WEFT_ERR_FORMAT, "header goes on behind its JSON object"},
};

static void wrong_files(void **state)
{
    (void)state;
    need_cjson();
    wf_allocator heap = wf_allocator_default();
    static uint8_t bytes[70000];
    wf_safetensors *f;
    for (size_t i = 0; i < WF_N_TESTS(wrong_headers); i++) {
        size_t n = strlen(wrong_headers[i].header);
        char expected[600];
        weft_error err = {0};
        memset(bytes, 0, sizeof bytes);
        bytes[0] = (uint8_t)n;
        bytes[1] = (uint8_t)(n >> 8);
        memcpy(bytes + 8, wrong_headers[i].header, n);
        temp_write(TEMP("wrong"), bytes, 8 + n + wrong_headers[i].data_bytes);
        assert_int_equal(wf_safetensors_open(&heap, TEMP("wrong"), &f, &err),
                         wrong_headers[i].status);
        snprintf(expected, sizeof expected, "%s: %s", TEMP("wrong"), wrong_headers[i].message);
        assert_string_equal(err.message, expected);
    }
    temp_write(TEMP("wrong"), "1234567", 7);
    assert_fails(wf_safetensors_open(&heap, TEMP("wrong"), &f, err), WEFT_ERR_FORMAT,
                 TEMP("wrong") ": 7 bytes are too short for a safetensors file");
    temp_write(TEMP("wrong"), "\xFB\xFF\xFF\xFF\xFF\xFF\xFF\xFF{}", 10);
    assert_fails(
        wf_safetensors_open(&heap, TEMP("wrong"), &f, err), WEFT_ERR_FORMAT,
        TEMP(
            "wrong") ": header length 18446744073709551611, expected at most 2 (no safetensors file, or cut short)");
    temp_write(TEMP("wrong"), "", 0);
    assert_fails(wf_safetensors_open(&heap, TEMP("wrong"), &f, err), WEFT_ERR_FORMAT,
                 TEMP("wrong") ": 0 bytes are too short for a safetensors file");
}

static void one_nan(void **state)
{
    (void)state;
    need_cjson();
    wf_allocator heap = wf_allocator_default();
    static const uint32_t f32[3] = {0xFFC12345u, 0x7F800000u, 0x7F800001u};
    static const uint16_t half[2] = {0xFE01, 0xFC00};
    const wf_st_tensor t[] = {
        {.name = "a", .dtype = WEFT_F32, .ndim = 1, .dim = {3}, .data = f32},
        {.name = "b", .dtype = WEFT_F16, .ndim = 1, .dim = {2}, .data = half},
        {.name = "c", .dtype = WEFT_I32, .ndim = 1, .dim = {3}, .data = f32},
    };
    static const uint32_t expected[3] = {0x7FC00000u, 0x7F800000u, 0x7FC00000u};
    static const uint16_t expected_half[2] = {0x7E00, 0xFC00};
    wf_safetensors *f;
    assert_int_equal(wf_safetensors_write(&heap, TEMP("nan"), t, 3, NULL, 0, NULL), WEFT_OK);
    assert_int_equal(wf_safetensors_open(&heap, TEMP("nan"), &f, NULL), WEFT_OK);
    assert_memory_equal(wf_safetensors_find(f, "a")->data, expected, 12);
    assert_memory_equal(wf_safetensors_find(f, "b")->data, expected_half, 4);
    assert_memory_equal(wf_safetensors_find(f, "c")->data, f32, 12);
    wf_safetensors_close(f);
}

static void writer_checks(void **state)
{
    (void)state;
    wf_allocator heap = wf_allocator_default();
    wf_st_tensor t[3];
    wf_safetensors_writer *w;
    two_tensors(t);
    assert_int_equal(wf_safetensors_writer_create(&heap, TEMP("checked"), t, 3, NULL, 0, &w, NULL),
                     WEFT_OK);
    assert_fails(wf_safetensors_writer_append(w, weights, 28, err), WEFT_ERR_USAGE,
                 "safetensors: 28 bytes given, tensor 0 takes 24");
    assert_fails(wf_safetensors_writer_append(w, weights, 3, err), WEFT_ERR_USAGE,
                 "safetensors: 3 bytes are no whole number of f32");
    assert_int_equal(wf_safetensors_writer_append(w, weights, 24, NULL), WEFT_OK);
    assert_fails(wf_safetensors_writer_commit(w, err), WEFT_ERR_USAGE,
                 "safetensors: tensor 2 still wants 8 bytes");
    wf_safetensors_writer_destroy(w);
    assert_false(wf_file_is_regular(TEMP("checked")));
    t[2].name = "none";
    assert_fails(wf_safetensors_write(&heap, TEMP("checked"), t, 3, NULL, 0, err), WEFT_ERR_USAGE,
                 "safetensors: tensor 'none' is given twice");
}

static void allocation_n_fails(void **state)
{
    (void)state;
    need_cjson();
    wf_st_tensor t[3];
    two_tensors(t);
    for (long n = 0;; n++) {
        failing_heap counts = {n, 0};
        wf_allocator failing = {reallocate_failing, &counts};
        wf_safetensors *f = NULL;
        weft_status status = wf_safetensors_write(&failing, TEMP("oom"), t, 3, strings, 2, NULL);
        if (status == WEFT_OK)
            status = wf_safetensors_open(&failing, TEMP("oom"), &f, NULL);
        wf_safetensors_close(f);
        assert_int_equal(counts.held, 0);
        if (status == WEFT_OK)
            break;
        assert_int_equal(status, WEFT_ERR_MEMORY);
    }
}

const struct CMUnitTest wf_tests_safetensors[] = {
    cmocka_unit_test(bytes_are_fixed),
    cmocka_unit_test(reads_back),
    cmocka_unit_test(cut_at_every_byte),
    cmocka_unit_test(wrong_files),
    cmocka_unit_test(one_nan),
    cmocka_unit_test(writer_checks),
    cmocka_unit_test(allocation_n_fails),
};
const unsigned long wf_n_tests_safetensors = WF_N_TESTS(wf_tests_safetensors);
