#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The HIP modules: their tables, the functions that they call, and their kernels, bit for
# bit on every available device: the executor, where it was built, and an AMD GPU.
# Run in the build folder with srcdir, CC and CFLAGS set, as `make check` does.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
: "${srcdir:=.}" "${CC:=cc}"
modules=${BITCUT_MODULES:-$PWD}
source=$(cd "$srcdir" && pwd)
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99
header='#include <hip/hip_runtime_api.h>'

# Each call as the headers of HIP declare it.
names_agree() {
    $CC -std=c11 -Wall -Wextra -Werror -DGPU_HIP -I"$source" -fsyntax-only \
        "$source/tests/hip/hip_names.c" 2>&1
}

# The table of the module says what the tables of the program say.
rows_sound() {
    run 0 list recipes --json
    value name > recipes
    run 0 list units --json
    value name > units
    run 0 list instructions --json
    grep '"mfma\.' out > instructions
    [ "$(wc -l < instructions)" -eq 35 ] || echo "$(wc -l < instructions) instructions"
    while IFS='|' read -r architecture unit; do
        mv instructions out
        name=$(grep "\"$architecture\"" out | sed 's/.*"name":"\([^"]*\)".*/\1/')
        cp out instructions
        for row in $name; do grep -qxF "$unit/$row" units || echo "no unit $unit/$row"; done
    done << 'END'
gfx908|cdna1
gfx90a|cdna2
gfx942|cdna3
END
    run 0 list kernels --json
    grep '"name":"mfma' out > kernels
    mv kernels out
    value recipe | grep -vxF -f recipes
    value name | sort | uniq -d
    for architecture in gfx908 gfx90a gfx942; do
        for recipe in plain markidis feng ootomo legemm bf16x3 bf16x6 bf16x9; do
            grep "\"$architecture\"" out | grep -q "\"recipe\":\"$recipe\"" ||
                echo "no kernel for $recipe on $architecture"
        done
    done
    for pipeline in 1 1r 2 2r; do
        grep -q "\"mfma32x32x8.legemm.f16.128x128x32.$pipeline\"" out || echo "no $pipeline"
    done
    for words in fp8_fp8:e4m3fnuz bf8_bf8:e5m2fnuz; do
        for family in mfma32x32x16 mfma16x16x32; do
            grep "\"$family.plain.${words%:*}\." out |
                grep "\"input\":\"${words#*:}\"" | grep -q '"architectures":\["gfx942"\]' ||
                echo "no $family of $words"
        done
    done
}

# Without a device one line says why.
refused() {
    while IFS='|' read -r status why words; do
        # shellcheck disable=SC2086 # words
        run "$status" verify $words
        grep -q "^bitcut: $why" err || cat err
    done << 'END'
2|--device: unknown device "executor:gfx999"|--kernel all --device executor:gfx999
2|--device: unknown device "hip:gfx1"|--kernel all --device hip:gfx1
END
    run 0 list devices --json
    grep '"name":"hip' out | grep -q '"here":true' || {
        run 3 verify --kernel hip/legemm --device hip
        grep -q '^bitcut: --device: no device: ' err || cat err
    }
}

# counted PIPELINE: what an executor counts; one buffer and two differ in barriers alone of what
# is moved and multiplied.
counted() {
    grep -q '"device":"[^"]*, executed"' out || return
    for key in products matrix lds_read lds_written global_read global_written lds_least; do
        echo "$key $(value $key)"
    done > counts
    [ "$1" = 1 ] && cp counts counts.1
    cmp counts.1 counts
    [ "$(value products)" -gt 0 ] || echo "no products"
    [ "$(value instructions)" -gt "$(value matrix)" ] || echo "few instructions"
    case $1 in
    1*) value barriers > barriers.1 ;;
    2*) [ "$(value barriers)" -lt "$(cat barriers.1)" ] || echo "$1: as many barriers" ;;
    esac
}

# agrees DEVICE NUMBER: single instructions, the split pass, and kernels of recipes; of fewer than
# 2^18 products in all layouts, with all alpha and beta, in batches, and with D in C's place.  Of
# every six kernels one is run on a device, another one on each, as are sizes of batches; the first of
# them, which all kernels for batches take, on one device; with BITCUT_WHOLE one of every three, with BITCUT_LONG
# all.  Pipelines are run on one device, two of four without BITCUT_WHOLE.
agrees() {
    at="--device $1 --json"
    every=6
    ! is_whole || every=3
    [ -z "${BITCUT_LONG:-}" ] || every=1
    for words in "record --random 64" "verify --kernel split --samples 3000" \
        "verify --kernel split --samples 3000 --equilibrate"; do
        # shellcheck disable=SC2086 # words
        run 0 $words $at
        value mismatches | grep -vx 0
    done
    awk -v every=$every -v device="$2" '(NR + device) % every == 0' << 'END' |
plain -m 66 -n 65 -k 75
markidis -m 66 -n 65 -k 75
legemm -m 9 -n 5 -k 19 --split-k 2 --equilibrate
ootomo -m 66 -n 65 -k 75
legemm -m 66 -n 65 -k 75 --split-k 3
feng -m 66 -n 65 -k 75
legemm -m 66 -n 65 -k 75
bf16x9 -m 66 -n 65 -k 75
bf16x3 -m 66 -n 65 -k 75
bf16x6 -m 66 -n 65 -k 75 --split-k 2
legemm -m 66 -n 65 -k 75 --equilibrate
END
        while read -r recipe words; do
            # shellcheck disable=SC2086
            run 0 verify --kernel "hip/$recipe" $words --seconds 0 $at
            expect mismatches 0
            expect recipe "$recipe"
        done
    awk -v every=$every -v device="$2" 'NR == 1 && (every < 6 || device == 2) || (NR + device) % every == 0' << 'END' |
12 -m 3 -n 4 -k 4
10 -m 7 -n 8 -k 5
8 -m 16 -n 13 -k 15
4 -m 32 -n 17 -k 13
2 -m 33 -n 34 -k 5
END
        while read -r kernels words; do
            # shellcheck disable=SC2086
            run 0 verify --kernel batch $words --seconds 0 $at
            expect mismatches 0
            expect recipe plain
            [ "$(grep -c kernel out)" = "$kernels" ] || echo "$words: not $kernels kernels"
        done
    pipelines='1 2r'
    ! is_whole || pipelines='1 1r 2 2r'
    [ "$2" = 2 ] || [ -n "${BITCUT_LONG:-}" ] || pipelines=
    for pipeline in $pipelines; do
        # shellcheck disable=SC2086
        run 0 verify --kernel mfma32x32x8.legemm.f16.128x128x32.$pipeline -m 66 -n 65 -k 100 \
            --seconds 0 $at
        expect mismatches 0
        counted $pipeline
    done
    # shellcheck disable=SC2086
    run 2 verify --kernel hip/nothing $at
    grep -q '^bitcut: --kernel names no known recipe' err || cat err
    # shellcheck disable=SC2086
    run 2 verify --kernel cuda/legemm $at
    grep -q '^bitcut: --kernel names another device than --device$' err || cat err
}

# eight_bits DEVICE: kernels of 8-bit words where it has instructions for them, rounded in every
# way, as equilibration has another target for e4m3fnuz and no part is -0.
eight_bits() {
    at="-m 66 -n 65 -k 75 --seconds 0 --device $1 --json"
    run 0 record --random 1 --device "$1" --json
    grep -q 'f32\.fp8\.fp8' out || {
        # shellcheck disable=SC2086 # words
        run 3 verify --kernel mfma32x32x16.plain.fp8_fp8.64x64x64.2r $at
        grep -q ' does not run on ' err || cat err
        return
    }
    while read -r words; do
        # shellcheck disable=SC2086
        run 0 verify --kernel $words $at
        [ "$(value mismatches | sort | uniq -c | tr -s ' ')" = " 4 0" ] || cat out
    done << 'END'
mfma32x32x16
mfma16x16x32
mfma32x32x16 --equilibrate
mfma16x16x32 --split-k 2
END
    for rounding in $(printf '%s\n' rna rz ru rd odd cut rn-ftz rn-sat feng21 | part 3); do
        # shellcheck disable=SC2086
        run 0 verify --kernel mfma32x32x16 --high $rounding $at
        value mismatches | grep -vx 0
    done
}

# directed DEVICE CDNA: what README has people do on a card: its directed vectors, recorded and
# replayed.
directed() {
    run 0 record "$BITCUT_DATA/directed/$2"/*.f32.* -o "recorded.$2" --device "$1" --json
    [ "$(value mismatches | grep -cx 0)" -gt 8 ] || echo "few sets"
    value mismatches | grep -vx 0
    run 0 replay "recorded.$2"/*
}

if echo "$header" | $CC -D__HIP_PLATFORM_AMD__ -E - > preprocessed 2>&1; then
    ok_if_empty "the runtime's names are those of HIP's headers" "$(names_agree)"
else
    skip "the runtime's names are those of HIP's headers" "the headers of HIP: the package libamdhip64-dev"
fi
if [ ! -f "$modules/bitcut-hip.so" ]; then
    skip "the modules" amd
    echo "1..$n"
    exit 0
fi
ok_if_empty "rows have recipes and units" "$(rows_sound)"
ok_if_empty "devices that are not there are refused" "$(refused)"
run 0 list devices --json
grep '"here":true' out | sed -n 's/.*"name":"\(hip[^"]*\|executor[^"]*\)".*/\1/p' > devices
number=0
while read -r device; do
    number=$((number + 1))
    ok_if_empty "$device gives the emulator's bits" "$(agrees "$device" $number)"
    ok_if_empty "$device: kernels of 8-bit words" "$(eight_bits "$device")"
done < devices
while read -r device cdna; do
    if grep -qx "$device" devices; then
        ok_if_empty "$device gives what directed vectors should" "$(directed "$device" "$cdna")"
    else skip "$device gives what directed vectors should" "a device of this kind"
    fi
done << END
executor:gfx908 cdna1
executor:gfx90a cdna2
executor:gfx942 cdna3
END
[ -s devices ] || skip "the device" "a GPU of AMD"
echo "1..$n"
