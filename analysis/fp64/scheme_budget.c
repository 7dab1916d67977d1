/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/fp64/scheme_budget.h"

#include "analysis/accuracy/dyadic.h"
#include "analysis/fp64/dense.h"
#include "analysis/fp64/scheme_line.h"
#include "lib/base/size.h"
#include "lib/gemm/view.h"
#include "lib/number/bits.h"
#include "lib/number/hostfp.h"
#include "lib/number/wide.h"

#include <assert.h>
#include <math.h>
#include <mpfr.h>
#include <stdlib.h>

/* Holds any sum of up to 2^46 products of three FP64 values, of slices 2^-126 below them,
   and of scaled integers. */
enum { BITS = 9000 };

/* --- exact sums ------------------------------------------------------------------- */

/* The products of an element of A and an element of B, and their sums over k: exactly; by
   what the parts lose of A, of B; as computed; the same on the unit, without overflow, in
   FP64. */
enum { SUM_EXACT, LOST_A, LOST_B, SUM_KEPT, SUM_UNIT, SUM_RANGE, SUM_FP64, SUMS };

struct exact_sums64 {
    mpfr_t sum[SUMS], product, x, y, z;
};

static void sums_init(struct exact_sums64 *s)
{
    for (int i = 0; i < SUMS; i++) {
        mpfr_init2(s->sum[i], BITS);
        mpfr_set_zero(s->sum[i], 1);
    }
    mpfr_inits2(BITS, s->product, s->x, s->y, s->z, (mpfr_ptr)0);
}

static void sums_clear(struct exact_sums64 *s)
{
    for (int i = 0; i < SUMS; i++) mpfr_clear(s->sum[i]);
    mpfr_clears(s->product, s->x, s->y, s->z, (mpfr_ptr)0);
}

static void must_be(int inexact)
{
    assert(!inexact);
    (void)inexact;
}

static void add_to(mpfr_t to, mpfr_t x) { must_be(mpfr_add(to, to, x, MPFR_RNDN)); }

static void add_double(mpfr_t to, double x) { must_be(mpfr_add_d(to, to, x, MPFR_RNDN)); }

/* Sums of products of doubles. */
enum { PRODUCT_LEAST = -2148, PRODUCT_MOST = 2048 };

static void add_product(struct wide *to, double x, double y)
{
    enum { FRACTION = 52, BIAS = 1075 };
    const uint64_t u = bits_of_double(x), v = bits_of_double(y),
                   hidden = UINT64_C(1) << FRACTION, mask = hidden - 1;
    const int e = (int)(u >> FRACTION & 0x7ff), g = (int)(v >> FRACTION & 0x7ff);
    const bitcut_uint128 p =
        (bitcut_uint128)((u & mask) | (e ? hidden : 0)) * ((v & mask) | (g ? hidden : 0));
    if (p) wide_add(to, (u ^ v) >> 63, p, larger_int(e, 1) + larger_int(g, 1) - 2 * BIAS);
}

static void set_wide(mpfr_t to, const struct wide *w)
{
    mpz_t all;
    mpz_init(all);
    mpz_import(all, (size_t)w->limbs, -1, sizeof w->limb[0], 0, 0, w->limb);
    if (w->limb[w->limbs - 1] >> 63) {
        mpz_t modulus;
        mpz_init_set_ui(modulus, 1);
        mpz_mul_2exp(modulus, modulus, 64 * (mp_bitcnt_t)w->limbs);
        mpz_sub(all, all, modulus);
        mpz_clear(modulus);
    }
    must_be(mpfr_set_z_2exp(to, all, w->exponent, MPFR_RNDN));
    mpz_clear(all);
}

/* --- one slice of k --------------------------------------------------------------- */

/* A row and a column of a slice of k, and D there. */
struct dot {
    const struct line_piece *a, *b;
    const struct fp64_job *job; /* of the one output */
    double d;
};

/* Add what the parts lose of A and of B, and the exact product; set s->product to the
   product of A' and B'. */
static void add_losses(struct exact_sums64 *s, const struct dot *x)
{
    const size_t k = x->job->k;
    const double *const a = x->job->a, *const b = x->job->b;
    struct wide exact, lost_a, lost_b;
    wide_clear(&exact, PRODUCT_LEAST, PRODUCT_MOST);
    wide_clear(&lost_a, PRODUCT_LEAST, PRODUCT_MOST);
    wide_clear(&lost_b, PRODUCT_LEAST, PRODUCT_MOST);
    for (size_t p = 0; p < k; p++) add_product(&exact, a[p], b[p]);
    for (int t = 0; t < x->a->terms; t++)
        for (size_t p = 0; p < k; p++) add_product(&lost_a, x->a->lost[t * k + p], b[p]);
    for (int t = 0; t < x->b->terms; t++)
        for (size_t p = 0; p < k; p++) {
            const double lost = x->b->lost[t * k + p];
            add_product(&lost_b, a[p], lost);
            for (int i = 0; i < x->a->terms; i++)
                add_product(&lost_b, x->a->lost[i * k + p], lost);
        }
    set_wide(s->product, &exact);
    add_to(s->sum[SUM_EXACT], s->product);
    set_wide(s->x, &lost_a);
    add_to(s->sum[LOST_A], s->x);
    add_to(s->product, s->x);
    set_wide(s->x, &lost_b);
    add_to(s->sum[LOST_B], s->x);
    add_to(s->product, s->x);
}

static double wrapped(double x) { return (double)(int32_t)(uint32_t)(int64_t)x; }

/* The products of slices i and j: their exact sum, and the sum as the unit gives it. */
static enum bitcut_status multiply_slices(double *exact, double *on_unit,
                                          const struct dot *x, int i, int j,
                                          struct fault *f)
{
    const int16_t *const a = slices_digits(&x->a->slices, i), *const b = slices_digits(
                                                                  &x->b->slices, j);
    int64_t sum = 0;
    for (size_t p = 0; p < x->job->k; p++) sum += a[p] * b[p];
    *exact = *on_unit = (double)sum;
    return format_is_integer(x->job->unit->c) ? BITCUT_OK
                                              : fp64_multiply(on_unit, x->job, a, b, f);
}

/* All products of a weight, in groups of `most`, whose sums are added in s32 on a unit of
   integers. */
static enum bitcut_status add_weight(struct exact_sums64 *s, const struct dot *x,
                                     int level, size_t most, struct fault *f)
{
    const struct cut *const cut = x->job->scheme->cut;
    const bool integers = format_is_integer(x->job->unit->c);
    enum bitcut_status status = BITCUT_OK;
    double exact = 0, on_unit = 0;
    size_t held = 0;
    for (int index = 0; index <= level && status == BITCUT_OK; index++) {
        const int i = fp64_slice_of(x->job->scheme, level, index);
        double one, of_unit;
        status = multiply_slices(&one, &of_unit, x, i, level - i, f);
        exact += one;
        on_unit += of_unit;
        if (++held < most && index < level) continue;
        line_set_digit(s->x, &x->a->slices, cut, i, 1);
        line_set_digit(s->y, &x->b->slices, cut, level - i, 1);
        must_be(mpfr_mul(s->x, s->x, s->y, MPFR_RNDN)); /* the weight */
        must_be(mpfr_mul_d(s->z, s->x, exact, MPFR_RNDN));
        add_to(s->sum[SUM_KEPT], s->z);
        if (!integers) must_be(mpfr_mul_d(s->z, s->x, on_unit, MPFR_RNDN));
        add_to(s->sum[SUM_UNIT], s->z);
        if (integers) must_be(mpfr_mul_d(s->z, s->x, wrapped(exact), MPFR_RNDN));
        add_to(s->sum[SUM_RANGE], s->z);
        exact = on_unit = 0;
        held = 0;
    }
    return status;
}

static enum bitcut_status add_slices(struct exact_sums64 *s, const struct dot *x,
                                     struct fault *f)
{
    const int width[2] = { x->a->slices.width, x->b->slices.width };
    const size_t most = fp64_group(x->job, width);
    enum bitcut_status status = BITCUT_OK;
    for (int level = 0; level < x->job->parts && status == BITCUT_OK; level++)
        status = add_weight(s, x, level, most, f);
    return status;
}

/* Add to s->product what integers beyond their range change of it. */
static void add_range(struct exact_sums64 *s, const struct dot *x)
{
    static const double none = 0;
    const double *const over_a = x->a->over, *const over_b = x->b->over;
    struct wide over;
    if (!over_a && !over_b) return;
    wide_clear(&over, PRODUCT_LEAST, PRODUCT_MOST);
    for (size_t p = 0; p < x->job->k; p++) {
        const double of_a = over_a ? over_a[p] : none, of_b = over_b ? over_b[p] : none,
                     a = x->job->a[p] + x->a->lost[p], b = x->job->b[p] + x->b->lost[p];
        add_product(&over, of_a, b);
        add_product(&over, a, of_b);
        add_product(&over, of_a, of_b);
    }
    set_wide(s->x, &over);
    add_to(s->product, s->x);
}

/* Subtract from s->product the multiple of P that brings it nearest to D, in units of
   2^-shift. */
static void take_modulus(struct exact_sums64 *s, const struct dot *x)
{
    mpfr_set_ui(s->y, 1, MPFR_RNDN);
    for (int i = 0; i < x->job->parts; i++)
        must_be(mpfr_mul_si(s->y, s->y, fp64_modulus(i), MPFR_RNDN));
    mpfr_mul_2si(s->y, s->y, -(x->a->shift + x->b->shift), MPFR_RNDN);
    must_be(mpfr_sub_d(s->x, s->product, x->d, MPFR_RNDN));
    mpfr_div(s->x, s->x, s->y, MPFR_RNDN);
    mpfr_rint(s->x, s->x, MPFR_RNDN);
    must_be(mpfr_mul(s->x, s->x, s->y, MPFR_RNDN));
    must_be(mpfr_sub(s->product, s->product, s->x, MPFR_RNDN));
}

static enum bitcut_status add_piece(struct exact_sums64 *s, const struct dot *x,
                                    struct fault *f)
{
    add_losses(s, x);
    add_double(s->sum[SUM_FP64], x->d);
    if (x->a->slices.digit) return add_slices(s, x, f);
    add_to(s->sum[SUM_KEPT], s->product);
    add_to(s->sum[SUM_UNIT], s->product);
    add_range(s, x);
    if (x->a->is_integer && x->b->is_integer) take_modulus(s, x);
    add_to(s->sum[SUM_RANGE], s->product);
    return BITCUT_OK;
}

/* --- one GEMM --------------------------------------------------------------------- */

/* The GEMM, cut into slices of k. */
struct scheme_budgets {
    const struct bitcut_gemm *gemm;
    struct fp64_choice by;
    struct gemm_options options; /* of the jobs */
    size_t pieces;
    struct line_job *piece; /* their operands, and A B of each in job.d             */
    double *c, *d;          /* D as the emulator gives it                           */
    double *first;          /* D after the first slice of k                         */
};

void scheme_budgets_free(struct scheme_budgets *x)
{
    for (size_t i = 0; x && x->piece && i < x->pieces; i++) line_job_clear(&x->piece[i]);
    if (!x) return;
    free(x->piece);
    free(x->first);
    free(x->c);
    free(x->d);
    free(x);
}

/* D after each slice of k, as fp64_gemm_run() computes it. */
static void finish(struct scheme_budgets *x)
{
    const struct bitcut_gemm *const g = x->gemm;
    const struct bitcut_scheme *const scheme = g->scheme;
    struct hostfp saved;
    hostfp_enter(&saved);
    for (size_t at = 0; at < g->m * g->n; at++) {
        const double first = x->piece[0].job.d[at];
        double d = scheme->backward ? first
                                    : scheme->update(g->alpha_f64, first, g->beta_f64,
                                                     x->c ? x->c[at] : 0);
        x->first[at] = d;
        for (size_t i = 1; i < x->pieces; i++)
            d = scheme->update(g->alpha_f64, x->piece[i].job.d[at], 1, d);
        x->d[at] = d;
    }
    hostfp_leave(&saved);
}

static enum bitcut_status make(struct scheme_budgets *x, struct fault *f)
{
    const struct bitcut_gemm *const g = x->gemm;
    const struct gemm_options *const options = &x->options;
    const bool reads_c = gemm_reads_c(g);
    const struct fp64_range n = { 0, g->n };
    size_t count;
    while (x->pieces < x->by.slices && fp64_k_slice(g->k, x->by.slices, x->pieces).count)
        x->pieces++;
    x->pieces = larger(x->pieces, 1);
    x->piece = calloc(x->pieces, sizeof *x->piece);
    const bool fits = size_multiply(&count, g->m, g->n);
    x->first = fits ? memory_allocate(count, sizeof *x->first) : NULL;
    x->d = fits ? memory_allocate(count, sizeof *x->d) : NULL;
    if (reads_c) x->c = fp64_lines(&g->c, g->m, g->n, false, n, options->threads);
    if (!x->piece || !x->first || !x->d || (reads_c && !x->c))
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the error budget");
    enum bitcut_status status = BITCUT_OK;
    for (size_t i = 0; i < x->pieces && status == BITCUT_OK; i++)
        status = line_job_make(&x->piece[i], g, &x->by,
                               fp64_k_slice(g->k, x->by.slices, i), x->c, options, f);
    if (status == BITCUT_OK) finish(x);
    return status;
}

enum bitcut_status scheme_budgets_make(struct scheme_budgets **to,
                                       const struct bitcut_gemm *g,
                                       const struct fp64_choice *by,
                                       const struct gemm_options *options,
                                       struct fault *f)
{
    struct scheme_budgets *const x = calloc(1, sizeof *x);
    if (!x)
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the error budget");
    x->gemm = g;
    x->by = *by;
    x->options = *options;
    const enum bitcut_status status = make(x, f);
    if (status == BITCUT_OK) *to = x;
    else scheme_budgets_free(x);
    return status;
}

/* --- one output ------------------------------------------------------------------- */

/* x - y, exactly, times `factor`. */
static void take(struct budget_output *to, enum budget_part part, struct exact_sums64 *s,
                 mpfr_t x, mpfr_t y, double factor, bool texts)
{
    must_be(mpfr_sub(s->z, x, y, MPFR_RNDN));
    must_be(mpfr_mul_d(s->z, s->z, factor, MPFR_RNDN));
    to->part[part] = mpfr_get_d(s->z, MPFR_RNDN);
    if (!texts) return;
    mpz_t all;
    mpz_init(all);
    const mpfr_exp_t exponent = mpfr_zero_p(s->z) ? 0 : mpfr_get_z_2exp(all, s->z);
    to->exact[part] = dyadic_text(all, -(long)exponent - DYADIC_UNIT);
    mpz_clear(all);
}

/* The parts of a scheme that is `backward`: D is rn(beta C) and all weights times alpha.
   s->product has beta C. */
static void take_backward(struct budget_output *to, struct exact_sums64 *s,
                          const struct scheme_budgets *x, double rounded, size_t at,
                          bool texts)
{
    mpfr_set_d(s->x, rounded, MPFR_RNDN);
    take(to, BUDGET_EPILOGUE, s, s->x, s->product, 1, texts);
    must_be(mpfr_mul_d(s->y, s->sum[SUM_RANGE], x->gemm->alpha_f64, MPFR_RNDN));
    add_to(s->y, s->x);
    mpfr_set_d(s->x, x->d[at], MPFR_RNDN);
    take(to, BUDGET_ADDITIONS, s, s->x, s->y, 1, texts);
    take(to, BUDGET_SLICES, s, s->x, s->x, 1, texts);
}

/* The parts of other schemes from the FP64 additions on.  s->product has beta C. */
static void take_forward(struct budget_output *to, struct exact_sums64 *s,
                         const struct scheme_budgets *x, size_t at, bool texts)
{
    const double alpha = x->gemm->alpha_f64, first = x->piece[0].job.d[at];
    take(to, BUDGET_ADDITIONS, s, s->sum[SUM_FP64], s->sum[SUM_RANGE], alpha, texts);
    mpfr_set_d(s->x, first, MPFR_RNDN);
    must_be(mpfr_mul_d(s->y, s->x, alpha, MPFR_RNDN));
    add_to(s->y, s->product);
    mpfr_set_d(s->x, x->first[at], MPFR_RNDN);
    take(to, BUDGET_EPILOGUE, s, s->x, s->y, 1, texts);
    mpfr_set(s->y, s->sum[SUM_FP64], MPFR_RNDN); /* of the other slices of k */
    must_be(mpfr_sub_d(s->y, s->y, first, MPFR_RNDN));
    must_be(mpfr_mul_d(s->y, s->y, alpha, MPFR_RNDN));
    add_to(s->y, s->x);
    mpfr_set_d(s->x, x->d[at], MPFR_RNDN);
    take(to, BUDGET_SLICES, s, s->x, s->y, 1, texts);
}

static void take_error(struct budget_output *to, struct exact_sums64 *s,
                       const struct scheme_budgets *x, size_t at)
{
    mpfr_set_d(s->x, x->d[at], MPFR_RNDN);
    must_be(mpfr_mul_d(s->y, s->sum[SUM_EXACT], x->gemm->alpha_f64, MPFR_RNDN));
    add_to(s->y, s->product);
    to->value = mpfr_get_d(s->y, MPFR_RNDN);
    must_be(mpfr_sub(s->z, s->x, s->y, MPFR_RNDN));
    to->error = mpfr_get_d(s->z, MPFR_RNDN);
}

/* The parts of FP64 operations, and the error. */
static void take_update(struct budget_output *to, struct exact_sums64 *s,
                        const struct scheme_budgets *x, size_t at, bool texts)
{
    const struct bitcut_gemm *const g = x->gemm;
    const double beta = x->c ? g->beta_f64 : 0, c = x->c ? x->c[at] : 0;
    struct hostfp saved;
    mpfr_set_d(s->product, beta, MPFR_RNDN);
    must_be(mpfr_mul_d(s->product, s->product, c, MPFR_RNDN)); /* beta C */
    hostfp_enter(&saved);
    const double rounded = fp64_product(beta, c);
    hostfp_leave(&saved);
    if (g->scheme->backward) take_backward(to, s, x, rounded, at, texts);
    else take_forward(to, s, x, at, texts);
    take_error(to, s, x, at);
}

static void divide(struct budget_output *to, struct exact_sums64 *s,
                   const struct scheme_budgets *x, size_t at, bool texts)
{
    const double alpha = x->gemm->alpha_f64;
    mpfr_set_zero(s->y, 1);
    take(to, BUDGET_REPRESENTATION_A, s, s->sum[LOST_A], s->y, alpha, texts);
    take(to, BUDGET_REPRESENTATION_B, s, s->sum[LOST_B], s->y, alpha, texts);
    mpfr_set(s->product, s->sum[SUM_EXACT], MPFR_RNDN);
    add_to(s->product, s->sum[LOST_A]);
    add_to(s->product, s->sum[LOST_B]);
    take(to, BUDGET_DROPPED, s, s->sum[SUM_KEPT], s->product, alpha, texts);
    take(to, BUDGET_UNIT, s, s->sum[SUM_UNIT], s->sum[SUM_KEPT], alpha, texts);
    take(to, BUDGET_OVERFLOW, s, s->sum[SUM_RANGE], s->sum[SUM_UNIT], alpha, texts);
    take_update(to, s, x, at, texts);
}

/* Why the output has no finite sum; NULL: it has. */
static const char *special(const struct scheme_budgets *x, const struct scheme_line *row,
                           const struct scheme_line *column, size_t at)
{
    const struct bitcut_gemm *const g = x->gemm;
    if (!isfinite(g->alpha_f64) || !isfinite(g->beta_f64) ||
        (x->c && !isfinite(x->c[at])))
        return "an input is infinite or NaN";
    if (row->what || column->what) return row->what ? row->what : column->what;
    for (size_t i = 0; i < x->pieces; i++)
        if (!isfinite(x->piece[i].job.d[at])) return "a sum is infinite or NaN";
    return isfinite(x->first[at]) && isfinite(x->d[at]) ? NULL : "the result overflows";
}

static double size_of(const struct scheme_budgets *x, size_t i, size_t j)
{
    const struct bitcut_gemm *const g = x->gemm;
    double size = 0;
    for (size_t t = 0; t < x->pieces; t++) {
        const struct fp64_job *const job = &x->piece[t].job;
        for (size_t p = 0; p < job->k; p++)
            size += fabs(job->a[i * job->k + p]) * fabs(job->b[j * job->k + p]);
    }
    return fabs(g->alpha_f64) * size +
           (x->c ? fabs(g->beta_f64 * x->c[i * g->n + j]) : 0);
}

static enum bitcut_status divide_output(struct budget_output *to,
                                        const struct scheme_budgets *x,
                                        const struct scheme_line *row,
                                        const struct scheme_line *column, size_t i,
                                        size_t j, bool texts, struct fault *f)
{
    const size_t at = i * x->gemm->n + j;
    enum bitcut_status status = BITCUT_OK;
    struct exact_sums64 s;
    sums_init(&s);
    for (size_t t = 0; t < x->pieces && status == BITCUT_OK; t++) {
        struct fp64_job one = x->piece[t].job;
        one.m = one.n = 1;
        one.a += i * one.k;
        one.b += j * one.k;
        const struct dot dot = { &row->piece[t], &column->piece[t], &one,
                                 x->piece[t].job.d[at] };
        status = add_piece(&s, &dot, f);
    }
    if (status == BITCUT_OK) divide(to, &s, x, at, texts);
    sums_clear(&s);
    return status;
}

static enum bitcut_status output(struct budget_output *to, const struct scheme_budgets *x,
                                 const void *row, const void *column, size_t i, size_t j,
                                 bool texts, struct fault *f)
{
    struct hostfp saved;
    *to = (struct budget_output){ .is_f64 = true,
                                  .format = &formats[FORMAT_F64],
                                  .d64 = x->d[i * x->gemm->n + j],
                                  .drift = NAN,
                                  .drift_mean = NAN,
                                  .drift_spread = NAN };
    to->event =
        (struct budget_event){ special(x, row, column, i * x->gemm->n + j), -1, 0 };
    hostfp_enter(&saved);
    to->size = size_of(x, i, j);
    hostfp_leave(&saved);
    return to->event.what ? BITCUT_OK : divide_output(to, x, row, column, i, j, texts, f);
}

/* --- many outputs ----------------------------------------------------------------- */

static void *line_of(const void *context, size_t line)
{
    const struct scheme_budgets *const x = context;
    return scheme_line_make(x->piece, x->pieces, line);
}

static void release_line(void *line) { scheme_line_free(line); }

static enum bitcut_status one_output(struct budget_output *to, const void *context,
                                     const struct budget_piece *c, size_t t,
                                     struct fault *f)
{
    const size_t row = budget_row(c, t), column = budget_column(c, t);
    return output(to, context, c->line[row], c->line[column], row, column - c->m, false,
                  f);
}

enum bitcut_status scheme_budget_gemm(struct budget_summary *to,
                                      const struct scheme_budgets *x,
                                      const struct gemm_options *options, struct fault *f)
{
    const struct budget_work w = { .m = x->gemm->m,
                                   .n = x->gemm->n,
                                   .k = x->gemm->k,
                                   .is_f64 = true,
                                   .kinds = budget_kinds(x->gemm),
                                   .copies_rows = true,
                                   .context = x,
                                   .line = line_of,
                                   .release = release_line,
                                   .output = one_output };
    return budget_summarize(to, &w, options->threads, options->progress, f);
}

enum bitcut_status scheme_budget_at(struct budget_output *to,
                                    const struct scheme_budgets *x, size_t i, size_t j,
                                    struct fault *f)
{
    struct scheme_line *const row = line_of(x, i), *const column =
                                                       line_of(x, x->gemm->m + j);
    *to = (struct budget_output){ .is_f64 = true };
    enum bitcut_status status =
        row && column ? output(to, x, row, column, i, j, true, f)
                      : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for a budget");
    scheme_line_free(row);
    scheme_line_free(column);
    for (int p = 0; p < BUDGET_PARTS && status == BITCUT_OK; p++)
        if (!to->event.what && budget_rows[p].kinds & BUDGET_OF_SCHEMES && !to->exact[p])
            status = fault_set(f, BITCUT_NO_MEMORY, "not enough memory for a budget");
    if (status != BITCUT_OK) budget_clear(to);
    return status;
}

/* --- for the commands ------------------------------------------------------------- */

static enum bitcut_status source_all(struct budget_summary *to,
                                     const struct budget_problem *q,
                                     const struct gemm_options *options, struct fault *f)
{
    return scheme_budget_gemm(to, q->context, options, f);
}

static enum bitcut_status source_at(struct budget_place *to,
                                    const struct budget_problem *q, size_t i, size_t j,
                                    struct fault *f)
{
    const struct view d = view_of(&q->gemm->d, 0, q->m, q->n, false);
    to->given64 = view_f64(&d, i, j);
    return scheme_budget_at(&to->budget, q->context, i, j, f);
}

static enum bitcut_status source_errors(double *u, const struct budget_problem *q,
                                        const struct gemm_options *options,
                                        struct fault *f)
{
    struct dense x;
    struct judge j;
    enum bitcut_status status =
        dense_make(&x, q->gemm, options->threads)
            ? dense_judge(&j, &x, q->gemm, &references[0], options, f)
            : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the reference");
    if (status == BITCUT_OK) {
        struct hostfp saved;
        hostfp_enter(&saved);
        for (size_t i = 0; i < q->m * q->n; i++) u[i] = backward_at(&j.comparison, i);
        hostfp_leave(&saved);
        judge_clear(&j);
    }
    dense_clear(&x);
    return status;
}

const struct budget_source scheme_budget_source = { source_all, source_at,
                                                    source_errors };
