#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bitcut-hip.so as it is, with a simulated HIP runtime and a model of rocBLAS: what a
# machine with AMD GPUs would run, including timing and peers.
# Run in the build folder with srcdir, CC and CFLAGS set, as `make check` does.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
source=$(cd "${srcdir:-.}" && pwd) modules=$PWD
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99

if [ ! -f "$modules/bitcut-hip.so" ] || [ ! -f "$modules/bitcut-gfx9.so" ]; then
    skip_all "bitcut-hip.so: configure with a compiler of HIP"
    exit 0
fi
mkdir libraries
ln -s "$modules/bitcut-gfx9.so" libraries/libamdhip64.so
export LD_LIBRARY_PATH="$work/libraries"

# bench WORD...: `out` has rows on the second device, a gfx90a, none of another's bits.
bench() {
    run 0 bench gpu --device hip:1 --rounds 1 --json "$@"
    value mismatches | grep -vx -e 0 -e null
}

runs() {
    run 0 list devices --json
    grep -q '"name":"hip","here":true' out || grep '"hip' out
    run 0 record --random 16 --device hip:1 --json
    value mismatches | grep -vx 0
    run 0 verify --kernel hip/legemm --device hip:1 -m 66 -n 65 -k 75 --seconds 0 --json
    expect mismatches 0
}

without_peers() {
    bench -n 64 --sustained 0 --kernel mfma32x32x8.legemm.f16.64x64x32.2r
    [ "$(grep -c '"mismatches":0' out)" -eq 3 ] || echo "not three parts"
    value ms | grep -c '^[0-9]' | grep -qx 3 || echo "no times"
    grep '"name":"sgemm"' out | grep -q '"fault":"none: no librocblas.so"' || cat out
}

# Loops in parts, of which the ends are events; a board that says nothing.
under_load() {
    bitcut bench gpu --device hip:1 --rounds 1 --json -n 64 --sustained 100 \
        --kernel mfma32x32x8.legemm.f16.64x64x32.2r > all 2> err || cat err
    grep -v '^bitcut: bench: heat: ' err
    for part in whole product; do
        grep "\"name\":\"mfma.*\"part\":\"$part\"" all > out
        value ms_sustained | awk '$1 > 0 { n++ } END { exit n != 1 }' || echo "$part: no time"
        for key in watts watts_limit mhz_sustained limit joules; do expect $key null; done
    done
    grep '"name":"mfma.*"part":"split"' all > out
    expect ms_sustained null
}

# A peer's residual is that of its words and sums.
with_peers() {
    bench -n 64 --sustained 0 --kernel mfma32x32x8.legemm.f16.64x64x32.2r
    grep -v '"fault":null' out
    grep -q '"library":"rocBLAS 0.0.0-model"' out || echo "no version"
    for peer in sgemm:1e-7 hgemm:1e-3 ootomo3:1e-6; do
        grep "\"name\":\"${peer%:*}\",\"part\":\"whole\"" out |
            sed 's/.*"relres":\([^,]*\).*/\1/' |
            awk -v most="${peer#*:}" '{ if ($1 > 0 && $1 < most) good++ }
                END { exit !(NR == 1 && good == 1) }' || echo "${peer%:*}: no such residual"
    done
    bench --study batch --batch 5
    for peer in strided pointers strided-f16 pointers-f16; do
        grep "\"name\":\"$peer\"" out | grep -q '"relres":[0-9.e-]*,' || echo "no $peer"
    done
    grep -c '"mismatches":0' out | grep -qvx 0 || echo "no kernels for batches"
}

ok_if_empty "the module runs on the stand-in for its runtime" "$(runs)"
ok_if_empty "kernels are timed without rocBLAS" "$(without_peers)"
ok_if_empty "under load, too" "$(under_load)"
# shellcheck disable=SC2086 # words
if $CC -std=c11 $CFLAGS -shared -fPIC -o libraries/librocblas.so "$source/tests/hip/rocblas_model.c" \
    > err 2>&1; then
    ok_if_empty "and beside the calls of rocBLAS" "$(with_peers)"
else skip "and beside the calls of rocBLAS" "a compiler with _Float16"
fi
echo "1..$n"
