#!/bin/sh
# A report on one product: what it says of a result that is right, of one that is not, and
# of one that is what it was asked to be, or is not.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99

# result WORD...: A, B, and D of that GEMM as d.mtx.
result() { run 0 gemm -m 9 -n 7 -k 70 --save-a a.npy --save-b b.npy -o d.mtx "$@"; }

# report STATUS WORD...: on those, into one/.  What can be explained is so in less time.
report() {
    wanted=$1
    shift
    rm -rf one
    run "$wanted" report -a a.npy -b b.npy --seconds 30 -o one "$@"
}

# says QUESTION ANSWER: the page has that answer, a basic expression.
says() {
    grep -q "^| $1 | $2" one/report.md || { echo "not: $1 $2"; grep "^| $1" one/report.md; }
}

# column NAME FILE: that column of comma-separated values without quotes.
column() {
    awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i; next }
                          { print $at }' "one/$2.csv"
}

# Every section has its files, and says which command gives it; the answers come first.
right() {
    result --recipe legemm --unit h100
    report 0 -d d.mtx
    sed -n 's/^\([a-z-]*\)  .*/\1/p' out | grep -v '^study$' > sections
    [ "$(wc -l < sections)" = 10 ] || cat out
    while read -r name; do
        [ -s "one/$name.csv" ] || echo "no $name.csv"
        grep -q "<section id=\"$name\">" one/index.html || echo "no section $name"
    done < sections
    says "What computed D?" "D is legemm on hopper/mma.m16n8k16.f32.f16: 63 of 63 outputs agree"
    says "Does D pass?" "accepted: "
    says "Is D the model's to the bit?" "D is that of this recipe on this unit, to the bit"
    says "Which model is beside it?" "legemm on hopper.*evidence of the unit: recorded"
    says "Which recipe is enough?" ".* relres "
    grep -q '^Numbers: `bitcut verify --recipe legemm --unit hopper/mma.m16n8k16.f32.f16 -a a.npy -b b.npy -d d.mtx --worst 8 --seconds 0`' \
        one/report.md || grep '^Numbers' one/report.md
    grep -q '^Made by: .*; inputs a.npy, b.npy, d.mtx; data' one/report.md || grep '^Made by' one/report.md
    sha256sum a.npy b.npy d.mtx | while read -r digest name; do
        grep -q "{\"file\":\"$name\",\"sha256\":\"$digest\"}" one/worst.json || echo "no $digest"
    done
    [ "$(column unexplained worst | sort -u)" = 0 ] || column unexplained worst
    # The parts add up to the error, in u: epilogue is the last.
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "u") u = i; next }
        { sum = 0; for (i = u + 1; i < NF; i++) sum += $i
          if (sum < 0) sum = -sum
          if (sum - $u > 1e-9 * $u || $u - sum > 1e-9 * $u) print "parts: " sum ", not " $u }' \
        one/worst.csv
    column count values | awk '{ n += $1 } END { if (n != 9 * 70 + 70 * 7) print n " values" }'
    column share emulated | awk '{ n += $1 } END { if (n < 2.999 || n > 3.001) print n " shares" }'
}

# The same bytes when its folder is named in another way.
again() {
    result --recipe ootomo --unit a100
    report 0 -d d.mtx
    mv one first
    run 0 report -a a.npy -b b.npy --seconds 30 -o=one -d d.mtx
    diff -r first one 2>&1
    rm -rf first
}

wrong() {
    result --recipe ootomo --unit h100
    awk 'NR == 12 { $1 = 1.001 * $1 } NR == 30 { $1 = "nan" } { print }' d.mtx > bad.mtx
    report 1 -d bad.mtx --seconds 1
    says "Does D pass?" "REJECTED: 1 not finite where C is"
    says "What computed D?" "No hypothesis gives D, .*"
    says "What are its worst outputs?" ".* is NaN or infinite where C is not; .* errs by "
    says "Is D the model's to the bit?" "D is not that"
    [ "$(column unexplained worst | grep -cv '^0$')" = 2 ] || cat one/worst.csv
    column ratio bounds | grep -q . || cat one/bounds.csv
}

# What was asked for, and is not.
asked() {
    result --recipe ootomo --unit h100
    report 0 -d d.mtx --recipe ootomo --unit h100
    says "Is D the model's to the bit?" "D is that"
    report 1 -d d.mtx --recipe legemm --unit mi210
    says "Is D the model's to the bit?" "D is not that"
    says "Which model is beside it?" "legemm on cdna2.*not run on AMD hardware by us"
    says "What computed D?" "D is ootomo on hopper"
}

# What computed D is run again with all that it varies.
varied() {
    each=1
    [ -z "${BITCUT_BRIEF-}" ] || each=3
    awk -v each=$each 'NR % each == 0' << 'END' |
--recipe ootomo --unit h100 --split-k 3
--recipe ootomo --unit h100 --promote 2
--recipe legemm --unit a100 --scale 9
--recipe markidis --unit v100 --terms 4
--recipe feng --unit t4 --high rz
--recipe plain --unit h100 --order lanes=2,turn=16
END
        while read -r words; do
            # shellcheck disable=SC2086 # words
            result $words
            report 0 -d d.mtx
            grep -q "Is D the model's to the bit? | D is that" one/report.md ||
                { echo "$words:"; grep '^| What\|to the bit' one/report.md; }
        done
}

# Without a result the recipe that is advised stands in for it; C counts.
products() {
    result --recipe ootomo --unit h100
    report 0
    says "Which recipe is enough?" ".* relres "
    grep -q '^## What is in the matrices' one/report.md || cat one/report.md
    [ ! -e one/worst.csv ] || echo "there are outputs of D"
    report 0 --want 1e-30
    says "Which recipe is enough?" "none"
    run 0 gemm --recipe ootomo --unit h100 -a a.npy -b b.npy -c d.mtx --alpha 2 --beta 0.5 -o e.npy
    report 0 -c d.mtx --alpha 2 --beta 0.5 -d e.npy
    says "Is D the model's to the bit?" "D is that"
}

refused() {
    result --recipe ootomo --unit h100
    while IFS='|' read -r wanted message words; do
        rm -rf one
        # shellcheck disable=SC2086 # words
        run "$wanted" report -o one $words
        grep -Eq -- "$message" err || cat err
        [ ! -e one ] || echo "$words: there is a folder"
    done << 'END'
2|-a, -b: both are needed|-a a.npy
2|-a, -b: both are needed|-b b.npy
2|-d: is of a report on one product|-d d.mtx
2|--results: is not for a report on one|-a a.npy -b b.npy --results a.npy
2|--recipe, --unit: are needed together|-a a.npy -b b.npy --recipe ootomo
2|--recipe: nothing: unknown|-a a.npy -b b.npy --recipe nothing --unit h100 -d d.mtx
2|--want|-a a.npy -b b.npy --want much
3|missing.npy: No such file|-a a.npy -b missing.npy
2|matrices: |-a a.npy -b a.npy
2|no product|-a a.npy -b b.npy -d b.npy
END
    mkdir one
    cp a.npy one/index.html
    run 2 report -a one/index.html -b b.npy -o one
    cmp a.npy one/index.html 2>&1
}

echo 1..7
ok_if_empty "a result that is right" "$(right)"
ok_if_empty "the same bytes again" "$(again)"
ok_if_empty "a result that is wrong" "$(wrong)"
ok_if_empty "a result of what was asked for" "$(asked)"
ok_if_empty "what varies is told to every command" "$(varied)"
ok_if_empty "a product without a result, and one with C" "$(products)"
ok_if_empty "what cannot be is refused, and leaves nothing" "$(refused)"
