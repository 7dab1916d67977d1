#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The matrix units of this machine's processor: which are available, compared with
# /proc/cpuinfo; their results, compared with the models; whole GEMMs on them, compared
# with the emulator.  Missing units are skipped, with the reason.
# Run in the build folder with srcdir set, as `make check` does.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
: "${srcdir:=.}"
directed=$(cd "$srcdir" && pwd)/data/directed
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99
brief=${BITCUT_BRIEF:+1}

# Architecture, flag of its own, unit, family of kernels; outputs that are compared.
units() {
    cat << 'END'
amx-bf16 amx_bf16 amx/tdpbf16ps.m16n16k32.f32.bf16 amx
amx-fp16 amx_fp16 amx-fp16/tdpfp16ps.m16n16k32.f32.f16 none
avx512-bf16 avx512_bf16 avx512/vdpbf16ps.m1n16k2.f32.bf16 avx512
END
}
outputs=$((1 << (brief ? 17 : 20)))
if is_whole; then outputs=10000000; fi

# here ARCHITECTURE: whether list devices has it; else `why` says why not.
here() {
    grep -q "\"architectures\":\[[^]]*\"$1\"" host && return
    why=$(sed -n 's/.*"why":"\([^"]*\)".*/\1/p' host)
    return 1
}

# modelled UNIT: whether the table of units has a row for it.
modelled() { grep -qF "\"name\":\"$1\"" models; }

# What the kernel says of the processor, too.
listed() {
    grep -q . host || echo "no row"
    units | while read -r architecture flag rest; do
        grep -qw "$flag" /proc/cpuinfo && says=1 || says=
        if here "$architecture"; then
            [ "$says" ] || echo "$architecture is here, but not $flag in /proc/cpuinfo"
        elif [ "$says" ]; then
            case $why in
            *"$architecture"*refuses* | *"$architecture"*"not keep"* | *"$architecture"*compiler*) ;;
            *) echo "$flag is in /proc/cpuinfo, but: $why" ;;
            esac
        fi
    done
}

recorded() {
    run 0 record --device cpu --unit "$1" --random "$outputs" --json
    expect mismatches 0
    [ "$(value outputs)" -ge "$outputs" ] || echo "only $(value outputs) outputs"
    run 0 record --device cpu "$directed/$1" -o set --json
    expect mismatches 0
    expect repeats_differ 0
    rm -rf set
}

# kernels FAMILY UNIT: of each recipe, on sizes around tiles.
kernels() {
    while read -r recipe words; do
        # shellcheck disable=SC2086 # words
        run 0 verify --kernel "cpu/$1.$recipe.bf16" $words --json
        expect mismatches 0
        expect unit "$2"
        run 0 gemm --recipe "$recipe" --unit "$2" --device cpu -m 40 -n 50 -k 60 -o there.npy
        run 0 gemm --recipe "$recipe" --unit "$2" -m 40 -n 50 -k 60 -o here.npy
        cmp there.npy here.npy
    done << 'END'
plain -m 17 -n 33 -k 71
bf16x3 -m 5 -n 17 -k 70 --split-k 3
bf16x6 -m 16 -n 16 -k 32
bf16x9 -m 18 -n 3 -k 33 --equilibrate
END
    for split in bf16 bf16-daz; do
        tiny="--recipe plain --unit $2 -m 40 -n 50 -k 60 --split $split --input-a \
urand(1.17e-38,1.18e-38) --input-b exp_rand(90,100)"
        # shellcheck disable=SC2086 # words
        run 0 gemm $tiny --device cpu -o there.npy
        # shellcheck disable=SC2086 # words
        run 0 gemm $tiny -o "$split.npy"
        cmp there.npy "$split.npy"
    done
    cmp -s bf16.npy bf16-daz.npy && echo "no subnormal value becomes a normal part"
}

# A library of this name stands before the system's: it computes, has a thread more than it
# was told, and the kernels that it was told.
library() {
    cat > stub.c << 'END'
#include <stdlib.h>
static int threads;
void openblas_set_num_threads(int n) { threads = n; }
int openblas_get_num_threads(void) { return threads + 1; }
const char *openblas_get_config(void) { return "OpenBLAS 9.8.7 STUB"; }
const char *openblas_get_corename(void) { return getenv("OPENBLAS_CORETYPE"); }
void cblas_sgemm(int order, int turn_a, int turn_b, int m, int n, int k, float alpha,
                 const float *a, int lda, const float *b, int ldb, float beta, float *c,
                 int ldc)
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int p = 0; p < k; p++) sum += a[i * lda + p] * b[p * ldb + j];
            c[i * ldc + j] = alpha * sum + beta * 0 + 0 * (order + turn_a + turn_b);
        }
}
END
    mkdir -p libraries
    # shellcheck disable=SC2086 # a list of words
    $CC -std=c11 $CFLAGS -shared -fPIC -o libraries/libopenblas.so.0 stub.c 2>&1
}

# timed FAMILY: all recipes beside the library, verified, each in parts.
timed() {
    library
    # Standard error has how far rounds lie apart, if they do.
    LD_LIBRARY_PATH=$work/libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} \
        bitcut bench gpu --device cpu -n 33 --rounds 1 --sustained 0 --threads 1 --kernel "$1" \
        --json > rows 2> err || { echo "status $?"; cat err; }
    grep -v '"fault":null' rows
    for name in $1.plain.bf16 $1.bf16x3.bf16 $1.bf16x6.bf16 $1.bf16x9.bf16; do
        grep -F "\"name\":\"$name\",\"part\":\"whole\"" rows > row || echo "no $name"
        for says in '"compared":1089,"mismatches":0' '"threads":1,'; do
            grep -qF "$says" row || echo "$name does not say $says"
        done
        for peer in openblas sgemm; do
            grep -q "\"ratio_$peer\":[0-9.e-]*[1-9]" row || echo "$name has no ratio_$peer"
        done
        grep -o '"of_peak":[0-9.e-]*' row | awk -F: '
            $2 > 0 && $2 < 1 { good = 1 } END { if (!good) print "of_peak is " $2 }'
    done
    grep -o '"relres":[^,]*' rows | awk -F: '!($2 < 1e-2) { print "relres " $2 }'
    [ "$(grep -c '"part":"product"' rows)" -ge 4 ] || echo "too few products"
    grep -q '"library":"OpenBLAS 9.8.7 [A-Za-z][A-Za-z]* (2 threads)' rows || grep -o '"library.*' rows
}

refused() {
    while IFS='|' read -r status why words; do
        # shellcheck disable=SC2086 # words
        run "$status" $words
        grep -q "^bitcut: $why" err || cat err
    done << END
3|--device: no device: device 1 does not exist$|record --random 1 --device cpu:1
3|--unit: hopper/mma.m16n8k16.f32.f16 is not a unit of device|record --random 1 --device cpu --unit hopper/mma.m16n8k16.f32.f16
2|--device names a device whose module does not emulate units|bench emu --device cpu
2|--study names a study without kernels in the module of this device|bench gpu --device cpu --study batch
2|--kernel names no kernel with tiles on this device|tile --kernel avx512.plain.bf16 --device cpu
2|--kernel names another device than --device|verify --kernel cuda/plain --device cpu
END
    units | while read -r architecture flag unit rest; do
        if here "$architecture" || ! modelled "$unit"; then continue; fi
        run 3 record --random 1 --device cpu --unit "$unit"
        grep -qF "$why" err || cat err
    done
}

bitcut list devices --json | grep '"name":"cpu"' > host
bitcut list units --json > models
if [ -r /proc/cpuinfo ] && [ "$(uname -m)" = x86_64 ]; then
    ok_if_empty "units are those of /proc/cpuinfo" "$(listed)"
else skip "units are those of /proc/cpuinfo" "Linux on x86-64"
fi
while read -r architecture flag unit family; do
    what="$outputs outputs of $unit"
    if ! modelled "$unit"; then skip "$what" "a row of the table of units for it"
    elif here "$architecture"; then ok_if_empty "$what" "$(recorded "$unit")"
    else skip_because "$what" "$why"
    fi
    [ "$family" != none ] || continue
    what="GEMMs by $family.* are the emulator's"
    if here "$architecture"; then ok_if_empty "$what" "$(kernels "$family" "$unit")"
    else skip_because "$what" "$why"
    fi
    what="$family.* are verified, then timed"
    if here "$architecture"; then ok_if_empty "$what" "$(timed "$family")"
    else skip_because "$what" "$why"
    fi
done << END
$(units)
END
if grep -q '"here":true' host; then
    ok_if_empty "what is not here is refused" "$(refused)"
else skip_because "what is not here is refused" "$(here none; echo "$why")"
fi
echo "1..$n"
