// The ResNet-20 of section 4.2: three stages of three basic blocks, 16 to 64 channels, shortcuts without
// parameters.
#include "nn/block.h"

static const wf_resnet_shape shape = {3, {3, 3, 3}, false, true};

static const wf_resnet_options defaults = {0, WF_STEM_CIFAR, 16, false, WF_INIT_NAMED_DEFAULT};

static weft_val build(wf_family_build *b)
{
    return wf_resnet_build(b, &shape);
}

const wf_family wf_family_resnet20 = {
    .name = "resnet20",
    .summary = "residual network of 20 layers for small pictures",
    .options = wf_resnet_option_table,
    .options_bytes = sizeof defaults,
    .defaults = &defaults,
    .build = build,
};
