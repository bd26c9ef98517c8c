// RMSprop, Adagrad, LAMB, Lion and Muon against PyTorch and the papers, five steps; groups of
// parameters.
#include "nn_optimizer_model.h"

#define N_STEPS 5

// Values behind the first step within 1e-6 of the parameter's greatest, behind five within 4e-6.
static void run_case(const char *name, const weft_optimizer_options *o, double lr)
{
    nn_run r;
    const weft_schedule_options s = constant_lr(lr);
    nn_begin(&r, "nn_optimizer_kinds", true);
    weft_train_step(r.nn, build_loss(&r), o, &s);
    for (size_t step = 0; step < N_STEPS; step++) {
        nn_go(&r);
        for (int i = 0; i < N_PARAMETERS; i++) {
            char parameter[32], role[64], what[96];
            float got[32];
            snprintf(parameter, sizeof parameter, "p%d", i);
            snprintf(role, sizeof role, "%s.after%d", name, i);
            snprintf(what, sizeof what, "%s at step %zu", role, step);
            const wf_st_tensor *t = nn_get(&r, role);
            const size_t bytes = t->size_bytes / N_STEPS;
            assert_true(bytes <= sizeof got);
            NN_OK(weft_state_read(r.state, parameter, got, bytes, err));
            nn_near(what, got, (const char *)t->data + step * bytes, bytes / 4,
                    step == 0 ? 1e-6 : 4e-6);
        }
    }
    nn_end(&r);
}

static void rmsprop_agrees(void **state)
{
    (void)state;
    weft_optimizer_options o = of_kind(WEFT_OPTIMIZER_RMSPROP);
    run_case("rmsprop", &o, 0.02);
    o.beta2 = 0.9;
    o.epsilon = 1e-4;
    o.weight_decay = 0.1;
    o.momentum = 0.8;
    o.is_centered = true;
    run_case("rmsprop_all", &o, 0.02);
}

static void adagrad_agrees(void **state)
{
    (void)state;
    weft_optimizer_options o = of_kind(WEFT_OPTIMIZER_ADAGRAD);
    run_case("adagrad", &o, 0.1);
    o.lr_decay = 0.1;
    o.weight_decay = 0.1;
    o.initial_sum = 0.5;
    o.epsilon = 1e-6;
    run_case("adagrad_all", &o, 0.1);
}

static void lamb_agrees(void **state)
{
    (void)state;
    weft_optimizer_options o = of_kind(WEFT_OPTIMIZER_LAMB);
    run_case("lamb", &o, 0.05);
    o.weight_decay = 0.1;
    o.beta1 = 0.8;
    o.beta2 = 0.95;
    o.epsilon = 1e-5;
    run_case("lamb_decay", &o, 0.05);
}

static void lion_agrees(void **state)
{
    (void)state;
    weft_optimizer_options o = of_kind(WEFT_OPTIMIZER_LION);
    run_case("lion", &o, 0.01);
    o.weight_decay = 0.5;
    o.beta1 = 0.95;
    o.beta2 = 0.98;
    run_case("lion_decay", &o, 0.01);
}

static void muon_agrees(void **state)
{
    (void)state;
    weft_optimizer_options o = of_kind(WEFT_OPTIMIZER_MUON);
    run_case("muon", &o, 0.02);
    o.weight_decay = 0.2;
    o.momentum = 0.8;
    run_case("muon_decay", &o, 0.02);
}

// ---- groups
static float value_of(nn_run *r, const char *name)
{
    float value = 0.0f;
    NN_OK(weft_state_read(r->state, name, &value, sizeof value, err));
    return value;
}

// loss = a.weight + a.bias + b.weight + b.bias: every gradient is 1.
static void build_sum(nn_run *r)
{
    static const char *const names[] = {"a.weight", "a.bias", "b.weight", "b.bias"};
    for (int i = 0; i < 4; i++) {
        weft_parameter_create(r->nn, names[i], weft_scalar(r->g, WEFT_F32, 2.0), i % 2 == 0);
    }
}

static weft_val sum_of_parameters(nn_run *r)
{
    weft_val total = weft_scalar(r->g, WEFT_F32, 0.0);
    for (size_t i = 0; i < weft_nn_n_parameters(r->nn); i++) {
        total = weft_add(r->g, total, weft_nn_parameter(r->nn, i).val);
    }
    return total;
}

static void groups_have_their_own_settings(void **state)
{
    (void)state;
    nn_run r;
    weft_optimizer_options o = WEFT_OPTIMIZER_OPTIONS_INIT;
    weft_group_options slow = WEFT_GROUP_OPTIONS_INIT, free_of_decay = slow, frozen = slow;
    const weft_schedule_options s = constant_lr(0.5);
    o.weight_decay = 0.5;
    slow.lr_factor = 0.25;
    free_of_decay.has_own_decay = true;
    frozen.is_frozen = true;
    nn_begin(&r, NULL, true);
    build_sum(&r);
    assert_int_equal(weft_nn_group(r.nn, "*", &slow), 4);
    assert_int_equal(weft_nn_group(r.nn, "b.*", &free_of_decay), 2);
    assert_int_equal(weft_nn_group(r.nn, "?.b*as", &frozen), 2);
    weft_train_step(r.nn, sum_of_parameters(&r), &o, &s);
    nn_go(&r);
    assert_true(value_of(&r, "a.weight") == 2.0f - 0.125f * (1.0f + 0.5f * 2.0f));
    assert_true(value_of(&r, "b.weight") == 2.0f - 0.5f);
    assert_true(value_of(&r, "a.bias") == 2.0f && value_of(&r, "b.bias") == 2.0f);
    nn_end(&r);
}

static void a_group_leaves_matrices_to_adamw(void **state)
{
    (void)state;
    nn_run r;
    static const int64_t dims[] = {2, 2};
    const weft_optimizer_options o = of_kind(WEFT_OPTIMIZER_MUON);
    const weft_schedule_options s = constant_lr(0.1);
    weft_group_options group = WEFT_GROUP_OPTIONS_INIT;
    group.is_left_to_adamw = true;
    nn_begin(&r, NULL, true);
    const weft_val p =
        weft_parameter_create(r.nn, "embedding", weft_fill(r.g, WEFT_F32, dims, 2, 1.0), true);
    assert_int_equal(weft_nn_group(r.nn, "embedding", &group), 1);
    weft_train_step(r.nn, weft_sum(r.g, p, NULL, 0, false), &o, &s);
    nn_go(&r);
    assert_int_equal(weft_state_type(r.state, "embedding.m").dtype, WEFT_F32);
    assert_int_equal(weft_state_type(r.state, "embedding.momentum").dtype, WEFT_DTYPE_NONE);
    nn_end(&r);
}

static void a_group_of_nothing_is_an_error(void **state)
{
    (void)state;
    nn_run r;
    nn_begin(&r, NULL, true);
    build_sum(&r);
    assert_int_equal(weft_nn_group(r.nn, "c.*", NULL), 0);
    nn_expect_error(&r, WEFT_ERR_NAME,
                    "group 'c.*': no parameter has such a name, expected one like 'a.weight'");
    nn_end(&r);
}

static void refuses_negative_settings(void **state)
{
    (void)state;
    nn_run r;
    weft_group_options group = WEFT_GROUP_OPTIONS_INIT;
    group.lr_factor = -1.0;
    nn_begin(&r, NULL, true);
    build_sum(&r);
    weft_nn_group(r.nn, "*", &group);
    nn_expect_error(&r, WEFT_ERR_ATTR,
                    "group '*': lr_factor -1, weight_decay 0, expected 0 or more");
    nn_end(&r);
}

const struct CMUnitTest wf_tests_nn_optimizer_kinds[] = {
    cmocka_unit_test(rmsprop_agrees),
    cmocka_unit_test(adagrad_agrees),
    cmocka_unit_test(lamb_agrees),
    cmocka_unit_test(lion_agrees),
    cmocka_unit_test(muon_agrees),
    cmocka_unit_test(groups_have_their_own_settings),
    cmocka_unit_test(a_group_leaves_matrices_to_adamw),
    cmocka_unit_test(a_group_of_nothing_is_an_error),
    cmocka_unit_test(refuses_negative_settings),
};
const unsigned long wf_n_tests_nn_optimizer_kinds = WF_N_TESTS(wf_tests_nn_optimizer_kinds);
