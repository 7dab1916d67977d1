#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Merge the shards of slurm.sh or parallel.sh in this folder to STUDY.jsonl, the file of one run.
# Shards of other versions, scales or seeds, and changed rows, are refused.  Points that are
# missing, because their job failed, are reported (status 1).
#
#     STUDY=legemm examples/study/merge.sh
set -eu
: "${STUDY:?is not set; see bitcut list studies}"
found=$(bitcut study --merge "$STUDY".shard*.jsonl -o "$STUDY.jsonl" --json)
count() { echo "$found" | sed "s/.*\"$1\":\([0-9]*\).*/\1/"; }
[ "$(count points)" -eq "$(count resumed)" ] && exit
echo "$STUDY: $(count resumed) of $(count points) points; submit the failed jobs again" >&2
exit 1
