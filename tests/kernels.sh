#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bitcut verify --kernel without a GPU: tests/gpu/device.c, a module in which the models
# simulate a device, is built and opened; some of its kernels are wrong on purpose.  Then
# the module with the kernels, if it was built, and the device, if there is one.
# Run in the build folder with srcdir, CC and CFLAGS set, as `make check` does.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
: "${srcdir:=.}" "${CC:=cc}" "${CFLAGS:=}"
kernels=${BITCUT_MODULES:-$PWD}
source=$(cd "$srcdir" && pwd)
libraries=$PWD/.libs
[ -f "$libraries/libbitcut.so" ] || skip_all shared
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99

kernels_listed() {
    run 0 list kernels --json
    [ "$(value name | tr '\n' ' ')" = "vary.ootomo.f16 gemm.ootomo.f16 gemm.tf32x3.tf32 \
gemm.markidis.f16 old.plain.f16 big.plain.f16 small.plain.f16 gemm.plain.f16 \
gemm.plain.tf32 mixed.half-fp8.f16 mixed.half-int8.f16 liar.legemm.f16 liar.markidis.f16 liar.noname.f16 \
liar.half-fp8.f16 narrow.markidis.f16 liar.plain.f16 batch.tiny.3 batch.mma.16 batch.old.64 batch.big.64 batch.mma.64 \
batch.fma.64 amx.plain.bf16 amx.bf16x3.bf16 amx.bf16x6.bf16 amx.bf16x9.bf16 avx512.plain.bf16 \
avx512.bf16x3.bf16 avx512.bf16x6.bf16 avx512.bf16x9.bf16 " ] || value name
    for key in recipe instruction matrices input terms promote tile products warps stages \
        threads shared_bytes registers cluster load_bytes read_bytes slices_most size_most \
        side_most architectures what; do
        [ "$(grep -c "\"$key\":" out)" -eq 31 ] || echo "no $key"
    done
}

grid_agrees() {
    run 0 verify --kernel gemm.plain.f16 --json
    expect kernel gemm.plain.f16
    expect recipe plain
    expect unit hopper/mma.m16n8k16.f32.f16
    expect device Models
    expect seed 1
    expect date "$(date -u +%Y-%m-%d)"
    expect configurations 1264
    expect mismatches 0
    expect first null
    [ "$(value compared)" -gt 1000000 ] || value compared
}

# A kernel for a narrow D is tried with the shapes that it takes, and left out of others.
narrow_agrees() {
    run 0 verify --kernel narrow --json
    expect kernel narrow.markidis.f16
    expect unit hopper/wgmma.m64n8k16.f32.f16
    expect configurations 864
    expect mismatches 0
    run 0 verify --kernel narrow -m 40 -n 2 -k 100 --split-k 3 --json
    expect mismatches 0
    run 2 verify --kernel narrow -m 3 -n 4 -k 5
    grep -q "narrow.markidis.f16: supports m or n up to 2" err || cat err
    DEVICE_FAULT=flips DEVICE_FAULTY=narrow.markidis.f16 run 1 verify --kernel narrow -m 2 -n 4 -k 5
}

# One shape; every kernel whose name begins so.
names_chosen() {
    run 0 verify --kernel gemm -m 9 -n 10 -k 11 --json --seed 7
    [ "$(value kernel | tr '\n' ' ')" = \
        "gemm.ootomo.f16 gemm.tf32x3.tf32 gemm.markidis.f16 gemm.plain.f16 gemm.plain.tf32 " ] || value kernel
    expect seed 7
    expect configurations 160
    expect compared 26730
    expect mismatches 0
    run 3 verify --kernel all -m 1 -n 1 -k 1 --json
    grep -q '^bitcut: liar.legemm.f16: ' err || cat err
    run 3 verify --kernel all -m 33 -n 1 -k 1
}

# rows WORDS...: kernel, configurations and compared outputs of each row.
rows() {
    run 0 verify "$@" --json
    sed 's/.*"kernel":"\([^"]*\)".*"configurations":\([0-9]*\),"compared":\([0-9]*\),.*/\1 \2 \3/' out
}

# Shards have each GEMM once, and a shard that has none is refused.
shards() {
    for shard in 0 1 2; do rows --kernel gemm.plain -m 5 -n 3 -k 11 --shard $shard/3; done | sort |
        awk '{ a[$1] += $2; b[$1] += $3 } END { for (k in a) print k, a[k], b[k] }' | sort > sums
    rows --kernel gemm.plain -m 5 -n 3 -k 11 | sort | cmp - sums || cat sums
    large="-m 130 -n 130 -k 130"
    # shellcheck disable=SC2086 # words
    [ "$(rows --kernel gemm.plain.f16 $large --shard 7/8 | cut -d ' ' -f 2)" = 1 ] || cat out
    # shellcheck disable=SC2086 # words
    run 2 verify --kernel gemm.plain.f16 $large --shard 8/9
    grep -q -e '--shard has no GEMM of the kernels; use fewer shards' err || cat err
    run 2 verify --kernel gemm.plain.f16 --shard 3/3
    run 2 verify --kernel split --shard 0/3
}

# So has each kernel that is tried with others, whose grids are larger.
shards_of_grids() {
    for shard in 0 1 2; do
        rows --kernel batch --shard $shard/3 > "shard$shard"
        rows --kernel batch.tiny.3 --shard $shard/3 > alone
        grep -F batch.tiny.3 "shard$shard" | cmp - alone
    done
    rows --kernel batch > all
    sort shard[0-2] | awk '{ a[$1] += $2; b[$1] += $3 } END { for (k in a) print k, a[k], b[k] }' |
        sort > sums
    sort all | cmp - sums || cat sums all
    [ "$(cut -d ' ' -f 1 shard0)" = "$(cut -d ' ' -f 1 all)" ] || cat shard0
}

equilibrated() {
    run 0 verify --kernel gemm.ootomo -m 9 -n 10 -k 11 --equilibrate --json
    expect equilibrate true
    expect configurations 160
    expect mismatches 0
    run 0 verify --kernel split --split halfhalf --equilibrate --samples 3000 --json
    expect equilibrate true
    expect compared 6000
    expect mismatches 0
    run 2 verify --kernel split --split halfhalf --equilibrate --scale 12 --samples 3
    DEVICE_FAULT=flips
    export DEVICE_FAULT
    run 1 verify --kernel gemm.ootomo -m 9 -n 10 -k 11 --equilibrate --seconds 0 --json
    unset DEVICE_FAULT
    expect mismatches 160
}

# Parts of two formats, which the device multiplies itself, as the recipe says: k beyond a run
# of words, lines by the plan's own target, slices of whole k-steps, other roundings and scales.
words_of_two_formats() {
    while read -r words; do
        # shellcheck disable=SC2086 # words
        run 0 verify --kernel mixed.half-fp8.f16 -m 5 -n 3 $words --json
        expect recipe half-fp8
        expect unit hopper/wgmma.m64n8k16.f32.f16
        expect configurations 160
        expect mismatches 0
    done << 'END'
-k 11
-k 163
-k 70 --equilibrate
-k 163 --split-k 3
-k 163 --split-k 2 --equilibrate --scale 7
-k 70 --low rz
-k 70 --high rz --low rn --scale 3
END
    while read -r words; do
        # shellcheck disable=SC2086 # words
        run 0 verify --kernel mixed.half-int8.f16 -m 5 -n 3 $words --json
        expect recipe half-int8
        expect equilibrate true
        expect mismatches 0
    done << 'END'
-k 163 --split-k 3
-k 70 --high rz --low rna --scale 7
END
    DEVICE_FAULT=flips
    export DEVICE_FAULT
    run 1 verify --kernel mixed.half-fp8 -m 9 -n 10 -k 11 --seconds 0 --json
    unset DEVICE_FAULT
    expect mismatches 160
}

# Of several kernels those that take the split, the slices and the sizes.
unfit_left_out() {
    for row in half:gemm.plain.f16 halfhalf:gemm.ootomo.f16; do
        run 0 verify --kernel gemm -m 9 -n 10 -k 11 --split ${row%:*} --json
        expect kernel "${row#*:}"
        expect mismatches 0
    done
    BITCUT_MODULES=$work/honest
    run 0 verify --kernel all -m 9 -n 10 -k 11 --json
    value kernel > all
    grep -q '^batch' all || echo "no batches"
    run 0 verify --kernel all -m 9 -n 10 -k 11 --equilibrate --json
    value kernel > scaled
    grep -v '^batch' all | cmp - scaled 2>&1
    BITCUT_MODULES=$work/models
}

# Kernels of one model are tried together: each finds what it finds alone, also behind one
# that is wrong.
together() {
    BITCUT_MODULES=$work/honest
    DEVICE_FAULT=flips
    DEVICE_FAULTY=fast.plain.f16.large
    export DEVICE_FAULT DEVICE_FAULTY
    for words in "-m 9 -n 10 -k 11" "-m 17 -n 18 -k 20 --threads 3"; do
        # shellcheck disable=SC2086 # words
        set -- verify --seconds 0 --json $words
        run 1 "$@" --kernel all
        cp out all
        for name in $(value kernel); do
            run "$([ "$name" != $DEVICE_FAULTY ]; echo $?)" "$@" --kernel "$name"
            cat out
        done > alone
        cmp all alone
        [ "$(grep -c '"mismatches":0,' all)" -eq $(($(wc -l < all) - 1)) ] || cat all
        grep -q '"kernel":"fast.plain.f16.large"' all || cat all
    done
    unset DEVICE_FAULT DEVICE_FAULTY
    BITCUT_MODULES=$work/models
}

# Large shapes: eight rows and eight columns.
lines_sampled() {
    run 0 verify --kernel gemm.plain.f16 -m 170 -n 190 -k 150 --json
    expect configurations 8
    compared=$(value compared) # lines that are drawn twice count once
    [ "$compared" -gt 20000 ] && [ "$compared" -le $((8 * (8 * 190 + 170 * 8 - 64))) ] || value compared
    expect mismatches 0
}

# Broken kernels: the shape, how often, and where the first difference is said to be.
differences_found() {
    while IFS='|' read -r fault k mismatches first; do
        DEVICE_FAULT=$fault
        export DEVICE_FAULT
        run 1 verify --kernel gemm.ootomo -m 6 -n 5 -k "$k" --seconds 0 --json
        expect mismatches "$mismatches"
        for part in $first; do
            grep -qF "\"$part" out || { echo "$fault: no $part"; cat out; }
        done
        unset DEVICE_FAULT
    done << 'END'
flips|70|160|transposes":"nn" at":[5,4] ulps":1, k_step":0
flips later|70|160|transposes":"nn" at":[5,4] ulps":1, k_step":3
flips later|64|160|at":[5,4] k_step":3
flips later|33|160|at":[5,4] k_step":3
flips transposed|70|80|transposes":"nt" at":[5,4] k_step":0
flips batches|70|91|layout":"one-b" count":2 gemm":1 at":[5,4] k_step":0
flips down|70|80|outputs":"tt" at":[5,4] k_step":0
flips in place|70|40|in_place":true at":[5,4] k_step":0
writes behind|70|114|gemm":null at":null model":"0x7fa5a5a5 k_step":null
writes gap|70|137|gemm":null at":null model":"0x7fa5a5a5 k_step":null
END
    DEVICE_FAULT="flips later"
    export DEVICE_FAULT
    run 0 verify --kernel gemm.ootomo -m 6 -n 5 -k 32
    unset DEVICE_FAULT
}

# What a broken kernel does instead is said of its first mismatch; what it writes outside of
# D is no output.
differences_explained() {
    forgets='D is ootomo on hopper/mma.m16n8k16.f32.f16, but in row 5, columns 0 to 4 (5 differ): they hold zeros'
    DEVICE_FAULT="forgets a row"
    export DEVICE_FAULT
    run 1 verify --kernel gemm.ootomo -m 6 -n 5 -k 33 --seconds 600 --json
    grep -qF "\"hypothesis\":\"$forgets" out || cat out
    run 1 verify --kernel batch.mma.16 -m 6 -n 5 -k 9 --seconds 600 --json
    grep -q '"hypothesis":"[^"]*columns 0 to 4 (5 differ)' out || cat out
    DEVICE_FAULT="writes gap"
    run 1 verify --kernel gemm.ootomo -m 6 -n 5 -k 33 --json
    expect hypothesis null
    unset DEVICE_FAULT
}

# A grid, and one shape by every kernel that takes it.
batches_agree() {
    run 0 verify --kernel batch.tiny --json
    expect recipe plain
    expect unit hopper/mma.m16n8k16.f32.f16
    expect configurations 168
    expect compared $((37 * 56 * (1 + 4 + 9)))
    expect mismatches 0
    expect first null
    run 0 verify --kernel batch -m 7 -n 18 -k 20 --json --seed 5
    expect kernel "batch.fma.64
batch.mma.64"
    expect seed 5
    expect configurations 56
    expect compared $((37 * 56 * 7 * 18))
    expect mismatches 0
}

# Broken kernels: how often, and where the first difference is said to be.
batch_differences_found() {
    while IFS='|' read -r fault mismatches first; do
        DEVICE_FAULT=$fault
        export DEVICE_FAULT
        run 1 verify --kernel batch.mma.16 -m 6 -n 5 -k 9 --seconds 0 --json
        unset DEVICE_FAULT
        expect mismatches "$mismatches"
        for part in $first; do
            grep -qF "\"$part" out || { echo "$fault: no $part"; cat out; }
        done
    done << 'END'
flips|56|layout":"dense" transposes":"nn" gemm":36 at":[5,4] ulps":1, k_step":0
flips by pointers|16|layout":"pointers" count":37 gemm":36 at":[5,4]
flips transposed|28|transposes":"nt" gemm":36 at":[5,4]
flips crossed|11|outputs":"nt" gemm":36 at":[5,4]
writes gap|24|layout":"rows-by-8" gemm":null at":null model":"0x7da5 device":"0x0000
END
}

splits_compared() {
    run 0 verify --kernel split --split halfhalf --samples 3000 --json
    expect kernel split
    expect compared 6000
    expect mismatches 0
    DEVICE_FAULT=flips
    export DEVICE_FAULT
    run 1 verify --kernel split --split halfhalf --samples 3000 --json
    unset DEVICE_FAULT
    grep -q '"first":{"x":".*nan","part":0,"model":"0x7e00 = nan = nan","device":"0x7e01' \
        out || cat out
}

# Parts of two formats, all three of a value, where a kernel has them; each in its format.
mixed_splits_compared() {
    while read -r words; do
        # shellcheck disable=SC2086 # words
        run 0 verify --kernel split --split half-e4m3 --samples 3000 --json $words
        expect format f16
        expect low_format e4m3
        expect compared 9000
        expect mismatches 0
    done << 'END'

--equilibrate
--high rz --low rn --scale 3
END
    DEVICE_FAULT="flips low parts"
    export DEVICE_FAULT
    run 1 verify --kernel split --split half-e4m3 --samples 3000 --json
    expect mismatches 1
    grep -Eq '"first":\{"x":[^}]*,"part":2,"model":"0x[0-9a-f]{2} = [^}]*"device":"0x[0-9a-f]{2} = ' \
        out || cat out
    DEVICE_FAULT=ampere
    run 2 verify --kernel split --split half-e4m3 --samples 3000
    run 0 verify --kernel split --samples 3000 --json
    grep half-e out
    unset DEVICE_FAULT
    run 0 verify --kernel split --samples 3000 --json
    [ "$(value split | grep '^half-e')" = half-e4m3 ] || cat out
}

# Kernels that give the bits of old.plain.f16 on a device that has it, and why.
tiles_ranked() {
    DEVICE_FAULT=ampere
    export DEVICE_FAULT
    run 0 tile --kernel old -m 512 -n 8 -k 8 --json
    [ "$(value kernel | tr '\n' ' ')" = "old.plain.f16 gemm.plain.f16 " ] || cat out
    expect rank "1
2"
    expect tiles "32
8"
    for why in "the highest score: busy 1, useful 0.5, rate 0.118" \
        "rate: 0.0851, the best has 0.118"; do
        grep -qF "\"why\":\"$why\"" out || echo "no $why"
    done
    run 0 tile --kernel old -m 8 -n 8 -k 8 --json --top 1
    expect kernel gemm.plain.f16
    unset DEVICE_FAULT
}

# The table of the module says what the tables of the program say.
rows_sound() {
    run 0 list recipes --json
    value name > recipes
    run 0 list instructions --json
    value name > instructions
    run 0 list kernels --json
    [ -s out ] || echo "no kernels"
    value recipe | grep -vxF -f recipes
    value instruction | grep -vxF -f instructions | grep -v null
    value name | sort | uniq -d
    grep -q '"matrices":"f16"' out || echo "no kernels for batches"
    for recipe in plain markidis feng ootomo ootomo-tf32 legemm tf32x3 bf16x3 bf16x6 \
        bf16x9; do
        value recipe | grep -qx "$recipe" || echo "no kernel for $recipe"
    done
}

# Each architecture has units, and rows say which of them run them.
architectures_sound() {
    run 0 list units --json
    value name | sed 's#/.*##' | sort -u > families
    run 0 list architectures --json
    value units | grep -vxF -f families
    run 0 list instructions --json
    mv out rows
    run 0 list kernels --json
    cat rows >> out
    while read -r name first last; do
        set=$(sed -n "s/^{\"name\":\"$name\".*\"architectures\":\[\([^]]*\)\].*/\1/p" out |
            sort -u)
        case $set in
        "\"$first\""*"\"$last\"") ;;
        *) echo "$name: $set" ;;
        esac
    done << 'END'
mma.m8n8k4.f32.f16 sm_70 sm_121
mma.m16n8k8.f32.f16 sm_75 sm_121
mma.m16n8k32.f32.e4m3 sm_89 sm_121
mma.m16n8k16.f64.f64 sm_90a sm_121
sm80.ootomo.[^"]* sm_80 sm_121
batch.mma.8.x8.s1 sm_80 sm_121
END
    [ "$(grep -c '"architectures":\["sm_90a"\]' out)" -eq "$(grep -c '^{"name":"\(wgmma\|sm90\|gemv\)' out)" ] ||
        echo "wgmma is of sm_90a"
}

kernels_agree() {
    run 0 verify --kernel all --json
    run 0 verify --kernel all -m 70 -n 100 -k 500 --json
    run 0 verify --kernel all -m 70 -n 100 -k 500 --split-k 3 --json
    run 0 verify --kernel all -m 70 -n 100 -k 500 --equilibrate --json
    run 0 verify --kernel all -m 20 -n 30 -k 130 --equilibrate --json
    run 0 verify --kernel all -m 20 -n 30 -k 130 --equilibrate --split-k 3 --json
    run 0 verify --kernel sm80.ootomo -m 9 -n 8 -k 30000 --equilibrate --json
    run 0 verify --kernel split --samples 10000000 --equilibrate --json
    run 0 verify --kernel split --samples 10000000 --json
}

ok_if_empty "the modules are built" "$(model_built models; model_built honest -DHONEST)"
BITCUT_MODULES=$work/models
export BITCUT_MODULES
# FP64 GEMMs by a scheme.
fp64_compared() {
    run 0 list fp64-kernels --json
    [ "$(value scheme | tr '\n' ' ')" = "ozimmu-ef ozimmu-h ozimmu noname ozimmu " ] || value scheme
    run 0 verify --kernel model.ozimmu-ef -m 9 -n 10 -k 11 --json
    expect kernel model.ozimmu-ef.s8
    expect scheme ozimmu-ef
    expect unit hopper/wgmma.m64n8k32.s32.s8
    expect compared 90
    expect mismatches 0
    run 1 verify --kernel liar.ozimmu -m 9 -n 10 -k 11 --json
    [ "$(value mismatches)" -gt 50 ] || value mismatches
    run 3 verify --kernel liar.noname -m 9 -n 10 -k 11
    run 0 bench fp64 --device cuda -n 20 --rounds 3 --kernel model --json
    [ "$(value parts | tr '\n' ' ')" = "7 8 9 7 8 9 " ] || value parts
    [ "$(value ratio | grep -c "^1.0$")" -eq 6 ] || value ratio
    run 3 bench fp64 --device cuda -n 20 --kernel liar.ozimmu
    grep -q "differs from the emulator" err || cat err
}

ok_if_empty "kernels are listed" "$(kernels_listed)"
ok_if_empty "kernels of FP64 GEMMs" "$(fp64_compared)"
exhaustive "a grid of shapes" grid_agrees
ok_if_empty "a kernel for a narrow D" "$(narrow_agrees)"
exhaustive "kernels by the beginning of their name" names_chosen
ok_if_empty "shards" "$(shards)"
if_whole "shards of grids" shards_of_grids
ok_if_empty "equilibrated lines" "$(equilibrated)"
exhaustive "words of two formats" words_of_two_formats
exhaustive "kernels that do not suit are left out" unfit_left_out
exhaustive "kernels tried together" together
ok_if_empty "rows and columns of large shapes" "$(lines_sampled)"
exhaustive "broken kernels are found" differences_found
exhaustive "what broken kernels do is explained" differences_explained
ok_if_empty "kernels are ranked" "$(tiles_ranked)"
ok_if_empty "batches of small GEMMs" "$(batches_agree)"
exhaustive "broken kernels for batches are found" batch_differences_found
ok_if_empty "the split pass" "$(splits_compared)"
ok_if_empty "the split pass where parts have two formats" "$(mixed_splits_compared)"

BITCUT_MODULES=$kernels
if [ -f "$kernels/bitcut-cuda.so" ]; then
    ok_if_empty "the module's kernels have recipes and units" "$(rows_sound)"
    ok_if_empty "architectures have units, and rows name those that run them" "$(architectures_sound)"
    bitcut verify --kernel all -m 1 -n 1 -k 1 > out 2> err
    if [ $? -eq 3 ]; then skip_because "the device" "$(sed 's/^bitcut: verify: //' err)"
    else ok_if_empty "the device" "$(kernels_agree)"; fi
else
    for what in "the module's kernels have recipes and units" \
        "architectures have units, and rows name those that run them" "the device"; do
        skip "$what" kernels
    done
fi
echo "1..$n"
