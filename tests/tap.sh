# SPDX-License-Identifier: BSD-3-Clause
# What the tests that are shell scripts share; they read it, having said `set -u`, in the
# folder in which srcdir is right.
# shellcheck shell=sh
n=0
unset COLUMNS # lines of text do not wrap

# ok_if_empty WHAT OFFENDERS: one TAP line, the offenders as comments.
ok_if_empty() {
    n=$((n + 1))
    if [ -z "$2" ]; then echo "ok $n - $1"; return; fi
    echo "not ok $n - $1"
    printf '%s\n' "$2" | sed 's/^/# /'
}

# exhaustive WHAT FUNCTION: the same of what it prints, but not with BITCUT_BRIEF.
exhaustive() {
    if [ -n "${BITCUT_BRIEF:-}" ]; then skip "$1" whole
    else ok_if_empty "$1" "$($2)"; fi
}

# is_whole: BITCUT_WHOLE or BITCUT_LONG asks for all cases.
is_whole() { [ -n "${BITCUT_WHOLE:-}${BITCUT_LONG:-}" ] && [ -z "${BITCUT_BRIEF:-}" ]; }

# if_whole WHAT FUNCTION: the same of what it prints, but only with all cases.
if_whole() {
    if is_whole; then ok_if_empty "$1" "$($2)"
    else skip "$1" all; fi
}

# part [STEP]: of the lines of standard input the first and every STEP-th after it (1: all);
# every line with all cases; with BITCUT_BRIEF every eighth, or every Nth, N its value if that
# is above 1.
part() {
    step=${1:-1}
    if [ -n "${BITCUT_BRIEF:-}" ]; then step=8; [ "$BITCUT_BRIEF" -le 1 ] || step=$BITCUT_BRIEF
    elif is_whole; then step=1; fi
    awk -v step="$step" '(NR - 1) % step == 0'
}

# model_built FOLDER WORD...: the model device as the module in a new FOLDER: that of the build, or
# by the compiler with WORD...; $source is the project's folder, $libraries has the library.
model_built() {
    folder=$1
    shift
    mkdir "$folder"
    [ $# -gt 0 ] || ! cp "$libraries/../tests/.libs/bitcut-cuda.so" "$folder" 2> /dev/null || return 0
    # shellcheck disable=SC2086 # a list of words
    $CC -std=c11 $CFLAGS -O1 -g0 "$@" -shared -fPIC -I"$source" -o "$folder/bitcut-cuda.so" \
        "$source"/tests/gpu/device*.c "$libraries/libbitcut.so" -lm -Wl,-rpath,"$libraries" 2>&1
}

# needed THING: what a test that is skipped needs, in words: what to install, or to set.  What
# stands in no row is in words already.
needed() {
    case $1 in
    all) echo "BITCUT_WHOLE=1, as in a check of all cases" ;;
    amd) echo "a compiler of AMD device code: the packages clang, lld and llvm" ;;
    check) echo "the package check, when bitcut is configured" ;;
    executor) echo "bitcut-executor.so: configure with the packages clang, lld and llvm" ;;
    kernels) echo "a module of kernels: configure with nvcc or a compiler of HIP" ;;
    long) echo "BITCUT_LONG=1, as in make check-long" ;;
    numpy) echo "the package python3-numpy" ;;
    parallel) echo "GNU parallel: the package parallel" ;;
    plain) echo "a build without sanitizers" ;;
    python) echo "Python 3.9 or later: the package python3" ;;
    root) echo "the rights of root" ;;
    shared) echo "the shared library: configure without --disable-shared" ;;
    torch) echo "the packages python3-numpy and python3-torch" ;;
    whole) echo "BITCUT_BRIEF unset" ;;
    *) echo "$1" ;;
    esac
}

# skip WHAT THING: one TAP line of a test that is skipped; skip_all THING ends with all of them
# skipped; skip_because WHAT REASON: what the program said, or nothing that could be had.
skip_because() { n=$((n + 1)); echo "ok $n - $1 # SKIP $2"; }
skip() { skip_because "$1" "needs $(needed "$2")"; }
skip_all() { echo "1..0 # SKIP needs $(needed "$1")"; exit 0; }

# own_errors FILE: without what a sanitizer says of memory that cannot be had.
own_errors() {
    case ${CFLAGS:-} in *-fsanitize*) ;; *) return ;; esac
    grep -v '^==[0-9]*==WARNING: AddressSanitizer' "$1" > "$1.own"
    mv "$1.own" "$1"
}

# run STATUS WORD...: run bitcut, its output into `out`; what is wrong if its status is
# another, or standard error has anything but the one line of a status above 1.
run() {
    wanted=$1
    shift
    bitcut "$@" < /dev/null > out 2> err
    status=$?
    own_errors err
    [ "$status" -eq "$wanted" ] || echo "bitcut $*: status $status, not $wanted"
    [ "$(wc -l < err)" -eq $((wanted > 1)) ] || sed 's/^/standard error: /' err
}

# stopped FILE WORD...: a report into that file's folder, until the file is there.
stopped() {
    file=$1
    shift
    rm -rf "${file%/*}"
    bitcut report -o "${file%/*}" "$@" < /dev/null > out 2> err &
    for _ in $(seq 1200); do
        if [ -e "$file" ] || ! kill -0 $! 2> /dev/null; then break; fi
        sleep 0.1
    done
    kill $! 2> /dev/null
    wait $!
    [ -e "$file" ] || { echo "no $file"; cat err; }
}

# short_paste FILE: two lines of a recorded paste, as one that is replayed at once.
short_paste() {
    for line in 'settle:begin version=1 count=2 device=x' "$(sed -n \
        's/^settle:[0-9]* \(op=mm a=f64 .*\) sum=.*/settle:1 \1/p' "$1")" "$(sed -n \
        's/^settle:[0-9]* \(op=scaled a=e5m2 b=e4m3 d=f32 .* k=32 .*\) sum=.*/settle:2 \1/p' "$1")" \
        'settle:end count=2'; do
        printf '%s sum=%.8s\n' "$line" "$(printf %s "$line" | sha256sum)"
    done
}

# value KEY: its values in the JSON Lines in `out`.
value() { sed -n "s/.*\"$1\":\"\{0,1\}\([^,\"}]*\).*/\1/p" out; }

# expect KEY VALUE: what is wrong if that is not the value in every line of `out`.
expect() {
    got=$(value "$1" | sort -u)
    [ "$got" = "$2" ] || echo "$1 is $got, not $2"
}

# flip FILE OFFSET: change the lowest bit of a byte.
flip() {
    byte=$(od -An -tu1 -j "$2" -N 1 "$1")
    printf '%b' "\\0$(printf %o $((byte ^ 1)))" |
        dd of="$1" bs=1 seek="$2" conv=notrunc 2> dd.err
}

# poke FILE OFFSET BYTES: overwrite those bytes, given as octal escapes.
poke() {
    printf '%b' "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc 2> dd.err
}

# bytes FILE: how many it has.
bytes() { wc -c < "$1"; }

# steering FILE...: lines that have control characters, but for tabs.
steering() { LC_ALL=C grep -an "$(printf '[\001-\010\013-\037\177]\|\302[\200-\237]')" "$@"; }

# near KEY VALUE: what is wrong if it has not that value, to nine digits.
near() {
    value "$1" | awk -v key="$1" -v want="$2" '{
        d = $1 - want
        if (!(d * d <= 1e-18 * want * want)) print key " is " $1 ", not " want
    } END { if (!NR) print "no " key }'
}

# by_numpy PROGRAM [MODULE]: run a program of Python that prints TAP, by the first Python with
# NumPy and the module.
by_numpy() {
    for python in python3 /usr/bin/python3; do
        "$python" -c "import numpy, ${2:-numpy}" 2> errors || continue
        "$python" -B "$1"
        exit
    done
    skip_all "${2:-numpy}"
}

# same_folders ONE OTHER: how two folders differ.  PDFs are not compared if a date in them
# is compressed, as by cairo 1.18: then it is the time at which they were made.
same_folders() {
    if find "$1" "$2" -name '*.pdf' -exec grep -aL '/CreationDate (D:20000101000000' {} + | grep -q .; then
        diff -r -x '*.pdf' "$1" "$2"
    else
        diff -r "$1" "$2"
    fi
}
