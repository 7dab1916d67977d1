#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The recipes of examples/study: shards of a study as Slurm starts them, and by GNU parallel, merge
# to the file of one run; what failed is reported, and computed when it is submitted again.
# Run in the build folder with srcdir set, as `make check` does.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
recipes=$(cd "${srcdir:-.}" && pwd)/examples/study
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99
export STUDY=figure5 SHARDS=5
bitcut study $STUDY --json > whole.jsonl

# array TASK...: the jobs of an array, one after the other.
array() {
    for task in "$@"; do
        SLURM_ARRAY_TASK_ID=$task SLURM_CPUS_PER_TASK=2 sh "$recipes/slurm.sh" > "out$task" || echo "task $task"
    done
}

slurm() {
    mkdir slurm
    cd slurm || exit 99
    array 0 1 2 4
    sh "$recipes/merge.sh" > out 2> err && echo "merged without a shard"
    [ "$(cat err)" = "figure5: 40 of 50 points; submit the failed jobs again" ] || cat err
    array 3
    sh "$recipes/merge.sh" 2>&1
    cmp $STUDY.jsonl ../whole.jsonl 2>&1
    array 2 # a job that is started again has nothing left to do
    grep -q '^computed  0$' out2 || cat out2
    grep -q '^#SBATCH --array=0-63$' "$recipes/slurm.sh" || echo "the array is not of 64 jobs"
    SHARDS='' SLURM_ARRAY_TASK_ID=63 sh "$recipes/slurm.sh" > out
    grep -q '^computed  0$' out || cat out # of 64 shards the last has none of 50 points
    (unset STUDY; sh "$recipes/slurm.sh" 2> err && echo "it ran without a study")
    grep -q 'STUDY: is not set' err || cat err
}

by_parallel() {
    mkdir parallel
    cd parallel || exit 99
    sh "$recipes/parallel.sh" 2>&1
    cmp $STUDY.jsonl ../whole.jsonl 2>&1
}

ok_if_empty "an array of Slurm" "$(slurm)"
if parallel --version 2> /dev/null | grep -q '^GNU parallel'; then
    ok_if_empty "GNU parallel" "$(by_parallel)"
else skip "GNU parallel" parallel; fi
echo "1..$n"
