#!/usr/bin/env bash
# house_files.sh SOURCE-DIR: file names are unique in the tree, no source is longer than 1,000 lines, no
# text names a folder of somebody's machine.
set -euo pipefail
cd "$1"
code=0

if [ "$(git rev-parse --show-toplevel 2>/dev/null || true)" = "$(pwd -P)" ]; then
    files=$(git ls-files --cached --others --exclude-standard | while read -r f; do [ ! -f "$f" ] || echo "$f"; done)
else
    files=$(find . -path ./build -prune -o -type f -print | sed 's|^\./||')
fi

# Names that a tool expects to find in several folders. Public headers are not counted: <weft/device.h> is
# never written without its folder, and may share a name with the internal header behind it; examples
# are programs of their own; benchmarks are named after the workloads that others measure.
double=$(grep -vE '^(include|examples|recipes/bench)/' <<<"$files" | sed 's|.*/||' | grep -vxE 'README\.md|CMakeLists\.txt|\.gitignore|main\.c|run' |
    sort | uniq -d)
for name in $double; do
    echo "$name is the name of more than one file:" $(grep -E "(^|/)${name//./\\.}\$" <<<"$files")
    code=1
done

# Tables and tests may be long.
while read -r file; do
    n_lines=$(wc -l <"$file")
    if [ "$n_lines" -gt 1000 ]; then
        echo "$file: $n_lines lines, at most 1000"
        code=1
    fi
done < <(grep -E '\.(c|h|cmake|sh|md)$' <<<"$files" | grep -vE '^test/|_table\.[ch]$')

# Paths that are true on one machine only. This file holds the pattern.
while IFS= read -r hit; do
    echo "$hit: a path of one machine"
    code=1
done < <(grep -vE '^test/house/|^LICENSE$' <<<"$files" |
    xargs -d '\n' grep -InE '(^|[^A-Za-z0-9_.}/-])/(home|root|work|tmp)/' || true)
exit $code
