/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/fp64/scheme_budget.h"

#include <assert.h>
#include <math.h>
#include <mpfr.h>
#include <stdlib.h>

const struct scheme_loss_row scheme_losses[] = {
    { "representation_a", "bits of A that no part has" },
    { "representation_b", "bits of B that no part has" },
    { "left_out", "products of slices that the scheme does not compute" },
    { "unit", "sums of products of parts that the unit rounds" },
    { "overflow", "integers beyond s32 or the range of the residues" },
    { "additions", "FP64 additions of the products, or of the residues" },
    { NULL, NULL },
};

/* Holds any sum of up to 2^46 products of FP64 values, of slices 2^-126 below them, and
   of scaled integers. */
enum { BITS = 5600 };

/* The sums from E to D, each an exact number:
   A B, A' B, A' B', the computed products, the same on the unit, without overflow. */
enum { SUM_EXACT, SUM_A, SUM_AB, SUM_KEPT, SUM_UNIT, SUM_RANGE, SUMS };

struct exact_sums64 {
    mpfr_t sum[SUMS], d, x, y, z;
};

static void sums_init(struct exact_sums64 *s, double d)
{
    for (int i = 0; i < SUMS; i++) {
        mpfr_init2(s->sum[i], BITS);
        mpfr_set_zero(s->sum[i], 1);
    }
    mpfr_inits2(BITS, s->d, s->x, s->y, s->z, (mpfr_ptr)0);
    mpfr_set_d(s->d, d, MPFR_RNDN);
}

static void sums_clear(struct exact_sums64 *s)
{
    for (int i = 0; i < SUMS; i++) mpfr_clear(s->sum[i]);
    mpfr_clears(s->d, s->x, s->y, s->z, (mpfr_ptr)0);
}

/* Add one product to the first three sums: a and b, and what the parts have of them in
   s->x and s->y. */
static void add_product(struct exact_sums64 *s, double a, double b)
{
    mpfr_set_d(s->z, a, MPFR_RNDN);
    mpfr_mul_d(s->z, s->z, b, MPFR_RNDN);
    mpfr_add(s->sum[SUM_EXACT], s->sum[SUM_EXACT], s->z, MPFR_RNDN);
    mpfr_mul_d(s->z, s->x, b, MPFR_RNDN);
    mpfr_add(s->sum[SUM_A], s->sum[SUM_A], s->z, MPFR_RNDN);
    mpfr_mul(s->z, s->x, s->y, MPFR_RNDN);
    mpfr_add(s->sum[SUM_AB], s->sum[SUM_AB], s->z, MPFR_RNDN);
}

/* x - y, exactly. */
static double difference(struct exact_sums64 *s, mpfr_t x, mpfr_t y)
{
    const int inexact = mpfr_sub(s->z, x, y, MPFR_RNDN);
    assert(!inexact);
    (void)inexact;
    return mpfr_get_d(s->z, MPFR_RNDN);
}

static void divide(struct scheme_budget *to, struct exact_sums64 *s)
{
    to->part[LOSS_A] = difference(s, s->sum[SUM_A], s->sum[SUM_EXACT]);
    to->part[LOSS_B] = difference(s, s->sum[SUM_AB], s->sum[SUM_A]);
    to->part[LOSS_LEFT_OUT] = difference(s, s->sum[SUM_KEPT], s->sum[SUM_AB]);
    to->part[LOSS_UNIT] = difference(s, s->sum[SUM_UNIT], s->sum[SUM_KEPT]);
    to->part[LOSS_OVERFLOW] = difference(s, s->sum[SUM_RANGE], s->sum[SUM_UNIT]);
    to->part[LOSS_ADDITIONS] = difference(s, s->d, s->sum[SUM_RANGE]);
    to->error = difference(s, s->d, s->sum[SUM_EXACT]);
    to->known = true;
}

static bool all_finite(const double *x, size_t k)
{
    for (size_t p = 0; p < k; p++)
        if (!isfinite(x[p])) return false;
    return true;
}

/* --- slices ----------------------------------------------------------------------- */

/* The slices of the row and of the column. */
struct slices_pair {
    struct slices a, b;
};

/* Set to a number of units of a slice. */
static void set_digit(mpfr_t to, const struct slices *x, const struct cut *cut, int slice,
                      double digit)
{
    mpfr_set_d(to, slices_scale(x, cut, slice, 0), MPFR_RNDN);
    mpfr_mul_d(to, to, digit, MPFR_RNDN);
    mpfr_mul_2si(to, to, slices_shift(x, cut, slice), MPFR_RNDN);
}

static void set_element(mpfr_t to, mpfr_t spare, const struct slices *x,
                        const struct cut *cut, size_t p)
{
    mpfr_set_zero(to, 1);
    for (int i = 0; i < x->parts; i++) {
        set_digit(spare, x, cut, i, slices_digits(x, i)[p]);
        mpfr_add(to, to, spare, MPFR_RNDN);
    }
}

static bool scales_are_finite(const struct slices *x, const struct cut *cut)
{
    for (int i = 0; i < x->parts; i++)
        if (!isfinite(slices_scale(x, cut, i, 0))) return false;
    return true;
}

/* The products of slices i and j: exactly, and as the unit adds them, also to *all. */
static enum bitcut_status add_slices(struct exact_sums64 *s, double *all,
                                     const struct slices_pair *x,
                                     const struct fp64_job *one, int i, int j,
                                     struct fault *f)
{
    const struct cut *const cut = one->scheme->cut;
    const int16_t *const a = slices_digits(&x->a, i), *const b = slices_digits(&x->b, j);
    double on_unit;
    int64_t exact = 0;
    const enum bitcut_status status = fp64_multiply(&on_unit, one, a, b, f);
    for (size_t p = 0; p < one->k; p++) exact += a[p] * b[p];
    set_digit(s->x, &x->a, cut, i, 1);
    set_digit(s->y, &x->b, cut, j, 1);
    mpfr_mul(s->x, s->x, s->y, MPFR_RNDN);
    mpfr_mul_si(s->z, s->x, (long)exact, MPFR_RNDN);
    mpfr_add(s->sum[SUM_KEPT], s->sum[SUM_KEPT], s->z, MPFR_RNDN);
    mpfr_mul_d(s->z, s->x, on_unit, MPFR_RNDN);
    mpfr_add(s->sum[SUM_UNIT], s->sum[SUM_UNIT], s->z, MPFR_RNDN);
    *all += on_unit;
    return status;
}

/* All products of a weight.  A scheme that is `backward` adds them in s32, modulo 2^32. */
static enum bitcut_status add_weight(struct exact_sums64 *s, const struct slices_pair *x,
                                     const struct fp64_job *one, int level,
                                     struct fault *f)
{
    enum bitcut_status status = BITCUT_OK;
    double all = 0;
    for (int i = 0; i <= level && status == BITCUT_OK; i++)
        status = add_slices(s, &all, x, one, i, level - i, f);
    if (status != BITCUT_OK || !one->scheme->backward) return status;
    const double over = all - (double)(int32_t)(uint32_t)(int64_t)all;
    mpfr_mul_d(s->z, s->x, over, MPFR_RNDN); /* s->x: the weight */
    mpfr_sub(s->sum[SUM_RANGE], s->sum[SUM_RANGE], s->z, MPFR_RNDN);
    return status;
}

static enum bitcut_status divide_slices(struct exact_sums64 *s, bool *known,
                                        const struct fp64_job *one, struct fault *f)
{
    const struct cut *const cut = one->scheme->cut;
    struct slices_pair x = { .a = { .digit = NULL }, .b = { .digit = NULL } };
    int width[2];
    enum bitcut_status status = fp64_widths(width, one, f);
    if (status == BITCUT_OK)
        status = slices_make(&x.a, cut, one->parts, width[0], one->a, 1, one->k, 1);
    if (status == BITCUT_OK)
        status = slices_make(&x.b, cut, one->parts, width[1], one->b, 1, one->k, 1);
    *known = status == BITCUT_OK && scales_are_finite(&x.a, cut) &&
             scales_are_finite(&x.b, cut);
    for (size_t p = 0; p < one->k && *known; p++) {
        set_element(s->x, s->z, &x.a, cut, p);
        set_element(s->y, s->z, &x.b, cut, p);
        add_product(s, one->a[p], one->b[p]);
    }
    for (int level = 0; level < one->parts && *known && status == BITCUT_OK; level++)
        status = add_weight(s, &x, one, level, f);
    mpfr_add(s->sum[SUM_RANGE], s->sum[SUM_RANGE], s->sum[SUM_UNIT], MPFR_RNDN);
    if (format_is_integer(one->unit->c))
        mpfr_set(s->sum[SUM_UNIT], s->sum[SUM_KEPT], MPFR_RNDN);
    slices_clear(&x.a);
    slices_clear(&x.b);
    return status == BITCUT_NO_MEMORY
               ? fault_set(f, status, "not enough memory for slices")
               : status;
}

/* --- residues --------------------------------------------------------------------- */

/* x as two's complement of so many bits. */
static void wrap(mpfr_t x, mpfr_t spare, int bits)
{
    mpfr_set_si_2exp(spare, 1, bits - 1, MPFR_RNDN);
    mpfr_add(spare, spare, x, MPFR_RNDN);
    mpfr_mul_2si(spare, spare, -bits, MPFR_RNDN);
    mpfr_floor(spare, spare);
    mpfr_mul_2si(spare, spare, bits, MPFR_RNDN);
    mpfr_sub(x, x, spare, MPFR_RNDN);
}

static void set_integer(mpfr_t to, double x, int shift)
{
    mpfr_set_d(to, x, MPFR_RNDN);
    mpfr_mul_2si(to, to, shift, MPFR_RNDN);
    mpfr_trunc(to, to);
}

/* Subtract the multiple of P that brings the sum nearest to D, in units of 2^-shift. */
static void take_modulus(struct exact_sums64 *s, int parts, int shift)
{
    mpfr_set_ui(s->y, 1, MPFR_RNDN);
    for (int i = 0; i < parts; i++) mpfr_mul_si(s->y, s->y, fp64_modulus(i), MPFR_RNDN);
    mpfr_mul_2si(s->y, s->y, -shift, MPFR_RNDN);
    mpfr_sub(s->x, s->sum[SUM_RANGE], s->d, MPFR_RNDN);
    mpfr_div(s->x, s->x, s->y, MPFR_RNDN);
    mpfr_rint(s->x, s->x, MPFR_RNDN);
    mpfr_mul(s->x, s->x, s->y, MPFR_RNDN);
    mpfr_sub(s->sum[SUM_RANGE], s->sum[SUM_RANGE], s->x, MPFR_RNDN);
}

static void divide_residues(struct exact_sums64 *s, const struct fp64_job *one,
                            const int shift[2])
{
    const int bits = fp64_integer_bits(one->parts);
    for (size_t p = 0; p < one->k; p++) {
        set_integer(s->x, one->a[p], shift[0]);
        set_integer(s->y, one->b[p], shift[1]);
        mpfr_mul_2si(s->x, s->x, -shift[0], MPFR_RNDN);
        mpfr_mul_2si(s->y, s->y, -shift[1], MPFR_RNDN);
        add_product(s, one->a[p], one->b[p]);
        set_integer(s->x, one->a[p], shift[0]);
        set_integer(s->y, one->b[p], shift[1]);
        if (bits) wrap(s->x, s->z, bits);
        if (bits) wrap(s->y, s->z, bits);
        mpfr_mul(s->z, s->x, s->y, MPFR_RNDN);
        mpfr_mul_2si(s->z, s->z, -(shift[0] + shift[1]), MPFR_RNDN);
        mpfr_add(s->sum[SUM_RANGE], s->sum[SUM_RANGE], s->z, MPFR_RNDN);
    }
    mpfr_set(s->sum[SUM_KEPT], s->sum[SUM_AB], MPFR_RNDN);
    mpfr_set(s->sum[SUM_UNIT], s->sum[SUM_AB], MPFR_RNDN);
    take_modulus(s, one->parts, shift[0] + shift[1]);
}

/* The shifts of the row and of the column, which all rows and columns determine. */
static enum bitcut_status shifts_of(int shift[2], const struct fp64_job *job, size_t row,
                                    size_t col, struct fault *f)
{
    double limit;
    int *const all = memory_allocate(job->m + job->n, sizeof *all);
    if (!all) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for scales");
    const enum bitcut_status status = fp64_shifts(all, all + job->m, &limit, job, f);
    if (status == BITCUT_OK) shift[0] = all[row], shift[1] = all[job->m + col];
    free(all);
    return status;
}

/* --- all -------------------------------------------------------------------------- */

static void divide_chain(struct exact_sums64 *s, const struct fp64_job *one)
{
    for (size_t p = 0; p < one->k; p++) {
        mpfr_set_d(s->x, one->a[p], MPFR_RNDN);
        mpfr_set_d(s->y, one->b[p], MPFR_RNDN);
        add_product(s, one->a[p], one->b[p]);
    }
    for (int i = SUM_KEPT; i < SUMS; i++) mpfr_set(s->sum[i], s->sum[SUM_AB], MPFR_RNDN);
}

enum bitcut_status scheme_budget(struct scheme_budget *to, const struct fp64_job *job,
                                 size_t row, size_t col, double d, struct fault *f)
{
    const double *const a = job->a + row * job->k, *const b = job->b + col * job->k;
    struct fp64_job one = *job;
    struct exact_sums64 s;
    enum bitcut_status status = BITCUT_OK;
    bool known = true;
    int shift[2] = { 0, 0 };
    *to = (struct scheme_budget){ .known = false };
    if (!isfinite(d) || !all_finite(a, job->k) || !all_finite(b, job->k)) return status;
    one.m = one.n = 1;
    one.a = a, one.b = b;
    sums_init(&s, d);
    if (job->scheme->cut) status = divide_slices(&s, &known, &one, f);
    else if (job->scheme->part == &formats[FORMAT_F64]) divide_chain(&s, &one);
    else if ((status = shifts_of(shift, job, row, col, f)) == BITCUT_OK)
        divide_residues(&s, &one, shift);
    if (status == BITCUT_OK && known) divide(to, &s);
    sums_clear(&s);
    return status;
}
