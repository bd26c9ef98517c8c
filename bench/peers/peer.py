#!/usr/bin/env python3
"""Times one network of nets.py in PyTorch or ONNX Runtime and prints one JSON line.

    peer.py NAME [--infer] [--threads N] [--backend eager|channels_last|compile|compile_cl|ort]
            [--seconds S] [--windows W] [--cpu-time]

median_ms and best_ms are over W windows of several steps each, fewer where a step takes long. What fair.py does makes
the peer faster: it should be measured at its best.
"""

import argparse
import io
import json
import logging
import math
import statistics
import warnings

import fair


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("name")
    parser.add_argument("--infer", action="store_true")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument(
        "--backend", default="eager", choices=["eager", "channels_last", "compile", "compile_cl", "ort"]
    )
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--windows", type=int, default=9)
    parser.add_argument("--cpu-time", action="store_true", help="the processor's time, where others work too")
    return parser.parse_args()


def flops(torch, nets, w, is_inference):
    """2 x multiply-adds of one step: products and convolutions (grouped ones by their group), 3 x forward in training."""
    nn = torch.nn
    total = 0

    def add(module, inputs, output):
        nonlocal total
        x = inputs[0]
        if isinstance(module, nn.Conv2d):
            total += 2 * output.numel() * module.weight[0].numel()
        elif isinstance(module, nn.ConvTranspose2d):
            total += 2 * x.numel() * module.weight[0].numel()
        elif isinstance(module, nn.Linear):
            total += 2 * output.numel() * module.in_features
        elif isinstance(module, nn.LSTM):
            weights = (p.numel() for n, p in module.named_parameters() if n.startswith("weight"))
            total += sum(2 * n * x.shape[0] * x.shape[1] for n in weights)
        elif isinstance(module, nets.GPTBlock):
            total += 4 * math.prod(x.shape) * x.shape[1] // 2  # causal: half of the scores

    hooks = [m.register_forward_hook(add) for m in w.net.modules()]
    with torch.no_grad():
        w.net(w.x)
    for h in hooks:
        h.remove()
    return total * (1 if is_inference else 3)


def onnx_step(torch, net, x, threads):
    import onnxruntime as ort

    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    model = io.BytesIO()
    with torch.no_grad():
        torch.onnx.export(net, (x,), model, input_names=["x"], output_names=["y"], opset_version=17, dynamo=False)
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.add_session_config_entry("session.set_denormal_as_zero", "1")
    session = ort.InferenceSession(model.getvalue(), options, providers=["CPUExecutionProvider"])
    feed = {"x": x.numpy()}
    return lambda: session.run(None, feed), "onnxruntime " + ort.__version__


def torch_step(torch, w, args):
    if args.backend in ("channels_last", "compile_cl") and w.x.dim() == 4:
        w.net, w.x = w.net.to(memory_format=torch.channels_last), w.x.to(memory_format=torch.channels_last)
    net = w.net
    if args.backend.startswith("compile"):
        if args.infer:
            import torch._inductor.config as inductor

            inductor.freezing = True
        net = torch.compile(net, mode="max-autotune-no-cudagraphs" if args.infer else None)
    optimiser = None if args.infer else w.optimiser(w.net.parameters())

    def infer():
        with torch.no_grad():
            net(w.x)

    def train():
        optimiser.zero_grad(set_to_none=True)
        w.loss(net(w.x), w.y).backward()
        optimiser.step()

    return infer if args.infer else train


def measure(step, args):
    now = fair.clock(args.cpu_time)
    for _ in range(3):
        step()
    fair.pin(args.threads)
    start = now()
    step()
    one = now() - start
    windows = min(args.windows, max(3, int(args.seconds / max(one, 1e-7))))
    per = max(1, int(args.seconds / windows / max(one, 1e-7)))
    times = []
    for _ in range(windows):
        start = now()
        for _ in range(per):
            step()
        times.append((now() - start) / per)
    return times


def main():
    args = parse()
    fair.restart(args.threads)
    torch = fair.torch_for(args.threads)
    import nets

    w = nets.workload(args.name, args.infer)
    w.net.train(not args.infer)
    count = flops(torch, nets, w, args.infer)
    if args.backend == "ort":
        step, version = onnx_step(torch, w.net.eval(), w.x, args.threads)
    else:
        step, version = torch_step(torch, w, args), "torch " + torch.__version__.split("+")[0]
    times = measure(step, args)
    median = statistics.median(times)
    line = {
        "name": args.name + ("-infer" if args.infer else ""),
        "system": version,
        "backend": args.backend,
        "threads": args.threads,
        "median_ms": round(median * 1e3, 4),
        "best_ms": round(min(times) * 1e3, 4),
        "per_s": round(w.items / median, 1),
        "unit": w.unit,
        "gflop": round(count / 1e9, 4),
        "gflops": round(count / median / 1e9, 1),
        "peak_rss_bytes": fair.peak_rss_bytes(),
    }
    print(json.dumps(line))


if __name__ == "__main__":
    main()
