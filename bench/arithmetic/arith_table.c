// The table of one instruction set's kernels.
#include "arith_kernels.h"
#include "arith_product.h"

double NAME(peak)(int64_t rounds);
float NAME(read)(const float *x, int64_t n);
int64_t NAME(packed_floats)(int64_t n, int64_t k);
void NAME(pack)(int64_t n, int64_t k, const float *b, int64_t ldk, int64_t ldn, float *packed);
void NAME(contract)(int64_t m, int64_t n, int64_t k, const float *a, int64_t lda,
                    const float *packed, float *c, int64_t block, float *work);
void NAME(dot_rows)(int64_t n, int64_t k, const float *a, const float *b, float *c);
void NAME(conv)(const arith_conv *g, const float *x, const float *packed, float *y, int64_t block,
                float *work, const float *zeros);
void NAME(conv_input)(const arith_conv *g, const float *dy, const float *packed, float *dx,
                      int64_t block, float *work, const float *zeros);
void NAME(conv_weight)(const arith_conv *g, const float *x, const float *dy, float *dw,
                       int64_t block, float *work);
float NAME(row_sum)(const float *x, int64_t n, int64_t chunk, int lanes, float *work);
void NAME(column_sum)(const float *x, int64_t rows, int64_t cols, int64_t chunk, float *y,
                      float *work);
arith_moments NAME(moments)(const float *x, int64_t n, arith_moments *work);
arith_moments NAME(moments_free)(const float *x, int64_t n);
void NAME(attention)(const arith_attention *g, const float *q, const float *k_packed,
                     const float *v_packed, float *o, float *state);
void NAME(exp)(const float *x, float *y, int64_t n);

#define STRING2(x) #x
#define STRING(x) STRING2(x)

const arith_kernels NAME(arith_kernels) = {
    .name = STRING(ISA_NAME),
    .vector_floats = VL,
    .tile_rows = TILE_ROWS,
    .tile_columns = TILE_COLUMNS,
    .peak = NAME(peak),
    .read = NAME(read),
    .packed_floats = NAME(packed_floats),
    .pack = NAME(pack),
    .contract = NAME(contract),
    .dot_rows = NAME(dot_rows),
    .conv = NAME(conv),
    .conv_input = NAME(conv_input),
    .conv_weight = NAME(conv_weight),
    .row_sum = NAME(row_sum),
    .column_sum = NAME(column_sum),
    .moments = NAME(moments),
    .moments_free = NAME(moments_free),
    .attention = NAME(attention),
    .exp = NAME(exp),
};
