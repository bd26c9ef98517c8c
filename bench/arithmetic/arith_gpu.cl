// Experiment: the definitions as GPU kernels in the common dialect (OpenCL C 1.2, CUDA, HIP). One source for all compilers.
//
// A work-group of 256 computes a 64 x 64 tile of a product, 4 x 4 outputs per work-item, 16 terms of both operands at a time in
// local memory. Vectors and work-items run over outputs; each output is one chain, ascending, so no tile size shows in the bits.
#include "math/dialect.h"

#define TILE 64
#define DEPTH 16
#define GROUP 256
#define LANES 32
#define ROW_CHUNK 1024
#define KEYS 64
#define D 64
#define QUERIES 16

#define SUM_TERMS()                                                                                                            \
    WF_UNROLL for (int t = 0; t < DEPTH; t++)                                                                                  \
    {                                                                                                                          \
        float a[4], b[4];                                                                                                      \
        WF_UNROLL for (int i = 0; i < 4; i++) a[i] = a_tile[t][y * 4 + i];                                                     \
        WF_UNROLL for (int j = 0; j < 4; j++) b[j] = b_tile[t][x * 4 + j];                                                     \
        WF_UNROLL for (int i = 0; i < 4; i++)                                                                                  \
        {                                                                                                                      \
            WF_UNROLL for (int j = 0; j < 4; j++) acc[i][j] = WF_FMA(a[i], b[j], acc[i][j]);                                   \
        }                                                                                                                      \
    }

// Terms past k are fma(0, 0, acc): they change nothing but the sign of a zero, which the last + (+0) settles.
#define CLEAR(array)                                                                                                           \
    WF_UNROLL for (int i = 0; i < 4; i++)                                                                                      \
    {                                                                                                                          \
        WF_UNROLL for (int j = 0; j < 4; j++) array[i][j] = 0.0f;                                                              \
    }

#define ADD_BLOCK(is_first)                                                                                                    \
    WF_UNROLL for (int i = 0; i < 4; i++)                                                                                      \
    {                                                                                                                          \
        WF_UNROLL for (int j = 0; j < 4; j++)                                                                                  \
        {                                                                                                                      \
            total[i][j] = (is_first) ? acc[i][j] : total[i][j] + acc[i][j];                                                    \
            acc[i][j] = 0.0f;                                                                                                  \
        }                                                                                                                      \
    }

// ARITH_FREE: one chain for all of k, to see what the blocks cost in registers.
#ifdef ARITH_FREE
#define ENDS_BLOCK(next) ((next) >= k)
#define IS_FIRST_BLOCK(k0) 1
#else
#define ENDS_BLOCK(next) ((next) % block_len == 0 || (next) >= k)
#define IS_FIRST_BLOCK(k0) ((k0) < block_len)
#endif

#define STORE_TILE(out, ld, rows, cols)                                                                                        \
    WF_UNROLL for (int i = 0; i < 4; i++)                                                                                      \
    {                                                                                                                          \
        WF_UNROLL for (int j = 0; j < 4; j++)                                                                                  \
        {                                                                                                                      \
            if (m0 + y * 4 + i < (rows) && n0 + x * 4 + j < (cols)) {                                                          \
                out[(m0 + y * 4 + i) * (ld) + n0 + x * 4 + j] = total[i][j] + 0.0f;                                            \
            }                                                                                                                  \
        }                                                                                                                      \
    }

// c[m,n] = a[m,k] b[k,n]; blocks of block_len terms, at most 32 of them. Block lengths are multiples of DEPTH.
WF_KERNEL WF_KERNEL_SIZE(16, 16, 1) void arith_contract(int m, int n, int k, int block_len, WF_GLOBAL const float *WF_RESTRICT a,
                                                        WF_GLOBAL const float *WF_RESTRICT b, WF_GLOBAL float *WF_RESTRICT c)
{
    WF_LOCAL float a_tile[DEPTH][TILE + 4];
    WF_LOCAL float b_tile[DEPTH][TILE + 4];
    int x = WF_LOCAL_ID(0), y = WF_LOCAL_ID(1), me = y * 16 + x;
    int n0 = WF_GROUP_ID(0) * TILE, m0 = WF_GROUP_ID(1) * TILE;
    float acc[4][4], total[4][4];
    CLEAR(acc)
    CLEAR(total)
    for (int k0 = 0; k0 < k; k0 += DEPTH) {
        WF_UNROLL for (int u = 0; u < 4; u++)
        {
            int at = me + u * GROUP;
            int row = at / DEPTH, t = at % DEPTH;
            a_tile[t][row] = m0 + row < m && k0 + t < k ? a[(m0 + row) * k + k0 + t] : 0.0f;
            int col = at % TILE, term = at / TILE;
            b_tile[term][col] = n0 + col < n && k0 + term < k ? b[(k0 + term) * n + n0 + col] : 0.0f;
        }
        WF_BARRIER();
        SUM_TERMS()
        WF_BARRIER();
        if (ENDS_BLOCK(k0 + DEPTH)) {
            ADD_BLOCK(IS_FIRST_BLOCK(k0))
        }
    }
    STORE_TILE(c, n, m, n)
}

// y[n,p,q,k_out] = conv of x [n,h,w,c] with filters [(r,s,c),k_out]: the same tile, its rows gathered from x on the way in.
WF_KERNEL WF_KERNEL_SIZE(16, 16, 1) void arith_conv(int batch, int h, int w, int c, int k_out, int r_size, int s_size, int p_size,
                                                    int q_size, int stride, int pad, int block_len,
                                                    WF_GLOBAL const float *WF_RESTRICT x_in, WF_GLOBAL const float *WF_RESTRICT filters,
                                                    WF_GLOBAL float *WF_RESTRICT out)
{
    WF_LOCAL float a_tile[DEPTH][TILE + 4];
    WF_LOCAL float b_tile[DEPTH][TILE + 4];
    int x = WF_LOCAL_ID(0), y = WF_LOCAL_ID(1), me = y * 16 + x;
    int n0 = WF_GROUP_ID(0) * TILE, m0 = WF_GROUP_ID(1) * TILE;
    int k = r_size * s_size * c, pixels = batch * p_size * q_size;
    float acc[4][4], total[4][4];
    CLEAR(acc)
    CLEAR(total)
    for (int k0 = 0; k0 < k; k0 += DEPTH) {
        WF_UNROLL for (int u = 0; u < 4; u++)
        {
            int at = me + u * GROUP;
            int row = at / DEPTH, term = k0 + at % DEPTH;
            int pixel = m0 + row, channel = term % c, tap = term / c;
            int top = pixel / q_size % p_size * stride + tap / s_size - pad;
            int left = pixel % q_size * stride + tap % s_size - pad;
            int is_inside = pixel < pixels && term < k && top >= 0 && top < h && left >= 0 && left < w;
            a_tile[at % DEPTH][row] = is_inside ? x_in[((pixel / q_size / p_size * h + top) * w + left) * c + channel] : 0.0f;
            int col = at % TILE, depth = at / TILE;
            b_tile[depth][col] = n0 + col < k_out && k0 + depth < k ? filters[(k0 + depth) * k_out + n0 + col] : 0.0f;
        }
        WF_BARRIER();
        SUM_TERMS()
        WF_BARRIER();
        if (ENDS_BLOCK(k0 + DEPTH)) {
            ADD_BLOCK(IS_FIRST_BLOCK(k0))
        }
    }
    STORE_TILE(out, k_out, pixels, k_out)
}

// One block of the weight gradient per work-group in dimension 2: split-k between blocks. parts[block][(r,s,c),k_out].
WF_KERNEL WF_KERNEL_SIZE(16, 16, 1) void arith_conv_weight(int batch, int h, int w, int c, int k_out, int r_size, int s_size, int p_size,
                                                           int q_size, int stride, int pad, int block_len,
                                                           WF_GLOBAL const float *WF_RESTRICT x_in,
                                                           WF_GLOBAL const float *WF_RESTRICT dy, WF_GLOBAL float *WF_RESTRICT parts)
{
    WF_LOCAL float a_tile[DEPTH][TILE + 4];
    WF_LOCAL float b_tile[DEPTH][TILE + 4];
    int x = WF_LOCAL_ID(0), y = WF_LOCAL_ID(1), me = y * 16 + x;
    int n0 = WF_GROUP_ID(0) * TILE, m0 = WF_GROUP_ID(1) * TILE, block = WF_GROUP_ID(2);
    int rows = r_size * s_size * c, terms = batch * p_size * q_size;
    int end = (block + 1) * block_len < terms ? (block + 1) * block_len : terms;
    float acc[4][4], total[4][4];
    CLEAR(acc)
    for (int k0 = block * block_len; k0 < end; k0 += DEPTH) {
        WF_UNROLL for (int u = 0; u < 4; u++)
        {
            int at = me + u * GROUP;
            int col = at % TILE, term = k0 + at / TILE;
            int row = m0 + col, channel = row % c, tap = row / c;
            int top = term / q_size % p_size * stride + tap / s_size - pad;
            int left = term % q_size * stride + tap % s_size - pad;
            int is_inside = row < rows && term < end && top >= 0 && top < h && left >= 0 && left < w;
            a_tile[at / TILE][col] = is_inside ? x_in[((term / q_size / p_size * h + top) * w + left) * c + channel] : 0.0f;
            b_tile[at / TILE][col] = n0 + col < k_out && term < end ? dy[term * k_out + n0 + col] : 0.0f;
        }
        WF_BARRIER();
        SUM_TERMS()
        WF_BARRIER();
    }
    ADD_BLOCK(1)
    WF_GLOBAL float *out = parts + (wf_i64)block * rows * k_out;
    // A chain's + (+0) here changes no sum of blocks but a -0, and the last + (+0) would: -0 + -0 is the only way to -0.
    STORE_TILE(out, k_out, rows, k_out)
}

// c[i] = the block sums, ascending, + (+0). At most 32 blocks.
WF_KERNEL WF_KERNEL_SIZE(256, 1, 1) void arith_block_sum(int n, int n_blocks, WF_GLOBAL const float *WF_RESTRICT parts,
                                                         WF_GLOBAL float *WF_RESTRICT c)
{
    int i = WF_GROUP_ID(0) * GROUP + WF_LOCAL_ID(0);
    if (i < n) {
        float total = parts[i];
        for (int b = 1; b < n_blocks; b++) {
            total = total + parts[(wf_i64)b * n + i];
        }
        c[i] = total + 0.0f;
    }
}

// sums[b] = row sum of chunk b: 8 chunks a work-group, 32 work-items each; a work-item is a lane.
WF_KERNEL WF_KERNEL_SIZE(256, 1, 1) void arith_row_chunks(int n, WF_GLOBAL const float *WF_RESTRICT x, WF_GLOBAL float *WF_RESTRICT sums)
{
    WF_LOCAL float lanes[8][LANES];
    int lane = WF_LOCAL_ID(0) % LANES, part = WF_LOCAL_ID(0) / LANES;
    int chunk = WF_GROUP_ID(0) * 8 + part;
    int begin = chunk * ROW_CHUNK;
    int count = n - begin < ROW_CHUNK ? n - begin : ROW_CHUNK;
    float sum = 0.0f;
    for (int i = lane; i < count; i += LANES) {
        sum = sum + x[begin + i];
    }
    lanes[part][lane] = sum;
    WF_BARRIER();
    for (int width = LANES / 2; width > 0; width /= 2) {
        if (lane < width) {
            lanes[part][lane] = lanes[part][lane] + lanes[part][lane + width];
        }
        WF_BARRIER();
    }
    if (lane == 0 && count > 0) {
        sums[chunk] = lanes[part][0];
    }
}

// The experiment's exp, step for step the C one.
WF_FN float arith_exp(float x)
{
    float t = WF_FMA(x, 0x1.715476p0f, 0x1.8p23f);
    float n = t - 0x1.8p23f;
    float r = WF_FMA(n, -0x1.7f7d1cp-20f, WF_FMA(n, -0x1.62e4p-1f, x));
    float p = WF_FMA(0x1.6c16c2p-10f, r, 0x1.111112p-7f);
    p = WF_FMA(p, r, 0x1.555556p-5f);
    p = WF_FMA(p, r, 0x1.555556p-3f);
    p = WF_FMA(p, r, 0x1p-1f);
    p = WF_FMA(p, r, 1.0f);
    p = WF_FMA(p, r, 1.0f);
    int e = x != x ? 0 : (int)wf_as_u32(t) - 0x4b400000;
    int half_e = e >= 0 ? e / 2 : -((1 - e) / 2);
    float y = (p * wf_as_f32((wf_u32)(half_e + 127) << 23)) * wf_as_f32((wf_u32)(e - half_e + 127) << 23);
    return x < -104.0f ? 0.0f : x > 88.8f ? wf_as_f32(0x7f800000u) : y;
}

// 16 queries a work-group, 16 work-items a query; d is 64: a work-item holds 4 scores of a block and 4 outputs.
WF_KERNEL WF_KERNEL_SIZE(16, 16, 1) void arith_attention(int t_q, int t_k, int is_causal, float scale,
                                                         WF_GLOBAL const float *WF_RESTRICT q, WF_GLOBAL const float *WF_RESTRICT k,
                                                         WF_GLOBAL const float *WF_RESTRICT v, WF_GLOBAL float *WF_RESTRICT o)
{
    WF_LOCAL float q_tile[QUERIES][D + 1];
    WF_LOCAL float kv_tile[KEYS][D + 1];
    WF_LOCAL float p_tile[QUERIES][KEYS + 1];
    WF_LOCAL float fold[QUERIES][16 + 1];
    int x = WF_LOCAL_ID(0), y = WF_LOCAL_ID(1), me = y * 16 + x;
    int head = WF_GROUP_ID(1), query = WF_GROUP_ID(0) * QUERIES + y;
    int last = (WF_GROUP_ID(0) + 1) * QUERIES - 1 < t_q ? (WF_GROUP_ID(0) + 1) * QUERIES - 1 : t_q - 1;
    int n_keys = is_causal ? query + t_k - t_q + 1 : t_k;
    int end = is_causal ? last + t_k - t_q + 1 : t_k;
    float m = -wf_as_f32(0x7f800000u), l = 0.0f;
    float out[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int j = x; j < D; j += 16) {
        q_tile[y][j] = query < t_q ? q[((wf_i64)head * t_q + query) * D + j] : 0.0f;
    }
    for (int key = 0; key < end; key += KEYS) {
        int used = query < t_q ? n_keys - key < KEYS ? n_keys - key : KEYS : 0;
        for (int i = me; i < KEYS * D; i += GROUP) {
            kv_tile[i / D][i % D] = key + i / D < t_k ? k[((wf_i64)head * t_k + key) * D + i] : 0.0f;
        }
        WF_BARRIER();
        float s[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        for (int j = 0; j < D; j++) {
            float a = q_tile[y][j];
            WF_UNROLL for (int u = 0; u < 4; u++) s[u] = WF_FMA(a, kv_tile[x + 16 * u][j], s[u]);
        }
        float high = -wf_as_f32(0x7f800000u);
        WF_UNROLL for (int u = 0; u < 4; u++)
        {
            s[u] = s[u] * scale;
            int takes = x + 16 * u < used && (s[u] > high || s[u] != s[u]);
            high = takes ? s[u] : high;
        }
        fold[y][x] = high;
        WF_BARRIER();
        float next = m;
        for (int i = 0; i < 16; i++) {
            float other = fold[y][i];
            next = next < other || other != other ? other : next;
        }
        WF_BARRIER();
        float alpha = used > 0 ? arith_exp(m - next) : 1.0f;
        WF_UNROLL for (int u = 0; u < 4; u++)
        {
            float p = arith_exp(s[u] - next);
            p = (wf_as_u32(p) & 0x7fffffffu) < 0x00800000u ? 0.0f : p; // p is not negative
            s[u] = x + 16 * u < used ? p : 0.0f;
            p_tile[y][x + 16 * u] = s[u];
        }
        // 32 lanes: lane x is keys x and x + 32, lane x + 16 is keys x + 16 and x + 48; their fold to 16 is here, too.
        fold[y][x] = (s[0] + s[2]) + (s[1] + s[3]);
        WF_BARRIER();
        for (int width = 8; width > 0; width /= 2) {
            if (x < width) {
                fold[y][x] = fold[y][x] + fold[y][x + width];
            }
            WF_BARRIER();
        }
        if (used > 0) {
            l = WF_FMA(l, alpha, fold[y][0]);
            m = next;
        }
        for (int i = me; i < KEYS * D; i += GROUP) {
            kv_tile[i / D][i % D] = key + i / D < t_k ? v[((wf_i64)head * t_k + key) * D + i] : 0.0f;
        }
        WF_BARRIER();
        WF_UNROLL for (int u = 0; u < 4; u++) out[u] = out[u] * alpha;
        for (int t = 0; t < used; t++) {
            float p = p_tile[y][t];
            WF_UNROLL for (int u = 0; u < 4; u++) out[u] = WF_FMA(p, kv_tile[t][x + 16 * u], out[u]);
        }
        WF_BARRIER();
    }
    if (query < t_q) {
        WF_UNROLL for (int u = 0; u < 4; u++)
        {
            o[((wf_i64)head * t_q + query) * D + x + 16 * u] = l == 0.0f ? 0.0f : WF_DIV(out[u], l) + 0.0f;
        }
    }
}
