// Philox4x32-10 and the numbers made from it.
//
// In: seed (64 bit), step, stream, index of the element. Out: element `index` of a random tensor;
// it depends on nothing else, so any device computes any part of it.
//   key = (seed low, seed high); counter = (index / 4 low, index / 4 high, step, stream);
//   word = index mod 4.
//   uniform in [0, 1): (word >> 8) 2^-24.
//   normal: words (0, 1) make elements (0, 1) of the four and words (2, 3) elements (2, 3), by G.
//   Box and M. Muller, Ann. Math. Statist. 29, 1958: radius = sqrt(-2 log(u)),
//   u = ((first word >> 8) + 1) 2^-24 in (0, 1]; angle = second word / 2^32 of a turn; the even
//   element is radius cos(angle), the odd one radius sin(angle). Magnitudes end at 5.77.
// J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC11,
// 2011.
#ifndef WF_MATH_PHILOX_H
#define WF_MATH_PHILOX_H

#include "math/logarithm.h"
#include "math/square_root.h"
#include "math/trigonometric.h"

// Multipliers of a round, and what the key's halves grow by from round to round.
#define WF_PHILOX_M0 0xd2511f53u
#define WF_PHILOX_M1 0xcd9e8d57u
#define WF_PHILOX_W0 0x9e3779b9u
#define WF_PHILOX_W1 0xbb67ae85u

typedef struct {
    wf_u32 w0, w1, w2, w3;
} wf_philox_block;

WF_FN wf_philox_block wf_philox_round(wf_philox_block c, wf_u32 k0, wf_u32 k1)
{
    const wf_u64 a = (wf_u64)WF_PHILOX_M0 * c.w0;
    const wf_u64 b = (wf_u64)WF_PHILOX_M1 * c.w2;
    wf_philox_block out;
    out.w0 = (wf_u32)(b >> 32) ^ c.w1 ^ k0;
    out.w1 = (wf_u32)b;
    out.w2 = (wf_u32)(a >> 32) ^ c.w3 ^ k1;
    out.w3 = (wf_u32)a;
    return out;
}

WF_FN wf_philox_block wf_philox(wf_philox_block c, wf_u32 k0, wf_u32 k1)
{
    // Ten rounds, written out so that a loop over elements can become vector code; the key is
    // bumped between them.
    c = wf_philox_round(c, k0, k1);
    c = wf_philox_round(c, k0 + 1u * WF_PHILOX_W0, k1 + 1u * WF_PHILOX_W1);
    c = wf_philox_round(c, k0 + 2u * WF_PHILOX_W0, k1 + 2u * WF_PHILOX_W1);
    c = wf_philox_round(c, k0 + 3u * WF_PHILOX_W0, k1 + 3u * WF_PHILOX_W1);
    c = wf_philox_round(c, k0 + 4u * WF_PHILOX_W0, k1 + 4u * WF_PHILOX_W1);
    c = wf_philox_round(c, k0 + 5u * WF_PHILOX_W0, k1 + 5u * WF_PHILOX_W1);
    c = wf_philox_round(c, k0 + 6u * WF_PHILOX_W0, k1 + 6u * WF_PHILOX_W1);
    c = wf_philox_round(c, k0 + 7u * WF_PHILOX_W0, k1 + 7u * WF_PHILOX_W1);
    c = wf_philox_round(c, k0 + 8u * WF_PHILOX_W0, k1 + 8u * WF_PHILOX_W1);
    return wf_philox_round(c, k0 + 9u * WF_PHILOX_W0, k1 + 9u * WF_PHILOX_W1);
}

// The four words of elements 4 * (index / 4) .. + 3.
WF_FN wf_philox_block wf_random_block(wf_u64 seed, wf_u32 step, wf_u32 stream, wf_u64 index)
{
    wf_philox_block c;
    c.w0 = (wf_u32)(index >> 2);
    c.w1 = (wf_u32)(index >> 34);
    c.w2 = step;
    c.w3 = stream;
    return wf_philox(c, (wf_u32)seed, (wf_u32)(seed >> 32));
}

// The word of element `index`.
WF_FN wf_u32 wf_random_word(wf_u64 seed, wf_u32 step, wf_u32 stream, wf_u64 index)
{
    const wf_philox_block b = wf_random_block(seed, step, stream, index);
    const wf_u32 low = (index & 1u) != 0u ? b.w1 : b.w0;
    const wf_u32 high = (index & 1u) != 0u ? b.w3 : b.w2;
    return (index & 2u) != 0u ? high : low;
}

WF_FN wf_f32 wf_uniform_from_word(wf_u32 word)
{
    return (wf_f32)(wf_i32)(word >> 8) * 0x1p-24f;
}

WF_FN wf_f32 wf_random_uniform(wf_u64 seed, wf_u32 step, wf_u32 stream, wf_u64 index)
{
    return wf_uniform_from_word(wf_random_word(seed, step, stream, index));
}

// Two normal numbers from two words: hi is the even element, lo the odd one.
WF_FN wf_pair wf_normal_from_words(wf_u32 first, wf_u32 second)
{
    wf_pair out;
    const wf_f32 u = (wf_f32)(wf_i32)((first >> 8) + 1u) * 0x1p-24f;
    const wf_f32 radius = WF_SQRT(-2.0f * wf_log(u));
    const wf_angle angle = wf_angle_turn(second);
    out.hi = radius * wf_angle_sin(angle, 1u);
    out.lo = radius * wf_angle_sin(angle, 0u);
    return out;
}

WF_FN wf_f32 wf_random_normal(wf_u64 seed, wf_u32 step, wf_u32 stream, wf_u64 index)
{
    const wf_philox_block b = wf_random_block(seed, step, stream, index);
    const wf_i32 high = (index & 2u) != 0u;
    const wf_u32 first = high ? b.w2 : b.w0;
    const wf_u32 second = high ? b.w3 : b.w1;
    const wf_f32 u = (wf_f32)(wf_i32)((first >> 8) + 1u) * 0x1p-24f;
    // One of the pair: the cosine is the sine a quarter turn on.
    const wf_f32 radius = WF_SQRT(-2.0f * wf_log(u));
    return radius * wf_angle_sin(wf_angle_turn(second), (wf_u32)(~index & 1u));
}

#endif
