#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# seconds.sh DRIVER WORD...: run the driver of a test, and add a line to its --trs-file:
# the elapsed seconds, and the seconds of processor time.
set -u
trs=
last=
for word; do
    [ "$last" != --trs-file ] || trs=$word
    last=$word
done
before=$(date +%s.%N)
"${SHELL:-/bin/sh}" "$@"
status=$?
{ date +%s.%N && times; } > "$trs.seconds"
tr -s 'ms\n' ' ' < "$trs.seconds" | awk -v before="$before" '
    { printf ":seconds: %.1f %.1f\n", $1 - before, 60 * ($6 + $8) + $7 + $9 }' >> "$trs"
rm "$trs.seconds"
exit $status
