/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/fp64/scheme_line.h"

#include "lib/base/size.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* --- a slice of k ----------------------------------------------------------------- */

void line_job_clear(struct line_job *x)
{
    free(x->a);
    free(x->b);
    free(x->d);
    free(x->shift);
}

enum bitcut_status line_job_make(struct line_job *to, const struct bitcut_gemm *g,
                                 const struct fp64_choice *by, struct fp64_range k,
                                 const double *c, const struct gemm_options *options,
                                 struct fault *f)
{
    const int threads = options->threads;
    const size_t lines = g->m + g->n;
    double limit;
    *to = (struct line_job){ .job = fp64_job_of(g, by, options),
                             .a = fp64_lines(&g->a, g->m, g->k, false, k, threads),
                             .b = fp64_lines(&g->b, g->k, g->n, true, k, threads),
                             .d = memory_allocate(g->m * g->n, sizeof *to->d),
                             .shift = memory_allocate(lines, sizeof *to->shift) };
    struct fp64_job *const job = &to->job;
    job->k = k.count;
    job->a = to->a, job->b = to->b, job->c = c, job->d = to->d;
    if (!to->a || !to->b || !to->d || !to->shift)
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the error budget");
    enum bitcut_status status = BITCUT_OK;
    if (!job->scheme->cut && job->scheme->part != &formats[FORMAT_F64])
        status = fp64_shifts(to->shift, to->shift + g->m, &limit, job, f);
    else free(to->shift), to->shift = NULL;
    return status == BITCUT_OK ? job->scheme->run(job, f) : status;
}

/* --- a line in it ----------------------------------------------------------------- */

/* An element and its parts: the exponents of their bits are from 2^1041 down to
   2^-1230. */
enum { ELEMENT_BITS = 2400, LOST_TERMS = 4 };

static void must_be(int inexact)
{
    assert(!inexact);
    (void)inexact;
}

void line_set_digit(mpfr_t to, const struct slices *x, const struct cut *cut, int slice,
                    double digit)
{
    mpfr_set_d(to, slices_scale(x, cut, slice, 0), MPFR_RNDN);
    must_be(mpfr_mul_d(to, to, digit, MPFR_RNDN));
    must_be(mpfr_mul_2si(to, to, slices_shift(x, cut, slice), MPFR_RNDN));
}

/* Set element p of x->lost to `lost`, as a sum of doubles.  False: it is none. */
static bool set_lost(struct line_piece *x, size_t k, size_t p, mpfr_t lost)
{
    for (int t = 0; t < LOST_TERMS && !mpfr_zero_p(lost); t++) {
        const double part = mpfr_get_d(lost, MPFR_RNDN);
        if (!isfinite(part)) return false;
        x->lost[(size_t)t * k + p] = part;
        if (t >= x->terms) x->terms = t + 1;
        must_be(mpfr_sub_d(lost, lost, part, MPFR_RNDN));
    }
    return mpfr_zero_p(lost);
}

static bool scales_are_finite(const struct slices *x, const struct cut *cut)
{
    for (int i = 0; i < x->parts; i++)
        if (!isfinite(slices_scale(x, cut, i, 0))) return false;
    return true;
}

static const char *const no_scale = "a scale of its row or column is infinite or NaN",
                         *const no_parts =
                             "the parts of an element are far from the element";

/* Cut the line as the scheme does.  False: no memory. */
static bool cut_line(struct line_piece *to, const char **what, const struct fp64_job *job,
                     const double *x, bool of_b)
{
    const struct cut *const cut = job->scheme->cut;
    int width[2];
    mpfr_t sum, part;
    if (fp64_widths(width, job, NULL) != BITCUT_OK ||
        slices_make(&to->slices, cut, job->parts, width[of_b], x, 1, job->k, 1) !=
            BITCUT_OK)
        return false;
    if (!scales_are_finite(&to->slices, cut)) *what = no_scale;
    mpfr_inits2(ELEMENT_BITS, sum, part, (mpfr_ptr)0);
    for (size_t p = 0; p < job->k && !*what; p++) {
        mpfr_set_d(sum, -x[p], MPFR_RNDN);
        for (int i = 0; i < job->parts; i++) {
            const int16_t digit = slices_digits(&to->slices, i)[p];
            if (!digit) continue;
            line_set_digit(part, &to->slices, cut, i, digit);
            must_be(mpfr_add(sum, sum, part, MPFR_RNDN));
        }
        if (!set_lost(to, job->k, p, sum)) *what = no_parts;
    }
    mpfr_clears(sum, part, (mpfr_ptr)0);
    return true;
}

/* x less x as two's complement of so many bits, an integer. */
static void set_wrap(mpfr_t to, mpfr_t x, int bits)
{
    mpfr_set_si_2exp(to, 1, bits - 1, MPFR_RNDN);
    mpfr_add(to, to, x, MPFR_RNDN);
    mpfr_mul_2si(to, to, -bits, MPFR_RNDN);
    mpfr_floor(to, to);
    mpfr_mul_2si(to, to, bits, MPFR_RNDN);
}

/* No element that is not zero has a larger exponent of its scale. */
enum { SHIFT_MAX = 2400 };

/* Scale the line to integers as the scheme does.  False: no memory. */
static bool scale_line(struct line_piece *to, const char **what,
                       const struct fp64_job *job, const double *x, int shift)
{
    const int bits = fp64_integer_bits(job->parts);
    const bool is_zero = abs(shift) > SHIFT_MAX; /* all elements count as zero */
    mpfr_t whole, over;
    to->shift = is_zero ? 0 : shift;
    to->is_integer = !is_zero;
    to->terms = 1;
    mpfr_inits2(ELEMENT_BITS, whole, over, (mpfr_ptr)0);
    for (size_t p = 0; p < job->k && !*what; p++) {
        mpfr_set_d(whole, is_zero ? 0 : x[p], MPFR_RNDN);
        mpfr_mul_2si(whole, whole, shift, MPFR_RNDN);
        mpfr_trunc(whole, whole);
        if (bits) set_wrap(over, whole, bits);
        else mpfr_set_zero(over, 1);
        mpfr_mul_2si(over, over, -shift, MPFR_RNDN);
        if (!mpfr_zero_p(over)) {
            if (!to->over) to->over = calloc(job->k, sizeof *to->over);
            if (!to->over) break;
            to->over[p] = -mpfr_get_d(over, MPFR_RNDN);
            if (mpfr_cmp_d(over, -to->over[p])) *what = no_parts;
        }
        mpfr_mul_2si(whole, whole, -shift, MPFR_RNDN);
        must_be(mpfr_sub_d(whole, whole, x[p], MPFR_RNDN));
        if (!set_lost(to, job->k, p, whole)) *what = no_parts;
    }
    const bool enough = !(mpfr_regular_p(over) && !to->over);
    mpfr_clears(whole, over, (mpfr_ptr)0);
    return enough;
}

static bool piece_make(struct line_piece *to, const char **what, const struct line_job *x,
                       size_t line)
{
    const struct fp64_job *const job = &x->job;
    const bool of_b = line >= job->m;
    const double *const at =
        of_b ? job->b + (line - job->m) * job->k : job->a + line * job->k;
    to->lost = calloc(larger(job->k, 1), LOST_TERMS * sizeof *to->lost);
    if (!to->lost) return false;
    if (!fp64_all_finite(at, job->k)) *what = "an input is infinite or NaN";
    if (*what) return true;
    if (job->scheme->cut) return cut_line(to, what, job, at, of_b);
    return !x->shift || scale_line(to, what, job, at, x->shift[line]);
}

struct scheme_line *scheme_line_make(const struct line_job *piece, size_t pieces,
                                     size_t line)
{
    struct scheme_line *const to = calloc(1, sizeof *to + pieces * sizeof *to->piece);
    if (!to) return NULL;
    to->pieces = pieces;
    for (size_t i = 0; i < pieces; i++)
        if (!piece_make(&to->piece[i], &to->what, &piece[i], line)) {
            scheme_line_free(to);
            return NULL;
        }
    return to;
}

void scheme_line_free(struct scheme_line *x)
{
    for (size_t i = 0; x && i < x->pieces; i++) {
        slices_clear(&x->piece[i].slices);
        free(x->piece[i].lost);
        free(x->piece[i].over);
    }
    free(x);
}
