#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# SIGTERM (and SIGINT and SIGHUP alike): a command ends within two seconds wherever it is, with status
# 3 (SIGINT: 130) and one line, leaves no file half written and no process behind, and keeps
# what was finished.
# A shell without job control starts background commands with SIGINT ignored, and bitcut
# leaves an ignored signal ignored; so the signal here is SIGTERM.
# Run in the build folder with srcdir, CC and CFLAGS set, as `make check` does.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
: "${srcdir:=.}" "${CC:=cc}" "${CFLAGS:=}"
: "${BITCUT_DATA:=$(cd "$srcdir" && pwd)/data}"
# shellcheck disable=SC2034 # of model_built
source=$(cd "$srcdir" && pwd) libraries=$PWD/.libs
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
mkdir "$work/run"
cd "$work/run" || exit 99

pause() {
    sleep "$1" &
    wait $!
}

milliseconds() { echo $(($(date +%s%N) / 1000000)); }

# send SIGNAL FILE: to the process noted in ../pid, after $seconds and not before FILE
# ("" for none) is there; kill it if it is still running a minute later.
seconds=1
send() {
    trap 'kill $!; exit' TERM
    pause $seconds
    while [ ! -s ../pid ]; do pause 1; done # a busy machine starts programs late
    for _ in $(seq 40); do
        case $2 in '') break ;; esac
        [ ! -e "$2" ] || break
        pause 1
    done
    milliseconds > ../sent
    kill -s "$1" "$(cat ../pid)"
    pause 60
    kill -s KILL "$(cat ../pid)"
}

# interrupt SIGNAL FILE WORD...: run bitcut and send it that; what is wrong with how it
# ends.  It runs in the foreground, for a shell has SIGINT ignored in the background.
interrupt() {
    rm -f ../pid ../sent
    send "$1" "$2" > ../send 2>&1 &
    sender=$! want=3
    [ "$1" != INT ] || want=130
    shift 2
    # shellcheck disable=SC2016 # for the inner shell
    sh -c 'echo $$ > ../pid; exec bitcut "$@"' sh "$@" < /dev/null > ../out 2> ../err
    status=$?
    taken=$(($(milliseconds) - $(cat ../sent || milliseconds)))
    kill $sender
    wait $sender
    [ -s ../sent ] || echo "it was over before the signal"
    [ $taken -le 2000 ] || echo "it ended $taken ms after the signal"
    [ $status -eq $want ] || echo "status $status, not $want"
    case $(wc -l < ../err):$(cat ../err) in
    '1:bitcut: '*) ;;
    *) echo "standard error is not one line: $(cat ../err)" ;;
    esac
    grep -v '^{.*}$' ../out
}

# interrupted SIGNAL WORD...: the same $seconds after the start, and with which files.
interrupted() {
    signal=$1
    shift
    echo old > ../old
    cp ../old D.npy
    interrupt "$signal" '' "$@" --threads 1 --json
    [ "$(ls -A)" = D.npy ] || ls -Al
    cmp ../old D.npy 2>&1
}

# The page in `new` against the data beside it.
page_is_true() {
    [ "$(tail -n 1 new/index.html)" = '</body></html>' ] || echo "the page is cut short"
    [ -s new/table1.csv ] || echo "no table1.csv"
    for study in $(bitcut list studies | awk 'NR > 1 { print $1 }'); do
        said=$(sed -n "/<section id=\"$study\">/,/<\/section>/p" new/index.html)
        case $said in
        '') echo "no section $study" ;;
        *'Not finished'*) [ ! -e "new/$study.csv" ] || echo "$study is finished" ;;
        *) [ -s "new/$study.csv" ] || echo "$study is not finished" ;;
        esac
    done
    grep -q 'Not finished' new/index.html || echo "everything was finished"
    find new -name '*.tmp'
}

# A report stopped after its first study.
report_interrupted() {
    interrupt TERM new/index.html report -o new --threads 1 --json
    page_is_true
    rm -rf new
}

# A report stopped while it waits for gnuplot, which never ends: both end.
figure_interrupted() {
    mkdir ../bin
    # shellcheck disable=SC2016 # for the script
    printf '#!/bin/sh\necho $$ > ../gnuplot\nexec sleep 100\n' > ../bin/gnuplot
    chmod +x ../bin/gnuplot
    path=$PATH PATH=$work/bin:$PATH
    interrupt TERM ../gnuplot report --no-studies -o new --threads 1 --json
    PATH=$path
    kill "$(cat ../gnuplot)" 2> /dev/null && echo "gnuplot still ran"
    [ ! -e new/speed.csv ] || echo "the data of an unfinished section"
    grep -q '<section id="verify">' new/index.html || echo "no finished section"
    rm -rf new
}

# What was finished is printed, also without --json, where rows wait for the last one: one
# row as a list of fields, more as a table.
rows_interrupted() {
    interrupt TERM '' probe --mutants --threads 1 > ../rows
    head -n 1 ../rows | grep -q '^unit  ' || cat ../rows
    [ "$(wc -l < ../rows)" -gt 1 ] || echo "no rows"
}

# explain_interrupted SIGNAL SENTENCE WORD...: what was found by then is said.
explain_interrupted() {
    signal=$1 sentence=$2
    shift 2
    interrupt "$signal" '' explain "$@" --seconds 600 --threads 1 --json
    grep -q '"interrupted":true' ../out || echo "it does not say that it was interrupted"
    grep -q "\"hypothesis\":\"[^\"]*$sentence" ../out || cat ../out
    grep -q '"found":true,"compared":0' ../out && echo "something is found in nothing"
    grep -Eq 'stopped; [1-9][0-9]* hypotheses were tried, and [0-9]+ of' ../err || cat ../err
}

comparing_interrupted() {
    export BITCUT_SIMD=none
    explain_interrupted TERM 'interrupted when [1-9][0-9]* of 768 rows were compared' \
        -a ../small.npy -b ../small.npy -d ../small.npy --recipe ootomo \
        --unit ampere/mma.m16n8k16.f32.f16
}

# in_time COMMAND WORD...: when it is where it is to be stopped is not known beforehand: a stop
# before that is tried again later.
in_time() {
    for seconds in 1 2 4 8 16 32; do
        said=$("$@")
        [ -n "$said" ] || return
    done
    echo "$said"
}

# npy FILE TYPE SHAPE BYTES: an array of zeros, of so many bytes, that takes no room.
npy() {
    header="{'descr': '$2', 'fortran_order': False, 'shape': ($3), }"
    length="\\0$(printf %o ${#header})\\0000"
    printf '%b%s' "\\0223NUMPY\\0001\\0000$length" "$header" > "$1"
    truncate -s +"$4" "$1"
}

inputs_made() {
    npy ../f16.npy '<f2' '65536, 16, 16' 33554432
    npy ../f32.npy '<f4' '65536, 16, 16' 67108864
    npy ../matrix.npy '<f4' '3072, 3072' 37748736
    npy ../small.npy '<f4' '768, 768' 2359296
    for seed in 1 2; do
        bitcut gemm --recipe plain --unit a100 -m 256 -n 256 -k 2048 --seed $seed \
            --save-a ../A$seed.npy --save-b ../B$seed.npy -o ../D$seed.npy \
            --reference none > ../made
    done
    { echo '%%MatrixMarket matrix array real general' && yes '%' | head -n 96000000 &&
        printf '1 1\n1\n'; } > ../comments.mtx
}

# signals: INT if it is not ignored from the start, as in the background; TERM.
signals() {
    sh -c 'trap "echo INT" INT; kill -s INT $$'
    echo TERM
}

# hangup: HUP likewise, which nohup ignores.
hangup() { sh -c 'trap "echo HUP" HUP; kill -s HUP $$'; }

for signal in $(signals) $(hangup); do
    ok_if_empty "gemm, SIG$signal" "$(interrupted "$signal" gemm --recipe ootomo \
        --unit a100 -m 4096 -n 4096 -k 4096 --reference none -o D.npy)"
done

# SECONDS until the signal|all: with all cases only|NAME|WORDS: a command in one of its longest loops.
inputs_made
# shellcheck disable=SC2034 # in the table
gemm='gemm --recipe plain --unit a100' f32='gemm --recipe fp32 --unit fma/f32'
# shellcheck disable=SC2034
few='--outputs 1' bf16=$BITCUT_DATA/directed/cdna3/mfma.16x16x16.f32.bf16
square=../matrix.npy
export gemm f32 few bf16 square
while IFS='|' read -r seconds which name words; do
    eval "set -- $words"
    [ "$which" != all ] || is_whole || { skip "$name" all && continue; }
    case ${BITCUT_BRIEF:+brief}$name in
    brief*,* | briefm* | briefb*) skip "$name" whole && continue ;;
    esac
    ok_if_empty "$name" "$(interrupted TERM "$@")"
done << 'END'
5|all|gemm, its reference by mpfr|$gemm -m 128 -n 128 -k 65536 --reference mpfr -o D.npy
3|all|gemm, its reference|$f32 -m 64 -n 64 -k 8000000 -o D.npy
1|all|gemm, input gendot|$gemm --input-a "gendot" --input-b "gendot" -m 9 -n 6000 -k 6000
1|all|gemm, worst inputs|gemm --scheme slices-f16 --unit h100 --worst-inputs -m 4 -n 4 -k 4096
1||gemm, input spatial|$gemm --input-a spatial -m 16000 -n 9 -k 16000
0.5||gemm, reading|$f32 -a ../comments.mtx -b ../comments.mtx -c ../comments.mtx
3||gemm, writing|$f32 -m 9000 -n 9000 -k 1 --reference none -o D.mtx
1||bound, watching|bound --recipe ootomo --unit a100 -m 64 -n 64 -k 4000 --samples 4096
2|all|bound, its limits|bound --recipe ootomo --unit a100 -m 1500 -n 1500 -k 9000
1||mma|mma --unit ideal/rn25 -a ../f16.npy -b ../f16.npy -c ../f32.npy -o D.npy
1||verify|verify --recipe ootomo --unit a100 -a $square -b $square -d $square
1||split|split --samples 4000000000
1||replay|replay $(yes "$BITCUT_DATA/h200" | head -n 500)
1||fit|fit $few "$bf16"
1||probe|probe --mutants
1|all|probe of sets|probe --mutants $(yes "$BITCUT_DATA/h200" | head -n 500)
1||tolerance|tolerance --recipe ootomo --unit a100 --seeds 1000000
2|all|tolerance, its faults|tolerance --recipe ootomo --unit a100 --seeds 3 --power 100000
1|all|tolerance, one run|tolerance --recipe fp32 --unit fma/f32 -k 8000000
1||study|study legemm --scale paper
1||bench exact|bench exact -n 1536
1|all|bench exact, the fma loop|bench exact -n 16384
1||bench emu|bench emu -n 8192
END
for signal in $(signals); do
    ok_if_empty "explain, SIG$signal in its search" "$(in_time explain_interrupted "$signal" \
        'Interrupted after [1-9][0-9]* hypotheses' -a ../A1.npy -b ../B1.npy -d ../D2.npy)"
done
exhaustive "explain, comparing" "in_time comparing_interrupted"
seconds=1
exhaustive "report" report_interrupted
exhaustive "report, its figure" figure_interrupted
exhaustive "rows for people" "in_time rows_interrupted"
if [ -f "$libraries/libbitcut.so" ]; then
    export BITCUT_MODULES="$work/models"
    ok_if_empty "a model device is built" "$(model_built "$BITCUT_MODULES")"
    ok_if_empty "record" "$(interrupted TERM record --random 100000000)"
    ok_if_empty "verify --kernel" "$(interrupted TERM verify --kernel all)"
    ok_if_empty "verify --kernel split" "$(interrupted TERM verify --kernel split)"
else
    skip "commands of a device" shared
fi
echo "1..$n"
