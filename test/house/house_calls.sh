#!/usr/bin/env bash
# house_calls.sh SOURCE-DIR: nothing in src/ ends the process or prints, and only base/alloc.c takes memory.
# The one place that may trap is base/compiler.h (WF_TRAP).
set -euo pipefail
cd "$1"
code=0

# Calls by name, not members (context->free) or longer names (wf_free); comments and strings do not count.
calls() {
    find src -name '*.[ch]' | sort | xargs -r awk -v names="$1" '
        {
            text = $0
            gsub(/\\"/, "", text)
            gsub(/"[^"]*"/, "", text)
            sub(/\/\/.*/, "", text)
            if (text ~ /^[ \t]*#[ \t]*define/) sub(/^[ \t]*#[ \t]*define[ \t]+[A-Za-z0-9_]+/, "", text)
            if (text ~ ("(^|[^A-Za-z0-9_.>])(" names ")[ \t]*\\("))
                print FILENAME ":" FNR ": " $0
        }'
}

report() {
    while IFS= read -r hit; do
        [ -n "$hit" ] || continue
        echo "$hit"
        echo "    $1"
        code=1
    done
}
report "only base/alloc.c takes and gives back memory: use the context's allocator" \
    < <(calls 'malloc|calloc|realloc|free|aligned_alloc|posix_memalign|strdup|strndup|asprintf|vasprintf' |
        grep -v '^src/base/alloc\.c:')
report "nothing in src/ ends the process: return a status" < <(calls 'abort|exit|_exit|_Exit|quick_exit')
report "the library never prints: call the log hook" < <(calls 'printf|puts|putchar|perror|vprintf')
exit $code
