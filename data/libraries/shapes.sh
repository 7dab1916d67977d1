#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Record the files of the folder shapes with the program of shapes.c and the libraries of
# this machine:
#
#     shapes.sh PROGRAM FIRST LAST FOLDER
#
# Lines are appended to FOLDER/LIBRARY-CHIP-THREADS.txt.
set -u
[ $# -eq 4 ] || { sed -n 's/^#     //p' "$0" >&2; exit 2; }
program=$1 first=$2 last=$3 folder=$4

# openblas CORE THREADS [update]: as OPENBLAS_CORETYPE names it.
openblas() {
    OPENBLAS_CORETYPE=$1 "$program" libopenblas.so.0 "$first" "$last" "$2" ${3:+"$3"} >> \
        "$folder/openblas-0.3.21-$(echo "$1" | tr '[:upper:]' '[:lower:]')-$2${3:+-$3}.txt"
}

# blis NUMBER CONFIGURATION THREADS: the number is that of BLIS_ARCH_TYPE.
blis() {
    BLIS_ARCH_TYPE=$1 BLIS_NUM_THREADS=$3 "$program" libblis.so.4 "$first" "$last" >> \
        "$folder/blis-0.9.0-$2-$3.txt"
}

for core in Cooperlake SkylakeX Haswell Zen Sandybridge; do openblas $core 1; done
for core in SkylakeX Haswell Sandybridge; do openblas $core 4; done
for core in SkylakeX Haswell Sandybridge; do openblas $core 1 update; done
for threads in 1 2; do
    blis 0 skx $threads
    blis 3 haswell $threads
    blis 6 zen3 $threads
    blis 7 zen2 $threads
    blis 8 zen $threads
    blis 4 sandybridge $threads
done
