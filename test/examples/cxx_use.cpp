// The public headers from C++11: the sum of two values through a compiled program, and one wrong graph.
#include <weft/weft.h>

#include <cstdio>
#include <cstring>

int main()
{
    weft_error err;
    weft_context *context = nullptr;
    weft_device *device = nullptr;
    weft_state *state = nullptr;
    weft_graph *g = nullptr;
    weft_program *program = nullptr;
    const int64_t dims[] = {3};
    const float x[] = {1, 2, 3};
    float y[3] = {};
    if (weft_context_create(nullptr, &context, &err) != WEFT_OK ||
        weft_device_open(context, "cpu", nullptr, &device, &err) != WEFT_OK ||
        weft_state_create(device, &state, &err) != WEFT_OK ||
        weft_graph_create(context, &g, &err) != WEFT_OK) {
        std::fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    weft_val a = weft_input(g, "x", WEFT_F32, dims, 1);
    weft_output(g, "y", weft_add(g, a, weft_scalar(g, WEFT_F32, 1)));
    if (weft_compile(state, g, nullptr, &program, &err) != WEFT_OK ||
        weft_program_write(program, "x", x, sizeof x, &err) != WEFT_OK ||
        weft_program_run(program, &err) != WEFT_OK ||
        weft_program_read(program, "y", y, sizeof y, &err) != WEFT_OK) {
        std::fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    weft_linear_options linear = WEFT_LINEAR_OPTIONS_INIT; // every *_INIT is C++ as well
    weft_conv_layer_options conv = WEFT_CONV_LAYER_OPTIONS_INIT;
    (void)linear;
    (void)conv;
    weft_matmul(g, a, a, false, false);
    const bool is_named =
        weft_graph_status(g, &err) == WEFT_ERR_SHAPE && std::strstr(err.message, "cxx_use.cpp");
    if (!is_named)
        std::fprintf(stderr, "a wrong graph says: %s\n", err.message);
    weft_program_destroy(program);
    weft_graph_destroy(g);
    weft_state_destroy(state);
    weft_device_close(device);
    weft_context_destroy(context);
    return is_named && y[0] == 2 && y[1] == 3 && y[2] == 4 ? 0 : 1;
}
