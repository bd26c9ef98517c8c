// A deep belief network in two steps: a restricted Boltzmann machine learns pictures of bars without labels, by
// contrastive divergence; then a classifier that begins with its weights learns from a few labels whether the
// bars lie or stand. Both are programs on one state: parameters of the same name are the same.
//   usage: example-dbn [DEVICE]
#include <stdio.h>
#include <stdlib.h>

#include <weft/weft.h>

enum { SIDE = 8, PIXELS = SIDE * SIDE, N = 1024, N_LABELS = 64, BATCH = 64, N_TEST = 256 };

static void must(weft_status status, const weft_error *err)
{
    if (status == WEFT_OK)
        return;
    fprintf(stderr, "dbn: %s\n", err->message);
    exit(1);
}

static unsigned random_state;

static unsigned draw(void) // of 0 to 99
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % 100;
}

// Each row, or each column, is black with one chance in three; one pixel in twenty is turned over.
static void make_pictures(float pictures[][PIXELS], int *labels, int n)
{
    for (int i = 0; i < n; i++) {
        int bars[SIDE];
        labels[i] = draw() < 50;
        for (int k = 0; k < SIDE; k++) {
            bars[k] = draw() < 33;
        }
        for (int p = 0; p < PIXELS; p++) {
            const int bar = bars[labels[i] ? p % SIDE : p / SIDE];
            pictures[i][p] = (float)(bar ^ (draw() < 5));
        }
    }
}

// mode: "mode=rbm" or "mode=classifier"
static weft_program *build(weft_context *context, weft_state *state, const char *mode, int n,
                           bool is_classifier, bool is_training)
{
    const char *const options[] = {mode, "hidden=128", "classes=2"};
    const int64_t dims[] = {n, PIXELS}, label_dims[] = {n};
    weft_graph *g;
    weft_nn *nn;
    weft_program *program;
    weft_error err;
    weft_family_result result;
    weft_nn_options nn_options = WEFT_NN_OPTIONS_INIT;
    nn_options.is_training = is_training;
    must(weft_graph_create(context, &g, &err), &err);
    must(weft_nn_create(g, &nn_options, &nn, &err), &err);
    const weft_val x = weft_input(g, "pictures", WEFT_F32, dims, 2);
    const weft_val y = weft_family(nn, "dbn", x, options, 3, &result);
    weft_val loss;
    if (is_classifier) {
        const weft_val labels = weft_input(g, "labels", WEFT_I32, label_dims, 1);
        loss = weft_cross_entropy(g, y, labels, NULL);
        weft_output(g, "correct", weft_count_correct(g, y, labels, NULL));
    } else {
        // In training a difference of free energies; else how badly a picture comes back.
        loss = weft_mean(g, result.penalty, NULL, 0, false);
    }
    weft_output(g, "loss", loss);
    if (is_training) {
        weft_optimizer_options sgd = WEFT_OPTIMIZER_OPTIONS_INIT;
        weft_schedule_options schedule = WEFT_SCHEDULE_OPTIONS_INIT;
        sgd.kind = WEFT_OPTIMIZER_SGD;
        schedule.lr = is_classifier ? 0.5 : 0.1;
        weft_train_step(nn, loss, &sgd, &schedule);
    }
    must(weft_compile(state, g, NULL, &program, &err), &err);
    weft_nn_destroy(nn);
    weft_graph_destroy(g);
    return program;
}

static float run(weft_program *program, float pictures[][PIXELS], const int *labels, int n)
{
    weft_error err;
    float loss;
    must(weft_program_write(program, "pictures", pictures, (size_t)n * sizeof *pictures, &err),
         &err);
    if (labels)
        must(weft_program_write(program, "labels", labels, (size_t)n * sizeof *labels, &err), &err);
    must(weft_program_run(program, &err), &err);
    must(weft_program_check(program, &err), &err);
    must(weft_program_read(program, "loss", &loss, sizeof loss, &err), &err);
    return loss;
}

// Right answers of N_TEST, of a network that begins with a machine's weights or with random ones.
static int learn(weft_context *context, weft_device *device, bool is_pretrained)
{
    static float pictures[N][PIXELS], test[N_TEST][PIXELS];
    static int labels[N], test_labels[N_TEST];
    weft_error err;
    weft_state *state;
    int64_t correct;
    random_state = 1; // the same pictures both times
    make_pictures(pictures, labels, N);
    make_pictures(test, test_labels, N_TEST);
    must(weft_state_create(device, &state, &err), &err);
    if (is_pretrained) {
        weft_program *machine = build(context, state, "mode=rbm", BATCH, false, true);
        weft_program *mirror = build(context, state, "mode=rbm", N_TEST, false, false);
        printf("pictures come back with a loss of %.2f", run(mirror, test, NULL, N_TEST));
        for (int step = 0; step < 100 * N / BATCH; step++) {
            run(machine, pictures + step % (N / BATCH) * BATCH, NULL, BATCH);
        }
        printf(", after pre-training of %.2f\n", run(mirror, test, NULL, N_TEST));
        weft_program_destroy(machine), weft_program_destroy(mirror);
    }
    weft_program *classifier = build(context, state, "mode=classifier", N_LABELS, true, true);
    weft_program *judge = build(context, state, "mode=classifier", N_TEST, true, false);
    for (int step = 0; step < 2000; step++) {
        run(classifier, pictures, labels, N_LABELS);
    }
    run(judge, test, test_labels, N_TEST);
    must(weft_program_read(judge, "correct", &correct, sizeof correct, &err), &err);
    weft_program_destroy(classifier), weft_program_destroy(judge);
    weft_state_destroy(state);
    return (int)correct;
}

int main(int argc, char **argv)
{
    weft_error err;
    weft_context *context;
    weft_device *device;
    must(weft_context_create(NULL, &context, &err), &err);
    must(weft_device_open(context, argc > 1 ? argv[1] : "cpu", NULL, &device, &err), &err);
    const int with = learn(context, device, true), without = learn(context, device, false);
    printf("%d labels: right with pre-training %d, without %d of %d\n", N_LABELS, with, without,
           N_TEST);
    weft_device_close(device);
    weft_context_destroy(context);
    return 0;
}
