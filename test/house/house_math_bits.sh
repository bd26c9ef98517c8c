#!/usr/bin/env bash
# house_math_bits.sh SOURCE-DIR BUILD-DIR COMPILER: every build of src/math gives the same bits: without and with fma
# hardware, AVX2 and AVX-512, optimised or not, our own divide and square root, and, which the rule "no product beside a
# sum" promises, with contraction allowed. What this machine or compiler lacks is left out, and said.
set -euo pipefail
src=$1 cc=${3:-cc}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
n=$((1 << 18))
if [ -n "${WEFT_TEST_FULL:-}" ]; then n=$((1 << 22)); fi
base="-std=c11 -I$src/src -ffp-contract=off -fno-math-errno -fno-trapping-math"
avx2="-mavx2 -mfma -mf16c -mbmi -mbmi2"
avx512="$avx2 -mavx512f -mavx512dq -mavx512bw -mavx512vl -mprefer-vector-width=512"

first=
code=0
# one NAME COMPILER FLAGS...
one() {
    local name=$1 with=$2
    shift 2
    "$with" $base "$@" "$src/test/math/math_bits.c" -o "$tmp/bits"
    "$tmp/bits" $n >"$tmp/$name"
    if [ -z "$first" ]; then
        first=$name
    elif ! diff "$tmp/$first" "$tmp/$name" >"$tmp/diff"; then
        echo "$name differs from $first:"
        sed -n 's/^> /  /p' "$tmp/diff"
        code=1
    fi
    echo "$name: $(sha256sum <"$tmp/$name" | cut -c1-16)"
}
has() { grep -qw "$1" /proc/cpuinfo 2>/dev/null; }

one plain "$cc" -O3
if [ -n "${WEFT_TEST_FULL:-}" ]; then one unoptimised "$cc" -O0; fi
if [ "$(uname -m)" = x86_64 ] && has fma && has avx2; then
    one avx2 "$cc" -O3 $avx2
    one avx2_soft_divide "$cc" -O2 $avx2 -DWF_SOFT_DIV_SQRT
    one avx2_contracted "$cc" -O3 $avx2 -ffp-contract=fast
    if command -v clang >/dev/null; then one clang_contracted clang -O3 $avx2 -ffp-contract=fast; fi
else
    echo "avx2: this processor has none"
fi
if [ "$(uname -m)" = x86_64 ] && has avx512vl; then
    one avx512 "$cc" -O3 $avx512
    one avx512_contracted "$cc" -O3 $avx512 -ffp-contract=fast
else
    echo "avx512: this processor has none"
fi
exit $code
