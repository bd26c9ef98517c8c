// Runs the experiment's GPU kernels on every OpenCL device and compares them with the plain loops, bit for bit.
//   arith_gpu KERNELS.cl INCLUDE_DIR [OPTION]      under Oclgrind: -cl-opt-disable (it has no `freeze`)
// Times are printed for GPUs only: those of an OpenCL on the CPU say nothing about a GPU.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arith_measure.h"
#include "arith_reference.h"

typedef struct {
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    int is_gpu;
} device;

static int failures;

static void check(cl_int status, const char *what)
{
    if (status != CL_SUCCESS) {
        fprintf(stderr, "opencl: %s: error %d\n", what, status);
        exit(1);
    }
}

static cl_mem buffer(device *d, const float *x, int64_t n)
{
    cl_int status;
    size_t size = (size_t)n * sizeof *x;
    cl_mem m = clCreateBuffer(d->context, CL_MEM_READ_WRITE, size, NULL, &status);
    check(status, "buffer");
    if (x != NULL) {
        check(clEnqueueWriteBuffer(d->queue, m, CL_TRUE, 0, size, x, 0, NULL, NULL), "write");
    }
    return m;
}

typedef struct {
    int is_buffer;
    cl_mem buffer;
    int number;
    float real;
    int is_real;
} argument;

#define BUFFER(m) ((argument){.is_buffer = 1, .buffer = (m)})
#define NUMBER(x) ((argument){.number = (int)(x)})
#define REAL(x) ((argument){.is_real = 1, .real = (x)})

static void launch(device *d, const char *name, const argument *args, int n_args,
                   const size_t *local, const size_t *groups)
{
    cl_int status;
    cl_kernel kernel = clCreateKernel(d->program, name, &status);
    check(status, name);
    for (int i = 0; i < n_args; i++) {
        const argument *a = &args[i];
        const void *value = a->is_buffer ? (const void *)&a->buffer
                            : a->is_real ? (const void *)&a->real
                                         : (const void *)&a->number;
        check(clSetKernelArg(kernel, (cl_uint)i, a->is_buffer ? sizeof a->buffer : 4, value), name);
    }
    size_t global[3] = {local[0] * groups[0], local[1] * groups[1], local[2] * groups[2]};
    double start = arith_now();
    check(clEnqueueNDRangeKernel(d->queue, kernel, 3, NULL, global, local, 0, NULL, NULL), name);
    check(clFinish(d->queue), name);
    if (d->is_gpu) {
        printf("    %s: %.3f ms with launch\n", name, (arith_now() - start) * 1e3);
    }
    clReleaseKernel(kernel);
}

static void compare(device *d, const char *what, cl_mem got, const float *want, int64_t n)
{
    float *x = arith_floats(n);
    check(clEnqueueReadBuffer(d->queue, got, CL_TRUE, 0, (size_t)n * sizeof *x, x, 0, NULL, NULL),
          "read");
    int64_t different = arith_differences(x, want, n);
    printf("  %-36s %s (%lld of %lld values differ)\n", what,
           different == 0 ? "equal" : "DIFFERENT", (long long)different, (long long)n);
    failures += different != 0;
    free(x);
}

static const size_t TILE_LOCAL[3] = {16, 16, 1};

static void run_contract(device *d, int64_t m, int64_t n, int64_t k)
{
    float *a = arith_floats(m * k), *b = arith_floats(k * n), *want = arith_floats(m * n);
    arith_random(a, m * k, 1);
    arith_random(b, k * n, 2);
    reference_contract(m, n, k, a, k, 1, b, want, ARITH_BLOCK);
    cl_mem A = buffer(d, a, m * k), B = buffer(d, b, k * n), C = buffer(d, NULL, m * n);
    argument args[] = {NUMBER(m), NUMBER(n), NUMBER(k), NUMBER(arith_block_len(k, ARITH_BLOCK)),
                       BUFFER(A), BUFFER(B), BUFFER(C)};
    launch(d, "arith_contract", args, 7, TILE_LOCAL,
           (size_t[]){(size_t)(n + 63) / 64, (size_t)(m + 63) / 64, 1});
    char what[64];
    snprintf(what, sizeof what, "contract %lldx%lldx%lld", (long long)m, (long long)n,
             (long long)k);
    compare(d, what, C, want, m * n);
    clReleaseMemObject(A), clReleaseMemObject(B), clReleaseMemObject(C);
    free(a), free(b), free(want);
}

static void run_conv(device *d, arith_conv g)
{
    g.p = (g.h + 2 * g.pad - g.r) / g.stride + 1;
    g.q = (g.w + 2 * g.pad - g.s) / g.stride + 1;
    int64_t k = g.r * g.s * g.c, pixels = g.n * g.p * g.q, x_n = g.n * g.h * g.w * g.c;
    float *x = arith_floats(x_n), *w = arith_floats(k * g.k), *dy = arith_floats(pixels * g.k);
    float *a = arith_floats(pixels * k), *y = arith_floats(pixels * g.k),
          *dw = arith_floats(k * g.k);
    arith_random(x, x_n, 3);
    arith_random(w, k * g.k, 4);
    arith_random(dy, pixels * g.k, 5);
    reference_im2col(&g, x, a);
    reference_contract(pixels, g.k, k, a, k, 1, w, y, ARITH_BLOCK);
    reference_contract(k, g.k, pixels, a, 1, k, dy, dw, ARITH_BLOCK);
    int64_t len = arith_block_len(pixels, ARITH_BLOCK), n_blocks = (pixels + len - 1) / len;
    cl_mem X = buffer(d, x, x_n), W = buffer(d, w, k * g.k), DY = buffer(d, dy, pixels * g.k),
           Y = buffer(d, NULL, pixels * g.k);
    cl_mem parts = buffer(d, NULL, n_blocks * k * g.k), DW = buffer(d, NULL, k * g.k);
    argument args[] = {NUMBER(g.n),      NUMBER(g.h),   NUMBER(g.w),
                       NUMBER(g.c),      NUMBER(g.k),   NUMBER(g.r),
                       NUMBER(g.s),      NUMBER(g.p),   NUMBER(g.q),
                       NUMBER(g.stride), NUMBER(g.pad), NUMBER(arith_block_len(k, ARITH_BLOCK)),
                       BUFFER(X),        BUFFER(W),     BUFFER(Y)};
    launch(d, "arith_conv", args, 15, TILE_LOCAL,
           (size_t[]){(size_t)(g.k + 63) / 64, (size_t)(pixels + 63) / 64, 1});
    compare(d, "conv", Y, y, pixels * g.k);
    args[11] = NUMBER(len);
    args[13] = BUFFER(DY);
    args[14] = BUFFER(parts);
    launch(d, "arith_conv_weight", args, 15, TILE_LOCAL,
           (size_t[]){(size_t)(g.k + 63) / 64, (size_t)(k + 63) / 64, (size_t)n_blocks});
    argument sum[] = {NUMBER(k * g.k), NUMBER(n_blocks), BUFFER(parts), BUFFER(DW)};
    launch(d, "arith_block_sum", sum, 4, (size_t[]){256, 1, 1},
           (size_t[]){(size_t)(k * g.k + 255) / 256, 1, 1});
    compare(d, "conv weight gradient", DW, dw, k * g.k);
    clReleaseMemObject(X), clReleaseMemObject(W), clReleaseMemObject(DY), clReleaseMemObject(Y);
    clReleaseMemObject(parts), clReleaseMemObject(DW);
    free(x), free(w), free(dy), free(a), free(y), free(dw);
}

static void run_row_sum(device *d, int64_t n)
{
    float *x = arith_floats(n), *work = arith_floats(n);
    arith_random(x, n, 6);
    float want = reference_row_sum(x, n, ARITH_ROW_CHUNK, ARITH_LANES, work);
    int64_t left = n;
    cl_mem from = buffer(d, x, n), to = buffer(d, NULL, n / ARITH_ROW_CHUNK + 1);
    do {
        int64_t chunks = (left + ARITH_ROW_CHUNK - 1) / ARITH_ROW_CHUNK;
        argument args[] = {NUMBER(left), BUFFER(from), BUFFER(to)};
        launch(d, "arith_row_chunks", args, 3, (size_t[]){256, 1, 1},
               (size_t[]){(size_t)(chunks + 7) / 8, 1, 1});
        cl_mem swap = from;
        from = to;
        to = swap;
        left = chunks;
    } while (left > 1);
    compare(d, "row sum", from, &want, 1);
    clReleaseMemObject(from), clReleaseMemObject(to);
    free(x), free(work);
}

static void run_attention(device *d, int64_t t_q, int64_t t_k, int is_causal)
{
    arith_attention g = {
        .heads = 2, .t_q = t_q, .t_k = t_k, .d = 64, .is_causal = is_causal, .keys = ARITH_KEYS};
    int64_t q_n = g.heads * t_q * g.d, k_n = g.heads * t_k * g.d;
    float *q = arith_floats(q_n), *k = arith_floats(k_n), *v = arith_floats(k_n),
          *o = arith_floats(q_n), *state = arith_floats(2 * q_n);
    arith_random(q, q_n, 7);
    arith_random(k, k_n, 8);
    arith_random(v, k_n, 9);
    reference_attention(&g, q, k, v, o, state);
    cl_mem Q = buffer(d, q, q_n), K = buffer(d, k, k_n), V = buffer(d, v, k_n),
           O = buffer(d, NULL, q_n);
    argument args[] = {NUMBER(t_q), NUMBER(t_k), NUMBER(is_causal), REAL(1.0f / sqrtf(64.0f)),
                       BUFFER(Q),   BUFFER(K),   BUFFER(V),         BUFFER(O)};
    launch(d, "arith_attention", args, 8, TILE_LOCAL,
           (size_t[]){(size_t)(t_q + 15) / 16, (size_t)g.heads, 1});
    compare(d, is_causal ? "attention, causal" : "attention", O, o, q_n);
    clReleaseMemObject(Q), clReleaseMemObject(K), clReleaseMemObject(V), clReleaseMemObject(O);
    free(q), free(k), free(v), free(o), free(state);
}

static char *read_text(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL) {
        fprintf(stderr, "%s: not readable\n", path);
        exit(1);
    }
    char *text = calloc(1, 1 << 17);
    size_t n = fread(text, 1, (1 << 17) - 1, f);
    fclose(f);
    text[n] = '\0';
    return text;
}

static void run_device(cl_device_id id, const char *source, const char *include, const char *option)
{
    char name[256] = "", options[1024], log[8192] = "";
    cl_device_type type;
    cl_device_fp_config config = 0;
    size_t group = 0;
    clGetDeviceInfo(id, CL_DEVICE_NAME, sizeof name, name, NULL);
    clGetDeviceInfo(id, CL_DEVICE_TYPE, sizeof type, &type, NULL);
    clGetDeviceInfo(id, CL_DEVICE_SINGLE_FP_CONFIG, sizeof config, &config, NULL);
    clGetDeviceInfo(id, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof group, &group, NULL);
    printf("opencl device: %s\n", name);
    if (group < 256) {
        printf("  skipped: work-groups of 256 are needed, it has %zu\n", group);
        return;
    }
    device d = {.is_gpu = type == CL_DEVICE_TYPE_GPU};
    cl_int status;
    d.context = clCreateContext(NULL, 1, &id, NULL, NULL, &status);
    check(status, "context");
    d.queue = clCreateCommandQueue(d.context, id, 0, &status);
    check(status, "queue");
    d.program = clCreateProgramWithSource(d.context, 1, &source, NULL, &status);
    check(status, "program");
    snprintf(options, sizeof options, "-cl-std=CL1.2 %s -I %s %s",
             config & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT ? "-cl-fp32-correctly-rounded-divide-sqrt"
                                                          : "",
             include, option);
    if (clBuildProgram(d.program, 1, &id, options, NULL, NULL) != CL_SUCCESS) {
        clGetProgramBuildInfo(d.program, id, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
        printf("  does not build: %s\n", log);
        failures++;
        return;
    }
    run_contract(&d, 70, 90, 300);
    run_contract(&d, 65, 64, 4100);
    run_contract(&d, 3, 5, 20000);
    run_conv(&d,
             (arith_conv){
                 .n = 6, .h = 29, .w = 29, .c = 5, .k = 20, .r = 3, .s = 3, .stride = 1, .pad = 1});
    run_conv(&d,
             (arith_conv){
                 .n = 2, .h = 9, .w = 11, .c = 16, .k = 70, .r = 3, .s = 2, .stride = 2, .pad = 1});
    run_row_sum(&d, 1000);
    run_row_sum(&d, 1100001);
    run_attention(&d, 50, 200, 0);
    run_attention(&d, 150, 150, 1);
    clReleaseProgram(d.program);
    clReleaseCommandQueue(d.queue);
    clReleaseContext(d.context);
}

int main(int argc, char **argv)
{
    cl_platform_id platforms[8];
    cl_uint n_platforms = 0, n_total = 0;
    if (argc != 3 && argc != 4) {
        fprintf(stderr, "usage: arith_gpu KERNELS.cl INCLUDE_DIR [OPTION]\n");
        return 2;
    }
    char *source = read_text(argv[1]);
    clGetPlatformIDs(8, platforms, &n_platforms);
    for (cl_uint p = 0; p < n_platforms && p < 8; p++) {
        cl_device_id ids[8];
        cl_uint n = 0;
        if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 8, ids, &n) != CL_SUCCESS) {
            continue;
        }
        for (cl_uint i = 0; i < n && i < 8; i++, n_total++) {
            run_device(ids[i], source, argv[2], argc == 4 ? argv[3] : "");
        }
    }
    if (n_total == 0) {
        printf("opencl: skipped, no device\n");
    }
    free(source);
    return failures == 0 ? 0 : 1;
}
