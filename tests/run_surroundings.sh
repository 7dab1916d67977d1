#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bitcut run under bad conditions: programs that end early, closed streams, programs that
# cannot start, invalid variables, and full disks; and the messages for programs without
# products.
# Run in the build folder with srcdir, CC, CFLAGS and NM set, as `make check` does.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
# shellcheck source=tests/run_begin.sh
. "${srcdir:-.}/tests/run_begin.sh"

# --- ends ---------------------------------------------------------------------------------

ends() {
    scene 7 "1 1 0 0" seven
    scene 137 "1 3 0 0" killed
    # shellcheck disable=SC2086
    bitcut run $as --json -- ./scenes waits > out 2> err &
    process=$!
    tries=0
    while ! grep -q waiting out && [ $tries -lt 100 ]; do sleep 0.1; tries=$((tries + 1)); done
    kill -TERM $process
    wait $process
    status=$?
    [ $status = 42 ] || echo "SIGTERM: status $status"
    [ "$(counts taken)" = 1 ] || cat err
}

# with_closed STATUS NUMBERS WORD...: what is wrong if that is not the status where the
# streams of those numbers are closed; the others go to closed1 and closed2.
with_closed() {
    wanted=$1 numbers=$2
    shift 2
    rm -f opened closed.jsonl closed1 closed2
    (
        case $numbers in *0*) exec <&- ;; esac
        case $numbers in *1*) exec >&- ;; *) exec > closed1 ;; esac
        case $numbers in *2*) exec 2>&- ;; *) exec 2> closed2 ;; esac
        exec "$@"
    ) < /dev/null
    status=$?
    [ $status = "$wanted" ] || echo "$* with $numbers closed: status $status, not $wanted"
}

# A closed stream: nothing goes into a file that has its number, and the status is the
# program's own, or that of a command that cannot print.
# shellcheck disable=SC2086 # words
closed_streams() {
    ln -s /proc/self/fd/1 stdout # as /dev/stdout is
    for numbers in 0 1 2 01 02 12 012; do
        with_closed 0 $numbers bitcut run $as --json -o closed.jsonl -- ./scenes opens
        case $numbers in *1*) ;; *) cat closed1 ;; esac
        [ "$(wc -l < closed.jsonl)" = 2 ] || echo "$numbers: rows: $(cat closed.jsonl)"
        case $numbers in *2*) ;; *) diff closed2 closed.jsonl ;; esac
        with_closed 7 $numbers bitcut run $as -- ./scenes seven
        case $numbers in *1*) ;; *) cat closed1 ;; esac
        case $numbers in *1*) wanted=3 ;; *) wanted=0 ;; esac
        gemm="bitcut gemm $as -m 2 -n 2 -k 2"
        with_closed $wanted $numbers $gemm --json -o closed.npy
        $gemm -o want.npy > out
        cmp closed.npy want.npy
        case $numbers in
        2 | 02)
            with_closed 125 $numbers bitcut run --rule x -- ./scenes once
            BITCUT_RUN=ootom@a100 LD_PRELOAD=$library with_closed 1 $numbers ./scenes opens
            [ ! -s opened ] || { echo "$numbers: in the program's file:"; cat opened; }
            ;;
        1 | 01)
            grep -qx 'bitcut: standard output: Bad file descriptor' closed2 || cat closed2
            with_closed 125 $numbers bitcut run $as -o stdout -- ./scenes once
            ;;
        esac
    done
}

# --- bad surroundings ---------------------------------------------------------------------

# says STATUS LINE WORD...: what is wrong if that is not the status, or the one line on
# standard error after "bitcut: "; ... in it is anything.
says() {
    wanted=$1 line=$2
    shift 2
    "$@" > out 2> err < /dev/null
    status=$?
    own_errors err
    [ $status -eq "$wanted" ] || echo "$*: status $status, not $wanted"
    [ ! -s out ] || cat out
    pattern=$(printf '%s\n' "$line" | sed 's/[][*.^$\/]/\\&/g; s/\\\.\\\.\\\./.*/g')
    { [ "$(wc -l < err)" -eq 1 ] && grep -q "^bitcut: $pattern\$" err; } || cat err
}

# shellcheck disable=SC2086
bad_begin() {
    run="bitcut run $as"
    says 127 'run: ./none: No such file or directory' $run -- ./none
    says 127 'run: none-such: No such file or directory' $run -- none-such
    says 126 'run: ./names: Permission denied' $run -- ./names
    says 126 'run: ./: Is a directory' $run -- ./
    says 125 'run requires a program: bitcut run --recipe R --unit U -- PROGRAM ARGUMENTS' $run
    says 125 'run requires a program: bitcut run --recipe R --unit U -- PROGRAM ARGUMENTS' $run --
    says 125 'run: unexpected argument "./scenes" (the program comes after --)' \
        $run ./scenes once
    says 125 'run requires --recipe or --scheme with --unit, --rule, --against or --audit' \
        bitcut run -- ./scenes once
    says 125 '--recipe, --unit are both required...' bitcut run --unit a100 -- ./scenes
    says 125 '--recipe: unknown name "ootom"; did you mean ootomo...' \
        bitcut run --recipe ootom --unit a100 -- ./scenes once
    says 125 '--against: unknown unit "x100"; did you mean ...' \
        bitcut run --against ootomo@x100 -- ./scenes once
    says 125 '--rule: expected PATTERN=RECIPE@UNIT such as ...' \
        bitcut run --rule ootomo@a100 -- ./scenes once
    says 125 '--folder: ./none: No such file or directory' $run --folder ./none -- ./scenes
    says 125 '--folder: names: Not a directory' $run --folder names -- ./scenes once
    says 125 '--folder: folder: the folder has the logs of another run (see --read); choose an empty folder' \
        $run --folder folder -- ./scenes once
    says 125 'none/x: No such file or directory' $run -o none/x -- ./scenes once
    says 125 './none: No such file or directory' bitcut run --read ./none
    says 125 '--read cannot be combined with a program' \
        bitcut run --read . -- ./scenes once
    says 125 './none/bitcut-run.so: No such file or directory (the library of bitcut run; BITCUT_MODULES sets its folder)' \
        env BITCUT_MODULES=./none $run -- ./scenes once
    says 125 '/none: cannot create a folder: No such file or directory (TMPDIR ...' \
        env TMPDIR=/none $run -- ./scenes once
    mkdir 'a b'
    ln -s "$library" 'a b/bitcut-run.so'
    says 125 '...a b/bitcut-run.so: the loader does not accept a path with a blank or a colon' \
        env "BITCUT_MODULES=$work/a b" $run -- ./scenes once
    printf '#!/none\n' > script && chmod +x script
    says 126 'run: ./script: its interpreter or loader does not exist' \
        $run -- ./script
    { printf '\177ELF\1\1\1'; head -c 100 /dev/zero; } > elf32 && chmod +x elf32
    says 125 'run: ./elf32: unsupported: the program is built for another machine or word size than bitcut' \
        $run -- ./elf32
    echo text > damaged.ledger
    says 125 '.: damaged.ledger: not written by this version of bitcut run' \
        bitcut run --read .
    rm damaged.ledger
}

# shellcheck disable=SC2086
bad_rights() {
    says 125 'run: ./suid: unsupported: the program is setuid, setgid or has capabilities, so the loader ignores preloaded libraries' \
        bitcut run $as -- ./suid once
}

# shellcheck disable=SC2086
static_program() {
    says 125 'run: ./static: unsupported: the program is linked statically; link it with a shared BLAS' \
        bitcut run $as -- ./static
}

# Programs that run, and what is said of no products.
# shellcheck disable=SC2086
none_seen() {
    run="bitcut run $as"
    none='run: no product was seen:'
    says 0 "$none the program contains sgemm_, linked statically, where the library cannot replace it: link it with a shared BLAS" \
        $run -- ./own
    says 0 "$none no process had a BLAS library when it ended" $run -- ./nothing
    says 0 "$none libstub.so is loaded, but no FP32 product of level 3 was called: the program has none, or its own code or LAPACK inside the library computes it" \
        $run -- ./unused
    says 0 "$none no process wrote a log in the folder" bitcut run --read empty
    [ -n "$sanitized" ] ||
        says 0 "$none the process that loaded the library was killed, ended by _exit() as shells do, became another program that cleared LD_PRELOAD or runs with other rights, or could not write its log (a line above gives the reason)" \
            $run -- env -u LD_PRELOAD ./nothing
}

# preloaded SCENE: with the variables that are set.
preloaded() { LD_PRELOAD=$library ./scenes "$1" > out 2> err; }

in_environment() {
    BITCUT_RUN=ootom@a100 preloaded once && echo "not the library's own product"
    line '^bitcut: run: BITCUT_RUN: unknown recipe "ootom"; did you mean ootomo, .*; products are computed by the program.s own library$'
    BITCUT_RUN=$way BITCUT_RUN_FOLDER=/none preloaded once || cat out
    line '^bitcut: run: /none: No such file or directory; process [0-9]* writes no log$'
    [ "$(wc -l < err)" = 1 ] || cat err
    BITCUT_RUN_RULES=x BITCUT_RUN_FOLDER=empty preloaded once
    line '^bitcut: run: BITCUT_RUN_RULES: expected PATTERN=RECIPE@UNIT such as .*, found "x"'
    bitcut run --read empty > out 2> err
    line '^bitcut: run: BITCUT_RUN_RULES: expected PATTERN'
    rm empty/*
}

limits() {
    (ulimit -f 10 && BITCUT_RUN=$way BITCUT_RUN_FOLDER=empty preloaded once) ||
        echo "ended by a limit of files: $?"
    line 'empty: File too large; process [0-9]* writes no log$'
    ran 0 --json -- sh -c 'ulimit -v 150000; exec ./scenes starved'
    [ "$(counts taken failed)" = '0 2' ] || tail -n 1 err
    line '"fault":"[a-z ]*memory'
    ran 0 -- sh -c 'ulimit -v 150000; exec ./scenes starved'
    line "^bitcut: run: 2 calls COMPUTED BY THE PROGRAM'S OWN LIBRARY, because bitcut could not: see fault\$"
}

# A disk with room for nothing, then for a head alone.
full_disk() {
    size=$(getconf PAGESIZE)
    mount -t tmpfs -o size="$size" tmpfs disk || return
    ran 0 --folder disk -- ./scenes once
    line '^bitcut: run: .*/disk: No space left on device; process [0-9]* writes no log$'
    line '^bitcut: run: no product was seen: no process loaded the library and wrote a log'
    umount disk
    mount -t tmpfs -o size=$((8 * size)) tmpfs disk || return
    ran 0 --folder disk -- ./scenes once
    line '^bitcut: run: 1 call came from more call sites than the log has room for, in memory or on disk'
    grep 'no product was seen' err
    umount disk
}

true > names
mkdir folder
ok_if_empty "a folder that another run wrote" "$(ran 0 --folder folder --json -- ./scenes once)"
ok_if_empty "ends" "$(ends)"
ok_if_empty "closed streams" "$(closed_streams)"
ok_if_empty "what cannot begin is told in a line" "$(bad_begin)"
for program in id scenes; do
    cp "$(command -v ./$program || command -v $program)" suid 2> /dev/null &&
        chown 12345 suid 2> /dev/null && chmod 4755 suid
    [ $program != id ] || gained=$(./suid -u)
done
if [ "$gained" = 12345 ]; then ok_if_empty "rights" "$(bad_rights)"
else skip "rights" root; fi
echo 'void sgemm_(void); void sgemm_(void) { } int main(void) { sgemm_(); return 0; }' > own.c
echo 'int main(void) { return 0; }' > nothing.c
if [ -z "$sanitized" ] && built static -static own.c > /dev/null; then
    ok_if_empty "a static program" "$(static_program)"
else skip "a static program" "static libraries of C to link with"; fi
mkdir empty disk
ok_if_empty "programs without products" "$(built own own.c; built nothing nothing.c
    built unused -Wl,--no-as-needed nothing.c -L. -lstub)"
ok_if_empty "why nothing was seen" "$(none_seen)"
ok_if_empty "wrong variables" "$(in_environment)"
if [ -n "$sanitized" ]; then skip "limits" plain
else ok_if_empty "limits of memory and files" "$(limits)"; fi
if [ "$(id -u)" = 0 ] && mount -t tmpfs tmpfs disk 2> /dev/null && umount disk; then
    ok_if_empty "a full disk" "$(full_disk)"
else skip "a full disk" "root, to mount a file system"; fi
echo "1..$n"
