/* SPDX-License-Identifier: BSD-3-Clause */
/* A library to preload together with `bitcut run`, to check it from outside.  Loaded
   before bitcut's library it saves the matrices of calls number 1, 2, 4, 8, ... of each
   process. Loaded after it, it only counts the calls that still reach the program's own
   library.

   cc -O2 -shared -fPIC -o record.so record.c
   cc -O2 -shared -fPIC -DBEHIND -o behind.so record.c

   Each process writes PROCESS.calls to the folder in the variable RECORD, or BEHIND: a
   line "NUMBER ROUTINE ALPHA BETA HALF" for each saved call, and at the end "calls
   COUNT".  HALF says which part of D is valid: all, upper or lower. PROCESS.NUMBER.a.npy,
   b, c (if beta is not 0) and d are op(A), op(B), C before and D after the call, all of D
   = alpha A B + beta C, in rows. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef BEHIND
#define FOLDER "BEHIND"
#else
#define FOLDER "RECORD"
#endif

/* A call: D = alpha A B + beta D; element (i, j) of A is a[i * ra + j * ca]. */
struct call {
    const char *routine, *half;
    int m, n, k;
    float alpha, beta;
    const float *a, *b, *d;
    long ra, ca, rb, cb, rd, cd;
};

static atomic_long calls;

static FILE *open_file(const char *folder, const char *name, const char *mode)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%ld.%s", folder, (long)getpid(), name);
    return fopen(path, mode);
}

static void write_line(const char *line)
{
    const char *const folder = getenv(FOLDER);
    FILE *const file = folder ? open_file(folder, "calls", "a") : NULL;
    if (!file) return;
    fputs(line, file);
    fclose(file);
}

__attribute__((destructor)) static void end(void)
{
    char line[60];
    snprintf(line, sizeof line, "calls %ld\n", atomic_load(&calls));
    write_line(line);
}

/* Whether this call is saved. */
static bool is_kept(long number)
{
#ifdef BEHIND
    return number < 0;
#else
    return (number & (number - 1)) == 0 && getenv(FOLDER);
#endif
}

static void save(long number, char matrix, const float *x, int rows, int cols, long r, long c)
{
    char name[60], head[119];
    snprintf(name, sizeof name, "%ld.%c.npy", number, matrix);
    FILE *const file = open_file(getenv(FOLDER), name, "wb");
    if (!file) return;
    snprintf(head, sizeof head,
             "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }", rows, cols);
    fprintf(file, "%c%s%c%c%c%c%-117s\n", 0x93, "NUMPY", 1, 0, 118, 0, head);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++) fwrite(&x[i * r + j * c], sizeof *x, 1, file);
    fclose(file);
}

static long begin(const struct call *x)
{
    const long number = atomic_fetch_add(&calls, 1) + 1;
    if (!is_kept(number)) return 0;
    save(number, 'a', x->a, x->m, x->k, x->ra, x->ca);
    save(number, 'b', x->b, x->k, x->n, x->rb, x->cb);
    if (x->beta != 0) save(number, 'c', x->d, x->m, x->n, x->rd, x->cd);
    return number;
}

static void finish(const struct call *x, long number)
{
    char line[200];
    if (!number) return;
    save(number, 'd', x->d, x->m, x->n, x->rd, x->cd);
    snprintf(line, sizeof line, "%ld %s %.9g %.9g %s\n", number, x->routine, x->alpha, x->beta,
             x->half);
    write_line(line);
}

/* Calls with a product of column-major matrices.  Row-major calls multiply the
 * transposes. */
static bool is_one(char letter) { return letter == 'n' || letter == 'N'; }

static struct call gemm(const char *routine, bool rows, bool ta, bool tb, int m, int n, int k,
                        float alpha, const float *a, int lda, const float *b, int ldb,
                        float beta, float *d, int ldd)
{
    return (struct call){ routine, "all", m, n, k, alpha, beta, a, b, d,
                          ta != rows ? lda : 1, ta != rows ? 1 : lda,
                          tb != rows ? ldb : 1, tb != rows ? 1 : ldb,
                          rows ? ldd : 1, rows ? 1 : ldd };
}

static struct call syrk(const char *routine, bool rows, bool upper, bool t, int n, int k,
                        float alpha, const float *a, int lda, float beta, float *d, int ldd)
{
    struct call x = gemm(routine, rows, t, !t, n, n, k, alpha, a, lda, a, lda, beta, d, ldd);
    x.half = upper ? "upper" : "lower";
    return x;
}

/* The same routine of the next library, or of a library that hides its names. */
static void *next_of(const char *name)
{
    void *const symbol = dlsym(RTLD_NEXT, name);
    void *const blas = symbol ? NULL : dlopen("libblas.so.3", RTLD_LAZY | RTLD_NOLOAD);
    return symbol ? symbol : dlsym(blas, name);
}

#define FORWARD(name, what, parameters, ...)                                                 \
    void name parameters;                                                                    \
    void name parameters                                                                     \
    {                                                                                        \
        const struct call x = what;                                                          \
        void (*next) parameters;                                                             \
        void *const symbol = next_of(#name);                                        \
        const long number = begin(&x);                                                       \
        memcpy(&next, &symbol, sizeof next);                                                 \
        next(__VA_ARGS__);                                                                   \
        finish(&x, number);                                                                  \
    }

FORWARD(sgemm_,
        gemm("sgemm", false, !is_one(*ta), !is_one(*tb), *m, *n, *k, *alpha, a, *lda, b, *ldb,
             *beta, d, *ldd),
        (const char *ta, const char *tb, const int *m, const int *n, const int *k,
         const float *alpha, const float *a, const int *lda, const float *b, const int *ldb,
         const float *beta, float *d, const int *ldd),
        ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, d, ldd)
FORWARD(ssyrk_,
        syrk("ssyrk", false, *half == 'U' || *half == 'u', !is_one(*t), *n, *k, *alpha, a, *lda,
             *beta, d, *ldd),
        (const char *half, const char *t, const int *n, const int *k, const float *alpha,
         const float *a, const int *lda, const float *beta, float *d, const int *ldd),
        half, t, n, k, alpha, a, lda, beta, d, ldd)
FORWARD(cblas_sgemm,
        gemm("cblas_sgemm", order == 101, ta != 111, tb != 111, m, n, k, alpha, a, lda, b, ldb,
             beta, d, ldd),
        (int order, int ta, int tb, int m, int n, int k, float alpha, const float *a, int lda,
         const float *b, int ldb, float beta, float *d, int ldd),
        order, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, d, ldd)
FORWARD(cblas_ssyrk,
        syrk("cblas_ssyrk", order == 101, half == 121, t != 111, n, k, alpha, a, lda, beta, d,
             ldd),
        (int order, int half, int t, int n, int k, float alpha, const float *a, int lda,
         float beta, float *d, int ldd),
        order, half, t, n, k, alpha, a, lda, beta, d, ldd)

/* R's extSoftVersion() names the library with this function; products.R looks there. */
#define DGEMM                                                                                \
    (const char *ta, const char *tb, const int *m, const int *n, const int *k,               \
     const double *alpha, const double *a, const int *lda, const double *b, const int *ldb,  \
     const double *beta, double *d, const int *ldd)
void dgemm_ DGEMM;
void dgemm_ DGEMM
{
    void (*next) DGEMM;
    void *const symbol = next_of("dgemm_");
    memcpy(&next, &symbol, sizeof next);
    next(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, d, ldd);
}
