/* SPDX-License-Identifier: BSD-3-Clause */
/* The rung of zero points that were not given, or are others, of A and B with formats of integers and a D
   without integers.  With zero points a and b an exact sum is
     sum_p A_ip B_pj - a sum_p B_pj - b sum_p A_ip + k a b
   (Jacob et al. 2018, arXiv 1712.05877, equation 7), and D is that of steps which are
   linear in it.  The three terms are fitted to D less the exact result by least squares. */
#include "analysis/identify/rung.h"

#include "lib/base/size.h"
#include "lib/base/text.h"
#include "lib/gemm/epilogue.h"
#include "lib/number/bits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TERMS = 3, OUTPUTS_MIN = 16, ZERO_MAX = 255 };

/* Outputs as sums: D less the exact result, over what 1 more in the sum changes. */
struct sums {
    double row[TERMS], rest, tolerance; /* row: of A, of B, and 1 */
};

static double change_of_one(const struct block *b, size_t at)
{
    const size_t i = at / b->cols, j = at % b->cols;
    const double alpha = value_of_float(b->q->alpha);
    if (!b->own) return alpha;
    const struct exact_output none = { 0, 0 }, one = { 1, 1 };
    return block_finish(b, one, i, j).value - block_finish(b, none, i, j).value;
}

static double sum_along(const uint32_t *x, size_t first, size_t step, size_t k)
{
    double sum = 0;
    for (size_t p = 0; p < k; p++) sum += value_of_float(x[first + p * step]);
    return sum;
}

/* The outputs of the sample that are numbers.  Returns their number. */
static size_t take_sums(struct sums *to, const struct view *v)
{
    const struct block *const b = &v->b;
    const double ulp = ldexp(1, -b->q->format->fraction_bits);
    size_t count = 0;
    for (size_t at = 0; at < b->rows * b->cols; at++) {
        const double one = change_of_one(b, at);
        if (!isfinite(v->d[at]) || !isfinite(v->exact[at]) || one == 0) continue;
        to[count++] = (struct sums){
            { sum_along(b->b, at % b->cols, b->cols, b->k),
              sum_along(b->a, at / b->cols * b->k, 1, b->k), 1 },
            (v->d[at] - v->exact[at]) / one,
            1 + ulp * (fabs(v->d[at]) + fabs(v->exact[at])) / fabs(one)
        };
    }
    return count;
}

/* Solve the normal equations by elimination with the largest pivot; false: singular. */
static bool solve(double x[TERMS], const struct sums *s, size_t count)
{
    double m[TERMS][TERMS + 1] = { { 0 } };
    for (size_t o = 0; o < count; o++) {
        const double weight = 1 / (s[o].tolerance * s[o].tolerance);
        for (int i = 0; i < TERMS; i++) {
            for (int j = 0; j < TERMS; j++)
                m[i][j] += weight * s[o].row[i] * s[o].row[j];
            m[i][TERMS] += weight * s[o].row[i] * s[o].rest;
        }
    }
    for (int c = 0; c < TERMS; c++) {
        const double diagonal = m[c][c];
        if (!(diagonal > 0)) return false;
        for (int i = 0; i < TERMS; i++) {
            const double times = m[i][c] / diagonal;
            for (int j = 0; i != c && j <= TERMS; j++) m[i][j] -= times * m[c][j];
        }
    }
    for (int i = 0; i < TERMS; i++) x[i] = m[i][TERMS] / m[i][i];
    return true;
}

/* The share of outputs whose rest is that of these zero points. */
static double share_of(const struct sums *s, size_t count, double zero_a, double zero_b,
                       double k)
{
    size_t near = 0;
    for (size_t o = 0; o < count; o++) {
        const double terms =
            k * zero_a * zero_b - zero_a * s[o].row[0] - zero_b * s[o].row[1];
        near += fabs(s[o].rest - terms) <= s[o].tolerance;
    }
    return (double)near / (double)count;
}

/* Zero points that account for the rest of nearly all outputs, which 0 does not. */
static bool fit_zeros(int32_t zero[2], const struct sums *s, size_t count, size_t k)
{
    double x[TERMS];
    if (count < OUTPUTS_MIN || share_of(s, count, 0, 0, (double)k) > 0.8 ||
        !solve(x, s, count) || !(fabs(x[0]) <= ZERO_MAX + 0.5) ||
        !(fabs(x[1]) <= ZERO_MAX + 0.5))
        return false;
    zero[0] = (int32_t)-nearbyint(x[0]);
    zero[1] = (int32_t)-nearbyint(x[1]);
    return (zero[0] || zero[1]) && share_of(s, count, zero[0], zero[1], (double)k) > 0.95;
}

/* The elements of an operand less its zero point, as ladder_rest() reads them. */
static uint32_t *subtracted(const struct problem *q, enum bitcut_operand operand,
                            int32_t zero)
{
    const size_t m = problem_m(q), n = problem_n(q), k = problem_k(q),
                 lines = operand == BITCUT_A ? m : n;
    uint32_t *const to = memory_allocate(lines, k * sizeof *to);
    for (size_t i = 0; to && i < lines; i++)
        for (size_t p = 0; p < k; p++) {
            const float x = (float)(value_of_float(problem_element(q, operand, i, p)) -
                                    (double)zero);
            to[operand == BITCUT_A ? i * k + p : p * n + i] = bits_of_float(x);
        }
    return to;
}

/* "A has the zero point 7, not 5" */
static void describe_zero(struct bitcut_finding *to, int side, int32_t zero, int32_t given)
{
    text_add(to->text, sizeof to->text, "%s%c has the zero point %d", *to->text ? " and " : "",
             side ? 'B' : 'A', (int)zero);
    if (given) text_add(to->text, sizeof to->text, ", not %d", (int)given);
    text_add(to->option, sizeof to->option, "%s--zero-%c %d", *to->option ? " " : "",
             side ? 'b' : 'a', (int)zero);
}

/* The finding, for zero points that differ from those of the problem by `more`. */
static enum bitcut_status report(struct ladder_report *l, const struct rung_input *x,
                                 const int32_t more[2], struct fault *f)
{
    struct bitcut_finding *const to = ladder_add(l, x, "zero points");
    const int32_t *const given = x->q->zero;
    bool any_given = false;
    memcpy(l->zero, given, sizeof l->zero);
    l->has_zero = true;
    for (int side = 0; side < 2; side++) {
        if (!more[side]) continue;
        l->zero[side] += more[side];
        l->gathered[side] = subtracted(x->q, side ? BITCUT_B : BITCUT_A, more[side]);
        if (!l->gathered[side])
            return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for A and B");
        any_given |= given[side] != 0;
        if (to) describe_zero(to, side, l->zero[side], given[side]);
    }
    l->has_rest = true;
    if (to && !any_given)
        text_add(to->text, sizeof to->text, ", which %s not given",
                 more[0] && more[1] ? "were" : "was");
    return BITCUT_OK;
}

enum bitcut_status rung_zeros(struct ladder_report *l, const struct rung_input *x,
                              struct fault *f)
{
    const struct problem *const q = x->q;
    const struct view *const v = &x->sample;
    int32_t zero[2];
    if (!problem_has_integers(q) || q->a.kept) return BITCUT_OK;
    struct sums *const s = memory_allocate(v->b.rows * v->b.cols, sizeof *s);
    if (!s) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for a sample");
    const size_t count = take_sums(s, v);
    const bool fits = fit_zeros(zero, s, count, x->k);
    free(s);
    return fits ? report(l, x, zero, f) : BITCUT_OK;
}
