#!/usr/bin/env python3
"""Values of layers, losses, optimisers and schedules by PyTorch, for test/nn.

Writes test/golden/nn_{layers,losses,optimizers,schedules}.safetensors. Needs torch and safetensors:
    python3 -m venv venv && venv/bin/pip install torch safetensors numpy
    venv/bin/python tools/golden/nn_golden.py
Everything is computed in float64 from inputs that are float32, and stored as float32: a test's tolerance is
then weft's own error. A case's tensors are "<case>.<role>": x, labels, ... go in; "state.<variable>" is a
variable's first value; "y", "loss" come out, "dx" and "d.<parameter>" are gradients of sum(y * g) or of
loss, "after.<variable>" a variable behind the step.
"""
import math
import os

import torch
import torch.nn as nn
import torch.nn.functional as F
from safetensors.torch import save_file

torch.manual_seed(20240501)
torch.set_default_dtype(torch.float64)
HERE = os.path.dirname(os.path.abspath(__file__))
OUT = os.path.join(HERE, "..", "..", "test", "golden")


def rand(*shape, scale=1.0):
    """Normal numbers that are exact in float32."""
    return (torch.randn(*shape) * scale).float().double()


def save(name, tensors):
    """float64 becomes float32; sorted, so that the file is the same each time."""
    out = {}
    for key in sorted(tensors):
        t = tensors[key].detach()
        out[key] = (t.float() if t.dtype == torch.float64 else t).contiguous()
    save_file(out, os.path.join(OUT, f"nn_{name}.safetensors"), metadata={"made_by": f"torch {torch.__version__.split('+')[0]}"})


def round_parameters(module):
    with torch.no_grad():
        for p in module.parameters():
            p.copy_((torch.randn_like(p) * 0.5).float().double())


def layer(store, case, module, x, name="layer", buffers=()):
    round_parameters(module)
    for key, p in module.named_parameters():
        store[f"{case}.state.{name}.{key}"] = p.clone()
    for key in buffers:
        b = getattr(module, key)
        b.copy_(rand(*b.shape).abs() + 0.5 if key == "running_var" else rand(*b.shape))
        store[f"{case}.state.{name}.{key}"] = b.clone()
    x = x.clone().requires_grad_()
    y = module(x)
    g = rand(*y.shape)
    (y * g).sum().backward()
    store.update({f"{case}.x": x, f"{case}.y": y, f"{case}.g": g, f"{case}.dx": x.grad})
    for key, p in module.named_parameters():
        store[f"{case}.d.{name}.{key}"] = p.grad
    for key in buffers:
        store[f"{case}.after.{name}.{key}"] = getattr(module, key).clone()


def layers():
    s = {}
    layer(s, "linear", nn.Linear(7, 5), rand(3, 4, 7))
    layer(s, "linear_no_bias", nn.Linear(33, 31, bias=False), rand(9, 33))
    layer(s, "conv1d", nn.Conv1d(3, 5, 4, stride=2, padding=1, dilation=2), rand(2, 3, 17))
    layer(s, "conv2d", nn.Conv2d(6, 4, (3, 2), stride=(2, 1), padding=(1, 0), dilation=(1, 2), groups=2), rand(2, 6, 8, 9))
    layer(s, "conv2d_plain", nn.Conv2d(3, 8, 3), rand(2, 3, 10, 10))
    layer(s, "conv3d", nn.Conv3d(2, 3, (2, 3, 2), stride=(1, 2, 1), padding=(1, 0, 1), bias=False), rand(2, 2, 3, 5, 4))
    layer(s, "max_pool2d", nn.MaxPool2d(3, 2, 1, ceil_mode=True), rand(2, 3, 8, 7))
    layer(s, "mean_pool2d", nn.AvgPool2d(3, 2, 1, ceil_mode=True, count_include_pad=True), rand(2, 3, 8, 7))
    layer(s, "mean_pool1d", nn.AvgPool1d(3, 2, 1, ceil_mode=True, count_include_pad=False), rand(2, 3, 8))
    layer(s, "global_mean_pool", nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten()), rand(2, 3, 5, 4))
    stats = ("running_mean", "running_var")
    layer(s, "batch_norm2d", nn.BatchNorm2d(5), rand(4, 5, 3, 6), buffers=stats)
    layer(s, "batch_norm1d", nn.BatchNorm1d(3, eps=1e-3, momentum=0.25), rand(6, 3), buffers=stats)
    layer(s, "batch_norm_plain", nn.BatchNorm2d(2, affine=False), rand(1, 2, 3, 3), buffers=stats)
    layer(s, "batch_norm_eval", nn.BatchNorm2d(5).eval(), rand(4, 5, 3, 2), buffers=stats)
    layer(s, "layer_norm", nn.LayerNorm(33), rand(4, 33))
    layer(s, "layer_norm2", nn.LayerNorm((3, 5), eps=1e-3), rand(2, 4, 3, 5))
    x = torch.cat([rand(40, scale=3), torch.tensor([-30.0, -9.0, -5.5, 0.0, 4.0, 20.0, 60.0])]).reshape(47, 1)
    for case, f in {
        "relu": nn.ReLU(), "leaky_relu": nn.LeakyReLU(0.01), "gelu": nn.GELU(), "gelu_tanh": nn.GELU(approximate="tanh"),
        "silu": nn.SiLU(), "tanh": nn.Tanh(), "sigmoid": nn.Sigmoid(), "softplus": nn.Softplus(),
    }.items():
        layer(s, case, f, x)
    layer(s, "softmax", nn.Softmax(dim=1), rand(3, 11, 2, scale=4))
    layer(s, "log_softmax", nn.LogSoftmax(dim=-1), rand(5, 33, scale=20))
    save("layers", s)


def loss(store, case, function, x, **inputs):
    x = x.clone().requires_grad_()
    value = function(x)
    if value.ndim:
        g = rand(*value.shape)
        store[f"{case}.g"] = g
        (value * g).sum().backward()
    else:
        value.backward()
    store.update({f"{case}.x": x, f"{case}.loss": value, f"{case}.dx": x.grad})
    for key, t in inputs.items():
        store[f"{case}.{key}"] = t.int() if key == "labels" else t


def losses():
    s = {}
    x, labels = rand(9, 7, scale=3), torch.randint(0, 7, (9,))
    weights = rand(7).abs() + 0.1
    some = labels.clone()
    some[[1, 4, 5]] = -100
    inner = labels.clone()
    inner[[0, 3]] = 2
    image, image_labels = rand(2, 4, 3, 5, scale=2), torch.randint(0, 4, (2, 3, 5))
    image_labels[0, 1, :] = -100
    loss(s, "ce", lambda x: F.cross_entropy(x, labels), x, labels=labels)
    loss(s, "ce_sum", lambda x: F.cross_entropy(x, labels, reduction="sum"), x, labels=labels)
    loss(s, "ce_none", lambda x: F.cross_entropy(x, some, reduction="none"), x, labels=some)
    loss(s, "ce_ignore", lambda x: F.cross_entropy(x, some), x, labels=some)
    loss(s, "ce_ignore_class", lambda x: F.cross_entropy(x, inner, ignore_index=2), x, labels=inner)
    loss(s, "ce_weights", lambda x: F.cross_entropy(x, labels, weight=weights), x, labels=labels, weights=weights)
    loss(s, "ce_smoothing", lambda x: F.cross_entropy(x, labels, label_smoothing=0.1), x, labels=labels)
    loss(s, "ce_all", lambda x: F.cross_entropy(x, some, weight=weights, label_smoothing=0.2), x, labels=some, weights=weights)
    loss(s, "ce_image", lambda x: F.cross_entropy(x, image_labels), image, labels=image_labels)
    b, t = torch.cat([rand(20, scale=4), torch.tensor([0.0, 0.0, 30.0, 30.0, -30.0, -30.0])]), torch.rand(26).float().double()
    t[20:] = torch.tensor([0.0, 1.0, 0.0, 1.0, 0.0, 1.0])
    for reduction in ("mean", "none"):
        loss(s, f"bce_{reduction}", lambda x: F.binary_cross_entropy_with_logits(x, t, reduction=reduction), b, target=t)
    a, c = rand(4, 5, scale=2), rand(4, 5)
    for reduction in ("mean", "sum", "none"):
        loss(s, f"mse_{reduction}", lambda x: F.mse_loss(x, c, reduction=reduction), a, target=c)
        loss(s, f"huber_{reduction}", lambda x: F.huber_loss(x, c, reduction=reduction, delta=0.75), a, target=c)
    save("losses", s)


STEPS = 12


def optimizers():
    """Two parameters on a loss whose gradients differ in size: sum(c (p - target)^2) + sum(sin(3 p))."""
    s = {}
    first = [rand(3, 4), rand(5)]
    target = [rand(3, 4), rand(5)]
    scale = [rand(3, 4).abs() * 4, rand(5).abs() * 0.1]
    for i in range(2):
        s.update({f"p{i}": first[i], f"target{i}": target[i], f"scale{i}": scale[i]})
    kinds = {
        "sgd": lambda p: torch.optim.SGD(p, 0.05),
        "sgd_decay": lambda p: torch.optim.SGD(p, 0.05, weight_decay=0.1),
        "sgd_momentum": lambda p: torch.optim.SGD(p, 0.02, momentum=0.9),
        "sgd_nesterov": lambda p: torch.optim.SGD(p, 0.02, momentum=0.8, nesterov=True, weight_decay=0.05),
        "adam": lambda p: torch.optim.Adam(p, 0.1),
        "adam_decay": lambda p: torch.optim.Adam(p, 0.1, betas=(0.8, 0.95), eps=1e-6, weight_decay=0.1),
        "adamw": lambda p: torch.optim.AdamW(p, 0.1, weight_decay=0.2),
        "clip_norm": lambda p: torch.optim.SGD(p, 0.05),
        "clip_value": lambda p: torch.optim.SGD(p, 0.05),
    }
    for case, make in kinds.items():
        p = [t.clone().requires_grad_() for t in first]
        optimizer = make(p)
        trace = [[], []]
        for _ in range(STEPS):
            optimizer.zero_grad()
            value = sum((scale[i] * (p[i] - target[i]) ** 2).sum() + torch.sin(3 * p[i]).sum() for i in range(2))
            value.backward()
            if case == "clip_norm":
                torch.nn.utils.clip_grad_norm_(p, 1.5)
            if case == "clip_value":
                torch.nn.utils.clip_grad_value_(p, 0.5)
            optimizer.step()
            for i in range(2):
                trace[i].append(p[i].detach().clone())
        for i in range(2):
            s[f"{case}.after{i}"] = torch.stack(trace[i])
    save("optimizers", s)


def schedules():
    s = {}

    def run(case, n, lr, make):
        optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr)
        scheduler = make(optimizer)
        values = []
        for _ in range(n):
            values.append(optimizer.param_groups[0]["lr"])
            optimizer.step()
            scheduler.step()
        s[case] = torch.tensor(values)

    sched = torch.optim.lr_scheduler
    run("one_cycle", 100, 1.0, lambda o: sched.OneCycleLR(o, 3e-3, total_steps=101))
    run("one_cycle_odd", 37, 1.0, lambda o: sched.OneCycleLR(o, 0.5, total_steps=38, pct_start=0.1, div_factor=10, final_div_factor=100))
    run("step", 40, 0.2, lambda o: sched.StepLR(o, 7, gamma=0.3))

    def warm(step, f):
        return (step + 1) / 10 if step < 10 else f(step)

    run("cosine", 120, 3e-4, lambda o: sched.LambdaLR(o, lambda t: warm(t, lambda t: 0.1 + 0.9 * 0.5 * (1 + math.cos(math.pi * min(1, (t - 10) / 90))))))
    run("linear", 120, 3e-4, lambda o: sched.LambdaLR(o, lambda t: warm(t, lambda t: 1 - 0.8 * min(1, (t - 10) / 90))))
    run("constant", 20, 3e-4, lambda o: sched.LambdaLR(o, lambda t: warm(t, lambda t: 1.0)))
    save("schedules", s)


if __name__ == "__main__":
    os.makedirs(OUT, exist_ok=True)
    layers()
    losses()
    optimizers()
    schedules()
