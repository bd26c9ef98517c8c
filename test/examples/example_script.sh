#!/usr/bin/env bash
# example_script.sh PROGRAM: the nodes on the host are listed, and another number of samples goes to the large
# network each time.
set -euo pipefail
"$1" | tee script.out
for node in "host find_unsure: scores -> unsure, n_unsure" "  host merge: scores, unsure, better -> scores"; do
    grep -qx "$node" script.out || { echo "not listed: $node"; exit 1; }
done
kinds=$(sed -n 's/.*was asked about \([0-9]*\) of 64/\1/p' script.out | sort -u | wc -l)
[ "$kinds" -ge 2 ] || { echo "the large network met $kinds batch sizes, expected several"; exit 1; }
