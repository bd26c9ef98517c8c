#!/usr/bin/env bash
# install_copy.sh SOURCE-DIR BUILD-DIR CC CMAKE: installs into a fresh prefix, moves the prefix, and builds and
# runs a program out of the moved copy, by pkg-config (shared and static) and by find_package.
set -euo pipefail
source=$1 build=$2 cc=$3 cmake=$4
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$cmake" --install "$build" --prefix "$dir/first" >/dev/null
mv "$dir/first" "$dir/prefix" # an installed copy holds no path of where it was made
prefix=$dir/prefix
if grep -rIl "$dir/first" "$prefix"; then
    echo "the files above name the prefix that they were installed to"
    exit 1
fi
pc=$(find "$prefix" -name weft.pc)
lib=$(dirname "$(dirname "$pc")")
export PKG_CONFIG_PATH=$lib/pkgconfig
program=$source/test/install/installed_use.c

"$cc" -std=c11 -Wall -Wextra -Werror "$program" -o "$dir/shared" $(pkg-config --cflags --libs weft)
LD_LIBRARY_PATH=$lib "$dir/shared"

# Statically: the archive by name, since -lweft would take the shared one.
"$cc" -std=c11 -Wall -Wextra -Werror "$program" -o "$dir/static" $(pkg-config --cflags weft) "$lib/libweft.a" \
    $(pkg-config --static --libs weft | tr ' ' '\n' | grep -vx -e -lweft)
"$dir/static"

"$cmake" -S "$source/test/install" -B "$dir/build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$cc" >"$dir/log" 2>&1 &&
    "$cmake" --build "$dir/build" >>"$dir/log" 2>&1 || { cat "$dir/log"; exit 1; }
"$dir/build/use-shared"
"$dir/build/use-static"

if [ -x "$prefix/bin/weft" ]; then
    "$prefix/bin/weft" devices >/dev/null
fi
# An installed example is the example of the tree, built by somebody who has only the prefix.
for example in "$source"/examples/*.c; do
    [ -e "$example" ] || continue
    "$cc" -std=c11 "$example" -o "$dir/example" $(pkg-config --cflags --libs weft) -lm
    judge=$source/test/examples/example_$(basename "$example" .c).sh
    [ -x "$judge" ] || judge=
    code=0
    (cd "$dir" && LD_LIBRARY_PATH=$lib $judge "$dir/example" >"$dir/log") || code=$?
    if [ $code -ne 0 ] && [ $code -ne 77 ]; then # 77: what it needs is not on this machine, the other test counts that
        cat "$dir/log"
        exit 1
    fi
done
