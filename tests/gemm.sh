#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Whole GEMMs: gemm and the commands that check its results, verify, bound, tolerance;
# convert and split on their matrices; seeds and threads.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99

# matrix FILE ROWS COLUMNS: random FP32 values.
matrix() {
    run 0 gemm --recipe fp32 --unit fma/f32 --reference none -m "$2" -n "$3" -k 2 -o "$1"
}

matrices_made() {
    matrix A.npy 20 37
    matrix B.npy 37 17
    matrix C.npy 20 17
}

results_verified() {
    run 0 list recipes --json
    for recipe in $(value name); do
        set -- --recipe "$recipe" --unit h100 -a A.npy -b B.npy -c C.npy --alpha 1.5 \
            --beta -0.3
        run 0 gemm "$@" -o D.npy
        run 0 verify "$@" -d D.npy --json
        expect compared 340
        expect mismatches 0
    done
}

# There and back again; and what of a few numbers becomes another one, by hand.
files_converted() {
    for format in f16 bf16 tf32 e4m3 e5m2fnuz s8 f64; do
        run 0 convert A.npy --to "$format" -o there.npy --json
        expect to "$format"
        expect elements 740
        run 0 convert there.npy --from "$format" -o back.npy --json
        expect inexact 0
        run 0 convert back.npy --to "$format" -o again.npy
        cmp there.npy again.npy 2>&1
    done
    run 0 convert A.npy --to f64 -o there.npy
    run 0 convert there.npy -o back.npy
    cmp A.npy back.npy 2>&1
    printf '%s\n' '%%MatrixMarket matrix array real general' '2 4' \
        448 464.5 -1e9 nan inf 0.01 1e-9 1.0625 > few.mtx
    run 0 convert few.mtx --to e4m3 -o few.npy --json
    for count in elements:8 inexact:5 overflow:2 underflow:2 infinite:1 nan:1; do
        expect "${count%:*}" "${count#*:}"
    done
    run 0 convert few.npy --from e4m3 -o back.mtx
    tail -n +3 back.mtx | tr '\n' ' ' | grep -q '^448 nan nan nan nan 0.009765625 0 1 $' ||
        cat back.mtx
    run 0 convert few.mtx --to e4m3 --rounding rn-sat -o few.npy --json
    expect overflow 2
    run 0 convert few.npy --from e4m3 -o back.mtx
    tail -n +3 back.mtx | tr '\n' ' ' | grep -q '^448 448 -448 nan 448 ' || cat back.mtx
}

# A result of zeros keeps 0 bits, not -0.
no_bits_kept() {
    run 0 gemm --recipe plain --unit h100 -m 3 -n 2 -k 2 --input-a 'const(1e-9)' \
        --input-b 'const(1)' --json
    expect effective_bits 0.0
}

# Words of the unit's format by another rounding, as the split of that format has it.
words_of_units_kept() {
    for unit in hopper/mma.m16n8k8.f32.tf32:tf32 ampere/mma.m16n8k16.f32.bf16:bf16 \
        hopper/mma.m16n8k16.f32.f16:half; do
        set -- --recipe plain --unit "${unit%:*}" -a A.npy -b B.npy --high rz
        run 0 gemm "$@" -o D.npy --json
        run 0 verify "$@" --split "${unit#*:}" -d D.npy --json
        expect mismatches 0
    done
}

# Words of several formats, and the units of their products.
mixed_words_said() {
    run 0 list recipes --json
    grep '"half-fp8"' out | grep -F '"formats":["f16","e4m3","e4m3"],"terms":"lc:1 cl:1 hh:0"' \
        > err || echo "formats of half-fp8"
    run 0 list splits --json
    grep '"half-e5m2"' out | grep -F '"formats":["f16","e5m2","e5m2"]' |
        grep -F '"levels":[0,1,0],"copies":[2]' > err || echo "words of half-e5m2"
    eight=hopper/mma.m16n8k32.f32.e4m3
    run 0 gemm --recipe half-fp8 --unit h100 -m 4 -n 4 -k 40 --json
    grep -F "\"units\":[\"$eight\",\"$eight\",\"hopper/mma.m16n8k16.f32.f16\"]" out \
        > err || echo "units of half-fp8"
    expect explained true
    run 0 gemm --recipe half-fp8 --unit fma/f32 -m 4 -n 4 -k 40 --json
    if grep '"units"' out; then echo "of one unit"; fi
}

# Exponents far beyond f16: lost without equilibration.  verify knows the option, too.
wide_range_served() {
    set -- --recipe ootomo --unit h100
    run 0 gemm "$@" -m 20 -n 17 -k 37 --input-a 'exp_rand(-90,30)' --json \
        --input-b 'exp_rand(-30,90)' --save-a wide-a.npy --save-b wide-b.npy
    expect equilibrate false
    expect relres inf
    set -- "$@" -a wide-a.npy -b wide-b.npy --equilibrate
    run 0 gemm "$@" -o D.npy --json
    expect equilibrate true
    value relres | awk '!($1 < 5e-7)'
    run 0 verify "$@" -d D.npy --json
    expect equilibrate true
    run 1 verify --recipe ootomo --unit h100 -a wide-a.npy -b wide-b.npy -d D.npy \
        --seconds 0
}

changed_result_found() {
    set -- --recipe ootomo --unit a100 -a A.npy -b B.npy
    run 0 gemm "$@" -o D.npy
    flip D.npy $(($(bytes D.npy) - 4))
    run 1 verify "$@" -d D.npy --seconds 0 --json
    expect mismatches 1
    expect ulps 1
    expect hypothesis null
    grep -q '"at":\[19,16],"emulator":"0x[0-9a-f]* = [^"]*","file":"0x' out || cat out
}

# For people: at most twelve lines; with --verbose every key, too.
lines_for_people() {
    for recipe in plain ootomo half-fp8 triton-tf32x3; do
        set -- gemm --recipe $recipe --unit h100 -m 20 -n 30 -k 70
        run 0 "$@"
        [ "$(wc -l < out)" -le 12 ] || cat out
        run 0 "$@" --verbose
        mv out said
        run 0 "$@" --json
        tr , '\n' < out | sed -n 's/^{\{0,1\}"\([a-z0-9_]*\)":.*/\1/p' | while read -r key; do
            grep -Eq "^ *$key(\[0])? " said || grep -qx "$key" said ||
                [ "$key" = ulp_histogram ] || [ "$key" = schema ] || echo "$recipe --verbose: no $key"
        done
    done
}

# What is usual stands beside the error, from runs of its own; not where there is no exact
# reference.
usual_said() {
    set -- gemm --recipe plain --unit a100 -m 40 -n 40 -k 100
    run 0 "$@" --threads 1 --json
    sed -n 's/.*"typical":\[\([^]]*\)\].*/\1/p' out > one
    run 0 "$@" --threads 3 --json
    sed -n 's/.*"typical":\[\([^]]*\)\].*/\1/p' out | cmp - one 2>&1
    awk -F, '!($1 > 0 && $2 > $1 && $2 < 3 * $1)' one
    [ -s one ] || echo "nothing is usual"
    run 0 "$@" --reference none --json
    if grep '"typical"' out; then echo "usual, without a reference"; fi
    run 0 "$@" --reference fp32 --json
    expect typical null
}

# few WORD...: tolerance in few runs.
few() {
    wanted=$1
    shift
    run "$wanted" tolerance --recipe ootomo --unit h100 --seeds 12 --power 2 "$@"
}

tolerances_found() {
    few 0 -m 30 -n 20 -k 70 --json --threads 1
    mv out one
    few 0 -m 30 -n 20 -k 70 --json --threads 3
    cmp out one 2>&1
    few 0 -m 30 -n 20 -k 70 --json --seed 2
    if cmp -s out one; then echo "another seed changes nothing"; fi
    few 0 -m 20 -n 20 -k 70 --order any --json
    value orders | awk '$1 < 6'
}

# Files are shuffled, and a kernel as the reference doubles the limits.
tolerances_of_files() {
    run 0 gemm --recipe ootomo --unit h100 -m 20 -n 30 -k 50 --save-a a.npy --save-b b.npy
    few 0 -a a.npy -b b.npy --json --power 0
    expect shuffled true
    expect outputs 600
    value observed | head -n 1 > one
    few 0 -a a.npy -b b.npy --json --power 0 --reference kernel
    value observed | head -n 1 | paste - one | awk '!($1 == 2 * $2)'
    grep -Fq '"numpy":["size = abs(A' out || cat out
}

# A result is judged by the limits: its own worst output, one that is changed, a NaN.
tolerances_of_results() {
    run 0 gemm --recipe ootomo --unit h100 -m 20 -n 30 -k 50 --save-a a.npy --save-b b.npy -o d.mtx --json
    worst=$(value backward_max)
    few 0 -a a.npy -b b.npy -d d.mtx --power 0 --json
    grep -q "\"given\":{\"componentwise\":$worst," out || cat out
    grep -q '"above":0,"beyond":0,"wrong":0,"accepted":{"bound":true,"limit":true,"norm":true,"both":true,' out ||
        cat out
    awk 'NR == 10 { $1 = 1.0001 * $1 } { print }' d.mtx > bad.mtx
    few 1 -a a.npy -b b.npy -d bad.mtx --power 0 --json
    grep -q '"above":1,"beyond":1,' out || cat out
    awk 'NR == 10 { $1 = sprintf("%.9g", $1 * 1.0000015) } { print }' d.mtx > bad.mtx
    few 1 -a a.npy -b b.npy -d bad.mtx --power 0 --json
    grep -q '"above":1,"beyond":0,' out || cat out
    awk 'NR == 24 { $1 = "nan" } { print }' d.mtx > bad.mtx
    few 1 -a a.npy -b b.npy -d bad.mtx --power 0 --json
    expect wrong 1
}

# Where correct results overflow there is no limit, and one that does is rejected.
tolerances_without_limit() {
    run 0 gemm --recipe ootomo --unit h100 -m 4 -n 4 -k 20 --input-a 'const(1e6)' --input-b 'const(1e6)' \
        --save-a a.npy --save-b b.npy -o d.npy
    few 1 -a a.npy -b b.npy -d d.npy --power 0 --json
    expect wrong 16
    run 0 gemm --recipe fp32 --unit fma/f32 -a a.npy -b b.npy -o d.npy
    few 0 -a a.npy -b b.npy -d d.npy --power 0 --json
    grep -q '"componentwise":{"bound":"inf"' out || cat out
}

# Some rows by some columns, with C: never more than asked for, and where they are.
samples_verified() {
    set -- --recipe ootomo --unit a100 -a A.npy -b B.npy -c C.npy --alpha 1.5
    run 0 gemm "$@" -o D.npy
    run 0 gemm "$@" -o D.mtx
    awk 'NR > 2 && (NR - 3) % 20 == 7 { $1 = 3 } { print }' D.mtx > row7.mtx
    found=
    for seed in 1 2 3 4; do
        for most in 1 100 339; do
            run 0 verify "$@" -d D.npy --samples $most --seed $seed --json
            expect total 340
            value compared | awk -v most=$most '$1 > most || $1 < most * 0.9'
            expect mismatches 0
        done
        bitcut verify "$@" -d row7.mtx --samples 100 --seed $seed --seconds 0 --json > out
        [ $? -eq 0 ] && continue
        grep -q '"mismatches":10,"first":{"at":\[7,[0-9]*],' out || cat out
        found=$((found + 1))
    done
    [ "$found" ] && [ "$found" -lt 4 ] || echo "row 7 is in $found of 4 samples"
}

# Another unit than the one asked for is named in the last line, of a sample too.
failures_explained() {
    run 0 gemm --recipe ootomo --unit a100 -m 40 -n 30 -k 100 --save-a a.npy --save-b b.npy \
        -o d.npy
    set -- --recipe ootomo --unit h100 -a a.npy -b b.npy -d d.npy
    run 1 verify "$@" --samples 100 --json
    grep -q '"hypothesis":"D is ootomo on ampere/mma.m16n8k16.f32.f16; .*: 100 of 100 ' out || cat out
    run 0 verify --recipe ootomo --unit a100 -a a.npy -b b.npy -d d.npy --json
    expect hypothesis null
}

# array FILE ROWS COLUMNS VALUE...: a Matrix Market file.
array() {
    echo '%%MatrixMarket matrix array real general' > "$1"
    echo "$2 $3" >> "$1"
    file=$1
    shift 3
    printf '%s\n' "$@" >> "$file"
}

# [3 4] [5 6]^T = 39, with C = 10.
epilogue_computed() {
    array a.mtx 1 2 3 4
    array b.mtx 2 1 5 6
    array c.mtx 1 1 10
    while IFS='|' read -r want options; do
        # shellcheck disable=SC2086 # words
        run 0 gemm --recipe fp32 --unit fma/f32 -a a.mtx -b b.mtx $options -o d.mtx
        got=$(tail -n 1 d.mtx)
        [ "$got" = "$want" ] || echo "$options: $got, not $want"
    done << 'END'
39|
49|-c c.mtx
44|-c c.mtx --beta 0.5
58|-c c.mtx --alpha 2 --beta -2
39|-c c.mtx --beta 0
-39|--alpha -1
inf|--alpha inf
END
}

# What a difference is that no number of steps says.
differences_told() {
    array one.mtx 1 1 1
    while read -r a d ulps differ; do
        array a.mtx 1 1 "$a"
        array d.mtx 1 1 "$d"
        run 1 verify --recipe fp32 --unit fma/f32 -a a.mtx -b one.mtx -d d.mtx --json \
            --seconds 0
        expect ulps "$ulps"
        expect differ "$differ"
    done << 'END'
1 nan null a number against a NaN
nan 1 null a NaN against a number
nan inf null a NaN against an infinity
nan -nan null NaNs of different bits
inf 1 null an infinity against a number
inf -inf null infinities of different signs
0 -0 0 zeros of different signs
0 1.4e-45 1
1 -1 2130706432
END
}

# The same updates, and longer ones, judged: by the layers as by MPFR.
updates_judged() {
    while read -r options; do
        for reference in exact mpfr; do
            # shellcheck disable=SC2086 # words
            run 0 gemm --recipe fp32 --unit fma/f32 -a a.mtx -b b.mtx $options --json \
                --reference $reference
            expect reference $reference
            expect relres 0.0
        done
    done << 'END'
-c c.mtx --beta 0.5
-c c.mtx --alpha 2 --beta -2
--alpha -1
--alpha inf
END
    set -- --recipe ootomo --unit a100 -a A.npy -b B.npy -c C.npy --alpha 1.5 --beta -0.3
    run 0 gemm "$@" --json --reference mpfr
    judged=$(sed 's/.*\("relres".*\),"settled_f32.*/\1/' out)
    value relres | awk '!($1 > 0 && $1 < 5e-7)'
    run 0 gemm "$@" --json
    [ "$judged" = "$(sed 's/.*\("relres".*\),"settled_f32.*/\1/' out)" ] || cat out
}

# One part of f16 is not as good as FP32 for any k, two are; both errors are explained.
graded() {
    for k in 512 1024 4096 16384; do
        for row in fp32:3 ootomo:3 plain:0; do
            run 0 gemm --recipe ${row%:*} --unit a100 -m 16 -n 16 -k $k --json
            expect grade ${row#*:}.0
            expect explained true
        done
    done
    run 0 gemm --recipe plain --unit a100 -m 16 -n 16 -k 512 --input-a integers --json \
        --input-b integers
    expect grade 3.0
    expect parts_error 0.0
}

text_files_agree() {
    matrix A.mtx 20 37
    matrix B.mtx 37 17
    set -- --recipe legemm --unit mi210
    run 0 gemm "$@" -a A.npy -b B.npy -o binary.npy
    run 0 gemm "$@" -a A.mtx -b B.mtx -o text.npy
    cmp binary.npy text.npy 2>&1
    run 0 gemm "$@" -a A.mtx -b B.npy -o text.mtx
    run 0 verify "$@" -a A.npy -b B.mtx -d text.mtx --json
    expect mismatches 0
}

# A dimension of 0 is no mistake, and a sum of nothing is +0; no products take no time.
empty_shapes_work() {
    for shape in '0 3 4' '2 0 4' '0 0 0' '2 3 0' '4000000000 0 0'; do
        # shellcheck disable=SC2086 # three numbers
        set -- $shape
        run 0 gemm --recipe ootomo --unit a100 -m "$1" -n "$2" -k "$3" -o empty.npy --json
        expect wrong 0.0
        [ "$(bytes empty.npy)" -eq $((128 + 4 * $1 * $2)) ] || ls -l empty.npy
        [ -z "$(od -An -v -tx4 -j 128 empty.npy | tr -d ' 0\n')" ] || od -tx4 empty.npy
    done
}

# Orders of k that are the same have the same bits; others differ, and one sum in another
# order is as exact on small integers.
orders_of_k() {
    set -- --recipe fp32 --unit fma/f32 -m 9 -n 9 -k 64 --seed 3
    run 0 gemm "$@" -o plain.npy
    run 0 gemm "$@" --order lanes=1,tile=8,reduction=tree -o same.npy
    cmp plain.npy same.npy 2>&1
    run 0 gemm "$@" --split-k 2 -o slices.npy
    run 0 gemm "$@" --order lanes=2,chunk=32 -o lanes.npy
    cmp slices.npy lanes.npy 2>&1
    for order in lanes=2 lanes=4,reduction=tree lanes=4,reduction=descending; do
        run 0 gemm "$@" --order $order --json -o other.npy
        ! cmp -s plain.npy other.npy || echo "$order changes nothing"
    done
    set -- "$@" --input-a integers --input-b integers
    run 0 gemm "$@" -o plain.npy
    run 0 gemm "$@" --order tile=24,partial-first,lanes=3,chunk=8 --split-k 2 --json -o other.npy
    cmp plain.npy other.npy 2>&1
    expect tile 24
    expect partial_first true
    expect lanes 3
    expect chunk 8
    expect reduction ascending
    expect cut 0
    run 0 gemm "$@" --order slices=3,cut=4,tile=16,partial-first --json -o other.npy
    cmp plain.npy other.npy 2>&1
    expect cut 4
    expect partial_format f32
    run 0 gemm "$@" --order partial-format=bf16 --split-k 3 --json -o other.npy
    cmp -s plain.npy other.npy && echo "sums of bf16 changed nothing"
    expect partial_format bf16
    expect split_k 3
    run 0 gemm "$@" --order slices=2,tile=16,balance-tail=4 --json -o other.npy
    cmp plain.npy other.npy 2>&1
    expect balance_tail 4
    run 0 gemm "$@" --order lanes=2,unroll=24 --json -o other.npy
    cmp plain.npy other.npy 2>&1
    expect unroll 24
    run 0 gemm "$@" --order lanes=1,unroll=24 --json -o other.npy
    expect unroll 0
    run 0 gemm "$@" --order lanes=8,chunk=16,unroll=128,narrow=2,reduction=tree --json -o other.npy
    cmp plain.npy other.npy 2>&1
    expect narrow 2
    run 0 gemm "$@" --order lanes=2,unroll=24,remainder-in-lane --json -o other.npy
    cmp plain.npy other.npy 2>&1
    expect remainder_in_lane true
    run 0 gemm "$@" --order slices=3,reduction=tree,slices-ascending --json -o other.npy
    cmp plain.npy other.npy 2>&1
    expect slices_ascending true
    set -- --recipe fp32 --unit fma/f32 -m 9 -n 9 -k 36 --seed 3
    run 0 gemm "$@" --order lanes=2,unroll=8 -o other.npy
    run 0 gemm "$@" --order lanes=2 -o lanes.npy
    cmp -s lanes.npy other.npy && echo "rounds of 8 changed nothing"
    run 0 gemm "$@" --order lanes=2,unroll=5 -o lanes.npy
    cmp -s lanes.npy other.npy && echo "rounds of 5 are rounds of 8"
    run 0 gemm "$@" --order lanes=2,unroll=9 -o other.npy
    run 0 gemm "$@" --order lanes=2 -o lanes.npy
    cmp lanes.npy other.npy 2>&1
    run 0 gemm "$@" --order lanes=2,chunk=1,unroll=8
    grep -q '2 lanes with chunks of 1 k, in rounds of 8 k, added ascending; the remaining k are' out || cat out
    run 0 gemm "$@" --order lanes=2,chunk=1,unroll=8,remainder-in-lane -o lanes.npy
    grep -q 'in rounds of 8 k, added ascending; lane 0 adds the remaining k' out || cat out
    cmp -s lanes.npy other.npy && echo "the lane of the remaining k changed nothing"
    run 0 gemm "$@" --order lanes=8,unroll=8,narrow=2,reduction=halves
    grep -q 'by halves; the remaining k go to 2 of these sums, which are added, and then to' out || cat out
    run 0 gemm "$@" --order lanes=8,unroll=8,narrow=2,reduction=halves,narrow-apart --json -o lanes.npy
    expect narrow_apart true
    run 2 gemm "$@" --order lanes=8,unroll=8,narrow=2
    grep -qx 'bitcut: --order: narrow requires lanes and narrow to be powers of two, fewer than lanes, and reduction=tree or reduction=halves' err || cat err
    run 2 gemm "$@" --order lanes=8,unroll=7,narrow=2,reduction=tree
    grep -qx 'bitcut: --order: narrow requires a round (unroll) with a chunk for each lane' err || cat err
    run 2 gemm "$@" --order lanes=2,unroll=8,partial-first
    grep -qx 'bitcut: --order: unroll and partial-first cannot be combined' err || cat err
    run 2 gemm --recipe ootomo --unit h100 -m 4 -n 4 -k 40 --order lanes=2,unroll=8
    grep -q 'unroll requires a recipe whose only accumulator can start from a sum' err || cat err
}

# Parts and lines of --budget; --at alone.
budgets() {
    set -- --recipe ootomo --unit h100 -m 5 -n 6 -k 70
    run 0 gemm "$@" --budget --at 4,5 --json --save-a a.npy --save-b b.npy -o d.npy
    grep -q '"outputs":30,"without_sum":0,' out || cat out
    grep -q '"at":{"i":4,"j":5,.*"name":"epilogue","value":0.0,"exact":"0\*2^0"}\]}' out || cat out
    [ "$(grep -o '"name":"[a-z]*"' out | sort | uniq -c | grep -c ' 2 ')" = 9 ] || cat out
    run 0 verify --recipe ootomo --unit h100 -a a.npy -b b.npy -d d.npy --budget --json
    grep -q '"outputs":30,"without_sum":0,' out || cat out
}

# The worst outputs come in their order, of the emulator's result and of another one, in
# which what the recipe does not do is told.
worst_told() {
    set -- --recipe ootomo --unit h100 -m 5 -n 6 -k 70
    run 0 gemm "$@" --worst 40 --json --save-a a.npy --save-b b.npy -o d.mtx
    [ "$(grep -o '"u":[0-9.e-]*,"unexplained":0.0,"same":true' out | tee errors | wc -l)" -gt 20 ] ||
        cat out
    sed 's/.*"u":\([^,]*\),.*/\1/' errors > order
    sort -g -r order | cmp - order 2>&1
    worst=$(value backward_max)
    [ "$(head -n 1 order)" = "$worst" ] || echo "the worst is not $worst"
    awk 'NR == 10 { $1 = 2 * $1 } NR == 20 { $1 = "nan" } { print }' d.mtx > bad.mtx
    set -- --recipe ootomo --unit h100 -a a.npy -b b.npy
    run 1 verify "$@" -d bad.mtx --worst 2 --seconds 0 --json
    grep -q '"given":"nan","given_encoding":"0x7fc00000","d_encoding":"0x[0-9a-f]*","u":"inf"' out || cat out
    grep -q '"differing":\[{"at":\[2,1\],"given":"0x[0-9a-f]*","expected":"0x[0-9a-f]*"},{"at":\[2,3\],"given":"0x7fc00000",' out || cat out
    run 2 verify "$@" -d d.mtx --worst 2 --samples 4
}

# One line a bound; a D of another unit is beyond it, one of its own is not.
bounds_told() {
    set -- --recipe ootomo --unit h100 -m 7 -n 5 -k 90
    run 0 bound "$@"
    # what stands in a line is of one output: its error is its ratio of its limit
    awk '$2 ~ /^(rigorous|estimate|probabilistic)$/ && $3 ~ /^[0-9]/ && $3 > 0 && !($3 <= $4 && $3 > 0.99 * $4 * $5 && $3 < 1.01 * $4 * $5)' out
    # what is expected, and the rigorous bound, end the answer
    [ "$(tail -n 3 out | cut -d ' ' -f 1 | tr '\n' ' ')" = "verdict typical worst-case " ] || tail -n 3 out
    run 0 bound "$@" --json --samples 3
    [ "$(grep -c '"applies":true,"why":null' out)" -eq 5 ] || cat out
    [ "$(grep -c '"compared":3,.*"violations":0' out)" -eq 3 ] || cat out
    run 0 bound --recipe fp32 --unit fma/f32 -m 7 -n 5 -k 90 --json
    [ "$(grep -c '"applies":true' out)" -eq 8 ] || cat out
    # positive sums of single f16 words on Volta, in the place of two words on Hopper
    run 0 gemm --recipe plain --unit v100 -m 4 -n 4 -k 4096 --input-a 'urand(0.5,1)' --json \
        --input-b 'urand(0.5,1)' --save-a a.npy --save-b b.npy -o d.npy
    expect explained true
    run 0 bound --recipe plain --unit v100 -a a.npy -b b.npy -d d.npy
    run 1 bound --recipe ootomo --unit h100 -a a.npy -b b.npy -d d.npy
    run 0 bound --recipe plain --unit h100 -m 0 -n 2 -k 4
    run 0 list monotonicity --json
    grep '"volta/mma.m8n8k4.f32.f16","c":false,"c_example":"3 products of 2^-24; c ' out > err ||
        echo "Volta is not monotone in c"
}

# --- threads and seeds ------------------------------------------------------------------

# untimed: the JSON Lines in `out` without times.
untimed() { sed 's/"[a-z_]*second[a-z]*":[^,}]*//g' out; }

threads_do_not_matter() {
    for threads in 1 2; do
        run 0 gemm --recipe ootomo --unit h100 -m 70 -n 50 -k 40 --json \
            --input-a nrand --input-b spatial --threads $threads -o threads.npy
        { cksum < threads.npy; untimed; } > gemm$threads
        run 0 split --json --from -3 --to 3 --threads $threads
        cp out split$threads
        run 0 bound --recipe ootomo --unit h100 -m 20 -n 11 -k 40 --json --threads $threads
        cp out bound$threads
    done
    cmp gemm1 gemm2 2>&1
    cmp bound1 bound2 2>&1
    cmp split1 split2 2>&1
}

seeds_matter() {
    for seed in 1 0x1 2 8 10 010 0x0a; do
        run 0 gemm --recipe plain --unit a100 -m 9 -n 9 -k 9 --seed $seed -o $seed.npy
    done
    cmp 1.npy 0x1.npy 2>&1
    cmp 10.npy 010.npy 2>&1
    cmp 10.npy 0x0a.npy 2>&1
    ! cmp -s 1.npy 2.npy || echo "seeds 1 and 2 give the same matrices"
    ! cmp -s 8.npy 010.npy || echo "a leading zero means octal"
    run 0 gemm --recipe plain --unit a100 -m 010 -n 09 -k 9 --seed 1 --json
    expect m 10
    expect n 9
}

ok_if_empty "gemm writes matrices" "$(matrices_made)"
ok_if_empty "orders of k are what they say" "$(orders_of_k)"
ok_if_empty "verify accepts what gemm wrote, for every recipe" "$(results_verified)"
ok_if_empty "the error has parts" "$(budgets)"
exhaustive "the worst outputs have budgets" worst_told
ok_if_empty "the error has bounds" "$(bounds_told)"
ok_if_empty "convert rounds once, and counts" "$(files_converted)"
ok_if_empty "zeros keep 0 bits" "$(no_bits_kept)"
ok_if_empty "--high leaves words of the unit's format" "$(words_of_units_kept)"
ok_if_empty "mixed words have formats, levels and units" "$(mixed_words_said)"
ok_if_empty "equilibrated lines serve a wide range" "$(wide_range_served)"
ok_if_empty "verify finds one changed bit" "$(changed_result_found)"
ok_if_empty "people read twelve lines, and --verbose has all" "$(lines_for_people)"
exhaustive "gemm says what error is usual" usual_said
exhaustive "tolerance finds limits and what they reject" tolerances_found
ok_if_empty "tolerance of files, and of two results" "$(tolerances_of_files)"
ok_if_empty "tolerance judges a result" "$(tolerances_of_results)"
ok_if_empty "tolerance judges where there is no limit" "$(tolerances_without_limit)"
ok_if_empty "verify compares a sample" "$(samples_verified)"
ok_if_empty "verify says what computed a result that differs" "$(failures_explained)"
ok_if_empty "alpha A B + beta C" "$(epilogue_computed)"
ok_if_empty "alpha A B + beta C is judged" "$(updates_judged)"
ok_if_empty "verify tells what a difference is" "$(differences_told)"
ok_if_empty "grades say whether a result is as good as FP32" "$(graded)"
ok_if_empty "text and binary files give the same bits" "$(text_files_agree)"
ok_if_empty "dimensions of 0" "$(empty_shapes_work)"
# Parts rounded at random: the same for any threads, SIMD level, layout and sample of outputs; other
# for another seed.
stochastic_is_fixed() {
    set -- --recipe ootomo --unit h100 --high sr --low sr
    run 0 gemm "$@" -m 40 -n 33 -k 100 --round-seed 5 --save-a sr-a.npy --save-b sr-b.npy -o sr.npy
    set -- "$@" -a sr-a.npy -b sr-b.npy
    for simd in none sse2 avx2; do
        BITCUT_SIMD=$simd bitcut gemm "$@" --round-seed 5 --threads 1 -o sr-again.npy > /dev/null 2>&1
        cmp sr.npy sr-again.npy 2>&1
    done
    run 0 verify "$@" --round-seed 5 -d sr.npy --samples 99 --json
    expect mismatches 0
    for seed in 4 6; do
        run 0 gemm "$@" --round-seed $seed -o sr-again.npy
        cmp -s sr.npy sr-again.npy && echo "seed $seed gives D of seed 5"
    done
    run 0 gemm "$@" --round-seed 5 --json
    expect high sr
    expect round_seed 5
    run 0 gemm "$@" --round-seed 5 --order slices=3,tile=32,lanes=2,chunk=8 --budget --json
    run 2 gemm "$@" --round-seed -1
    grep -q -- '--round-seed must not be negative' err || cat err
    run 0 split --high sr --low sr --round-seed 5 --from 0 --to 0 --samples 20000 --threads 1 --json
    cp out one
    run 0 split --high sr --low sr --round-seed 5 --from 0 --to 0 --samples 20000 --json
    cmp one out 2>&1
    grep -q '"halfhalf with high sr, low sr, round seed 5"' out || cat out
    run 0 split --high sr --low sr --round-seed 6 --from 0 --to 0 --samples 20000 --json
    sed 's/seed [0-9]*//' one > one.text
    sed 's/seed [0-9]*//' out | cmp -s - one.text && echo "seed 6 splits as seed 5"
}

# Units of integers: files, results that stay integers or become some, and refusals.
integers_are_exact() {
    unit="--recipe plain --unit avx512/vpdpbusd.m1n16k4.s32.u8.s8"
    # shellcheck disable=SC2086 # words
    run 0 gemm $unit -m 9 -n 7 -k 40 --input-a 'urand(0,255)' --input-b 'urand(-128,127)' \
        --save-a A.npy --save-b B.npy -o D.npy --json
    expect exact 63
    expect overflow 0
    head -c 128 D.npy | grep -q "'<i4'" || echo "D is not i4"
    # shellcheck disable=SC2086
    run 0 verify $unit -a A.npy -b B.npy -d D.npy --json
    expect mismatches 0
    # shellcheck disable=SC2086
    run 1 verify $unit -a A.npy -b B.npy -d D.npy --alpha 2 --json
    # shellcheck disable=SC2086
    run 0 gemm $unit -a A.npy -b B.npy --format-d s8 -o D8.npy
    run 0 explain -a A.npy -b B.npy -d D8.npy --json
    grep -q 'D is the exact product modulo 2^8 (s8)' out || cat out
    # shellcheck disable=SC2086
    run 0 gemm $unit -a A.npy -b B.npy --format-d u8 --epilogue saturate -o D8.npy
    run 0 explain -a A.npy -b B.npy -d D8.npy --json
    grep -q 'D is the exact product, saturated at 8 bits (u8)' out || cat out
    # shellcheck disable=SC2086
    run 0 gemm $unit -a A.npy -b B.npy --format-d s8 --epilogue requantized --scale-a 0.001
    # shellcheck disable=SC2086
    run 0 gemm $unit -a A.npy -b B.npy --zero-a 128 --zero-b -3 -o D.npy
    grep -q 'zero points 128 of A and -3 of B; steps zeros' out || cat out
    # shellcheck disable=SC2086
    run 0 verify $unit -a A.npy -b B.npy -d D.npy --zero-a 128 --zero-b -3 --json
    expect mismatches 0
    # shellcheck disable=SC2086
    run 1 verify $unit -a A.npy -b B.npy -d D.npy --zero-a 127 --zero-b -3
    # shellcheck disable=SC2086
    run 0 gemm $unit -a A.npy -b B.npy --zero-a -2147483648
    # shellcheck disable=SC2086
    run 0 gemm $unit -a A.npy -b B.npy --epilogue requantized-zero --format-d s8 --zero-d 0
    while IFS='|' read -r words said; do
        # shellcheck disable=SC2086
        run "${said%% *}" gemm $unit $words
        grep -q -- "${said#* }" err || { echo "$words:"; cat err; }
    done << 'END'
-a B.npy -b B.npy|2 B looks transposed
-a A.npy -b B.npy --promote 2|2 sums of integers are exact
-a A.npy -b B.npy --budget|2 does not apply to integers
-a A.npy -b B.npy --reference fp32|2 must be exact or none
-a A.npy -b B.npy --alpha 0.5|2 must be integers
-a A.npy -b B.npy --epilogue relu+amax|2 amax
-a A.npy -b B.npy --zero-d 3|2 a zero point of D, which no step
-a A.npy -b B.npy --epilogue float+zeros --zero-a 1|2 step zeros
-a A.npy -b B.npy --epilogue zeros|2 step zeros requires --zero-a or --zero-b
-a A.npy -b B.npy --epilogue requantized-zero --format-d s8|2 step zero-d requires --zero-d
-a A.npy -b B.npy --zero-a -2147483649|2 --zero-a requires a whole number from -2147483648
-a A.npy -b B.npy --zero-b 2147483648|2 --zero-b requires a whole number from -2147483648
-a A.npy -b B.npy --start c|2 --start c and slice-c require -c
--unit fma/f32 --zero-a 3|2 require a unit of integers
--unit fma/f32 --zero-d 3|2 a zero point of D, which no step
END
    while IFS='|' read -r words said; do
        # shellcheck disable=SC2086
        run 2 ${words%% *} $unit ${words#* }
        grep -q -- "$said" err || { echo "$words:"; cat err; }
    done << 'END'
tolerance -m 4|a unit of integers requires -a and -b
tolerance -a A.npy -b B.npy|a D of integers is exact: verify compares it
bound -a A.npy -b B.npy|requires the step float first
bound -a A.npy -b B.npy --format-d f32 --epilogue relu+float|requires the step float first
bound -a A.npy -b B.npy --format-d f32 -c D.npy|-c does not apply
bound -a A.npy -b B.npy --format-d f32 --zero-a 4194305|zero points beyond +-2^22
END
    # shellcheck disable=SC2086
    run 0 bound $unit -a A.npy -b B.npy --format-d f32 --json
    grep -q '"why":"sums of integers are exact; see the bound aligned"' out || cat out
}

ok_if_empty "sums of integers are exact" "$(integers_are_exact)"
ok_if_empty "stochastic rounding is a function of its seed" "$(stochastic_is_fixed)"
ok_if_empty "one and two threads give the same output" "$(threads_do_not_matter)"
ok_if_empty "--seed" "$(seeds_matter)"
echo "1..$n"
