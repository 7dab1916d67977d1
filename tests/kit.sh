#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The kit for owners of AMD cards (gpu/hip/kit/kit.hip) on the executor: it compiles as
# one file, its recordings equal the models, and they distinguish each unit from its
# mutants.  By default for two GPUs, with BITCUT_WHOLE for three, with
# BITCUT_BRIEF for one.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
: "${srcdir:=.}" "${CC:=cc}" "${CFLAGS:=}"
kit=$(cd "$srcdir" && pwd)/gpu/hip/kit/kit.hip stand_in=$PWD
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99
flags='-x hip -std=c++14 -Wall -Wextra -Werror -nogpulib -nogpuinc'

# The first compiler that makes code for the target, and links it, of the kit; into $target.
device_code() {
    for compiler in amdclang++ clang++-19 clang++-16 clang++-15 clang++-14 clang++; do
        command -v "$compiler" > /dev/null || continue
        # shellcheck disable=SC2086 # a list of words
        "$compiler" $flags -O3 --offload-arch="$1" --offload-device-only \
            --no-gpu-bundle-output -c -o "$1" "$kit" 2> "$1.err" && return
    done
    return 1
}

# number N: eight bytes, the lowest first.
number() {
    left=$1
    for _ in 1 2 3 4 5 6 7 8; do
        # shellcheck disable=SC2059 # octal digits
        printf "\\$(printf %o $((left % 256)))"
        left=$((left / 256))
    done
}

# entry OFFSET BYTES NAME: of a bundle's table.
entry() { number "$1" && number "$2" && number ${#3} && printf %s "$3"; }

# bundled TARGET...: what clang's bundler makes of the host's and the targets' code, which
# Debian has in packages of their own.
bundled() {
    page=4096 at=4096
    {
        printf __CLANG_OFFLOAD_BUNDLE__
        number $(($# + 1))
        entry $page 0 host-x86_64-unknown-linux-gnu-
        for target; do
            size=$(wc -c < "$target")
            entry $at "$size" "hipv4-amdgcn-amd-amdhsa--$target"
            at=$((at + (size + page - 1) / page * page))
        done
    } > bundle
    at=1
    for target; do
        dd if="$target" of=bundle bs=$page seek=$at conv=notrunc 2> /dev/null
        at=$((at + ($(wc -c < "$target") + page - 1) / page))
    done
}

# The program, by the last compiler that was found.
program() {
    # shellcheck disable=SC2086
    "$compiler" $flags -O1 --offload-host-only -fPIC -Xclang -fcuda-include-gpubinary \
        -Xclang bundle -c -o kit.o "$kit" 2>&1 || return
    # shellcheck disable=SC2086
    $CC $CFLAGS -o kit kit.o "$stand_in/bitcut-gfx9.so" -Wl,-rpath,"$stand_in" 2>&1
}

# recorded TARGET LINES: the kit's lines of a target, those of its units.
recorded() {
    ./kit 1 "$(number_of "$1")" > "$1.jsonl" 2> err || cat err
    [ "$(wc -l < "$1.jsonl")" -eq "$2" ] || echo "$(wc -l < "$1.jsonl") lines"
    run 0 replay "$1.jsonl" --json
    [ "$(value mismatches | grep -cx 0)" -eq "$2" ] || cut -c1-300 out
    run 0 probe --mutants "$1.jsonl" --json
    [ "$(value surviving | grep -cx 0)" -eq $(($2 / 2)) ] || cut -c1-100 out
    run 0 fit "$1.jsonl:1" --json
    expect unit_survives true
}

number_of() {
    case $1 in gfx908) echo 0 ;; gfx90a) echo 1 ;; gfx942) echo 2 ;; esac
}

# Another bit of a D is a mismatch of its line alone.
wrong_seen() {
    sed '2s/\(.*\)0"}}$/\11"}}/; 2t; 2s/\(.*\)."}}$/\10"}}/' "$1.jsonl" > wrong.jsonl
    run 1 replay wrong.jsonl --json
    [ "$(value mismatches | grep -vx 0)" = 1 ] || cut -c1-200 out
    grep -v '"mismatches":0' out | grep -q '"set":"wrong.jsonl:2"' || echo "another line"
}

# Without a device, or with a number that is none.
refused() {
    ./kit 1 9 > out 2> err && echo "device 9"
    grep -qx 'kit: the device: unknown device number' err || cat err
    ./kit x > out 2> err && echo "seed x"
    grep -qx 'kit: x: is not a number' err || cat err
    [ -s out ] && cat out
}

[ -f "$stand_in/bitcut-gfx9.so" ] || skip_all bitcut-gfx9.so
found='' best=''
targets='gfx908 gfx90a gfx942' without=amd
is_whole || targets='gfx908 gfx942' without=all
[ -z "${BITCUT_BRIEF:-}" ] || targets=gfx90a without=whole
for target in $targets; do
    device_code $target || continue
    found="$found $target"
    best=$compiler
done
[ "$found" ] || skip_all amd
compiler=$best
# shellcheck disable=SC2086
bundled $found
ok_if_empty "the kit is one program for$found" "$(program)"
while read -r target lines; do
    case $found in
    *$target*) ok_if_empty "$target: as the models, and no mutant is" \
        "$(recorded "$target" "$lines")" ;;
    *) skip "$target: as the models, and no mutant is" "$without" ;;
    esac
done << END
gfx908 30
gfx90a 40
gfx942 50
END
ok_if_empty "a wrong bit is seen" "$(wrong_seen "${found##* }")"
ok_if_empty "what it cannot do is refused" "$(refused)"
echo "1..$n"
