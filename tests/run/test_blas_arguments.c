/* SPDX-License-Identifier: BSD-3-Clause */
/* The arguments of BLAS routines: valid exactly where the reference BLAS and CBLAS do not
   call xerbla; and the matrices that they describe, as elements in memory. */
#include "analysis/run/blas_arguments.h"
#include "lib/gemm/plan.h"
#include "lib/number/bits.h"
#include "tests/test.h"

#include <ctype.h>
#include <string.h>

/* --- letters ----------------------------------------------------------------------- */

START_TEST(letters)
{
    for (int c = 0; c < 256; c++) {
        const int capital = c < 128 ? toupper(c) : c;
        ck_assert_int_eq(blas_trans((char)c), capital == 'N'   ? BLAS_NO_TRANS
                                              : capital == 'T' ? BLAS_TRANS
                                              : capital == 'C' ? BLAS_CONJ_TRANS
                                                               : 0);
        ck_assert_int_eq(blas_half((char)c), capital == 'U'   ? BLAS_UPPER
                                             : capital == 'L' ? BLAS_LOWER
                                                              : 0);
        ck_assert_int_eq(blas_side((char)c), capital == 'L'   ? BLAS_LEFT
                                             : capital == 'R' ? BLAS_RIGHT
                                                              : 0);
    }
}
END_TEST

/* --- what the reference refuses ---------------------------------------------------- */

static int64_t max(int64_t x, int64_t y) { return x > y ? x : y; }

static bool known(int x, int low, int high) { return x >= low && x <= high; }

/* sgemm.f: NOTA, NOTB, NROWA, NROWB and the tests on INFO.  CBLAS computes a row-major C
   as the column-major C^T = op(B)^T op(A)^T, by the same. */
static bool column_gemm(bool no_trans_a, bool no_trans_b, int64_t m, int64_t n, int64_t k,
                        int64_t lda, int64_t ldb, int64_t ldc)
{
    const int64_t rows_a = no_trans_a ? m : k, rows_b = no_trans_b ? k : n;
    return m >= 0 && n >= 0 && k >= 0 && lda >= max(1, rows_a) && ldb >= max(1, rows_b) &&
           ldc >= max(1, m);
}

static bool may_gemm(const struct blas_call *x)
{
    const bool no_a = x->trans_a == BLAS_NO_TRANS, no_b = x->trans_b == BLAS_NO_TRANS;
    if (!known(x->order, 101, 102) || !known(x->trans_a, 111, 113) ||
        !known(x->trans_b, 111, 113) || x->count < 0)
        return false;
    return x->order == BLAS_COLUMN_MAJOR
               ? column_gemm(no_a, no_b, x->m, x->n, x->k, x->lda, x->ldb, x->ldc)
               : column_gemm(no_b, no_a, x->n, x->m, x->k, x->ldb, x->lda, x->ldc);
}

/* ssyrk.f: NROWA; by rows, A is as if it were the other one. */
static bool may_syrk(const struct blas_call *x)
{
    const bool no = (x->trans_a == BLAS_NO_TRANS) == (x->order == BLAS_COLUMN_MAJOR);
    return known(x->order, 101, 102) && known(x->trans_a, 111, 113) &&
           known(x->half, 121, 122) && x->n >= 0 && x->k >= 0 &&
           x->lda >= max(1, no ? x->n : x->k) && x->ldc >= max(1, x->n);
}

/* ssymm.f: NROWA; by rows, m and n and the sides change places. */
static bool may_symm(const struct blas_call *x)
{
    const bool by_rows = x->order == BLAS_ROW_MAJOR;
    const int64_t m = by_rows ? x->n : x->m, n = by_rows ? x->m : x->n;
    const bool left = (x->side == BLAS_LEFT) != by_rows;
    return known(x->order, 101, 102) && known(x->side, 141, 142) &&
           known(x->half, 121, 122) && x->m >= 0 && x->n >= 0 &&
           x->lda >= max(1, left ? m : n) && x->ldb >= max(1, m) && x->ldc >= max(1, m);
}

/* --- calls ------------------------------------------------------------------------- */

static const struct {
    const char *name;
    enum legality (*takes)(struct product *, const struct blas_call *);
    bool (*may)(const struct blas_call *);
} routines[] = {
    { "gemm", blas_gemm, may_gemm },
    { "syrk", blas_syrk, may_syrk },
    { "symm", blas_symm, may_symm },
};

/* A number of CBLAS's from `low` to `high`, rarely one beside them, or none. */
static int number(uint64_t *rng, int low, int high)
{
    const int wild[] = { low - 1, high + 1, 0, -1 };
    return test_between(rng, 0, 15) ? test_between(rng, low, high)
                                    : wild[test_bits(rng) & 3];
}

static struct blas_call any_call(uint64_t *rng)
{
    static const float single[] = { 1, 1, 1, 0, -0.0f, -2.5f };
    static const double wide[] = { 1, 1, 1, 0, -0.0, -2.5e-300 };
    const bool f64 = test_bits(rng) & 1;
    const int alpha = test_between(rng, 0, 5), beta = test_between(rng, 0, 5);
    return (struct blas_call){
        .precision = f64 ? PRECISION_F64 : PRECISION_F32,
        .order = number(rng, 101, 102),
        .trans_a = number(rng, 111, 113),
        .trans_b = number(rng, 111, 113),
        .half = number(rng, 121, 122),
        .side = number(rng, 141, 142),
        .m = test_between(rng, -1, 7),
        .n = test_between(rng, -1, 7),
        .k = test_between(rng, -1, 7),
        .lda = test_between(rng, -1, 9),
        .ldb = test_between(rng, -1, 9),
        .ldc = test_between(rng, -1, 9),
        .alpha = f64 ? (const void *)&wide[alpha] : &single[alpha],
        .beta = f64 ? (const void *)&wide[beta] : &single[beta],
        .count = test_between(rng, 0, 7) ? 1 : test_between(rng, -1, 2),
    };
}

static double alpha_of(const struct blas_call *x)
{
    return x->precision == PRECISION_F64 ? *(const double *)x->alpha
                                         : (double)*(const float *)x->alpha;
}

START_TEST(legality)
{
    uint64_t rng = test_seed();
    for (int r = 0; r < 3; r++) {
        int legal = 0, empty = 0, tries = test_cases(200000, 5000000);
        for (int i = 0; i < tries; i++) {
            const struct blas_call x = any_call(&rng);
            struct product p = { .gemm = { .m = 77 } };
            const enum legality got = routines[r].takes(&p, &x);
            const int64_t m = r == 1 ? x.n : x.m,
                          k = r == 0   ? x.k
                              : r == 1 ? x.k
                                       : (x.side == BLAS_LEFT ? x.m : x.n);
            const bool none = !m || !x.n || !k || (r == 0 && !x.count) || alpha_of(&x) == 0;
            const enum legality want = !routines[r].may(&x) ? LEGAL_NOT
                                       : none               ? LEGAL_EMPTY
                                                            : LEGAL;
            if (got != want)
                ck_abort_msg(
                    "%s: order %d trans %d %d half %d side %d, m n k %d %d %d, ld "
                    "%d %d %d, alpha %g: %d, not %d",
                    routines[r].name, x.order, x.trans_a, x.trans_b, x.half, x.side,
                    (int)x.m, (int)x.n, (int)x.k, (int)x.lda, (int)x.ldb, (int)x.ldc,
                    alpha_of(&x), got, want);
            legal += got == LEGAL;
            empty += got == LEGAL_EMPTY;
        }
        ck_assert_int_gt(legal, tries / 100);
        ck_assert_int_gt(empty, tries / 100);
    }
}
END_TEST

/* alpha and beta are encodings; NaN and -0 too. */
START_TEST(scalars)
{
    static const uint32_t encodings[] = { 0,          0x80000000, 1,
                                          0x3f800000, 0x7fc12345, 0xff800000 };
    for (size_t i = 0; i < 6; i++)
        for (size_t j = 0; j < 6; j++) {
            struct blas_call x = { .order = 101, .trans_a = 111, .trans_b = 111 };
            struct product p;
            x.m = x.n = x.k = x.lda = x.ldb = x.ldc = x.count = 1;
            x.alpha = &encodings[i];
            x.beta = &encodings[j];
            ck_assert_int_eq(blas_gemm(&p, &x), i < 2 ? LEGAL_EMPTY : LEGAL);
            ck_assert_uint_eq(p.gemm.alpha, encodings[i]);
            ck_assert_uint_eq(p.gemm.beta, encodings[j]);
            ck_assert(p.gemm.alpha_f64 == 1 && p.gemm.beta_f64 == 0);
        }
}
END_TEST

/* The same in FP64, whose alpha_f64 and beta_f64 are values. */
START_TEST(scalars_f64)
{
    static const uint64_t encodings[] = { 0,
                                          0x8000000000000000,
                                          1,
                                          0x3ff0000000000000,
                                          0x7ff8000012345678,
                                          0xfff0000000000000 };
    for (size_t i = 0; i < 6; i++)
        for (size_t j = 0; j < 6; j++) {
            struct blas_call x = { .order = 101, .trans_a = 111, .trans_b = 111 };
            struct product p;
            x.m = x.n = x.k = x.lda = x.ldb = x.ldc = x.count = 1;
            x.precision = PRECISION_F64;
            x.alpha = &encodings[i];
            x.beta = &encodings[j];
            ck_assert_int_eq(blas_gemm(&p, &x), i < 2 ? LEGAL_EMPTY : LEGAL);
            ck_assert_uint_eq(bits_of_double(p.gemm.alpha_f64), encodings[i]);
            ck_assert_uint_eq(bits_of_double(p.gemm.beta_f64), encodings[j]);
            ck_assert(p.gemm.alpha == 0x3f800000 && p.gemm.beta == 0);
            ck_assert_int_eq(product_is_scaled(&p.gemm), i != 3);
            ck_assert_int_eq(product_reads_c(&p.gemm), j > 1);
        }
}
END_TEST

/* --- where elements are ------------------------------------------------------------ */

enum { SIDE = 10 };

static double a[SIDE * SIDE], b[SIDE * SIDE], c[SIDE * SIDE];

/* BLAS's own words: element (i, j) of a matrix of a call with that ld. */
static const char *stored(const double *of, const struct blas_call *x, int64_t ld,
                          size_t i, size_t j)
{
    const size_t bytes = x->precision == PRECISION_F64 ? 8 : 4;
    return (const char *)of + bytes * (x->order == BLAS_ROW_MAJOR ? i * (size_t)ld + j
                                                                  : j * (size_t)ld + i);
}

static const char *of_op(const double *of, const struct blas_call *x, int trans,
                         int64_t ld, size_t i, size_t j)
{
    return trans == BLAS_NO_TRANS ? stored(of, x, ld, i, j) : stored(of, x, ld, j, i);
}

/* Check's macros write down every place that they pass: too slow for each element. */
static void check_at(const char *got, const char *want)
{
    if (got != want) ck_assert_ptr_eq(got, want);
}

/* Where the product's description says that element (i, j) is. */
static const char *described(const struct bitcut_matrix *x, size_t i, size_t j)
{
    if (!x->ld || x->prepared) ck_abort_msg("not the matrix of a BLAS");
    return (const char *)x->at +
           (x->format == &formats[FORMAT_F64] ? 8 : 4) *
               (x->layout == BITCUT_ROW_MAJOR ? i * x->ld + j : j * x->ld + i);
}

START_TEST(gemm_elements)
{
    uint64_t rng = test_seed() + 1;
    for (int tries = 0; tries < test_cases(4000, 40000);) {
        struct blas_call x = any_call(&rng);
        struct product p;
        x.a = a, x.b = b, x.c = c;
        if (blas_gemm(&p, &x) != LEGAL) continue;
        tries++;
        ck_assert(p.a == HALF_BOTH && p.b == HALF_BOTH && p.d == HALF_BOTH);
        ck_assert(!memcmp(&p.gemm.c, &p.gemm.d, sizeof p.gemm.c));
        ck_assert(p.gemm.m == (size_t)x.m && p.gemm.n == (size_t)x.n &&
                  p.gemm.k == (size_t)x.k && p.gemm.count == (size_t)x.count);
        for (size_t i = 0; i < p.gemm.m; i++)
            for (size_t l = 0; l < p.gemm.k; l++)
                for (size_t j = 0; j < p.gemm.n; j++) {
                    check_at(described(&p.gemm.a, i, l),
                             of_op(a, &x, x.trans_a, x.lda, i, l));
                    check_at(described(&p.gemm.b, l, j),
                             of_op(b, &x, x.trans_b, x.ldb, l, j));
                    check_at(described(&p.gemm.d, i, j),
                             stored(c, &x, x.ldc, i, j));
                }
    }
}
END_TEST

START_TEST(syrk_elements)
{
    uint64_t rng = test_seed() + 2;
    for (int tries = 0; tries < test_cases(4000, 40000);) {
        struct blas_call x = any_call(&rng);
        struct product p;
        x.a = a, x.c = c;
        if (blas_syrk(&p, &x) != LEGAL) continue;
        tries++;
        ck_assert(p.a == HALF_BOTH && p.b == HALF_BOTH);
        ck_assert_int_eq(p.d, x.half == BLAS_UPPER ? HALF_UPPER : HALF_LOWER);
        ck_assert(p.gemm.m == (size_t)x.n && p.gemm.n == (size_t)x.n &&
                  p.gemm.k == (size_t)x.k && p.gemm.count == 1);
        for (size_t i = 0; i < p.gemm.n; i++)
            for (size_t l = 0; l < p.gemm.k; l++) {
                const char *const at =
                    of_op(a, &x, x.trans_a, x.lda, i, l);
                check_at(described(&p.gemm.a, i, l), at);
                check_at(described(&p.gemm.b, l, i), at);
            }
    }
}
END_TEST

START_TEST(symm_elements)
{
    uint64_t rng = test_seed() + 3;
    for (int tries = 0; tries < test_cases(4000, 40000);) {
        struct blas_call x = any_call(&rng);
        struct product p;
        x.a = a, x.b = b, x.c = c;
        if (blas_symm(&p, &x) != LEGAL) continue;
        tries++;
        const bool left = x.side == BLAS_LEFT;
        const enum half half = x.half == BLAS_UPPER ? HALF_UPPER : HALF_LOWER;
        const size_t size = (size_t)(left ? x.m : x.n);
        const struct bitcut_matrix *const symmetric = left ? &p.gemm.a : &p.gemm.b,
                                          *const other = left ? &p.gemm.b : &p.gemm.a;
        ck_assert_int_eq(p.d, HALF_BOTH);
        ck_assert_int_eq(p.a, left ? half : HALF_BOTH);
        ck_assert_int_eq(p.b, left ? HALF_BOTH : half);
        ck_assert(p.gemm.m == (size_t)x.m && p.gemm.n == (size_t)x.n &&
                  p.gemm.k == size && p.gemm.count == 1);
        for (size_t i = 0; i < size; i++)
            for (size_t j = 0; j < size; j++)
                check_at(described(symmetric, i, j),
                         stored(a, &x, x.lda, i, j));
        for (size_t i = 0; i < p.gemm.m; i++)
            for (size_t j = 0; j < p.gemm.n; j++)
                check_at(described(other, i, j),
                         stored(b, &x, x.ldb, i, j));
    }
}
END_TEST

TEST_MAIN("blas_arguments", letters, legality, scalars, scalars_f64, gemm_elements, syrk_elements,
          symm_elements)
