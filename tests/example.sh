#!/bin/sh
# The examples: they are short, build against the installed header's library alone, and a
# caller's own GEMM is verified by one, on the module without a GPU; which then lies.
# Run in the build folder with srcdir, CC and CFLAGS set, as `make check` does.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
: "${srcdir:=.}" "${CC:=cc}" "${CFLAGS:=}"
shared=.libs/libbitcut.so
[ -f "$shared" ] || { echo "1..0 # SKIP no shared library"; exit 0; }
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
BITCUT_MODULES=$PWD/tests/.libs
export BITCUT_MODULES

built() {
    # shellcheck disable=SC2086 # lists of words
    $CC -std=c11 $CFLAGS -I"$srcdir/lib" "$srcdir/examples/verify_call.c" "$shared" \
        -Wl,-rpath,"$PWD/.libs" -o "$work/verify_call" 2>&1
}

long() { awk 'END { if (NR > 60) print FILENAME, NR }' "$srcdir"/examples/*.c; }

# ran STATUS TEXT: what goes wrong when it should end so and say that.
ran() {
    "$work/verify_call" > "$work/out" 2>&1
    status=$?
    [ $status -eq "$1" ] || echo "exit status $status, not $1"
    grep -q "$2" "$work/out" || cat "$work/out"
}

echo 1..5
ok_if_empty "no example has more than 60 lines" "$(long)"
ok_if_empty "verify_call builds" "$(built)"
ok_if_empty "a call is verified" \
    "$(ran 0 'vary.ootomo.f16 on hopper/mma.m16n8k16.f32.f16: 0 of 6300 outputs differ')"
ok_if_empty "a wrong device is found" "$(DEVICE_FAULT=flips; export DEVICE_FAULT; ran 1 'outputs differ')"
ok_if_empty "no device is told" "$(BITCUT_MODULES=$work; export BITCUT_MODULES; ran 3 'no GPU backend')"
