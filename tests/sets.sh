#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Recorded sets and single instructions: replay, mma, probe, fit.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
: "${BITCUT_DATA:=$(cd "${srcdir:-.}" && pwd)/data}"
export BITCUT_DATA
sets=$(find "$BITCUT_DATA" -name meta.json | sed 's|/meta.json$||' | sort)
[ -n "$sets" ] || { echo "Bail out! no sets in $BITCUT_DATA"; exit 1; }
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99

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
echo "1..$n"
