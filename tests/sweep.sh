#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Sweeps of predict for layers of a model and the algorithms that cuBLAS chose there
# (data/libraries/plans/h200-layers.txt): the manual's table has both, and they are the same.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
source=$(cd "${srcdir:-.}" && pwd)
recorded=$source/data/libraries/plans/h200-layers.txt
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT

# ranges N K: the first and last m of each predicted range, and its number of slices.
ranges() {
    bitcut predict --library cublas-13.1 --chip h200 --types bf16 --layout NT --sweep m=1..512 \
        -n "$1" -k "$2" --json |
        sed -n 's/.*"first":\([0-9]*\),"last":\([0-9]*\),.*"gemm":"\([^"]*\)".*/\1 \2 \3/p' |
        sed 's/ [^ ]*slices=\([0-9]*\)[^ ]*$/ \1/; s/ plain[^ ]*$/ 1/'
}

# rows N K: the rows of the manual's table.  A layer with more ranges than ten has one row.
rows() {
    ranges "$1" "$2" > "$work/ranges"
    awk -v n="$1" -v k="$2" '
        NR == FNR { first[NR] = $1; last[NR] = $2; slices[NR] = $3; count = NR; next }
        $1 == "bf16" && $3 == "none" && $5 == n && $6 == k {
            split($8, fields, ",")
            for (i = 1; i <= count; i++)
                if ($4 >= first[i] && $4 <= last[i]) {
                    seen[i]++
                    equal[i] += fields[4] == slices[i]
                }
        }
        function row(m, s, of, as) {
            printf "@item %d x %d @tab %s @tab %s @tab %d @tab %d\n", n, k, m, s, of, as
        }
        END {
            for (i = 1; i <= count; i++) {
                range = first[i] == last[i] ? first[i] : first[i] " to " last[i]
                if (count <= 10) row(range, slices[i], seen[i], equal[i])
                of += seen[i]; as += equal[i]
            }
            if (count > 10) row("1 to 512, " count " ranges", "1 to 4", of, as)
        }' "$work/ranges" "$recorded"
}

for layer in "4096 4096" "6144 4096" "14336 4096" "4096 14336"; do
    # shellcheck disable=SC2086 # two sizes
    rows ${layer% *} ${layer#* }
done > "$work/rows"
ok_if_empty "rows of the manual's table of sweeps" "$(grep -vxFf "$source/doc/bitcut.texi" "$work/rows")"
ok_if_empty "recorded numbers of slices are the predicted ones" \
    "$(awk '$(NF - 2) != $NF' "$work/rows")"
ok_if_empty "512 recorded calls" "$(awk '{ n += $NF } END { if (n != 512) print n }' "$work/rows")"
echo "1..$n"
