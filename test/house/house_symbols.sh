#!/usr/bin/env bash
# house_symbols.sh SOURCE-DIR BUILD-DIR: libweft.so exports weft_* and nothing else, has its SONAME, and
# kernels of an instruction set define no symbol that another object also defines.
set -euo pipefail
so=$2/libweft.so
code=0
stray=$(nm -D --defined-only "$so" | awk '{print $NF}' | grep -vE '^weft_' || true)
if [ -n "$stray" ]; then
    echo "libweft.so exports:" $stray
    code=1
fi
readelf -d "$so" | grep -q 'SONAME.*\[libweft\.so\.[0-9]*\]' || { echo "libweft.so has no SONAME"; code=1; }
# Weak copies are merged by the linker, which may keep the one with AVX code.
weak=$(nm "$2/libweft.a" 2>/dev/null | awk 'NF == 3 && $2 ~ /^[VWuC]$/ {print $3}' | sort | uniq -d || true)
if [ -n "$weak" ]; then
    echo "defined weakly in more than one object:" $weak
    code=1
fi
exit $code
