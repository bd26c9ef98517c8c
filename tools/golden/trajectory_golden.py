#!/usr/bin/env python3
"""Twenty training steps of five small networks by PyTorch, for test/nn/nn_trajectory_test.c.

Writes test/golden/nn_trajectory.safetensors. Needs torch and safetensors, as nn_golden.py. A network's
tensors: "<net>.state.<parameter>" before the first step; "<net>.x" and "<net>.labels" [batches, ..], step i
takes batch i mod batches; "<net>.loss64" [20] f64 from a run in float64, and "<net>.loss32" [20] f32 from the
same run in float32: how far rounding alone takes PyTorch from the truth is the measure for weft.
"""
import copy
import os

import torch
import torch.nn as nn
import torch.nn.functional as F
from safetensors.torch import save_file

torch.manual_seed(20261130)
torch.set_num_threads(1)
HERE = os.path.dirname(os.path.abspath(__file__))
OUT = os.path.join(HERE, "..", "..", "test", "golden", "nn_trajectory.safetensors")
STEPS, BATCHES = 20, 4


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2, self.fc3 = nn.Linear(64, 48), nn.Linear(48, 32), nn.Linear(32, 10)

    def forward(self, x):
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x)))))


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 6, 5, padding=2), nn.Conv2d(6, 16, 5)
        self.fc1, self.fc2, self.fc3 = nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x.flatten(1))))))


class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8)
        self.conv2, self.bn2 = nn.Conv2d(8, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16)
        self.fc = nn.Linear(16, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 2)
        return self.fc(F.relu(self.bn2(self.conv2(x))).mean((2, 3)))


class CharLstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.lstm, self.head = nn.Embedding(29, 24), nn.LSTM(24, 24, 2, batch_first=True), nn.Linear(24, 29)

    def forward(self, tokens):
        return self.head(self.lstm(self.embed(tokens))[0]).flatten(0, 1)


class Block(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads, self.l1, self.l2 = heads, nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.proj, self.up, self.down = nn.Linear(d, 3 * d), nn.Linear(d, d), nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = (z.view(b, t, self.heads, d // self.heads).transpose(1, 2) for z in self.qkv(self.l1(x)).split(d, 2))
        s = q @ k.transpose(2, 3) / (d // self.heads) ** 0.5
        s = s.masked_fill(torch.ones(t, t, dtype=torch.bool).triu(1), float("-inf")).softmax(3)
        x = x + self.proj((s @ v).transpose(1, 2).reshape(b, t, d))
        return x + self.down(F.gelu(self.up(self.l2(x))))


class Gpt(nn.Module):
    def __init__(self, vocabulary=29, d=32, heads=4, layers=2, context=24):
        super().__init__()
        self.te, self.pe = nn.Embedding(vocabulary, d), nn.Embedding(context, d)
        self.h, self.ln = nn.Sequential(*[Block(d, heads) for _ in range(layers)]), nn.LayerNorm(d)
        self.head = nn.Linear(d, vocabulary, bias=False)

    def forward(self, tokens):
        return self.head(self.ln(self.h(self.te(tokens) + self.pe(torch.arange(tokens.shape[1]))))).flatten(0, 1)


def images(batch, *shape):
    # Sixteenths: few bits, exact in every format.
    return (torch.randn(BATCHES, batch, *shape) * 16).round() / 16, torch.randint(0, 10, (BATCHES, batch))


def tokens(batch, length):
    return torch.randint(0, 29, (BATCHES, batch, length)), torch.randint(0, 29, (BATCHES, batch * length))


def train(net, x, labels, optimiser):
    opt, losses = optimiser(net.parameters()), []
    for i in range(STEPS):
        opt.zero_grad()
        loss = F.cross_entropy(net(x[i % BATCHES]), labels[i % BATCHES])
        loss.backward()
        opt.step()
        losses.append(loss.detach())
    return torch.stack(losses)


NETS = {
    "mlp": (Mlp, lambda: images(16, 64), lambda p: torch.optim.Adam(p, lr=3e-3)),
    "lenet": (LeNet, lambda: images(8, 1, 28, 28), lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9)),
    "cnn": (Cnn, lambda: images(8, 3, 12, 12), lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9)),
    "lstm": (CharLstm, lambda: tokens(4, 24), lambda p: torch.optim.Adam(p, lr=1e-2)),
    "gpt": (Gpt, lambda: tokens(4, 24), lambda p: torch.optim.AdamW(p, lr=3e-3, weight_decay=0.0)),
}

store = {}
for name, (make, data, optimiser) in NETS.items():
    net, (x, labels) = make(), data()
    for key, p in net.named_parameters():
        store[f"{name}.state.{key}"] = p.detach().clone()
    double = x.double() if x.dtype == torch.float32 else x
    loss64 = train(copy.deepcopy(net).double(), double, labels, optimiser)
    loss32 = train(copy.deepcopy(net), x, labels, optimiser)
    store[f"{name}.x"] = x if x.dtype == torch.float32 else x.to(torch.int32)
    store[f"{name}.labels"] = labels.to(torch.int32)
    store[f"{name}.loss64"], store[f"{name}.loss32"] = loss64, loss32
    rms = (loss32.double() - loss64).square().mean().sqrt()
    print(f"{name}: loss {loss64[0]:.4f} -> {loss64[-1]:.4f}, float32 is {rms:.3g} away")
save_file({k: store[k].contiguous() for k in sorted(store)}, OUT, metadata={"made_by": f"torch {torch.__version__.split('+')[0]}"})
