// oneDNN's own f32 products and convolutions, to compare with; present when the build found it (ARITH_ONEDNN).
#ifndef ARITH_ONEDNN_H
#define ARITH_ONEDNN_H

#include "arith_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

void arith_onednn_contract(int64_t m, int64_t n, int64_t k, const float *a, const float *b,
                           float *c);

// direction 0 forward, 1 input gradient, 2 weight gradient; layouts are oneDNN's choice, reorders are left out.
void *arith_onednn_conv_create(const arith_conv *g, int direction);
void arith_onednn_conv_run(void *conv);
void arith_onednn_conv_destroy(void *conv);
const char *arith_onednn_conv_name(const void *conv);

#ifdef __cplusplus
}
#endif

#endif
