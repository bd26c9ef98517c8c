#!/usr/bin/env python3
"""Values of recurrent layers and of the CTC loss by PyTorch, for test/nn.

Writes test/golden/nn_{recurrent,ctc,lstm_training}.safetensors; see nn_golden.py for what they are and how
to run this. Sequences of many lengths go through pack_padded_sequence; what stands behind their ends is NaN.
"""
import os

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from nn_golden import rand, save


def recurrent(store, case, module, t=5, b=3, i=4, lengths=None, has_state=False):
    with torch.no_grad():
        for p in module.parameters():
            p.copy_((torch.randn_like(p) * 0.5).float().double())
    for key, p in module.named_parameters():
        store[f"{case}.state.layer.{key}"] = p.clone()
    shape = (b, t, i) if module.batch_first else (t, b, i)
    x = rand(*shape).requires_grad_()
    directions = 2 if module.bidirectional else 1
    is_lstm = isinstance(module, nn.LSTM)
    states = [rand(module.num_layers * directions, b, module.hidden_size).requires_grad_() for _ in range(2 if is_lstm else 1)]
    first = (tuple(states) if is_lstm else states[0]) if has_state else None
    if lengths:
        packed = pack_padded_sequence(x, torch.tensor(lengths), batch_first=module.batch_first, enforce_sorted=False)
        y, last = module(packed, first)
        y, _ = pad_packed_sequence(y, batch_first=module.batch_first, total_length=t)
        store[f"{case}.lengths"] = torch.tensor(lengths, dtype=torch.int32)
    else:
        y, last = module(x, first)
    finals = last if is_lstm else (last,)
    weights = [rand(*y.shape)] + [rand(*f.shape) for f in finals]
    sum((v * w).sum() for v, w in zip((y, *finals), weights)).backward()
    given = x.detach().clone()
    if lengths:
        for k, n in enumerate(lengths):
            (given[k, n:] if module.batch_first else given[n:, k]).fill_(float("nan"))
    store.update({f"{case}.x": given, f"{case}.y": y, f"{case}.g": weights[0], f"{case}.dx": x.grad})
    for name, f, w, s in zip("hc", finals, weights[1:], states):
        store[f"{case}.{name}n"] = f
        store[f"{case}.g{name}"] = w
        if has_state:
            store[f"{case}.{name}0"] = s
            store[f"{case}.d{name}0"] = s.grad
    for key, p in module.named_parameters():
        store[f"{case}.d.layer.{key}"] = p.grad


def recurrents():
    store = {}
    recurrent(store, "lstm", nn.LSTM(4, 3))
    recurrent(store, "lstm_deep", nn.LSTM(4, 3, num_layers=2, bidirectional=True, batch_first=True), lengths=[3, 5, 1], has_state=True)
    recurrent(store, "gru", nn.GRU(4, 3), has_state=True)
    recurrent(store, "gru_deep", nn.GRU(4, 3, num_layers=2, bidirectional=True), lengths=[5, 2, 4])
    recurrent(store, "rnn", nn.RNN(4, 3, num_layers=2))
    recurrent(store, "rnn_relu", nn.RNN(4, 3, nonlinearity="relu", bias=False, batch_first=True), lengths=[2, 5, 3])
    save("recurrent", store)


def ctc(store, case, t, b, c, labels, lengths, blank=0, reduction="none"):
    """labels: one list a sample; padded with -1, which is no class."""
    logits = rand(t, b, c).requires_grad_()
    n = max(len(l) for l in labels)
    padded = torch.full((b, n), -1, dtype=torch.int32)
    for k, l in enumerate(labels):
        padded[k, : len(l)] = torch.tensor(l, dtype=torch.int32)
    flat = torch.tensor([v for l in labels for v in l], dtype=torch.long)
    sizes = torch.tensor([len(l) for l in labels])
    loss = F.ctc_loss(F.log_softmax(logits, 2), flat, torch.tensor(lengths), sizes, blank=blank, reduction=reduction)
    g = rand(*loss.shape)
    possible = torch.isfinite(loss)  # what is not has a gradient of 0 here, of NaN in PyTorch
    (loss * g)[possible].sum().backward()
    store.update({f"{case}.x": logits, f"{case}.labels": padded, f"{case}.lengths": torch.tensor(lengths, dtype=torch.int32),
                  f"{case}.label_lengths": sizes.int(), f"{case}.y": loss, f"{case}.g": torch.where(possible, g, 0.0), f"{case}.dx": torch.where(possible[None, :, None], logits.grad, 0.0)})


def ctcs():
    store = {}
    ctc(store, "plain", 7, 3, 5, [[1, 2, 3], [4, 1], [2]], [7, 7, 7])
    ctc(store, "lengths", 9, 4, 6, [[1, 2, 3, 4], [5, 1], [2, 2, 2], [3]], [9, 4, 6, 1])
    ctc(store, "repeats", 8, 2, 4, [[1, 1, 2, 2], [3, 3, 3, 3]], [8, 7])
    ctc(store, "blank_last", 6, 2, 4, [[0, 1], [2, 0, 0]], [6, 5], blank=3)
    ctc(store, "empty", 5, 3, 3, [[], [1], [2, 1]], [5, 1, 3])
    ctc(store, "impossible", 4, 3, 3, [[1, 1, 1], [1, 2], [2, 2, 1]], [4, 4, 3])
    ctc(store, "long", 80, 2, 12, [list(range(1, 12)) * 2, [3, 4, 4, 5]], [80, 55])
    save("ctc", store)


class CharLSTM(nn.Module):
    def __init__(self, vocabulary=30, width=32):
        super().__init__()
        self.embed, self.lstm, self.head = nn.Embedding(vocabulary, width), nn.LSTM(width, width, 2, batch_first=True), nn.Linear(width, vocabulary)

    def forward(self, tokens):
        return self.head(self.lstm(self.embed(tokens))[0])


def training():
    """Losses of 20 steps of Adam in float64 and in float32, from the same weights and batches."""
    store, losses = {}, {}
    net = CharLSTM()
    with torch.no_grad():
        for p in net.parameters():
            p.copy_(p.float().double())
    for key, p in net.named_parameters():
        store[f"lstm.state.{key}"] = p.clone()
    tokens = torch.randint(0, 30, (20, 8, 25))
    tokens[:, :, 1:] = (tokens[:, :, :-1] * 3 + 1) % 30  # something to learn
    store["lstm.tokens"] = tokens.int()
    for name, dtype in (("y64", torch.float64), ("y32", torch.float32)):
        copy = CharLSTM().to(dtype)
        copy.load_state_dict({k: v.to(dtype) for k, v in net.state_dict().items()})
        adam = torch.optim.Adam(copy.parameters(), lr=1e-2)
        losses[name] = []
        for batch in tokens:
            adam.zero_grad()
            loss = F.cross_entropy(copy(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())
            loss.backward()
            adam.step()
            losses[name].append(loss.double().item())
    # float64 losses as two float32 numbers: one would hide what is compared.
    exact = torch.tensor(losses["y64"], dtype=torch.float64)
    store["lstm.y64"], store["lstm.y64_rest"] = exact.float(), (exact - exact.float().double()).float()
    store["lstm.y32"] = torch.tensor(losses["y32"], dtype=torch.float64).float()
    save("lstm_training", store)


if __name__ == "__main__":
    torch.manual_seed(20240502)
    recurrents()
    ctcs()
    training()
