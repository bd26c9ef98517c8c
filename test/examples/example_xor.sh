#!/usr/bin/env bash
# example_xor.sh PROGRAM: the network learns the table, and ref gets the very loss that cpu gets.
set -euo pipefail
"$1" cpu 500 | tee xor.out
"$1" ref 500 >xor.ref
table=$(awk '/xor/ { printf "%d", $5 + 0.5 }' xor.out)
[ "$table" = 0110 ] || { echo "learned $table, expected 0110"; exit 1; }
loss() { sed -n 's/^loss \([^ ]*\) .*/\1/p' "$1"; }
[ "$(loss xor.out)" = "$(loss xor.ref)" ] || { echo "ref says loss $(loss xor.ref)"; exit 1; }
{ "$1" gpu 2>&1 || true; } | grep -q "^xor: " || { echo "an unknown device is no error"; exit 1; }
