#!/usr/bin/env bash
# example_autoencoder.sh PROGRAM: 100 steps bring the loss below 310 nats a picture (it begins near 545), and a picture
# is written.
set -euo pipefail
folder=${WEFT_TEST_FASHION:-/usr/share/datasets/fashion-mnist}
if [ ! -e "$folder/train-images-idx3-ubyte.gz" ]; then
    echo "no Fashion-MNIST at $folder, install dataset-fashion-mnist"
    exit 77
fi
rm -f autoencoder.pgm
"$1" cpu 100 "$folder" | tee autoencoder.out
loss=$(sed -n 's/^loss \([0-9]*\).*/\1/p' autoencoder.out)
[ "${loss:-999}" -lt 310 ] || { echo "loss $loss, expected less than 310"; exit 1; }
size=$(stat -c %s autoencoder.pgm)
[ "$size" -eq $((14 + 280 * 56)) ] || { echo "autoencoder.pgm has $size bytes"; exit 1; }
