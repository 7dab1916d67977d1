/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/integer_command.h"

#include "analysis/accuracy/integer_answer.h"
#include "analysis/cli/row_value.h"
#include "analysis/sampling/judged.h"
#include "lib/base/clock.h"
#include "lib/io/json_record.h"

/* The GEMM of s with its matrices, and D in *d. */
static int compute(struct encoded_matrix *d, struct bitcut_gemm *g, const struct setup *s,
                   const struct context *x)
{
    const int status = setup_run_encoded(d, s, x);
    if (status != EXIT_GOOD) return status;
    *g = setup_gemms(s, d->at);
    g->d.format = d->format;
    return EXIT_GOOD;
}

static struct integer_answer answer_of(const struct setup *s, const struct context *x)
{
    return (struct integer_answer){ .gemm = setup_description(s, x, true) };
}

bool integer_gemm_is_measured(const struct bitcut_gemm *g)
{
    struct gemm_plan plan;
    return gemm_plan_on_values(&plan, g, NULL) == BITCUT_OK;
}

/* The values of an encoded matrix, which stays; none if there is no matrix. */
static enum bitcut_status take_values(struct matrix *to,
                                      const struct encoded_matrix *from, struct fault *f)
{
    struct encoded_matrix copy;
    *to = (struct matrix){ .at = NULL };
    if (!from->at) return BITCUT_OK;
    const enum bitcut_status status = encoded_copy(&copy, from, f);
    return status == BITCUT_OK ? encoded_f32(to, &copy, f) : status;
}

/* D of FP32 values, and what is reported about it. */
struct measured {
    struct gemm_data data;
    struct matrix values;
    struct judged judged;
    struct budget_problem problem;
    struct budget_answer budget;
};

static void measured_clear(struct measured *m)
{
    budget_answer_clear(&m->budget);
    matrix_clear(&m->values);
    matrix_clear(&m->data.c);
    gemm_data_clear_extra(&m->data);
}

/* Compare D of g with the exact result if `wanted`, and find its budget, as gemm does on
   other units.  *to has to be cleared for any status. */
static int measure(struct measured *to, const struct setup *s,
                   const struct bitcut_gemm *g, const struct encoded_matrix *d,
                   bool wanted, const struct budget_options *budget,
                   const struct context *x)
{
    const struct gemm_options how = context_options(x);
    struct fault f;
    to->data.a = s->a, to->data.b = s->b;
    enum bitcut_status status = gemm_data_take_extra(&to->data, g, 0, x->threads, &f);
    if (status == BITCUT_OK) status = take_values(&to->data.c, &s->integer_c, &f);
    if (status == BITCUT_OK) status = take_values(&to->values, d, &f);
    if (status == BITCUT_OK && wanted)
        status = judged_find(&to->judged, &s->gemm, &to->data, &to->values,
                             &references[0], x->seed, &how, &f);
    if (status != BITCUT_OK) return fail("reference", &f);
    return budget_ask(&to->budget, &to->problem, budget, s, &to->data, &to->values, x);
}

/* Compare D with the exact result, and print everything.  Takes over the row. */
static int answer(struct context *x, const struct setup *s, const struct bitcut_gemm *g,
                  const struct encoded_matrix *d, bool wanted,
                  const struct budget_options *budget, json_t *row)
{
    struct integer_answer a = answer_of(s, x);
    struct measured m = { .values = { .at = NULL } };
    const bool measures =
        integer_gemm_is_measured(&s->gemm) && (wanted || budget_is_asked(budget));
    struct fault f;
    int status = EXIT_GOOD;
    if (integer_answer_compare(&a, g, &f) != BITCUT_OK) status = fail("reference", &f);
    else if (measures) status = measure(&m, s, g, d, wanted, budget, x);
    if (status == EXIT_GOOD) {
        const struct gemm_answer of = { .gemm = a.gemm,
                                        .judged = wanted ? &m.judged : NULL,
                                        .budget = &m.budget };
        record_json(row, integer_gemm_fields, &a);
        if (measures && wanted) record_json(row, judged_fields, &m.judged);
        if (measures) budget_json(row, &m.budget);
        if (measures) emit_answer(&x->emitter, row, judged_lines, &of);
        else emit_answer(&x->emitter, row, integer_gemm_lines, &a);
    } else json_decref(row);
    measured_clear(&m);
    return status;
}

int integer_gemm(struct context *x, const struct setup *s, const char *path, bool wanted,
                 const struct budget_options *budget, json_t *row)
{
    const double start = seconds_now();
    struct encoded_matrix d;
    struct bitcut_gemm g;
    struct fault f;
    int status = compute(&d, &g, s, x);
    if (status != EXIT_GOOD) {
        json_decref(row);
        return status;
    }
    const double seconds = seconds_now() - start;
    json_object_set_new(row, "seconds", json_number(seconds));
    json_object_set_new(
        row, "products_per_second",
        json_number((double)g.m * (double)g.n * (double)gemm_products(&g) / seconds));
    if (path && encoded_write(path, &d, &f) != BITCUT_OK) {
        status = fail(path, &f);
        json_decref(row);
    } else status = answer(x, s, &g, &d, wanted, budget, row);
    encoded_clear(&d);
    return status;
}

static const struct record_line budget_lines[] = { BUDGET_LINES, { 0 } };

/* Print how the given D compares with d, D of g, and its budget. */
static int answer_verify(struct context *x, const struct setup *s,
                         const struct bitcut_gemm *g, const struct encoded_matrix *given,
                         const struct budget_options *budget)
{
    struct integer_answer a = answer_of(s, x);
    struct measured m = { .values = { .at = NULL } };
    const bool measures = budget_is_asked(budget);
    const struct bitcut_matrix view = encoded_view(given);
    const struct gemm_answer of = { .gemm = a.gemm, .budget = &m.budget };
    int status = EXIT_GOOD;
    integer_answer_verify(&a, g, &view);
    if (measures && !integer_gemm_is_measured(&s->gemm))
        status = complain("--budget", "does not apply to integers, which have no errors");
    else if (measures) status = measure(&m, s, g, given, false, budget, x);
    if (status == EXIT_GOOD) {
        json_t *const row = json_object();
        setup_describe(row, &s->gemm, &s->plan);
        record_json(row, integer_verify_fields, &a);
        if (measures) budget_json(row, &m.budget);
        emit_answer(&x->emitter, row, integer_verify_lines, &a);
        if (measures) emit_summary(&x->emitter, budget_lines, &of);
        status = a.differ ? EXIT_FOUND : EXIT_GOOD;
    }
    measured_clear(&m);
    return status;
}

int integer_verify(struct context *x, struct setup *s, const char *path,
                   const struct budget_options *budget)
{
    struct encoded_matrix d, given;
    struct bitcut_gemm g;
    struct fault f;
    int status = matrix_read(&given, "-d", path, &s->options->files);
    if (status != EXIT_GOOD) return status;
    if (format_is_integer(given.format) || s->gemm.d.format) s->gemm.d.format = given.format;
    if (given.is_batch)
        status = complain("-d", "must have two dimensions on a unit of integers");
    else if (given.rows != s->a.rows || given.cols != s->b.cols) {
        fault_set(&f, BITCUT_BAD_ARGUMENT, "D is %zu x %zu; expected %zu x %zu", given.rows,
                  given.cols, s->a.rows, s->b.cols);
        status = fail("matrices", &f);
    }
    if (status == EXIT_GOOD) status = setup_plan(s);
    if (status == EXIT_GOOD) status = compute(&d, &g, s, x);
    if (status == EXIT_GOOD) {
        status = answer_verify(x, s, &g, &given, budget);
        encoded_clear(&d);
    }
    encoded_clear(&given);
    return status;
}
