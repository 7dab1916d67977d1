#!/bin/sh
# How often `bitcut explain` names the fault of a kernel: each fault of tests/explain/faulty,
# on five shapes and three recipes, as a table of tab-separated columns, then totals.
# No part of `make check`: it takes long.  Run in the build folder after `make check`, or
# `make tests/explain/faulty`; FAULTS, SHAPES, RECIPES and SEED may hold fewer words.
set -u

# Answers that are right, beside the fault's own name.  An answer is what `fault` says;
# or, where explain matched D without one, `clean` if recipe, unit, promotion and slices are
# those that were asked for, else `other` (a variation that is not called a fault); or `none`.
# Without lines here: of a fault of class `none`, and one that changes no output, `clean` is
# right, and of one of class `outside`, `none`.
answers='
drop-lh             -> dropped-lh
drop-hl             -> dropped-hl
drop-ll             -> dropped-ll, other
drop-corrections    -> other
low-low-added       -> other
terms-reversed      -> other
high-rn             -> other
high-rz             -> other
high-rna            -> other
low-rn              -> other
low-rz              -> other
low-rna             -> other
high-saturates      -> other
other-scale         -> other
slice-descending    -> other
slice-pairs         -> other
k-even-odd          -> other
promote-interval    -> other
promote-more-often  -> other
promote-never       -> other
'

: "${EXPLAIN:=./bitcut explain}" "${FAULTY:=tests/explain/faulty}" "${SEED:=1}"
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
    [ -z "$slices" ] || [ "$slices" = "$(truth slices)" ]
}

answer() {
    case $status in
    0) ;;
    1) echo none; return ;;
    *) echo "failed"; return ;;
    esac
    fault=$(said fault)
    if [ -n "$fault" ] && [ "$fault" != none ]; then echo "$fault"
    elif as_asked; then echo clean
    else echo other; fi
}

# accepted FAULT CLASS: the right answers, between blanks.
accepted() {
    if [ "$2" = none ] || [ "$(truth changed)" = 0 ]; then echo " clean "
    elif [ "$2" = outside ]; then echo " none "
    else
        echo " $1 $(echo "$answers" | sed -n "s/^$1  *-> *//p" | tr ',\n' '  ') "
    fi
}

# verdict FAULT CLASS ANSWER
verdict() {
    case "$3:$(accepted "$1" "$2")" in
    failed:*) echo failed ;;
    "$3:"*" $3 "*) echo right ;;
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
