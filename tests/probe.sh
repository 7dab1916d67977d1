#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bitcut explain for programs that can be run: bitcut itself in many orders on many units,
# for which the probe must report the order, or an order with the same sums; kernels of
# the module in which models simulate a device; and commands that fail.
# Run in the build folder with srcdir set, as `make check` does.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
modules=$PWD/tests/.libs
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
mkdir "$work/run" "$work/temporary"
cd "$work/run" || exit 99
TMPDIR=$work/temporary
export TMPDIR

# probed FORMAT SIZES GEMM: of bitcut gemm with these words.
probed() {
    # shellcheck disable=SC2086,SC2016 # words; for the inner shell
    run 0 explain --json --format "$1" $2 --probe \
        'bitcut gemm -a "$BITCUT_A" -b "$BITCUT_B" -o "$BITCUT_D" --reference none '"$3"
    expect mismatches 0
}

# said KEY: the whole of a text.
said() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" out; }

# Format, sizes, what bitcut gemm is told; slices, tile, lanes, turn, reduction; block.
orders_found() {
    while IFS='|' read -r format sizes words order block; do
        probed "$format" "$sizes" "$words"
        [ "$(said order)" = "$order" ] || echo "$words: $(said order), not $order"
        expect block "$block"
        expect promote_k 0
    done << 'END'
f32||--recipe fp32 --unit fma/f32|slices=1,tile=0,lanes=1,chunk=0,reduction=ascending|1
f32|-k 100|--recipe fp32 --unit fma/f32 --split-k 3|slices=3,tile=34,lanes=1,chunk=0,reduction=ascending|1
f32||--recipe fp32 --unit fma/f32 --order lanes=4,chunk=1,reduction=tree|slices=1,tile=0,lanes=4,chunk=1,reduction=tree|1
f32||--recipe fp32 --unit fma/f32 --split-k 2 --order tile=32,lanes=2,chunk=8|slices=2,tile=128,lanes=2,chunk=8,reduction=ascending|1
f32|-k 90|--recipe fp32 --unit fma/f32 --split-k 2 --order tile=16,partial-first|slices=2,tile=8,partial-first,lanes=1,chunk=0,reduction=ascending|1
f32|-k 272|--recipe fp32 --unit mul-add/f32 --split-k 4 --order tile=80,balance-tail=8|slices=4,tile=80,balance-tail=8,lanes=1,chunk=0,reduction=ascending|1
f16||--recipe plain --unit h100|slices=1,tile=0,lanes=1,chunk=0,reduction=ascending|16
f16||--recipe plain --unit h100 --split-k 3|slices=3,tile=96,lanes=1,chunk=0,reduction=ascending|16
f16||--recipe plain --unit a100 --split-k 5 --order reduction=descending|slices=4,tile=64,lanes=1,chunk=0,reduction=descending|8
f16||--recipe plain --unit v100 --split-k 6 --order reduction=tree|slices=6,tile=44,lanes=1,chunk=0,reduction=tree|4
f16|-k 250|--recipe plain --unit h100 --order lanes=3,chunk=32,reduction=descending|slices=1,tile=0,lanes=3,chunk=32,reduction=descending|16
f16|-k 250|--recipe plain --unit v100 --split-k 3 --order tile=32,partial-first|slices=3,tile=32,partial-first,lanes=1,chunk=0,reduction=ascending|4
f16|-m 32 -n 48 -k 200|--recipe plain --unit h100 --order tile=64,partial-first|slices=1,tile=16,partial-first,lanes=1,chunk=0,reduction=ascending|16
tf32||--recipe plain --unit hopper/mma.m16n8k8.f32.tf32 --split-k 2|slices=2,tile=128,lanes=1,chunk=0,reduction=ascending|8
bf16|-k 1|--recipe plain --unit hopper/mma.m16n8k16.f32.bf16|slices=1,tile=0,lanes=1,chunk=0,reduction=ascending|1
END
}

promotion_found() {
    probed f16 '' '--recipe plain --unit h100 --split-k 2 --promote 2'
    expect promote_k 32
    expect tile 128
    probed f16 '' '--recipe plain --unit h100 --promote 4'
    expect tile 64
    grep -q 'slices of 64, .* (or one sum is promoted every 64 k)' out || cat out
    probed f32 '' '--recipe fp32 --unit fma/f32 --promote 1' # products rounded first
    expect block 1
    expect unit mul-add/f32
}

# Units, how many products they add at a time, and how they join.
units_found() {
    while read -r unit format block join; do
        probed "$format" '-k 96' "--recipe plain --unit $unit --split-k 2"
        expect block "$block"
        expect join "$join"
        [ "$(value slices)" = 2 ] || echo "$unit: not 2 slices"
        grep -q "\"units\":\[[^]]*\"[a-z0-9]*/${unit#*/}\"" out || echo "$unit is not there"
    done << 'END'
volta/mma.m8n8k4.f32.f16 f16 4 cut
hopper/mma.m16n8k16.f32.f16 f16 16 cut
hopper/mma.m16n8k16.f32.bf16 bf16 16 cut
cdna1/mfma.32x32x8.f32.f16 f16 4 exact
cdna1/mfma.32x32x4.f32.bf16 bf16 2 exact
cdna2/mfma.32x32x8.f32.bf16_1k bf16 4 pairs
cdna3/mfma.32x32x8.f32.bf16 bf16 8 cut
END
}

# Of long k some are probed, in few runs.
long_k_sampled() {
    probed f16 '-m 32 -n 32 -k 16384' '--recipe plain --unit h100 --split-k 7 --order reduction=tree'
    expect order "slices=7"
    expect tile 2352
    expect reduction tree
    expect positions 128
    expect calls 12
    probed f16 '-m 32 -n 32 -k 5000' '--recipe plain --unit h100 --split-k 3 --order tile=96,lanes=2,chunk=48,partial-first'
    expect calls 12
}

# Sums of f16 words that no order of one product gives: said, with status 1.
unknown_told() {
    # shellcheck disable=SC2016 # for the inner shell
    run 1 explain --json --format f32 --probe \
        'bitcut gemm -a "$BITCUT_A" -b "$BITCUT_B" -o "$BITCUT_D" --reference none --recipe tf32x3 --unit h100'
    expect found true
    expect block 8
    grep -q 'No unit here\|comes nearest: ' out || cat out
}

kernels_probed() {
    while read -r kernel slices tile promote words; do
        # shellcheck disable=SC2086 # words
        run 0 explain --kernel "$kernel" $words --json
        expect slices "$slices"
        expect tile "$tile"
        expect promote_k "$promote"
        expect mismatches 0
    done << 'END'
gemm.plain.f16 1 0 0
gemm.markidis.f16 1 0 0
gemm.plain.tf32 1 0 0 -k 100
gemm.ootomo.f16 16 16 0
gemm.ootomo.f16 3 96 16 --split-k 3
vary.ootomo.f16 2 64 0 -k 100
END
}

refused() {
    TMPDIR=$work/none run 3 explain --probe true
    grep -q '^bitcut: --probe: a temporary folder: No such file or directory$' err || cat err
}

# Commands that have a shell's words in them.
commands_refused() {
    while IFS='|' read -r why command; do
        run 3 explain --probe "$command"
        grep -q "^bitcut: --probe: $why" err || cat err
    done << 'END'
the command was terminated by signal 9$|kill -9 $$
.BITCUT_D is 64 x 256; expected 64 x 64$|cp "$BITCUT_A" "$BITCUT_D"
.BITCUT_D: |echo > "$BITCUT_D"
for A = B = 2^-40, D is 0 times 2^-80 instead of 256: |bitcut gemm -a "$BITCUT_A" -b "$BITCUT_B" -o "$BITCUT_D" --reference none --recipe plain --unit h100
the command failed with exit status 7$|[ "$BITCUT_M $BITCUT_N $BITCUT_K" = "64 64 256" ] && [ -s "$BITCUT_A" ] && [ -s "$BITCUT_B" ] && exit 7
the command failed with exit status 8$|if read -r line; then exit 1; else exit 8; fi
END
    ls "$TMPDIR"
}

# Asked to stop, bitcut ends the command, with all that this has started, and leaves nothing: also
# if a second signal ends bitcut at once, while a command ignores the first one.
interrupted() {
    while IFS='|' read -r signals trap; do
        rm -f started child
        bitcut explain --probe "$trap sleep 60 & echo \$! > child; echo > started; wait; wait" \
            2> err &
        pid=$!
        until [ -e started ]; do sleep 0.1; done
        for _ in $signals; do kill "$pid"; done
        wait "$pid"
        status=$?
        [ $status -eq 3 ] || echo "status $status"
        # A machine under load may be slower than the second that bitcut has.
        grep -qxE 'bitcut: (--probe|explain): stopped' err || cat err
        tries=0
        while [ $tries -lt 100 ]; do # until the system has removed the process
            case $(cut -d' ' -f3 "/proc/$(cat child)/stat" 2> /dev/null) in '' | Z) break ;; esac
            sleep 0.1
            tries=$((tries + 1))
        done
        [ $tries -lt 100 ] || echo "the command still runs"
        ls "$TMPDIR"
    done << 'END'
once|
once|trap '' TERM;
once twice|trap '' TERM;
END
}

echo 1..9
ok_if_empty "orders of bitcut itself are found" "$(orders_found)"
ok_if_empty "promotion is found" "$(promotion_found)"
ok_if_empty "units are found, and how they add products" "$(units_found)"
ok_if_empty "of long k a sample is probed" "$(long_k_sampled)"
ok_if_empty "an order that no unit has is said to be one" "$(unknown_told)"
BITCUT_MODULES=$modules
export BITCUT_MODULES
if [ -f "$modules/bitcut-cuda.so" ]; then
    ok_if_empty "kernels are probed" "$(kernels_probed)"
    ok_if_empty "what cannot be is refused" "$(refused)"
else
    skip "kernels are probed" "the model of a module: the shared library and the package check"
    skip "what cannot be is refused" "the model of a module: the shared library and the package check"
fi
ok_if_empty "commands that fail are told in a line" "$(commands_refused)"
ok_if_empty "a signal ends the command, too" "$(interrupted)"
