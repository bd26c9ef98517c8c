#!/usr/bin/env bash
# example_dbn.sh PROGRAM: pre-training on pictures without labels makes the few labels worth more.
set -euo pipefail
"$1" | tee dbn.out
read -r before after < <(sed -n 's/.*loss of \([0-9.]*\), after pre-training of \([0-9.]*\)$/\1 \2/p' dbn.out)
awk -v b="$before" -v a="$after" 'BEGIN { exit !(a < b / 3) }' || { echo "loss $before, then $after"; exit 1; }
read -r with without < <(sed -n 's/.*with pre-training \([0-9]*\), without \([0-9]*\) of.*/\1 \2/p' dbn.out)
[ "$with" -ge $((without + 12)) ] || { echo "right with $with, without $without"; exit 1; }
