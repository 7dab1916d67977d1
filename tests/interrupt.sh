#!/bin/sh
# SIGINT and SIGTERM: long work ends soon, with status 3 and one line, leaves no file half
# written, and keeps what was finished.
set -u
: "${BITCUT_DATA:=$(cd "${srcdir:-.}" && pwd)/data}"
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
mkdir "$work/run"
cd "$work/run" || exit 99
n=0

# ok_if_empty WHAT OFFENDERS: one TAP line, the offenders as comments.
ok_if_empty() {
    n=$((n + 1))
    if [ -z "$2" ]; then echo "ok $n - $1"; return; fi
    echo "not ok $n - $1"
    printf '%s\n' "$2" | sed 's/^/# /'
}

# watch PROCESS: kill it if it is still there after a while.
watch() {
    trap 'kill $!; exit' TERM
    sleep 60 &
    wait $!
    kill -KILL "$1"
}

# start WORD...: run bitcut in the background, under watch.
start() {
    bitcut "$@" < /dev/null > ../out 2> ../err &
    pid=$!
    watch $pid > ../watch 2>&1 &
    watcher=$!
}

# interrupt SIGNAL: send it to what was started; what is wrong with how that ends.
interrupt() {
    kill -s "$1" $pid 2>&1
    wait $pid
    status=$?
    kill $watcher 2> ../watch
    wait $watcher
    [ $status -eq 3 ] || echo "status $status, not 3"
    case $(wc -l < ../err):$(cat ../err) in
    '1:bitcut: '*) ;;
    *) echo "standard error is not one line: $(cat ../err)" ;;
    esac
    grep -v '^{.*}$' ../out
}

# interrupted SIGNAL WORD...: the same a second after the start, and with which files.
interrupted() {
    signal=$1
    shift
    echo old > D.npy
    start "$@" --threads 1 --json
    sleep 1
    interrupt "$signal"
    [ "$(ls -A):$(cat D.npy)" = D.npy:old ] || ls -Al
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
    start report -o new --threads 1 --json
    for _ in $(seq 40); do
        [ ! -e new/index.html ] || break
        sleep 1
    done
    interrupt INT
    page_is_true
    rm -rf new
}

for signal in INT TERM; do
    ok_if_empty "gemm, SIG$signal" "$(interrupted $signal gemm --recipe ootomo --unit a100 \
        -m 4096 -n 4096 -k 1024 --reference none -o D.npy)"
done
ok_if_empty "the reference of gemm" "$(interrupted INT gemm --recipe plain --unit a100 \
    -m 256 -n 256 -k 1024 --reference mpfr -o D.npy)"
ok_if_empty "split" "$(interrupted INT split --exhaustive --from -126 --to 127)"
# shellcheck disable=SC2046 # one word a set
ok_if_empty "replay" "$(interrupted INT replay $(yes "$BITCUT_DATA/h200/wgmma_m64n8k16_f16_f32" |
    head -n 1000))"
ok_if_empty "study" "$(interrupted INT study table1)"
ok_if_empty "bench" "$(interrupted INT bench exact -n 1536)"
ok_if_empty "report" "$(report_interrupted)"
echo "1..$n"
