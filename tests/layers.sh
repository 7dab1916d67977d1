#!/bin/sh
# The rules of the tree that no compiler checks: includes and calls go lib <- emu <- gpu <-
# analysis, and between all rooms as the table below says; no files call each other in a circle;
# file names are unique; headers are guarded by their own name; what POSIX has is asked for; no
# file is forgotten, nor run where it is not; files say one version; sources name their licence.
# Run in the build folder with srcdir and NM set, as `make check` does.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
case ${CFLAGS:-} in
*-fsanitize*) skip_all plain ;;
esac
built=$PWD
cd "${srcdir:-.}" || exit 99

# sources DIR...: the source files of those folders that exist.
sources() {
    for dir; do
        [ ! -d "$dir" ] || find "$dir" -name '*.[ch]' -o -name '*.inc' -o -name '*.cu' \
            -o -name '*.cuh' -o -name '*.hip'
    done | sort
}

# A room, and the rooms from which its files include and which they call; `all` but tests.
arrows='
lib               
lib/base          lib lib/base
lib/number        lib lib/base lib/number
lib/gemm          lib lib/base lib/number lib/gemm
lib/exact         lib lib/base lib/number lib/exact
lib/io            lib lib/base lib/number lib/gemm lib/io
lib/input         lib/base lib/number lib/gemm lib/io lib/input
emu/fast          lib/base lib/number emu/fast emu
emu               lib lib/base lib/number lib/gemm lib/io lib/input emu/fast emu
emu/gfx9          lib/base lib/number emu/fast emu emu/gfx9
gpu/emulate       lib/base lib/number lib/gemm emu gpu/emulate
gpu/module        lib/base lib/number lib/gemm gpu/emulate gpu/module
gpu/cuda          lib/exact gpu/emulate gpu/module gpu/cuda
gpu/hip           lib/base lib/number gpu/module gpu/hip
gpu/hip/stand_in  lib/base emu/gfx9 gpu/hip/stand_in
gpu/cpu           lib/base lib/number lib/gemm gpu/module gpu/cpu
gpu/api           lib/base lib/number lib/gemm lib/exact emu gpu/emulate gpu/module gpu/cpu gpu/api
analysis/split    lib/base lib/number lib/gemm emu/fast emu analysis/split
analysis/accuracy lib lib/base lib/number lib/gemm lib/exact emu analysis/split analysis/accuracy
analysis/order    lib lib/base lib/number lib/gemm emu analysis/order
analysis/identify lib/base lib/number lib/gemm lib/exact emu analysis/order analysis/identify
analysis/predict  lib lib/base lib/number lib/gemm lib/input emu analysis/order analysis/predict
analysis/fp64     lib/base lib/number lib/gemm lib/exact lib/input emu emu/fp64 analysis/accuracy analysis/fp64
analysis/sampling lib lib/base lib/number lib/gemm lib/exact lib/io emu emu/fp64 analysis/split analysis/accuracy analysis/fp64 analysis/identify analysis/sampling
analysis/evidence lib/base lib/number lib/gemm lib/io emu gpu/api analysis/evidence
analysis/fit      lib/base lib/number lib/gemm emu analysis/evidence analysis/fit
analysis/verify   lib/base lib/number lib/gemm lib/input emu/fast emu emu/gfx9 gpu/api analysis/accuracy analysis/identify analysis/sampling analysis/evidence analysis/verify
analysis/bench    lib/base lib/number lib/gemm lib/io lib/input emu gpu/cpu gpu/api analysis/accuracy analysis/verify analysis/bench
analysis/study    lib/base lib/number lib/gemm lib/io lib/input emu emu/fp64 gpu/api analysis/split analysis/accuracy analysis/fp64 analysis/sampling analysis/study
analysis/report   lib/base lib/number lib/gemm lib/io emu analysis/study analysis/report
analysis/answers  lib/base lib/number emu emu/fp64 analysis/split analysis/accuracy analysis/identify analysis/sampling analysis/fit analysis/fp64 analysis/predict analysis/answers
analysis/run      lib/base lib/number lib/gemm lib/io emu gpu/module gpu/api analysis/run
analysis/cli      all
tests             all tests
tests/base        all tests tests/base
tests/number      all tests tests/number
tests/fp64        all tests
tests/gemm        all tests tests/gemm
tests/exact       all tests tests/exact
tests/io          all tests tests/io
tests/input       all tests tests/input
tests/emu         all tests tests/number tests/emu
tests/gfx9        all tests tests/emu tests/gfx9
tests/attention   all tests tests/emu tests/attention
tests/gpu         all tests tests/gpu
tests/emulate     all tests tests/emu tests/emulate
tests/hip         all tests tests/hip
tests/cpu         all tests tests/cpu
tests/split       all tests tests/number tests/split
tests/accuracy    all tests tests/number tests/accuracy
tests/order       all tests tests/order
tests/identify    all tests tests/emu tests/identify
tests/predict     all tests tests/predict
tests/sampling    all tests tests/sampling
tests/evidence    all tests tests/evidence
tests/fit         all tests tests/fit
tests/verify      all tests tests/gfx9 tests/verify
tests/study       all tests tests/study
tests/report      all tests tests/study tests/report
tests/answers     all tests tests/answers
tests/libraries   all tests tests/libraries
tests/run         all tests tests/run
tests/cli         all tests tests/cli
'

# Every file and each that it includes by "...".
includes() {
    sources lib emu gpu analysis tests | while read -r file; do
        echo "$file ."
        sed -nE "s|^[[:space:]]*#[[:space:]]*include[[:space:]]*\"(.*)\".*|$file \1|p" "$file"
    done
}

# Every object of the build that has a source, and what it is of: a file's path without its
# ending, which those of modules, made from sources of other rooms too, have in their own.
objects() {
    { sources lib emu gpu analysis; (cd "$built" && find lib emu gpu analysis -name '*.o'); } |
        awk '{ file = $0; sub(/\.libs\//, "", file); sub(/\.[a-z]*$/, "", file)
               name = file; sub(/.*\//, "", name) }
            !/\.o$/ { is_file[file] = is_name[name] = 1; next }
            file in is_file || (file ~ /^gpu\/(cuda|hip)\// && name in is_name)'
}

# Every file, each that it calls or whose data it reads, and a name that it has from there.  A
# module has all its own; dlsym() is the C library's to who calls it.
calls() {
    # shellcheck disable=SC2086 # words
    objects | (cd "$built" && xargs ${NM:-nm} -A -P) | awk '
        { file = $1; sub(/:$/, "", file); sub(/\.o$/, "", file); sub(/\.libs\//, "", file)
          module = file ~ /^gpu\/(cuda|hip)\/[^\/]*$/ ? substr(file, 1, 8) : "" }
        $2 == "dlsym" { next }
        $3 ~ /^[A-TV-Zui]$/ && !known[$2, file]++ { of[module, $2] = of[module, $2] " " file }
        $3 ~ /^[Uw]$/ { named[file " " $2] = module }
        END {
            for (pair in named) {
                split(pair, word, " ")
                for (i = split(of[named[pair], word[2]], to, " "); i > 0; i--)
                    if (!linked[word[1], to[i]]++) print word[1], to[i], word[2]
            }
        }' | sort
}

# circles: a line for each circle that tsort meets: each file calls the one behind it, and the
# last one the first.
circles() {
    cut -d' ' -f1,2 | tsort 2>&1 > /dev/null | awk '
        { sub(/.*: /, "") }
        /\// { circle = circle " " $0; next }
        circle { print "a circle:" circle; circle = "" }
        END { if (circle) print "a circle:" circle }'
}

# misplaced: what files include or call against the arrows, and files of no room, each after its
# room.
misplaced() {
    arrows=$arrows awk '
        function room(path) {
            while (sub(/\/[^\/]*$/, "", path)) if (path in is_room) return path
            return ""
        }
        function may(from, to) {
            return (from, to) in sees || (to != "" && to !~ "^tests" && (from, "all") in sees)
        }
        BEGIN {
            for (i = split(ENVIRON["arrows"], line, "\n"); i > 0; i--)
                for (j = split(line[i], word); j > 0; j--) {
                    is_room[word[1]] = 1
                    if (j > 1) sees[word[1], word[j]] = 1
                }
        }
        $2 == "." && room($1) == "" { print "none", $1, "is in no room" }
        $2 != "." && $2 != "config.h" && $2 != "build_info.h" && !may(room($1), room($2)) {
            print room($1) == "" ? "none" : room($1), $1,
                (NF > 2 ? "calls " $3 "() of" : "includes"), $2
        }'
}

# of ROOM: what is wrong there.
of() { printf '%s\n' "$wrong" | sed -n "s|^$1 ||p"; }

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

# What knows no backend, nor stands in for one's runtime: there is nothing of CUDA's or
# HIP's, but for what a stream is.
foreign_names() {
    sources lib emu analysis gpu | grep -v '^gpu/cuda/\|^gpu/hip/\|^gpu/module/rt\.h$' |
        xargs grep -noE '\b(cuda|hip)[A-Z][A-Za-z_]*' | grep -v ':\(cuda\|hip\)Stream_t$'
}

# raw_texts: where what prints texts of strangers writes other than by what escapes them.
raw_texts() {
    cd analysis || return
    grep -nE '\b(f|d|vf)?printf\(|\bf(write|putc)\(|\bfputs\([^"]' report/report_page.c \
        report/report_markdown.c cli/emit.c cli/emit_table.c cli/run_text.c |
        grep -vE 'fputs\((shown|report_(style|script)), to\)|fputs\(last \? "|"%%%02X"|fputc\(('"'\\\\\\\\'"'|'"'\\\\n'"'), (to|file)\)|^cli.*(sn|json_s)printf'
    cd ..
}

# opens: where a file is opened other than by what never waits for one.
opens() {
    sources lib emu gpu analysis | xargs grep -nE '\b(f|fre)?open(at)?\(' |
        grep -vE '^(lib/io/(stream|output)|analysis/(run/call_log|report/(plot|provenance)|cli/(bitcut|cmd_study)))\.c:|_open\(|/\*'
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

# Each file that says bitcut's version, and which; what is wrong if they are not one.
versions() {
    for said in 'configure.ac:^AC_INIT(\[bitcut\], \[\(.*\)\])' NEWS:'^bitcut \([0-9].*\)' \
        'CITATION.cff:^version: \(.*\)' 'python/bitcut/_library.py:^__version__ = "\(.*\)"' \
        'debian/changelog:^bitcut (\([^)]*\)).*'
    do
        echo "${said%%:*} $(sed -n "s/${said#*:}/\1/p" "${said%%:*}" | head -n 1)"
    done | awk '{ line[NR] = $0; seen[$2]++ || n++ } $2 == "" { n = 2 }
        END { if (n != 1) for (i = 1; i <= NR; i++) print line[i] }'
}

# What -std=c11 hides: with -pthread some headers show it, and elsewhere they do not.
posix_names='sig(action|emptyset|fillset|addset|delset|procmask|altstack|setjmp|longjmp)|kill|
pthread_(kill|sigmask|atfork)|clock_gettime|nanosleep|usleep|alarm|strn?dup|strnlen|strtok_r|strsignal|
fileno|fdopen|popen|pclose|open_memstream|fmemopen|getline|dprintf|mkdtemp|mkstemp|mkfifo|
(un)?setenv|putenv|secure_getenv|realpath|ftruncate|fsync|readlink|symlink|lstat|fchmod|
(local|gm)time_r|posix_memalign|sched_[gs]etaffinity|pipe2|memfd_create'

# A file that calls any of that says so before it includes anything.
posix_unasked() {
    sources lib emu gpu analysis tests | grep '\.c$' |
        xargs grep -LE '^#define _(POSIX_C|XOPEN|DEFAULT|GNU)_SOURCE' |
        xargs grep -nE "(^|[^[:alnum:]_.>])($(echo "$posix_names" | tr -d '\n')) ?\("
}

# What a rule runs as ./NAME is a program of ours, or made by the rule before it.
not_built() {
    awk '/^\t/ { while (match($0, /\.\/[[:alpha:]][[:alnum:]_\/]*/)) {
                     print substr($0, RSTART + 2, RLENGTH - 2)
                     $0 = substr($0, RSTART + RLENGTH) } }' Makefile.am | sort -u |
        while read -r name; do
            [ -e "$name.c" ] || grep -qE "_PROGRAMS[ +]*= *$name\$|-o $name( |\$)" Makefile.am ||
                echo "Makefile.am runs ./$name, which it does not make"
        done
}

# Sources without a line that names the licence, in the form that tools read.
unlicensed() {
    find lib emu gpu analysis tests examples python data doc debian bootstrap.sh configure.ac \
        Makefile.am .ci/run -type f \( -name '*.[chmR]' -o -name '*.inc' -o -name '*.cu' \
        -o -name '*.cuh' -o -name '*.hip' -o -name '*.py' -o -name '*.sh' -o -name '*.texi' \
        -o -name '*.css' -o -name '*.toml' -o -name '*.in' -o -name '*.a[cm]' -o -path '.ci/run' \
        -o -path 'debian/rules' \) ! -path 'python/build/*' \
        -exec grep -L 'SPDX-License-Identifier: BSD-3-Clause' {} +
}

# Reasons of skipped tests that are not worded by tests/tap.sh, or do not begin with "needs".
reasons() {
    grep -nE '# SKIP' tests/*.sh | grep -v -e '^tests/tap.sh:' -e '^tests/layers.sh:'
    grep -nE 'SKIP [^%]' tests/*.c tests/*/*.c | grep -v 'SKIP needs '
    grep -nE "(skipTest|skipUnless|skipIf)\(.*[\"'](no|not|the) " python/tests/*.py
}

rooms=$(printf '%s' "$arrows" | awk 'NF { print $1 }')
wrong=$(includes | misplaced)
calls=$(calls 2> /dev/null)
echo "1..$(($(echo "$rooms" | wc -l) + 14))"
ok_if_empty "every file is in a room" "$(of none)"
for room in $rooms; do
    ok_if_empty "$room includes only from where it may" "$(of "$room")"
done
if [ -n "$calls" ] && command -v tsort > /dev/null; then
    ok_if_empty "rooms call only where they may" "$(printf '%s\n' "$calls" | misplaced)"
    ok_if_empty "no files call each other in a circle" "$(printf '%s\n' "$calls" | circles)"
else
    skip "rooms call only where they may" "the objects of the build, nm and tsort"
    skip "no files call each other in a circle" "the objects of the build, nm and tsort"
fi
ok_if_empty "headers are guarded by their own name" "$(guards)"
ok_if_empty "a runtime is called in its backend's room alone" "$(foreign_names)"
ok_if_empty "texts are written by what escapes them" "$(raw_texts)"
ok_if_empty "files are opened by what never waits" "$(opens)"
ok_if_empty "no two files have one name" "$(same_names)"
ok_if_empty "what POSIX has is asked for" "$(posix_unasked)"
ok_if_empty "Makefile.am names every source and test" "$(unlisted)"
ok_if_empty "Makefile.am runs what it makes" "$(not_built)"
ok_if_empty "all files say the same version" "$(versions)"
ok_if_empty "skipped tests say what they need" "$(reasons)"
ok_if_empty "every source names its licence" "$(unlicensed)"
