#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A report on a GEMM with a bias, factors, a start, steps or a sparse A: random ones are what they are said
# to be, faults are rejected or named, and the page says what its commands say.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
# shellcheck source=tests/report_page.sh
. "${srcdir:-.}/tests/report_page.sh"
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99

# numbers SEED ROWS COLS: a matrix of numbers from 0.5 to 2 of either sign, as .mtx.
numbers() {
    awk -v seed="$1" -v rows="$2" -v cols="$3" 'BEGIN {
        srand(seed)
        print "%%MatrixMarket matrix array real general\n" rows, cols
        while (count++ < rows * cols)
            printf "%.9g\n", (rand() < 0.5 ? -1 : 1) * (0.5 + int(rand() * 1536) / 1024) }'
}

# operands: A and B with values of f16, C, and what a GEMM of 20 x 14 x 64 can have.
operands() {
    numbers "$1" 20 64 > A.mtx
    numbers $(($1 + 1)) 64 14 > B.mtx
    numbers $(($1 + 2)) 20 14 > C.mtx
    numbers $(($1 + 3)) 1 14 > bias.mtx
    numbers $(($1 + 4)) 1 20 > biases.mtx
    numbers $(($1 + 5)) 20 1 > rows.mtx
    numbers $(($1 + 6)) 1 14 > cols.mtx
    numbers $(($1 + 7)) 20 1 | awk 'NR < 3 { print; next } { print $1 * $1 }' > squares.mtx
}

# the_line COMMAND: the command line of the page that gives the numbers of a section.
the_line() { sed -n "s/^Numbers: \`bitcut \($1 .*\)\`; full data.*/\1/p" one/report.md | head -n 1; }

# agrees: what the commands on the page say is what the page says: the limits and the bounds make
# the verdict, and the bits are those of the model if the page says so.
agrees() {
    verdict=$(sed -n 's/^verdict  //p' out)
    line=$(the_line verify)
    [ -n "$line" ] || echo "there is no line of verify"
    for command in tolerance bound verify; do
        # shellcheck disable=SC2046 # words
        bitcut $(the_line "$command") > answer 2> err
        echo $? > "status-$command"
        [ "$(cat "status-$command")" -le 1 ] || { the_line "$command"; cat err; }
    done
    right=$(grep -c 'bit for bit? | D equals this' one/report.md)
    [ "$right$(cat status-verify)" = 10 ] || [ "$right$(cat status-verify)" = 01 ] ||
        echo "verify: $(cat status-verify)"
    case $(cat status-tolerance)$(cat status-bound) in
    00) [ "$verdict" = ACCEPTED ] || echo "$verdict, not ACCEPTED" ;;
    *) [ "$verdict" = REJECTED ] || echo "$verdict, not REJECTED" ;;
    esac
    grep 'could not be made' one/report.md
}

# told STATUS GEMM-WORDS -- REPORT-WORDS: D of that GEMM, and a report that knows these; what
# `agrees` names is asked, too.
agrees=agrees
told() {
    expected=$1
    shift
    computed=
    while [ "$1" != -- ]; do computed="$computed $1"; shift; done
    shift
    # shellcheck disable=SC2086 # words
    run 0 gemm -a A.mtx -b B.mtx $computed -o d.npy
    rm -rf one
    run "$expected" report -a A.mtx -b B.mtx -d d.npy --seconds 20 -o one "$@"
    { banner "$([ "$expected" = 0 ] && echo ACCEPTED || echo REJECTED)" ""; $agrees; } > wrong
    [ ! -s wrong ] || { echo "$computed -- $*:"; cat wrong; }
}

# Random combinations: what was computed is accepted, bit for bit if explain finds it.
combinations() {
    seed=${BITCUT_SEED:-$(date +%s)}
    echo "seed $seed" > seed
    awk -v seed="$seed" -v count="$1" 'function one(list,  n, w) {
            n = split(list, w, "|")
            return w[int(rand() * n) + 1] }
        BEGIN {
        srand(seed)
        while (count-- > 0) {
            c = one("|-c C.mtx --beta 0.5|-c C.mtx")
            bias = one("|--bias bias.mtx|--bias biases.mtx --bias-rows")
            factors = one("|--scale-a rows.mtx|--scale-a rows.mtx --scale-b cols.mtx|--scale-a 3 --scale-b 0.7")
            steps = one("|--epilogue fused|--epilogue fused+relu|--epilogue fused+clamp --clamp -2,3")
            start = bias && !c && !factors && rand() < 0.5 ? " --epilogue alpha --start bias" : ""
            if (start) steps = start
            print one("plain@h100|plain@a100|ootomo@h100|fp32@fma/f32|legemm@mi300"),
                one("|--format-d f16|--format-d bf16"), c, bias, factors, one("|--alpha 1.5"), steps
        } }' | while read -r kernel words; do
            operands "$seed"
            # shellcheck disable=SC2086 # words
            told 0 --recipe "${kernel%@*}" --unit "${kernel#*@}" $words -- $words
            grep -q 'bit for bit? | D equals this' one/report.md || echo "$kernel $words: other bits"
        done > wrongs
    [ ! -s wrongs ] || cat seed wrongs
}

# What a GEMM with a bias and factors gets wrong is rejected, or named.
told_faults() {
    is_whole || agrees= # combinations() and sparse() have it
    operands 5
    kernel="--recipe plain --unit h100"
    # shellcheck disable=SC2086 # words
    {
        told 1 $kernel --bias bias.mtx --epilogue round+bias --format-d f16 -- --bias bias.mtx --epilogue fused
        told 0 $kernel --bias bias.mtx --epilogue round+bias --format-d f16 -- --bias bias.mtx
        says "What computed D?" ".* but the product is rounded to f16 before the bias is added"
        told 1 $kernel --scale-a squares.mtx -- --scale-a rows.mtx
        says "What computed D?" ".*a factor that was given is not applied, or not once"
        told 1 $kernel --bias bias.mtx --epilogue bias+relu -- --bias bias.mtx --epilogue bias
        says "What computed D?" ".*outputs that would be negative are zero (ReLU)"
        told 1 $kernel --bias bias.mtx -- --bias cols.mtx
        ! is_whole || {
            told 1 $kernel -- --bias bias.mtx
            told 1 $kernel --scale-a rows.mtx -- --scale-a rows.mtx --scale-b cols.mtx
            told 1 $kernel --bias bias.mtx --epilogue bias -- --bias bias.mtx --epilogue bias+clamp --clamp -2,3
        }
        told 0 $kernel --bias bias.mtx --epilogue bias+clamp --clamp -2,3 -- --bias bias.mtx \
            --epilogue bias+clamp --clamp -2,3 $kernel
        grep -q 'bit for bit? | D equals this' one/report.md || echo "other limits of clamp"
        told 0 $kernel --bias bias.mtx -- --bias bias.mtx $kernel
    }
    grep -q 'def assert_gemm(A, B, bias, D):' one/report.md || echo "Python has no bias"
    grep -q 'none: the function of C has A, B, C, alpha and beta alone' one/report.md || echo "C"
    sha256sum bias.mtx | while read -r digest name; do
        grep -q "{\"file\":\"$name\",\"sha256\":\"$digest\"}" one/worst.json || echo "no $digest"
    done
    name='b<i>&$'"'"'.mtx'
    cp bias.mtx "$name"
    run 0 report -a A.mtx -b B.mtx -d d.npy --bias "$name" $kernel -o one
    grep '<i>' one/index.html
    grep -qF 'b&lt;i&gt;&amp;$' one/index.html || echo "the name is not on the page"
    run 0 gemm -a A.mtx -b B.mtx --quantize-a fp8-rows --quantize-b fp8-rows $kernel -o d.npy
    run 0 report -a A.mtx -b B.mtx -d d.npy --quantize-a fp8-rows --quantize-b fp8-rows $kernel -o one
    agrees
}

# zeros: A with values at positions 1 and 3 of each four alone.
zeros() { awk 'NR > 2 && int((NR - 3) / 20) % 2 == 0 { $1 = 0 } { print }' A.mtx; }

# A sparse A: the verdict is that of the limits and bounds.
sparse() {
    operands 9
    zeros > sparse.mtx
    cp sparse.mtx A.mtx
    kernel="--recipe plain --unit h100"
    # shellcheck disable=SC2086 # words
    {
        told 0 --sparse-a --bias bias.mtx $kernel --format-d f16 -- --sparse-a --bias bias.mtx $kernel
        told 1 --sparse-a --bias bias.mtx $kernel -- --sparse-a --bias cols.mtx $kernel
    }
    bitcut $(the_line advise) > answer 2> err
    [ $? -le 1 ] && grep -q '^check .* --sparse-a' answer || { the_line advise; cat err answer; }
    grep -q '^| What computed D? | [DN]' one/report.md || echo "explain"
    grep -q '| matrices | .*2:4 sparse A 20 x 64' one/report.md || echo "matrices"
    [ "$(grep -c '^[0-9]*,[0-9]*,.*,0x' one/worst.csv)" = 8 ] || { echo "budget"; cat one/worst.csv; }
    grep -q '^k lost,no,[1-9]' one/tolerance.csv || echo "power"
    grep -q 'bitcut gemm --recipe plain --unit h100 .* --sparse-a --worst 8 --budget`' one/report.md || echo "gemm"
}

# fp32_line: the command for the FP32 loop of the page gives its errors: the largest distance is in
# the last interval of the page.
fp32_line() {
    line=$(sed -n 's/^| numbers of fp32 | bitcut \(.*\) |$/\1/p' one/report.md | sed 's/\\//g')
    # shellcheck disable=SC2086 # words
    bitcut $line --json > answer 2> err || { echo "$line"; cat err; }
    largest=$(sed 's/.*"ulp_max": *\([-+.e0-9]*\).*/\1/' answer)
    awk -F, -v largest="$largest" '$1 == "fp32" { last = $2 }
        END { if (last == "" || largest > last || (last > 1 && largest <= last / 2))
            print "the page has " last ", its command " largest }' one/emulated.csv
}

# Factors of blocks of k, applied by the unit, at promotions and to elements; limits without steps.
blocks() {
    operands 11
    unit=blackwell/tcgen05.m128n8k32.mxf8f6f4.f32.e4m3
    kernel="--recipe plain --unit $unit --scaling unit --quantize-a mxfp8 --quantize-b mxfp8"
    # shellcheck disable=SC2086 # words
    for words in "--quantize-a mxfp8 --quantize-b mxfp8" "$kernel"; do
        told 0 $kernel -- $words
        fp32_line
        grep -q -- '--unit fma/f32 --scaling operand' one/report.md || echo "no scaling"
    done
    # shellcheck disable=SC2086 # words
    told 0 --recipe plain --unit h100 --scale-a 0.3 --clamp -2,3 --epilogue fused+clamp -- --scale-a 0.3 --clamp -2,3
    fp32_line
}

# Without D; and what cannot be.
told_alone() {
    operands 7
    rm -rf one
    run 0 report -a A.mtx -b B.mtx --bias bias.mtx --scale-a 3 --epilogue fused+relu -o one
    banner MEASURED "relative error"
    grep -q -- "--bias bias.mtx --scale-a 3" one/worst-emulated.json || echo "the command has no bias"
    numbers 1 3 4 > other.mtx
    bitcut gemm -a A.mtx -b B.mtx --recipe plain --unit h100 -o d.npy > out
    while IFS='|' read -r message words; do
        rm -rf none
        # shellcheck disable=SC2086 # words
        run 2 report -o none $words
        grep -q -- "$message" err || { echo "$words:"; cat err; }
        [ ! -e none ] || echo "$words: there is a folder"
    done << 'END'
--bias: 3 x 4; a bias has 14 elements, one for each column of D|-a A.mtx -b B.mtx --bias other.mtx
--bias-rows requires --bias|-a A.mtx -b B.mtx --bias-rows
--start c and slice-c require -c|-a A.mtx -b B.mtx --start c
--epilogue: unknown name "fusd"|-a A.mtx -b B.mtx --epilogue fusd
--clamp must be as 0,6|-a A.mtx -b B.mtx --clamp 3
--bias requires a report on one product|--bias bias.mtx
--sparse-a requires a report on one product|--sparse-a
--sparse-a requires -d, --recipe and --unit|-a A.mtx -b B.mtx -d d.npy --sparse-a
--positions-a requires -d, --recipe and --unit|-a A.mtx -b B.mtx --recipe plain --unit h100 --positions-a C.mtx
--sparse-a cannot be combined with --quantize-a|-a A.mtx -b B.mtx -d d.npy --recipe plain --unit h100 --sparse-a --quantize-a fp8-rows
--sparse-a: A is not 2:4 sparse|-a A.mtx -b B.mtx -d d.npy --recipe plain --unit h100 --sparse-a
--start requires a report on one product|--audit A.mtx --start c
END
    rm -rf one
    run 1 report -a A.mtx -b B.mtx --bias bias.mtx -d other.mtx -o one
    banner REJECTED "D is 3 x 4, but A B is 20 x 14"
}

ok_if_empty "random biases, factors, starts and steps" "$(combinations "$(is_whole && echo 24 || echo "${BITCUT_BRIEF:+3}" | sed 's/^$/4/')")"
ok_if_empty "faults of a bias, of factors and of steps" "$(told_faults)"
ok_if_empty "the FP32 loop has its scaling and steps" "$(blocks)"
ok_if_empty "a sparse A" "$(sparse)"
ok_if_empty "a bias, factors and steps without D, and wrong ones" "$(told_alone)"
echo "1..$n"
