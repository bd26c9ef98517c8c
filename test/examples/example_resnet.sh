#!/usr/bin/env bash
# example_resnet.sh PROGRAM: 40 steps teach it a good part of the test set.
set -euo pipefail
folder=${WEFT_TEST_FASHION:-/usr/share/datasets/fashion-mnist}
if [ ! -e "$folder/train-images-idx3-ubyte.gz" ]; then
    echo "no Fashion-MNIST at $folder, install dataset-fashion-mnist"
    exit 77
fi
"$1" cpu 40 "$folder" | tee resnet.out
accuracy=$(sed -n 's/^test accuracy \([0-9]*\).*/\1/p' resnet.out)
[ "${accuracy:-0}" -ge 30 ] || { echo "accuracy $accuracy %, expected 30 or more"; exit 1; }
