/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of the sections of a report on a D in FP64. */
#include "analysis/cli/gemm_report_fp64_answers.h"
#include "analysis/cli/gemm_report_rows.h"
#include "lib/base/size.h"
#include "lib/gemm/view.h"
#include "lib/io/json_record.h"
#include "lib/io/json_value.h"

#include <math.h>

enum { NAME_MAX_LENGTH = 80, BLOCKS_MAX = 64, WORST_MAX = 8, BINADES = 2200 };

static const char plain_name[] = "FP64 multiply-adds";

/* --- what computed D -------------------------------------------------------------- */

void fp64_rows_explanation(json_t *to, const struct fp64_answers *a)
{
    static const char *const keys[] = { "found", "scheme",   "parts", "split_k", "unit",
                                        "equal", "compared", "same",  "tried",   NULL };
    json_t *const row = json_object();
    record_json_keys(row, scheme_explain_fields, &a->explanation, keys);
    json_array_append_new(to, row);
}

void fp64_rows_bits(json_t *to, const struct fp64_answers *a)
{
    static const char *const keys[] = {
        "scheme",      "parts",          "split_k",   "unit",
        "compared",    "mismatches",     "first.row", "first.column",
        "first.given", "first.expected", NULL
    };
    json_t *const row = json_object();
    record_json_keys(row, fp64_verify_fields, &a->bits, keys);
    json_array_append_new(to, row);
}

/* --- errors ----------------------------------------------------------------------- */

static void append_errors(json_t *to, const char *result, const struct fp64_answer *x)
{
    static const int shown[] = { METRIC_BACKWARD_MAX, METRIC_RELRES,
                                 METRIC_NORMWISE,     METRIC_EFFECTIVE_BITS,
                                 METRIC_ULP_MAX,      METRIC_GRADE_WORST,
                                 METRIC_WRONG };
    json_t *const row = json_pack("{s:s}", "result", result);
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        json_object_set_new(row, metrics[shown[i]].name, json_number(x->value[shown[i]]));
    json_object_set_new(row, "bound_max", json_number(x->bound_most));
    json_object_set_new(row, "bound_worst", json_number(x->share));
    json_array_append_new(to, row);
}

/* The answers about D, the scheme and the multiply-adds; those that are the same as an
   earlier one are left out. */
static void for_each(json_t *to, const struct fp64_answers *a,
                     void (*append)(json_t *to, const char *result,
                                    const struct fp64_answer *x))
{
    char name[NAME_MAX_LENGTH] = "";
    append(to, "D", &a->given);
    fp64_answers_name(name, sizeof name, a);
    if (a->has_model && !fp64_answers_as_dgemm(a)) append(to, name, &a->model);
    append(to, plain_name, &a->plain);
}

void fp64_rows_errors(json_t *to, const struct fp64_answers *a)
{
    for_each(to, a, append_errors);
}

static void append_bins(json_t *to, const char *result, const struct fp64_answer *x)
{
    gemm_report_histogram(to, result, x->bins);
}

void fp64_rows_histogram(json_t *to, const struct fp64_answers *a)
{
    for_each(to, a, append_bins);
}

/* --- where errors are ------------------------------------------------------------- */

/* The largest error of a row or a column of D. */
static double largest_of(const double *error, const struct fp64_answers *a, size_t line,
                         bool is_column)
{
    const size_t m = a->given.m, n = a->given.n, length = is_column ? m : n;
    double most = 0;
    for (size_t i = 0; i < length; i++) {
        const double x = error[is_column ? i * n + line : line * n + i];
        if (!(x <= most)) most = x;
    }
    return most;
}

static void append_place(json_t *to, const char *key, const char *lines, const char *at,
                         size_t index, const char *result, double error)
{
    json_array_append_new(to, json_pack("{s:s, s:o, s:s, s:o}", key, lines, at,
                                        json_count(index), "result", result, "error",
                                        json_number(error)));
}

/* The largest errors of up to BLOCKS_MAX blocks of rows, or of columns. */
static void append_blocks(json_t *to, const struct fp64_answers *a, bool is_column)
{
    const size_t lines = is_column ? a->given.n : a->given.m,
                 each = divide_up(lines, BLOCKS_MAX);
    for (size_t first = 0; first < lines; first += each) {
        double most[2] = { 0 };
        for (size_t i = first; i < smaller(first + each, lines); i++)
            for (int p = 0; p < 2; p++) {
                const double x =
                    largest_of(p ? a->outputs.plain : a->outputs.error, a, i, is_column);
                if (!(x <= most[p])) most[p] = x;
            }
        for (int p = 0; p < 2; p++)
            append_place(to, "lines", is_column ? "columns" : "rows", "index", first,
                         p ? plain_name : "D", most[p]);
    }
}

void fp64_rows_places(json_t *to, const struct fp64_answers *a)
{
    append_blocks(to, a, false);
    append_blocks(to, a, true);
}

/* Binades between the largest and the smallest magnitude of a row of A or a column of B;
   0 if all are zeros. */
static int range_of(const struct view *v, size_t line, size_t k)
{
    int most = -BINADES, least = BINADES;
    for (size_t p = 0; p < k; p++) {
        const double x = view_f64(v, line, p);
        if (x == 0 || !isfinite(x)) continue;
        const int e = ilogb(x);
        if (e > most) most = e;
        if (e < least) least = e;
    }
    return most < least ? 0 : most - least;
}

/* Lines of an operand by their range, with the largest error of their outputs. */
static void append_ranges(json_t *to, const struct fp64_answers *a, bool is_column)
{
    const struct bitcut_gemm *const g = &a->s.gemm;
    const struct view v = is_column ? view_of(&g->b, 0, g->k, g->n, true)
                                    : view_of(&g->a, 0, g->m, g->k, false);
    static double most[BINADES][2];
    static size_t count[BINADES];
    for (int r = 0; r < BINADES; r++) most[r][0] = most[r][1] = 0, count[r] = 0;
    for (size_t i = 0; i < (is_column ? g->n : g->m); i++) {
        const int r = range_of(&v, i, g->k);
        count[r]++;
        for (int p = 0; p < 2; p++) {
            const double x =
                largest_of(p ? a->outputs.plain : a->outputs.error, a, i, is_column);
            if (!(x <= most[r][p])) most[r][p] = x;
        }
    }
    for (int r = 0; r < BINADES; r++)
        for (int p = 0; p < 2 && count[r]; p++) {
            append_place(to, "operand", is_column ? "columns of B" : "rows of A", "range",
                         (size_t)r, p ? plain_name : "D", most[r][p]);
            json_object_set_new(json_array_get(to, json_array_size(to) - 1), "count",
                                json_count(count[r]));
        }
}

void fp64_rows_range(json_t *to, const struct fp64_answers *a)
{
    append_ranges(to, a, false);
    append_ranges(to, a, true);
}

/* --- the worst outputs ------------------------------------------------------------ */

/* Whether output i has a larger error than j, or the same and comes first. */
static bool is_worse(const double *error, size_t i, size_t j)
{
    if (isnan(error[i]) || isnan(error[j]))
        return isnan(error[i]) && (!isnan(error[j]) || i < j);
    return error[i] > error[j] || (error[i] == error[j] && i < j);
}

/* The outputs with the largest errors, the largest one first.  Returns their number. */
static size_t find_worst(size_t to[WORST_MAX], const struct fp64_answers *a)
{
    size_t found = 0;
    for (size_t i = 0; i < a->given.m * a->given.n; i++) {
        size_t at = found;
        while (at && is_worse(a->outputs.error, i, to[at - 1])) at--;
        if (at == WORST_MAX) continue;
        if (found < WORST_MAX) found++;
        for (size_t j = found - 1; j > at; j--) to[j] = to[j - 1];
        to[at] = i;
    }
    return found;
}

void fp64_rows_worst(json_t *to, const struct fp64_answers *a)
{
    const struct fp64_outputs *const x = &a->outputs;
    const struct view d = view_of(&a->s.gemm.d, 0, a->given.m, a->given.n, false);
    size_t worst[WORST_MAX];
    const size_t count = find_worst(worst, a), n = a->given.n;
    for (size_t i = 0; i < count; i++) {
        const size_t at = worst[i];
        json_t *const row =
            json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "i", json_count(at / n), "j",
                      json_count(at % n), "exact", json_number(x->exact[at]), "result",
                      json_number(view_f64(&d, at / n, at % n)), "error",
                      json_number(x->error[at]), "plain", json_number(x->plain[at]));
        if (!fp64_answers_as_dgemm(a))
            json_object_set_new(row, "bound", json_number(x->bound[at]));
        json_object_set_new(row, "limit", json_number(x->limit[at]));
        json_array_append_new(to, row);
    }
}

/* --- schemes ---------------------------------------------------------------------- */

void fp64_rows_schemes(json_t *to, const struct fp64_answers *a)
{
    for (size_t i = 0; i < a->advice->trials; i++) {
        json_t *const row = json_object();
        record_json(row, scheme_trial_fields, &a->advice->trial[i]);
        json_array_append_new(to, row);
    }
}
