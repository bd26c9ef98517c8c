// Random numbers of one instruction set: Philox (math/philox.h) with a counter in each lane of 64 bits.
// Stage: RUN, inside the tile interpreter.
//
// A word lies in the low half of its lane. What is in the high half is of no matter to the rounds: the
// widening product of x86 reads low halves only, and halves never mix elsewhere.
#include "device/cpu/kernel/cpu_gemm_vec.h"
#include "device/cpu/kernel/cpu_kernel.h"

#include "math/weft_math.h"

#define LANES (VL / 2)

typedef uint64_t vq __attribute__((vector_size(VL * 4)));
typedef uint32_t vw __attribute__((vector_size(VL * 4)));
typedef uint32_t vh __attribute__((vector_size(VL * 2))); // the words of LANES lanes

#if defined(WF_ISA_AVX512)
VEC_INLINE vq mul_low(vq a, vq b)
{
    return (vq)_mm512_mul_epu32((__m512i)a, (__m512i)b);
}
VEC_INLINE vq to_low(vq a) // by a shuffle: the shifter's port has the products
{
    return (vq)_mm512_shuffle_epi32((__m512i)a, (_MM_PERM_ENUM)0xf5);
}
#elif defined(WF_ISA_AVX2)
VEC_INLINE vq mul_low(vq a, vq b)
{
    return (vq)_mm256_mul_epu32((__m256i)a, (__m256i)b);
}
VEC_INLINE vq to_low(vq a)
{
    return (vq)_mm256_shuffle_epi32((__m256i)a, 0xf5);
}
#else
VEC_INLINE vq mul_low(vq a, vq b)
{
    return (a & 0xffffffffu) * (b & 0xffffffffu);
}
VEC_INLINE vq to_low(vq a)
{
    return a >> 32;
}
#endif

typedef struct words {
    vq w[4];
} words;

// What is the same for all lanes: the key of each round and the half of the counter.
typedef struct key {
    vq k0[10], k1[10];
    vq step, stream;
} key;

VEC_INLINE vq splat(uint64_t x)
{
    return (vq){0} + x;
}

static void make_key(key *k, const wf_cpu_random *r)
{
    const uint64_t seed = (uint64_t)r->seed;
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    for (int i = 0; i < 10; i++, k0 += WF_PHILOX_W0, k1 += WF_PHILOX_W1) {
        k->k0[i] = splat(k0);
        k->k1[i] = splat(k1);
    }
    k->step = splat((uint32_t)r->step);
    k->stream = splat(r->stream);
}

// The four words of each lane's block.
VEC_INLINE words philox(const key *k, vq block)
{
    const vq m0 = splat(WF_PHILOX_M0), m1 = splat(WF_PHILOX_M1);
    words c = {{block, block >> 32, k->step, k->stream}};
    VEC_UNROLL
    for (int i = 0; i < 10; i++) {
        const vq a = mul_low(m0, c.w[0]), b = mul_low(m1, c.w[2]);
        c.w[0] = to_low(b) ^ c.w[1] ^ k->k0[i];
        c.w[1] = b;
        c.w[2] = to_low(a) ^ c.w[3] ^ k->k1[i];
        c.w[3] = a;
    }
    return c;
}

VEC_INLINE vq ascending(uint64_t first, uint64_t stride)
{
    vq lane;
    for (int i = 0; i < LANES; i++)
        lane[i] = (uint64_t)i;
    return splat(first) + lane * splat(stride);
}

VEC_INLINE void store_words(uint32_t *dst, vq w)
{
    const vh narrow = __builtin_convertvector(w, vh);
    memcpy(dst, &narrow, sizeof narrow);
}

// ---- words of consecutive numbers
#define N_BLOCKS 64 // at a time: 1 KiB of words

// word[j][i] = word j of block first + i
static void block_words(uint32_t word[4][N_BLOCKS], const key *k, uint64_t first)
{
    for (uint64_t i = 0; i < N_BLOCKS; i += LANES) {
        const words c = philox(k, ascending(first + i, 1));
        for (int j = 0; j < 4; j++)
            store_words(word[j] + i, c.w[j]);
    }
}

static void to_normal(uint32_t word[4][N_BLOCKS])
{
    for (uint32_t half = 0; half < 4; half += 2) {
        WF_CPU_VECTOR_LOOP
        for (uint32_t i = 0; i < N_BLOCKS; i++) {
            const wf_pair pair = wf_normal_from_words(word[half][i], word[half + 1][i]);
            word[half][i] = wf_as_u32(pair.hi);
            word[half + 1][i] = wf_as_u32(pair.lo);
        }
    }
}

static void to_uniform(uint32_t *dst, size_t n)
{
    WF_CPU_VECTOR_LOOP
    for (size_t i = 0; i < n; i++)
        dst[i] = wf_as_u32(wf_uniform_from_word(dst[i]));
}

// The numbers of N_BLOCKS blocks.
static void consecutive(uint32_t out[4 * N_BLOCKS], const wf_cpu_random *r, const key *k,
                        uint64_t first_block)
{
    uint32_t word[4][N_BLOCKS];
    block_words(word, k, first_block);
    if (r->kind == WF_RANDOM_NORMAL)
        to_normal(word);
    for (uint32_t i = 0; i < N_BLOCKS; i++) {
        for (uint32_t j = 0; j < 4; j++)
            out[4 * i + j] = word[j][i];
    }
    if (r->kind == WF_RANDOM_UNIFORM)
        to_uniform(out, (size_t)4 * N_BLOCKS);
}

static uint32_t random_one(const wf_cpu_random *r, uint64_t idx)
{
    const uint64_t seed = (uint64_t)r->seed;
    const uint32_t step = (uint32_t)r->step;
    if (r->kind == WF_RANDOM_UNIFORM)
        return wf_as_u32(wf_random_uniform(seed, step, r->stream, idx));
    if (r->kind == WF_RANDOM_NORMAL)
        return wf_as_u32(wf_random_normal(seed, step, r->stream, idx));
    return wf_random_word(seed, step, r->stream, idx);
}

// ---- any stride: a block for each number
static void words_apart(uint32_t *dst, const wf_cpu_random *r, uint64_t first, uint64_t stride,
                        size_t n)
{
    key k;
    size_t i = 0;
    make_key(&k, r);
    for (; i + LANES <= n; i += LANES) {
        const vq idx = ascending(first + i * stride, stride);
        const words c = philox(&k, idx >> 2);
        const vq is_odd = 0 - (idx & 1), is_high = 0 - (idx >> 1 & 1);
        const vq low = (is_odd & c.w[1]) | (~is_odd & c.w[0]);
        const vq high = (is_odd & c.w[3]) | (~is_odd & c.w[2]);
        store_words(dst + i, (is_high & high) | (~is_high & low));
    }
    for (; i < n; i++)
        dst[i] =
            wf_random_word((uint64_t)r->seed, (uint32_t)r->step, r->stream, first + i * stride);
    if (r->kind == WF_RANDOM_UNIFORM)
        to_uniform(dst, n);
}

static void numbers(void *dst, const wf_cpu_random *r, int64_t first, int64_t stride, size_t n)
{
    uint32_t *d = dst;
    if (stride != 1 && r->kind != WF_RANDOM_NORMAL) {
        words_apart(d, r, (uint64_t)first, (uint64_t)stride, n);
        return;
    }
    if (stride != 1 || n < 8) {
        for (size_t i = 0; i < n; i++)
            d[i] = random_one(r, (uint64_t)(first + (int64_t)i * stride));
        return;
    }
    key k;
    uint32_t tile[4 * N_BLOCKS];
    make_key(&k, r);
    for (size_t i = 0; i < n;) {
        const uint64_t idx = (uint64_t)first + i;
        const size_t skip = (size_t)(idx % 4);
        size_t len = 4 * N_BLOCKS - skip;
        if (len > n - i)
            len = n - i;
        consecutive(tile, r, &k, idx / 4);
        memcpy(d + i, tile + skip, len * sizeof *d);
        i += len;
    }
}

// ---- four rows whose numbers share blocks
static void four_rows(void *dst, int64_t pitch, const wf_cpu_random *r, int64_t first,
                      int64_t stride, size_t n)
{
    key k;
    uint32_t *d = dst;
    size_t i = 0;
    make_key(&k, r);
    for (; i + LANES <= n; i += LANES) {
        const uint64_t at = (uint64_t)first + i * (uint64_t)stride;
        const words c = philox(&k, ascending(at >> 2, (uint64_t)stride >> 2));
        for (int j = 0; j < 4; j++)
            store_words(d + j * pitch + (int64_t)i, c.w[j]);
    }
    for (; i < n; i++) {
        for (int j = 0; j < 4; j++)
            d[j * pitch + (int64_t)i] =
                wf_random_word((uint64_t)r->seed, (uint32_t)r->step, r->stream,
                               (uint64_t)first + i * (uint64_t)stride + (uint64_t)j);
    }
    for (int j = 0; r->kind == WF_RANDOM_UNIFORM && j < 4; j++)
        to_uniform(d + j * pitch, n);
}

const wf_cpu_randoms WF_CPU_NAME(wf_cpu_randoms);
const wf_cpu_randoms WF_CPU_NAME(wf_cpu_randoms) = {numbers, four_rows};
