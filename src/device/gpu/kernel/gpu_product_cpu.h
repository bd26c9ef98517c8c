// The chains of a product on a processor: one work-item makes a tile; a and b are packed a few terms at a
// time, and 8 x 32 accumulators stay in vector registers. Part of gpu_product.h. OpenCL only: vectors of
// 16, which the compiler cuts to what the processor has.
#ifndef WF_GPU_PRODUCT_CPU_H
#define WF_GPU_PRODUCT_CPU_H

#define WF_MICRO_M 8
#define WF_MICRO_N 32

// acc[8,32] of a tile += at[k,8] * bt[k,32] over n_terms, ascending.
WF_FN void wf_product_micro(const wf_f32 *at, const wf_f32 *bt, wf_f32 *acc, wf_i32 n_terms)
{
#define WF_MICRO_ROWS(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#define WF_MICRO_LOAD(i)                                                                           \
    float16 c##i##_0 = vload16(0, acc + i * WF_TILE_N), c##i##_1 = vload16(1, acc + i * WF_TILE_N);
#define WF_MICRO_FMA(i)                                                                            \
    {                                                                                              \
        const float16 x = (float16)(at[k * WF_TILE_M + i]);                                        \
        c##i##_0 = WF_FMA(x, b0, c##i##_0);                                                        \
        c##i##_1 = WF_FMA(x, b1, c##i##_1);                                                        \
    }
#define WF_MICRO_SAVE(i)                                                                           \
    vstore16(c##i##_0, 0, acc + i * WF_TILE_N), vstore16(c##i##_1, 1, acc + i * WF_TILE_N);
    WF_MICRO_ROWS(WF_MICRO_LOAD)
    for (wf_i32 k = 0; k < n_terms; k++) {
        const float16 b0 = vload16(0, bt + k * WF_TILE_N), b1 = vload16(1, bt + k * WF_TILE_N);
        WF_MICRO_ROWS(WF_MICRO_FMA)
    }
    WF_MICRO_ROWS(WF_MICRO_SAVE)
}

WF_KERNEL WF_KERNEL_SIZE(1, 1, 1) void wf_product_chains(WF_PRODUCT_ARGS)
{
    if (p.is_gated && *status != WF_STATUS_GOOD)
        return;
    const wf_tile tile = wf_product_tile(&p, WF_GROUP_ID(0));
    const wf_bases base = wf_product_bases(&p, tile.batch);
    const wf_i32 n_rows = (wf_i32)(p.m - tile.row0 < WF_TILE_M ? p.m - tile.row0 : WF_TILE_M);
    const wf_i32 n_columns =
        (wf_i32)(p.n - tile.column0 < WF_TILE_N ? p.n - tile.column0 : WF_TILE_N);
    const wf_i32 rows = (n_rows + WF_MICRO_M - 1) / WF_MICRO_M * WF_MICRO_M;
    const wf_i32 columns = (n_columns + WF_MICRO_N - 1) / WF_MICRO_N * WF_MICRO_N;
    wf_f32 at[WF_TILE_K * WF_TILE_M], bt[WF_TILE_K * WF_TILE_N], acc[WF_TILE_M * WF_TILE_N];
    wf_column column[WF_TILE_N];
    for (wf_i32 i = 0; i < rows * WF_TILE_N; i++)
        acc[i] = 0.0f;
    // Beyond the edge the last column is read again: its results are not stored.
    for (wf_i32 j = 0; j < columns; j++) {
        column[j] = wf_product_column(&p, tile.column0 + (j < n_columns ? j : n_columns - 1));
    }
    const wf_idx begin = tile.block * p.block_len;
    const wf_idx end = p.k - begin < p.block_len ? p.k : begin + p.block_len;
    for (wf_idx k0 = begin; k0 < end; k0 += WF_TILE_K) {
        const wf_i32 n_terms = (wf_i32)(end - k0 < WF_TILE_K ? end - k0 : WF_TILE_K);
        for (wf_i32 k = 0; k < n_terms; k++) {
            const wf_term term = wf_product_term(&p, k0 + k);
            WF_GLOBAL const wf_f32 *from = a + base.a + tile.row0 * p.a_m + term.a;
            for (wf_i32 i = 0; i < rows; i++) {
                at[k * WF_TILE_M + i] = from[(i < n_rows ? i : n_rows - 1) * p.a_m];
            }
            for (wf_i32 j = 0; j < columns; j++) {
                bt[k * WF_TILE_N + j] = wf_product_b(&p, b + base.b, term, column[j]);
            }
        }
        for (wf_i32 i = 0; i < rows; i += WF_MICRO_M) {
            for (wf_i32 j = 0; j < columns; j += WF_MICRO_N) {
                wf_product_micro(at + i, bt + j, acc + i * WF_TILE_N + j, n_terms);
            }
        }
    }
    for (wf_i32 i = 0; i < n_rows; i++) {
        for (wf_i32 j = 0; j < n_columns; j++) {
            wf_product_store(&p, c, work, tile, base.c, tile.row0 + i, tile.column0 + j,
                             acc[i * WF_TILE_N + j]);
        }
    }
}

#endif
