#!/usr/bin/env bash
# example_lenet.sh PROGRAM: 60 steps teach it more than half of the test set.
set -euo pipefail
folder=${WEFT_TEST_FASHION:-/usr/share/datasets/fashion-mnist}
if [ ! -e "$folder/train-images-idx3-ubyte.gz" ]; then
    echo "no Fashion-MNIST at $folder, install dataset-fashion-mnist"
    exit 77
fi
"$1" cpu 60 "$folder" | tee lenet.out
accuracy=$(sed -n 's/^test accuracy \([0-9]*\).*/\1/p' lenet.out)
[ "${accuracy:-0}" -ge 55 ] || { echo "accuracy $accuracy %, expected 55 or more"; exit 1; }
