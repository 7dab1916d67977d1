#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The command line: tables, splits, tiles and benches, names of files, exit statuses,
# help, and the JSON keys of every command.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
manual=$(cd "${srcdir:-.}" && pwd)/doc/bitcut.texi
: "${BITCUT_DATA:=$(cd "${srcdir:-.}" && pwd)/data}"
export BITCUT_DATA
sets=$(find "$BITCUT_DATA" -name meta.json | sed 's|/meta.json$||' | sort)
[ -n "$sets" ] || { echo "Bail out! no sets in $BITCUT_DATA"; exit 1; }
python=$(command -v python3) || python=
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99

# --- what is needed ---------------------------------------------------------------------

# Matrices, and a copy of a set with the last output changed by one bit.
files_made() {
    for file in A:20:37 B:37:17 C:20:17; do
        size=${file#*:}
        run 0 gemm --recipe fp32 --unit fma/f32 --reference none -m "${size%:*}" -n "${size#*:}" \
            -k 2 -o "${file%%:*}.npy"
    done
    mkdir changed
    cp "$BITCUT_DATA"/h200/mma_m16n8k16_f16_f32/* changed
    chmod -R u+w changed
    flip changed/D.npy $(($(bytes changed/D.npy) - 4))
}

# --- tables -----------------------------------------------------------------------------

# rows_listed TABLE: each row has a name and a purpose, and the text shows the same rows.
rows_listed() {
    run 0 list "$1" --json
    [ -s out ] || echo "$1 has no rows"
    [ "$(value what | grep -c .)" -eq "$(wc -l < out)" ] || echo "$1: a row says nothing"
    sed 's/^{"name":"\([^"]*\)".*/\1/' out > names
    run 0 list "$1"
    awk -F '  +' '!NF { exit } NR > 1 { print $1 }' out | diff names -
}

tables_listed() {
    run 0 list
    tables=$(awk 'NR > 1 { print $1 }' out)
    for table in units formats splits recipes inputs metrics studies; do
        echo "$tables" | grep -qx "$table" || echo "no table $table"
    done
    for table in $tables; do
        case $table in
        architectures | instructions | kernels | fp64-kernels) [ -f "$BITCUT_MODULES/bitcut-cuda.so" ] || continue ;;
        esac
        rows_listed "$table"
        case $table in
        formats | splits | recipes | inputs | metrics | studies)
            while read -r name; do
                grep -qwF -- "$name" "$manual" || echo "the manual has no $name of $table"
            done < names ;;
        esac
    done
}

# --- splits and studies -----------------------------------------------------------------

# Ootomo and Yokota, Tables 1 and 2.
bits_kept() {
    for row in markidis:23.75 halfhalf:23.75 bitcut:23.25; do
        run 0 split --split ${row%:*} --exhaustive --from 0 --to 0 --json
        expect exponent 0
        expect bits ${row#*:}
    done
}

# The picture of a split: both lines, the same for any threads, and it replaces what is there.
split_drawn() {
    if command -v gnuplot > /dev/null; then
        run 0 split --split markidis --from -20 --to 4 --plot drawn.svg --json
        cp drawn.svg before.svg
        run 0 split --split markidis --from -20 --to 4 --plot drawn.svg --threads 1
        cmp drawn.svg before.svg 2>&1
        for word in '<svg' markidis counted theory 'bits retained, of 24'; do
            grep -q "$word" drawn.svg || echo "drawn.svg: no $word"
        done
        run 0 split --split bf16x3 --from -20 --to 4 --plot drawn.svg
        cmp -s drawn.svg before.svg && echo "drawn.svg was not replaced"
        grep -q theory drawn.svg && echo "a theory of three parts"
        run 0 split --plot drawn.pdf --json
        head -c 4 drawn.pdf | grep -q '%PDF' || echo "drawn.pdf: no PDF"
        run 3 split --plot nowhere/drawn.svg --json
        grep -q 'nowhere/drawn.svg: No such file' err || cat err
    fi
    cp before.svg drawn.svg 2> /dev/null || echo > drawn.svg
    cp drawn.svg before.svg
    bitcut=$(command -v bitcut)
    PATH=/nowhere "$bitcut" split --from 0 --to 0 --plot drawn.svg > /dev/null 2> err
    [ $? -eq 3 ] || echo "without gnuplot: not 3"
    grep -q 'drawn.svg: gnuplot is missing' err || cat err
    cmp drawn.svg before.svg 2>&1
    for name in drawn.png drawn .svg; do
        run 2 split --plot $name
        grep -q -- '--plot must name a file that ends in .svg or .pdf' err || cat err
    done
}

# Where there is no theory its columns are empty, and what is changed in a split is in its name.
split_theory() {
    run 0 split --split bitcut --scale 12 --from -16 --to 15 --json
    expect split "bitcut with scale 2^12" | sort -u
    for key in bits_theory p_subnormal_theory p_zero_theory; do
        grep '"exponent":-15,' out | grep -q "\"$key\":null" || echo "$key at -15"
        grep '"exponent":-14,' out | grep -q "\"$key\":null" && echo "no $key at -14"
    done
    run 0 split --split half --from 0 --to 0 --json
    grep -q '"p_subnormal_theory":null,.*"bits_theory":1[0-9.]*,' out || cat out
    run 0 split --split bf16x3 --from 0 --to 1
    grep -q '^bf16x3 .* -  ' out || cat out
    grep -q null out && cat out
    grep -q 'rho: .*theta: ' out || cat out
}

table1_agrees() {
    run 0 study table1 --json
    [ "$(wc -l < out)" -eq 7 ] || echo "not 7 rows"
    expect agrees true
}

# Counts of whole binades: below the closed forms by 3 2^-12 at most, never above; and what
# parts retain where none of them underflows.
underflow_as_predicted() {
    run 0 study underflow --scale paper --json
    sed -i 's/{"study.*"rows":[12],/{/; s/"by":"[a-z]*",//' out
    awk -F'[",:]+' '
        { p[$4, $6, $8] = $10 } # {"series":"S, theory","split":"S","exponent":E, ...
        $4 == " theory" { at[$6, $8] = $8; seen += $10 > 0.1 }
        END {
            for (i in at) {
                error = p[" counted", i] - p[" theory", i]
                if (at[i] >= -14 && !(error <= 0 && error >= -3 / 4096))
                    print at[i], p[" counted", i], p[" theory", i]
            }
            if (!(seen >= 9)) print "too few exponents with underflow"
        }' out
    grep -q '"bitcut, counted",.*"exponent":-15,"p_subnormal":0.0,.*"bits":11.99987' out ||
        echo "bitcut retains other than 12 bits of 2^-15"
    grep -q '"halfhalf, counted",.*"exponent":-10,.*"bits":23.75' out ||
        echo "halfhalf retains other than 23.75 bits of 2^-10"
}

# LE-GEMM, Table 2; a description is the same by its name and as a file.
tiles_ranked() {
    for row in mi210:128x128x32 a800:128x256x32; do
        run 0 tile --gpu ${row%:*} --top 1 --json
        expect tile ${row#*:}
        expect rank 1
        sed 's/"gpu":"[^"]*"//' out > named
        run 0 tile --gpu "$BITCUT_DATA/gpu/${row%:*}.json" --top 1 --json
        sed 's/"gpu":"[^"]*"//' out | cmp - named 2>&1
    done
    run 0 tile --gpu mi210 --json
    [ "$(wc -l < out)" -eq 48 ] || echo "not 48 tiles"
    grep '"tile":"128x256x32"' out |
        grep -q '"rank":null,"score":0.0,.*98304 bytes .* 65536"' || grep 128x256x32 out
    run 0 tile --gpu a800 --tile 192x192x32 --tile 128x256x32 --json
    [ "$(value tile | tr '\n' ' ')" = '192x192x32 128x256x32 ' ] || cat out
    run 0 tile --gpu a800 --tile 128x256x32 --accumulators 2 --json
    expect rank null
    run 0 tile --gpu h200 --tile 128x128x64 --accumulators 2 --waves 8 --stages 3 --json
    expect shared 196608
    expect rank 1
    run 0 tile --gpu a100 --recipe bf16x9 --tile 128x128x32 --stages 1 --json
    expect ratio 192.0
    expect memory 49152
}

# The model that is named.
models_named() {
    run 0 tile --gpu mi210 --json
    mv out unnamed
    run 0 tile --gpu mi210 --model legemm --json
    cmp out unnamed 2>&1
}

# Where no descriptions are kept.
descriptions_missing() {
    BITCUT_DATA=$work/nowhere run 3 tile --gpu a800
}

benches_run() {
    run 0 bench exact -n 64 --json
    methods=$(value method | tr '\n' ' ')
    [ "$methods" = 'mpfr-fma mpfr bins dot2 double cascade reference ' ] || echo "$methods"
    [ "$(value products_per_second | grep -c '^[1-9]')" -eq 7 ] || cat out
}

bench_emu_runs() {
    run 0 bench emu -n 40 --unit hopper/mma.m16n8k16.f32.f16 --threads 1 --json
    levels=$(value simd | tr '\n' ' ')
    case $levels in *'plain none ') ;; *) echo "$levels" ;; esac
    [ "$(value verified | sort -u)" = 1600 ] || cat out
    [ "$(value instructions | sort -u)" = 5.328125 ] || cat out
    [ "$(value roofline | grep -c '^[1-9]')" -eq "$(value simd | grep -cv none)" ] || cat out
    run 0 bench emu -n 8 --unit mi210 --threads 1 --json
    [ "$(grep -c 'published models, not run on AMD hardware' out)" -eq "$(wc -l < out)" ] ||
        cat out
}

# The same result at every level that is here; another one is refused.
levels_agree() {
    for level in none avx512 avx2 plain; do
        BITCUT_SIMD=$level bitcut gemm --recipe legemm --unit h100 -m 40 -n 30 -k 50 \
            -o "$level.npy" > out 2> err || continue
        cmp "$level.npy" none.npy 2>&1
    done
    BITCUT_SIMD=sse run 2 gemm --recipe plain --unit h100 -m 4 -n 4 -k 4
}

# Control characters and halves of characters reach neither terminal nor pipe.
names_harmless() {
    name=$(printf 'a\033[1m\177\302\205b')
    run 2 list "$name$(printf '\233')"
    grep -qF 'list: unknown name "a?[1m??b?"' err || cat err
    run 3 replay "$name"
    grep -qF 'bitcut: a?[1m??b: meta.json' err || cat err
    cp -r "$(echo "$sets" | head -n 1)" "$name"
    run 0 replay "$name"
    grep -q '^set  *a?\[1m??b$' out || cat out
    run 0 replay "$name" "$name"
    steering out
    run 0 replay --json "$name"
    grep -qF '"set":"a\u001B[1m\u007F\u0085b"' out || cat out
    name=$(printf '\303\251\233')
    cp -r "$(echo "$sets" | head -n 1)" "$name"
    run 0 replay --json "$name"
    grep -qF "\"set\":\"$(printf '\303\251')?\"" out || cat out
    run 2 list "$(printf '%059d\303\251' 0)"
    grep -q 'unknown name "0\{59\}"' err || cat err
}

# An output that is an input or another output, by whatever name.
same_files_found() {
    run 0 gemm --recipe fp32 --unit fma/f32 -m 2 -n 2 -k 2 --save-a a.npy --save-b b.npy
    cp a.npy kept.npy
    ln a.npy hard.npy
    ln -s a.npy soft.npy
    ln -s . here
    mkdir page
    cp "$BITCUT_DATA/results/h200-stages.jsonl" page/stages.csv
    while IFS='|' read -r text words; do
        # shellcheck disable=SC2086 # words
        run 2 $words
        grep -qF -e "$text" err || cat err
        cmp a.npy kept.npy 2>&1
    done << 'END'
./a.npy: -a and -o name the same file|gemm --recipe fp32 --unit fma/f32 -a a.npy -b b.npy -o ./a.npy
here/b.npy: -b and --save-a name the same|gemm --recipe fp32 --unit fma/f32 -a a.npy -b b.npy --save-a here/b.npy
hard.npy: -a and -o name the same file|gemm --recipe fp32 --unit fma/f32 -a a.npy -b b.npy -o hard.npy
soft.npy: -c and -o name the same file|gemm --recipe fp32 --unit fma/f32 -b b.npy -c a.npy -o soft.npy
new.npy: -o and --save-b name the same|gemm --recipe fp32 --unit fma/f32 --save-b new.npy -o here/new.npy
hard.npy: -a and -o name the same file|mma --unit fma/f32 -a a.npy -b b.npy -c b.npy -o hard.npy
here/changed is also an input set|fit --next here/changed changed
here/page/stages.csv: --results and -o|report --no-studies --results page/stages.csv -o here/page
END
}

# --- messages ---------------------------------------------------------------------------

statuses_as_promised() {
    run 0 list
    run 1 verify --recipe ootomo --unit a100 -a A.npy -b B.npy -d C.npy --seconds 0
    run 2 gemm
    run 2 frobnicate
    run 2 list --frobnicate
    run 3 replay missing
    # shellcheck disable=SC2086 # one word a set
    set -- $sets
    run 3 replay --json "$1" missing "$2"
    [ "$(value mismatches | tr '\n' ' ')" = "0 0 " ] ||
        echo "a missing set keeps others from being replayed"
}

help_printed() {
    run 0 --version
    grep -Eqx 'bitcut [0-9]+\.[0-9]+\.[0-9]+' out || cat out
    run 0 help
    cp out help
    run 0 --help
    grep -q '3 cannot run, 130' out || cat out
    cmp help out 2>&1
    commands=$(sed -n 's/^  \([a-z][a-z]*\) .*/\1/p' out)
    for name in list mma replay record split convert gemm bound verify explain study report bench tile \
        tolerance advise predict; do
        echo "$commands" | grep -qx "$name" || echo "no command $name"
    done
    for name in $commands; do
        run 0 "$name" --help
        head -n 1 out | grep -q "^Usage: bitcut $name " || head -n 1 out
        grep -q '^  --json ' out || echo "$name --help: no --json"
    done
}

# --- JSON Lines -------------------------------------------------------------------------

# Standard input is commands, with keys after a bar, and below each its JSON Lines: objects that
# have these keys.
json_fault='
import json, sys

def strict(pairs):
    if len(dict(pairs)) != len(pairs): raise ValueError("a key twice")
    return dict(pairs)

def refuse(word): raise ValueError(word)

def end(words, rows):
    if words and not rows: print(f"{words}: no rows")

words, rows = "", 0
for line in sys.stdin:
    if not line.startswith("{"):
        end(words, rows)
        words, keys = line.rstrip().split("|")
        rows = 0
        continue
    rows += 1
    try: row = json.loads(line, object_pairs_hook=strict, parse_constant=refuse)
    except ValueError as wrong: print(f"{words}: {wrong}"); continue
    if not row.get("schema", "").startswith("bitcut-"): print(f"{words}: no schema in", row)
    for key in keys.split():
        if key not in row: print(f"{words}: no key", key, "in", row)
end(words, rows)
'

# The keys that scripts depend on.
json_keys() {
    # shellcheck disable=SC2086 # one word a set
    set -- $sets
    bitcut replay --json "$1" > out
    mma="mma --unit $(value unit) -a $1/A.npy -b $1/B.npy -c $1/C.npy -o json.npy"
    gemm='gemm --recipe ootomo --unit a100 -n 8'
    errors='relres max_error mred ulp_max backward_max seconds products_per_second'
    errors="$errors parts_underflow parts_overflow ulp_histogram"
    limits='m n k runs outputs orders false_alarm componentwise normwise underflow allclose'
    limits="$limits relative cancelling wrong numpy torch numpy_bound torch_bound power"
    advice='want metric m n k outputs checks all advice targets values_a values_b retained'
    advice="$advice scales tried transposed input_a input_b seed"
    terms='busy useful ratio groups busiest resident tlp memory flops work_dl work_cp'
    terms="$terms shared registers"
    part << END | while IFS='|' read -r words keys; do
list|name what
list units|name what shape a b c block fraction rounding evidence source
list summations|name what reads exact fast
list reductions|name what
list chips|name what architecture also source rates ratios
list frameworks|name what library setting recipe split unit order known open source
list formats|name what bits exponent_bits fraction_bits emin emax
list splits|name what format high low parts formats scale levels copies
list functions|name what format sass evidence source
list recipes|name what split formats terms promote tile_k zeroed source
list inputs|name what parameters
list metrics|name what
list criteria|name what
list bounds|name what kind of sharp source
list monotonicity|name what c c_example product product_example
list rates|name what f16_tflops bf16 tf32 fp8 f32 source
list variants|name what
list axes|name what
list faults|name what changes
list devices|name what here architectures why
list studies|name what
list claims|name what study paper printed quote device unit needs origin criterion assumes otherwise
$mma|unit outputs
attention --row plain --queries 3 --keys 3|row evidence unit_qk unit_pv fields heads kv_heads queries keys head_dim value_dim window_left window_right scale format format_o input seconds errors
mufu A.npy --function tanh.approx.f32 -o A8.npy|input function evidence elements written
convert A.npy --to e4m3 -o A8.npy|input from to rounding elements inexact overflow underflow infinite nan written
replay $1 $2|set unit outputs mismatches first
replay changed|set unit outputs mismatches first
split --from 0 --to 1|split exponent exact bits max_ulp mean_ulp p_subnormal p_zero
gemm --recipe half-fp8 --unit h100 -m 8 -n 8 -k 8|recipe unit units split
bound --recipe ootomo --unit h100 -m 2 -n 2 -k 8|bound applies why limit observed ratio kind violations outputs
$gemm -m 8 -k 8|bound_max verdict grade_text bound_grade explained recipe_limit
$gemm -m 8 -k 8|recipe unit evidence equilibrate m n k seed $errors
$gemm -m 8 -k 8 --input-a anybits|$errors
$gemm -m 0 -k 0|$errors
verify --recipe ootomo --unit a100 -a A.npy -b B.npy -d C.npy --seconds 0|m n k compared total mismatches first hypothesis
explain -a A.npy -b B.npy -d C.npy --recipe fp32 --unit fma/f32 --seconds 1|hypothesis tried matched sampled compared differ total found complete ulps period distances
tolerance --recipe ootomo --unit a100 -k 32 --seeds 3 --power 1|$limits
tolerance --recipe plain --unit h100 --input specials --seeds 1 --power 1|$limits
advise -a A.npy -b B.npy --want 10 --unit a100|$advice
split -a A.npy|exponent count flush bits exact p_flushed p_overflow
fit --outputs 200 $BITCUT_DATA/h200/mma_m8n8k4_f64_f64|set unit outputs survivors rows open
probe --mutants --unit fma/f32|unit vectors mutants killed proved surviving matrix
study underflow --shard 0/16|study scale seed point rows split by exponent p_subnormal p_zero bits
study figure9 xf32 --verdicts|study name claim paper printed ours low high verdict reason device unit evidence origin criterion interval
bench exact -n 16|method n products_per_second ratio
tile --gpu a800|gpu m n k tile waves stages rank score $terms why
END
        echo "$words|$keys"
        # shellcheck disable=SC2086 # words
        bitcut $words --json < /dev/null 2> err
    done | "$python" -c "$json_fault" 2>&1
}

# --- the points -------------------------------------------------------------------------

# Names of version 0.1 give the same bytes, and one line that names the new one.
renamed() {
    gemm="gemm --recipe fp32 --unit fma/f32 -m 9 -n 7 -k 90 --json"
    renamed_row "--order: rest-first is now partial-first" \
        "$gemm --split-k 2 --order tile=32,rest-first" "$gemm --split-k 2 --order tile=32,partial-first"
    renamed_row "--order: turn is now chunk" \
        "$gemm --order lanes=3,turn=8,sums=f16" "$gemm --order lanes=3,chunk=8,partial-format=f16"
    renamed_row "--order: halve is now balance-tail" \
        "$gemm --split-k 2 --order tile=40,halve=8" "$gemm --split-k 2 --order tile=40,balance-tail=8"
    renamed_row "--device: host is now cpu" \
        "record --random 1 --device host:1" "record --random 1 --device cpu:1"
}

# renamed_row LINE OLD NEW
renamed_row() {
    # shellcheck disable=SC2086 # words
    bitcut $2 > old.out 2> old.err
    old=$?
    # shellcheck disable=SC2086 # words
    bitcut $3 > new.out 2> new.err
    [ $? = $old ] || echo "$2: status $old"
    sed -i 's/"[a-z_]*second[a-z]*":[^,}]*//g' old.out new.out
    cmp old.out new.out
    echo "bitcut: $1; this version still reads the old name" | cat - new.err | cmp - old.err
}

ok_if_empty "files are made" "$(files_made)"
ok_if_empty "names of version 0.1 are read" "$(renamed)"
ok_if_empty "list prints every table" "$(tables_listed)"
exhaustive "split counts the published bits" bits_kept
ok_if_empty "split draws its bits" "$(split_drawn)"
ok_if_empty "split has theory where it holds" "$(split_theory)"
exhaustive "study table1 agrees with the paper" table1_agrees
exhaustive "study underflow agrees with the closed forms" underflow_as_predicted
ok_if_empty "tile chooses as LE-GEMM does" "$(tiles_ranked)"
ok_if_empty "tile takes the model that is named" "$(models_named)"
ok_if_empty "tile without descriptions" "$(descriptions_missing)"
ok_if_empty "bench verifies and times every method" "$(benches_run)"
ok_if_empty "bench emu verifies and times every level" "$(bench_emu_runs)"
ok_if_empty "all levels give the same bits" "$(levels_agree)"
ok_if_empty "exit statuses" "$(statuses_as_promised)"
ok_if_empty "control characters are not printed" "$(names_harmless)"
ok_if_empty "an output is no input and no other output" "$(same_files_found)"
ok_if_empty "help and version" "$(help_printed)"
if [ -n "$python" ]; then
    ok_if_empty "--json prints JSON Lines with the promised keys" "$(json_keys)"
else
    skip "--json prints JSON Lines with the promised keys" python
fi
echo "1..$n"
