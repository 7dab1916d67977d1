#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# kit/settle.py and bitcut replay: what PyTorch computes here leads to rows of the table;
# recorded pastes do; a changed digit, a lost line and other files are refused.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
source=$(cd "${srcdir:-.}" && pwd)
paste=$source/data/pastes/zen4.txt
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99

recorded() {
    run 1 replay "$paste" --json
    cp out all_threads
    grep -q '"product":"bf16","line":null,.*"survivors":1,"distinct":1,.*"units":\["avx512/vdpbf16ps.m1n16k2.f32.bf16"\]' out ||
        echo "bf16 is not by AVX512-BF16"
    grep -q '"product":"bf16","line":[0-9]*,.*"verdict":"line [0-9]*: linear 64x64x64, D bf16: the bias is added before' out ||
        echo "the place of the bias"
    [ "$(grep -c '"product":"bf16","line":[0-9]*,.*mm .*plain on avx512/vdpbf16ps' out)" = 3 ] ||
        echo "lines with a large k"
    tail -n 1 out | grep -q '"device":"cpu","name":"AMD_EPYC",.*"missing":49,"given":9,"unknown":10,"recorded":0' ||
        tail -n 1 out
}

# Everything that PyTorch computed on an H200 is given by rows of Hopper, or by chains.
hopper() {
    run 0 replay "$source/data/pastes/h200.txt" --json
    tail -n 1 out | grep -q '"name":"NVIDIA_H200",.*"missing":10,"given":57,"unknown":0,"recorded":1' ||
        tail -n 1 out
    grep -q '"product":"tf32","line":null,.*some lines have slices of 4 or 32 k"' out ||
        echo "slices of tf32"
    [ "$(grep -c 'mm 64x64x4096, D f32: plain on hopper/.*slices of 1408, which' out)" = 2 ] ||
        echo "slices of a large k"
    grep '"product":"f32, tf32 allowed","line":null,' out | grep -o 'rounded by [a-z]*' | sort -u |
        grep -vx 'rounded by rn'
    grep -q '"product":"f32","line":null,.*k is filled up with zeros to a tile"' out ||
        echo "zeros behind k"
}

# One thread gives the answer that all processors gave.
same_by_threads() {
    bitcut replay "$paste" --json --threads 1 | cmp - all_threads
}

# refused WHY: the file `changed`, in one line.
refused() {
    run 3 replay changed
    [ "$(wc -l < err)" = 1 ] || cat err
    grep -q "^bitcut: changed: $1" err || cat err
    [ -s out ] && cat out
}

changes_noticed() {
    sed '11s/w3=\(.*\)[0-9a-e] w4/w3=\1f w4/' "$paste" > changed
    refused 'settle:10: its checksum differs: a character was changed$'
    sed 11d "$paste" > changed
    refused 'settle:10: the line is missing$'
    sed '$d' "$paste" > changed
    refused 'settle:end: the line is missing$'
    sed 1d "$paste" > changed
    refused 'settle:begin: the first line is missing$'
    head -c 3000 "$paste" > changed
    refused 'settle:[0-9]*: its end is missing$'
    sed '1s/version=1/version=2/' "$paste" > changed
    refused 'settle:begin: its checksum differs'
    run 2 replay "$paste" "$paste"
    grep -q 'is a paste; replay takes it alone$' err || cat err
}

# What PyTorch computes on this processor: unless PyTorch uses a library whose order of k
# is unknown, each line that ran is given by a row.  A program in Python makes the inputs,
# bitcut makes them again.  By default it is not replayed.
settled_here() {
    "$python" "$source/kit/settle.py" cpu > here.txt 2> err || cat err
    [ -s err ] && cat err
    [ "$(wc -l < here.txt)" = "$(wc -l < "$paste")" ] || wc -l here.txt
    # the processor and its libraries decide the results, but never the inputs
    for file in here.txt "$paste"; do
        sed 's/ \(g0\|no\)=.*//; s/ sum=.*//; 1d' $file
    done | sort | uniq -c | awk '$1 != 2'
    "$python" "$source/tests/paste_inputs.py" "$source/kit" | diff - "$source/data/pastes/inputs.txt"
    is_whole || return
    bitcut replay here.txt --json > out 2> err
    [ $? -le 1 ] || cat err
    grep -q '"product":"f64","line":null,"lines":1,.*"groups":8,' out || echo "no line of f64"
}

# settle.py without a device of this name, or with --help.
program_refuses() {
    "$python" "$source/kit/settle.py" none > out 2> err && echo "device none"
    [ "$(cat err)" = "settle.py: no device none" ] || cat err
    "$python" "$source/kit/settle.py" --help > out 2> err || cat err
    grep -q '^Settle which matrix unit a device has' out || cat out
}

ok_if_empty "a recorded paste leads to its unit" "$(recorded)"
if_whole "the paste of an H200 leads to Hopper" hopper
if_whole "any number of threads" same_by_threads
ok_if_empty "a paste that was changed is refused" "$(changes_noticed)"
for python in python3 /usr/bin/python3; do
    "$python" -c 'import torch' 2> err && break
done
if "$python" -c 'import torch' 2> err; then
    ok_if_empty "PyTorch here" "$(settled_here)"
    ok_if_empty "settle.py refuses" "$(program_refuses)"
else
    skip "PyTorch here" torch
    skip "settle.py refuses" torch
fi
echo "1..$n"
