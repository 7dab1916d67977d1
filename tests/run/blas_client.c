/* SPDX-License-Identifier: BSD-3-Clause */
/* Every routine with a name on standard input, called in every form: what bitcut computes
   must equal bitcut_gemm() on whole matrices by the recipe, with -DFP64 the scheme, and
   the unit of the command line, bit for bit; what it leaves to the library must be called there once.  Prints
   what is wrong, and the number of calls of each kind. */
#define _GNU_SOURCE /* RTLD_DEFAULT */

#include "tests/run/blas_client.h"

#include "lib/bitcut.h"
#include "tests/run/blas_stub.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROWS = 101,
    COLUMNS = 102,
    N = 111,
    UPPER = 121,
    LOWER = 122,
    LEFT = 141,
    RIGHT = 142
};

enum { SIDE = 11, K_MAX = 37, GAP_MAX = 3, COUNT = 3 };
enum { LINE = K_MAX + GAP_MAX, ROOM = LINE * K_MAX };

static const struct bitcut_recipe *recipe;
static const struct bitcut_scheme *scheme;
static const struct bitcut_unit *unit;
static long taken, empty, illegal, others, outputs, wrong, library;
static bool both;

/* --- random numbers ----------------------------------------------------------------- */

static uint64_t random_state = 18;

static uint64_t bits(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return random_state >> 33;
}

static int between(int low, int high)
{
    return low + (int)(bits() % (uint64_t)(high - low + 1));
}

/* With as many bits as the type has. */
static real number(void)
{
    const double high = ldexp(between(-16777215, 16777215), between(-28, -20));
    return (real)(sizeof(real) > 4 ? high + ldexp(high, -26) : high);
}

/* --- problems ----------------------------------------------------------------------- */

enum kind { GEMM, SYRK, SYMM_LEFT, SYMM_RIGHT };

/* op(A), op(B), C before and after, row by row without gaps, of a batch. */
struct problem {
    enum kind kind;
    int m, n, k;
    real alpha, beta;
    real a[COUNT][SIDE * K_MAX], b[COUNT][SIDE * K_MAX], c[COUNT][SIDE * SIDE],
        d[COUNT][SIDE * SIDE];
};

static void solve(struct problem *p, int at)
{
    struct bitcut_gemm g;
    char why[BITCUT_TEXT_MAX];
    bitcut_gemm_init(&g, sizeof g);
    g.recipe = recipe;
    g.scheme = scheme;
    g.unit = unit;
    g.m = (size_t)p->m, g.n = (size_t)p->n, g.k = (size_t)p->k;
    memcpy(scheme ? (void *)&g.alpha_f64 : &g.alpha, &p->alpha, sizeof p->alpha);
    memcpy(scheme ? (void *)&g.beta_f64 : &g.beta, &p->beta, sizeof p->beta);
    if (scheme)
        g.a.format = g.b.format = g.c.format = g.d.format = bitcut_format_find("f64");
    g.a.at = p->a[at], g.b.at = p->b[at], g.c.at = p->c[at], g.d.to = p->d[at];
    if (bitcut_gemm(NULL, &g, 1, why) == BITCUT_OK) return;
    printf("bitcut_gemm: %s\n", why);
    exit(1);
}

static void make_problem(struct problem *p, enum kind kind)
{
    static const real alphas[] = { 1, 1, -0.3f, 1048577 },
                       betas[] = { 0, -0.0f, 1, 0.7f };
    p->kind = kind;
    p->m = between(1, SIDE), p->n = between(1, SIDE), p->k = between(1, K_MAX);
    if (kind == SYRK) p->m = p->n;
    if (kind == SYMM_LEFT) p->k = p->m;
    if (kind == SYMM_RIGHT) p->k = p->n;
    p->alpha = alphas[bits() % 4], p->beta = betas[bits() % 4];
    for (int x = 0; x < COUNT; x++) {
        for (int i = 0; i < SIDE * K_MAX; i++)
            p->a[x][i] = number(), p->b[x][i] = number();
        for (int i = 0; i < p->m; i++)
            for (int l = 0; l < p->k; l++) {
                if (kind == SYRK) p->b[x][l * p->n + i] = p->a[x][i * p->k + l];
                if (kind == SYMM_LEFT && l < i)
                    p->a[x][i * p->k + l] = p->a[x][l * p->k + i];
            }
        for (int l = 0; kind == SYMM_RIGHT && l < p->k; l++)
            for (int j = 0; j < l; j++) p->b[x][l * p->n + j] = p->b[x][j * p->n + l];
        for (int i = 0; i < SIDE * SIDE; i++) p->c[x][i] = p->beta == 0 ? NAN : number();
        solve(p, x);
    }
}

/* --- as BLAS stores them ------------------------------------------------------------ */

static bool by_rows(int order, int trans) { return (order == ROWS) == (trans == N); }

static bool has(int half, int i, int j)
{
    return !half || (half == UPPER ? j >= i : j <= i);
}

static int least_ld(int order, int trans, int rows, int cols)
{
    return by_rows(order, trans) ? cols : rows;
}

/* Store op(X) of rows x cols; everything else is NaN. */
static void store(real *to, const real *x, int rows, int cols, int order, int trans,
                  int64_t ld, int half)
{
    const bool by = by_rows(order, trans);
    for (int i = 0; i < ROOM; i++) to[i] = NAN;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++)
            if (has(half, i, j)) to[by ? i * ld + j : j * ld + i] = x[i * cols + j];
}

/* The same into memory that holds other things. */
static void overwrite(real *to, const real *x, int rows, int cols, int order,
                      int64_t ld, int half)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++)
            if (has(half, i, j))
                to[order == ROWS ? i * ld + j : j * ld + i] = x[i * cols + j];
}

static real a[COUNT][ROOM], b[COUNT][ROOM], c[COUNT][ROOM], want[COUNT][ROOM];
static const real *each_a[COUNT], *each_b[COUNT];
static real *each_c[COUNT];

/* What a call of a routine in one configuration says; matrices are stored for it, and in `want`
   what C's memory is to be. */
static struct call prepare(const struct problem *p, int order, int ta, int tb, int half,
                           int count)
{
    const bool symm = p->kind == SYMM_LEFT || p->kind == SYMM_RIGHT;
    struct call x = { .order = order, .ta = ta, .tb = tb, .half = half, .count = count };
    x.side = p->kind == SYMM_RIGHT ? RIGHT : LEFT;
    x.m = p->m, x.n = p->n, x.k = p->k;
    x.alpha = p->alpha, x.beta = p->beta;
    int64_t lda = least_ld(order, ta, p->m, p->k) + between(0, GAP_MAX),
            ldb = least_ld(order, tb, p->k, p->n) + between(0, GAP_MAX);
    x.ldc = least_ld(order, N, p->m, p->n) + between(0, GAP_MAX);
    for (int i = 0; i < count; i++) {
        store(a[i], p->a[i], p->m, p->k, order, ta, lda, p->kind == SYMM_LEFT ? half : 0);
        store(b[i], p->b[i], p->k, p->n, order, tb, ldb,
              p->kind == SYMM_RIGHT ? half : 0);
        store(c[i], p->c[i], p->m, p->n, order, N, x.ldc, 0);
        memcpy(want[i], c[i], sizeof c[i]);
        overwrite(want[i], p->d[i], p->m, p->n, order, x.ldc, symm ? 0 : half);
        each_a[i] = a[i], each_b[i] = b[i], each_c[i] = c[i];
    }
    x.a = a[0], x.b = b[0], x.c = c[0];
    x.lda = lda, x.ldb = ldb;
    if (p->kind == SYMM_RIGHT) x.a = b[0], x.b = a[0], x.lda = ldb, x.ldb = lda;
    x.sa = x.sb = x.sc = ROOM;
    x.each_a = each_a, x.each_b = each_b, x.each_c = each_c;
    return x;
}

/* --- checks ------------------------------------------------------------------------- */

static void complain(const struct name *f, const struct call *x, const char *what)
{
    if (wrong++ >= 20) return;
    printf("%s: %s: order %d trans %d %d half %d side %d, m %d n %d k %d, ld %d %d %d, "
           "count %d, alpha %g beta %g\n",
           f->text, what, x->order, x->ta, x->tb, x->half, x->side, (int)x->m, (int)x->n,
           (int)x->k, (int)x->lda, (int)x->ldb, (int)x->ldc, (int)x->count,
           (double)x->alpha, (double)x->beta);
}

static void compare(const struct name *f, const struct call *x)
{
    for (int i = 0; i < COUNT && i < x->count; i++)
        for (int j = 0; j < ROOM; j++) {
            uint64_t got = 0, wanted = 0;
            char what[120];
            memcpy(&got, &c[i][j], sizeof(real));
            memcpy(&wanted, &want[i][j], sizeof(real));
            if (got == wanted) continue;
            snprintf(what, sizeof what,
                     "GEMM %d, element %d of C's memory: %llx, not %llx", i, j,
                     (unsigned long long)got, (unsigned long long)wanted);
            complain(f, x, what);
            return;
        }
}

/* Call it, and see that the library was called so often. */
static void call(const struct name *f, const struct call *x, int calls)
{
    const long all = stub_calls(NULL), own = stub_calls(f->text);
    call_routine(f, x);
    library += calls;
    if (stub_calls(f->text) != own + calls || stub_calls(NULL) != all + calls)
        complain(f, x, "the library was called otherwise");
    compare(f, x);
}

static bool is(const struct name *f, const char *base) { return !strcmp(f->base, base); }

static bool batched(const struct name *f) { return !strncmp(f->base, LETTER "gemm_batch", 11); }

/* Whether a call has three groups and one group has no GEMM: the library has that call. */
static bool groups(const struct name *f, int count)
{
    return is(f, LETTER "gemm_batch") && count > 2;
}

static void try_taken(const struct name *f, const struct problem *p, int order, int ta,
                      int tb, int half, int count)
{
    const struct call x = prepare(p, order, ta, tb, half, count);
    call(f, &x, groups(f, count) + (both ? 1 + groups(f, count) : 0));
    taken++;
    outputs += (long)count * (p->kind == SYRK ? p->n * (p->n + 1) / 2 : p->m * p->n);
}

/* --- what is left to the library ---------------------------------------------------- */

/* C = beta C, A and B not read. */
static void try_empty(const struct name *f, struct problem *p, int order, int half)
{
    struct problem q = *p;
    const int which = between(0, 4);
    struct call x;
    if (which == 0 && p->kind == GEMM) q.m = 0;
    else if (which == 1) q.n = 0, q.m = p->kind == SYRK || p->kind == SYMM_LEFT ? 0 : q.m;
    else if (which == 2 && p->kind <= SYRK) q.k = 0;
    else q.alpha = which == 3 ? 0 : -0.0f;
    if (p->kind == SYMM_LEFT) q.k = q.m;
    if (p->kind == SYMM_RIGHT) q.k = q.n;
    for (int i = 0; i < q.m * q.n; i++)
        q.d[0][i] = q.beta == 0 ? 0 : 0 + q.beta * q.c[0][i];
    x = prepare(&q, order, N, N, half, 1);
    if (q.k == 0 || q.alpha == 0)
        for (int i = 0; i < ROOM; i++) a[0][i] = b[0][i] = NAN;
    if (q.alpha == 0) x.a = x.b = NULL;
    if (!x.lda) x.lda = 1;
    if (!x.ldb) x.ldb = 1;
    if (!x.ldc) x.ldc = 1;
    const long before = stub_complaints();
    call(f, &x, 1);
    if (stub_complaints() != before) complain(f, &x, "the library refused it");
    empty++;
}

/* Arguments that are none of the routine's, and which one that is, of CBLAS. */
enum { OF_GEMM = 1, OF_SYRK = 2, OF_SYMM = 4, OF_STRIDED = 8 };
static const struct {
    int of;
    size_t at; /* in struct call; an int if that is small */
    bool small;
    int value, argument;
} faults[] = {
#define INT(x)  offsetof(struct call, x), true
#define LONG(x) offsetof(struct call, x), false
    { OF_GEMM | OF_SYRK | OF_SYMM, INT(order), 100, 1 },
    { OF_GEMM | OF_SYRK | OF_SYMM, INT(order), 103, 1 },
    { OF_GEMM, INT(ta), 110, 2 },
    { OF_GEMM, INT(ta), 114, 2 },
    { OF_GEMM, INT(tb), 110, 3 },
    { OF_GEMM, INT(tb), 0, 3 },
    { OF_GEMM, LONG(m), -1, 4 },
    { OF_GEMM, LONG(n), -1, 5 },
    { OF_GEMM, LONG(k), -3, 6 },
    { OF_GEMM, LONG(lda), 2, 9 },
    { OF_GEMM, LONG(ldb), 2, 11 },
    { OF_GEMM, LONG(ldc), 2, 14 },
    { OF_GEMM, LONG(ldc), -7, 14 },
    { OF_STRIDED, LONG(count), -1, 18 },
    { OF_SYRK, INT(half), 120, 2 },
    { OF_SYRK, INT(ta), 117, 3 },
    { OF_SYRK, LONG(n), -1, 4 },
    { OF_SYRK, LONG(k), -1, 5 },
    { OF_SYRK, LONG(lda), 2, 8 },
    { OF_SYRK, LONG(ldc), 2, 11 },
    { OF_SYMM, INT(side), 140, 2 },
    { OF_SYMM, INT(half), 123, 3 },
    { OF_SYMM, LONG(m), -1, 4 },
    { OF_SYMM, LONG(n), -1, 5 },
    { OF_SYMM, LONG(lda), 2, 8 },
    { OF_SYMM, LONG(ldb), 2, 10 },
    { OF_SYMM, LONG(ldc), 0, 13 },
};

static int kind_of(const struct name *f)
{
    return is(f, LETTER "syrk")   ? OF_SYRK
           : is(f, LETTER "symm") ? OF_SYMM
                            : OF_GEMM | (is(f, LETTER "gemm_batch_strided") ? OF_STRIDED : 0);
}

static void try_illegal(const struct name *f, struct problem *p, int order, size_t at)
{
    struct call x;
    p->m = p->n = p->k = 3;
    x = prepare(p, order, N, N, faults[at].of & OF_GEMM ? 0 : UPPER, 1);
    memcpy(want, c, sizeof want); /* it stays as it was */
    if (faults[at].small)
        memcpy((char *)&x + faults[at].at, &faults[at].value, sizeof(int));
    else {
        const int64_t value = faults[at].value;
        memcpy((char *)&x + faults[at].at, &value, sizeof value);
    }
    const long before = stub_complaints();
    call(f, &x, 1);
    if (stub_complaints() != before + 1) complain(f, &x, "xerbla was not called once");
    if (stub_argument() != faults[at].argument - !f->cblas)
        complain(f, &x, "by another number");
    illegal++;
}

/* --- names -------------------------------------------------------------------------- */

static int orders_of(const struct name *f, int order[2])
{
    order[0] = COLUMNS, order[1] = ROWS;
    return f->cblas ? 2 : 1;
}

static void try_products(const struct name *f)
{
    static struct problem p;
    static const int sides[] = { SYMM_LEFT, SYMM_RIGHT };
    int order[2];
    const int count = orders_of(f, order);
    for (int o = 0; o < count; o++) {
        for (int i = 0; i < 6; i++) {
            make_problem(&p, is(f, LETTER "syrk")   ? SYRK
                             : is(f, LETTER "symm") ? (enum kind)sides[i % 2]
                                              : GEMM);
            for (int configuration = 0; configuration < 9; configuration++) {
                const int ta = N + configuration % 3, tb = N + configuration / 3;
                if (is(f, LETTER "syrk"))
                    try_taken(f, &p, order[o], ta, ta == N ? 112 : N,
                              configuration & 1 ? UPPER : LOWER, 1);
                else if (is(f, LETTER "symm"))
                    try_taken(f, &p, order[o], N, N, configuration & 1 ? UPPER : LOWER, 1);
                else
                    try_taken(f, &p, order[o], ta, tb, 0,
                              batched(f) ? 1 + configuration % COUNT : 1);
            }
            for (int configuration = 0; configuration < 3; configuration++)
                try_empty(f, &p, order[o], p.kind == GEMM ? 0 : configuration & 1 ? UPPER : LOWER);
        }
        make_problem(&p, is(f, LETTER "syrk") ? SYRK : is(f, LETTER "symm") ? SYMM_LEFT : GEMM);
        for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
            if (faults[i].of & kind_of(f) && (f->cblas || faults[i].argument > 1))
                try_illegal(f, &p, order[o], i);
    }
}

static void try_other(const struct name *f)
{
    double v[STUB_ARGUMENTS_MAX];
    struct call none = { 0 };
    int count;
    for (int i = 0; i < STUB_ARGUMENTS_MAX; i++) v[i] = 64 + 8 * i;
    const long before = stub_calls(f->text);
    call_other(f, v);
    const double *const got = stub_arguments(&count);
    if (stub_calls(f->text) != before + 1) complain(f, &none, "not called once");
    if (count < 11 || memcmp(got, v, (size_t)count * sizeof *v) != 0)
        complain(f, &none, "its arguments have changed");
    others++;
}

/* What the text of a name means. */
static void parse(struct name *f)
{
    const char *at = f->text;
    *f->base = 0;
    if (!strncmp(at, "scipy_", 6)) at += 6;
    f->cblas = !strncmp(at, "cblas_", 6);
    if (f->cblas) at += 6;
    strcpy(f->base, at);
    f->wide = strstr(at, "64") != NULL;
    char *const end = f->wide ? strstr(f->base, "64") : f->base + strlen(f->base);
    *end = 0;
    while (end > f->base && f->base[strlen(f->base) - 1] == '_')
        f->base[strlen(f->base) - 1] = 0;
    void *const symbol = dlsym(RTLD_DEFAULT, f->text);
    memcpy(&f->routine, &symbol, sizeof symbol);
}

int main(int argc, char **argv)
{
    struct name f;
    long names = 0;
    if (argc > 2 && sizeof(real) == 4) recipe = bitcut_recipe_find(argv[1]);
    else if (argc > 2) scheme = bitcut_scheme_find(argv[1]);
    unit = argc > 2 ? bitcut_unit_find(argv[2], NULL) : NULL;
    both = argc > 3;
    if ((!recipe && !scheme) || !unit) return printf("no such recipe, scheme or unit\n"), 1;
    for (; scanf("%63s", f.text) == 1; names++) {
        parse(&f);
        if (!f.routine) return printf("%s: not there\n", f.text), 1;
        if (is(&f, LETTER "syrk") || is(&f, LETTER "symm") || is(&f, LETTER "gemm") || batched(&f))
            try_products(&f);
        else try_other(&f);
    }
    if (stub_calls(NULL) != library + others)
        printf("the library was called %ld times\n", stub_calls(NULL)), wrong++;
    printf("{\"names\":%ld,\"taken\":%ld,\"empty\":%ld,\"illegal\":%ld,\"others\":%ld,"
           "\"outputs\":%ld,\"wrong\":%ld}\n",
           names, taken, empty, illegal, others, outputs, wrong);
    return wrong != 0;
}
