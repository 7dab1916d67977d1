/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/fp64/scheme_search.h"

#include "lib/base/size.h"
#include "lib/base/text.h"
#include "lib/gemm/view.h"

#include <stdlib.h>

/* Some rows of A and columns of B, with their C and D, in FP64 without gaps.  A and B
   have the layouts of the GEMM, on which the scales of some schemes depend. */
struct sample {
    size_t rows, cols, k;
    double *a, *b, *c, *d, *own;
};

static void sample_clear(struct sample *s)
{
    free(s->a);
    free(s->b);
    free(s->c);
    free(s->d);
    free(s->own);
}

/* The elements of a matrix at spread rows and columns, in a layout; NULL: no memory. */
static double *take(const struct bitcut_matrix *x, size_t rows, size_t cols,
                    struct spread_evenly of_rows, struct spread_evenly of_cols,
                    enum bitcut_layout layout)
{
    const struct view v = view_of(x, 0, rows, cols, false);
    const bool by_rows = layout == BITCUT_ROW_MAJOR;
    size_t count;
    double *const to = size_multiply(&count, of_rows.count, of_cols.count)
                           ? memory_allocate(count, sizeof *to)
                           : NULL;
    for (size_t i = 0; to && i < of_rows.count; i++)
        for (size_t j = 0; j < of_cols.count; j++)
            to[by_rows ? i * of_cols.count + j : j * of_rows.count + i] =
                view_f64(&v, spread_place(&of_rows, i), spread_place(&of_cols, j));
    return to;
}

static bool sample_make(struct sample *s, const struct bitcut_gemm *g, double lines)
{
    const struct spread_evenly rows = spread_evenly(g->m, lines),
                               cols = spread_evenly(g->n, lines),
                               all = spread_evenly(g->k, (double)g->k + 1);
    *s = (struct sample){ .rows = rows.count,
                          .cols = cols.count,
                          .k = g->k,
                          .a = take(&g->a, g->m, g->k, rows, all, g->a.layout),
                          .b = take(&g->b, g->k, g->n, all, cols, g->b.layout),
                          .c = gemm_reads_c(g)
                                   ? take(&g->c, g->m, g->n, rows, cols, BITCUT_ROW_MAJOR)
                                   : NULL,
                          .d = take(&g->d, g->m, g->n, rows, cols, BITCUT_ROW_MAJOR),
                          .own =
                              memory_allocate(rows.count * cols.count, sizeof *s->own) };
    return s->a && s->b && s->d && s->own && (!gemm_reads_c(g) || s->c);
}

/* Count the outputs of the sample that a scheme gives. */
static enum bitcut_status count_equal(size_t *equal, const struct sample *s,
                                      const struct bitcut_gemm *g,
                                      const struct gemm_options *options, struct fault *f)
{
    const struct bitcut_format *const f64 = &formats[FORMAT_F64];
    struct bitcut_gemm own = *g;
    own.m = s->rows, own.n = s->cols;
    own.a = (struct bitcut_matrix){ .at = s->a, .format = f64, .layout = g->a.layout };
    own.b = (struct bitcut_matrix){ .at = s->b, .format = f64, .layout = g->b.layout };
    own.c = (struct bitcut_matrix){ .at = s->c, .format = f64 };
    own.d = (struct bitcut_matrix){ .to = s->own, .format = f64 };
    const enum bitcut_status status = fp64_gemm_run(NULL, &own, options, f);
    *equal = 0;
    for (size_t i = 0; i < s->rows * s->cols && status == BITCUT_OK; i++)
        *equal += bits_of_double(s->own[i]) == bits_of_double(s->d[i]);
    return status;
}

/* Units on which sums of parts are exact: what a scheme gives there it gives on every
   such unit. */
static const struct bitcut_unit *unit_for(const struct bitcut_scheme *s)
{
    if (s->part == &formats[FORMAT_F64]) return unit_find("fma/f64", s->part);
    return unit_find(s->part == &formats[FORMAT_E4M3] ? "b200" : "h100", s->part);
}

static int products_of(const struct bitcut_scheme *s, int parts)
{
    return s->cut ? parts * (parts + 1) / 2 : parts;
}

static void keep_better(struct scheme_match *best, const struct scheme_match *one)
{
    const size_t tried = best->tried + 1;
    const bool same =
        one->equal && one->equal == best->equal && one->compared == best->compared;
    const bool better = (double)one->equal * (double)best->compared >
                            (double)best->equal * (double)one->compared ||
                        (same && products_of(one->scheme, one->parts) <
                                     products_of(best->scheme, best->parts));
    const size_t others = same ? best->same + 1 : better ? 0 : best->same;
    if (better) *best = *one;
    best->tried = tried;
    best->same = others;
}

/* A scheme with a number of parts on a sample. */
struct trial {
    const struct sample *sample;
    const struct bitcut_gemm *whole; /* whose D is looked for */
    const struct gemm_options *options;
};

/* Compare D with it for one number of slices of k. */
static void compare(struct scheme_match *best, const struct trial *t,
                    const struct bitcut_scheme *s, int parts, int slices, struct fault *f)
{
    const size_t compared = t->sample->rows * t->sample->cols;
    struct scheme_match one = { s, unit_for(s), parts, slices, 0, compared, 0, 0 };
    struct bitcut_scheme of_parts = *s;
    struct bitcut_gemm own = *t->whole;
    of_parts.bits = NULL; /* the sample may need fewer than all lines */
    own.scheme = &of_parts, own.unit = one.unit, own.parts = parts;
    own.order.slices = slices;
    if (fp64_plan(&(int){ 0 }, &own, NULL) == BITCUT_OK &&
        count_equal(&one.equal, t->sample, &own, t->options, f) == BITCUT_OK)
        keep_better(best, &one);
}

/* Compare D with it, with the slices of k of its rule, or several numbers of slices. */
static void compare_slices(struct scheme_match *best, const struct trial *t,
                           const struct bitcut_scheme *s, int parts, struct fault *f)
{
    enum { CUT_MIN = 1000 };
    static const int slices[] = { 1, 2, 4, 8, 12, 16, 24, 32, 0 };
    const struct bitcut_gemm *const g = t->whole;
    const int own = s->slices ? (int)s->slices(g->m, g->n, g->k) : 1;
    compare(best, t, s, parts, own, f);
    if (!s->slices || g->k < CUT_MIN) return;
    for (const int *i = slices; *i; i++)
        if (*i != own) compare(best, t, s, parts, *i, f);
}

/* The numbers of parts of a scheme for D: all, or the number that it chooses; most = 0 if
   it is computed in FP64. */
struct parts_range {
    int least, most;
};

static struct parts_range parts_of(const struct bitcut_scheme *s,
                                   const struct bitcut_gemm *g, int threads)
{
    struct bitcut_gemm own = *g;
    struct fp64_choice by;
    if (!s->bits) return (struct parts_range){ s->least, s->most };
    own.scheme = s, own.unit = unit_for(s), own.parts = BITCUT_UNSET;
    own.order.slices = 0;
    if (fp64_settle(&by, &own, threads, NULL) != BITCUT_OK || by.in_f64)
        return (struct parts_range){ 1, 0 };
    return (struct parts_range){ by.parts, by.parts };
}

enum bitcut_status scheme_search(struct scheme_match *to, const struct bitcut_gemm *g,
                                 const struct gemm_options *options, struct fault *f)
{
    const double products = (double)g->m * (double)g->n * (double)g->k;
    struct scheme_match best = { .compared = 1 };
    struct sample lines = { .a = NULL }, whole = { .a = NULL };
    const struct gemm_options quiet = { .threads = options->threads };
    size_t done = 0, all = 0;
    enum bitcut_status status = BITCUT_OK;
    if (!sample_make(&lines, g, SCHEME_SEARCH_LINES) ||
        !sample_make(&whole, g, (double)larger(g->m, g->n) + 1))
        status = fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the search");
    for (const struct bitcut_scheme *s = schemes; s->name; s++)
        all += (size_t)(s->most - s->least + 1);
    for (const struct bitcut_scheme *s = schemes; s->name; s++) {
        const struct parts_range range = parts_of(s, g, options->threads);
        for (int parts = range.least; parts <= range.most && status == BITCUT_OK;
             parts++) {
            const bool depends = s->run == fp64_run_residues;
            const struct trial t = { depends ? &whole : &lines, g, &quiet };
            progress_report(options->progress, done++, all);
            if (progress_stopped(options->progress))
                status = fault_set(f, BITCUT_UNSUPPORTED, "stopped");
            if (depends && products * parts > 0x1p28) continue;
            if (status == BITCUT_OK) compare_slices(&best, &t, s, parts, f);
        }
    }
    sample_clear(&lines);
    sample_clear(&whole);
    if (status == BITCUT_OK) *to = best;
    return status;
}

/* --- fields and sentences --------------------------------------------------------- */

static bool is_whole(const void *a)
{
    return scheme_match_is_whole(&((const struct scheme_explanation *)a)->match);
}

static bool is_judged(const void *a)
{
    return ((const struct scheme_explanation *)a)->errors.judged;
}

static bool has_match(const void *a)
{
    return ((const struct scheme_explanation *)a)->match.scheme;
}

#define OF(place, key, what) RECORD_INNER(struct scheme_explanation, place, key, "", what)
#define OF_IF(place, key, what)                                                          \
    RECORD_INNER_IF(struct scheme_explanation, place, key, "", what, has_match)

/* clang-format off */
const struct record_field scheme_explain_fields[] = {
    RECORD_FUNCTION(is_whole, "found", "whether a scheme gives all outputs that were compared"),
    OF_IF(match.scheme, "scheme", "the scheme that gives most outputs"),
    OF_IF(match.unit, "unit", "the unit on which it was computed"),
    OF_IF(match.parts, "parts", "its parts of each element"),
    OF_IF(match.slices, "split_k", "slices of k"),
    OF(match.equal, "equal", "outputs with its bits"),
    OF(match.compared, "compared", "outputs that were compared"),
    OF(match.same, "same", "other schemes and numbers of parts that give as many"),
    OF(match.tried, "tried", "schemes and numbers of parts that were tried"),
    { .name = "", .what = "keys that are present together", .unit = "", .kind = RECORD_GROUP, .of = fp64_error_fields, .when = is_judged },
    { 0 }
};
/* clang-format on */

void scheme_match_name(char *text, size_t size, const struct scheme_match *m)
{
    text_add(text, size, "%s", m->scheme->name);
    if (m->scheme->part != &formats[FORMAT_F64])
        text_add(text, size, " with %d %s", m->parts,
                 m->scheme->cut ? "slices" : "moduli");
    if (m->slices > 1) text_add(text, size, " (--split-k %d)", m->slices);
}

static void describe_verdict(char *text, size_t size, const void *answer)
{
    const struct scheme_explanation *const e = answer;
    const struct scheme_match *const m = &e->match;
    if (is_whole(e)) {
        scheme_match_name(text, size, m);
        text_add(text, size, " gives all %zu outputs that were compared", m->compared);
    } else if (e->errors.value[METRIC_WRONG] > 0 || e->errors.value[METRIC_GRADE] < 3) {
        text_add(text, size,
                 "no scheme gives D, which is less accurate than an FP64 GEMM");
    } else {
        text_add(
            text, size,
            "no scheme gives D, which is as accurate as an FP64 GEMM: multiply-adds in "
            "another order of k, or a scheme that is not in the table");
    }
}

static void describe_nearest(char *text, size_t size, const void *answer)
{
    const struct scheme_explanation *const e = answer;
    if (is_whole(e) || !e->match.scheme) return;
    scheme_match_name(text, size, &e->match);
    text_add(text, size, " gives %zu of %zu outputs", e->match.equal, e->match.compared);
}

static void describe_search(char *text, size_t size, const void *answer)
{
    const struct scheme_explanation *const e = answer;
    text_add(text, size, "%zu schemes and numbers of parts were tried", e->match.tried);
    if (e->match.same)
        text_add(text, size, "; %zu more give%s the same outputs", e->match.same,
                 e->match.same == 1 ? "s" : "");
}

const struct record_line scheme_explain_lines[] = {
    { LABEL_VERDICT, describe_verdict, RECORD_ALWAYS, NULL },
    { "nearest", describe_nearest, RECORD_ALWAYS, NULL },
    { "matrices", fp64_describe_matrices, RECORD_ALWAYS, NULL },
    { "componentwise error", fp64_describe_componentwise, RECORD_ALWAYS, NULL },
    { "relative error", fp64_describe_relative, RECORD_ALWAYS, NULL },
    { "search", describe_search, RECORD_ALWAYS, NULL },
    { 0 }
};
