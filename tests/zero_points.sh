#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# explain names zero points of integers, given or not, and faults of them
# (tests/zero_points_check.py).
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
check=$(cd "${srcdir:-.}" && pwd)/tests/zero_points_check.py
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99
by_numpy "$check"
