// Every optimiser gives the same bits, weights and state, on ref, every instruction set and OpenCL.
// labels: full opencl (kernels of eight optimisers for PoCL to compile)
#include "nn_optimizer_model.h"

#define N_STEPS 5

typedef struct snapshot {
    uint8_t bytes[8192];
    size_t n;
} snapshot;

// Everything that the state holds behind five steps of one kind, in the order of its creation.
static void take(const char *device, const char *isa, weft_optimizer_kind kind, snapshot *out)
{
    nn_run r;
    weft_optimizer_options o = of_kind(kind);
    const weft_schedule_options s = constant_lr(0.02);
    o.weight_decay = 0.1;
    o.clip_norm = 3.0;
    o.momentum = kind == WEFT_OPTIMIZER_SGD || kind == WEFT_OPTIMIZER_RMSPROP ? 0.9 : 0.0;
    o.is_centered = true;
    nn_begin_on(&r, device, isa, "nn_optimizer_kinds", true);
    weft_train_step(r.nn, build_loss(&r), &o, &s);
    for (int i = 0; i < N_STEPS; i++) {
        nn_go(&r);
    }
    out->n = 0;
    for (size_t i = 0; i < weft_state_count(r.state); i++) {
        const char *name = weft_state_name(r.state, i);
        const weft_type t = weft_state_type(r.state, name);
        size_t bytes = weft_dtype_size(t.dtype);
        for (int32_t d = 0; d < t.ndim; d++) {
            bytes *= (size_t)t.dims[d];
        }
        assert_true(out->n + bytes <= sizeof out->bytes);
        NN_OK(weft_state_read(r.state, name, out->bytes + out->n, bytes, err));
        out->n += bytes;
    }
    nn_end(&r);
}

static void all_kinds_are_equal_on(const char *device, const char *isa)
{
    static snapshot expected, got;
    for (int kind = WEFT_OPTIMIZER_SGD; kind <= WEFT_OPTIMIZER_MUON; kind++) {
        take("ref", NULL, (weft_optimizer_kind)kind, &expected);
        take(device, isa, (weft_optimizer_kind)kind, &got);
        if (got.n != expected.n || memcmp(got.bytes, expected.bytes, got.n) != 0)
            fail_msg("%s%s%s: optimiser %d differs from ref", device, isa ? " " : "",
                     isa ? isa : "", kind);
    }
}

static void cpu_gives_the_same_bits(void **state)
{
    static const char *const isas[] = {"scalar", "avx2", "avx512", "neon"};
    (void)state;
    for (size_t i = 0; i < NN_COUNT(isas); i++) {
        if (nn_has_device("cpu", isas[i]))
            all_kinds_are_equal_on("cpu", isas[i]);
    }
}

static void opencl_gives_the_same_bits(void **state)
{
    (void)state;
    if (!nn_has_device("opencl", NULL))
        WF_SKIP("opencl: no device that can run exact");
    all_kinds_are_equal_on("opencl", NULL);
}

const struct CMUnitTest wf_tests_nn_optimizer_devices[] = {
    cmocka_unit_test(cpu_gives_the_same_bits),
    cmocka_unit_test(opencl_gives_the_same_bits),
};
const unsigned long wf_n_tests_nn_optimizer_devices = WF_N_TESTS(wf_tests_nn_optimizer_devices);
