#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# NumPy and PyTorch write matrices in files of every kind and format; bitcut reads the same
# numbers from all, and NumPy reads what it writes (tests/matrix_files_check.py).
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
check=$(cd "${srcdir:-.}" && pwd)/tests/matrix_files_check.py
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99
by_numpy "$check"
