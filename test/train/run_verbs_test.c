// A finished run: evaluated, asked, verified, inspected. Weights that are not the model's are refused.
#include "train/train_tools.h"

#include <math.h>

#include "io/image.h"
#include "io/safetensors.h"
#include "train/trainer.h"

#define DIR_A TEMP("verbs-run")

typedef struct opened {
    weft_context *context;
    weft_recipe *recipe;
    weft_device *device;
} opened;

static void open_run(opened *o, const char *dir, const char *device)
{
    weft_error err = {0};
    assert_int_equal(weft_context_create(NULL, &o->context, NULL), WEFT_OK);
    if (weft_recipe_read_run(o->context, dir, NULL, 0, &o->recipe, &err) != WEFT_OK)
        fail_msg("%s", err.message);
    assert_int_equal(weft_device_open(o->context, device, NULL, &o->device, NULL), WEFT_OK);
}

static void close_run(opened *o)
{
    weft_device_close(o->device);
    weft_recipe_destroy(o->recipe);
    weft_context_destroy(o->context);
}

static void make_run(tiny_run *run)
{
    tiny_remove(DIR_A);
    const tiny_how how = {.path = tiny_write(tiny_recipe), .dir = DIR_A};
    memset(run, 0, sizeof *run);
    tiny_train(&how, run);
    assert_int_equal(run->status, WEFT_OK);
}

// cases.md 40: saved running statistics give the accuracy that the training saw.
static void evaluates_to_what_training_saw(void **state)
{
    tiny_run run;
    opened o;
    weft_eval_result result;
    weft_eval_options options = WEFT_EVAL_OPTIONS_INIT;
    (void)state;
    make_run(&run);
    open_run(&o, DIR_A, "cpu");
    assert_int_equal(weft_eval_run(o.recipe, o.device, DIR_A, NULL, &result, NULL), WEFT_OK);
    assert_int_equal(result.n_samples, TINY_TEST);
    assert_true(result.loss == run.val_loss && result.accuracy == run.val_accuracy);
    options.part = "train";
    options.is_best = true;
    assert_int_equal(weft_eval_run(o.recipe, o.device, DIR_A, &options, &result, NULL), WEFT_OK);
    assert_int_equal(result.n_samples, TINY_TRAIN);
    options.part = "tset";
    assert_fails(weft_eval_run(o.recipe, o.device, DIR_A, &options, &result, err), WEFT_ERR_NAME,
                 "data: no part 'tset', expected test, train or validation, did you mean 'test'");
    close_run(&o);
}

typedef struct said {
    int n;
    int64_t label, predicted;
    char source[128];
    float probabilities[2][TINY_CLASSES];
} said;

static void keep(void *user, const weft_prediction *p)
{
    said *s = user;
    float sum = 0.0f;
    assert_int_equal(p->n_classes, TINY_CLASSES);
    for (int i = 0; i < TINY_CLASSES; i++) {
        sum += p->probabilities[i];
        s->probabilities[s->n % 2][i] = p->probabilities[i];
    }
    assert_true(fabsf(sum - 1.0f) < 1e-5f);
    s->label = p->label;
    s->predicted = p->predicted;
    snprintf(s->source, sizeof s->source, "%s", p->source);
    s->n++;
}

static void predicts_samples_and_files(void **state)
{
    tiny_run run;
    opened o;
    said s = {0};
    const int64_t five = 5, none = TINY_TEST;
    const char *file = TEMP("five.png");
    weft_predict_options options = WEFT_PREDICT_OPTIONS_INIT;
    (void)state;
    make_run(&run);
    open_run(&o, DIR_A, "ref");
    options.indices = &five;
    options.n_indices = 1;
    assert_int_equal(weft_predict_run(o.recipe, o.device, DIR_A, &options, keep, &s, NULL),
                     WEFT_OK);
    assert_int_equal(s.n, 1);
    assert_string_equal(s.source, "test 5");
    // The same sample as a picture says the same.
    wf_file_map map;
    wf_image image;
    const wf_allocator a = wf_allocator_default();
    assert_int_equal(wf_file_map_open(TEMP("tiny-data/t10k-images-idx3-ubyte"), &map, NULL),
                     WEFT_OK);
    assert_int_equal(wf_image_init(&image, &a, TINY_SIDE, TINY_SIDE, 1, NULL), WEFT_OK);
    memcpy(image.pixels, map.data + 16 + 5 * TINY_SIDE * TINY_SIDE, TINY_SIDE * TINY_SIDE);
    wf_file_map_close(&map);
    const weft_status status = wf_png_write(&a, file, &image, NULL);
    wf_image_deinit(&image);
    if (status == WEFT_OK) {
        options.n_indices = 0;
        options.files = &file;
        options.n_files = 1;
        assert_int_equal(weft_predict_run(o.recipe, o.device, DIR_A, &options, keep, &s, NULL),
                         WEFT_OK);
        assert_int_equal(s.n, 2);
        assert_int_equal(s.label, -1);
        assert_memory_equal(s.probabilities[0], s.probabilities[1], sizeof s.probabilities[0]);
        options.n_files = 0;
    }
    options.indices = &none;
    options.n_indices = 1;
    assert_fails(weft_predict_run(o.recipe, o.device, DIR_A, &options, keep, &s, err),
                 WEFT_ERR_INDEX, "sample 37, expected 0 to 36");
    close_run(&o);
}

static void replace(const char *name, const char *from, const char *to)
{
    char path[512];
    uint8_t *data;
    size_t size;
    const wf_allocator a = wf_allocator_default();
    snprintf(path, sizeof path, DIR_A "/%s", name);
    assert_int_equal(wf_file_read(&a, path, &data, &size, NULL), WEFT_OK);
    char *at = strstr((char *)data, from);
    assert_non_null(at);
    memcpy(at, to, strlen(to));
    temp_write(path, data, size);
    wf_free(&a, data);
}

// One digit of the third step's digest.
static void change_digest(void)
{
    uint8_t *data;
    size_t size;
    const wf_allocator a = wf_allocator_default();
    assert_int_equal(wf_file_read(&a, DIR_A "/receipt.json", &data, &size, NULL), WEFT_OK);
    char *at = strstr((char *)data, "step_digests") + strlen("step_digests\"");
    for (int quotes = 0; quotes < 5; at++) {
        quotes += *at == '"';
    }
    *at = *at == '0' ? '1' : '0';
    temp_write(DIR_A "/receipt.json", data, size);
    wf_free(&a, data);
}

static void verifies_and_finds_a_difference(void **state)
{
    tiny_run run;
    opened o;
    weft_verify_result result;
    (void)state;
    make_run(&run);
    open_run(&o, DIR_A, "ref");
    assert_int_equal(weft_verify_run(o.recipe, o.device, DIR_A, 0, NULL, &result, NULL), WEFT_OK);
    assert_int_equal(result.n_steps, 18);
    assert_int_equal(result.first_different, 0);
    assert_true(result.are_weights_compared && result.are_weights_equal);
    assert_int_equal(weft_verify_run(o.recipe, o.device, DIR_A, 4, NULL, &result, NULL), WEFT_OK);
    assert_int_equal(result.n_steps, 4);
    assert_false(result.are_weights_compared);
    change_digest();
    assert_int_equal(weft_verify_run(o.recipe, o.device, DIR_A, 0, NULL, &result, NULL), WEFT_OK);
    assert_int_equal(result.first_different, 3);
    close_run(&o);
    // Another recipe is not verified against this receipt.
    replace("recipe.yaml", "seed: 3", "seed: 4");
    open_run(&o, DIR_A, "cpu");
    weft_error err = {0};
    assert_int_equal(weft_verify_run(o.recipe, o.device, DIR_A, 0, NULL, &result, &err),
                     WEFT_ERR_FORMAT);
    assert_non_null(strstr(err.message, "recipe.yaml is not the recipe of the receipt"));
    close_run(&o);
}

// A receipt that is cut at any byte is none.
static void cut_receipts_are_named(void **state)
{
    tiny_run run;
    wf_receipt receipt;
    const wf_allocator a = wf_allocator_default();
    const char *path = DIR_A "/receipt.json";
    wf_file_map map;
    (void)state;
    make_run(&run);
    assert_int_equal(wf_file_map_open(path, &map, NULL), WEFT_OK);
    const size_t size = map.size_bytes;
    wf_file_map_close(&map);
    assert_int_equal(wf_receipt_load(&a, DIR_A, &receipt, NULL), WEFT_OK);
    wf_receipt_deinit(&receipt);
    for (size_t n = size - 1; n-- > 0;) { // the last byte is the last line's end
        temp_cut(path, n);
        assert_fails(wf_receipt_load(&a, DIR_A, &receipt, err), WEFT_ERR_FORMAT,
                     DIR_A "/receipt.json: no JSON, expected a receipt");
    }
}

static void write_weights(const char *name, const char *tensor, int64_t n)
{
    const float data[8] = {0};
    const wf_allocator a = wf_allocator_default();
    wf_st_tensor t = {.name = tensor, .dtype = WEFT_F32, .ndim = 1, .dim = {n}, .data = data};
    char path[512];
    snprintf(path, sizeof path, DIR_A "/%s", name);
    assert_int_equal(wf_safetensors_write(&a, path, &t, 1, NULL, 0, NULL), WEFT_OK);
}

static void foreign_weights_are_refused(void **state)
{
    tiny_run run;
    opened o;
    weft_eval_result result;
    (void)state;
    make_run(&run);
    open_run(&o, DIR_A, "cpu");
    write_weights("weights.safetensors", "batch_norm1.bias", 5);
    assert_fails(weft_eval_run(o.recipe, o.device, DIR_A, NULL, &result, err), WEFT_ERR_FORMAT,
                 DIR_A
                 "/weights.safetensors: tensor 'batch_norm1.bias' is f32[5], expected f32[6]");
    write_weights("weights.safetensors", "batch_norm1.bias", 6);
    assert_fails(weft_eval_run(o.recipe, o.device, DIR_A, NULL, &result, err), WEFT_ERR_FORMAT,
                 DIR_A
                 "/weights.safetensors: no tensor 'batch_norm1.running_mean', expected f32[6]");
    close_run(&o);
}

typedef struct seen {
    int n_layers, n_memory;
    int64_t n_parameters;
    uint64_t planned_bytes[2];
} seen;

static void see_layer(void *user, const weft_layer_info *info)
{
    seen *s = user;
    s->n_layers++;
    s->n_parameters += info->n_parameters;
    if (s->n_layers == 1) {
        assert_string_equal(info->name, "conv1");
        assert_int_equal(info->ndim, 3);
        assert_int_equal(info->dims[0], 6);
        assert_int_equal(info->flops, 2 * 9 * 6 * 64);
    }
}

static void see_memory(void *user, const weft_memory_info *info)
{
    seen *s = user;
    s->planned_bytes[s->n_memory++] = info->planned_bytes;
}

static void see_no_script(void *user, const weft_script_node *node)
{
    (void)user;
    fail_msg("a network of pictures has node %s", node->name);
}

static void inspects(void **state)
{
    tiny_run run;
    opened o;
    seen s = {0};
    const int64_t batches[] = {16, 64};
    const weft_inspect_events events = {sizeof events, &s, see_layer, see_memory, see_no_script};
    (void)state;
    make_run(&run);
    open_run(&o, DIR_A, "cpu");
    assert_int_equal(weft_inspect_run(o.recipe, o.device, batches, 2, &events, NULL), WEFT_OK);
    assert_int_equal(s.n_layers, 9);
    assert_int_equal(s.n_parameters, 54 + 12 + 96 * 12 + 12 + 12 * 4 + 4);
    assert_int_equal(s.n_memory, 2);
    // What inspect says is what the training planned.
    assert_true(s.planned_bytes[0] == run.done.planned_bytes);
    assert_true(s.planned_bytes[1] > s.planned_bytes[0]);
    close_run(&o);
}

const struct CMUnitTest wf_tests_run_verbs[] = {
    cmocka_unit_test(evaluates_to_what_training_saw),  cmocka_unit_test(predicts_samples_and_files),
    cmocka_unit_test(verifies_and_finds_a_difference), cmocka_unit_test(cut_receipts_are_named),
    cmocka_unit_test(foreign_weights_are_refused),     cmocka_unit_test(inspects),
};
const unsigned long wf_n_tests_run_verbs = WF_N_TESTS(wf_tests_run_verbs);
