#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# explain finds what computed the published statistics of data/statistics, and finds
# nothing for a number with another digit.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
rows=$(cd "${srcdir:-.}" && pwd)/data/statistics/mi300x.jsonl
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99

# of KEY: what the row says.
of() { printf '%s\n' "$row" | sed -n "s/.*\"$1\":\"\{0,1\}\([^\"}]*\)[\"}].*/\1/p"; }
seed() { printf '%s\n' "$row" | sed -n 's/.*"seed":\([0-9]*\).*/\1/p'; }

# explained STATUS RMS WORD...: of the row's tensors.
explained() {
    wanted=$1 rms=$2
    shift 2
    run "$wanted" explain --rms "$rms" --torch-seed "$(seed)" --torch-shape "$(of draws)" \
        --json "$@"
}

# right: the answer to the row.  FP32 units that compute the same are called fma/f32, and
# operands toward minus infinity are none of the hypotheses.  FP32 has the most orders of k: by default
# its recipe is given.
right() {
    set --
    case $(of gemm) in fp32@*) is_whole || set -- --recipe fp32 ;; esac
    explained 0 "$(of rms)" --max "$(of max)" --mean "$(of mean)" --largest "$(of largest)" "$@"
    expect found true
    expect results 1
    grep -q '"agrees":false' out && echo "a statistic differs"
    case $(of gemm) in
    fp32@*slices=2*) set -- fp32 fma/f32 '' 16 ;;
    fp32@*) set -- fp32 fma/f32 '' 0 ;;
    *) set -- plain cdna3/mfma.16x16x8.f32.xf32 rz 0 ;;
    esac
    grep -q "\"recipe\":\"$1\",\"unit\":\"$2\"" out || echo "$1 on $2 is not named"
    [ -z "$3" ] || grep -q "rounded by $3" out || echo "no rounding $3"
    [ "$4" = 0 ] || grep -q "slices of $4" out || echo "no slices of $4"
}

# noticed: with another 15th digit there is no answer.
noticed() {
    changed=$(of rms | awk '{
        n = 0
        for (i = 1; i <= length($0); i++) {
            c = substr($0, i, 1)
            if (c ~ /[1-9]/ || (c == "0" && n)) n++
            if (n == 15) {
                print substr($0, 1, i - 1) (c + 1) % 10 substr($0, i + 1)
                exit
            }
        }
    }')
    explained 1 "$changed" --unit fma/f32 --recipe fp32
    explained 1 "$changed" --unit cdna3/mfma.16x16x8.f32.xf32 --recipe plain --effort 0.01
    expect found false
}

# same: the answer does not depend on threads.
same() {
    explained 0 "$(of rms)" --threads 1
    mv out one
    explained 0 "$(of rms)" --threads 3
    cmp one out
}

# few: with few digits there are several answers, and the text says so.
few() {
    run 0 explain --rms 0.0021 --torch-seed 7 --torch-shape "10x25, A 10x8, B 8x25"
    tr -s ' \n' '  ' < out | grep -q 'other D have these statistics too' || cat out
    # the largest error decides, although the rms of others is nearer
    run 0 explain --rms 0.0021 --max 0.0074214935302734375 --torch-seed 7 \
        --torch-shape "10x25, A 10x8, B 8x25" --json
    expect found true
}

# Not rows with an order of k that explain does not try.  By default every third, from the second
# on: a batch, a transposed B, and slices.
grep '"gemm"' "$rows" | grep -v '"math":"ideal\|"interleave"' > known
while read -r row; do
    ok_if_empty "$(of set) $(of math) is explained" "$(right)"
done << END
$(if is_whole; then cat known; else sed 1d known | part 3; fi)
END
row=$(head -n 1 known)
ok_if_empty "another digit has no explanation" "$(noticed)"
if_whole "threads do not matter" same
ok_if_empty "a number with few digits has several explanations" "$(few)"
echo "1..$n"
