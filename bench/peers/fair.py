"""What every peer gets, so that it is measured at its best: pinned threads, kept memory, no subnormals."""

import os
import sys
import time


def restart(threads):
    """Starts the program again where the environment lacks what counts at start: kept memory, OpenMP's threads."""
    wanted = {
        "MALLOC_MMAP_THRESHOLD_": "8589934592",
        "MALLOC_TRIM_THRESHOLD_": "17179869184",
        "MALLOC_TOP_PAD_": "67108864",
        "OMP_NUM_THREADS": str(threads),
    }
    if any(os.environ.get(k) != v for k, v in wanted.items()):
        own = {k: v for k, v in os.environ.items() if k not in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")}
        os.execve(sys.executable, [sys.executable] + sys.argv, {**own, **wanted})


def pin(threads):
    """The main thread on the first allowed CPU, the others spread over the rest. To be called when the threads exist."""
    cpus = sorted(os.sched_getaffinity(0))[:threads]
    for t in sorted(int(t) for t in os.listdir("/proc/self/task")):
        os.sched_setaffinity(t, {cpus[0]} if t == os.getpid() else set(cpus[1:] or cpus))


def torch_for(threads):
    """PyTorch with that many threads. Subnormals are flushed to zero."""
    import torch

    torch.set_flush_denormal(True)
    torch.set_num_threads(threads)
    return torch


def clock(is_cpu_time):
    """Seconds that pass, or that the processor works for this process: the second on a machine that others use."""
    return time.process_time if is_cpu_time else time.perf_counter


def peak_rss_bytes():
    with open("/proc/self/status") as f:
        return next(int(line.split()[1]) * 1024 for line in f if line.startswith("VmHWM"))
