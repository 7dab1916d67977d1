#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Values of the user: `split -a` on the values of a file; and the recommendation of
# `advise` for three kinds of data, which `gemm` has to confirm.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
python=$(command -v python3) || python=
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99

# matrix FILE ROWS COLUMNS BODY: a text file of the values that awk's BODY makes of row i and
# column j; uniform() and normal() are random.
matrix() {
    awk -v rows="$2" -v cols="$3" -v seed="$1" '
        function uniform() { return rand() }
        function normal() {
            return sqrt(-2 * log(1 - rand())) * cos(6.2831853 * rand())
        }
        function value(i, j) { '"$4"' }
        BEGIN {
            for (n = 1; n <= length(seed); n++) sum += n * index("abcdefghijklmnop", substr(seed, n, 1))
            srand(sum + 1)
            print "%%MatrixMarket matrix array real general"
            print rows, cols
            for (j = 0; j < cols; j++)
                for (i = 0; i < rows; i++) printf "%.9g\n", value(i, j)
        }' > "$1"
}

# Points in ten clusters, and their centres.
centre='(1 + sin(7 * (i % 10) + 3 * j)) / 2'
matrix kmeans_a.mtx 700 64 "return $centre + 0.02 * normal()"
matrix kmeans_b.mtx 64 10 "n = i; i = j; j = n; return $centre"
# Activations of which a few channels are hundreds of times as large, and weights.
matrix outliers_a.mtx 96 256 'return normal() * (j % 50 == 7 ? 800 : j % 4 ? 0.5 : 0.004)'
matrix outliers_b.mtx 256 64 'return 0.03 * normal()'
# Values from 1e-6 to 1e3.
matrix range_a.mtx 80 160 'return 10 ^ (9 * uniform() - 6) * (uniform() < 0.5 ? -1 : 1)'
matrix range_b.mtx 160 90 'return 10 ^ (9 * uniform() - 6) * (uniform() < 0.5 ? -1 : 1)'
# The same with rows and columns that f16 cannot hold.
matrix beyond_a.mtx 60 80 'return normal() * 10 ^ (i % 7 * 3 - 9)'
matrix beyond_b.mtx 80 50 'return normal() * 10 ^ (j % 5 * 3 - 4)'

# --- advise -----------------------------------------------------------------------------

# What `gemm` says where it was advised: target, GEMM, and the three errors that were said.
gemms() {
    "$python" -c '
import json, sys
row = json.loads(sys.stdin.readline())
for t in row["targets"]:
    words = ["--recipe", t["recipe"], "--unit", t["unit"]]
    if t["scale"]: words += ["--scale", str(t["scale"])]
    if t["equilibrate"]: words += ["--equilibrate"]
    print(t["target"], int(t["reaches"]), t["error"], t["high"], t["bound"], *words)' < out
}

# follows DATA WORD...: at every target the recommended GEMM, run whole, errs no more than what
# is wanted and what is said.
follows() {
    data=$1
    metric=$2
    want=$3
    shift 3
    run 0 advise -a "${data}_a.mtx" -b "${data}_b.mtx" --metric "$metric" --want "$want" \
        --json "$@"
    expect metric "$metric"
    gemms > targets
    [ "$(wc -l < targets)" -ge 3 ] || echo "$data: only $(wc -l < targets) targets"
    while read -r target reaches error high bound words; do
        # shellcheck disable=SC2086 # words
        run 0 gemm -a "${data}_a.mtx" -b "${data}_b.mtx" $words --json
        value "$metric" | awk -v want="$want" -v error="$error" -v high="$high" \
            -v bound="$bound" -v what="$data on $target: $words" '
            { got = $1 + 0 }
            !(got <= want) { print what, "gives", got, "not", want }
            !(got <= 1.1 * high && got >= 0.5 * error) { print what, got, "said", error, high }
            bound != "None" && !(got <= bound) { print what, got, "above", bound }'
        [ "$reaches" = 1 ] || echo "$data on $target: not reached"
    done < targets
}

chips="--unit v100 --unit a100 --unit h100 --unit mi210 --unit mi300"
# shellcheck disable=SC2046,SC2086 # words
kmeans() { follows kmeans relres 1e-6 $([ -n "${BITCUT_LONG:-}" ] || echo "$chips"); }
outliers() { follows outliers relres 1e-6 $chips; follows outliers backward_max 40 $chips; }
range() { follows range relres 1e-6 $chips; follows range relres 1e-3 $chips; }

# Nothing but equilibration helps.
beyond() {
    follows beyond relres 1e-6 $chips
    grep -o '"target":"[av]100"[^}]*"equilibrate":[a-z]*' out | grep -v '"equilibrate":true'
}

# Units that flush: of values this small an unscaled split loses what other chips keep.
flushed() {
    matrix small_a.mtx 40 64 'return normal() / 256'
    matrix small_b.mtx 64 40 'return normal() / 256'
    run 0 advise -a small_a.mtx -b small_b.mtx --unit mi210 --unit a100 --json
    "$python" -c '
import json, sys
row = json.loads(sys.stdin.readline())
kept = {k["flush"]: k for k in row["retained"] if k["exponent"] is None and k["operand"] == "A"
        and k["split"] == "markidis" and k["scale_from"] == 0}
if not (kept[False]["bits"] > 16 and kept[True]["bits"] < 13.5
        and kept[True]["p_flushed"] > 0.9): print(kept)
values = row["values_a"]
if sum(e["count"] for e in values["exponents"]) + values["zeros"] != 2560: print(values)
splits = {k["split"] for k in row["retained"]}
scales = {k["scale_to"] for k in row["retained"]}
if len(splits) < 15 or max(scales) != 14: print(splits, scales)' < out
}

# int8 elements run on a unit of s8 alone: a unit of u8 would limit them to its range.
clipped() {
    for unit in s8 u8 u8.s8 s8.u8; do
        bitcut advise -a small_a.mtx -b small_b.mtx --unit turing/mma.m8n8k16.s32.$unit \
            --quantize-a int8-rows --quantize-b int8-rows --want 10 --json > out
        grep -q '"advice":null' out && echo no || echo yes
    done | tr '\n' ' ' > which
    test "$(cat which)" = "yes no no no " || cat which
}

# The same for any number of threads and only with the same seed; A stands for B if need be.
same_said() {
    for threads in 1 2; do
        run 0 advise -a range_a.mtx --unit v100 --threads $threads --json
        mv out said$threads
    done
    cmp said1 said2
    grep -q '"transposed":true' said1 || cat said1
}

# Of each chip what is cheapest there; of chips whose rates are known the fastest is told,
# not that whose products of f16 words are slow beside those of FP32.
compared() {
    set -- -a outliers_a.mtx -b outliers_b.mtx --unit rtx5090 --unit h100
    run 0 advise "$@" --json
    grep -q '"advice":{"gemm":"[^"]*","target":"h100"' out || cat out
}

# A number of products that does not do is not advised: exit status 1 if nothing does.
none_said() {
    run 1 advise -a range_a.mtx -b range_b.mtx --unit a100 --unit mi210 --want 1e-12 --json
    grep -q '"advice":null' out || cat out
}

# --- split -a ---------------------------------------------------------------------------

# By exponent: what is counted of given values, zeros and what is not finite apart.
split_of_file() {
    printf '%%%%MatrixMarket matrix array real general\n3 3\n1\n-1.5\n0\n-0\n1e-7\n70000\n3\n1.0009765625\n-2\n' > x.mtx
    run 0 split -a x.mtx --split half --json
    [ "$(wc -l < out)" -eq 5 ] || cat out
    [ "$(value exponent | tr '\n' ' ')" = "16 1 0 -24 null " ] || value exponent
    [ "$(value count | tr '\n' ' ')" = "1 2 3 1 7 " ] || value count
    [ "$(value p_overflow | tr '\n' ' ')" = "1.0 0.0 0.0 0.0 0.14285714285714285 " ] ||
        value p_overflow
    tail -n 1 out | grep -q '"values":9,"zeros":2,"infinite":0,"nan":0' || tail -n 1 out
    run 0 split -a x.mtx --split half --unit mi210 --json
    [ "$(value p_flushed | tr '\n' ' ')" = "0.0 0.0 0.0 1.0 0.14285714285714285 " ] ||
        value p_flushed
    run 0 split -a x.mtx --from 0 --to 3 --json
    [ "$(value exponent | tr '\n' ' ')" = "1 0 null " ] || value exponent
}

ok_if_empty "split -a counts the values of a file" "$(split_of_file)"

# Of a quantizer: with one scale, 448/448 = 1, e4m3 holds 448, 1 and 2^-9, the least subnormal
# number; 1.0625 and -3.3 lose bits, 2^-12 becomes zero.  As B, the scales belong to columns.
split_of_quantizer() {
    printf '%%%%MatrixMarket matrix array real general\n3 2\n448\n1\n-3.3\n1.953125e-3\n1.0625\n2.44140625e-4\n' > q.mtx
    run 0 split -a q.mtx --quantize fp8-tensor --json
    expect quantizer fp8-tensor
    [ "$(for key in elements zeros saturated subnormal scale_min scale_max matrix_scale; do
        value $key
    done | tr '\n' ' ')" = "6 1 0 1 1.0 1.0 1.0 " ] || cat out
    # -3.3 becomes -3.25, 13421773 - 13631488 ulps of 2^-22: 23 - 17; 1.0625 becomes 1, 2^19 ulps
    expect retained 13.666666666666666
    expect max_error 1.0
    run 0 split -a q.mtx --quantize fp8-rows --json
    expect elements 6
    expect scale_max 1.0
    rows=$(value subnormal)
    run 0 split -a q.mtx --quantize fp8-rows --as-b --json
    [ "$rows $(value subnormal)" = "1 0" ] || cat out
    run 0 split -a q.mtx --quantize mxfp8
    grep -q '^retained  *[0-9.]' out || cat out
    for bad in '--quantize fp8-rows' '-a q.mtx --as-b' '-a q.mtx --quantize fp9' \
               '-a q.mtx --quantize mxfp8 --split half' '-a q.mtx --quantize mxfp8 --plot x.svg' \
               '-a q.mtx --quantize mxfp8 --unit h100' '-a q.mtx --quantize mxfp8 --samples 5'; do
        # shellcheck disable=SC2086 # words
        run 2 split $bad
    done
    printf '%%%%MatrixMarket matrix array real general\n1 1\ninf\n' > inf.mtx
    run 2 split -a inf.mtx --quantize mxfp8
}

ok_if_empty "split --quantize says what a quantizer keeps" "$(split_of_quantizer)"
if [ -n "$python" ]; then
    ok_if_empty "advice for K-means holds" "$(kmeans)"
    exhaustive "advice for activations with outliers holds" outliers
    if_whole "advice for values from 1e-6 to 1e3 holds" range
    ok_if_empty "advice for values beyond f16 is to equilibrate" "$(beyond)"
    ok_if_empty "advice compares chips by their rates" "$(compared)"
    ok_if_empty "advise tells what is flushed" "$(flushed)"
else
    skip "advice holds" python
fi
ok_if_empty "int8 elements need a unit of s8" "$(clipped)"
ok_if_empty "advise says the same for any threads, and of A alone" "$(same_said)"
ok_if_empty "advise says that nothing will do" "$(none_said)"
echo "1..$n"
