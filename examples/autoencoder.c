// A variational autoencoder by name, on pictures of Fashion-MNIST: trained on the first device argument; then ten
// pictures and what becomes of them are written as autoencoder.pgm.
//   usage: example-autoencoder [DEVICE [STEPS [FOLDER]]]
// FOLDER holds train-images-idx3-ubyte, gzipped or not (Debian: the package dataset-fashion-mnist).
#define _POSIX_C_SOURCE 200809L // popen
#include <stdio.h>
#include <stdlib.h>

#include <weft/weft.h>

enum { BATCH = 100, SIDE = 28, PIXELS = SIDE * SIDE, N_IMAGES = 20000, N_SHOWN = 10, HEADER = 16 };

static void must(weft_status status, const weft_error *err)
{
    if (status == WEFT_OK)
        return;
    fprintf(stderr, "autoencoder: %s\n", err->message);
    exit(1);
}

// The first images; gzip passes plain files on with -f.
static unsigned char *read_images(const char *folder)
{
    char command[1024];
    const size_t n = HEADER + (size_t)N_IMAGES * PIXELS;
    snprintf(command, sizeof command, "gzip -dcf '%s/train-images-idx3-ubyte'* 2>/dev/null",
             folder);
    unsigned char *data = malloc(n);
    FILE *pipe = popen(command, "r");
    if (!data || !pipe || fread(data, 1, n, pipe) != n) {
        fprintf(stderr, "autoencoder: no %d images in %s\n", N_IMAGES, folder);
        exit(1);
    }
    pclose(pipe);
    return data;
}

// A program that trains, or one that only shows what becomes of a picture; they share the state's weights.
static weft_program *build(weft_context *context, weft_state *state, bool is_training)
{
    static const char *const options[] = {"hidden=256", "code=16"};
    static const int64_t dims[] = {BATCH, 1, SIDE, SIDE};
    weft_graph *g;
    weft_nn *nn;
    weft_program *program;
    weft_error err;
    weft_family_result vae;
    weft_nn_options nn_options = WEFT_NN_OPTIONS_INIT;
    nn_options.is_training = is_training; // the code is drawn in training, else it is its mean
    must(weft_graph_create(context, &g, &err), &err);
    must(weft_nn_create(g, &nn_options, &nn, &err), &err);
    weft_val bytes = weft_input(g, "images", WEFT_U8, dims, 4);
    weft_val x = weft_div(g, weft_cast(g, bytes, WEFT_F32), weft_scalar(g, WEFT_F32, 255));
    weft_val y = weft_family(nn, "vae", x, options, 2, &vae);
    // Negative evidence lower bound of a picture: all its pixels, and the divergence.
    weft_val pixels = weft_bce_with_logits(g, y, x, WEFT_REDUCTION_SUM);
    pixels = weft_div(g, pixels, weft_scalar(g, WEFT_F32, BATCH));
    weft_val loss = weft_add(g, pixels, weft_mean(g, vae.penalty, NULL, 0, false));
    weft_output(g, "loss", loss);
    weft_output(g, "pictures", weft_sigmoid(g, y));
    if (is_training) {
        weft_optimizer_options adam = WEFT_OPTIMIZER_OPTIONS_INIT;
        weft_schedule_options schedule = WEFT_SCHEDULE_OPTIONS_INIT;
        adam.kind = WEFT_OPTIMIZER_ADAM;
        schedule.lr = 2e-3;
        weft_train_step(nn, loss, &adam, &schedule);
    }
    must(weft_compile(state, g, NULL, &program, &err), &err);
    weft_nn_destroy(nn);
    weft_graph_destroy(g);
    return program;
}

static float run(weft_program *program, const unsigned char *images)
{
    weft_error err;
    float loss;
    must(weft_program_write(program, "images", images, BATCH * PIXELS, &err), &err);
    must(weft_program_run(program, &err), &err);
    must(weft_program_check(program, &err), &err);
    must(weft_program_read(program, "loss", &loss, sizeof loss, &err), &err);
    return loss;
}

// Pictures above what became of them.
static void write_pgm(const unsigned char *images, const float *pictures)
{
    FILE *f = fopen("autoencoder.pgm", "wb");
    if (!f)
        return;
    fprintf(f, "P5\n%d %d\n255\n", N_SHOWN * SIDE, 2 * SIDE);
    for (int y = 0; y < 2 * SIDE; y++) {
        for (int x = 0; x < N_SHOWN * SIDE; x++) {
            const int at = x / SIDE * PIXELS + y % SIDE * SIDE + x % SIDE;
            fputc(y < SIDE ? images[at] : (int)(pictures[at] * 255.0f + 0.5f), f);
        }
    }
    fclose(f);
}

int main(int argc, char **argv)
{
    const long n_steps = argc > 2 ? strtol(argv[2], NULL, 10) : 1000;
    unsigned char *data = read_images(argc > 3 ? argv[3] : "/usr/share/datasets/fashion-mnist");
    float *pictures = malloc(BATCH * PIXELS * sizeof *pictures);
    weft_error err;
    weft_context *context;
    weft_device *device;
    weft_state *state;
    must(weft_context_create(NULL, &context, &err), &err);
    must(weft_device_open(context, argc > 1 ? argv[1] : "cpu", NULL, &device, &err), &err);
    must(weft_state_create(device, &state, &err), &err);

    weft_program *trainer = build(context, state, true), *viewer = build(context, state, false);
    for (long i = 0; i < n_steps; i++) {
        const size_t first = (size_t)i % (N_IMAGES / BATCH) * BATCH;
        const float loss = run(trainer, data + HEADER + first * PIXELS);
        if (i % 100 == 99 || i == n_steps - 1)
            printf("step %ld: loss %.2f\n", i + 1, loss);
    }
    printf("loss %.2f of the first pictures on %s\n", run(viewer, data + HEADER),
           weft_device_name(device));
    if (pictures) {
        must(weft_program_read(viewer, "pictures", pictures, BATCH * PIXELS * 4, &err), &err);
        write_pgm(data + HEADER, pictures);
    }

    weft_program_destroy(trainer);
    weft_program_destroy(viewer);
    weft_state_destroy(state);
    weft_device_close(device);
    weft_context_destroy(context);
    free(data), free(pictures);
    return 0;
}
