#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A report on a batch: its table and its verdict are those of NumPy (tests/report_batches_check.py).
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
check=$(cd "${srcdir:-.}" && pwd)/tests/report_batches_check.py
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99
by_numpy "$check"
