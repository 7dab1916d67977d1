#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The text output of commands, word for word; no other test checks words.  golden/*.txt
# are transcripts, one for each command, each run in a folder of its own: a line for the
# shell after `$ `, followed by its output and, in brackets, its status if it is not 0.
# With BITCUT_GOLDEN=write they are rewritten, so that git shows what changed.
# Run in the build folder with srcdir set, as `make check` does.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
source=$(cd "${srcdir:-.}" && pwd)
# shellcheck disable=SC2034 # in transcripts
models=$PWD/tests/.libs faulty=$PWD/tests/identify/faulty
: "${BITCUT_DATA:=$source/data}"
export BITCUT_DATA
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT

# again FILE: the transcript of its commands now, without what the time and the place decide.
again() {
    mkdir "$work/run"
    cd "$work/run" || exit 99
    while IFS= read -r line; do
        case $line in
        '$ '*) ;;
        *) continue ;;
        esac
        printf '%s\n' "$line"
        eval "${line#??}" < /dev/null > ../out 2>&1
        status=$?
        own_errors ../out
        sed "s|$BITCUT_DATA|DATA|g; s|$work/run|HERE|g; s/[0-9.e-]* s$/TIME s/; s/^seconds  *.*/seconds  TIME/; s/20[0-9][0-9]-[01][0-9]-[0-3][0-9]/DATE/; s/ *\$//" ../out
        [ $status = 0 ] || echo "[$status]"
    done < "$1"
    rm -rf "$work/run"
}

for file in "$source"/tests/golden/*.txt; do
    name=${file##*/}
    case $name in refused.txt) continue ;; esac
    (again "$file") > "$work/$name"
    if [ "${BITCUT_GOLDEN:-}" = write ]; then cp "$work/$name" "$file"
    else ok_if_empty "${name%.txt}" "$(diff "$file" "$work/$name")"; fi
done
echo "1..$n"
