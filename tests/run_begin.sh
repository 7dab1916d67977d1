# SPDX-License-Identifier: BSD-3-Clause
# What the tests of bitcut run share, in a folder of their own: programs with a BLAS of the
# test's own (tests/run/blas_stub.c), scenes of them, and what is said of their calls.
# shellcheck shell=sh
: "${srcdir:=.}" "${CC:=cc}" "${CFLAGS:=}" "${NM:=nm}"
source=$(cd "$srcdir" && pwd)
libraries=$PWD/.libs
: "${BITCUT_MODULES:=$PWD}"
export BITCUT_MODULES
unset LD_PRELOAD
for variable in $(env | sed -n 's/^\(BITCUT_RUN[A-Z_]*\)=.*/\1/p'); do unset "$variable"; done
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
unset TMPDIR
work=$(cd "$work" && pwd -P)
cd "$work" || exit 99

library=$BITCUT_MODULES/bitcut-run.so
[ -f "$libraries/libbitcut.so" ] || skip_all shared

# Programs that no sanitizer instruments cannot have a library that one does, its symbolizer
# among them; a child of threads may hang in its malloc(); both libraries have the same rows.
sanitized=
case $CFLAGS in *-fsanitize*)
    sanitized=yes
    ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_odr_violation=0:symbolize=0
    UBSAN_OPTIONS=symbolize=0
    export ASAN_OPTIONS UBSAN_OPTIONS
    ;;
esac

# built FILE WORD...: compile and link with the project's headers.  Without optimisation: what calls
# does nothing else, and a BLAS with all its names takes seconds to compile.
built() {
    file=$1
    shift
    # shellcheck disable=SC2086 # a list of words
    $CC -std=c11 $CFLAGS -O0 -g0 -I"$source" -o "$file" "$@" -Wl,-rpath,"$work" \
        -Wl,-rpath,"$libraries" 2>&1 | grep -E 'error|undefined|cannot'
    [ -f "$file" ]
}

here=$source/tests/run
with_stub="-L. -lstub $libraries/libbitcut.so -lm -ldl -lpthread"
# shellcheck disable=SC2086
{
    built libstub.so -shared -fPIC "$here/blas_stub.c" &&
        built client "$here/blas_client.c" "$here/blas_call.c" $with_stub &&
        { built scenes -fopenmp "$here/blas_scenes.c" $with_stub ||
            built scenes "$here/blas_scenes.c" $with_stub; } &&
        built libuser.so -shared -fPIC "$here/blas_user.c" -L. -lstub &&
        built libalone.so -shared -fPIC "$here/blas_user.c" &&
        built late "$here/blas_late.c" -ldl &&
        built early -Wl,--no-as-needed "$here/blas_late.c" -L. -luser -ldl
} > log || { cat log; echo "Bail out! programs are not compiled"; exit 1; }

# counts WORD...: the values of those keys in the last line of `err`.
counts() {
    for key; do tail -n 1 err | sed -n "s/.*\"$key\":\"\{0,1\}\([^,\"}]*\).*/\1/p"; done |
        paste -s -d ' ' -
}

# line PATTERN: what is wrong if no line of `err` is like that.
line() { grep -q -- "$1" err || { echo "no line: $1"; cat err; }; }

SCENE_RECIPE=ootomo SCENE_UNIT=ampere/mma.m16n8k16.f32.f16
export SCENE_RECIPE SCENE_UNIT
way=$SCENE_RECIPE@$SCENE_UNIT
as="--recipe $SCENE_RECIPE --unit $SCENE_UNIT"

# ran STATUS WORD...: bitcut run with options and a program; what is wrong if its status is
# another, or the program prints something.
ran() {
    wanted=$1
    shift
    # shellcheck disable=SC2086
    timeout 100 bitcut run $as "$@" > out 2> err < /dev/null
    status=$?
    own_errors err
    [ $status -eq "$wanted" ] || echo "run $*: status $status, not $wanted"
    cat out
}

scenes=./scenes

# scene STATUS COUNTS NAME: processes, taken, empty and illegal calls of a scene.
scene() {
    ran "$1" --json -- $scenes "$3"
    [ "$(counts processes taken empty illegal failed lost)" = "$2 0 0" ] || tail -n 1 err
    grep -v '^{' err
}

$NM -D --defined-only "$library" | awk '{ print $NF }' | grep -v '^_\|^cublas\|^dlsym$' > names

# said KEY...: the same of the client's own account.
said() {
    for key; do tail -n 1 out | sed -n "s/.*\"$key\":\([0-9]*\).*/\1/p"; done | paste -s -d ' ' -
}

# The products of BLAS level 3, with matrix times vector, their batches and what is theirs of
# complex ones alone, in each type; and each of them under every kind of name.
routines() {
    for type in s d c z; do
        for routine in gemv gemm gemmt gemmtr gemm_batch gemm_batch_strided symm syrk syr2k trmm \
            trsm; do
            echo $type$routine
        done
    done
    for type in c z; do
        for routine in gemm3m hemm herk her2k; do echo $type$routine; done
    done
}

# called RECIPE UNIT [AGAINST]: every name by this way, on device $on if that is not empty;
# all outputs are compared with another.  A client of FP64 has a scheme in place of a recipe.
on= client=./client kind=recipe
called() {
    against=${3:+--against $3} both=
    [ "${3:-}" != original ] || both=both
    # shellcheck disable=SC2086 # words, or none
    bitcut run --$kind "$1" --unit "$2" ${on:+--device $on} $against --json -- \
        $client "$1" "$2" $both \
        < names > out 2> err || echo "status $?"
    grep -v '^{' out
    grep -v '^{' err
    kinds='taken empty illegal others'
    # shellcheck disable=SC2086 # words
    [ "$(counts $kinds passed failed lost)" = "$(said $kinds) 0 0 0" ] ||
        echo "counted: $(counts $kinds passed failed lost), not $(said $kinds)"
    [ "$(said names wrong)" = "$((9 * $(routines | wc -l))) 0" ] || tail -n 1 out
    [ "$(said outputs)" -gt 100000 ] || echo "only $(said outputs) outputs"
    compared=$(sed -n 's/.*"outputs":\([0-9]*\),.*/\1/p' err | awk '{ n += $1 } END { print n + 0 }')
    [ -z "$against" ] || [ "$compared" = "$(said outputs)" ] || echo "$compared compared"
}
