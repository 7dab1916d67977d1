/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/sampling/c_function.h"

#include "analysis/accuracy/short_result.h"
#include "analysis/sampling/python_fp64.h"
#include "lib/base/text.h"
#include "lib/io/listing.h"
#include "lib/number/bits.h"
#include "lib/number/fma.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

/* The lines so far.  They are indented by the number of open braces. */
struct source {
    char (*line)[C_LINE_MAX];
    int count, depth;
};

static void add(struct source *to, const char *format, ...) TEXT_FORMAT(2);
static void add(struct source *to, const char *format, ...)
{
    char *const line = to->line[to->count++];
    va_list list;
    to->depth -= *format == '}';
    *line = 0;
    text_add(line, C_LINE_MAX, "%*s", 4 * to->depth, "");
    va_start(list, format);
    text_add_list(line, C_LINE_MAX, format, list);
    va_end(list);
    to->depth += format[strlen(format) - 1] == '{';
}

static void add_blank(struct source *to) { to->line[to->count++][0] = 0; }

/* "x * ", unless it is 1, with so many digits. */
static const char *factor_of(char text[REAL_TEXT_MAX + 4], double x, int digits)
{
    char number[REAL_TEXT_MAX];
    *text = 0;
    real_text(number, x, digits);
    if (x != 1) snprintf(text, REAL_TEXT_MAX + 4, "%s * ", number);
    return text;
}

/* Of FP32 and of FP64 values. */
static const char *factor(char text[REAL_TEXT_MAX + 4], double x)
{
    return factor_of(text, x, 9);
}
static const char *factor64(char text[REAL_TEXT_MAX + 4], double x)
{
    return factor_of(text, x, 17);
}

static void add_head(struct source *to, const struct bitcut_format *format, bool reads_c,
                     bool rest)
{
    add(to, "#include <math.h>");
    add(to, "#include <stdbool.h>");
    add(to, "#include <stddef.h>");
    add_blank(to);
    if (rest) {
        add(to, "static double small(double x, double t) { return 0 < x && x < t; }");
        add_blank(to);
    }
    add(to, "/* Whether D, m x n, is accepted; A is m x k and B k x n, all stored by rows. */");
    if (result_is_short(format))
        add(to, "/* D has the values of its format, %s, widened to float. */",
            format->name);
    add(to, "bool gemm_is_accepted(const float *D, const float *A, const float *B,%s",
        reads_c ? " const float *C," : "");
    add(to, "                      size_t m, size_t n, size_t k)");
    add(to, "{");
}

static const char *up(char text[REAL_TEXT_MAX], double x)
{
    limit_text(text, x);
    return text;
}

/* rest += F X, unless F is 0. */
static void add_rest(struct source *to, double f, const char *x, const char *scaled)
{
    char number[REAL_TEXT_MAX];
    if (f > 0) add(to, "rest += %s * %s%s;", up(number, f), x, scaled);
}

/* Elements below a threshold, times the other operand's. */
static void add_level(struct source *to, bool lines, double threshold, double of_a,
                      double of_b)
{
    char limit[REAL_TEXT_MAX], x[C_LINE_MAX];
    up(limit, threshold);
    snprintf(x, sizeof x, "a * small(b, %s%s)", limit, lines ? " * b_max" : "");
    add_rest(to, of_a, x, lines ? " * b_max" : "");
    snprintf(x, sizeof x, "b * small(a, %s%s)", limit, lines ? " * a_max" : "");
    add_rest(to, of_b, x, lines ? " * a_max" : "");
}

/* The underflow in one product. */
static void add_underflow(struct source *to, const struct bound_apriori *b, double alpha,
                          bool lines)
{
    char from[REAL_TEXT_MAX], x[C_LINE_MAX];
    up(from, b->from);
    snprintf(x, sizeof x, "small(a, %s%s) * small(b, %s%s)", from,
             lines ? " * a_max" : "", from, lines ? " * b_max" : "");
    add_rest(to, alpha * b->each, x, lines ? " * a_max * b_max" : "");
    add_level(to, lines, b->normal, alpha * (b->of_a - b->low.of_a),
              alpha * (b->of_b - b->low.of_b));
    add_level(to, lines, b->from, alpha * b->low.of_a, alpha * b->low.of_b);
}

/* The largest magnitudes of row i of A and of column j of B, and the terms that are added
   once. */
static void add_largest(struct source *to, const struct bound_apriori *b)
{
    char number[REAL_TEXT_MAX];
    add(to, "double a_max = 0, b_max = 0;");
    add(to, "for (size_t l = 0; l < k; l++) {");
    add(to, "a_max = fmax(a_max, fabs(A[i * k + l]));");
    add(to, "b_max = fmax(b_max, fabs(B[l * n + j]));");
    add(to, "}");
    if (b->lines > 0) add(to, "rest += %s * a_max * b_max;", up(number, b->lines));
}

/* exact, size and rest of output (i, j). */
static void add_output(struct source *to, const struct tolerance *t,
                       const struct bitcut_gemm *g, bool rest)
{
    const struct bound_apriori *const b = &t->bound;
    const double alpha = value_of_float(g->alpha), beta = value_of_float(g->beta);
    char number[REAL_TEXT_MAX], of_alpha[REAL_TEXT_MAX + 4];
    const bool lines = gemm_equilibrates(g);
    add(to, "double exact = 0, size = 0;");
    if (rest) add(to, "double rest = %s;", b->least > 0 ? up(number, b->least) : "0");
    if (rest && lines) add_largest(to, b);
    add(to, "for (size_t l = 0; l < k; l++) {");
    add(to, "exact += (double)A[i * k + l] * B[l * n + j];");
    if (!rest) {
        add(to, "size += fabs((double)A[i * k + l] * B[l * n + j]);");
    } else {
        add(to, "const double a = fabs(A[i * k + l]), b = fabs(B[l * n + j]);");
        add(to, "size += a * b;");
        add_underflow(to, b, fabs(alpha), lines);
    }
    add(to, "}");
    if (g->alpha != F32_ONE) {
        add(to, "exact = %sexact;", factor(of_alpha, alpha));
        add(to, "size = %ssize;", factor(of_alpha, fabs(alpha)));
    }
    if (!gemm_reads_c(g)) return;
    add(to, "exact += %sC[i * n + j];", factor(of_alpha, beta));
    add(to, "size += %sfabs(C[i * n + j]);", factor(of_alpha, fabs(beta)));
}

/* |D - C|, or of a D of a short format what is above half an ulp of D. */
static void add_error(struct source *to, const struct bitcut_format *format)
{
    char least[REAL_TEXT_MAX];
    if (!result_is_short(format)) {
        add(to, "const double error = fabs(D[i * n + j] - exact);");
        return;
    }
    real_text(least, ldexp(1, format_emin(format)), 17);
    add(to, "int exponent;");
    add(to, "frexp(fmax(fabs(D[i * n + j]), %s), &exponent);", least);
    add(to, "const double half = ldexp(1, exponent - %d);", format->fraction_bits + 2);
    add(to, "const double error = fmax(0, fabs(D[i * n + j] - exact) - half);");
}

static void add_limit(struct source *to, double limit, bool rest)
{
    char number[REAL_TEXT_MAX];
    add(to, "if (!(error <= %s * size%s)) return false;", up(number, limit * 0x1p-24),
        rest ? " + rest" : "");
}

/* Sums of squares, for norms. */
static void add_squares(struct source *to, bool reads_c, bool rest)
{
    add(to, "double a2 = 0, b2 = 0, error2 = 0%s%s;", reads_c ? ", c2 = 0" : "",
        rest ? ", rest2 = 0" : "");
    add(to, "for (size_t i = 0; i < m * k; i++) a2 += (double)A[i] * A[i];");
    add(to, "for (size_t i = 0; i < k * n; i++) b2 += (double)B[i] * B[i];");
    if (reads_c)
        add(to, "for (size_t i = 0; i < m * n; i++) c2 += (double)C[i] * C[i];");
}

static void add_norm(struct source *to, double limit, const struct bitcut_gemm *g,
                     bool rest)
{
    char number[REAL_TEXT_MAX], alpha[REAL_TEXT_MAX + 4], beta[REAL_TEXT_MAX + 4];
    factor(alpha, fabs(value_of_float(g->alpha)));
    factor(beta, fabs(value_of_float(g->beta)));
    add(to, "double norm = %ssqrt(a2) * sqrt(b2);", alpha);
    if (gemm_reads_c(g)) add(to, "norm += %ssqrt(c2);", beta);
    add(to, "return sqrt(error2) <= %s * norm%s;", up(number, limit * 0x1p-24),
        rest ? " + sqrt(rest2)" : "");
}

/* --- FP64 ------------------------------------------------------------------------- */

/* error and size of output (i, j): -D plus all products, by fused multiply-adds and
   error-free sums (Ogita, Rump and Oishi 2005, algorithm 5.3). */
static void add_output64(struct source *to, const struct bitcut_gemm *g)
{
    char text[REAL_TEXT_MAX + 4], number[REAL_TEXT_MAX];
    add(to, "double high = -D[i * n + j], low = 0, size = 0;");
    add(to, "for (size_t l = 0; l < k; l++) {");
    add(to, "const double a = %sA[i * k + l], b = B[l * n + j];",
        factor64(text, g->alpha_f64));
    add(to, "const double p = a * b, s = high + p, z = s - high;");
    add(to, "low += ((high - (s - z)) + (p - z)) + fma(a, b, -p);");
    add(to, "high = s;");
    add(to, "size += fabs(p);");
    add(to, "}");
    if (gemm_reads_c(g)) {
        real_text(number, g->beta_f64, 17);
        add(to, "const double c = %s * C[i * n + j], s = high + c, z = s - high;",
            number);
        add(to, "low += (high - (s - z)) + (c - z);");
        add(to, "high = s;");
        add(to, "size += fabs(c);");
    }
    add(to, "const double error = fabs(high + low);");
}

static int c_function64(char line[C_LINES][C_LINE_MAX], const struct bitcut_tolerances *t,
                        const struct bitcut_gemm *g)
{
    const double limit = t->known ? t->limit : t->with_underflow;
    char number[REAL_TEXT_MAX];
    struct source to = { .line = line };
    if (isinf(limit)) return 0;
    add(&to, "#include <math.h>");
    add(&to, "#include <stdbool.h>");
    add(&to, "#include <stddef.h>");
    add_blank(&to);
    add(&to, "/* Whether D, m x n, is accepted; A is m x k and B k x n, all stored by "
             "rows. */");
    add(&to, "bool gemm_is_accepted(const double *D, const double *A, const double *B,%s",
        gemm_reads_c(g) ? " const double *C," : "");
    add(&to, "                      size_t m, size_t n, size_t k)");
    add(&to, "{");
    add(&to, "for (size_t i = 0; i < m; i++) {");
    add(&to, "for (size_t j = 0; j < n; j++) {");
    add_output64(&to, g);
    add(&to, "if (!(error <= %s * size)) return false;",
        up(number, (limit + reference_error64(g)) * 0x1p-53));
    add(&to, "}");
    add(&to, "}");
    add(&to, "return true;");
    add(&to, "}");
    return to.count;
}

int c_function(char line[C_LINES][C_LINE_MAX], const struct tolerance *tolerance,
               const struct tolerance_problem *q)
{
    const struct bitcut_tolerances *const t = &tolerance->limits;
    const bool rest = tolerance_needs_rest(t) || !t->norm_known,
               reads_c = gemm_reads_c(q->gemm);
    const double norm = t->norm_known ? t->norm_limit : t->norm_with_underflow;
    struct source to = { .line = line };
    if (q->gemm->scheme) return c_function64(line, t, q->gemm);
    if (isinf(t->known ? t->limit : t->with_underflow)) return 0;
    add_head(&to, q->gemm->d.format, reads_c, rest);
    if (isfinite(norm)) add_squares(&to, reads_c, !t->norm_known);
    add(&to, "for (size_t i = 0; i < m; i++) {");
    add(&to, "for (size_t j = 0; j < n; j++) {");
    add_output(&to, tolerance, q->gemm, rest);
    add_error(&to, q->gemm->d.format);
    if (t->known) add_limit(&to, t->limit + tolerance->sums, false);
    if (rest) add_limit(&to, t->with_underflow + tolerance->sums, true);
    if (isfinite(norm)) add(&to, "error2 += error * error;");
    if (isfinite(norm) && !t->norm_known) add(&to, "rest2 += rest * rest;");
    add(&to, "}");
    add(&to, "}");
    if (isfinite(norm)) add_norm(&to, norm + tolerance->sums, q->gemm, !t->norm_known);
    else add(&to, "return true;");
    add(&to, "}");
    return to.count;
}
