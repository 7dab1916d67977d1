#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Environment variables: other threads may set them while products are computed, and a
# program with the rights of another user loads no module from a folder named by its
# caller.
# Run in the build folder with srcdir, CC and CFLAGS set, as `make check` does.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
: "${srcdir:=.}" "${CC:=cc}" "${CFLAGS:=}"
libraries=$PWD/.libs source=$(cd "$srcdir" && pwd)
[ -f "$libraries/libbitcut.so" ] || skip_all shared
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
cd "$work" || exit 99

built() {
    # shellcheck disable=SC2086 # a list of words
    $CC -std=c11 $CFLAGS -pthread -I"$source" -o user "$source/tests/environment_user.c" \
        "$libraries/libbitcut.so" -Wl,-rpath,"$libraries" 2>&1
    mkdir modules
    printf '%s\n' '__attribute__((constructor)) static void loaded(void) { (void)!write(1, "loaded\n", 7); }' |
        $CC -include unistd.h -shared -fPIC -o modules/bitcut-cuda.so -x c - 2>&1
    chmod 755 modules user modules/bitcut-cuda.so
}
ok_if_empty "programs are built" "$(built)"

race() { ./user race 2>&1 || echo "status $?"; }
ok_if_empty "products while another thread calls setenv()" "$(race)"

# as_nobody WORD...: without rights.
as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@" 2>&1; }

opens() { BITCUT_MODULES=$work/modules as_nobody ./user open; }

# The same program loads the module without the bit, so the folder is one that it can read.
taken() {
    case $(opens) in
    loaded*) ;;
    *) echo "without setuid: $(opens)" ;;
    esac
    chmod 4755 user
    case $(opens) in
    *loaded*) echo "a module of the caller's folder was loaded" ;;
    esac
    BITCUT_SIMD=sse as_nobody ./user race
}

what="no module of its caller for a setuid program"
if [ "$(id -u)" -ne 0 ]; then skip "$what" root
elif [ "$(as_nobody echo yes)" != yes ]; then skip "$what" "setpriv, of util-linux, which works"
elif ! as_nobody ./user open > out; then
    skip "$what" "a library that the user nobody can read"
else ok_if_empty "$what" "$(taken)"
fi
echo "1..$n"
