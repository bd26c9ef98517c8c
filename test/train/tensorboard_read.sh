#!/usr/bin/env bash
# tensorboard_read.sh WEFT: a run's event files, whole and resumed, are what the `tensorboard` package reads.
# The Python that has it: WEFT_TENSORBOARD_PYTHON, else python3. Skips without.
set -euo pipefail
weft=$1 python=${WEFT_TENSORBOARD_PYTHON:-python3}
if ! "$python" -c 'import tensorboard' 2>/dev/null; then
    echo "tensorboard: $python has no such package, install it (pip install tensorboard) and name that Python in WEFT_TENSORBOARD_PYTHON"
    exit 77
fi
if [ ! -d /usr/share/datasets/fashion-mnist ]; then
    echo "dataset-fashion-mnist: not installed"
    exit 77
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cat >"$dir/recipe.yaml" <<'RECIPE'
name: events
data: {reader: idx, dir: /usr/share/datasets/fashion-mnist}
model: [flatten, {linear: 16}, relu, {linear: 10}]
optimiser: {kind: adam, lr: 1e-3}
train: {batch: 32, steps: 8, tensorboard: true, stats_every: 4}
RECIPE
said=$("$weft" train "$dir/recipe.yaml" --out "$dir/run" --quiet 2>&1) || {
    case $said in
    *"no protobuf-c"*)
        echo "protobuf-c: this build has none"
        exit 77
        ;;
    esac
    echo "$said"
    exit 1
}
"$weft" train "$dir/recipe.yaml" --out "$dir/run" --quiet --resume train.steps=12 >/dev/null 2>&1
"$python" - "$dir/run" <<'PYTHON'
import json
import struct
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator


def f32(x):
    return struct.unpack("f", struct.pack("f", x))[0]


run = sys.argv[1]
events = EventAccumulator(run)
events.Reload()
steps = [json.loads(line) for line in open(run + "/log.jsonl")]
steps = [s for s in steps if s["event"] == "step"]
losses = [(e.step, e.value) for e in events.Scalars("train/loss")]
assert losses == [(s["step"], f32(s["loss"])) for s in steps], losses
assert [step for step, _ in losses] == list(range(1, 13)), losses
tags = set(events.Tags()["scalars"])
for tag in ("train/learning_rate", "validation/loss", "validation/accuracy", "gradient_norm/linear1.weight",
            "update_ratio/linear2.bias", "dead_units/relu1"):
    assert tag in tags, (tag, tags)
assert [e.step for e in events.Scalars("dead_units/relu1")] == [4, 8, 12]
print("tensorboard read", len(tags), "curves of", len(losses), "steps")
PYTHON
