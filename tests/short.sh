#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Results in f16: verify, tolerance, bound, explain and report compare D with the emulator's
# D rounded to it.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99
unit=ampere/mma.m16n8k16.f32.f16
given="--recipe plain --unit $unit -a A.npy -b B.npy"

# A and B in f16, D.npy in FP32, short.npy the same in f16, off.npy with one output two steps off.
files_made() {
    run 0 gemm --recipe plain --unit $unit -m 24 -n 20 -k 64 --save-a A32.npy \
        --save-b B32.npy -o D.npy --reference none
    run 0 convert A32.npy --to f16 -o A.npy
    run 0 convert B32.npy --to f16 -o B.npy
    # shellcheck disable=SC2086 # words
    run 0 gemm $given -o D.npy --reference none
    run 0 convert D.npy --to f16 -o short.npy
    run 0 convert short.npy --from f16 --to f32 -o wide.npy
    cp short.npy off.npy
    end=$(($(wc -c < off.npy) - 2))
    low=$(od -An -tu1 -j $end -N 1 off.npy | tr -d ' ')
    # shellcheck disable=SC2059 # the byte
    printf "\\$(printf %o $(((low + 2) % 256)))" | dd of=off.npy bs=1 seek=$end conv=notrunc 2> dd
    cmp -s short.npy off.npy && echo "nothing is off"
}

# says STATUS TEXT COMMAND...: the status, and a line with this text.
says() {
    status=$1 text=$2
    shift 2
    run "$status" "$@"
    grep -q -- "$text" out || { echo "$*: no \"$text\""; cat out; }
}

# shellcheck disable=SC2086 # words
verified() {
    says 0 'equals this recipe' verify $given -d short.npy
    says 0 'each output is rounded to f16' verify $given -d short.npy
    says 0 'u = 2^-11 of f16' verify $given -d short.npy --budget --worst 1
    says 1 'differ *1, ' verify $given -d off.npy --seconds 2
    # the same values as f4: another D, which this recipe on this unit explains
    says 1 "D is plain on $unit, rounded to f16" verify $given -d wide.npy --seconds 5
    says 1 'differ' verify --recipe plain --unit hopper/mma.m16n8k16.f32.f16 -a A.npy -b B.npy \
        -d wide.npy --seconds 0
}

# shellcheck disable=SC2086 # words
limits() {
    says 0 ACCEPTED tolerance $given -d short.npy --power 0
    says 0 'counted from half an ulp of D on' tolerance $given -d short.npy --power 0
    says 1 'REJECTED.* at output (23, 19)' tolerance $given -d off.npy --power 0
    says 1 REJECTED tolerance $given -d wide.npy --power 0
    says 0 'within every rigorous bound' bound $given -d short.npy
    says 0 'before the rounding to f16' bound $given -d short.npy
    says 1 'exceeds the rigorous bound aligned in 1 of' bound $given -d off.npy
    run 0 tolerance $given -d short.npy --power 0 --json
    grep -q '"error = np.maximum(' out || cat out
}

# The lines of NumPy accept the right D and reject the other one.
lines_run() {
    python=$(command -v python3) || return 0
    "$python" -c 'import numpy' 2> import || return 0
    # shellcheck disable=SC2086 # words
    run 0 tolerance $given -d short.npy --power 0 --json
    "$python" - << 'END'
import json
import numpy as np

lines = json.loads(open("out").readline())["numpy"]
A, B, D = (np.load(name) for name in ("A.npy", "B.npy", "short.npy"))
exec("\n".join(lines))
D = np.load("off.npy")
try:
    exec("\n".join(lines))
    print("off.npy is accepted")
except AssertionError:
    pass
END
}

# shellcheck disable=SC2086 # words
explained() {
    says 0 'rounded to f16' explain -a A.npy -b B.npy -d short.npy --seconds 20
    says 0 ACCEPTED report --recipe plain --unit $unit -a A.npy -b B.npy -d short.npy \
        --seconds 5 -o page
}

ok_if_empty "results of f16 are made" "$(files_made)"
ok_if_empty "verify compares with the emulator's D rounded to f16" "$(verified)"
ok_if_empty "limits are those of a rounded result" "$(limits)"
ok_if_empty "the lines of NumPy are, too" "$(lines_run)"
ok_if_empty "explain and report" "$(explained)"
echo "1..$n"
