// A text, character by character: a GPT learns what comes next, then writes on with a cache.
//   usage: example-gpt [DEVICE [STEPS]]
// It learns a rhyme by heart; bytes are the characters.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/weft.h>

enum { BATCH = 4, TIME = 64, BYTES = 256 };

static const char rhyme[] =
    "the mill wheel turns, the water runs, the weft goes over, under, through; "
    "what one hand spun another winds, and cloth comes out where thread went in.\n";

static unsigned char text[sizeof rhyme];

static void must(weft_status status, const weft_error *err)
{
    if (status == WEFT_OK)
        return;
    fprintf(stderr, "gpt: %s\n", err->message);
    exit(1);
}

static weft_gpt_options describe(void)
{
    weft_gpt_options o = WEFT_GPT_OPTIONS_INIT;
    o.vocabulary = BYTES;
    o.d = 48;
    o.heads = 4;
    o.layers = 2;
    o.context = TIME;
    o.std = 0.02;
    return o;
}

// Training: inputs "token" and "next" [BATCH,TIME].
static void build_training(weft_graph *g, weft_nn *nn)
{
    const int64_t dims[] = {BATCH, TIME}, row[] = {BATCH * TIME};
    const int64_t rows[] = {BATCH * TIME, BYTES};
    const weft_gpt_options o = describe();
    weft_optimizer_options adam = WEFT_OPTIMIZER_OPTIONS_INIT;
    weft_schedule_options schedule = WEFT_SCHEDULE_OPTIONS_INIT;
    const weft_val next = weft_input(g, "next", WEFT_I32, dims, 2);
    const weft_val logits = weft_gpt(nn, weft_input(g, "token", WEFT_I32, dims, 2), &o);
    const weft_val loss = weft_cross_entropy(g, weft_reshape(g, logits, rows, 2),
                                             weft_reshape(g, next, row, 1), NULL);
    adam.kind = WEFT_OPTIMIZER_ADAMW;
    adam.clip_norm = 1.0;
    schedule.lr = 5e-3;
    weft_output(g, "loss", loss);
    weft_train_step(nn, loss, &adam, &schedule);
}

// Writing: one token in, logits of the next one out; keys and values are kept in variables.
static void build_writing(weft_graph *g, weft_nn *nn)
{
    const int64_t one[] = {1, 1};
    const weft_gpt_options o = describe();
    weft_output(g, "logits", weft_gpt_decode(nn, weft_input(g, "token", WEFT_I32, one, 2), &o));
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

static void train(weft_program *program, long steps, size_t n)
{
    weft_error err;
    int32_t token[BATCH * TIME], next[BATCH * TIME];
    float loss = 0.0f;
    for (long step = 0; step < steps; step++) {
        for (size_t i = 0; i < BATCH * TIME; i++) { // windows all over the text
            const size_t at = (size_t)step * 131 + i / TIME * (n / BATCH) + i % TIME;
            token[i] = text[at % n];
            next[i] = text[(at + 1) % n];
        }
        must(weft_program_write(program, "token", token, sizeof token, &err), &err);
        must(weft_program_write(program, "next", next, sizeof next, &err), &err);
        must(weft_program_run(program, &err), &err);
    }
    must(weft_program_check(program, &err), &err);
    must(weft_program_read(program, "loss", &loss, sizeof loss, &err), &err);
    printf("%ld steps, loss %.4f\n", steps, (double)loss);
}

// A few tokens as the beginning, then what is drawn from the three most probable.
static void write_text(weft_program *program)
{
    weft_error err;
    weft_sample_options how = WEFT_SAMPLE_OPTIONS_INIT;
    float logits[BYTES];
    int64_t drawn = text[0];
    how.temperature = 0.3;
    how.top_k = 3;
    for (int i = 0; i < TIME; i++) {
        const int32_t now = i < 4 ? text[i] : (int32_t)drawn;
        putchar(now);
        must(weft_program_write(program, "token", &now, sizeof now, &err), &err);
        must(weft_program_run(program, &err), &err);
        must(weft_program_read(program, "logits", logits, sizeof logits, &err), &err);
        must(weft_sample_token(logits, BYTES, &how, i, &drawn, &err), &err);
    }
    putchar('\n');
}

int main(int argc, char **argv)
{
    weft_error err;
    weft_context *context;
    weft_device *device;
    weft_state *state;
    memcpy(text, rhyme, sizeof rhyme);
    must(weft_context_create(NULL, &context, &err), &err);
    must(weft_device_open(context, argc > 1 ? argv[1] : "cpu", NULL, &device, &err), &err);
    must(weft_state_create(device, &state, &err), &err);
    weft_program *training = compile(context, state, true);
    weft_program *writing = compile(context, state, false);
    train(training, argc > 2 ? atol(argv[2]) : 500, sizeof rhyme - 1);
    write_text(writing);
    weft_program_destroy(training);
    weft_program_destroy(writing);
    weft_state_destroy(state);
    weft_device_close(device);
    weft_context_destroy(context);
    return 0;
}
