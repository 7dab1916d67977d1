#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The hardening options found by configure are in the program, the library and every
# module that is built.
# Run in the build folder with CFLAGS and LDFLAGS set, and HARDENING to the options that
# configure added, as `make check` does.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
: "${CFLAGS:=}" "${LDFLAGS:=}" "${HARDENING:=}"
case " $CFLAGS $LDFLAGS" in
*" -fno-"* | *" -no-pie"* | *" -U"* | *"-z,"*) HARDENING= ;; # the user's options come last
esac
command -v readelf > /dev/null || HARDENING=
libraries=
for file in .libs/libbitcut.so bitcut-*.so; do
    [ ! -f "$file" ] || libraries="$libraries $file"
done

# with OPTION WHAT FUNCTION: a point, if it was compiled so.
with() {
    case " $HARDENING " in
    *" $1"*) ok_if_empty "$2" "$($3)" ;;
    *) skip "$2" "a build with $1" ;;
    esac
}

# each OPTIONS PATTERN: files of which readelf prints no such line (an ERE).
each() {
    for file in bitcut $libraries; do
        # shellcheck disable=SC2086 # options
        readelf --wide $1 "$file" | grep -qE "$2" || echo "$file"
    done
}

independent() { readelf --wide -d bitcut | grep -q 'Flags:.* PIE' || echo bitcut; }
read_only() { each -l GNU_RELRO; }
bound_now() { each -d 'BIND_NOW|Flags:.* NOW'; }
guarded() { each --dyn-syms 'UND __stack_chk_(fail|guard)'; }
fortified() { each --dyn-syms 'UND __[a-z]+_chk'; }
marked() {
    readelf -n .libs/libcore.a | grep -q 'x86 feature: IBT, SHSTK' || echo libcore.a
}

with -pie "the program is position independent" independent
with -Wl,-z,relro "tables of the linker are read-only" read_only
with -Wl,-z,relro,-z,now "all symbols are bound at the start" bound_now
with -fstack-protector-strong "the stack is guarded" guarded
with -D_FORTIFY_SOURCE "calls of the C library are checked" fortified
with -fcf-protection "targets of jumps are marked" marked
echo "1..$n"
