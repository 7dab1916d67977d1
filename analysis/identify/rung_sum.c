/* SPDX-License-Identifier: BSD-3-Clause */
/* The rungs of what a sum becomes: it stops growing in a short accumulator, negative
   results become zeros, all outputs are one number; and how the matrices were read. */
#include "analysis/identify/rung.h"

#include "lib/base/size.h"
#include "lib/base/stats.h"
#include "lib/base/text.h"
#include "lib/number/bits.h"

#include <math.h>

enum { OUTPUTS = 24 };

/* --- a sum that stops growing ----------------------------------------------------- */

/* Accumulators that may be too short, and how they may share k: in turn, or in ranges. */
static const struct accumulator {
    int format;
    const char *name;
} accumulators[] = { { FORMAT_BF16, "bf16" }, { FORMAT_F16, "f16" } };

enum { LANES_MAX = 64 };

static double through(const struct accumulator *a, double x)
{
    return value_of_float(
        f32_through(&formats[a->format], &roundings[ROUND_RN], bits_of_float((float)x)));
}

/* Output (i, j) as sums in `lanes` accumulators, which are added at the end. */
static double short_sum(const struct block *b, size_t i, size_t j,
                        const struct accumulator *a, size_t lanes, bool ranges)
{
    double lane[LANES_MAX] = { 0 }, sum = 0;
    const size_t each = divide_up(b->k, lanes);
    for (size_t p = 0; p < b->k; p++) {
        const size_t at = ranges ? p / each : p % lanes;
        lane[at] = through(a, lane[at] + value_of_float(b->a[i * b->k + p]) *
                                             value_of_float(b->b[p * b->cols + j]));
    }
    for (size_t at = 0; at < lanes; at++) sum = through(a, sum + lane[at]);
    return sum;
}

/* The typical distance of D from such sums, relative to |A||B|. */
static double short_misfit(const struct view *v, const struct accumulator *a,
                           size_t lanes, bool ranges)
{
    double off[OUTPUTS];
    const size_t count = smaller(OUTPUTS, v->b.rows * v->b.cols);
    for (size_t n = 0; n < count; n++) {
        const size_t at = block_spread(&v->b, n, count);
        const double sum =
            value_of_float(v->b.q->alpha) *
            short_sum(&v->b, at / v->b.cols, at % v->b.cols, a, lanes, ranges);
        off[n] = fabs(v->d[at] - sum) / v->size[at];
    }
    return doubles_median(off, doubles_finite(off, count));
}

/* The typical share of |A||B| by which results are too near to zero; NaN if some are not.
 */
static double shortfall(const struct view *v)
{
    double lack[OUTPUTS];
    const size_t count = smaller(OUTPUTS, v->b.rows * v->b.cols);
    size_t positive = 0;
    for (size_t n = 0; n < count; n++) {
        const size_t at = block_spread(&v->b, n, count);
        lack[n] = (fabs(v->exact[at]) - fabs(v->d[at])) / v->size[at];
        positive += lack[n] > 0 && v->d[at] * v->exact[at] > 0;
    }
    return positive * 10 >= count * 9 ? doubles_median(lack, doubles_finite(lack, count))
                                      : (double)NAN;
}

enum bitcut_status rung_growth(struct ladder_report *l, const struct rung_input *x,
                               struct fault *f)
{
    const struct view *const v = &x->sample;
    const double lack = shortfall(v);
    const struct accumulator *best = NULL;
    double least = lack / 4;
    (void)f;
    if (problem_is_told(x->q) || x->q->c.at || !(lack > 0x1p-6)) return BITCUT_OK;
    for (size_t lanes = 1; lanes <= LANES_MAX; lanes *= 2)
        for (size_t i = 0; i < sizeof accumulators / sizeof *accumulators; i++)
            for (int ranges = 0; ranges < 2; ranges++) {
                const double off = short_misfit(v, &accumulators[i], lanes, ranges != 0);
                if (off < least) least = off, best = &accumulators[i];
            }
    struct bitcut_finding *const to = best ? ladder_add(l, x, "sum stops growing") : NULL;
    if (to)
        text_add(
            to->text, sizeof to->text,
            "the sum stops growing: D is %.2g of |A||B| too near to zero, as sums in "
            "%s are, to which small products add nothing",
            lack, best->name);
    return BITCUT_OK;
}

/* --- negative results that are zeros ---------------------------------------------- */

enum bitcut_status rung_negative(struct ladder_report *l, const struct rung_input *x,
                                 struct fault *f)
{
    enum { LEAST = 8 };
    const struct view *const v = &x->sample;
    size_t negative = 0, zeros = 0, positive = 0, stay = 0;
    (void)f;
    for (size_t at = 0; at < x->m * x->n; at++)
        if (value_of_float(x->d[at]) < 0) return BITCUT_OK;
    for (size_t at = 0; at < v->b.rows * v->b.cols; at++) {
        if (fabs(v->exact[at]) < v->size[at] / 64) continue;
        negative += v->exact[at] < 0;
        zeros += v->exact[at] < 0 && v->d[at] == 0;
        positive += v->exact[at] > 0;
        stay += v->exact[at] > 0 && v->d[at] > 0;
    }
    if (zeros < LEAST || stay < LEAST || zeros * 20 < negative * 19 ||
        stay * 20 < positive * 19)
        return BITCUT_OK;
    struct bitcut_finding *const to = ladder_add(l, x, "negative results are zeros");
    l->clipped = true;
    if (!to) return BITCUT_OK;
    to->outputs = 0;
    for (size_t at = 0; at < x->m * x->n; at++) to->outputs += f32_is_zero(x->d[at]);
    text_add(to->text, sizeof to->text,
             "outputs that would be negative are zeros: D is max(A B, 0)");
    text_add(to->option, sizeof to->option, "--epilogue fused-relu");
    return BITCUT_OK;
}

/* --- one number ------------------------------------------------------------------- */

enum bitcut_status rung_constant(struct ladder_report *l, const struct rung_input *x,
                                 struct fault *f)
{
    const struct view *const v = &x->sample;
    const size_t count = v->b.rows * v->b.cols;
    size_t off = 0;
    (void)f;
    for (size_t at = 0; at < x->m * x->n; at++)
        if (x->d[at] != x->d[0] || f32_is_zero(x->d[0]) || !f32_is_finite(x->d[0]))
            return BITCUT_OK;
    for (size_t at = 0; at < count; at++)
        off += fabs(v->d[at] - v->exact[at]) > v->size[at] / 64 &&
               fabs(v->exact[at] - v->exact[0]) > v->size[at] / 64;
    if (off * 2 < count || count < 16) return BITCUT_OK;
    struct bitcut_finding *const to = ladder_add(l, x, "one number");
    if (to) text_add(to->text, sizeof to->text, "all outputs of D are %.9g", v->d[0]);
    return BITCUT_OK;
}

/* --- how the matrices were read --------------------------------------------------- */

/* Readings that the shapes do not need, by the matrices that are transposed. */
static const struct reading {
    bool a, b, d;
    const char *text;
} readings[] = {
    { true, true, true, "D is B A: the operands are exchanged" },
    { true, true, false, "D is the transpose of B A" },
    { true, false, false, "A is transposed: D is the product of its transpose and B" },
    { false, true, false, "B is transposed: D is the product of A and its transpose" },
    { false, false, true, "D is the transpose of A B" },
    { true, false, true, "D is the transpose of A^T B" },
    { false, true, true, "D is the transpose of A B^T" },
};

enum bitcut_status rung_reading(struct ladder_report *l, const struct rung_input *x,
                                struct fault *f)
{
    struct problem plain = *x->q;
    (void)f;
    plain.transposed_a = plain.transposed_b = false;
    plain.transposed_c = plain.transposed_d = false;
    if (x->q->by_columns || !problem_fits(&plain)) return BITCUT_OK;
    for (size_t i = 0; i < sizeof readings / sizeof *readings; i++) {
        const struct reading *const r = &readings[i];
        if (r->a != x->q->transposed_a || r->b != x->q->transposed_b ||
            r->d != x->q->transposed_d)
            continue;
        struct bitcut_finding *const to = ladder_add(l, x, "transposed");
        if (to)
            text_add(to->text, sizeof to->text, "%s%s", r->text,
                     x->q->c.at && r->d && !x->q->transposed_c ? ", with C" : "");
    }
    return BITCUT_OK;
}
