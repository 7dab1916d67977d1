/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/run/blas_stub.h"

#include "tests/run/blas_types.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

/* --- the account -------------------------------------------------------------------- */

/* A routine that was called; without locks, which would not survive a fork. */
struct called {
    const char *name;
    atomic_long calls;
    struct called *next;
};

static _Atomic(struct called *) all;
static long complaints;
static int argument;
static double values[STUB_ARGUMENTS_MAX];
static int value_count;
void (*stub_hook)(void);

static void note_call(struct called *x)
{
    if (atomic_fetch_add(&x->calls, 1) != 0) return;
    x->next = all;
    while (!atomic_compare_exchange_weak(&all, &x->next, x)) {}
}

long stub_calls(const char *name)
{
    long calls = 0;
    for (struct called *x = all; x; x = x->next)
        if (!name || !strcmp(x->name, name)) calls += x->calls;
    return calls;
}

long stub_complaints(void) { return complaints; }

int stub_argument(void) { return argument; }

const double *stub_arguments(int *n)
{
    *n = value_count;
    return values;
}

static void complain(int which)
{
    complaints++;
    argument = which;
}

static void other(const double *v, size_t n)
{
    memcpy(values, v, n * sizeof *v);
    value_count = (int)n;
}

/* --- products ----------------------------------------------------------------------- */

enum { ROWS = 101, COLUMNS = 102, N = 111, T = 112, C = 113 };
enum { UPPER = 121, LOWER = 122, LEFT = 141, RIGHT = 142 };

typedef int64_t wide;

static const real *at(const real *x, int order, wide ld, wide i, wide j)
{
    return order == ROWS ? x + i * ld + j : x + j * ld + i;
}

static real op(const real *x, int order, int trans, wide ld, wide i, wide j)
{
    return trans == N ? *at(x, order, ld, i, j) : *at(x, order, ld, j, i);
}

/* Whether an ld is too small for rows x cols as stored. */
static int short_of(wide ld, int order, wide rows, wide cols)
{
    const wide least = order == ROWS ? cols : rows;
    return ld < (least > 1 ? least : 1);
}

/* Of a batch; A and B may be NULL. */
static const real *nth(const real *x, wide offset) { return x ? x + offset : x; }

static int is_trans(int x) { return x >= N && x <= C; }

static int is_half(int x) { return x == UPPER || x == LOWER; }

/* One output: beta 0 does not read it, alpha 0 not the sum. */
static void put(real *c, real alpha, real sum, real beta)
{
    *c = (alpha == 0 ? 0 : alpha * sum) + (beta == 0 ? 0 : beta * *c);
}

static int gemm_argument(int order, int ta, int tb, wide m, wide n, wide k, wide lda,
                         wide ldb, wide ldc)
{
    return order != ROWS && order != COLUMNS                        ? 1
           : !is_trans(ta)                                          ? 2
           : !is_trans(tb)                                          ? 3
           : m < 0                                                  ? 4
           : n < 0                                                  ? 5
           : k < 0                                                  ? 6
           : short_of(lda, order, ta == N ? m : k, ta == N ? k : m) ? 9
           : short_of(ldb, order, tb == N ? k : n, tb == N ? n : k) ? 11
           : short_of(ldc, order, m, n)                             ? 14
                                                                    : 0;
}

/* Where the routine has no order, its arguments are one less. */
static void gemm(int less, int order, int ta, int tb, wide m, wide n, wide k, real alpha,
                 const real *a, wide lda, const real *b, wide ldb, real beta, real *c,
                 wide ldc)
{
    const int wrong = gemm_argument(order, ta, tb, m, n, k, lda, ldb, ldc);
    if (wrong) {
        complain(wrong - less);
        return;
    }
    for (wide i = 0; i < m; i++)
        for (wide j = 0; j < n; j++) {
            real sum = 0;
            for (wide l = 0; l < k && alpha != 0; l++)
                sum += op(a, order, ta, lda, i, l) * op(b, order, tb, ldb, l, j);
            put((real *)(uintptr_t)at(c, order, ldc, i, j), alpha, sum, beta);
        }
}

static void syrk(int less, int order, int half, int trans, wide n, wide k, real alpha,
                 const real *a, wide lda, real beta, real *c, wide ldc)
{
    const int wrong = order != ROWS && order != COLUMNS                              ? 1
                      : !is_half(half)                                               ? 2
                      : !is_trans(trans)                                             ? 3
                      : n < 0                                                        ? 4
                      : k < 0                                                        ? 5
                      : short_of(lda, order, trans == N ? n : k, trans == N ? k : n) ? 8
                      : short_of(ldc, order, n, n)                                   ? 11
                                                                                     : 0;
    if (wrong) {
        complain(wrong - less);
        return;
    }
    for (wide i = 0; i < n; i++)
        for (wide j = 0; j < n; j++) {
            real sum = 0;
            if (half == UPPER ? i > j : i < j) continue;
            for (wide l = 0; l < k && alpha != 0; l++)
                sum += op(a, order, trans, lda, i, l) * op(a, order, trans, lda, j, l);
            put((real *)(uintptr_t)at(c, order, ldc, i, j), alpha, sum, beta);
        }
}

static real symmetric(const real *a, int order, int half, wide lda, wide i, wide j)
{
    return (half == UPPER ? i <= j : i >= j) ? *at(a, order, lda, i, j)
                                             : *at(a, order, lda, j, i);
}

static void symm(int less, int order, int side, int half, wide m, wide n, real alpha,
                 const real *a, wide lda, const real *b, wide ldb, real beta, real *c,
                 wide ldc)
{
    const wide size = side == LEFT ? m : n;
    const int wrong = order != ROWS && order != COLUMNS  ? 1
                      : side != LEFT && side != RIGHT    ? 2
                      : !is_half(half)                   ? 3
                      : m < 0                            ? 4
                      : n < 0                            ? 5
                      : short_of(lda, order, size, size) ? 8
                      : short_of(ldb, order, m, n)       ? 10
                      : short_of(ldc, order, m, n)       ? 13
                                                         : 0;
    if (wrong) {
        complain(wrong - less);
        return;
    }
    for (wide i = 0; i < m; i++)
        for (wide j = 0; j < n; j++) {
            real sum = 0;
            for (wide l = 0; l < size && alpha != 0; l++)
                sum +=
                    side == LEFT
                        ? symmetric(a, order, half, lda, i, l) * *at(b, order, ldb, l, j)
                        : *at(b, order, ldb, i, l) * symmetric(a, order, half, lda, l, j);
            put((real *)(uintptr_t)at(c, order, ldc, i, j), alpha, sum, beta);
        }
}

/* --- letters ------------------------------------------------------------------------ */

static int trans_of(const char *x)
{
    return strchr("Nn", *x) ? N : strchr("Tt", *x) ? T : strchr("Cc", *x) ? C : 0;
}

static int half_of(const char *x)
{
    return strchr("Uu", *x) ? UPPER : strchr("Ll", *x) ? LOWER : 0;
}

static int side_of(const char *x)
{
    return strchr("Ll", *x) ? LEFT : strchr("Rr", *x) ? RIGHT : 0;
}

/* --- names -------------------------------------------------------------------------- */

#define STRING(x) #x
#define NAMED(x)  STRING(x)
#define COUNT(x)                                                                         \
    static struct called here = { .name = NAMED(NAME(x)) };                              \
    note_call(&here)

/* The name of a routine for products. */
#define OWN(x)  OWN_(TYPED(x))
#define OWN_(x) NAME(x)

/* Argument i as a number, by its type. */
#define NUMBER(type, i) N_##type(p##i)
#define N_int(x)        ((double)(x))
#define N_integer(x)    ((double)(x))
#define N_L(x)          ((double)(x))
#define N_float(x)      ((double)(x))
#define N_double(x)     (x)
#define N_other_real(x) ((double)(x))
#define N_Z(x)          ((double)(uintptr_t)(x))

#define OTHER(base, parameters, ...)                                                     \
    void NAME(base) parameters;                                                          \
    void NAME(base) parameters                                                           \
    {                                                                                    \
        const double v[] = { __VA_ARGS__ };                                              \
        COUNT(base);                                                                     \
        if (stub_hook) stub_hook();                                                      \
        other(v, sizeof v / sizeof v[0]);                                                \
    }

#define integer int32_t
#define NAME(x) x##_
#include "tests/run/blas_stub_fortran.inc"
#undef NAME
#define NAME(x) scipy_##x##_
#include "tests/run/blas_stub_fortran.inc"
#undef NAME
#define NAME(x) cblas_##x
#include "tests/run/blas_stub_cblas.inc"
#undef NAME
#define NAME(x) scipy_cblas_##x
#include "tests/run/blas_stub_cblas.inc"
#undef NAME
#undef integer

#define integer int64_t
#define NAME(x) x##_64_
#include "tests/run/blas_stub_fortran.inc"
#undef NAME
#define NAME(x) scipy_##x##_64_
#include "tests/run/blas_stub_fortran.inc"
#undef NAME
#define NAME(x) cblas_##x##64_
#include "tests/run/blas_stub_cblas.inc"
#undef NAME
#define NAME(x) cblas_##x##_64
#include "tests/run/blas_stub_cblas.inc"
#undef NAME
#define NAME(x) scipy_cblas_##x##64_
#include "tests/run/blas_stub_cblas.inc"
#undef NAME
#undef integer
