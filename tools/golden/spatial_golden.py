#!/usr/bin/env python3
"""Values of resizing, adaptive pooling and (transposed) convolutions by PyTorch, for test/nn.

Writes test/golden/nn_spatial.safetensors, as nn_golden.py does its files: float64 from inputs that are
float32, stored as float32. A case: x, y, g, dx = gradient of sum(y g); "state.layer.<name>" parameters and
"d.layer.<name>" their gradients.
"""
import os

import torch
import torch.nn as nn
import torch.nn.functional as F
from safetensors.torch import save_file

torch.manual_seed(20261130)
torch.set_default_dtype(torch.float64)
HERE = os.path.dirname(os.path.abspath(__file__))
OUT = os.path.join(HERE, "..", "..", "test", "golden")


def rand(*shape, scale=1.0):
    return (torch.randn(*shape) * scale).float().double()


def case(store, name, call, x, module=None):
    if module is not None:
        for key, p in module.named_parameters():
            with torch.no_grad():
                p.copy_(rand(*p.shape, scale=0.5))
            store[f"{name}.state.layer.{key}"] = p.clone()
    x = x.clone().requires_grad_()
    y = call(x)
    g = rand(*y.shape)
    (y * g).sum().backward()
    store.update({f"{name}.x": x, f"{name}.y": y, f"{name}.g": g, f"{name}.dx": x.grad})
    if module is not None:
        for key, p in module.named_parameters():
            store[f"{name}.d.layer.{key}"] = p.grad


def resize(mode, size, corners=None):
    return lambda x: F.interpolate(x, size=size, mode=mode, align_corners=corners)


def main():
    s = {}
    case(s, "nearest1d", resize("nearest", 17), rand(2, 3, 5))
    case(s, "nearest2d", resize("nearest", (10, 4)), rand(2, 3, 5, 7))
    case(s, "nearest_exact2d", resize("nearest-exact", (9, 3)), rand(2, 2, 4, 7))
    case(s, "nearest3d", resize("nearest", (4, 3, 9)), rand(1, 2, 2, 5, 3))
    case(s, "linear1d", resize("linear", 13, False), rand(2, 3, 5))
    case(s, "bilinear", resize("bilinear", (10, 4), False), rand(2, 3, 5, 7))
    case(s, "bilinear_corners", resize("bilinear", (11, 3), True), rand(2, 3, 5, 7))
    case(s, "trilinear", resize("trilinear", (4, 3, 9), False), rand(1, 2, 2, 5, 3))
    case(s, "adaptive_mean1d", nn.AdaptiveAvgPool1d(4), rand(2, 3, 7))
    case(s, "adaptive_mean2d", nn.AdaptiveAvgPool2d((3, 5)), rand(2, 3, 8, 7))
    case(s, "adaptive_mean_up", nn.AdaptiveAvgPool2d((5, 6)), rand(1, 2, 3, 6))
    case(s, "adaptive_mean3d", nn.AdaptiveAvgPool3d((2, 2, 3)), rand(1, 2, 3, 4, 5))
    case(s, "adaptive_max1d", nn.AdaptiveMaxPool1d(4), rand(2, 3, 7))
    case(s, "adaptive_max2d", nn.AdaptiveMaxPool2d((3, 5)), rand(2, 3, 8, 7))
    case(s, "adaptive_max3d", nn.AdaptiveMaxPool3d((2, 2, 3)), rand(1, 2, 3, 4, 5))
    layers = {
        "transposed1d": (nn.ConvTranspose1d(6, 4, 5, stride=3, padding=2, output_padding=1, dilation=2, groups=2), (2, 6, 7)),
        "transposed2d": (nn.ConvTranspose2d(3, 5, (3, 2), stride=(2, 1), padding=(1, 0), output_padding=(1, 0)), (2, 3, 4, 5)),
        "transposed2d_depthwise": (nn.ConvTranspose2d(4, 8, 4, stride=2, padding=1, groups=4, bias=False), (2, 4, 5, 3)),
        "transposed3d": (nn.ConvTranspose3d(2, 3, (2, 3, 2), stride=(1, 2, 2), padding=(0, 1, 0), dilation=(2, 1, 1)), (1, 2, 3, 2, 4)),
        "conv1d_groups": (nn.Conv1d(6, 9, 3, stride=2, padding=2, dilation=3, groups=3), (2, 6, 15)),
        "conv3d_groups": (nn.Conv3d(4, 6, (2, 3, 2), stride=(1, 2, 1), padding=(1, 2, 1), dilation=(2, 2, 1), groups=2), (1, 4, 4, 6, 5)),
        "conv3d_depthwise": (nn.Conv3d(4, 4, 3, padding=1, groups=4, bias=False), (1, 4, 3, 4, 5)),
    }
    for name, (module, shape) in layers.items():
        case(s, name, module, rand(*shape), module)
    out = {k: s[k].detach().float().contiguous() for k in sorted(s)}
    version = torch.__version__.split("+")[0]
    save_file(out, os.path.join(OUT, "nn_spatial.safetensors"), metadata={"made_by": f"torch {version}"})


main()
