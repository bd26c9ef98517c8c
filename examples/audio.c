// Sounds told apart: tones that rise, that fall, that stay, drowned in noise, by the family "audio".
// The samples go to the device as they are; the mel spectrogram is part of the network.
//   usage: example-audio [DEVICE [STEPS]]
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <weft/weft.h>

enum { BATCH = 32, RATE = 4000, SAMPLES = RATE / 2, CLASSES = 3 };

static void must(weft_status status, const weft_error *err)
{
    if (status == WEFT_OK)
        return;
    fprintf(stderr, "audio: %s\n", err->message);
    exit(1);
}

// Uniform in 0 .. 1, the same on every machine.
static double draw(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / 16777216.0;
}

// Half a second: from one pitch to another, at any loudness, as loud as the noise or louder.
static int make_sound(unsigned *seed, float *out)
{
    const int kind = (int)(draw(seed) * CLASSES);
    const double start = 400.0 + 800.0 * draw(seed), slide = (double)(kind - 1) * 600.0;
    const double loudness = 0.1 + 0.4 * draw(seed);
    double turns = draw(seed);
    for (int i = 0; i < SAMPLES; i++) {
        turns += (start + slide * i / SAMPLES) / RATE;
        out[i] = (float)(loudness * (sin(6.283185307179586 * turns) + 2.0 * draw(seed) - 1.0));
    }
    return kind;
}

// A program that trains, or one that only counts what is right; they share the state's weights.
static weft_program *build(weft_context *context, weft_state *state, bool is_training, long steps)
{
    static const char *const options[] = {"sample_rate=4000", "mels=32", "channels=8,16,32",
                                          "dropout=0", "classes=3"};
    static const int64_t dims[] = {BATCH, SAMPLES}, rows[] = {BATCH};
    weft_graph *g;
    weft_nn *nn;
    weft_program *program;
    weft_error err;
    const weft_nn_options nn_options = {
        .struct_size = sizeof nn_options, .is_training = is_training, .seed = 1};
    must(weft_graph_create(context, &g, &err), &err);
    must(weft_nn_create(g, &nn_options, &nn, &err), &err);
    const weft_val sounds = weft_input(g, "sounds", WEFT_F32, dims, 2);
    const weft_val labels = weft_input(g, "labels", WEFT_I32, rows, 1);
    const weft_val logits = weft_family(nn, "audio", sounds, options, 5, NULL);
    const weft_val loss = weft_cross_entropy(g, logits, labels, NULL);
    weft_output(g, "loss", loss);
    weft_output(g, "correct", weft_count_correct(g, logits, labels, NULL));
    if (is_training) {
        weft_optimizer_options adamw = WEFT_OPTIMIZER_OPTIONS_INIT;
        weft_schedule_options schedule = WEFT_SCHEDULE_OPTIONS_INIT;
        adamw.kind = WEFT_OPTIMIZER_ADAMW;
        schedule.kind = WEFT_SCHEDULE_ONE_CYCLE;
        schedule.lr = 0.01;
        schedule.total_steps = steps;
        weft_train_step(nn, loss, &adamw, &schedule);
    }
    must(weft_compile(state, g, NULL, &program, &err), &err);
    weft_nn_destroy(nn);
    weft_graph_destroy(g);
    return program;
}

// Runs the program on a batch of new sounds.
static void run(weft_program *program, unsigned *seed)
{
    static float sounds[BATCH][SAMPLES];
    int32_t labels[BATCH];
    weft_error err;
    for (int i = 0; i < BATCH; i++)
        labels[i] = make_sound(seed, sounds[i]);
    must(weft_program_write(program, "sounds", sounds, sizeof sounds, &err), &err);
    must(weft_program_write(program, "labels", labels, sizeof labels, &err), &err);
    must(weft_program_run(program, &err), &err);
    must(weft_program_check(program, &err), &err);
}

int main(int argc, char **argv)
{
    const long n_steps = argc > 2 ? strtol(argv[2], NULL, 10) : 150;
    const int n_tests = 20;
    unsigned seed = 1;
    weft_error err;
    weft_context *context;
    weft_device *device;
    weft_state *state;
    must(weft_context_create(NULL, &context, &err), &err);
    must(weft_device_open(context, argc > 1 ? argv[1] : "cpu", NULL, &device, &err), &err);
    must(weft_state_create(device, &state, &err), &err);
    weft_program *trainer = build(context, state, true, n_steps);
    weft_program *judge = build(context, state, false, n_steps);
    for (long i = 0; i < n_steps; i++) {
        float loss;
        run(trainer, &seed);
        must(weft_program_read(trainer, "loss", &loss, sizeof loss, &err), &err);
        if (i % 25 == 24 || i == n_steps - 1)
            printf("step %ld: loss %.4f\n", i + 1, loss);
    }
    int64_t n_correct = 0;
    for (int i = 0; i < n_tests; i++) {
        int64_t correct;
        run(judge, &seed);
        must(weft_program_read(judge, "correct", &correct, sizeof correct, &err), &err);
        n_correct += correct;
    }
    printf("accuracy %.1f %% of %d new sounds on %s\n",
           100.0 * (double)n_correct / (n_tests * BATCH), n_tests * BATCH,
           weft_device_name(device));
    weft_program_destroy(trainer);
    weft_program_destroy(judge);
    weft_state_destroy(state);
    weft_device_close(device);
    weft_context_destroy(context);
    return 0;
}
