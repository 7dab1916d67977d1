#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Memory that is not available, at one allocation after the other, by tests/alloc.c: a
# command ends with status 3 and one line, or as if nothing had failed; its output is
# complete or absent.  BITCUT_WHOLE tries more of the allocations, BITCUT_LONG most.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
: "${BITCUT_DATA:=$(cd "${srcdir:-.}" && pwd)/data}"
export BITCUT_DATA OMP_WAIT_POLICY=passive
tap=$(cd "${srcdir:-.}" && pwd)/tests/tap.sh
libraries=$(pwd)/tests/.libs
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
mkdir "$work/run"
cd "$work/run" || exit 99

# How many allocations are tried each; beyond, ever fewer: a step is one part in so many.
parts=4
if [ -n "${BITCUT_LONG:-}" ]; then every=512
elif is_whole; then every=48
else every=16
fi

# disturbed WORD...: how bitcut ended otherwise than it may.
disturbed() {
    LD_PRELOAD=$libraries/alloc.so ALLOC_EVERY=$every ALLOC_PARTS=$parts bitcut "$@" \
        < /dev/null 2>&1
}

# The folder `made` after a run: the same as the first time, or a part of that and pages,
# which are written anew as a report grows.  Temporary names may stay.
{ sed -n '/^same_folders() {/,/^}/p' "$tap"; cat << 'END'; } > ../check
case $1 in
undisturbed)
    if [ -d ../want ]; then same_folders made ../want; else cp -R made ../want; fi
    ;;
failed)
    for file in $(find made -type f ! -name '*.tmp'); do
        case $file in
        *.html) [ "$(tail -n 1 "$file")" = '</body></html>' ] || echo "$file is cut short" ;;
        *.md) [ -z "$(tail -n 1 "$file")" ] || echo "$file is cut short" ;;
        *) cmp "$file" "../want/${file#made/}" ;;
        esac
    done
    ;;
esac
rm -rf made
mkdir made
END

# prints WHAT WORD...: a command that writes to standard output alone, by as many threads
# as there are.
prints() {
    what=$1
    shift
    for threads in $team; do
        ok_if_empty "$what, threads $threads" "$(disturbed "$@" --threads "$threads")"
    done
}

# writes WHAT WORD...: one that writes into the folder `made`.
writes() {
    rm -rf ../want made
    mkdir made
    ALLOC_CHECK='sh ../check'
    export ALLOC_CHECK
    prints "$@"
    unset ALLOC_CHECK
}

team=2
! is_whole || team='1 2'
offences=$(disturbed --version)
if [ -n "$offences" ]; then
    skip_all "allocations that can be replaced: $(echo "$offences" | head -n 1)"
fi

set=$BITCUT_DATA/h200/mma_m16n8k4_tf32_f32
sizes='-m 9 -n 10 -k 11'
gemm="--recipe ootomo --unit a100 $sizes"
matrix='gemm --recipe fp32 --unit fma/f32 --reference none -k 2'
# shellcheck disable=SC2086 # lists of words, here and below
{
    bitcut $matrix -m 9 -n 11 -o ../A.npy && bitcut $matrix -m 11 -n 10 -o ../B.npy &&
        bitcut gemm --recipe ootomo --unit a100 -a ../A.npy -b ../B.npy -o ../D.npy &&
        bitcut gemm --recipe fp32 --unit fma/f32 -m 3 -n 3 -k 6 --order lanes=2,chunk=1,reduction=tree \
            --reference none --save-a ../A3.npy --save-b ../B3.npy -o ../D3.npy &&
        bitcut $matrix -m 4 -n 3 -o ../B4.npy &&
        printf '%%%%MatrixMarket matrix array real general\n2 4\n1\n0\n0\n3\n0\n4\n2\n0\n' > ../S.mtx &&
        printf '%%%%MatrixMarket matrix array real general\n2 2\n255\n1\n250\n9\n' > ../I.mtx &&
        printf '%%%%MatrixMarket matrix array real general\n2 2\n127\n126\n-3\n5\n' > ../J.mtx &&
        bitcut gemm --recipe plain --unit avx2/vpmaddubsw.m1n8k4.s32.u8.s8 --reference none \
            -a ../I.mtx -b ../J.mtx --format-d f32 -o ../IJ.npy &&
        bitcut probe --unit ideal/rz25 -o ../vectors
} > ../out || echo "Bail out! no operands"

short_paste "$BITCUT_DATA/pastes/h200.txt" > ../paste.txt

prints "list" list units
prints "replay" replay "$set"
prints "replay of a paste" replay ../paste.txt
# shellcheck disable=SC2086
prints "gemm" gemm $gemm

export ALLOC_LINES=1
prints "list --json" list units --json
prints "replay --json" replay "$set" --json
prints "split --json" split --from 0 --to 0 --json
prints "split -a" split -a ../A.npy --json
prints "split --quantize" split -a ../A.npy --quantize nvfp4 --as-b --json
prints "advise --quantize-a" advise -a ../A.npy --unit ampere/mma.m16n8k16.f32.f16 --recipe plain \
    --quantize-a fp8-rows --quantize-b fp8-tensor --format-d f16 --want 1 --json
prints "gemm --budget" gemm --recipe plain --unit a100 -m 2 -n 2 -k 11 --scale-a 2 \
    --epilogue fused+relu --budget --at 1,1 --worst 1 --json
prints "gemm --budget of integers" gemm --recipe plain --unit ampere/mma.m16n8k32.s32.s8 -m 2 -n 2 \
    -k 11 --scale-a 2 --format-d f32 --budget --at 1,1 --worst 1 --json
prints "predict --sweep" predict --library openblas-0.3.21 --chip haswell --sweep m=3..5 -n 8 -k 9 --json
prints "gemm --library" gemm --library openblas-0.3.21 --chip haswell -m 4 -n 9 -k 9 --reference none --json
parts=32 # a hypothesis that has no memory must not count as refuted
prints "explain" explain -a ../A3.npy -b ../B3.npy -d ../D3.npy --recipe fp32 --unit fma/f32 --json
prints "explain integers" explain -a ../I.mtx -b ../J.mtx -d ../IJ.npy --json
parts=4
prints "advise" advise -a ../A.npy --unit v100 --recipe plain --want 1 --json
prints "tolerance --json" tolerance --recipe ootomo --unit a100 -m 20 -n 20 -k 20 --seeds 4 \
    --power 1 --order any --json
prints "tile --json" tile --gpu h200 -m 64 -n 64 -k 64 --json
prints "fit --json" fit "$set" --json
prints "verify --json" verify --recipe ootomo --unit a100 -a ../A.npy -b ../B.npy \
    -d ../D.npy --json
# shellcheck disable=SC2086
{
    prints "gemm --json" gemm $gemm --json
    prints "gemm --sparse-a" gemm --recipe ootomo --unit a100 -a ../S.mtx -b ../B4.npy \
        --sparse-a --budget --json
    prints "bound --json" bound --recipe ootomo --unit a100 -m 2 -n 2 -k 11 --json
    prints "gemm against MPFR" gemm $gemm --json --reference mpfr
}
export ALLOC_SETS=1
prints "probe of a set" probe --mutants ../vectors --json
unset ALLOC_SETS ALLOC_LINES

writes "mma" mma --unit hopper/mma.m16n8k4.f32.tf32 -a "$set/A.npy" -b "$set/B.npy" \
    -c "$set/C.npy" -o made/D.npy
# shellcheck disable=SC2086
{
    writes "gemm -o D.npy" gemm $gemm -o made/D.npy
    writes "gemm -o D.mtx" gemm $gemm -o made/D.mtx
}

export BITCUT_MODULES="$libraries" # the device of tests/gpu/device.c
prints "list kernels" list kernels --json
# shellcheck disable=SC2086
prints "verify --kernel" verify --kernel gemm.plain.f16 $sizes --json
prints "record --random" record --random 3 --unit hopper/mma.m8n8k4.f64.f64 --json
writes "record" record "$BITCUT_DATA/h200/mma_m8n8k4_f64_f64_nan" -o made/recorded

team=1 every=$((every / 4)) # slow
writes "probe" probe --unit ideal/rz25 -o made/vectors
writes "report" report --no-studies --results "$BITCUT_DATA/results/h200-splitk.jsonl" \
    -o made/report

every=4 # of runs of seconds
[ -z "${BITCUT_LONG:-}" ] || writes "fit --next" fit "$set" --next made/asked
[ -z "${BITCUT_LONG:-}" ] || prints "study" study underflow
echo "1..$n"
