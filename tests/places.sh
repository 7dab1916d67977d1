#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The program finds its data and its module without any variable: in a build tree, from
# any folder; installed, wherever the installation was moved; and its messages name the
# folders that it searched.
# Run in the build folder with srcdir, CC and CFLAGS set, as `make check` does.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
: "${srcdir:=.}" "${CC:=cc}" "${CFLAGS:=}"
unset BITCUT_DATA BITCUT_MODULES
source=$(cd "$srcdir" && pwd)
build=$PWD
libraries=$build/.libs
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
# The folders as the system has them, without links.
work=$(cd "$work" && pwd -P)
cd "$work" || exit 99
PATH=$build:$PATH

in_build_tree() {
    run 0 tile --gpu a800 --top 1 --json
    expect gpu a800
    run 0 report --no-studies --json
    [ -s report/stages.csv ] || echo "no recorded results"
    stopped judged/table1.json --no-results
    grep -q '"recorded":{' judged/table1.json || echo "no rows of studies"
    mkdir elsewhere linked
    (cd elsewhere && run 0 tile --gpu a800 --top 1)
    ln -s "$build/bitcut" linked/bitcut
    (PATH=$work/linked:$PATH && run 0 tile --gpu a800 --top 1)
    [ ! -f "$build/bitcut-cuda.so" ] || run 0 list kernels
}

# A tree like this one: the program where libtool puts it, and a module.
beside_module() {
    mkdir -p 1/2/3/build/.libs
    cd 1/2/3/build || return
    cp "$build/bitcut" .libs
    PATH=$PWD/.libs:$PATH
    case $srcdir in /*) ;; *) mkdir -p "$srcdir" && ln -s "$source/data" "$srcdir/data" ;; esac
    cp "$work/model/bitcut-cuda.so" .
    : > config.status
    run 0 list kernels
    run 0 tile --gpu a800 --top 1
    (cd "$work/elsewhere" && run 0 list kernels)
}

# Elsewhere what lies around is not taken.
alone() {
    mkdir alone
    cd alone || return
    cp "$build/bitcut" "$work/model/bitcut-cuda.so" .
    ln -s "$source/data" data
    PATH=$PWD:$PATH
    bitcut list kernels 2>&1 | grep "$PWD"
    bitcut tile --gpu none 2>&1 | grep "$PWD"
    BITCUT_MODULES=. run 0 list kernels
    BITCUT_DATA=data run 0 tile --gpu a800 --top 1
}

missing_said() {
    BITCUT_DATA=$work/nowhere
    BITCUT_MODULES=$BITCUT_DATA
    export BITCUT_DATA BITCUT_MODULES
    while read -r folder variable words; do
        # shellcheck disable=SC2086 # words
        run 3 $words
        grep -q " $BITCUT_DATA${folder%/} (.*$variable sets another" err || cat err
    done << 'END'
/gpu BITCUT_DATA tile --gpu a800
/gpu BITCUT_DATA report -o none
/gpu BITCUT_DATA report -o none --no-studies
/ BITCUT_MODULES bench gpu
/ BITCUT_MODULES verify --kernel all
END
    [ ! -e none ] || echo "a report without its results"
}

ok_if_empty "data and modules in the build tree" "$(in_build_tree)"
if [ -f "$libraries/libbitcut.so" ]; then
    ok_if_empty "the module is built" "$(model_built model)"
    ok_if_empty "a module in a build tree, the program in its .libs" "$(beside_module)"
    ok_if_empty "a program alone" "$(alone)"
else
    skip "modules" shared
fi
ok_if_empty "messages name the variable and the folder" "$(missing_said)"
echo "1..$n"
