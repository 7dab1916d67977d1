#!/bin/sh
# README.md tells the truth.  In a ```console block each line `$ command` is run, and the
# lines below it must be in its output in that order; a line `...` stands for lines left
# out.  Commands run one after the other in an empty folder, with the build first in PATH.
set -u
unset BITCUT_DATA BITCUT_MODULES
readme=$(cd "${srcdir:-.}" && pwd)/README.md
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99
mkdir run

# Number the commands: N.command and N.shown.
awk '
    /^```console$/ { inside = 1; next }
    /^```/ { inside = 0 }
    !inside { next }
    sub(/^\$ /, "") { n++; print > (n ".command"); printf "" > (n ".shown"); next }
    n && !/^\.\.\.$/ { print > (n ".shown") }
    END { print n + 0 }
' "$readme" > count
count=$(cat count)

# missing SHOWN OUTPUT: the first shown line that is not in the rest of the output.
missing() {
    awk 'FILENAME == ARGV[1] { shown[++n] = $0; next }
         at < n && $0 == shown[at + 1] { at++ }
         END { if (at < n) print "not in the output: " shown[at + 1] }' "$1" "$2"
}

[ "$count" -gt 0 ] || { echo "Bail out! no console block in README.md"; exit 1; }
echo "1..$count"
for n in $(seq "$count"); do
    command=$(cat "$n.command")
    if ! (cd run && sh -c "$command") < /dev/null > "$n.output" 2> "$n.errors"; then
        problem="failed: $(tail -n 3 "$n.errors")"
    else
        problem=$(missing "$n.shown" "$n.output")
    fi
    [ -z "$problem" ] && echo "ok $n - $command" && continue
    echo "not ok $n - $command"
    printf '%s\n' "$problem" | sed 's/^/# /'
done
