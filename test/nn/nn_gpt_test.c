// GPT: parameters as PyTorch counts them, token by token as all at once, bit for bit; on OpenCL nn_gpt_opencl.
#include "gpt_decode.h"

static int64_t count_parameters(const weft_gpt_options *o)
{
    nn_run r;
    int64_t n = 0;
    nn_begin(&r, NULL, true);
    const weft_val tokens = weft_input(r.g, "tokens", WEFT_I32, NN_DIMS(1, 4));
    const weft_val logits = weft_gpt(r.nn, tokens, o);
    NN_OK(weft_graph_status(r.g, err));
    const weft_type t = weft_val_type(r.g, logits);
    assert_int_equal(t.ndim, 3);
    assert_int_equal(t.dims[1], 4);
    assert_int_equal(t.dims[2], o->vocabulary);
    for (size_t i = 0; i < weft_nn_n_parameters(r.nn); i++)
        n += weft_val_count(r.g, weft_nn_parameter(r.nn, i).val);
    nn_end(&r);
    return n;
}

// The workloads chargpt and gpt2 of the benchmarks: PyTorch's counts.
static void has_the_parameters_of_pytorch(void **state)
{
    weft_gpt_options o = WEFT_GPT_OPTIONS_INIT;
    (void)state;
    o.vocabulary = 65;
    o.d = 384;
    o.heads = 6;
    o.layers = 6;
    o.context = 256;
    assert_int_equal(count_parameters(&o), 10795776);
    o.vocabulary = 50257;
    o.d = 768;
    o.heads = 12;
    o.layers = 12;
    o.context = 1024;
    o.is_tied = true;
    o.activation = "gelu_tanh";
    assert_int_equal(count_parameters(&o), 124439808);
}

static void names_its_parameters(void **state)
{
    static const char *const names[] = {
        "te.weight",     "pe.weight",       "h.0.l1.weight",   "h.0.l1.bias",   "h.0.qkv.weight",
        "h.0.qkv.bias",  "h.0.proj.weight", "h.0.proj.bias",   "h.0.l2.weight", "h.0.l2.bias",
        "h.0.up.weight", "h.0.up.bias",     "h.0.down.weight", "h.0.down.bias", "h.1.l1.weight",
    };
    nn_run r;
    (void)state;
    const weft_gpt_options o = small();
    nn_begin(&r, NULL, true);
    weft_gpt(r.nn, weft_input(r.g, "tokens", WEFT_I32, NN_DIMS(1, 4)), &o);
    for (size_t i = 0; i < NN_COUNT(names); i++)
        assert_string_equal(weft_nn_parameter(r.nn, i).name, names[i]);
    nn_end(&r);
}

static void decodes_the_same_bits(void **state)
{
    static const char *const isas[] = {"scalar", "avx2", "avx512"};
    const weft_gpt_options o = small();
    (void)state;
    compare("ref", NULL, &o, 1);
    for (size_t i = 0; i < NN_COUNT(isas); i++) {
        if (nn_has_device("cpu", isas[i]))
            compare("cpu", isas[i], &o, 1);
    }
}

static void takes_several_tokens_at_a_time(void **state)
{
    const weft_gpt_options o = small();
    (void)state;
    compare("cpu", NULL, &o, 5);
}

static void grouped_heads_and_rms_norms(void **state)
{
    weft_gpt_options o = small();
    (void)state;
    o.kv_heads = 2;
    o.is_rms = true;
    o.is_tied = true;
    o.std = 0.02;
    o.activation = "silu";
    compare("cpu", NULL, &o, 1);
}

static void a_full_cache_is_an_error(void **state)
{
    weft_gpt_options o = small();
    nn_run r;
    static const int32_t token = 3;
    (void)state;
    o.context = 2;
    nn_begin_on(&r, "cpu", NULL, NULL, false);
    weft_output(r.g, "logits",
                weft_gpt_decode(r.nn, weft_input(r.g, "tokens", WEFT_I32, NN_DIMS(1, 1)), &o));
    NN_OK(weft_compile(r.state, r.g, NULL, &r.program, err));
    for (int i = 0; i < 3; i++) {
        NN_OK(weft_program_write(r.program, "tokens", &token, sizeof token, err));
        NN_OK(weft_program_run(r.program, err));
        assert_int_equal(weft_program_check(r.program, NULL), i < 2 ? WEFT_OK : WEFT_ERR_INDEX);
    }
    nn_end(&r);
}

static void refuses_long_contexts(void **state)
{
    nn_run r;
    weft_error err = {0};
    (void)state;
    const weft_gpt_options o = small();
    nn_begin(&r, NULL, true);
    weft_gpt(r.nn, weft_input(r.g, "tokens", WEFT_I32, NN_DIMS(1, 71)), &o);
    assert_int_equal(weft_graph_status(r.g, &err), WEFT_ERR_SHAPE);
    assert_string_equal(err.message,
                        "gpt: tokens is i32[1,71], expected [b,t], t from 1 to the context of 70");
    nn_end(&r);
}

static void refuses_odd_heads(void **state)
{
    nn_run r;
    weft_error err = {0};
    (void)state;
    weft_gpt_options o = small();
    o.heads = 5;
    nn_begin(&r, NULL, true);
    weft_gpt(r.nn, weft_input(r.g, "tokens", WEFT_I32, NN_DIMS(1, 3)), &o);
    assert_int_equal(weft_graph_status(r.g, &err), WEFT_ERR_SHAPE);
    assert_string_equal(
        err.message,
        "h/0/heads: x is f32[1,3,24], heads 5, kv_heads 5, expected [b,t,d], a divisor "
        "of d, a divisor of heads");
    nn_end(&r);
}

const struct CMUnitTest wf_tests_nn_gpt[] = {
    cmocka_unit_test(has_the_parameters_of_pytorch),
    cmocka_unit_test(names_its_parameters),
    cmocka_unit_test(decodes_the_same_bits),
    cmocka_unit_test(takes_several_tokens_at_a_time),
    cmocka_unit_test(grouped_heads_and_rms_norms),
    cmocka_unit_test(a_full_cache_is_an_error),
    cmocka_unit_test(refuses_long_contexts),
    cmocka_unit_test(refuses_odd_heads),
};
const unsigned long wf_n_tests_nn_gpt = WF_N_TESTS(wf_tests_nn_gpt);
