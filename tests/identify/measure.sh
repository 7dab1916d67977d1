#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# How often `bitcut explain` names the fault of a kernel: each fault of
# tests/identify/faulty, on five shapes and three recipes, as a table of tab-separated
# columns, followed by totals.  It is not part of `make check`: it takes long.  Run in the
# build folder after `make check`, or `make tests/identify/faulty`; FAULTS, SHAPES,
# RECIPES and SEED may select fewer.
set -u

# Answers that are right for a fault: names of explain's table of faults, which has its own
# words, with - for each blank.  An answer is what `fault` says; or, where explain matched D
# without one, `clean` if recipe, unit, promotion and slices are those that were asked for,
# else `other` (a variation that is not called a fault); or `none`.  A word ~X says that X, with
# - for blanks, must be in the sentence, so that which product or which part is held against
# what was done.  Without lines here: of a fault of class `none`, and one that changes no
# output, `clean` is right, and of one of class `outside`, `none`.
# Where there is more than one answer they describe the same bits:
#  - parts 2^10 with fold 2^-11 are parts 2^11 with fold 2^-12: powers of two are exact;
#  - low times low in the accumulator of corrections has another scale than these;
#  - inputs are multiples of 2^-24 below 1, whose low parts are exact with and without scale;
#  - a low part of B that is zero leaves out the products that have it;
#  - k that are lost from the start of a slice to its end are a slice that is lost;
#  - a high part that is added in place of what is promoted is that of the last k alone;
#  - columns of D that are swapped are columns of B, where there is no C;
#  - in few bits units and recipes give the same;
#  - what is in a format that D has as a whole was rounded to it;
#  - the last k of all in a single step are the partial step;
#  - k of A that are swapped in pairs give the products of k of B that are;
#  - f16 and tf32 have one significand, and these numbers are in the range of both;
#  - inputs rounded to e4m3 that are multiplied are a GEMM of a unit of e4m3;
#  - subnormal parts that are flushed are low ones, where high ones are flushed anyway;
#  - three slices have no pairs: then they were added from the last one down;
#  - an FP32 accumulator that is cut to tf32 is one of f16 whose sums are rounded toward zero;
#  - a recipe that is not promoted, as its row says, has nothing that it does not do;
#  - a residual that goes through f16 before it is scaled is a low part of Markidis's;
#  - FP32 sums of pairs are an order that explain has by now;
#  - a transposed matrix is one that is read by columns;
#  - a high part that is subnormal has a low part of zero, if that is not scaled;
#  - where all products are promoted, the last sum alone is that of a GEMM without the k before;
#  - an accumulator that is rounded to f16 is that of a unit of f16;
#  - a tile that is all rows of D and is that before it, has columns of B that are read twice.
answers='
drop-lh             -> term-missing ~low(A)-high(B)-is-missing
drop-hl             -> term-missing ~high(A)-low(B)-is-missing
drop-ll             -> term-missing clean other ~low
drop-hh             -> term-missing ~high(A)-high(B)-is-missing
drop-corrections    -> corrections-missing other
hh-twice            -> term-twice ~high(A)-high(B)-is-added-twice
lh-twice            -> term-twice ~low(A)-high(B)-is-added-twice
hl-twice            -> term-twice ~high(A)-low(B)-is-added-twice
lh-for-hl           -> wrong-parts ~in-place-of-the-product-high(A)-low(B)-there-is-low(A)-high(B)
lh-for-hh           -> wrong-parts ~in-place-of-the-product-high(A)-high(B)-there-is-low(A)-high(B)
terms-reversed      -> clean other ~products-come-in-order
one-accumulator     -> one-accumulator
low-low-added       -> wrong-accumulator clean other ~low
low-low-in-main     -> wrong-accumulator ~low(A)-low(B)-is-added-in-accumulator-0
high-rn             -> clean other ~high-parts-are-rounded-by-rn
high-rz             -> clean other ~high-parts-are-rounded-by-rz
high-rna            -> clean other ~high-parts-are-rounded-by-rna
low-rn              -> clean other ~low-parts-are-rounded-by-rn
low-rz              -> clean other ~low-parts-are-rounded-by-
low-rna             -> clean other ~low-parts-are-rounded-by-rna
high-saturates      -> clean other other-parts ~rounded-by-rn-sat
low-nan-zeroed      -> low-parts-not-finite-zeroed
high-via-bf16       -> high-parts-through-another-format ~bf16
low-via-bf16        -> low-parts-through-another-format ~bf16
low-not-scaled      -> low-parts-not-scaled epilogue-scale-twice
split-scale         -> epilogue-scale-wrong
fold-scale          -> epilogue-scale-wrong
other-scale         -> clean other ~low-parts-carry-2^1
low-flushed         -> subnormal-parts-flushed clean other ~parts
high-flushed        -> subnormal-high-parts-lost small-inputs-flushed
inputs-flushed      -> small-inputs-flushed
residual-negated    -> residual-negated
residual-short      -> residual-short clean other
residual-of-other   -> residual-of-another-part
low-is-high         -> low-parts-are-high-parts
low-of-b            -> parts-of-the-other-operand ~low-parts-of-B-stand
high-of-b           -> parts-of-the-other-operand ~high-parts-of-B-stand
b-not-split         -> low-parts-zero term-missing
slice-lost          -> k-lost
slice-middle-lost   -> k-lost
slice-twice         -> k-twice
slice-first-only    -> k-lost
slice-overlap       -> slices-overlap
slice-descending    -> clean other ~from-the-last-one-on
slice-pairs         -> clean other ~which-are-added
slice-f16           -> slices-short slices-reduced-in-f16 clean other ~f16
race-lost-slice     -> k-lost ~in-rows
race-twice          -> k-twice ~in-rows
race-early          -> k-lost ~in-rows
race-order          -> another-order
k-descending        -> k-descending clean other ~down
k-even-odd          -> k-in-turns
k-first-step-lost   -> k-lost ~k-from-0
k-last-step-lost    -> k-lost
k-partial-lost      -> k-lost
k-step-lost         -> k-lost
k-step-twice        -> k-twice
k-warp-late         -> k-lost ~in-rows
k-tile-short        -> k-lost ~in-rows
stage-stale         -> k-stale
stage-stale-tile    -> k-stale ~in-rows
start-nonzero       -> accumulator-not-cleared ~0.125
start-tiny          -> accumulator-not-cleared ~0.001
start-warp          -> accumulator-not-cleared ~2.75
accumulate-f16      -> accumulator-short other ~f16
accumulate-bf16     -> accumulator-short ~bf16
accumulate-tf32     -> accumulator-short accumulator-rounding
promote-interval    -> clean other
promote-more-often  -> clean other
promote-never       -> clean other
promote-no-reset    -> promotion-without-clearing
promote-stores      -> promotion-overwrites k-lost
promote-rz          -> promotion-truncated
promote-f16         -> promotion-in-short ~f16
promote-via-bf16    -> promotion-through-short ~bf16
promote-rest-lost   -> promotion-forgets-the-rest
fold-missing        -> epilogue-scale-missing
fold-twice          -> epilogue-scale-twice low-parts-not-scaled
fold-off-by-one     -> epilogue-scale-wrong
alpha-ignored       -> alpha-ignored
alpha-twice         -> alpha-twice
beta-ignored        -> C-ignored
c-not-scaled        -> beta-ignored
c-twice             -> C-twice
c-times-alpha       -> C-times-alpha
c-subtracted        -> C-subtracted
c-for-product       -> C-for-the-product
c-transposed        -> C-by-columns
alpha-beta-swapped  -> alpha-and-beta-swapped
epilogue-not-fused  -> epilogue-not-fused
epilogue-other-fma  -> epilogue-fused-otherwise
epilogue-rz         -> epilogue-truncated
a-transposed        -> by-columns clean ~A
b-transposed        -> by-columns clean ~B
d-transposed        -> by-columns clean ~D
k-beyond-end        -> not-masked
b-next-k            -> wrong-k ~k-of-B
b-k-pairs           -> wrong-k ~k-xor-1
a-k-halves          -> wrong-k ~xor
a-rows-swapped      -> wrong-lines ~of-A
b-columns-swapped   -> wrong-lines ~of-B
a-next-row          -> wrong-lines ~of-A
b-next-column       -> wrong-lines ~of-B
b-half-fragment     -> wrong-lines ~of-B
b-stale-lanes       -> stale-lines ~of-B
lanes-swapped       -> moved wrong-lines ~column
tiles-swapped       -> moved wrong-lines ~column
tile-stale          -> moved wrong-lines
tile-zero           -> not-written ~zeros
tile-nan            -> not-written ~NaN
tile-earlier        -> not-written
tiles-zero          -> not-written ~zeros
edge-zero           -> not-written ~zeros
edge-earlier        -> not-written
last-row-zero       -> not-written ~zeros
last-row-shifted    -> moved wrong-lines
odd-columns-zero    -> not-written ~zeros
tile-doubled        -> result-twice
warp-negated        -> result-negated
all-zero            -> not-written ~zeros
all-nan             -> not-written ~NaN
out-f16             -> store-short clean other ~f16
out-f16-rz          -> store-truncated store-short ~f16
out-bf16            -> store-short clean other ~bf16
out-bf16-rz         -> store-truncated store-short ~bf16
four-bits           -> other ~.e4m3
pairwise            -> other ~as-a-tree
out-tf32            -> store-short clean other ~rounded-to
'

: "${EXPLAIN:=./bitcut explain}" "${FAULTY:=tests/identify/faulty}" "${SEED:=1}"
: "${SHAPES:=64x64x64 96x80x200 33x65x130 128x128x512 16x24x1000}"
: "${RECIPES:=ootomo@ampere/mma.m16n8k16.f32.f16 legemm@hopper/mma.m16n8k16.f32.f16 \
markidis@volta/mma.m8n8k4.f32.f16}"
[ -x "$FAULTY" ] || { echo "measure.sh: $FAULTY is not there: make $FAULTY" >&2; exit 3; }
: "${FAULTS:=$($FAULTY list | cut -d' ' -f1)}"
work=$(mktemp -d) || exit 3
rows=$(mktemp) || exit 3
trap 'rm -rf "$work" "$rows"' EXIT

# value FILE KEY: of the first object there; nothing for null.
value() {
    sed -n "1{s/.*\"$2\": \{0,1\}\(\"\([^\"]*\)\"\|\([^,}]*\)\).*/\2\3/; t found
        s/.*//; :found
        s/^null\$//; p;}" "$1"
}

truth() { value "$work/truth.json" "$1"; }
said() { value "$work/out" "$1"; }

# explained: run explain on the problem in $work; $status and $seconds are of it.
explained() {
    epilogue=
    [ "$(truth beta)" = 0 ] || epilogue="-c $work/C.npy --alpha $(truth alpha) --beta $(truth beta)"
    from=$(date +%s.%N)
    # shellcheck disable=SC2086 # lists of words
    $EXPLAIN -a "$work/A.npy" -b "$work/B.npy" $epilogue -d "$work/D.npy" --json \
        > "$work/out" 2> "$work/err"
    status=$?
    seconds=$(echo "$(date +%s.%N) $from" | awk '{ printf "%.2f", $1 - $2 }')
}

# as_asked: whether what matched is the kernel without its fault.
as_asked() {
    [ "$(said recipe) $(said unit)" = "$(truth recipe) $(truth unit)" ] || return
    promote=$(said promote)
    [ -z "$promote" ] || [ "$promote" = "$(truth promote)" ] || return
    slices=$(said order | sed -n 's/.*slices=\([0-9]*\).*/\1/p')
    [ -z "$slices" ] || [ "$slices" = "$(slices_filled)" ]
}

# slices_filled: how many of those that were asked for have any of k, in whole steps.
slices_filled() {
    awk -v k="$(truth k)" -v slices="$(truth slices)" -v unit="$(truth unit)" '
        function up(x, y) { return int((x + y - 1) / y) }
        BEGIN { match(unit, /n[0-9]+k[0-9]+/); split(substr(unit, RSTART, RLENGTH), x, "k")
                steps = up(k, x[2]); print up(steps, up(steps, slices)) }'
}

answer() {
    case $status in
    0) ;;
    1) echo none; return ;;
    *) echo "failed"; return ;;
    esac
    fault=$(said fault)
    if [ -n "$fault" ] && [ "$fault" != none ]; then echo "$fault" | tr ' ' -
    elif as_asked; then echo clean
    else echo other; fi
}

# line FAULT: its words in `answers`.
line() { echo "$answers" | sed -n "s/^$1  *-> *//p" | tr '\n' ' '; }

# accepted FAULT CLASS: the right answers, between blanks.
accepted() {
    if [ "$2" = none ] || [ "$(truth changed)" = 0 ]; then echo " clean "
    elif [ "$2" = outside ]; then echo " none $(line "$1" | sed 's/~[^ ]*//g') "
    else echo " $(line "$1" | sed 's/~[^ ]*//g') "; fi
}

# sentence_fits FAULT CLASS ANSWER: whether the sentence has what it must have.
sentence_fits() {
    [ "$2" != none ] && [ "$3" != none ] && [ "$(truth changed)" != 0 ] || return 0
    must=$(line "$1" | sed -n 's/.*~\([^ ]*\).*/\1/p')
    said hypothesis | tr ' ' - | grep -qF -e "$must"
}

# verdict FAULT CLASS ANSWER
verdict() {
    case "$3:$(accepted "$1" "$2")" in
    failed:*) echo failed ;;
    "$3:"*" $3 "*) if sentence_fits "$1" "$2" "$3"; then echo right; else echo wrong; fi ;;
    none:*) echo none ;;
    *) echo wrong ;;
    esac
}

# one FAULT SHAPE RECIPE@UNIT: a row; nothing if the recipe cannot have the fault.
one() {
    rm -f "$work"/*
    # shellcheck disable=SC2046 # words
    $FAULTY "$work" "${3%%@*}" "${3#*@}" $(echo "$2" | tr x ' ') "$SEED" "$1" 2> "$work/err"
    case $? in
    0) ;;
    77) return ;;
    *) cat "$work/err" >&2; return ;;
    esac
    explained
    class=$(truth class)
    got=$(answer)
    printf '%s\t' "$1" "$class" "$2" "${3%%@*}" "$(truth changed)" \
        "$(verdict "$1" "$class" "$got")" "$got" "$(said recipe)" "$(said unit)" "$(said promote)" "$(said order)" \
        "$(said matched)/$(said compared)" "$(said sampled)" "$(said total)" "$seconds"
    if [ "$status" -gt 1 ]; then head -n 1 "$work/err"; else said hypothesis; fi | grep '' ||
        echo
}

printf '%s\t' fault class shape recipe changed verdict answer said-recipe said-unit promote \
    order matched sampled total seconds
echo hypothesis
for recipe in $RECIPES; do
    for shape in $SHAPES; do
        for name in $FAULTS; do one "$name" "$shape" "$recipe"; done
    done
done | tee "$rows"

awk -F '\t' '
    { count[$2, $6]++; all[$2]++; sum[$6]++; seconds += $15
      if ($15 > longest) longest = $15 }
    END {
        print ""
        print "class\tright\twrong\tnone\tfailed\tall"
        for (class in all)
            printf "%s\t%d\t%d\t%d\t%d\t%d\n", class, count[class, "right"],
                count[class, "wrong"], count[class, "none"], count[class, "failed"], all[class]
        printf "all\t%d\t%d\t%d\t%d\t%d\n", sum["right"], sum["wrong"], sum["none"],
            sum["failed"], NR
        printf "%.1f s, at most %.1f s\n", seconds, longest
    }' "$rows"
