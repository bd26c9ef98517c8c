// Every function of src/math compiled by an OpenCL driver gives the bits that it gives in C: on
// PoCL, with the device's own divide, square root and fma, and with ours in their place.
#include <dlfcn.h>
#include <math.h>

#include "wf_test.h"

#include "math_source.h"
#include "math_table.h"

#if defined(__has_include)
#if __has_include(<CL/cl.h>)
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#define WF_HAS_OPENCL_HEADERS 1
#endif
#endif

#ifdef WF_HAS_OPENCL_HEADERS

// X(return type, name, parameter list): the few entry points that one kernel launch needs.
#define CL_FUNCTIONS(X)                                                                            \
    X(cl_int, clGetPlatformIDs, (cl_uint, cl_platform_id *, cl_uint *))                            \
    X(cl_int, clGetPlatformInfo, (cl_platform_id, cl_platform_info, size_t, void *, size_t *))     \
    X(cl_int, clGetDeviceIDs,                                                                      \
      (cl_platform_id, cl_device_type, cl_uint, cl_device_id *, cl_uint *))                        \
    X(cl_int, clGetDeviceInfo, (cl_device_id, cl_device_info, size_t, void *, size_t *))           \
    X(cl_context, clCreateContext,                                                                 \
      (const cl_context_properties *, cl_uint, const cl_device_id *,                               \
       void (*)(const char *, const void *, size_t, void *), void *, cl_int *))                    \
    X(cl_command_queue, clCreateCommandQueue,                                                      \
      (cl_context, cl_device_id, cl_command_queue_properties, cl_int *))                           \
    X(cl_program, clCreateProgramWithSource,                                                       \
      (cl_context, cl_uint, const char **, const size_t *, cl_int *))                              \
    X(cl_int, clBuildProgram,                                                                      \
      (cl_program, cl_uint, const cl_device_id *, const char *, void (*)(cl_program, void *),      \
       void *))                                                                                    \
    X(cl_int, clGetProgramBuildInfo,                                                               \
      (cl_program, cl_device_id, cl_program_build_info, size_t, void *, size_t *))                 \
    X(cl_kernel, clCreateKernel, (cl_program, const char *, cl_int *))                             \
    X(cl_int, clSetKernelArg, (cl_kernel, cl_uint, size_t, const void *))                          \
    X(cl_mem, clCreateBuffer, (cl_context, cl_mem_flags, size_t, void *, cl_int *))                \
    X(cl_int, clEnqueueWriteBuffer,                                                                \
      (cl_command_queue, cl_mem, cl_bool, size_t, size_t, const void *, cl_uint, const cl_event *, \
       cl_event *))                                                                                \
    X(cl_int, clEnqueueReadBuffer,                                                                 \
      (cl_command_queue, cl_mem, cl_bool, size_t, size_t, void *, cl_uint, const cl_event *,       \
       cl_event *))                                                                                \
    X(cl_int, clEnqueueNDRangeKernel,                                                              \
      (cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *, const size_t *,       \
       cl_uint, const cl_event *, cl_event *))                                                     \
    X(cl_int, clReleaseKernel, (cl_kernel))                                                        \
    X(cl_int, clReleaseProgram, (cl_program))                                                      \
    X(cl_int, clReleaseMemObject, (cl_mem))                                                        \
    X(cl_int, clReleaseCommandQueue, (cl_command_queue))                                           \
    X(cl_int, clReleaseContext, (cl_context))

#define CL_FIELD(type, name, parameters) type(*name) parameters;
typedef struct {
    CL_FUNCTIONS(CL_FIELD)
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
} cl_test;

// Functions of two floats: the one-argument ones ignore y. X(name, expression of x and y)
// clang-format never settles on a layout of several calls a line.
// clang-format off
#define KERNELS_1(X) \
    X(exp) X(exp2) X(expm1) X(log) X(log2) X(log1p) X(tanh) X(erf) X(erfc) X(sin) X(cos) \
    X(sigmoid) X(silu) X(softplus) X(gelu) X(gelu_tanh) X(rsqrt) X(sqrt_soft) X(round_even) \
    X(floor) X(ceil) X(trunc) X(relu) X(flush)
#define KERNELS_2(X) \
    X(pow) X(div_soft) X(max) X(min)
// clang-format on

typedef struct {
    const char *name;
    wf_f32 (*host)(wf_f32 x, wf_f32 y);
} kernel_row;

#define HOST_1(fn)                                                                                 \
    static wf_f32 host_##fn(wf_f32 x, wf_f32 y)                                                    \
    {                                                                                              \
        (void)y;                                                                                   \
        return wf_##fn(x);                                                                         \
    }
#define HOST_2(fn)                                                                                 \
    static wf_f32 host_##fn(wf_f32 x, wf_f32 y)                                                    \
    {                                                                                              \
        return wf_##fn(x, y);                                                                      \
    }
KERNELS_1(HOST_1)
KERNELS_2(HOST_2)
static wf_f32 host_normal(wf_f32 x, wf_f32 y)
{
    return wf_normal_from_words(wf_as_u32(x), wf_as_u32(y)).lo;
}
static wf_f32 host_word(wf_f32 x, wf_f32 y)
{
    return wf_as_f32(wf_random_word(wf_as_u32(x), 5, 6, (wf_u64)wf_as_u32(y) << 3) & 0x7fffffu);
}
static wf_f32 host_f16(wf_f32 x, wf_f32 y)
{
    (void)y;
    return wf_f16_to_f32(wf_f32_to_f16(x));
}
static wf_f32 host_bf16(wf_f32 x, wf_f32 y)
{
    (void)y;
    return wf_bf16_to_f32(wf_f32_to_bf16(x));
}
static wf_f32 host_i32(wf_f32 x, wf_f32 y)
{
    (void)y;
    return wf_i32_to_f32(wf_f32_to_i32(x));
}
static wf_f32 host_i64(wf_f32 x, wf_f32 y)
{
    (void)y;
    return wf_i64_to_f32(wf_f32_to_i64(x));
}
static wf_f32 host_fma(wf_f32 x, wf_f32 y)
{
    return WF_FMA(x, y, -x);
}
static wf_f32 host_div(wf_f32 x, wf_f32 y)
{
    return WF_DIV(x, y);
}

#define ROW(fn) {#fn, host_##fn},
static const kernel_row rows[] = {KERNELS_1(ROW) KERNELS_2(ROW) ROW(normal) ROW(word) ROW(f16)
                                      ROW(bf16) ROW(i32) ROW(i64) ROW(fma) ROW(div)};

static void append_kernel(math_source *s, const char *name, const char *value)
{
    char text[512];
    snprintf(
        text, sizeof text,
        "WF_KERNEL void k_%s(WF_GLOBAL const wf_f32 *a, WF_GLOBAL const wf_f32 *b, WF_GLOBAL wf_f32 *out) {\n"
        "  const wf_i32 i = WF_GLOBAL_ID(0);\n  const wf_f32 x = a[i], y = b[i];\n  out[i] = %s;\n}\n",
        name, value);
    math_source_append(s, text);
}

static math_source all_kernels(void)
{
    math_source s = {0};
    math_source_include(&s, "math/weft_math.h");
#define APPEND_1(fn) append_kernel(&s, #fn, "wf_" #fn "(x)");
#define APPEND_2(fn) append_kernel(&s, #fn, "wf_" #fn "(x, y)");
    KERNELS_1(APPEND_1)
    KERNELS_2(APPEND_2)
    append_kernel(&s, "normal", "wf_normal_from_words(wf_as_u32(x), wf_as_u32(y)).lo");
    append_kernel(
        &s, "word",
        "wf_as_f32(wf_random_word(wf_as_u32(x), 5, 6, (wf_u64)wf_as_u32(y) << 3) & 0x7fffffu)");
    append_kernel(&s, "f16", "wf_f16_to_f32(wf_f32_to_f16(x))");
    append_kernel(&s, "bf16", "wf_bf16_to_f32(wf_f32_to_bf16(x))");
    append_kernel(&s, "i32", "wf_i32_to_f32(wf_f32_to_i32(x))");
    append_kernel(&s, "i64", "wf_i64_to_f32(wf_f32_to_i64(x))");
    append_kernel(&s, "fma", "WF_FMA(x, y, -x)");
    append_kernel(&s, "div", "WF_DIV(x, y)");
    return s;
}

// The first PoCL device, its context and queue; skips where there is none.
static void open_pocl(cl_test *cl)
{
    void *lib = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (lib == NULL)
        WF_SKIP("no libOpenCL.so.1, install ocl-icd-libopencl1");
#define CL_LOAD(type, name, parameters)                                                            \
    *(void **)&cl->name = dlsym(lib, #name);                                                       \
    assert_non_null(cl->name);
    CL_FUNCTIONS(CL_LOAD)
    cl_platform_id platforms[16];
    cl_uint n = 0;
    cl_int err = 0;
    cl->clGetPlatformIDs(16, platforms, &n);
    cl->device = NULL;
    for (cl_uint i = 0; i < n && i < 16 && cl->device == NULL; i++) {
        char name[128] = "";
        cl->clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, NULL);
        if (strcmp(name, "Portable Computing Language") == 0)
            cl->clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &cl->device, NULL);
    }
    if (cl->device == NULL)
        WF_SKIP("no PoCL device, install pocl-opencl-icd");
    cl->context = cl->clCreateContext(NULL, 1, &cl->device, NULL, NULL, &err);
    assert_int_equal(err, CL_SUCCESS);
    cl->queue = cl->clCreateCommandQueue(cl->context, cl->device, 0, &err);
    assert_int_equal(err, CL_SUCCESS);
}

static cl_program build(const cl_test *cl, const math_source *s, const char *options)
{
    cl_int err = 0;
    const char *text = s->text;
    cl_program program = cl->clCreateProgramWithSource(cl->context, 1, &text, &s->len, &err);
    assert_int_equal(err, CL_SUCCESS);
    if (cl->clBuildProgram(program, 1, &cl->device, options, NULL, NULL) != CL_SUCCESS) {
        static char log[8192];
        cl->clGetProgramBuildInfo(program, cl->device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log,
                                  NULL);
        fail_msg("build with %s: %s", options, log);
    }
    return program;
}

static void compare_all(const cl_test *cl, cl_program program, size_t n, const wf_f32 *x,
                        const wf_f32 *y, wf_f32 *out)
{
    cl_int err[3];
    cl_mem buf[3];
    for (int i = 0; i < 3; i++) {
        buf[i] =
            cl->clCreateBuffer(cl->context, CL_MEM_READ_WRITE, n * sizeof(float), NULL, &err[i]);
        assert_int_equal(err[i], CL_SUCCESS);
    }
    cl->clEnqueueWriteBuffer(cl->queue, buf[0], CL_TRUE, 0, n * sizeof(float), x, 0, NULL, NULL);
    cl->clEnqueueWriteBuffer(cl->queue, buf[1], CL_TRUE, 0, n * sizeof(float), y, 0, NULL, NULL);
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        char name[64];
        snprintf(name, sizeof name, "k_%s", rows[r].name);
        cl_kernel kernel = cl->clCreateKernel(program, name, &err[0]);
        assert_int_equal(err[0], CL_SUCCESS);
        for (cl_uint i = 0; i < 3; i++)
            cl->clSetKernelArg(kernel, i, sizeof(cl_mem), &buf[i]);
        const size_t local = 64;
        assert_int_equal(
            cl->clEnqueueNDRangeKernel(cl->queue, kernel, 1, NULL, &n, &local, 0, NULL, NULL),
            CL_SUCCESS);
        assert_int_equal(cl->clEnqueueReadBuffer(cl->queue, buf[2], CL_TRUE, 0, n * sizeof(float),
                                                 out, 0, NULL, NULL),
                         CL_SUCCESS);
        cl->clReleaseKernel(kernel);
        for (size_t i = 0; i < n; i++) {
            const wf_f32 want = rows[r].host(x[i], y[i]);
            if (wf_as_u32(wf_canonical(out[i])) != wf_as_u32(wf_canonical(want)))
                fail_msg("%s(%a, %a): OpenCL gives %a, C gives %a", rows[r].name, (double)x[i],
                         (double)y[i], (double)out[i], (double)want);
        }
    }
    for (int i = 0; i < 3; i++)
        cl->clReleaseMemObject(buf[i]);
}

static void opencl_gives_the_same_bits(void **state)
{
    (void)state;
    cl_test cl;
    open_pocl(&cl);
    cl_device_fp_config config = 0;
    cl.clGetDeviceInfo(cl.device, CL_DEVICE_SINGLE_FP_CONFIG, sizeof config, &config, NULL);
    const char *own = config & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT
                          ? "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt"
                          : "-cl-std=CL1.2 -DWF_SOFT_DIV_SQRT";
    const char *options[] = {own, "-cl-std=CL1.2 -DWF_SOFT_DIV_SQRT -DWF_SOFT_FMA"};
    const size_t n = (size_t)1 << (wf_test_is_full() ? 22 : 15);
    wf_f32 *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y), *out = malloc(n * sizeof *out);
    assert_true(x != NULL && y != NULL && out != NULL);
    for (size_t i = 0; i < n; i++) {
        // Half of the inputs have any bits; half lie where the functions are not flat.
        const wf_u32 word = wf_random_word(7, 1, 2, i), other = wf_random_word(7, 3, 4, i);
        x[i] = i & 1 ? wf_as_f32(word) : 40.0f * wf_uniform_from_word(word) - 20.0f;
        y[i] = i & 2 ? wf_as_f32(other) : 8.0f * wf_uniform_from_word(other) - 4.0f;
    }
    math_source source = all_kernels();
    // The second set costs as much compiling again: in the full run.
    for (int i = 0; i < (wf_test_is_full() ? 2 : 1); i++) {
        cl_program program = build(&cl, &source, options[i]);
        compare_all(&cl, program, n, x, y, out);
        cl.clReleaseProgram(program);
    }
    free(source.text);
    free(x);
    free(y);
    free(out);
    cl.clReleaseCommandQueue(cl.queue);
    cl.clReleaseContext(cl.context);
}

#else

static void opencl_gives_the_same_bits(void **state)
{
    (void)state;
    WF_SKIP("no CL/cl.h when this was compiled, install opencl-headers");
}

#endif

const struct CMUnitTest wf_tests_math_opencl[] = {
    cmocka_unit_test(opencl_gives_the_same_bits),
};
const unsigned long wf_n_tests_math_opencl = WF_N_TESTS(wf_tests_math_opencl);
