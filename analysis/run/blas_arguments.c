/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/run/blas_arguments.h"

#include "lib/number/bits.h"

#include <string.h>

/* --- letters ---------------------------------------------------------------------- */

struct letter {
    char letter;
    int number;
};

/* The number of a letter, or of its capital. */
static int number_of(const struct letter *letters, char letter)
{
    const char capital = letter >= 'a' && letter <= 'z' ? (char)(letter - 32) : letter;
    while (letters->letter && letters->letter != capital) letters++;
    return letters->number;
}

int blas_trans(char letter)
{
    static const struct letter letters[] = {
        { 'N', BLAS_NO_TRANS }, { 'T', BLAS_TRANS }, { 'C', BLAS_CONJ_TRANS }, { 0, 0 }
    };
    return number_of(letters, letter);
}

int blas_half(char letter)
{
    static const struct letter letters[] = { { 'U', BLAS_UPPER },
                                             { 'L', BLAS_LOWER },
                                             { 0, 0 } };
    return number_of(letters, letter);
}

int blas_side(char letter)
{
    static const struct letter letters[] = { { 'L', BLAS_LEFT },
                                             { 'R', BLAS_RIGHT },
                                             { 0, 0 } };
    return number_of(letters, letter);
}

/* --- matrices --------------------------------------------------------------------- */

static bool is_order(int order)
{
    return order == BLAS_ROW_MAJOR || order == BLAS_COLUMN_MAJOR;
}

static bool is_trans(int trans)
{
    return trans >= BLAS_NO_TRANS && trans <= BLAS_CONJ_TRANS;
}

/* op(X) of a matrix of the call: the other storage order if it is transposed. */
static struct bitcut_matrix op(const void *at, int64_t ld, const struct blas_call *x,
                               int trans)
{
    const bool by_rows = (x->order == BLAS_ROW_MAJOR) == (trans == BLAS_NO_TRANS);
    return (struct bitcut_matrix){ .at = at,
                                   .ld = (size_t)ld,
                                   .format = precisions[x->precision].format,
                                   .layout =
                                       by_rows ? BITCUT_ROW_MAJOR : BITCUT_COLUMN_MAJOR };
}

/* Whether the rows or columns of a matrix of rows x cols, before op(), are at most ld
   long. */
static bool fits(int64_t ld, int order, int trans, int64_t rows, int64_t cols)
{
    const bool by_rows = (order == BLAS_ROW_MAJOR) == (trans == BLAS_NO_TRANS);
    const int64_t length = by_rows ? cols : rows;
    return ld >= (length > 1 ? length : 1);
}

/* Set the scalars of a valid call, and return its validity by its sizes and scalars.  The
   program's floating-point mode is not to see the values. */
static enum legality with_scalars(struct bitcut_gemm *g, const struct blas_call *x)
{
    const bool f64 = x->precision == PRECISION_F64;
    memcpy(f64 ? (void *)&g->alpha_f64 : &g->alpha, x->alpha, f64 ? 8 : 4);
    memcpy(f64 ? (void *)&g->beta_f64 : &g->beta, x->beta, f64 ? 8 : 4);
    const bool none = f64 ? !(bits_of_double(g->alpha_f64) << 1) : f32_is_zero(g->alpha);
    return !g->m || !g->n || !g->k || !g->count || none ? LEGAL_EMPTY : LEGAL;
}

/* Whether no size is negative. */
static struct product sized(int64_t m, int64_t n, int64_t k)
{
    struct product p = { .gemm = { 0 } };
    bitcut_gemm_init(&p.gemm, sizeof p.gemm);
    p.gemm.m = (size_t)m, p.gemm.n = (size_t)n, p.gemm.k = (size_t)k;
    return p;
}

/* --- routines --------------------------------------------------------------------- */

enum legality blas_gemm(struct product *to, const struct blas_call *x)
{
    if (!is_order(x->order) || !is_trans(x->trans_a) || !is_trans(x->trans_b) ||
        x->m < 0 || x->n < 0 || x->k < 0 || x->count < 0 ||
        !fits(x->lda, x->order, x->trans_a, x->m, x->k) ||
        !fits(x->ldb, x->order, x->trans_b, x->k, x->n) ||
        !fits(x->ldc, x->order, BLAS_NO_TRANS, x->m, x->n))
        return LEGAL_NOT;
    *to = sized(x->m, x->n, x->k);
    struct bitcut_gemm *const g = &to->gemm;
    g->count = (size_t)x->count;
    g->a = op(x->a, x->lda, x, x->trans_a);
    g->b = op(x->b, x->ldb, x, x->trans_b);
    g->d = op(x->c, x->ldc, x, BLAS_NO_TRANS);
    g->a.stride = (size_t)x->stride_a;
    g->b.stride = (size_t)x->stride_b;
    g->d.stride = (size_t)x->stride_c;
    g->a.each = x->each_a;
    g->b.each = x->each_b;
    g->d.each_to = x->each_c;
    g->c = g->d;
    return with_scalars(g, x);
}

enum legality blas_syrk(struct product *to, const struct blas_call *x)
{
    if (!is_order(x->order) || !is_trans(x->trans_a) || x->n < 0 || x->k < 0 ||
        (x->half != BLAS_UPPER && x->half != BLAS_LOWER) ||
        !fits(x->lda, x->order, x->trans_a, x->n, x->k) ||
        !fits(x->ldc, x->order, BLAS_NO_TRANS, x->n, x->n))
        return LEGAL_NOT;
    *to = sized(x->n, x->n, x->k);
    to->d = x->half == BLAS_UPPER ? HALF_UPPER : HALF_LOWER;
    struct bitcut_gemm *const g = &to->gemm;
    g->a = op(x->a, x->lda, x, x->trans_a);
    g->b = g->a;
    g->b.layout =
        g->a.layout == BITCUT_ROW_MAJOR ? BITCUT_COLUMN_MAJOR : BITCUT_ROW_MAJOR;
    g->c = g->d = op(x->c, x->ldc, x, BLAS_NO_TRANS);
    return with_scalars(g, x);
}

enum legality blas_symm(struct product *to, const struct blas_call *x)
{
    const bool left = x->side == BLAS_LEFT;
    const int64_t size = left ? x->m : x->n;
    if (!is_order(x->order) || x->m < 0 || x->n < 0 ||
        (x->half != BLAS_UPPER && x->half != BLAS_LOWER) ||
        (!left && x->side != BLAS_RIGHT) ||
        !fits(x->lda, x->order, BLAS_NO_TRANS, size, size) ||
        !fits(x->ldb, x->order, BLAS_NO_TRANS, x->m, x->n) ||
        !fits(x->ldc, x->order, BLAS_NO_TRANS, x->m, x->n))
        return LEGAL_NOT;
    const enum half half = x->half == BLAS_UPPER ? HALF_UPPER : HALF_LOWER;
    const struct bitcut_matrix symmetric = op(x->a, x->lda, x, BLAS_NO_TRANS),
                               other = op(x->b, x->ldb, x, BLAS_NO_TRANS);
    *to = sized(x->m, x->n, size);
    *(left ? &to->a : &to->b) = half;
    struct bitcut_gemm *const g = &to->gemm;
    g->a = left ? symmetric : other;
    g->b = left ? other : symmetric;
    g->c = g->d = op(x->c, x->ldc, x, BLAS_NO_TRANS);
    return with_scalars(g, x);
}
