/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut bound: what a GEMM may err by, by every bound, beside what it does. */
#include "analysis/cli/operands.h"
#include "analysis/cli/say.h"
#include "analysis/error/bound_run.h"
#include "analysis/error/judge.h"

#include <math.h>
#include <stdio.h>

static const char *d_path;
static size_t samples;

static const struct option_row options[] = {
    SETUP_OPTIONS,
    OPERAND_OPTIONS,
    { "d", "judge this D, a file, in place of the emulated one", OPTION_TEXT, &d_path,
      "FILE" },
    { "samples", "outputs that are run step by step (default: of 2^20 products)",
      OPTION_COUNT, &samples, "N" },
    { 0 }
};

/* What people look at, error and limit of one output, that nearest to its limit; --json
   has all. */
static const struct emit_column columns[] = { { "bound", "bound", 0, NULL },
                                              { "kind", "kind", 0, NULL },
                                              { "worst_error", "error", 3, NULL },
                                              { "worst_limit", "limit", 3, NULL },
                                              { "ratio", "ratio", 3, NULL },
                                              { "tightness", "limit/error", 3, NULL },
                                              { "verdict", "u |A||B|, u = 2^-24", 0,
                                                NULL },
                                              { 0 } };

/* --- rows ------------------------------------------------------------------------- */

/* null of a bound that does not apply, and of nothing. */
static json_t *number_or_null(const struct bound_result *r, double x)
{
    return r->applies && !isnan(x) ? json_number(x) : json_null();
}

static json_t *verdict_of(const struct bound_result *r, size_t n)
{
    if (!r->applies) return json_sprintf("no: %s", r->why);
    if (r->violations)
        return json_sprintf("%zu of %zu outputs are beyond, (%zu, %zu) the most",
                            r->violations, r->outputs, r->worst / n, r->worst % n);
    if (!r->outputs) return json_string("no output has a limit");
    return r->outputs < r->looked
               ? json_sprintf("holds in %zu of %zu outputs that have a limit", r->outputs,
                              r->looked)
               : json_sprintf("holds in %zu outputs", r->outputs);
}

static json_t *describe_result(int i, const struct bound_result *r, size_t n)
{
    const bool any = r->applies && r->outputs;
    return json_pack(
        "{s:s, s:s, s:s, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
        "s:o, s:o, s:o, s:s}",
        "bound", bounds[i].name, "kind", bound_kinds[bounds[i].kind], "of",
        bounds[i].underflow ? "underflow" : "error", "applies", (int)r->applies, "why",
        r->applies ? json_null() : json_string(r->why), "limit",
        number_or_null(r, r->limit), "limit_max",
        any ? json_number(r->limit_most) : json_null(), "limit_ulp",
        number_or_null(r, r->limit_ulp), "observed",
        any ? json_number(r->observed) : json_null(), "ratio",
        any ? json_number(r->ratio) : json_null(), "tightness",
        number_or_null(r, r->tightness), "outputs", json_count(r->outputs), "looked",
        json_count(r->looked), "violations", json_count(r->violations), "worst",
        any ? json_pack("[o, o]", json_count(r->worst / n), json_count(r->worst % n))
            : json_null(),
        "worst_error", any ? json_number(r->worst_error) : json_null(), "worst_limit",
        any ? json_number(r->worst_limit) : json_null(), "verdict", verdict_of(r, n),
        "source", bounds[i].source);
}

/* The row of a bound, with what it is of. */
static void print_result(struct context *x, const struct setup *s, int i,
                         const struct bound_result *r)
{
    json_t *row = describe_result(i, r, s->b.cols);
    setup_describe(row, &s->gemm, &s->plan);
    json_object_update_new(
        row,
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "m", json_count(s->a.rows), "n",
                  json_count(s->b.cols), "k", json_count(s->a.cols), "input_a",
                  json_text(s->input_a), "input_b", json_text(s->input_b), "seed",
                  json_seed(x->seed), "d", d_path ? json_text(d_path) : json_null()));
    emit_row(&x->emitter, row);
}

/* --- work ------------------------------------------------------------------------- */

static int report(struct context *x, const struct setup *s, struct judge *j)
{
    struct bound_result results[BOUNDS];
    struct bound_problem problem;
    struct fault f;
    int status = EXIT_GOOD;
    if (bound_problem_make(&problem, &s->gemm, &s->plan, &j->comparison, d_path, &f) !=
            BITCUT_OK ||
        bound_run(results, &problem, samples, x->threads, &x->progress, &f) != BITCUT_OK)
        return fail("bound", &f);
    for (int i = 0; i < BOUNDS; i++) print_result(x, s, i, &results[i]);
    for (int i = 0; i < BOUNDS; i++)
        if (bounds[i].kind == BOUND_RIGOROUS && results[i].violations)
            status = EXIT_FOUND;
    return status;
}

static int judge_d(struct context *x, const struct setup *s, const struct matrix *d)
{
    const struct exact_update update = { s->gemm.alpha, s->gemm.beta, s->c.at };
    const struct gemm_options how = context_options(x);
    struct judge j;
    struct fault f;
    if (judge_init(&j, &references[0], &s->a, &s->b, &update, &how, &f) != BITCUT_OK)
        return fail("bound", &f);
    j.comparison.d = d->at;
    const int status = report(x, s, &j);
    judge_clear(&j);
    return status;
}

/* The emulated D, or that of the file. */
static int make_d(struct matrix *d, const struct setup *s, const struct context *x)
{
    if (!d_path) return setup_run(d, s, x);
    const int status = setup_read(d, "-d", d_path);
    return status == EXIT_GOOD ? setup_check_shape("D", d, s->a.rows, s->b.cols) : status;
}

static int run(struct context *x)
{
    struct setup s = { 0 };
    struct matrix d = { 0 };
    x->emitter.columns = columns;
    int status = setup_gemm(&s);
    if (status == EXIT_GOOD) status = operands_make(&s, x);
    if (status == EXIT_GOOD) status = make_d(&d, &s, x);
    if (status == EXIT_GOOD) status = judge_d(x, &s, &d);
    matrix_clear(&d);
    setup_clear(&s);
    return status;
}

const struct command command_bound = {
    .name = "bound",
    .what = "Say what a GEMM may err by, by every bound, beside what it does",
    .run = run,
    .own = options,
    .operands = "",
};
