#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The library's interface: exactly the functions of bitcut.h are exported, nothing in it
# is writable between calls, and a program with only the header builds and runs.
# Run in the build folder with srcdir, CC, CFLAGS and NM set, as `make check` does.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
: "${srcdir:=.}" "${CC:=cc}" "${CFLAGS:=}" "${NM:=nm}"
shared=.libs/libbitcut.so
[ -f "$shared" ] || skip_all shared
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT

declared() {
    $CC -E -P "$srcdir/lib/bitcut.h" | grep -o 'bitcut_[a-z0-9_]*(' | tr -d '(' | sort -u
}

exported() { $NM -D --defined-only "$shared" | awk '{ print $NF }' | sort -u; }

differences() {
    declared > "$work/declared"
    exported > "$work/exported"
    [ -s "$work/declared" ] || echo "no function found in bitcut.h"
    diff "$work/declared" "$work/exported"
}

# What Debian's packages are told of it: the same functions, each with its first version.
packaged() {
    sed -n 's/^ \(bitcut_.*\)@Base [0-9.]*$/\1/p' "$srcdir/debian/libbitcut1.symbols" |
        LC_ALL=C sort -u > "$work/packaged"
    LC_ALL=C sort -u "$work/declared" | diff "$work/packaged" -
}

# Variables in writable sections, but for what bitcut_stop_on() sets in a thread, what is set when
# the library is loaded, and the files that are being written.  Names that begin with '_' or '.'
# are the compiler's.
writable() {
    [ -f .libs/libcore.a ] || echo "no .libs/libcore.a"
    $NM --format=sysv --defined-only .libs/libcore.a | awk -F'|' '
        { gsub(/ /, "", $1); gsub(/ /, "", $7) }
        $7 ~ /^(\.t?data|\.t?bss|\*COM\*)/ && $7 !~ /^\.data\.rel\.ro/ && $1 !~ /^[_.]/ &&
            $1 $7 !~ /^(thread_progress.tbss|simd_asked.bss|leftovers.bss)$/ {
            print $1, $7
        }'
}

# consume COMPILER LANGUAGE: what goes wrong when tests/consumer.c uses the library.
consume() {
    {
        # shellcheck disable=SC2086 # lists of words
        $1 $CFLAGS -I"$srcdir/lib" -x "$2" "$srcdir/tests/consumer.c" -x none "$shared" \
            -Wl,-rpath,"$PWD/.libs" -o "$work/$2" && "$work/$2"
    } 2>&1 || echo "failed with $1"
}

# The C++ compiler beside $CC, or nothing.
cxx() {
    case $CC in *clang*) name=clang++ ;; *) name=g++ ;; esac
    command -v "$name"
}

# The header alone, by strict compilers and by one that has no attributes.
pedantic() {
    for command in "$CC -std=c11" "$CC -std=c11 -U__GNUC__ -D__attribute__(x)=" \
        "$(cxx) -std=c++11 -x c++"; do
        case $command in " "*) continue ;; esac
        # shellcheck disable=SC2086 # lists of words
        $command -Wall -Wextra -Werror -pedantic -fsyntax-only "$srcdir/lib/bitcut.h" 2>&1 ||
            echo "failed with $command"
    done
}

# accepts STATEMENT: whether it compiles with warnings as errors.
accepts() {
    printf '#include <bitcut.h>\nvoid f(struct bitcut_gemm *g);\nvoid f(struct bitcut_gemm *g) { %s }\n' \
        "$1" > "$work/warned.c"
    # shellcheck disable=SC2086 # a list of words
    $CC -std=c11 -Wall -Wextra -Werror -I"$srcdir/lib" -c -o "$work/warned.o" "$work/warned.c" \
        > "$work/warnings" 2>&1
}

# What callers are not warned of: ignored results, and NULL where it is undefined.
unwarned() {
    accepts 'if (bitcut_gemm(0, g, 0, 0)) bitcut_gemm_init(g, sizeof *g);' || cat "$work/warnings"
    for statement in 'bitcut_gemm(0, g, 0, 0);' 'bitcut_gemm_init((void *)0, sizeof *g);'; do
        accepts "$statement" && echo "no warning: $statement"
    done
}

echo 1..7
ok_if_empty "exports are the functions of bitcut.h" "$(differences)"
ok_if_empty "debian/libbitcut1.symbols has these" "$(packaged)"
ok_if_empty "nothing in the library is writable" "$(writable)"
ok_if_empty "a C program builds and runs" "$(consume "$CC -std=c11" c)"
if cxx=$(cxx); then
    ok_if_empty "a C++ program builds and runs" "$(consume "$cxx" c++)"
else
    skip "a C++ program builds and runs" "a C++ compiler: the package g++"
fi
ok_if_empty "the header is strict C11 and C++11" "$(pedantic)"
ok_if_empty "callers are warned of ignored results and of NULL" "$(unwarned)"
