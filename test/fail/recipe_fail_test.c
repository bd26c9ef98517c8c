// Every wrong recipe has one exact message: file, line, column, what was wrong, what was expected, and the
// nearest valid word. cases.md 65, 84, 86.
#include "train/train_tools.h"

#include <locale.h>

#define FILE_NAME TEMP("wrong.yaml")
#define HEAD "name: a\ndata: {dir: .}\n"
#define MODEL "model: [flatten, linear: 10]\n"
#define REST "optimiser: {kind: sgd, lr: 0.1}\ntrain: {batch: 8, epochs: 1}\n"
#define LAYERS                                                                                     \
    "linear, conv, conv_transpose, residual, branch, max_pool, mean_pool, global_max_pool, "       \
    "global_mean_pool, adaptive_max_pool, adaptive_mean_pool, batch_norm, layer_norm, dropout, "   \
    "upsample, resize, flatten, reshape, relu, relu6, leaky_relu, gelu, gelu_tanh, silu, tanh, sigmoid, softplus or softmax"
#define KEYS                                                                                       \
    "name, seed, arithmetic, storage, data, model, loss, target, optimiser, groups, schedule, "    \
    "train or phases"

typedef struct wrong {
    const char *text;
    const char *setting; // of the command line, or NULL
    const char *message; // behind the file's name and ':'; with a setting, the whole
} wrong;

static const wrong table[] = {
    {"", NULL, " empty, expected a recipe"},
    {"- a\n", NULL, "1:1: a list, expected a recipe: a map of keys"},
    {"name: [a\n", NULL,
     "2:1: no YAML, did not find expected ',' or ']' while parsing a flow "
     "sequence"},
    {"name: a\n\tseed: 1\n", NULL,
     "2:1: no YAML, found a tab character that violates "
     "indentation while scanning a plain scalar"},
    {"name: a\n---\nname: b\n", NULL, "3:1: a second document, expected one"},
    {"name: a\nseed: 1\nname: b\n", NULL, "3:1: key 'name' is given twice, first in line 1"},
    {"name: a\n", NULL, "1:1: no key 'data', expected one"},
    {HEAD MODEL "polcy: 1\n" REST, NULL, "4:1: unknown key 'polcy', expected " KEYS},
    {HEAD MODEL "shedule: constant\n" REST, NULL,
     "4:1: unknown key 'shedule', expected " KEYS ", did you mean 'schedule'"},
    {HEAD MODEL "pahses: [{name: a}]\n" REST, NULL,
     "4:1: unknown key 'pahses', expected " KEYS ", did you mean 'phases'"},
    {HEAD MODEL "schedule: cosin\n" REST, NULL,
     "4:11: schedule.kind: 'cosin', expected constant, linear, cosine, step, one_cycle or wsd, did you "
     "mean 'cosine'"},
    {HEAD MODEL "schedule:\n  kind: constant\n  gamma: 0.5\n" REST, NULL,
     "6:3: schedule.gamma: kind constant has no such key, expected it with step"},
    {HEAD MODEL "loss: [1]\n" REST, NULL, "4:7: loss: a list, expected a map"},
    {HEAD MODEL "optimiser: {kind: adamw, lr: 1, momentum: 0.9}\ntrain: {batch: 8, epochs: 1}\n",
     NULL,
     "4:33: optimiser.momentum: kind adamw has no such key, expected it with sgd, "
     "rmsprop or muon"},
    {HEAD MODEL "optimiser: {kind: sgd}\ntrain: {batch: 8, epochs: 1}\n", NULL,
     "4:12: optimiser: no key 'lr', expected one"},
    {HEAD MODEL "optimiser: {kind: sgd, lr: -1}\ntrain: {batch: 8, epochs: 1}\n", NULL,
     "4:28: optimiser.lr: '-1', expected a number, above 0"},
    {HEAD MODEL "optimiser: {kind: sgd, lr: nan}\ntrain: {batch: 8, epochs: 1}\n", NULL,
     "4:28: optimiser.lr: 'nan', expected a number, above 0"},
    {HEAD MODEL "optimiser: {kind: sgd, lr: 1e999}\ntrain: {batch: 8, epochs: 1}\n", NULL,
     "4:28: optimiser.lr: '1e999', expected a number, above 0"},
    {HEAD MODEL
     "optimiser: {kind: sgd, lr: 0.1}\ntrain: {batch: 99999999999999999999, epochs: 1}\n",
     NULL, "5:16: train.batch: '99999999999999999999', expected a whole number, 1 to 1000000"},
    {HEAD MODEL "optimiser: {kind: sgd, lr: 0,1}\ntrain: {batch: 8, epochs: 1}\n", NULL,
     "4:30: unknown key '1' in optimiser, expected kind, lr, momentum, nesterov, beta1, beta2, "
     "alpha, epsilon, centered, lr_decay, initial_sum, weight_decay or decay_all"},
    {HEAD MODEL "optimiser: {kind: sgd, lr: \"0.1\"}\ntrain: {batch: 8, epochs: 1}\n", NULL,
     "4:28: optimiser.lr: '0.1', expected a number, above 0"},
    {HEAD MODEL "optimiser: {kind: sgd, lr: 0.1, nesterov: true}\ntrain: {batch: 8, epochs: 1}\n",
     NULL, "4:33: optimiser.nesterov: momentum is 0, expected above 0"},
    {HEAD MODEL "optimiser: {kind: sgd, lr: 0.1}\ntrain: {batch: many, epochs: 1}\n", NULL,
     "5:16: train.batch: 'many', expected a whole number, 1 to 1000000"},
    {HEAD MODEL "optimiser: {kind: sgd, lr: 0.1}\ntrain: {batch: 0, epochs: 1}\n", NULL,
     "5:16: train.batch: '0', expected a whole number, 1 to 1000000"},
    {HEAD MODEL "optimiser: {kind: sgd, lr: 0.1}\ntrain: {batch: 8}\n", NULL,
     "5:8: train: no key 'epochs' and no 'steps', expected one"},
    {HEAD MODEL "optimiser: {kind: sgd, lr: 0.1}\ntrain: {batch: 8, epochs: 1, steps: 4}\n", NULL,
     "5:30: train: steps beside epochs, expected one of them"},
    {HEAD MODEL "optimiser: {kind: sgd, lr: 0.1}\ntrain: {batch: 8, epochs: 1, clip_norm: }\n",
     NULL, "5:41: train.clip_norm: nothing, expected a number, 0 or more"},
    {HEAD "model: [flatten, linaer: 10]\n" REST, NULL,
     "3:18: model: no layer 'linaer', expected " LAYERS ", did you mean 'linear'"},
    {HEAD "model: [reul]\n" REST, NULL,
     "3:9: model: no layer 'reul', expected " LAYERS ", did you mean 'relu'"},
    {HEAD "model: flatten\n" REST, NULL,
     "3:8: model: 'flatten', expected a list of layers or a family"},
    {HEAD "model: {width: 3}\n" REST, NULL,
     "3:8: model: a map without 'family', expected a list of layers or a map with it"},
    {HEAD "model: {family: mlp, hiden: 3}\n" REST, NULL,
     "3:22: unknown key 'hiden' in model, expected family, hidden, activation, dropout or classes, "
     "did you mean 'hidden'"},
    {HEAD "model: {family: mlp, hidden: [3, x]}\n" REST, NULL,
     "3:34: model.hidden: 'x', expected a whole number, 1 to 1000000"},
    {HEAD "model: {family: mlp, activation: rulu}\n" REST, NULL,
     "3:34: model.activation: 'rulu', expected relu, tanh, sigmoid, gelu or silu, did you mean "
     "'relu'"},
    {HEAD "model: [residual: [reul]]\n" REST, NULL,
     "3:20: model: no layer 'reul', expected " LAYERS ", did you mean 'relu'"},
    {HEAD "model: [residual: {shortcut: []}]\n" REST, NULL,
     "3:19: residual: no key 'body', expected one"},
    {HEAD "model: [branch: [relu]]\n" REST, NULL,
     "3:18: branch.paths: 'relu', expected a list of layers"},
    {HEAD "model: [branch: {join: sum, paths: [[]]}]\n" REST, NULL,
     "3:24: branch.join: 'sum', expected concat or add"},
    {HEAD MODEL "loss: {kind: mse, delta: 2}\n" REST, NULL,
     "4:19: loss.delta: kind mse has no such key, expected it with huber"},
    {HEAD MODEL "target: lable\n" REST, NULL,
     "4:9: target.kind: 'lable', expected label, image, mask or masked, did you mean 'label'"},
    {HEAD MODEL "target: {kind: image, threshold: 0.5}\n" REST, NULL,
     "4:23: target.threshold: kind image has no such key, expected it with mask"},
    {HEAD "model: [linear]\n" REST, NULL, "3:9: linear: no key 'out', expected one"},
    {HEAD "model: [conv: {out: 4, kernel: 0}]\n" REST, NULL,
     "3:32: conv.kernel: '0', expected a whole number, 1 to 1000000000"},
    {HEAD "model: [conv: {out: 4, kernel: 3, padd: 1}]\n" REST, NULL,
     "3:35: unknown key 'padd' in conv, expected name, out, kernel, stride, pad, dilation, groups, "
     "bias or init, did you mean 'pad'"},
    {HEAD "model: [dropout: 1]\n" REST, NULL,
     "3:18: dropout.p: '1', expected a number, 0 or more and below 1"},
    {HEAD "model:\n  - linear: {out: 4, name: a}\n  - linear: {out: 4, name: a}\n" REST, NULL,
     "5:5: model: two layers are named 'a', the first in line 4"},
    {HEAD "model:\n  - linear: {out: 4, name: a/b}\n" REST, NULL,
     "4:5: model: name 'a/b', expected one without '/', '.' and blanks"},
    {HEAD "model:\n  - linear: 4\n    relu: 1\n" REST, NULL,
     "4:5: model: a map of 2, expected a layer: 'relu' or 'linear: 10'"},
    {"name: a\ndata: {dir: ., normalise: maybe}\n" MODEL REST, NULL,
     "2:27: data.normalise: 'maybe', expected true or false"},
    {"name: a\ndata: {dir: ., normalise: {mean: [1], std: [1, 2]}}\n" MODEL REST, NULL,
     "2:27: data.normalise: 1 means and 2 deviations, expected as many"},
    {"name: a\ndata: {dir: ., validation: 1.5}\n" MODEL REST, NULL,
     "2:28: data.validation: '1.5', expected test or a fraction above 0 and below 1"},
    {"name: a\ndata: {dir: ., augment: {flip: yes}}\n" MODEL REST, NULL,
     "2:32: data.augment.flip: 'yes', expected true or false"},
    {"name: a\nstorage: f64\ndata: {dir: .}\n" MODEL REST, NULL,
     "2:10: storage: 'f64', expected f32, bf16 or f16, did you mean 'f32'"},
    {"name: a\r\nseed: x\r\n", NULL, "2:7: seed: 'x', expected a whole number, 0 or more"},
    {"\xef\xbb\xbfname: a\nseed: 1.5\n", NULL,
     "2:7: seed: '1.5', expected a whole number, 0 or more"},
    {HEAD MODEL REST, "trai.batch=3",
     "trai.batch=3: unknown key 'trai', expected " KEYS ", did you mean 'train'"},
    {HEAD MODEL REST, "train.batch=x",
     "train.batch=x: train.batch: 'x', expected a whole number, 1 to 1000000"},
    {HEAD MODEL REST, "train.batch", "train.batch: no setting, expected key=value"},
    {HEAD MODEL REST, "model.x=1", "model.x=1: model is a list in the recipe, expected a map"},
    {HEAD MODEL REST, "seed=[1", "seed=[1: no YAML, did not find expected ',' or ']'"},
};

static void check(weft_context *context, const wrong *w)
{
    char expected[1024];
    weft_recipe *recipe;
    weft_error err = {0};
    temp_write(FILE_NAME, w->text, strlen(w->text));
    const weft_status status =
        weft_recipe_read(context, FILE_NAME, &w->setting, w->setting ? 1 : 0, &recipe, &err);
    snprintf(expected, sizeof expected, "%s%s", w->setting ? "" : FILE_NAME ":", w->message);
    if (status != WEFT_ERR_RECIPE || strcmp(err.message, expected) != 0)
        print_message("recipe:\n%s", w->text);
    assert_string_equal(err.message, expected);
    assert_int_equal(status, WEFT_ERR_RECIPE);
    assert_null(recipe);
}

static void every_message(void **state)
{
    weft_context *context;
    (void)state;
    assert_int_equal(weft_context_create(NULL, &context, NULL), WEFT_OK);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        check(context, &table[i]);
    }
    weft_context_destroy(context);
}

// Cut at every byte: what is left is a recipe, or it is told where it ends or what it lacks.
static void cut_at_every_byte(void **state)
{
    weft_context *context;
    int n_recipes = 0;
    (void)state;
    assert_int_equal(weft_context_create(NULL, &context, NULL), WEFT_OK);
    for (size_t n = 0; n < strlen(tiny_recipe); n++) {
        weft_recipe *recipe;
        weft_error err = {0};
        int line, column;
        temp_write(FILE_NAME, tiny_recipe, n);
        const weft_status status = weft_recipe_read(context, FILE_NAME, NULL, 0, &recipe, &err);
        weft_recipe_destroy(recipe);
        n_recipes += status == WEFT_OK;
        if (status == WEFT_OK)
            continue;
        assert_int_equal(status, WEFT_ERR_RECIPE);
        assert_names_file(err.message, FILE_NAME);
        if (n && sscanf(err.message, FILE_NAME ":%d:%d: ", &line, &column) != 2)
            fail_msg("%zu bytes: '%s', expected a line and a column", n, err.message);
    }
    assert_int_equal(n_recipes, 1); // without the last line's end
    weft_context_destroy(context);
}

static void files_that_are_none(void **state)
{
    weft_context *context;
    weft_recipe *recipe;
    (void)state;
    assert_int_equal(weft_context_create(NULL, &context, NULL), WEFT_OK);
    assert_fails(weft_recipe_read(context, TEMP("no/such.yaml"), NULL, 0, &recipe, err),
                 WEFT_ERR_FILE, "cannot open " TEMP("no/such.yaml") ": No such file or directory");
    assert_fails(weft_recipe_read_run(context, TEMP("no-run"), NULL, 0, &recipe, err),
                 WEFT_ERR_FILE, TEMP("no-run") ": no folder, expected the folder of a run");
    assert_fails(weft_recipe_read_run(context, WEFT_TEST_TMP, NULL, 0, &recipe, err), WEFT_ERR_FILE,
                 WEFT_TEST_TMP ": no recipe.yaml in it, expected the folder of a run");
    temp_write(FILE_NAME,
               "\xff\xfe"
               "a\0",
               4);
    assert_int_equal(weft_recipe_read(context, FILE_NAME, NULL, 0, &recipe, NULL), WEFT_ERR_FORMAT);
    weft_context_destroy(context);
}

// Errors of the graph name the recipe's line.
typedef struct wrong_model {
    const char *model;
    weft_status status;
    const char *message; // behind the file's name and ':'
} wrong_model;

static const wrong_model models[] = {
    {"model:\n  - conv: {out: 4, kernel: 9}\n", WEFT_ERR_SHAPE,
     "8:5: conv1/conv: the window spans 9 on spatial axis 0, expected at most the input with its "
     "padding, 8 + 0 + 0"},
    {"model:\n  - flatten\n  - linear: 5\n", WEFT_ERR_SHAPE,
     "9:5: model: the last layer gives f32[16,5], expected f32[16,4]: 4 classes"},
    {"model:\n  - flatten\n  - conv: {out: 4, kernel: 3}\n", WEFT_ERR_SHAPE,
     "9:5: conv: kernel: 1 sizes for input f32[16,64], expected one for each axis after [n,c]"},
    {"model:\n  - conv: {out: 4, kernel: [3, 3, 3]}\n", WEFT_ERR_SHAPE,
     "8:5: conv: kernel: 3 sizes for input f32[16,1,8,8], expected one for each axis after [n,c]"},
};

static void models_that_do_not_fit(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        char text[512], expected[512];
        tiny_run run = {0};
        snprintf(text, sizeof text, "%s%s%s", TINY_HEAD "# a comment\n", models[i].model,
                 "optimiser: {kind: sgd, lr: 0.1}\ntrain: {batch: 16, epochs: 1}\n");
        const tiny_how how = {.path = tiny_write(text), .dir = TEMP("wrong-run")};
        tiny_train(&how, &run);
        snprintf(expected, sizeof expected, "%s:%s", how.path, models[i].message);
        assert_string_equal(run.err.message, expected);
        assert_int_equal(run.status, models[i].status);
        assert_false(wf_file_is_directory(how.dir));
    }
}

// cases.md 86: a comma for the decimal point changes nothing here.
static void numbers_do_not_follow_the_locale(void **state)
{
    (void)state;
    if (!setlocale(LC_ALL, "de_DE.UTF-8"))
        WF_SKIP("no locale de_DE.UTF-8 on this machine");
    every_message(state);
    setlocale(LC_ALL, "C");
}

const struct CMUnitTest wf_tests_recipe_fail[] = {
    cmocka_unit_test(every_message),
    cmocka_unit_test(cut_at_every_byte),
    cmocka_unit_test(files_that_are_none),
    cmocka_unit_test(models_that_do_not_fit),
    cmocka_unit_test(numbers_do_not_follow_the_locale),
};
const unsigned long wf_n_tests_recipe_fail = WF_N_TESTS(wf_tests_recipe_fail);
