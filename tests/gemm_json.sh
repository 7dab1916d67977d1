#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The JSON of gemm and verify names every operand and step of the GEMM, a GEMM built from this JSON
# alone gives the same D, and the errors are those of the whole GEMM (tests/gemm_json_check.py).
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
check=$(cd "${srcdir:-.}" && pwd)/tests/gemm_json_check.py
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99
by_numpy "$check"
