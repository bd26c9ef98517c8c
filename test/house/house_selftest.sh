#!/usr/bin/env bash
# house_selftest.sh SOURCE-DIR: the other house rules bite: each is given a small tree with one offence and
# must name its file and line.
set -euo pipefail
house=$1/test/house
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
code=0

fresh_tree() {
    rm -rf "$dir/tree"
    mkdir -p "$dir/tree"/{src/base,src/graph,src/device/cpu,src/device/opencl,cli,test/house}
    cp "$house/arrows.txt" "$dir/tree/test/house/"
    echo '#include "base/low.h"' >"$dir/tree/src/graph/good.c"
    touch "$dir/tree/src/base/low.h" "$dir/tree/src/graph/high.h" "$dir/tree/src/device/cpu/simd.h"
}

# bites SCRIPT FILE TEXT: the script passes on the tree without the file, and names FILE:1 with it.
bites() {
    fresh_tree
    if ! "$house/$1" "$dir/tree" >"$dir/out" 2>&1; then
        echo "$1 fails on a tree without an offence:"
        cat "$dir/out"
        code=1
    fi
    printf '%s\n' "$3" >"$dir/tree/$2"
    if "$house/$1" "$dir/tree" >"$dir/out" 2>&1 || ! grep -q "^$2:1:\|$2" "$dir/out"; then
        echo "$1 does not see '$3' in $2"
        code=1
    fi
}
bites house_arrows.sh src/base/bad.c '#include "graph/high.h"'
bites house_arrows.sh src/device/opencl/bad.c '#include "device/cpu/simd.h"'
bites house_arrows.sh src/graph/bad.c '#include "nowhere.h"'
bites house_arrows.sh cli/bad.c '#include "graph/high.h"'
bites house_calls.sh src/graph/bad.c '    abort();'
bites house_calls.sh src/graph/bad.c '    x = malloc(4); // ok?'
bites house_calls.sh src/graph/bad.c '    printf("x");'
bites house_files.sh src/base/good.c 'int unused;'
bites house_files.sh src/base/long.c "$(seq 1001)"
bites house_files.sh src/base/path.c "// see /ho""me/me/x"

# What looks like an offence and is none.
fresh_tree
printf '%s\n' '// malloc(1)' 'wf_free(x);' 'context->free(x);' 'puts_all("abort(1)");' >"$dir/tree/src/graph/fine.c"
"$house/house_calls.sh" "$dir/tree" || code=1
exit $code
