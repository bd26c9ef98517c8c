#!/usr/bin/env bash
# house_arrows.sh SOURCE-DIR: every #include "..." of src/ and cli/ follows test/house/arrows.txt.
set -euo pipefail
cd "$1"
code=0

# The folder of arrows.txt that a path below src/ belongs to.
group_of() {
    case $1 in
    device/*/*)
        local rest=${1#device/}
        echo "device/${rest%%/*}"
        ;;
    */*) echo "${1%%/*}" ;;
    *) echo top ;;
    esac
}

declare -A allowed
while IFS=: read -r group list; do
    [[ $group =~ ^[a-z] ]] && allowed[$group]=" $group $list "
done <test/house/arrows.txt

while IFS=: read -r file line text; do
    header=${text#*\"}
    header=${header%%\"*}
    from=$(group_of "${file#src/}")
    case $header in
    weft_config.h | weft_generated/* | weft/*) continue ;;
    */*) ;;
    *) # same folder
        header=$(dirname "${file#src/}")/$header
        header=${header#./}
        ;;
    esac
    if [ ! -e "src/$header" ]; then
        echo "$file:$line: \"$header\" is no header below src/: name it from src/, or by its name alone in its own folder"
        code=1
        continue
    fi
    to=$(group_of "$header")
    if [[ ${allowed[$from]-" $from "} != *" $to "* ]]; then
        echo "$file:$line: $from includes $header, but may see only:${allowed[$from]-" $from"}"
        code=1
    fi
done < <(grep -rnE '^[ 	]*#[ 	]*include[ 	]*"' src --include='*.[ch]' || true)

# The command is a user of the library like any other.
while IFS=: read -r file line text; do
    header=${text#*\"}
    header=${header%%\"*}
    case $header in
    weft_config.h | weft_generated/* | weft/*) continue ;;
    esac
    [ -e "cli/$header" ] || { echo "$file:$line: cli includes $header, but sees only include/weft"; code=1; }
done < <(grep -rnE '^[ 	]*#[ 	]*include[ 	]*"' cli --include='*.[ch]' 2>/dev/null || true)
exit $code
