#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The keys that the manual documents are those that the commands print with --json, in both
# directions.  In doc/bitcut.texi and its parts a key is a @code{word}, or a word of an @item of a @table
# @code, between `@c keys GROUP` and `@c end keys`; behind `@c keys items GROUP` an item's alone.
# `schema` is a key of every object.  Not here are the keys of single studies, and of most
# commands that need a device.  And the names of lines for people have their place in "How to
# read this output".
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
case ${CFLAGS:-} in
*-fsanitize*) skip_all plain ;;
esac
source=$(cd "${srcdir:-.}" && pwd)
manual=$source/doc/bitcut.texi libraries=$PWD/.libs
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99

# documented GROUP: its keys.
documented() {
    awk -v group="$1" '
        $0 == "@c keys " group { inside = 1 }
        $0 == "@c keys items " group { inside = items = 1 }
        /^@c end keys/ { inside = items = 0 }
        !inside { next }
        /^@itemx? / && !/@code|@tab/ { gsub(/[,@]|itemx? /, ""); print }
        items { next }
        { while (match($0, /@code\{[a-z_0-9.]+\}/)) {
              print substr($0, RSTART + 6, RLENGTH - 7)
              $0 = substr($0, RSTART + RLENGTH)
          } }' "$manual" "$source/doc/fp64.texi" "$source/doc/keys.texi" \
        "$source/doc/settle.texi" | tr ' .' '\n\n' | grep '^[^{}]*$' | grep .
}

# prints NAME WORD...: add the keys that this command prints to those of NAME.
prints() {
    name=$1
    shift
    bitcut "$@" --json < /dev/null > out 2> err || [ $? -le 1 ] || cat err >> "$name.failed"
    grep -o '"[a-z_0-9]*":' out | tr -d '":' >> "$name.printed"
}

# same NAME GROUP... [may GROUP...]: what is printed under NAME and not documented, or the
# reverse; keys of the groups behind `may` need not be printed.
same() {
    name=$1
    shift
    cat "$name.failed" 2> err
    true > keys
    true > allowed
    for group in "$@"; do
        case $group in
        may\ *) documented "${group#may }" >> allowed ;;
        *) documented "$group" >> keys ;;
        esac
    done
    sort -u -o keys keys
    sort -u -o allowed allowed keys
    [ -s keys ] || echo "the manual has no keys of $*"
    sort -u "$name.printed" | grep -vx schema > printed
    comm -13 allowed printed | sed 's/^/printed, and not in the manual: /'
    comm -23 keys printed | sed 's/^/in the manual, and never printed: /'
}

small="-m 16 -n 16 -k 32"
set=$source/data/h200/mma_m16n8k4_tf32_f32

# Sets with a wrong bit in D, of each kind of unit; and in one a NaN.
cp -r "$source/data/directed" changed
chmod -R u+w changed
for d in $(find changed -name D.npy); do
    byte=$(($(wc -c < "$d") - 3))
    printf '\125' | dd of="$d" bs=1 seek=$byte conv=notrunc 2> err
done
printf '\377\377\377\177' > nan
dd if=nan of="changed/hopper/mma.m16n8k16.f32.f16/D.npy" bs=1 seek=128 conv=notrunc 2> err

# A program whose one product bitcut takes, in a folder that `run --read` reads.
cat > blas.c << END
void cblas_sgemm(int, int, int, int, int, int, float, const float *, int, const float *, int,
                 float, float *, int);
#ifdef BLAS
void cblas_sgemm(int o, int ta, int tb, int m, int n, int k, float alpha, const float *a, int lda,
                 const float *b, int ldb, float beta, float *c, int ldc)
{
    for (int i = 0; i < m * n; i++) c[i] = 0;
}
#else
int main(void)
{
    float x[4] = { 1, 2, 3, 4 }, d[4];
    cblas_sgemm(101, 111, 111, 2, 2, 2, 1, x, 2, x, 2, 0, d, 2);
    return 0;
}
#endif
END
mkdir log
runs() {
    ${CC:-cc} -DBLAS -shared -fPIC -o libblas.so blas.c &&
        ${CC:-cc} -o multiplies blas.c ./libblas.so &&
        bitcut run --audit --folder log --recipe legemm --unit mi210 --against original -- \
            ./multiplies
}
runs > out 2>&1 || cat out >> run.failed

# shellcheck disable=SC2086 # lists of words
{
    prints run run --read log
    prints gemm gemm --recipe plain --unit hopper/wgmma.m64n8k32.f32.e4m3 -m 8 -n 8 -k 32 \
        --quantize-a fp8-rows --quantize-b fp8-rows
    prints gemm gemm --recipe legemm --unit h100 $small --save-a A.npy --save-b B.npy \
        -o D.npy --budget --at 1,2 --worst 1
    prints gemm gemm --recipe half-fp8 --unit h100 $small
    prints gemm gemm --recipe legemm --unit h100 $small --input-a 'specials(2)' \
        --save-a S.npy --budget --at 1,2
    bitcut gemm --recipe plain --unit h100 -m 1 -n 16 -k 16 --save-a bias.npy --reference none > out
    extended="--bias bias.npy --scale-a 2 --scale-b 3 --epilogue fused+clamp+scale-d --clamp 0,6
        --recipe plain --unit h100 -b B.npy -a"
    bitcut gemm --recipe plain --unit h100 -m 16 -n 32 -k 4 --input-b 'const(0)' --reference none \
        -o zeros.npy > out
    # shellcheck disable=SC2086 # words
    prints gemm gemm $extended zeros.npy --sparse-a -o ZD.npy
    # shellcheck disable=SC2086 # words
    prints verify verify $extended zeros.npy --sparse-a -d ZD.npy
    prints D2 gemm --recipe legemm --unit a100 $small -o D2.npy --reference none
    prints fp64 gemm --scheme ozimmu --unit h100 -m 4 -n 4 -k 8 --save-a W.npy --save-b V.npy -o U.npy
    prints fp64 gemm --scheme ozimmu --unit h100 --worst-inputs -m 1 -n 1 -k 8
    prints fp64 gemm --scheme ozimmu --unit h100 -m 4 -n 4 -k 8 --budget --at 0,0 --worst 1
    prints fp64_bound bound --scheme ozimmu --unit h100 -m 4 -n 4 -k 8
    prints fp64_tolerance tolerance --scheme ozimmu --unit h100 -a W.npy -b V.npy -d U.npy --seeds 5
    prints fp64_advice advise --fp64 -a W.npy -b V.npy
    prints fp64 explain -a W.npy -b V.npy -d U.npy
    prints fp64 verify --scheme ozimmu-h --unit h100 -a W.npy -b V.npy -d U.npy
    prints gemm gemm --recipe plain --unit hopper/mma.m16n8k32.s32.s8 $small \
        --input-a 'urand(-100,100)' --input-b 'urand(-100,100)' --save-a IA.npy --save-b IB.npy \
        --alpha 2 -o ID.npy
    prints verify verify --recipe legemm --unit h100 -a A.npy -b B.npy -d D2.npy --budget \
        --at 1,2 --worst 1 --seconds 0
    prints verify verify --recipe legemm --unit h100 -a S.npy -b B.npy -d D.npy --budget \
        --at 1,2 --seconds 0
    bitcut gemm --recipe legemm --unit h100 -m 32 -n 16 -k 32 --save-a two.npy --reference none > out
    tail -c 4096 two.npy > two.bin
    two="-a two.bin --shape-a 2x16x32 --format-a f32 -b B.npy"
    # shellcheck disable=SC2086 # words
    prints gemm gemm --recipe legemm --unit a100 $two -o two-D.npy
    # shellcheck disable=SC2086 # words
    prints verify verify --recipe legemm --unit h100 $two -d two-D.npy --seconds 2
    # shellcheck disable=SC2086 # words
    prints explain explain $two -d two-D.npy --effort 0.02
    prints gemm gemm --recipe legemm --unit a100 $small --alpha 0.125 -o D3.npy
    prints explain explain -a A.npy -b B.npy -d D3.npy --recipe legemm --unit a100
    prints verify verify --recipe plain --unit hopper/mma.m16n8k32.s32.s8 -a IA.npy -b IB.npy -d ID.npy
    prints explain explain -a A.npy -b B.npy -d D.npy -d D2.npy --recipe legemm --effort 0.02
    printf '\377' | dd of=D2.npy bs=1 seek=200 conv=notrunc 2> err
    prints explain explain -a A.npy -b B.npy -d D2.npy --recipe legemm --unit \
        ampere/mma.m16n8k16.f32.f16 --effort 0.02
    # 16 k are missing, and no hypothesis of fp32 gives the rest
    bitcut gemm --recipe plain --unit v100 -m 24 -n 20 -k 64 --save-a K.mtx --save-b L.mtx \
        --reference none > out
    awk 'NR > 2 + 24 * 16 && NR <= 2 + 24 * 32 { $1 = 0 } { print }' K.mtx > K0.mtx
    bitcut gemm --recipe plain --unit v100 -a K0.mtx -b L.mtx -o KD.mtx --reference none > out
    prints explain explain -a K.mtx -b L.mtx -d KD.mtx --recipe fp32 --unit fma/f32 --effort 0.02
    prints probed explain --unit h100 -m 8 -n 8 -k 32 --format f16 --probe \
        'bitcut gemm -a $BITCUT_A -b $BITCUT_B -o $BITCUT_D --recipe plain --unit h100 --reference none'
    prints bound bound --recipe legemm --unit h100 $small
    prints tolerance tolerance --recipe legemm --unit h100 $small --power 1 --seeds 5
    # shellcheck disable=SC2086 # words
    prints tolerance tolerance --recipe legemm --unit h100 $two -d two-D.npy --power 0 --seeds 5
    prints tolerance tolerance --recipe legemm --unit h100 -a A.npy -b B.npy -d D.npy --original-a A.npy --power 0 \
        --seeds 5
    prints predict predict --library openblas-0.3.21 --chip haswell -m 20 -n 40 -k 700
    prints predict predict --library openblas-0.3.21 --chip haswell --sweep m=1..9 -n 40 -k 700
    prints advise advise -a A.npy -b B.npy --unit h100
    prints advise advise -a A.npy --unit mi210
    prints advise advise -a A.npy -b B.npy --unit h100 --quantize-a fp8-rows --format-d bf16
    prints split split --from 0 --to 0
    prints split split -a A.npy
    prints quantized split -a A.npy --quantize nvfp4
    prints mma mma --unit hopper/mma.m16n8k4.f32.tf32 -a "$set/A.npy" -b "$set/B.npy" \
        -c "$set/C.npy" -o M.npy
    prints replay replay changed
    short_paste "$source/data/pastes/h200.txt" > paste.txt
    prints pasted replay paste.txt
    prints attention attention --row pytorch-flash --queries 9 --keys 9 -o O.npy
    prints attention attention --row flash-attention-2 --queries 9 --keys 9 --head-dim 32 \
        --window-left 3 --window-right 3 -o O.npy
    prints attention attention --row plain --queries 9 --keys 9 --head-dim 32 --verify O.npy
    prints attention attention --row plain --queries 9 --keys 9 --bound --budget --at 0,1,2
    prints attention_test attention --row plain --queries 9 --keys 9 --verify O.npy --tolerance --head-dim 32 \
        --runs 4 --power 1
    prints explained attention --queries 9 --keys 9 --head-dim 32 --window-left 3 --explain O.npy
    prints explained attention --queries 9 --keys 9 --head-dim 32 --window-left 3 \
        --window-right 3 --explain O.npy
    prints mufu mufu A.npy --function ex2.approx.ftz.f32 -o Y.npy
    prints convert convert "$set/A.npy" --from tf32 --to e4m3 -o A8.npy
    prints probe probe --mutants --unit hopper/mma.m16n8k16.f32.f16
    prints fit fit "$set" --outputs 100 --next asked
    prints fit fit changed/hopper/mma.m16n8k4.f32.tf32
    prints study study figure1 --shard 0/8 -o rows
    prints study study table1 --verdicts
    prints study study --merge rows
    prints report report --no-studies -o report
    prints tile tile --gpu a800
    prints exact bench exact -n 32
    prints emu bench emu -n 64 --unit hopper/mma.m16n8k16.f32.f16
}

# On the model device, whose peers have names that only keys of ratios have.
if [ -f "$libraries/libbitcut.so" ]; then
    model_built models -DHONEST
    BITCUT_MODULES=$work/models prints gpu bench gpu -n 16 --rounds 1 --kernel gemm.plain
    BITCUT_MODULES=$work/models prints of_fp64 bench fp64 --device cuda -n 16 --rounds 1
    sed -i '/^ratio_/d' gpu.printed
fi

# On this machine's matrix units, if it has some; --json has what is said of heat, too.
if bitcut list devices --json | grep '"name":"cpu"' | grep -q '"here":true'; then
    prints host bench gpu --device cpu -n 16 --rounds 1 --sustained 0 --kernel all
    sed -i '/^ratio_/d' host.printed
    sed -i '/: heat: /d' host.failed
fi

# unread WORD...: names of lines for people that this command prints and doc/reading.texi has not.
unread() {
    bitcut "$@" < /dev/null > out 2> err || [ $? -le 1 ] || cat err
    sed -n 's/^\([A-Za-z][A-Za-z ]*[A-Za-z]\|[A-Z]\)   *.*/\1/p' out | sort -u > names
    [ -s names ] || echo "no lines of $1"
    while read -r name; do
        grep -qx "@itemx\{0,1\} $name" "$source/doc/reading.texi" || echo "$1: $name"
    done < names
}

# shellcheck disable=SC2086 # lists of words
every_line() {
    unread gemm --recipe legemm --unit h100 $small --budget --at 1,2 --worst 1
    unread verify --recipe legemm --unit h100 -a A.npy -b B.npy -d D2.npy --worst 1 --seconds 1
    unread gemm --scheme ozimmu --unit h100 -m 4 -n 4 -k 8
    unread gemm --scheme ozimmu --unit h100 --worst-inputs -m 1 -n 1 -k 8
    unread gemm --scheme ozimmu --unit h100 -m 4 -n 4 -k 8 --budget --at 0,0 --worst 1
    unread tolerance --scheme ozimmu --unit h100 -a W.npy -b V.npy -d U.npy --seeds 5
    unread advise --fp64 -a W.npy -b V.npy
    unread attention --queries 9 --keys 9 --head-dim 32 --window-left 3 --explain O.npy
    unread explain -a W.npy -b V.npy -d U.npy
    unread verify --scheme ozimmu-h --unit h100 -a W.npy -b V.npy -d U.npy
    unread explain -a A.npy -b B.npy -d D2.npy --recipe legemm --effort 0.02
    unread tolerance --recipe legemm --unit h100 -a A.npy -b B.npy -d D.npy --power 1 --seeds 5
    unread predict --library openblas-0.3.21 --chip haswell -m 20 -n 40 -k 700
    unread advise -a A.npy -b B.npy --unit h100 --unit mi210
    unread attention --row plain --queries 9 --keys 9 --bound --budget --at 0,1,2
    unread attention --row plain --queries 9 --keys 9 --tolerance --runs 4 --power 1
    unread advise -a A.npy -b B.npy --unit h100 --quantizers --format-d bf16 --want 0.1
}

echo 1..35
ok_if_empty "gemm" "$(same gemm gemm gemm_batch 'a GEMM' 'operands of a GEMM' metrics budget \
    'split of a quantizer' 'may emulated')"
ok_if_empty "verify" "$(same verify verify verify_batch 'a GEMM' 'operands of a GEMM' budget)"
ok_if_empty "FP64" "$(same fp64 'gemm of FP64' 'explain of FP64' 'verify of FP64' \
    'errors of FP64' 'may metrics' 'may budget')"
ok_if_empty "bound of FP64" "$(same fp64_bound 'bound of FP64' 'may gemm of FP64' 'may bound')"
ok_if_empty "tolerance of FP64" "$(same fp64_tolerance 'tolerance of FP64' 'may gemm of FP64' \
    'may tolerance')"
ok_if_empty "advise --fp64" "$(same fp64_advice 'advise of FP64')"
ok_if_empty "explain" "$(same explain explain 'a GEMM')"
ok_if_empty "explain --probe" "$(same probed 'probe of a program')"
ok_if_empty "bound" "$(same bound bound 'a GEMM')"
ok_if_empty "tolerance" "$(same tolerance tolerance 'a GEMM')"
ok_if_empty "advise" "$(same advise advise 'may a GEMM' 'may operands of a GEMM')"
ok_if_empty "predict" "$(same predict predict 'predict of a sweep')"
ok_if_empty "split" "$(same split split)"
ok_if_empty "split --quantize" "$(same quantized 'split of a quantizer' 'split of a quantized file')"
ok_if_empty "mma" "$(same mma mma)"
ok_if_empty "convert" "$(same convert convert)"
ok_if_empty "mufu" "$(same mufu mufu)"
ok_if_empty "attention" "$(same attention attention)"
ok_if_empty "attention --tolerance" "$(same attention_test 'attention tolerance')"
ok_if_empty "attention --explain" "$(same explained 'explain of attention')"
ok_if_empty "replay" "$(same replay replay 'a difference')"
ok_if_empty "replay of a paste" "$(same pasted 'replay of a paste')"
ok_if_empty "probe" "$(same probe probe)"
ok_if_empty "fit" "$(same fit fit 'may fields')"
ok_if_empty "study" "$(same study study figure1)"
ok_if_empty "report" "$(same report report)"
ok_if_empty "tile" "$(same tile tile)"
ok_if_empty "bench exact" "$(same exact 'bench exact' 'may a BLAS')"
ok_if_empty "bench emu" "$(same emu 'bench emu' 'may a BLAS')"
if [ -f gpu.printed ]; then ok_if_empty "bench gpu" "$(same gpu 'bench gpu')"
else skip "bench gpu" shared
fi
if [ -f of_fp64.printed ]; then ok_if_empty "bench fp64" "$(same of_fp64 'bench fp64')"
else skip "bench fp64" shared
fi
if [ -f host.printed ]; then
    ok_if_empty "bench gpu on the host" "$(same host 'bench gpu' 'bench gpu on the host')"
else skip "bench gpu on the host" "a processor with a matrix unit"
fi
ok_if_empty "run" "$(same run run 'may advise' 'may a GEMM' 'may operands of a GEMM')"
ok_if_empty "every line for people is explained" "$(every_line)"
ok_if_empty "the table of keys is the program's: sh doc/keys.sh > doc/keys.texi" \
    "$(sh "$source/doc/keys.sh" | diff - "$source/doc/keys.texi")"
