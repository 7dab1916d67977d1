#!/bin/sh
# SIGTERM (and SIGINT alike): long work ends soon, with status 3 and one line, leaves no
# file half written, and keeps what was finished.
# A shell without job control starts background commands with SIGINT ignored, and bitcut
# leaves an ignored signal ignored; so the signal here is SIGTERM.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
: "${BITCUT_DATA:=$(cd "${srcdir:-.}" && pwd)/data}"
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
mkdir "$work/run"
cd "$work/run" || exit 99

pause() {
    sleep "$1" &
    wait $!
}

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
    kill -s "$1" "$(cat ../pid)"
    pause 60
    kill -s KILL "$(cat ../pid)"
}

# interrupt SIGNAL FILE WORD...: run bitcut and send it that; what is wrong with how it
# ends.  It runs in the foreground, for a shell has SIGINT ignored in the background.
interrupt() {
    rm -f ../pid
    send "$1" "$2" > ../send 2>&1 &
    sender=$!
    shift 2
    # shellcheck disable=SC2016 # for the inner shell
    sh -c 'echo $$ > ../pid; exec bitcut "$@"' sh "$@" < /dev/null > ../out 2> ../err
    status=$?
    kill $sender
    wait $sender
    [ $status -eq 3 ] || echo "status $status, not 3"
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

# signals: INT if it is not ignored from the start, as in the background; TERM.
signals() {
    sh -c 'trap "echo INT" INT; kill -s INT $$'
    echo TERM
}

for signal in $(signals); do
    ok_if_empty "gemm, SIG$signal" "$(interrupted "$signal" gemm --recipe ootomo \
        --unit a100 -m 4096 -n 4096 -k 4096 --reference none -o D.npy)"
done
seconds=5 # after the GEMM, in one tile of minutes
ok_if_empty "gemm, its reference" "$(interrupted TERM gemm --recipe plain --unit a100 \
    -m 128 -n 128 -k 65536 --reference mpfr -o D.npy)"
seconds=1
ok_if_empty "split" "$(interrupted TERM split --exhaustive --from -126 --to 127)"
# shellcheck disable=SC2046 # one word a folder
ok_if_empty "replay" "$(interrupted TERM replay $(yes "$BITCUT_DATA/h200" | head -n 500))"
ok_if_empty "probe" "$(interrupted TERM probe --mutants)"
ok_if_empty "study" "$(interrupted TERM study figure1)"
ok_if_empty "bench" "$(interrupted TERM bench exact -n 1536)"
exhaustive "report" report_interrupted
echo "1..$n"
