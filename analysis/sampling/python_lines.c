/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/sampling/python_lines.h"

#include "analysis/accuracy/short_result.h"
#include "analysis/sampling/python_fp64.h"
#include "analysis/sampling/python_steps.h"
#include "lib/base/text.h"
#include "lib/gemm/epilogue.h"
#include "lib/io/listing.h"
#include "lib/number/bits.h"
#include "lib/number/fma.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#define U 0x1p-24

const struct python_library python_libraries[] = {
    { .name = "numpy",
      .what = "NumPy",
      .import = "import numpy as np",
      .wide = ".astype('f8')",
      .before_absolute = "abs(",
      .after_absolute = ")",
      .most_of_row = ".max(1, keepdims=True)",
      .most_of_column = ".max(0)",
      .small = "lambda x, t: (0 < x) & (x < t)",
      .half = "lambda x: np.ldexp(1.0, np.frexp(np.maximum(abs(x.astype('f8')), ",
      .half_from = "))[1]",
      .half_by = ")",
      .repeat = ".repeat",
      .excess = "np.maximum(%s - %s, 0)",
      .before_norm = "np.linalg.norm(",
      .after_norm = ")",
      .close = "np.testing.assert_allclose" },
    { .name = "torch",
      .what = "PyTorch",
      .import = "import torch",
      .wide = ".double()",
      .before_absolute = "(",
      .after_absolute = ").abs()",
      .most_of_row = ".amax(1, keepdim=True)",
      .most_of_column = ".amax(0)",
      .small = "lambda x, t: ((0 < x) & (x < t)).double()",
      .half = "lambda x: 2.0 ** (torch.frexp(x.double().abs().clamp(min=",
      .half_from = "))[1].double()",
      .half_by = ")",
      .repeat = ".repeat_interleave",
      .excess = "(%s - %s).clamp(min=0)",
      .before_norm = "(",
      .after_norm = ").norm()",
      .close = "torch.testing.assert_close" },
    { 0 }
};

/* With the bound, underflow needs no line if it is below 1 % in all runs: then the limit
   includes twice as much. */
static bool lost_is_small(const struct bitcut_tolerances *t)
{
    return 128 * t->underflow <= t->bound;
}

enum { SUM_MAX = 112, ERROR_MAX = 80 };

/* "F * " in front of a product, unless it is 1. */
static void write_factor(char text[REAL_TEXT_MAX + 4], uint32_t factor, bool magnitude)
{
    char number[REAL_TEXT_MAX];
    const double x = value_of_float(factor);
    real_text(number, magnitude ? fabs(x) : x, 9);
    *text = 0;
    if (factor != F32_ONE) snprintf(text, REAL_TEXT_MAX + 4, "%s * ", number);
}

/* alpha A B + beta C, or the same with magnitudes. */
static void write_sum(char *text, size_t size, const struct python_library *l,
                      const struct bitcut_gemm *g, bool magnitude)
{
    char alpha[REAL_TEXT_MAX + 4], beta[REAL_TEXT_MAX + 4];
    const char *const before = magnitude ? l->before_absolute : "",
                      *const after = magnitude ? l->after_absolute : "";
    write_factor(alpha, g->alpha, magnitude);
    write_factor(beta, g->beta, magnitude);
    snprintf(text, size, *alpha ? "%s(%sA%s%s @ %sB%s%s)" : "%s%sA%s%s @ %sB%s%s", alpha,
             before, l->wide, after, before, l->wide, after);
    if (gemm_reads_c(g))
        text_add(text, size, " + %s%sC%s%s", beta, before, l->wide, after);
}

/* Add "+ FACTOR TEXT", TEXT by a format. */
static void add_term(char *text, size_t size, double factor, const char *form, ...)
{
    char number[REAL_TEXT_MAX];
    va_list values;
    if (!(factor > 0)) return;
    limit_text(number, factor);
    text_add(text, size, "%s%s", *text ? " + " : "", number);
    va_start(values, form);
    text_add_list(text, size, form, values);
    va_end(values);
}

/* The scale of `from` and the other thresholds, if rows and columns are equilibrated. */
struct related {
    char a[40], b[40];
};

/* Elements that underflow below a threshold, times the other operand's. */
static void add_level(char *text, size_t size, const struct related *to, double threshold,
                      double of_a, double of_b)
{
    char limit[REAL_TEXT_MAX];
    limit_text(limit, threshold);
    add_term(text, size, of_a, " * (a @ small(b, %s%s))%s", limit, to->b, to->b);
    add_term(text, size, of_b, " * (small(a, %s%s) @ b)%s", limit, to->a, to->a);
}

/* The terms of the bound other than the part of |A||B|, a matrix: bound_apriori_rest().
 */
static void write_rest(char line[2][PYTHON_LINE_MAX], const struct python_library *l,
                       const struct tolerance *t, const struct tolerance_problem *q)
{
    const struct bound_apriori *const b = &t->bound;
    const double times = q->two ? 2 : 1,
                 alpha = times * fabs(value_of_float(q->gemm->alpha)),
                 each = alpha * b->each;
    const bool lines = gemm_equilibrates(q->gemm);
    struct related to = { "", "" };
    char rest[PYTHON_LINE_MAX - 8] = "";
    if (lines) {
        snprintf(to.a, sizeof to.a, " * a%s", l->most_of_row);
        snprintf(to.b, sizeof to.b, " * b%s", l->most_of_column);
    }
    char from[REAL_TEXT_MAX];
    limit_text(from, b->from);
    add_term(rest, sizeof rest, times * b->least, " + 0 * size");
    add_term(rest, sizeof rest, times * b->lines, "%s%s", to.a, to.b);
    add_term(rest, sizeof rest, each, " * (small(a, %s%s) @ small(b, %s%s))%s%s", from, to.a,
             from, to.b, to.a, to.b);
    add_level(rest, sizeof rest, &to, b->normal, alpha * (b->of_a - b->low.of_a),
              alpha * (b->of_b - b->low.of_b));
    add_level(rest, sizeof rest, &to, b->from, alpha * b->low.of_a, alpha * b->low.of_b);
    snprintf(line[0], PYTHON_LINE_MAX, "a, b, small = %sA%s%s, %sB%s%s, %s",
             l->before_absolute, l->wide, l->after_absolute, l->before_absolute, l->wide,
             l->after_absolute, l->small);
    snprintf(line[1], PYTHON_LINE_MAX, "rest = %s", *rest ? rest : "0 * size");
}

/* The reference in a line: computed, or D2. */
static void write_exact(char text[32], const struct python_library *l, bool two)
{
    snprintf(text, 32, "%s%s", two ? "D2" : "exact", two ? l->wide : "");
}

/* |D - C|: of a D of a short format, two lines name it `error`. */
static void write_error(char text[ERROR_MAX], const struct python_library *l,
                        const struct bitcut_format *format, const char *exact)
{
    if (result_is_short(format)) snprintf(text, ERROR_MAX, "error");
    else
        snprintf(text, ERROR_MAX, "%sD%s - %s%s", l->before_absolute, l->wide, exact,
                 l->after_absolute);
}

/* These two lines.  The exponent of frexp() is one more than that of the number. */
static void write_half(char line[2][PYTHON_LINE_MAX], const struct python_library *l,
                       const struct bitcut_format *format, const char *exact, bool two)
{
    char error[ERROR_MAX], least[REAL_TEXT_MAX];
    write_error(error, l, NULL, exact);
    real_text(least, ldexp(1, format_emin(format)), 17);
    snprintf(line[0], PYTHON_LINE_MAX, "half = %s%s%s - %d%s", l->half, least,
             l->half_from, format->fraction_bits + 2, l->half_by);
    const int used = snprintf(line[1], PYTHON_LINE_MAX, "error = ");
    snprintf(line[1] + used, PYTHON_LINE_MAX - (size_t)used, l->excess, error,
             two ? "half(D) - half(D2)" : "half(D)");
}

/* ||D - C|| <= limit (|alpha| ||A|| ||B|| + ||beta C||), Frobenius norms. */
static void write_norm(char line[PYTHON_LINE_MAX], const struct python_library *l,
                       const struct tolerance *t, const struct bitcut_gemm *g,
                       const char *exact)
{
    char error[ERROR_MAX];
    const char *const before = l->before_norm, *const after = l->after_norm;
    char limit[REAL_TEXT_MAX], alpha[REAL_TEXT_MAX + 4], beta[REAL_TEXT_MAX + 4];
    char size[SUM_MAX], c[SUM_MAX] = "";
    const bool rest = !t->limits.norm_known;
    if (result_is_short(g->d.format)) snprintf(error, sizeof error, "error");
    else snprintf(error, sizeof error, "D%s - %s", l->wide, exact);
    limit_text(limit,
               ((rest ? t->limits.norm_with_underflow : t->limits.norm_limit) + t->sums) *
                   U);
    write_factor(alpha, g->alpha, true);
    write_factor(beta, g->beta, true);
    if (gemm_is_extended(g)) {
        snprintf(line, PYTHON_LINE_MAX, "assert %s%s%s <= %s * %ssize%s", before, error,
                 after, limit, before, after);
        return;
    }
    snprintf(size, sizeof size, "%s%sA%s%s * %sB%s%s", alpha, before, l->wide, after,
             before, l->wide, after);
    if (gemm_reads_c(g))
        snprintf(c, sizeof c, " + %s%sC%s%s", beta, before, l->wide, after);
    snprintf(line, PYTHON_LINE_MAX,
             *c ? "assert %s%s%s <= %s * (%s%s)%s%s%s%s"
                : "assert %s%s%s <= %s * %s%s%s%s%s%s",
             before, error, after, limit, size, c, rest ? " + " : "", rest ? before : "",
             rest ? "rest" : "", rest ? after : "");
}

static void write_allclose(char line[PYTHON_LINE_MAX], const struct python_library *l,
                           double rtol, double atol, const char *exact)
{
    char relative[REAL_TEXT_MAX], absolute[REAL_TEXT_MAX];
    limit_text(relative, rtol);
    limit_text(absolute, atol);
    snprintf(line, PYTHON_LINE_MAX, "%s(D%s, %s, rtol=%s, atol=%s)", l->close, l->wide,
             exact, relative, absolute);
}

/* The assertion of |D - C| <= limit |A||B| plus underflow. */
static void write_assertion(char line[PYTHON_LINE_MAX], double limit, const char *error,
                            bool rest)
{
    char number[REAL_TEXT_MAX];
    limit_text(number, limit * U);
    snprintf(line, PYTHON_LINE_MAX, "assert (%s <= %s * size%s).all()", error, number,
             rest ? " + rest" : "");
}

int python_lines(char line[PYTHON_LINES][PYTHON_LINE_MAX], const struct python_library *l,
                 const struct tolerance *tolerance, const struct tolerance_problem *q,
                 bool observed)
{
    char sum[SUM_MAX], size[SUM_MAX], exact[32], error[ERROR_MAX];
    const struct bitcut_format *const format = q->gemm->d.format;
    const struct bitcut_tolerances *const t = &tolerance->limits;
    const double sums = tolerance->sums;
    const bool rest = observed ? tolerance_needs_rest(t) || !t->norm_known : !lost_is_small(t),
               alone = observed && t->known;
    const double limit = observed ? t->with_underflow : t->bound,
                 lost = observed || rest ? 0 : 2 * t->underflow;
    const bool extended = gemm_is_extended(q->gemm);
    int count = 1;
    if (q->gemm->scheme) return python_lines64(line, l, tolerance, q, observed);
    if (isinf(alone ? t->limit : limit) || q->quantized || (extended && rest)) return 0;
    write_exact(exact, l, q->two);
    write_sum(sum, sizeof sum, l, q->gemm, false);
    write_sum(size, sizeof size, l, q->gemm, true);
    if (extended) count = python_steps(line, l, q->gemm);
    else if (q->two) snprintf(line[0], PYTHON_LINE_MAX, "size = %s", size);
    else snprintf(line[0], PYTHON_LINE_MAX, "exact, size = %s, %s", sum, size);
    if (!count) return 0;
    if (rest) {
        write_rest(&line[count], l, tolerance, q);
        count += 2;
    }
    write_error(error, l, format, exact);
    if (result_is_short(format)) {
        write_half(&line[count], l, format, exact, q->two);
        count += 2;
    }
    if (alone) write_assertion(line[count++], t->limit + sums, error, false);
    if (rest || !observed)
        write_assertion(line[count++], limit + lost + sums, error, rest);
    if (observed && isfinite(t->norm_known ? t->norm_limit : t->norm_with_underflow))
        write_norm(line[count++], l, tolerance, q->gemm, exact);
    if (observed ? tolerance_closes(t) : tolerance_bound_closes(t))
        write_allclose(line[count++], l, observed ? t->rtol : t->bound_rtol,
                       observed ? t->atol : t->bound_atol, exact);
    return count;
}
