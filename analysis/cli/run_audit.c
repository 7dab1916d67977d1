/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/run_audit.h"

#include "analysis/cli/command_call.h"
#include "analysis/cli/gemm_report_rows.h"
#include "analysis/cli/setup.h"
#include "lib/bits.h"
#include "lib/file/source.h"
#include "lib/fma.h"
#include "lib/size.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MOST = 4096, METRICS_MOST = 64 };

/* --- values ----------------------------------------------------------------------- */

/* The exponents of an operand, as those of `bitcut advise`: -127 is of subnormals. */
static json_t *values_json(const struct ledger_values *v)
{
    json_t *const list = json_array();
    uint64_t all = 0, subnormal = v->count[0] - v->zeros;
    int least = 0, most = -1;
    for (int e = LEDGER_EXPONENTS - 1; e >= 0; e--) {
        const uint64_t count = e ? v->count[e] : subnormal;
        all += v->count[e];
        if (e == LEDGER_EXPONENTS - 1 || !count) continue;
        if (most < least) most = e - 127;
        least = e - 127;
        json_array_append_new(list, json_pack("{s:i, s:o}", "exponent", e - 127, "count",
                                              json_count(count)));
    }
    const bool any = json_array_size(list) != 0;
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "values",
                     json_count(all), "zeros", json_count(v->zeros), "subnormal",
                     json_count(subnormal), "infinite", json_count(v->infinite), "nan",
                     json_count(v->count[LEDGER_EXPONENTS - 1] - v->infinite),
                     "exponent_min", any ? json_integer(least) : json_null(),
                     "exponent_max", any ? json_integer(most) : json_null(), "exponents",
                     list);
}

/* "2^-12..2^1": below the last. */
static json_t *range_json(const json_t *values)
{
    const json_t *const least = json_object_get(values, "exponent_min"),
                        *const most = json_object_get(values, "exponent_max");
    if (!json_is_integer(least)) return json_null();
    return json_sprintf("2^%d..2^%d", (int)json_integer_value(least),
                        (int)json_integer_value(most) + 1);
}

static void add_values(json_t *row, const struct ledger_place *p)
{
    static const char *const keys[2][2] = { { "values_a", "range_a" },
                                            { "values_b", "range_b" } };
    for (int i = 0; i < 2; i++) {
        json_t *const values = p->watched ? values_json(&p->values[i]) : json_null();
        json_object_set_new(row, keys[i][0], values);
        json_object_set_new(row, keys[i][1],
                            p->watched ? range_json(values) : json_null());
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

static bool file_of(char path[FILE_MOST], const char *folder, const char *name,
                    const char *which)
{
    const int n = snprintf(path, FILE_MOST, "%s/%s.%s.npy", folder, name, which);
    return !strchr(name, '/') && n >= 0 && n < FILE_MOST;
}

static bool read_piece(struct matrix *to, const char *folder,
                       const struct ledger_excerpt *e, const char *which, size_t rows,
                       size_t cols)
{
    char path[FILE_MOST];
    struct fault f = { BITCUT_BAD_FILE, "not of the size that was written down" };
    if (!file_of(path, folder, e->name, which)) return false;
    if (source_read(to, path, &f) == BITCUT_OK && to->rows == rows && to->cols == cols)
        return true;
    fail(path, &f);
    return false;
}

static bool read_pieces(struct pieces *x, const char *folder,
                        const struct ledger_excerpt *e)
{
    *x = (struct pieces){ .a = { .at = NULL } };
    return read_piece(&x->a, folder, e, "a", e->rows, e->k) &&
           read_piece(&x->b, folder, e, "b", e->k, e->cols) &&
           read_piece(&x->d, folder, e, "d", e->rows, e->cols) &&
           (f32_is_zero(e->beta) || read_piece(&x->c, folder, e, "c", e->rows, e->cols));
}

/* The metric of that name among the values of bitcut_gemm_judge(). */
static double metric(const double *values, const char *name)
{
    const char *one;
    for (size_t i = 0; (one = bitcut_metric_name(i)); i++)
        if (!strcmp(one, name)) return values[i];
    return NAN;
}

/* What results err by at most, and whether they are those of bitcut gemm. */
struct errors {
    size_t outputs;
    double relres, backward, bound;
    size_t computed, mismatches; /* outputs computed once more, and those that differ */
};

/* The larger, of which NaN is the largest. */
static double worse(double a, double b) { return !(a >= b) && !isnan(a) ? b : a; }

/* |D - C| <= k u |A||B| whatever the order of an FP32 sum (Jeannerod and Rump 2013), and
   2 more for alpha and beta; as backward_max counts, in u. */
static double fp32_bound(const struct ledger_excerpt *e)
{
    return (double)e->k + (e->alpha != F32_ONE || !f32_is_zero(e->beta) ? 2 : 0);
}

/* The excerpt as a GEMM in a way, with D in `d`. */
static struct bitcut_gemm gemm_of_pieces(const struct bitcut_gemm *way, uint32_t *d,
                                         const struct ledger_excerpt *e,
                                         const struct pieces *x)
{
    struct bitcut_gemm g = *way;
    gemm_set_dense(&g, d, e->rows, e->cols, e->k, x->a.at, x->b.at, x->c.at);
    g.alpha = e->alpha;
    g.beta = e->beta;
    return g;
}

static void judge(struct errors *to, const struct ledger_excerpt *e,
                  const struct pieces *x, int threads)
{
    double values[METRICS_MOST];
    const struct bitcut_gemm fp32 =
        gemm_of(bitcut_recipe_find("fp32"), bitcut_unit_find("fma/f32", NULL));
    const struct bitcut_gemm g = gemm_of_pieces(&fp32, x->d.at, e, x);
    if (bitcut_gemm_judge(values, METRICS_MOST, &g, 0, threads, NULL) != BITCUT_OK)
        return;
    to->outputs += e->rows * e->cols;
    to->relres = worse(to->relres, metric(values, "relres"));
    to->backward = worse(to->backward, metric(values, "backward_max"));
    to->bound = worse(to->bound, fp32_bound(e));
}

/* Compute D once more, in the way in which the program's was computed: an output depends
   on its row of A and its column of B alone. */
static void compute_again(struct errors *to, const struct run_way *way,
                          const struct ledger_excerpt *e, const struct pieces *x,
                          int threads)
{
    struct matrix d;
    if (way->original || matrix_init(&d, e->rows, e->cols, NULL) != BITCUT_OK) return;
    const struct bitcut_gemm g = gemm_of_pieces(&way->gemm, d.at, e, x);
    if (bitcut_gemm(NULL, &g, threads, NULL) == BITCUT_OK) {
        to->computed += e->rows * e->cols;
        for (size_t i = 0; i < e->rows * e->cols; i++)
            to->mismatches += d.at[i] != x->d.at[i];
    }
    matrix_clear(&d);
}

/* Of D of all excerpts, as the program got it.  Excerpts whose files can be read are left
   in the place. */
static void add_errors(json_t *row, struct ledger_place *p, const struct run_audit *how,
                       struct context *x)
{
    struct errors all = { .outputs = 0 };
    uint32_t good = 0;
    struct run_way way = { .original = true };
    run_way_read(&way, p->way, NULL);
    for (uint32_t i = 0; i < p->excerpts && !progress_stopped(&x->progress); i++) {
        struct pieces pieces;
        if (read_pieces(&pieces, how->folder, &p->excerpt[i])) {
            judge(&all, &p->excerpt[i], &pieces, x->threads);
            compute_again(&all, &way, &p->excerpt[i], &pieces, x->threads);
            p->excerpt[good++] = p->excerpt[i];
        }
        pieces_clear(&pieces);
    }
    p->excerpts = good;
    const bool any = all.outputs != 0;
    json_object_set_new(row, "judged", json_count(all.outputs));
    json_object_set_new(row, "recomputed",
                        way.original ? json_null() : json_count(all.computed));
    json_object_set_new(row, "mismatches",
                        way.original ? json_null() : json_count(all.mismatches));
    json_object_set_new(row, "relres", any ? json_number(all.relres) : json_null());
    json_object_set_new(row, "backward_max",
                        any ? json_number(all.backward) : json_null());
    json_object_set_new(row, "bound", any ? json_number(all.bound) : json_null());
}

/* --- advice ----------------------------------------------------------------------- */

/* "ootomo at 2^11" of the trial that is advised; "none" reaches what is wanted; null: it
   was not asked. */
static json_t *advice_text(const json_t *advice)
{
    const json_t *const trial = json_object_get(advice, "advice");
    const int scale = (int)json_integer_value(json_object_get(trial, "scale"));
    const bool lines = json_is_true(json_object_get(trial, "equilibrate"));
    if (!json_is_object(trial))
        return json_is_null(advice) ? json_null() : json_string("none");
    const char *const recipe = json_string_value(json_object_get(trial, "recipe"));
    return scale
               ? json_sprintf("%s at 2^%d%s", recipe, scale, lines ? " equilibrated" : "")
               : json_string(recipe);
}

/* What is kept of what it says: not each trial, nor what every split and scale keeps of
   every exponent. */
static json_t *advice_row(const json_t *whole)
{
    static const char *const keys[] = { "want", "metric", "pairs",  "m",      "n",
                                        "k",    "seed",   "advice", "places", "scales" };
    json_t *const row = json_object(), *const all = json_array(),
                  *const each = json_array();
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        json_object_set(row, keys[i], json_object_get(whole, keys[i]));
    gemm_report_kept_in_all(all, whole, NULL, NULL);
    gemm_report_kept(each, whole, NULL, NULL);
    json_object_set_new(row, "kept", all);
    json_object_set_new(row, "kept_by_exponent", each);
    return row;
}

/* The unit that a place's products are computed on, or compared with, not the program's
   own; NULL: none. */
static const char *unit_of(const struct ledger_place *p)
{
    const char *const lines[] = { p->way, p->against };
    struct run_way way;
    for (int i = 0; i < 2; i++)
        if (*lines[i] && run_way_read(&way, lines[i], NULL) == BITCUT_OK && !way.original)
            return way.gemm.unit->name;
    return NULL;
}

static void add_option(struct command_call *call, const char *name, const char *value)
{
    command_call_add(call, name);
    command_call_add(call, value);
}

/* The largest magnitude that fits the exponents that were counted; 0: none were. */
static double largest_of(const struct ledger_values *v)
{
    int e = LEDGER_EXPONENTS - 2;
    while (e > 0 && !v->count[e]) e--;
    const bool any = e > 0 || v->count[0] > v->zeros;
    return any ? value_of_float((uint32_t)e << 23 | 0x7fffff) : 0;
}

/* The words of a command that asks for advice on excerpts. */
struct advice_words {
    char a[LEDGER_EXCERPTS_MOST][FILE_MOST], b[LEDGER_EXCERPTS_MOST][FILE_MOST],
        largest[2][40];
};

static bool add_excerpts(struct command_call *call, struct advice_words *w,
                         const struct ledger_place *p, const char *folder)
{
    for (uint32_t i = 0; i < p->excerpts; i++) {
        if (!file_of(w->a[i], folder, p->excerpt[i].name, "a") ||
            !file_of(w->b[i], folder, p->excerpt[i].name, "b"))
            return false;
        add_option(call, "-a", w->a[i]);
        add_option(call, "-b", w->b[i]);
    }
    return p->excerpts != 0;
}

/* What `bitcut advise` says of all excerpts together, and of words that are to hold all
   values that were seen, on the unit of the place, or of the chips that it chooses if
   there is none. */
static json_t *advise(const struct ledger_place *p, const struct run_audit *how,
                      struct context *x)
{
    static const char *const options[] = { "--largest-a", "--largest-b" };
    struct command_call call = { .words = 0 };
    struct advice_words *const w = memory_allocate(1, sizeof *w);
    json_t *row = NULL;
    const char *const unit = unit_of(p);
    command_call_add(&call, "advise");
    if (how->advises && w && add_excerpts(&call, w, p, how->folder)) {
        for (int i = 0; i < 2; i++) {
            snprintf(w->largest[i], sizeof w->largest[i], "%.9g",
                     largest_of(&p->values[i]));
            add_option(&call, options[i], w->largest[i]);
        }
        if (unit) add_option(&call, "--unit", unit);
        if (how->want) add_option(&call, "--want", how->want);
        if (command_call_run(&call, &command_advise, x) <= EXIT_FOUND)
            row = advice_row(json_array_get(call.rows, 0));
    }
    command_call_clear(&call);
    free(w);
    return row ? row : json_null();
}

static void add_advice(json_t *row, const struct ledger_place *p,
                       const struct run_audit *how, struct context *x)
{
    json_t *const advice =
        progress_stopped(&x->progress) ? json_null() : advise(p, how, x);
    json_t *const on = json_object_get(json_object_get(advice, "advice"), "place");
    json_object_set_new(row, "advice", advice_text(advice));
    json_object_set(row, "advice_on", on ? on : json_null());
    json_object_set_new(row, "advise", advice);
}

void run_audit_add(json_t *row, const struct ledger_place *p, const struct run_audit *how,
                   struct context *x)
{
    struct ledger_place own = *p;
    json_object_set_new(row, "watched", json_count(p->watched));
    add_values(row, p);
    add_errors(row, &own, how, x);
    add_advice(row, &own, how, x);
}
