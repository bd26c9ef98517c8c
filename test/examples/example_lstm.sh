#!/usr/bin/env bash
# example_lstm.sh PROGRAM: 150 steps teach it the rhyme; ref trains to the very same loss.
set -euo pipefail
"$1" cpu 150 | tee lstm.out
grep -q "the weft goes over, under, through; what one hand spun" lstm.out || { echo "it has not learned the rhyme"; exit 1; }
"$1" cpu 4 | head -1 >lstm.cpu
"$1" ref 4 | head -1 >lstm.ref
cmp lstm.cpu lstm.ref
{ "$1" cpu 1 /nowhere 2>&1 || true; } | grep -q "^lstm: /nowhere" || { echo "a missing file is no error"; exit 1; }
