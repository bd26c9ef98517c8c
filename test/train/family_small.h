// Small instances of the families, as recipes: what the tests of bits train.
#ifndef FAMILY_SMALL_H
#define FAMILY_SMALL_H

#include "train/train_tools.h"

typedef struct family_small {
    const char *name;
    const char *image; // [c,h,w]
    const char *rest;  // model, loss, target
} family_small;

static const family_small families_small[] = {
    {"softmax", "[1,8,8]", "model: {family: softmax}\n"},
    {"mlp", "[1,8,8]", "model: {family: mlp, hidden: [17, 9], dropout: 0.2}\n"},
    {"lenet", "[1,28,28]", "model: {family: lenet, activation: tanh, pool: mean}\n"},
    {"vgg", "[3,8,8]",
     "model: {family: vgg, channels: [5, 7], convs: 2, hidden: [11], batch_norm: true}\n"},
    {"resnet18", "[3,10,8]", "model: {family: resnet18, width: 3, zero_residual: true}\n"},
    {"resnet20", "[3,9,8]", "model: {family: resnet20, width: 3, init: kaiming}\n"},
    {"resnet50", "[1,32,32]", "model: {family: resnet50, stem: imagenet, width: 2}\n"},
    {"mobilenetv2", "[3,8,8]", "model: {family: mobilenetv2, stem: cifar, width: 0.1}\n"},
    {"unet", "[1,8,12]",
     "model: {family: unet, width: 3, levels: 2}\ntarget: {kind: mask, threshold: 0.4}\n"},
    {"autoencoder", "[1,8,8]",
     "model: {family: autoencoder, hidden: [21, 13], code: 5, noise: 0.1, masking: 0.2}\n"
     "loss: bce\ntarget: image\n"},
    {"autoencoder, conv", "[3,8,8]",
     "model: {family: autoencoder, kind: conv, channels: [4, 6], code: 5, activation: silu}\n"
     "loss: {kind: huber, delta: 0.2}\ntarget: image\n"},
    {"vae", "[1,8,8]",
     "model: {family: vae, hidden: [19], code: 3}\nloss: {kind: bce, reduction: sum}\n"
     "target: image\n"},
    {"dbn, rbm", "[1,8,8]",
     "model: {family: dbn, hidden: [13, 9], layer: 2, gibbs: 2, linear_top: true}\n"
     "loss: own\ntarget: image\n"},
    {"dbn, chains", "[1,8,8]",
     "model: {family: dbn, hidden: [13], chains: 7}\nloss: own\ntarget: image\n"},
    {"dbn, classifier", "[1,8,8]",
     "model: {family: dbn, hidden: [13, 9], mode: classifier, dropout: 0.1}\n"},
    {"dbn, autoencoder", "[1,8,8]",
     "model: {family: dbn, hidden: [13, 9], mode: autoencoder, linear_top: true}\n"
     "loss: bce\ntarget: image\n"},
    {"layers", "[1,8,8]",
     "model:\n"
     "  - conv: {out: 4, kernel: 3, pad: 1}\n"
     "  - residual: [relu6, conv: {out: 4, kernel: 3, pad: 1}]\n"
     "  - residual:\n"
     "      body: [conv: {out: 6, kernel: 3, stride: 2, pad: 1}, batch_norm]\n"
     "      shortcut: [conv: {out: 6, kernel: 1, stride: 2}]\n"
     "  - branch: {paths: [[relu], [conv: {out: 3, kernel: 1}, tanh], []]}\n"
     "  - branch: {join: add, paths: [[gelu], []]}\n"
     "  - upsample: 2\n"
     "  - conv_transpose: {out: 3, kernel: 2, stride: 2}\n"
     "  - mean_pool: 2\n"
     "  - resize: {size: 11, mode: linear}\n"
     "  - adaptive_max_pool: 5\n"
     "  - adaptive_mean_pool: 4\n"
     "  - flatten\n"
     "  - reshape: [8, 6]\n"
     "  - flatten\n"
     "  - linear: 10\n"},
};
#define N_FAMILIES_SMALL (sizeof families_small / sizeof families_small[0])

// The recipe file of a family's training.
static inline const char *family_small_write(const family_small *f, int steps)
{
    char text[2048];
    snprintf(
        text, sizeof text,
        "name: small\nseed: 5\ndata: {reader: synthetic, image: %s, n_classes: 10, normalise: "
        "false}\n%soptimiser: {kind: adamw, lr: 3e-3, weight_decay: 0.01}\n%sschedule: cosine\n"
        "train: {batch: 8, steps: %d}\n",
        f->image, f->rest, strstr(f->rest, "loss:") ? "" : "loss: cross_entropy\n", steps);
    return tiny_write(text);
}

// Trains it into dir and copies the digest of its weights.
static inline void family_small_train(const family_small *f, int steps, tiny_how how,
                                      char out_sha[65])
{
    tiny_run run = {0};
    how.path = family_small_write(f, steps);
    if (!how.is_resumed)
        tiny_remove(how.dir);
    tiny_train(&how, &run);
    if (run.status != WEFT_OK)
        fail_msg("%s: %s", f->name, run.err.message);
    memcpy(out_sha, run.done.weights_sha256, 65);
}

#endif
