#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# README.md and the manual tell the truth.  A line `$ command` in a ```console block of
# README.md, or in an @example of the manual that begins with one, is run; a line that ends
# with \ goes on in the next one, as do lines that begin with `> `.  What stands below is its
# output, errors included, but for spaces and line breaks; `...` stands for what is left out.
# Commands run one after the other in a folder with the project's data, of the manual one a
# chapter, with the build first in PATH and the library as if it were installed.
#
# A comment before an @example says what the test cannot know: `@c not run: WHY`, or `@c
# needs: COMMAND`, without which it is left out, or `@c whole: WHY`: it is run with BITCUT_WHOLE
# only.  With BITCUT_BRIEF only README.md, the tour, the
# tutorials and the chapter on continuous integration are run.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
case ${CFLAGS:-} in
*-fsanitize*) skip_all plain ;;
esac
unset BITCUT_DATA BITCUT_MODULES
source=$(cd "${srcdir:-.}" && pwd)
build=$PWD
[ -f .libs/libbitcut.so ] || skip_all shared
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99

# The compiler of the build, and pkg-config as it is where the library is installed.
mkdir bin
cat > bin/cc << END
#!/bin/sh
PATH=$PATH
exec ${CC:-cc} ${CFLAGS:-} "\$@"
END
cat > bin/pkg-config << END
#!/bin/sh
echo -I$source/lib -L$build/.libs -lbitcut -Wl,-rpath,$build/.libs
END
chmod +x bin/cc bin/pkg-config
# Debian's Python where the first has no NumPy; and the package, with the library of the build.
if ! python3 -c 'import numpy' 2> needs.log && /usr/bin/python3 -c 'import numpy' 2> needs.log; then
    ln -s /usr/bin/python3 bin
fi
PATH=$work/bin:$PATH BITCUT_LIBRARY=$build/.libs/libbitcut.so PYTHONDONTWRITEBYTECODE=1
export BITCUT_LIBRARY PYTHONDONTWRITEBYTECODE
ln -s "$source/python" .

# numbered MANUAL AFTER: number the commands: N.command, N.shown, N.chapter and, of some, N.not or N.needs.
numbered() {
    awk -v manual="$1" -v n="$2" -v brief="${BITCUT_BRIEF:-}" '
        function plain(line) {
            gsub(/@dots\{\}/, "...", line)
            gsub(/@(var|r|dots|var)\{/, "", line)
            gsub(/@\{/, "\001", line); gsub(/@\}/, "\002", line); gsub(/@@/, "@", line)
            gsub(/\001/, "{", line); gsub(/\002/, "}", line)
            return line
        }
        function opens(line) { return manual ? line ~ /^@(small)?example$/ : line == "```console" }
        function closes(line) { return manual ? line ~ /^@end (small)?example$/ : line ~ /^```/ }
        manual && /^@chapter / { chapter++; tutorial = /Tutorial|A tour|Continuous integration/ }
        opens($0) { inside = 1; first = 1; next }
        closes($0) { inside = more = 0; note = ""; next }
        !inside && sub(/^(@c|<!--) /, "") && /^(not run|needs|whole): / {
            note = $0
            sub(/ -->$/, "", note)
            next
        }
        !inside { note = ""; next }
        first && manual && !/^\$ / { inside = 0; note = ""; next }
        { first = 0; line = manual ? plain($0) : $0 }
        more || sub(/^\$ /, "", line) {
            if (!more) {
                n++
                printf "" > (n ".shown")
                print chapter + 0 > (n ".chapter")
                if (note ~ /^not/) print substr(note, 10) > (n ".not")
                else if (brief && manual && !tutorial)
                    print "BITCUT_BRIEF is set" > (n ".not")
                else if (note ~ /^whole/) print substr(note, 8) > (n ".whole")
                else if (note) print substr(note, 8) > (n ".needs")
            } else sub(/^> /, "", line)
            print line > (n ".command")
            more = line ~ /\\$/
            next
        }
        /^> / { sub(/^> /, "", line); print line > (n ".command"); next }
        n { print line > (n ".shown") }
        END { print n + 0 }
    '
}

# missing SHOWN OUTPUT: what of the one is not in the other, in this order and without gaps.
missing() {
    awk 'FILENAME == ARGV[1] { gsub(/[ \t]/, ""); shown = shown $0; next }
         { gsub(/[ \t]/, ""); output = output $0 }
         END {
             parts = split(shown, part, /\.\.\./)
             if (parts == 0) parts = 1
             for (i = 1; i <= parts; i++) {
                 here = index(output, part[i])
                 if (part[i] == "") here = 1
                 if (i == parts && i > 1 && part[i] != "")
                     here = length(output) - length(part[i]) + 1
                 if (here < 1 || substr(output, here, length(part[i])) != part[i] ||
                     (i == 1 && here > 1)) {
                     print "not there: " part[i]
                     print "but: " substr(output, 1, 2000)
                     exit
                 }
                 output = substr(output, here + length(part[i]))
             }
             if (parts == 1 && output != "") print "more than is shown: " output
         }' "$1" "$2"
}

# problem N: what is wrong with a command.
problem() {
    folder=$work/$document$(cat "$1.chapter")
    if [ ! -d "$folder" ]; then
        mkdir "$folder"
        ln -s "$source/data" "$source/examples" "$source/python" "$folder"
    fi
    (cd "$folder" && sh "$work/$1.command") < /dev/null > "$1.output" 2>&1 ||
        echo "failed: $(tail -n 3 "$1.output")"
    missing "$1.shown" "$1.output"
}

# has FILE: whether its command succeeds.  Many need the same, which is tried once.
has() {
    had=had.$(cksum < "$1" | tr ' ' .)
    [ -f "$had" ] || { sh "$1" > needs.log 2>&1; echo $? > "$had"; }
    [ "$(cat "$had")" = 0 ]
}

# run_all FIRST LAST
run_all() {
    for i in $(seq "$1" "$2"); do
        name="$document: $(head -n 1 "$i.command")"
        if [ -f "$i.not" ]; then skip_because "$name" "$(cat "$i.not")"
        elif [ -f "$i.whole" ] && ! is_whole; then skip "$name" all
        elif [ -f "$i.needs" ] && ! has "$i.needs"; then
            skip "$name" "$(cat "$i.needs")"
        else ok_if_empty "$name" "$(problem "$i")"
        fi
    done
}

# The manual, with what it includes.
manual() {
    awk '/^@include / { while ((getline line < (folder "/" $2)) > 0) print line; next } { print }' \
        folder="$source/doc" "$source/doc/bitcut.texi"
}

readme=$(numbered "" 0 < "$source/README.md")
all=$(manual | numbered 1 "$readme")
[ "$readme" -gt 0 ] && [ "$all" -gt "$readme" ] || { echo "Bail out! no commands"; exit 1; }
echo "1..$all"
document=README.md
run_all 1 "$readme"
document=manual
run_all $((readme + 1)) "$all"
