#!/usr/bin/env bash
# house_headers.sh SOURCE-DIR BUILD-DIR CC: each public header compiles alone, as C11 and as C++11.
set -euo pipefail
cd "$1"
cc=${3:-cc}
code=0
cxx=$(command -v c++ || command -v g++ || command -v clang++ || true)
for header in include/weft/*.h; do
    name=weft/$(basename "$header")
    printf '#include <%s>\ntypedef int used;\n' "$name" | "$cc" -std=c11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -Iinclude -xc - || code=1
    if [ -n "$cxx" ]; then
        printf '#include <%s>\ntypedef int used;\n' "$name" |
            "$cxx" -std=c++11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -Iinclude -xc++ - || code=1
    fi
done
[ $code -eq 0 ] || exit 1
if [ -z "$cxx" ]; then
    echo "no C++ compiler: the headers were compiled as C only"
    exit 77
fi
