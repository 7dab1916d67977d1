#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A net under changes of the code's structure, which no other test runs:
#
#     tests/net.sh FOLDER [SOURCE [SCRIPT...]]
#
# in the build folder runs the commands of README.md and of the manual, and the tests that
# are scripts, with a program in front of bitcut that keeps in FOLDER what each command line
# printed, its exit status, and the files of its -o.  A command line without -o is run once
# more in the other form: as text if it has --json, else with --json.  Times, temporary
# folders and versions are masked.  Two folders, of a build before and of one after a change,
# are compared by `diff -r`.  SOURCE is the checkout whose documents, data and scripts are
# used (srcdir, else "."): the same for both folders.  SCRIPT: some of the tests, "cli.sh".
set -u
folder=${1:?a folder is needed}
source=$(cd "${2:-${srcdir:-.}}" && pwd) || exit 99
[ $# -lt 3 ] || { shift 2; scripts=$*; }
# Not those that break what a call of the system gives, that interrupt, or that time.
: "${scripts:=documents.sh cli.sh gemm.sh sets.sh results.sh bad_input.sh explain.sh advise.sh probe.sh record.sh report.sh
    audit.sh study.sh host.sh libraries.sh programs.sh run.sh run_surroundings.sh kernels.sh devices.sh gfx9.sh
    hsaco.sh mutants.sh keys.sh reference.sh places.sh}"
build=$PWD
[ -x "$build/bitcut" ] || { echo "net.sh: no ./bitcut: run it in the build folder" >&2; exit 99; }
mkdir -p "$folder" || exit 99
folder=$(cd "$folder" && pwd)
front=$(mktemp -d) || exit 99
trap 'rm -rf "$front"' EXIT

# What differs between two runs of one program.
cat > "$front/mask" << 'END'
s~/[^ ":]*/build\([/ ":(]\|$\)~BUILD\1~g
s~"commit":"[^"]*"~"commit":MASKED~g
s~/tmp/[^ /:,"']*~TMP~g
s~"\([a-z_]*second[a-z]*\|[a-z_]*per_s\|speed[a-z_]*\|date\|started\|pid\|time\|cpu\|rounds\|load[a-z_]*\)":[^][,{}]*~"\1":MASKED~g
s~^\( *\)[a-z_]*second[a-z_]* .*~\1SECONDS~
s~[0-9.]\{1,\}\(e[-+][0-9]*\)\{0,1\} \(s\|ms\|us\|ns\|seconds\)\([ ,;:)]\|$\)~TIME \2\3~g
s~[0-9]\{4\}-[0-9][0-9]-[0-9][0-9][T ][0-9:]*Z\{0,1\}~DATE~g
s~\(bitcut [0-9.]*\)[-+][-a-z0-9.+]*~\1~g
END

cat > "$front/bitcut" << 'END'
#!/bin/sh
mask() { sed -f "$NET_FRONT/mask" "$@"; }
kept() { (cd "$1" 2> /dev/null && find . -type f -size -2000k | sort) | while read -r file; do
    mkdir -p "$2/$(dirname "$file")"; mask "$1/$file" > "$2/$file"; done; }
[ $# -gt 0 ] && key=$1 || key=none
key=$(printf %s "$key" | tr -c 'a-z0-9-' _ | cut -c 1-20)-$(printf '%s\n' "$@" | mask | cksum | cut -d ' ' -f 1)
at=$NET_FOLDER/$key
i=1
until mkdir "$at.$i" 2> /dev/null; do i=$((i + 1)); done
at=$at.$i
printf '%s\n' "$@" | mask > "$at/words"
raw=$(mktemp -d)
"$NET_BUILD/bitcut" "$@" > "$raw/out" 2> "$raw/err"
status=$?
echo "$status" > "$at/status"
mask "$raw/out" > "$at/out"
mask "$raw/err" > "$at/err"
cat "$raw/out"
cat "$raw/err" >&2
output= other=json more=--json again=1
for word; do
    case $word in
    --json) other=text more= ;;
    --) again= ;;
    -o | --save-a | --save-b | --set) again= ;;
    esac
    [ "$output" != next ] || output=$word
    [ "$word" != -o ] || output=next
done
case $output in
'' | next | - | /dev/*) ;;
*)  if [ -d "$output" ]; then kept "$output" "$at/files"
    elif [ -f "$output" ]; then mask "$output" > "$at/file"; fi ;;
esac
case ${1-} in '' | run | record | --* | -*) again= ;; esac
if [ -n "$again" ] && [ $status -le 1 ]; then
    count=$#
    while [ $count -gt 0 ]; do
        word=$1
        shift
        [ "$word" = --json ] || set -- "$@" "$word"
        count=$((count - 1))
    done
    timeout 100 "$NET_BUILD/bitcut" "$@" $more < /dev/null > "$raw/out" 2> "$raw/err"
    echo $? > "$at/$other.status"
    mask "$raw/out" > "$at/$other"
    mask "$raw/err" > "$at/$other.err"
fi
rm -rf "$raw"
exit $status
END
chmod +x "$front/bitcut"

for script in $scripts; do
    [ ! -e "$folder/$script" ] || { echo "net.sh: $folder/$script is there" >&2; exit 99; }
    mkdir "$folder/$script"
    # As `make check` runs them (AM_TESTS_ENVIRONMENT).
    env srcdir="$source" BITCUT_DATA="$source/data" BITCUT_MODULES="$build" \
        CC="${CC:-gcc}" CFLAGS="${CFLAGS:--O2}" NM="${NM:-nm}" LDFLAGS= HARDENING= HIP_FLAGS= \
        OMP_WAIT_POLICY=passive NET_FRONT="$front" NET_BUILD="$build" \
        NET_FOLDER="$folder/$script" PATH="$front:$build:$PATH" \
        timeout 1200 sh "$source/tests/$script" 2>&1 | sed -f "$front/mask" > "$folder/$script.tap"
    echo "$script: $(ls "$folder/$script" | wc -l) command lines, $(grep -c '^not ok' "$folder/$script.tap") failed"
done
