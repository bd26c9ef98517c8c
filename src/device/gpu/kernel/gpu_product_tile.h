// The chains of a product on a GPU: a group of work-items loads a and b, a few terms at a time, into local
// memory; each work-item keeps a small tile of chains in registers. Part of gpu_product.h.
#ifndef WF_GPU_PRODUCT_TILE_H
#define WF_GPU_PRODUCT_TILE_H

#define WF_ITEMS (WF_GROUP_M * WF_GROUP_N)
#define WF_ITEM_M (WF_TILE_M / WF_GROUP_M)
#define WF_ITEM_N (WF_TILE_N / WF_GROUP_N)
#define WF_LINE_M (WF_TILE_M + 1) // off by one: columns of a do not all fall into one bank
#define WF_LINE_N (WF_TILE_N + 1)

WF_KERNEL WF_KERNEL_SIZE(WF_ITEMS, 1, 1) void wf_product_chains(WF_PRODUCT_ARGS)
{
    WF_LOCAL wf_f32 at[WF_TILE_K * WF_LINE_M];
    WF_LOCAL wf_f32 bt[WF_TILE_K * WF_LINE_N];
    // A term's parts in arrays of their own: neighbours write neighbours.
    WF_LOCAL wf_idx term_a[WF_TILE_K], term_b[WF_TILE_K];
    WF_LOCAL wf_idx term_x[WF_TILE_K], term_y[WF_TILE_K], term_z[WF_TILE_K];
    if (p.is_gated && *status != WF_STATUS_GOOD)
        return;
    const wf_tile tile = wf_product_tile(&p, WF_GROUP_ID(0));
    const wf_bases base = wf_product_bases(&p, tile.batch);
    const wf_i32 item = WF_LOCAL_ID(0);
    const wf_i32 item_m = item / WF_GROUP_N, item_n = item % WF_GROUP_N;
    const wf_idx n_rows = p.m - tile.row0, n_columns = p.n - tile.column0;
    // Neighbours read neighbouring columns, and each work-item always the same one. (WF_ITEMS is a multiple
    // of WF_TILE_N, or the other way round.)
    const wf_i32 own = item % WF_TILE_N;
    wf_column column =
        wf_product_column(&p, tile.column0 + (own < n_columns ? own : n_columns - 1));
    wf_f32 acc[WF_ITEM_M][WF_ITEM_N];
    WF_UNROLL for (wf_i32 i = 0; i < WF_ITEM_M; i++)
    {
        WF_UNROLL for (wf_i32 j = 0; j < WF_ITEM_N; j++) acc[i][j] = 0.0f;
    }
    const wf_idx begin = tile.block * p.block_len;
    const wf_idx end = p.k - begin < p.block_len ? p.k : begin + p.block_len;
    for (wf_idx k0 = begin; k0 < end; k0 += WF_TILE_K) {
        const wf_i32 n_terms = (wf_i32)(end - k0 < WF_TILE_K ? end - k0 : WF_TILE_K);
        for (wf_i32 k = item; k < WF_TILE_K; k += WF_ITEMS) {
            const wf_term term = wf_product_term(&p, k0 + (k < n_terms ? k : 0));
            term_a[k] = term.a;
            term_b[k] = term.b;
            term_x[k] = term.x;
            term_y[k] = term.y;
            term_z[k] = term.z;
        }
        WF_BARRIER();
        for (wf_i32 e = item; e < WF_TILE_M * WF_TILE_K; e += WF_ITEMS) {
#ifdef WF_A_K_FAST
            const wf_i32 k = e % WF_TILE_K, i = e / WF_TILE_K;
#else
            const wf_i32 i = e % WF_TILE_M, k = e / WF_TILE_M;
#endif
            wf_f32 value = 0.0f;
            if (i < n_rows && k < n_terms)
                value = a[base.a + (tile.row0 + i) * p.a_m + term_a[k]];
            at[k * WF_LINE_M + i] = value;
        }
        for (wf_i32 e = item; e < WF_TILE_N * WF_TILE_K; e += WF_ITEMS) {
#ifdef WF_B_K_FAST
            const wf_i32 k = e % WF_TILE_K, j = e / WF_TILE_K;
            column = wf_product_column(&p, tile.column0 + (j < n_columns ? j : n_columns - 1));
#else
            const wf_i32 j = e % WF_TILE_N, k = e / WF_TILE_N;
            if (WF_ITEMS % WF_TILE_N != 0) {
                column = wf_product_column(&p, tile.column0 + (j < n_columns ? j : n_columns - 1));
            }
#endif
            wf_term term;
            term.a = term_a[k];
            term.b = term_b[k];
            term.x = term_x[k];
            term.y = term_y[k];
            term.z = term_z[k];
            wf_f32 value = 0.0f;
            if (j < n_columns && k < n_terms)
                value = wf_product_b(&p, b + base.b, term, column);
            bt[k * WF_LINE_N + j] = value;
        }
        WF_BARRIER();
        for (wf_i32 k = 0; k < n_terms; k++) {
            wf_f32 x[WF_ITEM_M], y[WF_ITEM_N];
            WF_UNROLL for (wf_i32 i = 0; i < WF_ITEM_M; i++) x[i] =
                at[k * WF_LINE_M + item_m + i * WF_GROUP_M];
            WF_UNROLL for (wf_i32 j = 0; j < WF_ITEM_N; j++) y[j] =
                bt[k * WF_LINE_N + item_n + j * WF_GROUP_N];
            WF_UNROLL for (wf_i32 i = 0; i < WF_ITEM_M; i++)
            {
                WF_UNROLL for (wf_i32 j = 0; j < WF_ITEM_N; j++) acc[i][j] =
                    WF_FMA(x[i], y[j], acc[i][j]);
            }
        }
        WF_BARRIER();
    }
    for (wf_i32 i = 0; i < WF_ITEM_M; i++) {
        for (wf_i32 j = 0; j < WF_ITEM_N; j++) {
            const wf_i32 row = item_m + i * WF_GROUP_M, column_at = item_n + j * WF_GROUP_N;
            if (row >= n_rows || column_at >= n_columns)
                continue;
            wf_product_store(&p, c, work, tile, base.c, tile.row0 + row, tile.column0 + column_at,
                             acc[i][j]);
        }
    }
}

#endif
