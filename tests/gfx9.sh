#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The executor of AMD code objects on small kernels, correct and wrong, compiled here by
# clang; and the kernels of bitcut-executor.so where it was built.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
run_code=$PWD/tests/gfx9/run_code modules=$PWD
manual=$(cd "${srcdir:-.}" && pwd)/doc/bitcut.texi
[ -x "$run_code" ] || skip_all check
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99

cat > k.hip << 'END'
typedef _Float16 half4 __attribute__((vector_size(8)));
typedef float float4_ __attribute__((vector_size(16)));
#define KERNEL extern "C" __attribute__((global, amdgpu_flat_work_group_size(64, 256))) void
#define SHARED __attribute__((shared))
#define LOCAL(S) ((volatile __attribute__((address_space(3))) float *)(S))
#define ITEM __builtin_amdgcn_workitem_id_x()
static __attribute__((device, always_inline)) inline void sync()
{
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
KERNEL reverse(float *d, const float *a, int n)
{
    SHARED float s[256];
    s[ITEM] = a[ITEM] * 2;
    sync();
    d[ITEM] = s[n - 1 - ITEM];
}
KERNEL no_barrier(float *d, const float *a, int n)
{
    SHARED float s[256];
    LOCAL(s)[ITEM] = a[ITEM];
    sync();
    LOCAL(s)[ITEM] = a[ITEM] * 2;
    d[ITEM] = LOCAL(s)[n - 1 - ITEM];
}
KERNEL no_wait(float *d, const float *a, int n)
{
    SHARED float s[256];
    LOCAL(s)[ITEM] = a[ITEM] * 2;
    asm volatile("s_barrier"); /* of which the compiler, that would wait, knows nothing */
    d[ITEM] = LOCAL(s)[n - 1 - ITEM];
}
KERNEL outside(float *d, const float *a, int n) { d[ITEM + n] = a[ITEM]; }
KERNEL unset(float *d, const float *a, int n)
{
    SHARED float s[256];
    if (ITEM < 7) s[ITEM] = a[ITEM];
    sync();
    d[ITEM] = LOCAL(s)[ITEM];
}
KERNEL waitless(float *d, const float *a, int n)
{
    float x;
    asm volatile("global_load_dword %0, %1, off\n\tv_add_f32 %0, %0, %0\n\ts_waitcnt vmcnt(0)"
                 : "=&v"(x) : "v"(a + ITEM));
    d[ITEM] = x;
}
KERNEL rows(float *d, const float *a, int n) /* A[i][k] = i, B = 1: D[i][j] = 16 i */
{
    const half4 one = { 1, 1, 1, 1 };
    const _Float16 i = (_Float16)a[ITEM % 16];
    const half4 x = { i, i, i, i };
    const float4_ zero = { 0, 0, 0, 0 };
    const float4_ sum = __builtin_amdgcn_mfma_f32_16x16x16f16(x, one, zero, 0, 0, 0);
    for (int r = 0; r < 4; r++) d[(4 * (ITEM / 16) + r) * 16 + ITEM % 16] = sum[r];
}
END

# A clang for the target, as configure looks for one.
compiler_for() {
    for compiler in amdclang++ clang++-19 clang++-16 clang++-15 clang++-14 clang++; do
        command -v "$compiler" > /dev/null || continue
        "$compiler" -x hip --offload-arch="$1" -nogpulib -nogpuinc --offload-device-only \
            --no-gpu-bundle-output -O3 -ffp-contract=off k.hip -o "k.$1.hsaco" 2> err &&
            return
    done
    return 1
}

# says PATTERN KERNEL: what wrong kernels end with.
says() {
    "$run_code" "k.$target.hsaco" "$2" "${3:-256}" > out && echo "$2 was not noticed"
    grep -q "^$2: .*$1" out || cat out
}

right_run() {
    "$run_code" "k.$target.hsaco" reverse 256 > out || cat out
    awk 'BEGIN { for (i = 255; i >= 0; i--) printf "%d%s", 2 * i, i % 16 ? " " : "\n" }' |
        cmp - out 2>&1
    "$run_code" "k.$target.hsaco" rows 64 > out || cat out
    awk 'BEGIN { for (i = 0; i < 256; i++)
        printf "%d%s", 16 * int(i / 16), i % 16 == 15 ? "\n" : " " }' | cmp - out 2>&1
}

wrong_noticed() {
    says 'a race: .*no barrier separates the accesses' no_barrier
    says 'a race: .*the barrier is not preceded by s_waitcnt lgkmcnt' no_wait
    says 'stores 4 bytes at byte 1024 of a buffer of 1024 bytes' outside 64
    says 'stores v[0-9]* of lane 7, which is not initialised' unset
    says 'is still loaded by the instruction at 0x[0-9a-f]*: s_waitcnt is missing' waitless
}

# decoded FILE...: mnemonics as another disassembler has them.
decoded_file() {
    "$disassembler" -d --mcpu="$target" "$1" |
        sed -nE 's|^[[:space:]]+([a-z_0-9]+).*// 0*([0-9A-F]+):.*|\2 \1|p' |
        awk '{ print tolower($1), $2 }' | sed -E 's/_(e32|e64|sdwa)$//' > theirs
    "$run_code" "$1" > ours
    [ "$(wc -l < ours)" -gt 50 ] || echo "few instructions"
    diff theirs ours | sed 5q
}

# Instructions of every row of the table, in all forms, as another disassembler has them.  That
# of LLVM 15 has neither the names of gfx942 nor all of what SDWA can do.
rows_decoded() {
    "$run_code" "$target" | grep -v '^#' > rows
    [ "$(wc -l < rows)" -gt 3000 ] || echo "few rows"
    said=$(sed -nE "s/.*[(, ]([0-9]+) for $target.*/\1/p" "$manual")
    [ "$(cut -d' ' -f2 rows | sort -u | wc -l)" = "$said" ] ||
        echo "the manual says $said of $(cut -d' ' -f2 rows | sort -u | wc -l) opcodes"
    cut -d' ' -f1 rows | "$assembler" -triple=amdgcn -mcpu="$target" --disassemble 2> err |
        sed -nE 's/^\t([a-z][a-z_0-9]+).*/\1/p' | sed -E 's/_(e32|e64|sdwa)$//' > theirs
    cut -d' ' -f2 rows | diff theirs - | sed 5q
}

decoded() { for file; do [ ! -f "$file" ] || decoded_file "$file"; done; }

kernels_equal() {
    run 0 verify --kernel mfma16x16x16.legemm.f16.64x64x32.2r --device "executor:$target" \
        -m 20 -n 9 -k 33 --json
    expect mismatches 0
}

echo "1..15"
assembler=$(command -v llvm-mc-19 llvm-mc-18 llvm-mc-17 llvm-mc-16 | sed 1q)
for target in gfx908 gfx90a gfx942; do
    if [ "$assembler" ]; then
        ok_if_empty "$target: every opcode is numbered as in LLVM" "$(rows_decoded)"
    else skip "$target: every opcode is numbered as in LLVM" "llvm-mc of LLVM 16 or later: the package llvm"
    fi
    if compiler_for "$target"; then
        ok_if_empty "$target: right kernels" "$(right_run)"
        ok_if_empty "$target: wrong ones are noticed" "$(wrong_noticed)"
        disassembler=$(command -v llvm-objdump-19 llvm-objdump-15 llvm-objdump | sed 1q)
        if [ "$disassembler" ]; then
            ok_if_empty "$target: decoded as LLVM does" \
                "$(decoded "k.$target.hsaco" "$modules"/gpu/hip/*."$target".hsaco)"
        else skip "$target: decoded as LLVM does" "llvm-objdump: the package llvm"
        fi
    else
        for what in "right kernels" "wrong ones are noticed" "decoded as LLVM does"; do
            skip "$target: $what" amd
        done
    fi
    if [ -f "$modules/bitcut-executor.so" ]; then
        exhaustive "$target: a kernel of ours" kernels_equal
    else skip "$target: a kernel of ours" executor
    fi
done
