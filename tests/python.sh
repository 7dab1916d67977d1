#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The Python package (python/tests): compared with the program bit for bit, with arrays of
# any layout and bad input, and the results that its assertions accept and reject.  It
# uses the library of the build.
# Run in the build folder with srcdir and CC set, as `make check` does.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
case ${CFLAGS:-} in
*-fsanitize*) skip_all plain ;;
esac
[ -f .libs/libbitcut.so ] || skip_all shared
BITCUT_LIBRARY=$PWD/.libs/libbitcut.so
srcdir=$(cd "${srcdir:-.}" && pwd)
export BITCUT_LIBRARY srcdir
errors=$(mktemp) || exit 99
trap 'rm -f "$errors"' EXIT
# With BITCUT_BRIEF: that it is the same library, and does what the program does.
if [ -n "${BITCUT_BRIEF:-}" ]; then set -- test_layout test_program test_fit; else set --; fi
# The first with NumPy; without one, the tests that need it are skipped.
for needs in numpy ctypes; do
    for python in python3 /usr/bin/python3; do
        "$python" -c "import $needs, sys; sys.exit(sys.version_info < (3, 9))" 2> "$errors" ||
            continue
        "$python" -B "$srcdir/python/tests/tap.py" "$@"
        exit
    done
done
skip_all python
