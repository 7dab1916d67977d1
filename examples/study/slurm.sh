#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A study as an array of Slurm jobs, a shard for each:
#
#     STUDY=legemm SCALE=paper sbatch examples/study/slurm.sh
#
# When all have ended, merge.sh in this folder merges the files.  The number of shards is not
# taken from the array, so that failed jobs alone can be submitted again: sbatch --array=3,17 ...
#SBATCH --job-name=bitcut-study
#SBATCH --array=0-63
#SBATCH --cpus-per-task=1
#SBATCH --requeue
set -eu
: "${STUDY:?is not set; see bitcut list studies}" "${SCALE:=small}" "${SHARDS:=64}"
exec bitcut study "$STUDY" --scale "$SCALE" --shard "$SLURM_ARRAY_TASK_ID/$SHARDS" \
    -o "$STUDY.shard$SLURM_ARRAY_TASK_ID.jsonl" --resume --threads "${SLURM_CPUS_PER_TASK:-1}"
