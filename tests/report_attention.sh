#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A report on an attention: its verdict, the fault that it names, and its numbers, which are
# those of NumPy (tests/report_attention_check.py).
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
check=$(cd "${srcdir:-.}" && pwd)/tests/report_attention_check.py
BITCUT_LIBRARY=$PWD/.libs/libbitcut.so
[ -f "$BITCUT_LIBRARY" ] || BITCUT_LIBRARY=
export BITCUT_LIBRARY
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99
by_numpy "$check"
