#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Files that the build generates from the tables of options: a manual page for each
# command, and completion for bash, fish and zsh.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
source=$(cd "${srcdir:-.}" && pwd)
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99
commands=$(bitcut --help | sed -n 's/^  \([a-z][a-z]*\) .*/\1/p')

# Each command has a page, which Makefile.am installs, and nothing else has.
pages_listed() {
    { echo bitcut; for name in $commands; do echo "bitcut-$name"; done; } | sort > want
    sed -n 's|^  doc/\(bitcut[a-z-]*\)\.1.*|\1|p' "$source/Makefile.am" | sort > got
    diff want got
}

# A page has each option of its command, and what is said of it.
pages_complete() {
    for name in $commands; do
        run 0 --make-page "$name"
        tr -d '\\' < out > page
        bitcut "$name" --help | sed -n 's/^  \(-[^ ]*\) .*/\1/p' > options
        [ -s options ] || echo "$name: no options"
        while read -r option; do
            grep -q -e "^fB${option}fR" page || echo "$name: no $option"
        done < options
        grep -q "^.SH SYNOPSIS" page || echo "$name: no synopsis"
        grep -qx ".B info bitcut" page || echo "$name: the command that opens the manual is not on a line of its own"
    done
    for name in "" $commands; do
        # shellcheck disable=SC2086 # nothing for the page of the program
        bitcut --make-page $name | sed '1,/^.SH EXAMPLES/d' | grep -q '^.fBbitcut ' ||
            echo "bitcut $name: no example"
    done
    run 0 --make-page
    for name in $commands; do grep -q "^.BR bitcut.-$name (1)" out || echo "no $name"; done
}

# No program that shows pages complains of one.
pages_shown() {
    for name in "" $commands; do
        # shellcheck disable=SC2086 # nothing for the page of the program
        bitcut --make-page $name > page.1
        $1 page.1 2>&1 > shown | head -n 3
        [ -s shown ] || [ "$1" != "${1#mandoc}" ] || echo "$name: nothing is shown"
    done
}

# words: of standard input, a line each.
words() { tr -cs '[:alnum:]_-' '\n' | grep . | sort -u; }

# What is shown has the words of the page: a macro that takes them for its arguments would
# set them without spaces.
pages_words() {
    for name in "" $commands; do
        # shellcheck disable=SC2086 # nothing for the page of the program
        bitcut --make-page $name > page.1
        sed -E 's/^\.(TH|SH|TP|[BIR]+)( |$)/ /; s/\\f[BIR]//g; s/\\&//g; s/\\-/-/g; s/\\e/\\/g' page.1 |
            words > said
        groff -man -Tascii -P-cbou -rHY=0 page.1 2>&1 | words > shown
        [ "$(wc -l < shown)" -gt 50 ] || echo "$name: nothing is shown"
        comm -13 said shown | sed "s/^/$name: no word of the page: /"
    done
}

# What says how to cite the program has its version, and what a citation has to have.
cited() {
    version=$(bitcut --version | cut -d ' ' -f 2)
    grep -qx "version: $version" "$source/CITATION.cff" || echo "version is not $version"
    for key in cff-version message title authors license; do
        grep -q "^$key:" "$source/CITATION.cff" || echo "no $key"
    done
}

bad_pages() {
    run 2 --make-page nothing
    run 2 --make-nothing
}

# --- completion ---------------------------------------------------------------------------
# complete_SHELL WORD...: what the shell completes the last word to, a line each.

complete_bash() {
    bash -c '. ./completion.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
        _bitcut bitcut "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        printf "%s\n" "${COMPREPLY[@]}"' bash "$@" 2>&1
}

complete_fish() {
    # shellcheck disable=SC2016 # for fish
    HOME=$PWD fish --no-config -c 'source completion.fish; complete -C "$argv"' "$@" 2>&1 |
        cut -f 1
}

# A shell of its own at a terminal, whose completions go to a file.
complete_zsh() {
    mkdir -p zsh
    rm -f zsh/found zsh/done
    cp completion.zsh zsh/_bitcut
    cat > zsh/setup << 'END'
autoload -U compinit
compinit -u -D
compadd() {
    local -a found
    if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return; fi
    builtin compadd -A found "$@"
    print -l -- $found >> zsh/found
    builtin compadd "$@"
}
finished() { : > zsh/done }
comppostfuncs=(finished)
bindkey '^I' complete-word
print REA""DY
END
    # shellcheck disable=SC2016 # for zsh
    TERM=xterm zsh -f -c 'zmodload zsh/zpty
        zpty shell zsh -f -i
        zpty -w shell "cd $PWD; fpath=($PWD/zsh \$fpath); . zsh/setup"
        zpty -r -m shell line "*READY*"
        zpty -w -n shell "$*"$'\''\t'\''
        for (( i = 0; i < 300; i++ )); do [[ -e zsh/done ]] && break; sleep 0.1; done
        zpty -d shell
        [[ -e zsh/done ]] || echo "no completion in 30 seconds"' zsh "$@" 2>&1
    [ ! -e zsh/found ] || grep . zsh/found
}

# completes WANT WORD...: the completions of $shell, with blanks between.
completes() {
    want=$1
    shift
    got=$("complete_$shell" "$@" | sort | tr '\n' ' ' | sed 's/^ *//')
    [ "$got" = "${want:+$want }" ] || echo "$*: $got, not $want"
}

completed() {
    shell=$1
    bitcut --make-completion "$shell" > "completion.$shell"
    "$shell" -n "completion.$shell" 2>&1
    touch A.npy
    completes "tile tolerance" bitcut t
    completes "--recipe" bitcut gemm --rec
    completes "ootomo ootomo-tf32" bitcut gemm --recipe oo
    completes "halfhalf" bitcut gemm --split-b halfh
    completes "h100" bitcut verify --json --unit h1
    completes "A.npy" bitcut verify -a A
    completes "rna" bitcut split --low rna
    completes "splits" bitcut list spl
    completes "" bitcut mma --unit Un
    completes "emu exact" bitcut bench e
    completes "table1 table2" bitcut study table
    completes "" bitcut gemm -m ""
    completes "" bitcut gemm z
    completes "--threads" bitcut advise --thr
    completes "openblas-0.3.21" bitcut predict --library open
    completes "openblas-0.3.21" bitcut gemm --library open
}

# Every command is there, and every option of every command.
all_completed() {
    shell=$1
    # shellcheck disable=SC2086 # words
    printf '%s\n' $commands > want
    case $shell in
    bash) printf '%s\n' --help --version >> want ;;
    esac
    "complete_$shell" bitcut "" | { [ "$shell" = bash ] && cat || grep -v '^-'; } | sort > got
    sort want | diff - got
    # Two commands are enough where each takes a second.
    for name in $([ "$shell" = bash ] && echo "$commands" || echo verify run); do
        bitcut "$name" --help | sed -n 's/^  \(-[^ ]*\) .*/\1/p' | sort -u > want
        { "complete_$shell" bitcut "$name" -; "complete_$shell" bitcut "$name" --; } |
            grep -v '^no completion' | sort -u | diff want -
    done
}

# has_options SHELL: what a script does not name, where no shell can run it.
has_options() {
    bitcut --make-completion "$1" > script
    for name in $commands; do
        case $1 in
        fish) grep -e "__bitcut_is $name'" script > lines ;;
        zsh) sed -n "/^    $name)$/,/;;$/p" script > lines ;;
        esac
        bitcut "$name" --help | sed -n 's/^  -*\([a-z-]*\) .*/\1/p' | while read -r option; do
            grep -qw -e "$option" lines || echo "$name: no $option"
        done
    done
}

# No completion of an unknown shell.
bad_completion() {
    run 2 --make-completion
    run 2 --make-completion tcsh
}

ok_if_empty "Makefile.am has a page for each command" "$(pages_listed)"
ok_if_empty "pages have all options" "$(pages_complete)"
if command -v man > /dev/null && man --help 2> /dev/null | grep -q -e --warnings; then
    ok_if_empty "man shows pages without a warning" \
        "$(pages_shown "man -l --warnings -E UTF-8 -P cat")"
else
    skip "man shows pages without a warning" "man of man-db"
fi
if command -v mandoc > /dev/null; then
    ok_if_empty "mandoc shows pages without a warning" "$(pages_shown "mandoc -T lint -W warning")"
else
    skip "mandoc shows pages without a warning" "the package mandoc"
fi
if command -v groff > /dev/null; then
    ok_if_empty "pages are shown with the words that they have" "$(pages_words)"
else
    skip "pages are shown with the words that they have" "the package groff"
fi
ok_if_empty "pages of nothing are refused" "$(bad_pages)"
for shell in bash fish zsh; do
    what="$shell completes commands, options and names"
    if command -v $shell > /dev/null; then
        ok_if_empty "$what" "$(completed $shell)"
        ok_if_empty "$shell completes all options" "$(all_completed $shell)"
    else
        skip "$what" "the package $shell"
        # It is written in any case.
        ok_if_empty "completion for $shell has all options" "$(has_options $shell)"
    fi
done
ok_if_empty "completion for an unknown shell is refused" "$(bad_completion)"
ok_if_empty "CITATION.cff is of this version" "$(cited)"
echo "1..$n"
