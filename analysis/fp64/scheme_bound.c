/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/fp64/scheme_bound.h"

#include "lib/number/hostfp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define UNIT 0x1p-53
/* More than the relative error of the sums here, and of `magnitude`, for k up to 2^30. */
#define SLACK (1 + 0x1p-19)

/* --- sums of a line --------------------------------------------------------------- */

static double largest_of(const double *x, size_t k)
{
    double largest = 0;
    for (size_t p = 0; p < k; p++)
        largest = isnan(x[p]) ? INFINITY : fmax(largest, fabs(x[p]));
    return largest;
}

static double sum_of(const double *x, size_t k)
{
    double sum = 0;
    for (size_t p = 0; p < k; p++) sum += fabs(x[p]);
    return sum * SLACK;
}

/* --- slices ----------------------------------------------------------------------- */

/* What the bound reads of a line: the sum of magnitudes of each slice, and the largest
   rest after each slice; rest[0] is the largest element.  Rests are computed, too: a cut
   does not represent some lines, such as those with subnormal elements. */
struct line_sums {
    double slice[CUT_PARTS_MAX], rest[CUT_PARTS_MAX + 1], unit, all;
};

/* The unit of slice s of a line. */
static double unit_of(const struct slices *x, const struct cut *cut, int s, size_t line)
{
    return ldexp(slices_scale(x, cut, s, line), slices_shift(x, cut, s));
}

/* `rest` has the elements of the line; the rests after all slices replace them. */
static struct line_sums sums_of(const struct slices *x, const struct cut *cut,
                                double *rest, size_t line)
{
    struct line_sums to = { .all = sum_of(rest, x->k) };
    to.rest[0] = largest_of(rest, x->k);
    to.unit = unit_of(x, cut, 0, line);
    for (int s = 0; s < x->parts; s++) {
        const int16_t *const digit = slices_digits(x, s) + line * x->k;
        const double unit = unit_of(x, cut, s, line);
        double sum = 0;
        for (size_t p = 0; p < x->k; p++) {
            sum += abs(digit[p]);
            rest[p] = fma(-digit[p], unit, rest[p]);
        }
        to.slice[s] = sum * unit;
        to.rest[s + 1] = fmax(fmin(cut->rest[s + 1 == x->parts] * unit, to.rest[s]),
                              largest_of(rest, x->k) * SLACK);
    }
    to.unit = fmax(to.unit, to.rest[x->parts]);
    return to;
}

static struct line_sums *all_sums(const struct slices *x, const struct cut *cut,
                                  const double *from)
{
    struct line_sums *const to = memory_allocate(x->lines, sizeof *to);
    double *const rest = memory_allocate(x->k, sizeof *rest);
    for (size_t line = 0; to && rest && line < x->lines; line++) {
        memcpy(rest, from + line * x->k, x->k * sizeof *rest);
        to[line] = sums_of(x, cut, rest, line);
    }
    if (rest) {
        free(rest);
        return to;
    }
    free(to);
    return NULL;
}

static struct scheme_terms bound_of_slices(const struct fp64_job *job,
                                           const struct line_sums *a,
                                           const struct line_sums *b, double product,
                                           double additions)
{
    const int parts = job->parts;
    double left_out = a->rest[parts] * b->all;
    for (int i = 0; i < parts; i++) left_out += a->slice[i] * b->rest[parts - i];
    /* Rounded slices of an element may add up to more than the element: by one unit of
       the first slice. */
    const double terms = job->scheme->cut == &cut_truncated
                             ? product
                             : product + 1.1 * (a->unit * b->all + b->unit * a->all) +
                                   1.21 * (double)job->k * a->unit * b->unit;
    return (struct scheme_terms){ left_out, (additions + 1) * UNIT * terms, 0 };
}

static enum bitcut_status bound_slices(struct scheme_terms *to,
                                       const struct fp64_job *job, const double *product,
                                       struct fault *f)
{
    const struct cut *const cut = job->scheme->cut;
    struct slices a = { .digit = NULL }, b = { .digit = NULL };
    struct line_sums *of_a = NULL, *of_b = NULL;
    int width[2];
    enum bitcut_status status = fp64_widths(width, job, f);
    if (status != BITCUT_OK) return status;
    const bool exact = fp64_sums_are_exact(job, width);
    const double additions = (double)fp64_additions(job, width);
    const int threads = job->options->threads;
    status = slices_make(&a, cut, job->parts, width[0], job->a, job->m, job->k, threads);
    if (status == BITCUT_OK)
        status =
            slices_make(&b, cut, job->parts, width[1], job->b, job->n, job->k, threads);
    if (status == BITCUT_OK &&
        (!(of_a = all_sums(&a, cut, job->a)) || !(of_b = all_sums(&b, cut, job->b))))
        status = BITCUT_NO_MEMORY;
    for (size_t i = 0; i < job->m * job->n && status == BITCUT_OK; i++)
        to[i] = exact ? bound_of_slices(job, &of_a[i / job->n], &of_b[i % job->n],
                                        product[i], additions)
                      : (struct scheme_terms){ .parts = INFINITY };
    slices_clear(&a);
    slices_clear(&b);
    free(of_a);
    free(of_b);
    return status == BITCUT_NO_MEMORY
               ? fault_set(f, status, "not enough memory for the bound")
               : status;
}

/* --- residues --------------------------------------------------------------------- */

/* Whether the scheme scales an element of the line wrongly: a subnormal one that does not
   become 0, if scaled elements stay in FP64.  Its exponent is right, its significand is
   not. */
static bool scales_wrongly(const double *x, size_t k, int shift, int parts)
{
    bool any = false;
    for (size_t p = 0; p < k && !any; p++) any = fpclassify(x[p]) == FP_SUBNORMAL;
    return any && shift >= 1023 && !fp64_integer_bits(parts);
}

static enum bitcut_status bound_residues(struct scheme_terms *to,
                                         const struct fp64_job *job,
                                         const double *product, struct fault *f)
{
    enum { SINGLE_MAX = 6 }; /* moduli with constants that have no low part */
    const double parts = job->parts, low = job->parts > SINGLE_MAX ? 0x1p-40 : 1;
    double largest;
    int *const row = memory_allocate(job->m + job->n, sizeof *row);
    if (!row) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the bound");
    int *const col = row + job->m;
    const enum bitcut_status status = fp64_shifts(row, col, &largest, job, f);
    for (size_t at = 0; at < job->m * job->n && status == BITCUT_OK; at++) {
        const size_t i = at / job->n, j = at % job->n;
        const double *const of_a = job->a + i * job->k, *const of_b = job->b + j * job->k;
        const double a = ldexp(1, -row[i]), b = ldexp(1, -col[j]);
        const int wrong = scales_wrongly(of_a, job->k, row[i], job->parts) +
                          scales_wrongly(of_b, job->k, col[j], job->parts);
        const bool fits = product[at] * SLACK < largest * a * b;
        to[at] = (struct scheme_terms){
            .parts = !fits ? (double)INFINITY
                           : (ldexp(1, wrong) - 1) * product[at] +
                                 b * sum_of(of_a, job->k) + a * sum_of(of_b, job->k) +
                                 (double)job->k * a * b,
            .additions = 6 * UNIT * product[at] +
                         parts * parts * 256 * UNIT * low * largest * a * b
        };
    }
    free(row);
    return status;
}

/* --- all -------------------------------------------------------------------------- */

static enum bitcut_status bound_chain(struct scheme_terms *to, const struct fp64_job *job,
                                      const double *product, struct fault *f)
{
    (void)f;
    for (size_t i = 0; i < job->m * job->n; i++)
        to[i] = (struct scheme_terms){ .additions = (double)job->k * UNIT * product[i] };
    return BITCUT_OK;
}

/* |A||B| of all outputs, which the caller frees; NULL: no memory. */
static double *products_of(const struct fp64_job *job, const double *magnitude)
{
    double *const to = memory_allocate(job->m * job->n, sizeof *to);
    for (size_t i = 0; to && i < job->m * job->n; i++) {
        const double c = job->c ? fabs(job->beta * job->c[i]) : 0;
        const double scaled = (magnitude[i] - c) / fabs(job->alpha);
        to[i] = (scaled + 0x1p-19 * magnitude[i] / fabs(job->alpha)) * SLACK;
    }
    return to;
}

enum bitcut_status scheme_bound_terms(struct scheme_terms *to, const struct fp64_job *job,
                                      const double *magnitude, struct fault *f)
{
    struct hostfp saved;
    enum bitcut_status status;
    const double alpha = fabs(job->alpha);
    if (job->alpha == 0) {
        for (size_t i = 0; i < job->m * job->n; i++)
            to[i] = (struct scheme_terms){ .update =
                                               UNIT * magnitude[i] * SLACK + 0x1p-1074 };
        return BITCUT_OK;
    }
    double *const product = products_of(job, magnitude);
    if (!product)
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the bound");
    hostfp_enter(&saved);
    if (job->scheme->cut) status = bound_slices(to, job, product, f);
    else if (job->scheme->part == &formats[FORMAT_F64])
        status = bound_chain(to, job, product, f);
    else status = bound_residues(to, job, product, f);
    /* Each weight that is added to a D which contains beta C rounds with it. */
    const double times = job->scheme->backward ? job->parts + 2 : 2;
    for (size_t i = 0; i < job->m * job->n && status == BITCUT_OK; i++) {
        struct scheme_terms *const x = &to[i];
        x->parts *= alpha * SLACK;
        x->additions *= alpha * SLACK;
        x->update = times * UNIT * magnitude[i] * SLACK +
                    0x1p-1074 * (alpha + 4) * (double)(job->parts + 4);
        if (isnan(x->parts + x->additions + x->update)) x->parts = INFINITY;
    }
    hostfp_leave(&saved);
    free(product);
    return status;
}

enum bitcut_status scheme_bound(double *limit, const struct fp64_job *job,
                                const double *magnitude, struct fault *f)
{
    const size_t count = job->m * job->n;
    struct scheme_terms *const terms = memory_allocate(count, sizeof *terms);
    struct hostfp saved;
    if (!terms) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the bound");
    const enum bitcut_status status = scheme_bound_terms(terms, job, magnitude, f);
    hostfp_enter(&saved);
    for (size_t i = 0; i < count && status == BITCUT_OK; i++)
        limit[i] =
            (terms[i].parts + terms[i].additions + terms[i].update) * (1 + 0x1p-50);
    hostfp_leave(&saved);
    free(terms);
    return status;
}

const char *scheme_bound_source(const struct bitcut_scheme *s)
{
    if (s->part == &formats[FORMAT_F64])
        return "Jeannerod and Rump 2013: k u |A||B| in any order";
    return s->cut
               ? "the definition of the slices and the triangle inequality (the manual, "
                 "\"The bound\")"
               : "the definition of the residues and the triangle inequality (the "
                 "manual, "
                 "\"The bound\")";
}
