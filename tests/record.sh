#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bitcut record without a GPU: tests/gpu/device.c, a module in which the models simulate a
# device, is built and opened.  Then the module with the kernels, if it was built, and the
# device, if there is one.
# Run in the build folder with srcdir, CC, CFLAGS and NM set, as `make check` does.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
: "${srcdir:=.}" "${CC:=cc}" "${CFLAGS:=}" "${NM:=nm}"
: "${BITCUT_DATA:=$(cd "$srcdir" && pwd)/data}"
kernels=${BITCUT_MODULES:-$PWD}
source=$(cd "$srcdir" && pwd)
libraries=$PWD/.libs
[ -f "$libraries/libbitcut.so" ] || skip_all shared
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99

# has FILE KEY VALUE: what is wrong if meta.json does not say so.
has() {
    grep -q "\"$2\": $3,\{0,1\}\$" "$1/meta.json" && return
    echo "no $2: $3"
    cat "$1/meta.json"
}

set=$BITCUT_DATA/h200/mma_m16n8k16_f16_f32
name=hopper/mma.m16n8k16.f32.f16

# --- no module, a wrong one, no device --------------------------------------------------

modules_built() {
    model_built models
    model_built other -DINTERFACE=99
    mkdir text empty
    echo text > text/bitcut-cuda.so
    echo 'int nothing;' > empty.c
    # shellcheck disable=SC2086 # a list of words
    $CC $CFLAGS -shared -fPIC -o empty/bitcut-cuda.so empty.c 2>&1
}

modules_refused() {
    while IFS='|' read -r folder why; do
        BITCUT_MODULES=$work/$folder
        for words in "record $set -o new" "record --random 1" "list instructions" \
            "list kernels" "verify --kernel x"; do
            case $folder:$words in missing:list*) continue ;; esac # there is the program's own
            # shellcheck disable=SC2086 # words
            run 3 $words
            grep -q "^bitcut: [a-z]*: $why" err || cat err
        done
    done << 'END'
missing|no GPU backend: bitcut-cuda.so not found in .*/missing (built only with nvcc; BITCUT_MODULES sets another folder)$
text|no GPU backend: .*bitcut-cuda.so
empty|bitcut-cuda.so is not a bitcut module$
other|bitcut-cuda.so has interface version 99, but this bitcut requires [0-9]*; build both from the same source$
END
    [ ! -e new ] || ls -R new
}

# --- random inputs ----------------------------------------------------------------------

random_tried() {
    run 0 record --random 200 --json
    [ "$(value unit | tr '\n' ' ')" = "$name hopper/mma.m16n8k8.f32.tf32 \
hopper/mma.m16n8k32.f32.e4m3 hopper/mma.m8n8k4.f64.f64 hopper/wgmma.m64n8k16.f32.f16 " ] ||
        value unit
    [ "$(value outputs | tr '\n' ' ')" = "256 256 256 256 512 " ] || value outputs
    expect variant plain
    expect device Models
    expect driver 1.2
    expect date "$(date -u +%Y-%m-%d)"
    expect seed 1
    expect mismatches 0
    expect first null
    [ "$(value digest | grep -c '^0x[0-9a-f]\{16\}$')" -eq 5 ] || value digest
    [ "$(value digest | sort -u | wc -l)" -eq 5 ] || value digest
}

# More than one batch, and two units.
digests_repeat() {
    for words in "--threads 1" "--threads 2" "--seed 2"; do
        to=$(echo "$words" | tr -d ' -')
        # shellcheck disable=SC2086 # words
        run 0 record --random 140000 --unit "$name" --json \
            --unit hopper/mma.m8n8k4.f64.f64 $words
        [ "$(value outputs | tr '\n' ' ')" = "140032 140032 " ] || value outputs
        value digest > "$to"
    done
    cmp threads1 threads2 2>&1
    [ "$(cat threads1 seed2 | sort -u | wc -l)" -eq 4 ] ||
        echo "seeds do not matter"
}

# FNV-1a of what the module was given and gave: one fragment.
digest_as_defined() {
    DEVICE_DUMP=dump
    export DEVICE_DUMP
    run 0 record --random 1 --unit hopper/mma.m8n8k4.f64.f64 --json
    unset DEVICE_DUMP
    [ "$(bytes dump)" -eq $((8 * (32 + 32 + 64 + 64))) ] || ls -l dump
    digest=-3750763034362895579 # 0xcbf29ce484222325
    for byte in $(od -An -v -tu1 dump); do
        digest=$(((digest ^ byte) * 1099511628211))
    done
    expect digest "$(printf '0x%016x' $digest)"
}

variants_tried() {
    run 0 record --random 1 --variant all --json --unit hopper/wgmma.m64n8k16.f32.f16
    [ "$(value variant | tr '\n' ' ')" = \
        "plain a-registers negate-a negate-b scale-d-0 " ] || value variant
    expect mismatches 0
    # How A is read does not matter, nor which operand is negated.
    [ "$(value digest | sort -u | wc -l)" -eq 3 ] || value digest
    run 0 record --random 1 --variant negate-b --json
    expect unit hopper/wgmma.m64n8k16.f32.f16
    expect mismatches 0
}

# The last bit of each of two batches is wrong, or of the second alone.
mismatches_found() {
    number='"0x[0-9a-f]* = [^"]*"'
    operand="\[($number,){15}$number]"
    while IFS='|' read -r fault count fragment; do
        export DEVICE_FAULT="$fault"
        run 1 record --random 140000 --unit "$name" --json
        expect mismatches "$count"
        first="\"at\":\[$fragment,15,7],\"a\":$operand,\"b\":$operand,\"c\":$number"
        grep -Eq "\"first\":\{$first," out || cat out
    done << 'END'
flips|2|1023
flips later|1|1093
END
    unset DEVICE_FAULT
}

# A unit that is finished stays printed when the next is interrupted.
interrupt_heeded() {
    DEVICE_FAULT=interrupts
    export DEVICE_FAULT
    run 3 record --random 1 --json
    unset DEVICE_FAULT
    [ "$(cat err)" = "bitcut: record: stopped" ] || cat err
    expect unit "$name"
}

# --- sets -------------------------------------------------------------------------------

set_recorded() {
    run 0 record "$set" -o one --json
    expect set "$set"
    expect unit "$name"
    expect variant plain
    expect device Models
    expect outputs 1408
    expect mismatches 0
    expect repeats_differ 0
    expect first null
    expect written one
    for file in A B C D; do cmp "$set/$file.npy" one/$file.npy 2>&1; done
    has one unit "\"$name\""
    has one device '"Models"'
    has one driver '"1.2"'
    has one runtime '"none"'
    has one architecture '"m90"'
    has one date "\"$(date -u +%Y-%m-%d)\""
    has one origin '"recorded on the device"'
    has one repeats_differ 0
    grep -q '"narrow_c_wide",$' one/meta.json || echo "input_classes are lost"
    ! grep -q '"variant"\|"family"' one/meta.json || cat one/meta.json
    run 0 replay one --json
    expect mismatches 0
}

# Without their D; one of them is broken, which does not keep the others.
sets_recorded() {
    mkdir inputs
    for at in mma_m8n8k4_f64_f64 mma_m16n8k32_e4m3_f32; do
        mkdir inputs/$at
        cp "$BITCUT_DATA"/h200/$at/[ABCm]* inputs/$at
    done
    run 3 record inputs/* missing -o many --json
    [ "$(value written | tr '\n' ' ')" = \
        "many/mma_m16n8k32_e4m3_f32 many/mma_m8n8k4_f64_f64 " ] || cat out
    expect mismatches 0
    for at in mma_m8n8k4_f64_f64 mma_m16n8k32_e4m3_f32; do
        cmp "$BITCUT_DATA/h200/$at/D.npy" many/$at/D.npy 2>&1
    done
    [ "$(ls many)" = "$(ls inputs)" ] || ls many
}

# A tree of sets becomes the same tree.
trees_recorded() {
    mkdir tree tree/deep
    cp -r inputs/mma_m8n8k4_f64_f64 tree/one
    cp -r inputs/mma_m16n8k32_e4m3_f32 tree/deep/two
    run 0 record tree/ -o new/copy --json
    [ "$(value written | tr '\n' ' ')" = "new/copy/deep/two new/copy/one " ] || cat out
    cmp "$BITCUT_DATA/h200/mma_m8n8k4_f64_f64/D.npy" new/copy/one/D.npy 2>&1
    rm -r new
    mkdir empty_tree
    run 3 record empty_tree -o new
}

# The recordings say how they were made; replaying and recording them again heeds it.
variants_recorded() {
    wgmma=$BITCUT_DATA/h200/wgmma_m64n8k16_f16_f32
    for variant in plain a-registers negate-a negate-b scale-d-0; do
        run 0 record "$wgmma" -o $variant --variant $variant --json
        expect variant $variant
        expect mismatches 0
        [ $variant = plain ] || has $variant variant "\"$variant\""
        same=no
        ! cmp -s "$wgmma/D.npy" $variant/D.npy || same=yes
        case $variant in
        plain | a-registers) [ $same = yes ] || echo "$variant changes D" ;;
        *) [ $same = no ] || echo "$variant does not change D" ;;
        esac
        run 0 replay $variant --json
        expect mismatches 0
        run 0 record $variant -o again --json
        expect variant $variant
        cmp $variant/D.npy again/D.npy 2>&1
    done
    sed 's/scale-d-0/sideways/' scale-d-0/meta.json > again/meta.json
    run 3 replay again
}

# Inputs of one unit on another.
unit_replaced() {
    cp -r "$set" old
    chmod -R u+w old
    echo '{"arch": "ampere", "family": "mma", "shape": "m16n8k16", "output": "f32",
        "input": "f16", "note": "kept"}' > old/meta.json
    run 3 record old -o renamed
    run 0 record old -o renamed --unit "$name" --json
    expect unit "$name"
    cmp "$set/D.npy" renamed/D.npy 2>&1
    has renamed unit "\"$name\""
    has renamed note '"kept"'
    ! grep -q '"arch"\|"shape"' renamed/meta.json || cat renamed/meta.json
}

# npy FILE TYPE SHAPE BYTES
npy() {
    header="{'descr': '$2', 'fortran_order': False, 'shape': ($3), }"
    printf '%b%s%s' "\\0223NUMPY\\0001\\0000\\0$(printf %o ${#header})\\0000" "$header" \
        "$4" > "$1"
}

# small FOLDER UNIT M N: 2 fragments of that unit's k = 16, of bytes that are numbers.
small() {
    mkdir "$1"
    text=$(od -An -v -tx1 "$set/A.npy" | tr -d ' \n' | cut -c 300-4000)
    npy "$1/A.npy" '<f2' "2, $3, 16" "$(echo "$text" | cut -c 1-$((64 * $3)))"
    npy "$1/B.npy" '<f2' "2, 16, $4" "$(echo "$text" | cut -c 101-$((100 + 64 * $4)))"
    npy "$1/C.npy" '<f4' "2, $3, $4" "$(echo "$text" | cut -c 201-$((200 + 8 * $3 * $4)))"
    echo "{\"unit\": \"$2\"}" > "$1/meta.json"
}

# Fragments smaller than the instruction are repeated, and all repetitions compared.
fragments_repeated() {
    small little "$name" 3 5
    bitcut mma --unit "$name" -a little/A.npy -b little/B.npy -c little/C.npy -o D.npy \
        > out
    run 0 record little -o repeated --json
    expect outputs 30
    expect mismatches 0
    expect repeats_differ 0
    cmp D.npy repeated/D.npy 2>&1
    DEVICE_FAULT=flips
    export DEVICE_FAULT
    run 1 record little -o repeated --json
    unset DEVICE_FAULT
    expect mismatches 0
    expect repeats_differ 1
    has repeated repeats_differ 1
    cmp D.npy repeated/D.npy 2>&1
    small large "$name" 17 8
    run 2 record large -o new
    grep -q ': fragments of 17 x 8 x 16 exceed the shape of mma.m16n8k16.f32.f16, 16 x 8 x 16$' \
        err || cat err
    [ ! -e new ] || ls -R new
}

# An instruction without a row in the unit table: recorded, compared with nothing.
unknown_unit_recorded() {
    small mixed hopper/mma.m16n8k16.f32.f16.f16 16 8
    run 0 record mixed -o rowless --json
    expect unit hopper/mma.m16n8k16.f32.f16.f16
    expect mismatches null
    expect repeats_differ 0
    bitcut mma --unit "$name" -a mixed/A.npy -b mixed/B.npy -c mixed/C.npy -o D.npy > out
    cmp D.npy rowless/D.npy 2>&1
    has rowless unit '"hopper/mma.m16n8k16.f32.f16.f16"'
}

# --- the kernels ------------------------------------------------------------------------

one_symbol() {
    symbols=$($NM -D --defined-only "$kernels/bitcut-cuda.so" | awk '{ print $NF }')
    [ "$symbols" = bitcut_gpu_module ] || echo "$symbols"
}

# Every unit up to Hopper has its instruction, under its name and of its shape.
instructions_complete() {
    run 0 list instructions --json
    sed 's/^{"name":"\([^"]*\)","shape":"\([^"]*\)".*/\1 \2/' out | sort > have
    run 0 list units --json
    names='^{"name":"\(volta\|turing\|ampere\|ada\|hopper\)/\([^"]*\)"'
    sed -n "s#$names,\"shape\":\"\([^\"]*\)\".*#\2 \3#p" out | sort -u > need
    [ "$(wc -l < need)" -gt 20 ] || cat need
    comm -13 have need | sed 's/^/no instruction: /'
}

# The units of this device that are said to be recorded agree with it.
device_agrees() {
    value unit > here
    run 0 list units --json
    set --
    # shellcheck disable=SC2013 # one word a line
    for unit in $(sed -n '/"evidence":"recorded"/s/^{"name":"\([^"]*\)".*/\1/p' out); do
        ! grep -qxF "$unit" here || set -- "$@" --unit "$unit"
    done
    [ $# -eq 0 ] || run 0 record --random 20000 --variant all "$@" --json
}

ok_if_empty "modules are built" "$(modules_built)"
ok_if_empty "wrong modules are refused" "$(modules_refused)"
BITCUT_MODULES=$work/models
export BITCUT_MODULES
ok_if_empty "random inputs" "$(random_tried)"
ok_if_empty "digests depend on the seed alone" "$(digests_repeat)"
ok_if_empty "digests are FNV-1a" "$(digest_as_defined)"
ok_if_empty "every variant" "$(variants_tried)"
ok_if_empty "a wrong bit is found" "$(mismatches_found)"
ok_if_empty "an interrupt keeps what is finished" "$(interrupt_heeded)"
ok_if_empty "a set" "$(set_recorded)"
ok_if_empty "several sets, without results" "$(sets_recorded)"
ok_if_empty "a tree of sets" "$(trees_recorded)"
ok_if_empty "variants of a set" "$(variants_recorded)"
ok_if_empty "a set on another unit" "$(unit_replaced)"
ok_if_empty "small fragments" "$(fragments_repeated)"
ok_if_empty "a unit without a row" "$(unknown_unit_recorded)"

BITCUT_MODULES=$kernels
if [ -f "$kernels/bitcut-cuda.so" ]; then
    ok_if_empty "the module exports one symbol" "$(one_symbol)"
    ok_if_empty "every unit has its instruction" "$(instructions_complete)"
    bitcut record --random 1 --json > out 2> err
    if [ $? -eq 3 ]; then skip_because "the device" "$(sed 's/^bitcut: record: //' err)"
    else ok_if_empty "the device" "$(device_agrees)"; fi
else
    for what in "the module exports one symbol" "every unit has its instruction" \
        "the device"; do
        skip "$what" kernels
    done
fi
echo "1..$n"
