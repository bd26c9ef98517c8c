// A cascade: a small network answers where it is sure, and a large one is asked about the rest. How many that
// are depends on the data, so the large network meets another batch size each time. Both are programs; what
// stands between them are named functions on the host, which weft_script_list tells.
//   cc script.c $(pkg-config --cflags --libs weft) -o script && ./script
#include <stdio.h>
#include <stdlib.h>

#include <weft/weft.h>

#define N 64 // samples
#define D 16 // features
#define K 4  // classes
#define SURE 0.5f

static void must(weft_status status, const weft_error *err)
{
    if (status == WEFT_OK)
        return;
    fprintf(stderr, "script: %s\n", err->message);
    exit(1);
}

// features [n,D] -> scores [n,K], through one hidden layer of the width that user points at, or none
static weft_status build_net(void *user, weft_graph *g, const weft_val *reads, weft_val *writes,
                             weft_error *err)
{
    const int64_t width = *(const int64_t *)user;
    weft_nn *nn;
    weft_status status = weft_nn_create(g, NULL, &nn, err);
    if (status != WEFT_OK)
        return status;
    weft_val x = reads[0];
    if (width > 0)
        x = weft_relu(g, weft_linear(nn, "large.hidden", x, width, NULL));
    x = weft_linear(nn, width > 0 ? "large.out" : "small.out", x, K, NULL);
    writes[0] = weft_softmax(g, x, 1);
    weft_nn_destroy(nn);
    return weft_graph_status(g, err);
}

// The rows whose best score is below SURE: unsure [m] of their numbers, n_unsure = m.
static weft_status find_unsure(void *user, weft_script *s, weft_error *err)
{
    weft_type type;
    const void *data;
    int32_t rows[N];
    int64_t m = 0;
    (void)user;
    weft_status status = weft_script_get(s, "scores", &type, &data, err);
    if (status != WEFT_OK)
        return status;
    const float(*scores)[K] = data;
    for (int32_t i = 0; i < type.dims[0]; i++) {
        float best = 0.0f;
        for (int k = 0; k < K; k++) {
            best = scores[i][k] > best ? scores[i][k] : best;
        }
        if (best < SURE)
            rows[m++] = i;
    }
    const weft_type found = {.dtype = WEFT_I32, .ndim = 1, .dims = {m}};
    status = weft_script_set(s, "unsure", &found, rows, err);
    return status == WEFT_OK ? weft_script_set_number(s, "n_unsure", m, err) : status;
}

// features [n,D], unsure [m] -> chosen [m,D]
static weft_status build_choose(void *user, weft_graph *g, const weft_val *reads, weft_val *writes,
                                weft_error *err)
{
    (void)user;
    writes[0] = weft_gather(g, reads[0], reads[1], 0);
    return weft_graph_status(g, err);
}

// scores [n,K] with the rows `unsure` replaced by better [m,K]
static weft_status merge(void *user, weft_script *s, weft_error *err)
{
    weft_type type, rows_type;
    const void *scores, *rows, *better;
    float merged[N][K];
    weft_status status;
    (void)user;
    if ((status = weft_script_get(s, "scores", &type, &scores, err)) != WEFT_OK ||
        (status = weft_script_get(s, "unsure", &rows_type, &rows, err)) != WEFT_OK ||
        (status = weft_script_get(s, "better", &rows_type, &better, err)) != WEFT_OK)
        return status;
    for (int i = 0; i < N * K; i++) {
        merged[i / K][i % K] = ((const float *)scores)[i];
    }
    for (int64_t i = 0; i < rows_type.dims[0] * K; i++) {
        merged[((const int32_t *)rows)[i / K]][i % K] = ((const float *)better)[i];
    }
    return weft_script_set(s, "scores", &type, merged, err);
}

static void tell(void *user, const weft_script_node *node)
{
    (void)user;
    printf("%*s%s %s: %s\n", 2 * node->depth, "", node->kind, node->name, node->signature);
}

int main(void)
{
    static int64_t small = 0, large = 64;
    const weft_type type = {.dtype = WEFT_F32, .ndim = 2, .dims = {N, D}};
    weft_error err = {0};
    weft_context *ctx;
    weft_device *device;
    weft_state *state;
    weft_script *s;
    float features[N][D];
    int64_t n;
    must(weft_context_create(NULL, &ctx, &err), &err);
    must(weft_device_open(ctx, "auto", NULL, &device, &err), &err);
    must(weft_state_create(device, &state, &err), &err);
    must(weft_script_create(state, &s, &err), &err);

    weft_script_program(s, "small", "features -> scores", build_net, &small);
    weft_script_host(s, "find_unsure", "scores -> unsure, n_unsure", find_unsure, NULL);
    weft_script_if(s, "any", "n_unsure");
    weft_script_program(s, "choose", "features, unsure -> chosen", build_choose, NULL);
    weft_script_program(s, "large", "chosen -> better", build_net, &large);
    weft_script_host(s, "merge", "scores, unsure, better -> scores", merge, NULL);
    weft_script_end(s);
    must(weft_script_list(s, tell, NULL, &err), &err);

    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < N * D; i++) {
            features[i / D][i % D] = (float)((i * (7 + round) + i / D) % 23) / 11.5f - 1.0f;
        }
        must(weft_script_set(s, "features", &type, features, &err), &err);
        must(weft_script_run(s, &err), &err);
        must(weft_script_get_number(s, "n_unsure", &n, &err), &err);
        printf("round %d: the large network was asked about %d of %d\n", round, (int)n, N);
    }
    weft_script_destroy(s);
    weft_state_destroy(state);
    weft_device_close(device);
    weft_context_destroy(ctx);
    return 0;
}
