#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run --audit and report --audit, on a program compiled here, with its own BLAS.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
: "${CC:=cc}" "${CFLAGS:=}"
case " $CFLAGS " in
*" -fsanitize"*) skip_all plain ;;
esac
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99

# The sums are FMA chains, k ascending: recipe fp32 on unit fma/f32.
cat > blas.c << 'END'
#include <math.h>
void cblas_sgemm(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a,
                 int lda, const float *b, int ldb, float beta, float *c, int ldc)
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            float s = 0;
            for (int p = 0; p < k; p++) s = fmaf(a[i * lda + p], b[p * ldb + j], s);
            c[i * ldc + j] = beta != 0 ? fmaf(beta, c[i * ldc + j], alpha * s) : alpha * s;
        }
}
/* By rows, A as it is: 121 is the upper half. */
void cblas_ssyrk(int order, int half, int trans, int n, int k, float alpha, const float *a,
                 int lda, float beta, float *c, int ldc)
{
    for (int i = 0; i < n; i++)
        for (int j = half == 121 ? i : 0; j < (half == 121 ? n : i + 1); j++) {
            float s = 0;
            for (int p = 0; p < k; p++) s = fmaf(a[i * lda + p], a[j * lda + p], s);
            c[i * ldc + j] = s;
        }
}
END
cat > program.c << 'END'
#include <stdlib.h>
void cblas_sgemm(int, int, int, int, int, int, float, const float *, int, const float *, int,
                 float, float *, int);
enum { M = 12, N = 9, K = 40 };
static float a[M * K], b[K * N], c[M * N];
static void fill(float *x, int n, float scale)
{
    for (int i = 0; i < n; i++) x[i] = scale * ((float)rand() / RAND_MAX - 0.5f);
}
/* The places of calls are offsets in these functions. */
__attribute__((noinline)) void large(void)
{
    cblas_sgemm(101, 111, 111, M, N, K, 1, a, K, b, N, 0, c, N);
}
__attribute__((noinline)) void small(void)
{
    cblas_sgemm(101, 111, 111, M, N, K, 2, a, K, b, N, 0.5f, c, N);
}
int main(void)
{
    fill(a, M * K, 1), fill(b, K * N, 1);
    a[0] = 0, a[1] = 1e-40f;
    for (int i = 0; i < 5; i++) large();
    fill(a, M * K, 1e-6f), fill(b, K * N, 1e-6f);
    for (int i = 0; i < 3; i++) small();
    return 3;
}
END
# A A^T of lines that are orthogonal: nothing but the diagonal is left.
cat > halves.c << 'END'
void cblas_ssyrk(int, int, int, int, int, float, const float *, int, float, float *, int);
enum { N = 40 };
static float a[N * N], c[N * N];
__attribute__((noinline)) void upper(int n)
{
    cblas_ssyrk(101, 121, 111, n, N, 1, a, N, 0, c, N);
}
__attribute__((noinline)) void lower(int n)
{
    cblas_ssyrk(101, 122, 111, n, N, 1, a, N, 0, c, N);
}
int main(void)
{
    static const int sizes[] = { 1, 2, 2, N };
    for (int i = 0; i < N; i++) a[i * N + i] = 1 + 0.1f * (float)i;
    for (int i = 0; i < 4; i++) upper(sizes[i]), lower(sizes[i]);
    return 3;
}
END
# Products from one place, of values around 2^e for each word e.
cat > scaled.c << 'END'
#include <math.h>
#include <stdlib.h>
void cblas_sgemm(int, int, int, int, int, int, float, const float *, int, const float *, int,
                 float, float *, int);
enum { N = 24 };
static float a[N * N], b[N * N], c[N * N];
__attribute__((noinline)) void scaled(int e)
{
    unsigned state = 7;
    for (int i = 0; i < N * N; i++) {
        state = state * 1664525u + 1013904223u;
        a[i] = ldexpf((float)(state >> 8) - 8388608, e - 23);
        b[i] = ldexpf((float)(state >> 10 & 0xffff) + 1, -17);
    }
    cblas_sgemm(101, 111, 111, N, N, N, 1, a, N, b, N, 0, c, N);
}
int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) scaled(atoi(argv[i]));
    return 3;
}
END
# Products that take much longer to compare than to watch, by a clock of its processor alone:
# what else runs there takes no time.
echo 'void cblas_sgemm(void) {}' > none.c
cat > slow.c << 'END'
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t id, struct timespec *now)
{
    (void)id;
    return (int)syscall(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, now);
}
void cblas_sgemm(int, int, int, int, int, int, float, const float *, int, const float *, int,
                 float, float *, int);
enum { N = 200 };
static float a[N * N], c[N * N];
int main(void)
{
    for (int i = 0; i < N * N; i++) a[i] = (float)(i % 97);
    for (int i = 0; i < 12; i++) cblas_sgemm(101, 111, 111, N, N, N, 1, a, N, a, N, 0, c, N);
    return 3;
}
END
{
    $CC -std=gnu11 -O1 -shared -fPIC -ffp-contract=off -o libblas.so blas.c -lm &&
        $CC -std=gnu11 -O1 -rdynamic -o program program.c -L. -lblas -Wl,-rpath,"$work" &&
        $CC -std=gnu11 -O1 -rdynamic -o halves halves.c -L. -lblas -Wl,-rpath,"$work" &&
        $CC -std=gnu11 -O1 -rdynamic -o scaled scaled.c -L. -lblas -lm -Wl,-rpath,"$work" &&
        $CC -std=gnu11 -O1 -shared -fPIC -o libnone.so none.c &&
        $CC -std=gnu11 -O1 -rdynamic -o slow slow.c -L. -lnone -Wl,-rpath,"$work"
} > compiled 2>&1 || { cat compiled; exit 99; }

# rows N KEY: the first value of a key in each of the first N lines of `rows`.
rows() {
    head -n "$1" rows | awk -v key="\"$2\":" '
        (at = index($0, key)) { split(substr($0, at + length(key)), word, /[,}"]/)
                                print word[1] == "" ? word[2] : word[1] }'
}

# audited STATUS OPTION...: run the program under an audit into `rows`.
program=./program
audited() {
    wanted=$1
    shift
    bitcut run --audit "$@" -o rows -- $program > out 2> err < /dev/null
    status=$?
    [ "$status" = "$wanted" ] || { echo "status $status, not $wanted"; cat err; }
}

# What is counted, and that the excerpt, which is all of D here, errs as the FMA chain does.
whole() {
    audited 3 --sample all --folder f1
    [ "$(wc -l < rows)" = 3 ] || echo "rows: $(wc -l < rows)"
    [ "$(rows 2 calls | tr '\n' ' ')" = "5 3 " ] || echo "calls: $(rows 2 calls)"
    [ "$(rows 2 watched | tr '\n' ' ')" = "5 3 " ] || echo "watched: $(rows 2 watched)"
    [ "$(rows 2 taken | tr '\n' ' ')" = "0 0 " ] || echo "taken: $(rows 2 taken)"
    [ "$(rows 2 call_site | sed 's/+.*//' | tr '\n' ' ')" = "program:large program:small " ] ||
        echo "call sites: $(rows 2 call_site)"
    grep -q '"values_a":{"values":2400,"zeros":5,"subnormal":5,"infinite":0,"nan":0,' rows ||
        echo "values of A: $(head -n 1 rows | cut -c 1-900)"
    grep -q '"values_b":{"values":1800,"zeros":0,"subnormal":0,' rows || echo "values of B"
    # Excerpts of calls 1, 2 and 4, and of 1 and 2.
    [ "$(rows 2 compared | tr '\n' ' ')" = "324 216 " ] || echo "compared: $(rows 2 compared)"
    [ "$(rows 2 bound | tr '\n' ' ')" = "40.0 42.0 " ] || echo "bound: $(rows 2 bound)"
    one=$(ls f1/*-1.a.npy)
    run 0 gemm --recipe fp32 --unit fma/f32 -a "$one" -b "${one%a.npy}b.npy" --json
    for key in relres backward_max; do
        [ "$(rows 1 $key)" = "$(value $key)" ] || echo "$key: $(rows 1 $key), not $(value $key)"
    done
    [ "$(od -An -v -tx4 -w160 -j128 "$one" | sort -u | wc -l)" = 12 ] || echo "rows of A repeat"
    [ "$(od -An -v -tx4 -w36 -j128 "${one%a.npy}b.npy" | sort -u | wc -l)" = 40 ] ||
        echo "rows of B repeat"
    rows 2 advice | grep -q . || echo "no advice"
}

# The exponents of all values add up to them.
exponents() {
    head -n 1 rows | sed 's/.*"values_a":\(.*\),"range_a".*/\1/' | tr '{' '\n' |
        sed -n 's/.*"exponent":\(-*[0-9]*\),"count":\([0-9]*\).*/\1 \2/p' |
        awk '{ n += $2; if ($1 > -1 || $1 < -127) print "exponent " $1 } END { if (n != 2395) print n }'
}

# What is computed by bitcut is computed again; a result that is not bitcut's is noticed.
emulated() {
    audited 3 --sample all --folder f2 --recipe legemm --unit mi210
    [ "$(rows 2 recomputed | tr '\n' ' ')" = "324 216 " ] || echo "recomputed: $(rows 2 recomputed)"
    [ "$(rows 2 mismatches | tr '\n' ' ')" = "0 0 " ] || echo "mismatches: $(rows 2 mismatches)"
    one=$(ls f2/*-2.d.npy)
    run 0 verify --recipe legemm --unit mi210 -a "${one%d.npy}a.npy" -b "${one%d.npy}b.npy" -d "$one" --json
    expect mismatches 0
    run 0 verify --recipe legemm --unit mi210 --alpha 2 --beta 0.5 -a "$(ls f2/*-4.a.npy)" \
        -b "$(ls f2/*-4.b.npy)" -c "$(ls f2/*-4.c.npy)" -d "$(ls f2/*-4.d.npy)" --json
    expect mismatches 0
    # Advice is for the unit that was asked for.
    [ "$(rows 2 advice_on | sort -u)" = cdna2/mfma.32x32x8.f32.f16 ] || echo "on: $(rows 2 advice_on)"
    printf '\001' | dd of="$one" bs=1 seek=130 conv=notrunc 2> dd
    bitcut run --read f2 -o rows > out 2> err || cat err
    [ "$(rows 2 mismatches | tr '\n' ' ')" = "1 0 " ] || echo "changed: $(rows 2 mismatches)"
}

# A file of an excerpt that is not what was written down is told of, and the rest is there.
damaged() {
    one=$(ls f2/*-1.a.npy)
    : > "$one"
    bitcut run --read f2 -o rows > out 2> err || cat err
    grep -q "^bitcut: $one: " err || cat err
    [ "$(rows 2 calls | tr '\n' ' ')" = "5 3 " ] || echo "calls: $(rows 2 calls)"
    [ "$(rows 2 recomputed | tr '\n' ' ')" = "216 216 " ] || echo "recomputed: $(rows 2 recomputed)"
}

# An excerpt of a half has one output of the diagonal, or an error of what cancels off it
# would be said of the whole.
halves() {
    program=./halves
    audited 3 --sample all --folder f3 --recipe plain --unit h100
    program=./program
    [ "$(rows 2 compared | tr '\n' ' ')" = "259 259 " ] || echo "compared: $(rows 2 compared)"
    [ "$(rows 2 mismatches | tr '\n' ' ')" = "0 0 " ] || echo "mismatches: $(rows 2 mismatches)"
    for one in f3/*.d.npy; do
        words=$(od -An -v -tx4 -w4 -j128 "$one" | grep -vc 00000000)
        [ "$words" = 1 ] || echo "$one: $words outputs of the diagonal"
    done
    # Advice is on all of them: a program may begin with zeros.
    [ "$(head -n 2 rows | grep -c '"metric":"relres","pairs":3,"m":16,"n":16,"k":40,')" = 2 ] ||
        echo "advice is not on all excerpts"
    rows 2 relres | awk '!($1 < 1e-3) { print "relres: " $1 }'
}

# advised WORDS...: what is advised of products of such values, on f16.
advised() {
    program="./scaled $*"
    audited 3 --sample all --rule '*=original' --against ootomo@h100
    program=./program
    rows 1 advice
}

# A recipe does for every call of a place: those with an excerpt (the first, second, fourth),
# in whatever order they came, and those that were counted alone.  Computed by it, no output
# that should be finite is not.
advised_for_all() {
    while read -r calls; do
        # shellcheck disable=SC2086 # a list of words
        advice=$(advised $calls)
        case $calls,$advice in
        *20*,*equilibrated | *20*,bf16* | *20*,*tf32*) ;;
        *20*) echo "$calls: $advice" ;;
        *,*equilibrated) echo "$calls: $advice, needlessly" ;;
        esac
        # shellcheck disable=SC2046 # words, or none
        set -- "${advice%% *}" $(echo "$advice" | sed -n 's/.*at 2^\([0-9]*\).*/--scale \1/p') \
            $(echo "$advice" | sed -n 's/.* equilibrated$/--equilibrate/p')
        # shellcheck disable=SC2086
        bitcut run --recipe "$@" --unit h100 --against original -o rows -- ./scaled $calls > out 2> err
        [ "$(rows 1 not_finite)" = 0 ] || echo "$calls: $*: $(rows 1 not_finite) outputs not finite"
    done << 'END'
0 0 0 0
15 3 14 -3
20 20 20 0
0 20 20 20
20 0 0 0 0
0 20 0 0
0 0 20
0 0 0 20 0
0 0 0 0 20 0
-20 0 0 0 0 0 20
END
}

# Without time for it the first call of each place is watched.
sampled() {
    audited 3 --sample 0
    [ "$(rows 2 watched | tr '\n' ' ')" = "1 1 " ] || echo "watched: $(rows 2 watched)"
    audited 3 --want 1e-2
    head -n 1 rows | grep -q '"want":0.00999' || echo "want is not 0.01"
    rows 2 advice_on | grep -q . || echo "advice for no chip"
    audited 3 --want 1e-30 --against ootomo@a100
    [ "$(rows 2 advice | tr '\n' ' ')" = "none none " ] || echo "advice: $(rows 2 advice)"
    # What comparing takes is no part of the audit's share.
    program=./slow
    audited 3 --sample 30 --threads 1 --against cutlass-sm100-bf16x9@b200
    program=./program
    [ "$(rows 1 watched)" -gt 6 ] || echo "watched beside comparing: $(rows 1 watched) of 12"
}

reported() {
    audited 3 --sample all --against ootomo@a100
    run 0 report --audit rows -o report1
    run 0 report --audit rows -o report2
    same_folders report1 report2 > differ || head -n 3 differ
    for section in calls difference values bits retained chips scales; do
        [ -s "report1/$section.csv" ] || echo "no $section"
    done
    grep -q 'What does the program multiply?.*8 calls of FP32 products from 2 call sites' report1/report.md ||
        sed -n 1,20p report1/report.md
    grep -q 'Where does the unit matter most?' report1/report.md || echo "nothing is compared"
    [ "$(cut -d , -f 1 < report1/calls.csv | sed 's/+.*//' | tr '\n' ' ')" = \
        "call_site program:large program:small " ] || cat report1/calls.csv
}

# Places that are called the same have panels of their own.
reported_apart() {
    sed 's/"call_site":"[^"]*"/"call_site":"same.py:1"/' rows > same
    run 0 report --audit same -o report4
    for section in calls values; do
        [ "$(cut -d , -f 1 < report4/$section.csv | uniq | tr '\n' ' ')" = \
            "call_site same.py:1 same.py:1 (2) " ] || cut -d , -f 1 report4/$section.csv | uniq
    done
}

reports_refused() {
    : > empty
    echo '{"schema":"bitcut-gemm/1"}' > other
    echo 'x' > broken
    sed 1,2d rows > total
    run 3 report --audit none -o report3
    run 3 report --audit empty -o report3
    run 3 report --audit other -o report3
    run 3 report --audit broken -o report3
    run 3 report --audit total -o report3
    run 2 report --audit rows -a f1/x.npy -o report3
    run 2 report --audit rows --no-studies -o report3
    [ ! -e report3 ] || echo "a folder is left"
}

# A folder that somebody else has written: nothing in it steers the terminal.
hostile() {
    cp -r f1 f4
    LC_ALL=C sed -i 's/cblas_sgemm/cbl\x1b[2J\xffemm/g; s/program:large/pro\x9b\x07am:large/g' f4/*.ledger
    for json in '' --json; do
        # shellcheck disable=SC2086 # a word or none
        bitcut run --read f4 $json > out 2> err || cat err
        grep -q 'sgemm' out && echo "nothing was changed"
        LC_ALL=C cat out err | tr -d '\n' | LC_ALL=C grep -q '[[:cntrl:]]' && cat -v out err
    done
    mkfifo f4/pipe.ledger
    timeout 20 bitcut run --read f4 > out 2> err
    [ $? = 125 ] || echo "a pipe: status $?"
    grep -qx 'bitcut: f4: pipe.ledger: not a regular file' err || cat err
}

# The rows of call sites of a report come from the file; without a call site there is no report.
reports_checked() {
    head -n 1 rows | sed 's/"call_site":"[^"]*",//' > nosite
    head -n 1 rows | sed 's/"call_site":"[^"]*"/"call_site":5/' > number
    for file in nosite number; do
        run 3 report --audit $file -o report5
        grep -q "^bitcut: $file: line 1: .*\"call_site\"" err || cat err
    done
    head -n 1 rows | sed 's/{"exponent":/{"<b>":1,"=1+1":2,"exponent":/g' > keys
    run 0 report --audit keys -o report6
    grep -l '<b>\|=1+1' report6/index.html report6/report.md report6/*.csv
}

mkdir f1 f2 f3
echo "1..12"
ok_if_empty "an audit counts calls and values, and judges results" "$(whole)"
ok_if_empty "exponents add up to the values" "$(exponents)"
ok_if_empty "what bitcut computed is computed again" "$(emulated)"
ok_if_empty "a damaged excerpt is told of" "$(damaged)"
ok_if_empty "an excerpt of a half crosses its diagonal" "$(halves)"
ok_if_empty "advice is for every call of a place" "$(advised_for_all)"
ok_if_empty "--sample and --want" "$(sampled)"
ok_if_empty "report --audit" "$(reported)"
ok_if_empty "call sites of one line are apart in a report" "$(reported_apart)"
ok_if_empty "report --audit refuses what is no audit" "$(reports_refused)"
ok_if_empty "report --audit of a stranger's file" "$(reports_checked)"
ok_if_empty "run --read of a stranger's folder" "$(hostile)"
