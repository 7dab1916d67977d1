#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Quotes of papers and their numbers, word for word, if the papers are available:
# BITCUT_PAPERS names a folder of plain texts with any names.  They do not come with
# bitcut; without them this test is skipped.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
[ -d "${BITCUT_PAPERS:-}" ] || skip_all "the texts of the papers in the folder that BITCUT_PAPERS names"
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT

# plain: text on one line, with blanks, quotes and hyphens of one kind.
plain() { tr '\n\t' '  ' | sed "s/\xe2\x80\x99/'/g; s/\xe2\x80\x98/'/g; s/  */ /g; s/,\([0-9][0-9][0-9]\)/\1/g"; }

# A paper by words of its own; a file may be it in part, or twice.
paper() {
    for file in "$BITCUT_PAPERS"/*; do
        plain < "$file" > "$work/text"
        grep -qF "$2" "$work/text" && cat "$work/text"
    done > "$work/$1"
    [ -s "$work/$1" ] || echo "no text of $1"
}

# quoted PAPER WORDS: what is not there, of all claims whose paper begins so.
quoted() {
    paper "$1" "$3"
    bitcut list claims --json | grep "\"paper\":\"$2" | grep '"quote":true' |
        sed 's/.*"name":"\([^"]*\)".*"printed":\(.*\),"quote".*/\1 \2/' > "$work/claims"
    [ -s "$work/claims" ] || echo "no claims of $1"
    while read -r name printed; do
        printed=${printed#'"'}
        printed=${printed%'"'}
        case $printed in
        [0-9]*) printed=$(printf %.6g "$printed") ;;
        esac
        grep -qF -e "$printed" "$work/$1" || echo "$name: $printed"
    done < "$work/claims"
}

ok_if_empty "LE-GEMM" "$(quoted legemm LE-GEMM 'LE-GEMM')"
ok_if_empty "Ootomo and Yokota" "$(quoted ootomo 'Ootomo and Yokota' \
    'Recovering single precision accuracy from Tensor Cores')"
ok_if_empty "Huang et al." "$(quoted huang 'Huang et al' 'Benchmarking GPU Tensor Cores')"
ok_if_empty "Lu et al." "$(quoted lu 'Lu et al' 'Small-Batch Matrix Multiplication')"
echo "1..$n"
