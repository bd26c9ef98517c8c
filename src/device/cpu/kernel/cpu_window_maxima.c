// Maxima over windows and their gradient, of one instruction set, where channels lie side by side: vectors
// of channels, a row of windows or cells at a time. Stage: RUN, inside window tasks.
//
// Channels that fill no vector share it with those of the next cells: whatever such lanes hold is written
// behind the cell and overwritten by the cells that follow, as far as the caller says that it may.
#include "device/cpu/kernel/cpu_kernel.h"
#include "device/cpu/kernel/cpu_part_vec.h"

#include "math/compare.h"

typedef uint8_t vb __attribute__((vector_size(VL)));

// Lanes of bytes. gcc takes most of __builtin_convertvector apart.
#if defined(WF_ISA_AVX512)
VEC_INLINE void store_bytes(uint8_t *p, vi x)
{
    _mm_storeu_si128((__m128i *)(void *)p, _mm512_cvtepi32_epi8((__m512i)x));
}
VEC_INLINE vi load_bytes(const uint8_t *p)
{
    return (vi)_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)p));
}
#elif defined(WF_ISA_AVX2)
VEC_INLINE void store_bytes(uint8_t *p, vi x)
{
    const __m128i low = _mm256_castsi256_si128((__m256i)x);
    const __m128i words = _mm_packus_epi32(low, _mm256_extracti128_si256((__m256i)x, 1));
    _mm_storel_epi64((__m128i *)(void *)p, _mm_packus_epi16(words, words));
}
VEC_INLINE vi load_bytes(const uint8_t *p)
{
    return (vi)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)p));
}
#else
VEC_INLINE void store_bytes(uint8_t *p, vi x)
{
    const vb bytes = __builtin_convertvector(x, vb);
    memcpy(p, &bytes, sizeof bytes);
}
VEC_INLINE vi load_bytes(const uint8_t *p)
{
    vb bytes;
    memcpy(&bytes, p, sizeof bytes);
    return __builtin_convertvector(bytes, vi);
}
#endif

static inline int32_t key_of(float x)
{
    const uint32_t bits = wf_as_u32(wf_canonical(x));
    return (int32_t)(bits ^ ((0u - (bits >> 31)) >> 1));
}

// ---- forward. No key is INT32_MIN, so the first cell always wins.
VEC_INLINE void max_vector(const wf_cpu_window_run *p, const float *x, float *y, uint8_t *where)
{
    vi best = (vi){0} + INT32_MIN, cell = {0};
    for (int64_t i = 0; i < p->n_cells; i++) {
        const vi key = v_to_key(v_load(x + p->offsets[i]));
        const vi is_better = key > best;
        best = (is_better & key) | (~is_better & best);
        cell = (is_better & p->cells[i]) | (~is_better & cell);
    }
    v_store(y, v_from_key(best));
    store_bytes(where, cell);
}

static void max_one(const wf_cpu_window_run *p, const float *x, float *y, uint8_t *where)
{
    int32_t best = INT32_MIN, cell = 0;
    float value = 0.0f;
    for (int64_t i = 0; i < p->n_cells; i++) {
        const float v = x[p->offsets[i]];
        const int is_better = key_of(v) > best;
        best = is_better ? key_of(v) : best;
        value = is_better ? v : value;
        cell = is_better ? p->cells[i] : cell;
    }
    *y = value;
    *where = (uint8_t)cell;
}

static void max_run(const wf_cpu_window_run *p)
{
    for (int64_t q = 0; q < p->n_windows; q++) {
        const float *x = p->x + q * p->x_step;
        const int64_t at = q * p->n_channels;
        int64_t c = 0;
        for (; c < p->n_channels; c += VL) {
            const bool has_room = p->n_channels - c >= VL ||
                                  (at + c + VL <= p->y_room && q * p->x_step + c + VL <= p->x_room);
            if (!has_room)
                break;
            max_vector(p, x + c, p->y + at + c, p->where + at + c);
        }
        for (; c < p->n_channels; c++)
            max_one(p, x + c, p->y + at + c, p->where + at + c);
    }
}

// ---- gradient. Adding to +0, as a sum does that began there: -0 becomes +0.
VEC_INLINE vf won(vi where, vf dy, int32_t r)
{
    return (vf)((where == r) & (vi)dy);
}

static void won_run(const wf_cpu_window_won_run *p)
{
    for (int64_t q = 0; q < p->n_windows; q++) {
        const int64_t at = q * p->n_channels;
        int64_t c = 0;
        for (int64_t i = 0; i < p->n_cells; i++) {
            float *dx = p->dx + (q * p->n_cells + i) * p->n_channels;
            const int64_t to_end = p->dx_room - (dx - p->dx);
            const int32_t r = p->first_cell + (int32_t)i;
            for (c = 0; c < p->n_channels; c += VL) {
                const bool has_room =
                    p->n_channels - c >= VL || (c + VL <= to_end && at + c + VL <= p->dy_room);
                if (!has_room)
                    break;
                const vf dy = v_load(p->dy + at + c);
                v_store(dx + c, won(load_bytes(p->where + at + c), dy, r) + v_zero());
            }
            for (; c < p->n_channels; c++)
                dx[c] = (p->where[at + c] == r ? p->dy[at + c] : 0.0f) + 0.0f;
        }
    }
}

static void won_cell(const wf_cpu_window_won_cell *p)
{
    int64_t c = 0;
    for (; c + VL <= p->n_channels; c += VL) {
        vf sum = v_zero();
        for (int64_t i = 0; i < p->n_terms; i++) {
            const int64_t at = p->offsets[i] + c;
            sum += won(load_bytes(p->where + at), v_load(p->dy + at), p->cells[i]);
        }
        v_store(p->dx + c, sum);
    }
    for (; c < p->n_channels; c++) {
        float sum = 0.0f;
        for (int64_t i = 0; i < p->n_terms; i++) {
            const int64_t at = p->offsets[i] + c;
            sum += p->where[at] == p->cells[i] ? p->dy[at] : 0.0f;
        }
        p->dx[c] = sum;
    }
}

const wf_cpu_window_rows WF_CPU_NAME(wf_cpu_window_rows);
const wf_cpu_window_rows WF_CPU_NAME(wf_cpu_window_rows) = {max_run, won_run, won_cell};
