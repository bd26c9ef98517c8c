// Training from what readers give besides images: tables, texts, sounds, folders of pictures; without a recipe; from
// other weights; what the run keeps of its data is what it is asked with afterwards.
#include "train/train_tools.h"

#include "base/text.h"
#include "io/image.h"
#include "io/safetensors.h"
#include "weft_config.h"

#define DIR_A TEMP("reader-run")
#define DIR_B TEMP("reader-again")
#define TABLE TEMP("train.csv")

static wf_allocator heap;

static void train(const char *recipe, const char *dir, tiny_run *run)
{
    const tiny_how how = {.path = recipe, .dir = dir};
    tiny_remove(dir);
    memset(run, 0, sizeof *run);
    tiny_train(&how, run);
}

static int set_up(void **state)
{
    (void)state;
    wf_text text;
    heap = wf_allocator_default();
    if (!WEFT_HAVE_YAML)
        return 0;
    wf_text_init(&text, &heap);
    wf_text_append(&text, "height,colour,kind\n");
    for (int i = 0; i < 120; i++)
        wf_text_printf(&text, "%d,%s,%s\n", i % 40, i % 3 ? "red" : "b,lue",
                       i % 40 < 20 ? "short" : "long");
    temp_write_text(TABLE, "");
    FILE *f = fopen(TABLE, "w");
    assert_non_null(f);
    for (const char *c = wf_text_str(&text); *c; c++) {
        // The comma within a cell wants quotes.
        if (!strncmp(c, "b,lue", 5)) {
            fputs("\"b,lue\"", f);
            c += 4;
        } else {
            fputc(*c, f);
        }
    }
    fclose(f);
    wf_text_deinit(&text);
    return 0;
}

static const char table_recipe[] = "name: table\n"
                                   "seed: 1\n"
                                   "data: {file: " TABLE ", validation: 0.25, stratified: true}\n"
                                   "model: [linear: 8, relu, linear: {name: head, out: 2}]\n"
                                   "optimiser: {kind: adam, lr: 0.05}\n"
                                   "train: {batch: 16, epochs: 8}\n";

static void need_yaml(void)
{
    if (!WEFT_HAVE_YAML || !WEFT_HAVE_CJSON)
        WF_SKIP("built without libyaml or cJSON");
}

typedef struct {
    int64_t n, n_right;
    char last[1100];
} told;

static void take(void *user, const weft_prediction *p)
{
    told *t = user;
    t->n++;
    t->n_right += p->label == p->predicted;
    snprintf(t->last, sizeof t->last, "%s %s %s", p->source, p->class_names[0],
             p->class_names[p->n_classes - 1]);
}

static void predict(const char *dir, const char *file, told *t, weft_status wanted)
{
    weft_context *context;
    weft_recipe *recipe;
    weft_device *device;
    weft_error err = {0};
    weft_predict_options options = WEFT_PREDICT_OPTIONS_INIT;
    const char *const files[] = {file};
    memset(t, 0, sizeof *t);
    assert_int_equal(weft_context_create(NULL, &context, NULL), WEFT_OK);
    if (weft_recipe_read_run(context, dir, NULL, 0, &recipe, &err) != WEFT_OK)
        fail_msg("%s", err.message);
    assert_int_equal(weft_device_open(context, "cpu", NULL, &device, NULL), WEFT_OK);
    options.files = files;
    options.n_files = 1;
    const weft_status status = weft_predict_run(recipe, device, dir, &options, take, t, &err);
    if (status != wanted)
        fail_msg("%s", err.message);
    if (status != WEFT_OK)
        snprintf(t->last, sizeof t->last, "%s", err.message);
    weft_device_close(device);
    weft_recipe_destroy(recipe);
    weft_context_destroy(context);
}

// A table: learnt, asked of other rows without the data, trained again from what the run kept.
static void table(void **state)
{
    (void)state;
    need_yaml();
    tiny_run run, again;
    told t;
    train(tiny_write(table_recipe), DIR_A, &run);
    if (run.status != WEFT_OK)
        fail_msg("%s", run.err.message);
    assert_true(run.val_accuracy > 0.9);
    assert_non_null(
        strstr(run.log, "120 rows: height number, colour category of 2, kind target of 2"));
    train(DIR_A "/recipe.yaml", DIR_B, &again);
    assert_int_equal(again.status, WEFT_OK);
    assert_true(tiny_same_file(DIR_A, DIR_B, "weights.safetensors"));
    // Its own columns are found by name, in any order; the target may be missing.
    temp_write_text(TEMP("few.csv"),
                    "kind,height,colour\nshort,3,red\nlong,39,\"b,lue\"\nlong,35,green\n");
    assert_int_equal(rename(TABLE, TABLE ".away"), 0);
    predict(DIR_A, TEMP("few.csv"), &t, WEFT_OK);
    assert_int_equal(t.n, 3);
    assert_int_equal(t.n_right, 3);
    assert_string_equal(t.last, TEMP("few.csv") " row 3 long short");
    temp_write_text(TEMP("few.csv"), "height\n3\n");
    predict(DIR_A, TEMP("few.csv"), &t, WEFT_ERR_FORMAT);
    assert_string_equal(t.last,
                        TEMP("few.csv") ": no column 'colour', the model was trained with it");
    assert_int_equal(rename(TABLE ".away", TABLE), 0);
}

// The test part is a file of its own, read by what was learnt from the other.
static void parts_by_file(void **state)
{
    (void)state;
    need_yaml();
    tiny_run run;
    temp_write_text(TEMP("test.csv"),
                    "colour,kind,height\nred,short,3\nred,long,39\nred,long,25\n");
    train(tiny_write("name: parts\n"
                     "data: {file: " TABLE
                     ", test: " TEMP("test.csv") ", validation: test}\n"
                                                 "model: [linear: 8, relu, linear: 2]\n"
                                                 "optimiser: {kind: adam, lr: 0.05}\n"
                                                 "train: {batch: 16, epochs: 8}\n"),
          DIR_A, &run);
    if (run.status != WEFT_OK)
        fail_msg("%s", run.err.message);
    assert_true(run.val_accuracy == 1.0);
    temp_write_text(TEMP("test.csv"), "colour,kind,height\nred,tall,3\n");
    train(tiny_write("name: parts\n"
                     "data: {file: " TABLE
                     ", test: " TEMP("test.csv") ", validation: test}\n"
                                                 "model: [linear: 2]\n"
                                                 "optimiser: {kind: adam, lr: 0.05}\n"
                                                 "train: {batch: 16, epochs: 1}\n"),
          DIR_A, &run);
    assert_int_equal(run.status, WEFT_ERR_FORMAT);
    assert_non_null(strstr(run.err.message, // the folder is told whole
                           "/test.csv: line 2, column 2: 'tall' is none of the 2 classes"));
}

// Another program's names and a head of its own; in half precision; what does not fit is named.
static void other_weights(void **state)
{
    (void)state;
    need_yaml();
    tiny_run run;
    static const uint16_t halves[8 * 3] = {0x3C00, 0x4000}; // 1, 2, 0 ...
    static const float bias[8] = {0.5f};
    const wf_st_tensor tensors[] = {
        {.name = "net.fc.weight", .dtype = WEFT_F16, .ndim = 2, .dim = {8, 3}, .data = halves},
        {.name = "net.fc.bias", .dtype = WEFT_F32, .ndim = 1, .dim = {8}, .data = bias},
        {.name = "classifier.weight", .dtype = WEFT_F32, .ndim = 1, .dim = {8}, .data = bias},
    };
    const char *const path = TEMP("other.safetensors");
    assert_int_equal(wf_safetensors_write(&heap, path, tensors, 3, NULL, 0, NULL), WEFT_OK);
    char recipe[1200];
    static const struct {
        const char *init;
        const char *message;
    } rows[] = {
        {"file: other.safetensors",
         "other.safetensors: no tensor for 'head.bias', f32[2] (map: renames one, new: begins without)"},
        {"file: other.safetensors, new: [\"head.*\"]",
         "other.safetensors: no tensor for 'linear1.bias', f32[8] (map: renames one, new: begins "
         "without)"},
        {"file: other.safetensors, new: [\"head.*\"], map: [\"net.fc.bias -> linear1.weight\"]",
         "other.safetensors: no tensor for 'linear1.bias', f32[8] (map: renames one, new: begins "
         "without)"},
        {"file: other.safetensors, new: [\"head.*\"], map: [\"net.fc.* > x\"]",
         "train.init_from.map: 'net.fc.* > x', expected 'from -> to'"},
        {"file: other.safetensors, new: [\"*\"], map: [\"net.fc.* -> a\"]",
         "other.safetensors: tensors 'net.fc.bias' and 'net.fc.weight' both become 'a'"},
        {"file: other.safetensors, new: [\"head.*\", \"*.bias\"], map: [\"classifier.* -> linear1.*\"]",
         "other.safetensors: tensor 'classifier.weight' is f32[8], the model's 'linear1.weight' is "
         "f32[8,3]"},
        {"file: none.safetensors", "cannot open "},
        {"file: other.safetensors, new: [\"head.*\"], map: [\"net.fc.* -> linear1.*\"]", NULL},
    };
    for (size_t i = 0; i < WF_N_TESTS(rows); i++) {
        snprintf(recipe, sizeof recipe,
                 "%.*s, init_from: {%s}}\ngroups: [{match: \"linear1.*\", frozen: true}]\n",
                 (int)(sizeof table_recipe - 3), table_recipe, rows[i].init);
        train(tiny_write(recipe), DIR_B, &run);
        if (rows[i].message) {
            assert_true(run.status != WEFT_OK);
            if (!strstr(run.err.message, rows[i].message))
                fail_msg("%s", run.err.message);
        } else if (run.status != WEFT_OK) {
            fail_msg("%s", run.err.message);
        }
    }
    assert_non_null(strstr(run.log,
                           "2 of the model's 4 variables begin with its tensors, 1 tensors are "
                           "not used"));
    // Frozen: they are still what they began as.
    wf_safetensors *file;
    assert_int_equal(wf_safetensors_open(&heap, DIR_B "/weights.safetensors", &file, NULL),
                     WEFT_OK);
    float weight[3], first;
    memcpy(weight, wf_safetensors_find(file, "linear1.weight")->data, sizeof weight);
    memcpy(&first, wf_safetensors_find(file, "linear1.bias")->data, sizeof first);
    assert_true(weight[0] == 1.0f && weight[1] == 2.0f && weight[2] == 0.0f && first == 0.5f);
    wf_safetensors_close(file);
}

static void text(void **state)
{
    (void)state;
    need_yaml();
    tiny_run run, again;
    FILE *f = fopen(TEMP("train.txt"), "w");
    assert_non_null(f);
    for (int i = 0; i < 200; i++)
        fprintf(f, "abc \"d\": %d\n", i % 10);
    fclose(f);
    train(tiny_write("name: text\n"
                     "data: {file: " TEMP("train.txt") ", context: 16, validation: 0.2}\n"
                                                       "model: {family: rnn, width: 16}\n"
                                                       "optimiser: {kind: adam, lr: 0.02}\n"
                                                       "train: {batch: 8, steps: 20}\n"),
          DIR_A, &run);
    if (run.status != WEFT_OK)
        fail_msg("%s", run.err.message);
    assert_true(run.loss[19] < run.loss[0]);
    uint8_t *recipe;
    size_t size;
    assert_int_equal(wf_file_read(&heap, DIR_A "/recipe.yaml", &recipe, &size, NULL), WEFT_OK);
    assert_non_null(strstr((char *)recipe, "vocabulary: \"\\n \\\"0123456789:abcd\""));
    wf_free(&heap, recipe);
    train(DIR_A "/recipe.yaml", DIR_B, &again);
    assert_int_equal(again.status, WEFT_OK);
    assert_true(tiny_same_file(DIR_A, DIR_B, "weights.safetensors"));
}

// Two folders of pictures and a name of a network.
static void without_recipe(void **state)
{
    (void)state;
    need_yaml();
    if (!WEFT_HAVE_PNG || !WEFT_HAVE_ZLIB)
        WF_SKIP("built without libpng");
    weft_context *context;
    weft_recipe *recipe;
    weft_device *device;
    weft_error why = {0};
    told t;
    static const char *const settings[] = {"data.image=[1, 8, 8]", "train.steps=6",
                                           "train.batch=8"};
    assert_int_equal(wf_directory_create(TEMP("shades/dark"), NULL), WEFT_OK);
    assert_int_equal(wf_directory_create(TEMP("shades/light"), NULL), WEFT_OK);
    for (int i = 0; i < 40; i++) {
        char path[300];
        wf_image image;
        assert_int_equal(wf_image_init(&image, &heap, 8 + i % 3, 9, 1, NULL), WEFT_OK);
        memset(image.pixels, i % 2 ? 200 + i : 20 + i, (size_t)(9 * image.height));
        snprintf(path, sizeof path, "%s/%s/%d.png", TEMP("shades"), i % 2 ? "light" : "dark", i);
        assert_int_equal(wf_png_write(&heap, path, &image, NULL), WEFT_OK);
        wf_image_deinit(&image);
    }
    assert_int_equal(weft_context_create(NULL, &context, NULL), WEFT_OK);
    assert_fails(weft_recipe_make(context, TEMP("nowhere"), "mlp", NULL, 0, &recipe, err),
                 WEFT_ERR_FILE, "cannot open " TEMP("nowhere") ": No such file or directory");
    assert_fails(
        weft_recipe_make(context, TEMP("shades/dark"), "mlp", NULL, 0, &recipe, err),
        WEFT_ERR_FORMAT,
        TEMP("shades/dark") ": no reader knows it, expected folders of pictures or sounds by "
                            "class, .csv, .txt, .npz, IDX or CIFAR files");
    if (weft_recipe_make(context, TEMP("shades"), "mlp", settings, 3, &recipe, &why) != WEFT_OK)
        fail_msg("%s", why.message);
    assert_string_equal(weft_recipe_name(recipe), "mlp");
    assert_int_equal(weft_device_open(context, "cpu", NULL, &device, NULL), WEFT_OK);
    weft_train_options options = WEFT_TRAIN_OPTIONS_INIT;
    options.run_dir = DIR_A;
    tiny_remove(DIR_A);
    if (weft_train_run(recipe, device, &options, NULL, &why) != WEFT_OK)
        fail_msg("%s", why.message);
    weft_device_close(device);
    weft_recipe_destroy(recipe);
    weft_context_destroy(context);
    predict(DIR_A, TEMP("shades/light/1.png"), &t, WEFT_OK);
    assert_string_equal(t.last, TEMP("shades/light/1.png") " dark light");
    predict(DIR_A, TABLE, &t, WEFT_ERR_FORMAT);
    assert_string_equal(t.last, TABLE ": neither a PNG nor a JPEG nor a WebP file");
}

// NAME stands for NAME.train and NAME.test.
static void without_recipe_from_two_files(void **state)
{
    (void)state;
    need_yaml();
    static const char *const parts[] = {TEMP("parity.train"), TEMP("parity.test")};
    static const char xor [] = "4 2 1\n0 0\n0\n0 1\n1\n1 0\n1\n1 1\n0\n";
    weft_context *context;
    weft_recipe *recipe;
    weft_error why = {0};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(wf_file_write(&heap, parts[i], xor, sizeof xor -1, NULL), WEFT_OK);
    }
    assert_int_equal(weft_context_create(NULL, &context, NULL), WEFT_OK);
    if (weft_recipe_make(context, TEMP("parity"), "mlp", NULL, 0, &recipe, &why) != WEFT_OK)
        fail_msg("%s", why.message);
    weft_recipe_destroy(recipe);
    weft_context_destroy(context);
}

#define TEST(f) cmocka_unit_test_setup(f, set_up)
const struct CMUnitTest wf_tests_reader_train[] = {
    TEST(table), TEST(parts_by_file),  TEST(other_weights),
    TEST(text),  TEST(without_recipe), TEST(without_recipe_from_two_files),
};
const unsigned long wf_n_tests_reader_train = WF_N_TESTS(wf_tests_reader_train);
