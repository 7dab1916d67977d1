#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Results of libraries' GEMMs on devices and processors (data/libraries): the emulator
# gives all of each result by the recipe, unit and order of its row, and explain finds
# them.
# Run in the build folder with srcdir set, as `make check` does.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
rows=$(cd "${srcdir:-.}" && pwd)/data/libraries
matrices=$PWD/tests/libraries/matrices
[ -x "$matrices" ] || skip_all check
sha256sum < /dev/null > /dev/null 2>&1 || skip_all "sha256sum, of coreutils"
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99

# of KEY: what the row says.
of() { printf '%s\n' "$row" | sed -n "s/.*\"$1\":\"\{0,1\}\([^\"}]*\)[\"}].*/\1/p"; }
number() { printf '%s\n' "$row" | sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p"; }

# sum FILE: of its elements, which have 4 bytes each and a header of 128 before them.
sum() { tail -c +129 "$1" | sha256sum | cut -d' ' -f1; }

# made: A.npy and B.npy of the row, and what is wrong with them.
made() {
    rm -f ./*.npy
    case $(of inputs) in
    numpy) "$matrices" numpy "$m" "$cols" "$k" "$(number seed)" "$(of operands)" ;;
    *)
        run 0 gemm --recipe fp32 --unit fma/f32 -m "$m" -n "$cols" -k "$k" --reference none \
            --input-a "$(of inputs)" --input-b "$(of inputs)" --seed "$(number seed)" \
            --save-a A.npy --save-b B.npy
        ;;
    esac
    [ "$(sum A.npy)" = "$(of a)" ] || echo "A is not that of the row"
    [ "$(sum B.npy)" = "$(of b)" ] || echo "B is not that of the row"
}

# changes: what the row changes in its recipe.
changes() {
    [ -z "$(number promote)" ] || echo "--promote $(number promote)"
    [ -z "$(number tile_k)" ] || echo "--tile-k $(number tile_k)"
    [ -z "$(of high)" ] || echo "--high $(of high)"
}

# emulated: D.npy by the words of the row.
emulated() {
    # shellcheck disable=SC2046 # words
    run 0 gemm --recipe "$(of recipe)" --unit "$(of unit)" --order "$(of order)" -a A.npy \
        -b B.npy -o D.npy --reference none $(changes)
    [ "$(of result)" = f32 ] || "$matrices" narrow "$(of result)" D.npy
}

# samples_differ: those of the row that D.npy has not.
samples_differ() {
    printf '%s\n' "$row" | grep -o '\[[0-9]*,"[0-9a-f]*"\]' | tr -d '[]"' |
        while IFS=, read -r at wanted; do
            got=$(od -An -tx4 --endian=little -j $((128 + 4 * at)) -N 4 D.npy | tr -d ' ')
            [ "$got" = "$wanted" ] || echo "D[$((at / cols)),$((at % cols))]: got $got, want $wanted"
        done
}

reproduced() {
    made
    emulated
    [ "$(sum D.npy)" = "$(of d)" ] && return
    echo "D is another: $(sum D.npy)"
    samples_differ
}

# narrowed: words for explain.  A processor's order of k takes seconds by all recipes: of most
# rows only by their own.
narrowed() {
    case ${LIBRARIES:-}/$(of library)/$(of core)/$m in
    all/* | */Cooperlake/51) ;;
    */OpenBLAS/*) echo "--recipe $(of recipe)" ;;
    esac
}

# explained: what explain says of D.npy are the words of the row, or it lists them with what
# gives the same bits.
explained() {
    # shellcheck disable=SC2046 # words
    run 0 explain -a A.npy -b B.npy -d D.npy --seconds 600 --json $(narrowed)
    expect found true
    expect differ 0
    recipe=$(of recipe) unit=$(of unit)
    grep -q "\"recipe\":\"$recipe\",\"unit\":\"$unit\"" out ||
        echo "$recipe on $unit is not named"
    grep -q "\"order\":\"$(of order)\"" out || { echo "not $(of order):"; cat out; }
}

# Of small ones also what explain says; of long k it takes seconds.
small() { [ $((m * cols * k)) -le $((1 << 22)) ]; }

# rows_of FILE: of one with hundreds every 64th, unless LIBRARIES says all.
rows_of() {
    awk -v all="${LIBRARIES:-}" '{ row[NR] = $0 }
        END { for (i = 1; i <= NR; i += NR > 100 && all != "all" ? 64 : 1) print row[i] }' "$1"
}

# predicted TYPES FILE: cuBLAS's whole D is that of gemm --library, which knows the sizes alone.
predicted() {
    whole=$rows/h100-cublas
    run 0 gemm --library cublas-13.1 --chip h200 --types "$1" -a "$whole/A.npy" -b "$whole/B.npy" \
        -o D.npy --reference none
    cmp "$whole/$2.npy" D.npy
    run 0 verify --library cublas-13.1 --chip h200 --types "$1" -a "$whole/A.npy" -b "$whole/B.npy" \
        -d "$whole/$2.npy" --json
    expect mismatches 0
}

for file in "$rows"/*.jsonl; do
    rows_of "$file" | part 3 > some
    while read -r row; do
        m=$(number m) cols=$(number n) k=$(number k)
        name="$(of library) $(of function) $(of core) $(of layout), $(of operands) to \
$(of result), $m x $cols x $k"
        ok_if_empty "the emulator gives $name" "$(reproduced)"
        small && ok_if_empty "explain finds $name" "$(explained)"
    done < some
done
ok_if_empty "gemm and verify --library have cuBLAS's FP32 result" "$(predicted f32 sgemm)"
ok_if_empty "gemm and verify --library have cuBLAS's TF32 result" "$(predicted tf32 tf32)"
echo "1..$n"
