// A network of two layers learns XOR: graph, gradient and training step by hand, one program.
//   usage: example-xor [DEVICE [STEPS]]
#include <stdio.h>
#include <stdlib.h>

#include <weft/weft.h>

// A failed call says why in err.message; this program has nothing better to do than to say it too.
static void must(weft_status status, const weft_error *err)
{
    if (status == WEFT_OK)
        return;
    fprintf(stderr, "xor: %s\n", err->message);
    exit(1);
}

// A trained matrix [rows,columns] that starts anywhere in -1 .. 1.
static weft_val weights(weft_graph *g, const char *name, int64_t rows, int64_t columns)
{
    const weft_val seed = weft_scalar(g, WEFT_I64, 1), step = weft_scalar(g, WEFT_I64, 0);
    const weft_val u = weft_random_uniform(g, seed, step, (int64_t[]){rows, columns}, 2); // 0 .. 1
    const weft_val two = weft_scalar(g, WEFT_F32, 2), one = weft_scalar(g, WEFT_F32, 1);
    return weft_variable(g, name, weft_sub(g, weft_mul(g, u, two), one));
}

int main(int argc, char **argv)
{
    static const float inputs[4][2] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};
    static const float targets[4][1] = {{0}, {1}, {1}, {0}};
    const long n_steps = argc > 2 ? strtol(argv[2], NULL, 10) : 500;
    weft_error err;
    weft_context *context;
    weft_device *device;
    weft_state *state;
    weft_graph *g;
    weft_program *program;
    must(weft_context_create(NULL, &context, &err), &err);
    must(weft_device_open(context, argc > 1 ? argv[1] : "cpu", NULL, &device, &err), &err);
    must(weft_state_create(device, &state, &err), &err);
    must(weft_graph_create(context, &g, &err), &err);

    // y = sigmoid(tanh(x w1 + b1) w2 + b2), all four cases at once: x [4,2], y [4,1]. A graph keeps
    // its first error, so nothing needs to be checked before weft_compile.
    weft_val x = weft_input(g, "x", WEFT_F32, (int64_t[]){4, 2}, 2);
    weft_val target = weft_input(g, "target", WEFT_F32, (int64_t[]){4, 1}, 2);
    weft_val w[4] = {weights(g, "w1", 2, 8), weights(g, "b1", 1, 8), weights(g, "w2", 8, 1),
                     weights(g, "b2", 1, 1)};
    weft_val hidden = weft_tanh(g, weft_add(g, weft_matmul(g, x, w[0], false, false), w[1]));
    weft_val logits = weft_add(g, weft_matmul(g, hidden, w[2], false, false), w[3]);
    weft_val loss = weft_bce_with_logits(g, logits, target, WEFT_REDUCTION_MEAN);

    // The training step is part of the graph: each matrix becomes itself minus its gradient.
    weft_val grads[4];
    weft_grad(g, loss, w, 4, grads);
    for (int i = 0; i < 4; i++)
        weft_assign(g, w[i], weft_sub(g, w[i], grads[i]));
    weft_output(g, "loss", loss);
    weft_output(g, "y", weft_sigmoid(g, logits));
    must(weft_compile(state, g, NULL, &program, &err), &err);

    must(weft_program_write(program, "x", inputs, sizeof inputs, &err), &err);
    must(weft_program_write(program, "target", targets, sizeof targets, &err), &err);
    for (long i = 0; i < n_steps; i++)
        must(weft_program_run(program, &err), &err);
    float y[4], last_loss;
    must(weft_program_read(program, "y", y, sizeof y, &err), &err);
    must(weft_program_read(program, "loss", &last_loss, sizeof last_loss, &err), &err);
    for (int i = 0; i < 4; i++)
        printf("%.0f xor %.0f = %.3f\n", inputs[i][0], inputs[i][1], y[i]);
    printf("loss %.9g after %ld steps on %s\n", last_loss, n_steps, weft_device_name(device));

    weft_program_destroy(program);
    weft_graph_destroy(g);
    weft_state_destroy(state);
    weft_device_close(device);
    weft_context_destroy(context);
    return 0;
}
