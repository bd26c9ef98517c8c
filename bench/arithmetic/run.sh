#!/bin/sh
# Builds and runs the arithmetic experiment: every kernel against its definition bit for bit, then what the definition costs.
#   bench/arithmetic/run.sh [check]       check: no measurements; CC, CXX and BUILD (a folder) may be set
# What is absent here (oneDNN, an OpenCL, NVRTC, ptxas) is said and left out.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=${BUILD:-$root/build/arithmetic}
cc=${CC:-cc}
cxx=${CXX:-c++}
mode=${1:-bench}
mkdir -p "$build"
flags="-std=c11 -D_GNU_SOURCE -O3 -ffp-contract=off -Wall -Wextra -Wshadow -Wconversion"

echo "machine:  $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) processors"
echo "compiler: $($cc --version | head -n 1)"
echo "flags:    $flags"

have() { # have NAME 'include line' libraries: can this be compiled and linked?
    printf '%s\nint main(void) { return 0; }\n' "$2" > "$build/probe.cpp"
    if $cxx "$build/probe.cpp" -o "$build/probe" $3 2> "$build/probe.log"; then
        echo "$1: yes"
        return 0
    fi
    echo "$1: no ($(head -n 1 "$build/probe.log"))"
    return 1
}

objects=""
compile() { # compile OBJECT SOURCE options...
    object=$build/$1.o
    source=$here/$2
    shift 2
    $cc $flags "$@" -c "$source" -o "$object"
    objects="$objects $object"
}

for f in contract conv sums attention table; do
    compile "$f-scalar" "arith_$f.c" -DARITH_SCALAR
    case $(uname -m) in
    x86_64)
        compile "$f-avx2" "arith_$f.c" -mavx2 -mfma
        compile "$f-avx512" "arith_$f.c" -mavx512f -mavx2 -mfma
        ;;
    esac
done
libraries="-lm"
define=""
if have oneDNN '#include <dnnl.hpp>' -ldnnl; then
    $cxx -std=c++17 -O2 -c "$here/arith_onednn.cpp" -o "$build/onednn.o"
    objects="$objects $build/onednn.o"
    libraries="$libraries -ldnnl -lstdc++"
    define=-DARITH_ONEDNN
fi
for f in reference measure check bench main; do
    compile "$f" "arith_$f.c" $define
done
$cc $objects -o "$build/arith" $libraries
export OMP_NUM_THREADS=1
"$build/arith" "$mode" scalar
# oneDNN is held to the instruction set it is compared with.
DNNL_MAX_CPU_ISA=AVX2 "$build/arith" "$mode" avx2
DNNL_MAX_CPU_ISA=AVX512_CORE "$build/arith" "$mode" avx512

echo
if have OpenCL '#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>' -lOpenCL; then
    $cc $flags "$here/arith_gpu.c" "$here/arith_reference.c" "$here/arith_measure.c" -o "$build/arith_gpu" -lOpenCL -lm
    "$build/arith_gpu" "$here/arith_gpu.cl" "$root/src"
fi

echo
$cc $flags "$here/arith_nvrtc.c" -o "$build/arith_nvrtc" -ldl
ptxas=$(command -v ptxas || echo /usr/local/cuda/bin/ptxas)
for arch in 80 90; do
    for option in -DARITH_BLOCKS -DARITH_FREE; do
        status=0
        "$build/arith_nvrtc" "$here/arith_gpu.cl" "$root/src" "compute_$arch" "$build/kernels.ptx" $option || status=$?
        [ $status -eq 3 ] && continue
        [ $status -eq 0 ] || exit $status
        if [ ! -x "$ptxas" ]; then
            echo "sm_$arch: NVRTC compiles; registers unknown, no ptxas"
            continue
        fi
        echo "sm_$arch, NVRTC and ptxas, $([ $option = -DARITH_FREE ] && echo "without blocks" || echo "by the definition"):"
        "$ptxas" -v -arch="sm_$arch" "$build/kernels.ptx" -o "$build/kernels.cubin" 2>&1 |
            awk '/Compiling entry/ { gsub("\x27", ""); name = $7 }
                 /spill stores/ { spill = $5 + $9 }
                 /Used/ { sub(",", "", $0); printf "  %-20s %3d registers, %d bytes spilled, %s\n", name, $5, spill, /smem/ ? substr($0, index($0, "barriers") + 10) : "no shared memory" }'
    done
done
