// Networks by name: "resnet18", "unet", "gpt". What each is, and its options: doc/families.md.
//
//   static const char *const options[] = {"stem=cifar", "classes=10"};
//   weft_val logits = weft_family(nn, "resnet18", images, options, 2, NULL);
#ifndef WEFT_FAMILY_H
#define WEFT_FAMILY_H

#include <weft/nn.h>

#ifdef __cplusplus
extern "C" {
#endif

// What a network gives besides its result; none where it has no such thing.
typedef struct weft_family_result {
    weft_val out;     // the result, again
    weft_val penalty; // f32 [b]: to be added to each sample's loss (vae: the divergence)
    weft_val code;    // f32 [b,k]: the narrowest place of an autoencoder
} weft_family_result;

// Builds a family's network onto x. A recipe's `model: {family: NAME, ..}` builds the same, with the same
// names of parameters.
//   x         f32 [b,c,h,w] images, f32 [b,n] rows, i32 [b,t] tokens: what the family takes
//   options   n_options words "key=value"; lists are "64,32". What is not given has its default;
//             classes has none here
//   out_result   may be NULL
//   result    classifiers: logits [b,classes]; unet: [b,classes,h,w]; autoencoders: the shape of x, for
//             the loss bce before the sigmoid; language models: logits [b,t,classes]
// Errors: WEFT_ERR_NAME (family or option, with the nearest), WEFT_ERR_ATTR (a value), and those of the
// layers; recorded in the graph.
WEFT_API weft_val weft_family(weft_nn *nn, const char *name, weft_val x, const char *const *options,
                              size_t n_options, weft_family_result *out_result);
// The families there are: the name of idx, or NULL beyond the last.
WEFT_API const char *weft_family_name(size_t idx);

#ifndef WEFT_NO_PLACE
#define weft_family(nn, ...) weft_family(WEFT_NN_AT(nn), __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif
#endif
