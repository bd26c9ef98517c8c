// LeNet on Fashion-MNIST: the graph by hand, trained on the first device argument, evaluated.
//   usage: example-lenet [DEVICE [STEPS [FOLDER]]]
// FOLDER holds the four IDX files, gzipped or not (Debian: the package dataset-fashion-mnist).
#define _POSIX_C_SOURCE 200809L // popen
#include <stdio.h>
#include <stdlib.h>

#include <weft/weft.h>

enum { BATCH = 100, PIXELS = 28 * 28 };

static void must(weft_status status, const weft_error *err)
{
    if (status == WEFT_OK)
        return;
    fprintf(stderr, "lenet: %s\n", err->message);
    exit(1);
}

// The bytes of an IDX file behind its header of head bytes; gzip passes plain files on with -f.
static unsigned char *read_idx(const char *folder, const char *name, size_t head, size_t n)
{
    char command[1024];
    snprintf(command, sizeof command, "gzip -dcf '%s/%s'*", folder, name);
    unsigned char *data = malloc(head + n);
    FILE *pipe = popen(command, "r");
    if (!data || !pipe || fread(data, 1, head + n, pipe) != head + n) {
        fprintf(stderr, "lenet: %s/%s: not there or shorter than %zu bytes\n", folder, name, n);
        exit(1);
    }
    pclose(pipe);
    for (size_t i = 0; i < n; i++)
        data[i] = data[head + i];
    return data;
}

typedef struct {
    unsigned char *images; // [n,28,28]
    unsigned char *labels; // [n]
    size_t n;
} samples;

static samples read_samples(const char *folder, const char *part, size_t n)
{
    char images[64], labels[64];
    snprintf(images, sizeof images, "%s-images-idx3-ubyte", part);
    snprintf(labels, sizeof labels, "%s-labels-idx1-ubyte", part);
    return (samples){read_idx(folder, images, 16, n * PIXELS), read_idx(folder, labels, 8, n), n};
}

// A program that trains, or one that only counts what is right. Both are functions of one batch and
// share the weights of the state: the second program finds them there by name.
static weft_program *build(weft_context *context, weft_state *state, bool is_training, long steps)
{
    weft_graph *g;
    weft_nn *nn;
    weft_program *program;
    weft_error err;
    const weft_nn_options options = {
        .struct_size = sizeof options, .is_training = is_training, .seed = 1};
    must(weft_graph_create(context, &g, &err), &err);
    must(weft_nn_create(g, &options, &nn, &err), &err);
    const int64_t five[] = {5, 5}, two[] = {2, 2}, dims[] = {BATCH, 1, 28, 28}, rows[] = {BATCH};
    weft_conv_layer_options padded = WEFT_CONV_LAYER_OPTIONS_INIT;
    padded.conv.pad_before = two;
    weft_val bytes = weft_input(g, "images", WEFT_U8, dims, 4);
    weft_val labels = weft_cast(g, weft_input(g, "labels", WEFT_U8, rows, 1), WEFT_I32);
    weft_val x = weft_div(g, weft_cast(g, bytes, WEFT_F32), weft_scalar(g, WEFT_F32, 255));
    x = weft_relu(g, weft_conv_layer(nn, "conv1", x, 6, five, &padded)); // [n,6,28,28]
    x = weft_max_pool(g, x, two, NULL);                                  // [n,6,14,14]
    x = weft_relu(g, weft_conv_layer(nn, "conv2", x, 16, five, NULL));   // [n,16,10,10]
    x = weft_flatten(g, weft_max_pool(g, x, two, NULL), 1);              // [n,400]
    x = weft_relu(g, weft_linear(nn, "fc1", x, 120, NULL));
    x = weft_relu(g, weft_linear(nn, "fc2", x, 84, NULL));
    x = weft_linear(nn, "fc3", x, 10, NULL);
    weft_val loss = weft_cross_entropy(g, x, labels, NULL);
    weft_output(g, "loss", loss);
    weft_output(g, "correct", weft_count_correct(g, x, labels, NULL));
    if (is_training) {
        weft_optimizer_options adamw = WEFT_OPTIMIZER_OPTIONS_INIT;
        weft_schedule_options schedule = WEFT_SCHEDULE_OPTIONS_INIT;
        adamw.kind = WEFT_OPTIMIZER_ADAMW;
        adamw.weight_decay = 0.01;
        schedule.kind = WEFT_SCHEDULE_ONE_CYCLE;
        schedule.lr = 0.004;
        schedule.total_steps = steps;
        weft_train_step(nn, loss, &adamw, &schedule);
    }
    must(weft_compile(state, g, NULL, &program, &err), &err);
    weft_nn_destroy(nn);
    weft_graph_destroy(g); // the program no longer needs it
    return program;
}

// Runs the program on batch i of the samples, beginning again behind the last one.
static void run(weft_program *program, const samples *s, size_t i)
{
    weft_error err;
    const size_t first = i % (s->n / BATCH) * BATCH;
    must(weft_program_write(program, "images", s->images + first * PIXELS, BATCH * PIXELS, &err),
         &err);
    must(weft_program_write(program, "labels", s->labels + first, BATCH, &err), &err);
    must(weft_program_run(program, &err), &err);
}

int main(int argc, char **argv)
{
    const long n_steps = argc > 2 ? strtol(argv[2], NULL, 10) : 1200;
    const char *folder = argc > 3 ? argv[3] : "/usr/share/datasets/fashion-mnist";
    const samples train = read_samples(folder, "train", 60000);
    const samples test = read_samples(folder, "t10k", 10000);
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
        run(trainer, &train, (size_t)i);
        if (i % 100 != 99 && i != n_steps - 1)
            continue;
        must(weft_program_check(trainer, &err),
             &err); // a bad step changed nothing; it is an error here
        must(weft_program_read(trainer, "loss", &loss, sizeof loss, &err), &err);
        printf("step %ld: loss %.4f\n", i + 1, loss);
    }
    int64_t n_correct = 0;
    for (size_t i = 0; i < test.n / BATCH; i++) {
        int64_t correct;
        run(judge, &test, i);
        must(weft_program_read(judge, "correct", &correct, sizeof correct, &err), &err);
        n_correct += correct;
    }
    printf("test accuracy %.2f %% on %s\n", 100.0 * (double)n_correct / (double)test.n,
           weft_device_name(device));

    weft_program_destroy(trainer);
    weft_program_destroy(judge);
    weft_state_destroy(state);
    weft_device_close(device);
    weft_context_destroy(context);
    free(train.images), free(train.labels), free(test.images), free(test.labels);
    return 0;
}
