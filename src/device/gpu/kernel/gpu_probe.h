// The probe: what a device does with chosen operands, operation by operation, for the host to compare with
// the definition. doc/arithmetic.md, "Which device may claim exact". Stage: device opening.
//
// a, b, c: n operands each, as bits. out: WF_PROBE_RESULTS rows of n results, as bits, in the order of the
// host's table (opencl_probe.c).
#ifndef WF_GPU_PROBE_H
#define WF_GPU_PROBE_H

#include "gpu_dialect.h"

#define WF_PROBE_CHAIN 4096

WF_KERNEL WF_KERNEL_SIZE(64, 1, 1) void wf_probe(WF_GLOBAL const wf_u32 *a_bits,
                                                 WF_GLOBAL const wf_u32 *b_bits,
                                                 WF_GLOBAL const wf_u32 *c_bits,
                                                 WF_GLOBAL wf_u32 *out, const wf_i32 n)
{
    const wf_i32 i = WF_GLOBAL_ID(0);
    if (i >= n)
        return;
    const wf_f32 a = wf_as_f32(a_bits[i]), b = wf_as_f32(b_bits[i]), c = wf_as_f32(c_bits[i]);
    WF_GLOBAL wf_u32 *r = out + i;
    r[0 * n] = wf_as_u32(WF_FMA(a, b, c));
    r[1 * n] = wf_as_u32(a + b);
    r[2 * n] = wf_as_u32(a - b);
    r[3 * n] = wf_as_u32(a * b);
    r[4 * n] = wf_as_u32(WF_DIV(a, b));
    r[5 * n] = wf_as_u32(WF_SQRT(a));
    // Canaries: a compiler that contracts shows here, written in the ways in which it might.
    r[6 * n] = wf_as_u32(a * b + c);
    r[7 * n] = wf_as_u32(c + a * b);
    r[8 * n] = wf_as_u32(c - a * b);
    const wf_f32 product = a * b;
    const wf_f32 shifted = product - c;
    r[9 * n] = wf_as_u32(shifted);
    r[10 * n] = (wf_u32)((a < b) | (a > b) << 1 | (a == b) << 2 | (a != b) << 3 | (a <= b) << 4 |
                         (a >= b) << 5);
    r[11 * n] = wf_as_u32(wf_max(a, b));
    r[12 * n] = wf_as_u32(wf_min(a, b));
    r[13 * n] = (wf_u32)wf_f32_to_i32(a);
    r[14 * n] = wf_as_u32((wf_f32)(wf_i32)a_bits[i]);
    r[15 * n] = (wf_u32)wf_f32_to_f16(a) | (wf_u32)wf_f32_to_bf16(a) << 16;
    r[16 * n] = wf_as_u32(wf_f16_to_f32((wf_u16)a_bits[i]));
    // Literals: decimal ones round once, subnormal ones survive.
    r[17 * n] = wf_as_u32(i % 4 == 0   ? 0.1f
                          : i % 4 == 1 ? 1e-8f
                          : i % 4 == 2 ? 1e-40f
                                       : 3.4028235e38f);
    r[18 * n] = wf_as_u32(wf_exp(a));
    // Two loops over all operands, by a few items only: a chain of fma, and one that must not become it.
    wf_f32 chain = 0.0f;
    wf_f32 loose = 0.0f;
    if (i < 8) {
        for (wf_i32 k = 0; k < WF_PROBE_CHAIN; k++) {
            const wf_i32 j = (k + i * 37) % n;
            const wf_f32 x = wf_as_f32((a_bits[j] & 0x807fffffu) | 0x3f000000u);
            const wf_f32 y = wf_as_f32((b_bits[j] & 0x807fffffu) | 0x3f000000u);
            chain = WF_FMA(x, y, chain);
            loose = loose + x * y;
        }
    }
    r[19 * n] = wf_as_u32(chain);
    r[20 * n] = wf_as_u32(loose);
}

#endif
