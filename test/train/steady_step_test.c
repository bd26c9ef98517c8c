// A step that is not among the first: it allocates nothing and meets no page fault, whatever it trains and on
// however many threads.
// labels: noasan notsan (they count their own memory)
#include <stdlib.h>
#include <sys/resource.h>

#include "train/trainer.h"
#include "wf_test.h"

// The first step touches stacks, the first batches the loader's buffers; the list of losses doubles at 16.
#define N_FIRST 6
#define N_STEPS 15

static void *count_reallocate(void *user, void *ptr, size_t size_bytes)
{
    _Atomic long *n_calls = user;
    (*n_calls)++;
    if (size_bytes == 0) {
        free(ptr);
        return NULL;
    }
    return realloc(ptr, size_bytes);
}

static long count_faults(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_minflt + usage.ru_majflt;
}

// Page faults of steps N_FIRST + 1 to N_STEPS.
static long train(const char *text, uint32_t n_threads)
{
    static _Atomic long n_calls;
    weft_context_options options = WEFT_CONTEXT_OPTIONS_INIT;
    weft_device_options device_options = WEFT_DEVICE_OPTIONS_INIT;
    weft_context *context;
    weft_device *device;
    weft_recipe *recipe;
    wf_trainer trainer;
    weft_error err = {0};
    long n_faults = 0, n_calls_before = 0;
    options.reallocate = count_reallocate;
    options.reallocate_user = (void *)&n_calls;
    device_options.n_threads = n_threads;
    assert_int_equal(weft_context_create(&options, &context, NULL), WEFT_OK);
    assert_int_equal(weft_device_open(context, "cpu", &device_options, &device, NULL), WEFT_OK);
    if (wf_recipe_read_text(context, "steady", text, NULL, 0, &recipe, &err) != WEFT_OK)
        fail_msg("%s", err.message);
    assert_int_equal(wf_trainer_init(&trainer, recipe, device, 0, NULL), WEFT_OK);
    assert_int_equal(wf_trainer_start(&trainer, 0, 0, NULL), WEFT_OK);
    for (int i = 0; i < N_STEPS; i++) {
        if (i == N_FIRST) {
            n_faults = count_faults();
            n_calls_before = n_calls;
        }
        if (wf_trainer_step(&trainer, &err) != WEFT_OK)
            fail_msg("%s", err.message);
    }
    assert_int_equal(n_calls - n_calls_before, 0);
    n_faults = count_faults() - n_faults;
    wf_trainer_deinit(&trainer);
    weft_recipe_destroy(recipe);
    weft_device_close(device);
    weft_context_destroy(context);
    return n_faults;
}

// A system that is short of memory takes a page of code now and then: not three times in a row.
static void has_no_fault(const char *text, uint32_t n_threads)
{
    for (int i = 0; i < 3; i++) {
        if (train(text, n_threads) == 0)
            return;
    }
    fail_msg("page faults in a step, %u threads", n_threads);
}

#define IMAGES "data: {reader: synthetic, image: [1, 28, 28], n_classes: 10}\n"
#define TEXTS "data: {reader: synthetic, context: 32, n_classes: 65}\n"
#define REST "loss: cross_entropy\ntrain: {batch: 16, steps: 20}\n"

static void perceptron(void **state)
{
    (void)state;
    const char *const text =
        "name: steady\nseed: 1\n" IMAGES "model: {family: mlp, hidden: [512, 256]}\n"
        "optimiser: {kind: adam, lr: 1e-3}\n" REST;
    has_no_fault(text, 1);
    has_no_fault(text, 2);
}

static void convolutions(void **state)
{
    (void)state;
    const char *const text = "name: steady\nseed: 1\n" IMAGES "model: {family: lenet}\n"
                             "optimiser: {kind: sgd, lr: 0.01, momentum: 0.9}\n" REST;
    has_no_fault(text, 1);
    has_no_fault(text, 3);
}

static void transformer(void **state)
{
    (void)state;
    const char *const text = "name: steady\nseed: 1\n" TEXTS
                             "model: {family: gpt, width: 64, heads: 2, layers: 2, std: 0}\n"
                             "optimiser: {kind: adamw, lr: 3e-4}\n" REST;
    has_no_fault(text, 1);
    has_no_fault(text, 2);
}

const struct CMUnitTest wf_tests_steady_step[] = {
    cmocka_unit_test(perceptron),
    cmocka_unit_test(convolutions),
    cmocka_unit_test(transformer),
};
const unsigned long wf_n_tests_steady_step = WF_N_TESTS(wf_tests_steady_step);
