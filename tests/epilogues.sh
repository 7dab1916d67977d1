#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Results of libraries with a bias, factors, short formats and slices of k, recorded on a GPU
# (data/README.md, epilogues/): the emulator gives every bit of them, and gives other bits
# with steps that round elsewhere.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
cd "$BITCUT_DATA/epilogues" || exit 99
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
tab=$(printf '\t')

# verified STEPS OPTION...: compare the recorded D with these steps, the status printed last.
verified() {
    steps=$1
    shift
    bitcut verify --seconds 0 --epilogue "$steps" "$@" > "$work/said" 2>&1
    status=$?
}

# case_differs STEPS OTHERS OPTIONS: what is wrong with a case.
case_differs() {
    # shellcheck disable=SC2086 # words
    verified "$1" $3
    [ $status = 0 ] || { echo "$1: status $status"; cat "$work/said"; }
    [ "$2" = - ] && return
    # shellcheck disable=SC2086 # words
    verified "$2" $3
    [ $status = 1 ] || { echo "$2: status $status, not 1"; cat "$work/said"; }
}

# explained OPTION...: explain the recorded D, the status printed last.
explained() {
    bitcut explain "$@" > "$work/said" 2>&1
    status=$?
}

# is_explained STEPS OPTIONS: what is wrong with the explanation of a case, whose promotion and
# order explain finds by itself, and also its steps and scaling.  A wrong alpha explains nothing.
is_explained() {
    options=$(echo "$2" | sed 's/--promote [0-9]*//; s/--order [^ ]*//')
    # shellcheck disable=SC2086 # words
    explained --seconds 60 --epilogue "$1" $options
    [ $status = 0 ] || { echo "$1: status $status"; cat "$work/said"; }
    # shellcheck disable=SC2086 # words
    explained --effort 0.01 --epilogue "$1" $options --alpha 1.25
    [ $status != 0 ] || { echo "$1, alpha 1.25: status 0"; cat "$work/said"; }
    # shellcheck disable=SC2046 # words
    explained --seconds 60 $(echo "$options" | sed 's/--scaling [^ ]*//')
    [ $status = 0 ] || { echo "steps open: status $status"; cat "$work/said"; }
}

# predicted STATUS CALL TYPES OPTIONS: what is wrong with the status of verify, which predicts this call of
# PyTorch.
predicted() {
    options=$(echo "$4" | sed 's/--recipe.*//')
    # shellcheck disable=SC2086 # words
    bitcut verify --seconds 0 --library torch-2.11 --chip h200 --call "$2" --types "$3" $options \
        > "$work/said" 2>&1
    status=$?
    [ $status = "$1" ] || { echo "$2: status $status"; cat "$work/said"; }
}

# Of the cases every third is explained.
sed 1d cases.tsv | cut -f 1 | part 3 > "$work/explained"
# A case more or less is seen here.
ok_if_empty "27 cases" "$([ "$(wc -l < cases.tsv)" = 28 ] || wc -l cases.tsv)"
while IFS=$tab read -r name _ _ _ steps others options; do
    [ "$name" = case ] || ok_if_empty "$name: $steps, not $others" \
        "$(case_differs "$steps" "$others" "$options")"
    case $name in
        torch_linear_bias*)
            ok_if_empty "$name is predicted" "$(predicted 0 linear bf16 "$options")" ;;
        torch_addmm_residual*)
            ok_if_empty "$name is predicted" "$(predicted 0 addmm bf16 "$options --layout NT")"
            ok_if_empty "mm has no C" "$(predicted 3 mm bf16 "$options --layout NT")" ;;
    esac
    case $options in *s32*) continue ;; esac
    ! grep -qxF "$name" "$work/explained" || ok_if_empty "$name is explained" \
        "$(is_explained "$steps" "$options")"
done < cases.tsv
echo "1..$n"
