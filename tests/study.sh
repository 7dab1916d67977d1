#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bitcut study: parts that merge to the whole, byte for byte, continued runs, and
# verdicts.
# Run in the build folder with srcdir set, as `make check` does.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
: "${srcdir:=.}"
BITCUT_DATA=${BITCUT_DATA:-$(cd "$srcdir" && pwd)/data}
export BITCUT_DATA
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99

bitcut study figure5 --json > whole.jsonl
bitcut study figure5 --shard 0/3 -o 0.jsonl > /dev/null
bitcut study figure5 --shard 1/3 -o 1.jsonl --threads 1 > /dev/null
bitcut study figure5 --shard 2/3 --json > 2.jsonl

merged() {
    [ "$(wc -l < whole.jsonl)" -eq 200 ] || echo "not 200 rows"
    run 0 study --merge 1.jsonl 2.jsonl 0.jsonl --json
    cmp out whole.jsonl 2>&1
    run 0 study --merge 2.jsonl 0.jsonl 0.jsonl 1.jsonl -o merged.jsonl
    cmp merged.jsonl whole.jsonl 2>&1
    run 0 study --merge whole.jsonl --verdicts --json
    expect verdict agrees
}

# A part alone is no answer.
incomplete() {
    run 0 study --merge 1.jsonl --verdicts --json
    expect verdict cannot
    expect reason '35 of 50 points are missing'
}

# undigested SCRIPT FILE: rows changed by a script for sed, without the digests that tell.
undigested() { sed "$1"';s/,"digest":"[^"]*"}$/}/' "$2"; } # a file, or - for standard input

# What is there is kept, a point that was cut off is computed again, and the file is the
# same as of a run without a pause.
resumed() {
    head -n 42 whole.jsonl > cut.jsonl # ten points and a half
    run 0 study figure5 --resume -o cut.jsonl --json
    expect resumed 10
    expect computed 40
    cmp cut.jsonl whole.jsonl 2>&1
    run 0 study figure5 --resume -o cut.jsonl --json
    expect computed 0
    cmp cut.jsonl whole.jsonl 2>&1
    run 0 study figure5 --shard 0/3 --resume -o new.jsonl
    cmp new.jsonl 0.jsonl 2>&1
}

# Shards have all points, and similar sums of k, which is the work of a point of figure5.  Taking
# every seventh point would give sums from 7088 to 15216.
balanced() {
    for shard in 0 1 2 3 4 5 6; do
        run 0 study figure5 --shard $shard/7 --json
        mv out shard$shard.jsonl
        grep -o '"k":[0-9]*,.*"round":[0-9]*' shard$shard.jsonl | sort -u |
            awk -F '[:,]' '{ k[$2 "," $4] = $2 } END { for (i in k) sum += k[i]; print sum }'
    done > work
    [ "$(tr '\n' ' ' < work)" = '12288 11600 11600 11600 11584 11584 11584 ' ] || cat work
    run 0 study --merge shard[0-6].jsonl -o all7.jsonl --json
    expect points 50
    expect resumed 50
    expect computed 0
    cmp all7.jsonl whole.jsonl 2>&1
    run 0 study --merge shard[1-6].jsonl -o all7.jsonl --json
    expect resumed "$((50 - $(grep -o '"point":[0-9]*' shard0.jsonl | sort -u | wc -l)))"
}

# Rows of two versions are refused, also to continue a file; rows of none are not, and take it
# from the file.
versions() {
    undigested 's/"version":"[^"]*"/"version":"0.0.1"/' 1.jsonl > other-version.jsonl
    undigested 's/"version":"[^"]*",//' 1.jsonl > no-version.jsonl
    version=$(bitcut --version | sed 's/.* //')
    grep -q "\"version\":\"$version\",\"schema\"" 0.jsonl || head -n 1 0.jsonl
    why="the row was computed by bitcut 0.0.1, and others by $version; compute it again"
    refused 3 "other-version.jsonl:1: $why" study --merge 0.jsonl 2.jsonl other-version.jsonl
    refused 3 "other-version.jsonl:1: $why" study figure5 --resume -o other-version.jsonl
    refused 3 "2.jsonl:1: the row was computed by bitcut $version, and others by 0.0.1" \
        study --merge no-version.jsonl other-version.jsonl 2.jsonl
    run 0 study --merge other-version.jsonl --json
    [ "$(value version | sort -u)" = 0.0.1 ] || cat out
    run 0 study --merge 0.jsonl no-version.jsonl 2.jsonl --json
    ! grep -q '"version"' out || cat out
    undigested 's/"version":"[^"]*",//' whole.jsonl > unversioned.jsonl
    undigested '' out | cmp - unversioned.jsonl 2>&1
}

# The rows of a file decide, not those of the program.
altered() {
    undigested 's/"recipe":"mma_rn"/"recipe":"mma_xx"/; s/"recipe":"mma_rz"/"recipe":"mma_rn"/
         s/"recipe":"mma_xx"/"recipe":"mma_rz"/' whole.jsonl > swapped.jsonl
    run 0 study --merge swapped.jsonl --verdicts --json
    [ "$(value verdict | tr '\n' ' ')" = 'differs differs ' ] || cat out
}

# Speed is judged by rows of the device that the claim is of, and by no others.
devices_decide() {
    run 0 study recorded -o h200.jsonl
    run 0 study --merge h200.jsonl --verdicts --json
    [ "$(value verdict | sort -u)" = cannot ] || cat out
    grep '"name":"square-sgemm"' out | grep -q '"reason":"it takes A800 hardware; on ' ||
        cat out
    grep '"name":"square-sgemm"' out | grep -q '"ours":null' && cat out
    undigested 's/NVIDIA H200/NVIDIA A800-SXM4-80GB/g' h200.jsonl > a800.jsonl
    run 0 study --merge a800.jsonl --verdicts --json
    [ "$(grep '"device":"A800"' out | grep -c '"verdict":"differs"')" -eq 16 ] || cat out
    grep -v '"device":"A800"' out | grep -v '"verdict":"cannot"'
}

# Whose a claim is, what its phrase is taken to mean and what other seeds could give.
whose() {
    own='xf32:2'
    ! is_whole || own='xf32:2 scale:10'
    # shellcheck disable=SC2046,SC2086 # words
    run 0 study figure5 $(printf '%s\n' $own | sed 's/:.*//') libraries --verdicts --json
    grep '"origin":"paper"' out | grep -c '"paper":"bitcut.s own question' | grep -vx 0
    grep '"origin":"bitcut"' out | grep -v '"paper":"bitcut.s own question'
    for study in $own; do
        [ "$(grep "\"study\":\"${study%:*}\"" out | grep -c '"origin":"bitcut"')" -eq "${study#*:}" ] ||
            cat out
    done
    grep -q '"name":"figure5-rn".*"criterion":"same accuracy","interval":\[' out || cat out
    for claim in cublas-fast16f cublas-bf16x9; do
        grep -q "\"name\":\"$claim\".*\"verdict\":\"cannot\",\"reason\":\"..*\"" out || cat out
    done
}

# The kept rows of LE-GEMM have its sizes: no number is decided within the factor of its tails.
undecided() {
    run 0 study --merge "$BITCUT_DATA/studies/legemm.jsonl" --verdicts --json
    grep -q '"name":"mi210-max-ootomo".*"verdict":"undecided","reason":".*assumed: n of 512' out ||
        cat out
    grep -q '"name":"mi210-max-plain".*"verdict":"differs"' out || cat out
}

# Without data the studies that read them fail, and keep the file of -o as it was; the others do
# not mind.  A folder that cannot be read is not one without files.
no_data() {
    run 0 study tile -o tile.jsonl
    cp tile.jsonl before.jsonl
    mkdir -p unreadable loop
    ln -sf libraries loop/libraries
    : > unreadable/gpu
    while IFS='|' read -r name folder message; do
        # shellcheck disable=SC2030 # here alone
        (
            export BITCUT_DATA="$work/$folder"
            refused 3 "$message" study "$name" -o tile.jsonl --resume
            refused 3 "$message" study "$name" -o tile.jsonl
            refused 3 "$message" study "$name" --verdicts
        )
        cmp tile.jsonl before.jsonl 2>&1
    done << 'END'
tile|nowhere|GPUs: no file \*.json in .*/nowhere/gpu (BITCUT_DATA sets
recorded|nowhere|recorded results: no file \*.jsonl in
libraries|nowhere|recorded libraries: no file \*.jsonl in
tile|unreadable|GPUs: .*/unreadable/gpu: Not a directory
libraries|loop|recorded libraries: .*/loop/libraries: Too many levels of symbolic links
END
    BITCUT_DATA=$work/nowhere run 0 study xf32 --json
    ls -- *.tmp *.lock 2> /dev/null
}

# What is there but cannot be read is not a new file.
unreadable_file() {
    mkfifo pipe
    refused 3 'pipe: not a regular file' study xf32 --resume -o pipe
    ln -sf circle circle
    refused 3 'circle: Too many levels of symbolic links' study xf32 --resume -o circle
    refused 3 'whole.jsonl/x: Not a directory' study xf32 --resume -o whole.jsonl/x
    mkdir folder
    refused 3 'folder: Is a directory' study xf32 --resume -o folder
    [ "$(id -u)" -ne 0 ] || return
    cp whole.jsonl secret.jsonl
    chmod 200 secret.jsonl
    refused 3 'secret.jsonl: Permission denied' study figure5 --resume -o secret.jsonl
    chmod 600 secret.jsonl
    cmp secret.jsonl whole.jsonl 2>&1
}

# The second of two that write one file is refused; what the first has stays.
one_writer() {
    command -v flock > /dev/null || return
    cp 0.jsonl shared.jsonl
    cp 0.jsonl before.jsonl
    ln -sf shared.jsonl other-name.jsonl
    for name in shared other-name; do
        flock shared.jsonl.lock bitcut study figure5 --resume -o $name.jsonl > out 2> err
        [ $? -eq 3 ] || echo "$name: it was not refused"
        grep -q "bitcut: $name.jsonl: another process is writing this file" err || cat err
        cmp shared.jsonl before.jsonl 2>&1
    done
    run 0 study figure5 --resume -o shared.jsonl # a lock that nobody holds
    cmp shared.jsonl whole.jsonl 2>&1
    [ ! -e shared.jsonl.lock ] || echo "the lock stays"
}

# Recorded rows of an earlier version, which left the implicit bit out, are read as rows of this one.
renewed() {
    run 0 study --merge "$BITCUT_DATA/studies/underflow.jsonl" -o renewed.jsonl
    run 0 study underflow --scale paper --shard 125/140 -o this-version.jsonl
    [ -s this-version.jsonl ] || echo "no rows"
    grep '"point":125,' renewed.jsonl | undigested '' - > then.jsonl
    undigested 's/"version":"[^"]*",//' this-version.jsonl | cmp then.jsonl - 2>&1
    grep -q '"bits":2[0-9.]*,.*"bits_of":24' this-version.jsonl || cat this-version.jsonl
    run 0 study --merge renewed.jsonl -o again.jsonl
    cmp renewed.jsonl again.jsonl 2>&1
}

two_studies() {
    run 0 study xf32 figure9 -o two.jsonl --json
    [ "$(value study | tr '\n' ' ')" = 'figure9 xf32 ' ] || cat out
    run 0 study xf32 --json
    cat out > apart
    run 0 study figure9 --json
    cat out apart | cmp - two.jsonl 2>&1
}

# refused STATUS WORDS ARGUMENT...: with one line that has the words.
refused() {
    status=$1 words=$2
    shift 2
    run "$status" "$@"
    grep -qe "$words" err || cat err
}

refusals() {
    refused 2 '--shard must be I/N' study figure5 --shard 3/3
    refused 2 '--shard must be I/N' study figure5 --shard 1
    refused 2 '--shard must be I/N' study figure5 --shard -1/3
    refused 2 '--scale: unknown name' study figure5 --scale large
    refused 2 '--resume requires -o' study figure5 --resume
    refused 2 '--merge requires the files to merge' study --merge
    refused 2 '--merge cannot be combined' study --merge 0.jsonl --scale paper
    refused 2 '--merge found no rows in the files' study --merge empty.jsonl
    refused 2 'for several studies' study table1 table2
    refused 3 'nowhere.jsonl: No such file' study --merge nowhere.jsonl
    refused 3 'open.jsonl:1: ' study --merge open.jsonl
    refused 3 'other.jsonl:1: expected a row of a study' study --merge other.jsonl
    refused 3 'seed.jsonl:1: the seed of the row is not 1' study --merge 0.jsonl seed.jsonl
    refused 3 'scale.jsonl:1: the scale of the row' study --merge 0.jsonl scale.jsonl
    refused 3 'point.jsonl:1: figure5 has no point 999' study --merge point.jsonl
    refused 3 'version.jsonl:1: the row was computed by another version' study --merge version.jsonl
    refused 3 'changed.jsonl: point [0-9]* of figure5 has different rows' \
        study --merge 0.jsonl changed.jsonl
    refused 3 'seed.jsonl:1: the seed of the row' study figure5 --resume -o seed.jsonl
    refused 3 'damaged.jsonl:3: the row was changed' study figure5 --resume -o damaged.jsonl
    refused 3 'nowhere/x.jsonl: ' study xf32 -o nowhere/x.jsonl
}
: > empty.jsonl
echo '{"study":"figure5"' > open.jsonl
echo '{"study":"figure0","scale":"small","seed":1,"point":0,"rows":1}' > other.jsonl
sed 's/"seed":1/"seed":2/' 1.jsonl > seed.jsonl
sed 's/"small"/"paper"/' 1.jsonl > scale.jsonl
sed 's/"point":[0-9]*,/"point":999,/' 1.jsonl > point.jsonl
undigested 's/"k":16,/"k":17,/' 0.jsonl > changed.jsonl
sed '3s/"k":16,/"k":17,/' 0.jsonl > damaged.jsonl
sed 's/bitcut-study.1/bitcut-study\/0/' 1.jsonl > version.jsonl

# counted FILE: what the manual lacks of how many of these verdicts there are.
counted() {
    for origin in 'paper claims of papers' "bitcut questions of bitcut's own"; do
        grep "\"origin\":\"${origin%% *}\"" "$1" > of
        words="of $(grep -c . of) ${origin#* }"
        for word in agrees/agree, differs/differ, 'undecided/are undecided and' \
            'cannot/cannot be judged'; do
            words="$words $(grep -c "\"verdict\":\"${word%/*}\"" of) ${word#*/}"
        done
        tr '\n' ' ' < "$BITCUT_DATA/../doc/bitcut.texi" | grep -qF "$words" ||
            echo "manual: not $words"
    done
}

# Studies at small scale: all their claims.  Studies of seconds that a report or the manual's
# examples compute as well are left out without BITCUT_LONG.
all_judged() {
    omitted='legemm underflow figure1 scale'
    [ -z "${BITCUT_LONG:-}" ] || omitted=
    # shellcheck disable=SC2086 # a word a study
    studies=$(bitcut list studies --json | sed 's/^{"name":"\([^"]*\).*/\1/' |
        grep -vxF "$(printf '%s\n' none $omitted)")
    # shellcheck disable=SC2086 # a word a study
    run 0 study $studies --verdicts --json
    [ "$(wc -l < out)" -gt 60 ] || echo "few verdicts"
    for word in agrees differs cannot; do
        value verdict | grep -qx $word || echo "none $word"
    done
    grep -v '"reason":"..' out
    for study in $studies; do
        bitcut list claims --json | grep "\"study\":\"$study\"" |
            sed 's/^{"name":"\([^"]*\).*/\1/'
    done > claims
    value name | cmp - claims 2>&1
    [ -z "${BITCUT_LONG:-}" ] || counted out
    # What a table counts in full is so on every machine.
    for claim in table1-rows table2-rows table1-expected table2-expected eq15; do
        grep -q "\"name\":\"$claim\".*\"verdict\":\"agrees\"" out || echo "$claim"
    done
}

# ratios KEY: lines of the manual's table of LE-GEMM by n: the error of each method over its
# own, both geometric means over the seeds, against the exact product.
ratios() {
    grep '"reference":"exact"' "$BITCUT_DATA/studies/legemm.jsonl" |
        sed "s/.*\"unit\":\"\([^\"]*\)\",\"recipe\":\"\([^\"]*\)\".*\"n\":\([0-9]*\).*\"$1\":\([^,]*\),.*/\1 \2 \3 \4/" |
        awk '{ sum[$1, $2, $3] += log($4); count[$1, $2, $3]++ }
            function over(unit, method, n) {
                seeds = n > 8192 ? 4 : 8
                if (count[unit, method, n] != seeds) return "none"
                of = sum[unit, method, n] - sum[unit, "legemm", n]
                return sprintf("%.3g", exp(of / seeds)) + 0
            }
            END {
                split("mi210 a800", units); split("MI210 A800", names)
                split("plain markidis ootomo ootomo-unpromoted legemm-gradual", methods)
                for (u = 1; u <= 2; u++) for (i = 1; i <= 5; i++) {
                    line = names[u] " @tab " methods[i]
                    for (n = 512; n <= 16384; n *= 2)
                        line = line " @tab " over(units[u], methods[i], n)
                    print line
                }
            }'
}

# promotions: the same of promotion, on each unit, and of FP32.
promotions() {
    sed 's/.*"recipe":"\([^"]*\)","unit":"\{0,1\}\([^",]*\).*"n":\([0-9]*\).*"relres":\([^,]*\),.*/\1 \2 \3 \4/' \
        "$BITCUT_DATA/studies/promotion.jsonl" |
        awk '{ sum[$1, $2, $3] += log($4); count[$1, $2, $3]++ }
            function over(x, unit, y, of, n) {
                if (count[x, unit, n] != 8 || count[y, of, n] != 8) return "none"
                return sprintf("%.3g", exp((sum[x, unit, n] - sum[y, of, n]) / 8)) + 0
            }
            function line(name, x, unit, base, y, of) {
                print name " @tab " base " @tab " over(x, unit, y, of, 256) " @tab " \
                    over(x, unit, y, of, 1024) " @tab " over(x, unit, y, of, 4096)
            }
            END {
                units = split("v100 a100 h100 b200 mi100 mi210 mi300", unit)
                for (u = 1; u <= units; u++)
                    line("unpromoted, " toupper(unit[u]), "unpromoted", unit[u], "promoted", \
                        "promoted", unit[u])
                recipes = split("tf32x3 tf32x3-promoted bf16x6 bf16x6-promoted", recipe)
                for (r = 1; r <= recipes; r++)
                    line(recipe[r] ", H100", recipe[r], "h100", "one FP32 sum", "fp32", "null")
            }'
}

# schemes_told: what the manual's table of claims about FP64 schemes lacks of the verdicts.
schemes_told() {
    sed -n 's/^{"study":"fp64",.*"claim":"\([^"]*\)".*"verdict":"\([^"]*\)".*/\1@\2/p' out.verdicts |
        while IFS=@ read -r claim verdict; do
            grep -F "@item $claim @tab " "$BITCUT_DATA/../doc/fp64.texi" | grep -q "@tab $verdict\$" ||
                echo "manual: not $claim: $verdict"
        done
}

# What was computed at the scale of papers, for hours: the manual has its verdicts, and the
# points that are computed anew are those of the files.
paper_scale() {
    run 0 study --merge "$BITCUT_DATA"/studies/*.jsonl --verdicts --json
    cp out out.verdicts
    counted out
    schemes_told
    for error in max_error mred; do
        ratios $error | while read -r line; do
            grep -qxF "@item @code{$error} @tab $line" "$BITCUT_DATA/../doc/bitcut.texi" ||
                echo "manual: not $error $line"
        done
    done
    promotions | while read -r line; do
        grep -qxF "@item $line" "$BITCUT_DATA/../doc/bitcut.texi" || echo "manual: not $line"
    done
    for claim in figure11-type2 figure11-type3; do
        grep -q "\"name\":\"$claim\".*\"verdict\":\"differs\"" out || echo "$claim"
    done
    for name in $(printf '%s\n' figure1 figure5 figure11 figure13 dropped legemm promotion xf32 \
        mi200 flush cdna slices fp64 | part 3); do
        grep -v '"point":0,' "$BITCUT_DATA/studies/$name.jsonl" > all.jsonl
        run 0 study "$name" --scale paper --resume -o all.jsonl --json
        expect computed 1
        grep '"point":0,' all.jsonl > point.jsonl
        grep '"point":0,' "$BITCUT_DATA/studies/$name.jsonl" | cmp - point.jsonl 2>&1
    done
    grep -o '^| [a-z0-9]* | [0-9]* | [0-9]* | [0-9]* | [0-9]* | [0-9]* |$' "$BITCUT_DATA/README.md" |
        while read -r _ name _ points _ agrees _ differs _ undecided _ cannot _; do
            file=$BITCUT_DATA/studies/$name.jsonl
            found=$(grep -o '"point":[0-9]*' "$file" | sort -u | wc -l)
            for word in agrees differs undecided cannot; do
                found="$found $(grep "^{\"study\":\"$name\"" out.verdicts |
                    grep -c "\"verdict\":\"$word\"")"
            done
            [ "$found" = "$points $agrees $differs $undecided $cannot" ] || echo "$name: $found"
        done
}

ok_if_empty "parts merge to the whole, byte for byte" "$(merged)"
ok_if_empty "parts alone are no answer" "$(incomplete)"
ok_if_empty "a run goes on" "$(resumed)"
ok_if_empty "shards are balanced" "$(balanced)"
ok_if_empty "rows of two versions" "$(versions)"
ok_if_empty "verdicts follow the rows" "$(altered)"
ok_if_empty "speed is a device's" "$(devices_decide)"
exhaustive "papers' claims and bitcut's own" whose
ok_if_empty "what is undecided" "$(undecided)"
ok_if_empty "without data" "$(no_data)"
ok_if_empty "files that cannot be read" "$(unreadable_file)"
ok_if_empty "one writer of a file" "$(one_writer)"
ok_if_empty "bits of an earlier version" "$(renewed)"
ok_if_empty "two studies in a file" "$(two_studies)"
ok_if_empty "what is refused" "$(refusals)"
exhaustive "verdicts at the scale of papers" paper_scale
if_whole "all claims are judged" all_judged
echo "1..$n"
