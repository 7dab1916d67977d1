/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/integer_command.h"

#include "analysis/accuracy/integer_answer.h"
#include "analysis/cli/row_value.h"
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

int integer_gemm(struct context *x, const struct setup *s, const char *path, json_t *row)
{
    const double start = seconds_now();
    struct integer_answer a = answer_of(s, x);
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
    if (integer_answer_compare(&a, &g, &f) != BITCUT_OK) status = fail("reference", &f);
    if (status == EXIT_GOOD && path && encoded_write(path, &d, &f) != BITCUT_OK)
        status = fail(path, &f);
    if (status == EXIT_GOOD) {
        record_json(row, integer_gemm_fields, &a);
        emit_answer(&x->emitter, row, integer_gemm_lines, &a);
    } else json_decref(row);
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
