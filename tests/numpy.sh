#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# NumPy writes matrices, bitcut multiplies them, and NumPy computes the same with its own
# arithmetic: every bit must agree (tests/numpy_check.py).
set -u
case ${CFLAGS:-} in
*-fsanitize*) echo "1..0 # SKIP bits are the same in other builds"; exit 0 ;;
esac
check=$(cd "${srcdir:-.}" && pwd)/tests/numpy_check.py
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99
for python in python3 /usr/bin/python3; do
    "$python" -c 'import numpy' 2> errors || continue
    "$python" -B "$check"
    exit
done
echo "1..0 # SKIP no Python with NumPy"
