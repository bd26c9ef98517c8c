#!/usr/bin/env bash
# house_docs.sh SOURCE-DIR: every relative link of a page leads to a file, and every C block that says where
# it is from ("<!-- from examples/xor.c -->" on the line before) stands in that file, line by line.
set -euo pipefail
cd "$1"
code=0

pages=$(find . -name '*.md' -not -path './build*' -not -path './shared/*' | sed 's|^\./||' | sort)
for page in $pages; do
    while IFS=: read -r line target; do
        target=${target%%#*}
        [ -n "$target" ] || continue
        [ -e "$(dirname "$page")/$target" ] || { echo "$page:$line: no file $target"; code=1; }
    done < <(awk '
        /^```/ { is_code = !is_code; next }
        is_code { next }
        {
            text = $0
            while (match(text, /\]\([^)]*\)/)) {
                target = substr(text, RSTART + 2, RLENGTH - 3)
                if (target !~ /^[a-z]+:/) print FNR ":" target
                text = substr(text, RSTART + RLENGTH)
            }
        }' "$page")

    while IFS=$'\t' read -r line file text; do
        if ! grep -qxF -- "$text" "$file" 2>/dev/null; then
            echo "$page:$line: not in $file: $text"
            code=1
        fi
    done < <(awk '
        /^<!-- from .* -->$/ { file = $3; next }
        /^```c$/ && file { is_block = 1; next }
        /^```/ { is_block = 0; file = ""; next }
        is_block && NF && $1 != "..." { print FNR "\t" file "\t" $0 }' "$page")
done
exit $code
