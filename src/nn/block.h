// Pieces that several families of convolutional networks are made of. Stage: nn.
#ifndef WF_NN_BLOCK_H
#define WF_NN_BLOCK_H

#include "nn/family.h"

// Convolution over two axes without bias, square window, padded to keep the size at stride 1.
typedef struct wf_conv_spec {
    int64_t out, window, stride, groups; // stride, groups 0: 1
    bool has_bias;
    weft_init_kind init; // of the weight
} wf_conv_spec;
weft_val wf_block_conv(weft_nn *nn, const char *name, weft_val x, const wf_conv_spec *spec);
// Twice as high and wide: a transposed convolution whose windows of 2 do not overlap, with a bias.
weft_val wf_block_up(weft_nn *nn, const char *name, weft_val x, int64_t out);
// Maximum of windows of 2 by 2.
weft_val wf_block_halve(weft_graph *g, weft_val x);

// ---- residual networks. K. He et al., CVPR 2016.
enum { WF_STEM_CIFAR = 0, WF_STEM_IMAGENET = 1 };
extern const char *const wf_stem_names[];
enum { WF_INIT_NAMED_DEFAULT = 0, WF_INIT_NAMED_KAIMING = 1 };
extern const char *const wf_block_init_names[];

#define WF_RESNET_STAGES 4

typedef struct wf_resnet_options {
    int64_t classes;
    int32_t stem;
    int64_t width; // channels of the first stage; each further stage has twice as many
    bool is_zero_residual;
    int32_t init;
} wf_resnet_options;

typedef struct wf_resnet_shape {
    int32_t n_stages;
    int64_t n_blocks[WF_RESNET_STAGES];
    bool is_bottleneck; // 1x1, 3x3, 1x1 to four times the channels; else 3x3, 3x3
    bool
        is_shortcut_padded; // "A": every second pixel, new channels are 0; else "B": a 1x1 convolution
} wf_resnet_shape;

// The table of wf_resnet_options, and the network; parameters are named as torchvision names them.
extern const wf_option wf_resnet_option_table[];
weft_val wf_resnet_build(wf_family_build *b, const wf_resnet_shape *shape);

// ---- autoencoders
typedef struct wf_coder_options {
    int32_t kind;         // dense, conv
    wf_integers hidden;   // of dense: the layers between picture and code
    wf_integers channels; // of conv: of each halving
    int64_t code;
    int32_t activation;
} wf_coder_options;
extern const char *const wf_coder_kinds[];
extern const char *const wf_coder_activations[];
// [b,..] -> [b,features], the layer in front of the code. Scope "encoder".
weft_val wf_coder_encode(weft_nn *nn, const wf_coder_options *o, weft_val x);
// A code [b,k] -> logits of the shape of x. Scope "decoder".
weft_val wf_coder_decode(weft_nn *nn, const wf_coder_options *o, weft_val code, weft_val x);
// x in evaluation; in training with normal noise of this deviation, and then each element 0 with
// probability p: what a denoising autoencoder is given. 0: neither.
weft_val wf_coder_corrupt(weft_nn *nn, weft_val x, double deviation, double p);

#endif
