/* SPDX-License-Identifier: BSD-3-Clause */
/* The rung of a bias or factors that D has and that were not given: patterns of D and the
   exact result P.  With R = D - P:
   - a bias: in 9 of 10 outputs R is near its median in the column, or in the row, or in
   all of D, and in 3 of 4 it is not small;
   - factors: in 9 of 10 outputs D / P is near one number for all of the sample, or for
   each row, or for each column, or near a product of a number of the row and one of the
     column; and one number for all is not near 1.  Outputs whose terms cancel do not
   count. The first pattern counts.  At most 16 rows and columns are read.  Fewer than 8 k
   have no factors of lines: with few products the roundings of elements are such factors.
 */
#include "analysis/identify/rung.h"

#include "lib/base/size.h"
#include "lib/base/stats.h"
#include "lib/base/text.h"
#include "lib/gemm/epilogue.h"
#include "lib/number/bits.h"
#include "lib/number/fma.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    SIDE_MAX = 16,
    SIDE_MIN = 4,      /* for one number */
    LINE_SIDE_MIN = 8, /* for numbers of lines */
    OUTPUTS_MAX = SIDE_MAX * SIDE_MAX,
    K_MIN = 8
};

/* The largest distance from the expected numbers, relative to the typical one: of results
   with errors like those of f16 parts, then with those of elements of 8 bits.  `one`: a
   factor of all, or of half of the outputs, is farther from 1 than that. */
static const struct tier {
    double factor, one, bias;
} tiers[] = { { 0x1p-5, 0x1p-4, 0x1p-4 }, { 0x1p-3, 0x1p-2, 0x1p-2 } };

/* Some outputs: D less the exact value, and D over it.  Both are NaN where D is 0 and the
   exact value is not small, because nothing may have been written there; D over the exact
   value is NaN where terms cancel or D may be subnormal, too. */
struct outputs {
    const struct view *v;
    size_t rows, cols;
    double rest[OUTPUTS_MAX], ratio[OUTPUTS_MAX], size[OUTPUTS_MAX];
    double weight[OUTPUTS_MAX]; /* of distances of ratios: those of small results have
                                   more of the error */
};

static void take(struct outputs *to, const struct view *v)
{
    const double least = 16 * least_normal(v->b.q);
    to->v = v;
    to->rows = smaller(SIDE_MAX, v->b.rows);
    to->cols = smaller(SIDE_MAX, v->b.cols);
    for (size_t at = 0; at < to->rows * to->cols; at++) {
        const size_t from = at / to->cols * v->b.cols + at % to->cols;
        const double d = v->d[from], sum = v->exact[from];
        const bool large = fabs(sum) * 32 >= v->size[from] && sum != 0;
        to->size[at] = v->size[from];
        to->weight[at] = larger_double(1, v->size[from] / sqrt((double)v->b.k) /
                                              larger_double(least, fabs(sum)));
        to->rest[at] = large && d == 0 ? (double)NAN : d - sum;
        to->ratio[at] = large && d != 0 && fabs(sum) >= least ? d / sum : (double)NAN;
    }
}

/* The median of a column (or a row, or all) of numbers, NaN excluded; NaN if too few
   count. */
static double median_of(const double *x, size_t first, size_t step, size_t count)
{
    double some[OUTPUTS_MAX];
    for (size_t i = 0; i < count; i++) some[i] = x[first + i * step];
    const size_t finite = doubles_finite(some, count);
    return finite * 4 >= count ? doubles_median(some, finite) : (double)NAN;
}

static double median_magnitude(const double *x, size_t count)
{
    double some[OUTPUTS_MAX];
    for (size_t i = 0; i < count; i++) some[i] = fabs(x[i]);
    return doubles_median(some, doubles_finite(some, count));
}

/* Whether nine of ten ratios have the value that is expected, to this relative
   distance. */
static bool mostly(const struct outputs *o, const double *expected, double relative)
{
    size_t count = 0, near = 0;
    for (size_t at = 0; at < o->rows * o->cols; at++) {
        if (isnan(o->ratio[at])) continue;
        count++;
        near += fabs(o->ratio[at] - expected[at]) <=
                relative * o->weight[at] * fabs(expected[at]);
    }
    return count * 4 >= o->rows * o->cols && near * 10 >= count * 9;
}

/* Whether nine of ten differences from the exact value are so near to what is expected,
   and three of four are larger than errors of f16 parts: a bias has few small numbers. */
static bool mostly_rest(const struct outputs *o, const double *expected, double near_to)
{
    size_t count = 0, near = 0, large = 0;
    for (size_t at = 0; at < o->rows * o->cols; at++) {
        if (isnan(o->rest[at])) continue;
        count++;
        near += fabs(o->rest[at] - expected[at]) <= near_to;
        large += fabs(o->rest[at]) > 0x1p-9 * o->size[at];
    }
    return count * 4 >= o->rows * o->cols && near * 10 >= count * 9 &&
           large * 4 >= count * 3;
}

/* The lines along which a number is the same. */
enum lines { ALL, ROWS, COLUMNS, BOTH };

/* The medians of rows, or of columns, of numbers over those of the other lines. */
static void line_medians(double *to, const struct outputs *o, const double *x,
                         const double *other, bool columns)
{
    double left[OUTPUTS_MAX];
    for (size_t at = 0; at < o->rows * o->cols; at++)
        left[at] = x[at] / other[columns ? at / o->cols : at % o->cols];
    for (size_t line = 0; line < (columns ? o->cols : o->rows); line++)
        to[line] = columns ? median_of(left, line, o->cols, o->rows)
                           : median_of(left, line * o->cols, 1, o->cols);
}

/* The numbers of a pattern: of all, of the rows, and of the columns; 1 where the pattern
   has none. */
struct numbers {
    double all, of_row[SIDE_MAX], of_col[SIDE_MAX], expected[OUTPUTS_MAX];
};

static void expect(struct numbers *to, const struct outputs *o, const double *x,
                   enum lines which)
{
    enum { ROUNDS = 4 };
    const size_t count = o->rows * o->cols;
    to->all = which == ALL ? median_of(x, 0, 1, count) : 1;
    for (size_t i = 0; i < SIDE_MAX; i++) to->of_row[i] = to->of_col[i] = 1;
    if (which == ROWS) line_medians(to->of_row, o, x, to->of_col, false);
    if (which == COLUMNS) line_medians(to->of_col, o, x, to->of_row, true);
    for (int round = 0; which == BOTH && round < ROUNDS; round++) {
        line_medians(to->of_row, o, x, to->of_col, false);
        line_medians(to->of_col, o, x, to->of_row, true);
    }
    for (size_t at = 0; at < count; at++)
        to->expected[at] = to->all * to->of_row[at / o->cols] * to->of_col[at % o->cols];
}

/* Elements that are subnormal in a part give factors of a few lines, too: factors of
   lines must differ from 1 in half of the outputs. */
static bool is_factor(struct numbers *to, const struct outputs *o, enum lines which,
                      const struct tier *t)
{
    size_t count = 0, others = 0;
    expect(to, o, o->ratio, which);
    for (size_t at = 0; at < o->rows * o->cols; at++) {
        count += !isnan(o->ratio[at]);
        others += fabs(o->ratio[at] - 1) > t->one * o->weight[at];
    }
    return mostly(o, to->expected, t->factor) &&
           (which == ALL ? fabs(to->all - 1) > t->one : others * 2 > count);
}

static bool is_bias(struct numbers *to, const struct outputs *o, enum lines which,
                    const struct tier *t)
{
    expect(to, o, o->rest, which);
    return mostly_rest(o, to->expected,
                       t->bias * median_magnitude(o->rest, o->rows * o->cols));
}

/* --- sentences -------------------------------------------------------------------- */

/* The typical relative distance of numbers from what is expected. */
static double deviation(const struct outputs *o, const double *x, const double *expected)
{
    double some[OUTPUTS_MAX];
    const size_t count = o->rows * o->cols;
    for (size_t at = 0; at < count; at++) some[at] = fabs(x[at] / expected[at] - 1);
    return doubles_median(some, doubles_finite(some, count));
}

static bool is_near(double x, double to, double deviated)
{
    return fabs(x / to - 1) <= deviated / 2 + 0x1p-22;
}

/* The power of two that x is, to this deviation; 0: it is none. */
static double power_of_two(double x, double deviated)
{
    const double near =
        isfinite(x) && x != 0 ? copysign(exp2(round(log2(fabs(x)))), x) : 0;
    return near != 0 && is_near(x, near, deviated) ? near : 0;
}

/* Formulas of k, or of a small integer, that factors have. */
static const struct formula {
    const char *of_k, *of_number;
    double power;
} formulas[] = { { "1/sqrt(k)", "1/sqrt(%d)", -0.5 },
                 { "sqrt(k)", "sqrt(%d)", 0.5 },
                 { "1/k", "1/%d", -1 } };

enum { FORMULAS = sizeof formulas / sizeof *formulas };

/* The formula of k that is nearest to x, nearer than `off`, to this deviation; NULL:
 * none. */
static const struct formula *formula_of_k(double x, double deviated, size_t k, double off)
{
    const struct formula *best = NULL;
    for (int i = 0; i < FORMULAS && k > 1; i++) {
        const double value = pow((double)k, formulas[i].power);
        if (!is_near(x, value, deviated) || fabs(x / value - 1) >= off) continue;
        off = fabs(x / value - 1);
        best = &formulas[i];
    }
    return best;
}

/* The formula of the smallest integer, *number, that x is, to this deviation; NULL: none.
 */
static const struct formula *formula_of_number(int *number, double x, double deviated)
{
    const struct formula *best = NULL;
    *number = 1024;
    for (int i = 0; i < FORMULAS && x > 0; i++) {
        const double base = round(pow(x, 1 / formulas[i].power));
        if (base < 2 || base >= *number ||
            !is_near(x, pow(base, formulas[i].power), deviated))
            continue;
        *number = (int)base;
        best = &formulas[i];
    }
    return best;
}

/* As few digits as the deviation allows; returns their number. */
static int write_digits(char *text, size_t size, double x, double deviated)
{
    enum { DIGITS = 6 };
    int digits = 1;
    for (;; digits++) {
        snprintf(text, size, "%.*g", digits, x);
        if (is_near(x, strtod(text, NULL), deviated) || digits == DIGITS) return digits;
    }
}

/* A number, and its formula if it has one: a power of two, or a formula of k that is
   nearer; or, unless few digits are enough, a formula of a small integer.  Returns the
   number. */
static double write_number(char *text, size_t size, double x, double deviated, size_t k)
{
    enum { FEW_DIGITS = 3 };
    const double power = power_of_two(x, deviated);
    const struct formula *f =
        formula_of_k(x, deviated, k, power != 0 ? fabs(x / power - 1) : (double)INFINITY);
    char number[40];
    int of;
    if (f) {
        const double value = pow((double)k, f->power);
        text_add(text, size, "%.9g (%s)", value, f->of_k);
        return value;
    }
    if (power != 0) {
        text_add(text, size, "%.9g", power);
        if (fabs(power) > 8 || fabs(power) < 1)
            text_add(text, size, " (%s2^%d)", power < 0 ? "-" : "", ilogb(power));
        return power;
    }
    f = write_digits(number, sizeof number, x, deviated) > FEW_DIGITS
            ? formula_of_number(&of, x, deviated)
            : NULL;
    const double value = f ? pow(of, f->power) : strtod(number, NULL);
    text_add(text, size, "%.9g", value);
    if (f) {
        text_add(text, size, " (");
        text_add(text, size, f->of_number, of);
        text_add(text, size, ")");
    }
    return value;
}

/* The first numbers of lines, "row 3: 0.5, row 7: 2": of those that differ from 1 by more
   than rounding, if there are any. */
static void add_numbers(char *text, size_t size, const double *x, const size_t *line,
                        size_t count, const char *noun, double deviated, size_t k)
{
    enum { SHOWN = 3 };
    static const double near_1 = 0x1p-10;
    size_t shown = 0, others = 0;
    for (size_t i = 0; i < count; i++)
        others += isfinite(x[i]) && fabs(x[i] - 1) > near_1;
    for (size_t i = 0; i < count && shown < SHOWN; i++) {
        if (!isfinite(x[i]) || (others && fabs(x[i] - 1) <= near_1)) continue;
        text_add(text, size, "%s%s %zu: ", shown++ ? ", " : "", noun, line[i]);
        write_number(text, size, x[i], deviated, k);
    }
}

static bool has_factors(const struct bitcut_gemm *g)
{
    return gemm_has_scales(g) || g->scale_d != F32_ONE;
}

/* A kind of operand. */
static const struct operand_kind {
    bool (*is)(struct numbers *to, const struct outputs *o, enum lines which,
               const struct tier *t);
    bool (*told)(const struct bitcut_gemm *g);
    const char *otherwise; /* of an operand of the kind that was told */
    bool multiplies;
} factor = { is_factor, has_factors,
             "a factor that was given is not applied, or not once", true },
  bias = { is_bias, gemm_has_bias, "the bias that was given is not added, or not once",
           false };

static const struct pattern {
    const char *name;
    const struct operand_kind *kind;
    enum lines which;
    const char *what;   /* before the numbers */
    const char *untold; /* after them, if nothing of the kind was told */
    const char *option; /* "": made from the number */
} patterns[] = {
    { "factor", &factor, ALL, "D is a multiple of the exact result",
      "a factor was not given", "" },
    { "bias", &bias, ALL, "D less the exact result is one number",
      "the sum does not start from zero, or a bias was not given", "--bias FILE" },
    { "bias", &bias, COLUMNS, "D less the exact result is the same in every row",
      "a bias was not given, one number for each column", "--bias FILE" },
    { "bias", &bias, ROWS, "D less the exact result is the same in every column",
      "a bias was not given, one number for each row", "--bias-rows --bias FILE" },
    { "factors", &factor, ROWS, "D over the exact result is the same in each row",
      "factors of the rows of A were not given", "--scale-a FILE" },
    { "factors", &factor, COLUMNS, "D over the exact result is the same in each column",
      "factors of the columns of B were not given", "--scale-b FILE" },
    { "factors", &factor, BOTH,
      "D over the exact result is a number of the row times one of the column",
      "factors of rows of A and of columns of B were not given",
      "--scale-a FILE --scale-b FILE" },
};

/* --- the rung --------------------------------------------------------------------- */

/* Whether rows of A, and columns of B, are different numbers: only then a missing range
   of k is no bias. */
static bool are_different(const struct block *b)
{
    size_t a = 0, of_b = 0;
    for (size_t p = 0; p < b->k; p++) {
        const double x = value_of_float(b->a[p]), y = value_of_float(b->a[b->k + p]),
                     u = value_of_float(b->b[p * b->cols]),
                     v = value_of_float(b->b[p * b->cols + 1]);
        a += fabs(x - y) > fabs(x) / 16;
        of_b += fabs(u - v) > fabs(u) / 16;
    }
    return a * 2 > b->k && of_b * 2 > b->k;
}

/* What the search can do with the finding: a power of two is an alpha, and gives the same
   bits; another number may be the alpha; with other operands no hypothesis has these
   bits. */
static void take_rest(struct ladder_report *l, const struct rung_input *x,
                      const struct outputs *o, const struct pattern *p, double number,
                      double deviated)
{
    const bool plain = !problem_is_told(x->q) && !x->q->c.at && x->q->alpha == F32_ONE,
               scales = p->which == ALL && p->kind->multiplies,
               is_power = power_of_two(number, 0) != 0;
    l->has_rest = scales && plain;
    l->is_guess = l->has_rest && !is_power;
    if (l->has_rest) l->alpha = bits_of_float((float)number);
    if (!l->has_rest || l->is_guess)
        l->is_final = (p->which != ALL || p->kind->multiplies) && deviated < 0x1p-10 &&
                      are_different(&o->v->b);
}

/* Factors of the product that an alpha has which was not applied, or applied twice.
   Returns whether the number is one, and names it. */
static bool name_alpha(struct ladder_report *l, const struct rung_input *x,
                       const struct pattern *p, double number, double deviated)
{
    const double alpha = value_of_float(x->q->alpha);
    const struct {
        double factor;
        const char *name, *text;
    } of[] = {
        { 1 / alpha, "alpha ignored", "alpha is taken as 1: D less beta C is A B" },
        { alpha, "alpha twice", "the product is multiplied by alpha twice" },
    };
    if (p->which != ALL || !p->kind->multiplies || is_near(alpha, 1, 4 * deviated))
        return false;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        if (!is_near(number, of[i].factor, 2 * deviated)) continue;
        struct bitcut_finding *const to = ladder_add(l, x, of[i].name);
        if (to) text_add(to->text, sizeof to->text, "%s", of[i].text);
        return true;
    }
    return false;
}

static void describe(struct ladder_report *l, const struct rung_input *x,
                     const struct outputs *o, const struct pattern *p,
                     const struct numbers *n)
{
    const bool told = problem_is_told(x->q) && p->kind->told(&x->q->told);
    const double deviated =
        deviation(o, p->kind->multiplies ? o->ratio : o->rest, n->expected);
    if (!told && name_alpha(l, x, p, n->all, deviated)) return;
    struct bitcut_finding *const to = ladder_add(l, x, p->name);
    double number = n->all;
    if (!to) return;
    text_add(to->text, sizeof to->text, "%s: %s", p->what,
             told ? p->kind->otherwise : p->untold);
    text_add(to->text, sizeof to->text, p->which == ALL ? ", " : " (");
    if (p->which == ALL)
        number = write_number(to->text, sizeof to->text, n->all, deviated, x->k);
    if (p->which == ROWS || p->which == BOTH)
        add_numbers(to->text, sizeof to->text, n->of_row, o->v->b.row, o->rows, "row",
                    deviated, x->k);
    if (p->which == BOTH) text_add(to->text, sizeof to->text, "; ");
    if (p->which == COLUMNS || p->which == BOTH)
        add_numbers(to->text, sizeof to->text, n->of_col, o->v->b.col, o->cols, "column",
                    deviated, x->k);
    if (p->which != ALL) text_add(to->text, sizeof to->text, ")");
    if (!told && *p->option) snprintf(to->option, sizeof to->option, "%s", p->option);
    else if (!told)
        snprintf(to->option, sizeof to->option, "--alpha %.9g",
                 number * value_of_float(x->q->alpha));
    take_rest(l, x, o, p, number, deviated);
}

enum bitcut_status rung_operand(struct ladder_report *l, const struct rung_input *x,
                                struct fault *f)
{
    struct outputs o;
    struct numbers n;
    (void)f;
    take(&o, &x->sample);
    for (size_t t = 0; t < sizeof tiers / sizeof *tiers; t++)
        for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
            const struct pattern *const p = &patterns[i];
            const size_t least = p->which == ALL ? SIDE_MIN : LINE_SIDE_MIN;
            if (o.rows < least || o.cols < least) continue;
            if (p->which != ALL && p->kind->multiplies && x->k < K_MIN) continue;
            if (!p->kind->is(&n, &o, p->which, &tiers[t])) continue;
            describe(l, x, &o, p, &n);
            return BITCUT_OK;
        }
    return BITCUT_OK;
}
