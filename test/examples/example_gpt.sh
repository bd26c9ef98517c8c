#!/usr/bin/env bash
# example_gpt.sh PROGRAM: 500 steps teach it the rhyme; ref trains to the very same loss.
set -euo pipefail
"$1" cpu 500 | tee gpt.out
grep -q "the weft goes over, under" gpt.out || { echo "it has not learned the rhyme"; exit 1; }
"$1" cpu 3 | head -1 >gpt.cpu
"$1" ref 3 | head -1 >gpt.ref
cmp gpt.cpu gpt.ref
{ "$1" nothing 2>&1 || true; } | grep -q "^gpt: " || { echo "a device that is not there is no error"; exit 1; }
