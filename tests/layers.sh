#!/bin/sh
# The rules of the tree that no compiler checks: includes go lib <- emu, gpu <- analysis;
# file names are unique; headers are guarded by their own name; no file is forgotten.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
cd "${srcdir:-.}" || exit 99

# sources DIR...: the source files of those folders that exist.
sources() {
    for dir; do
        [ ! -d "$dir" ] || find "$dir" -name '*.[ch]' -o -name '*.inc' -o -name '*.cu' \
            -o -name '*.cuh' -o -name '*.hip'
    done | sort
}

# layer DIR ALLOWED: files of DIR include "..." only from folders ALLOWED (an ERE).
layer() {
    bad=$(sources "$1" | while read -r file; do
        grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' "$file" |
            grep -vE "\"(($2)/[^/\"]*|config\.h)\"" | sed "s|^|$file:|"
    done)
    ok_if_empty "$1 includes only from $2" "$bad"
}

guards() {
    sources lib emu gpu analysis | grep '\.h$' | while read -r file; do
        case $file in
        lib/bitcut.h) guard=BITCUT_H ;;
        *) guard=BITCUT_$(echo "$file" | tr 'a-z/.-' 'A-Z___') ;;
        esac
        [ "$(grep -E '^#' "$file" | sed -n '1p;2p;$p' | tr '\n' ' ')" = \
            "#ifndef $guard #define $guard #endif " ] || echo "$file: not guarded by $guard"
    done
}

same_names() {
    sources lib emu gpu analysis tests | sed 's|.*/||' | sort | uniq -d
}

unlisted() {
    { sources lib emu gpu analysis tests; find tests -name '*.sh'; } | while read -r file; do
        grep -qE "(^|[[:space:]])(${file}|${file%.c})([[:space:]]|\$)" Makefile.am ||
            echo "$file"
    done
}

echo 1..8
layer lib 'lib'
layer emu 'lib|emu'
layer gpu 'lib|gpu'
layer analysis 'lib|emu|gpu|analysis'
layer tests 'lib|emu|gpu|analysis|tests'
ok_if_empty "headers are guarded by their own name" "$(guards)"
ok_if_empty "no two files have one name" "$(same_names)"
ok_if_empty "Makefile.am names every source and test" "$(unlisted)"
