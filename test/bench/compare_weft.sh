#!/usr/bin/env bash
# compare_weft.sh SOURCE-DIR WEFT: bench/compare.py measures weft beside itself, in turns, goes on where it was
# stopped, and prints the table; a figure that is known gives the ratio that it must.
set -euo pipefail
command -v python3 >/dev/null || { echo "no python3"; exit 77; }
source=$1 weft=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
compare() { python3 "$source/bench/compare.py" "$@"; }
expect() { grep -qF -- "$2" "$1" || { cat "$1"; echo "not there: $2"; exit 1; }; }

turns=(--weft "$weft" --versus "again=$weft bench" --sections gemm,conv --only '^(odd 131|lenet c2)' --layer-seconds 0.01 --cpu-time)
compare "${turns[@]}" --rounds 1 --json "$dir/raw" >"$dir/out" 2>"$dir/err"
compare "${turns[@]}" --rounds 2 --json "$dir/raw" --resume >"$dir/out" 2>>"$dir/err"
expect "$dir/out" '### Matrix products, 1 thread'
expect "$dir/out" '| odd | 131×257×67×0×0 | forward |'
expect "$dir/out" '| lenet c2 | 64×6×14×16×5×1×0×1 | dW |'
expect "$dir/out" 'Geometric mean **'
# two systems, two rounds, one direction of the product and three of the convolution, each once
[ "$(grep -c '"ms"' "$dir/raw")" -eq 16 ] || { cat "$dir/raw"; echo "not 16 measurements"; exit 1; }

cat >"$dir/known" <<'RAW'
{"machine": {"processor": "some"}}
{"section": "train", "subject": "mlp", "threads": 2, "round": 0, "system": "weft", "backend": "", "direction": "step", "ms": 2.0, "rss": 10485760, "version": "avx2"}
{"section": "train", "subject": "mlp", "threads": 2, "round": 0, "system": "PyTorch", "backend": "eager", "direction": "step", "ms": 3.0, "rss": 209715200, "version": "torch 2"}
{"section": "train", "subject": "mlp", "threads": 2, "round": 0, "system": "PyTorch", "backend": "compile", "direction": "step", "ms": 9.0, "rss": 1, "version": "torch 2"}
{"section": "train", "subject": "mlp", "threads": 2, "round": 1, "system": "weft", "backend": "", "direction": "step", "ms": 1.0, "rss": 10485760, "version": "avx2"}
{"section": "train", "subject": "mlp", "threads": 2, "round": 1, "system": "PyTorch", "backend": "eager", "direction": "step", "ms": 3.0, "rss": 209715200, "version": "torch 2"}
{"dropped": "compile of train mlp"}
RAW
compare --table "$dir/known" >"$dir/out"
expect "$dir/out" '- processor: some'
expect "$dir/out" '### Training step, 2 threads'
expect "$dir/out" '| mlp | 1.5 | 3 eager | **2.00** | 1.50–3.00 | 10 | 200 |'
expect "$dir/out" 'compile of train mlp'
