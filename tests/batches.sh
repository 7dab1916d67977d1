#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Batches in files, arrays of three dimensions: every GEMM of a batch has the bits that the
# program gives for its matrices alone (tests/batches_check.py).
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
check=$(cd "${srcdir:-.}" && pwd)/tests/batches_check.py
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99
by_numpy "$check"
