#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# --device in every command that has it, on tests/gpu/device.c, a module in which the
# models simulate two devices; the second one can give wrong results.
# Run in the build folder with srcdir, CC and CFLAGS set, as `make check` does.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
: "${srcdir:=.}" "${CC:=cc}" "${CFLAGS:=}"
source=$(cd "$srcdir" && pwd)
libraries=$PWD/.libs
[ -f "$libraries/libbitcut.so" ] || skip_all shared
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99
ootomo="gemm --recipe ootomo --unit h100 -m 20 -n 10 -k 40"

# Each case by the emulator and by the device: all bits of D, and what is said of it.
gemm_agrees() {
    run 0 gemm -m 20 -n 10 -k 3 --recipe plain --unit h100 -o C.npy
    while read -r words; do
        for device in emulator cuda; do
            # shellcheck disable=SC2086 # words
            run 0 gemm -m 20 -n 10 -k 40 $words --device $device --json -o $device.npy
            expect unit hopper/mma.m16n8k16.f32.f16
            sed 's/"seconds".*"products_per_second":[^,]*,//; s/"device".*"kernel":[^,]*,//
                s/"reference_seconds":[^,]*//' out > "$device.said"
        done
        [ "$(value device)" = Models ] || echo "not by the device: $(value device)"
        cmp emulator.npy cuda.npy || echo "$words"
        cmp emulator.said cuda.said || echo "$words"
    done << 'END'
--recipe ootomo --unit h100
--recipe ootomo --unit h100 --split-k 3
--recipe plain --unit hopper/mma.m16n8k16.f32.f16 -c C.npy --alpha 3 --beta=-0.5
--recipe ootomo --unit h200 --equilibrate --input-a exp_rand(-40,40)
--recipe ootomo --unit h100 --split halfhalf --scale 11
END
}

# The same on units that the device has not, and how it computes them.
gemm_emulated() {
    run 0 gemm -m 20 -n 10 -k 3 --recipe plain --unit h100 -o C.npy
    while IFS='|' read -r method words; do
        for device in emulator cuda; do
            # shellcheck disable=SC2086 # words
            run 0 gemm -m 20 -n 10 -k 40 $words --device $device --json -o $device.npy
            expect kernel null
            [ $device = emulator ] || grep -qF "\"method\":$method," out || echo "not $method: $words"
            sed 's/"seconds".*"products_per_second":[^,]*,//; s/"device".*"kernel":null,//
                s/"method":\("[^"]*"\|\[[^]]*\]\),//; s/"reference_seconds":[^,]*//' out > "$device.said"
        done
        cmp emulator.npy cuda.npy || echo "$words"
        cmp emulator.said cuda.said || echo "$words"
    done << 'END'
"tensor"|--recipe ootomo --unit v100
"tensor"|--recipe ootomo --unit a100 --terms 4 --promote 2 --scale 8
"native"|--recipe legemm --unit h100 --split-k 3 --order tile=16,reduction=tree,lanes=2
"tensor"|--recipe tf32x3 --unit a100 --tile-k 16 -c C.npy --alpha 3 --beta=-0.5
"simt"|--recipe legemm --unit mi210 --equilibrate --input-a exp_rand(-40,40)
"cut"|--recipe markidis --unit mi300 --high rz --low rz
"simt"|--recipe fp32 --unit fma/f32
"steps"|--recipe ootomo --unit ideal/rz25 --split halfhalf
["cut","cut","native"]|--recipe half-fp8 --unit h100 --split-b half-e5m2
END
}

# A module that does not: HONEST.
not_emulated() {
    BITCUT_MODULES=$work/honest
    while read -r unit words; do
        # shellcheck disable=SC2086 # words
        run 2 gemm --device cuda --recipe ootomo --unit $words
        grep -q "^bitcut: $unit: ." err || cat err
    done << 'END'
volta/mma.m8n8k4.f32.f16 v100
hopper/mma.m16n8k8.f32.f16 hopper/mma.m16n8k8.f32.f16
END
}

# What is emulated is verified, and then timed; faulty it is found.
emulation_timed() {
    run 0 bench emu --device cuda -n 24 -n 40 --recipe ootomo --unit a100 --json
    [ "$(wc -l < out)" = 2 ] || cat out
    run 0 bench emu --device cuda -n 40 --recipe ootomo --unit a100 --json
    expect n 40
    expect method tensor
    expect verified 1600
    expect mismatches 0
    expect devices 1
    run 0 bench emu --device cuda:all -n 40 --recipe ootomo --unit a100 --json
    expect devices 2
    expect mismatches 0
    DEVICE_FAULT="second flips" run 1 bench emu --device cuda:all -n 40 --unit a100 --json
    expect mismatches 1
    run 0 bench emu --device cuda -n 8 --recipe half-fp8 --unit h100 --json
    grep -qF '"method":["cut","cut","native"],' out || cat out
    expect mismatches 0
    DEVICE_FAULT=flips
    export DEVICE_FAULT
    run 1 bench emu --device cuda -n 40 --unit a100 --json
    expect mismatches 1
    unset DEVICE_FAULT
    BITCUT_MODULES=$work/honest
    run 2 bench emu --device cuda -n 8 --unit a100
}

# A reference by sums that are none is noticed before it is timed.
references_timed() {
    DEVICE_FAULT=flips run 3 bench exact -n 408 --device cuda --json
    [ "$(grep -c '"method":"reference"' out)" = 1 ] || cat out
}

# Without a unit the device has its own; a kernel has recipe, terms and promotion.
kernels_run() {
    while IFS='|' read -r kernel unit promote words; do
        # shellcheck disable=SC2086 # words
        run 0 gemm -m 20 -n 10 -k 100 $words --json -o D.npy
        expect kernel "$kernel"
        expect unit "$unit"
        expect promote "$promote"
    done << 'END'
gemm.ootomo.f16|hopper/mma.m16n8k16.f32.f16|1|--device cuda --recipe ootomo
vary.ootomo.f16|hopper/mma.m16n8k16.f32.f16|4|--device cuda --recipe ootomo --promote 4
vary.ootomo.f16|hopper/mma.m16n8k16.f32.f16|4|--device cuda --kernel vary.ootomo.f16
vary.ootomo.f16|ampere/mma.m16n8k16.f32.f16|4|--kernel vary.ootomo.f16
vary.ootomo.f16|ampere/mma.m16n8k16.f32.f16|4|--kernel vary.ootomo.f16 --unit a100
vary.ootomo.f16|hopper/mma.m16n8k16.f32.f16|4|--kernel vary.ootomo.f16 --unit h100
old.plain.f16|ampere/mma.m16n8k16.f32.f16|0|--kernel old.plain.f16 --device emulator
END
    kernel="--kernel vary.ootomo.f16 -m 20 -n 10 -k 100"
    # shellcheck disable=SC2086 # words
    run 0 gemm $kernel --device cuda -o there.npy
    # shellcheck disable=SC2086
    run 0 gemm $kernel --unit h100 -o here.npy
    cmp there.npy here.npy
    run 0 gemm --recipe ootomo --unit h100 -m 20 -n 10 -k 100 -o once.npy
    ! cmp -s once.npy here.npy || echo "promoted as the recipe says, not the kernel"
}

# said DEVICE: what is in `out`, but for the time that it took; it is computed by DEVICE.
said() {
    [ "$(value device)" = "$1" ] || echo "by $(value device), not $1"
    sed 's/"seconds":[^,]*,//; s/"device":"[^"]*",\{0,1\}//' out
}

# What compares with the emulator has a device compute large GEMMs in its place: the same is
# said, and of a device that lies another thing.  Small ones stay.
by_device() {
    unit=volta/mma.m8n8k4.f32.f16
    files="-a A.npy -b B.npy -c C.npy --alpha 3 -d D.npy"
    run 0 gemm -m 70 -n 256 -k 3 --recipe plain --unit h100 -o C.npy
    run 0 gemm -m 70 -n 256 -k 256 --recipe ootomo --unit $unit -c C.npy --alpha 3 \
        --save-a A.npy --save-b B.npy -o D.npy
    for command in "verify --seconds 0" explain; do
        words="$command --recipe ootomo --unit $unit $files --json"
        # shellcheck disable=SC2086 # words
        run 0 $words
        sed 's/"seconds":[^,]*,//' out > here
        # shellcheck disable=SC2086
        run 0 $words --device cuda
        said Models > there
        cmp here there || cat here there
        # shellcheck disable=SC2086
        run 0 $words --device cuda:all
        said "Models and 1 more device" > there
        cmp here there || cat here there
        # shellcheck disable=SC2086
        DEVICE_FAULT="second flips" run 1 $words --device cuda:1
        said "More models" | grep -qE '"mismatches":1,|"differ":1,' || cat out
        # shellcheck disable=SC2086
        DEVICE_FAULT="second flips" run 1 $words --device cuda:all
        grep -qE '"mismatches":1,|"differ":1,' out || cat out
        # shellcheck disable=SC2086
        DEVICE_FAULT=breaks run 3 $words --device cuda
        grep -q 'it broke$' err || cat err
        # shellcheck disable=SC2086
        BITCUT_MODULES=$work/honest run 2 $words --device cuda
    done
    # shellcheck disable=SC2086
    DEVICE_FAULT=flips run 0 verify --recipe ootomo --unit $unit $files --samples 100 --device cuda --json
    said emulator > there
    for device in emulator cuda cuda:all; do
        run 0 study scale --shard 0/8 --json --device $device
        mv out $device.said
    done
    cmp emulator.said cuda.said
    cmp emulator.said cuda:all.said
    run 2 verify --kernel gemm --device cuda:all
    DEVICE_FAULT=flips run 0 study scale --shard 0/8 --json --device cuda
    ! cmp -s emulator.said out || echo "study ran on no device"
}

# So does a report: of what is kept, the point that is missing is computed by it.
report_by_device() {
    kept=${BITCUT_DATA:-$source/data}
    mkdir less
    ln -s "$kept"/* less
    rm less/studies
    mkdir less/studies
    cp "$kept"/studies/* less/studies
    sed -i '/"point":0,/d' less/studies/dropped.jsonl
    for device in emulator cuda; do
        BITCUT_DATA=less stopped $device/dropped.json --scale paper --no-results --device $device
    done
    grep -q '"points":71,"of":72' cuda/dropped.json || echo "nothing was missing"
    cmp emulator/dropped.csv cuda/dropped.csv
    DEVICE_FAULT=flips BITCUT_DATA=less stopped lies/dropped.json --scale paper --no-results \
        --device cuda
    ! cmp -s emulator/dropped.csv lies/dropped.csv || echo "report ran on no device"
}

# Only the second lies: what finds it has looked at that one.
second_found() {
    DEVICE_FAULT="second flips"
    export DEVICE_FAULT
    while IFS='|' read -r words; do
        # shellcheck disable=SC2086 # words
        run 0 $words --device cuda:0
        # shellcheck disable=SC2086
        run 1 $words --device cuda:1
    done << 'END'
verify --kernel gemm.ootomo.f16 -m 1 -n 2 -k 3 --seconds 0
verify --kernel batch.mma.16 -m 5 -n 6 -k 7 --seconds 0
verify --kernel split --split halfhalf --samples 70000
record --random 128 --unit hopper/mma.m16n8k16.f32.f16
bench gpu --kernel gemm.ootomo.f16 -n 16 --rounds 1 --sustained 0
bench gpu --study batch --kernel batch.mma.16 --shapes square -n 4 --batch 3 --rounds 1
END
    run 0 probe --unit hopper/mma.m16n8k16.f32.f16 -o set
    run 0 record set -o first --device cuda
    run 1 record set -o second --device cuda:1
    # shellcheck disable=SC2086
    run 0 $ootomo -o model.npy
    for n in 0 1; do
        # shellcheck disable=SC2086
        run 0 $ootomo --device cuda:$n -o $n.npy
    done
    cmp model.npy 0.npy
    ! cmp -s model.npy 1.npy || echo "gemm ran on the first"
    run 0 tile --kernel gemm.ootomo.f16 --device cuda:1 --json
    expect device "More models"
    unset DEVICE_FAULT
}

# FP64 GEMMs by a scheme: the bits of the emulator, and what is said, apart from the kernel
# and the times.
schemes_agree() {
    run 0 gemm --scheme fp64 --unit h100 -m 20 -n 10 -k 3 -o C.npy
    run 0 gemm --scheme fp64 --unit h100 -m 20 -n 10 -k 3 --seed 5 -o A.npy
    run 0 gemm --scheme fp64 --unit h100 -m 10 -n 30 -k 3 --seed 6 -o B.npy
    while read -r words; do
        for device in emulator cuda; do
            # shellcheck disable=SC2086 # words
            run 0 gemm $words --unit hopper/wgmma.m64n8k32.s32.s8 --device $device --json \
                -o $device.npy
            sed 's/"device".*"products_per_second":[^,]*,//' out > "$device.said"
        done
        [ "$(value device)" = Models ] || echo "not by the device: $(value device)"
        cmp emulator.npy cuda.npy || echo "$words"
        cmp emulator.said cuda.said || echo "$words"
    done << 'END'
--scheme ozimmu-ef -m 20 -n 10 -k 40
--scheme ozimmu-h --parts 9 -m 20 -n 10 -k 40 -c C.npy --alpha 3 --beta=-0.3
--scheme ozimmu-ef --parts 2 -m 20 -n 10 -k 300 --split-k 2 -c C.npy
--scheme ozimmu-ef -a A.npy -b B.npy
END
    run 0 gemm --scheme ozimmu-ef --kernel model.ozimmu-ef.s8 --device cuda -m 5 -n 6 -k 7 --json
    expect kernel model.ozimmu-ef.s8
    expect unit hopper/wgmma.m64n8k32.s32.s8
}

# A batch; a D that the kernel gives, and one of a device that lies.
schemes_verified() {
    words="--scheme ozimmu-h --unit h100 -a A.npy -b B.npy"
    python3 - << 'END' || return 0
import struct
values = [i * 0.37 - 40 for i in range(3 * 20 * 10)]
head = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 20, 10), }".ljust(117) + "\n"
open("A.npy", "wb").write(b"\x93NUMPY\1\0" + struct.pack("<H", 118) + head.encode() +
                          struct.pack("<600d", *values))
END
    # shellcheck disable=SC2086 # words
    {
        run 0 gemm $words -o D.npy
        run 0 gemm $words --device cuda -o there.npy
        cmp D.npy there.npy
        run 0 verify $words -d D.npy --device cuda --json
        expect compared 1800
        expect device Models
        expect kernel model.ozimmu-h.s8
        DEVICE_FAULT=flips run 1 verify $words -d D.npy --device cuda --index 2 --json
        expect mismatches 1
        DEVICE_FAULT=flips run 0 gemm $words --device cuda -o there.npy
        ! cmp -s D.npy there.npy || echo "gemm ran on no device"
        DEVICE_FAULT=breaks run 3 gemm $words --device cuda
        DEVICE_FAULT=breaks run 3 verify $words -d D.npy --device cuda
    }
}

schemes_refused() {
    while IFS='|' read -r status why words; do
        # shellcheck disable=SC2086 # words
        run "$status" gemm -m 3 -n 3 -k 3 --device cuda $words
        [ "bitcut: $why" = "$(cat err)" ] || cat err
    done << 'END'
3|--device: no kernel of Models computes scheme gemmul8; see bitcut list fp64-kernels|--scheme gemmul8
3|--device: model.ozimmu-ef.s8 runs on hopper/wgmma.m64n8k32.s32.s8, not ampere/mma.m16n8k32.s32.s8|--scheme ozimmu-ef --unit a100
2|--kernel: no kernel of FP64 GEMMs is called "x"; see bitcut list fp64-kernels|--scheme ozimmu-ef --kernel x
2|--kernel: model.ozimmu-ef.s8 computes scheme ozimmu-ef, not ozimmu|--scheme ozimmu --kernel model.ozimmu-ef.s8
2|--device: model.ozimmu-h.s8 supports 1 to 9 parts|--scheme ozimmu-h --parts 10
2|--parts: scheme ozimmu-h has 1 to 18 parts|--scheme ozimmu-h --parts 19
END
    DEVICE_FAULT=ampere run 3 gemm --scheme ozimmu-ef --device cuda
}

# A kernel is emulated by its row, which is in the module.
module_needed() {
    BITCUT_MODULES=$work/nowhere
    run 3 gemm --kernel gemm.ootomo.f16
    run 3 gemm --recipe ootomo --device cuda
    # shellcheck disable=SC2086
    run 0 $ootomo --device emulator --json
    expect device emulator
    expect kernel null
}

ok_if_empty "the modules are built" "$(model_built models; model_built honest -DHONEST)"
BITCUT_MODULES=$work/models
export BITCUT_MODULES
ok_if_empty "a GEMM on the device has the emulator's bits" "$(gemm_agrees)"
ok_if_empty "a unit that the device has not has the emulator's bits there" "$(gemm_emulated)"
ok_if_empty "or is refused" "$(not_emulated)"
ok_if_empty "what is emulated is verified and timed" "$(emulation_timed)"
exhaustive "a reference by the device is verified" references_timed
exhaustive "what compares with the emulator says the same by the device" by_device
exhaustive "a report computes what is missing by the device" report_by_device
ok_if_empty "kernels are chosen, and emulated" "$(kernels_run)"
ok_if_empty "FP64 GEMMs on the device have the emulator's bits" "$(schemes_agree)"
ok_if_empty "and are verified, in batches too" "$(schemes_verified)"
ok_if_empty "what no kernel computes is refused" "$(schemes_refused)"
ok_if_empty "the second device is the second" "$(second_found)"
ok_if_empty "without a module there is the emulator" "$(module_needed)"
echo "1..$n"
