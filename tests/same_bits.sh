#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The same bits always: digests of the library's results (tests/same_bits.c) do not depend
# on the compiler and its options, the number of threads, the floating-point mode of the
# caller or the locale, and they equal those at the end of this file.
# Run in the build folder with srcdir, CC and CFLAGS set, as `make check` does;
# LOG_COMPILER runs programs for another machine.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
: "${srcdir:=.}" "${CC:=cc}" "${CFLAGS:=}" "${LOG_COMPILER:=}"
[ -f .libs/libcore.a ] || skip_all ".libs/libcore.a of the build"
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
libraries=$(pkg-config --libs mpfr gmp 2> "$work/errors") || libraries='-lmpfr -lgmp'
flags="-std=c11 -ffp-contract=off -I. -I$srcdir"

# compile PROGRAM WORD...: same_bits.c by that compiler and its options.
compile() {
    program=$work/$1
    shift
    # shellcheck disable=SC2086 # lists of words
    "$@" $flags "$srcdir/tests/same_bits.c" $sources $libraries -lm -o "$program"
}

# of_build: what goes wrong when it is linked with what `make` built, OpenMP or not.
of_build() {
    sources=.libs/libcore.a
    # shellcheck disable=SC2086 # lists of words
    compile build $CC $CFLAGS -fopenmp > "$work/errors" 2>&1 ||
        compile build $CC $CFLAGS 2>&1
    $LOG_COMPILER "$work/build" nearest 1 > "$work/bits" 2> "$work/errors" || cat "$work/errors"
}

# differs PROGRAM ARGUMENT...: where its digests are not those of the build.
differs() {
    program=$work/$1
    shift
    $LOG_COMPILER "$program" "$@" > "$work/got" 2> "$work/errors"
    status=$?
    [ $status -ne 77 ] || return 77
    [ $status -eq 0 ] || echo "status $status: $(cat "$work/errors")"
    diff "$work/bits" "$work/got"
    return 0
}

# same PROGRAM ARGUMENT...: one point.
same() {
    found=$(differs "$@")
    [ $? -ne 77 ] || { skip "$*" "a host that can run it"; return; }
    ok_if_empty "$*" "$found"
}

# compiled NAME COMPILER...: the library's sources that a digest needs compiled by another
# compiler.
compiled() {
    name=$1
    shift
    [ -z "${BITCUT_BRIEF:-}" ] || { skip "$name" whole; return; }
    [ "$name" = clang-O2 ] || is_whole || { skip "$name" all; return; }
    command -v "$1" > "$work/errors" || { skip "$name" "$1"; return; }
    sources="$(find "$srcdir/lib" -name '*.c' ! -name 'json_*' ! -name safetensors.c ! -name torch.c \
        ! -name zip.c ! -name matrix_file.c ! -name source.c)"
    sources="$sources $(echo "$srcdir"/emu/*.c "$srcdir"/emu/attention/*.c "$srcdir"/emu/fast/*.c "$srcdir"/emu/fp64/*.c)"
    ok_if_empty "$name compiles" "$(compile "$name" "$@" 2>&1)"
    same "$name" nearest 2
}

# unlike_golden: the digests below that are not among those of the build.
unlike_golden() {
    sed '1,/^# --- golden/d; s/^# //' "$script" |
        awk 'NR == FNR { got[$1, $2] = $3; next }
             { lines++ }
             got[$1, $2] != $3 { print $1, $2 ": " got[$1, $2] ", not " $3 }
             END { if (!lines) print "no golden digests" }' "$work/bits" -
}

# A locale with a decimal comma: made here, or else one of the system's.
comma_locale() {
    if localedef -i de_DE -f UTF-8 "$work/de_DE.UTF-8" > "$work/errors" 2>&1; then
        echo de_DE.UTF-8
    else
        locale -a 2> "$work/errors" | grep -E '^(de|es|fr|it|pl|ru)_' | head -n 1
    fi
}

script=$0
ok_if_empty "the build" "$(of_build)"
ok_if_empty "the golden digests" "$(unlike_golden)"
for mode in $(printf '%s\n' nearest up flush down traps zero | part 2); do same build $mode 2; done
LOCPATH=$work
locale=$(comma_locale)
[ ! -d "$work/de_DE.UTF-8" ] || export LOCPATH
if [ -n "$locale" ]; then same build nearest 1 "$locale"
else skip "a decimal comma" "a locale with a decimal comma: the package locales"; fi
compiled gcc-O0 gcc -O0 -Wno-unknown-pragmas
compiled gcc-O3 gcc -O3 -fopenmp -march=native
compiled clang-O2 clang -O2 -Wno-unknown-pragmas
echo "1..$n"
exit 0

# --- golden ---
# format f64 507b253fbdfb44ae
# format f32 fc63c08e8063a7a4
# format f16 12e763f5bbcc8eb6
# format bf16 803069c2892eb53a
# format tf32 a16cc586b594a69f
# format e8m13 a131e6837c5774de
# format e5m2 65b6be8541f84426
# format e4m3 cc34d94643d6d621
# format e5m2fnuz 42ccffc9d672ee96
# format e4m3fnuz 92a8b228605f99eb
# format e3m2 cd12f751ac412615
# format e2m3 1e6eaa10647ab0a3
# format e2m1 b5d2d267127aa947
# format s8 6bf5c8e3073fc2f2
# format s32 79483657701ac742
# rounding rn 12e763f5bbcc8eb6
# rounding rna 4ac85c35ed299f66
# rounding rz 8420c90efe7f4d60
# rounding ru 4f1539fe517e37dd
# rounding rd 86ed02cd05026f24
# rounding odd 9d5ed6482e748454
# rounding cut 1b77fc5cbab23cd6
# rounding rn-ftz 26cac09443cdd6f8
# rounding rn-sat e9b9b08686ac5a98
# rounding feng21 6977763398d22363
# rounding feng22 bdd03a31017b3811
# split f32 fc63c08e8063a7a4
# split half 12e763f5bbcc8eb6
# split markidis 464b1ec6c153393f
# split feng e7542c00627c13f0
# split feng22 9380b0e89cdb1726
# split halfhalf 1a3f9821197befac
# split bitcut 3251c2dc85b41264
# split bitcut-gradual faef7e2b6657767a
# split tf32 b51a5dd7dc9a789f
# split tf32tf32 c4be9c83b61eb881
# split bf16 803069c2892eb53a
# split bf16x2 7f0d65119d72e208
# split bf16x3 038a5cea81022b38
# split bf16x3-scaled b8dd89d912ed8a08
# split tf32-rn a16cc586b594a69f
# split cutlass-tf32x2 000b470f33a7f031
# split cutlass-bf16x3 b8dd89d912ed8a08
# split triton-tf32x2 5084c471b9a8547e
# split half-e4m3 c0d3b8dcb6396e4b
# split half-e5m2 616ae7cd232bb6d5
# split half-s8 022a118efc634ec7
# decimal text 19b2ecddc02a1b99
# input urand b6c20496415bc0a9
# input nrand 6399816e25b9aaa9
# input exp_rand 4274d60f296786e6
# input positive d6d7e88d1d818f4c
# input llm d7d2d7e746539427
# input alternating 2beb770f94fcdd4c
# input const a36dcf55e5e26dc5
# input zeros 6aae474a23607865
# input integers 30746fc58f0b8db8
# input ties b1691f3937756445
# input rz_worst d650eab3c9569189
# input subnormal 38f32beeaccf5048
# input specials 36c73059559e41dc
# input anybits 3553ebac8aef09ff
# input cauchy dfc190863f60b54d
# input spatial 3abe9cd56fe1534d
# input randtlr 7ef066a16e229ebe
# input gendot f3682f556735a605
# unit ideal/rn25 6fd3d9857ddfbe36
# unit ideal/rz25 5adc0f56798b7e7e
# unit ootomo/mma_rn 3d58c08a06db840e
# unit ootomo/mma_rz 4a14890200043815
# unit fma/f32 245771ed42e7d808
# unit fma/f64 a68477968b16222e
# unit volta/mma.m8n8k4.f16.f16 05965ecee3c05603
# unit ampere/mma.m16n8k16.f32.f16 5c00bffd261b58b2
# unit ampere/mma.m16n8k8.f32.tf32 77f4c6a07fc828d4
# unit ada/mma.m16n8k32.f32.e4m3 f034e99c6d07320d
# unit hopper/mma.m16n8k16.f32.bf16 dcc00be64a596046
# unit hopper/mma.m16n8k32.f16.e5m2 2aa24b1f52124b1d
# unit hopper/wgmma.m64n8k32.f32.e4m3 8faa7c7f7aad6c74
# unit cdna1/mfma.32x32x8.f32.f16 7d38eefd1c320f94
# unit cdna2/mfma.32x32x8.f32.f16 cc3ff21527988015
# unit cdna3/mfma.32x32x8.f32.f16 88244f2442a9e7c4
# unit cdna3/mfma.16x16x16.f32.bf16 5211cc4f4a148554
# unit cdna3/mfma.16x16x32.f32.fp8.bf8 c3eae06694f3027d
# gemm plain a2fe67df466fc760
# gemm markidis 15ca6ecc6a5d1a7f
# gemm feng b826b06e78b822c1
# gemm ootomo c55a78d4be7ccfb7
# gemm ootomo-tf32 459ec3a713d80adb
# gemm legemm 2e82e098c89787e1
# gemm fp32 c403d32f00aae85e
# gemm tf32x3 42f86634ce239a64
# gemm bf16x3 0db2a8cb2d42c141
# gemm bf16x6 c0fd710ae353d563
# gemm bf16x9 7dd02e15a7af6224
# gemm cublas-tf32 72b99347fe3f518d
# gemm cutlass-tf32x3 f190df558a774d32
# gemm cutlass-sm100-bf16x9 7e727cd7f8d7e42a
# gemm triton-tf32x3 cb958b3446f1cc6c
# gemm triton-bf16x3 00814df995452af2
# gemm triton-bf16x6 05c46e4666a002df
# gemm xla-bf16x3 00814df995452af2
# gemm xla-bf16x6 05c46e4666a002df
# gemm xla-bf16x9 1838b5fc17b95dc6
# gemm half-fp8 691bda9186af4bd4
# gemm half-int8 e1d5da7a3707c7b7
# exact urand(-1,1) a1afc1ab7d877e27
# exact exp_rand(-120,120) 41e025e7250eecb4
# exact exp_rand(-75,-60) 1b133fd4bb004e17
# exact gendot(1e+12) 711b7d0136f854ed
# exact subnormal 63cad9b754bca29d
# exact specials(100) f0d04bc5df6868b8
# exact anybits 16941cbc128f6da3
# input phi fb2a31691ae624ef
# input graded c824c3666dd92085
# input opposite d1f313ae353c3e3b
# input line_scaled a9dc540dda8faf0a
# input all_ones ed8908e58b437938
# input max_digits 41040338b6f1da3d
# input cancelling 679670a579de403f
# input near_subnormal f3a3d311f09f3ee5
# scheme fp64 d64a0fe451a63c2e
# scheme ozimmu 9ca8750786871866
# scheme ozimmu-ef 3561c61b5ef53b3f
# scheme ozimmu-rn 6bcb8aee235958ee
# scheme ozimmu-h 0c60833324aac429
# scheme cublasdx c3c53bc66d271c67
# scheme gemmul8 117c69fd0bde1857
# scheme gemmul8-fast bf6ff8c66e2fafc1
# scheme cublas-fixed 4da61a9a7dfc20ef
# scheme slices-f16 cff0a85d2a26a394
# scheme slices-bf16 67ea5eb4da3c8ff5
# scheme slices-e4m3 9a3c4588d108a26b
# attention flash-attention-2 c3318887774d3437
# attention flash-attention-2-split c3318887774d3437
# attention pytorch-flash b540881e7d5af142
# attention cudnn-sm90 2d9bbccccbaf2a84
# attention flash-attention-3-fp8 d149e403ca23fd39
# attention sage-attention-1 e72ddff32cc09f58
# attention sage-attention-2 d12e421efabcd4c8
# attention plain e07dfea782d88a9c
