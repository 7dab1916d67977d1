#include "analysis/tolerance/python_lines.h"

#include "lib/bits.h"
#include "lib/fma.h"
#include "lib/listing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define U 0x1p-24

const struct python_library python_libraries[] = {
    { .name = "numpy",
      .what = "NumPy",
      .wide = ".astype('f8')",
      .before_absolute = "abs(",
      .after_absolute = ")",
      .sum_of_row = ".sum(1, keepdims=True)",
      .sum_of_column = ".sum(0)",
      .most_of_row = ".max(1, keepdims=True)",
      .most_of_column = ".max(0)",
      .before_norm = "np.linalg.norm(",
      .after_norm = ")",
      .close = "np.testing.assert_allclose" },
    { .name = "torch",
      .what = "PyTorch",
      .wide = ".double()",
      .before_absolute = "(",
      .after_absolute = ").abs()",
      .sum_of_row = ".sum(1, keepdim=True)",
      .sum_of_column = ".sum(0)",
      .most_of_row = ".amax(1, keepdim=True)",
      .most_of_column = ".amax(0)",
      .before_norm = "(",
      .after_norm = ").norm()",
      .close = "torch.testing.assert_close" },
    { 0 }
};

bool allclose_exists(const struct tolerance *t, bool observed)
{
    return t->slack <= TOLERANCE_SLACK_MOST && isfinite(t->allclose[observed].atol);
}

static double limit_of_size(const struct tolerance *t, bool observed)
{
    return observed ? t->component.observed : t->component.bound;
}

bool lost_is_small(const struct tolerance *t, bool observed)
{
    return observed || 128 * t->lost <= t->component.bound;
}

double python_limit(const struct tolerance *t, bool observed)
{
    const double lost = !observed && lost_is_small(t, observed) ? 2 * t->lost : 0;
    return (limit_of_size(t, observed) + lost + t->sums) * U;
}

enum { SUM_MOST = 112 };

/* To three digits, not below x: to the nearest is off by 0.5 % at most. */
static void write_up(char text[REAL_TEXT_MOST], double x)
{
    real_text(text, x * 1.0051, 3);
}

/* "F * " in front of a product, unless it is 1. */
static void write_factor(char text[REAL_TEXT_MOST + 4], uint32_t factor, bool magnitude)
{
    char number[REAL_TEXT_MOST];
    const double x = value_of_float(factor);
    real_text(number, magnitude ? fabs(x) : x, 9);
    *text = 0;
    if (factor != F32_ONE) snprintf(text, REAL_TEXT_MOST + 4, "%s * ", number);
}

/* alpha A B + beta C, or that of magnitudes. */
static void write_sum(char *text, size_t size, const struct python_library *l,
                      const struct bitcut_gemm *g, bool magnitude)
{
    char alpha[REAL_TEXT_MOST + 4], beta[REAL_TEXT_MOST + 4];
    const char *const before = magnitude ? l->before_absolute : "",
                      *const after = magnitude ? l->after_absolute : "";
    write_factor(alpha, g->alpha, magnitude);
    write_factor(beta, g->beta, magnitude);
    const int length =
        snprintf(text, size, *alpha ? "%s(%sA%s%s @ %sB%s%s)" : "%s%sA%s%s @ %sB%s%s",
                 alpha, before, l->wide, after, before, l->wide, after);
    if (gemm_reads_c(g) && length >= 0 && (size_t)length < size)
        snprintf(text + length, size - (size_t)length, " + %s%sC%s%s", beta, before,
                 l->wide, after);
}

/* Add "+ FACTOR * magnitudes of A * those of B", of either if `of` is not NULL. */
static void add_term(char *text, size_t size, const struct python_library *l,
                     double factor, const char *of_a, const char *of_b)
{
    char number[REAL_TEXT_MOST];
    const char *const before = l->before_absolute, *const after = l->after_absolute;
    size_t length = strlen(text);
    if (factor == 0) return;
    write_up(number, factor);
    snprintf(text + length, size - length, "%s%s", length ? " + " : "", number);
    length = strlen(text);
    if (of_a)
        snprintf(text + length, size - length, " * %sA%s%s%s", before, l->wide, after,
                 of_a);
    length = strlen(text);
    if (of_b)
        snprintf(text + length, size - length, " * %sB%s%s%s", before, l->wide, after,
                 of_b);
}

/* What the bound has besides a part of |A||B| (allowance_fill()). */
static void write_rest(char line[PYTHON_LINE_MOST], const struct python_library *l,
                       const struct tolerance *t, const struct tolerance_question *q)
{
    const struct bound_apriori *const b = &t->bound;
    const double times = q->two ? 2 : 1,
                 alpha = times * fabs(value_of_float(q->gemm->alpha)),
                 each = alpha * (double)q->k * b->each;
    const bool lines = gemm_equilibrates(q->gemm);
    char rest[PYTHON_LINE_MOST - 8] = "";
    add_term(rest, sizeof rest, l, times * b->least + (lines ? 0 : each), NULL, NULL);
    add_term(rest, sizeof rest, l, alpha * b->of_a, l->sum_of_row,
             lines ? l->most_of_column : NULL);
    add_term(rest, sizeof rest, l, alpha * b->of_b, lines ? l->most_of_row : NULL,
             l->sum_of_column);
    add_term(rest, sizeof rest, l, lines ? each + times * b->lines : 0, l->most_of_row,
             l->most_of_column);
    snprintf(line, PYTHON_LINE_MOST, "rest = %s", rest);
}

/* What C is in a line: computed, or D2. */
static void write_exact(char text[32], const struct python_library *l, bool two)
{
    snprintf(text, 32, "%s%s", two ? "D2" : "exact", two ? l->wide : "");
}

/* ||D - C|| <= limit (|alpha| ||A|| ||B|| + ||beta C||), Frobenius norms. */
static void write_norm(char line[PYTHON_LINE_MOST], const struct python_library *l,
                       const struct tolerance *t, const struct bitcut_gemm *g,
                       const char *exact)
{
    const char *const before = l->before_norm, *const after = l->after_norm;
    char limit[REAL_TEXT_MOST], alpha[REAL_TEXT_MOST + 4], beta[REAL_TEXT_MOST + 4];
    char size[SUM_MOST], c[SUM_MOST] = "";
    write_up(limit, (t->norm.observed + t->sums) * U);
    write_factor(alpha, g->alpha, true);
    write_factor(beta, g->beta, true);
    snprintf(size, sizeof size, "%s%sA%s%s * %sB%s%s", alpha, before, l->wide, after,
             before, l->wide, after);
    if (gemm_reads_c(g))
        snprintf(c, sizeof c, " + %s%sC%s%s", beta, before, l->wide, after);
    snprintf(line, PYTHON_LINE_MOST,
             *c ? "assert %sD%s - %s%s <= %s * (%s%s)"
                : "assert %sD%s - %s%s <= %s * %s%s",
             before, l->wide, exact, after, limit, size, c);
}

static void write_allclose(char line[PYTHON_LINE_MOST], const struct python_library *l,
                           const struct allclose *a, const char *exact)
{
    char rtol[REAL_TEXT_MOST], atol[REAL_TEXT_MOST];
    write_up(rtol, a->rtol);
    write_up(atol, a->atol);
    snprintf(line, PYTHON_LINE_MOST, "%s(D%s, %s, rtol=%s, atol=%s)", l->close, l->wide,
             exact, rtol, atol);
}

int python_lines(char line[PYTHON_LINES][PYTHON_LINE_MOST],
                 const struct python_library *l, const struct tolerance *t,
                 const struct tolerance_question *q, bool observed)
{
    char sum[SUM_MOST], size[SUM_MOST], exact[32], limit[REAL_TEXT_MOST];
    const bool rest = !lost_is_small(t, observed);
    int count = 1;
    if (isinf(limit_of_size(t, observed))) return 0;
    write_exact(exact, l, q->two);
    write_sum(sum, sizeof sum, l, q->gemm, false);
    write_sum(size, sizeof size, l, q->gemm, true);
    write_up(limit, python_limit(t, observed));
    if (q->two) snprintf(line[0], PYTHON_LINE_MOST, "size = %s", size);
    else snprintf(line[0], PYTHON_LINE_MOST, "exact, size = %s, %s", sum, size);
    if (rest) write_rest(line[count++], l, t, q);
    snprintf(line[count++], PYTHON_LINE_MOST,
             "assert (%sD%s - %s%s <= %s * size%s).all()", l->before_absolute, l->wide,
             exact, l->after_absolute, limit, rest ? " + rest" : "");
    if (observed && isfinite(t->norm.observed))
        write_norm(line[count++], l, t, q->gemm, exact);
    if (allclose_exists(t, observed))
        write_allclose(line[count++], l, &t->allclose[observed], exact);
    return count;
}
