#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bitcut run: programs with a cuBLAS and a device of the tests (tests/run/cublas_stub.c,
# tests/gpu/device.c), whose memory only the device may access: every GEMM in every form,
# calls left to the library with their reasons, streams, graphs, workspaces, audits and
# comparisons.
# Run in the build folder with srcdir, CC, CFLAGS and NM set, as `make check` does.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
: "${srcdir:=.}" "${CC:=cc}" "${CFLAGS:=}" "${NM:=nm}"
source=$(cd "$srcdir" && pwd)
libraries=$PWD/.libs
: "${BITCUT_MODULES:=$PWD}"
library=$BITCUT_MODULES/bitcut-run.so
unset LD_PRELOAD
for variable in $(env | sed -n 's/^\(BITCUT_RUN[A-Z_]*\)=.*/\1/p'); do unset "$variable"; done
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
unset TMPDIR
cd "$work" || exit 99
work=$(pwd -P)
[ -f "$libraries/libbitcut.so" ] || skip_all shared
case $CFLAGS in *-fsanitize*)
    ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_odr_violation=0:symbolize=0
    UBSAN_OPTIONS=symbolize=0
    export ASAN_OPTIONS UBSAN_OPTIONS
    ;;
esac

# built FILE WORD...: compile and link with the project's headers.  Without optimisation: what calls
# does nothing else, and a BLAS with all its names takes seconds to compile.
built() {
    file=$1
    shift
    # shellcheck disable=SC2086 # a list of words
    $CC -std=c11 $CFLAGS -O0 -g0 -I"$source" -o "$file" "$@" -Wl,-rpath,"$work" \
        -Wl,-rpath,"$libraries" 2>&1 | grep -E 'error|undefined|cannot'
    [ -f "$file" ]
}

here=$source/tests/run
with_stub="$here/cublas_call.c -L. -lcublas $libraries/libbitcut.so -lm -ldl -lpthread"
# shellcheck disable=SC2086
{
    built libcublas.so -shared -fPIC "$here/cublas_stub.c" &&
        built client "$here/cublas_client.c" $with_stub &&
        built scenes "$here/cublas_scenes.c" $with_stub &&
        built libtwo.so -shared -fPIC -DNUMBER=2 "$here/cublas_late.c" &&
        built libone.so -shared -fPIC -DNUMBER=1 "$here/cublas_late.c" -ldl &&
        built libwrap.so -shared -fPIC -DWRAPPER "$here/cublas_late.c" -ldl &&
        cp libcublas.so libsecond.so &&
        built late -Wl,--no-as-needed "$here/cublas_late.c" "$here/cublas_call.c" -L. -lone -ltwo -ldl &&
        ! model_built models | grep . && ! model_built honest -DHONEST | grep .
} > log || { cat log; echo "Bail out! programs are not compiled"; exit 1; }
mkdir none
for folder in models honest none; do cp "$library" $folder/; done
BITCUT_MODULES=$work/models
export BITCUT_MODULES

unit=hopper/mma.m16n8k16.f32.f16
way=ootomo@$unit
as="--recipe ootomo --unit $unit"

# counts WORD...: the values of those keys in the last line of `err`.
counts() {
    for key; do tail -n 1 err | sed -n "s/.*\"$key\":\(\"[^\"]*\"\|[^,\"}]*\).*/\1/p"; done |
        tr -d '"' | paste -s -d ' ' -
}

# values KEY: of all places.
values() { sed '$d' err | sed -n "s/.*\"$1\":\(\"[^\"]*\"\|[^,\"}]*\).*/\1/p" | paste -s -d ' ' -; }

# sorted KEY: the same, the least first.
sorted() { values "$1" | tr ' ' '\n' | sort -n | paste -s -d ' ' -; }

# said KEY...: the same of the client's own account.
said() {
    for key; do tail -n 1 out | sed -n "s/.*\"$key\":\([0-9]*\).*/\1/p"; done | paste -s -d ' ' -
}

# ran WORD...: bitcut run with options and a program, which prints into `out`; what is wrong
# if its status is not 0.
ran() {
    timeout 100 bitcut run --json "$@" > out 2> err < /dev/null
    status=$?
    own_errors err
    [ $status -eq 0 ] || { echo "run $*: status $status"; cat out err; }
}

# counted "KEY..." VALUES: what is wrong with the sum of a run.
counted() {
    # shellcheck disable=SC2086 # words
    [ "$(counts $1)" = "$2" ] || { echo "$1: $(counts $1), not $2"; tail -n 1 err; }
}

# --- every name ---------------------------------------------------------------------------

# both WORD...: each name, for integers of 32 bits and of 64.
both() { for name; do printf '%s\n' "$name" "${name}_64"; done; }

# The products of cuBLAS that are not taken: in each type, of complex ones alone, and others.
names_counted() {
    for type in S D C Z; do
        for routine in symm_v2 syrk_v2 syr2k_v2 syrkx trmm_v2 trsm_v2 trsmBatched gemv_v2; do
            both cublas$type$routine
        done
    done
    for type in D C Z; do
        both cublas${type}gemm_v2 cublas${type}gemmStridedBatched cublas${type}gemmBatched
    done
    for type in C Z; do
        for routine in gemm3m hemm_v2 herk_v2 her2k_v2 herkx; do both cublas$type$routine; done
    done
    both cublasHgemm cublasHgemmStridedBatched cublasHgemmBatched cublasCgemmEx cublasCgemm3mEx \
        cublasCgemm3mStridedBatched cublasCgemm3mBatched cublasCsyrkEx cublasCsyrk3mEx \
        cublasCherkEx cublasCherk3mEx cublasSgemmGroupedBatched cublasDgemmGroupedBatched \
        cublasGemmGroupedBatchedEx
}

names_wanted() {
    both cublasSgemm_v2 cublasSgemmStridedBatched cublasSgemmBatched cublasGemmEx \
        cublasGemmStridedBatchedEx cublasGemmBatchedEx cublasSgemmEx
    names_counted
    echo "cublasLtMatmul cublasSetWorkspace_v2 cublasSetStream_v2 cublasDestroy_v2" | tr ' ' '\n'
}

names_there() {
    names_wanted | sort > wanted
    $NM -D --defined-only "$library" | awk '{ print $NF }' | grep '^cublas' | sort | diff wanted -
    ldd "$library" | grep -i 'cublas\|cudart'
}

# called RECIPE UNIT [AGAINST]: every GEMM by this way.
called() {
    against=${3:+--against $3} both=
    [ "${3:-}" != original ] || both=both
    # shellcheck disable=SC2086 # words, or none
    ran --recipe "$1" --unit "$2" $against -- ./client "$1" "$2" $both
    grep -v '^{' out
    kinds='taken empty illegal'
    # shellcheck disable=SC2086 # words
    counted "$kinds passed failed left lost" "$(said $kinds) 0 0 0 0"
    [ "$(said wrong)" = 0 ] && [ "$(said outputs)" -gt 20000 ] || tail -n 1 out
    compared=$(values outputs | awk '{ for (i = 1; i <= NF; i++) n += $i } END { print n + 0 }')
    [ -z "$against" ] || [ "$compared" = "$(said outputs)" ] || echo "$compared compared"
}

# --- scenes -------------------------------------------------------------------------------

# scene NAME "KEY..." VALUES: a scene, by the kernels of the device.
scene() {
    BITCUT_MODULES=$work/honest ran --recipe "${recipe:-ootomo}" --unit $unit -- ./scenes "$1"
    cat out
    counted "$2" "$3"
}

left() {
    scene left 'taken left reasons others' \
        '2 40 scalars 15, types 3, compute 13, epilogue 8, layout 1 0'
    scene passed 'taken left reasons' '0 1 types 1'
    scene counted 'calls others' "0 $(names_counted | wc -l)"
    for name in $(names_counted); do
        grep -q "\"$name 1[\",]\|, $name 1[\",]" err || echo "$name is not counted"
    done
    # Small ones, of cuBLAS and by the option; what is as large is taken.
    # shellcheck disable=SC2086
    {
        ran $as --least 13825 -- ./scenes product
        counted 'taken left reasons' '0 1 small 1'
        ./scenes product | diff - out
        ran $as --least 13824 -- ./scenes product
        counted 'taken left' '1 0'
        # What no kernel computes on a device that emulates nothing, and without a module.
        BITCUT_MODULES=$work/honest ran --recipe plain --unit v100 -- ./scenes product
        counted 'taken left reasons' '0 1 kernel 1'
        ./scenes product | diff - out
        values fault | grep -q 'supports: unit volta/mma.* (supported: hopper/mma' || values fault
        BITCUT_MODULES=$work/none ran $as -- ./scenes product
        counted 'taken left reasons device' '0 1 device 1 null'
        values fault | grep -q '^"no GPU backend: bitcut-cuda.so not found in ' || values fault
        DEVICE_FAULT=future ran $as -- ./scenes product
        counted 'taken left reasons' '0 1 device 1'
        DEVICE_FAULT='far memory' ran $as -- ./scenes product
        counted 'taken left reasons' '0 1 kernel 1'
        ./scenes product | diff - out
        DEVICE_FAULT='far memory' ran $as --audit --against plain@v100 -- ./scenes product
        [ "$(values outputs) $(values compared)" = 'null 0' ] || cat err
        DEVICE_FAULT=breaks ran $as -- ./scenes product
        counted 'taken failed' '0 1'
        ./scenes product | diff - out
        ran --recipe plain --unit v100 -- ./scenes first
        counted 'taken left reasons captured' '3 0 null 2'
        bitcut run $as -- ./scenes captured 2>&1 |
            grep -q '^scenes.* cublasSgemm_v2 *2 *2 *1 *2 *24 ' || bitcut run $as -- ./scenes captured
        bitcut run $as -- ./scenes passed 2>&1 |
            grep -qx 'bitcut: run: 1 call left to the library: matrices or scalars that are not FP32' ||
            echo "not said why"
    }
}

# The thread's device computes.
devices() {
    # shellcheck disable=SC2086
    {
        MODEL_DEVICE=1 ran $as -- ./scenes product
        counted 'taken device' '1 More models'
        DEVICE_FAULT='second flips' ran $as -- ./scenes product
        mv out first
        MODEL_DEVICE=1 DEVICE_FAULT='second flips' ran $as -- ./scenes product
    }
    [ "$(diff first out | grep -c '^>')" = 1 ] || echo "not by the second device"
}

# What is compared, and what the program has meanwhile.
compared() {
    for scene in product products; do
        # shellcheck disable=SC2086
        ran $as -- ./scenes $scene
        mv out own
        ./scenes $scene > library
        for pair in "$way original own" "$way $way own" "$way plain@v100 own" \
            "original $way library"; do
            # shellcheck disable=SC2086
            set -- $pair
            ran --rule "*=$1" --against "$2" -- ./scenes $scene
            diff "$3" out
            values outputs | grep -q '^\(576\|1152 1152\)$' || values outputs
            case $1,$2 in "$way,$way") none='^[0 ]*$' ;; *) none='[1-9]' ;; esac
            values differ | grep -q "$none" || echo "$pair: $(values differ) differ"
        done
    done
    # A device that errs is found.
    DEVICE_FAULT=flips ran --rule "*=$way" --against "$way" -- ./scenes products
    [ "$(values differ)" = '2 2' ] || values differ
    # shellcheck disable=SC2086
    ran $as --against plain@v100 -- ./scenes captured
    counted 'taken captured' '2 1'
    [ "$(values outputs)" = 576 ] || values outputs
}

audited() {
    # shellcheck disable=SC2086
    for scene in product products; do
        ran $as -- ./scenes $scene
        mv out own
        ran $as --audit --sample all -- ./scenes $scene
        diff own out
        sorted recomputed | grep -q '^\(256\|256 512\)$' || values recomputed
        values mismatches | grep -q '^0\( 0\)*$' || values mismatches
        values relres | awk '{ for (i = 1; i <= NF; i++) if (!($i > 1e-9 && $i < 1e-6)) print }'
        ran --audit --sample all -- ./scenes $scene
        ./scenes $scene | diff - out
        values relres | awk '{ for (i = 1; i <= NF; i++) if (!($i > 1e-9 && $i < 1e-6)) print }'
        DEVICE_FAULT=flips ran $as --audit --sample all -- ./scenes $scene
        sorted mismatches | grep -q '^\(1\|1 2\)$' || values mismatches
    done
    # shellcheck disable=SC2086
    ran $as --audit --sample all -- ./scenes captured
    [ "$(values watched) $(values captured)" = '1 1' ] || cat err
}

# late WANTED "KEY..." VALUES LIBRARY...: what a program prints that looks routines up itself.
late() {
    wanted=$1 keys=$2 values=$3
    shift 3
    # shellcheck disable=SC2086
    ran $as -- ./late "$@"
    [ "$(cat out)" = "$wanted" ] || { echo "$*:"; cat out; }
    counted "$keys" "$values"
}

# By dlsym() and a handle: the library is not called, but where another one is meant.
looked_up() {
    case $(uname -m) in x86_64 | aarch64) ;; *) return ;; esac
    [ "$(./late ./libcublas.so)" = '1 0' ] || ./late ./libcublas.so
    late '0 0' 'taken left' '1 0' ./libcublas.so
    # A wrapper is what its program asked for; what that calls is computed.
    [ "$(./late ./libwrap.so ./libcublas.so)" = '1 1' ] || ./late ./libwrap.so ./libcublas.so
    late '0 0' 'taken left' '1 0' ./libwrap.so ./libcublas.so
    ran --audit -- ./late ./libwrap.so ./libcublas.so
    [ "$(cat out)" = '1 1' ] || cat out
    counted 'taken passed' '0 1'
    # Of two libraries calls go to the first: the second one's routines are its own.
    late '1 0' 'taken left' '0 0' ./libsecond.so ./libsecond.so ./libcublas.so
}

by_command_line() {
    bitcut run --least x --audit -- ./scenes product > out 2> err
    [ "$(cat err)" = 'bitcut: --least: expected a whole number below 10^18, found "x"' ] || cat err
    # shellcheck disable=SC2086
    ran $as --least 999999999999999999 -- ./scenes product
    counted 'taken left reasons' '0 1 small 1'
    bitcut run --least 1000000000000000000 --audit -- ./scenes product > out 2> err
    grep -q 'expected a whole number below 10^18' err || cat err
    # The unit of the device's kernel.
    ran --recipe ootomo --device cuda -- ./scenes product
    [ "$(values way)" = "\"$way\"" ] || values way
    counted 'taken on_device' '1 1'
    bitcut run --recipe feng --device cuda -- ./scenes product > out 2> err
    [ "$(cat err)" = 'bitcut: --device: no kernel implements recipe feng; see bitcut list kernels' ] ||
        cat err
}

ok_if_empty "the names that are taken are those of the manual" "$(names_there)"
ok_if_empty "every GEMM in every way: a kernel's" "$(BITCUT_MODULES=$work/honest called ootomo $unit)"
ok_if_empty "... emulated" "$(called legemm cdna2/mfma.32x32x8.f32.f16)"
ok_if_empty "... by another way, too" "$(called ootomo $unit plain@v100)"
ok_if_empty "... by the library, too" "$(called ootomo $unit original)"
ok_if_empty "what is left, and why" "$(left)"
ok_if_empty "routines that are looked up" "$(looked_up)"
ok_if_empty "devices" "$(devices)"
ok_if_empty "workspaces" "$(scene workspaces 'taken left reasons' '5 1 memory 1')"
ok_if_empty "graphs" "$(scene graphs 'taken left reasons captured' '10 1 capture 1 11')"
ok_if_empty "updates of a graph" "$(scene updates 'taken left reasons' '3 5 capture 5')"
ok_if_empty "a bias" "$(scene bias 'taken left reasons captured' '4 4 epilogue 4 1')"
ok_if_empty "streams" "$(scene streams 'taken left' '100 0')"
ok_if_empty "threads" "$(scene threads 'taken failed left' '1600 0 0')"
ok_if_empty "--against" "$(compared)"
ok_if_empty "--audit" "$(audited)"
ok_if_empty "the command line" "$(by_command_line)"
echo "1..$n"
