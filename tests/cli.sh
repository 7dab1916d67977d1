#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every command of the program from outside: its main use, its JSON keys, its exit status.
# Set BITCUT_LONG to make a whole report as well.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
manual=$(cd "${srcdir:-.}" && pwd)/doc/bitcut.texi
: "${BITCUT_DATA:=$(cd "${srcdir:-.}" && pwd)/data}"
export BITCUT_DATA
sets=$(find "$BITCUT_DATA" -name meta.json | sed 's|/meta.json$||' | sort)
[ -n "$sets" ] || { echo "Bail out! no sets in $BITCUT_DATA"; exit 1; }
python=$(command -v python3) || python=
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99

# flip FILE OFFSET: change the lowest bit of a byte.
flip() {
    byte=$(od -An -tu1 -j "$2" -N 1 "$1")
    printf '%b' "\\0$(printf %o $((byte ^ 1)))" |
        dd of="$1" bs=1 seek="$2" conv=notrunc 2> dd.err
}

bytes() { wc -c < "$1"; }

# matrix FILE ROWS COLUMNS: random FP32 values.
matrix() {
    run 0 gemm --recipe fp32 --unit fma/f32 --reference none -m "$2" -n "$3" -k 2 -o "$1"
}

# --- tables -----------------------------------------------------------------------------

# rows_listed TABLE: each row has a name and a purpose, and the text shows the same rows.
rows_listed() {
    run 0 list "$1" --json
    [ -s out ] || echo "$1 has no rows"
    [ "$(value what | grep -c .)" -eq "$(wc -l < out)" ] || echo "$1: a row says nothing"
    sed 's/^{"name":"\([^"]*\)".*/\1/' out > names
    run 0 list "$1"
    awk -F '  +' 'NR > 1 { print $1 }' out | diff names -
}

tables_listed() {
    run 0 list
    tables=$(awk 'NR > 1 { print $1 }' out)
    for table in units formats splits recipes inputs metrics studies; do
        echo "$tables" | grep -qx "$table" || echo "no table $table"
    done
    for table in $tables; do
        case $table in
        architectures | instructions | kernels) [ -f "$BITCUT_MODULES/bitcut-cuda.so" ] || continue ;;
        esac
        rows_listed "$table"
        case $table in
        formats | splits | recipes | inputs | metrics | studies)
            while read -r name; do
                grep -qwF -- "$name" "$manual" || echo "the manual has no $name of $table"
            done < names ;;
        esac
    done
}

# --- recorded sets and single instructions ----------------------------------------------

sets_replayed() {
    # shellcheck disable=SC2086 # one word a set
    run 0 replay --json $sets
    [ "$(value outputs | grep -c '^[1-9]')" -eq "$(echo "$sets" | wc -l)" ] ||
        echo "not every set has outputs"
    expect mismatches 0
    expect first null
}

# A copy of a set with the last output changed by one bit.
changed_bit_found() {
    mkdir changed
    cp "$BITCUT_DATA"/h200/mma_m16n8k16_f16_f32/* changed
    chmod -R u+w changed
    flip changed/D.npy $(($(bytes changed/D.npy) - 4))
    want=$(od -An -tx4 -j $(($(bytes changed/D.npy) - 4)) changed/D.npy | tr -d ' ')
    run 1 replay --json changed
    expect mismatches 1
    number='"0x[0-9a-f]* = [^"]*"'
    operand="\[($number,){15}$number]"
    results="\"c\":$number,\"got\":$number,\"want\":\"0x$want = [^\"]*\",\"ulps\":1,"
    grep -Eq "\"at\":\[[0-9]+,15,7],\"a\":$operand,\"b\":$operand,$results" out || cat out
    expect d "$(value got)"
    terms_shown
}

# poke FILE OFFSET BYTES: overwrite those bytes, given as octal escapes.
poke() {
    printf '%b' "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc 2> dd.err
}

# Observations say of a NaN only that it is negative: then any other negative one is the
# same, a positive one is not; and without that word of meta.json none but its own is.
negative_nan_accepted() {
    mkdir observed
    cp "$BITCUT_DATA"/observed/cdna1/mfma.16x16x4.f32.f32/* observed
    chmod -R u+w observed
    at=$(($(bytes observed/D.npy) - 12 * 4 + 9 * 4)) # the tenth of 12
    poke observed/D.npy $at '\0105\0043\0301\0377' # 0xffc12345
    run 0 replay --json observed
    expect mismatches 0
    poke observed/D.npy $at '\0000\0000\0300\0177' # 0x7fc00000
    run 1 replay --json observed
    expect mismatches 1
    poke observed/D.npy $at '\0105\0043\0301\0377'
    sed '/"nan"/d; s/2609.14845",/2609.14845"/' observed/meta.json > meta
    cp meta observed/meta.json
    run 1 replay --json observed
    expect mismatches 1
}

# integers KEY: the values of that key in `out`, one a line.
integers() { grep -o "\"$1\":-\{0,1\}[0-9]*" out | sed 's/.*://'; }

# One block of 16 products and C: each is there, and what is left of them adds up to the sum.
terms_shown() {
    terms=$(grep -o '"term":"[^"]*"' out | sed 's/"//g; s/term://' | tr '\n' ,)
    want=$(seq 0 15 | sed 's/.*/a& b&/' | tr '\n' ,)c,
    [ "$terms" = "$want" ] || echo "the terms are $terms"
    total=$(integers aligned | awk '{ n += $1 } END { print n }')
    [ "$total" = "$(integers sum)" ] || echo "aligned terms add up to $total"
    highest=$(integers exponent | sort -n | tail -n 1)
    [ "$(integers exponent | tail -n 1)" = "$highest" ] || echo "$highest is not the alignment"
}

# Sets at any depth, in the order of their names, with links that lead in a circle.
folders_searched() {
    mkdir -p nest/b/deep/er nest/.hidden nest/empty
    first=$(echo "$sets" | head -n 1)
    for set in b/deep/er/2 a b/deep/1 b/deep/.hidden c; do cp -r "$first" "nest/$set"; done
    cp -r "$first" nest/.hidden/set
    ln -s .. nest/b/deep/up
    ln -s "$(pwd)/nest" nest/whole
    ln -s itself nest/itself
    ln -s b/deep/er nest/z
    run 0 replay --json nest
    [ "$(value set | tr '\n' ' ')" = \
        "nest/a nest/b/deep/1 nest/b/deep/er/2 nest/c " ] || value set
    expect mismatches 0
    run 0 replay --json nest/b/deep/up/ nest/z
    [ "$(value set | tr '\n' ' ')" = \
        "nest/b/deep/up/deep/1 nest/b/deep/up/deep/er/2 nest/z/2 " ] || value set
    run 0 replay nest
    grep -Eq "^total +$((4 * $(bitcut replay --json nest/a | outputs))) +0 +\$" out ||
        tail -n 1 out
}

outputs() { sed 's/.*"outputs":\([0-9]*\).*/\1/'; }

# Many sets that differ at once: each has its own steps of an output, by any threads.
steps_apart() {
    cp -r "$BITCUT_DATA/directed" apart
    chmod -R u+w apart
    for d in $(find apart -name D.npy); do flip "$d" $(($(bytes "$d") - 4)); done
    bitcut replay --json --threads 1 apart > one
    [ "$(grep -c '"mismatches":1,' one)" -gt 9 ] || echo "nothing differs"
    for _ in 1 2 3; do bitcut replay --json --threads 3 apart | cmp - one; done
    rm -r apart
}

# Broken sets among good ones: a line each; the good ones are replayed, in their places.
broken_among_good() {
    first=$(echo "$sets" | head -n 1)
    mkdir mixed
    for set in 1 2 3 4 5; do cp -r "$first" "mixed/$set"; done
    chmod -R u+w mixed
    : > mixed/2/meta.json
    rm mixed/4/D.npy
    flip mixed/5/D.npy $(($(bytes mixed/5/D.npy) - 4))
    for threads in 1 2 3; do
        bitcut replay --json --threads $threads mixed > out 2> err
        status=$?
        [ $status -eq 3 ] || echo "status $status, not 3"
        [ "$(value set | tr '\n' ' ')" = "mixed/1 mixed/3 mixed/5 " ] || value set
        [ "$(value mismatches | tr '\n' ' ')" = "0 0 1 " ] || value mismatches
        [ "$(sed 's|bitcut: \([^:]*\): \([^ :]*\).*|\1 \2|' err | tr '\n' ' ')" = \
            "mixed/2 meta.json mixed/4 D.npy " ] || cat err
    done
    bitcut replay mixed > out 2> err
    [ "$(grep -c '^mixed/[135] ' out)" -eq 3 ] || head -n 5 out
    rm -r mixed/2 mixed/4
    run 1 replay --json mixed
}

fragments_computed() {
    for set in $(echo "$sets" | part); do
        run 0 replay --json "$set"
        scales=
        [ ! -f "$set/scale_a.npy" ] ||
            scales="--scale-a $set/scale_a.npy --scale-b $set/scale_b.npy"
        # shellcheck disable=SC2086 # no name has blanks
        run 0 mma --unit "$(value unit)" -a "$set/A.npy" -b "$set/B.npy" -c "$set/C.npy" \
            $scales -o D.npy
        cmp D.npy "$set/D.npy" 2>&1
    done
}

# Vectors for one unit: the kept ones again for the kept seed, and they kill all mutants.
vectors_made() {
    unit=amx/tdpbf16ps.m16n16k32.f32.bf16
    run 0 probe --unit $unit -o made/vectors
    for array in A B C D; do
        cmp made/vectors/$array.npy "$BITCUT_DATA/directed/$unit/$array.npy" 2>&1
    done
    run 0 replay --json made/vectors
    expect unit $unit
    run 0 probe --mutants --json made/vectors
    expect surviving 0
}

# A set of random inputs alone does not tell the zero rules apart: mutants survive.
mutants_survive() {
    run 1 probe --mutants --json "$BITCUT_DATA"/h200/wgmma_m64n8k8_tf32_f32
    grep -q '"field":"zero","from":"positive","to":"sum positive","noticed":0' out ||
        cat out
}

# The row of a recorded set, and inputs to decide what it leaves open; a set of no row.
rows_fitted() {
    run 0 fit --json --next asked "$BITCUT_DATA"/h200/mma_m16n8k8_tf32_f32
    expect unit_survives true
    expect complete true
    grep -q '"fraction":25' out || cat out
    [ -f asked/meta.json ] && [ ! -e asked/D.npy ] || ls -A asked
    mkdir torn
    cp "$BITCUT_DATA"/h200/mma_m16n8k16_f16_f32/* torn
    chmod -R u+w torn
    flip torn/D.npy $(($(bytes torn/D.npy) - 1))
    run 1 fit --json --outputs 0 torn
    expect survivors 0
    grep -q '"nearest":{"misses":1,' out || cat out
}

# --- whole GEMMs ------------------------------------------------------------------------

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

# For people: at most ten lines; with --verbose every key, too.
lines_for_people() {
    for recipe in plain ootomo half-fp8 triton-tf32x3; do
        set -- gemm --recipe $recipe --unit h100 -m 20 -n 30 -k 70
        run 0 "$@"
        [ "$(wc -l < out)" -le 10 ] || cat out
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
    sed -n 's/.*"usual":\[\([^]]*\)\].*/\1/p' out > one
    run 0 "$@" --threads 3 --json
    sed -n 's/.*"usual":\[\([^]]*\)\].*/\1/p' out | cmp - one 2>&1
    awk -F, '!($1 > 0 && $2 > $1 && $2 < 3 * $1)' one
    [ -s one ] || echo "nothing is usual"
    run 0 "$@" --reference none --json
    if grep '"usual"' out; then echo "usual, without a reference"; fi
    run 0 "$@" --reference fp32 --json
    expect usual null
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
    grep -q '"above":0,"beyond":0,"wrong":0,"accepted":{"bound":true,"observed":true,"norm":true,"both":true,' out ||
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
    grep -q '"hypothesis":"D is ootomo on ampere/mma.m16n8k16.f32.f16: 100 of 100 ' out || cat out
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

# One word of f16 is not as good as FP32 for any k, two are; both errors are explained.
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
    expect words_error 0.0
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
    run 0 gemm "$@" --order lanes=2,turn=32 -o lanes.npy
    cmp slices.npy lanes.npy 2>&1
    for order in lanes=2 lanes=4,reduction=tree lanes=4,reduction=descending; do
        run 0 gemm "$@" --order $order --json -o other.npy
        ! cmp -s plain.npy other.npy || echo "$order changes nothing"
    done
    set -- "$@" --input-a integers --input-b integers
    run 0 gemm "$@" -o plain.npy
    run 0 gemm "$@" --order tile=24,rest-first,lanes=3,turn=8 --split-k 2 --json -o other.npy
    cmp plain.npy other.npy 2>&1
    expect tile 24
    expect rest_first true
    expect lanes 3
    expect turn 8
    expect reduction ascending
    expect cut 0
    run 0 gemm "$@" --order slices=3,cut=4,tile=16,rest-first --json -o other.npy
    cmp plain.npy other.npy 2>&1
    expect cut 4
    expect sums f32
    run 0 gemm "$@" --order sums=bf16 --split-k 3 --json -o other.npy
    cmp -s plain.npy other.npy && echo "sums of bf16 changed nothing"
    expect sums bf16
    expect split_k 3
    run 0 gemm "$@" --order slices=2,tile=16,halve=4 --json -o other.npy
    cmp plain.npy other.npy 2>&1
    expect halve 4
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
    awk '$3 ~ /^[0-9]/ && $3 > 0 && !($3 <= $4 && $3 > 0.99 * $4 * $5 && $3 < 1.01 * $4 * $5)' out
    run 0 bound "$@" --json --samples 3
    [ "$(grep -c '"applies":true,"why":null' out)" -eq 5 ] || cat out
    [ "$(grep -c '"looked":3,.*"violations":0' out)" -eq 3 ] || cat out
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

# --- splits and studies -----------------------------------------------------------------

# Ootomo and Yokota, Tables 1 and 2.
bits_kept() {
    for row in markidis:22.75 halfhalf:22.75 bitcut:22.25; do
        run 0 split --split ${row%:*} --exhaustive --from 0 --to 0 --json
        expect exponent 0
        expect bits ${row#*:}
    done
}

table1_agrees() {
    run 0 study table1 --json
    [ "$(wc -l < out)" -eq 7 ] || echo "not 7 rows"
    expect agrees true
}

# Counts of whole binades: below the closed forms by 3 2^-12 at most, never above; and what
# words keep where none of them underflows.
underflow_as_predicted() {
    run 0 study underflow --scale paper --json
    sed -i 's/{"study.*"rows":[12],/{/; s/"by":"[a-z]*",//' out
    awk -F'[",:]+' '
        { p[$4, $6, $8] = $10 } # {"series":"S, theory","split":"S","exponent":E, ...
        $4 == " theory" { at[$6, $8] = $8; seen += $10 > 0.1 }
        END {
            for (i in at) {
                error = p[" counted", i] - p[" theory", i]
                if (at[i] >= -14 && !(error <= 0 && error >= -3 / 4096))
                    print at[i], p[" counted", i], p[" theory", i]
            }
            if (!(seen >= 9)) print "too few exponents with underflow"
        }' out
    grep -q '"bitcut, counted",.*"exponent":-15,"p_subnormal":0.0,.*"bits":10.99987' out ||
        echo "bitcut keeps other than 11 bits of 2^-15"
    grep -q '"halfhalf, counted",.*"exponent":-10,.*"bits":22.75' out ||
        echo "halfhalf keeps other than 22.75 bits of 2^-10"
}

# LE-GEMM, Table 2; a description is the same by its name and as a file.
tiles_ranked() {
    for row in mi210:128x128x32 a800:128x256x32; do
        run 0 tile --gpu ${row%:*} --top 1 --json
        expect tile ${row#*:}
        expect rank 1
        sed 's/"gpu":"[^"]*"//' out > named
        run 0 tile --gpu "$BITCUT_DATA/gpu/${row%:*}.json" --top 1 --json
        sed 's/"gpu":"[^"]*"//' out | cmp - named 2>&1
    done
    run 0 tile --gpu mi210 --json
    [ "$(wc -l < out)" -eq 48 ] || echo "not 48 tiles"
    grep '"tile":"128x256x32"' out |
        grep -q '"rank":null,"score":0.0,.*98304 bytes .* 65536"' || grep 128x256x32 out
    run 0 tile --gpu a800 --tile 192x192x32 --tile 128x256x32 --json
    [ "$(value tile | tr '\n' ' ')" = '192x192x32 128x256x32 ' ] || cat out
    run 0 tile --gpu a800 --tile 128x256x32 --accumulators 2 --json
    expect rank null
    run 0 tile --gpu h200 --tile 128x128x64 --accumulators 2 --waves 8 --stages 3 --json
    expect shared 196608
    expect rank 1
    run 0 tile --gpu a100 --recipe bf16x9 --tile 128x128x32 --stages 1 --json
    expect ratio 192.0
    expect memory 49152
}

# The model that is named.
models_named() {
    run 0 tile --gpu mi210 --json
    mv out unnamed
    run 0 tile --gpu mi210 --model legemm --json
    cmp out unnamed 2>&1
}

# Where no descriptions are kept.
descriptions_missing() {
    BITCUT_DATA=$work/nowhere run 3 tile --gpu a800
}

benches_run() {
    run 0 bench exact -n 64 --json
    methods=$(value method | tr '\n' ' ')
    [ "$methods" = 'mpfr-fma mpfr bins dot2 double cascade reference ' ] || echo "$methods"
    [ "$(value products_per_second | grep -c '^[1-9]')" -eq 7 ] || cat out
}

bench_emu_runs() {
    run 0 bench emu -n 40 --unit hopper/mma.m16n8k16.f32.f16 --threads 1 --json
    levels=$(value simd | tr '\n' ' ')
    case $levels in *'plain none ') ;; *) echo "$levels" ;; esac
    [ "$(value verified | sort -u)" = 1600 ] || cat out
    [ "$(value instructions | sort -u)" = 5.328125 ] || cat out
    [ "$(value roofline | grep -c '^[1-9]')" -eq "$(value simd | grep -cv none)" ] || cat out
    run 0 bench emu -n 8 --unit mi210 --threads 1 --json
    [ "$(grep -c 'published models, not run on AMD hardware' out)" -eq "$(wc -l < out)" ] ||
        cat out
}

# The same result at every level that is here; another one is refused.
levels_agree() {
    for level in none avx512 avx2 plain; do
        BITCUT_SIMD=$level bitcut gemm --recipe legemm --unit h100 -m 40 -n 30 -k 50 \
            -o "$level.npy" > out 2> err || continue
        cmp "$level.npy" none.npy 2>&1
    done
    BITCUT_SIMD=sse run 2 gemm --recipe plain --unit h100 -m 4 -n 4 -k 4
}

# Of the kept results: sections with data and figures, the fallback and the papers named.
results_drawn() {
    run 0 report --no-studies -o kept --json
    for name in $(value study); do
        grep -q "<section id=\"$name\">" kept/index.html || echo "no section $name"
        [ -s "kept/$name.csv" ] || echo "no $name.csv"
    done
    for name in verify splitk splitk-energy stages; do
        value study | grep -qx "$name" || echo "no $name"
    done
    grep -q '^512,512' kept/splitk.csv && cat kept/splitk.csv
    grep -q 'recorded on NVIDIA H200; driver 580.159.04; .*; rounds 5; seed 1' \
        kept/index.html || grep recorded kept/index.html
    for words in 'bf16x9 (fallback: sgemm)' 'Huang et al., Table 3 (A100)'; do
        grep -qF "$words" kept/splitk.csv || echo "$words is not in the data"
        grep -qF "<td>$words</td>" kept/index.html || echo "$words is not in the page"
        command -v gnuplot > /dev/null || continue
        grep -qF "$words" kept/splitk.svg || echo "$words is not in the figure"
    done
    awk -F, '$1 == "sm90" && $8 != 0 || NF != 8' kept/verify.csv
}

# Two reports of the same are the same bytes, in folders of any name, and say what they were
# made of: by whom, from which files, with digests that sha256sum gives as well.
report_same() {
    results=$BITCUT_DATA/results/h200-stages.jsonl
    for folder in same other; do
        run 0 report --no-studies --results "$results" -o "$folder"
    done
    diff -r same other
    for words in '"name":"stages"' '"sees":"Above 1' '"commit":"' '"compiler":"' '"flags":"' \
        '"processor":"' '"command":"bitcut bench gpu --study stages"' \
        '"recorded":"NVIDIA H200' '"rows":\['; do
        grep -q "$words" same/stages.json || echo "no $words"
    done
    grep -q '<figcaption>Above 1 asynchronous copies pay' same/index.html || echo 'no caption'
    grep -q '^Made by: bitcut .*, commit .*; inputs h200-stages.jsonl; ' same/report.md ||
        grep '^Made by' same/report.md
    command -v sha256sum > /dev/null || return
    for file in same/stages.csv "$results"; do
        grep -q "\"$(sha256sum < "$file" | cut -d ' ' -f 1)\"" same/stages.json ||
            echo "another digest of $file"
    done
    command -v gnuplot > /dev/null || return
    [ "$(head -c 5 same/stages.pdf)" = %PDF- ] || echo 'no PDF'
    grep -qF '>roof of 3 products<' same/stages-speed.svg || echo 'no roof'
    grep -q '^roof of 3 products,.*,true\|^roof of 3 products,.*,yes' same/stages-speed.csv ||
        echo 'no roof in the data'
}

# steering FILE...: lines that have control characters, but for tabs.
steering() { LC_ALL=C grep -an "$(printf '[\001-\010\013-\037\177]\|\302[\200-\237]')" "$@"; }

# drawn NAME: a report whose kernels all have this name, in JSON.
drawn() {
    hostile=$1 awk '{ sub(/^{"name":"[^"]*"/, "")
        print "{\"name\":\"" ENVIRON["hostile"] "\"" $0 }' \
        "$BITCUT_DATA/results/h200-stages.jsonl" > hostile.jsonl
    rm -rf hostile
    run 0 report --no-studies --results hostile.jsonl -o hostile --json
}

# Names from outside are text: to gnuplot, in the page and in the data.  A line: the name in
# JSON, its cell in the data, the name in the figure.
results_quoted() {
    while IFS='|' read -r name cell text; do
        drawn "$name"
        [ ! -e ran ] || echo "$name was run"
        ! grep '<b>' hostile/index.html || echo "$name is markup"
        sed -n 2p hostile/stages.csv | grep -qF -e "$cell," || sed -n 2p hostile/stages.csv
        steering hostile/*.*[!f]
        ! command -v gnuplot > /dev/null || grep -qF -e ">$text<" hostile/stages.svg ||
            echo "$name is not in the figure"
    done << 'END'
a', '< touch ran' \n<b>\"x, `touch ran`|"a', '< touch ran' ?<b>""x, `touch ran`"|a', '&lt; touch ran' ?&lt;b>"x, `touch ran`
'touch'|'touch'|'touch'
\"x'y|"""x'y"|"x'y
a@b{c}^d_e\\f%g|a@b{c}^d_e\f%g|a@b{c}^d_e\f%g
a name of more than 24 characters_x|a name of more than 24 characters_x|a name of more than 24 characters_x
\u001b[1m\u007f\u0085\r\tx|?[1m????x|?[1m????x
=1+2|'=1+2|=1+2
+x|'+x|+x
-x,y|"'-x,y"|-x,y
@x|'@x|@x
\t=x|?=x|?=x
-1e5|-1e5|-1e5
-inf|-inf|-inf
END
}

# No name is cut in the data, and none between the bytes of a character.
long_names_whole() {
    name=$(printf '%0199d\303\251%0100d' 0 0)
    drawn "$name"
    sed -n 2p hostile/stages.csv | grep -q "^$name," || sed -n 2p hostile/stages.csv
    grep -q "<td>$name</td>" hostile/index.html || grep '<td>000' hostile/index.html
}

# What the user's settings of gnuplot say is no matter.
settings_ignored() {
    mkdir home
    echo 'exit status 1' > home/.gnuplot
    cp home/.gnuplot home/gnuplotrc
    HOME=$work/home GNUPLOT_LIB=$work/home XDG_CONFIG_HOME=$work/home \
        run 0 report --no-studies --results "$BITCUT_DATA/results/h200-stages.jsonl" \
        -o settings --json
    ! command -v gnuplot > /dev/null || ! grep gnuplot out
}

# Control characters and halves of characters reach neither terminal nor pipe.
names_harmless() {
    name=$(printf 'a\033[1m\177\302\205b')
    run 2 list "$name$(printf '\233')"
    grep -qF 'list: a?[1m??b?: unknown' err || cat err
    run 3 replay "$name"
    grep -qF 'bitcut: a?[1m??b: meta.json' err || cat err
    cp -r "$(echo "$sets" | head -n 1)" "$name"
    run 0 replay "$name"
    grep -q '^set  *a?\[1m??b$' out || cat out
    run 0 replay "$name" "$name"
    steering out
    run 0 replay --json "$name"
    grep -qF '"set":"a\u001B[1m\u007F\u0085b"' out || cat out
    name=$(printf '\303\251\233')
    cp -r "$(echo "$sets" | head -n 1)" "$name"
    run 0 replay --json "$name"
    grep -qF "\"set\":\"$(printf '\303\251')?\"" out || cat out
    run 2 list "$(printf '%059d\303\251' 0)"
    grep -q '[^0]0\{59\}: unknown' err || cat err
}

# An output that is an input or another output, by whatever name.
same_files_found() {
    run 0 gemm --recipe fp32 --unit fma/f32 -m 2 -n 2 -k 2 --save-a a.npy --save-b b.npy
    cp a.npy kept.npy
    ln a.npy hard.npy
    ln -s a.npy soft.npy
    ln -s . here
    mkdir page
    cp "$BITCUT_DATA/results/h200-stages.jsonl" page/stages.csv
    while IFS='|' read -r text words; do
        # shellcheck disable=SC2086 # words
        run 2 $words
        grep -qF -e "$text" err || cat err
        cmp a.npy kept.npy 2>&1
    done << 'END'
./a.npy: -a and -o are one file|gemm --recipe fp32 --unit fma/f32 -a a.npy -b b.npy -o ./a.npy
here/b.npy: -b and --save-a are one|gemm --recipe fp32 --unit fma/f32 -a a.npy -b b.npy --save-a here/b.npy
hard.npy: -a and -o are one file|gemm --recipe fp32 --unit fma/f32 -a a.npy -b b.npy -o hard.npy
soft.npy: -c and -o are one file|gemm --recipe fp32 --unit fma/f32 -b b.npy -c a.npy -o soft.npy
new.npy: -o and --save-b are one|gemm --recipe fp32 --unit fma/f32 --save-b new.npy -o here/new.npy
hard.npy: -a and -o are one file|mma --unit fma/f32 -a a.npy -b b.npy -c b.npy -o hard.npy
here/changed: is a set to be read|fit --next here/changed changed
here/page/stages.csv: --results and -o|report --no-studies --results page/stages.csv -o here/page
END
}

# A kept page is not touched by results that cannot be read.
report_refused() {
    cp -r kept before
    echo '{}' > bad.jsonl
    run 3 report --no-studies --results bad.jsonl -o kept
    diff -r before kept
    BITCUT_DATA=$work/nowhere run 3 report --no-studies
    BITCUT_DATA=$work/nowhere run 2 report --no-studies --no-results
    run 2 report --no-results --results bad.jsonl
}

# --- messages ---------------------------------------------------------------------------

statuses_as_promised() {
    run 0 list
    run 1 verify --recipe ootomo --unit a100 -a A.npy -b B.npy -d C.npy --seconds 0
    run 2 gemm
    run 2 frobnicate
    run 2 list --frobnicate
    run 3 replay missing
    bitcut > out 2> err
    [ $? -eq 2 ] || echo "no command is no usage error"
    # shellcheck disable=SC2086 # one word a set
    set -- $sets
    run 3 replay --json "$1" missing "$2"
    [ "$(value mismatches | tr '\n' ' ')" = "0 0 " ] ||
        echo "a missing set keeps others from being replayed"
}

help_printed() {
    run 0 --version
    grep -Eqx 'bitcut [0-9]+\.[0-9]+\.[0-9]+' out || cat out
    run 0 help
    cp out help
    run 0 --help
    grep -q '3 cannot run, 130 Ctrl-C' out || cat out
    cmp help out 2>&1
    commands=$(sed -n 's/^  \([a-z][a-z]*\) .*/\1/p' out)
    for name in list mma replay record split convert gemm bound verify explain study report bench tile \
        tolerance advise; do
        echo "$commands" | grep -qx "$name" || echo "no command $name"
    done
    for name in $commands; do
        run 0 "$name" --help
        head -n 1 out | grep -q "^Usage: bitcut $name " || head -n 1 out
        grep -q '^  --json ' out || echo "$name --help: no --json"
    done
}

# --- JSON Lines -------------------------------------------------------------------------

# Standard input is commands, with keys after a bar, and below each its JSON Lines: objects that
# have these keys.
json_fault='
import json, sys

def strict(pairs):
    if len(dict(pairs)) != len(pairs): raise ValueError("a key twice")
    return dict(pairs)

def refuse(word): raise ValueError(word)

def end(words, rows):
    if words and not rows: print(f"{words}: no rows")

words, rows = "", 0
for line in sys.stdin:
    if not line.startswith("{"):
        end(words, rows)
        words, keys = line.rstrip().split("|")
        rows = 0
        continue
    rows += 1
    try: row = json.loads(line, object_pairs_hook=strict, parse_constant=refuse)
    except ValueError as wrong: print(f"{words}: {wrong}"); continue
    if not row.get("schema", "").startswith("bitcut-"): print(f"{words}: no schema in", row)
    for key in keys.split():
        if key not in row: print(f"{words}: no key", key, "in", row)
end(words, rows)
'

# The keys that scripts depend on.
json_keys() {
    # shellcheck disable=SC2086 # one word a set
    set -- $sets
    bitcut replay --json "$1" > out
    mma="mma --unit $(value unit) -a $1/A.npy -b $1/B.npy -c $1/C.npy -o json.npy"
    gemm='gemm --recipe ootomo --unit a100 -n 8'
    errors='relres max_error mred ulp_max backward_max seconds products_per_second'
    errors="$errors words_underflow words_overflow ulp_histogram"
    limits='m n k runs outputs orders false_alarm componentwise normwise underflow allclose'
    limits="$limits relative cancelling wrong numpy torch numpy_bound torch_bound power"
    advice='want metric m n k outputs checks all advice places values_a values_b kept'
    advice="$advice scales tried transposed input_a input_b seed"
    terms='busy useful ratio groups busiest resident tlp memory flops work_dl work_cp'
    terms="$terms shared registers"
    part << END | while IFS='|' read -r words keys; do
list|name what
list units|name what shape a b c block fraction rounding evidence source
list summations|name what reads exact fast
list reductions|name what
list chips|name what architecture also source rates ratios
list frameworks|name what library setting recipe split unit order known open source
list formats|name what bits exponent_bits fraction_bits emin emax
list splits|name what format high low words formats scale levels copies
list recipes|name what split formats terms promote tile_k zeroed source
list inputs|name what parameters
list metrics|name what
list criteria|name what
list bounds|name what kind of sharp source
list monotonicity|name what c c_example product product_example
list rates|name what f16_tflops bf16 tf32 fp8 f32 source
list variants|name what
list axes|name what
list faults|name what changes
list devices|name what here architectures why
list studies|name what
list claims|name what study paper printed quote device unit needs origin criterion assumes otherwise
$mma|unit outputs
convert A.npy --to e4m3 -o A8.npy|input from to rounding elements inexact overflow underflow infinite nan written
replay $1 $2|set unit outputs mismatches first
replay changed|set unit outputs mismatches first
split --from 0 --to 1|split exponent exact bits max_ulp mean_ulp p_subnormal p_zero
gemm --recipe half-fp8 --unit h100 -m 8 -n 8 -k 8|recipe unit units split
bound --recipe ootomo --unit h100 -m 2 -n 2 -k 8|bound applies why limit observed ratio kind violations outputs
$gemm -m 8 -k 8|bound_max verdict grade_words bound_grade explained recipe_limit
$gemm -m 8 -k 8|recipe unit evidence equilibrate m n k seed $errors
$gemm -m 8 -k 8 --input-a anybits|$errors
$gemm -m 0 -k 0|$errors
verify --recipe ootomo --unit a100 -a A.npy -b B.npy -d C.npy --seconds 0|m n k compared total mismatches first hypothesis
explain -a A.npy -b B.npy -d C.npy --recipe fp32 --unit fma/f32 --seconds 1|hypothesis tried matched sampled compared differ total found complete ulps period distances
tolerance --recipe ootomo --unit a100 -k 32 --seeds 3 --power 1|$limits
tolerance --recipe plain --unit h100 --input specials --seeds 1 --power 1|$limits
advise -a A.npy -b B.npy --want 10 --unit a100|$advice
split -a A.npy|exponent count flush bits exact p_flushed p_overflow
fit --outputs 200 $BITCUT_DATA/h200/mma_m8n8k4_f64_f64|set unit outputs survivors rows open
probe --mutants --unit fma/f32|unit vectors mutants killed proved surviving matrix
study underflow --shard 0/16|study scale seed point rows split by exponent p_subnormal p_zero bits
study figure9 xf32 --verdicts|study name claim paper printed ours low high verdict reason device unit evidence origin criterion interval
bench exact -n 16|method n products_per_second ratio
tile --gpu a800|gpu m n k tile waves stages rank score $terms why
END
        echo "$words|$keys"
        # shellcheck disable=SC2086 # words
        bitcut $words --json < /dev/null 2> err
    done | "$python" -c "$json_fault" 2>&1
}

# --- the points -------------------------------------------------------------------------

ok_if_empty "list prints every table" "$(tables_listed)"
ok_if_empty "replay finds no mismatch in $(echo "$sets" | wc -l) sets" "$(sets_replayed)"
ok_if_empty "replay takes any negative NaN where only that was observed" \
    "$(negative_nan_accepted)"
ok_if_empty "replay finds one changed bit and shows the operands" "$(changed_bit_found)"
ok_if_empty "replay searches folders for sets" "$(folders_searched)"
ok_if_empty "steps of outputs of many sets" "$(steps_apart)"
ok_if_empty "replay goes on after a broken set" "$(broken_among_good)"
ok_if_empty "mma computes the recorded results, byte for byte" "$(fragments_computed)"
ok_if_empty "probe makes vectors that kill all mutants" "$(vectors_made)"
ok_if_empty "probe shows mutants that survive" "$(mutants_survive)"
ok_if_empty "fit finds the row of a set, and that none explains a torn one" "$(rows_fitted)"
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
ok_if_empty "people read ten lines, and --verbose has all" "$(lines_for_people)"
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
ok_if_empty "one and two threads give the same output" "$(threads_do_not_matter)"
ok_if_empty "--seed" "$(seeds_matter)"
exhaustive "split counts the published bits" bits_kept
exhaustive "study table1 agrees with the paper" table1_agrees
exhaustive "study underflow agrees with the closed forms" underflow_as_predicted
ok_if_empty "tile chooses as LE-GEMM does" "$(tiles_ranked)"
ok_if_empty "tile takes the model that is named" "$(models_named)"
ok_if_empty "tile without descriptions" "$(descriptions_missing)"
ok_if_empty "bench verifies and times every method" "$(benches_run)"
ok_if_empty "bench emu verifies and times every level" "$(bench_emu_runs)"
ok_if_empty "all levels give the same bits" "$(levels_agree)"
ok_if_empty "exit statuses" "$(statuses_as_promised)"
ok_if_empty "report draws kept results" "$(results_drawn)"
ok_if_empty "report is the same anywhere" "$(report_same)"
ok_if_empty "report quotes names" "$(results_quoted)"
ok_if_empty "report keeps long names" "$(long_names_whole)"
if command -v gnuplot > /dev/null; then
    ok_if_empty "report ignores the settings of gnuplot" "$(settings_ignored)"
else
    skip "report ignores the settings of gnuplot" "no gnuplot"
fi
ok_if_empty "control characters are not printed" "$(names_harmless)"
ok_if_empty "an output is no input and no other output" "$(same_files_found)"
ok_if_empty "report without readable results" "$(report_refused)"
ok_if_empty "help and version" "$(help_printed)"
if [ -n "$python" ]; then
    ok_if_empty "--json prints JSON Lines with the promised keys" "$(json_keys)"
else
    skip "--json prints JSON Lines with the promised keys" "no python3"
fi
echo "1..$n"
