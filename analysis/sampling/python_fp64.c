/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/sampling/python_fp64.h"

#include "lib/base/text.h"
#include "lib/io/listing.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define U 0x1p-53

struct lines {
    char (*line)[PYTHON_LINE_MAX];
    int count;
};

static void add(struct lines *to, const char *format, ...) TEXT_FORMAT(2);
static void add(struct lines *to, const char *format, ...)
{
    char *const line = to->line[to->count++];
    va_list list;
    *line = 0;
    va_start(list, format);
    text_add_list(line, PYTHON_LINE_MAX, format, list);
    va_end(list);
}

static bool is_power(double x)
{
    int exponent;
    return fabs(frexp(x, &exponent)) == 0.5;
}

double reference_error64(const struct bitcut_gemm *g)
{
    return is_power(g->alpha_f64) && (!gemm_reads_c(g) || is_power(g->beta_f64)) ? 0 : 1;
}

/* Bits of the parts whose k products have exact sums. */
static int width_of(size_t k)
{
    enum { EXACT = 53 };
    return (EXACT - ceil_log2(k ? k : 1)) / 2;
}

/* "0.3 * ", unless the factor is 1; or its magnitude. */
static const char *factor(char text[REAL_TEXT_MAX + 4], double x)
{
    char number[REAL_TEXT_MAX];
    *text = 0;
    real_text(number, x, 17);
    if (x != 1) snprintf(text, REAL_TEXT_MAX + 4, "%s * ", number);
    return text;
}

static void add_parts(struct lines *to)
{
    add(to, "def parts(X, axis, w):  # X is their sum; their products add up exactly");
    add(to, "    while X.any():");
    add(to, "        s = 1.5 * 2.0 ** (np.frexp(abs(X).max(axis, keepdims=True))[1] + 52 "
            "- w)");
    add(to, "        H = (X + s) - s");
    add(to, "        X = X - H");
    add(to, "        yield H");
}

static void add_terms(struct lines *to, const struct bitcut_gemm *g, size_t k)
{
    char text[REAL_TEXT_MAX + 4];
    const int w = width_of(k);
    add(to, "def terms():  # their sum is the exact result");
    add(to, "    for H in parts(A, 1, %d):", w);
    add(to, "        for G in parts(B, 0, %d):", w);
    add(to, "            yield %s(H @ G)", factor(text, g->alpha_f64));
    if (gemm_reads_c(g)) add(to, "    yield %sC", factor(text, g->beta_f64));
}

static void add_error(struct lines *to)
{
    add(to, "high, low = D, 0 * D");
    add(to, "for P in terms():");
    add(to, "    s = high - P");
    add(to, "    z = s - high");
    add(to, "    high, low = s, low + ((high - (s - z)) - (P + z))");
    add(to, "error = high + low");
}

/* |alpha| |A| |B| + |beta C|, or the same with norms. */
static void write_size(char *text, size_t size, const struct bitcut_gemm *g,
                       const char *before, const char *times, const char *after)
{
    char of[REAL_TEXT_MAX + 4];
    *text = 0;
    text_add(text, size, "%s(%sA%s %s %sB%s)", factor(of, fabs(g->alpha_f64)), before,
             after, times, before, after);
    if (gemm_reads_c(g))
        text_add(text, size, " + %s%sC%s", factor(of, fabs(g->beta_f64)), before, after);
}

int python_lines64(char line[PYTHON_LINES][PYTHON_LINE_MAX],
                   const struct python_library *library,
                   const struct tolerance *tolerance, const struct tolerance_problem *q,
                   bool observed)
{
    const struct bitcut_gemm *const g = q->gemm;
    const struct bitcut_tolerances *const t = &tolerance->limits;
    const double own = reference_error64(g),
                 limit = !observed  ? t->bound
                         : t->known ? t->limit
                                    : t->with_underflow,
                 norm = t->norm_known ? t->norm_limit : t->norm_with_underflow;
    const char *const c = gemm_reads_c(g) ? ", C" : "";
    char number[REAL_TEXT_MAX], size[200];
    struct lines to = { .line = line };
    if (isinf(limit) || q->two) return 0;
    if (strcmp(library->name, "numpy"))
        add(&to, "A, B, D%s = (X.double().cpu().numpy() for X in (A, B, D%s))", c, c);
    add_parts(&to);
    add_terms(&to, g, q->k);
    add_error(&to);
    write_size(size, sizeof size, g, "abs(", "@", ")");
    add(&to, "size = %s", size);
    limit_text(number, (limit + own) * U);
    add(&to, "assert (abs(error) <= %s * size).all()", number);
    if (observed && isfinite(norm)) {
        write_size(size, sizeof size, g, "np.linalg.norm(", "*", ")");
        limit_text(number, (norm + own) * U);
        add(&to, "assert np.linalg.norm(error) <= %s * (%s)", number, size);
    }
    if (observed ? tolerance_closes(t) : tolerance_bound_closes(t)) {
        char atol[REAL_TEXT_MAX];
        limit_text(number, observed ? t->rtol : t->bound_rtol);
        limit_text(atol, observed ? t->atol : t->bound_atol);
        add(&to, "np.testing.assert_allclose(D, D - error, rtol=%s, atol=%s)", number,
            atol);
    }
    return to.count;
}
