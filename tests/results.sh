#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Reports about recorded results: their figures, printed values, and errors.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
: "${BITCUT_DATA:=$(cd "${srcdir:-.}" && pwd)/data}"
export BITCUT_DATA
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99

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
    same_folders same other
    for words in '"name":"stages"' '"sees":"Above 1' '"commit":"' '"compiler":"' '"flags":"' \
        '"processor":"' '"command":"bitcut bench gpu --study stages"' \
        '"recorded":"NVIDIA H200' '"rows":\['; do
        grep -q "$words" same/stages.json || echo "no $words"
    done
    grep -q '<figcaption>Above 1, asynchronous copies help' same/index.html || echo 'no caption'
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
        ! grep '<b[>&]' hostile/index.html || echo "$name is markup"
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

# A kept page is not touched by results that cannot be read.
report_refused() {
    cp -r kept before
    echo '{}' > bad.jsonl
    run 3 report --no-studies --results bad.jsonl -o kept
    same_folders before kept
    BITCUT_DATA=$work/nowhere run 3 report --no-studies
    BITCUT_DATA=$work/nowhere run 2 report --no-studies --no-results
    run 2 report --no-results --results bad.jsonl
}

ok_if_empty "report draws kept results" "$(results_drawn)"
ok_if_empty "report is the same anywhere" "$(report_same)"
ok_if_empty "report quotes names" "$(results_quoted)"
ok_if_empty "report keeps long names" "$(long_names_whole)"
if command -v gnuplot > /dev/null; then
    ok_if_empty "report ignores the settings of gnuplot" "$(settings_ignored)"
else
    skip "report ignores the settings of gnuplot" "the package gnuplot"
fi
ok_if_empty "report without readable results" "$(report_refused)"
echo "1..$n"
