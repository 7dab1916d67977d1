#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Bad input: each command of golden/refused.txt ends with the status and the one line
# given there; it prints nothing else and leaves no file.  A row has a command line in the
# shell's syntax, a tab, the status, a tab, and the line; rows without tabs are executed
# by the shell.
# With BITCUT_GOLDEN=write the file is rewritten, so that git shows what changed.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
: "${BITCUT_DATA:=$(cd "${srcdir:-.}" && pwd)/data}"
export BITCUT_DATA
source=$(cd "${srcdir:-.}" && pwd)
# shellcheck disable=SC2034 # in the rows
models=$PWD/tests/.libs name=hopper/mma.m16n8k16.f32.f16 recorded=$BITCUT_DATA/h200/mma_m16n8k16_f16_f32
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
mkdir -p folder.npy folder.mtx sets/a sets/b/a
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

array 16.npy '<f4' '4, 4' $four$four$four$four

# Nothing may take this machine down: memory is limited where that works (it does not with
# address sanitizers), and so is time.
limit=:
# shellcheck disable=SC3045 # most shells have it
(ulimit -v 8000000 && bitcut --version) > "$work/limit" 2>&1 && limit='ulimit -v 8000000'
timer=
command -v timeout > "$work/limit" && timer='timeout -s KILL 20'

# ends WORDS: how that command ends: its status, a tab, the line.
ends() {
    $limit
    eval "$timer bitcut $1 --json" < /dev/null > ../out 2> ../err
    printf '%s\t' $?
    own_errors ../err
    sed "s|$work|WORK|g; s|$BITCUT_DATA|DATA|g; s|$models|MODELS|g; s/0\{50,\}/0.../g" ../err
}

# offence WORDS STATUS LINE: what is wrong with how that command ends.
offence() {
    got=$(ends "$1")
    [ "$got" = "$2$tab$3" ] || printf '%s\n' "$got" "instead of" "$2$tab$3"
    case $got in 2"${tab}bitcut: "* | 3"${tab}bitcut: "* | 125"${tab}bitcut: "*) [ "$(wc -l < ../err)" -eq 1 ] ;; *) false ;; esac ||
        echo "not the one line of a refusal"
    [ ! -s ../out ] || { echo "standard output:"; head -n 5 ../out; }
    files=$(ls -A)
    [ -z "$files" ] || { echo "left behind: $files"; rm -rf "${work:?}"/run/*; }
}

tab=$(printf '\t')
refused=$source/tests/golden/refused.txt
cd ../run || exit 99
row=0
while IFS=$tab read -r words status line; do
    row=$((row + 1))
    # In slow builds every 24th of words that cannot be, which the same few functions refuse, and
    # every fourth of files.
    case ${BITCUT_BRIEF:+$status:$((row % 24)):$((row % 4))} in
    2:0:* | 3:*:0) ;;
    2:* | 3:*) continue ;;
    esac
    case $words in *'/dev/full'* | *full.npy*) [ -c /dev/full ] || continue ;; esac
    if [ -z "$status" ]; then eval "$words"
    elif [ "${BITCUT_GOLDEN:-}" = write ]; then line=$words$tab$(ends "$words")
    else ok_if_empty "$words" "$(offence "$words" "$status" "$line")"; fi
    [ -z "${BITCUT_GOLDEN:-}" ] || printf '%s\n' "${line:-$words}" >> ../refused
done < "$refused"
[ -z "${BITCUT_GOLDEN:-}" ] || cp ../refused "$refused"

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
# Results that differ in name and size: each is a series and a place of its own.
results=128
! is_whole || results=512
[ -z "${BITCUT_BRIEF:-}" ] || results=32
recorded=$(head -n 1 "$BITCUT_DATA/results/h200-recipes.jsonl")
echo "$recorded" | awk -v results=$results '{
    for (i = 1; i <= results; i++) {
        line = $0
        sub(/"name":"/, "&" i, line)
        for (n = 1; n <= 3; n++) {
            side = "\"" substr("mnk", n, 1) "\":"
            gsub(side "1024", side 1024 * i, line)
        }
        print line
    }
}' > ../many.jsonl
ok_if_empty "$results distinct results" "$(
    timer=${timer:+timeout -s KILL 300}
    nothing "report --no-studies --results ../many.jsonl -o ../report"
    cat ../report/*.csv | wc -l | awk -v results=$results '$1 < 4 * results { print "few rows: " $1 }')"
ok_if_empty "a module of kernels that is a pipe" "$(
    export BITCUT_MODULES=$set/modules
    offence 'list instructions' 3 \
        'bitcut: list: bitcut-cuda.so is not a regular file')"

# A disk that fills up while a file is written, and a limit that would end another program.
ok_if_empty "a file that cannot be written to its end" "$(
    trap '' XFSZ
    ulimit -f 16
    offence "$f32 -m 200 -n 200 -k 1 -o D.npy" 3 'bitcut: D.npy: File too large')"
ok_if_empty "a file beyond the limit" "$(
    ulimit -f 16
    offence "$f32 -m 200 -n 200 -k 1 -o D.npy" 3 'bitcut: D.npy: File too large')"

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
explain -a A.npy -b B.npy -d D.npy --seconds 1
verify --recipe fp32 --unit fma/f32 -a A.npy -b B.npy -d D.npy
advise -a A.npy -b B.npy --unit v100 --recipe plain
predict --library openblas-0.3.21 --chip haswell --sweep m=1..20 -n 40 -k 700
predict --library openblas-0.3.21 --chip haswell -m 20 -n 40 -k 700
gemm --library openblas-0.3.21 --chip haswell -m 20 -n 40 -k 700
predict --library torch-2.11 --chip h200 --call linear --bias --sweep m=1..20 -n 40 -k 700
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
        offence "$f32 -m 200 -n 200 -k 10 --threads 2" 3 \
            'bitcut: memory or threads: not enough')"
else
    skip "$threads" "GCC's OpenMP: compile with GCC"
fi
echo "1..$n"
