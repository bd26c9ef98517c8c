// The renderer: sizes are arguments and never text, structure is text; a product beside a sum is found;
// NVRTC compiles every kernel source of the GPU devices, and rendered examples.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/render.h"
#include "device/gpu/gpu_source.h"
#include "device/kernel_case.h"
#include "wf_test.h"

static void bare_products(void **state)
{
    (void)state;
    static const char *const bad[] = {"a * b + c",         "a *b - c",
                                      "c + a * b",         "(a * b) + c",
                                      "wf_exp(a * b + c)", "a < b ? a * b + 1.0f : c",
                                      "-a * b - c"};
    static const char *const good[] = {"a + b",
                                       "a *b",
                                       "WF_FMA(a, b, c)",
                                       "(a + b) * c",
                                       "wf_max(a * b, c) + a",
                                       "a * -b",
                                       "a * 1e-3f",
                                       "a * b < c ? a + b : c",
                                       "wf_exp(a) * (a - 1.0f)"};
    for (size_t i = 0; i < WF_N_TESTS(bad); i++) {
        if (!wf_render_has_bare_product(bad[i]))
            fail_msg("%s: no product found", bad[i]);
    }
    for (size_t i = 0; i < WF_N_TESTS(good); i++) {
        if (wf_render_has_bare_product(good[i]))
            fail_msg("%s: a product found", good[i]);
    }
}

static void formulas_of_ops(void **state)
{
    (void)state;
    weft_context *ctx;
    assert_int_equal(weft_context_create(NULL, &ctx, NULL), WEFT_OK);
    size_t n = 0;
    for (size_t i = 0; i < ctx->n_ops; i++) {
        const wf_elementwise *e = ctx->ops[i]->elementwise;
        if (!e || !e->formula_f32)
            continue;
        n++;
        if (wf_render_has_bare_product(e->formula_f32))
            fail_msg("%s: %s", ctx->ops[i]->name, e->formula_f32);
    }
    assert_true(n > 20);
    weft_context_destroy(ctx);
}

static const wf_render_options gpu_options = {
    .is_cpu = false, .has_f64 = true, .group_size = 256, .n_units = 8};

static void sizes_are_no_text(void **state)
{
    (void)state;
    extern const wf_op wf_op_exp;
    const wf_allocator a = wf_allocator_default();
    char *first = NULL;
    for (int64_t batch = 2; batch < 66; batch++) {
        wf_inst insts[] = {
            {.kind = WF_INST_LOAD, .dtype = WEFT_F32},
            {.kind = WF_INST_APPLY, .dtype = WEFT_F32, .op = &wf_op_exp, .n_args = 1},
            {.kind = WF_INST_REDUCE, .dtype = WEFT_F32, .is_outer = true, .n_args = 1, .args = {1}},
            {.kind = WF_INST_STORE,
             .dtype = WEFT_F32,
             .is_outer = true,
             .level = 1,
             .n_args = 1,
             .args = {2}},
        };
        wf_access accesses[] = {{.dtype = WEFT_F32, .offset = batch * 7, .strides = {100, 1}},
                                {.dtype = WEFT_F32, .offset = 5, .strides = {1, 0}}};
        wf_kernel k = {.kind = WF_KERNEL_ROW,
                       .ndim = 2,
                       .dims = {batch, 90},
                       .is_inner = {false, true},
                       .n_levels = 2,
                       .n_insts = 4,
                       .insts = insts,
                       .n_inputs = 1,
                       .inputs = accesses,
                       .n_outputs = 1,
                       .outputs = accesses + 1};
        const wf_render_task task = {(uint32_t)batch, batch % 2 == 0, 0};
        wf_render r;
        assert_int_equal(wf_render_create(&a, &k, &gpu_options, &task, &r, NULL), WEFT_OK);
        if (!first)
            first = strdup(wf_text_str(&r.source));
        assert_string_equal(first, wf_text_str(&r.source));
        assert_int_equal(r.launches[0].n_groups, batch);
        wf_render_destroy(&r);
    }
    free(first);
}

// ---- NVRTC
typedef struct rtc {
    int (*create)(void **, const char *, const char *, int, const char *const *,
                  const char *const *);
    int (*compile)(void *, int, const char *const *);
    int (*log_size)(void *, size_t *);
    int (*log)(void *, char *);
    int (*destroy)(void **);
} rtc;

static bool load_rtc(rtc *out)
{
    static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12",
                                        "/usr/local/cuda/lib64/libnvrtc.so"};
    void *lib = NULL;
    for (size_t i = 0; i < WF_N_TESTS(names) && !lib; i++)
        lib = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!lib)
        return false;
    *(void **)&out->create = dlsym(lib, "nvrtcCreateProgram");
    *(void **)&out->compile = dlsym(lib, "nvrtcCompileProgram");
    *(void **)&out->log_size = dlsym(lib, "nvrtcGetProgramLogSize");
    *(void **)&out->log = dlsym(lib, "nvrtcGetProgramLog");
    *(void **)&out->destroy = dlsym(lib, "nvrtcDestroyProgram");
    return out->create && out->compile && out->log_size && out->log && out->destroy;
}

static void compile(const rtc *r, const char *what, const char *text)
{
    static const char *const options[] = {"--gpu-architecture=compute_75", "--fmad=false",
                                          "--prec-div=true", "--prec-sqrt=true", "--ftz=false"};
    void *program = NULL;
    assert_int_equal(r->create(&program, text, "weft.cu", 0, NULL, NULL), 0);
    if (r->compile(program, 5, options) != 0) {
        size_t size = 0;
        r->log_size(program, &size);
        char *log = calloc(size + 1, 1);
        r->log(program, log);
        fail_msg("%s: %.2000s", what, log);
    }
    r->destroy(&program);
}

static void nvrtc_compiles_sources(void **state)
{
    (void)state;
    static const struct {
        const char *defines, *file;
    } sources[] = {
        {"#define WF_PRODUCT_KIND 0\n#define WF_TERM_SPATIAL 0\n", "gpu_product.h"},
        {"#define WF_PRODUCT_KIND 1\n#define WF_TERM_SPATIAL 0\n", "gpu_product.h"},
        {"#define WF_PRODUCT_KIND 1\n#define WF_TERM_SPATIAL 1\n#define WF_A_K_FAST\n",
         "gpu_product.h"},
        {"#define WF_PRODUCT_KIND 2\n#define WF_TERM_SPATIAL 0\n#define WF_PRODUCT_WIDE\n",
         "gpu_product.h"},
        {"#define WF_WINDOW_KIND 0\n", "gpu_window.h"},
        {"#define WF_WINDOW_KIND 1\n", "gpu_window.h"},
        {"#define WF_WINDOW_KIND 2\n#define WF_WINDOW_WIDE\n", "gpu_window.h"},
        {"#define WF_WINDOW_KIND 3\n", "gpu_window.h"},
        {"#define WF_ELEM wf_f32\n#define WF_ELEM_IS_F32\n#define WF_INDEX wf_i32\n",
         "gpu_index.h"},
        {"#define WF_ELEM wf_i64\n#define WF_INDEX wf_i64\n", "gpu_index.h"},
        {"#define WF_ELEM wf_u16\n#define WF_INDEX wf_i64\n", "gpu_dynamic.h"},
        {"#define WF_ELEM wf_f32\n#define WF_KEY wf_u32\n#define WF_ORDER_F32\n", "gpu_order.h"},
        {"#define WF_ELEM wf_i64\n#define WF_KEY wf_u64\n#define WF_ORDER_SIGNED\n", "gpu_order.h"},
        {"#define WF_PART 0\n#define WF_COLUMNS 1\n", "gpu_attention.h"},
        {"#define WF_PART 1\n#define WF_COLUMNS 2\n", "gpu_attention.h"},
        {"#define WF_PART 2\n#define WF_COLUMNS 1\n", "gpu_attention.h"},
        {"", "gpu_probe.h"},
    };
    rtc r;
    if (!load_rtc(&r))
        WF_SKIP("no libnvrtc.so, install the CUDA toolkit");
    const wf_allocator a = wf_allocator_default();
    for (size_t i = 0; i < WF_N_TESTS(sources); i++) {
        wf_text text;
        wf_text_init(&text, &a);
        wf_text_append(
            &text,
            "#define WF_HAVE_F64\n#define WF_TILE_M 64\n#define WF_TILE_N 64\n#define WF_TILE_K 16\n"
            "#define WF_GROUP_M 16\n#define WF_GROUP_N 16\n");
        wf_text_append(&text, sources[i].defines);
        assert_int_equal(wf_gpu_source_append(&text, sources[i].file, NULL), WEFT_OK);
        compile(&r, sources[i].file, wf_text_str(&text));
        wf_text_deinit(&text);
    }
}

static void nvrtc_compiles_rendered(void **state)
{
    (void)state;
    rtc r;
    if (!load_rtc(&r))
        WF_SKIP("no libnvrtc.so, install the CUDA toolkit");
    static const char *const parts[] = {"gpu_reduce.h", "gpu_cast.h"};
    weft_context *ctx;
    assert_int_equal(weft_context_create(NULL, &ctx, NULL), WEFT_OK);
    const wf_render_task task = {0, false, 0};
    for (uint64_t seed = 1; seed <= 16; seed++) {
        kernel_case c;
        wf_render rendered;
        wf_text text;
        char name[32];
        kernel_case_make(ctx, seed, 2000, &c);
        wf_text_init(&text, &ctx->allocator);
        wf_text_append(&text, "#define WF_HAVE_F64\n");
        assert_int_equal(wf_gpu_source_join(&text, parts, 2, NULL), WEFT_OK);
        assert_int_equal(
            wf_render_create(&ctx->allocator, &c.kernel, &gpu_options, &task, &rendered, NULL),
            WEFT_OK);
        wf_text_append(&text, wf_text_str(&rendered.source));
        snprintf(name, sizeof name, "seed %llu", (unsigned long long)seed);
        if (rendered.n_launches > 0)
            compile(&r, name, wf_text_str(&text));
        wf_text_deinit(&text);
        wf_render_destroy(&rendered);
        kernel_case_free(&c);
    }
    weft_context_destroy(ctx);
}

const struct CMUnitTest wf_tests_render[] = {
    cmocka_unit_test(bare_products),           cmocka_unit_test(formulas_of_ops),
    cmocka_unit_test(sizes_are_no_text),       cmocka_unit_test(nvrtc_compiles_sources),
    cmocka_unit_test(nvrtc_compiles_rendered),
};
const unsigned long wf_n_tests_render = WF_N_TESTS(wf_tests_render);
