/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/run/cublas_stub.h"

#include <stdatomic.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default"))) int

/* --- the account -------------------------------------------------------------------- */

struct called {
    const char *name;
    atomic_long calls;
    struct called *next;
};

static _Atomic(struct called *) all;
static int64_t arguments[STUB_ARGUMENTS_MAX];
static int argument_count;

static void note(struct called *x, const int64_t *v, size_t n)
{
    memcpy(arguments, v, n * sizeof *v);
    argument_count = (int)n;
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

const int64_t *stub_arguments(int *count)
{
    *count = argument_count;
    return arguments;
}

#define STRING(x) #x
#define NAMED(x)  STRING(x)
#define P(x)      (int64_t)(intptr_t)(x)
#define NOTE(base, ...)                                                                  \
    static struct called here = { .name = NAMED(NAME(base)) };                           \
    const int64_t v[] = { __VA_ARGS__ };                                                 \
    note(&here, v, sizeof v / sizeof v[0])

/* --- products ----------------------------------------------------------------------- */

/* Elements of a matrix: row i and column j are so far apart. */
struct matrix {
    const float *at;
    int64_t i, j;
};

/* A matrix by columns, or by rows, of which op() is taken; trans 0 is none. */
static struct matrix op(const float *at, int by_rows, int trans, int64_t ld)
{
    return (by_rows != 0) == (trans == 0) ? (struct matrix){ at, ld, 1 }
                                          : (struct matrix){ at, 1, ld };
}

static void multiply(float *d, int64_t di, int64_t dj, struct matrix a, struct matrix b,
                     struct matrix c, int64_t m, int64_t n, int64_t k, float alpha,
                     float beta)
{
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            float sum = 0;
            for (int64_t l = 0; l < k && alpha != 0; l++)
                sum += a.at[i * a.i + l * a.j] * b.at[l * b.i + j * b.j];
            d[i * di + j * dj] = (alpha == 0 ? 0 : alpha * sum) +
                                 (beta == 0 ? 0 : beta * c.at[i * c.i + j * c.j]);
        }
}

/* FP32 with scalars of the host; others are not computed. */
static int gemm(struct stub_handle *h, int ta, int tb, int64_t m, int64_t n, int64_t k,
                const float *alpha, const float *a, int64_t lda, const float *b,
                int64_t ldb, const float *beta, float *c, int64_t ldc)
{
    multiply(c, 1, ldc, op(a, 0, ta, lda), op(b, 0, tb, ldb), op(c, 0, 0, ldc), m, n, k,
             *alpha, *beta);
    return h->status;
}

/* Whether the arguments are a GEMM's. */
static int wrong(struct stub_handle *h, int ta, int tb, int64_t m, int64_t n, int64_t k,
                 int64_t lda, int64_t ldb, int64_t ldc)
{
    const int64_t one = 1, rows_a = ta ? k : m, rows_b = tb ? n : k;
    (void)h;
    return ta < 0 || ta > 2 || tb < 0 || tb > 2 || m < 0 || n < 0 || k < 0 ||
           lda < (rows_a > one ? rows_a : one) || ldb < (rows_b > one ? rows_b : one) ||
           ldc < (m > one ? m : one);
}

enum { INVALID = 7, SINGLE = 0, COMPUTE_32F = 68 };

/* Argument i, as it is declared and as a number. */
#define DECLARED(type, i) type p##i
#define NUMBER(type, i)   P(p##i)

#define integer int32_t
#define NAME(x) x
#include "tests/run/cublas_stub.inc"
#undef NAME
#undef integer
#define integer int64_t
#define NAME(x) x##_64
#include "tests/run/cublas_stub.inc"
#undef NAME
#undef integer

/* --- handles ------------------------------------------------------------------------ */

static void *workspace;

void *stub_workspace(void) { return workspace; }

EXPORT cublasGetStream_v2(struct stub_handle *h, void **to) { return *to = h->stream, 0; }

EXPORT cublasSetStream_v2(struct stub_handle *h, void *stream)
{
    h->stream = stream;
    return 0;
}

EXPORT cublasGetPointerMode_v2(struct stub_handle *h, int *to)
{
    *to = h->pointer_mode;
    return 0;
}

EXPORT cublasGetMathMode(struct stub_handle *h, int *to) { return *to = h->math_mode, 0; }

EXPORT cublasSetWorkspace_v2(struct stub_handle *h, void *at, size_t bytes)
{
    (void)bytes;
    workspace = at;
    return h->status;
}

EXPORT cublasDestroy_v2(struct stub_handle *h) { return h->status; }

/* --- cuBLASLt ----------------------------------------------------------------------- */

static int get(const struct stub_descriptor *d, int which, void *to, size_t bytes,
               size_t *written)
{
    if (which < 0 || which >= STUB_ATTRIBUTES_MAX || !d->known[which]) return INVALID;
    memcpy(to, &d->value[which], bytes); /* of a machine with the low bytes first */
    *written = bytes;
    return 0;
}

EXPORT cublasLtMatmulDescGetAttribute(void *d, int which, void *to, size_t bytes,
                                      size_t *written)
{
    return get(d, which, to, bytes, written);
}

EXPORT cublasLtMatrixLayoutGetAttribute(void *d, int which, void *to, size_t bytes,
                                        size_t *written)
{
    return get(d, which, to, bytes, written);
}

enum { ORDER = 1, ROWS = 2, COLS = 3, LD = 4, STRIDE = 6 };

/* Operand number i of a batch. */
static struct matrix operand(const void *at, const struct stub_descriptor *d, int trans,
                             int64_t i)
{
    return op((const float *)at + i * d->value[STRIDE], d->value[ORDER] == 1, trans,
              d->value[LD]);
}

/* The epilogue of one D by columns, if there is one. */
static void add_bias(const struct stub_descriptor *how, float *d,
                     const struct stub_descriptor *dd)
{
    const float *const bias = (const float *)(intptr_t)how->value[8];
    for (int64_t j = 0; how->value[7] == 4 && j < dd->value[COLS]; j++)
        for (int64_t i = 0; i < dd->value[ROWS]; i++) d[j * dd->value[LD] + i] += bias[i];
}

#define NAME(x) x
EXPORT cublasLtMatmul(struct stub_handle *h, const struct stub_descriptor *how,
                      const float *alpha, const void *a, const struct stub_descriptor *da,
                      const void *b, const struct stub_descriptor *db, const float *beta,
                      const void *c, const struct stub_descriptor *dc, void *d,
                      const struct stub_descriptor *dd, const void *algorithm, void *at,
                      size_t bytes, struct model_stream *stream)
{
    NOTE(cublasLtMatmul, P(how), P(alpha), P(a), P(da), P(b), P(db), P(beta), P(c), P(dc),
         P(d), P(dd), P(algorithm), P(at), (int64_t)bytes, P(stream));
    const int ta = (int)how->value[3], tb = (int)how->value[4];
    if (da->value[0] != SINGLE || how->value[2]) return h->status;
    model_unlock(stream);
    for (int64_t i = 0; i < dd->value[5]; i++) {
        const struct matrix to = operand(d, dd, 0, i);
        multiply((float *)(uintptr_t)to.at, to.i, to.j, operand(a, da, ta, i),
                 operand(b, db, tb, i), operand(c, dc, 0, i), dd->value[ROWS],
                 dd->value[COLS], ta ? da->value[ROWS] : da->value[COLS], *alpha, *beta);
    }
    add_bias(how, d, dd);
    model_lock(stream);
    return h->status;
}
