#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The injector of faults (tests/identify/faulty.c), which measures `bitcut explain`:
# without a fault its result equals the emulator's, bit for bit; with a fault D differs.
# And the explanations of some faults.
# Run in the build folder with srcdir set, as `make check` does.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
faulty=$PWD/tests/identify/faulty
source=$(cd "${srcdir:-.}" && pwd)
matrices=$PWD/tests/libraries/matrices
[ -x "$faulty" ] || skip_all check
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99

# Recipes and units that the injector has.
pairs='
plain       volta/mma.m8n8k4.f32.f16
plain       ampere/mma.m16n8k8.f32.f16
plain       ampere/mma.m16n8k16.f32.bf16
plain       hopper/mma.m16n8k16.f32.bf16
plain       hopper/mma.m16n8k8.f32.tf32
plain       fma/f32
fp32        fma/f32
markidis    volta/mma.m8n8k4.f32.f16
markidis    hopper/mma.m16n8k8.f32.f16
ootomo      ampere/mma.m16n8k16.f32.f16
ootomo      hopper/mma.m16n8k16.f32.f16
legemm      volta/mma.m8n8k4.f32.f16
legemm      ampere/mma.m16n8k16.f32.f16
legemm      hopper/mma.m16n8k16.f32.f16
tf32x3      ampere/mma.m16n8k8.f32.tf32
tf32x3      hopper/mma.m16n8k8.f32.tf32
ootomo-tf32 hopper/mma.m16n8k8.f32.tf32
'

# said KEY: what truth.json says.
said() { sed -n "s/.*\"$1\":\"\{0,1\}\([^,\"}]*\).*/\1/p" truth.json; }

# epilogue: the words for C, if there is one.
epilogue() {
    [ "$(said beta)" = 0 ] || echo "-c C.npy --alpha $(said alpha) --beta $(said beta)"
}

# verified RECIPE UNIT ARGUMENT...: what is wrong if the emulator has another D.
verified() {
    recipe=$1
    unit=$2
    shift
    rm -f ./*.npy
    "$faulty" . "$recipe" "$@" || { echo "faulty $recipe $*: status $?"; return; }
    # shellcheck disable=SC2046 # words
    run 0 verify --recipe "${recipe%%:*}" --unit "$unit" -a A.npy -b B.npy -d D.npy \
        --promote "$(said promote)" --split-k "$(said slices)" $(epilogue)
    [ "$(said changed)" = 0 ] || echo "faulty $recipe $*: $(said changed) changed"
}

right_on_all() {
    echo "$pairs" | part 2 | while read -r recipe unit; do
        [ -n "$unit" ] || continue
        verified "$recipe" "$unit" 33 20 70 1 none
        verified "$recipe" "$unit" 16 24 100 2 none
    done
}

right_on_any_inputs() {
    echo "$pairs" | part 2 | while read -r recipe unit; do
        case $unit in *f16) ;; *) continue ;; esac
        for kind in none-tiny none-huge; do
            verified "$recipe" "$unit" 17 9 60 3 $kind
            verified "$recipe" "$unit" 32 16 32 4 $kind
        done
    done
}

right_in_any_order() {
    echo "$pairs" | part 3 | while read -r recipe unit; do
        [ -n "$unit" ] || continue
        for kind in none-slices none-promotion; do
            verified "$recipe" "$unit" 18 17 150 5 $kind
        done
        verified "$recipe:slices=3:promote=2" "$unit" 18 17 150 6 none
    done
}

# Faults that are variations which the emulator has, too: nothing may differ then.
variations() {
    part 2 << END | while IFS='|' read -r fault recipe unit words; do
high-rz|markidis|hopper/mma.m16n8k16.f32.f16|--high rz
high-rz|ootomo|ampere/mma.m16n8k16.f32.f16|--high rz
high-rn|legemm|hopper/mma.m16n8k16.f32.f16|--high rn
high-rna|ootomo|volta/mma.m8n8k4.f32.f16|--high rna
high-saturates|legemm|hopper/mma.m16n8k16.f32.f16|--high rn-sat
low-rz|ootomo|ampere/mma.m16n8k16.f32.f16|--low rz
low-rn|legemm|volta/mma.m8n8k4.f32.f16|--low rn
low-rna|markidis|hopper/mma.m16n8k16.f32.f16|--low rna
low-flushed|markidis|volta/mma.m8n8k4.f32.f16|--low rn-ftz
other-scale|ootomo|ampere/mma.m16n8k16.f32.f16|--scale 10
drop-ll|markidis|ampere/mma.m16n8k16.f32.f16|--terms 3
drop-corrections|legemm|ampere/mma.m16n8k16.f32.f16|--recipe plain --high cut
promote-never|ootomo|hopper/mma.m16n8k16.f32.f16|--promote 0
promote-interval|ootomo|hopper/mma.m16n8k16.f32.f16|--promote 2
promote-more-often|legemm|volta/mma.m8n8k4.f32.f16|--promote 1
slice-descending|plain|ampere/mma.m16n8k16.f32.f16|--split-k 4 --order reduction=descending
slice-pairs|legemm|hopper/mma.m16n8k16.f32.f16|--split-k 4 --order reduction=tree
epilogue-not-fused|legemm|hopper/mma.m16n8k16.f32.f16|--epilogue alpha+c-apart
epilogue-other-fma|ootomo|ampere/mma.m16n8k16.f32.f16|--epilogue alpha-c
END
        rm -f ./*.npy
        "$faulty" . "$recipe" "$unit" 40 24 176 8 "$fault" || echo "$fault: status $?"
        [ "$(said changed)" != 0 ] || echo "$fault changes nothing"
        # shellcheck disable=SC2046,SC2086 # words
        run 0 verify --recipe "$recipe" --unit "$unit" -a A.npy -b B.npy -d D.npy \
            $(epilogue) $words
    done
}

# with_fault RECIPE UNIT: the faults that the recipe can have, and whether they are seen.
with_fault() {
    cut -d' ' -f1 faults | while read -r fault; do
        "$faulty" . "$1" "$2" 33 24 200 2 "$fault" 2> err
        case $? in
        0) echo "$fault $(said changed)" ;;
        77) ;;
        *) echo "$fault $(cat err)" ;;
        esac
    done
}

# unseen: faults that no recipe shows, and `none` that does something.
unseen() {
    "$faulty" list > faults
    {
        with_fault markidis hopper/mma.m16n8k16.f32.f16
        with_fault ootomo ampere/mma.m16n8k16.f32.f16
        with_fault legemm hopper/mma.m16n8k16.f32.f16
    } > seen
    awk 'NR == FNR { if ($2 != 0) seen[$1] = 1; next }
         (seen[$1] && $2 == "none") || (!seen[$1] && $2 != "none") { print }' seen faults
}

# A fifth of them is outside of what a table of faults can have, and there are enough.
kinds() {
    "$faulty" list | awk '{ if (count[$1]++) print $1, "twice" }
        $2 == "outside" { outside++ }
        END { if (NR < 60 || 5 * outside < NR - 5) print NR, "rows,", outside, "outside" }'
}

repeats() {
    mkdir again
    for folder in . again; do
        "$faulty" $folder legemm hopper/mma.m16n8k16.f32.f16 20 30 40 8 noisy || echo failed
    done
    for file in A.npy B.npy C.npy D.npy truth.json; do cmp $file again/$file 2>&1; done
}

refused() {
    while IFS='|' read -r wanted words; do
        # shellcheck disable=SC2086 # words
        "$faulty" $words > out 2> err
        status=$?
        [ $status -eq "$wanted" ] || echo "faulty $words: status $status"
        [ "$(wc -l < err)" -eq 1 ] || cat err
    done << END
2|
2|list all
2|. legemm hopper/mma.m16n8k16.f32.f16 1 1 1 1 nothing
2|. legemm hopper/mma.m16n8k8.f32.tf32 1 1 1 1 none
2|. gemm hopper/mma.m16n8k16.f32.f16 1 1 1 1 none
2|. plain hoper 1 1 1 1 none
2|. plain fma/f32 1 0 1 1 none
2|. plain fma/f32 1 1x 1 1 none
2|. plain:slices=0 fma/f32 1 1 1 1 none
3|missing plain fma/f32 1 1 1 1 none
77|. plain fma/f32 1 1 1 1 drop-lh
END
}

# explained STATUS WORD...: of the files here; the words of the epilogue are the injector's.
explained() {
    status=$1
    shift
    # shellcheck disable=SC2046 # words
    run "$status" explain -a A.npy -b B.npy -d D.npy $(epilogue) --seconds 600 --json "$@"
}

# Recipe and unit are found without a name, or are among those that give the same bits; units
# that compute alike have the name of the first.
named() {
    echo "$pairs" | part 3 | while read -r recipe unit; do
        [ "$recipe" ] && [ "$recipe $unit" != "plain fma/f32" ] || continue
        "$faulty" . "$recipe" "$unit" 24 20 50 3 none
        explained 0
        expect fault null
        expect differ 0
        grep -q "\"recipe\":\"$recipe\",\"unit\":\"[a-z]*/${unit#*/}\"" out ||
            echo "$recipe on $unit is said to be $(value recipe) on $(value unit)"
    done
}

# Scalar chains whose sums are short, one that stops growing, and orders of lanes.
scalars() {
    for unit in $(printf '%s\n' fma/bf16 mul-add/bf16 fma/f16 mul-add/f16 fma/f32.f16 | part 2); do
        run 0 gemm --recipe plain --unit $unit -m 3 -n 40 -k 256 --save-a A.npy --save-b B.npy \
            --reference none -o D.npy
        run 0 explain -a A.npy -b B.npy -d D.npy
        grep -q "^verdict  *D is plain on $unit[,:]" out || sed "s#^#$unit: #;q" out
    done
    run 0 gemm --recipe plain --unit fma/bf16 --input-a const --input-b const -m 4 -n 4 -k 1000 --save-a A.npy \
        --save-b B.npy --reference none -o D.npy
    run 0 explain -a A.npy -b B.npy -d D.npy
    grep -q "^verdict  *D is plain on fma/bf16[,:]" out || sed "s/^/ones: /;q" out
    for order in lanes=32,reduction=halves lanes=3,chunk=8,lane-order=0.2.1; do
        run 0 gemm --recipe fp32 --unit fma/f32 -m 8 -n 8 -k 320 --order $order \
            --save-a A.npy --save-b B.npy --reference none -o D.npy
        run 0 explain --recipe fp32 --unit fma/f32 -a A.npy -b B.npy -d D.npy
        grep -q "^verdict .* sums in turn, .* which are added by halves:" out ||
            sed "s/^/$order: /;q" out
    done
}

# The injector's fault, explain's, a part of its sentence, and the recipe if it is no ootomo.
# Of every fourth recipe and unit are found, too; of the others they are named, as of all in
# slow builds.  Every sixteenth row; with BITCUT_WHOLE every eighth, with BITCUT_LONG all.
faults_named() {
    awk -v all="${BITCUT_LONG:-}" 'all || NR % 8 == 1 { print int(NR / 8) % 4 "|" $0 }' << 'END' | part 2 | while IFS='|' read -r row injected fault sentence recipe; do
drop-lh|term missing|the product low(A) high(B) is missing
lh-for-hl|wrong parts|the product high(A) low(B) is computed as low(A) high(B)
fold-scale|epilogue scale wrong|scaled by 2^-10, but the parts by 2^11
low-flushed|subnormal parts flushed|subnormal low parts are flushed to zero
k-step-lost|k lost|the products of k from 32 to 47 are lost
k-step-twice|k twice|the products of k from 32 to 47 are added twice
slice-lost|k lost|k is cut into slices of 16
hl-twice|term twice|the product high(A) low(B) is added twice
race-lost-slice|k lost|in rows 16 to 31, columns 16 to 31 and elsewhere (640 differ)
one-accumulator|one accumulator|all products are added in one accumulator
low-low-in-main|wrong accumulator|the product low(A) low(B) is added in accumulator 0
fold-missing|epilogue scale missing|not multiplied by the inverse scale before
low-not-scaled|low parts not scaled|the low parts of A and B are not multiplied by 2^11
high-flushed|subnormal high parts lost|after the residuals were taken
inputs-flushed|small inputs flushed|that are subnormal as high parts
residual-negated|residual negated|the low part has the wrong sign
residual-of-other|residual of another part|taken from high parts rounded by rz
low-nan-zeroed|low parts not finite zeroed|NaN or infinite
high-via-bf16|high parts through another format|to bf16 before the high parts are taken
low-via-bf16|low parts through another format|to bf16 before the low parts are taken
low-is-high|low parts are high parts|in place of the low part
low-of-b|parts of the other operand|the low parts of B are used in place of the parts of A
alpha-ignored|alpha ignored|alpha is taken as 1
alpha-twice|alpha twice|multiplied by alpha twice
beta-ignored|C ignored|beta C is not added
c-not-scaled|beta ignored|beta is taken as 1
c-twice|C twice|added twice
c-times-alpha|C times alpha|multiplied by alpha as well
c-subtracted|C subtracted|subtracted
c-for-product|C instead of the product|in place of the product|plain
c-transposed|C column-major|if it were column-major
alpha-beta-swapped|alpha and beta swapped|and C by alpha
epilogue-rz|epilogue truncated|toward zero
k-descending|k descending|from the last to the first, 16 at a time
k-even-odd|k with stride|16 at a time
stage-stale|k stale|in every 2 steps of 16 k, step 0 has
slice-overlap|slices overlap|slices of 16; each slice after the first begins 16 k early
slice-twice|k twice|the products of k from 48 to 63 are added twice
a-k-halves|wrong k|k xor 8
a-next-row|wrong rows or columns|row i + 1 is read in place of row i
b-half-fragment|wrong rows or columns|column i without the bit of 4
b-stale-lanes|stale rows or columns|columns of B with the bit of 1 have the k of 16 before
tile-stale|moved|in rows 16 to 31, columns 56 to 63
tile-earlier|not written|unrelated to the product
tile-doubled|result twice|in rows 16 to 31
warp-negated|result negated|and elsewhere (1024 differ)
start-warp|accumulator not cleared|starts from 2.75
accumulate-bf16|accumulator short|to bf16 (rn) after each instruction
promote-no-reset|promotion without clearing|is not cleared
promote-stores|promotion overwrites|stored in the register
promote-rz|promotion truncated|toward zero when they are promoted
promote-f16|promotion in short|promoted to f16
promote-via-bf16|promotion through short|rounded to bf16 before
promote-rest-lost|promotion forgets the remainder|is promoted every 3 instructions, and the accumulator is
relu|ReLU|outputs that would be negative are zero
out-f16-rz|store truncated|rounded to f16, but
all-nan|not written|they hold NaN|plain
all-zero|not written|they hold zeros|plain
END
        "$faulty" . ootomo ampere/mma.m16n8k16.f32.f16 64 64 64 1 "$injected"
        [ "$row" = 2 ] && explained 0 ||
            explained 0 --recipe "${recipe:-ootomo}" --unit ampere/mma.m16n8k16.f32.f16
        expect recipe "${recipe:-ootomo}"
        [ "$(sed -n 's/.*"total":[0-9]*.*"fault":"\([^"]*\)".*/\1/p; s/.*"fault":"\([^"]*\)".*"total":.*/\1/p' out | head -n 1)" = "$fault" ] ||
            echo "$injected is not called $fault"
        grep -qF "$sentence" out || { echo "$injected: no $sentence"; cat out; }
    done
}

# Every fault that is named is in the table of them, or is of parts that no GEMM computed; and
# the axes are those of the rows that explain prints.
faults_listed() {
    run 0 list faults --json
    value name | sort > listed
    for fault in 'term missing' 'corrections missing' 'low parts zero' 'not masked' 'k lost' \
        'column-major' 'accumulator rounding' 'accumulator bits' 'accumulator block' \
        'subnormal inputs flushed' 'store short' 'epilogue scale twice' 'residual short'; do
        grep -qx "$fault" listed || echo "no $fault"
    done
    [ "$(uniq -d listed)" = '' ] || uniq -d listed
    run 0 list axes --json
    [ "$(value name | tr '\n' ' ')" = \
        'recipe unit promote parts terms tile_k equilibrate order epilogue fault ' ] || cat out
}

# Variations that are no faults: what is changed in the recipe.
changes_named() {
    awk -v all="${BITCUT_LONG:-}" 'all || NR % 2' << 'END' | part 2 | while IFS='|' read -r sentence words; do
its sum is promoted every 4 instructions|--recipe ootomo --unit a100 --promote 4
its low parts are rounded by rn|--recipe legemm --unit h100 --low rn
its low parts are scaled by 2^6|--recipe legemm --unit h100 --scale 6
all products are added one by one, which are added as a tree|--recipe fp32 --unit fma/f32 --split-k 256 --order reduction=tree
its tiles have 64 k|--recipe triton-tf32x3 --unit h100 --tile-k 64
which are added as a tree|--recipe plain --unit h100 --split-k 4 --order reduction=tree
k goes to 4 sums in turn, 8 at a time|--recipe fp32 --unit fma/f32 --order lanes=4,chunk=8
k goes to 5 sums in turn, 8 at a time|--recipe fp32 --unit fma/f32 --order lanes=5,chunk=8
D is fp32 on mul-add/f32:|--recipe fp32 --unit mul-add/f32
its sum is promoted every 2 instructions, and k is cut into slices of 96, which are added in order:|--recipe ootomo --unit h100 --promote 2 --split-k 3
slices of 64, which are added in order in f16; A and B are rounded to f16|--recipe plain --unit hopper/mma.m16n8k16.f16.f16 --split-k 4 --order partial-format=f16
slices of 112; the last two each have half of their common length (the first a multiple of 8)|--recipe fp32 --unit fma/f32 --order slices=3,tile=112,balance-tail=8
slices of 52, in each of which|--recipe plain --unit h100 --split-k 5 --order cut=4,tile=32,partial-first
END
        # shellcheck disable=SC2086 # words
        run 0 gemm $words -m 40 -n 32 -k 256 --save-a A.npy --save-b B.npy -o D.npy \
            --reference none
        run 0 explain -a A.npy -b B.npy -d D.npy --json
        expect fault null
        grep -qF "$sentence" out || { echo "no $sentence"; cat out; }
    done
}

# Most results of few bits are the same in every order: outputs of the screen and of the
# sample are given by orders that others refute.
short_results() {
    awk -v all="${BITCUT_LONG:-}" 'all || NR == 2' << 'END' | while IFS='|' read -r m cols format words; do
128|96|bf16|--unit hopper/wgmma.m64n8k16.f32.bf16 --order slices=3,cut=64
8|512|f16|--unit hopper/wgmma.m64n8k16.f32.f16 --order lanes=4,chunk=16
END
        # shellcheck disable=SC2086 # words
        run 0 gemm --recipe plain $words -m "$m" -n "$cols" -k 512 --save-a A.npy \
            --save-b B.npy -o D.npy --reference none
        "$matrices" narrow "$format" D.npy
        run 0 explain -a A.npy -b B.npy -d D.npy --seconds 600 --json
        expect differ 0
        expect complete true
        grep -qF "rounded to $format, but k" out || cat out
    done
}

# What gives the outputs that another order does not, and the others, too, is all there is:
# one order is told, and nothing lies off.
order_of_all() {
    "$faulty" . legemm hopper/mma.m16n8k16.f32.f16 16 24 1000 1 slice-descending
    run 0 explain -a A.npy -b B.npy -d D.npy --recipe legemm --unit hopper/mma.m16n8k16.f32.f16 \
        --seconds 600 --json
    expect differ 0
    expect complete true
    expect reduction descending
    grep -qF '"parts":[]' out || cat out
    grep -qF '"ulps":[{"from":0,"to":0,"count":384}]' out || cat out
}

# narrowed STATUS RECIPE UNIT WORD...: with these words D is said to be that, or that is the
# nearest.
narrowed() {
    status=$1 recipe=$2 unit=$3
    shift 3
    run "$status" explain -a A.npy -b B.npy -d D.npy --json --seconds 600 "$@"
    expect recipe "$recipe"
    expect unit "$unit"
}

# A chip stands for its units; a D of zeros is named as such; both on one product.
chips_and_zeros() {
    run 0 gemm --recipe plain --unit hopper/wgmma.m64n8k16.f32.bf16 -m 24 -n 16 -k 200 \
        --save-a A.npy --save-b B.npy -o D.npy --reference none
    narrowed 0 plain hopper/mma.m16n8k16.f32.bf16 --unit h100
    run 1 explain -a A.npy -b B.npy -d D.npy --unit v100 --effort 0.02 --json
    grep -q '"unit":"[^"]*ampere' out && cat out
    run 2 explain -a A.npy -b B.npy -d D.npy --unit h101
    grep -q 'did you mean h100' err || cat err
    run 0 gemm --recipe plain --unit mi210 -m 8 -n 8 -k 16 --input-a 'const(1e-6)' \
        --input-b 'const(1e-6)' --save-a A.npy --save-b B.npy -o D.npy --reference none
    run 0 explain -a A.npy -b B.npy -d D.npy
    grep -q '^verdict  *D is all zeros, as if nothing was written to it; D is plain' out || cat out
}

# Threads change nothing: of hypotheses that come as near the first is taken.
threads_agree() {
    "$faulty" . ootomo ampere/mma.m16n8k16.f32.f16 64 64 64 1 slice-lost
    for threads in 1 7; do
        explained 0 --threads $threads
        sed 's/"seconds":[^,]*//' out > threads.$threads
        cmp threads.1 threads.$threads 2>&1
    done
}

# A factor of all of D: a short number, or a formula of a small integer, is confirmed by the
# bits of D, or else only named.
factors_confirmed() {
    while IFS='|' read -r ends alpha words sentence; do
        # shellcheck disable=SC2086 # words
        run 0 gemm $words -m 40 -n 30 -k 150 --alpha="$alpha" --save-a A.npy --save-b B.npy \
            -o D.npy --reference none
        run "$ends" explain -a A.npy -b B.npy -d D.npy
        grep -q "^verdict  *D is a multiple of the exact result: a factor was not given, $sentence" out ||
            { echo "alpha $alpha: no $sentence"; cat out; }
    done << 'END'
0|3|--recipe plain --unit h100|3 (give --alpha 3); then D is plain on hopper/mma.m16n8k16.f32.f16:
0|0.0883883476|--recipe ootomo --unit a100|0.0883883476 (1/sqrt(128)) (give --alpha 0.0883883476); then D is ootomo on
0|-1.7|--recipe fp32 --unit fma/f32|-1.7 (give --alpha -1.7); then D is fp32 on fma/f32:
0|0.333333343|--recipe plain --unit v100|0.333333333 (1/3) (give --alpha 0.333333333); then D is plain on volta/
1|0.123456|--recipe plain --unit h100|0.12346 (give --alpha 0.12346)$
END
}

# A recipe or a unit that is named is the only one that is tried, under its own name.
search_narrowed() {
    "$faulty" . legemm ampere/mma.m16n8k16.f32.f16 32 24 64 3 none
    narrowed 0 legemm ampere/mma.m16n8k16.f32.f16 --recipe legemm
    narrowed 0 legemm ada/mma.m16n8k16.f32.f16 --unit ada/mma.m16n8k16.f32.f16
    narrowed 1 plain turing/mma.m16n8k8.f32.f16 --recipe plain --seconds 1 \
        --unit turing/mma.m16n8k8.f32.f16
    run 0 gemm --recipe plain --unit a100 -m 40 -n 48 -k 96 --save-a A.npy --save-b B.npy \
        -o D.npy --reference none
    doubted 'D is found with --unit ampere/mma.m16n8k16.f32.f16' --recipe plain --unit h100
    doubted 'D is found with --recipe plain' --recipe ootomo --unit a100
    run 0 gemm --recipe plain --unit a100 -m 1 -n 16 -k 48 --save-a A.npy --save-b B.npy \
        -o bias.npy --reference none
    run 0 gemm --recipe plain --unit a100 -m 24 -n 16 -k 48 --save-a A.npy --save-b B.npy \
        -o D.npy --reference none --bias bias.npy --epilogue layer --format-d f16
    doubted 'D is found with --epilogue layer' --epilogue fused --bias bias.npy \
        --recipe plain --unit a100 --format-d f16
    head -c $((128 + 4 * 24 * 16)) A.npy | tail -c $((4 * 24 * 16)) > other
    { head -c 128 D.npy; head -c $((2 * 24 * 16)) other; } > wrong.npy
    run 1 explain -a A.npy -b B.npy -d wrong.npy --recipe plain --unit a100 --effort 0.05
    grep -q '; --unit and --recipe were taken as given$' out || cat out
}

# doubted SENTENCE OPTION...: the next step, if a hint is wrong.
doubted() {
    sentence=$1
    shift
    run 1 explain -a A.npy -b B.npy -d D.npy --effort 0.1 "$@"
    grep -q "^next step  *$sentence\$" out || cat out
}

# result FILE WORD...: of one A and B.
result() {
    file=$1
    shift
    run 0 gemm "$@" -m 40 -n 32 -k 256 --save-a A.npy --save-b B.npy -o "$file" \
        --reference none
}

# Elements of 4 bytes in which two files of 1280 of them differ; a header has 128 bytes.
elements_differ() { cmp -l D.npy D2.npy | awk '{ print int(($1 - 129) / 4) }' | uniq | wc -l; }

# compared STATUS SENTENCE SECONDS: the last row, of D.npy and D2.npy.
compared() {
    run "$1" explain -a A.npy -b B.npy -d D.npy -d D2.npy --json --seconds "$3"
    [ "$(grep -c '^{.*"d":"D2*.npy"' out)" = 2 ] || cat out
    tail -n 1 out > pair
    grep -Eq "\"difference\":\"[^\"]*$2" pair || cat pair
    grep -q "\"pair\":\\[\"D.npy\",\"D2.npy\"\],\"differ\":$(elements_differ),\"total\":1280" \
        pair || cat pair
}

# Two results of one product: where they differ, why, and which is nearer to the exact one.
two_compared() {
    result D.npy --recipe plain --unit h100
    part 3 << 'END' > pairs
: in D k is one sum, ascending, in D2 k is cut into slices of 64, which are added as a tree;|--recipe plain --unit h100 --split-k 4 --order reduction=tree
: D is on hopper/mma.m16n8k16.f32.f16, D2 on ampere/mma.m16n8k16.f32.f16 .*fraction 25 and 24|--recipe plain --unit a100
: D is plain, D2 is legemm; D2 is nearer to the exact result in 12[78][0-9] of 1280|--recipe legemm --unit h100
equal bit for bit in all 1280 outputs"|--recipe plain --unit h100
END
    while IFS='|' read -r sentence words; do
        # shellcheck disable=SC2086 # words
        result D2.npy $words
        compared 0 "$sentence" 600
    done < pairs
    sed -n 2p out | grep -q '"tried":1,' || echo "the second is not first what the first is"
    other > D2.npy
    compared 1 'D2 is not explained, so the cause is unknown; D is nearer' 2
    run 2 explain -a A.npy -b B.npy -d D.npy -d D.npy -d D.npy
}

# D.npy with elements of A in place of its own.
other() { head -c 128 D.npy; tail -c 5120 A.npy; }

# mixed: D.npy with six of twelve rows of D2.npy; a row, and the header, has 128 bytes.
mixed() {
    for i in $(seq 0 40); do
        from=D.npy
        [ $((i % 12)) -le 6 ] || from=D2.npy
        dd if=$from bs=128 skip="$i" count=1 2> /dev/null
    done
}

# A kernel may take some rows in another order, between others; what agrees by chance is
# either.
rows_mixed() {
    result D.npy --recipe fp32 --unit fma/f32 --split-k 2
    result D2.npy --recipe fp32 --unit fma/f32 --order slices=2,tile=128,lanes=2,chunk=1
    mixed > both.npy
    mv both.npy D.npy
    run 0 explain -a A.npy -b B.npy -d D.npy --recipe fp32 --seconds 600 --json
    expect order slices=2
    grep -q 'slices of 128, which are added in order, but in rows 6 to 10 of every 12 ([0-9]* differ): k is cut into slices of 128, k goes to 2 sums in turn, 1 at a time' out ||
        cat out
    expect fault 'another order'
    result D2.npy --recipe fp32 --unit fma/f32 --seed 2
    result D.npy --recipe fp32 --unit fma/f32
    mixed > both.npy
    mv both.npy D.npy
    run 1 explain -a A.npy -b B.npy -d D.npy --seconds 1 --json
}

# Noise, and a D of something else: no hypothesis, and no word of one that matches.
nothing_named() {
    "$faulty" . plain ampere/mma.m16n8k16.f32.f16 32 32 64 1 noisy
    run 1 explain -a A.npy -b B.npy -d D.npy --seconds 2 --json
    expect found false
    "$faulty" . plain ampere/mma.m16n8k16.f32.f16 32 32 64 1 one-flip
    run 1 explain -a A.npy -b B.npy -d D.npy --seconds 2 --json
    expect found false
    expect differ 1
    expect recipe plain
    { head -c 128 D.npy; for _ in $(seq 1024); do printf '\0\0\140\100'; done; } > one.npy
    run 0 explain -a A.npy -b B.npy -d one.npy --effort 0.01
    grep -q '^verdict  *D is not the product of A and B: its outputs all hold one number$' out ||
        cat out
}

# How far D is from the nearest hypothesis, where, and whether that repeats.
distances_told() {
    set -- plain ampere/mma.m16n8k16.f32.f16 32 48 64 1
    "$faulty" . "$@" odd-columns-zero
    run 0 explain -a A.npy -b B.npy -d D.npy --seconds 1 --json
    grep -q '"period":{"rows":null,"columns":2}' out || cat out
    grep -q '"ulps":\[{"from":0,"to":0,"count":768},{' out || cat out
    total=$(sed 's/.*"ulps":\[\([^]]*\)\].*/\1/' out | grep -o '"count":[0-9]*' |
        awk -F: '{ n += $2 } END { print n }')
    [ "$total" = 1536 ] || echo "$total outputs have distances"
    grep -q '"distances":\[{"name":"plain","ulps":' out || cat out
    # What is lost makes every recipe as it stands far, that which is found with it, too.
    "$faulty" . ootomo hopper/mma.m16n8k16.f32.f16 16 24 320 1 k-step-lost
    run 0 explain -a A.npy -b B.npy -d D.npy --recipe ootomo \
        --unit hopper/mma.m16n8k16.f32.f16 --seconds 60 --json
    expect fault "k lost"
    grep -o '"name":"ootomo","ulps":[0-9.]*' out | awk -F: '{ n++; if ($3 > 1000) far++ }
        END { if (n != 1 || far != 1) print n + 0, "distances of ootomo,", far + 0, "far" }'
    "$faulty" . "$@" tile-nan
    run 0 explain -a A.npy -b B.npy -d D.npy --seconds 1 --json
    grep -q '{"from":null,"to":null,"count":[1-9]' out || cat out
    "$faulty" . "$@" one-flip
    run 1 explain -a A.npy -b B.npy -d D.npy --seconds 1 --verbose
    grep -q '^parts$' out || cat out
}

# What gives the same bits is told a recipe at a time; a result of cuBLAS in TF32, whose
# operands had to be rounded, by the recipe of that name.
equals_told() {
    run 0 gemm --recipe plain --unit mi210 -m 24 -n 20 -k 64 --save-a A.npy --save-b B.npy -o D.npy
    run 0 explain -a A.npy -b B.npy -d D.npy --json
    expect equals 2
    C=$source/data/libraries/h100-cublas
    run 0 explain -a "$C/A.npy" -b "$C/B.npy" -d "$C/tf32.npy" --json
    grep -q '^{"recipe":"cublas-tf32","unit":"hopper/mma.m16n8k8.f32.tf32",' out || cat out
}

# A result of cuBLASLt in which the last products are in no slice: by its error alone if there
# is no time to find the order.  README.md has the answer to the bit.
lost_products() {
    C=$source/data/libraries/h200-lost-tail
    set -- -a "$C/A.npy" -b "$C/B.npy" -d "$C/D.npy" --json
    run 1 explain "$@" --effort 0.01
    grep -q 'shows a fault: the products of k from 11520 to 11527 are missing' out || cat out
}

# numbers FILE ROWS COLUMNS SEED LOW COUNT: integers from LOW on, as a .mtx file.
numbers() {
    awk -v m="$2" -v n="$3" -v x="$4" -v low="$5" -v count="$6" 'BEGIN {
        print "%%MatrixMarket matrix array real general"
        print m, n
        for (i = 0; i < m * n; i++) {
            x = (x * 16807) % 2147483647
            print low + int(x / 7) % count
        }
    }' > "$1"
}

# product RULE: the product of A.mtx and B.mtx by a rule of its own, D.mtx.
product() {
    awk -v rule="$1" 'function limited(v, low, high) { return v < low ? low : v > high ? high : v }
        FNR == 2 { rows = $1 }
        FNR <= 2 { if (FILENAME == "A.mtx" && FNR == 2) m = $1; next }
        { x[FILENAME, (FNR - 3) % rows, int((FNR - 3) / rows)] = $1
          if (FILENAME == "A.mtx") k = int((FNR - 3) / rows) + 1
          else n = int((FNR - 3) / rows) + 1 }
        END {
            print "%%MatrixMarket matrix array real general"
            print m, n
            for (j = 0; j < n; j++)
                for (i = 0; i < m; i++) {
                    s = 0
                    for (p = 0; p < k; p += 2) {
                        q = x["A.mtx", i, p] * x["B.mtx", p, j] + x["A.mtx", i, p + 1] * x["B.mtx", p + 1, j]
                        s += rule == "pairs" ? limited(q, -32768, 32767) : q
                    }
                    if (rule == "modulo") s = ((s + 128) % 256 + 256) % 256 - 128
                    if (rule == "limited") s = limited(s, -128, 127)
                    print s
                }
        }' A.mtx B.mtx > D.mtx
}

# Products of integers are told by their sums and results, in one sentence, within a second.
integers_told() {
    while IFS='|' read -r rule low said; do
        numbers A.mtx 64 64 11 "$low" 256
        numbers B.mtx 64 64 12 -128 256
        product "$rule"
        run 0 explain -a A.mtx -b B.mtx -d D.mtx --json
        grep -q "\"hypothesis\":\"D is $said: 4096 of 4096 outputs agree\"" out || cat out
        grep -q '"seconds":0' out || cat out
    done << 'END'
modulo|-128|the exact product modulo 2^8 (s8)
limited|0|the exact product, saturated at 8 bits (s8)
pairs|0|the sum of pairs of products that saturate at 16 bits before they are added (VPMADDUBSW, without VNNI)
END
}

ok_if_empty "without a fault the injector is the emulator" "$(right_on_all)"
ok_if_empty "also where parts are subnormal or overflow" "$(right_on_any_inputs)"
ok_if_empty "also with slices and promotion" "$(right_in_any_order)"
ok_if_empty "faults that the emulator can have as variations are these" "$(variations)"
if_whole "every fault can be seen" unseen
ok_if_empty "faults of all kinds" "$(kinds)"
ok_if_empty "the same arguments give the same files" "$(repeats)"
ok_if_empty "what cannot be is refused" "$(refused)"
ok_if_empty "explain names recipes and units" "$(named)"
ok_if_empty "explain names scalar chains and orders of lanes" "$(scalars)"
ok_if_empty "explain names faults" "$(faults_named)"
ok_if_empty "the faults and axes are listed" "$(faults_listed)"
ok_if_empty "explain names what is changed in a recipe" "$(changes_named)"
if_whole "explain tells orders apart by results of few bits" short_results
if_whole "explain tells one order where a part shows it" order_of_all
ok_if_empty "explain takes a chip, and names a D of zeros" "$(chips_and_zeros)"
ok_if_empty "explain says the same by any number of threads" "$(threads_agree)"
ok_if_empty "explain confirms a factor that was not given" "$(factors_confirmed)"
ok_if_empty "explain tries only the recipe and the unit that are named" "$(search_narrowed)"
ok_if_empty "explain compares two results" "$(two_compared)"
if_whole "explain finds a second order in some rows" rows_mixed
ok_if_empty "explain says that nothing gives noise" "$(nothing_named)"
ok_if_empty "explain tells distances and places" "$(distances_told)"
ok_if_empty "explain tells each recipe of the same bits once" "$(equals_told)"
if_whole "products that cuBLASLt loses" lost_products # README.md has a search of one recipe
ok_if_empty "explain tells what became of products of integers" "$(integers_told)"
echo "1..$n"
