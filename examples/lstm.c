// A text, character by character: an LSTM learns what comes next, then writes on by itself.
//   usage: example-lstm [DEVICE [STEPS [FILE]]]
// Without FILE it learns a rhyme by heart. Bytes are the characters.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/weft.h>

enum { BATCH = 8, TIME = 24, WIDTH = 64, BYTES = 256, WRITTEN = 120 };

static const char rhyme[] =
    "the mill wheel turns, the water runs, the weft goes over, under, through; "
    "what one hand spun another winds, and cloth comes out where thread went in.\n";

static void must(weft_status status, const weft_error *err)
{
    if (status == WEFT_OK)
        return;
    fprintf(stderr, "lstm: %s\n", err->message);
    exit(1);
}

static unsigned char text[1 << 24];

static size_t read_text(const char *path)
{
    FILE *f = fopen(path, "rb");
    const size_t n = f ? fread(text, 1, sizeof text, f) : 0;
    if (f)
        fclose(f);
    return n;
}

// Tokens [b,t] -> logits [b * t,256]. The states may come from somewhere and go somewhere.
static weft_val model(weft_nn *nn, weft_val tokens, weft_recurrent_options *o, weft_val *h,
                      weft_val *c)
{
    const weft_type t = weft_val_type(weft_nn_graph(nn), tokens);
    const int64_t rows[] = {t.dims[0] * t.dims[1], BYTES};
    o->is_batch_first = true;
    weft_val x = weft_embedding(nn, "embed", tokens, BYTES, WIDTH, NULL);
    x = weft_lstm(nn, "lstm", x, WIDTH, o, h, c);
    return weft_reshape(weft_nn_graph(nn), weft_linear(nn, "head", x, BYTES, NULL), rows, 2);
}

// Training: inputs "token" and "next" [BATCH,TIME].
static void build_training(weft_graph *g, weft_nn *nn)
{
    const int64_t dims[] = {BATCH, TIME}, rows[] = {BATCH * TIME};
    weft_recurrent_options o = WEFT_RECURRENT_OPTIONS_INIT;
    weft_optimizer_options adam = WEFT_OPTIMIZER_OPTIONS_INIT;
    weft_schedule_options schedule = WEFT_SCHEDULE_OPTIONS_INIT;
    const weft_val next = weft_input(g, "next", WEFT_I32, dims, 2);
    const weft_val y = model(nn, weft_input(g, "token", WEFT_I32, dims, 2), &o, NULL, NULL);
    const weft_val loss = weft_cross_entropy(g, y, weft_reshape(g, next, rows, 1), NULL);
    adam.kind = WEFT_OPTIMIZER_ADAMW;
    adam.clip_norm = 1.0;
    schedule.lr = 1e-2;
    weft_output(g, "loss", loss);
    weft_train_step(nn, loss, &adam, &schedule);
}

// Writing: one token in, the most probable next one out; the states are variables.
static void build_writing(weft_graph *g, weft_nn *nn)
{
    const int64_t one[] = {1, 1}, state[] = {1, 1, WIDTH};
    static const int32_t last = 1;
    weft_recurrent_options o = WEFT_RECURRENT_OPTIONS_INIT;
    weft_val h, c;
    o.h0 = weft_variable(g, "h", weft_fill(g, WEFT_F32, state, 3, 0.0));
    o.c0 = weft_variable(g, "c", weft_fill(g, WEFT_F32, state, 3, 0.0));
    const weft_val y = model(nn, weft_input(g, "token", WEFT_I32, one, 2), &o, &h, &c);
    weft_assign(g, o.h0, h);
    weft_assign(g, o.c0, c);
    weft_output(g, "next", weft_argmax(g, y, last, false));
}

static weft_program *compile(weft_context *context, weft_state *state, bool is_training)
{
    weft_graph *g;
    weft_nn *nn;
    weft_program *program;
    weft_error err;
    weft_nn_options options = WEFT_NN_OPTIONS_INIT;
    options.is_training = is_training;
    options.seed = 1;
    must(weft_graph_create(context, &g, &err), &err);
    must(weft_nn_create(g, &options, &nn, &err), &err);
    if (is_training)
        build_training(g, nn);
    else
        build_writing(g, nn);
    must(weft_graph_status(g, &err), &err);
    must(weft_compile(state, g, NULL, &program, &err), &err);
    weft_nn_destroy(nn);
    weft_graph_destroy(g);
    return program;
}

int main(int argc, char **argv)
{
    const long steps = argc > 2 ? atol(argv[2]) : 150;
    weft_error err;
    weft_context *context;
    weft_device *device;
    weft_state *state;
    memcpy(text, rhyme, sizeof rhyme);
    const size_t n = argc > 3 ? read_text(argv[3]) : sizeof rhyme - 1;
    if (n == 0) {
        fprintf(stderr, "lstm: %s: cannot be read, or is empty\n", argv[3]);
        return 1;
    }
    must(weft_context_create(NULL, &context, &err), &err);
    must(weft_device_open(context, argc > 1 ? argv[1] : "cpu", NULL, &device, &err), &err);
    must(weft_state_create(device, &state, &err), &err);
    weft_program *training = compile(context, state, true);
    weft_program *writing = compile(context, state, false);
    int32_t token[BATCH * TIME], next[BATCH * TIME];
    float loss = 0.0f;
    for (long step = 0; step < steps; step++) {
        for (size_t i = 0; i < BATCH * TIME; i++) { // windows all over the text
            const size_t at = (size_t)step * 131 + i / TIME * (n / BATCH) + i % TIME;
            token[i] = text[at % n];
            next[i] = text[(at + 1) % n];
        }
        must(weft_program_write(training, "token", token, sizeof token, &err), &err);
        must(weft_program_write(training, "next", next, sizeof next, &err), &err);
        must(weft_program_run(training, &err), &err);
    }
    must(weft_program_check(training, &err), &err);
    must(weft_program_read(training, "loss", &loss, sizeof loss, &err), &err);
    printf("%ld steps, loss %.4f\n", steps, (double)loss);
    int32_t now = text[0];
    for (int i = 0; i < WRITTEN; i++) {
        putchar(now);
        must(weft_program_write(writing, "token", &now, sizeof now, &err), &err);
        must(weft_program_run(writing, &err), &err);
        must(weft_program_read(writing, "next", &now, sizeof now, &err), &err);
    }
    putchar('\n');
    weft_program_destroy(training);
    weft_program_destroy(writing);
    weft_state_destroy(state);
    weft_device_close(device);
    weft_context_destroy(context);
    return 0;
}
