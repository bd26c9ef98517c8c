"""What compare.py measures: a network or a layer, by weft, PyTorch, ONNX Runtime or oneDNN, each a process of its own.

measure(subject, threads) of a system gives records: {"direction", "ms", "rss", ...}. Every process gets the same CPUs.
"""

import json
import os
import shlex
import subprocess
from dataclasses import dataclass

HERE = os.path.dirname(os.path.abspath(__file__))
PEERS = os.path.join(HERE, "peers")


@dataclass(frozen=True)
class Subject:
    section: str  # train, infer, gemm, conv
    key: str  # of a network its name, of a layer its row as JSON

    @property
    def row(self):
        return json.loads(self.key) if self.section in ("gemm", "conv") else None

    def __str__(self):
        return " ".join(str(v) for v in self.row) if self.row else self.key


class Failed(Exception):
    """A system that cannot measure a subject: its last words."""


def spread_cpus(n):
    """n of the CPUs that this process may use, on cores of their own as far as there are any."""
    allowed = sorted(os.sched_getaffinity(0))
    first, second, seen = [], [], set()
    for cpu in allowed:
        path = f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"
        try:
            with open(path) as f:
                core = f.read().strip()
        except OSError:
            core = str(cpu)
        (second if core in seen else first).append(cpu)
        seen.add(core)
    if n > len(allowed):
        raise SystemExit(f"compare: {n} threads on {len(allowed)} CPUs")
    return (first + second)[:n]


def pinned(cpus):
    return lambda: os.sched_setaffinity(0, cpus)


def run(command, cpus, env=None):
    """The JSON lines that a command prints."""
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=pinned(cpus), env=env
    )
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or not lines:
        words = done.stderr.strip().splitlines() or [f"ended with {done.returncode}"]
        raise Failed(f"{shlex.join(command)}: {words[-1]}")
    return lines


class Weft:
    sections = ("train", "infer", "gemm", "conv")

    def __init__(self, label, command, options):
        self.system, self.backend, self.command, self.options = label, "", command, options

    def measure(self, subject, threads):
        o = self.options
        seconds = o.layer_seconds if subject.row else o.seconds
        command = [*self.command, "--json", "--time", str(int(seconds * 1e3)), *o.clock]
        if "--threads" not in command:  # one to compare with may have its own
            command += ["--threads", str(threads)]
        if subject.row:
            command += [subject.section, "--shape", ",".join(str(v) for v in subject.row[1:])]
        else:
            command.append(subject.key + ("-infer" if subject.section == "infer" else ""))
        return [
            {
                "direction": line["direction"],
                "ms": line["median_ms"],
                "rss": line["peak_rss_bytes"],
                "planned": line["planned_bytes"],
                "peak_fraction": line["peak_fraction"],
                "version": line["isa"] + ", " + line["arithmetic"],
            }
            for line in run(command, spread_cpus(threads))
        ]

    def close(self):
        pass


class Network:
    """peer.py: PyTorch by one of its backends, or ONNX Runtime."""

    def __init__(self, backend, options):
        self.system = "ONNX Runtime" if backend == "ort" else "PyTorch"
        self.sections = ("infer",) if backend == "ort" else ("train", "infer")
        self.backend, self.options = backend, options

    def measure(self, subject, threads):
        o = self.options
        command = [o.python, os.path.join(PEERS, "peer.py"), subject.key, "--backend", self.backend]
        command += ["--threads", str(threads), "--seconds", str(o.seconds), *o.clock]
        command += ["--infer"] if subject.section == "infer" else []
        line = run(command, spread_cpus(threads))[-1]
        direction = "infer" if subject.section == "infer" else "step"
        return [
            {
                "direction": direction,
                "ms": line["median_ms"],
                "rss": line["peak_rss_bytes"],
                "version": line["system"],
            }
        ]

    def close(self):
        pass


class Server:
    """A process that is asked for one row after the other, so that others can be measured between them."""

    backend = ""

    def __init__(self, options):
        self.options, self.processes, self.version = options, {}, ""

    def start(self, kind, threads):
        command, env = self.command(kind, threads)
        pipe = subprocess.PIPE
        process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, text=True, preexec_fn=pinned(spread_cpus(threads)), env=env
        )
        line = process.stdout.readline()
        if not line:
            process.wait()
            raise Failed(f"{shlex.join(command)}: ended with {process.returncode}")
        self.version = json.loads(line)["system"]
        return process

    def measure(self, subject, threads):
        key = subject.section, threads
        if key not in self.processes:
            self.processes[key] = self.start(*key)
        process, records = self.processes[key], []
        process.stdin.write(self.line(subject.row) + "\n")
        process.stdin.flush()
        for line in process.stdout:
            if not line.strip():
                return records
            answer = json.loads(line)
            records.append({"direction": answer["direction"], "ms": answer["ms"], "version": self.version})
        del self.processes[key]
        raise Failed(f"{self.system}: ended at {subject}")

    def close(self):
        for process in self.processes.values():
            process.stdin.close()
            process.wait()


class TorchLayers(Server):
    system, sections = "PyTorch", ("gemm", "conv")

    def command(self, kind, threads):
        command = [self.options.python, os.path.join(PEERS, "layers.py"), kind, "--serve"]
        command += ["--threads", str(threads), "--seconds", str(self.options.layer_seconds), *self.options.clock]
        return command, None

    def line(self, row):
        return json.dumps(row)


class OneDnn(Server):
    system, sections = "oneDNN", ("gemm", "conv")

    def program(self):
        """Compiled when it is missing or older than its source."""
        source, out = os.path.join(PEERS, "onednn.cpp"), os.path.join(self.options.build, "onednn")
        if not os.path.exists(out) or os.path.getmtime(out) < os.path.getmtime(source):
            os.makedirs(self.options.build, exist_ok=True)
            done = subprocess.run(["g++", "-O2", "-fopenmp", source, "-ldnnl", "-o", out])
            if done.returncode:
                raise Failed("oneDNN: onednn.cpp does not compile, install g++ and libdnnl-dev")
        return out

    def command(self, kind, threads):
        env = {**os.environ, "OMP_NUM_THREADS": str(threads), "OMP_PROC_BIND": "true"}
        clock = [word.strip("-") for word in self.options.clock]
        return [self.program(), kind, str(self.options.layer_seconds), "direct", *clock], env

    def line(self, row):
        return "\t".join(str(v) for v in row)
