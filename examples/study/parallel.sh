#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A study by GNU parallel, on this machine's processors, and merged:
#
#     STUDY=figure1 SCALE=paper SHARDS=64 examples/study/parallel.sh
#
# On other machines that have bitcut and the same files in this folder (NFS):
#
#     PARALLEL='--sshlogin 8/node1,8/node2 --workdir .' STUDY=... examples/study/parallel.sh
#
# A shard that fails, for example on a machine that is lost, is started again, up to three times.
set -eu
: "${STUDY:?is not set; see bitcut list studies}" "${SCALE:=small}" "${SHARDS:=64}"
seq 0 $((SHARDS - 1)) | parallel --retries 3 --halt soon,fail=1 \
    bitcut study "$STUDY" --scale "$SCALE" --shard "{}/$SHARDS" -o "$STUDY.shard{}.jsonl" \
    --resume --threads 1 --json > "$STUDY.log"
exec "$(dirname "$0")/merge.sh"
