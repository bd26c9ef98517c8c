"""Records of compare.py as Markdown: medians over the rounds, and ratios of them (above 1: weft is faster)."""

import json
import math
import statistics
from collections import defaultdict

TITLES = {"train": "Training step", "infer": "Inference, batch 1", "gemm": "Matrix products", "conv": "Convolutions"}
OURS = "weft"


def flops(section, row):
    """Of a layer; padding counts."""
    if section == "gemm":
        return 2.0 * row[1] * row[2] * row[3]
    _, n, c, h, k, r, s, p, g = row
    out = (h + 2 * p - r) // s + 1
    return 2.0 * n * k * out * out * (c // g) * r * r


def geometric_mean(values):
    return math.exp(statistics.fmean(math.log(v) for v in values))


class Line:
    """One subject in one direction: the rounds of each system and backend."""

    def __init__(self, key, direction):
        self.key, self.direction = key, direction
        self.ms = defaultdict(dict)  # (system, backend) -> round -> ms
        self.last = {}  # (system, backend) -> its last record

    def add(self, record):
        who = record["system"], record["backend"]
        self.ms[who][record["round"]] = record["ms"]
        self.last[who] = record

    def median(self, who):
        return statistics.median(self.ms[who].values())

    def ours(self):
        return next((who for who in self.ms if who[0] == OURS), None)

    def best(self, system=None):
        """The fastest backend of a system, or of all peers."""
        peers = [who for who in self.ms if who[0] != OURS and system in (None, who[0])]
        return min(peers, key=self.median) if peers else None

    def ratio(self):
        return self.median(self.best()) / self.median(self.ours())

    def ratios_of_rounds(self):
        ours, theirs = self.ms[self.ours()], self.ms[self.best()]
        return [theirs[r] / ours[r] for r in ours if r in theirs]


def lines_of(records, section, threads):
    lines = {}
    for r in records:
        if r.get("section") == section and r["threads"] == threads:
            key = r["subject"], r["direction"]
            lines.setdefault(key, Line(*key)).add(r)
    return [line for line in lines.values() if line.ours() and line.best()]


def ratio_cells(line):
    ratios = line.ratios_of_rounds() or [line.ratio()]
    return [f"**{line.ratio():.2f}**", f"{min(ratios):.2f}–{max(ratios):.2f}"]


def mebibytes(record):
    return f"{record['rss'] / 2**20:.0f}" if record and record.get("rss") else ""


def milliseconds(ms):
    return f"{ms:.4g}" if ms < 1000 else f"{ms:.0f}"


def network_row(line, systems):
    cells = [line.key, milliseconds(line.median(line.ours()))]
    for system in systems:
        who = line.best(system)
        cells.append(f"{milliseconds(line.median(who))} {who[1]}".rstrip() if who else "")
    return cells + ratio_cells(line) + [mebibytes(line.last[line.ours()]), mebibytes(line.last[line.best()])]


def layer_row(line, systems, section):
    row = json.loads(line.key)
    work = flops(section, row)

    def gflops(who):
        return f"{work / line.median(who) * 1e-6:.1f}" if who else ""

    fraction = line.last[line.ours()].get("peak_fraction")
    cells = [row[0], "×".join(str(v) for v in row[1:]), line.direction, gflops(line.ours())]
    cells.append(f"{fraction * 100:.0f}" if fraction else "")
    return cells + [gflops(line.best(system)) for system in systems] + ratio_cells(line)


def markdown(head, rows):
    def text(cells):
        return "| " + " | ".join(cells) + " |"

    return "\n".join([text(head), text(["---"] * len(head)), *(text(row) for row in rows)])


def summary(lines, section):
    ratios = [line.ratio() for line in lines]
    worst = min(lines, key=Line.ratio)
    name = json.loads(worst.key)[0] if section in ("gemm", "conv") else worst.key
    text = f"Geometric mean **{geometric_mean(ratios):.2f}**, least {min(ratios):.2f} ({name}, {worst.direction})"
    if section == "gemm":
        text += f", at least 0.97 on {sum(r >= 0.97 for r in ratios)} of {len(ratios)}"
    if section == "conv":
        for direction in ("forward", "dX", "dW"):
            some = [line.ratio() for line in lines if line.direction == direction]
            text += f", {direction} {geometric_mean(some):.2f}" if some else ""
    return text + "."


def section_text(records, section, threads):
    lines = lines_of(records, section, threads)
    if not lines:
        return ""
    systems = sorted({who[0] for line in lines for who in line.ms if who[0] != OURS})
    if section in ("gemm", "conv"):
        head = ["layer", "sizes", "direction", "weft GFLOP/s", "% of peak", *(f"{s} GFLOP/s" for s in systems)]
        rows = [layer_row(line, systems, section) for line in lines]
    else:
        head = ["network", "weft ms", *(f"{s} ms" for s in systems)]
        rows = [network_row(line, systems) for line in lines]
    head += ["ratio", "of rounds"]
    head += ["weft MiB", "peer MiB"] if section in ("train", "infer") else []
    title = f"{TITLES[section]}, {threads} thread{'s' if threads > 1 else ''}"
    return f"### {title}\n\n{markdown(head, rows)}\n\n{summary(lines, section)}\n"


def report(records):
    """All of it: how it was measured, a table for each section and number of threads, what was dropped."""
    parts, machines = [], [r["machine"] for r in records if "machine" in r]
    if machines:  # the last of those that went on where another ended
        parts.append("\n".join(f"- {k}: {v}" for k, v in machines[-1].items()))
    versions = sorted({f"{r['system']} ({r['version']})" for r in records if "version" in r})
    n_rounds = 1 + max((r["round"] for r in records if "round" in r), default=0)
    parts.append(
        f"- systems: {'; '.join(versions)}\n- {n_rounds} rounds, interleaved; medians; ratio above 1: weft is faster\n"
    )
    for threads in sorted({r["threads"] for r in records if "threads" in r}):
        parts += [section_text(records, section, threads) for section in TITLES]
    dropped = [r["dropped"] for r in records if "dropped" in r]
    if dropped:
        parts.append("Left out behind the first round, being slower there: " + "; ".join(dropped) + ".\n")
    failed = sorted({r["failed"] for r in records if "failed" in r})
    if failed:
        parts.append("Could not be measured: " + "; ".join(failed) + ".\n")
    return "\n".join(part for part in parts if part)
