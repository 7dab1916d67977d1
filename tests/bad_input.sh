#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Bad input: each command of the table below ends with the status of its row and exactly
# one line, "bitcut: ...", that says what the row says; it prints nothing else and leaves
# no file.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
: "${BITCUT_DATA:=$(cd "${srcdir:-.}" && pwd)/data}"
export BITCUT_DATA
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
mkdir "$work/run" "$work/in" "$work/set"
cd "$work/in" || exit 99

# npy FILE HEADER [BYTES]: an .npy file of version 1.0 with this header, of at most 255
# characters, and data.
npy() {
    length="\\0$(printf %o ${#2})\\0000"
    printf '%b%s%s' "\\0223NUMPY\\0001\\0000$length" "$2" "${3-}" > "$1"
}

# array FILE TYPE SHAPE [BYTES]: an .npy file with an ordinary header.
array() { npy "$1" "{'descr': '$2', 'fortran_order': False, 'shape': ($3), }" "${4-}"; }

# mtx FILE LINE...: a Matrix Market file.
mtx() {
    file=$1
    shift
    printf '%s\n' "$@" > "$file"
}

dense='%%MatrixMarket matrix array real general'
sparse='%%MatrixMarket matrix coordinate real general'
word=0000                # one element of four bytes
four=$word$word$word$word

# Matrices that are good, to be used wrongly.
array 2x2.npy '<f4' '2, 2' $four
array 1x4.npy '<f4' '1, 4' $four
array 4x1.npy '<f4' '4, 1' $four
array 4x2.npy '<f4' '4, 2' $four$four
array 2x4.npy '<f4' '2, 4' $four$four
array 2x2x1.npy '<f4' '2, 2, 1' $four
array bytes.npy '|u1' '2, 2' $word
array words.npy '<u2' '2, 2' $word$word
array fraction.npy '<f8' '1, 1' $word$word # a binary64 value with 52 fraction bits
array codes.npy '|u1' '32, 32' "$(printf '%01024d' 0)"
array single.npy '<f4' '32, 32' "$(printf '%04096d' 0)"

# Files that are not what they should be.
: > empty.npy
printf '\223NUMPY' > magic.npy
printf '\223NUMPZ\001\000\000\000' > letters.npy
printf '\223NUMPY\011\000\002\000{}' > version.npy
printf '\223NUMPY\001\000\377\377{}' > header.npy
printf '\223NUMPY\002\000\377\377\377\377{}' > header2.npy
npy list.npy '[1, 2]'
npy keys.npy "{'descr': '<f4', 'fortran_order': False, }"
keys="'descr': '<f4', 'fortran_order': False, 'shape': (1, 1), "
npy twice.npy "{'descr': '<f4', $keys}" $word
npy other.npy "{$keys'more': 1, }" $word
npy open.npy "{'descr': '<f4"
npy record.npy "{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,), }" $word
array object.npy '|O' '1, 1' $word
array complex.npy '<c8' '1, 1' $word$word
array signed.npy '<i4' '1, 1' $word
array integers.npy '<u4' '1, 1' $word
array negative.npy '<f4' '-1, 1' $word
array overflow.npy '<f4' '4294967296, 4294967296' $word
array huge.npy '<f4' '99999999999999999999, 1' $word
array dims.npy '<f4' '1, 1, 1, 1, 1, 1, 1, 1, 1' $word
array short.npy '<f4' '2, 2' 000
array claims.npy '<f4' '1000000000, 1000000000' $four
array long.npy '<f4' '2, 2' ${four}0
printf '\223NUMPY\002\000\001\000\001\000{' > header3.npy
truncate -s 70000 header3.npy

: > empty.mtx
mtx banner.mtx '2 2' 1 2 3 4
mtx object.mtx '%%MatrixMarket vector array real general' '1 1' 1
mtx complex.mtx '%%MatrixMarket matrix array complex general' '1 1' '1 0'
mtx hermitian.mtx '%%MatrixMarket matrix array real hermitian' '1 1' 1
mtx pattern.mtx '%%MatrixMarket matrix array pattern general' '1 1' 1
mtx size.mtx "$dense"
mtx words.mtx "$dense" '2 2 2' 1 2 3 4
mtx negative.mtx "$dense" '-1 1' 1
mtx overflow.mtx "$dense" '99999999999999999999 1' 1
mtx huge.mtx "$dense" '4000000000 4000000000' 1
mtx claims.mtx "$sparse" '1000 1000 1000000' '1 1 1'
mtx tall.mtx "$dense" '4000000000000 0'
mtx high.mtx "$dense" '4000000000 0'
mtx dense.mtx "$sparse" '65536 65536 1' '1 1 1'
{ echo "$dense"; printf '%065537d\n' 0; } > line.mtx
mtx few.mtx "$dense" '2 2' 1 2 3
mtx more.mtx "$dense" '1 2' 1 2 3
mtx number.mtx "$dense" '1 1' one
mtx comma.mtx "$dense" '1 1' 0,5
mtx outside.mtx "$sparse" '2 2 1' '3 1 1'
mtx zeroth.mtx "$sparse" '2 2 1' '0 1 1'
mtx double.mtx "$sparse" '2 2 2' '1 1 1' '1 1 2'
mtx upper.mtx '%%MatrixMarket matrix coordinate real symmetric' '2 2 1' '1 2 1'
mtx oblong.mtx '%%MatrixMarket matrix array real symmetric' '1 2' 1 2
{ echo "$dense"; echo '1 1'; printf '1\0002\n'; } > zero.mtx

# Descriptions of GPUs.
: > empty.json
echo '[1, 2]' > array.json
echo '{"units": 1, ' > open.json
echo '{"units": 1}' > few.json
echo '{"units": 1, "units": 1}' > twice.json
echo '{"units": "108"}' > text.json
echo '{"units": 0}' > none.json
printf '{"units": %065536d}' 0 > long.json
printf '{"a\000": 1}' > zero.json

# Recorded results.
: > empty.jsonl
echo '{"kernel": "a"' > open.jsonl
printf '\n{"a": 1}\n' > other.jsonl
result='"kernel": "a", "device": "b", "driver": "c", "seed": 1, "split": "d", "compared": 1'
echo "{$result}" > few.jsonl
printf '{%s, "mismatches": 0}\n{%s, "mismatches": -1}\n' "$result" "$result" > text.jsonl
echo "{$result, \"mismatches\": 0}" > good.jsonl

# Things that are no files to be read or written.
mkdir folder.npy folder.mtx
mkfifo pipe.npy
ln -s /dev/zero zero.npy
ln -s /dev/full full.npy
ln -s loop.npy loop.npy
: > file
newline='a
b'

# set_of NAME META: a recorded set for ideal/rn25.
set_of() {
    mkdir "../set/$1"
    for operand in A B C D; do
        array "../set/$1/$operand.npy" '<u2' '1, 16, 16' "$(printf '%0512d' 0)"
    done
    for operand in C D; do
        array "../set/$1/$operand.npy" '<u4' '1, 16, 16' "$(printf '%01024d' 0)"
    done
    printf '%s\n' "$2" > "../set/$1/meta.json"
}

ideal='{"unit": "ideal/rn25"}'
set_of good "$ideal"
set_of nothing ''
set_of unclosed '{"unit": "ideal/rn25"'
set_of array '["ideal/rn25"]'
set_of nameless '{"device": "none"}'
set_of nan '{"unit": "ideal/rn25", "nan": "positive"}'
set_of unknown '{"unit": "ideal/rn26"}'
set_of number '{"unit": 25}'
set_of missing "$ideal"
rm ../set/missing/C.npy
set_of cut "$ideal"
array ../set/cut/B.npy '<u2' '1, 16, 16' $word
set_of k "$ideal"
array ../set/k/A.npy '<u2' '1, 16, 8' "$(printf '%0256d' 0)"
set_of wide "$ideal"
array ../set/wide/D.npy '<u8' '1, 16, 16' "$(printf '%02048d' 0)"

set_of pipe "$ideal"
rm ../set/pipe/meta.json
mkfifo ../set/pipe/meta.json
set_of zero "$ideal"
rm ../set/zero/meta.json
ln -s /dev/zero ../set/zero/meta.json
set_of large "$ideal"
truncate -s 1048577 ../set/large/meta.json
set_of fifo "$ideal"
rm ../set/fifo/B.npy
mkfifo ../set/fifo/B.npy
many=288230376151711744 # 2^58 fragments, none of them with an element
mkdir ../set/many
echo "$ideal" > ../set/many/meta.json
array ../set/many/A.npy '<u2' "$many, 0, 16"
array ../set/many/B.npy '<u2' "$many, 16, 0"
array rows.npy '<f4' "$many, 0"
array none.npy '<f4' '0, 0'
array ../set/many/C.npy '<u4' "$many, 0, 0"
cp ../set/many/C.npy ../set/many/D.npy
mkdir ../set/modules
mkfifo ../set/modules/bitcut-cuda.so

mkdir -p ../set/loops/deep/er
ln -s .. ../set/loops/deep/up
ln -s ../.. ../set/loops/deep/er/up
ln -s itself ../set/loops/itself
# Each level leads to the next by two names: 2^40 ways to the last one.
folder=../set/maze
for _ in 1 2 3 4 5 6 7 8 9 10; do
    folder=$folder/1/2/3/4
    mkdir -p "$folder"
done
find ../set/maze -mindepth 1 -type d | while read -r folder; do
    ln -s "${folder##*/}" "$folder.again"
done

# What the commands below use: files that are read, GEMMs that would be good.
in=../in set=../set
f32='gemm --recipe fp32 --unit fma/f32'
tc='gemm --recipe ootomo --unit a100'
small='-m 2 -n 2 -k 2'
verify="verify --recipe fp32 --unit fma/f32 -a $in/2x2.npy"
mma="mma -o D.npy -a $in/2x2.npy -b $in/2x2.npy -c $in/2x2.npy"
fma="mma -a $in/4x1.npy -b $in/1x4.npy -c $in/16.npy --unit fma/f32"
fp8="mma -a $in/codes.npy -b $in/codes.npy -c $in/single.npy -o D.npy"
rtx='rtx-blackwell/mma'
long=$(printf '%05000d' 0)
export in set f32 tc small verify mma fma fp8 rtx long newline

# STATUS|TEXT OF THE MESSAGE|WORDS, as the shell reads them; --json is added.
cat > "$work/table" << 'END'
2|command: --json: unknown|
2|command: lost: unknown; near it: list|lost
2|command: a?b: unknown|"$newline"
2|command: 00000000|$long
2|list: tables: unknown|list tables
2|list: units: one word too many|list formats units
2|--jason: no such option; near it: json|list --jason
2|-json: no such option; it is --json|list -json
2|--m: no such option; it is -m|$tc --m 8
2|-m8: no such option; a value stands apart: -m 8|$tc -m8
2|-oD.npy: no such option; a value stands apart: -o D.npy|$tc -oD.npy
2|-recpe: no such option; near it: recipe|$tc -recpe plain
2|--json takes no argument|list --json=1
2|-m needs an argument|gemm --json -m #
2|no such option|gemm --$long
2|-m -1: not a number|$tc -m -1
2|-m 1.5: not a number|$tc -m 1.5
2|-m 1e3: not a number in digits alone, below 2^64, such as 1000|$tc -m 1e3
2|-m 0x10: not a number|$tc -m 0x10
2|-m : not a number|$tc -m ''
2|-m 18446744073709551616: not a number|$tc -m 18446744073709551616
2|--seed -1: not a number below 2^64|$tc --seed -1
2|--seed 0x: not a number|$tc --seed 0x
2|--seed 0x-1: not a number|$tc --seed 0x-1
2|--seed 0a: not a number|$tc --seed 0a
2|--seed 18446744073709551616: not a number|$tc --seed 18446744073709551616
2|--threads x: not an integer in digits alone, below 2^31, such as 8|$tc --threads x
2|--threads 99999999999: not an integer|$tc --threads 99999999999
2|--threads: |$tc --threads -1
2|--threads: |$tc $small --threads 1000000
2|--alpha 1,5: not a number such as 1.5|$tc --alpha 1,5
2|--alpha : not a number|$tc --alpha ''
2|--recipe, --unit: both are needed, such as --recipe ootomo --unit a100|gemm
2|--recipe, --unit: both are needed|gemm --recipe ootomo
2|--recipe, --unit: both are needed|bound --recipe ootomo
2|matrices: D is 2 x 2, not 4 x 4|bound --recipe ootomo --unit a100 -m 4 -n 4 -k 4 -d $in/2x2.npy
3|gone.npy: |bound --recipe ootomo --unit a100 -m 4 -n 4 -k 4 -d gone.npy
2|--recipe: otomo: unknown; near it: ootomo|gemm --recipe otomo --unit a100
2|--recipe: : unknown|gemm --recipe '' --unit a100
2|--unit: a101: unknown; near it: a100|gemm --recipe ootomo --unit a101
2|--unit: A100: unknown; near it: a100|gemm --recipe ootomo --unit A100
2|--unit: H200: unknown; near it: h200|bench emu --unit H200
2|--unit: gpu: unknown; bitcut list chips and bitcut list units have all|gemm --recipe ootomo --unit gpu
2|bitcut list chips and bitcut list units have all|verify --recipe ootomo --unit gpu
2|--unit: a100: unknown: a chip has many; name the instruction, one of ampere/|$mma --unit a100
2|--unit: a100: unknown: a chip has many; name the instruction, one of ampere/|probe --mutants --unit a100
2|--unit: gpu: unknown; bitcut list units has all|probe --mutants --unit gpu
2|--unit: hopper: unknown|gemm --recipe ootomo --unit hopper
2|--split: halfhlf: unknown; near it: half, halfhalf|$tc --split halfhlf
2|--high: up: unknown|$tc --high up
2|--low: nearest: unknown|$tc --low nearest
2|--scale: must be 0 to 60|$tc --scale 61
2|--scale: must be 0 to 60|$tc $small --scale -1
2|--terms: the recipe does not have that many terms: ootomo has 3, or 4 with low*low|$tc --terms 7
2|--terms: the recipe does not have that many terms: ootomo has 3, or 4 with low*low|$tc --terms 2
2|--terms: the recipe does not have that many terms: plain has 1|gemm --recipe plain --unit a100 --terms 3
2|--terms: the recipe does not have that many terms|$tc --terms 0
2|--terms: the recipe does not have that many terms|$tc $small --terms -1
2|low*low term; bf16x6 has 6 terms|gemm --recipe bf16x6 --unit a100 --terms 7
2|low*low|gemm --recipe plain --unit a100 --terms 2
2|--promote: cannot be negative; 0 is never|$tc --promote -2
2|--order: tile: it is a list such as|$tc $small --order tile
2|--order: lanes: it is a list such as|$tc $small --order lanes=-1
2|--order: rest: it is a list such as|$tc $small --order rest
2|--at: 3: it is I,J, a row below 2 and a column below 2|$tc $small --at 3
2|--at: 3,: it is I,J|$tc $small --at 3,
2|--at: 1,1,1: it is I,J|$tc $small --at 1,1,1
2|--at: 0,2: it is I,J|$tc $small --at 0,2
2|--at: -1,0: it is I,J|$tc $small --at -1,0
2|--at: 99999999999999999999,0: it is I,J|$tc $small --at 99999999999999999999,0
2|--at: is of all outputs, not with --samples|$verify -b $in/2x2.npy -d $in/2x2.npy --samples 2 --at 0,0
2|--order: up: unknown; there are: ascending|$tc $small --order reduction=up
2|--order: f99: unknown; near it: f64, f32, f16|$tc $small --order sums=f99
2|sums of k cannot be ue8m0|$tc $small --order sums=ue8m0
2|--split-a: half2: unknown; near it: half|$tc $small --split-a half2
2|low words of A carry 2^11, those of B 2^0|$tc $small --split-b markidis
2|--promote: cannot be negative; 0 is never|$tc $small --promote -1
2|--split-k: must be 1 or more|$tc --split-k 0
2|--split-k: must be 1 or more|$tc --split-k -1
2|--tile-k: cannot be negative; 0 is none|$tc --tile-k -1
2|triton-bf16x3 needs tiles of k, of 1 and more|gemm --recipe triton-bf16x3 --unit a100 --tile-k 0
2|cutlass-sm100-bf16x9 scales its sums and promotes at the end of each tile|gemm --recipe cutlass-sm100-bf16x9 --unit h100 --promote 1
2|equilibrated lines need low words of f16 times 2^11 at most|$tc --scale 12 --equilibrate
2|overflow the f16 sums|gemm --recipe plain --unit hopper/mma.m16n8k16.f16.f16 --equilibrate
2|v100 has no instruction for tf32|gemm --recipe ootomo-tf32 --unit v100
2|mi100 has no instruction for tf32|gemm --recipe tf32x3 --unit mi100
2|beside ampere/mma.m16n8k16.f32.f16 there is no instruction for these with sums in f32|gemm --recipe half-fp8 --unit a100
2|tiles are modelled for words of one format|tile --recipe half-fp8 --gpu h100 -m 64 -n 64 -k 64
2|multiplies bf16 by bf16|gemm --recipe ootomo --unit hopper/mma.m16n8k16.f32.bf16
2|needs block scales|gemm --recipe plain --unit $rtx.m16n8k64.nvf4.f32.e2m1
2|accumulates in f64|gemm --recipe plain --unit fma/f64
2|use a split with s = 0; --split can be markidis, feng, feng22|gemm --recipe markidis --unit a100 --split halfhalf
2|needs more words than bf16x2 has; --split can be bf16x3, bf16x3-scaled|gemm --recipe bf16x9 --unit a100 --split bf16x2
2|--input-a: no input is called "urnd"; near it: urand|$tc --input-a urnd
2|--input-b: urand: a = 2 is above b = 1|$tc --input-b 'urand(2,1)'
2|--input-a: urand: a ')' is missing|$tc --input-a 'urand(1,2'
2|--input-a: urand takes 2 parameters (a, b), not 1; see bitcut list inputs|$tc --input-a 'urand(1)'
2|--input-a: urand: b = "x" is not a number|$tc --input-a 'urand(1,x)'
2|--input-a: no input is called ""|$tc --input-a ''
2|--pair: no pair of inputs is called "ill"; see bitcut list pairs|$tc --pair ill
2|needs k of at least|$tc --input-a 'gendot(1e30)' --input-b 'gendot(1e30)' -k 2
2|--reference: exat: unknown; near it: exact|$tc --reference exat
2|--beta: is not zero, but there is no -c|$tc --beta 1
2|--beta: is not zero, but there is no -c|$tc --beta nan
2|-o|list units -o D
2|-o|bench exact -n 2 -o D
3|not enough memory|$tc -m 10000000 -n 10000000 -k 1 -o D.npy
3|not enough memory|$tc -m 18446744073709551615 -n 2 -k 3 -o D.npy
2|at most 4294967295 rows|$tc -m 18446744073709551615 -n 1 -k 0 -o D.npy
2|A is 2 x 2 but B is 1 x 4: columns of A must be rows of B|$f32 -a $in/2x2.npy -b $in/1x4.npy -o D.npy
2|A is 256 x 256 but B is 2 x 2: give -a, or -k 2|$f32 -b $in/2x2.npy -o D.npy
2|A is 4 x 1 but B is 4 x 1: B looks transposed (NumPy: B.T)|$f32 -a $in/4x1.npy -b $in/4x1.npy
2|A is 1 x 4 but B is 1 x 4: B looks transposed (NumPy: B.T)|$f32 -a $in/1x4.npy -b $in/1x4.npy
2|A is 4 x 2 but B is 4 x 1: A looks transposed (NumPy: A.T)|$f32 -a $in/4x2.npy -b $in/4x1.npy
2|C is 1 x 4, not 2 x 2|$f32 -a $in/2x2.npy -b $in/2x2.npy -c $in/1x4.npy -o D.npy
2|ends in .npy or .mtx|$f32 -a $in/file -o D.npy
2|name a file|convert -o D.npy
2|-o: missing|convert $in/2x2.npy
2|-o: the name of a matrix file ends in .npy or .mtx|convert $in/2x2.npy -o D.txt
2|--to: f17: unknown|convert $in/2x2.npy --to f17 -o D.npy
2|--from: f17: unknown|convert $in/2x2.npy --from f17 -o D.npy
2|--rounding: up: unknown|convert $in/2x2.npy --rounding up -o D.npy
2|elements of 4 bytes are encodings: give their format by --from|convert $in/integers.npy -o D.npy
2|elements of f4 do not hold bf16|convert $in/2x2.npy --from bf16 -o D.npy
2|3 dimensions; .mtx has 2|convert $in/2x2x1.npy -o D.mtx
2|does not hold f64|convert $in/2x2.npy --to f64 -o D.mtx
3|No such file|convert $in/nowhere.npy -o D.npy
2|ends in .npy or .mtx|$f32 -a '' -o D.npy
3|No such file|$f32 -a $in/nowhere.npy -o D.npy
3|No such file|$f32 -a $in/nowhere.mtx -o D.npy
3|No such file|$f32 -a "$newline.npy" -o D.npy
3|name too long|$f32 -a $long.npy -o D.npy
3|Not a directory|$f32 -a $in/file/A.npy -o D.npy
3|not a regular file|$f32 -a $in/folder.npy -o D.npy
3|not a regular file|$f32 -a $in/folder.mtx -o D.npy
3|not a regular file|$f32 -a $in/pipe.npy -o D.npy
3|not a regular file|$f32 -a $in/zero.npy -o D.npy
3|symbolic links|$f32 -a $in/loop.npy -o D.npy
3|less than 8 bytes|$f32 -a $in/empty.npy -o D.npy
3|less than 8 bytes|$f32 -a $in/magic.npy -o D.npy
3|does not start with|$f32 -a $in/letters.npy -o D.npy
3|version 9.0 is not read|$f32 -a $in/version.npy -o D.npy
3|a header of 65535 bytes, but only 2|$f32 -a $in/header.npy -o D.npy
3|a header of 4294967295 bytes, but only 2|$f32 -a $in/header2.npy -o D.npy
3|header: |$f32 -a $in/list.npy -o D.npy
3|header: no key 'shape'|$f32 -a $in/keys.npy -o D.npy
3|header: |$f32 -a $in/twice.npy -o D.npy
3|header: |$f32 -a $in/other.npy -o D.npy
3|header: |$f32 -a $in/open.npy -o D.npy
3|structured type|$f32 -a $in/record.npy -o D.npy
3|Python objects|$f32 -a $in/object.npy -o D.npy
3|complex numbers|$f32 -a $in/complex.npy -o D.npy
3|signed integers|$f32 -a $in/signed.npy -o D.npy
3|a dimension is negative|$f32 -a $in/negative.npy -o D.npy
3|overflow|$f32 -a $in/overflow.npy -o D.npy
3|a dimension is too large|$f32 -a $in/huge.npy -o D.npy
3|dimensions|$f32 -a $in/dims.npy -o D.npy
3|cut short|$f32 -a $in/short.npy -o D.npy
3|cut short|$f32 -a $in/claims.npy -o D.npy
3|trailing data|$f32 -a $in/long.npy -o D.npy
3|3 dimensions; a matrix has 2|$f32 -a $in/2x2x1.npy -o D.npy
3|u1' (unsigned integers) are not read, only f4, f2 and f8 (NumPy: astype('f4') of numbers|$f32 -a $in/bytes.npy -o D.npy
3|elements of type '<u2' (unsigned integers) are not read, only f4, f2 and f8|$f32 -a $in/words.npy -o D.npy
3|elements of type '<u4' (unsigned integers) are not read, only f4, f2 and f8|$f32 -a $in/integers.npy -o D.npy
3|element [0, 0] is no FP32 value; round the f8 to f4 first (NumPy: astype('f4'))|$f32 -a $in/fraction.npy -o D.npy
3|it does not start with|$f32 -a $in/empty.mtx -o D.npy
3|it does not start with|$f32 -a $in/banner.mtx -o D.npy
3|object 'vector' is not read|$f32 -a $in/object.mtx -o D.npy
3|field 'complex' is not read|$f32 -a $in/complex.mtx -o D.npy
3|symmetry 'hermitian' is not read|$f32 -a $in/hermitian.mtx -o D.npy
3|line 1: |$f32 -a $in/pattern.mtx -o D.npy
3|ends before its size|$f32 -a $in/size.mtx -o D.npy
3|line 2: the size of a matrix|$f32 -a $in/words.mtx -o D.npy
3|line 2: the number of rows '-1'|$f32 -a $in/negative.mtx -o D.npy
3|line 2: the number of rows '99999999999999999999'|$f32 -a $in/overflow.mtx -o D.npy
3|line 2: 4000000000 x 4000000000 elements are too many|$f32 -a $in/huge.mtx -o D.npy
3|line 2: 65536 x 65536 elements are too many|$f32 -a $in/dense.mtx -o D.npy
3|line 2: 4000000000 x 0 elements are too many|$f32 -a $in/high.mtx -o D.npy
3|line 2: more than 2^16 characters|$f32 -a $in/line.mtx -o D.npy
3|a header of more than 65536 bytes|$f32 -a $in/header3.npy -o D.npy
3|line 2: 1000000 entries are more than fit|$f32 -a $in/claims.mtx -o D.npy
3|line 2: 4000000000000 x 0 elements are too many|$f32 -a $in/tall.mtx -o D.npy
3|the file ends after 3 of 4 entries|$f32 -a $in/few.mtx -o D.npy
3|line 5: more than 2 entries|$f32 -a $in/more.mtx -o D.npy
3|line 3: 'one' is not a real number|$f32 -a $in/number.mtx -o D.npy
3|line 3: '0,5' is not a real number|$f32 -a $in/comma.mtx -o D.npy
3|line 3: row '3'|$f32 -a $in/outside.mtx -o D.npy
3|line 3: row '0'|$f32 -a $in/zeroth.mtx -o D.npy
3|line 4: row 1 column 1 occurs twice|$f32 -a $in/double.mtx -o D.npy
3|line 3: row 1 column 2 is not in the triangle|$f32 -a $in/upper.mtx -o D.npy
3|line 2: a symmetric matrix is square|$f32 -a $in/oblong.mtx -o D.npy
3|line 3: a zero byte|$f32 -a $in/zero.mtx -o D.npy
2|ends in .npy or .mtx|$f32 $small -o D.txt
2|ends in .npy or .mtx|$f32 $small -o ''
3|No such file|$f32 $small -o nowhere/D.npy
3|Not a directory|$f32 $small -o $in/file/D.npy
3|Not a directory|$f32 $small -o $in/file/D.mtx
3|Is a directory|$f32 $small -o $in/folder.npy
3|symbolic links|$f32 $small -o $in/loop.npy
3|No space left|$f32 $small -o $in/full.npy
3|No space left|$f32 -m 200 -n 200 -k 1 -o $in/full.npy
3|standard output: No space left|$f32 $small > /dev/full
3|standard output: No space left|list units > /dev/full
2|-a: missing: A, B and D are needed, .npy or .mtx|verify --recipe fp32 --unit fma/f32
2|-b: missing|$verify
2|-d: missing|$verify -b $in/2x2.npy
2|D is 4 x 2, not 2 x 4: it looks transposed; write it by rows (NumPy: D.T)|$verify -b $in/2x4.npy -d $in/4x2.npy
2|D is 1 x 4, not 2 x 2|$verify -b $in/2x2.npy -d $in/1x4.npy
2|A is 2 x 2 but B is 1 x 4|$verify -b $in/1x4.npy -d $in/2x2.npy
3|cut short|$verify -b $in/2x2.npy -d $in/short.npy
2|--unit: missing|mma
2|-a, -b or -c: missing; all three are needed|mma --unit fma/f32
2|-o: missing; D is written to it|mma --unit fma/f32 -a $in/2x2.npy -b $in/2x2.npy -c $in/2x2.npy
2|--unit: fma/f33: unknown; near it: fma/f32|$mma --unit fma/f33
2|A is 1 x 2 x 2, not 1 x 2 x 1|$mma --unit fma/f32
2|B is 1 x 2 x 2, not 1 x 1 x 2|$mma -a $in/4x1.npy --unit fma/f32
2|C is 1 x 2 x 2, not 1 x 4 x 4|$mma -a $in/4x1.npy -b $in/1x4.npy --unit fma/f32
2|elements of 4 bytes; f64 takes 8, an encoding each (NumPy: u8)|$mma -a $in/4x1.npy -b $in/1x4.npy --unit fma/f64
2|A element 0 is 0x30; e2m1 has 4 bits|$fp8 --unit $rtx.m16n8k32.f32.e2m1
2|fma/f32 has no block scales|$fma --scale-a $in/2x2.npy -o D.npy
2|needs block scales|$fp8 --unit $rtx.m16n8k32.mxf8f6f4.f32.e4m3
3|complex numbers|$mma -a $in/complex.npy --unit fma/f32
3|No space left|$fma -o /dev/full
2|replay: name at least one folder|replay
2|--mutants or -o|probe
3|meta.json: |fit $in/nowhere
2|vectors are made for units|probe -o $in/made $set/unknown
2|unknown; near|probe --mutants --unit hopper/mma.m16n8k16.f32.f61
3|meta.json: |probe --mutants $in/nowhere
3|meta.json: |replay $in/nowhere
3|the file is empty|replay $in/file
3|meta.json: |replay ''
3|meta.json: neither here nor|replay $set/loops
3|meta.json: neither here nor|replay $set/maze
3|meta.json line |replay $set/nothing
3|meta.json line |replay $set/unclosed
3|meta.json: names no unit|replay $set/array
3|meta.json: names no unit|replay $set/nameless
3|meta.json: "nan" is not "negative"|replay $set/nan
3|meta.json: names no unit|replay $set/number
3|meta.json: unknown unit ideal/rn26|replay $set/unknown
3|meta.json: not a regular file|replay $set/pipe
3|meta.json: not a regular file|replay $set/zero
3|meta.json: not a regular file|fit $set/pipe
3|meta.json: more than 1048576 bytes|replay $set/large
3|B.npy: not a regular file|replay $set/fifo
3|there are no outputs|replay $set/many
3|there are no outputs|fit $set/many
3|there are no outputs|fit --together $set/many $set/good
3|there are no outputs|probe --mutants $set/many
3|C.npy: No such file|replay $set/missing
3|B.npy: the shape takes|replay $set/cut
3|A is 1 x 16 x 8, not 1 x 16 x 16|replay $set/k
3|elements of 8 bytes; f32 takes 4|replay $set/wide
2|--split: half-half: unknown|split --split half-half
2|--unit: h10: unknown|split --unit h10
2|--unit: v100 has no instruction for bf16|split --split bf16x2 --unit v100
2|--exhaustive: with -a all values|split -a a.mtx --exhaustive
2|-a: missing|advise
2|--metric: mred: unknown; there are: relres, backward_max|advise -a a.mtx --metric mred
2|--want: must be above 0|advise -a a.mtx --want 0
2|--want: must be above 0|advise -a a.mtx --want -1
2|-b: needs as many files as -a, or none|advise -a a.mtx -a a.mtx -b a.mtx
2|--largest-a: must be finite|advise -a a.mtx --largest-a inf
2|--recipe: otomo: unknown; near it: ootomo|advise -a a.mtx --recipe otomo
2|--unit: a11: unknown; near it: a|advise -a a.mtx --unit a11
3|nothing.npy: No such file|advise -a nothing.npy
2|--high: xx: unknown|split --high xx
2|--format: f17: unknown|split --format f17
2|--format: not a format for words|split --format ue8m0
2|--format: not a format for words|split --format f64
2|--from, --to: need|split --from 1 --to 0
2|--from, --to: need|split --from -128
2|--from, --to: need|split --to 128
2|--samples: must be 1 or more|split --samples 0
2|study: name one|study
2|study: table3: unknown; near it: table1|study table3
2|bench: name a suite|bench
2|bench: exakt: unknown; near it: exact|bench exakt
2|-n: must be 1 or more|bench exact -n 0
2|--input: no input is called|bench exact --input urnd
3|not enough memory|bench exact -n 10000000
2|--unit: hoper: unknown|bench emu --unit hoper
2|--unit: |bench emu --unit fma/f64
2|--gpu: missing; a name such as a100|tile
2|--gpu: a801: unknown; near it: a800|tile --gpu a801
2|--gpu: : unknown|tile --gpu ''
2|--gpu: 00000000|tile --gpu $long
3|name too long|tile --gpu $long.json
3|No such file|tile --gpu $in/nowhere.json
3|No such file|tile --gpu a800.json
3|Not a directory|tile --gpu $in/file/a800
3|not a regular file|tile --gpu $in/pipe.npy
3|not a regular file|tile --gpu $in/zero.npy
3|not a regular file|tile --gpu $in/folder.npy
3|symbolic links|tile --gpu $in/loop.npy
3|empty.json: line 1: |tile --gpu $in/empty.json
3|not a JSON object|tile --gpu $in/array.json
3|open.json: line |tile --gpu $in/open.json
3|no "registers"|tile --gpu $in/few.json
3|duplicate|tile --gpu $in/twice.json
3|"units" is not an integer from 1 to|tile --gpu $in/text.json
3|"units" is not an integer from 1 to|tile --gpu $in/none.json
3|more than 65536 bytes|tile --gpu $in/long.json
3|line 1: |tile --gpu $in/zero.json
3|line 1: |tile --gpu $in/2x2.npy
2|-m, -n, -k: must be|tile --gpu a800 -m 0
2|-m, -n, -k: must be|tile --gpu a800 -k 2147483649
2|--waves: must be|tile --gpu a800 --waves -1
2|--waves: must be|tile --gpu a800 --waves 4097
2|--stages: must be|tile --gpu a800 --stages 0
2|--accumulators: must be|tile --gpu a800 --accumulators 0
2|--accumulators: must be|tile --gpu a800 --accumulators 17
2|--recipe: otomo: unknown; near it: ootomo|tile --gpu a800 --recipe otomo
2|--tile: not three sides|tile --gpu a800 --tile 128x256
2|--tile: not three sides|tile --gpu a800 --tile 128x256x32x1
2|--tile: not three sides|tile --gpu a800 --tile 0x256x32
2|--tile: not three sides|tile --gpu a800 --tile 128x-1x32
2|--tile: not three sides|tile --gpu a800 --tile 128x4097x32
2|--tile: not three sides|tile --gpu a800 --tile 128x99999999999999999999x32
2|--tile: not three sides|tile --gpu a800 --tile ''
2|tile: a800: one word too many|tile a800
3|Not a directory|report -o $in/file
3|Not a directory|report -o $in/file/folder
3|No such file|report -o nowhere/folder
3|No such file|report -o ''
2|report: folder: one word too many|report folder
2|--results needs an argument|report --json --results #
3|No such file|report --results $in/nowhere.jsonl
3|not a regular file|report --results $in/folder.npy
3|empty.jsonl: no results|report --results $in/empty.jsonl
3|open.jsonl:1: |report --results $in/open.jsonl
3|other.jsonl:2: not a line of bench gpu or verify|report --results $in/other.jsonl
3|few.jsonl:1: no "mismatches", which is an integer|report --results $in/few.jsonl
3|text.jsonl:2: "mismatches" is not|report --results $in/text.jsonl
3|other.jsonl:2: |report --results $in/good.jsonl --results $in/other.jsonl
3|2x2.npy:1: |report --results $in/2x2.npy
END
array 16.npy '<f4' '4, 4' $four$four$four$four

# Nothing may take this machine down: memory is limited where that works (it does not with
# address sanitizers), and so is time.
limit=:
# shellcheck disable=SC3045 # most shells have it
(ulimit -v 8000000 && bitcut --version) > "$work/limit" 2>&1 && limit='ulimit -v 8000000'
timer=
command -v timeout > "$work/limit" && timer='timeout -s KILL 20'

# offence STATUS TEXT WORDS: what is wrong with how that command ends.
offence() {
    $limit
    eval "$timer bitcut $3 --json" < /dev/null > ../out 2> ../err
    status=$?
    own_errors ../err
    [ $status -eq "$1" ] || echo "status $status, not $1"
    [ "$(wc -l < ../err)" -eq 1 ] || echo "not one line:"
    head -n 1 ../err | grep '^bitcut: ' | grep -qF -e "$2" || head -n 5 ../err
    [ ! -s ../out ] || { echo "standard output:"; head -n 5 ../out; }
    files=$(ls -A)
    [ -z "$files" ] || { echo "left behind: $files"; rm -rf "${work:?}"/run/*; }
}

cd ../run || exit 99
while IFS='|' read -r status text words; do
    case $words in *'/dev/full'* | *full.npy*) [ -c /dev/full ] || continue ;; esac
    ok_if_empty "$words: $text" "$(offence "$status" "$text" "$words")"
done < "$work/table"

# nothing WORDS: what is wrong if what is next to nothing takes long.
nothing() {
    eval "$timer bitcut $1 --json" < /dev/null > ../out 2>&1 || echo "status $?"
    grep -v '^{.*}$' ../out
    rm -f D.npy
}

ok_if_empty "2^58 fragments without elements" "$(nothing "mma --unit ideal/rn25 -o D.npy \
    -a $set/many/A.npy -b $set/many/B.npy -c $set/many/C.npy")"
ok_if_empty "2^58 rows without columns" \
    "$(nothing "$f32 -a $in/rows.npy -b $in/none.npy -o D.npy")"
# 512 results that differ in name and size: each is a series and a place of its own.
recorded=$(head -n 1 "$BITCUT_DATA/results/h200-recipes.jsonl")
echo "$recorded" | awk '{
    for (i = 1; i <= 512; i++) {
        line = $0
        sub(/"name":"/, "&" i, line)
        for (n = 1; n <= 3; n++) {
            side = "\"" substr("mnk", n, 1) "\":"
            gsub(side "1024", side 1024 * i, line)
        }
        print line
    }
}' > ../many.jsonl
ok_if_empty "512 distinct results" "$(
    timer=${timer:+timeout -s KILL 60}
    nothing "report --no-studies --results ../many.jsonl -o ../report"
    grep -c '^<tr>' ../report/index.html | awk '$1 < 4 * 512 { print "few rows: " $1 }')"
ok_if_empty "a module of kernels that is a pipe" "$(
    export BITCUT_MODULES=$set/modules
    offence 3 'bitcut-cuda.so is not a regular file' 'list instructions')"

# A disk that fills up while a file is written, and a limit that would end another program.
ok_if_empty "a file that cannot be written to its end" "$(
    trap '' XFSZ
    ulimit -f 16
    offence 3 'D.npy: File too large' "$f32 -m 200 -n 200 -k 1 -o D.npy")"
ok_if_empty "a file beyond the limit" "$(
    ulimit -f 16
    offence 3 'D.npy: File too large' "$f32 -m 200 -n 200 -k 1 -o D.npy")"

# Each command with stacks of 64 KiB, of its own and of OpenMP's threads.
small_stacks() {
    # shellcheck disable=SC2086 # a list of words
    {
        bitcut $f32 -m 40 -n 30 -k 20 --save-a A.npy --save-b B.npy -o D.npy
        bitcut $f32 -m 40 -n 30 -k 20 -o A.mtx
    } > ../out 2>&1
    while read -r words; do
        # A sanitizer's library must be the first that a program loads.
        case "$words ${CFLAGS:-}" in run*-fsanitize*) continue ;; esac
        for limit in OMP_STACKSIZE ulimit; do
            (
                if [ $limit = ulimit ]; then ulimit -s 64; else export OMP_STACKSIZE=64K; fi
                # shellcheck disable=SC2086 # a list of words
                exec bitcut $(echo "$words" | sed "s|DATA|$BITCUT_DATA|") --threads 2
            ) < /dev/null > ../out 2> ../err
            [ $? -le 1 ] || { echo "$limit: $words"; cat ../err; }
        done
    done << 'END'
gemm --recipe ootomo --unit a100 -a A.npy -b B.npy --reference mpfr
gemm --recipe plain --unit mi210 -a A.npy -b B.npy --budget
gemm --recipe fp32 --unit fma/f32 -a A.mtx --reference none
bound --recipe ootomo --unit a100 -m 20 -n 20 -k 30
tolerance --recipe ootomo --unit a100 -m 20 -n 20 -k 20 --seeds 4 --power 2
explain -a A.npy -b B.npy -d D.npy --seconds 2
verify --recipe fp32 --unit fma/f32 -a A.npy -b B.npy -d D.npy
advise -a A.npy -b B.npy --unit v100 --recipe plain
split -a A.npy
list units
tile --gpu h200
replay DATA/h200/mma_m16n8k4_tf32_f32
probe DATA/h200/mma_m16n8k4_tf32_f32 --mutants
fit DATA/h200/mma_m16n8k4_tf32_f32 --outputs 20
study xf32 --verdicts --shard 0/8
bench exact -n 50
run --recipe ootomo --unit a100 -- true
END
    rm -f ./*.npy ./*.mtx
}
ok_if_empty "small stacks" "$(small_stacks 2>&1)"

# GCC's OpenMP ends the process by exit(1) if a thread cannot be started.
threads="threads that cannot be started"
if ldd "$(command -v bitcut)" 2> ../err | grep -q libgomp; then
    ok_if_empty "$threads" "$(
        export OMP_STACKSIZE=1000000G
        offence 3 'memory or threads: ' "$f32 -m 200 -n 200 -k 10 --threads 2")"
else
    skip "$threads" "not GCC's OpenMP"
fi
echo "1..$n"
