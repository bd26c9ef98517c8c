#!/usr/bin/env python3
"""How fast is weft beside PyTorch, ONNX Runtime and oneDNN on this machine? Measures in turns (ours, theirs, ours,
theirs), on the same CPUs, and prints a table of ratios. See README.md here.

    bench/compare.py --python VENV/bin/python                     everything, one thread: about an hour
    bench/compare.py --python VENV/bin/python --quick             some of it, a few minutes
    bench/compare.py --python VENV/bin/python --sections conv --only depthwise --rounds 3
    bench/compare.py --versus 'fast=build/release/weft bench --precision fast'    weft against itself, no peers
    bench/compare.py --table RAW.json                             only prints what was measured
"""

import argparse
import json
import os
import platform
import re
import shlex
import subprocess
import sys
import time

from compare_systems import HERE, Failed, Network, OneDnn, Subject, TorchLayers, Weft, spread_cpus
from compare_table import report

NETWORKS = ["mlp", "lenet", "vgg6", "kanncnn", "resnet18", "mobilenetv2", "unet", "lstm", "chargpt", "gpt2"]
INFERENCE = [*NETWORKS, "resnet18_224"]
QUICK = ["mlp", "lenet", "vgg6", "resnet18", "lstm"]
SECTIONS = ["train", "infer", "gemm", "conv"]
BACKENDS = ["eager", "channels_last", "compile", "compile_cl"]
CLEARLY_SLOWER = 1.2  # than the fastest of the peers: that backend is not measured again


def parse():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--weft", default="build/release/weft", help="the command (build/release/weft)")
    p.add_argument(
        "--python", help="a python that has torch, and onnxruntime, onnx and onnxscript; without: only oneDNN"
    )
    p.add_argument("--sections", default=",".join(SECTIONS), help="of train,infer,gemm,conv (all)")
    p.add_argument("--only", default="", help="only networks and rows whose name or sizes match this expression")
    p.add_argument("--threads", default="1", help="a list: 1,2 (1)")
    p.add_argument("--rounds", type=int, help="5; with --quick 2")
    p.add_argument("--seconds", type=float, help="for each measurement of a network (3; with --quick 1)")
    p.add_argument("--layer-seconds", type=float, help="for each of a layer in one direction (0.3; with --quick 0.1)")
    p.add_argument(
        "--backends", help="of PyTorch (eager,channels_last,compile,compile_cl; with --quick without the last two)"
    )
    p.add_argument("--quick", action="store_true", help="five networks, every fourth row, fewer and shorter rounds")
    p.add_argument(
        "--cpu-time", action="store_true", help="the processor's time, for one thread, where others work too"
    )
    p.add_argument("--isa", help="of weft, as `weft bench` has it")
    p.add_argument(
        "--versus",
        action="append",
        default=[],
        metavar="LABEL=COMMAND",
        help="another weft as a peer, instead of the others",
    )
    p.add_argument("--json", help="raw results, a line each, are added to this file")
    p.add_argument("--resume", action="store_true", help="go on where --json ends")
    p.add_argument("--minutes", type=float, help="begin nothing new after so many")
    p.add_argument("--table", metavar="RAW.json", help="print the table of a file and end")
    p.add_argument("--build", default=os.path.join(HERE, "..", "build", "bench"), help="where onednn is compiled to")
    o = p.parse_args()
    if o.cpu_time and o.threads != "1":
        p.error("--cpu-time is for one thread: threads that wait for each other take time, too")
    o.rounds = o.rounds or (2 if o.quick else 5)
    o.seconds = o.seconds or (1.0 if o.quick else 3.0)
    o.layer_seconds = o.layer_seconds or (0.1 if o.quick else 0.3)
    o.clock = ["--cpu-time"] if o.cpu_time else []
    o.backends = (o.backends or ",".join(BACKENDS[:2] if o.quick else BACKENDS)).split(",")
    return o


def read_lines(path):
    with open(path) as f:
        return [json.loads(line) for line in f if line.strip()]


def subjects_of(o):
    with open(os.path.join(HERE, "shapes.json")) as f:
        shapes = json.load(f)
    out = []
    for section in o.sections.split(","):
        if section not in SECTIONS:
            raise SystemExit(f"compare: no section {section}, expected some of {','.join(SECTIONS)}")
        if section in ("gemm", "conv"):
            rows = shapes[section]["rows"][:: 4 if o.quick else 1]
            keys = [json.dumps(row) for row in rows]
        else:
            keys = QUICK if o.quick else NETWORKS if section == "train" else INFERENCE
        out += [Subject(section, key) for key in keys]
    return [s for s in out if re.search(o.only, str(s))]


def systems_of(o):
    own = shlex.split(o.weft) + ["bench"] + (["--isa", o.isa] if o.isa else [])
    out = [Weft("weft", own, o)]
    for text in o.versus:
        label, _, command = text.partition("=")
        out.append(Weft(label, shlex.split(command), o))
    if not o.versus:
        out.append(OneDnn(o))
        if o.python:
            out += [Network(backend, o) for backend in [*o.backends, "ort"]] + [TorchLayers(o)]
    return out


def first_line(command):
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout.splitlines()[0]
    except (OSError, IndexError):
        return "unknown"


def machine(o):
    with open("/proc/cpuinfo") as f:
        found = re.search(r"model name\s*: (.*)", f.read())
    return {
        "processor": found.group(1) if found else platform.machine(),
        "cpus": ",".join(str(c) for c in spread_cpus(max(int(n) for n in o.threads.split(",")))),
        "load at the start": f"{os.getloadavg()[0]:.1f}",
        "date": time.strftime("%Y-%m-%d"),
        "weft": first_line(["git", "-C", HERE, "log", "-1", "--format=%h"]) + ", " + first_line(["cc", "--version"]),
        "command": f"`{shlex.join(['bench/compare.py', *sys.argv[1:]])}`",
    }


class Log:
    """Records, in memory and as lines of the file."""

    def __init__(self, o):
        self.records = read_lines(o.json) if o.resume and o.json and os.path.exists(o.json) else []
        self.file = open(o.json, "a" if o.resume else "w") if o.json else None

    def add(self, record):
        self.records.append(record)
        if self.file:
            print(json.dumps(record), file=self.file, flush=True)

    def of(self, subject, threads):
        return [
            r
            for r in self.records
            if r.get("section") == subject.section and r["subject"] == subject.key and r["threads"] == threads
        ]


def measure(system, subject, threads, round_, log):
    """One turn. False: it cannot."""
    known = log.of(subject, threads)
    if any(r["system"] == system.system and r["backend"] == system.backend and r["round"] == round_ for r in known):
        return True
    try:
        results = system.measure(subject, threads)
    except Failed as e:
        print(f"compare: {e}", file=sys.stderr)
        log.add({"failed": f"{system.system} {system.backend} {subject.section} {subject}".replace("  ", " ")})
        return False
    head = {"section": subject.section, "subject": subject.key, "threads": threads, "round": round_}
    for result in results:
        log.add({**head, "system": system.system, "backend": system.backend, **result})
        where = f"{subject.section} {subject} {result['direction']}, {threads} threads, round {round_}"
        print(f"{where}: {system.system} {system.backend} {result['ms']:.4g} ms".replace("  ", " "), file=sys.stderr)
    return True


def drop_slow(systems, subject, threads, log):
    """Networks, behind the first round: the peers' backends without those that were clearly slower."""
    first = {r["backend"]: r["ms"] for r in log.of(subject, threads) if r["round"] == 0 and r["backend"]}
    if not first:
        return systems
    best = min(first.values())
    slow = {backend for backend, ms in first.items() if ms > CLEARLY_SLOWER * best}
    for backend in sorted(slow):
        text = f"{backend} of {subject.section} {subject}, {threads} threads ({first[backend] / best:.2f} × the best)"
        if not any(r.get("dropped") == text for r in log.records):
            log.add({"dropped": text})
    return [s for s in systems if s.backend not in slow]


def compare(systems, subject, threads, o, log, deadline):
    systems = [s for s in systems if subject.section in s.sections]
    for round_ in range(o.rounds):
        if deadline and time.monotonic() > deadline:
            return
        systems = [s for s in systems if measure(s, subject, threads, round_, log)]
        if not any(s.system == "weft" for s in systems):
            raise SystemExit(f"compare: weft does not measure {subject}")
        if round_ == 0:
            systems = drop_slow(systems, subject, threads, log)


def main():
    o = parse()
    if o.table:
        print(report(read_lines(o.table)))
        return
    log, systems = Log(o), systems_of(o)
    log.add({"machine": machine(o)})
    deadline = time.monotonic() + 60 * o.minutes if o.minutes else None
    try:
        for threads in (int(n) for n in o.threads.split(",")):
            for subject in subjects_of(o):
                compare(systems, subject, threads, o, log, deadline)
    except KeyboardInterrupt:
        print("compare: interrupted, this is what there is", file=sys.stderr)
    for system in systems:
        system.close()
    print(report(log.records))


if __name__ == "__main__":
    main()
