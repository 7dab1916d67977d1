#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# 2:4 sparse matrices: results that cuSPARSELt gave on a GPU (data/README.md, sparse/), of which
# the emulator gives every bit; and the options of gemm and verify (tests/sparse_check.py).
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
check=$(cd "${srcdir:-.}" && pwd)/tests/sparse_check.py
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99
by_numpy "$check"
