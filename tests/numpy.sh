#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# NumPy writes matrices, bitcut multiplies them, and NumPy computes the same with its own
# arithmetic: every bit must agree (tests/numpy_check.py).
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
case ${CFLAGS:-} in
*-fsanitize*) skip_all plain ;;
esac
check=$(cd "${srcdir:-.}" && pwd)/tests/numpy_check.py
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99
by_numpy "$check"
