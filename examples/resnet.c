// A residual network by name, on Fashion-MNIST: trained on the first device argument, its weights then used by a
// second program that judges.
//   usage: example-resnet [DEVICE [STEPS [FOLDER]]]
// FOLDER holds the four IDX files, gzipped or not (Debian: the package dataset-fashion-mnist).
#define _POSIX_C_SOURCE 200809L // popen
#include <stdio.h>
#include <stdlib.h>

#include <weft/weft.h>

enum { BATCH = 50, PIXELS = 28 * 28, N_TRAIN = 10000, N_TEST = 500 };

static void must(weft_status status, const weft_error *err)
{
    if (status == WEFT_OK)
        return;
    fprintf(stderr, "resnet: %s\n", err->message);
    exit(1);
}

// The first n bytes of an IDX file behind its header; gzip passes plain files on with -f.
static unsigned char *read_idx(const char *folder, const char *name, size_t header, size_t n)
{
    char command[1024];
    snprintf(command, sizeof command, "gzip -dcf '%s/%s'* 2>/dev/null", folder, name);
    unsigned char *data = malloc(header + n);
    FILE *pipe = popen(command, "r");
    if (!data || !pipe || fread(data, 1, header + n, pipe) != header + n) {
        fprintf(stderr, "resnet: %s/%s: not there or shorter than %zu bytes\n", folder, name, n);
        exit(1);
    }
    pclose(pipe);
    for (size_t i = 0; i < n; i++)
        data[i] = data[header + i];
    return data;
}

static weft_program *build(weft_context *context, weft_state *state, bool is_training, long steps)
{
    // Half as wide as the paper's; "resnet18", "mobilenetv2", "vgg" would do as well.
    static const char *const options[] = {"width=8", "classes=10"};
    static const int64_t dims[] = {BATCH, 1, 28, 28}, rows[] = {BATCH};
    weft_graph *g;
    weft_nn *nn;
    weft_program *program;
    weft_error err;
    weft_nn_options nn_options = WEFT_NN_OPTIONS_INIT;
    nn_options.is_training = is_training; // batch norm takes the batch's statistics, and keeps them
    must(weft_graph_create(context, &g, &err), &err);
    must(weft_nn_create(g, &nn_options, &nn, &err), &err);
    weft_val bytes = weft_input(g, "images", WEFT_U8, dims, 4);
    weft_val labels = weft_cast(g, weft_input(g, "labels", WEFT_U8, rows, 1), WEFT_I32);
    weft_val x = weft_div(g, weft_cast(g, bytes, WEFT_F32), weft_scalar(g, WEFT_F32, 255));
    weft_val logits = weft_family(nn, "resnet20", x, options, 2, NULL);
    weft_val loss = weft_cross_entropy(g, logits, labels, NULL);
    weft_output(g, "loss", loss);
    weft_output(g, "correct", weft_count_correct(g, logits, labels, NULL));
    if (is_training) {
        weft_optimizer_options sgd = WEFT_OPTIMIZER_OPTIONS_INIT;
        weft_schedule_options schedule = WEFT_SCHEDULE_OPTIONS_INIT;
        sgd.momentum = 0.9;
        sgd.weight_decay = 5e-4;
        schedule.kind = WEFT_SCHEDULE_ONE_CYCLE;
        schedule.lr = 0.1;
        schedule.total_steps = steps;
        weft_train_step(nn, loss, &sgd, &schedule);
    }
    must(weft_compile(state, g, NULL, &program, &err), &err); // says what is wrong in the graph
    weft_nn_destroy(nn);
    weft_graph_destroy(g);
    return program;
}

// Batch i of n samples, beginning again behind the last one.
static void run(weft_program *program, const unsigned char *images, const unsigned char *labels,
                size_t n, size_t i)
{
    weft_error err;
    const size_t first = i % (n / BATCH) * BATCH;
    must(weft_program_write(program, "images", images + first * PIXELS, BATCH * PIXELS, &err),
         &err);
    must(weft_program_write(program, "labels", labels + first, BATCH, &err), &err);
    must(weft_program_run(program, &err), &err);
    must(weft_program_check(program, &err), &err);
}

int main(int argc, char **argv)
{
    const long n_steps = argc > 2 ? strtol(argv[2], NULL, 10) : 600;
    const char *folder = argc > 3 ? argv[3] : "/usr/share/datasets/fashion-mnist";
    unsigned char *images = read_idx(folder, "train-images-idx3-ubyte", 16, N_TRAIN * PIXELS);
    unsigned char *labels = read_idx(folder, "train-labels-idx1-ubyte", 8, N_TRAIN);
    unsigned char *test_images = read_idx(folder, "t10k-images-idx3-ubyte", 16, N_TEST * PIXELS);
    unsigned char *test_labels = read_idx(folder, "t10k-labels-idx1-ubyte", 8, N_TEST);
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
        run(trainer, images, labels, N_TRAIN, (size_t)i);
        if (i % 20 != 19 && i != n_steps - 1)
            continue;
        must(weft_program_read(trainer, "loss", &loss, sizeof loss, &err), &err);
        printf("step %ld: loss %.4f\n", i + 1, loss);
    }
    int64_t n_correct = 0;
    for (size_t i = 0; i < N_TEST / BATCH; i++) {
        int64_t correct;
        run(judge, test_images, test_labels, N_TEST, i);
        must(weft_program_read(judge, "correct", &correct, sizeof correct, &err), &err);
        n_correct += correct;
    }
    printf("test accuracy %.2f %% on %s\n", 100.0 * (double)n_correct / N_TEST,
           weft_device_name(device));

    weft_program_destroy(trainer);
    weft_program_destroy(judge);
    weft_state_destroy(state);
    weft_device_close(device);
    weft_context_destroy(context);
    free(images), free(labels), free(test_images), free(test_labels);
    return 0;
}
