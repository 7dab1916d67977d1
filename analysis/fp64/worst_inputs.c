/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/fp64/worst_inputs.h"

#include "analysis/fp64/scheme_bound.h"
#include "analysis/fp64/worst_change.h"
#include "lib/base/size.h"
#include "lib/base/text.h"
#include "lib/exact/exact64.h"
#include "lib/input/input.h"
#include "lib/number/hostfp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows of A and columns of B that the search changes, and the starts from which it
   climbs. */
enum { LINES = 4, CLIMBS = 3 };

enum { STREAM_CHANGES = 16 };

/* Starts: families of A and B.  "*" is the largest range of exponents, and "/" is half of
   it. */
static const struct {
    const char *a, *b;
} families[] = {
    { "urand", "urand" },
    { "positive", "positive" },
    { "urand(0,0.1)", "urand(0,0.1)" },
    { "phi(2)", "phi(2)" },
    { "const(1)", "all_ones(0,0)" },
    { "all_ones(0,0)", "all_ones(0,0)" },
    { "max_digits(8)", "max_digits(8)" },
    { "all_ones(0,0)", "urand" },
    { "urand", "all_ones(0,0)" },
    { "alternating", "positive" },
    { "cancelling(20)", "cancelling(20)" },
    { "cancelling(50)", "cancelling(50)" },
    { "line_scaled(-30,-30)", "line_scaled(-30,-30)" },
    { "line_scaled(30,30)", "line_scaled(30,30)" },
    { "line_scaled(-60,60)", "line_scaled(-60,60)" },
    { "graded(*)", "urand" },
    { "urand", "graded(*)" },
    { "graded(/)", "graded(/)" },
    { "graded(*)", "graded(*)" },
    { "opposite(/)", "opposite(/)" },
    { "opposite(*)", "opposite(*)" },
};
enum { STARTS = sizeof families / sizeof *families };

static const int ranges[WORST_RANGES] = { 0, 10, 20, 30, 40, 50, 60, 80 };

/* The largest loss of the outputs of some inputs. */
struct found {
    size_t row, col;
    double loss, d, exact, magnitude;
};

struct search {
    const struct worst_problem *of;
    struct gemm_options options;
    struct worst_lines now, trial, best;
    double *rows_of_b, *drawn; /* k x n for the reference; k x LINES as families draw */
    struct found found;        /* of `best` */
};

/* --- memory ----------------------------------------------------------------------- */

static void clear(struct search *s)
{
    struct worst_lines *const all[] = { &s->now, &s->trial, &s->best };
    for (int i = 0; i < 3; i++) {
        free(all[i]->a);
        free(all[i]->b);
    }
    free(s->rows_of_b);
    free(s->drawn);
}

static bool allocate(struct search *s, const struct worst_problem *p)
{
    const size_t m = smaller(LINES, p->m), n = smaller(LINES, p->n);
    struct worst_lines *const all[] = { &s->now, &s->trial, &s->best };
    bool good = true;
    for (int i = 0; i < 3; i++) {
        *all[i] = (struct worst_lines){ .m = m, .n = n, .k = p->k };
        all[i]->a = memory_allocate(p->k, LINES * sizeof *all[i]->a);
        all[i]->b = memory_allocate(p->k, LINES * sizeof *all[i]->b);
        good &= all[i]->a && all[i]->b;
    }
    s->rows_of_b = memory_allocate(p->k, LINES * sizeof *s->rows_of_b);
    s->drawn = memory_allocate(p->k, LINES * sizeof *s->drawn);
    return good && s->rows_of_b && s->drawn;
}

static void copy(struct worst_lines *to, const struct worst_lines *from)
{
    memcpy(to->a, from->a, from->m * from->k * sizeof *to->a);
    memcpy(to->b, from->b, from->n * from->k * sizeof *to->b);
}

/* --- the loss of some inputs ------------------------------------------------------ */

static struct fp64_job job_of(const struct search *s, const struct worst_lines *x,
                              double *d)
{
    return (struct fp64_job){ .scheme = s->of->scheme,
                              .unit = s->of->unit,
                              .parts = s->of->parts,
                              .m = x->m,
                              .n = x->n,
                              .k = x->k,
                              .alpha = 1,
                              .a = x->a,
                              .b = x->b,
                              .d = d,
                              .options = &s->options };
}

static void turn_b(struct search *s, const struct worst_lines *x)
{
    for (size_t j = 0; j < x->n; j++)
        for (size_t p = 0; p < x->k; p++) s->rows_of_b[p * x->n + j] = x->b[j * x->k + p];
}

static void take_largest(struct found *to, const struct worst_lines *x, const double *d,
                         const double *high, const double *low, const double *magnitude)
{
    struct hostfp saved;
    hostfp_enter(&saved);
    *to = (struct found){ .loss = -1 };
    for (size_t i = 0; i < x->m * x->n; i++) {
        const double error = isfinite(d[i]) ? fabs((d[i] - high[i]) - low[i]) : INFINITY;
        const double loss = magnitude[i] > 0 ? error / magnitude[i] * 0x1p53 : 0;
        if (loss > to->loss)
            *to = (struct found){ i / x->n, i % x->n, loss, d[i], high[i], magnitude[i] };
    }
    hostfp_leave(&saved);
}

static enum bitcut_status measure(struct found *to, struct search *s,
                                  const struct fp64_job *job, const struct worst_lines *x,
                                  struct fault *f)
{
    double high[LINES * LINES], low[LINES * LINES], magnitude[LINES * LINES];
    const struct exact_options options = { .threads = s->of->threads };
    turn_b(s, x);
    enum bitcut_status status = job->scheme->run(job, f);
    if (status == BITCUT_OK)
        status = exact64_gemm(high, low, magnitude, NULL, &options, NULL, x->m, x->n,
                              x->k, x->a, s->rows_of_b, f);
    if (status == BITCUT_OK) take_largest(to, x, job->d, high, low, magnitude);
    return status;
}

static enum bitcut_status measure_scheme(struct found *to, struct search *s,
                                         const struct worst_lines *x, struct fault *f)
{
    double d[LINES * LINES];
    const struct fp64_job job = job_of(s, x, d);
    return measure(to, s, &job, x, f);
}

/* --- starts ----------------------------------------------------------------------- */

static void name_family(char name[WORST_NAME_MAX], const char *text, int range)
{
    *name = 0;
    for (; *text; text++)
        if (*text == '*' || *text == '/')
            text_add(name, WORST_NAME_MAX, "%d", *text == '*' ? range : range / 2);
        else text_add(name, WORST_NAME_MAX, "%c", *text);
}

bool worst_start_name(char a[WORST_NAME_MAX], char b[WORST_NAME_MAX], int i, int range)
{
    if (i >= STARTS) return false;
    name_family(a, families[i].a, range);
    name_family(b, families[i].b, range);
    return true;
}

static enum bitcut_status draw(struct search *s, struct worst_lines *to, const char *a,
                               const char *b, struct fault *f)
{
    struct input of_a, of_b;
    enum bitcut_status status = input_parse(&of_a, a, f);
    if (status == BITCUT_OK) status = input_parse(&of_b, b, f);
    if (status == BITCUT_OK)
        status = input_fill_f64(to->a, to->m, to->k, &of_a, INPUT_A, s->of->seed, 1, f);
    if (status == BITCUT_OK)
        status =
            input_fill_f64(s->drawn, to->k, to->n, &of_b, INPUT_B, s->of->seed, 1, f);
    for (size_t j = 0; j < to->n && status == BITCUT_OK; j++)
        for (size_t p = 0; p < to->k; p++) to->b[j * to->k + p] = s->drawn[p * to->n + j];
    return status;
}

static enum bitcut_status draw_start(struct search *s, struct worst_lines *to, int start,
                                     struct fault *f)
{
    char a[WORST_NAME_MAX], b[WORST_NAME_MAX];
    worst_start_name(a, b, start, s->of->range);
    return draw(s, to, a, b, f);
}

/* The losses of all starts; -1 if elements are not allowed. */
static enum bitcut_status measure_starts(double loss[STARTS], struct worst_inputs *to,
                                         struct search *s, struct fault *f)
{
    enum bitcut_status status = BITCUT_OK;
    for (int i = 0; i < STARTS; i++) loss[i] = -1;
    for (int i = 0; i < STARTS && status == BITCUT_OK; i++) {
        struct found found;
        if (to->starts && progress_stopped(s->of->progress)) break;
        status = draw_start(s, &s->trial, i, f);
        if (status != BITCUT_OK || !worst_allowed(&s->trial, s->of->range)) continue;
        status = measure_scheme(&found, s, &s->trial, f);
        loss[i] = found.loss;
        to->starts++;
        if (status == BITCUT_OK && found.loss > s->found.loss) {
            s->found = found;
            copy(&s->best, &s->trial);
            name_family(to->from_a, families[i].a, s->of->range);
            name_family(to->from_b, families[i].b, s->of->range);
        }
    }
    to->start_loss = s->found.loss;
    return status;
}

static enum bitcut_status measure_ranges(struct worst_inputs *to, struct search *s,
                                         struct fault *f)
{
    enum bitcut_status status = BITCUT_OK;
    for (int i = 0; i < WORST_RANGES && status == BITCUT_OK; i++) {
        char name[WORST_NAME_MAX] = "";
        struct found found = { .loss = NAN };
        text_add(name, sizeof name, "opposite(%d)", ranges[i]);
        if (!progress_stopped(s->of->progress)) {
            status = draw(s, &s->trial, name, name, f);
            if (status == BITCUT_OK) status = measure_scheme(&found, s, &s->trial, f);
        }
        to->ranges[i] = (struct worst_range){ ranges[i], found.loss };
    }
    return status;
}

/* --- climbing --------------------------------------------------------------------- */

/* Try changes of s->now, from a start with this loss, and keep those that increase the
   loss. */
static enum bitcut_status climb(struct worst_inputs *to, struct search *s, int number,
                                int start, double loss, struct fault *f)
{
    const int steps = s->of->steps / CLIMBS;
    struct rng random = rng_start(s->of->seed, STREAM_CHANGES + (uint64_t)number);
    enum bitcut_status status = draw_start(s, &s->now, start, f);
    for (int i = 0; i < steps && status == BITCUT_OK; i++) {
        struct found found;
        if (progress_stopped(s->of->progress)) break;
        copy(&s->trial, &s->now);
        worst_change(&s->trial, &random);
        to->tried++;
        progress_report(s->of->progress, (size_t)(number * steps + i),
                        (size_t)(CLIMBS * steps));
        if (!worst_allowed(&s->trial, s->of->range)) continue;
        status = measure_scheme(&found, s, &s->trial, f);
        if (status != BITCUT_OK || found.loss < loss) continue;
        to->improved += found.loss > loss;
        loss = found.loss;
        copy(&s->now, &s->trial);
        if (!(loss > s->found.loss)) continue;
        s->found = found;
        copy(&s->best, &s->now);
        name_family(to->from_a, families[start].a, s->of->range);
        name_family(to->from_b, families[start].b, s->of->range);
    }
    return status;
}

static enum bitcut_status climb_all(struct worst_inputs *to, struct search *s,
                                    double loss[STARTS], struct fault *f)
{
    enum bitcut_status status = BITCUT_OK;
    for (int number = 0; number < CLIMBS && status == BITCUT_OK; number++) {
        int most = 0;
        for (int i = 1; i < STARTS; i++)
            if (loss[i] > loss[most]) most = i;
        if (loss[most] < 0) break;
        status = climb(to, s, number, most, loss[most], f);
        loss[most] = -1;
    }
    return status;
}

/* --- the answer ------------------------------------------------------------------- */

/* The budget of the worst output. */
static enum bitcut_status find_budget(struct worst_inputs *to, const struct fp64_job *job,
                                      const struct found *x, struct fault *f)
{
    const struct bitcut_format *const f64 = &formats[FORMAT_F64];
    struct scheme_budgets *budgets;
    struct bitcut_gemm g = gemm_of(NULL, job->unit);
    g.scheme = job->scheme;
    g.m = job->m, g.n = job->n, g.k = job->k;
    g.order.slices = 1;
    g.a = (struct bitcut_matrix){ .at = job->a, .format = f64 };
    g.b = (struct bitcut_matrix){ .at = job->b,
                                  .format = f64,
                                  .layout = BITCUT_COLUMN_MAJOR };
    struct fp64_choice by;
    g.parts = job->parts;
    enum bitcut_status status = fp64_settle(&by, &g, job->options->threads, f);
    if (status == BITCUT_OK)
        status = scheme_budgets_make(&budgets, &g, &by, job->options, f);
    if (status != BITCUT_OK) return status;
    status = scheme_budget_at(&to->budget, budgets, x->row, x->col, f);
    scheme_budgets_free(budgets);
    return status;
}

/* The loss of multiply-adds, the bound and the budget of the worst output. */
static enum bitcut_status explain(struct worst_inputs *to, struct search *s,
                                  struct fault *f)
{
    const struct found *const x = &s->found;
    double d[LINES * LINES], magnitude[LINES * LINES], limit[LINES * LINES];
    const struct fp64_job job = job_of(s, &s->best, d);
    const struct exact_options options = { .threads = s->of->threads };
    struct fp64_job plain = job;
    struct found of_plain;
    plain.scheme = bitcut_scheme_find("fp64");
    plain.unit = unit_find("fma/f64", &formats[FORMAT_F64]);
    plain.parts = 1;
    enum bitcut_status status = measure(&of_plain, s, &plain, &s->best, f);
    if (status == BITCUT_OK)
        status = exact64_gemm(NULL, NULL, magnitude, NULL, &options, NULL, job.m, job.n,
                              job.k, job.a, s->rows_of_b, f);
    if (status == BITCUT_OK) status = scheme_bound(limit, &job, magnitude, f);
    if (status == BITCUT_OK) status = find_budget(to, &job, x, f);
    if (status == BITCUT_OK) status = edge_cases_run(to->edges, &job, f);
    if (status != BITCUT_OK) return status;
    to->row = x->row;
    to->col = x->col;
    to->d = x->d;
    to->exact = x->exact;
    to->loss = x->loss;
    to->dgemm = of_plain.loss;
    to->bound = limit[x->row * job.n + x->col] / x->magnitude * 0x1p53;
    to->range_a = worst_spread(job.a + x->row * job.k, job.k);
    to->range_b = worst_spread(job.b + x->col * job.k, job.k);
    for (int i = 0; i < BUDGET_PARTS; i++)
        to->cause[i] = to->budget.part[i] / x->magnitude * 0x1p53;
    to->rows = (int)job.m;
    to->cols = (int)job.n;
    return status;
}

/* Matrices of the whole size: the rows and columns again and again. */
static enum bitcut_status repeat(struct worst_inputs *to, const struct search *s,
                                 struct fault *f)
{
    const struct worst_problem *const p = s->of;
    const struct worst_lines *const x = &s->best;
    size_t of_a, of_b;
    to->a =
        size_multiply(&of_a, p->m, p->k) ? memory_allocate(of_a, sizeof *to->a) : NULL;
    to->b =
        size_multiply(&of_b, p->k, p->n) ? memory_allocate(of_b, sizeof *to->b) : NULL;
    if (!to->a || !to->b) {
        worst_inputs_clear(to);
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for A and B");
    }
    for (size_t i = 0; i < p->m; i++)
        memcpy(to->a + i * p->k, x->a + i % x->m * p->k, p->k * sizeof *to->a);
    for (size_t at = 0; at < p->k; at++)
        for (size_t j = 0; j < p->n; j++)
            to->b[at * p->n + j] = x->b[j % x->n * p->k + at];
    return BITCUT_OK;
}

enum bitcut_status worst_inputs_find(struct worst_inputs *to,
                                     const struct worst_problem *problem, struct fault *f)
{
    struct search s = { .of = problem,
                        .options = { .threads = problem->threads },
                        .found = { .loss = -1 } };
    struct worst_inputs new = { .of = problem, .range = problem->range };
    double loss[STARTS];
    enum bitcut_status status = BITCUT_OK;
    if (!allocate(&s, problem))
        status = fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the search");
    if (status == BITCUT_OK) status = measure_starts(loss, &new, &s, f);
    if (status == BITCUT_OK) status = climb_all(&new, &s, loss, f);
    if (status == BITCUT_OK) status = measure_ranges(&new, &s, f);
    if (status == BITCUT_OK) status = explain(&new, &s, f);
    if (status == BITCUT_OK) status = repeat(&new, &s, f);
    clear(&s);
    new.interrupted = progress_stopped(problem->progress);
    if (status == BITCUT_OK) *to = new;
    return status;
}

void worst_inputs_clear(struct worst_inputs *x)
{
    budget_clear(&x->budget);
    free(x->a);
    free(x->b);
    x->a = x->b = NULL;
}
