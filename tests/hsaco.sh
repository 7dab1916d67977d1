#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# verify --hsaco: kernels of a user, compiled here by clang, correct and wrong ones.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99

cat > k.hip << 'END'
typedef _Float16 half4 __attribute__((vector_size(8)));
typedef float float4_ __attribute__((vector_size(16)));
#define KERNEL extern "C" __attribute__((global, amdgpu_flat_work_group_size(64, 64))) void
#define LANE  (int)__builtin_amdgcn_workitem_id_x()
#define ROW   (int)__builtin_amdgcn_workgroup_id_y()
#define COL   (int)__builtin_amdgcn_workgroup_id_x()
/* D = alpha A B, B column-major, by tiles of a wave. */
KERNEL hgemm(const _Float16 *a, const _Float16 *b, float *d, int m, int n, int k, float alpha)
{
    const int i0 = ROW * 16, j0 = COL * 16, i = i0 + LANE % 16, j = j0 + LANE % 16;
    float4_ sum = { 0, 0, 0, 0 };
    for (int p = 0; p < k; p += 16) {
        half4 x, y;
        for (int e = 0; e < 4; e++) {
            const int at = p + LANE / 16 * 4 + e;
            x[e] = i < m && at < k ? a[i * k + at] : (_Float16)0;
            y[e] = j < n && at < k ? b[j * k + at] : (_Float16)0;
        }
        sum = __builtin_amdgcn_mfma_f32_16x16x16f16(x, y, sum, 0, 0, 0);
    }
    for (int r = 0; r < 4; r++)
        if (i0 + 4 * (LANE / 16) + r < m && j < n)
            d[(i0 + 4 * (LANE / 16) + r) * n + j] = alpha * sum[r];
}
/* D = A B in FP32, an output each, rounded to f16; work-groups in one dimension. */
KERNEL fma(const float *a, const float *b, _Float16 *d, long m, long n, long k)
{
    const long at = COL * 64l + LANE;
    float sum = 0;
    if (at >= m * n) return;
    for (long p = 0; p < k; p++)
        sum = __builtin_fmaf(a[at / n * k + p], b[p * n + at % n], sum);
    d[at] = (_Float16)sum;
}
/* C = alpha A B + beta C, all column-major with leading dimensions. */
KERNEL scaled(const float *a, long lda, const float *b, long ldb, float *c, long ldc, float alpha,
              float beta, long k)
{
    const long i = ROW * 1l, j = COL * 1l;
    float sum = 0;
    if (LANE) return;
    for (long p = 0; p < k; p++) sum = __builtin_fmaf(a[i + p * lda], b[p + j * ldb], sum);
    c[i + j * ldc] = __builtin_fmaf(beta, c[i + j * ldc], alpha * sum);
}
KERNEL endless(float *a, float *b, float *d)
{
    for (volatile float *at = d; at[LANE] != 0;) at[LANE] = a[LANE] + 1 + b[0] * 0;
}
END

compiled() {
    for compiler in amdclang++ clang++-19 clang++-16 clang++-15 clang++-14 clang++; do
        command -v "$compiler" > /dev/null || continue
        "$compiler" -x hip --offload-arch="$1" -nogpulib -nogpuinc --offload-device-only \
            --no-gpu-bundle-output -O2 -ffp-contract=off k.hip -o k.hsaco 2> err && return
    done
    return 1
}

hgemm="verify --hsaco k.hsaco --symbol hgemm --args a:f16,bt:f16,d,m,n,k,alpha --grid n/16,m/16
    --block 64 --recipe plain -m 50 -n 37 -k 70 --json"
fma="verify --hsaco k.hsaco --symbol fma --args a,b,d:f16,m,n,k --grid m*n/64 --block 64
    --recipe fp32 --unit fma/f32 -m 20 -n 17 -k 40 --json"
scaled="verify --hsaco k.hsaco --symbol scaled --args at,lda,bt,ldb,ct,ldc,alpha,beta,k --grid n,m
    --block 64 --recipe fp32 --unit fma/f32 --alpha 1.7 --json"

# same COMPARED WORD...: D is the emulator's.
same() {
    compared=$1
    shift
    run 0 "$@"
    expect mismatches 0
    expect compared "$compared"
}

# shellcheck disable=SC2086 # words
right() {
    same 1850 $hgemm --unit "$cdna/mfma.16x16x16.f32.f16"
    grep -q "\"device\":\"$target, executed\"" out || cat out
    expect kernel hgemm
    expect matrix 60
    same 1850 $hgemm --unit "$cdna/mfma.16x16x16.f32.f16" --alpha 0.3 --input-b 'nrand(0,4)'
    same 1850 $hgemm --unit "$cdna/mfma.16x16x16.f32.f16" --device "executor:$target"
    same 340 $fma
    same 340 $fma --pair type1
    run 0 gemm --recipe fp32 --unit fma/f32 -m 9 -n 6 -k 12 --save-a a.npy --save-b b.npy
    run 0 gemm --recipe fp32 --unit fma/f32 -m 9 -n 9 -k 6 --save-a c.npy
    same 54 $scaled -a a.npy -b b.npy -c c.npy --beta -0.6
    run 0 $hgemm --unit "$cdna/mfma.16x16x16.f32.f16" --threads 1
    cp out one
    run 0 $hgemm --unit "$cdna/mfma.16x16x16.f32.f16" --threads 7
    cmp one out
}

# shellcheck disable=SC2086
wrong() {
    run 1 verify --hsaco k.hsaco --symbol hgemm --args a:f16,b:f16,d,m,n,k,alpha \
        --grid n/16,m/16 --block 64 --recipe plain --unit "$cdna/mfma.16x16x16.f32.f16" \
        -m 40 -n 40 -k 40 --json
    expect mismatches 1600
    grep -q 'transposed: B: 1600 of 1600 outputs agree' out || cat out
    run 1 verify --hsaco k.hsaco --symbol hgemm --args a:f16,b:f16,d,m,n,k,alpha \
        --grid n/16,m/16 --block 64 --recipe plain --unit "$cdna/mfma.32x32x8.f32.f16" \
        -m 40 -n 40 -k 40 --json
    grep -q "D is plain on $cdna/mfma.16x16x16.f32.f16; transposed: B" out || cat out
    run 1 $fma --alpha 2 --seconds 0
    run 1 verify --hsaco k.hsaco --symbol hgemm --args a:f16,bt:f16,d,m,n,k,alpha \
        --grid 1 --block 64 --recipe plain --unit "$cdna/mfma.16x16x16.f32.f16" -m 17 \
        -n 16 -k 16 --seconds 0 --json
    expect mismatches 16
}

# refused STATUS WHY WORD...
refused() {
    status=$1 why=$2
    shift 2
    run "$status" "$@"
    grep -qF -- "$why" err || cat err
    [ "$(wc -l < err)" -eq 1 ] || cat err
    [ ! -s out ] || cat out
}

# shellcheck disable=SC2086
bad() {
    unit="--unit $cdna/mfma.16x16x16.f32.f16"
    refused 3 'loads 2 bytes at byte' $hgemm $unit --args a:f16,bt:f16,d,m,m,k,alpha
    refused 3 'unknown kernel kern; the code has hgemm, fma, scaled, endless' $hgemm $unit \
        --symbol kern
    refused 2 'takes 7: address, address, address, 4 bytes' $hgemm $unit --args a,b,d
    refused 2 'exceed the 64 that the kernel was compiled for' $hgemm $unit --block 128
    refused 2 '--grid x: expected 1 to 3 extents' $hgemm $unit --grid x
    refused 3 nothing.hsaco $hgemm $unit --hsaco nothing.hsaco
    refused 2 'not a 64-bit ELF file' $hgemm $unit --hsaco k.hip
    refused 2 '--device cannot be combined with --hsaco' $hgemm $unit --device cuda
    refused 2 '--device does not match the processor of the code' $hgemm $unit --device executor:gfx9
    refused 2 '--symbol is required' verify --hsaco k.hsaco --recipe plain $unit
    refused 2 '--block is required' verify --hsaco k.hsaco --recipe plain $unit --symbol hgemm \
        --args a --grid 1
    refused 2 '--recipe, --unit are both required' verify --hsaco k.hsaco
    refused 2 '-d cannot be combined with --kernel or --hsaco' $hgemm $unit -d d.npy
    refused 2 '--kernel cannot be combined with --hsaco' $hgemm $unit --kernel all
    refused 2 '--grid requires --hsaco' verify --kernel all --grid 1
    refused 2 '--input-a requires --hsaco' verify --recipe fp32 --unit fma/f32 --input-a ones
    refused 3 'endless: ' verify --hsaco k.hsaco --symbol endless --args a,b,d --grid 1 \
        --block 64 --recipe fp32 --unit fma/f32 -m 16 -n 16 -k 16 --input-a 'const(1)' \
        --input-b 'const(1)' --seconds 1
    grep -q 'the kernel did not end within 1 s (--seconds)$' err || cat err
    refused 2 'more than 2^31 work-groups' $hgemm $unit \
        --grid 4294967295,4294967295,4294967295
    refused 2 'a work-group must have 1 to 1024 work-items' $hgemm $unit \
        --block 2147483648,2147483648,4
    for seconds in 2 10; do # on a loaded machine it may not have begun
        timeout --signal=INT $seconds bitcut verify --hsaco k.hsaco --symbol endless \
            --args a,b,d --grid 1 --block 64 --recipe fp32 --unit fma/f32 -m 16 -n 16 -k 16 \
            --input-a 'const(1)' --input-b 'const(1)' > out 2> err < /dev/null
        grep -q 'endless: .*: stopped$' err && break
    done
    grep -q 'endless: .*: stopped$' err || cat err
    [ ! -s out ] || cat out
}

while read -r target cdna; do
    if compiled $target; then
        ok_if_empty "$target: right kernels" "$(right)"
        ok_if_empty "$target: wrong ones" "$(wrong)"
        [ $target != gfx90a ] || ok_if_empty "what cannot be is refused" "$(bad)"
    else skip "$target" amd
    fi
done << 'END'
gfx908 cdna1
gfx90a cdna2
gfx942 cdna3
END
echo "1..$n"
