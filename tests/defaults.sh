#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The user's default options, from BITCUT_DEFAULTS or a file.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
: "${BITCUT_DATA:=$(cd "${srcdir:-.}" && pwd)/data}"
export BITCUT_DATA BITCUT_DEFAULTS
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99
usual="--recipe ootomo --unit h100"
gemm="gemm -m 4 -n 4 -k 8"

# by COMMAND...: what it prints.
by() { bitcut "$@" < /dev/null 2>&1; }

# The variable stands for options that are missing, and only for them.
variable() {
    # shellcheck disable=SC2086 # lists of words
    {
        BITCUT_DEFAULTS='' by $gemm $usual > want
        BITCUT_DEFAULTS=$usual by $gemm | diff want -
        BITCUT_DEFAULTS=" --unit=h100	--recipe=ootomo " by $gemm | diff want -
        BITCUT_DEFAULTS="--recipe plain --unit a100" by $gemm $usual | diff want -
        BITCUT_DEFAULTS="--recipe no --unit no --threads no --seed no" \
            by $gemm $usual --threads 1 --seed 1 | diff want -
        BITCUT_DEFAULTS='' by $gemm $usual --seed 7 > want
        BITCUT_DEFAULTS="$usual --seed 7 --threads 1" by $gemm | diff want -
        BITCUT_DEFAULTS="--recipe ootomo --seed 7" by $gemm --unit h100 | diff want -
    }
    BITCUT_DEFAULTS=''
    run 2 gemm -m 4 -n 4 -k 8
    BITCUT_DEFAULTS="--recipe ootomo" run 2 gemm -m 4 -n 4 -k 8
}

# An option that limits a search, or chooses what a command does, has no default.
searches() {
    BITCUT_DEFAULTS=$usual by report --no-studies -o plain > out
    grep -q '^verify' out || cat out
    BITCUT_DEFAULTS='' by split > want
    BITCUT_DEFAULTS=$usual by split | diff want -
    BITCUT_DEFAULTS=$usual
    run 0 list units hopper
    run 2 mma
    bitcut verify --kernel none 2> err > out
    grep BITCUT_DEFAULTS err
}

# A report shows the command that makes it again.
shown() {
    BITCUT_DEFAULTS="--seed 7" by report --no-studies -o seven > out
    grep -q 'bitcut report --seed 7 --no-studies' seven/index.html || echo "the command has no seed"
}

# The file is read if there is no variable; it has comments and lines.
file() {
    unset BITCUT_DEFAULTS XDG_CONFIG_HOME
    mkdir -p home/.config/bitcut other/bitcut
    printf '# mine\n--recipe ootomo # not plain\n\n--unit\th100' > home/.config/bitcut/defaults
    echo "--recipe plain --unit h100" > other/bitcut/defaults
    # shellcheck disable=SC2086 # lists of words
    {
        BITCUT_DEFAULTS='' by $gemm $usual > want
        HOME=$PWD/home by $gemm | diff want -
        HOME=$PWD/home XDG_CONFIG_HOME=relative by $gemm | diff want -
        HOME=$PWD/other XDG_CONFIG_HOME=$PWD/home/.config by $gemm | diff want -
        BITCUT_DEFAULTS=$usual HOME=$PWD/home XDG_CONFIG_HOME=$PWD/other by $gemm | diff want -
        BITCUT_DEFAULTS='' HOME=$PWD/home run 2 $gemm
        HOME=$PWD/none run 2 $gemm
        HOME='' run 2 $gemm
    }
}

# refused WHERE WORD...: the command fails with a line that names the variable or the file.
refused() {
    where=$1
    shift
    run 2 "$@"
    grep -qF "bitcut: $where: " err || cat err
}

contents() {
    for text in --unit ootomo "--device cuda" "-m 4" "--recipe no --unit h100" \
        "--recipe ootomo --unit no" "--recipe ootomo-tf32 --unit v100" "$usual --seed -1" \
        "$usual --threads 9999" "$(head -c 5000 /dev/zero | tr '\0' x)" "$(yes x | head -n 100)"; do
        # shellcheck disable=SC2086 # a list of words
        BITCUT_DEFAULTS=$text refused BITCUT_DEFAULTS $gemm
        mkdir -p bad/bitcut
        printf %s "$text" > bad/bitcut/defaults
        # shellcheck disable=SC2086 # a list of words
        (unset BITCUT_DEFAULTS; XDG_CONFIG_HOME=$PWD/bad refused "$PWD/bad/bitcut/defaults" $gemm)
    done
    printf 'a\0b' > bad/bitcut/defaults
    (unset BITCUT_DEFAULTS; XDG_CONFIG_HOME=$PWD/bad refused "$PWD/bad/bitcut/defaults" list)
    # What is no file sets nothing.
    rm bad/bitcut/defaults
    mkdir bad/bitcut/defaults
    (unset BITCUT_DEFAULTS; XDG_CONFIG_HOME=$PWD/bad run 0 list)
    # What shows how to put it right still runs.
    BITCUT_DEFAULTS="--unit no"
    run 0 list units
    BITCUT_DEFAULTS="--no"
    run 0 gemm --help
    run 0 --version
}

ok_if_empty "BITCUT_DEFAULTS stands for options that are missing" "$(variable)"
ok_if_empty "searches have no default" "$(searches)"
ok_if_empty "a report shows the defaults" "$(shown)"
ok_if_empty "a file is read if there is no variable" "$(file)"
ok_if_empty "bad contents are refused, and what has them is named" "$(contents)"
echo "1..$n"
