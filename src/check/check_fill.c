// Numbers for the inputs of a case: drawn by Philox from the case's name, computed in f32 without
// libm, so that every machine fills the same bits. Stage: check.
#include <string.h>

#include "base/dtype.h"
#include "check/check.h"
#include "math/half.h"
#include "math/philox.h"

static uint64_t seed_of(const char *name, uint32_t idx)
{
    wf_sha256 sha;
    uint8_t digest[WF_SHA256_BYTES];
    uint64_t seed = 0;
    wf_sha256_init(&sha);
    wf_sha256_update(&sha, name, strlen(name));
    wf_sha256_final(&sha, digest);
    for (int i = 0; i < 8; i++) {
        seed = seed << 8 | digest[i];
    }
    return seed + idx;
}

// A sign and 23 random bits behind a leading one, times 2^exponent.
static float mantissa(uint32_t word, int exponent)
{
    const uint32_t bits = (word & 0x807fffffu) | (uint32_t)(exponent + 127) << 23;
    return wf_as_f32(bits);
}

static float special(uint32_t word, uint32_t more)
{
    static const uint32_t table[] = {
        0x7fc00000u,                                        // NaN
        0x7f800000u,                                        // infinity
        0x00000000u,                                        // 0
        0x00000001u,                                        // the smallest subnormal
        0x007fffffu,                                        // the greatest one
        0x00400000u, 0x00800000u,                           // 2^-126
        0x7f7fffffu,                                        // the greatest finite number
        0x3f800000u, 0x3f000000u, 0x34000000u, 0x4b000000u, // 2^23
        0x4effffffu,                                        // the greatest below 2^31
        0x4f000000u, 0x42b17218u,                           // 88.72: exp's edge
        0x42cff1b5u, 0x40490fdbu,                           // pi
        0x5f000000u,                                        // 2^63
    };
    if ((more & 3u) == 0) {
        return mantissa(word, (int)(more >> 8 & 1u));
    }
    const uint32_t sign = word & 0x80000000u;
    return wf_as_f32(table[more % WF_COUNT_OF(table)] ^ sign);
}

static float draw_f32(wf_check_fill fill, uint32_t word, uint32_t more)
{
    const float unit = wf_uniform_from_word(word);
    switch (fill) {
    case WF_CHECK_POSITIVE: return 0.1f + 3.9f * unit;
    case WF_CHECK_UNIT: return (unit - 0.5f) * 1.8f;
    case WF_CHECK_SPECIAL: return special(word, more);
    case WF_CHECK_WIDE: return mantissa(word, (int)(more % 41u) - 20);
    default: return mantissa(word, (int)(more % 4u) - 3);
    }
}

static int64_t draw_int(weft_dtype dtype, wf_check_fill fill, int64_t limit, uint32_t word,
                        uint32_t more)
{
    static const int64_t extremes[] = {
        0, 1, -1, INT64_MIN, INT64_MAX, INT32_MIN, INT32_MAX, 127, -128, 255, 31, 32, 63, 64, 7, 8,
    };
    if (fill == WF_CHECK_INDEX) {
        return limit > 0 ? (int64_t)(word % (uint64_t)limit) : 0;
    }
    if (dtype == WEFT_BOOL) {
        return word & 1;
    }
    if (fill == WF_CHECK_SPECIAL) {
        const bool is_random = (more & 3u) == 0;
        return is_random ? (int64_t)((uint64_t)word << 32 | more) >> (more >> 4 & 31u)
                         : extremes[word % WF_COUNT_OF(extremes)];
    }
    return dtype == WEFT_U8 ? (int64_t)(word % 19u) : (int64_t)(word % 19u) - 9;
}

static void store(weft_dtype dtype, float x, int64_t i, void *out, size_t at)
{
    switch (dtype) {
    case WEFT_F32: ((float *)out)[at] = x; break;
    case WEFT_F64: ((double *)out)[at] = (double)x; break;
    case WEFT_F16: ((uint16_t *)out)[at] = wf_f32_to_f16(x); break;
    case WEFT_BF16: ((uint16_t *)out)[at] = wf_f32_to_bf16(x); break;
    case WEFT_I8: ((int8_t *)out)[at] = (int8_t)(uint8_t)(uint64_t)i; break;
    case WEFT_I32: ((int32_t *)out)[at] = (int32_t)(uint32_t)(uint64_t)i; break;
    case WEFT_I64: ((int64_t *)out)[at] = i; break;
    default: ((uint8_t *)out)[at] = (uint8_t)(uint64_t)i; break;
    }
}

void wf_check_fill_data(const weft_type *type, wf_check_fill fill, int64_t limit, const char *name,
                        uint32_t idx, void *out)
{
    const uint64_t seed = seed_of(name, idx);
    const int64_t count = wf_type_count(type);
    for (int64_t i = 0; i < count; i++) {
        const wf_philox_block b = wf_random_block(seed, 0, 0, (uint64_t)i * 4);
        const bool is_float = wf_dtype_is_float(type->dtype);
        store(type->dtype, is_float ? draw_f32(fill, b.w0, b.w1) : 0.0f,
              is_float ? 0 : draw_int(type->dtype, fill, limit, b.w0, b.w1), out, (size_t)i);
    }
}
