#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Files that cannot be opened, read, written, closed or renamed: each system call in turn,
# and all calls from it on, fail by tests/alloc.c.  A command ends with status 3 and one
# line, and the file of -o is unchanged; or it ends as if nothing had failed, and the file
# is complete.  No other file is left.  BITCUT_LONG tries every call and more errors.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
: "${BITCUT_DATA:=$(cd "${srcdir:-.}" && pwd)/data}"
export BITCUT_DATA OMP_WAIT_POLICY=passive
libraries=$(pwd)/tests/.libs
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
mkdir "$work/run" "$work/made"
cd "$work/run" || exit 99

if [ -n "${BITCUT_LONG:-}" ]; then every=512 parts=8; else every=4 parts=1; fi

# The errors of <errno.h>: EIO 5, EACCES 13, EMFILE 24, ENOSPC 28.
kinds='open:24 readdir:5 read:5 write:28 fsync:5 rename:13 close:5 stat:13'
[ -z "${BITCUT_LONG:-}" ] || kinds="$kinds open:13 open:5 write:5 rename:28 close:28 stat:5"

# The folder `made` after a run, and its files as they were before all of them.
cat > ../check << 'END'
case $1 in
undisturbed)
    if [ -d ../want ]; then diff -r made ../want; else cp -R made ../want; fi
    ;;
failed) # standard output may fail when the file is complete
    [ -d ../want ] && diff -r made ../want > ../differences || diff -r made ../before
    ;;
esac
rm -rf made
cp -R ../before made
END

# disturbed KIND WORD...: how bitcut ended otherwise than it may.
disturbed() {
    kind=$1
    shift
    rm -rf ../want made
    cp -R ../before made
    ALLOC_CALL=$kind ALLOC_CHECK='sh ../check' LD_PRELOAD=$libraries/alloc.so \
        ALLOC_EVERY=$every ALLOC_PARTS=$parts bitcut "$@" --threads 1 < /dev/null 2>&1 |
        grep -v 'nothing that could fail is seen'
}

# writes WHAT WORD...: each kind of call of a command that writes into the folder `made`.
writes() {
    what=$1
    shift
    for kind in $kinds; do
        ok_if_empty "$what, $kind" "$(disturbed "$kind" "$@" | head -n 20)"
    done
}

offences=$(ALLOC_CALL=open:24 ALLOC_EVERY=1 ALLOC_PARTS=1 LD_PRELOAD=$libraries/alloc.so \
    bitcut --version 2>&1 | grep -v 'nothing that could fail is seen')
if [ -n "$offences" ]; then
    skip_all "system calls that can be made to fail: $(echo "$offences" | head -n 1)"
fi

# Older files, which are to stay: other rows of one study, and part of another one's.
mkdir ../before
echo old > ../before/D.npy
echo old > ../before/D.mtx
echo old > ../before/run.jsonl
bitcut study tile -o ../before/tile.jsonl > ../out
bitcut study figure9 --shard 0/8 -o ../before/part.jsonl >> ../out
bitcut gemm --recipe fp32 --unit fma/f32 --reference none -m 9 -n 11 -k 2 -o ../A.npy >> ../out
bitcut gemm --recipe fp32 --unit fma/f32 --reference none -m 11 -n 10 -k 2 -o ../B.mtx >> ../out

gemm='gemm --recipe ootomo --unit a100 --json'
writes "study --resume" study figure9 --resume -o made/part.jsonl --json
# shellcheck disable=SC2086 # a list of words
writes "gemm -o D.npy" $gemm -a ../A.npy -b ../B.mtx -o made/D.npy
kinds=$(echo "$kinds" | tr ' ' '\n' | grep -E '^(open|readdir|stat):')
writes "study -o" study tile -o made/tile.jsonl --json
if [ -n "${BITCUT_LONG:-}" ]; then
    writes "study of kept results" study recorded -o made/tile.jsonl --json
    # shellcheck disable=SC2086 # a list of words
    writes "gemm -o D.mtx" $gemm -m 5 -n 4 -k 3 -o made/D.mtx
    writes "replay" replay "$BITCUT_DATA/h200/mma_m16n8k4_tf32_f32" --json
fi
echo "1..$n"
