#!/usr/bin/env bash
# example_audio.sh PROGRAM: it learns three kinds of sound, of which chance would get a third.
set -euo pipefail
"$1" cpu 150 | tee audio.out
accuracy=$(sed -n 's/^accuracy \([0-9]*\).*/\1/p' audio.out)
[ "${accuracy:-0}" -ge 90 ] || { echo "accuracy $accuracy %, expected 90 or more"; exit 1; }
