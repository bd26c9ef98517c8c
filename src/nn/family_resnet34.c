// ResNet-34: basic blocks, 3 4 6 3.
#include "nn/block.h"

static const wf_resnet_shape shape = {4, {3, 4, 6, 3}, false, false};

static const wf_resnet_options defaults = {0, WF_STEM_CIFAR, 64, false, WF_INIT_NAMED_DEFAULT};

static weft_val build(wf_family_build *b)
{
    return wf_resnet_build(b, &shape);
}

const wf_family wf_family_resnet34 = {
    .name = "resnet34",
    .summary = "residual network of 34 layers",
    .options = wf_resnet_option_table,
    .options_bytes = sizeof defaults,
    .defaults = &defaults,
    .build = build,
};
