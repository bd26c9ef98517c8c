#!/usr/bin/env bash
# house_cxx.sh SOURCE-DIR BUILD-DIR: a C++11 program uses the public headers and the shared library.
set -euo pipefail
cxx=$(command -v c++ || command -v g++ || command -v clang++ || true)
if [ -z "$cxx" ]; then
    echo "no C++ compiler, install g++"
    exit 77
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$cxx" -std=c++11 -Wall -Wextra -Wpedantic -Werror -I"$1/include" "$1/test/examples/cxx_use.cpp" -o "$dir/use" \
    -L"$2" -lweft
LD_LIBRARY_PATH=$2 "$dir/use"
