#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bitcut bench gpu for batches, by strides and by pointers, on the device of
# tests/bench.sh.
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

# rows NAME PART: those lines of `all`, as `out`.
rows() { grep "\"name\":\"$1\",\"part\":\"$2\"" all > out; }

# row NAME: what follows that name in the text table, with one blank between columns.
row() { sed -n "s/^$1  *//p" out | head -n 1 | tr -s ' '; }

# Of three GEMMs at a time everything is three times that of one, but for rates.  Each is
# of the next seed, and their relres the largest.
strided_timed() {
    set -- --study strided --shapes square -n 32 --rounds 3 --kernel gemm.ootomo --json
    run 0 bench gpu "$@" --batch 3 --batch 1
    cp out all
    [ "$(wc -l < all)" -eq 22 ] || wc -l all
    [ "$(value count | uniq | tr '\n' ' ')" = "3 1 " ] || value count | uniq
    grep '"count":1,' all > one
    grep '"count":3,' all > three
    cp three all
    rows gemm.ootomo.f16 product
    near ms 0.589824
    near tflops 0.000333333333333
    near ratio_sgemm 2
    near third 50
    near flops_per_byte 5.33333333333
    near gb_per_second 0.0625
    expect compared 3072
    expect mismatches 0
    rows gemm.ootomo.f16 whole
    near ms 0.602112
    near joules 0.4214784
    near gflops_per_watt 0.000466472303207
    near pj_per_product 4287500
    rows falls whole
    expect fallback sgemm
    for seed in 2 3; do
        run 0 bench gpu "$@" --batch 1 --seed $seed
        cat out >> one
    done
    for name in sgemm hgemm gemm.ootomo.f16; do
        rows $name whole
        near relres "$(grep "\"$name\",\"part\":\"whole\"" one |
            sed 's/.*"relres":\([^,]*\),.*/\1/' | sort -g | tail -n 1)"
    done
    run 0 bench gpu --study strided --shapes square -n 16 --rounds 1 --sustained 0 \
        --kernel gemm.plain --batch 2
    row name | grep -q ' k count ms ' || row name
}

# All GEMMs of a batch are looked at, or 256 of small ones and three of large ones; the
# last output of the last is wrong.
last_noticed() {
    while read -r size count outputs; do
        DEVICE_FAULT=flips
        export DEVICE_FAULT
        run 1 bench gpu --study strided --shapes square -n "$size" --batch "$count" \
            --rounds 1 --sustained 0 --kernel gemm.plain --json
        unset DEVICE_FAULT
        grep '"recipe":"' out > all
        cp all out
        expect mismatches 1
        expect compared "$outputs"
        expect fault "1 of $outputs outputs differ from the model"
        expect ms null
    done << END
16 9 $((9 * 16 * 16))
4 300 $((256 * 4 * 4))
162 6 $((3 * 32 * 128))
END
}

# Of the clock a GEMM takes 6 ns (kernels; 12 by pointers), 12 (strided), 18 (pointers).
batches_timed() {
    run 0 bench gpu --study batch --shapes square -n 5 -n 33 --batch 300 --batch 7 \
        --rounds 2 --json
    cp out all
    [ "$(wc -l < all)" -eq 32 ] || wc -l all
    grep -v '"name":"mean"' all > out
    for key in m n k us us_min us_max gflops gb_per_second relres compared mismatches mhz \
        ratio_strided ratio_pointers ratio_fails fault study input rounds seed date device \
        driver runtime architecture library; do
        [ "$(grep -c "\"$key\":" out)" -eq 28 ] || echo "no $key"
    done
    grep '"name":"batch.mma.16","addressing":"strides".*"count":300' all > out
    expect n 5
    near us 1.8
    near gflops 41.6666666667
    near gb_per_second 25
    near ratio_strided 2
    near ratio_pointers 3
    expect ratio_fails null
    expect compared $((256 * 25))
    expect mismatches 0
    grep '"name":"batch.mma.64","addressing":"pointers".*"count":7' all > out
    expect n 33
    near us 0.084
    near ratio_pointers 1.5
    expect compared $((7 * 33 * 33))
    grep '"name":"fails"' all > out
    expect fault "not supported"
    expect us null
    grep '"name":"mean","addressing":"pointers"' all > out
    [ "$(value count | tr '\n' ' ')" = "300 7 " ] || value count
    expect shapes 1
    near ratio_strided 1
    near ratio_pointers 1.5
    run 0 bench gpu --study batch --shapes square -n 5 --batch 7 --rounds 1
    head -n 1 out | grep -q '^name  *addressing  *m  *n  *k  *count  *us  *GB/s  *x strided' ||
        cat out
}

# What verify and bench print of batches is what report reads: all of it is drawn.
batches_reported() {
    run 0 verify --kernel batch -m 3 -n 3 -k 3 --json
    cp out verified
    run 0 verify --kernel gemm -m 9 -n 10 -k 11 --json
    cat out >> verified
    run 0 report --no-studies --results all --results verified -o batches --json
    [ "$(value study | tr '\n' ' ')" = "verify batches batches-pointers batches-mean " ] ||
        cat out
    grep -q "^batch,.*,$(grep -c '"kernel":"batch' verified),[0-9]*,[0-9]*,0\$" \
        batches/verify.csv || cat batches/verify.csv
    sed 1d batches/batches.csv | tr -d '"' |
        awk -F, '{ printf "%s at%s: %s n %d %g %g\n", $1, $2, $3, $7, $12, $13 }' > drawn
    diff - drawn << 'END'
300 at strides: batch.mma.16 n 5 2 3
300 at pointers: batch.mma.16 n 5 1 1.5
7 at strides: batch.mma.16 n 5 2 3
7 at pointers: batch.mma.16 n 5 1 1.5
300 at strides: batch.mma.64 n 33 2 3
300 at pointers: batch.mma.64 n 33 1 1.5
7 at strides: batch.mma.64 n 33 2 3
7 at pointers: batch.mma.64 n 33 1 1.5
END
    [ "$(wc -l < batches/batches-mean.csv)" -eq 5 ] || cat batches/batches-mean.csv
}

# Means are over the shapes on which the kernel was timed; a peer that was not timed on all
# of them has none.  One that fails when it is timed has no times.
means_complete() {
    set -- --study batch --shapes square -n 5 -n 16 --batch 9 --rounds 1 --json
    while IFS='|' read -r fault status failed shapes strided pointers; do
        DEVICE_FAULT=$fault
        export DEVICE_FAULT
        run "$status" bench gpu "$@" --kernel batch.mma.16
        unset DEVICE_FAULT
        cp out all
        grep '"name":"mean","addressing":"strides"' all > out
        expect shapes "$shapes"
        for want in "strided:$strided" "pointers:$pointers"; do
            if [ "${want#*:}" = null ]; then expect "ratio_${want%:*}" null
            else near "ratio_${want%:*}" "${want#*:}"; fi
        done
        grep '"name":"strided"' all > out
        [ "$(grep -c '"us":null.*"fault":"not supported"' out)" -eq "$failed" ] || cat out
    done << 'END'
none|0|0|2|2|3
peer is small|0|1|2|null|3
peer tires|0|2|2|null|3
flips large|1|0|1|2|3
END
}

wrong_batches_refused() {
    DEVICE_FAULT=flips
    export DEVICE_FAULT
    run 1 bench gpu --study batch --shapes square -n 16 --batch 9 --rounds 1 --json \
        --kernel batch.mma.16
    grep '"name":"batch' out > all
    cp all out
    expect mismatches 1
    expect fault "1 of 2304 outputs differ from the model"
    expect us null
    DEVICE_FAULT=breaks
    run 3 bench gpu --study batch --shapes square -n 16 --batch 9 --rounds 1
    unset DEVICE_FAULT
    DEVICE_FAULT="no library"
    export DEVICE_FAULT
    run 0 bench gpu --study batch --shapes square -n 16 --batch 9 --rounds 1 --json \
        --kernel batch.mma.16
    unset DEVICE_FAULT
    expect library "none: lost"
    expect ratio_strided null
}

# relres is of all outputs looked at: the largest would never fall with the count, whose
# GEMMs are drawn together.  Infinities and NaNs that are the exact product's are no errors.
batches_judged() {
    run 0 bench gpu --study batch --shapes square -n 4 --rounds 1 --json --batch 1 --batch 2 \
        --batch 4 --batch 8 --batch 16 --kernel batch.mma.16
    grep '"name":"strided"' out > all
    cp all out
    value relres | awk '$1 < last { fell = 1 } { last = $1 } END { if (!fell) print "all rise" }'
    run 0 bench gpu --study batch --shapes square -n 16 --batch 9 --rounds 1 --json \
        --input 'exp_rand(-60,60)'
    grep '"name":"batch' out > all
    cp all out
    expect mismatches 0
    expect relres 0.0
}

ok_if_empty "the module is built" "$(model_built models -DHONEST)"
BITCUT_MODULES=$work/models
export BITCUT_MODULES
ok_if_empty "batches at strides" "$(strided_timed)"
ok_if_empty "a batch whose last GEMM is wrong" "$(last_noticed)"
exhaustive "batches beside their peers" batches_timed
exhaustive "batches beside their peers, reported" batches_reported
ok_if_empty "means over batches" "$(means_complete)"
ok_if_empty "batches that are wrong, fail, or have no peers" "$(wrong_batches_refused)"
ok_if_empty "errors of batches" "$(batches_judged)"
echo "1..$n"
