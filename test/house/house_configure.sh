#!/usr/bin/env bash
# house_configure.sh SOURCE-DIR BUILD-DIR CC: a fresh configure says of each optional part yes or no, and why
# (davisking/dlib#2100, #1703, #909; llama.cpp#11498): here with what the machine has, with everything
# switched off, and with nothing to look with.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
parts=(yaml cjson zlib png jpeg opencl threads cuda hip mpi hdf5 protobuf-c webp libzip sndfile)

configure() {
    local name=$1
    shift
    if ! cmake -S "$source" -B "$dir/$name" -G Ninja -DCMAKE_C_COMPILER="$cc" -DWEFT_TESTS=OFF "$@" >"$dir/$name.txt" 2>&1; then
        cat "$dir/$name.txt"
        echo "configure ($name) ended with an error"
        exit 1
    fi
    for part in "${parts[@]}"; do
        if ! grep -qE "^-- weft: $part +(yes \(.+\)|no: .+)$" "$dir/$name.txt"; then
            grep "weft: $part" "$dir/$name.txt" || true
            echo "configure ($name) does not say of $part 'yes (what)' or 'no: why'"
            exit 1
        fi
    done
}
source=$1 cc=$3
configure plain
configure core -DWEFT_CORE_ONLY=ON
for part in yaml cjson zlib png jpeg webp libzip sndfile protobuf-c opencl; do
    grep -qE "^-- weft: $part +no: switched off by WEFT_CORE_ONLY$" "$dir/core.txt" || {
        echo "configure (core) does not say that $part is switched off"
        exit 1
    }
done
# A machine without the libraries: pkg-config finds nothing, and the line says what to install.
PKG_CONFIG_LIBDIR=$dir PKG_CONFIG_PATH=$dir configure bare
for pair in yaml:libyaml-dev cjson:libcjson-dev zlib:zlib1g-dev png:libpng-dev jpeg:libjpeg-dev webp:libwebp-dev libzip:libzip-dev sndfile:libsndfile1-dev; do
    grep -qE "^-- weft: ${pair%%:*} +no: .*\.pc not found, .*, install ${pair##*:}$" "$dir/bare.txt" || {
        grep "weft: ${pair%%:*}" "$dir/bare.txt" || true
        echo "configure (bare) does not say why ${pair%%:*} is left out"
        exit 1
    }
done
