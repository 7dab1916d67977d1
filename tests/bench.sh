#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bitcut bench gpu without a GPU: tests/gpu/device.c, a module in which the models
# simulate a device, with a clock that makes every time known.  Then the device, if there
# is one.
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

# rows NAME PART: those lines of `all`, as `out`.
rows() { grep "\"name\":\"$1\",\"part\":\"$2\"" all > out; }

# row NAME: what follows that name in the text table, with one blank between columns.
row() { sed -n "s/^$1  *//p" out | head -n 1 | tr -s ' '; }

# Products are 32 x 32 x 32; of the clock a product takes 6, 12, 11, 1, 3 ns (kernels,
# sgemm, falls, hgemm, three), a split value 2 ns; of three timings one is 2 % less, one 2 %
# more; under load it takes what it says.
times_true() {
    run 0 bench gpu -n 32 --rounds 3 --kernel gemm.ootomo --json
    cp out all
    [ "$(wc -l < all)" -eq 11 ] || wc -l all
    for key in m n k count ms ms_min ms_max spread drift tflops ratio_sgemm third \
        ms_sustained tflops_sustained third_sustained mhz_sustained watts watts_limit limit \
        heat us_start us_choose us_launch relres compared \
        mismatches fallback rank of_best flops_per_byte gb_per_second joules gflops_per_watt \
        pj_per_product mhz recipe split equilibrate tile stages split_k unsteady fault study \
        input rounds seed date device driver runtime architecture library; do
        [ "$(grep -c "\"$key\":" all)" -eq 11 ] || echo "no $key"
    done
    rows gemm.ootomo.f16 product
    near ms 0.196608
    near ms_min 0.19267584
    near ms_max 0.20054016
    near spread 4
    near drift -1.96078431373
    near tflops 0.000333333333333
    near ratio_sgemm 2
    near ratio_three 0.5
    near third 50
    near ms_sustained 0.196608
    near tflops_sustained 0.000333333333333
    near third_sustained 50
    expect mhz_sustained 1980
    near watts 700
    near watts_limit 1000
    expect limit none
    expect heat null
    near flops_per_byte 5.33333333333
    near gb_per_second 0.0625
    near joules 0.1376256
    expect compared 1024
    expect mismatches 0
    expect tile 16x8x16
    expect fault null
    rows gemm.ootomo.f16 whole
    near ms 0.200704
    near ratio_three 0.510204081633
    near ratio_falls 1.79591836735
    near joules 0.1404928
    near gflops_per_watt 0.000466472303207
    near pj_per_product 4287500
    near flops_per_byte 5.33333333333
    rows three split
    near ms 0.004096
    near gb_per_second 4
    expect tflops null
    for key in ms_sustained tflops_sustained third_sustained mhz_sustained watts limit us_start \
        us_choose us_launch; do
        expect $key null
    done
    expect third null
    expect ratio_sgemm null
    expect flops_per_byte null
    rows hgemm product
    near third 300
    near flops_per_byte 8
    expect mhz 1980
    cp all out
    expect device Models
    expect library "Peers 1.0"
    expect seed 1
    expect date "$(date -u +%Y-%m-%d)"
}

# The table for people: columns in order, rounded, those with nothing to say left out.
table_short() {
    run 0 bench gpu -n 32 --rounds 3 --kernel gemm.ootomo
    [ "$(row name)" = "part m n k ms % spread tflops x sgemm % third sustained % third s. MHz \
W limit us start choose launch relres GFlop/s/W compared rank of best fallback fault" ] || row name
    row gemm.ootomo.f16 | sed 's/none [0-9.]* [0-9.]* [0-9.]* [0-9.]*e-08 /none U U U small /' |
        grep -qx "whole 32 32 32 0.2007 4 0.0003265 1.96 49 0.0003265 49 1980 700 none U U U small \
0.000466 1024 1 1 - -" ||
        row gemm.ootomo.f16
    row falls | grep -q ' - sgemm -$' || row falls
    run 0 bench gpu -n 16 --rounds 1 --sustained 0 --kernel gemm.plain
    row name | grep GFlop
    row name | grep slices
    run 0 bench gpu -n 16 --rounds 1 --sustained 0 --kernel gemm.ootomo --study splitk \
        --shapes square
    row name | grep -q ' k slices ms ' || row name
}

# Under load: what holds the clock back, and what is said of figures that differ.  Without the
# board's counters the speed is there alone.
load_told() {
    set -- gpu -n 32 --rounds 3 --kernel gemm.ootomo --json
    while IFS='|' read -r fault sustained third watts mhz limit heat; do
        DEVICE_FAULT=$fault
        export DEVICE_FAULT
        bitcut bench "$@" > out 2> err || cat err
        unset DEVICE_FAULT
        cp out all
        rows gemm.ootomo.f16 whole
        near tflops 0.00032653061224
        near ms_sustained "$sustained"
        near third_sustained "$third"
        expect watts "$watts"
        expect mhz_sustained "$mhz"
        expect limit "$limit"
        expect heat "$heat"
        [ "$(grep -c '^bitcut: bench: heat: ' err)" -eq "$([ "$heat" = null ]; echo $?)" ] ||
            cat err
    done << 'END'
hot|0.25088|58.7755102041|700.0|1500|thermal|sustained
capped|0.25088|58.7755102041|700.0|1500|power|sustained
full|0.200704|48.9795918367|700.0|1980|power|null
no board|0.200704|48.9795918367|null|null|null|null
END
    expect joules null
    expect gflops_per_watt null
    expect watts_limit null
    DEVICE_FAULT=hot
    export DEVICE_FAULT
    bitcut bench "$@" > out 2> err
    sed 's/heat: [^,]*, [a-z]*,/heat: X,/; s/ [0-9.e-]* TFLOPS/ Y TFLOPS/; s/ [0-9.e-]* under/ Z \
under/' err | tr '\n' ' ' | grep -q "^bitcut: bench: heat: X, 32 x 32 x 32: Y TFLOPS in bursts \
(tflops), Z  *under load (tflops_sustained; limit: thermal), and 7 more differ by over 5 %: use \
tflops for an occasional GEMM and tflops_sustained for long work" || cat err
    DEVICE_FAULT=settles
    bitcut bench "$@" > out 2> err
    grep -q "^bitcut: bench: heat: .*: the last round took [0-9.]* % [a-z]* than the first \
(drift), and 9 more differ by over 5 %: the device did not reach a steady state: use more --rounds" err ||
        cat err
    [ "$(value heat | grep -cx rounds)" -eq 10 ] || value heat
    [ "$(value unsteady | sort -u)" = hgemm ] || value unsteady
    DEVICE_FAULT="settles soon"
    bitcut bench "$@" > out 2> err || cat err
    [ "$(value unsteady | sort -u)" = null ] || value unsteady
    cp out all
    rows gemm.ootomo.f16 product
    near ms 0.196608
    near spread 4
    bitcut bench "$@" --rounds 1 --sustained 0 > out 2> err
    unset DEVICE_FAULT
    cat err
    expect heat null
    value drift | grep -vx -e 0.0 -e null
    expect ms_sustained null
}

# between KEY LEAST MOST: every value is there and between these.
between() {
    value "$1" | awk -v key="$1" -v least="$2" -v most="$3" '{
        if (!($1 >= least && $1 < most)) print key " is " $1
    } END { if (!NR) print "no " key }'
}

# What calls take the host, of all of a kernel: here a start is 200 us more on a device that
# starts slowly, and an empty launch half of that.  The queue has room for 64.
host_told() {
    for study in "--kernel gemm.ootomo -n 16 --sustained 0" \
        "--study batch --kernel batch.mma.16 --shapes square -n 16 --batch 3"; do
        while IFS='|' read -r fault start choose launch; do
            DEVICE_FAULT=$fault
            export DEVICE_FAULT
            # shellcheck disable=SC2086 # words
            run 0 bench gpu $study --rounds 1 --json
            unset DEVICE_FAULT
            cp out all
            grep -v '"name":"batch\|"name":"gemm.*"part":"whole"' all > out
            for key in us_start us_choose us_launch; do
                ! grep -q "\"$key\":[^n]" out || cat out
            done
            grep '"name":"batch\|"name":"gemm.*"part":"whole"' all > out
            # shellcheck disable=SC2086 # two numbers
            {
                between us_start $start
                between us_choose $choose
                [ "$launch" = null ] && expect us_launch null || between us_launch $launch
            }
        done << 'END'
none|0.01 200|0.01 200|0.001 100
starts slowly|200 9000|0.01 200|100 9000
launches nothing|0.01 200|0.01 200|null
END
    done
}

# order SEED [OPTION...]: who ran in the rounds, a line for each round, then the last one under load.
order() {
    rm -f ran
    DEVICE_ORDER=ran
    export DEVICE_ORDER
    run 0 bench gpu -n 16 --rounds 4 --kernel gemm.ootomo --json --seed "$@"
    unset DEVICE_ORDER
    awk '$2 > 1 { loads = loads " " $1; next } $3 > 1 { line = line " " $1; if (++n % 10 == 0) {
        print line; line = "" } } END { print loads line }' ran
}

# Every round has all, in an order of its own, and so have the loops under load; the seed
# decides it.  After 3/10 of the time the board is read every 16 ms, up to 64 times; a read
# takes so long that the device would wait for more.
order_random() {
    order 1 > first
    order 1 > again
    order 2 > other
    cmp first again
    cmp -s first other && echo "one order for two seeds"
    [ "$(wc -l < first)" -eq 5 ] || cat first
    [ "$(sort -u first | wc -l)" -eq 5 ] || cat first
    head -n 4 first | while read -r line; do
        echo "$line" | tr ' ' '\n' | sort | tr '\n' ' '
        echo
    done | uniq | wc -l | grep -qx 1 || cat first
    awk '$2 > 1 && ($4 != 43 || $2 / $3 < 0.42 || $2 / $3 > 0.43)' ran
    awk '$2 > 1' ran | wc -l | grep -qx 8 || cat ran
    for load in 2000:64 100:4 20:1; do
        order 1 --sustained ${load%:*} > again
        awk -v reads=${load#*:} '$2 > 1 { loads++ } $2 > 1 && $4 != reads
            END { if (loads != 8) print loads " loops" }' ran
    done
}

# What peers say of themselves is not taken for granted.
peers_known() {
    for name in falls:sgemm sgemm:null three:null hgemm:null; do
        rows "${name%:*}" whole
        expect fallback "${name#*:}"
    done
    rows fails whole
    expect fault "not supported"
    expect ms null
    expect relres null
    rows sgemm whole
    near ratio_sgemm 1
    expect ratio_fails null
}

# chosen WORDS...: the kernels, of one size.
chosen() {
    run 0 bench gpu --rounds 1 --sustained 0 --json "$@"
    cp out all
    grep '"recipe":"' all > out
    value name | uniq | tr '\n' ' '
}

# Of every recipe the kernel that the tile model takes.  plain: for n = 16 two small tiles;
# for n = 64 one round of four large tiles, which load less than four rounds of small ones.
tile_chosen() {
    small="fast.plain.f16.small gemm.ootomo.f16 gemm.tf32x3.tf32 "
    [ "$(chosen -n 16)" = "$small" ] || echo "n = 16 takes other kernels"
    [ "$(chosen -n 64 -n 16)" = "fast.plain.f16.large gemm.ootomo.f16 gemm.tf32x3.tf32 \
$small" ] || echo "n = 64 takes other kernels"
    [ "$(chosen -n 64 --tile 16x8)" = "$small" ] || echo "16x8 takes other kernels"
    [ "$(chosen -n 16 --tile 32x32x16)" = "fast.plain.f16.large " ] || cat all
    [ "$(chosen -n 16 --tile 16x8x8)" = "gemm.tf32x3.tf32 " ] || cat all
    [ "$(chosen -n 16 --tile 16x8x16 --kernel gemm)" = \
        "gemm.ootomo.f16 gemm.plain.f16 " ] || cat all
    set -- --study strided --shapes square -n 32
    [ "$(chosen "$@" --batch 1)" = "$small" ] || echo "a GEMM of 32 takes other kernels"
    [ "$(chosen "$@" --batch 8)" = "fast.plain.f16.large gemm.ootomo.f16 \
gemm.tf32x3.tf32 " ] || echo "8 GEMMs of 32 take other kernels"
    rows fast.plain.f16.large whole
    expect rank 1
}

# The ranks of all kernels of the same bits, and what they reach of the fastest.
tiles_ranked() {
    DEVICE_FAULT="large is fast"
    export DEVICE_FAULT
    for size in 16:3:1:2 64:1:2:3; do
        run 0 bench gpu -n "${size%%:*}" --rounds 1 --sustained 0 --kernel all --json
        cp out all
        for name in fast.plain.f16.large fast.plain.f16.small gemm.plain.f16; do
            size=${size#*:}
            rows $name product
            expect rank "${size%%:*}"
        done
    done
    unset DEVICE_FAULT
    rows fast.plain.f16.small product
    near of_best 0.5
    rows fast.plain.f16.large product
    near of_best 1
    rows gemm.ootomo.f16 whole
    expect rank 1
    near of_best 1
    rows gemm.tf32x3.tf32 split
    expect rank null
    expect of_best null
    rows sgemm whole
    expect rank null
    expect of_best null
}

# What is asked for on the sizes asked for; of split-K what the kernel takes.
study_chosen() {
    run 0 bench gpu -n 16 -n 20 --rounds 1 --sustained 0 --json --shapes square --shapes deep
    cp out all
    [ "$(value k | uniq | tr '\n' ' ')" = "16 20 64 80 " ] || value k | uniq
    expect joules null
    expect mismatches "0
null"
    expect rounds 1
    grep '"recipe":"' all > out
    expect mismatches 0
    DEVICE_FAULT="no library"
    export DEVICE_FAULT
    run 0 bench gpu --study splitk --kernel gemm.plain --rounds 1 --json
    unset DEVICE_FAULT
    expect study splitk
    expect split_k 1
    expect k 8192
    expect compared "4096
null"
}

# Kernels on equilibrated lines; the peer three is not, so halfhalf is timed both ways.
equilibrated() {
    run 0 bench gpu -n 32 --rounds 1 --sustained 0 --kernel gemm.ootomo --json \
        --equilibrate --input 'exp_rand(-60,60)'
    cp out all
    [ "$(wc -l < all)" -eq 12 ] || wc -l all
    rows gemm.ootomo.f16 whole
    expect equilibrate true
    expect mismatches 0
    value relres | awk '!($1 < 5e-7)'
    rows three whole
    expect equilibrate false
    expect relres inf
    grep '"part":"split"' all | grep '"split":"halfhalf"' > out
    expect equilibrate "false
true"
}

# A wrong kernel is not timed; the others are.
wrong_refused() {
    DEVICE_FAULT=flips
    export DEVICE_FAULT
    run 1 bench gpu -n 24 --rounds 1 --kernel gemm.plain --json
    unset DEVICE_FAULT
    cp out all
    grep '"recipe":"' all > out
    expect mismatches 1
    expect fault "1 of 576 outputs differ from the model"
    expect ms null
    expect tflops null
    rows sgemm whole
    expect fault null
}

# So is one that the device cannot run, with its rows before the line.
broken_told() {
    DEVICE_FAULT=breaks
    export DEVICE_FAULT
    run 3 bench gpu -n 24 --rounds 1 --kernel gemm.plain --json
    unset DEVICE_FAULT
    [ "$(grep -c 'it broke' out)" -eq 3 ] || cat out
}

library_missed() {
    DEVICE_FAULT="no library"
    export DEVICE_FAULT
    run 0 bench gpu -n 24 --rounds 1 --kernel gemm.plain --json
    unset DEVICE_FAULT
    expect library "none: lost"
    cp out all
    rows gemm.plain.f16 whole
    expect ratio_sgemm null
    expect third null
    expect mismatches 0
    rows sgemm whole
    expect fault "none: lost"
    expect ms null
}

# Stopped while the second shape is timed: the rows of the first are there.
rows_kept() {
    DEVICE_FAULT=interrupts
    export DEVICE_FAULT
    run 3 bench gpu -n 16 -n 20 -n 24 --rounds 1 --kernel gemm.plain --json
    unset DEVICE_FAULT
    [ "$(wc -l < out)" -eq 12 ] || wc -l out
    expect m 16
}

tables_listed() {
    run 0 list shapes --json
    grep -q '"name":"wide".*"shapes":\["nx4nxn"\]' out || cat out
    grep -q '"name":"heads".*"shapes":\["2048x2048x128","2048x128x2048"\]' out || cat out
    run 0 list benches --json
    grep -q '"name":"splitk".*"slices":\[1,2,4,8,10,16\],"batches":\[\]' out || cat out
    grep -q '"name":"batch".*"shapes":"small".*"batches":\[10000,100000\]' out || cat out
    grep -q '"name":"strided".*"shapes":"heads".*"batches":\[32\]' out || cat out
}

# Every study has kernels in the module.
studies_meant() {
    run 0 list kernels --json
    value name > kernels
    run 0 list benches --json
    sed -n 's/.*"kernels":\[\([^]]*\)\].*/\1/p' out | tr -d '"' | tr ',' '\n' |
        while read -r name; do
            case $name in
            mfma*) [ -f "$kernels/bitcut-hip.so" ] || continue ;;
            esac
            grep -Eq "^$name(\.|$)" kernels || [ -z "$name" ] || echo "no kernel $name"
        done
}

ok_if_empty "the module is built" "$(model_built models -DHONEST)"
BITCUT_MODULES=$work/models
export BITCUT_MODULES
ok_if_empty "times, ratios and costs" "$(times_true)"
ok_if_empty "the table for people" "$(table_short)"
ok_if_empty "load, limits and heat" "$(load_told)"
ok_if_empty "orders of rounds" "$(order_random)"
ok_if_empty "fallbacks and faults of peers" "$(peers_known)"
ok_if_empty "what calls take the host" "$(host_told)"
ok_if_empty "the kernel by the tile model" "$(tile_chosen)"
ok_if_empty "ranks and what they reach" "$(tiles_ranked)"
exhaustive "kernels, shapes and sizes" study_chosen
ok_if_empty "equilibrated lines" "$(equilibrated)"
ok_if_empty "a wrong kernel is not timed" "$(wrong_refused)"
ok_if_empty "a kernel that cannot run" "$(broken_told)"
ok_if_empty "no library of peers" "$(library_missed)"
ok_if_empty "stopped between shapes" "$(rows_kept)"
ok_if_empty "shapes and studies are listed" "$(tables_listed)"

BITCUT_MODULES=$kernels
if [ -f "$kernels/bitcut-cuda.so" ]; then
    ok_if_empty "the studies' kernels" "$(studies_meant)"
else
    skip "the studies' kernels" kernels
fi
bitcut verify --kernel all -m 1 -n 1 -k 1 > out 2> err
if [ $? -eq 3 ]; then skip_because "the device" "$(sed 's/^bitcut: verify: //' err)"
else
    ok_if_empty "the device" \
        "$(run 0 bench gpu -n 512 --rounds 1 --sustained 0 --json; value fault | sort -u |
            grep -v null)"
    ok_if_empty "batches on the device" \
        "$(run 0 bench gpu --study strided --shapes square -n 256 --batch 100 --rounds 1 \
            --sustained 0 --json; value fault | sort -u | grep -v null)"
fi
echo "1..$n"
