// Scripts: blocks by values known at run time, shapes that depend on data (the same bits on ref, cpu and
// opencl, a bounded number of programs), text, the list of nodes, signatures that bind, exact errors.
#include <math.h>
#include <stdio.h>

#include "../device/opencl_open.h"
#include "../graph/graph_kit.h"
#include "failing_alloc.h"
#include "run/script.h"

typedef struct rig {
    weft_context *ctx;
    weft_device *device;
    weft_state *state;
    weft_script *s;
} rig;

static rig *rig_on(weft_device *device)
{
    static rig r;
    r.device = device;
    assert_int_equal(weft_state_create(device, &r.state, NULL), WEFT_OK);
    assert_int_equal(weft_script_create(r.state, &r.s, NULL), WEFT_OK);
    return &r;
}

static void rig_clear(rig *r)
{
    weft_script_destroy(r->s);
    weft_state_destroy(r->state);
    weft_device_close(r->device);
}

static int setup(void **state)
{
    static weft_context *ctx;
    weft_device *device;
    assert_int_equal(weft_context_create(NULL, &ctx, NULL), WEFT_OK);
    assert_int_equal(weft_device_open(ctx, "cpu", NULL, &device, NULL), WEFT_OK);
    rig *r = rig_on(device);
    r->ctx = ctx;
    *state = r;
    return 0;
}

static int teardown(void **state)
{
    rig *r = *state;
    rig_clear(r);
    weft_context_destroy(r->ctx);
    return 0;
}

static int64_t number(const weft_script *s, const char *name)
{
    int64_t n = -1;
    weft_error err = {0};
    if (weft_script_get_number(s, name, &n, &err) != WEFT_OK)
        fail_msg("%s", err.message);
    return n;
}

static void run(rig *r)
{
    weft_error err = {0};
    if (weft_script_run(r->s, &err) != WEFT_OK)
        fail_msg("%s", err.message);
}

static void expect_error(rig *r, weft_status status, const char *message)
{
    weft_error err = {0};
    assert_int_equal(weft_script_run(r->s, &err), status);
    assert_string_equal(err.message, message);
}

// ---- blocks: the Collatz sequence, which ends when it ends
static weft_status set_state(weft_script *s, int64_t x, int64_t steps, weft_error *err)
{
    WEFT_TRY(weft_script_set_number(s, "x", x, err));
    WEFT_TRY(weft_script_set_number(s, "steps", steps, err));
    WEFT_TRY(weft_script_set_number(s, "is_odd", x % 2, err));
    return weft_script_set_number(s, "is_going", x != 1, err);
}

static weft_status change(void *user, weft_script *s, weft_error *err)
{
    int64_t x, steps;
    WEFT_TRY(weft_script_get_number(s, "x", &x, err));
    WEFT_TRY(weft_script_get_number(s, "steps", &steps, err));
    return set_state(s, user ? 3 * x + 1 : x / 2, steps + 1, err);
}

#define STATE "x, steps -> x, steps, is_odd, is_going"

static void build_collatz(rig *r)
{
    weft_script_while(r->s, "until_one", "is_going");
    weft_script_if(r->s, "odd", "is_odd");
    weft_script_host(r->s, "triple", STATE, change, r);
    weft_script_else(r->s);
    weft_script_host(r->s, "halve", STATE, change, NULL);
    weft_script_end(r->s);
    weft_script_end(r->s);
}

static void while_and_if_go_by_values(void **state)
{
    rig *r = *state;
    build_collatz(r);
    static const int64_t starts[] = {1, 2, 3, 27, 97}, steps[] = {0, 1, 7, 111, 118};
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(set_state(r->s, starts[i], 0, NULL), WEFT_OK);
        run(r);
        assert_int_equal(number(r->s, "x"), 1);
        assert_int_equal(number(r->s, "steps"), steps[i]);
    }
}

static void list_node(void *user, const weft_script_node *node)
{
    char *text = user;
    const size_t n = strlen(text);
    snprintf(text + n, 1000 - n, "%d %s %s [%s]\n", (int)node->depth, node->kind, node->name,
             node->signature);
}

static void all_nodes_are_listed(void **state)
{
    rig *r = *state;
    char text[1000] = "";
    build_collatz(r);
    assert_int_equal(weft_script_list(r->s, list_node, text, NULL), WEFT_OK);
    assert_string_equal(text, "0 while until_one [is_going]\n"
                              "1 if odd [is_odd]\n"
                              "2 host triple [" STATE "]\n"
                              "1 else odd [is_odd]\n"
                              "2 host halve [" STATE "]\n");
}

static weft_status add_round(void *user, weft_script *s, weft_error *err)
{
    int64_t round, sum;
    (void)user;
    WEFT_TRY(weft_script_get_number(s, "outer", &round, err));
    WEFT_TRY(weft_script_get_number(s, "sum", &sum, err));
    // From now on the inner loop has one round more; the rounds of the outer one were settled at its start.
    WEFT_TRY(weft_script_set_number(s, "n_inner", round + 1, err));
    WEFT_TRY(weft_script_set_number(s, "n_outer", 0, err));
    return weft_script_set_number(s, "sum", sum + round, err);
}

static weft_status count_inner(void *user, weft_script *s, weft_error *err)
{
    int64_t n, inner;
    (void)user;
    WEFT_TRY(weft_script_get_number(s, "inner", &inner, err));
    WEFT_TRY(weft_script_get_number(s, "n", &n, err));
    return weft_script_set_number(s, "n", n + 100 * inner + 1, err);
}

static void loops_count_what_they_find(void **state)
{
    rig *r = *state;
    weft_script_loop(r->s, "outer", "n_outer");
    weft_script_host(r->s, "add_round", "outer, sum -> n_inner, n_outer, sum", add_round, NULL);
    weft_script_loop(r->s, "inner", "n_inner");
    weft_script_host(r->s, "count_inner", "n, inner -> n", count_inner, NULL);
    weft_script_end(r->s);
    weft_script_end(r->s);
    for (int64_t n = -1; n < 5; n++) {
        int64_t rounds = 0, sum = 0, inner = 0;
        for (int64_t i = 0; i < n; i++) {
            sum += i;
            rounds += i + 1;
            for (int64_t k = 0; k <= i; k++) {
                inner += k;
            }
        }
        assert_int_equal(weft_script_set_number(r->s, "n_outer", n, NULL), WEFT_OK);
        assert_int_equal(weft_script_set_number(r->s, "sum", 0, NULL), WEFT_OK);
        assert_int_equal(weft_script_set_number(r->s, "n", 0, NULL), WEFT_OK);
        run(r);
        assert_int_equal(number(r->s, "sum"), sum);
        assert_int_equal(number(r->s, "n"), 100 * inner + rounds);
    }
}

// ---- shapes that depend on data: the positive elements of x, then twice their sums' running total
typedef struct builds {
    int n;
} builds;

static weft_status choose(void *user, weft_script *s, weft_error *err)
{
    weft_type type;
    const void *data;
    float kept[256];
    int64_t n = 0;
    (void)user;
    WEFT_TRY(weft_script_get(s, "x", &type, &data, err));
    for (int64_t i = 0; i < type.dims[0]; i++) {
        const float x = ((const float *)data)[i];
        if (x > 0.0f)
            kept[n++] = x;
    }
    const weft_type found = {.dtype = WEFT_F32, .ndim = 1, .dims = {n}};
    return weft_script_set(s, "kept", &found, kept, err);
}

static weft_status build_sum(void *user, weft_graph *g, const weft_val *reads, weft_val *writes,
                             weft_error *err)
{
    builds *b = user;
    b->n++;
    const weft_val total = weft_variable(g, "total", weft_scalar(g, WEFT_F32, 0.0));
    const weft_val sum = weft_sum(g, weft_exp(g, reads[0]), NULL, 0, false);
    const weft_val next = weft_add(g, total, sum);
    weft_assign(g, total, next);
    writes[0] = sum;
    writes[1] = next;
    return weft_graph_status(g, err);
}

static void build_choice(rig *r, builds *b)
{
    weft_script_host(r->s, "choose", "x -> kept", choose, NULL);
    weft_script_program(r->s, "sum", "kept -> sum, total", build_sum, b);
}

// As many positive numbers among 200 as `n`, at places that move.
static void fill(float *x, int64_t n)
{
    for (int64_t i = 0; i < 200; i++) {
        const bool is_positive = (i * 7 + n) % 200 < n;
        x[i] = is_positive ? (float)(i % 13 + 1) * 0.125f : -1.0f;
    }
}

static void feed(rig *r, int64_t n, float out[2])
{
    static const weft_type type = {.dtype = WEFT_F32, .ndim = 1, .dims = {200}};
    float x[200];
    weft_type t;
    const void *data;
    fill(x, n);
    assert_int_equal(weft_script_set(r->s, "x", &type, x, NULL), WEFT_OK);
    run(r);
    assert_int_equal(weft_script_get(r->s, "kept", &t, &data, NULL), WEFT_OK);
    assert_int_equal(t.dims[0], n);
    assert_int_equal(weft_script_get(r->s, "sum", &t, &data, NULL), WEFT_OK);
    assert_int_equal(t.ndim, 0);
    out[0] = *(const float *)data;
    assert_int_equal(weft_script_get(r->s, "total", &t, &data, NULL), WEFT_OK);
    out[1] = *(const float *)data;
}

static void expect_near(float got, double want)
{
    if (!((double)got - want < 1e-5 * want + 1e-9 && want - (double)got < 1e-5 * want + 1e-9))
        fail_msg("%g, expected %g", (double)got, want);
}

static void shapes_follow_the_data(void **state)
{
    rig *r = *state, ref;
    builds b = {0}, b_ref = {0};
    double total = 0.0;
    weft_device *device;
    build_choice(r, &b);
    assert_int_equal(weft_device_open(r->ctx, "ref", NULL, &device, NULL), WEFT_OK);
    ref = (rig){.device = device};
    assert_int_equal(weft_state_create(device, &ref.state, NULL), WEFT_OK);
    assert_int_equal(weft_script_create(ref.state, &ref.s, NULL), WEFT_OK);
    build_choice(&ref, &b_ref);
    for (int64_t n = 1; n <= 200; n += 11) {
        float got[2], want[2], x[200];
        double sum = 0.0;
        fill(x, n);
        for (int i = 0; i < 200; i++) {
            sum += x[i] > 0.0f ? exp((double)x[i]) : 0.0;
        }
        total += sum;
        feed(r, n, got);
        feed(&ref, n, want);
        assert_memory_equal(got, want, sizeof got);
        expect_near(got[0], sum);
        expect_near(got[1], total);
    }
    rig_clear(&ref);
}

// Eight shapes stay compiled, the ninth takes the place of the one used longest ago.
static void eight_programs_are_kept(void **state)
{
    rig *r = *state;
    builds b = {0};
    float out[2];
    build_choice(r, &b);
    for (int round = 0; round < 3; round++) {
        for (int64_t n = 1; n <= WF_SCRIPT_PROGRAMS; n++) {
            feed(r, n, out);
        }
    }
    assert_int_equal(b.n, WF_SCRIPT_PROGRAMS);
    feed(r, 1, out); // 2 is the oldest now
    feed(r, 9, out);
    assert_int_equal(b.n, WF_SCRIPT_PROGRAMS + 1);
    feed(r, 1, out);
    assert_int_equal(b.n, WF_SCRIPT_PROGRAMS + 1);
    feed(r, 2, out);
    assert_int_equal(b.n, WF_SCRIPT_PROGRAMS + 2);
}

static void nothing_chosen_is_an_empty_sum(void **state)
{
    rig *r = *state;
    builds b = {0};
    float out[2];
    build_choice(r, &b);
    feed(r, 0, out);
    assert_true(out[0] == 0.0f && out[1] == 0.0f);
}

static void opencl_has_the_bits_of_cpu(void **state)
{
    rig *r = *state;
    builds b = {0}, b_cl = {0};
    weft_context *ctx;
    rig cl = {.device = opencl_open_exact(&ctx)}; // or a skip
    build_choice(r, &b);
    assert_int_equal(weft_state_create(cl.device, &cl.state, NULL), WEFT_OK);
    assert_int_equal(weft_script_create(cl.state, &cl.s, NULL), WEFT_OK);
    build_choice(&cl, &b_cl);
    for (int64_t n = 3; n <= 200; n += 49) {
        float got[2], want[2];
        feed(&cl, n, got);
        feed(r, n, want);
        assert_memory_equal(got, want, sizeof got);
    }
    rig_clear(&cl);
    weft_context_destroy(ctx);
}

// ---- text
static weft_status greet(void *user, weft_script *s, weft_error *err)
{
    weft_type type;
    const void *name;
    char text[64];
    (void)user;
    WEFT_TRY(weft_script_get(s, "name", &type, &name, err));
    const int n = snprintf(text, sizeof text, "hello, %.*s", (int)type.dims[0], (const char *)name);
    type.dims[0] = n;
    return weft_script_set(s, "greeting", &type, text, err);
}

static void text_is_a_value(void **state)
{
    rig *r = *state;
    const weft_type type = {.dtype = WEFT_U8, .ndim = 1, .dims = {5}};
    weft_type out;
    const void *data;
    weft_script_host(r->s, "greet", "name -> greeting", greet, NULL);
    assert_int_equal(weft_script_set(r->s, "name", &type,
                                     "w\xc3\xa9"
                                     "ft",
                                     NULL),
                     WEFT_OK);
    run(r);
    assert_int_equal(weft_script_get(r->s, "greeting", &out, &data, NULL), WEFT_OK);
    assert_int_equal(out.dims[0], 12);
    assert_memory_equal(data,
                        "hello, w\xc3\xa9"
                        "ft",
                        12);
}

// ---- errors
static weft_status do_nothing(void *user, weft_script *s, weft_error *err)
{
    (void)user;
    (void)s;
    (void)err;
    return WEFT_OK;
}

static weft_status read_secretly(void *user, weft_script *s, weft_error *err)
{
    int64_t n;
    (void)user;
    return weft_script_get_number(s, "b", &n, err);
}

static weft_status write_secretly(void *user, weft_script *s, weft_error *err)
{
    (void)user;
    return weft_script_set_number(s, "a", 1, err);
}

static weft_status run_itself(void *user, weft_script *s, weft_error *err)
{
    (void)user;
    return weft_script_run(s, err);
}

static void nodes_are_held_to_their_signatures(void **state)
{
    static const struct {
        weft_script_function function;
        const char *signature, *message;
    } table[] = {
        {read_secretly, "a ->",
         "script: host n: it reads 'b', which its signature 'a ->' does not say"},
        {write_secretly, "a -> b",
         "script: host n: it writes 'a', which its signature 'a -> b' does not say"},
        {do_nothing, "a -> c", "script: host n: it did not write 'c'"},
    };
    rig *r = *state;
    for (size_t i = 0; i < 3; i++) {
        weft_script_destroy(r->s);
        assert_int_equal(weft_script_create(r->state, &r->s, NULL), WEFT_OK);
        weft_script_host(r->s, "n", table[i].signature, table[i].function, NULL);
        weft_script_host(r->s, "other", "b ->", do_nothing, NULL);
        assert_int_equal(weft_script_set_number(r->s, "a", 1, NULL), WEFT_OK);
        assert_int_equal(weft_script_set_number(r->s, "b", 1, NULL), WEFT_OK);
        expect_error(r, WEFT_ERR_NAME, table[i].message);
    }
}

static void wrong_signatures_are_errors(void **state)
{
    static const char *const wrong[] = {"a",        "a - b",   "a, -> b", "a b -> c", "-> a -> b",
                                        "a;b -> c", "a -> b,", ", -> a",  ""};
    rig *r = *state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char message[200];
        weft_script_destroy(r->s);
        assert_int_equal(weft_script_create(r->state, &r->s, NULL), WEFT_OK);
        weft_script_host(r->s, "n", wrong[i], do_nothing, NULL);
        snprintf(message, sizeof message,
                 "script: host n: '%s', expected names read and written: \"a, b -> c\"", wrong[i]);
        expect_error(r, WEFT_ERR_ATTR, message);
    }
}

static void broken_blocks_are_errors(void **state)
{
    rig *r = *state;
    weft_script_loop(r->s, "rounds", "n");
    expect_error(r, WEFT_ERR_USAGE, "script: loop rounds has no end");
    weft_script_else(r->s);
    expect_error(r, WEFT_ERR_USAGE, "script: loop rounds has an else, expected if");
    weft_script_end(r->s); // after an error nothing happens
    expect_error(r, WEFT_ERR_USAGE, "script: loop rounds has an else, expected if");
}

static void an_end_needs_a_block(void **state)
{
    rig *r = *state;
    weft_script_end(r->s);
    expect_error(r, WEFT_ERR_USAGE, "script: end without a block");
}

static void names_are_taken_once(void **state)
{
    rig *r = *state;
    weft_script_host(r->s, "n", "->", do_nothing, NULL);
    weft_script_loop(r->s, "n", "count");
    expect_error(r, WEFT_ERR_NAME, "script: loop n: the name is taken by a node before");
}

static void values_must_be_there(void **state)
{
    rig *r = *state;
    builds b = {0};
    weft_error err = {0};
    weft_script_program(r->s, "sum", "kept -> sum, total", build_sum, &b);
    expect_error(r, WEFT_ERR_NAME, "script: program sum: 'kept' has no value yet");
    assert_int_equal(weft_script_set_number(r->s, "kepd", 1, &err), WEFT_ERR_NAME);
    assert_string_equal(err.message, "script: no node reads or writes 'kepd'");
    weft_script_if(r->s, "choice", "kept");
    weft_script_end(r->s);
    const weft_type pair = {.dtype = WEFT_I32, .ndim = 1, .dims = {2}};
    assert_int_equal(weft_script_set(r->s, "kept", &pair, (int32_t[]){1, 2}, NULL), WEFT_OK);
    assert_int_equal(weft_script_run(r->s, &err), WEFT_ERR_DTYPE); // exp of integers
    assert_non_null(strstr(err.message, "script: program sum: "));
    const weft_type huge = {.dtype = WEFT_F32, .ndim = 2, .dims = {INT64_MAX, INT64_MAX}};
    assert_int_equal(weft_script_set(r->s, "kept", &huge, "", &err), WEFT_ERR_SHAPE);
}

static void a_condition_is_one_number(void **state)
{
    rig *r = *state;
    const weft_type pair = {.dtype = WEFT_I32, .ndim = 1, .dims = {2}};
    weft_script_if(r->s, "choice", "x");
    weft_script_end(r->s);
    expect_error(r, WEFT_ERR_NAME, "script: if choice: 'x' has no value yet");
    assert_int_equal(weft_script_set(r->s, "x", &pair, (int32_t[]){1, 2}, NULL), WEFT_OK);
    expect_error(r, WEFT_ERR_SHAPE,
                 "script: if choice: 'x' is i32[2], expected one bool, i32 or i64");
}

static void a_script_does_not_run_itself(void **state)
{
    rig *r = *state;
    weft_script_host(r->s, "n", "->", run_itself, NULL);
    expect_error(r, WEFT_ERR_USAGE, "script: host n: script: a node runs the script that it is in");
    expect_error(r, WEFT_ERR_USAGE, "script: host n: script: a node runs the script that it is in");
}

static weft_status build_and_run(const weft_context_options *options, const char *id)
{
    static const weft_type type = {.dtype = WEFT_F32, .ndim = 1, .dims = {200}};
    rig r = {0};
    builds b = {0};
    float x[200];
    weft_status status;
    fill(x, 5);
    WEFT_TRY_GOTO(weft_context_create(options, &r.ctx, NULL));
    WEFT_TRY_GOTO(weft_device_open(r.ctx, id, NULL, &r.device, NULL));
    WEFT_TRY_GOTO(weft_state_create(r.device, &r.state, NULL));
    WEFT_TRY_GOTO(weft_script_create(r.state, &r.s, NULL));
    weft_script_loop(r.s, "twice", "n");
    build_choice(&r, &b);
    weft_script_end(r.s);
    status = weft_script_set_number(r.s, "n", 2, NULL);
    if (status == WEFT_ERR_NAME)
        status = WEFT_ERR_MEMORY; // what names it was lost
    if (status == WEFT_OK)
        status = weft_script_set(r.s, "x", &type, x, NULL);
    if (status == WEFT_ERR_NAME)
        status = WEFT_ERR_MEMORY;
    if (status == WEFT_OK)
        status = weft_script_run(r.s, NULL);
fail:
    weft_script_destroy(r.s);
    weft_state_destroy(r.state);
    weft_device_close(r.device);
    weft_context_destroy(r.ctx);
    return status;
}

static void failed_allocations_leave_nothing(void **state)
{
    (void)state;
    failing_alloc_sweep(build_and_run, "ref", 1);
}

#define RIG_TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

const struct CMUnitTest wf_tests_script[] = {
    RIG_TEST(while_and_if_go_by_values),
    RIG_TEST(all_nodes_are_listed),
    RIG_TEST(loops_count_what_they_find),
    RIG_TEST(shapes_follow_the_data),
    RIG_TEST(eight_programs_are_kept),
    RIG_TEST(nothing_chosen_is_an_empty_sum),
    RIG_TEST(opencl_has_the_bits_of_cpu),
    RIG_TEST(text_is_a_value),
    RIG_TEST(nodes_are_held_to_their_signatures),
    RIG_TEST(wrong_signatures_are_errors),
    RIG_TEST(broken_blocks_are_errors),
    RIG_TEST(an_end_needs_a_block),
    RIG_TEST(names_are_taken_once),
    RIG_TEST(values_must_be_there),
    RIG_TEST(a_condition_is_one_number),
    RIG_TEST(a_script_does_not_run_itself),
    cmocka_unit_test(failed_allocations_leave_nothing),
};
const unsigned long wf_n_tests_script = WF_N_TESTS(wf_tests_script);
