#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The contents and names of untrusted files appear in pages, tables and on the terminal as
# text, whatever they are (tests/hostile_check.py).
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
check=$(cd "${srcdir:-.}" && pwd)/tests/hostile_check.py
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99
for python in python3 /usr/bin/python3; do
    "$python" -c 'import html.parser, csv' 2> errors || continue
    "$python" -B "$check"
    exit
done
skip_all python
