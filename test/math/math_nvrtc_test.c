// NVRTC and hipRTC compile every function of src/math with the options of the real kernels. What
// they compile cannot run here without a GPU; the PTX is looked at: no contracted, approximate or
// flushing f32 operation may be in it.
#include <dlfcn.h>

#include "wf_test.h"

#include "math_source.h"

typedef void *rtc_program;
// The two libraries have the same entry points under two prefixes. X(name, parameter list)
#define RTC_FUNCTIONS(X)                                                                           \
    X(CreateProgram,                                                                               \
      (rtc_program *, const char *, const char *, int, const char *const *, const char *const *))  \
    X(CompileProgram, (rtc_program, int, const char *const *))                                     \
    X(GetProgramLogSize, (rtc_program, size_t *))                                                  \
    X(GetProgramLog, (rtc_program, char *))                                                        \
    X(DestroyProgram, (rtc_program *))

#define RTC_FIELD(name, parameters) int(*name) parameters;
typedef struct {
    RTC_FUNCTIONS(RTC_FIELD)
    int (*code_size)(rtc_program, size_t *);
    int (*code)(rtc_program, char *);
} rtc_library;

static void *load_first(const char *const *names)
{
    void *lib = NULL;
    for (int i = 0; names[i] != NULL && lib == NULL; i++)
        lib = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return lib;
}

static void *find(void *lib, const char *prefix, const char *name)
{
    char full[64];
    snprintf(full, sizeof full, "%s%s", prefix, name);
    void *symbol = dlsym(lib, full);
    if (symbol == NULL)
        fail_msg("%s is missing", full);
    return symbol;
}

static rtc_library bind(void *lib, const char *prefix, const char *code)
{
    rtc_library rtc;
    char name[64];
#define RTC_LOAD(fn, parameters) *(void **)&rtc.fn = find(lib, prefix, #fn);
    RTC_FUNCTIONS(RTC_LOAD)
    snprintf(name, sizeof name, "Get%s", code);
    *(void **)&rtc.code = find(lib, prefix, name);
    snprintf(name, sizeof name, "Get%sSize", code);
    *(void **)&rtc.code_size = find(lib, prefix, name);
    return rtc;
}

// A kernel that calls everything, so that nothing is left out of the code.
static math_source everything(void)
{
    static const char *const calls[] = {
        "exp",   "exp2",      "expm1",      "log",     "log2", "log1p",    "tanh", "erf",
        "erfc",  "sin",       "cos",        "sigmoid", "silu", "softplus", "gelu", "gelu_tanh",
        "rsqrt", "sqrt_soft", "round_even", "floor",   "ceil", "trunc",    "relu", "flush"};
    math_source s = {0};
    char line[128];
    math_source_include(&s, "math/weft_math.h");
    math_source_append(
        &s,
        "WF_KERNEL void everything(WF_GLOBAL const wf_f32 *a, WF_GLOBAL wf_f32 *out, wf_i32 n) {\n"
        "  const wf_i32 i = WF_GLOBAL_ID(0);\n  if (i >= n) return;\n  const wf_f32 x = a[i];\n");
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        snprintf(line, sizeof line, "  out[i + %zu * n] = wf_%s(x);\n", i, calls[i]);
        math_source_append(&s, line);
    }
    math_source_append(
        &s,
        "  out[i + 30 * n] = wf_pow(x, a[0]);\n  out[i + 31 * n] = wf_div_soft(x, a[1]);\n"
        "  out[i + 32 * n] = wf_random_normal(1, 2, 3, (wf_u64)i);\n"
        "  out[i + 33 * n] = wf_f16_to_f32(wf_f32_to_f16(x)) - wf_bf16_to_f32(wf_f32_to_bf16(x));\n"
        "  out[i + 34 * n] = WF_DIV(x, a[2]);\n  out[i + 35 * n] = WF_SQRT(x);\n}\n");
    return s;
}

// The compiled code; the caller frees it.
static char *compile(const rtc_library *rtc, const char *const *options, int n_options,
                     size_t *out_size)
{
    math_source s = everything();
    rtc_program program = NULL;
    assert_int_equal(rtc->CreateProgram(&program, s.text, "everything.cu", 0, NULL, NULL), 0);
    const int err = rtc->CompileProgram(program, n_options, options);
    size_t size = 0;
    if (err != 0) {
        rtc->GetProgramLogSize(program, &size);
        char *log = calloc(size + 1, 1);
        assert_non_null(log);
        rtc->GetProgramLog(program, log);
        fail_msg("%s: %s", options[0], log);
    }
    assert_int_equal(rtc->code_size(program, &size), 0);
    char *code = calloc(size + 1, 1);
    assert_non_null(code);
    assert_int_equal(rtc->code(program, code), 0);
    rtc->DestroyProgram(&program);
    free(s.text);
    *out_size = size;
    return code;
}

static void nvrtc_compiles_every_function(void **state)
{
    static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2",
                                        "/usr/local/cuda/lib64/libnvrtc.so", NULL};
    static const char *const archs[] = {"--gpu-architecture=compute_75",
                                        "--gpu-architecture=compute_80",
                                        "--gpu-architecture=compute_90"};
    static const char *const wrong[] = {"mad.f32",   "mad.rn.f32", ".ftz.",     ".approx.",
                                        ".full.f32", "add.ftz",    "fma.rn.ftz"};
    (void)state;
    void *lib = load_first(names);
    if (lib == NULL)
        WF_SKIP("no libnvrtc.so, install the CUDA toolkit");
    const rtc_library rtc = bind(lib, "nvrtc", "PTX");
    for (int i = 0; i < 3; i++) {
        const char *const options[] = {archs[i], "--fmad=false", "--prec-div=true",
                                       "--prec-sqrt=true", "--ftz=false"};
        size_t size = 0;
        char *ptx = compile(&rtc, options, 5, &size);
        assert_non_null(strstr(ptx, "fma.rn.f32"));
        assert_non_null(strstr(ptx, "div.rn.f32"));
        assert_non_null(strstr(ptx, "sqrt.rn.f32"));
        for (size_t w = 0; w < sizeof wrong / sizeof wrong[0]; w++)
            if (strstr(ptx, wrong[w]) != NULL)
                fail_msg("%s: the PTX holds %s", archs[i], wrong[w]);
        free(ptx);
    }
}

static void hiprtc_compiles_every_function(void **state)
{
    static const char *const names[] = {"libhiprtc.so.5", "libhiprtc.so", "libamdhip64.so.5",
                                        "libamdhip64.so", NULL};
    static const char *const archs[] = {"--offload-arch=gfx900", "--offload-arch=gfx90a",
                                        "--offload-arch=gfx1030"};
    (void)state;
    void *lib = load_first(names);
    if (lib == NULL || dlsym(lib, "hiprtcCreateProgram") == NULL)
        WF_SKIP("no hipRTC, install libamdhip64-dev");
    const rtc_library rtc = bind(lib, "hiprtc", "Code");
    for (int i = 0; i < 3; i++) {
        const char *const options[] = {archs[i], "-ffp-contract=off",
                                       "-fhip-fp32-correctly-rounded-divide-sqrt",
                                       "-fno-gpu-flush-denormals-to-zero"};
        size_t size = 0;
        free(compile(&rtc, options, 4, &size));
        assert_true(size > 1000);
    }
}

const struct CMUnitTest wf_tests_math_nvrtc[] = {
    cmocka_unit_test(nvrtc_compiles_every_function),
    cmocka_unit_test(hiprtc_compiles_every_function),
};
const unsigned long wf_n_tests_math_nvrtc = WF_N_TESTS(wf_tests_math_nvrtc);
