// Overfits one batch of a recipe until the loss is below 1e-6 and compares a step's time there with its time
// at the start: gradients that die away become subnormal, which must not slow a step down.
// In: recipe, threads, the most steps, settings of the recipe. Out: one line of JSON. bench/overfit/run
// compiles it.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "train/trainer.h"

#define LOSS_BELOW 1e-6f
// Steps and time at either end of which the fastest step counts: what others do on the machine only makes
// some slower.
#define N_TIMED 20
#define TIMED_MS 2000.0
#define N_READ 20 // the loss is looked at every so many steps

static weft_status open_all(char **argv, int argc, wf_trainer *t, weft_program **out_program,
                            weft_error *err)
{
    weft_context *context;
    weft_device *device;
    weft_recipe *recipe;
    wf_batch batch;
    weft_device_options options = WEFT_DEVICE_OPTIONS_INIT;
    options.n_threads = (uint32_t)atoi(argv[2]);
    WEFT_TRY(weft_context_create(NULL, &context, err));
    WEFT_TRY(weft_device_open(context, "cpu", &options, &device, err));
    WEFT_TRY(weft_recipe_read(context, argv[1], (const char *const *)argv + 4, (size_t)argc - 4,
                              &recipe, err));
    WEFT_TRY(wf_trainer_init(t, recipe, device, 0, err));
    WEFT_TRY(wf_trainer_start(t, 0, 0, err));
    WEFT_TRY(wf_loader_next(t->loader, &batch, err));
    WEFT_TRY(wf_program_get(&t->programs, WF_PROGRAM_TRAIN, batch.n, out_program, err));
    return wf_program_write_samples(&t->programs, *out_program, &batch, 0, batch.n, err);
}

static double cpu_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

// The fastest of some steps, which are counted.
static weft_status time_steps(weft_program *program, double *out_ms, long *inout_n, weft_error *err)
{
    const double start = cpu_ms();
    *out_ms = 1e30;
    for (int i = 0; i < N_TIMED || cpu_ms() - start < TIMED_MS; i++) {
        const double before = cpu_ms();
        WEFT_TRY(weft_program_run(program, err));
        const double ms = cpu_ms() - before;
        *out_ms = ms < *out_ms ? ms : *out_ms;
        ++*inout_n;
    }
    return WEFT_OK;
}

static weft_status overfit(weft_program *program, long most, weft_error *err)
{
    double first, last;
    float loss = 1.0f;
    long n = 1;
    WEFT_TRY(weft_program_run(program, err)); // touches everything
    WEFT_TRY(time_steps(program, &first, &n, err));
    while (loss >= LOSS_BELOW) {
        if (n >= most)
            WEFT_FAIL(err, WEFT_ERR_USAGE, "overfit: the loss is %g after %ld steps", (double)loss,
                      n);
        for (int i = 0; i < N_READ; i++, n++)
            WEFT_TRY(weft_program_run(program, err));
        WEFT_TRY(weft_program_read(program, "loss", &loss, sizeof loss, err));
    }
    WEFT_TRY(time_steps(program, &last, &n, err));
    printf("{\"name\":\"overfit\",\"steps\":%ld,\"loss\":%.3g,\"first_ms\":%.3f,\"last_ms\":%.3f,"
           "\"ratio\":%.3f}\n",
           n, (double)loss, first, last, last / first);
    return WEFT_OK;
}

int main(int argc, char **argv)
{
    weft_error err = {0};
    wf_trainer trainer = {0};
    weft_program *program;
    if (argc < 4) {
        fprintf(stderr, "usage: overfit RECIPE THREADS MOST-STEPS [KEY=VALUE ...]\n");
        return 2;
    }
    if (open_all(argv, argc, &trainer, &program, &err) != WEFT_OK ||
        overfit(program, atol(argv[3]), &err) != WEFT_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    return 0;
}
