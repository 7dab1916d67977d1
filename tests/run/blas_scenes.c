/* SPDX-License-Identifier: BSD-3-Clause */
/* A program with a BLAS in one of the situations named by its first argument.  Prints
   what is wrong; exits with 0, or with 1 if something is. */
#define _GNU_SOURCE

#include "lib/bitcut.h"
#include "tests/run/blas_stub.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fenv.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#define integer int
#include "tests/run/blas_types.h"
#define FORTRAN(x)  FORTRAN_(x)
#define FORTRAN_(x) x##_
#define CBLAS(x)    CBLAS_(x)
#define CBLAS_(x)   cblas_##x
#define TEXT(x)     TEXT_(x)
#define TEXT_(x)    #x
#define gemm               FORTRAN(TYPED(gemm))
#define cblas_gemm         CBLAS(TYPED(gemm))
#define gemm_batch_strided CBLAS(TYPED(gemm_batch_strided))
#define gemm_batch         CBLAS(TYPED(gemm_batch))
#define other_gemm         FORTRAN(OTHER_TYPED(gemm))
#define other_syrk         CBLAS(OTHER_TYPED(syrk))
void gemm F_GEMM;
void cblas_gemm C_GEMM;
void gemm_batch_strided C_STRIDED;
void gemm_batch C_BATCH;
void other_gemm(F_OTHER_GEMM(DECLARED, Z, Z));
void other_syrk(C_OTHER_SYRK(DECLARED, other_real, other_real));

/* --- products ----------------------------------------------------------------------- */

/* Below 2^21 products the calling thread computes, else another one; many more, and
   several threads do. */
enum { SMALL = 33, LARGE = 300, MOST = LARGE };

static real a[MOST * MOST], b[MOST * MOST], small[MOST * MOST], large[MOST * MOST];
static volatile int wrong;

static void complain(const char *what)
{
    printf("%s\n", what);
    wrong = 1;
}

static void multiply(real *c, int n)
{
    const real one = 1, zero = 0;
    gemm("N", "N", &n, &n, &n, &one, a, &n, b, &n, &zero, c, &n, 1, 1);
}

/* What SCENE_RECIPE, with -DFP64 a scheme, on SCENE_UNIT makes of A and B. */
static void expect(real *c, int n)
{
    struct bitcut_gemm g;
    char why[BITCUT_TEXT_MAX];
    bitcut_gemm_init(&g, sizeof g);
    if (sizeof(real) == 4) g.recipe = bitcut_recipe_find(getenv("SCENE_RECIPE"));
    else g.scheme = bitcut_scheme_find(getenv("SCENE_RECIPE"));
    g.a.format = g.b.format = g.d.format =
        bitcut_format_find(g.scheme ? "f64" : "f32");
    g.unit = bitcut_unit_find(getenv("SCENE_UNIT"), NULL);
    g.m = g.n = g.k = (size_t)n;
    g.a.at = a, g.b.at = b, g.d.to = c;
    g.a.layout = g.b.layout = g.d.layout = BITCUT_COLUMN_MAJOR;
    if (bitcut_gemm(NULL, &g, 1, why) != BITCUT_OK) complain(why);
}

/* With more bits than FP32 has, if it is FP64. */
#define LONG ((real)(1 + 0x1p-30))

static void begin(void)
{
    uint32_t x = 18;
    for (int i = 0; i < MOST * MOST; i++) {
        x = x * 1664525 + 1013904223;
        a[i] = (real)(int)(x >> 7) / 65536 * LONG - 200;
        x = x * 1664525 + 1013904223;
        b[i] = (real)(int)(x >> 7) / 8388608 * LONG - 1;
    }
    expect(small, SMALL);
    expect(large, LARGE);
}

static void check(int n)
{
    real *const c = malloc((size_t)(n * n) * sizeof *c);
    multiply(c, n);
    if (memcmp(c, n == SMALL ? small : large, (size_t)(n * n) * sizeof *c) != 0)
        complain(n == SMALL ? "another small product" : "another large product");
    free(c);
}

/* --- scenes ------------------------------------------------------------------------- */

static void once(void) { check(SMALL); }

/* A batch is shared by threads that OpenMP keeps, unlike those of one product. */
static void check_batch(void)
{
    enum { COUNT = 64, ONE = SMALL * SMALL };
    real *const c = malloc(COUNT * ONE * sizeof *c);
    gemm_batch_strided(102, 111, 111, SMALL, SMALL, SMALL, 1, a, SMALL, 0, b,
                              SMALL, 0, 0, c, SMALL, ONE, COUNT);
    for (int i = 0; i < COUNT; i++)
        if (memcmp(c + i * ONE, small, ONE * sizeof *c) != 0) complain("another batch");
    free(c);
}

static void all(void)
{
    check(SMALL);
    check(LARGE);
    check_batch();
}

static void *in_thread(void *context)
{
    for (int i = 0; i < 8; i++) check(SMALL);
    if (context) check(LARGE);
    return NULL;
}

enum { THREADS = 64 };

static void start_threads(pthread_t *thread, size_t stack)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (stack && pthread_attr_setstacksize(&attributes, stack)) complain("no such stack");
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&thread[i], &attributes, in_thread, i % 8 ? NULL : thread))
            complain("no thread");
}

static void threads_with(size_t stack)
{
    pthread_t thread[THREADS];
    start_threads(thread, stack);
    for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
}

static void threads(void) { threads_with(0); }

/* As small as is usual for many threads, or as the system has them. */
static void small_stacks(void)
{
    const long least = sysconf(_SC_THREAD_STACK_MIN);
    threads_with(least > 64 << 10 ? (size_t)least : 64 << 10);
}

/* In a child, which is ended if it hangs; false: something was wrong there. */
static void in_child(void (*scene)(void))
{
    int status;
    fflush(stdout);
    const pid_t process = fork();
    if (!process) {
        alarm(30);
        scene();
        fflush(stdout);
        _exit(wrong);
    }
    if (waitpid(process, &status, 0) != process || status != 0)
        printf("a child ended with 0x%x\n", (unsigned)status), wrong = 1;
}

/* Children while all threads are in the middle of products. */
static void forks(void)
{
    pthread_t thread[THREADS];
    all();
    start_threads(thread, 0);
    for (int i = 0; i < 6; i++) in_child(all);
    for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
    in_child(all);
}

static volatile int over;

static void *count_always(void *unused)
{
    while (!over) other_gemm(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    return unused;
}

static void count_once(void) { other_gemm(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0); }

/* Children of a process whose threads are counted all the time. */
static void counted_forks(void)
{
    pthread_t thread[2];
    for (int i = 0; i < 2; i++) pthread_create(&thread[i], NULL, count_always, NULL);
    for (int i = 0; i < 100; i++) in_child(count_once);
    over = 1;
    for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
}

/* The environment's memory has other things in it, and the folder is another. */
static void overwritten(void)
{
    extern char **environ;
    begin();
    for (char **at = environ; *at; at++) memset(*at, 'x', strlen(*at));
    if (chdir("/") != 0) complain("no /");
    check(SMALL);
    in_child(once);
}

/* Nothing that was open is. */
static void closed(void)
{
    for (int i = 3; i < 1000; i++) close(i);
    check(SMALL);
    check(LARGE);
}

static void hook_nested(void)
{
    stub_hook = NULL;
    multiply(malloc(sizeof small), SMALL);
}

/* A routine of the library that calls another one of it, through its name. */
static void nested(void)
{
    real c = 3;
    stub_hook = hook_nested;
    cblas_gemm(101, 111, 111, 1, 1, 0, 1, a, 1, b, 1, 0, &c, 1);
    if (c != 0 || stub_calls(TEXT(cblas_gemm)) != 1 || stub_calls(TEXT(gemm)) != 1)
        complain("not passed on");
    check(SMALL);
}

static jmp_buf out;

static void jump(void)
{
    stub_hook = NULL;
    longjmp(out, 1);
}

/* An xerbla that does not return. */
static void jumps(void)
{
    static real c;
    for (int i = 0; i < 3; i++) {
        stub_hook = jump;
        if (!setjmp(out)) cblas_gemm(7, 111, 111, 1, 1, 1, 1, a, 1, b, 1, 0, &c, 1);
        check(SMALL);
    }
}

/* Any rounding, subnormals flushed, flags as they were. */
static void modes(void)
{
    static const int mode[] = { FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO };
    for (int i = 0; i < 8; i++) {
        fenv_t usual;
        fegetenv(&usual);
        fesetround(mode[i % 4]);
#if defined(__SSE2__)
        if (i / 4) _mm_setcsr(_mm_getcsr() | 0x8040);
        const unsigned before = _mm_getcsr();
#endif
        all();
        if (fegetround() != mode[i % 4]) complain("another rounding");
#if defined(__SSE2__)
        if (before != _mm_getcsr()) complain("another mode, or flags");
#endif
        fesetenv(&usual);
    }
}

/* Every floating-point exception ends the program. */
static void traps(void)
{
    feclearexcept(FE_ALL_EXCEPT);
    feenableexcept(FE_ALL_EXCEPT);
    real *const c = malloc(sizeof small);
    multiply(c, SMALL);
    multiply(c, LARGE);
    fedisableexcept(FE_ALL_EXCEPT);
    if (memcmp(c, large, sizeof large) != 0) complain("another product");
}

static void parallel(void)
{
#ifdef _OPENMP
#pragma omp parallel num_threads(5)
    all();
#pragma omp parallel for num_threads(3)
    for (int i = 0; i < 9; i++) all();
    in_child(once);
#else
    complain("no OpenMP");
#endif
}

static void killed(void)
{
    for (int i = 0; i < 3; i++) check(SMALL);
    kill(getpid(), SIGKILL);
}

static void seven(void)
{
    check(SMALL);
    exit(7);
}

static void on_term(int number)
{
    (void)number;
    _exit(42);
}

static void waits(void)
{
    signal(SIGTERM, on_term);
    check(SMALL);
    printf("waiting\n");
    fflush(stdout);
    sleep(60);
}

/* Another program in the same process. */
static void again(void)
{
    check(SMALL);
    execl("/proc/self/exe", "scenes", "all", (char *)NULL);
    complain("not begun again");
}

/* No memory is left. */
static void starved(void)
{
    const int n = LARGE;
    real *const c = malloc(sizeof large);
    volatile size_t rest = 1 << 20;
    while (rest > 64) {
        char *const got = malloc(rest);
        if (got) memset(got, 1, rest);
        else rest /= 2;
    }
    multiply(c, n);
    multiply(c, n);
}

/* Of routines that are only counted the outermost is; what one calls that is computed is
   computed. */
static void call_within(void)
{
    stub_hook = NULL;
    count_once();
    check(SMALL);
    count_once();
}

static void within(void)
{
    stub_hook = call_within;
    other_syrk(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    count_once();
    stub_hook = call_within;
    count_once();
}

/* A batch of two groups, of two GEMMs and of three that are smaller, and of one of none. */
static void groups(void)
{
    static const int trans[] = { 111, 111, 111 }, size[] = { SMALL, 1, 1 },
                     ld[] = { SMALL, 1, 1 }, count[] = { 2, 3, 0 };
    static const real alpha[] = { 1, 2, 2 }, beta[] = { 0, 0, 0 };
    static real c[5][SMALL * SMALL];
    const real *each_a[5], *each_b[5];
    real *each_c[5];
    for (int i = 0; i < 5; i++) each_a[i] = a, each_b[i] = b, each_c[i] = c[i];
    gemm_batch(102, trans, trans, size, size, size, alpha, each_a, ld, each_b, ld,
                      beta, each_c, ld, 3, count);
    if (memcmp(c[1], small, sizeof c[1]) != 0) complain("another product of a group");
}

/* Files that take the numbers of what is closed have nothing of anybody else's. */
static void opens(void)
{
    int file = 0;
    while (file >= 0 && file <= STDERR_FILENO)
        file = open("opened", O_WRONLY | O_APPEND | O_CREAT, 0600);
    check(SMALL);
    if (lseek(file, 0, SEEK_END) != 0) wrong = 1;
}

/* A product, as numbers on standard output. */
static void product(void)
{
    real c[SMALL * SMALL];
    multiply(c, SMALL);
    for (int i = 0; i < SMALL * SMALL; i++) printf("%.17g\n", (double)c[i]);
}

/* A matrix, row-major, as NumPy writes it. */
static void write_npy(const char *path, const real *x, int rows, int cols)
{
    char head[128];
    FILE *const file = fopen(path, "wb");
    memset(head, ' ', sizeof head);
    memcpy(head, "\x93NUMPY\1\0\x76\0", 10);
    const int n = sprintf(head + 10,
                          "{'descr': '<f%d', 'fortran_order': False, 'shape': (%d, %d), }",
                          (int)sizeof *x, rows, cols);
    head[10 + n] = ' ';
    head[127] = '\n';
    if (!file || fwrite(head, 1, 128, file) != 128 ||
        fwrite(x, sizeof *x, (size_t)(rows * cols), file) != (size_t)(rows * cols) ||
        fclose(file))
        complain("a file cannot be written");
}

/* The matrices of a call, large, by rows. */
static void files(void)
{
    enum { M = 121, N = 137, K = 143 };
    static real c[M * N];
    for (int i = 0; i < M * N; i++) c[i] = b[N * N - 1 - i % 9000] / 3;
    write_npy("A.npy", a, M, K);
    write_npy("B.npy", b, K, N);
    write_npy("C.npy", c, M, N);
    cblas_gemm(101, 111, 111, M, N, K, 1.25f, a, K, b, N, -0.5f, c, N);
    write_npy("D.npy", c, M, N);
}

/* Whether x is y, but for how doubles are added and written. */
static int near(double x, double y) { return fabs(x - y) <= 1e-9 * fabs(y); }

/* Of two products on standard input: what differs, against what was said of it. */
static void differ(char **said)
{
    long outputs = 0, differs = 0;
    double square = 0, norms[2] = { 0, 0 }, most = 0, largest = 0;
    for (double d, e; scanf("%lf %lf", &d, &e) == 2; outputs++) {
        differs += d != e;
        square += (d - e) * (d - e);
        norms[0] += d * d;
        norms[1] += e * e;
        most = fmax(most, fabs(d - e));
        largest = fmax(largest, fmax(fabs(d), fabs(e)));
    }
    if (!said[0] || !said[1] || !said[2] || !said[3] || !said[4])
        complain("nothing said");
    else if (!outputs || !differs || atol(said[0]) != outputs ||
             atol(said[1]) != differs || atol(said[2]) != 0 ||
             !near(atof(said[3]), sqrt(square / fmax(norms[0], norms[1]))) ||
             !near(atof(said[4]), most / largest))
        printf("%ld %ld 0 %.17g %.17g\n", outputs, differs,
               sqrt(square / fmax(norms[0], norms[1])),
               most / largest),
            wrong = 1;
}

/* A program that ends when it opens a file, as it has forbidden itself: it has a place in
   the call_log by then, and gets another one. */
static void sealed(void)
{
#ifdef SYS_open
    const unsigned open_number = SYS_open;
#else
    const unsigned open_number = SYS_openat;
#endif
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, open_number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog filter = { sizeof rules / sizeof *rules, rules };
    check(SMALL);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
        return; /* a system without: one call, as a scene `once` */
    real *const c = malloc(SMALL * SMALL * sizeof *c);
    const real one = 1, zero = 0;
    const int n = SMALL;
    gemm("N", "N", &n, &n, &n, &one, a, &n, b, &n, &zero, c, &n, 1, 1);
    if (memcmp(c, small, SMALL * SMALL * sizeof *c) != 0) complain("another product");
    free(c);
    check_batch();
}

static const struct {
    const char *name;
    void (*play)(void);
} scenes[] = {
    { "once", once },         { "all", all },
    { "threads", threads },   { "small_stacks", small_stacks },
    { "forks", forks },       { "counted_forks", counted_forks },
    { "nested", nested },     { "overwritten", overwritten },
    { "closed", closed },     { "jumps", jumps },
    { "modes", modes },       { "traps", traps },
    { "parallel", parallel }, { "killed", killed },
    { "seven", seven },       { "waits", waits },
    { "again", again },       { "starved", starved },
    { "product", product },   { "files", files },
    { "sealed", sealed },     { "opens", opens },
    { "within", within },     { "groups", groups },
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof scenes / sizeof scenes[0]; i++)
        if (!strcmp(argv[1], scenes[i].name)) {
            begin();
            scenes[i].play();
            return wrong;
        }
    if (argc > 1 && !strcmp(argv[1], "differ")) return differ(argv + 2), wrong;
    printf("no such scene\n");
    return 1;
}
