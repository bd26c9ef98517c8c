#!/usr/bin/env python3
"""Networks by PyTorch, for test/nn/family_values_test.c and test/train/family_counts_test.c.

Writes test/golden/families.safetensors (results of small instances) and test/golden/parameter_counts.txt (of the
networks of recipes/bench). Needs torch and safetensors, as nn_golden.py:
    venv/bin/python tools/golden/family_golden.py
Weights are not stored: both sides make them of a variable's name and the element's place, see value().
A case has x, y (evaluation) and y_train (training: batch norm by the batch's statistics), float64 rounded once.
"""
import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from safetensors.torch import save_file

torch.set_default_dtype(torch.float64)
HERE = os.path.dirname(os.path.abspath(__file__))
OUT = os.path.join(HERE, "..", "..", "test", "golden")


def mix(x):
    x = ((x ^ (x >> 16)) * 0x7FEB352D) & 0xFFFFFFFF
    x = ((x ^ (x >> 15)) * 0x846CA68B) & 0xFFFFFFFF
    return x ^ (x >> 16)


def value(name, shape):
    """-0.5 to 0.5 of a hash; weights are scaled by their fan, norms and variances lie around 1."""
    seed = 2166136261
    for c in name.encode():
        seed = ((seed ^ c) * 16777619) & 0xFFFFFFFF
    n = int(np.prod(shape)) if len(shape) else 1
    u = mix((np.arange(n, dtype=np.uint64) + seed) & 0xFFFFFFFF).astype(np.float64) / 4294967296.0 - 0.5
    if name == "x":
        v = 2.0 * u
    elif name.endswith("running_var"):
        v = 1.0 + u
    elif len(shape) > 1:
        v = 2.0 * u / np.sqrt(float(np.prod(shape[1:])) / 3.0)
    elif name.endswith("weight"):
        v = 1.0 + 0.5 * u
    else:
        v = 0.2 * u
    return torch.from_numpy(v.astype(np.float32).astype(np.float64).reshape(shape))


def conv(i, o, k, s=1, g=1, bias=False):
    return nn.Conv2d(i, o, k, s, (k - 1) // 2, groups=g, bias=bias)


class Basic(nn.Module):
    out = 1

    def __init__(self, i, o, stride, pad):
        super().__init__()
        self.conv1, self.bn1 = conv(i, o, 3, stride), nn.BatchNorm2d(o)
        self.conv2, self.bn2 = conv(o, o, 3), nn.BatchNorm2d(o)
        self.pad = o - i if pad else 0
        self.stride = stride
        self.downsample = nn.Sequential(conv(i, o, 1, stride), nn.BatchNorm2d(o)) if not pad and (stride != 1 or i != o) else None

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        if self.downsample is not None:
            x = self.downsample(x)
        elif self.pad:
            x = F.pad(x[:, :, ::self.stride, ::self.stride], (0, 0, 0, 0, self.pad // 2, self.pad - self.pad // 2))
        return F.relu(y + x)


class Bottleneck(nn.Module):
    out = 4

    def __init__(self, i, o, stride, pad):
        super().__init__()
        self.conv1, self.bn1 = conv(i, o, 1), nn.BatchNorm2d(o)
        self.conv2, self.bn2 = conv(o, o, 3, stride), nn.BatchNorm2d(o)
        self.conv3, self.bn3 = conv(o, 4 * o, 1), nn.BatchNorm2d(4 * o)
        self.downsample = nn.Sequential(conv(i, 4 * o, 1, stride), nn.BatchNorm2d(4 * o)) if stride != 1 or i != 4 * o else None

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        y = self.bn3(self.conv3(F.relu(self.bn2(self.conv2(y)))))
        return F.relu(y + (x if self.downsample is None else self.downsample(x)))


class ResNet(nn.Module):
    def __init__(self, blocks, kind=Basic, stem="cifar", width=64, classes=10, channels=3, pad=False):
        super().__init__()
        self.stem = stem
        self.conv1, self.bn1 = (conv(channels, width, 3) if stem == "cifar" else conv(channels, width, 7, 2)), nn.BatchNorm2d(width)
        i = width
        for s, n in enumerate(blocks):
            o, layer = width << s, []
            for k in range(n):
                layer.append(kind(i, o, 2 if s and not k else 1, pad))
                i = o * kind.out
            setattr(self, f"layer{s + 1}", nn.Sequential(*layer))
        self.n = len(blocks)
        self.fc = nn.Linear(i, classes)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        x = x if self.stem == "cifar" else F.max_pool2d(x, 3, 2, 1)
        for s in range(self.n):
            x = getattr(self, f"layer{s + 1}")(x)
        return self.fc(x.mean((2, 3)))


class Inverted(nn.Module):
    def __init__(self, i, o, stride, t):
        super().__init__()
        m = i * t
        def norm_relu(*c):
            return nn.Sequential(conv(*c), nn.BatchNorm2d(c[1]), nn.ReLU6())
        layers = [] if t == 1 else [norm_relu(i, m, 1)]
        self.conv = nn.Sequential(*layers, norm_relu(m, m, 3, stride, m), conv(m, o, 1), nn.BatchNorm2d(o))
        self.add = stride == 1 and i == o

    def forward(self, x):
        return x + self.conv(x) if self.add else self.conv(x)


class MobileNetV2(nn.Module):
    def __init__(self, classes=1000, width=1.0, stem="imagenet", channels=3):
        super().__init__()
        def c(n):
            r = max(8, int(width * n + 4) // 8 * 8)
            return r + 8 if r < 0.9 * width * n else r
        small = stem == "cifar"
        i = c(32)
        layers = [nn.Sequential(conv(channels, i, 3, 1 if small else 2), nn.BatchNorm2d(i), nn.ReLU6())]
        for k, (t, o, n, s) in enumerate(((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))):
            for b in range(n):
                layers.append(Inverted(i, c(o), s if b == 0 and not (small and k < 2) else 1, t))
                i = c(o)
        last = c(1280) if width > 1.0 else 1280
        layers.append(nn.Sequential(conv(i, last, 1), nn.BatchNorm2d(last), nn.ReLU6()))
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Sequential(nn.Identity(), nn.Linear(last, classes))

    def forward(self, x):
        return self.classifier(self.features(x).mean((2, 3)))


class UNet(nn.Module):
    def __init__(self, width=32, levels=3, classes=2, channels=3):
        super().__init__()
        def two(i, o):
            return nn.Sequential(conv(i, o, 3), nn.BatchNorm2d(o), nn.ReLU(), conv(o, o, 3), nn.BatchNorm2d(o), nn.ReLU())
        self.levels = levels
        for k in range(levels):
            o = width << k
            setattr(self, f"d{k + 1}", two(channels if k == 0 else o // 2, o))
            setattr(self, f"t{k + 1}", nn.ConvTranspose2d(2 * o, o, 2, 2))
            setattr(self, f"u{k + 1}", two(2 * o, o))
        self.mid = two(width << (levels - 1), width << levels)
        self.out = nn.Conv2d(width, classes, 1)

    def forward(self, x):
        kept = []
        for k in range(self.levels):
            kept.append(getattr(self, f"d{k + 1}")(x))
            x = F.max_pool2d(kept[-1], 2)
        x = self.mid(x)
        for k in reversed(range(self.levels)):
            x = getattr(self, f"u{k + 1}")(torch.cat((getattr(self, f"t{k + 1}")(x), kept[k]), 1))
        return self.out(x)


class Vgg(nn.Module):
    def __init__(self, side, channels, convs, hidden, norm, classes=10, first=1):
        super().__init__()
        self.plan, i = [], first
        for s, o in enumerate(channels):
            for k in range(convs):
                setattr(self, f"conv{s + 1}_{k + 1}", conv(i, o, 3, bias=not norm))
                if norm:
                    setattr(self, f"bn{s + 1}_{k + 1}", nn.BatchNorm2d(o))
                i = o
        self.stages, self.convs, self.norm, self.hidden = len(channels), convs, norm, len(hidden)
        i *= (side >> len(channels)) ** 2
        for k, o in enumerate(hidden + [classes]):
            setattr(self, f"fc{k + 1}", nn.Linear(i, o))
            i = o

    def forward(self, x):
        for s in range(self.stages):
            for k in range(self.convs):
                x = getattr(self, f"conv{s + 1}_{k + 1}")(x)
                x = F.relu(getattr(self, f"bn{s + 1}_{k + 1}")(x) if self.norm else x)
            x = F.max_pool2d(x, 2)
        x = x.flatten(1)
        for k in range(self.hidden):
            x = F.relu(getattr(self, f"fc{k + 1}")(x))
        return getattr(self, f"fc{self.hidden + 1}")(x)


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 6, 5, padding=2), nn.Conv2d(6, 16, 5)
        self.fc1, self.fc2, self.fc3 = nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2).flatten(1)
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x)))))


class ConvCoder(nn.Module):
    """Encoder, code (mean) and decoder, 8x8 pictures, channels 4 and 6."""

    def __init__(self, vae):
        super().__init__()
        self.encoder, self.decoder = nn.Module(), nn.Module()
        self.encoder.conv1, self.encoder.conv2 = conv(1, 4, 3, 2, bias=True), conv(4, 6, 3, 2, bias=True)
        self.vae = vae
        if vae:
            self.mean, self.logvar = nn.Linear(24, 5), nn.Linear(24, 5)
        else:
            self.code = nn.Linear(24, 5)
        self.decoder.fc = nn.Linear(5, 24)
        self.decoder.up1, self.decoder.up2 = nn.ConvTranspose2d(6, 4, 4, 2, 1), nn.ConvTranspose2d(4, 1, 4, 2, 1)

    def forward(self, x):
        h = F.relu(self.encoder.conv2(F.relu(self.encoder.conv1(x)))).flatten(1)
        code = self.mean(h) if self.vae else self.code(h)
        if self.vae:
            logvar = self.logvar(h)
            self.penalty = -0.5 * (1 + logvar - code ** 2 - logvar.exp()).sum(1)
        y = F.relu(self.decoder.fc(code).reshape(-1, 6, 2, 2))
        return self.decoder.up2(F.relu(self.decoder.up1(y)))


def case(store, name, net, *shape):
    for key, t in list(net.named_parameters()) + list(net.named_buffers()):
        if t.dtype == torch.float64:
            t.data.copy_(value(key, tuple(t.shape)))
    x = value("x", shape)
    with torch.no_grad():
        store[f"{name}.y"] = net.eval()(x)
        if hasattr(net, "penalty"):
            store[f"{name}.penalty"] = net.penalty
        if any(isinstance(m, nn.BatchNorm2d) for m in net.modules()):
            store[f"{name}.y_train"] = net.train()(x)


def lstm():
    return nn.ModuleList([nn.Embedding(65, 256), nn.LSTM(256, 256, 2), nn.Linear(256, 65)])


def gpt(vocabulary, d, layers, context, tied):
    block = [nn.LayerNorm(d), nn.LayerNorm(d), nn.Linear(d, 3 * d), nn.Linear(d, d), nn.Linear(d, 4 * d), nn.Linear(4 * d, d)]
    head = [] if tied else [nn.Linear(d, vocabulary, bias=False)]
    one = sum(p.numel() for m in block for p in m.parameters())
    rest = [nn.Embedding(vocabulary, d), nn.Embedding(context, d), nn.LayerNorm(d)] + head
    return layers * one + sum(p.numel() for m in rest for p in m.parameters())


def main():
    s = {}
    case(s, "resnet18", ResNet((2, 2, 2, 2), width=4, classes=5), 3, 3, 12, 16)
    case(s, "resnet20", ResNet((3, 3, 3), width=4, classes=5, pad=True), 3, 3, 12, 16)
    case(s, "resnet50", ResNet((3, 4, 6, 3), Bottleneck, "imagenet", 2, 5), 2, 3, 33, 40)
    case(s, "mobilenetv2", MobileNetV2(5, 0.1, "cifar"), 2, 3, 16, 16)
    case(s, "unet", UNet(4, 2, 3, 1), 2, 1, 8, 12)
    case(s, "vgg", Vgg(8, [4, 6], 2, [16], True), 3, 1, 8, 8)
    case(s, "lenet", LeNet(), 2, 1, 28, 28)
    case(s, "autoencoder", ConvCoder(False), 3, 1, 8, 8)
    case(s, "vae", ConvCoder(True), 3, 1, 8, 8)
    out = {k: s[k].detach().float().contiguous() for k in sorted(s)}
    save_file(out, os.path.join(OUT, "families.safetensors"), metadata={"made_by": f"torch {torch.__version__.split('+')[0]}"})

    with torch.device("meta"):
        nets = {
            "mlp": nn.Sequential(nn.Linear(784, 512), nn.Linear(512, 256), nn.Linear(256, 10)),
            "lenet": LeNet(),
            "vgg6": Vgg(28, [32, 64, 128], 2, [128], False),
            "kanncnn": nn.Sequential(nn.Conv2d(1, 32, 3), nn.Conv2d(32, 32, 3), nn.Linear(32 * 144, 128), nn.Linear(128, 10)),
            "resnet18": ResNet((2, 2, 2, 2)),
            "resnet18_224": ResNet((2, 2, 2, 2), stem="imagenet", classes=1000),
            "mobilenetv2": MobileNetV2(),
            "unet": UNet(),
            "lstm": lstm(),
            "chargpt": gpt(65, 384, 6, 256, False),
            "gpt2": gpt(50257, 768, 12, 1024, True),
        }
        with open(os.path.join(OUT, "parameter_counts.txt"), "w") as f:
            f.write("# Parameters of recipes/bench/NAME.yaml by PyTorch; written by tools/golden/family_golden.py.\n")
            for name, net in nets.items():
                n = net if isinstance(net, int) else sum(p.numel() for p in net.parameters())
                f.write(f"{name} {n}\n")


main()
