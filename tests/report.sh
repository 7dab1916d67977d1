#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A report about one product: its statements about a correct result, about a wrong one,
# and about a result that has, or does not have, the given recipe.  And a report about
# studies: its verdicts at small sizes and by the rows that come with bitcut.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
# shellcheck source=tests/report_page.sh
. "${srcdir:-.}/tests/report_page.sh"
data=${BITCUT_DATA:-$(cd "${srcdir:-.}" && pwd)/data}
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99

# result WORD...: A, B, and D of that GEMM as d.mtx.
result() { run 0 gemm -m 9 -n 7 -k 70 --save-a a.npy --save-b b.npy -o d.mtx "$@"; }

# report STATUS WORD...: on those, into one/.  What can be explained takes seconds.
report() {
    wanted=$1
    shift
    rm -rf one
    run "$wanted" report -a a.npy -b b.npy --seconds 300 -o one "$@"
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
    sed -n '/^$/q; s/^\([a-z-]*\)  .*/\1/p' out | grep -v '^study$' > sections
    [ "$(wc -l < sections)" = 10 ] || cat out
    while read -r name; do
        [ -s "one/$name.csv" ] || echo "no $name.csv"
        grep -q "<section id=\"$name\">" one/index.html || echo "no section $name"
    done < sections
    says "What computed D?" "D is legemm on hopper/mma.m16n8k16.f32.f16; .*: 63 of 63 outputs agree"
    banner ACCEPTED "largest error .* u .*(limit .*) at output"
    says "Is D equal to the model, bit for bit?" "D equals this recipe on this unit, bit for bit"
    says "Which model was run?" "legemm on hopper.*evidence of the unit: recorded"
    says "Which recipe is enough?" "on .* products"
    says "How accurate is that?" ".*relres .* (limit 1e-06)"
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
    run 0 report -a a.npy -b b.npy --seconds 300 -o=one -d d.mtx
    same_folders first one 2>&1
    rm -rf first
}

wrong() {
    result --recipe ootomo --unit h100
    awk 'NR == 12 { $1 = 1.001 * $1 } NR == 30 { $1 = "nan" } { print }' d.mtx > bad.mtx
    report 1 -d bad.mtx --seconds 1
    banner REJECTED "1 of 63 outputs are NaN or infinite"
    says "What computed D?" ".*[Nn]o hypothesis gives every bit of D, .*"
    says "What are its worst outputs?" ".* is NaN or infinite where C is not; .* errs by "
    says "Is D equal to the model, bit for bit?" "D differs from"
    [ "$(column unexplained worst | grep -cv '^0$')" = 2 ] || cat one/worst.csv
    column ratio bounds | grep -q . || cat one/bounds.csv
}

# What was asked for, and is not.  The verdict is the status: other bits of a correct kernel
# pass, and what breaks a bound is told.
asked() {
    result --recipe ootomo --unit h100
    report 0 -d d.mtx --recipe ootomo --unit h100
    says "Is D equal to the model, bit for bit?" "D equals this"
    report 0 -d d.mtx --recipe legemm --unit mi210
    says "Is D equal to the model, bit for bit?" "D differs from"
    says "Which model was run?" "legemm on cdna2.*not run on AMD hardware by us"
    says "What computed D?" "D is ootomo on hopper"
    banner ACCEPTED limit
    result --recipe ootomo --unit h100 --split-k 2
    report 0 -d d.mtx --recipe ootomo --unit h100
    says "Is D equal to the model, bit for bit?" "D differs from"
    banner ACCEPTED limit
    ! grep "within the rigorous bounds" one/report.md
    awk 'NR > 2 { $1 = 1.01 * $1 } { print }' d.mtx > bad.mtx
    report 1 -d bad.mtx --recipe ootomo --unit h100 --seconds 1
    says "Is D within the rigorous bounds?" "NO: the rigorous bound .* is broken: 6[0-9] of 63 outputs"
}

# What computed D is run again with all that it varies.
varied() {
    part 3 << 'END' |
--recipe ootomo --unit h100 --split-k 3
--recipe ootomo --unit h100 --promote 2
--recipe legemm --unit a100 --scale 9
--recipe markidis --unit v100 --terms 4
--recipe feng --unit t4 --high rz
--recipe plain --unit h100 --order lanes=2,chunk=16
END
        while read -r words; do
            # shellcheck disable=SC2086 # words
            result $words
            report 0 -d d.mtx
            grep -q "Is D equal to the model, bit for bit? | D equals this" one/report.md ||
                { echo "$words:"; grep '^| What\|to the bit' one/report.md; }
        done
}

# A page with every section, made or not, and a verdict that is the status.
whole_page() {
    case $status in 0) verdict=ACCEPTED ;; 1) verdict=REJECTED ;; *) verdict='NOT JUDGED' ;; esac
    banner "$verdict" ""
    for name in explanation emulated worst bounds tolerance values bits retained recipes scales; do
        grep -q "<section id=\"$name\">" one/index.html || echo "no section $name"
    done
    grep 'Not finished' one/index.html
}

# Generated kernels: recipes on chips, with what the options of `gemm` vary; all of them in the
# long tests.  Whatever explain finds or takes for nearest, there is a page with a verdict.
kernels() {
    bitcut list recipes --json | sed 's/.*"name":"\([^"]*\)".*/\1/' |
        awk -v seed=42 -v count="$1" '
        { recipe[NR] = $0 }
        END {
            srand(seed)
            chips = split("h100|a100|v100|mi100|mi300|b200", chip, "|")
            ways = split("--terms 2|--terms 3|--terms 4|--terms 5|--terms 6|--terms 9|--terms 10|" \
                         "--scale 9|--equilibrate|--promote 3|--tile-k 16|--high rz|--low rz|" \
                         "--split-a halfhalf|--split-b markidis|--split plain|--split-k 5|" \
                         "--order slices=2,cut=32|--order lanes=2,chunk=16,reduction=tree|" \
                         "--order slices=3,partial-format=f16|", way, "|")
            if (count) while (count-- > 0)
                print recipe[int(rand() * NR) + 1], chip[int(rand() * chips) + 1],
                      way[int(rand() * ways) + 1], "--seed", count
            else for (r = 1; r <= NR; r++) for (w = 1; w <= ways; w++)
                print recipe[r], chip[1 + (r + w) % chips], way[w]
        }'
}

generated() {
    count=3
    is_whole && count=9
    [ -z "${BITCUT_LONG-}" ] || count=
    kernels $count | while read -r recipe unit words; do
        # shellcheck disable=SC2086 # words
        bitcut gemm -m 9 -n 7 -k 70 --recipe "$recipe" --unit "$unit" --save-a a.npy \
            --save-b b.npy -o d.mtx $words > out 2>&1 || continue
        rm -rf one
        bitcut report -a a.npy -b b.npy -d d.mtx --seconds 1 -o one > out 2> err
        status=$?
        { [ $status -le 1 ] || cat err; whole_page; } > wrong
        [ ! -s wrong ] || { echo "$recipe $unit $words:"; cat wrong; }
    done
    result --recipe ootomo --unit a100
    awk -v out=high.mtx 'BEGIN {
        srand(1)
        print "%%MatrixMarket matrix array real general\n70 7" > out
        print "%%MatrixMarket matrix array real general\n70 7"
        for (i = 0; i < 490; i++) {
            high = int(rand() * 7) + 1
            print high > out
            printf "%.9f\n", high + (int(rand() * 3) + 1) / 8192
        } }' > b.mtx
    run 0 gemm --recipe ootomo --unit a100 -a a.npy -b high.mtx -o d.mtx
    run 1 report -a a.npy -b b.mtx -d d.mtx --seconds 300 -o one
    says "What computed D?" ".*the product high(A) low(B) is missing"
    banner REJECTED "outputs exceed it"
}

# mapped SCRIPT: D with that done to each of its values, `$1`, or with other sizes, in c and r.
mapped() {
    awk "NR == 1 { print; next } NR == 2 { r = \$1; c = \$2; print r, c; next } { $1; print \$1 }" \
        d.mtx > other.mtx
}

# Results that no kernel computes, and those of other shapes, A or B transposed, values that
# overflow: a page with the verdict, whatever sections have failed.
any_result() {
    result --recipe ootomo --unit h100
    part 3 << 'END' |
$1 = "nan"
$1 = "inf"
$1 = 0
$1 = -$1
$1 = $1 * 1e30
$1 = $1 * 1e-42
$1 = NR
if (NR % 2) $1 = "nan"
END
        while read -r script; do
            mapped "$script"
            report 1 -d other.mtx --seconds 1
            status=1
            whole_page > wrong
            [ ! -s wrong ] || { echo "$script:"; cat wrong; }
        done
    status=1
    for sizes in $(printf '%s\n' 7:9 5:6 9:8 1:1 70:7 | part 3); do
        sizes=$(echo "$sizes" | tr : ' ')
        awk -v sizes="$sizes" 'BEGIN {
            split(sizes, n, " ")
            print "%%MatrixMarket matrix array real general\n" sizes
            for (i = 0; i < n[1] * n[2]; i++) print i }' > other.mtx
        report 1 -d other.mtx --seconds 1
        banner REJECTED "D is ${sizes% *} x ${sizes#* }, but A B is 9 x 7"
        whole_page
        grep -q 'This section could not be made:' one/index.html || echo "$sizes: all were made"
    done
    [ -n "${BITCUT_BRIEF-}" ] && return
    cp a.npy b.npy
    report 2 -d d.mtx --seconds 1
    status=2
    banner "NOT JUDGED" "A is 9 x 70 but B is 9 x 70"
    whole_page
    result --recipe ootomo --unit h100 --input-a 'const(1e6)'
    report 1 -d d.mtx --seconds 1
    status=1
    whole_page
}

# The assertion of C accepts what the page accepts, and rejects what it rejects; so does that of
# Python, where NumPy is.
assertion() {
    result --recipe "$1" --unit h100
    report 0 -d d.mtx
    awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' one/report.md > test.c
    cat >> test.c << 'END'
#include <stdio.h>
#include <stdlib.h>
static float *matrix(FILE *f, size_t count)
{
    float *x = malloc(count * sizeof *x);
    for (size_t i = 0; i < count; i++) if (fscanf(f, "%f", &x[i]) != 1) abort();
    return x;
}
int main(void)
{
    float *A = matrix(stdin, 630), *B = matrix(stdin, 490), *D = matrix(stdin, 63);
    const bool right = gemm_is_accepted(D, A, B, 9, 7, 70);
    D[5] *= 1.0001f;
    const bool wrong = gemm_is_accepted(D, A, B, 9, 7, 70);
    D[5] = NAN;
    printf("%d %d %d\n", right, wrong, gemm_is_accepted(D, A, B, 9, 7, 70));
}
END
    ${CC:-cc} -std=c11 -Wall -Wextra -Werror -o test test.c -lm 2>&1 || return
    for name in a.npy b.npy d.mtx; do
        run 0 convert "$name" --to f32 -o one.mtx
        awk 'NR == 2 { r = $1; c = $2 } NR > 2 { x[NR - 3] = $1 }
             END { for (i = 0; i < r; i++) for (j = 0; j < c; j++) print x[i + j * r] }' one.mtx
    done > numbers
    ./test < numbers > answer
    [ "$(cat answer)" = "1 0 0" ] || { echo "$1:"; cat answer; }
}

# Without a result the recipe that is advised stands in for it; C counts.
products() {
    result --recipe ootomo --unit h100
    report 0
    says "Which recipe is enough?" "on .* products"
    says "How accurate is that?" ".*relres .* (limit 1e-06)"
    grep -q '^## What is in the matrices' one/report.md || cat one/report.md
    [ ! -e one/worst.csv ] || echo "there are outputs of D"
    report 0 --want 1e-30
    says "Which recipe is enough?" "no recipe reaches relres"
    run 0 gemm --recipe ootomo --unit h100 -a a.npy -b b.npy -c d.mtx --alpha 2 --beta 0.5 -o e.npy
    report 0 -c d.mtx --alpha 2 --beta 0.5 -d e.npy
    says "Is D equal to the model, bit for bit?" "D equals this"
}

refused() {
    rm -rf one
    mkdir one
    cp a.npy one/index.html
    run 2 report -a one/index.html -b b.npy -o one
    cmp a.npy one/index.html 2>&1
}

# --- studies ------------------------------------------------------------------------------

report_made() {
    run 0 report -o new --json
    studies=$(value study)
    [ -n "$studies" ] || echo "no studies"
    for study in $studies; do
        grep -q "<section id=\"$study\">" new/index.html || echo "no section $study"
        [ -s "new/$study.csv" ] || echo "no $study.csv"
        [ -s "new/$study.json" ] || echo "no $study.json"
    done
    if command -v gnuplot > /dev/null; then
        for study in underflow figure1; do grep -c '</svg>' "new/$study.svg"; done |
            grep -v 1
    fi
    grep 'Not finished' new/index.html
    find new -name '*.tmp'
    page_is_light new
}

# A page that needs more than 3 MB, or a figure of fewer than four points, is what is wrong.
page_is_light() {
    size=$(wc -c < "$1/index.html")
    [ "$size" -le 3000000 ] || echo "the page has $size bytes"
    grep -oE '(src|href)="[^#"][^"]*"' "$1/index.html" | sort -u |
        grep -vE '^href="[a-z0-9-]+\.(csv|json|pdf)"$'
    for figure in "$1"/*.svg; do
        [ -e "$figure" ] || continue
        rows=$(tail -n +2 "${figure%.svg}.csv" | wc -l)
        [ "$rows" -ge 4 ] || echo "$figure has $rows points"
    done
}

# The page begins with findings, whose numbers are those of the verdicts; then come contents
# and claims, which have what the filters choose by.
first_page() {
    last=table2 # both_scales() reads it, too
    ! is_whole || last=figure11
    stopped small/$last.json --no-results
    for claim in table1-expected table2-expected; do
        ours=$(verdicts "small/${claim%-*}.json" | grep "\"$claim\"" |
            sed 's/,"recorded":.*//; s/.*"ours":\([^,]*\),.*/\1/')
        for page in index.html report.md; do
            grep -q "retain $ours of 24 bits" "small/$page" || echo "$page: not $ours of $claim"
        done
    done
    grep -nE '<h2 id="(findings|contents|verdicts|chapter-keeps)"' small/index.html |
        sed 's/.*id="\([^"]*\)".*/\1/' | tr '\n' ' ' > order
    [ "$(cat order)" = "findings contents verdicts chapter-keeps " ] || cat order
    sed '1,/<div id="claims">/d; /<\/table>/q' small/index.html | grep '^<tr' > claims
    [ "$(wc -l < claims)" = "$(cat small/*.json | verdicts /dev/stdin | wc -l)" ] ||
        echo "other claims"
    grep -v 'data-paper="[^",]*" data-verdict="[a-z ]*" data-unit="[^"A-Z]*"' claims
    for key in paper verdict unit; do
        grep -q "<select name=\"$key\">" small/index.html || echo "no filter by $key"
    done
    grep -q '<form class="filters" hidden>' small/index.html || echo "filters without a script"
    page_is_light small
}

# findings: of verdicts, a line each, the claim and what rows decide.
findings() {
    sed -n 's/.*"name":"\([^"]*\)".*"ours":\(.*\),"low":\(.*\),"high":\(.*\),"verdict":\("[a-z]*"\),"reason":\(".*"\),"device".*"origin":\("[a-z]*"\).*/\1 {"verdict":\5,"ours":\2,"low":\3,"high":\4,"reason":\6,"origin":\7}/p'
}

# verdicts FILE: those of a section's data, a line each.
verdicts() { sed 's/{"study":"/\n&/g; s/"rows":\[$//' "$1" | grep '^{"study"'; }

# kept FILE: the same as findings, of what kept rows say.
kept() { verdicts "$1" | sed -n 's/.*"name":"\([^"]*\)".*"recorded":\({[^}]*}\)}.*/\1 \2/p'; }

# of STUDY FILE: its lines of verdicts in a file.
of() { grep "^{\"study\":\"$1\"" "$2"; }

# same WHAT: what is wrong if `got` and `want` differ, or say nothing.
same() {
    [ -s want ] || echo "$1: nothing to compare with"
    diff got want > difference || { echo "$1:"; cat difference; }
}

# The verdicts of both scales are those of `bitcut study`, and what changes is marked.
both_scales() {
    run 0 study --merge "$data"/studies/*.jsonl --verdicts --json
    mv out merged
    kept_rows table1
    is_whole || return
    kept_rows figure4 figure11
    computed_rows
}

kept_rows() {
    for study; do
        of "$study" merged | findings > want
        kept "small/$study.json" > got
        same "kept, $study"
        digest=$(sha256sum < "$data/studies/$study.jsonl" | cut -d ' ' -f 1)
        file="\"file\":\"$study.jsonl\",\"sha256\":\"$digest\""
        grep -q "\"inputs\":\[{$file}\]" "small/$study.json" || echo "$study: no input"
        grep -q "\"scale\":\"small\",\"recorded\":{\"scale\":\"paper\",\"seed\":1,.*$file" \
            "small/$study.json" || echo "$study: no kept rows"
        grep -q "studies/$study.jsonl, SHA-256 $digest" small/index.html || echo "$study: page"
        grep -q "studies/$study.jsonl, SHA-256 $digest" small/report.md || echo "$study: Markdown"
    done
}

computed_rows() {
    run 0 study figure4 figure11 --verdicts --json
    mv out computed
    for study in figure4 figure11; do
        of "$study" computed | findings > want
        verdicts "small/$study.json" | findings > got
        same "computed, $study"
    done
    for claim in figure11-type2 figure11-type3; do
        grep "\"$claim\"" computed | grep -q '"verdict":"agrees"' || echo "$claim: small"
        grep "\"$claim\"" merged | grep -q '"verdict":"differs"' || echo "$claim: paper"
    done
    grep -q '2 have another verdict at the sizes of papers: figure11-type2, figure11-type3\.' \
        small/report.md || grep verdict small/report.md
    changed='<td class="changed" data-sizes="sizes of papers: "><span class="differs">differs'
    [ "$(grep -c "$changed" small/index.html)" = 4 ] || echo "the page marks others"
    [ "$(grep -cF '| **differs** (small: agrees): ' small/report.md)" = 2 ] ||
        echo "the Markdown marks others"
}

# cut_point STUDY POINT: take it out of the study's file in `less`.
cut_point() { sed -i "/\"point\":$2,/d" "less/studies/$1.jsonl"; }

# The whole of it: rows and verdicts are those that are kept, of a file or some points computed.
scale_of_papers() {
    run 0 study --merge "$data"/studies/*.jsonl --verdicts --json
    mv out merged
    if grep 'points are missing' merged; then return; fi # they take hours
    mkdir less
    ln -s "$data"/* less
    rm less/studies
    cp -r "$data/studies" less
    cut_point slices 37
    cut_point underflow 0
    cut_point dropped 0
    rm less/studies/table2.jsonl
    BITCUT_DATA=less run 0 report --scale paper --no-results -o paper --json
    for file in "$data"/studies/*.jsonl; do
        study=$(basename "$file" .jsonl)
        of "$study" merged | findings > want
        verdicts "paper/$study.json" | findings > got
        same "$study"
        [ "$(tail -n +2 "paper/$study.csv" | wc -l)" = "$(wc -l < "$file")" ] ||
            echo "$study: other rows"
        grep -q "\"command\":\"bitcut study $study --scale paper --seed 1\"" "paper/$study.json" ||
            echo "$study: another command"
    done
    grep -q '| claim | paper | printed | found | reason |' paper/report.md || echo "two scales"
    for study in slices:41:42 underflow:139:140 dropped:71:72; do
        grep -q '"points":'"$(echo "${study#*:}" | sed 's/:/,"of":/')" \
            "paper/${study%%:*}.json" || echo "$study"
    done
    grep -q '"scale":"paper","recorded":null' paper/table2.json || echo "table2 is kept"
}

# What is kept is of seed 1: of another, the sizes of papers are computed, and beside small
# ones it says its seed.
other_seed() {
    stopped two/table1.json --scale paper --seed 2
    grep -q '"command":"bitcut study table1 --scale paper --seed 2"' two/table1.json ||
        echo "another command"
    grep -q '"inputs":\[\],.*"scale":"paper","recorded":null' two/table1.json || echo "rows are kept"
    grep 'come with bitcut' two/report.md | grep -v 'or else rows computed'
    stopped two/table1.json --seed 2
    grep -q '"command":"bitcut study table1 --seed 2"' two/table1.json || echo "another small one"
    grep -q '"recorded":{"scale":"paper","seed":1,' two/table1.json || echo "nothing beside it"
}

# Nothing is kept: one column, and no word of another.
nothing_kept() {
    mkdir without
    ln -s "$data"/* without
    rm without/studies
    BITCUT_DATA=without stopped alone/table1.json
    grep -q '"scale":"small","recorded":null' alone/table1.json || echo "something is kept"
    grep -q '<th>printed</th><th>found</th>' alone/index.html || echo "another column"
    grep 'Sizes of papers' alone/index.html
}

# Files that are not what `bitcut study STUDY --scale paper` writes: the study, a script for sed,
# the file that it makes them of, and what is said.
bad_kept() {
    mkdir bad
    ln -s "$data"/* bad
    rm bad/studies
    while IFS='|' read -r name script from message; do
        rm -rf none bad/studies
        mkdir bad/studies
        sed "$script" "$data/studies/$from.jsonl" > "bad/studies/$name.jsonl"
        BITCUT_DATA=bad run 3 report -o none
        grep -qF "studies/$name.jsonl$message" err || { echo "$name, $script:"; cat err; }
        [ ! -e none ] || echo "$name, $script: there is a folder"
    done << 'END'
nothing||table1|: unknown study; see bitcut list studies
table2||table1|:1: the row does not belong to study table2
table1|s/"seed":1/"seed":2/|table1|:1: the seed of the row is not 1
table1|s/"paper"/"small"/|table1|:1: the scale of the row is not paper
table1|3s/,$/x/;3s/}//|table1|:3:
table1|4d|table1|: point 0 of table1 is incomplete
table1|5s/"bits":2/"bits":3/|table1|:5: the row was changed
table1|2s/"point":0/"point":1/|table1|:2: table1 has no point 1
table1|s/study\/1/study\/0/|table1|:1: the row was computed by another version of bitcut; compute it again
END
    sed 's/"bits"/"bit"/; s/,"digest":"[^"]*"//' "$data/studies/table1.jsonl" > bad/studies/table1.jsonl
    # Found once rows are computed.  Only a whole test waits for the other studies.
    if [ -n "${BITCUT_BRIEF-}" ]; then return
    elif is_whole; then BITCUT_DATA=bad run 3 report -o none
    else BITCUT_DATA=bad stopped none/table2.json; fi
    grep -q ': studies/table1.jsonl: its keys do not match the rows of table1; compute it again' err || cat err
}

scale_refused() {
    while IFS='|' read -r message words; do
        rm -rf none
        # shellcheck disable=SC2086 # words
        run 2 report -o none $words
        grep -q -- "$message" err || cat err
        [ ! -e none ] || echo "$words: there is a folder"
    done << 'END'
--scale: unknown name "large"|--scale large
--no-studies cannot be combined with --scale or --device|--no-studies --scale small
--no-studies cannot be combined with --scale or --device|--no-studies --device cuda
--scale cannot be combined with a report on one product|-a a.npy -b b.npy --scale paper
--device cannot be combined with a report on one product|-a a.npy -b b.npy --device cuda
END
}

ok_if_empty "a result that is right" "$(right)"
exhaustive "the same bytes again" again
ok_if_empty "a result that is wrong" "$(wrong)"
exhaustive "a result of what was asked for" asked
exhaustive "what varies is told to every command" varied
ok_if_empty "whatever is nearest can be handed on" "$(generated)"
ok_if_empty "whatever D is, there is a page" "$(any_result)"
ok_if_empty "the assertion of C" "$(echo ootomo legemm | tr ' ' '\n' | part 2 | while read -r recipe; do assertion "$recipe"; done)"
ok_if_empty "a product without a result, and one with C" "$(products)"
ok_if_empty "what cannot be is refused, and leaves nothing" "$(refused)"
exhaustive "findings, contents and filters" first_page
exhaustive "verdicts at both scales" both_scales
if_whole "the scale of papers" scale_of_papers
if_whole "rows of another seed" other_seed
exhaustive "nothing is kept" nothing_kept
ok_if_empty "kept rows that are others" "$(bad_kept)"
ok_if_empty "a scale where there is none" "$(scale_refused)"
if [ -n "${BITCUT_LONG:-}" ]; then
    ok_if_empty "report makes a page, data and figures" "$(report_made)"
else
    skip "report makes a page, data and figures" long
fi
echo "1..$n"
