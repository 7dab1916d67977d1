#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Faults in the source of the kernels for AMD GPUs, each compiled and run in the executor:
# every one must be detected, by wrong bits or by the executor's checks.
# Run in the build folder with srcdir, CC and CFLAGS set, as `make check` does.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
# shellcheck source=tests/hip_lab.sh
. "${srcdir:-.}/tests/hip_lab.sh"
source=$(cd "${srcdir:-.}" && pwd) built=$PWD target=gfx90a
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99

lab_begin "mutants of kernels"
compiler=$(lab_compiler $target)

# The kernels that the runs below use, alone: all of them would take a minute to compile.
lab_sources right || exit 99
cat > right/gpu/hip/gemm_f16.hip << 'END'
#include "gpu/hip/gemm_hip.h"
MFMA_F16(MFMA_CLASS)
GEMM_KERNEL(mfma32x32x8, 32, 8, f16, legemm, main_first, 64, 64, 32, 32, 32, 2r, 2, 1, )
#ifdef PROMOTED
GEMM_KERNEL(mfma16x16x16, 16, 16, f16, ootomo, promoted, 64, 64, 32, 32, 32, 2r, 2, 1, )
GEMM_KERNEL(mfma16x16x16, 16, 16, f16, ootomo, main_last, 64, 64, 32, 32, 32, 2r, 2, 1, _promote0)
#endif
END

# run_mutant FOLDER KIND: `err` and `out` of a run, whose status it returns.  Of more than 2^18
# products there is a configuration for each class of inputs; of fewer 160, which lie apart.
run_mutant() {
    case $2 in
    gemm) words="--seconds 0 --kernel mfma32x32x8.legemm.f16.64x64x32.2r -m 70 -n 45 -k 85" ;;
    edges) words="--seconds 0 --kernel mfma32x32x8.legemm.f16.64x64x32.2r -m 40 -n 37 -k 9" ;;
    scaled) words="--seconds 0 --kernel mfma32x32x8.legemm.f16.64x64x32.2r -m 70 -n 45 -k 85 --equilibrate" ;;
    slices) words="--seconds 0 --kernel mfma32x32x8.legemm.f16.64x64x32.2r -m 70 -n 45 -k 200 --split-k 3" ;;
    promoted) words="--seconds 0 --kernel mfma16x16x16.ootomo.f16.64x64x32.2r -m 70 -n 45 -k 85" ;;
    split) words="--kernel split --samples 3000" ;;
    batch) words="--seconds 0 --kernel batch.mfma4x4x4.8.staged -m 7 -n 5 -k 6" ;;
    direct) words="--seconds 0 --kernel batch.mfma32x32x8.64.direct -m 37 -n 41 -k 14" ;;
    lines) words="--kernel split --samples 3000 --equilibrate" ;;
    esac
    # shellcheck disable=SC2086 # words
    BITCUT_MODULES=$work/$1 bitcut verify $words --device executor:$target --json \
        > out 2> err < /dev/null
}

# made FOLDER FILE WORD...: a folder's code object FILE by a compiler with WORD..., and its module.
made() {
    folder=$1
    shift
    lab_code "$folder" $target "$@" && lab_module "$folder"
}

# Of the files that are edited, and the runs of them.
rights() {
    cut -d @ -f 2 edits | sort -u | while read -r file; do
        # shellcheck disable=SC2046 # nothing, or a word
        made right "$file" $([ "$file" != gemm_f16 ] || echo -DPROMOTED)
    done
    for kind in $(cut -d @ -f 5 edits | sort -u); do
        run_mutant right $kind || { echo "$kind:"; cat err; }
        value mismatches | grep -vx 0
        grep -q '"mismatches"' out || echo "$kind: nothing was compared"
    done
}

# edited FILE EDITED SED KIND: the folder `wrong`, its source EDITED, or the assembly of FILE.
edited() {
    rm -rf wrong && cp -r right wrong
    if [ "$2" = assembly ]; then
        lab_assembled wrong $target "$1" "$3" && lab_module wrong
        return
    fi
    sed -E "$3" "right/gpu/hip/$2" > "wrong/gpu/hip/$2"
    cmp -s "right/gpu/hip/$2" "wrong/gpu/hip/$2" && echo "nothing was edited"
    # shellcheck disable=SC2046 # nothing, or a word
    made wrong "$1" $([ "$4" != promoted ] || echo -DPROMOTED)
}

# caught FILE EDITED SED KIND HOW: with that edit a run of KIND must give other bits (HOW:
# bits), or end with a line that matches HOW.
caught() {
    edited "$1" "$2" "$3" "$4"
    run_mutant wrong "$4"
    status=$?
    case $5 in
    bits) [ $status = 1 ] && value mismatches | grep -qvx 0 && return ;;
    *) [ $status = 3 ] && grep -Eq "$5" err && return ;;
    esac
    echo "status $status"
    cut -c 1-300 out err
}

# Every sixth; with BITCUT_WHOLE every third, with BITCUT_LONG all.
awk -v all="${BITCUT_LONG:-}" 'all || NR % 3 == 1' << 'END' | part 2 > edits
no barrier behind the first tile@gemm_f16@gemm_hip.h@/t\.put\(stages\);/{n;d}@gemm@in v[0-9]+ of lane [0-9]+ is not initialised
no barrier between tiles@gemm_f16@gemm_hip.h@/^        block_wait\(\);$/d@gemm@in v[0-9]+ of lane [0-9]+ is not initialised
a barrier between waves that does not wait@gemm_f16@device.h@0,/__ATOMIC_RELEASE, "workgroup"/s/__builtin_amdgcn_fence\(__ATOMIC_RELEASE, "workgroup"\);//@gemm@a race: .*the barrier is not preceded by s_waitcnt lgkmcnt
the stage that is read is written@gemm_f16@gemm_hip.h@s/S::stage_bytes - now : 0/now : 0/@gemm@a race: 
all waves share one part of shared memory for D@gemm_f16@gemm_hip.h@s/\(float \*\)stages \+ thread_x\(\) \/ WAVE \* .*/(float *)stages, matrix,/@gemm@a race: 
half of a tile is not put there@gemm_f16@gemm_hip.h@s/b < S::piece_bytes; b \+= 8/b < S::piece_bytes; b += 16/@gemm@in v[0-9]+ of lane [0-9]+ is not initialised
rows of D swapped@gemm_f16@device.h@s/8 \* \(q % 16 \/ 4\) \+ 4 \* \(lane \/ 32\)/4 * (q % 16 \/ 4) + 16 * (lane \/ 32)/@gemm@bits
columns for rows of D@gemm_f16@gemm_hip.h@s/I::row\(lane, q\) \* I::side \+ I::column\(lane\)/I::column(lane) * I::side + I::row(lane, q)/@gemm@bits
A's lanes are those of another k@gemm_f16@gemm_hip.h@s/line_a = i0 \+ lane % I::side/line_a = i0 + (lane ^ 1) % I::side/@gemm@bits
B's fragments of A's wave@gemm_f16@gemm_hip.h@s/line_b = j0 \+/line_b = i0 +/@gemm@bits
low parts in the main accumulator@gemm_f16@gemm_program.h@s/TERMS_main_first\(X\) X\(0, 0, 0\) X\(0, 1, 1\)/TERMS_main_first(X) X(0, 0, 0) X(0, 1, 0)/@gemm@bits
a term left out@gemm_f16@gemm_program.h@s/(TERMS_main_first.*) X\(1, 0, 1\)/\1/@gemm@bits
terms in another order@gemm_f16@gemm_program.h@s/X\(0, 0, 0\) X\(0, 1, 1\) X\(1, 0, 1\)$/X(0, 0, 0) X(1, 0, 1) X(0, 1, 1)/@gemm@bits
the correction in another scale@gemm_f16@gemm_hip.h@s/fmaf\(v\[q\], unscale, /fmaf(v[q], 2 * unscale, /@gemm@bits
never promoted@gemm_f16@gemm_hip.h@s/to = to \+ I::issue\(a\[A\]\[i\], b\[B\]\[j\], zero\)/to = I::issue(a[A][i], b[B][j], to)/@promoted@bits
the last k-step left out@gemm_f16@gemm_hip.h@s/step \* S::step_bytes < \(int\)bytes/(step + 1) * S::step_bytes < (int)bytes/@gemm@bits
a slice of k left out@gemm_f16@gemm_hip.h@s/from = slice \* x.slice_bytes, to/from = (slice < 2 ? slice : 1) * x.slice_bytes, to/@slices@bits
slices added from the last on@sums@sums.hip@s/float total = \*at;/float total = at[(x.slices - 1) * outputs];/;s/uint32_t s = 1; s < x.slices/uint32_t s = 0; s + 1 < x.slices/@slices@bits
no edge of D@gemm_f16@gemm_hip.h@s/if \(row < x\.m && column < x\.n\) what/what/@edges@stores 4 bytes at byte -?[0-9]+ of a buffer
no edge of A@gemm_f16@gemm_hip.h@s/wanted < lines \? wanted : lines - 1/wanted/@gemm@loads [0-9]+ bytes at byte -?[0-9]+ of a buffer
D written across@gemm_f16@device.h@s/i \* x\.d\.row \+ j \* x\.d\.column/i * x.d.column + j * x.d.row/@edges@stores 4 bytes at byte -?[0-9]+ of a buffer
D scaled by its row alone@gemm_f16@device.h@s/scale_once\(v, -a - b\)/scale_once(v, -a)/@scaled@bits
the residual in another scale@split@split.hip@s/\* a\.scale;/* a.scale * a.scale;/@split@bits
the second part of the value, not of its residual@split@split.hip@s/x\[e\] = left_of\(F\(\), x\[e\], w\) \* a\.scale/x[e] = x[e] * a.scale/@split@bits
no barrier before a turned tile is read@split@split.hip@/^    block_wait\(\);$/d@gemm@not initialised
the largest of a part of the line alone@split@split.hip@s/e < RUN \/ EACH; e\+\+\) mine = larger/e < 1; e++) mine = larger/@lines@bits
blocks of GEMMs in each other's place@batch@batch.hip@s/gemm = block \/ S::tiles_of_one;/gemm = block % S::gemms;/@batch@bits
all waves share one stage@batch@batch.hip@s/stage = stages \+ wave \* .*;/stage = stages;/@batch@a race: 
no edge of k in a four@batch@batch.hip@s/if \(first \+ e < count\) v/v/@direct@bits
k-steps of another lane@batch@batch.hip@s/: lane \/ I::side \* I::each;/: lane \/ I::side;/@direct@bits
no s_waitcnt behind loads of arguments@gemm_f16@assembly@0,/s_waitcnt lgkmcnt/{/s_waitcnt lgkmcnt/d}@gemm@s[0-9]+ is still loaded by the instruction at 0x[0-9a-f]+: s_waitcnt is missing
no s_waitcnt behind loads from memory@gemm_f16@assembly@/s_waitcnt vmcnt/d@gemm@v[0-9]+ is still loaded by the instruction at 0x[0-9a-f]+: s_waitcnt is missing
no s_waitcnt before barriers@gemm_f16@assembly@/s_waitcnt.*lgkmcnt/{N;/s_barrier/{s/^[^\n]*\n//}}@gemm@a race: .*the barrier is not preceded by s_waitcnt lgkmcnt
no s_barrier@gemm_f16@assembly@/s_barrier/d@gemm@in v[0-9]+ of lane [0-9]+ is not initialised
END
ok_if_empty "the kernels as they are" "$(rights)"
while IFS='@' read -r what file edited edit kind how; do
    ok_if_empty "noticed by $how: $what" "$(caught "$file" "$edited" "$edit" "$kind" "$how")"
done < edits
finish
