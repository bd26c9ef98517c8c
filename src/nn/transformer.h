// What the transformers of nn/ share: layers whose first weights are normal, attention without a scope.
#ifndef WF_NN_TRANSFORMER_H
#define WF_NN_TRANSFORMER_H

#include "nn/nn_builder.h"
#include "weft/transformer.h"

// std > 0: normal weights with this deviation and a bias of zeros; else weft_linear's own.
weft_val wf_transformer_linear(weft_nn *nn, const char *name, weft_val x, int64_t out, double std);
// Blocks "h/0", "h/1", .. one after the other.
weft_val wf_transformer_blocks(weft_nn *nn, weft_val x, int64_t n_layers,
                               const weft_block_options *block);
// weft_heads in the current scope.
weft_val wf_transformer_heads(weft_nn *nn, weft_val x, const weft_heads_options *options);

#endif
