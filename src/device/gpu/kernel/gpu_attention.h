// attention and its gradient. src/op/attention.c and attention_grad.c are the definitions.
// Stage: PROGRAM (device code, in the common dialect).
//
// In: WF_PART 0 the output, 1 dq, 2 dk and dv; WF_COLUMNS how many outputs of a row a work-item holds (64
// apart).
// A work-group of 64 has 8 rows: queries, or keys for dk and dv. The other side comes in blocks of 64, one for
// each work-item while scores are computed; then a work-item is a column of d. Every sum is one work-item's
// chain, ascending; the row sums' lanes fold in the definition's shape.
#ifndef WF_GPU_ATTENTION_H
#define WF_GPU_ATTENTION_H

#include "gpu_dialect.h"

#define WF_ROWS 8
#define WF_BLOCK 64
#define WF_DEPTH 16 // of d at a time, in local memory

// A processor's compiler makes vectors of the work-items: rows that are unrolled as well cost it seconds.
#ifdef WF_CPU_LANES
#define WF_EACH_ROW for (wf_i32 r = 0; r < WF_ROWS; r++)
#else
#define WF_EACH_ROW WF_UNROLL for (wf_i32 r = 0; r < WF_ROWS; r++)
#endif

// The order of gpu_lower_attention.c.
typedef struct {
    wf_i64 b, h, hk, tq, tk, d, is_causal, scale; // scale: its bits
    wf_i64 mask_strides[4];
    wf_i64 q_offset, k_offset, v_offset, mask_offset, y_offset, z_offset; // elements
    wf_i64 lse_offset, delta_offset, dout_offset;
    wf_i64 mask_kind, is_gated; // mask_kind: 0 none, 1 bool, 2 added
} wf_attention;

// Does query i see key j? The mask is at [mask_at + ..] of `shows` (bool) or `adds` (f32, into *added).
WF_FN wf_i32 wf_attention_sees(const wf_attention *p, WF_GLOBAL const wf_u8 *shows,
                               WF_GLOBAL const wf_f32 *adds, wf_i64 mask_at, wf_i64 i, wf_i64 j,
                               wf_f32 *added)
{
    const wf_i32 is_inside = i < p->tq && j < p->tk && (!p->is_causal || j <= i + p->tk - p->tq);
    const wf_i64 at = mask_at + i * p->mask_strides[2] + j * p->mask_strides[3];
    *added = 0.0f;
    if (!is_inside || p->mask_kind == 0)
        return is_inside;
    if (p->mask_kind == 1)
        return shows[at] != 0;
    *added = adds[at];
    return !(*added == -WF_INF);
}

// The score of a pair from its chain.
WF_FN wf_f32 wf_attention_score(const wf_attention *p, wf_f32 sum, wf_f32 added)
{
    const wf_f32 scale = wf_as_f32((wf_u32)p->scale);
    return p->mask_kind == 2 ? WF_FMA(sum, scale, added) : sum * scale;
}

// sums[r] = chain over d of a[a_row + r] * b[b_row + my place]; rows beyond the last are read as the last.
#define WF_ATTENTION_CHAINS(sums, a, a_at, a_row, a_rows, b, b_at, b_row, b_rows)                  \
    WF_EACH_ROW sums[r] = 0.0f;                                                                    \
    for (wf_i64 c0 = 0; c0 < p.d; c0 += WF_DEPTH) {                                                \
        const wf_i32 depth = (wf_i32)(p.d - c0 < WF_DEPTH ? p.d - c0 : WF_DEPTH);                  \
        WF_BARRIER();                                                                              \
        for (wf_i32 i = x; i < WF_BLOCK * WF_DEPTH; i += WF_BLOCK) {                               \
            const wf_i64 from = (b_row) + i / WF_DEPTH;                                            \
            const wf_i64 at = (b_at) + (from < (b_rows) ? from : (b_rows)-1) * p.d + c0;           \
            if (i % WF_DEPTH < depth)                                                              \
                b_tile[i / WF_DEPTH][i % WF_DEPTH] = b[at + i % WF_DEPTH];                         \
        }                                                                                          \
        for (wf_i32 i = x; i < WF_ROWS * WF_DEPTH; i += WF_BLOCK) {                                \
            const wf_i64 from = (a_row) + i / WF_DEPTH;                                            \
            const wf_i64 at = (a_at) + (from < (a_rows) ? from : (a_rows)-1) * p.d + c0;           \
            if (i % WF_DEPTH < depth)                                                              \
                a_tile[i / WF_DEPTH][i % WF_DEPTH] = a[at + i % WF_DEPTH];                         \
        }                                                                                          \
        WF_BARRIER();                                                                              \
        for (wf_i32 c = 0; c < depth; c++) {                                                       \
            const wf_f32 own = b_tile[x][c];                                                       \
            WF_EACH_ROW sums[r] = WF_FMA(a_tile[r][c], own, sums[r]);                              \
        }                                                                                          \
    }

// acc[r][n] takes weights[r][t] * rows[first + t][column n], t < n_terms; a hidden pair has p_tile < 0.
#define WF_ATTENTION_ADD(acc, weights, rows, rows_at, first, n_terms)                              \
    for (wf_i32 t = 0; t < (n_terms); t++) {                                                       \
        WF_UNROLL for (wf_i32 n = 0; n < WF_COLUMNS; n++)                                          \
        {                                                                                          \
            const wf_i64 column = x + WF_BLOCK * n;                                                \
            const wf_f32 own =                                                                     \
                column < p.d ? rows[(rows_at) + ((first) + t) * p.d + column] : 0.0f;              \
            WF_EACH_ROW acc[r][n] =                                                                \
                p_tile[r][t] < 0.0f ? acc[r][n] : WF_FMA(weights[r][t], own, acc[r][n]);           \
        }                                                                                          \
    }

#define WF_EACH_OUTPUT(body)                                                                       \
    WF_EACH_ROW                                                                                    \
    {                                                                                              \
        WF_UNROLL for (wf_i32 n = 0; n < WF_COLUMNS; n++)                                          \
        {                                                                                          \
            body                                                                                   \
        }                                                                                          \
    }

#if WF_PART == 0

WF_KERNEL WF_KERNEL_SIZE(64, 1, 1) void wf_attention_forward(
    WF_GLOBAL const wf_f32 *q, WF_GLOBAL const wf_f32 *k, WF_GLOBAL const wf_f32 *v,
    WF_GLOBAL const wf_u8 *shows, WF_GLOBAL const wf_f32 *adds, WF_GLOBAL wf_f32 *o,
    WF_GLOBAL wf_f32 *lse, WF_GLOBAL wf_u32 *status, const wf_attention p)
{
    WF_LOCAL wf_f32 a_tile[WF_ROWS][WF_DEPTH + 1], b_tile[WF_BLOCK][WF_DEPTH + 1];
    WF_LOCAL wf_f32 p_tile[WF_ROWS][WF_BLOCK + 1], fold[WF_ROWS][8 + 1];
    WF_LOCAL wf_u32 seen_tile[WF_BLOCK];
    WF_LOCAL wf_f32 m_row[WF_ROWS], l_row[WF_ROWS], next_row[WF_ROWS], alpha_row[WF_ROWS];
    if (p.is_gated && *status != WF_STATUS_GOOD)
        return;
    const wf_i32 x = WF_LOCAL_ID(0);
    const wf_i64 n_row_blocks = (p.tq + WF_ROWS - 1) / WF_ROWS;
    const wf_i64 head = WF_GROUP_ID(0) / n_row_blocks;
    const wf_i64 q0 = WF_GROUP_ID(0) % n_row_blocks * WF_ROWS;
    const wf_i64 b = head / p.h, h = head % p.h;
    const wf_i64 q_at = p.q_offset + head * p.tq * p.d;
    const wf_i64 kv = (b * p.hk + h / (p.h / p.hk)) * p.tk * p.d;
    const wf_i64 mask_at = p.mask_offset + b * p.mask_strides[0] + h * p.mask_strides[1];
    wf_f32 acc[WF_ROWS][WF_COLUMNS], s[WF_ROWS];
    WF_EACH_OUTPUT(acc[r][n] = 0.0f;)
    if (x < WF_ROWS) {
        m_row[x] = -WF_INF;
        l_row[x] = 0.0f;
    }
    const wf_i64 last = (q0 + WF_ROWS < p.tq ? q0 + WF_ROWS : p.tq) - 1;
    const wf_i64 limit = last + p.tk - p.tq + 1;
    const wf_i64 end = p.is_causal && limit < p.tk ? limit : p.tk;
    for (wf_i64 k0 = 0; k0 < end; k0 += WF_BLOCK) {
        WF_ATTENTION_CHAINS(s, q, q_at, q0, p.tq, k, p.k_offset + kv, k0, p.tk)
        wf_u32 seen = 0;
        WF_EACH_ROW
        {
            wf_f32 added;
            const wf_i32 sees = wf_attention_sees(&p, shows, adds, mask_at, q0 + r, k0 + x, &added);
            s[r] = sees ? wf_attention_score(&p, s[r], added) : -WF_INF;
            p_tile[r][x] = s[r];
            seen |= (wf_u32)(sees ? 1 : 0) << r;
        }
        seen_tile[x] = seen;
        WF_BARRIER();
        // Eight work-items for each row.
        const wf_i32 y = x % 8, own = x / 8;
        wf_f32 high = -WF_INF;
        for (wf_i32 j = y; j < WF_BLOCK; j += 8)
            high = wf_max(high, p_tile[own][j]);
        fold[own][y] = high;
        WF_BARRIER();
        if (x < WF_ROWS) {
            wf_u32 any = 0;
            wf_f32 next = m_row[x];
            for (wf_i32 j = 0; j < 8; j++)
                next = wf_max(next, fold[x][j]);
            for (wf_i32 j = 0; j < WF_BLOCK; j++)
                any |= seen_tile[j];
            const wf_i32 is_any = (any >> x & 1u) != 0u;
            next_row[x] = next;
            alpha_row[x] = is_any ? wf_exp(m_row[x] - next) : 1.0f;
        }
        WF_BARRIER();
        WF_EACH_ROW
        {
            const wf_f32 e = wf_flush(wf_exp(s[r] - next_row[r]));
            p_tile[r][x] = (seen >> r & 1u) != 0u ? e : -1.0f;
        }
        WF_BARRIER();
        // Lanes y, y + 8, y + 16, y + 24 of 32; hidden keys leave theirs alone.
        wf_f32 lane[4];
        WF_UNROLL for (wf_i32 u = 0; u < 4; u++)
        {
            const wf_f32 low = p_tile[own][y + 8 * u], up = p_tile[own][y + 8 * u + 32];
            lane[u] = (low < 0.0f ? 0.0f : low) + (up < 0.0f ? 0.0f : up);
        }
        fold[own][y] = (lane[0] + lane[2]) + (lane[1] + lane[3]);
        WF_BARRIER();
        if (x < WF_ROWS) {
            const wf_f32 low = (fold[x][0] + fold[x][4]) + (fold[x][2] + fold[x][6]);
            const wf_f32 up = (fold[x][1] + fold[x][5]) + (fold[x][3] + fold[x][7]);
            l_row[x] =
                WF_FMA(l_row[x], alpha_row[x], low + up); // a row that sees nothing: l * 1 + 0
            m_row[x] = next_row[x];
        }
        WF_EACH_OUTPUT(acc[r][n] = acc[r][n] * alpha_row[r];)
        const wf_i32 n_keys = (wf_i32)(p.tk - k0 < WF_BLOCK ? p.tk - k0 : WF_BLOCK);
        WF_ATTENTION_ADD(acc, p_tile, v, p.v_offset + kv, k0, n_keys)
        WF_BARRIER();
    }
    WF_BARRIER();
    WF_EACH_OUTPUT(if (q0 + r < p.tq && x + WF_BLOCK * n < p.d) {
        const wf_f32 l = l_row[r];
        o[p.y_offset + (head * p.tq + q0 + r) * p.d + x + WF_BLOCK * n] =
            l == 0.0f ? 0.0f : WF_DIV(acc[r][n], l) + 0.0f;
    })
    if (x < WF_ROWS && q0 + x < p.tq)
        lse[p.z_offset + head * p.tq + q0 + x] = m_row[x] + wf_log(l_row[x]);
}

#else

// p and dS of the rows' pairs with the work-item's own; p_tile is -1 where hidden.
#define WF_ATTENTION_SLOPES(query, key, lse_of, delta_of)                                          \
    WF_BARRIER();                                                                                  \
    WF_EACH_ROW                                                                                    \
    {                                                                                              \
        wf_f32 added;                                                                              \
        const wf_i32 sees = wf_attention_sees(&p, shows, adds, mask_at, query, key, &added);       \
        const wf_f32 e = wf_flush(wf_exp(wf_attention_score(&p, s[r], added) - (lse_of)));         \
        p_tile[r][x] = sees ? e : -1.0f;                                                           \
        ds_tile[r][x] = (e * (dp[r] - (delta_of))) * scale;                                        \
    }                                                                                              \
    WF_BARRIER();

#define WF_ATTENTION_GRAD_ARGS                                                                     \
    WF_GLOBAL const wf_f32 *q, WF_GLOBAL const wf_f32 *k, WF_GLOBAL const wf_f32 *v,               \
        WF_GLOBAL const wf_u8 *shows, WF_GLOBAL const wf_f32 *adds, WF_GLOBAL const wf_f32 *lse,   \
        WF_GLOBAL const wf_f32 *delta, WF_GLOBAL const wf_f32 *dout

#if WF_PART == 1

WF_KERNEL WF_KERNEL_SIZE(64, 1,
                         1) void wf_attention_dq(WF_ATTENTION_GRAD_ARGS, WF_GLOBAL wf_f32 *dq,
                                                 WF_GLOBAL wf_u32 *status, const wf_attention p)
{
    WF_LOCAL wf_f32 a_tile[WF_ROWS][WF_DEPTH + 1], b_tile[WF_BLOCK][WF_DEPTH + 1];
    WF_LOCAL wf_f32 p_tile[WF_ROWS][WF_BLOCK + 1], ds_tile[WF_ROWS][WF_BLOCK + 1];
    if (p.is_gated && *status != WF_STATUS_GOOD)
        return;
    const wf_i32 x = WF_LOCAL_ID(0);
    const wf_i64 n_row_blocks = (p.tq + WF_ROWS - 1) / WF_ROWS;
    const wf_i64 head = WF_GROUP_ID(0) / n_row_blocks;
    const wf_i64 q0 = WF_GROUP_ID(0) % n_row_blocks * WF_ROWS;
    const wf_i64 b = head / p.h, h = head % p.h, row = head * p.tq;
    const wf_i64 kv = (b * p.hk + h / (p.h / p.hk)) * p.tk * p.d;
    const wf_i64 mask_at = p.mask_offset + b * p.mask_strides[0] + h * p.mask_strides[1];
    const wf_f32 scale = wf_as_f32((wf_u32)p.scale);
    wf_f32 total[WF_ROWS][WF_COLUMNS], s[WF_ROWS], dp[WF_ROWS], lse_row[WF_ROWS];
    wf_f32 delta_row[WF_ROWS];
    WF_EACH_OUTPUT(total[r][n] = 0.0f;)
    WF_EACH_ROW
    {
        const wf_i64 i = q0 + r < p.tq ? q0 + r : p.tq - 1;
        lse_row[r] = lse[p.lse_offset + row + i];
        delta_row[r] = delta[p.delta_offset + row + i];
    }
    const wf_i64 last = (q0 + WF_ROWS < p.tq ? q0 + WF_ROWS : p.tq) - 1;
    const wf_i64 limit = last + p.tk - p.tq + 1;
    const wf_i64 end = p.is_causal && limit < p.tk ? limit : p.tk;
    for (wf_i64 k0 = 0; k0 < end; k0 += WF_BLOCK) {
        WF_ATTENTION_CHAINS(s, q, p.q_offset + row * p.d, q0, p.tq, k, p.k_offset + kv, k0, p.tk)
        WF_ATTENTION_CHAINS(dp, dout, p.dout_offset + row * p.d, q0, p.tq, v, p.v_offset + kv, k0,
                            p.tk)
        WF_ATTENTION_SLOPES(q0 + r, k0 + x, lse_row[r], delta_row[r])
        const wf_i32 n_keys = (wf_i32)(p.tk - k0 < WF_BLOCK ? p.tk - k0 : WF_BLOCK);
        wf_f32 acc[WF_ROWS][WF_COLUMNS];
        WF_EACH_OUTPUT(acc[r][n] = 0.0f;)
        WF_ATTENTION_ADD(acc, ds_tile, k, p.k_offset + kv, k0, n_keys)
        WF_EACH_OUTPUT(total[r][n] = total[r][n] + acc[r][n];)
    }
    WF_EACH_OUTPUT(if (q0 + r < p.tq && x + WF_BLOCK * n < p.d) {
        dq[p.y_offset + (row + q0 + r) * p.d + x + WF_BLOCK * n] = total[r][n];
    })
}

#else

WF_KERNEL WF_KERNEL_SIZE(64, 1, 1) void wf_attention_dkv(WF_ATTENTION_GRAD_ARGS,
                                                         WF_GLOBAL wf_f32 *dk, WF_GLOBAL wf_f32 *dv,
                                                         WF_GLOBAL wf_u32 *status,
                                                         const wf_attention p)
{
    WF_LOCAL wf_f32 a_tile[WF_ROWS][WF_DEPTH + 1], b_tile[WF_BLOCK][WF_DEPTH + 1];
    WF_LOCAL wf_f32 p_tile[WF_ROWS][WF_BLOCK + 1], ds_tile[WF_ROWS][WF_BLOCK + 1];
    if (p.is_gated && *status != WF_STATUS_GOOD)
        return;
    const wf_i32 x = WF_LOCAL_ID(0);
    const wf_i64 n_row_blocks = (p.tk + WF_ROWS - 1) / WF_ROWS;
    const wf_i64 kv_head = WF_GROUP_ID(0) / n_row_blocks;
    const wf_i64 k0 = WF_GROUP_ID(0) % n_row_blocks * WF_ROWS;
    const wf_i64 b = kv_head / p.hk, share = p.h / p.hk, kv = kv_head * p.tk * p.d;
    const wf_f32 scale = wf_as_f32((wf_u32)p.scale);
    wf_f32 k_total[WF_ROWS][WF_COLUMNS], v_total[WF_ROWS][WF_COLUMNS], s[WF_ROWS], dp[WF_ROWS];
    WF_EACH_OUTPUT(k_total[r][n] = 0.0f; v_total[r][n] = 0.0f;)
    for (wf_i64 i = 0; i < share; i++) {
        const wf_i64 h = kv_head % p.hk * share + i, row = (b * p.h + h) * p.tq;
        const wf_i64 mask_at = p.mask_offset + b * p.mask_strides[0] + h * p.mask_strides[1];
        for (wf_i64 q0 = 0; q0 < p.tq; q0 += WF_BLOCK) {
            if (p.is_causal && k0 > q0 + WF_BLOCK - 1 + p.tk - p.tq)
                continue; // every pair is hidden
            const wf_i64 own = row + (q0 + x < p.tq ? q0 + x : p.tq - 1);
            const wf_f32 own_lse = lse[p.lse_offset + own];
            const wf_f32 own_delta = delta[p.delta_offset + own];
            WF_ATTENTION_CHAINS(s, k, p.k_offset + kv, k0, p.tk, q, p.q_offset + row * p.d, q0,
                                p.tq)
            WF_ATTENTION_CHAINS(dp, v, p.v_offset + kv, k0, p.tk, dout, p.dout_offset + row * p.d,
                                q0, p.tq)
            WF_ATTENTION_SLOPES(q0 + x, k0 + r, own_lse, own_delta)
            const wf_i32 n_queries = (wf_i32)(p.tq - q0 < WF_BLOCK ? p.tq - q0 : WF_BLOCK);
            wf_f32 acc[WF_ROWS][WF_COLUMNS];
            WF_EACH_OUTPUT(acc[r][n] = 0.0f;)
            WF_ATTENTION_ADD(acc, ds_tile, q, p.q_offset + row * p.d, q0, n_queries)
            WF_EACH_OUTPUT(k_total[r][n] = k_total[r][n] + acc[r][n]; acc[r][n] = 0.0f;)
            WF_ATTENTION_ADD(acc, p_tile, dout, p.dout_offset + row * p.d, q0, n_queries)
            WF_EACH_OUTPUT(v_total[r][n] = v_total[r][n] + acc[r][n];)
        }
    }
    WF_EACH_OUTPUT(if (k0 + r < p.tk && x + WF_BLOCK * n < p.d) {
        const wf_i64 at = kv + (k0 + r) * p.d + x + WF_BLOCK * n;
        dk[p.y_offset + at] = k_total[r][n];
        dv[p.z_offset + at] = v_total[r][n];
    })
}

#endif
#endif
#endif
