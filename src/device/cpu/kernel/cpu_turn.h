// Rows become columns: a box of 4-byte elements, in blocks of 4 x 4 that stay in registers.
#ifndef WF_CPU_TURN_H
#define WF_CPU_TURN_H

#include <stdint.h>
#include <string.h>

#include "math/dialect.h"

typedef uint32_t wf_turn_row __attribute__((vector_size(16)));

#if defined(__clang__) || __GNUC__ >= 12
#define WF_TURN_MIX(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#else
#define WF_TURN_MIX(a, b, i, j, k, l) __builtin_shuffle(a, b, (wf_turn_row){i, j, k, l})
#endif

// dst[i * dst_pitch + j] = src[j * src_pitch + i], i, j < 4
WF_FN void wf_turn_block(uint32_t *dst, int64_t dst_pitch, const uint32_t *src, int64_t src_pitch)
{
    wf_turn_row r[4];
    for (int j = 0; j < 4; j++)
        memcpy(&r[j], src + j * src_pitch, sizeof r[j]);
    const wf_turn_row low01 = WF_TURN_MIX(r[0], r[1], 0, 4, 1, 5);
    const wf_turn_row low23 = WF_TURN_MIX(r[2], r[3], 0, 4, 1, 5);
    const wf_turn_row high01 = WF_TURN_MIX(r[0], r[1], 2, 6, 3, 7);
    const wf_turn_row high23 = WF_TURN_MIX(r[2], r[3], 2, 6, 3, 7);
    const wf_turn_row out[4] = {
        WF_TURN_MIX(low01, low23, 0, 1, 4, 5), WF_TURN_MIX(low01, low23, 2, 3, 6, 7),
        WF_TURN_MIX(high01, high23, 0, 1, 4, 5), WF_TURN_MIX(high01, high23, 2, 3, 6, 7)};
    for (int i = 0; i < 4; i++)
        memcpy(dst + i * dst_pitch, &out[i], sizeof out[i]);
}

// dst[i * dst_pitch + j] = src[j * src_pitch + i], i < n_rows, j < n_cols
static inline void wf_turn(uint32_t *dst, int64_t dst_pitch, const uint32_t *src, int64_t src_pitch,
                           int64_t n_rows, int64_t n_cols)
{
    const int64_t whole_rows = n_rows - n_rows % 4, whole_cols = n_cols - n_cols % 4;
    for (int64_t i = 0; i < whole_rows; i += 4) {
        for (int64_t j = 0; j < whole_cols; j += 4)
            wf_turn_block(dst + i * dst_pitch + j, dst_pitch, src + j * src_pitch + i, src_pitch);
    }
    for (int64_t i = 0; i < n_rows; i++) {
        for (int64_t j = i < whole_rows ? whole_cols : 0; j < n_cols; j++)
            dst[i * dst_pitch + j] = src[j * src_pitch + i];
    }
}

#endif
