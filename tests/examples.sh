#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The two or three examples at the end of each command's help: the manual page has them, and they
# run.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
source=$(cd "${srcdir:-.}" && pwd)
build=$PWD
: "${BITCUT_DATA:=$source/data}"
export BITCUT_DATA
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99
commands=$(bitcut --help | sed -n 's/^  \([a-z][a-z]*\) .*/\1/p')

# examples COMMAND: its lines.
examples() { COLUMNS=0 bitcut "$1" --help | sed -n '/^Examples:$/,$s/^    //p'; }

examples_shown() {
    for name in $commands; do
        examples "$name" > lines
        case $(grep -c "^bitcut $name" lines) in
        2 | 3) ;;
        *)
            echo "$name:"
            cat lines
            ;;
        esac
        # lines of the page, without fonts, joined as the shell does
        bitcut --make-page "$name" | sed 's/\\f[BR]//g; s/\\-/-/g; s/\\&//g' |
            sed -e ':more' -e '/ \\e$/{N;s/ \\e\n */ /;b more' -e '}' > page
        grep -q '^\.nf' page || echo "bitcut-$name.1: examples are filled"
        while read -r line; do
            grep -qxF "$line" page || echo "bitcut-$name.1: not $line"
        done < lines
    done
}

# Each line in a folder that has what the first of gemm writes, the project's data and, for
# `run`, a program; every third one without BITCUT_WHOLE.
runs() {
    mkdir bin folder
    printf '#!/bin/sh\n' > bin/python3
    chmod +x bin/python3
    cd folder || exit 99
    ln -s "$source/data" data
    for name in gemm $commands; do examples "$name"; done | awk '!seen[$0]++' |
        grep -v -e '--device cuda' > ../lines
    [ -f "$build/bitcut-run.so" ] || { grep -v '^bitcut run ' ../lines > few; mv few ../lines; }
    [ "$(wc -l < ../lines)" -ge 30 ] || echo "$(wc -l < ../lines) lines"
    part 3 < ../lines > few
    mv few ../lines
    # Replay of this paste takes 16 seconds of a processor; tests/paste.sh replays a shorter one.
    is_whole || { grep -v '^bitcut replay data/pastes/h200' ../lines > few; mv few ../lines; }
    while read -r line; do
        PATH="$work/bin:$PATH" sh -c "$line" > ../out 2> ../err < /dev/null ||
            { echo "$line: status $?"; head -n 3 ../err; }
    done < ../lines
}

ok_if_empty "each command's help and page have two or three examples" "$(examples_shown)"
case ${CFLAGS:-} in
*-fsanitize*) skip "examples run" plain ;;
*) exhaustive "examples run" runs ;;
esac
echo "1..$n"
