// Which instruction sets the processor and the system run, and the tables of kernels for each.
#include "device/cpu/cpu_isa.h"

#include <stdio.h>
#include <string.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#define IS_X86 1
#endif

// Declares wf_cpu_elementwise_avx2 and so on, the tables that kernel files export.
#define WF_ISA(isa)                                                                                \
    extern const wf_cpu_elementwise wf_cpu_elementwise_##isa;                                      \
    extern const wf_cpu_randoms wf_cpu_randoms_##isa;                                              \
    extern const wf_cpu_reduces wf_cpu_reduces_##isa;                                              \
    extern const wf_cpu_products wf_cpu_products_##isa;                                            \
    extern const wf_cpu_lanes wf_cpu_lanes_##isa;                                                  \
    extern const wf_cpu_attention wf_cpu_attention_##isa;                                          \
    extern const wf_cpu_winograd wf_cpu_winograd_##isa;                                            \
    extern const wf_cpu_windows wf_cpu_windows_##isa;                                              \
    extern const wf_cpu_window_rows wf_cpu_window_rows_##isa;                                      \
    extern wf_cpu_peak_fn wf_cpu_peak_fma_##isa;
#include "weft_generated/isa_list.inc"
#undef WF_ISA

#define WF_ISA(isa)                                                                                \
    {#isa,                                                                                         \
     &wf_cpu_elementwise_##isa,                                                                    \
     &wf_cpu_randoms_##isa,                                                                        \
     &wf_cpu_reduces_##isa,                                                                        \
     &wf_cpu_products_##isa,                                                                       \
     &wf_cpu_lanes_##isa,                                                                          \
     &wf_cpu_windows_##isa,                                                                        \
     &wf_cpu_window_rows_##isa,                                                                    \
     &wf_cpu_attention_##isa,                                                                      \
     &wf_cpu_winograd_##isa,                                                                       \
     wf_cpu_peak_fma_##isa},
static const wf_cpu_kernels kernels[] = {
#include "weft_generated/isa_list.inc"
};
#undef WF_ISA

size_t wf_cpu_isa_count(void)
{
    return WF_COUNT_OF(kernels);
}
const wf_cpu_kernels *wf_cpu_isa_at(size_t idx)
{
    return &kernels[idx];
}

#ifdef IS_X86
enum { LEVEL_AVX2 = 1, LEVEL_AVX512 = 2 };

// The state that the system saves for each thread: without it, wide registers fault or are lost.
static uint64_t saved_state(void)
{
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

static uint32_t x86_levels(void)
{
    uint32_t a, b, c, d, levels = 0;
    if (!__get_cpuid(1, &a, &b, &c, &d))
        return 0;
    const uint32_t needed_1 = bit_FMA | bit_OSXSAVE | bit_AVX | bit_F16C;
    if ((c & needed_1) != needed_1)
        return 0;
    const uint64_t state = saved_state();
    if ((state & 0x6) != 0x6) // xmm, ymm
        return 0;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d))
        return 0;
    const uint32_t needed_avx2 = bit_AVX2 | bit_BMI | bit_BMI2;
    const uint32_t needed_avx512 = bit_AVX512F | bit_AVX512DQ | bit_AVX512BW | bit_AVX512VL;
    if ((b & needed_avx2) == needed_avx2)
        levels |= LEVEL_AVX2;
    if ((levels & LEVEL_AVX2) && (b & needed_avx512) == needed_avx512 && (state & 0xe6) == 0xe6)
        levels |= LEVEL_AVX512;
    return levels;
}
#endif

static bool is_runnable(const char *name)
{
#ifdef IS_X86
    if (strcmp(name, "avx2") == 0)
        return x86_levels() & LEVEL_AVX2;
    if (strcmp(name, "avx512") == 0)
        return x86_levels() & LEVEL_AVX512;
#endif
#ifdef __aarch64__
    if (strcmp(name, "neon") == 0)
        return true; // part of the base architecture
#endif
    return strcmp(name, "scalar") == 0;
}

uint32_t wf_cpu_isa_detect(uint32_t mask)
{
    uint32_t found = 0;
    for (size_t i = 0; i < WF_COUNT_OF(kernels); i++) {
        if (is_runnable(kernels[i].name))
            found |= UINT32_C(1) << i;
    }
    return (found & mask) | 1u;
}

// "scalar, avx2": those of the set.
static const char *names_text(uint32_t set, char *buf, size_t size_bytes)
{
    size_t used = 0;
    buf[0] = '\0';
    for (size_t i = 0; i < WF_COUNT_OF(kernels); i++) {
        if (!(set >> i & 1u))
            continue;
        const int n =
            snprintf(buf + used, size_bytes - used, "%s%s", used ? ", " : "", kernels[i].name);
        if (n < 0 || (size_t)n >= size_bytes - used)
            break;
        used += (size_t)n;
    }
    return buf;
}

weft_status wf_cpu_isa_choose(const char *name, const wf_cpu_kernels **out_kernels, weft_error *err)
{
    const uint32_t found = wf_cpu_isa_detect(WF_CPU_ISA_ALL);
    char text[128];
    *out_kernels = NULL;
    for (size_t i = WF_COUNT_OF(kernels); i-- > 0;) {
        const bool is_found = found >> i & 1u;
        if (!name && is_found) {
            *out_kernels = &kernels[i];
            return WEFT_OK;
        }
        if (name && strcmp(name, kernels[i].name) == 0) {
            if (!is_found) {
                WEFT_FAIL(err, WEFT_ERR_DEVICE,
                          "cpu: this processor does not run isa '%s', expected one of: %s", name,
                          names_text(found, text, sizeof text));
            }
            *out_kernels = &kernels[i];
            return WEFT_OK;
        }
    }
    WEFT_FAIL(err, WEFT_ERR_NAME, "cpu: this build has no isa '%s', expected one of: %s",
              name ? name : "", names_text(found, text, sizeof text));
}

const char *wf_cpu_isa_processor(char *buf, size_t size_bytes)
{
    char brand[64] = "";
#ifdef IS_X86
    uint32_t word[4];
    if (__get_cpuid(0x80000004u, &word[0], &word[1], &word[2], &word[3])) {
        for (uint32_t i = 0; i < 3; i++) {
            (void)__get_cpuid(0x80000002u + i, &word[0], &word[1], &word[2], &word[3]);
            memcpy(brand + 16 * i, word, sizeof word);
        }
    }
#endif
    const char *from = brand;
    while (*from == ' ')
        from++;
    size_t len = strlen(from);
    while (len > 0 && from[len - 1] == ' ')
        len--;
    if (len == 0) {
        from = "cpu";
        len = 3;
    }
    (void)snprintf(buf, size_bytes, "%.*s", (int)len, from);
    return buf;
}

wf_cpu_apply_fn *wf_cpu_apply_find(const wf_cpu_kernels *k, const char *op, weft_dtype dtype)
{
    const wf_cpu_elementwise *e = k->elementwise;
    for (size_t i = 0; i < e->n_applies; i++) {
        if (e->applies[i].dtype == dtype && strcmp(e->applies[i].op, op) == 0)
            return e->applies[i].run;
    }
    return NULL;
}

const wf_cpu_reduce *wf_cpu_reduce_find(const wf_cpu_kernels *k, wf_reduce_kind kind,
                                        weft_dtype dtype)
{
    for (size_t i = 0; i < k->reduces->n_reduces; i++) {
        if (k->reduces->reduces[i].kind == kind && k->reduces->reduces[i].dtype == dtype)
            return &k->reduces->reduces[i];
    }
    return NULL;
}
