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

/* Whether D is compared with real numbers: it has no integers, and the steps first make
   FP32 of the sums. */
static bool is_measured(const struct bitcut_gemm *g)
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

/* Compare D of g with the exact result, as gemm does on other units. */
static enum bitcut_status measure(struct judged *to, const struct setup *s,
                                  const struct bitcut_gemm *g,
                                  const struct encoded_matrix *d, const struct context *x,
                                  struct fault *f)
{
    const struct gemm_options how = context_options(x);
    struct gemm_data data = { .a = s->a, .b = s->b };
    struct matrix values = { .at = NULL };
    enum bitcut_status status = gemm_data_take_extra(&data, g, 0, x->threads, f);
    if (status != BITCUT_OK) return status;
    status = take_values(&data.c, &s->integer_c, f);
    if (status == BITCUT_OK) status = take_values(&values, d, f);
    if (status == BITCUT_OK)
        status =
            judged_find(to, &s->gemm, &data, &values, &references[0], x->seed, &how, f);
    matrix_clear(&values);
    matrix_clear(&data.c);
    gemm_data_clear_extra(&data);
    return status;
}

/* Compare D with the exact result, and print everything.  Takes over the row. */
static int answer(struct context *x, const struct setup *s, const struct bitcut_gemm *g,
                  const struct encoded_matrix *d, bool wanted, json_t *row)
{
    struct integer_answer a = answer_of(s, x);
    struct judged judged;
    const struct gemm_answer measured = { .gemm = a.gemm, .judged = &judged };
    const bool measures = wanted && is_measured(&s->gemm);
    struct fault f;
    enum bitcut_status status = integer_answer_compare(&a, g, &f);
    if (status == BITCUT_OK && measures) status = measure(&judged, s, g, d, x, &f);
    if (status != BITCUT_OK) {
        json_decref(row);
        return fail("reference", &f);
    }
    record_json(row, integer_gemm_fields, &a);
    if (measures) record_json(row, judged_fields, &judged);
    if (measures) emit_answer(&x->emitter, row, judged_lines, &measured);
    else emit_answer(&x->emitter, row, integer_gemm_lines, &a);
    return EXIT_GOOD;
}

int integer_gemm(struct context *x, const struct setup *s, const char *path, bool wanted,
                 json_t *row)
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
    } else status = answer(x, s, &g, &d, wanted, row);
    encoded_clear(&d);
    return status;
}

int integer_verify(struct context *x, struct setup *s, const char *path)
{
    struct integer_answer a;
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
        const struct bitcut_matrix view = encoded_view(&given);
        json_t *const row = json_object();
        a = answer_of(s, x);
        integer_answer_verify(&a, &g, &view);
        setup_describe(row, &s->gemm, &s->plan);
        record_json(row, integer_verify_fields, &a);
        emit_answer(&x->emitter, row, integer_verify_lines, &a);
        status = a.differ ? EXIT_FOUND : EXIT_GOOD;
        encoded_clear(&d);
    }
    encoded_clear(&given);
    return status;
}
