#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What a library's GEMM gives and what explains it, as one row for a file of this folder.
#
#     record.sh MEMBERS COMMAND M N K SEED [WORD...]
#
# MEMBERS are the row's first members, as '"library":"OpenBLAS","version":"0.3.21"'.  COMMAND
# is one for the shell, as for `bitcut explain --probe`: it reads the .npy files $BITCUT_A (M
# x K) and $BITCUT_B (K x N) and writes $BITCUT_D, FP32 values; $BITCUT_M, $BITCUT_N and
# $BITCUT_K are the sizes.  A and B are what `bitcut gemm --seed SEED` makes; or, if $INPUTS
# is set, what that command writes, by the same names and $SEED: MEMBERS must say so then.
# WORDS are for `bitcut explain`, such as --unit U.  Status 1: it found nothing.
# Sums are of the encodings, little-endian, by rows; "sample" has some at [index] by rows.
set -u
[ $# -ge 6 ] || { sed -n 's/^#     //p' "$0" >&2; exit 2; }
members=$1 command=$2 m=$3 n=$4 k=$5 seed=$6
shift 6
folder=$(mktemp -d) || exit 3
trap 'rm -rf "$folder"' EXIT
BITCUT_A=$folder/A.npy BITCUT_B=$folder/B.npy BITCUT_D=$folder/D.npy
BITCUT_M=$m BITCUT_N=$n BITCUT_K=$k SEED=$seed
export BITCUT_A BITCUT_B BITCUT_D BITCUT_M BITCUT_N BITCUT_K SEED

if [ "${INPUTS:-}" ]; then sh -c "$INPUTS" || exit 3
else
    members=$members,'"inputs":"urand(-1,1)"'
    bitcut gemm --recipe fp32 --unit fma/f32 -m "$m" -n "$n" -k "$k" --seed "$seed" \
        --save-a "$BITCUT_A" --save-b "$BITCUT_B" --reference none > "$folder/out" || exit 3
fi
sh -c "$command" || exit 3

# sum FILE COUNT: of the elements behind the header.
sum() { tail -c $((4 * $2)) "$1" | sha256sum | cut -d' ' -f1; }

# sample: eight outputs that lie spread, from the first to the last.
sample() {
    i=0 all=$((m * n)) start=$(($(wc -c < "$BITCUT_D") - 4 * m * n)) between=
    while [ $i -lt 8 ]; do
        at=$((i * (all - 1) / 7))
        printf '%s[%d,"%s"]' "$between" $at \
            "$(od -An -tx4 --endian=little -j $((start + 4 * at)) -N 4 "$BITCUT_D" | tr -d ' ')"
        between=, i=$((i + 1))
    done
}

bitcut explain -a "$BITCUT_A" -b "$BITCUT_B" -d "$BITCUT_D" --json "$@" > "$folder/out"
status=$?
[ $status -le 1 ] || exit 3
if ! grep -q '"found":true' "$folder/out" || ! grep -q '"differ":0,' "$folder/out"; then
    sed 's/.*"hypothesis":"\([^"]*\)".*/\1/' "$folder/out" >&2
    exit 1
fi

# text KEY: a text of what explain found; what gives the same bits comes behind.
text() { grep -o "\"$1\":\"[^\"]*\"" "$folder/out" | head -n 1 | cut -d'"' -f4; }

printf '{%s,"seed":%d,"m":%d,"n":%d,"k":%d,"recipe":"%s","unit":"%s","order":"%s",' \
    "$members" "$seed" "$m" "$n" "$k" "$(text recipe)" "$(text unit)" "$(text order)"
printf '"a":"%s","b":"%s","d":"%s","sample":[%s]}\n' "$(sum "$BITCUT_A" $((m * k)))" \
    "$(sum "$BITCUT_B" $((k * n)))" "$(sum "$BITCUT_D" $((m * n)))" "$(sample)"
