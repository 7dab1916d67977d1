#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The kernels for AMD GPUs from other compilers and levels of optimisation: each gives the
# emulator's bits in the executor.  Some kernels at -O1; in check-long all of them, by
# every clang that is available, at -O1 to -O3, with one line of counts each.
# Run in the build folder with srcdir, CC and CFLAGS set, as `make check` does.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
# shellcheck source=tests/hip_lab.sh
. "${srcdir:-.}/tests/hip_lab.sh"
source=$(cd "${srcdir:-.}" && pwd) built=$PWD
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99

lab_begin "kernels as compilers make them"

# equal WORD...: a run of the folder's module gives the emulator's bits.
equal() {
    BITCUT_MODULES=$work/lab bitcut "$@" --device "executor:$target" --json \
        > out 2> err < /dev/null || { echo "bitcut $*"; cat err; }
    grep -q '"mismatches":0' out || echo "nothing was compared"
    value mismatches | grep -vx 0
    cat out >> all
}

# agrees LEVEL FILE...: kernels of the sources in FILE...; without any, of all that there are.
agrees() {
    level=$1 whole=
    shift
    rm -rf lab && lab_sources lab
    : > all
    if [ $# = 0 ]; then
        whole=yes
        for file in "$built"/gpu/hip/*."$target".hsaco; do
            file=${file##*/}
            set -- "$@" "${file%."$target".hsaco}"
        done
    fi
    for file; do lab_code lab "$target" "$file" "$level"; done
    lab_module lab
    equal record --random 64
    equal verify --kernel split --samples 3000
    equal verify --kernel batch -m 3 -n 4 -k 4 --seconds 0
    equal verify --kernel batch.mfma32x32x8 -m 31 -n 17 -k 13 --seconds 0
    if [ "$whole" ]; then equal verify --kernel all -m 66 -n 65 -k 75 --seconds 0
    else equal verify --kernel mfma32x32x8.plain.f16.64x64x32.2r -m 66 -n 65 -k 75 --seconds 0
    fi
}

# tell LEVEL: what was compared, of the lines in `all`.
tell() {
    awk -v what="$target $compiler $1" 'match($0, /"compared":[0-9]+/) {
        runs++; outputs += substr($0, RSTART + 11, RLENGTH - 11) }
        END { printf "# %s: %d runs, %d outputs\n", what, runs, outputs }' all
}

# A module with code for one of the devices that are there: that one is found, the others are
# refused in one line.
passed_over() {
    lab_sources alone
    lab_target=gfx90a lab_module alone
    export BITCUT_MODULES="$work/alone"
    run 0 list devices --json
    [ "$(grep -o '"name":"executor[^"]*","here":true' out)" = \
        '"name":"executor:gfx90a","here":true' ] || cat out
    for device in executor executor:gfx90a; do
        run 0 verify --kernel split --split bitcut --samples 100 --device $device --json
        grep -qv '"device":"gfx90a, executed"' out && cat out
    done
    run 3 verify --kernel split --samples 100 --device executor:gfx908
    grep -q 'no device has architecture gfx908$' err || cat err
    run 3 verify --kernel split --samples 100 --device executor:0
    grep -q 'no code for this device' err || cat err
}

if [ -z "${BITCUT_LONG:-}" ]; then
    target=gfx90a
    ok_if_empty "a device without code is passed over" "$(passed_over)"
    compiler=$(lab_compiler $target)
    ok_if_empty "$target: -O1" "$(agrees -O1 batch split mfma sums)"
    finish
fi
for target in gfx908 gfx90a gfx942; do
    for compiler in amdclang++ clang++-19 clang++-16 clang++-15 clang++-14; do
        lab_compiles $compiler $target || continue
        for level in -O1 -O2 -O3; do
            ok_if_empty "$target: $compiler $level" "$(agrees $level)"
            tell $level
        done
    done
done
finish
