// Networks by name give PyTorch's results from the same weights, which both sides make of names and places
// (tools/golden/family_golden.py); and what weft_family refuses.
#include "nn_run.h"
#include "op/op.h"

// Some twenty layers deep, in f32 from float64 truth.
#define DEEP 2e-5
// Batch norm divides by the deviation of few values: what went before is amplified.
#define DEEP_TRAINING 2e-4

typedef struct family_case {
    const char *name, *family;
    int32_t ndim;
    int64_t dims[4];
    const char *options[8]; // ends with NULL
} family_case;

static const family_case cases[] = {
    {"resnet18", "resnet18", 4, {3, 3, 12, 16}, {"width=4", "classes=5"}},
    {"resnet20", "resnet20", 4, {3, 3, 12, 16}, {"width=4", "classes=5"}},
    {"resnet50", "resnet50", 4, {2, 3, 33, 40}, {"stem=imagenet", "width=2", "classes=5"}},
    {"mobilenetv2", "mobilenetv2", 4, {2, 3, 16, 16}, {"stem=cifar", "width=0.1", "classes=5"}},
    {"unet", "unet", 4, {2, 1, 8, 12}, {"width=4", "levels=2", "classes=3"}},
    {"vgg",
     "vgg",
     4,
     {3, 1, 8, 8},
     {"channels=4,6", "convs=2", "hidden=16", "batch_norm=true", "dropout=0", "classes=10"}},
    {"lenet", "lenet", 4, {2, 1, 28, 28}, {"classes=10"}},
    {"autoencoder", "autoencoder", 4, {3, 1, 8, 8}, {"kind=conv", "channels=4,6", "code=5"}},
    {"vae", "vae", 4, {3, 1, 8, 8}, {"kind=conv", "channels=4,6", "code=5"}},
};

static uint32_t mix(uint32_t x)
{
    x = (x ^ (x >> 16)) * 0x7feb352du;
    x = (x ^ (x >> 15)) * 0x846ca68bu;
    return x ^ (x >> 16);
}

static bool ends_with(const char *name, const char *end)
{
    const size_t n = strlen(name), k = strlen(end);
    return n >= k && !strcmp(name + n - k, end);
}

// value() of the script.
static float *make_values(const char *name, const weft_type *t, size_t *out_n)
{
    uint32_t seed = 2166136261u;
    size_t n = 1, fan = 1;
    for (const char *c = name; *c; c++) {
        seed = (seed ^ (uint8_t)*c) * 16777619u;
    }
    for (int32_t i = 0; i < t->ndim; i++) {
        n *= (size_t)t->dims[i];
        fan *= i ? (size_t)t->dims[i] : 1;
    }
    float *v = malloc(n * sizeof *v + 1);
    assert_non_null(v);
    for (size_t i = 0; i < n; i++) {
        const double u = (double)mix((uint32_t)i + seed) / 4294967296.0 - 0.5;
        double value = 0.2 * u;
        if (!strcmp(name, "x"))
            value = 2.0 * u;
        else if (ends_with(name, "running_var"))
            value = 1.0 + u;
        else if (t->ndim > 1)
            value = 2.0 * u / sqrt((double)fan / 3.0);
        else if (ends_with(name, "weight"))
            value = 1.0 + 0.5 * u;
        v[i] = (float)value;
    }
    *out_n = n;
    return v;
}

static void set_variables(nn_run *r)
{
    for (size_t i = 0; i < r->g->n_nodes; i++) {
        const wf_node *node = &r->g->nodes[i];
        const weft_type t = *wf_graph_type(r->g, node->first_output);
        size_t n;
        if (strcmp(node->op->name, "variable") != 0 || t.dtype != WEFT_F32)
            continue;
        float *v = make_values(node->attrs[0].u.text, &t, &n);
        NN_OK(weft_state_write(r->state, node->attrs[0].u.text, &t, v, n * sizeof *v, err));
        free(v);
    }
}

static size_t count_options(const family_case *c)
{
    size_t n = 0;
    while (n < NN_COUNT(c->options) && c->options[n]) {
        n++;
    }
    return n;
}

static void check(const family_case *c, bool is_training, const char *role)
{
    nn_run r;
    weft_family_result result;
    weft_type t = {WEFT_F32, c->ndim, {0}};
    size_t n;
    nn_begin_on(&r, "cpu", NULL, "families", is_training);
    r.test_case = c->name;
    if (!nn_find(&r, role)) {
        nn_end(&r);
        return;
    }
    memcpy(t.dims, c->dims, sizeof c->dims);
    const weft_val x = weft_input(r.g, "x", WEFT_F32, c->dims, c->ndim);
    const weft_val y = weft_family(r.nn, c->family, x, c->options, count_options(c), &result);
    weft_output(r.g, "y", y);
    if (result.penalty.id)
        weft_output(r.g, "penalty", result.penalty);
    NN_OK(weft_graph_status(r.g, err));
    set_variables(&r);
    nn_compile(&r);
    float *values = make_values("x", &t, &n);
    NN_OK(weft_program_write(r.program, "x", values, n * sizeof *values, err));
    free(values);
    nn_go(&r);
    nn_expect(&r, "y", role, is_training ? DEEP_TRAINING : DEEP);
    if (result.penalty.id)
        nn_expect(&r, "penalty", "penalty", DEEP);
    nn_end(&r);
}

static void gives_the_results_of_pytorch(void **state)
{
    (void)state;
    for (size_t i = 0; i < NN_COUNT(cases); i++) {
        check(&cases[i], false, "y");
        check(&cases[i], true, "y_train");
    }
}

static void refuses(const char *family, const char *option, weft_status code, const char *message)
{
    nn_run r;
    nn_begin(&r, NULL, false);
    const weft_val x = weft_input(r.g, "x", WEFT_F32, NN_DIMS(2, 1, 9, 8));
    weft_family(r.nn, family, x, &option, option ? 1 : 0, NULL);
    nn_expect_error(&r, code, message);
    nn_end(&r);
}

static void says_what_is_wrong(void **state)
{
    (void)state;
    refuses("mlp", "hiden=3", WEFT_ERR_NAME,
            "mlp: no option 'hiden=3', expected key=value with hidden, activation, dropout or "
            "classes, did you mean 'hidden'");
    refuses("mlp", "hidden", WEFT_ERR_NAME,
            "mlp: no option 'hidden', expected key=value with hidden, activation, dropout or "
            "classes, did you mean 'hidden'");
    refuses("mlp", "hidden=3,0", WEFT_ERR_ATTR, "mlp: hidden is '3,0', expected 1 to 1e+06");
    refuses("mlp", "activation=tan", WEFT_ERR_ATTR,
            "mlp: activation is 'tan', expected relu, tanh, sigmoid, gelu or silu, did you mean "
            "'tanh'");
    refuses("mlp", "dropout=1", WEFT_ERR_ATTR, "mlp: dropout is '1', expected 0 to 0.99");
    refuses("vgg", "batch_norm=yes", WEFT_ERR_ATTR,
            "vgg: batch_norm is 'yes', expected true or false");
    refuses("softmax", NULL, WEFT_ERR_ATTR,
            "family: classes is 0 and the data has none, expected 1 or more");
    refuses("unet", "classes=2", WEFT_ERR_SHAPE,
            "unet: x is f32[2,1,9,8], 3 levels, expected images whose height and width 8 divides");
    refuses(
        "autoencoder", "kind=conv", WEFT_ERR_SHAPE,
        "encoder/autoencoder: x is f32[2,1,9,8], 2 convolutions, expected images whose height and width "
        "4 divides");
    refuses("vgg", "convs=2,2", WEFT_ERR_ATTR,
            "vgg: convs of 2 stages, channels of 5, expected as many, or one");
}

static void lists_its_families(void **state)
{
    size_t n = 0;
    bool has_unet = false;
    (void)state;
    for (; weft_family_name(n); n++) {
        has_unet |= !strcmp(weft_family_name(n), "unet");
    }
    assert_true(has_unet && n >= 11);
    nn_run r;
    weft_error e = {0};
    nn_begin(&r, NULL, false);
    const weft_val x = weft_input(r.g, "x", WEFT_F32, NN_DIMS(2, 3));
    assert_false(weft_family(r.nn, "resnet19", x, NULL, 0, NULL).id);
    assert_int_equal(weft_graph_status(r.g, &e), WEFT_ERR_NAME);
    assert_non_null(strstr(e.message, "family: 'resnet19' is unknown, expected "));
    assert_non_null(strstr(e.message, ", did you mean 'resnet18'"));
    nn_end(&r);
}

const struct CMUnitTest wf_tests_family_values[] = {
    cmocka_unit_test(gives_the_results_of_pytorch),
    cmocka_unit_test(says_what_is_wrong),
    cmocka_unit_test(lists_its_families),
};
const unsigned long wf_n_tests_family_values = WF_N_TESTS(wf_tests_family_values);
