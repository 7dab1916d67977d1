/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/gemm_report_batch.h"

#include "analysis/accuracy/gemm_data.h"
#include "analysis/cli/gemm_report_answers.h"
#include "lib/base/size.h"
#include "lib/io/json_value.h"

#include <math.h>
#include <stdlib.h>

enum { SHOWN = 16 }; /* rows of the table */

/* GEMM i of a matrix that is a batch or belongs to all, with borrowed elements. */
static struct matrix nth(const struct matrix *x, size_t i)
{
    struct matrix one = *x;
    if (x->is_batch && x->count != 1) one.at += i * x->rows * x->cols;
    one.is_batch = false;
    one.count = 1;
    return one;
}

/* The error of D of GEMM i. */
static enum bitcut_status find_error(struct gemm_report_error *to,
                                     const struct gemm_answers *a, size_t i,
                                     struct fault *f)
{
    const struct matrix *const all = a->batch.all;
    const struct gemm_options options = context_options(a->context);
    const struct gemm_data data = { .a = nth(&all[MATRIX_A], i),
                                    .b = nth(&all[MATRIX_B], i),
                                    .c = nth(&all[MATRIX_C], i) };
    struct bitcut_gemm g = gemm_of(NULL, NULL);
    struct judge j;
    double value[METRICS];
    g.alpha = a->told.alpha;
    g.beta = a->told.beta;
    g.d.format = all[MATRIX_D].format;
    const enum bitcut_status status = gemm_data_judge(&j, &data, &g, &options, f);
    if (status != BITCUT_OK) return status;
    j.comparison.d = nth(&all[MATRIX_D], i).at;
    metrics_find(value, &j.comparison,
                 1u << METRIC_BACKWARD_MAX | 1u << METRIC_RELRES | 1u << METRIC_WRONG,
                 options.threads);
    judge_clear(&j);
    *to = (struct gemm_report_error){ .gemm = i,
                                      .wrong = (size_t)value[METRIC_WRONG],
                                      .error = value[METRIC_BACKWARD_MAX],
                                      .relres = value[METRIC_RELRES] };
    return BITCUT_OK;
}

/* Wrong outputs first, then the largest error, NaN above all numbers. */
static int compare(const void *x, const void *y)
{
    const struct gemm_report_error *const p = x, *const q = y;
    const double a = isnan(p->error) ? (double)INFINITY : p->error,
                 b = isnan(q->error) ? (double)INFINITY : q->error;
    if (p->wrong != q->wrong) return p->wrong > q->wrong ? -1 : 1;
    if (a != b) return a > b ? -1 : 1;
    return p->gemm < q->gemm ? -1 : p->gemm > q->gemm;
}

static enum bitcut_status find_errors(struct gemm_answers *a, struct fault *f)
{
    struct gemm_report_batch *const x = &a->batch;
    enum bitcut_status status = BITCUT_OK;
    x->of = memory_allocate(x->count, sizeof *x->of);
    if (!x->of) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for a batch");
    for (size_t i = 0; i < x->count && status == BITCUT_OK; i++)
        status = find_error(&x->of[i], a, i, f);
    if (status == BITCUT_OK) qsort(x->of, x->count, sizeof *x->of, compare);
    return status;
}

/* Give a the matrices of GEMM i. */
static enum bitcut_status select_gemm(struct gemm_answers *a, size_t i, struct fault *f)
{
    struct matrix *const to[MATRICES] = { &a->s.a, &a->s.b, &a->s.c, &a->d };
    for (int m = 0; m < MATRICES; m++) {
        const struct matrix one = nth(&a->batch.all[m], i);
        if (!matrix_copy(to[m], &one))
            return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for a batch");
        to[m]->format = one.format;
    }
    return BITCUT_OK;
}

static int check(const struct gemm_answers *a)
{
    const struct setup_options *const o = &a->o->setup;
    const struct setup *const s = &a->s;
    if (!a->o->d) return complain("-a, -b", "have a batch: -d or --index is required");
    if (epilogue_options_given(&o->epilogue) || matrix_is_sparse(&o->files))
        return complain("--index", "is required for a batch with more than A, B, C, alpha "
                                   "and beta");
    const int status = setup_check_pair(&s->a, &s->b);
    return status == EXIT_GOOD ? setup_check_shape("D", &a->d, s->a.rows, s->b.cols)
                               : status;
}

/* Move the matrices to the batch, and select a GEMM. */
static int take_all(struct gemm_answers *a, size_t count)
{
    struct gemm_report_batch *const x = &a->batch;
    struct matrix *const from[MATRICES] = { &a->s.a, &a->s.b, &a->s.c, &a->d };
    struct fault f;
    int status = count ? check(a) : complain("-a, -b", "have no GEMMs");
    if (status == EXIT_GOOD && a->s.c.at)
        status = setup_expand_c(&a->s.c, a->s.a.rows, a->s.b.cols);
    if (status != EXIT_GOOD) return status;
    x->count = count;
    for (int m = 0; m < MATRICES; m++) {
        x->all[m] = *from[m];
        *from[m] = (struct matrix){ .at = NULL };
    }
    enum bitcut_status made = find_errors(a, &f);
    if (made == BITCUT_OK) made = select_gemm(a, gemm_report_batch_shown(x), &f);
    return made == BITCUT_OK ? EXIT_GOOD : fail("report", &f);
}

int gemm_report_batch_take(struct gemm_answers *a)
{
    const struct matrix_options *const o = &a->o->setup.files;
    struct matrix *const of[MATRICES] = { &a->s.a, &a->s.b, &a->s.c, &a->d };
    bool is_batch;
    size_t count;
    const int status = matrix_batch(&is_batch, &count, of, o);
    if (status != EXIT_GOOD) return status;
    for (int i = 0; o->index != SIZE_MAX && i < 2; i++)
        if (a->original[i].at)
            matrix_select(&a->original[i], a->original[i].count == 1 ? 0 : o->index);
    return is_batch ? take_all(a, count) : EXIT_GOOD;
}

void gemm_report_batch_clear(struct gemm_report_batch *x)
{
    for (int m = 0; m < MATRICES; m++) matrix_clear(&x->all[m]);
    free(x->of);
    *x = (struct gemm_report_batch){ .count = 0 };
}

void gemm_report_batch_rows(json_t *to, const struct gemm_answers *a)
{
    for (size_t i = 0; i < smaller(a->batch.count, SHOWN); i++) {
        const struct gemm_report_error *const x = &a->batch.of[i];
        json_array_append_new(to, json_pack("{s:o, s:o, s:o, s:o}", "gemm",
                                            json_count(x->gemm), "error",
                                            json_number(x->error), "relres",
                                            json_number(x->relres), "wrong",
                                            json_count(x->wrong)));
    }
}
