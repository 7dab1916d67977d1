#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bitcut run --scheme: FP64 products of programs, under every name of DGEMM, its batches, DSYRK
# and DSYMM and in every form; threads, children and other floating-point modes; rules of both
# precisions; and the bits of bitcut gemm --scheme.
# Run in the build folder with srcdir, CC, CFLAGS and NM set, as `make check` does.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
# shellcheck source=tests/run_begin.sh
. "${srcdir:-.}/tests/run_begin.sh"

# The same library and programs in FP64.
with_stub="-L. -lstub64 $libraries/libbitcut.so -lm -ldl -lpthread"
# shellcheck disable=SC2086
{
    built libstub64.so -shared -fPIC -DFP64 "$here/blas_stub.c" &&
        built client64 -DFP64 "$here/blas_client.c" "$here/blas_call.c" $with_stub &&
        built scenes64 -DFP64 "$here/blas_scenes.c" $with_stub
} > log || { cat log; echo "Bail out! programs are not compiled"; exit 1; }

SCENE_RECIPE=ozimmu-h SCENE_UNIT=hopper/mma.m16n8k32.s32.s8
way=$SCENE_RECIPE@$SCENE_UNIT
as="--scheme $SCENE_RECIPE --unit $SCENE_UNIT"
client=./client64 kind=scheme scenes=./scenes64

# Each name has its place, and each place its name.
by_name() {
    sed -n 's/.*"routine":"\([^"]*\)".*/\1/p' err | sort -u > taken_names
    grep -E '(dgemm|dsyrk|dsymm|dgemm_batch|dgemm_batch_strided)(_|64_|_64|_64_)?$' names | sort |
        diff - taken_names
}

# tests/run.sh has all of them.
scenes() {
    part 2 << 'END' > listed
all 1 3 0 0
threads 1 520 0 0
small_stacks 1 520 0 0
forks 8 544 0 0
nested 1 1 1 0
jumps 1 3 0 3
modes 1 24 0 0
traps 1 2 0 0
sealed 1 3 0 0
END
    while read -r name processes taken empty illegal; do
        case $sanitized,$name in yes,forks | yes,sealed)
            skip "$name" plain
            continue
            ;;
        esac
        ok_if_empty "$name" "$(scene 0 "$processes $taken $empty $illegal" "$name")"
    done < listed
}

# A routine of the other precision is counted, whatever it calls.
counted_other() {
    ran 0 --json -- ./scenes64 within
    [ "$(counts taken others)" = "2 3" ] || tail -n 1 err
    grep -q '"counted":"cblas_ssyrk 1, sgemm_ 2"' err || tail -n 1 err
    # FP32 products of a run of FP64, and the other way round.
    ran 1 --json -- ./scenes all > said
    [ "$(counts calls others)" = "0 3" ] || tail -n 1 err
    ran 1 -- ./scenes all > said
    line '^bitcut: run: no product was seen: its products are not FP64 products of level 3'
    bitcut run --recipe plain --unit h100 -- ./scenes64 all > out 2> err && echo "FP64 by plain"
    line '^bitcut: run: only counted, left to the library: .*dgemm_ 2'
    line '^bitcut: run: no product was seen: its products are not FP32 products of level 3'
}

# The rules of a precision are for its calls.
rules() {
    two="--rule *=plain@v100 --rule *=$way"
    # shellcheck disable=SC2086
    {
        bitcut run --json $two -- ./scenes64 all > out 2> err || cat out err
        [ "$(counts taken passed others)" = "3 0 0" ] || tail -n 1 err
        line '"configuration":"ozimmu-h@hopper/[^"]*","recipe":null,"scheme":"ozimmu-h","parts":8,'
        bitcut run --json $two -- ./scenes once > out 2> err
        line '"configuration":"plain@volta/[^"]*","recipe":"plain","scheme":null,"parts":null,'
    }
    bitcut run --json --rule '*=original' --rule "*=$way" -- ./scenes64 once > out 2> err
    [ "$(counts taken passed)" = "0 1" ] || tail -n 1 err
    ran 1 --parts 3 --json -- ./scenes64 once > said
    line '"configuration":"[^"]*,parts=3","recipe":null,"scheme":"ozimmu-h","parts":3,'
    ran 1 --least 999999999 --json -- ./scenes64 once > said
    [ "$(counts taken left reasons)" = "0 1 small 1" ] || tail -n 1 err
}

# What --against says of one product, computed both ways by another program.
against() {
    for pair in "$way original" "original $way" "$way,parts=4 gemmul8@h100"; do
        one=${pair% *} other=${pair#* }
        bitcut run --rule "*=$one" --against "$other" --json -- ./scenes64 product \
            > got 2> err || cat got err
        # shellcheck disable=SC2046
        set -- $(sed -n 's/.*"outputs":\([^,]*\),"differ":\([^,]*\),"not_finite":\([^,]*\),"difference":\([^,]*\),"largest":\([^,]*\),.*/\1 \2 \3 \4 \5/p' err)
        bitcut run --rule "*=$one" --rule "*=$way" -- ./scenes64 product > one 2> err
        bitcut run --rule "*=$other" --rule "*=$way" -- ./scenes64 product > other 2> err
        cmp got one # the program has what it asked for
        paste one other | ./scenes64 differ "$@" || echo "$pair: $*"
    done
    # A configuration of FP32 is not compared with FP64 products.
    ran 0 --against plain@v100 --json -- ./scenes64 once
    line '"against":null,.*"outputs":null,'
}

# What `bitcut gemm` and `bitcut verify` make of the matrices of a call.
# shellcheck disable=SC2086
same_as_gemm() {
    printf '%s\n' "ozimmu-h --parts 5" gemmul8-fast "slices-bf16 --parts 4" fp64 | part 2 > schemes
    while read -r scheme; do
        unit=$SCENE_UNIT
        case $scheme in slices*) unit=h100 ;; fp64) unit=fma/f64 ;; esac
        as="--scheme $scheme --unit $unit"
        ran 0 --json -- ./scenes64 files > /dev/null
        [ "$(counts taken passed)" = "1 0" ] || tail -n 1 err
        run 0 gemm $as -a A.npy -b B.npy -c C.npy --alpha 1.25 --beta -0.5 -o want.npy
        cmp want.npy D.npy
        run 0 verify $as -a A.npy -b B.npy -c C.npy --alpha 1.25 --beta -0.5 -d D.npy --json
        expect mismatches 0
    done < schemes
}

# What cannot be is refused, in the variables too.
refused() {
    bitcut run $as --audit -- ./scenes64 once > out 2> err && echo "audited"
    line '^bitcut: --audit: belongs to FP32 GEMMs; it cannot be combined with --scheme$'
    bitcut run --audit --rule "*=$way" -- ./scenes64 once > out 2> err && echo "audited"
    line '^bitcut: --audit audits FP32 products; it cannot be combined with a scheme$'
    BITCUT_RUN=$SCENE_RECIPE@h100,parts=99 LD_PRELOAD=$library ./scenes64 once > out 2> err
    line '^bitcut: run: BITCUT_RUN: scheme ozimmu-h has 1 to 18 parts; products are'
    $NM -D "$library" | grep -E 'mpfr|__gmp'
}

called_scheme() { called "$1" $SCENE_UNIT; }
ok_if_empty "every name in every way: ozimmu-h" "$(called_scheme ozimmu-h)"
ok_if_empty "each has its place" "$(by_name)"
called_gemmul8() { called_scheme gemmul8; }
if_whole "every name in every way: gemmul8" called_gemmul8
by_library() { called ozimmu-h $SCENE_UNIT original; }
if_whole "... and by the library" by_library
scenes
ok_if_empty "FP32 products are counted" "$(counted_other)"
ok_if_empty "rules of both precisions" "$(rules)"
ok_if_empty "what differs is as computed here" "$(against)"
ok_if_empty "a call is bitcut gemm's" "$(same_as_gemm)"
ok_if_empty "refusals, and no MPFR" "$(refused)"
echo "1..$n"
