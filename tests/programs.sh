#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Results of programs on units (data/run/programs.jsonl): the manual's tables consist of
# these rows, every call was computed, and the recorded calls have the bits of `bitcut
# gemm`; and NumPy, where it is available, gives the same bits now.  The library that
# recorded calls, loaded before bitcut's, leads to no infinite recursion.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
source=$(cd "${srcdir:-.}" && pwd)
rows=$source/data/run/programs.jsonl
build=$PWD
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99

in_manual() {
    sh "$source/examples/run/tables.sh" "$rows" > lines
    [ "$(wc -l < lines)" -gt 60 ] || cat lines
    while read -r line; do
        grep -qxF -e "$line" "$source/doc/programs.texi" || echo "manual: not $line"
    done < lines
}

# An audit watches every place, within its time.
audits() {
    grep '"case": "audit"' "$rows" > runs
    [ "$(wc -l < runs)" -eq 8 ] || echo "$(wc -l < runs) audits"
    sed 's/.*"call_sites": \([0-9]*\), "watched": \([0-9]*\),.*"share": \([0-9.]*\)}/\1 \2 \3/' runs |
        awk '!($1 <= $2 && $3 < 10)'
}

# Runs in which calls were not taken, or reached the library, or have other bits.
calls() {
    grep '"case": "calls"' "$rows" | grep -v '"configuration": "own"' > runs
    [ "$(wc -l < runs)" -eq 64 ] || echo "$(wc -l < runs) runs"
    grep -v '"taken": [1-9].*"failed": 0, "empty": 0, "original": 0' runs
    grep -vE '"sampled": ([1-9][0-9]*), "equal": \1}' runs
}

# The same of FP64 programs by schemes: the tables, all calls computed, and the factors of the
# LU in FP64 by the scheme, which no library has a part in.
in_fp64() {
    rows64=$source/data/run/fp64.jsonl
    PYTHONDONTWRITEBYTECODE=1
    export PYTHONDONTWRITEBYTECODE
    python3 "$source/examples/run/fp64.py" --table "$rows64" > lines
    [ "$(wc -l < lines)" -eq 44 ] || cat lines
    while read -r line; do
        grep -qxF -e "$line" "$source/doc/programs.texi" || echo "manual: not $line"
    done < lines
    grep -v '"scheme": "own"' "$rows64" | grep -v '"taken": [1-9][0-9]*, "failed": 0, "empty": 0}$'
}

now_fp64() {
    bitcut run --scheme ozimmu-h --parts 4 --unit h100 -- python3 "$source/examples/run/lu64.py" \
        > out 2> err || cat err
    for of in 1e1 1e6 1e12; do
        want=$(sed -n "s/.*\"ozimmu-h\", \"parts\": 4, \"case\": \"LU $of\".*\(\"digest\": [^,]*\),.*/\1/p" "$source/data/run/fp64.jsonl")
        [ -n "$want" ] || echo "no row of $of"
        grep "\"LU $of\"" out | grep -q "$want" || cat out
    done
}

# Only labels of K-means are those of FP32.
differ() { grep '"same": true' "$rows" | grep -v '"configuration": "own"' | grep -v '"case": "sklearn"'; }

# The digests of a program in NumPy, which no library has a part in.
now() {
    PYTHONDONTWRITEBYTECODE=1 bitcut run --recipe legemm --unit mi210 -- python3 \
        "$source/examples/run/matmul.py" > out 2> err || cat err
    for of in signed positive small; do
        want=$(sed -n "s/.*\"configuration\": \"legemm@mi210\", \"case\": \"$of\".*\(\"digest\": [^,]*\),.*/\1/p" "$rows")
        [ -n "$want" ] || echo "no row of $of"
        grep "\"$of\"" out | grep -q "$want" || cat out
    done
}

# A call that a library in front of bitcut's forwards goes to the program's own, although that
# is open for one library alone, and not to the one in front again.
in_front() {
    cat > plug.c << END
void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *,
            const double *, const int *, const double *, const int *, const double *, double *,
            const int *);
#ifdef BLAS
void dgemm_(const char *ta, const char *tb, const int *m, const int *n, const int *k,
            const double *alpha, const double *a, const int *lda, const double *b,
            const int *ldb, const double *beta, double *d, const int *ldd) { *d = 7; }
#else
int go(void)
{
    const int n = 1;
    const double x = 1;
    double d = 0;
    dgemm_("n", "n", &n, &n, &n, &x, &x, &n, &x, &n, &x, &d, &n);
    return (int)d;
}
#endif
END
    cat > opens.c << END
#include <dlfcn.h>
#include <string.h>
int main(void)
{
    int (*go)(void);
    void *const plug = dlopen("./plug.so", RTLD_NOW | RTLD_LOCAL), *symbol = dlsym(plug, "go");
    memcpy(&go, &symbol, sizeof go);
    return go();
}
END
    { ${CC:-cc} -shared -fPIC -o front.so "$source/examples/run/record.c" -ldl &&
        ${CC:-cc} -DBLAS -shared -fPIC -o own.so plug.c &&
        ${CC:-cc} -shared -fPIC -o plug.so plug.c ./own.so &&
        ${CC:-cc} -o opens opens.c -ldl; } 2>&1
    # shellcheck disable=SC2016 # for the inner shell
    timeout 20 bitcut run --recipe legemm --unit mi210 -- \
        sh -c 'LD_PRELOAD=$PWD/front.so:$LD_PRELOAD exec ./opens' > out 2> err
    status=$?
    [ $status -eq 7 ] || { echo "status $status, not 7"; cat err; }
    grep -q 'dgemm_ 1$' err || cat err
}

ok_if_empty "the manual has these tables" "$(in_manual)"
ok_if_empty "every call was taken, and has the bits of gemm" "$(calls)"
ok_if_empty "FP64 by schemes: the tables, and every call taken" "$(in_fp64)"
ok_if_empty "audits watched every place within their time" "$(audits)"
ok_if_empty "results are other ones than FP32's" "$(differ)"
case ${CFLAGS:-} in
*-fsanitize*) without="a build without sanitizers" ;;
*) without= ;;
esac
if [ -z "$without" ] && [ -f "$build/bitcut-run.so" ]; then
    ok_if_empty "a library in front of bitcut's" "$(in_front)"
else skip "a library in front of bitcut's" "bitcut-run.so${without:+, $without}"
fi
if [ -z "$without" ] && [ -f "$build/bitcut-run.so" ] && python3 -c 'import numpy' 2> err; then
    ok_if_empty "NumPy gives these bits now" "$(now)"
    ok_if_empty "LU in FP64 gives these bits now" "$(now_fp64)"
else skip "NumPy gives these bits now" "bitcut-run.so and the package python3-numpy${without:+, $without}"
    skip "LU in FP64 gives these bits now" "bitcut-run.so and the package python3-numpy${without:+, $without}"
fi
echo "1..$n"
