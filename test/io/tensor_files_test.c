// Weights in one file, in a folder, in shards with an index, and indices that lie.
#include "io/temp_file.h"

#include "io/tensor_files.h"
#include "weft_config.h"

static wf_allocator heap;
static const float values[4] = {1, 2, 3, 4};

static int set_up(void **state)
{
    (void)state;
    heap = wf_allocator_default();
    assert_int_equal(wf_directory_create(TEMP("shards"), NULL), WEFT_OK);
    return 0;
}

static void need_cjson(void)
{
    if (!WEFT_HAVE_CJSON)
        WF_SKIP("built without cJSON");
}

static void write_tensors(const char *path, const char *first, const char *second)
{
    const wf_st_tensor t[] = {
        {.name = first, .dtype = WEFT_F32, .ndim = 1, .dim = {2}, .data = values},
        {.name = second, .dtype = WEFT_F32, .ndim = 1, .dim = {2}, .data = values + 2},
    };
    assert_int_equal(wf_safetensors_write(&heap, path, t, second ? 2 : 1, NULL, 0, NULL), WEFT_OK);
}

#define INDEX TEMP("shards/model.safetensors.index.json")

static void shards(void **state)
{
    (void)state;
    need_cjson();
    wf_tensor_files *f;
    write_tensors(TEMP("shards/1.safetensors"), "b", "a");
    write_tensors(TEMP("shards/2.safetensors"), "c", NULL);
    temp_write_text(INDEX,
                    "{\"metadata\": {\"total_size\": 24}, \"weight_map\": {\"a\": "
                    "\"1.safetensors\", \"b\": \"1.safetensors\", \"c\": \"2.safetensors\"}}");
    const char *const paths[] = {INDEX, TEMP("shards")};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(wf_tensor_files_open(&heap, paths[i], &f, NULL), WEFT_OK);
        assert_int_equal(wf_tensor_files_count(f), 3);
        assert_string_equal(wf_tensor_files_get(f, 0)->name, "a");
        assert_null(wf_tensor_files_get(f, 3));
        assert_memory_equal(wf_tensor_files_find(f, "a")->data, values + 2, 8);
        assert_memory_equal(wf_tensor_files_find(f, "c")->data, values, 8);
        assert_null(wf_tensor_files_find(f, "d"));
        wf_tensor_files_close(f);
    }
    assert_int_equal(wf_tensor_files_open(&heap, TEMP("shards/1.safetensors"), &f, NULL), WEFT_OK);
    assert_int_equal(wf_tensor_files_count(f), 2);
    wf_tensor_files_close(f);
    wf_tensor_files_close(NULL);
}

static void wrong_indices(void **state)
{
    (void)state;
    need_cjson();
    static const struct {
        const char *text;
        weft_status status;
        const char *message;
    } rows[] = {
        {"", WEFT_ERR_FORMAT, INDEX ": no JSON"},
        {"[]", WEFT_ERR_FORMAT, INDEX ": no object weight_map in it"},
        {"{\"weight_map\": {}}", WEFT_ERR_FORMAT, INDEX ": names no tensors"},
        {"{\"weight_map\": {\"a\": 7}}", WEFT_ERR_FORMAT,
         INDEX ": tensor 'a' is not in a file beside the index"},
        {"{\"weight_map\": {\"a\": \"../1.safetensors\"}}", WEFT_ERR_FORMAT,
         INDEX ": tensor 'a' is not in a file beside the index"},
        {"{\"weight_map\": {\"z\": \"1.safetensors\"}}", WEFT_ERR_FORMAT,
         INDEX ": tensor 'z' is not in " TEMP(
             "shards/1.safetensors") ", as "
                                     "model.safetensors.index.json says"},
        {"{\"weight_map\": {\"a\": \"9.safetensors\"}}", WEFT_ERR_FILE,
         "cannot open " TEMP("shards/9.safetensors") ": No such file or directory"},
        {"{\"weight_map\": {\"a\": \"1.safetensors\", \"c\": \"3.safetensors\"}}", WEFT_ERR_FORMAT,
         INDEX ": tensor 'a' is in two of its files"},
    };
    wf_tensor_files *f;
    write_tensors(TEMP("shards/1.safetensors"), "b", "a");
    write_tensors(TEMP("shards/3.safetensors"), "c", "a");
    for (size_t i = 0; i < WF_N_TESTS(rows); i++) {
        temp_write_text(INDEX, rows[i].text);
        assert_fails(wf_tensor_files_open(&heap, INDEX, &f, err), rows[i].status, rows[i].message);
        assert_null(f);
    }
    assert_int_equal(wf_file_remove(INDEX, NULL), WEFT_OK);
    assert_fails(wf_tensor_files_open(&heap, TEMP("shards"), &f, err), WEFT_ERR_FILE,
                 TEMP("shards") ": neither *.safetensors.index.json nor model.safetensors in it");
}

static void cut_at_every_byte(void **state)
{
    (void)state;
    need_cjson();
    static const char text[] = "{\"metadata\": {\"total_size\": 16}, \"weight_map\": {\"a\": "
                               "\"1.safetensors\", \"b\": \"1.safetensors\"}}";
    wf_tensor_files *f;
    write_tensors(TEMP("shards/1.safetensors"), "b", "a");
    for (size_t n = 0; n < sizeof text - 1; n++) {
        temp_write(INDEX, text, n);
        assert_fails(wf_tensor_files_open(&heap, INDEX, &f, err), WEFT_ERR_FORMAT,
                     INDEX ": no JSON");
        assert_null(f);
    }
    assert_int_equal(wf_file_remove(INDEX, NULL), WEFT_OK);
}

static void allocation_n_fails(void **state)
{
    (void)state;
    need_cjson();
    write_tensors(TEMP("shards/1.safetensors"), "b", "a");
    temp_write_text(INDEX, "{\"weight_map\": {\"a\": \"1.safetensors\"}}");
    for (long n = 0;; n++) {
        failing_heap counts = {n, 0};
        wf_allocator a = {reallocate_failing, &counts};
        wf_tensor_files *f;
        const weft_status status = wf_tensor_files_open(&a, TEMP("shards"), &f, NULL);
        wf_tensor_files_close(f);
        assert_int_equal(counts.held, 0);
        if (status == WEFT_OK)
            break;
        assert_int_equal(status, WEFT_ERR_MEMORY);
    }
}

#define TEST(f) cmocka_unit_test_setup(f, set_up)
const struct CMUnitTest wf_tests_tensor_files[] = {
    TEST(shards),
    TEST(wrong_indices),
    TEST(cut_at_every_byte),
    TEST(allocation_n_fails),
};
const unsigned long wf_n_tests_tensor_files = WF_N_TESTS(wf_tests_tensor_files);
