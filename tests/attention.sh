#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The command attention: O is the same for any number of threads and level; --verify finds a
# changed bit; variations that change nothing give the same bits, others do not; files of 2 and
# 3 dimensions; causal is the same as a window.  Run in the build folder with srcdir set.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
sizes='--queries 70 --keys 90 --heads 2 --kv-heads 1'

# holds WHAT CONDITION: a test of a condition of the shell.
holds() { ok_if_empty "$1" "$(eval "$2" || echo "not so: $2")"; }

# o FILE OPTIONS...: O of these options.
o() {
    file=$1
    shift
    # shellcheck disable=SC2086 # words
    bitcut attention $sizes --reference none -o "$work/$file.npy" "$@" > "$work/$file.txt"
}

same() { cmp -s "$work/$1.npy" "$work/$2.npy"; }

o a --row pytorch-flash
o b --row pytorch-flash --threads 1
BITCUT_SIMD=none o c --row pytorch-flash --threads 3
holds "threads and levels give the same O" "same a b && same a c"

o d --row flash-attention-2 --vary scaling=apart,exp=ex2.approx,flush=no,reciprocal=reciprocal,merge=cuda,splits=0,processors=132
holds "pytorch-flash is flash-attention-2 with other fields" "same a d"
o e --row pytorch-flash --vary block-m=16
holds "queries of a tile change no bit here" "same a e"
o f --row pytorch-flash --vary block-n=16,splits=1
holds "keys of a tile do" "! same a f"

o g --row pytorch-flash --causal
o h --row pytorch-flash --window-right 0
o i --row pytorch-flash --window-right 1
holds "causal is a window of 0 keys to the right" "same g h && ! same g i"

# shellcheck disable=SC2086 # words
verify() { bitcut attention $sizes --reference none --verify "$work/$1.npy" --row "$2" --json; }

verify a pytorch-flash > "$work/same.txt"
status=$?
holds "O is verified" "[ $status -eq 0 ] && grep -q '\"mismatches\":0,' $work/same.txt"
size=$(wc -c < "$work/a.npy")
{ head -c $((size - 1)) "$work/a.npy"; printf '\177'; } > "$work/wrong.npy"
verify wrong pytorch-flash > "$work/wrong.txt"
status=$?
holds "a changed bit is found" "[ $status -eq 1 ] && grep -q '\"mismatches\":1,' $work/wrong.txt &&
    grep -q '\"head\":1,\"at\":\[69,63\]' $work/wrong.txt"

explain() {
    file=$1
    shift
    # shellcheck disable=SC2086 # words
    bitcut attention $sizes --explain "$work/$file.npy" --json "$@"
}

for threads in 1 3; do
    explain g --causal --threads $threads | sed 's/"seconds":[^,}]*//' > "$work/explained.$threads"
done
holds "explain finds the row, with any number of threads" \
    "grep -q '\"found\":true,.*\"row\":\"pytorch-flash\",.*\"fault\":null' $work/explained.1 &&
    cmp -s $work/explained.1 $work/explained.3"
explain i --causal > "$work/right.txt"
holds "a mask that is off by one is named" \
    "grep -q '\"found\":true,.*\"fault\":\"mask off by one\"' $work/right.txt"
explain wrong > "$work/changed.txt"
status=$?
holds "a changed output is no other algorithm" "[ $status -eq 1 ] &&
    grep -q '\"found\":false,.*\"diagnosis\":\"places\",\"row\":\"pytorch-flash\",\"vary\":\"\",.*\"mismatches\":1,' $work/changed.txt"
echo "1..$n"
