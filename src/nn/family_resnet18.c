// ResNet-18: four stages of two basic blocks, with the stem for small or for large pictures.
#include "nn/block.h"

static const wf_resnet_shape shape = {4, {2, 2, 2, 2}, false, false};

static const wf_resnet_options defaults = {0, WF_STEM_CIFAR, 64, false, WF_INIT_NAMED_DEFAULT};

static weft_val build(wf_family_build *b)
{
    return wf_resnet_build(b, &shape);
}

const wf_family wf_family_resnet18 = {
    .name = "resnet18",
    .summary = "residual network of 18 layers",
    .options = wf_resnet_option_table,
    .options_bytes = sizeof defaults,
    .defaults = &defaults,
    .build = build,
};
