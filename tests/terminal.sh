#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Output on a terminal: lines that wrap at words, and the colours of verdicts.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
source=$(cd "${srcdir:-.}" && pwd)
: "${BITCUT_DATA:=$source/data}"
export BITCUT_DATA
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99
commands=$(bitcut --help | sed -n 's/^  \([a-z][a-z]*\) .*/\1/p')
bitcut gemm --recipe ootomo --unit h100 -m 5 -n 6 -k 70 --save-a a.npy --save-b b.npy \
    -o d.npy > out
problem="-a a.npy -b b.npy -d d.npy"

# too_wide COLUMNS: lines of standard input that have more.
too_wide() { LC_ALL=C.UTF-8 awk -v most="$1" 'length > most'; }

# words: of standard input, a blank between.
words() { sed 's/ \\$//' | tr -s ' \n' ' ' | sed 's/ *$//'; }

# All help fits 80 columns, in a pipe, too, and is the same text when it does not wrap.
help_wraps() {
    for name in "" $commands; do
        # shellcheck disable=SC2086 # nothing for the help of the program
        bitcut $name --help > narrow
        # shellcheck disable=SC2086
        COLUMNS=0 bitcut $name --help > wide
        too_wide 80 < narrow
        [ "$(words < narrow)" = "$(words < wide)" ] || echo "$name: another text"
    done
    COLUMNS=40 bitcut gemm --help | grep -A 1 -e '--unit U' | tail -n 1 > line
    grep -q '^      [^ ]' line || cat line
    COLUMNS=60 bitcut gemm --help | grep -A 1 -e "--recipe R" | tail -n 1 > line
    grep -q '^ \{25\}[^ ]' line || cat line
}

# Without arguments ten commands by task on one screen; with --help all, each of them once; -h is
# --help everywhere.
overview() {
    run 0
    [ "$(grep -c '^[A-Z].*:$' out)" -eq 6 ] || cat out
    [ "$(grep -c '^  [a-z]' out)" -eq 10 ] || cat out
    COLUMNS=80 bitcut > out
    too_wide 80 < out
    [ "$(wc -l < out)" -le 40 ] || cat out
    run 0 --help
    [ "$(grep -c '^[A-Z][a-z ,]*:$' out)" -ge 7 ] || cat out
    sed -n 's/^  \([a-z][a-z]*\) .*/\1/p' out | sort > got
    bitcut --make-completion bash | sed -n "s/^ *_bitcut_words '\(.*\) --help --version'/\1/p" |
        tr ' ' '\n' | sort | diff - got
    bitcut > /dev/full 2> err && echo "standard output is not looked at"
    for name in "" $commands; do
        # shellcheck disable=SC2086 # nothing for the help of the program
        bitcut $name -h > short || echo "$name -h: status $?"
        # shellcheck disable=SC2086
        bitcut $name --help | diff - short | head -n 3
    done
}

# A line a result in a pipe; COLUMNS wraps, behind the label.
results_wrap() {
    # shellcheck disable=SC2086 # a list of words
    {
        bitcut verify --recipe ootomo --unit h100 $problem > pipe
        COLUMNS=60 bitcut verify --recipe ootomo --unit h100 $problem > narrow
        COLUMNS=none bitcut verify --recipe ootomo --unit h100 $problem | diff pipe -
    }
    too_wide 60 < narrow
    grep -vE '^[a-z]|^ {12}[^ ]' narrow
    [ "$(words < narrow)" = "$(words < pipe)" ] || echo "another text"
    [ "$(wc -l < narrow)" -gt "$(wc -l < pipe)" ] || echo "nothing wraps"
    bitcut study figure9 xf32 --verdicts > pipe
    COLUMNS=80 bitcut study figure9 xf32 --verdicts > narrow
    grep -q '^ \{30,\}[^ ]' narrow || cat narrow
    [ "$(words < narrow | tr ' ' '\n' | sort -u)" = "$(words < pipe | tr ' ' '\n' | sort -u)" ] ||
        echo "another text of a table"
    too_wide 80 < narrow
    for command in "split --from -3 --to 1 --samples 100" "tile --gpu a800 --top 3" \
        "list rates" "list bounds"; do
        # shellcheck disable=SC2086 # words
        COLUMNS=80 bitcut $command > narrow
        # shellcheck disable=SC2086
        bitcut $command > pipe
        too_wide 80 < narrow | head -n 3
        tr -s ' ,' '\n' < narrow | sort -u > narrow.words
        tr -s ' ,' '\n' < pipe | sort -u | comm -23 - narrow.words | head -n 3
    done
    # lines of code do not wrap: they can be copied
    COLUMNS=60 bitcut tolerance --recipe ootomo --unit h100 -m 4 -n 4 -k 8 --power 0 --seeds 3 > narrow
    [ "$(grep -c '^NumPy  *assert .*)$' narrow)" -eq 2 ] || cat narrow
    COLUMNS=20 bitcut list units --json > narrow
    bitcut list units --json | diff -q - narrow
}

# A command that wraps can be copied: the shell joins its lines.
commands_wrap() {
    COLUMNS=50 bitcut advise -a a.npy -b b.npy --unit a100 > out
    sed -n '/^check/,$p' out > check
    grep -q ' \\$' check || cat check
    bitcut advise -a a.npy -b b.npy --unit a100 | sed -n 's/^check *//p' | words > want
    sed 's/^check//' check | sh -c 'echo echo "$(cat)"' | sh | words | diff want -
}

# at_terminal SETTING COMMAND: what the command prints at a terminal.
at_terminal() {
    TERM=xterm script -qec "stty $1; $2 2> err" /dev/null < /dev/null 2>&1 | tr -d '\r'
}

green=$(printf '\033[32m')
red=$(printf '\033[31m')
terminal() {
    same="bitcut verify --recipe ootomo --unit h100 $problem"
    other="bitcut verify --recipe ootomo --unit a100 $problem --seconds 0"
    at_terminal "cols 60" "NO_COLOR=1 $same" > out
    COLUMNS=60 $same | diff - out
    at_terminal "cols 0" "bitcut gemm --help" > out
    bitcut gemm --help | diff - out
    at_terminal "cols 200" "$same" > out
    grep -F "verdict" out | grep -qF "  ${green}D equals" || cat -v out
    at_terminal "cols 200" "$other" > out
    grep -F "verdict" out | grep -qF "  ${red}D differs" || cat -v out
    at_terminal "cols 300" "bitcut study figure9 --verdicts" > out
    grep -qF "${green}agrees" out || cat -v out
    grep -qF "${red}differs" out || cat -v out
    for setting in "NO_COLOR=1" "TERM=dumb"; do
        at_terminal "cols 200" "$setting $same" > out
        grep "$(printf '\033')" out
    done
    NO_COLOR="" $same | grep "$(printf '\033')"
}

# On a terminal a long command shows its percentage, of several steps which, and then the time
# left; into a file nothing.
progress() {
    TERM=xterm script -qec "stty cols 100; bitcut study figure1 xf32 --verdicts > /dev/null" /dev/null \
        < /dev/null | tr '\r' '\n' > out
    grep -q '^xf32 (2 of 2)  *[0-9]* %' out || cat -v out
    bitcut study figure9 2>&1 > /dev/null
}

# Few columns of units, and all of them; rows by a part of their names, or by a chip.
units() {
    run 0 list units
    too_wide 100 < out
    [ "$(head -n 1 out | tr -s ' ')" = "name shape evidence chips" ] || head -n 1 out
    grep -q 'not run on AMD hardware by us' out || echo "no note on AMD"
    awk 'NF && !/^(name|Units)/ { print $1 }' out > names
    run 0 list units --json
    value name | diff names -
    run 0 list units --wide
    [ "$(head -n 1 out | wc -w)" -gt 20 ] || head -n 1 out
    awk 'NR > 1 { print $1 }' out | diff names - | head -n 3
    run 0 list units hopper
    awk 'NF { print $1 }' out | grep -v -e '^name' -e '^hopper/'
    grep -q AMD out && echo "a note on AMD"
    awk 'NR > 1 { print $1 }' out > names
    run 0 list units h100 --json
    value name | diff names - | head -n 3
    run 0 list recipes ootomo --json
    value name | grep -v ootomo
    run 2 list units nothing
}

ok_if_empty "help wraps at 80 columns" "$(help_wraps)"
ok_if_empty "bitcut alone prints ten commands by task, and -h is --help" "$(overview)"
ok_if_empty "list units has few columns, and chooses rows" "$(units)"
ok_if_empty "results wrap at COLUMNS, and in a pipe not at all" "$(results_wrap)"
ok_if_empty "commands that wrap can be copied" "$(commands_wrap)"
if command -v script > /dev/null && at_terminal "cols 60" "echo terminal" | grep -qx terminal; then
    ok_if_empty "a terminal has its width, and verdicts their colours" "$(terminal)"
    ok_if_empty "long commands show how far they are" "$(progress)"
else
    skip "a terminal has its width, and verdicts their colours" "script, of util-linux (the package bsdutils)"
    skip "long commands show how far they are" "script, of util-linux (the package bsdutils)"
fi
echo "1..$n"
