#!/usr/bin/env python3
"""Values of optimisers and schedules for test/nn: what nn_golden.py does not have.

Writes test/golden/nn_optimizer_kinds.safetensors and nn_schedule_kinds.safetensors. Needs torch, numpy and
safetensors, as nn_golden.py. PyTorch is the source where it has the optimiser in float64 (RMSprop, Adagrad);
LAMB, Lion and Muon are transcribed here from their papers, in float64 NumPy:
  LAMB  Y. You et al., "Large Batch Optimization for Deep Learning", ICLR 2020, algorithm 2, phi(z) = z
  Lion  X. Chen et al., "Symbolic Discovery of Optimization Algorithms", NeurIPS 2023, algorithm 2
  Muon  K. Jordan et al., 2024, kellerjordan.github.io/posts/muon (Nesterov momentum, five Newton-Schulz
        steps with 3.4445, -4.7750, 2.0315), scaled by 0.2 sqrt(max(rows, columns)) as J. Liu et al., "Muon is
        Scalable for LLM Training", 2025; parameters of one dim by AdamW. (PyTorch's Muon runs in bfloat16.)
A case's tensors: "<case>.after<i>" [5, ...]: parameter i behind each of five steps.
"""
import math
import os

import numpy as np
import torch
from safetensors.numpy import save_file

HERE = os.path.dirname(os.path.abspath(__file__))
OUT = os.path.join(HERE, "..", "..", "test", "golden")
STEPS = 5
RANDOM = np.random.default_rng(20261130)
SHAPES = [(3, 4), (5,), (6, 2, 2)]


def rand(shape, scale=1.0):
    return (RANDOM.standard_normal(shape) * scale).astype(np.float32).astype(np.float64)


FIRST = [rand(s) for s in SHAPES]
TARGET = [rand(s) for s in SHAPES]
SCALE = [np.abs(rand(s)) * k for s, k in zip(SHAPES, (4, 0.1, 1))]


def gradient(i, p):
    """Of sum(scale (p - target)^2) + sum(sin(3 p))."""
    return 2 * SCALE[i] * (p - TARGET[i]) + 3 * np.cos(3 * p)


def adamw(lr, decay=0.0, betas=(0.9, 0.999), eps=1e-8):
    def step(state, p, g, t):
        m = state["m"] = betas[0] * state.get("m", 0) + (1 - betas[0]) * g
        v = state["v"] = betas[1] * state.get("v", 0) + (1 - betas[1]) * g * g
        p = p * (1 - lr * decay)
        return p - lr * (m / (1 - betas[0] ** t)) / (np.sqrt(v / (1 - betas[1] ** t)) + eps)

    return step


def lamb(lr, decay=0.0, betas=(0.9, 0.999), eps=1e-6):
    def step(state, p, g, t):
        m = state["m"] = betas[0] * state.get("m", 0) + (1 - betas[0]) * g
        v = state["v"] = betas[1] * state.get("v", 0) + (1 - betas[1]) * g * g
        r = (m / (1 - betas[0] ** t)) / (np.sqrt(v / (1 - betas[1] ** t)) + eps) + decay * p
        weights, length = np.linalg.norm(p), np.linalg.norm(r)
        trust = weights / length if weights > 0 and length > 0 else 1.0
        return p - lr * trust * r

    return step


def lion(lr, decay=0.0, betas=(0.9, 0.99)):
    def step(state, p, g, t):
        m = state.get("m", 0 * g)
        c = np.sign(betas[0] * m + (1 - betas[0]) * g)
        state["m"] = betas[1] * m + (1 - betas[1]) * g
        return p - lr * (c + decay * p)

    return step


def muon(lr, decay=0.0, momentum=0.95):
    others = adamw(lr, decay)

    def step(state, p, g, t):
        if p.ndim < 2:
            return others(state, p, g, t)
        m = state["m"] = momentum * state.get("m", 0) + (1 - momentum) * g
        x = ((1 - momentum) * g + momentum * m).reshape(p.shape[0], -1)
        rows, columns = x.shape
        x = x.T if rows > columns else x
        x = x / (np.linalg.norm(x) + 1e-7)
        for _ in range(5):
            a = x @ x.T
            x = 3.4445 * x + (-4.7750 * a + 2.0315 * a @ a) @ x
        x = x.T if rows > columns else x
        return p * (1 - lr * decay) - lr * 0.2 * math.sqrt(max(rows, columns)) * x.reshape(p.shape)

    return step


def by_numpy(step):
    states = [{} for _ in SHAPES]
    p = [a.copy() for a in FIRST]
    trace = [[] for _ in SHAPES]
    for t in range(1, STEPS + 1):
        for i in range(len(p)):
            p[i] = step(states[i], p[i], gradient(i, p[i]), t)
            trace[i].append(p[i])
    return [np.stack(x) for x in trace]


def by_torch(make):
    p = [torch.tensor(a, dtype=torch.float64) for a in FIRST]
    optimizer = make(p)
    trace = [[] for _ in SHAPES]
    for _ in range(STEPS):
        for i, q in enumerate(p):
            q.grad = torch.tensor(gradient(i, q.numpy()))
        optimizer.step()
        for i, q in enumerate(p):
            trace[i].append(q.numpy().copy())
    return [np.stack(x) for x in trace]


def optimizers():
    o = torch.optim
    s = {}
    for i in range(len(SHAPES)):
        s.update({f"p{i}": FIRST[i], f"target{i}": TARGET[i], f"scale{i}": SCALE[i]})
    cases = {
        "rmsprop": by_torch(lambda p: o.RMSprop(p, 0.02)),
        "rmsprop_all": by_torch(
            lambda p: o.RMSprop(p, 0.02, alpha=0.9, eps=1e-4, weight_decay=0.1, momentum=0.8, centered=True)
        ),
        "adagrad": by_torch(lambda p: o.Adagrad(p, 0.1)),
        "adagrad_all": by_torch(
            lambda p: o.Adagrad(p, 0.1, lr_decay=0.1, weight_decay=0.1, initial_accumulator_value=0.5, eps=1e-6)
        ),
        "lamb": by_numpy(lamb(0.05)),
        "lamb_decay": by_numpy(lamb(0.05, decay=0.1, betas=(0.8, 0.95), eps=1e-5)),
        "lion": by_numpy(lion(0.01)),
        "lion_decay": by_numpy(lion(0.01, decay=0.5, betas=(0.95, 0.98))),
        "muon": by_numpy(muon(0.02)),
        "muon_decay": by_numpy(muon(0.02, decay=0.2, momentum=0.8)),
    }
    for case, trace in cases.items():
        for i, values in enumerate(trace):
            s[f"{case}.after{i}"] = values
    save("nn_optimizer_kinds", s)


def schedules():
    """Warm-up, a plateau, then a decay in the last steps (S. Hu et al., "MiniCPM", 2024): WSD."""
    s = {}

    def wsd(t, warmup, total, share, final, shape):
        begin = total - round(share * (total - warmup))
        if t < warmup:
            return (t + 1) / warmup
        if t < begin:
            return 1.0
        left = max(0.0, (total - t) / (total - begin))
        return final + (1 - final) * (left if shape == "linear" else 1 - math.sqrt(1 - left))

    s["wsd"] = np.array([3e-4 * wsd(t, 10, 100, 0.2, 0.0, "linear") for t in range(120)])
    s["wsd_final"] = np.array([0.5 * wsd(t, 0, 50, 0.5, 0.1, "linear") for t in range(60)])
    s["wsd_sqrt"] = np.array([0.5 * wsd(t, 5, 77, 0.3, 0.05, "sqrt") for t in range(80)])
    save("nn_schedule_kinds", s)


def save(name, tensors):
    made_by = f"torch {torch.__version__.split('+')[0]}, numpy {np.__version__}"
    out = {k: np.ascontiguousarray(tensors[k].astype(np.float32)) for k in sorted(tensors)}
    save_file(out, os.path.join(OUT, f"{name}.safetensors"), metadata={"made_by": made_by})


if __name__ == "__main__":
    optimizers()
    schedules()
