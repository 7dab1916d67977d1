/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers that the residuals of guesses show: one that is added to all sums, and a factor
   near 1 of all results. */
#include "analysis/identify/guess.h"
#include "analysis/identify/residual.h"

#include "lib/base/size.h"
#include "lib/number/bits.h"
#include "lib/number/fma.h"

#include <math.h>
#include <stdlib.h>

/* --- a number that is added ------------------------------------------------------- */

double guess_slope(const struct residuals *e, const struct candidate *c, size_t at)
{
    const struct exact_output none = { 0, 0 }, one = { 1, 0 };
    const size_t i = at / e->b.cols, j = at % e->b.cols;
    if (!e->b.own)
        return value_of_float(candidate_finish(c, F32_ONE, 0)) -
               value_of_float(candidate_finish(c, 0, 0));
    const struct epilogue_values told = part_told(&e->b, c);
    return epilogue_exact(&told, one, i, j).value -
           epilogue_exact(&told, none, i, j).value;
}

static int ascending(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* The median of the residual of a guess before alpha; its mean deviation in *apart. */
static double constant_of(double *apart, const struct residuals *e, const struct guess *g)
{
    double *const some = e->some, median = 0;
    size_t count = 0;
    *apart = INFINITY;
    for (size_t at = 0; at < e->outputs; at++) {
        const double by = guess_slope(e, &e->arithmetics.at[g->arithmetic].x, at);
        if (!isnan(e->level[at]) && by != 0 && isfinite(g->rest[at]))
            some[count++] = g->rest[at] / by;
    }
    if (count) {
        qsort(some, count, sizeof *some, ascending);
        median = some[count / 2];
        *apart = (some[count * 3 / 4] - some[count / 4]) / 1.35;
    }
    return median;
}

void guesses_find_start(struct residuals *e, const struct guesses *plain)
{
    static const double deviations = 4;
    double least = INFINITY, start = 0;
    for (size_t i = 0; i < plain->count && !e->b.own; i++) {
        double apart;
        const double median = constant_of(&apart, e, &plain->at[i]);
        if (apart < least) least = apart, start = median;
    }
    const double off = deviations * least / sqrt((double)e->finite);
    if (e->s.start || !(fabs(start) > 4 * off)) return;
    e->s.start = bits_of_float(residual_short_number(start, off));
}

/* --- a factor near 1 -------------------------------------------------------------- */

struct weighed {
    double x, weight;
};

static int by_number(const void *x, const void *y)
{
    return ascending(&((const struct weighed *)x)->x, &((const struct weighed *)y)->x);
}

/* The weighted median of D over a guess, less 1; the residual's mean distance from it, in
   levels, in *apart. */
static double ratio_of(double *apart, struct weighed *some, const struct residuals *e,
                       const struct guess *g)
{
    double all = 0, sum = 0, median = 0;
    size_t count = 0;
    *apart = INFINITY;
    for (size_t at = 0; at < e->outputs; at++) {
        const double value = value_of_float(e->b.d[at]) - g->rest[at],
                     t = (g->rest[at] - g->cut * e->cut[at]) / value,
                     weight = fabs(value) / e->level[at];
        if (isnan(e->level[at]) || !isfinite(t) || !isfinite(weight)) continue;
        some[count++] = (struct weighed){ t, weight };
        all += weight;
    }
    if (!count) return 0;
    qsort(some, count, sizeof *some, by_number);
    for (size_t i = 0; i < count && 2 * sum < all; i++)
        sum += some[i].weight, median = some[i].x;
    *apart = 0;
    for (size_t i = 0; i < count; i++)
        *apart +=
            fmin(fabs(some[i].x - median) * some[i].weight, OUTSIDE) / (double)count;
    return median;
}

bool guesses_find_larger(struct residuals *e, const struct guesses *plain)
{
    /* Results that are rounded away from zero are up to two ulps too large.  Sums that drift
       upwards are not all too large by one factor. */
    static const double least_ratio = 0x1p-22, most = 0x1p-9, spread = 1.25;
    double least = OUTSIDE, larger = 0;
    struct weighed *const some = memory_allocate(e->outputs + 1, sizeof *some);
    for (size_t i = 0; i < plain->count && !e->b.own && some; i++) {
        double apart;
        const double ratio = ratio_of(&apart, some, e, &plain->at[i]);
        if (apart < least) least = apart, larger = ratio;
    }
    if (larger > least_ratio && larger < most && least < spread)
        e->s.larger = bits_of_float((float)(1 + larger));
    free(some);
    return some;
}
