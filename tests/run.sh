#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bitcut run: programs with a BLAS of the tests (tests/run/blas_stub.c), called under
# every name and in every form, by threads, children and libraries, under good and bad
# conditions; and with NumPy, where it is available.
# Run in the build folder with srcdir, CC, CFLAGS and NM set, as `make check` does.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
# shellcheck source=tests/run_begin.sh
. "${srcdir:-.}/tests/run_begin.sh"

# --- every name ---------------------------------------------------------------------------

names_wanted() {
    for base in $(routines); do
        for before in '' scipy_; do
            echo "$before${base}_"
            echo "$before${base}_64_"
            echo "${before}cblas_$base"
            echo "${before}cblas_${base}64_"
        done
        echo "cblas_${base}_64"
    done
}

names_there() {
    names_wanted | sort > wanted
    sort names | diff wanted -
}

called_legemm() { called legemm cdna2/mfma.32x32x8.f32.f16; }

# Each name has its place, and each place its name.
by_name() {
    sed -n 's/.*"routine":"\([^"]*\)".*/\1/p' err | sort -u > taken_names
    grep -E '(sgemm|ssyrk|ssymm|sgemm_batch|sgemm_batch_strided)(_|64_|_64|_64_)?$' names | sort |
        diff - taken_names
}

# --- scenes -------------------------------------------------------------------------------

scenes() {
    while read -r name processes taken empty illegal; do
        case $sanitized,$name in yes,*forks)
            skip "$name" plain
            continue
            ;;
        yes,sealed)
            skip "$name" plain
            continue
            ;;
        esac
        ok_if_empty "$name" "$(scene 0 "$processes $taken $empty $illegal" "$name")"
    done << 'END'
once 1 1 0 0
all 1 3 0 0
threads 1 520 0 0
small_stacks 1 520 0 0
forks 8 544 0 0
counted_forks 101 0 0 0
nested 1 1 1 0
overwritten 2 2 0 0
closed 1 2 0 0
jumps 1 3 0 3
modes 1 24 0 0
traps 1 2 0 0
again 2 4 0 0
sealed 1 3 0 0
END
    if [ -n "$sanitized" ] || ./scenes parallel | grep -q 'no OpenMP'; then skip parallel "OpenMP"
    else ok_if_empty parallel "$(scene 0 "2 43 0 0" parallel)"; fi
}

counted_once() {
    ran 0 --json -- ./scenes within
    [ "$(counts taken others counted)" = "2 3 cblas_dsyrk 1" ] || tail -n 1 err
    grep -q '"counted":"cblas_dsyrk 1, dgemm_ 2"' err || tail -n 1 err
}

# A batch is one call, however its groups end; GEMMs are counted apart.
one_call() {
    ran 0 --json --audit --sample all -- ./scenes groups
    [ "$(counts calls taken empty left reasons)" = "1 1 0 0 null" ] || tail -n 1 err
    grep -q '"gemms":5,.*"scaled":1,"added":0,' err || cat err
    grep -q '"watched":1,' err || cat err
    ran 0 --json --least 1000 -- ./scenes groups
    [ "$(counts calls taken left reasons)" = "1 0 1 small 1" ] || tail -n 1 err
    ran 1 --json --rule '*=original' -- ./scenes groups > said
    [ "$(counts calls passed)" = "1 1" ] || tail -n 1 err
    ran 0 -- ./scenes groups
    line '^bitcut: run: 1 call computed by bitcut$'
    line '^scenes+0x[0-9a-f]* *cblas_sgemm_batch *1 *1 '
}

# A small product starts no threads and zeroes little, on each level of SIMD that there is.
small_cost() {
    built cost -rdynamic "$here/blas_cost.c" -L. -lstub -ldl || echo "not compiled"
    for level in '' avx2 plain none; do
        for way in fp32@fma/f32 ootomo@h100 bf16x9@h100 cutlass-tf32x3@a100; do
            BITCUT_SIMD=$level BITCUT_RUN=$way LD_PRELOAD=$library ./cost > out 2> err
            cat out err | sed "s,^,$way ${level:-best}: ,"
        done
    done
}

loaded() {
    for words in './late ./libuser.so' './early ./libuser.so' './late ./libalone.so ./libstub.so'; do
        # shellcheck disable=SC2086 # words
        ran 0 --json -- $words
        [ "$(counts processes taken empty failed others)" = "1 3 1 0 0" ] || tail -n 1 err
    done
}

# --- ways, places and files ---------------------------------------------------------------

# The places of the program's calls, by routine.
place_of() { sed -n "s/.*\"where\":\"\([^\"]*\)\".*\"routine\":\"$1\".*/\1/p" err; }

ways() {
    ran 0 --json -- ./scenes nested
    at=$(place_of sgemm_)
    case $at in scenes*+0x*) ;; *) echo "call_site $at" ;; esac
    # A rule for no place is told of.
    ran 0 --rule "other*=$way" --rule "scenes*=$way" -- ./scenes once
    line '^bitcut: --rule: no call site matches other[*]; a pattern must match the whole call site'
    [ "$(grep -c -e --rule err)" = 1 ] || cat err
    # By a rule, by none that fits, and by the first that does.
    bitcut run --json --rule "$at=$way" -- ./scenes nested > out 2> err || cat out
    [ "$(counts taken passed empty)" = "1 0 1" ] || tail -n 1 err
    bitcut run --json --rule "x$at=$way" -- ./scenes nested > out 2> err
    grep -q 'another small product' out || echo "the library's product is bitcut's"
    [ "$(counts taken passed empty)" = "0 1 1" ] || tail -n 1 err
    ran 1 --json --rule 'nothing*=original' --rule 'scenes*=plain@v100' \
        --rule "*=$way" -- ./scenes once > said
    grep -qx 'another small product' said || echo "not by the second rule"
    grep -q '"configuration":"plain@volta/' err || cat err
    ran 1 --json --rule '*=original' -- ./scenes once > said
    [ "$(counts taken passed)" = "0 1" ] || tail -n 1 err
    ran 1 --least 999999999 --json -- ./scenes once > said
    grep -qx 'another small product' said || cat said
    [ "$(counts taken left reasons)" = "0 1 small 1" ] || tail -n 1 err
    ran 0 --least 1 --json -- ./scenes once
    [ "$(counts taken left reasons)" = "1 0 null" ] || tail -n 1 err
    ran 1 --promote 1 --order slices=2 --split bitcut --json -- ./scenes once > said
    line '"configuration":"[^"]*,split-a=bitcut,split-b=bitcut,promote=1,slices=2"'
}

# What --against says of one product, computed both ways by another program.
against() {
    for pair in "$way original" "original $way" "$way plain@v100"; do
        one=${pair% *} other=${pair#* }
        bitcut run --rule "*=$one" --against "$other" --json -- ./scenes product \
            > got 2> err || cat got err
        grep -q "\"against\":\"$(echo "$other" | sed 's,@.*,@,')" err || cat err
        # shellcheck disable=SC2046
        set -- $(sed -n 's/.*"outputs":\([^,]*\),"differ":\([^,]*\),"not_finite":\([^,]*\),"difference":\([^,]*\),"largest":\([^,]*\),.*/\1 \2 \3 \4 \5/p' err)
        bitcut run --rule "*=$one" -- ./scenes product > one 2> err || cat one err
        bitcut run --rule "*=$other" -- ./scenes product > other 2> err || cat other err
        cmp got one # the program has what it asked for
        bitcut run --rule "*=$one" --against "$other" -- ./scenes product > got 2> err
        for each in $one $other; do
            [ "$each" = original ] ||
                grep -q "^bitcut: run: ${each%@*}@.*: evidence of the unit: " err || cat err
        done
        paste one other | ./scenes differ "$@" || echo "$pair: $*"
    done
}

# A recipe whose parts have the range of f16 is named with that range; others are not.
range() {
    while read -r way low; do
        # shellcheck disable=SC2086
        bitcut run --recipe $(echo "$way" | tr , ' ') -- ./scenes product > got 2> err || cat got err
        sed -n 's/^bitcut: run: .*: elements below 2^\([-0-9]*\) lose bits in the parts, and overflow from 2^16 on; --equilibrate.*/\1/p' err > low
        [ "$(cat low)" = "$low" ] || echo "$way: $(cat low), not $low: $(cat err)"
    done << 'END'
ootomo,--unit,a100 -12
plain,--unit,a100 -14
ootomo,--unit,a100,--equilibrate
half-int8,--unit,h100
bf16x3,--unit,a100
tf32x3,--unit,a100
END
}

files() {
    mkdir folder
    ran 0 --folder folder -o run.jsonl --json -- ./scenes all
    diff err run.jsonl
    [ "$(find folder -type f | grep -c '\.ledger$')" = 1 ] || ls folder
    bitcut run --read folder --json > out 2> err2 || cat err2
    # How long the program took is not written down.
    took='s,"elapsed":[^,]*,"elapsed":null,'
    sed 's,"program":null,"program":"./scenes",' out > read
    sed "$took" err | diff - read
    bitcut run --read folder -o read.jsonl > out 2> err || cat err
    sed 's,"program":null,"program":"./scenes",' read.jsonl > read
    sed "$took" run.jsonl | diff - read
    grep -q '^scenes.* sgemm_ ' out || cat out
    [ "$(head -n 1 err)" = 'bitcut: run: 3 calls computed by bitcut' ] || cat err
    # The program's output is its own; what is said of it goes to standard error.
    TMPDIR=$work/made
    export TMPDIR
    mkdir made
    ran 0 -o run.jsonl -- ./scenes once
    line '^bitcut: run: 1 call computed by bitcut$'
    line '^scenes+0x[0-9a-f]* *sgemm_ *1 *1 '
    [ "$(wc -l < run.jsonl)" = 2 ] || cat run.jsonl
    # Nobody reads what is said: no folder is left, and the status says so.
    { bitcut run --rule "*=$way" -- ./scenes once 2>&1 > out; echo $? > status; } | true
    [ "$(cat status)" = 125 ] || echo "to a closed pipe: $(cat status)"
    for threads in 1 2 7; do ran 0 --threads $threads --json -- ./scenes all; done
    rmdir made || ls -R made
}

# --device: the same bits, by whom they were computed, and what happens without it.
on_device() {
    (
        BITCUT_MODULES=$work/models
        cp "$library" models/
        ran 0 --device cuda --json -- ./scenes all
        [ "$(counts taken failed on_device device device_fault)" = "3 0 1 Models null" ] ||
            tail -n 1 err
        ran 0 --device cuda:1 -o said -- ./scenes all
        line '^bitcut: run: 1 GEMM computed on More models$'
        ran 0 --device cuda --json -- ./scenes once
        [ "$(counts on_device device device_fault)" = "0 null null" ] || tail -n 1 err
        ran 0 --device cuda --against plain@v100 --json -- ./scenes all
        [ "$(counts on_device)" = 2 ] || tail -n 1 err
        DEVICE_FAULT=flips ran 1 --device cuda --json -- ./scenes all > said
        grep -qx 'another large product' said || cat said
        # What it fails at, for lack of memory or otherwise, is emulated.
        DEVICE_FAULT=breaks ran 0 --device cuda --json -- ./scenes all
        [ "$(counts taken failed on_device device device_fault)" = \
            "3 0 0 Models Models: it broke" ] || tail -n 1 err
        grep -qx 'bitcut: run: Models: it broke; process [0-9]* emulates such .* bits' err ||
            cat err
        # A module that is gone when the program asks for it.
        if [ -z "$sanitized" ]; then
            printf 'rm -f models/bitcut-cuda.so\nexec ./scenes all\n' > gone
            ran 0 --device cuda --json -- sh gone
            [ "$(counts taken on_device device)" = "3 0 null" ] || tail -n 1 err
            line '^bitcut: run: cuda: .*; process [0-9]* emulates without it and gives the same bits$'
        fi
        BITCUT_MODULES=$work/honest
        cp "$library" honest/
        ran 125 --device cuda -- ./scenes once
        line '^bitcut: --device names a device whose module does not emulate units$'
        bitcut run --device cuda --audit -- ./scenes once > out 2> err
        line '^bitcut: --device requires --recipe, --rule or --against$'
    )
}

# The processor's own matrix unit that has kernels, if it has one.
own_unit() {
    bitcut list devices --json | grep '"name":"cpu"' > host
    if grep -q '"architectures":[^]]*"amx-bf16"' host; then
        echo amx/tdpbf16ps.m16n16k32.f32.bf16
    elif grep -q '"architectures":[^]]*"avx512-bf16"' host; then
        echo avx512/vdpbf16ps.m1n16k2.f32.bf16
    fi
}

# summed KEY: of all places.
summed() { sed -n "s/.*\"where\".*\"$1\":\([0-9]*\).*/\1/p" err | awk '{ n += $1 } END { print n + 0 }'; }

# By it every product of every size: called in every way, by threads, with small stacks, in
# teams, in other modes of floating point and in children.
on_own_device() {
    (
        on=cpu unit=$(own_unit)
        called plain "$unit"
        [ "$(summed on_device)" -ge "$(summed taken)" ] ||
            echo "$(summed on_device) of $(summed taken) on the device"
        SCENE_RECIPE=bf16x6 SCENE_UNIT=$unit
        as="--recipe bf16x6 --device cpu"
        scene 0 "1 520 0 0" threads
        [ "$(counts on_device)" = 520 ] || tail -n 1 err
        # A sanitizer's frames of the kernels are larger than such a stack.
        [ -n "$sanitized" ] || scene 0 "1 520 0 0" small_stacks
        scene 0 "1 24 0 0" modes
        scene 0 "1 2 0 0" traps
        [ -n "$sanitized" ] || scene 0 "8 544 0 0" forks
        # What is compared with it is emulated; the audit's excerpts are, too.
        ran 0 --against "bf16x6@$unit" --json -- ./scenes all
        [ "$(summed differ) $(counts on_device)" = "0 66" ] || cat err
        ran 0 --audit --sample all --json -- ./scenes all
        [ "$(summed mismatches)" = 0 ] && [ "$(summed recomputed)" -gt 0 ] || cat err
        as=
        ran 125 --recipe ootomo --unit a100 --device cpu -- ./scenes once
        line '^bitcut: --device: no kernel implements recipe ootomo'
        # What no kernel computes is emulated.
        as="--rule *=ootomo@a100" SCENE_RECIPE=ootomo SCENE_UNIT=ampere/mma.m16n8k16.f32.f16
        ran 0 --device cpu --json -- ./scenes all
        [ "$(counts taken on_device)" = "3 0" ] || tail -n 1 err
    )
}

forks_on_device() {
    (
        BITCUT_MODULES=$work/models
        cp "$library" models/
        ran 0 --device cuda --json -- ./scenes forks
        [ "$(counts processes taken failed on_device)" = "8 544 0 16" ] || tail -n 1 err
    )
}

by_hand() {
    several=forks want="8 544"
    [ -z "$sanitized" ] || several=threads want="1 520"
    BITCUT_RUN=$way LD_PRELOAD=$library ./scenes all
    mkdir hand
    BITCUT_RUN_RULES="
x*=original
scenes*=$way" BITCUT_RUN_FOLDER=hand BITCUT_RUN_THREADS=1 BITCUT_RUN_SITES=native \
        LD_PRELOAD=$library ./scenes $several
    bitcut run --read hand --json > err 2> out || cat out
    [ "$(counts processes taken failed lost)" = "$want 0 0" ] || tail -n 1 err
    LD_PRELOAD=$library ./scenes once > out && echo "no way: not the library's own"
    BITCUT_RUN_AGAINST=$way BITCUT_RUN_FOLDER=hand LD_PRELOAD=$library ./scenes once > out
    grep -q another out || echo "what is compared goes to the program"
    # In a child of a process without a ledger, too, the lock is free.
    [ -n "$sanitized" ] || LD_PRELOAD=$library ./scenes counted_forks
    # A run is by its own settings alone.
    (
        BITCUT_RUN=plain@v100 BITCUT_RUN_THREADS=x BITCUT_RUN_AGAINST=y
        export BITCUT_RUN BITCUT_RUN_THREADS BITCUT_RUN_AGAINST
        ran 0 -- ./scenes all
    )
}

# What `bitcut gemm` and `bitcut verify` make of the matrices of a call.
# shellcheck disable=SC2086
same_as_gemm() {
    ran 0 --json -- ./scenes files
    run 0 gemm $as -a A.npy -b B.npy -c C.npy --alpha 1.25 --beta -0.5 -o want.npy
    cmp want.npy D.npy
    run 0 verify $as -a A.npy -b B.npy -c C.npy --alpha 1.25 --beta -0.5 -d D.npy --json
    expect mismatches 0
}

# NumPy's products of those matrices; A A^T is by SSYRK, which computes half of it.
cat > products.py << 'END'
import numpy
a, b = numpy.load("A.npy"), numpy.load("B.npy")
def step():
    return a @ b
numpy.save("AB.npy", step())
numpy.save("AA.npy", a @ a.T)
numpy.save("AT.npy", numpy.ascontiguousarray(a.T))
END
cat > compare.py << 'END'
import numpy
for got, want, part in (("AB", "want1", lambda x: x), ("AA", "want2", numpy.triu)):
    d, e = (part(numpy.load(x + ".npy")).view("<u4") for x in (got, want))
    if (d != e).any():
        print(got, (d != e).sum(), "of", d.size, "outputs differ")
END

# shellcheck disable=SC2086
numpy_same() {
    run 0 gemm $as -a A.npy -b B.npy -o want1.npy
    run 0 gemm $as -a A.npy -b AT.npy -o want2.npy
    "$python" compare.py
    for place in 'products.py:4 step' 'products.py:6'; do
        grep -q "\"call_site\":\"$place\",\"where\":\"$work/$place\"" err || cat err
    done
    ran 0 --native --json -- "$python" products.py
    grep -q '"call_site":"products.py' err && cat err
    ran 0 --json --rule '*products.py:4 *=original' -- "$python" products.py
    [ "$(counts taken passed)" = "1 1" ] || cat err
}

numpy() {
    for python in python3 /usr/bin/python3; do
        "$python" -c 'import numpy' 2> /dev/null && break
        python=
    done
    if [ -n "$sanitized" ]; then skip NumPy plain; return; fi
    if [ -z "$python" ]; then skip NumPy numpy; return; fi
    cp /dev/null err
    offences=$(ran 0 --json -- "$python" products.py)
    if [ "$(counts taken)" = 0 ]; then skip_because NumPy "$(counts none)"; return; fi
    [ "$(counts taken passed failed)" = "2 0 0" ] || offences=$offences$(cat err)
    ok_if_empty NumPy "$offences$(numpy_same)"
}

ok_if_empty "the names that are taken are those of the manual" "$(names_there)"
ok_if_empty "every name in every way: ootomo" "$(called ootomo $SCENE_UNIT)"
if_whole "every name in every way: legemm" called_legemm
ok_if_empty "each has its place" "$(by_name)"
another_way() { called ootomo $SCENE_UNIT plain@v100; }
by_library() { called ootomo $SCENE_UNIT original; }
if_whole "... and by another way" another_way
if_whole "... and by the library" by_library
scenes
ok_if_empty "a routine within another is counted once" "$(counted_once)"
ok_if_empty "a batch is one call" "$(one_call)"
if [ -n "$sanitized" ]; then skip "what small products cost" plain
else ok_if_empty "what small products cost" "$(small_cost)"; fi
ok_if_empty "libraries opened late, and early" "$(loaded)"
ok_if_empty "rules and variations" "$(ways)"
ok_if_empty "what differs is as computed here" "$(against)"
ok_if_empty "the range of parts in f16" "$(range)"
ok_if_empty "a call is bitcut gemm's" "$(same_as_gemm)"
numpy
ok_if_empty "--folder, --read, -o, --json, --threads" "$(files)"
ok_if_empty "by hand" "$(by_hand)"
ok_if_empty "the modules are built" "$(model_built models; model_built honest -DHONEST)"
if [ -n "$sanitized" ]; then skip "children, --device" plain
else ok_if_empty "children, --device" "$(forks_on_device)"; fi
ok_if_empty "--device" "$(on_device)"
what="--device cpu, the processor's own unit"
if [ -n "$(own_unit)" ]; then ok_if_empty "$what" "$(on_own_device)"
else skip "$what" "a processor with a matrix unit"; fi
echo "1..$n"
