// Runs that other systems lost: a last batch of one, files that are cut, memory that is not there, paths in every
// script; which device a run is on.
// labels: opencl noasan notsan (what they reserve is above any limit of memory)
#include "case_command.h"
#include "train/train_tools.h"

#include <math.h>

#include "io/safetensors.h"

#define DIR_A TEMP("case-run-a")
#define DIR_B TEMP("case-run-b")

static void train_well(const char *recipe, const char *dir, tiny_how how, int64_t stop_at,
                       tiny_run *run)
{
    memset(run, 0, sizeof *run);
    how.path = tiny_write(recipe);
    how.dir = dir;
    run->stop_at = stop_at;
    if (!how.is_resumed)
        tiny_remove(dir);
    tiny_train(&how, run);
    const weft_status expected = stop_at ? WEFT_ERR_INTERRUPTED : WEFT_OK;
    if (run->status != expected)
        fail_msg("%s", run->err.message);
}

// ---- case 38 (pytorch/pytorch#1381, #4534; FluxML/Flux.jl#1992; torch/nn#1271)
static void write_hundred_and_one(void)
{
    enum { N = 101, PIXELS = 4 };
    uint8_t images[16 + N * PIXELS] = {0, 0, 8, 3, 0, 0, 0, N, 0, 0, 0, 2, 0, 0, 0, 2};
    uint8_t labels[8 + N] = {0, 0, 8, 1, 0, 0, 0, N};
    for (int i = 0; i < N * PIXELS; i++) {
        images[16 + i] = (uint8_t)(i * 97 + i / 7);
        labels[8 + i / PIXELS] = (uint8_t)(i / PIXELS % 4);
    }
    assert_int_equal(wf_directory_create(TEMP("hundred-and-one"), NULL), WEFT_OK);
    static const char *const names[] = {"train", "t10k"};
    for (int i = 0; i < 2; i++) {
        char path[512];
        snprintf(path, sizeof path, TEMP("hundred-and-one") "/%s-images-idx3-ubyte", names[i]);
        temp_write(path, images, sizeof images);
        snprintf(path, sizeof path, TEMP("hundred-and-one") "/%s-labels-idx1-ubyte", names[i]);
        temp_write(path, labels, sizeof labels);
    }
}

// 101 samples in batches of 10 end with a batch of 1, one value for each channel.
static void a_last_batch_of_one(void **state)
{
    static const char recipe[] = "name: one\ndata: {reader: idx, dir: " TEMP(
        "hundred-and-one") "}\n"
                           "model: [flatten, linear: 8, batch_norm, relu, linear: 4]\n"
                           "optimiser: {kind: adam, lr: 1e-2}\n"
                           "train: {batch: 10, epochs: 1}\n";
    static const char *const devices[] = {"cpu", "ref", "opencl"};
    static tiny_run run;
    char first[65];
    (void)state;
    write_hundred_and_one();
    for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++) {
        const char *device =
            i < 2 ? devices[i] : tiny_exact_opencl(); // or a skip, behind the others
        wf_safetensors *file;
        const wf_allocator a = wf_allocator_default();
        train_well(recipe, DIR_A, (tiny_how){.device = device}, 0, &run);
        assert_int_equal(run.n_steps, 11);
        assert_true(isfinite(run.val_loss));
        assert_int_equal(wf_safetensors_open(&a, DIR_A "/weights.safetensors", &file, NULL),
                         WEFT_OK);
        const wf_st_tensor *t = wf_safetensors_find(file, "batch_norm1.running_var");
        assert_non_null(t);
        for (size_t k = 0; k < t->size_bytes / sizeof(float); k++) {
            float variance;
            memcpy(&variance, (const char *)t->data + k * sizeof variance, sizeof variance);
            assert_true(isfinite(variance) && variance > 0.0f);
        }
        wf_safetensors_close(file);
        if (i == 0)
            memcpy(first, run.done.weights_sha256, sizeof first);
        assert_string_equal(run.done.weights_sha256, first);
    }
}

// ---- case 72 (1bit-MONSTER#1606): a checkpoint that is cut is no checkpoint, and no beginning either
static void cut_checkpoints_are_refused(void **state)
{
    static tiny_run whole, run;
    const wf_allocator a = wf_allocator_default();
    const char *path = DIR_B "/checkpoint.safetensors";
    uint8_t *bytes;
    size_t size;
    (void)state;
    train_well(tiny_recipe, DIR_A, (tiny_how){0}, 0, &whole);
    train_well(tiny_recipe, DIR_B, (tiny_how){0}, 6, &run);
    assert_int_equal(wf_file_read(&a, path, &bytes, &size, NULL), WEFT_OK);
    const size_t lengths[] = {0, 7, 8, 500, size / 2, size - 4, size - 1};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        const tiny_how how = {.path = tiny_write(tiny_recipe), .dir = DIR_B, .is_resumed = true};
        temp_write(path, bytes, lengths[i]);
        memset(&run, 0, sizeof run);
        tiny_train(&how, &run);
        assert_int_equal(run.status, WEFT_ERR_FORMAT);
        assert_names_file(run.err.message, path);
        assert_int_equal(run.n_steps, 0);
    }
    temp_write(path, bytes, size);
    wf_free(&a, bytes);
    train_well(tiny_recipe, DIR_B, (tiny_how){.is_resumed = true}, 0, &run);
    assert_string_equal(run.done.weights_sha256, whole.done.weights_sha256);
    // Weights, by the command: no result of a part of a model.
    assert_int_equal(wf_file_read(&a, DIR_B "/weights.safetensors", &bytes, &size, NULL), WEFT_OK);
    temp_write(DIR_B "/weights.safetensors", bytes, size - 1);
    wf_free(&a, bytes);
    case_says("$WEFT eval " DIR_B, 1, "weft: error: " DIR_B "/weights.safetensors: tensor '");
}

// ---- case 61 (coqui TTS#1878): a run that has no room says how many bytes it wanted, and leaves its files
static const char wide_recipe[] = TINY_HEAD "model: [flatten, linear: 20000, relu, linear: 4]\n"
                                            "optimiser: {kind: adam, lr: 1e-3}\n"
                                            "train: {batch: 16, epochs: 2}\n";

static void memory_that_is_not_there(void **state)
{
    static case_said said;
    static tiny_run whole, run;
    int n_refused = 0;
    (void)state;
    train_well(wide_recipe, DIR_A, (tiny_how){0}, 0, &whole);
    train_well(wide_recipe, DIR_B, (tiny_how){0}, 6, &run);
    said.code = 1;
    // From too little for the weights to enough, in KiB.
    for (int limit = 40 << 10; said.code != 0; limit += 8 << 10) {
        char line[512];
        unsigned long long bytes;
        snprintf(line, sizeof line,
                 "ulimit -v %d; $WEFT train " TEMP(
                     "tiny.yaml") " --out " DIR_B " --resume --device cpu --threads 1",
                 limit);
        case_command(&said, line);
        const char *at = strstr(said.text, "weft: error: ");
        if (said.code == 0)
            break;
        if ((said.code != 1 && said.code != 3) || !at || limit > 4 << 20)
            fail_msg("%d KiB: exit code %d, said:\n%s", limit, said.code, said.text);
        n_refused += sscanf(at, "weft: error: memory: %llu bytes are not available", &bytes) == 1;
    }
    print_message("%d runs had too little memory\n", n_refused);
    assert_true(n_refused > 0);
    assert_true(tiny_same_file(DIR_A, DIR_B, "weights.safetensors"));
    assert_true(tiny_same_file(DIR_A, DIR_B, "log.jsonl"));
}

// ---- case 74 (llama.cpp#18571): names in Cyrillic, CJK, with an emoji and a blank
static void names_in_every_script(void **state)
{
#define PLACE TEMP("данные 数据 \xF0\x9F\x98\x80")
    (void)state;
    tiny_data();
    assert_int_equal(wf_directory_create(PLACE, NULL), WEFT_OK);
    temp_write(PLACE "/рецепт.yaml", tiny_recipe, strlen(tiny_recipe));
    tiny_remove(PLACE "/run 1");
    case_says("$WEFT train '" PLACE "/рецепт.yaml' --out '" PLACE
              "/run 1' --device cpu train.epochs=1",
              0, "run in " PLACE "/run 1: ");
    case_says("$WEFT eval '" PLACE "/run 1'", 0, "accuracy");
    case_says("$WEFT train '" PLACE "/нет.yaml'", 1,
              "weft: error: cannot open " PLACE "/нет.yaml: No such file or directory\n");
#undef PLACE
}

// ---- case 66 (llama.cpp#5828, #11129; onnxruntime#23372): the log says where a run is
static void the_device_is_told(void **state)
{
    (void)state;
    tiny_data();
    tiny_write(tiny_recipe);
    tiny_remove(DIR_A);
    case_says("$WEFT train " TEMP("tiny.yaml") " --out " DIR_A " --device ref --steps 1", 0,
              DIR_A " on ref (");
    tiny_remove(DIR_A);
    case_says("$WEFT train " TEMP("tiny.yaml") " --out " DIR_A
                                               " --device cpu --isa scalar --steps 1",
              0, ", scalar, ");
    tiny_remove(DIR_A);
    case_says("$WEFT train " TEMP("tiny.yaml") " --out " DIR_A " --device opencl:9 --steps 1", 3,
              "weft: error: ");
    assert_false(wf_file_is_directory(DIR_A));
}

// Data that are not there are one line, whichever verb wants them.
static void missing_data_are_one_line(void **state)
{
    static case_said said;
    static const char *const verbs[] = {"inspect",      "inspect --json", "train",
                                        "train --json", "lr-find",        "diff cpu ref"};
    (void)state;
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
        char line[512];
        snprintf(line, sizeof line,
                 "$WEFT %s " WEFT_SOURCE_DIR "/recipes/resnet.yaml data.dir=/no/such/data",
                 verbs[i]);
        case_command(&said, line);
        assert_string_equal(said.text,
                            "weft: error: cannot open /no/such/data: No such file or directory\n");
        assert_int_equal(said.code, 1);
    }
}

const struct CMUnitTest wf_tests_case_run[] = {
    cmocka_unit_test(cut_checkpoints_are_refused), cmocka_unit_test(memory_that_is_not_there),
    cmocka_unit_test(missing_data_are_one_line),   cmocka_unit_test(names_in_every_script),
    cmocka_unit_test(the_device_is_told),          cmocka_unit_test(a_last_batch_of_one),
};
const unsigned long wf_n_tests_case_run = WF_N_TESTS(wf_tests_case_run);
