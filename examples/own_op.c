// An op of the program's own, with its gradient: an activation that weft does not have. It runs
// wherever its eval can be called (cpu and ref); elsewhere weft_compile says that it cannot.
//   usage: example-own_op [DEVICE]
#include <stdio.h>
#include <stdlib.h>

#include <weft/weft.h>

static void must(weft_status status, const weft_error *err)
{
    if (status == WEFT_OK)
        return;
    fprintf(stderr, "own_op: %s\n", err->message);
    exit(1);
}

// bend(x) = x + amount * x^3, for f32 of any shape.
static weft_status bend_infer(void *user, const double *numbers, const weft_type *in,
                              weft_type *out, weft_error *err)
{
    (void)user;
    (void)numbers;
    if (in[0].dtype != WEFT_F32) {
        snprintf(err->message, sizeof err->message, "x is %s, expected f32",
                 weft_dtype_name(in[0].dtype));
        return WEFT_ERR_DTYPE;
    }
    out[0] = in[0];
    return WEFT_OK;
}

static weft_status bend_eval(void *user, const double *numbers, const weft_own_tensor *in,
                             const weft_own_tensor *out, weft_error *err)
{
    const float *x = in[0].data;
    float *y = out[0].data;
    int64_t n = 1;
    (void)err;
    for (int32_t i = 0; i < in[0].type.ndim; i++)
        n *= in[0].type.dims[i];
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] + (float)numbers[0] * x[i] * x[i] * x[i];
    ++*(int *)user;
    return WEFT_OK;
}

// dx = dy * (1 + 3 amount x^2), in graph values: so it has a second derivative, too.
static void bend_grad(void *user, weft_graph *g, const double *numbers, const weft_val *in,
                      const weft_val *out, const weft_val *dout, weft_val *din)
{
    (void)user;
    (void)out;
    weft_val square = weft_mul(g, in[0], in[0]);
    weft_val slope = weft_mul(g, square, weft_scalar(g, WEFT_F32, 3 * numbers[0]));
    din[0] = weft_mul(g, dout[0], weft_add(g, slope, weft_scalar(g, WEFT_F32, 1)));
}

int main(int argc, char **argv)
{
    static const char *const number_names[] = {"amount"};
    const float x[4] = {-1, 0, 0.5f, 2};
    const double amount = 0.25;
    float y[4], dx[4];
    int n_calls = 0;
    weft_error err;
    weft_context *context;
    weft_device *device;
    weft_state *state;
    weft_graph *g;
    weft_program *program;
    must(weft_context_create(NULL, &context, &err), &err);
    weft_own_op bend = WEFT_OWN_OP_INIT;
    bend.name = "bend";
    bend.n_inputs = 1;
    bend.n_numbers = 1;
    bend.number_names = number_names;
    bend.user = &n_calls;
    bend.infer = bend_infer;
    bend.eval = bend_eval;
    bend.grad = bend_grad;
    must(weft_context_add_op(context, &bend, &err), &err);

    must(weft_device_open(context, argc > 1 ? argv[1] : "cpu", NULL, &device, &err), &err);
    must(weft_state_create(device, &state, &err), &err);
    must(weft_graph_create(context, &g, &err), &err);
    weft_val in = weft_input(g, "x", WEFT_F32, (int64_t[]){4}, 1), result, gradient;
    weft_own(g, "bend", &in, &amount, &result);
    weft_grad(g, weft_sum(g, result, NULL, 0, false), &in, 1, &gradient);
    weft_output(g, "y", result);
    weft_output(g, "dx", gradient);
    must(weft_compile(state, g, NULL, &program, &err), &err);
    must(weft_program_write(program, "x", x, sizeof x, &err), &err);
    must(weft_program_run(program, &err), &err);
    must(weft_program_read(program, "y", y, sizeof y, &err), &err);
    must(weft_program_read(program, "dx", dx, sizeof dx, &err), &err);
    for (int i = 0; i < 4; i++)
        printf("bend(%g) = %g, slope %g\n", x[i], y[i], dx[i]);
    printf("evaluated %d time%s\n", n_calls, n_calls == 1 ? "" : "s");

    weft_program_destroy(program);
    weft_graph_destroy(g);
    weft_state_destroy(state);
    weft_device_close(device);
    weft_context_destroy(context);
    return n_calls == 1 && y[3] == 4 && dx[3] == 4 ? 0 : 1;
}
