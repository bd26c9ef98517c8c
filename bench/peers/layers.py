#!/usr/bin/env python3
"""Times matrix products and convolutions in PyTorch (its MKL and oneDNN): one JSON line each.

    layers.py gemm|conv [--threads N] [--filter TEXT] [--seconds S]    rows of ../shapes.json
    layers.py gemm|conv --serve                                        rows from standard input, a JSON list a line

Of a convolution both memory layouts are timed and the faster is kept; "direction" is forward, dX or dW. With --serve
an empty line stands behind the answer to each row, so that somebody may measure something else before the next one.
"""

import argparse
import json
import os
import statistics
import sys

import fair

SHAPES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "shapes.json")
WINDOWS = 7


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=["gemm", "conv"])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--filter", default="")
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--serve", action="store_true")
    parser.add_argument("--cpu-time", action="store_true", help="the processor's time, where others work too")
    return parser.parse_args()


def clock(f, args):
    """Median seconds of a call, over windows of several."""
    now = fair.clock(args.cpu_time)
    for _ in range(2):
        f()
    start = now()
    f()
    one = now() - start
    per, out = max(1, int(args.seconds / WINDOWS / max(one, 1e-7))), []
    for _ in range(WINDOWS):
        start = now()
        for _ in range(per):
            f()
        out.append((now() - start) / per)
    return statistics.median(out)


def tell(kind, row, direction, seconds, work):
    line = {"kind": kind, "shape": row, "direction": direction, "ms": round(seconds * 1e3, 5)}
    print(json.dumps({**line, "gflops": round(work / seconds / 1e9, 1)}), flush=True)


def gemm(torch, row, args):
    _, m, k, n, ta, tb = row
    a, b = torch.randn((k, m) if ta else (m, k)), torch.randn((n, k) if tb else (k, n))
    a, b, c = (a.t() if ta else a), (b.t() if tb else b), torch.empty(m, n)
    tell("gemm", row, "forward", clock(lambda: torch.mm(a, b, out=c), args), 2 * m * n * k)


def conv(torch, row, args):
    _, n, c, h, o, r, s, p, g = row
    out = (h + 2 * p - r) // s + 1
    best = {}
    for layout in (torch.contiguous_format, torch.channels_last):
        x, w, dy = (
            torch.randn(*dims).to(memory_format=layout) for dims in ((n, c, h, h), (o, c // g, r, r), (n, o, out, out))
        )

        def back(mask):
            return torch.ops.aten.convolution_backward(dy, x, w, None, [s, s], [p, p], [1, 1], False, [0, 0], g, mask)

        runs = {
            "forward": lambda: torch.conv2d(x, w, None, s, p, 1, g),
            "dX": lambda: back([True, False, False]),
            "dW": lambda: back([False, True, False]),
        }
        for direction, f in runs.items():
            t = clock(f, args)
            best[direction] = min(best.get(direction, t), t)
    for direction, t in best.items():
        tell("conv", row, direction, t, 2 * n * o * out * out * (c // g) * r * r)


def main():
    args = parse()
    fair.restart(args.threads)
    torch = fair.torch_for(args.threads)
    torch.mm(torch.randn(512, 512), torch.randn(512, 512))  # so that the threads exist
    fair.pin(args.threads)
    run = gemm if args.kind == "gemm" else conv
    with torch.no_grad():
        if args.serve:
            print(json.dumps({"system": "torch " + torch.__version__.split("+")[0]}), flush=True)
            for line in sys.stdin:
                run(torch, json.loads(line), args)
                print(flush=True)
            return
        with open(SHAPES) as f:
            rows = json.load(f)[args.kind]["rows"]
        for row in rows:
            if args.filter in row[0]:
                run(torch, row, args)


if __name__ == "__main__":
    main()
