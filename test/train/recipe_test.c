// Recipes: what is read, what is printed, and that the one is the other.
#include "train/train_tools.h"

#include <glob.h>

#include "recipe/recipe.h"

static weft_recipe *read_text(weft_context *context, const char *text, const char *setting)
{
    weft_recipe *recipe;
    weft_error err = {0};
    const char *path = tiny_write(text);
    if (weft_recipe_read(context, path, &setting, setting ? 1 : 0, &recipe, &err) != WEFT_OK)
        fail_msg("%s", err.message);
    return recipe;
}

static void defaults_and_short_forms(void **state)
{
    static const char text[] =
        "name: a\n"
        "data: {dir: /data}\n"
        "model: [max_pool: 2, conv: {out: 4, kernel: [3, 5]}, relu, linear: 10]\n"
        "loss: cross_entropy\n"
        "optimiser: {kind: adam, lr: 1e-3}\n"
        "schedule: one_cycle\n"
        "train: {batch: 8, epochs: 2}\n";
    weft_context *context;
    (void)state;
    assert_int_equal(weft_context_create(NULL, &context, NULL), WEFT_OK);
    weft_recipe *r = read_text(context, text, NULL);
    assert_string_equal(weft_recipe_name(r), "a");
    assert_int_equal(weft_recipe_arithmetic(r), WEFT_EXACT);
    assert_int_equal(r->v.model.layers.n, 4);
    assert_string_equal(r->v.model.layers.v[0].name, "max_pool1");
    assert_string_equal(r->v.model.layers.v[1].name, "conv1");
    assert_int_equal(r->v.model.layers.v[1].kernel.n, 2);
    assert_int_equal(r->v.model.layers.v[1].kernel.v[1], 5);
    assert_true(r->v.model.layers.v[1].has_bias);
    assert_int_equal(r->v.model.layers.v[3].out, 10);
    assert_int_equal(r->v.schedule.kind, WEFT_SCHEDULE_ONE_CYCLE);
    assert_true(r->v.optimizer.beta2 == 0.999 && r->v.optimizer.lr == 1e-3);
    assert_true(r->v.data.normalise.is_on && r->v.data.validation == 0.0);
    assert_int_equal(r->v.train.steps, WF_KEY_UNSET);
    weft_recipe_destroy(r);
    // The two lengths replace each other.
    r = read_text(context, text, "train.steps=7");
    assert_int_equal(r->v.train.steps, 7);
    assert_int_equal(r->v.train.epochs, WF_KEY_UNSET);
    weft_recipe_destroy(r);
    r = read_text(context, text, "data.augment={crop: 2, flip: true}");
    assert_int_equal(r->v.data.augment.crop, 2);
    weft_recipe_destroy(r);
    r = read_text(context, text, "data.augment.crop=3");
    assert_int_equal(r->v.data.augment.crop, 3);
    weft_recipe_destroy(r);
    weft_context_destroy(context);
}

static char *print(const weft_recipe *recipe)
{
    wf_text text;
    wf_text_init(&text, &recipe->allocator);
    assert_int_equal(wf_recipe_print(recipe, &text, NULL), WEFT_OK);
    return text.data;
}

// Printed, read and printed again it is the same text; for all recipes of the project and the small one.
static void prints_what_it_reads(void **state)
{
    static const char *const names[] = {
        "fashion-softmax", "fashion-mlp", "fashion-lenet", "fashion-cnn", "fashion-bn", "resnet",
        "mobilenet",       "unet",        "autoencoder",   "vae",         "bench/unet"};
    weft_context *context;
    (void)state;
    assert_int_equal(weft_context_create(NULL, &context, NULL), WEFT_OK);
    for (size_t i = 0; i <= sizeof names / sizeof names[0]; i++) {
        weft_recipe *first;
        char path[1024] = "";
        weft_error err = {0};
        if (i < sizeof names / sizeof names[0]) {
            snprintf(path, sizeof path, "%s/recipes/%s.yaml", WEFT_SOURCE_DIR, names[i]);
            if (weft_recipe_read(context, path, NULL, 0, &first, &err) != WEFT_OK)
                fail_msg("%s", err.message);
        } else {
            first = read_text(context, tiny_recipe, "data.classes=[yes, a b, \"x\\\"y\", \"1\"]");
        }
        char *a = print(first);
        weft_recipe *second = read_text(context, a, NULL);
        char *b = print(second);
        assert_string_equal(a, b);
        const wf_allocator allocator = first->allocator;
        wf_free(&allocator, a);
        wf_free(&allocator, b);
        weft_recipe_destroy(first);
        weft_recipe_destroy(second);
    }
    weft_context_destroy(context);
}

// `--steps N` is a length for every recipe of the project and each of its phases, also one below its warm-up: the
// schedule that comes of it is accepted, and its first rate is one to learn with.
static float first_rate(weft_context *context, const weft_recipe *recipe, int64_t n_steps)
{
    weft_device *device;
    weft_state *state;
    weft_graph *g;
    weft_program *program;
    weft_error err = {0};
    float lr = 0.0f;
    const weft_schedule_options o = wf_recipe_schedule_options(recipe, n_steps);
    assert_int_equal(weft_device_open(context, "ref", NULL, &device, NULL), WEFT_OK);
    assert_int_equal(weft_state_create(device, &state, NULL), WEFT_OK);
    assert_int_equal(weft_graph_create(context, &g, NULL), WEFT_OK);
    weft_output(g, "lr", weft_schedule(g, weft_scalar(g, WEFT_I64, 0.0), &o));
    if (weft_compile(state, g, NULL, &program, &err) != WEFT_OK)
        fail_msg("%s: %s", weft_recipe_name(recipe), err.message);
    assert_int_equal(weft_program_run(program, NULL), WEFT_OK);
    assert_int_equal(weft_program_read(program, "lr", &lr, sizeof lr, NULL), WEFT_OK);
    weft_program_destroy(program);
    weft_graph_destroy(g);
    weft_state_destroy(state);
    weft_device_close(device);
    return lr;
}

static void any_length_has_a_schedule(void **state)
{
    static const int64_t lengths[] = {1, 2, 3, 30};
    weft_context *context;
    glob_t found;
    (void)state;
    assert_int_equal(weft_context_create(NULL, &context, NULL), WEFT_OK);
    assert_int_equal(glob(WEFT_SOURCE_DIR "/recipes/*.yaml", 0, NULL, &found), 0);
    assert_true(found.gl_pathc >= 20);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
            char setting[64];
            const char *settings[] = {setting};
            weft_recipe *recipe;
            weft_error err = {0};
            snprintf(setting, sizeof setting, "train.steps=%lld", (long long)lengths[k]);
            if (weft_recipe_read(context, found.gl_pathv[i], settings, 1, &recipe, &err) != WEFT_OK)
                fail_msg("%s", err.message);
            for (size_t p = 0; p < (recipe->n_phases ? recipe->n_phases : 1); p++) {
                if (recipe->n_phases)
                    recipe->v = recipe->phases[p].v;
                const float lr = first_rate(context, recipe, lengths[k]);
                assert_true(lr > 0.0f && (double)lr <= 1.000001 * recipe->v.optimizer.lr);
            }
            weft_recipe_destroy(recipe);
        }
    }
    globfree(&found);
    weft_context_destroy(context);
}

static const char family_text[] =
    "name: a\ndata: {reader: synthetic, image: [1, 8, 8]}\n"
    "model: {family: autoencoder, hidden: [30, 20], noise: 0.5}\nloss: {kind: huber, delta: 2}\n"
    "target: image\noptimiser: {kind: sgd, lr: 1}\ntrain: {batch: 1, steps: 1}\n";

static void families_blocks_and_targets(void **state)
{
    weft_context *context;
    weft_recipe *recipe;
    weft_error err = {0};
    const char *setting = "model.family=autoencodr";
    (void)state;
    assert_int_equal(weft_context_create(NULL, &context, NULL), WEFT_OK);
    recipe = read_text(context, family_text, "model.code=7");
    char *text = print(recipe);
    assert_non_null(strstr(text, "\nmodel: {family: autoencoder, kind: dense, hidden: [30, 20], "
                                 "channels: [16, 32], code: 7, activation: relu, noise: 0.5, "
                                 "masking: 0}\n"));
    assert_non_null(strstr(text, "kind: huber"));
    assert_int_equal(recipe->v.target.kind, WF_TARGET_IMAGE);
    wf_free(&recipe->allocator, text);
    weft_recipe_destroy(recipe);
    const char *path = tiny_write(family_text);
    assert_int_equal(weft_recipe_read(context, path, &setting, 1, &recipe, &err), WEFT_ERR_RECIPE);
    assert_non_null(strstr(err.message, "model.family: 'autoencodr', expected "));
    assert_non_null(strstr(err.message, ", did you mean 'autoencoder'"));
    recipe = read_text(context,
                       "name: a\ndata: {dir: /d}\nmodel:\n  - residual: {body: [relu], shortcut: "
                       "[conv: {out: 3, kernel: 1}]}\n  - branch: {paths: [[tanh, relu], []]}\n"
                       "optimiser: {kind: sgd, lr: 1}\ntrain: {batch: 1, steps: 1}\n",
                       NULL);
    const wf_layers *layers = &recipe->v.model.layers;
    assert_int_equal(layers->v[0].shortcut.v[0].out, 3);
    assert_string_equal(layers->v[0].body.v[0].name, "relu1");
    assert_int_equal(layers->v[1].paths.n, 2);
    assert_int_equal(layers->v[1].paths.v[1].n, 0);
    text = print(recipe);
    weft_recipe *second = read_text(context, text, NULL);
    char *again = print(second);
    assert_string_equal(text, again);
    wf_free(&recipe->allocator, text);
    wf_free(&recipe->allocator, again);
    weft_recipe_destroy(recipe);
    weft_recipe_destroy(second);
    weft_context_destroy(context);
}

// cases.md 84: byte order mark, CRLF, no final newline, trailing blanks: one recipe.
static void text_variants(void **state)
{
    static const char *const variants[] = {
        "name: a\ndata: {dir: /d}\nmodel: [linear: 1]\noptimiser: {kind: sgd, lr: 1}\n"
        "train: {batch: 1, steps: 1}\n",
        "\xef\xbb\xbfname: a\ndata: {dir: /d}\nmodel: [linear: 1]\noptimiser: {kind: sgd, lr: 1}\n"
        "train: {batch: 1, steps: 1}\n",
        "name: a\r\ndata: {dir: /d}\r\nmodel: [linear: 1]\r\noptimiser: {kind: sgd, lr: 1}\r\n"
        "train: {batch: 1, steps: 1}\r\n",
        "name: a  \n\ndata: {dir: /d} # here\nmodel: [linear: 1]\noptimiser: {kind: sgd, lr: 1}   \n"
        "train: {batch: 1, steps: 1}",
    };
    weft_context *context;
    char *first = NULL;
    (void)state;
    assert_int_equal(weft_context_create(NULL, &context, NULL), WEFT_OK);
    const wf_allocator allocator = wf_allocator_default();
    for (size_t i = 0; i < sizeof variants / sizeof variants[0]; i++) {
        weft_recipe *recipe = read_text(context, variants[i], NULL);
        char *text = print(recipe);
        if (first)
            assert_string_equal(text, first);
        if (first)
            wf_free(&allocator, text);
        else
            first = text;
        weft_recipe_destroy(recipe);
    }
    wf_free(&allocator, first);
    weft_context_destroy(context);
}

const struct CMUnitTest wf_tests_recipe[] = {
    cmocka_unit_test(defaults_and_short_forms),
    cmocka_unit_test(prints_what_it_reads),
    cmocka_unit_test(any_length_has_a_schedule),
    cmocka_unit_test(families_blocks_and_targets),
    cmocka_unit_test(text_variants),
};
const unsigned long wf_n_tests_recipe = WF_N_TESTS(wf_tests_recipe);
