#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The input families of PyTorch's random tensors against the installed PyTorch, bit for bit
# (tests/torch_random_check.py).
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
check=$(cd "${srcdir:-.}" && pwd)/tests/torch_random_check.py
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99
by_numpy "$check" torch
