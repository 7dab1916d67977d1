/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/run_audit.h"

#include "analysis/cli/advise_rows.h"
#include "lib/input/source.h"
#include "lib/io/decimal.h"
#include "lib/io/json_record.h"
#include "lib/number/bits.h"
#include "lib/number/fma.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 4096, METRICS_MAX = 64 };

/* --- values ----------------------------------------------------------------------- */

/* The exponents of an operand, as in `bitcut advise`: -127 stands for subnormal values.
   The short form is "2^-12..2^1": values are below the second. */
static void add_operand(json_t *row, const struct call_log_values *v, const char *values,
                        const char *range)
{
    json_t *const list = json_array();
    uint64_t all = v->count[CALL_LOG_EXPONENTS - 1];
    const uint64_t subnormal = v->count[0] - v->zeros;
    int least = 0, most = -1;
    for (int e = CALL_LOG_EXPONENTS - 2; e >= 0; e--) {
        const uint64_t count = e ? v->count[e] : subnormal;
        all += v->count[e];
        if (!count) continue;
        if (most < least) most = e - 127;
        least = e - 127;
        json_array_append_new(
            list, json_pack("{s:i, s:o}", "exponent", least, "count", json_count(count)));
    }
    const bool any = json_array_size(list) != 0;
    json_object_set_new(
        row, values,
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "values", json_count(all),
                  "zeros", json_count(v->zeros), "subnormal", json_count(subnormal),
                  "infinite", json_count(v->infinite), "nan",
                  json_count(v->count[CALL_LOG_EXPONENTS - 1] - v->infinite),
                  "exponent_min", any ? json_integer(least) : json_null(), "exponent_max",
                  any ? json_integer(most) : json_null(), "exponents", list));
    json_object_set_new(row, range,
                        any ? json_sprintf("2^%d..2^%d", least, most + 1) : json_null());
}

static void add_values(json_t *row, const struct call_log_site *p)
{
    static const char *const keys[2][2] = { { "values_a", "range_a" },
                                            { "values_b", "range_b" } };
    for (int i = 0; i < 2; i++) {
        if (p->watched) add_operand(row, &p->values[i], keys[i][0], keys[i][1]);
        else json_object_update_new(row, json_pack("{s:n, s:n}", keys[i][0], keys[i][1]));
    }
}

/* --- results ---------------------------------------------------------------------- */

/* An excerpt in memory. */
struct pieces {
    struct matrix a, b, c, d;
};

static void pieces_clear(struct pieces *x)
{
    matrix_clear(&x->a);
    matrix_clear(&x->b);
    matrix_clear(&x->c);
    matrix_clear(&x->d);
}

static bool file_of(char path[FILE_MAX], const char *folder, const char *name,
                    const char *which)
{
    const int n = snprintf(path, FILE_MAX, "%s/%s.%s.npy", folder, name, which);
    return !strchr(name, '/') && n >= 0 && n < FILE_MAX;
}

static bool read_piece(struct matrix *to, const char *folder,
                       const struct call_log_excerpt *e, const char *which, size_t rows,
                       size_t cols)
{
    char path[FILE_MAX];
    struct fault f = { .status = BITCUT_BAD_FILE,
                       .text = "the excerpt does not have the recorded size" };
    if (!file_of(path, folder, e->name, which)) return false;
    if (source_read(to, path, &f) == BITCUT_OK && to->rows == rows && to->cols == cols)
        return true;
    fail(path, &f);
    return false;
}

static bool read_pieces(struct pieces *x, const char *folder,
                        const struct call_log_excerpt *e)
{
    *x = (struct pieces){ .a = { .at = NULL } };
    return read_piece(&x->a, folder, e, "a", e->rows, e->k) &&
           read_piece(&x->b, folder, e, "b", e->k, e->cols) &&
           read_piece(&x->d, folder, e, "d", e->rows, e->cols) &&
           (f32_is_zero(e->beta) || read_piece(&x->c, folder, e, "c", e->rows, e->cols));
}

/* The metric with that name among the values of bitcut_gemm_judge(). */
static double metric(const double *values, const char *name)
{
    const char *one;
    for (size_t i = 0; (one = bitcut_metric_name(i)); i++)
        if (!strcmp(one, name)) return values[i];
    return NAN;
}

/* The largest errors of results, and whether they equal bitcut gemm. */
struct errors {
    size_t outputs;
    double relres, backward, bound;
    size_t computed, mismatches; /* outputs computed again, and those that differ */
};

/* The larger number, where NaN is the largest. */
static double worse(double a, double b) { return !(a >= b) && !isnan(a) ? b : a; }

/* |D - C| <= k u |A||B| in any order of an FP32 sum (Jeannerod and Rump 2013), plus 2 for
   alpha and beta; in the unit of backward_max, u. */
static double fp32_bound(const struct call_log_excerpt *e)
{
    return (double)e->k + (e->alpha != F32_ONE || !f32_is_zero(e->beta) ? 2 : 0);
}

/* The excerpt as a GEMM in a configuration, with D in `d`. */
static struct bitcut_gemm gemm_of_pieces(const struct bitcut_gemm *configuration,
                                         uint32_t *d, const struct call_log_excerpt *e,
                                         const struct pieces *x)
{
    struct bitcut_gemm g = *configuration;
    gemm_set_dense(&g, d, e->rows, e->cols, e->k, x->a.at, x->b.at, x->c.at);
    g.alpha = e->alpha;
    g.beta = e->beta;
    return g;
}

static void judge(struct errors *to, const struct call_log_excerpt *e,
                  const struct pieces *x, int threads)
{
    double values[METRICS_MAX];
    const struct bitcut_gemm fp32 =
        gemm_of(bitcut_recipe_find("fp32"), bitcut_unit_find("fma/f32", NULL));
    const struct bitcut_gemm g = gemm_of_pieces(&fp32, x->d.at, e, x);
    if (bitcut_gemm_judge(values, METRICS_MAX, &g, 0, threads, NULL) != BITCUT_OK)
        return;
    to->outputs += e->rows * e->cols;
    to->relres = worse(to->relres, metric(values, "relres"));
    to->backward = worse(to->backward, metric(values, "backward_max"));
    to->bound = worse(to->bound, fp32_bound(e));
}

/* Compute D again, in the configuration of the program's product: an output depends only
   on its row of A and its column of B. */
static void compute_again(struct errors *to,
                          const struct run_configuration *configuration,
                          const struct call_log_excerpt *e, const struct pieces *x,
                          int threads)
{
    struct matrix d;
    if (configuration->original || matrix_init(&d, e->rows, e->cols, NULL) != BITCUT_OK)
        return;
    const struct bitcut_gemm g = gemm_of_pieces(&configuration->gemm, d.at, e, x);
    if (bitcut_gemm(NULL, &g, threads, NULL) == BITCUT_OK) {
        to->computed += e->rows * e->cols;
        for (size_t i = 0; i < e->rows * e->cols; i++)
            to->mismatches += d.at[i] != x->d.at[i];
    }
    matrix_clear(&d);
}

/* Errors of D in all excerpts, as the program got it.  Excerpts whose files can be read
   are returned in the call site.  Returns the number of outputs that differ when computed
   again. */
static size_t add_errors(json_t *row, struct call_log_site *p,
                         const struct run_audit *how, struct context *x)
{
    struct errors all = { .outputs = 0 };
    uint32_t good = 0;
    struct run_configuration configuration = { .original = true };
    run_configuration_read(&configuration, p->configuration, NULL);
    for (uint32_t i = 0; i < p->excerpts && !progress_stopped(&x->progress); i++) {
        struct pieces pieces;
        if (read_pieces(&pieces, how->folder, &p->excerpt[i])) {
            judge(&all, &p->excerpt[i], &pieces, x->threads);
            compute_again(&all, &configuration, &p->excerpt[i], &pieces, x->threads);
            p->excerpt[good++] = p->excerpt[i];
        }
        pieces_clear(&pieces);
    }
    p->excerpts = good;
    const bool any = all.outputs != 0;
    json_object_set_new(row, "compared", json_count(all.outputs));
    json_object_set_new(row, "recomputed",
                        configuration.original ? json_null() : json_count(all.computed));
    json_object_set_new(row, "mismatches",
                        configuration.original ? json_null()
                                               : json_count(all.mismatches));
    json_object_set_new(row, "relres", any ? json_number(all.relres) : json_null());
    json_object_set_new(row, "backward_max",
                        any ? json_number(all.backward) : json_null());
    json_object_set_new(row, "bound", any ? json_number(all.bound) : json_null());
    return all.mismatches;
}

/* --- advice ----------------------------------------------------------------------- */

/* "ootomo at 2^11" for the recommended trial; "none" if none reaches the required error.
 */
static json_t *advice_text(const struct advise *x)
{
    const struct advise_trial *const t = x->choice;
    const int scale = t ? t->plan.split_a.scale : 0;
    return scale ? json_sprintf("%s at 2^%d%s", t->gemm.recipe->name, scale,
                                t->gemm.equilibrate ? " equilibrated" : "")
                 : json_string(t ? t->gemm.recipe->name : "none");
}

/* The part of the advice that is reported: not each trial, nor every split and scale at
   every exponent. */
static json_t *advice_row(const struct advise *x)
{
    static const char *const keys[] = { "want", "metric", "pairs",   "m",      "n", "k",
                                        "seed", "advice", "targets", "scales", NULL };
    json_t *const row = json_object();
    record_json_keys(row, advise_fields, x, keys);
    json_object_set_new(row, "retained", advise_rows_in_all(x));
    json_object_set_new(row, "retained_by_exponent", advise_rows_by_exponent(x));
    return row;
}

/* The unit on which a call site's products are computed, or with which they are compared,
   other than the program's own; NULL: none. */
static const char *unit_of(const struct call_log_site *p)
{
    const char *const lines[] = { p->configuration, p->against };
    struct run_configuration configuration;
    for (int i = 0; i < 2; i++)
        if (*lines[i] &&
            run_configuration_read(&configuration, lines[i], NULL) == BITCUT_OK &&
            !configuration.original)
            return configuration.gemm.unit->name;
    return NULL;
}

/* The largest magnitude with the exponents that were counted; 0: none were. */
static uint32_t largest_of(const struct call_log_values *v)
{
    uint32_t e = CALL_LOG_EXPONENTS - 2;
    while (e > 0 && !v->count[e]) e--;
    return e > 0 || v->count[0] > v->zeros ? e << 23 | 0x7fffff : 0;
}

/* The operands of all excerpts, and the targets on which their products may be computed.
 */
struct operands {
    struct gemm_data of[CALL_LOG_EXCERPTS_MAX];
    const char *target[ADVISE_TARGETS_MAX];
};

static bool read_operands(struct operands *to, const struct call_log_site *p,
                          const char *folder)
{
    bool good = p->excerpts != 0;
    for (uint32_t i = 0; i < p->excerpts && good; i++) {
        const struct call_log_excerpt *const e = &p->excerpt[i];
        good = e->rows && e->cols && e->k &&
               read_piece(&to->of[i].a, folder, e, "a", e->rows, e->k) &&
               read_piece(&to->of[i].b, folder, e, "b", e->k, e->cols);
    }
    return good;
}

static void operands_clear(struct operands *o)
{
    for (int i = 0; i < CALL_LOG_EXCERPTS_MAX; i++) gemm_data_clear(&o->of[i]);
}

/* Advice for all excerpts together, with parts that hold all observed values, on the unit
   of the call site.  Without a unit, advise selects one of several chips.  Prints what is
   wrong; returns false if there is no advice. */
static bool advise(struct advise *to, struct operands *o, const struct call_log_site *p,
                   const struct run_audit *how, const struct context *x)
{
    const struct norm_sample_metric *const metric = &norm_sample_metrics[0];
    uint32_t want;
    struct fault f;
    o->target[0] = unit_of(p);
    const struct advise_problem q = {
        .of = o->of,
        .pairs = p->excerpts,
        .largest = { largest_of(&p->values[0]), largest_of(&p->values[1]) },
        .metric = metric,
        .want = how->want && decimal_read(&want, how->want) ? value_of_float(want)
                                                            : metric->want,
        .target = o->target,
        .targets = o->target[0] ? 1 : advise_targets(o->target),
        .seed = x->seed,
        .input_a = how->folder,
        .input_b = how->folder,
        .values = true
    };
    if (advise_find(to, &q, x->threads, &x->progress, &f) == BITCUT_OK) return true;
    fail("advise", &f);
    return false;
}

static void add_advice(json_t *row, const struct call_log_site *p,
                       const struct run_audit *how, struct context *x)
{
    struct operands o = { .of = { { .bias_rows = false } } };
    struct advise found;
    const bool any = how->advises && !progress_stopped(&x->progress) &&
                     read_operands(&o, p, how->folder) && advise(&found, &o, p, how, x);
    json_object_set_new(row, "advice", any ? advice_text(&found) : json_null());
    json_object_set_new(row, "advice_on",
                        any && found.choice ? json_string(found.choice->target)
                                            : json_null());
    json_object_set_new(row, "advise", any ? advice_row(&found) : json_null());
    if (any) advise_clear(&found);
    operands_clear(&o);
}

size_t run_audit_add(json_t *row, const struct call_log_site *p,
                     const struct run_audit *how, struct context *x)
{
    struct call_log_site own = *p;
    json_object_set_new(row, "watched", json_count(p->watched));
    add_values(row, p);
    const size_t mismatches = add_errors(row, &own, how, x);
    add_advice(row, &own, how, x);
    return mismatches;
}
