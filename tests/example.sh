#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The examples: they are short, build against the installed header's library alone, and a
# caller's own GEMM is verified by one, on the module without a GPU; which then lies.  A
# result is explained by another, and not one with a bit changed.  Words are kept by a third,
# with the host's memory for CUDA's.  The manual runs the others (tests/documents.sh).
# Run in the build folder with srcdir, CC and CFLAGS set, as `make check` does.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
: "${srcdir:=.}" "${CC:=cc}" "${CFLAGS:=}"
shared=.libs/libbitcut.so
[ -f "$shared" ] || skip_all shared
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
BITCUT_MODULES=$PWD/tests/.libs
export BITCUT_MODULES

# built NAME: as the manual says before `make install`.
built() {
    # shellcheck disable=SC2046,SC2086 # lists of words
    $CC -std=c11 $CFLAGS -I"$work" "$srcdir/examples/$1.c" -o "$work/$1" \
        $(PKG_CONFIG_PATH=$PWD/lib pkg-config --cflags --libs bitcut) 2>&1
}

# What gpu_parts uses of CUDA.
cat > "$work/cuda_runtime_api.h" << END
#include <stdlib.h>
#include <string.h>
enum { cudaSuccess, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };
#define cudaMalloc(to, bytes) ((*(to) = aligned_alloc(256, ((bytes) + 256) / 256 * 256)) == NULL)
#define cudaMemcpy(to, from, bytes, way) memcpy(to, from, bytes)
#define cudaFree(x) free(x)
END

# Without the line of the licence.
long() { awk 'FNR == 62 && FILENAME !~ /gpu_parts/ { print FILENAME }' "$srcdir"/examples/*.c; }

# ran STATUS TEXT WORD...: what goes wrong when that should end so and say that.
ran() {
    wanted=$1 text=$2
    shift 2
    "$work/$1" ${2+"$2"} > "$work/out" 2>&1
    status=$?
    [ $status -eq "$wanted" ] || echo "exit status $status, not $wanted"
    grep -q "$text" "$work/out" || cat "$work/out"
}

# What an installed library has beside it, as the package for Python does.
beside() {
    mkdir "$work/beside"
    cp -L .libs/libbitcut.so.1 tests/.libs/bitcut-cuda.so "$work/beside"
    unset BITCUT_MODULES
    LD_LIBRARY_PATH=$work/beside${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export LD_LIBRARY_PATH
    ran 0 '0 of 6300 outputs differ' verify_call
    rm "$work/beside/bitcut-cuda.so"
    ran 3 'no GPU backend' verify_call
}

echo 1..11
ok_if_empty "no example but gpu_parts has more than 60 lines" "$(long)"
ok_if_empty "verify_call builds" "$(built verify_call)"
ok_if_empty "a call is verified" \
    "$(ran 0 'vary.ootomo.f16 on hopper/mma.m16n8k16.f32.f16: 0 of 6300 outputs differ' verify_call)"
ok_if_empty "a wrong device is found" \
    "$(DEVICE_FAULT=flips; export DEVICE_FAULT; ran 1 'outputs differ' verify_call)"
ok_if_empty "no device is told" \
    "$(BITCUT_MODULES=$work; export BITCUT_MODULES; ran 3 'no GPU backend' verify_call)"
ok_if_empty "a module beside the library is found" "$(beside)"
ok_if_empty "explain_call builds" "$(built explain_call)"
ok_if_empty "a result is explained, and what comes back gives it" \
    "$(ran 0 'promoted every 4 instructions; .*: 1920 of 1920 outputs agree' explain_call)"
changed() { ran 1 'no hypothesis gives every bit of D.* 1919 of 1920 outputs' explain_call flip; }
if_whole "a changed bit is told" changed # the whole search
ok_if_empty "gpu_parts builds" "$(built gpu_parts)"
ok_if_empty "words that are kept give the emulator's bits" \
    "$(ran 0 "^D is the emulator's" gpu_parts)"
