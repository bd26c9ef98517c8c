// A small training of an LSTM and of a GRU gives the same weights, bit for bit, on ref, every instruction set
// of this machine with 1 and 2 threads, and OpenCL.
// labels: full opencl (kernels of a whole training for PoCL to compile)
#include "nn_run.h"

#define N_STEPS 3
#define VOCABULARY 11
#define N_BATCH 3
#define N_TIME 6

typedef struct {
    uint8_t bytes[65536];
    size_t n;
} snapshot;

// An embedding, two layers of both directions over sequences of many lengths, and a head.
static void build(nn_run *r, bool is_gru)
{
    static const int64_t tokens[] = {N_BATCH, N_TIME}, table[] = {VOCABULARY, 8};
    static const int32_t lengths[] = {6, 4, 1};
    static const int64_t n_batch = N_BATCH, rows = N_BATCH * N_TIME;
    const int64_t logits[] = {rows, VOCABULARY};
    weft_graph *g = r->g;
    weft_recurrent_options o = WEFT_RECURRENT_OPTIONS_INIT;
    const weft_init normal = {WEFT_INIT_NORMAL, 0, 1, 0};
    const weft_schedule_options s = {
        .struct_size = sizeof s, .kind = WEFT_SCHEDULE_CONSTANT, .lr = 0.05};
    weft_optimizer_options adam = WEFT_OPTIMIZER_OPTIONS_INIT;
    adam.kind = WEFT_OPTIMIZER_ADAMW;
    const weft_val x = weft_input(g, "x", WEFT_I32, tokens, 2);
    const weft_val embedding =
        weft_parameter_create(r->nn, "embedding", weft_init_values(r->nn, &normal, table, 2), true);
    o.n_layers = 2;
    o.is_bidirectional = true;
    o.is_batch_first = true;
    o.lengths = weft_constant(g, WEFT_I32, &n_batch, 1, lengths);
    const weft_val e = weft_gather(g, embedding, x, 0);
    const weft_val y = is_gru ? weft_gru(r->nn, "gru", e, 9, &o, NULL)
                              : weft_lstm(r->nn, "lstm", e, 9, &o, NULL, NULL);
    const weft_val z = weft_linear(r->nn, "head", y, VOCABULARY, NULL);
    const weft_val loss =
        weft_cross_entropy(g, weft_reshape(g, z, logits, 2), weft_reshape(g, x, &rows, 1), NULL);
    weft_output(g, "loss", loss);
    weft_train_step(r->nn, loss, &adam, &s);
}

static void take(const char *device, const char *isa, uint32_t n_threads, bool is_gru,
                 snapshot *out)
{
    nn_run r = {0};
    weft_device_options options = WEFT_DEVICE_OPTIONS_INIT;
    int32_t tokens[N_BATCH * N_TIME];
    options.isa = isa;
    options.n_threads = n_threads;
    NN_OK(weft_context_create(NULL, &r.ctx, err));
    NN_OK(weft_device_open(r.ctx, device, &options, &r.device, err));
    NN_OK(weft_state_create(r.device, &r.state, err));
    nn_model(&r, true);
    build(&r, is_gru);
    nn_compile(&r);
    for (int step = 0; step < N_STEPS; step++) {
        for (int i = 0; i < N_BATCH * N_TIME; i++)
            tokens[i] = (i * 5 + step * 3) % VOCABULARY;
        NN_OK(weft_program_write(r.program, "x", tokens, sizeof tokens, err));
        NN_OK(weft_program_run(r.program, err));
        NN_OK(weft_program_check(r.program, err));
    }
    out->n = 0;
    for (size_t i = 0; i < weft_state_count(r.state); i++) {
        const char *name = weft_state_name(r.state, i);
        const weft_type t = weft_state_type(r.state, name);
        size_t bytes = weft_dtype_size(t.dtype);
        for (int32_t d = 0; d < t.ndim; d++)
            bytes *= (size_t)t.dims[d];
        assert_true(out->n + bytes <= sizeof out->bytes);
        NN_OK(weft_state_read(r.state, name, out->bytes + out->n, bytes, err));
        out->n += bytes;
    }
    nn_end(&r);
}

static void is_equal_on(const char *device, const char *isa, uint32_t n_threads, bool is_gru)
{
    static snapshot expected, got;
    take("ref", NULL, 0, is_gru, &expected);
    take(device, isa, n_threads, is_gru, &got);
    if (got.n != expected.n || memcmp(got.bytes, expected.bytes, got.n) != 0)
        fail_msg("%s %s, %u threads: the %s's weights differ from ref's", device, isa ? isa : "",
                 n_threads, is_gru ? "GRU" : "LSTM");
}

static void cpu_trains_to_the_same_bits(void **state)
{
    static const char *const isas[] = {"scalar", "avx2", "avx512", "neon"};
    (void)state;
    for (size_t i = 0; i < NN_COUNT(isas); i++) {
        if (!nn_has_device("cpu", isas[i]))
            continue;
        for (uint32_t n_threads = 1; n_threads <= 2; n_threads++) {
            is_equal_on("cpu", isas[i], n_threads, false);
            is_equal_on("cpu", isas[i], n_threads, true);
        }
    }
}

static void opencl_trains_to_the_same_bits(void **state)
{
    (void)state;
    if (!nn_has_device("opencl", NULL))
        WF_SKIP("opencl: no device that can run exact");
    is_equal_on("opencl", NULL, 0, false);
}

const struct CMUnitTest wf_tests_nn_recurrent_devices[] = {
    cmocka_unit_test(cpu_trains_to_the_same_bits),
    cmocka_unit_test(opencl_trains_to_the_same_bits),
};
const unsigned long wf_n_tests_nn_recurrent_devices = WF_N_TESTS(wf_tests_nn_recurrent_devices);
