/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/accuracy/bound_limits.h"

#include "analysis/accuracy/bound_factor.h"
#include "analysis/split/representation_error.h"
#include "emu/summation.h"
#include "lib/base/size.h"
#include "lib/base/threads.h"
#include "lib/exact/exact.h"
#include "lib/number/bits.h"
#include "lib/number/hostfp.h"

#include <math.h>
#include <stdlib.h>

static double alpha_of(const struct bound_problem *x)
{
    return fabs(value_of_float(x->x->alpha));
}

/* Rows of A or columns of B. */
struct side {
    struct retained_reader reader;
    const uint32_t *at;
    size_t lines, across, along;
    bool of_b;
    int *exponent; /* for each row or column: the exponent by which it is equilibrated, */
    int *scaled;   /* and the exponent that scales its largest magnitude to about 1 */
};

/* The factors of a product of magnitudes, for `count` elements of every line from `from`
   on. */
struct factors {
    const struct bound_problem *x;
    struct side a, b;
    int field[RETAINED_FIELDS], fields; /* the fields of B that are used */
    size_t from, count;
    uint32_t *of_a, *of_b; /* [fields][m][count] and [fields][count][n] */
    double *product;       /* [m][n]                            */
};

enum {
    FACTORS_MAX = 4 << 20
}; /* elements of of_a and of_b together, if the least count
      of a pass, RETAINED_BLOCK, allows it */

static void factors_clear(struct factors *t)
{
    free(t->a.exponent);
    free(t->b.exponent);
    free(t->of_a);
    free(t->of_b);
    free(t->product);
}

/* The error of elements with the fields `a` of A and 1 in one field of B. */
static double error_beside(const struct bound_problem *x, const struct retained *a,
                           int field)
{
    const struct gemm_plan *const p = x->plan;
    struct retained one = { .at = { 0 } };
    one.at[field] = 1;
    double sum = retained_lost(p, a, &one);
    for (int t = 0; t < p->terms; t++)
        if (field == RETAINED_PART + p->term[t].b)
            sum += a->at[RETAINED_PART + p->term[t].a] * x->way.term[t];
    return sum;
}

/* The fields of B that are multiplied by any field of A. */
static void find_fields(struct factors *t)
{
    struct retained any;
    for (int i = 0; i < RETAINED_FIELDS; i++) any.at[i] = 1;
    for (int i = 0; i < RETAINED_FIELDS; i++)
        if (error_beside(t->x, &any, i) > 0) t->field[t->fields++] = i;
}

/* Round up to FP32; too large a number becomes infinite. */
static uint32_t upward(double x)
{
    const float y = (float)x;
    const uint32_t bits = bits_of_float(y);
    return (double)y < x ? bits + 1 : bits;
}

static bool aligns_by_scales(const struct bound_problem *x)
{
    return summation_reads(x->plan->unit[0]) & READS_GROUP;
}

/* The exponent of the largest finite magnitude of a row or column, plus the exponent by
   which it is equilibrated. */
static void measure_line(struct side *s, const struct bound_problem *x, size_t line)
{
    const uint32_t *const at = s->at + line * s->across;
    double most = 0;
    for (size_t p = 0; p < x->x->k; p++) {
        const double v = fabs(value_of_float(at[p * s->along])) *
                         bound_factor_at(x->x, s->of_b, line, p);
        if (isfinite(v) && v > most) most = v;
    }
    s->exponent[line] = retained_exponent(x->plan, &s->reader, at, x->x->k, s->along);
    frexp(most, &s->scaled[line]);
    s->scaled[line] += s->exponent[line];
}

/* The magnitudes of element p of a line, times its factor.  A unit that aligns groups of
   products at the exponents of their scales does so for zeros too: each counts as the
   smallest normal number of its part. */
static struct retained retained_at(const struct side *s, const struct bound_problem *x,
                                   struct retained_block *block, bool of_b, size_t line,
                                   size_t p)
{
    struct retained all;
    retained_next(&all, block, &s->reader, s->at + line * s->across, s->along, x->x->k, p,
                  s->exponent[line]);
    retained_align(&all, &s->reader);
    const double factor = bound_factor_at(x->x, of_b, line, p);
    if (aligns_by_scales(x))
        all.at[RETAINED_PART] = larger_double(all.at[RETAINED_PART], s->reader.least[0]);
    for (int i = 0; i < RETAINED_FIELDS; i++) all.at[i] *= factor;
    return all;
}

static void fill_line_of_a(struct factors *t, size_t i)
{
    const size_t k = t->count, size = t->a.lines * k;
    struct retained_block block = { .count = 0 };
    if (!t->from) measure_line(&t->a, t->x, i);
    for (size_t p = 0; p < k; p++) {
        const struct retained a = retained_at(&t->a, t->x, &block, false, i, t->from + p);
        for (int n = 0; n < t->fields; n++)
            t->of_a[(size_t)n * size + i * k + p] =
                upward(ldexp(error_beside(t->x, &a, t->field[n]), -t->a.scaled[i]));
    }
}

static void fill_line_of_b(struct factors *t, size_t j)
{
    const size_t k = t->count, size = t->b.lines * k;
    struct retained_block block = { .count = 0 };
    if (!t->from) measure_line(&t->b, t->x, j);
    for (size_t p = 0; p < k; p++) {
        const struct retained b = retained_at(&t->b, t->x, &block, true, j, t->from + p);
        for (int n = 0; n < t->fields; n++)
            t->of_b[(size_t)n * size + p * t->b.lines + j] =
                upward(ldexp(b.at[t->field[n]], -t->b.scaled[j]));
    }
}

static void fill_lines(struct factors *t, int threads)
{
    const size_t m = t->a.lines, lines = m + t->b.lines;
    const int team = threads_for_work(threads, lines, 20 * t->count);
    (void)team;
#pragma omp parallel for schedule(static, 8) num_threads(team)
    for (size_t i = 0; i < lines; i++) {
        struct hostfp mode;
        hostfp_enter(&mode);
        if (i < m) fill_line_of_a(t, i);
        else fill_line_of_b(t, i - m);
        hostfp_leave(&mode);
    }
}

static bool allocate_side(struct side *s)
{
    s->exponent = memory_allocate(s->lines, 2 * sizeof *s->exponent);
    s->scaled = s->exponent ? s->exponent + s->lines : NULL;
    return s->exponent;
}

/* How many elements of every line are multiplied in a pass. */
static size_t elements_of_pass(const struct factors *t)
{
    const struct comparison *const c = t->x->x;
    const size_t fields = t->fields ? (size_t)t->fields : 1,
                 count = FACTORS_MAX / fields / (c->m + c->n) / RETAINED_BLOCK;
    const size_t some = (count ? count : 1) * RETAINED_BLOCK;
    return some < c->k ? some : c->k;
}

static bool factors_init(struct factors *t, const struct bound_problem *x)
{
    const struct comparison *const c = x->x;
    const size_t fields = RETAINED_FIELDS;
    *t = (struct factors){ .x = x,
                           .a = { .reader = retained_reader_of(x->plan, BITCUT_A),
                                  .at = c->a,
                                  .lines = c->m,
                                  .across = c->k,
                                  .along = 1 },
                           .b = { .reader = retained_reader_of(x->plan, BITCUT_B),
                                  .at = c->b,
                                  .lines = c->n,
                                  .across = 1,
                                  .along = c->n,
                                  .of_b = true } };
    find_fields(t);
    t->count = elements_of_pass(t);
    size_t of_a, of_b, of_d;
    return size_multiply(&of_a, c->m, t->count) && size_multiply(&of_b, c->n, t->count) &&
           size_multiply(&of_d, c->m, c->n) &&
           of_a < SIZE_MAX / fields / sizeof *t->of_a &&
           of_b < SIZE_MAX / fields / sizeof *t->of_b && allocate_side(&t->a) &&
           allocate_side(&t->b) &&
           (t->of_a = memory_allocate((size_t)t->fields * of_a, sizeof *t->of_a)) &&
           (t->of_b = memory_allocate((size_t)t->fields * of_b, sizeof *t->of_b)) &&
           (t->product = memory_allocate(of_d, sizeof *t->product));
}

/* The error by products of padding, which count as the smallest numbers, with scales of
   1, where a unit aligns by scales. */
static double padding_error(const struct factors *t)
{
    const size_t step = (size_t)t->x->plan->k_step, k = t->x->x->k;
    if (!aligns_by_scales(t->x)) return 0;
    return (double)((step - k % step) % step) * t->a.reader.least[0] *
           t->b.reader.least[0] * t->x->way.term[0];
}

/* The sum of the errors of elements, then underflow, and beta C. */
static double finish(const struct factors *t, size_t i, size_t j, double sum)
{
    const struct bound_problem *const x = t->x;
    const struct comparison *const c = x->x;
    const int back = t->a.exponent[i] + t->b.exponent[j];
    const double alpha = alpha_of(x),
                 of_c = gemm_reads_c(x->gemm) ? fabs(value_of_float(c->beta) *
                                                     value_of_float(c->c[i * c->n + j]))
                                              : 0,
                 before = x->way.before * bound_factor_most(c, false, i) *
                              bound_factor_most(c, true, j) +
                          padding_error(t);
    const double limit =
        alpha * ldexp(sum + before, -back) + x->way.after + x->way.update * of_c;
    return isfinite(limit) ? bound_raised(limit, c->k) : NAN;
}

/* Apply the scale of rows and columns to the sums. */
static void finish_all(double *limit, const struct factors *t, int threads)
{
    const struct comparison *const c = t->x->x;
    const size_t rows =
        c->n ? c->m : 0; /* without columns there may be any number of rows */
    const int team = threads_for_work(threads, rows, 20 * c->n);
    (void)team;
#pragma omp parallel for schedule(static) num_threads(team)
    for (size_t i = 0; i < rows; i++) {
        struct hostfp mode;
        hostfp_enter(&mode);
        for (size_t j = 0; j < c->n; j++)
            limit[i * c->n + j] = finish(
                t, i, j, ldexp(limit[i * c->n + j], t->a.scaled[i] + t->b.scaled[j]));
        hostfp_leave(&mode);
    }
}

/* Whether numbers times zeros are zeros: one array has only zeros, the other one no
   infinity. */
static bool gives_zero(const uint32_t *zeros, size_t count, const uint32_t *other,
                       size_t other_count)
{
    uint32_t any = 0, most = 0;
    for (size_t i = 0; i < count; i++) any |= zeros[i];
    for (size_t i = 0; !any && i < other_count; i++)
        most = most > other[i] ? most : other[i];
    return !any && most < 0x7f800000;
}

/* Add the products of a pass to the sums. */
static enum bitcut_status add_products(double *limit, const struct factors *t,
                                       const struct exact_options *options,
                                       struct fault *f)
{
    const struct comparison *const c = t->x->x;
    const size_t k = t->count, in_a = c->m * k, in_b = c->n * k;
    struct hostfp mode;
    for (int n = 0; n < t->fields; n++) {
        const uint32_t *const of_a = t->of_a + (size_t)n * in_a, *const of_b =
                                                                     t->of_b +
                                                                     (size_t)n * in_b;
        if (gives_zero(of_a, in_a, of_b, in_b) || gives_zero(of_b, in_b, of_a, in_a))
            continue;
        const enum bitcut_status status = exact_gemm(
            NULL, NULL, t->product, NULL, options, c->m, c->n, k, of_a, of_b, f);
        if (status != BITCUT_OK) return status;
        hostfp_enter(&mode);
        for (size_t i = 0; i < c->m * c->n; i++) limit[i] += t->product[i];
        hostfp_leave(&mode);
    }
    return BITCUT_OK;
}

enum bitcut_status bound_fill_aligned(double *limit, const struct bound_problem *x,
                                      int threads, const struct progress *progress,
                                      struct fault *f)
{
    const struct comparison *const c = x->x;
    const struct exact_options options = { .threads = threads,
                                           .progress = progress,
                                           .sums = x->sums };
    struct factors t;
    enum bitcut_status status = factors_init(&t, x) ? BITCUT_OK : bound_no_memory(f);
    for (size_t i = 0; i < c->m * c->n; i++) limit[i] = 0;
    do {
        if (t.count > c->k - t.from) t.count = c->k - t.from;
        if (status == BITCUT_OK) fill_lines(&t, threads);
        if (status == BITCUT_OK) status = add_products(limit, &t, &options, f);
        t.from += t.count;
    } while (status == BITCUT_OK && t.from < c->k);
    if (status == BITCUT_OK) finish_all(limit, &t, threads);
    factors_clear(&t);
    return status;
}
