/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/gemm_report_fp64_answers.h"

#include "lib/base/text.h"
#include "lib/gemm/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- reading ---------------------------------------------------------------------- */

int fp64_answers_read(struct fp64_answers *a)
{
    const struct gemm_report_options *const o = a->o;
    a->request = (struct fp64_request){ .fp64 = o->fp64.scheme ? &o->fp64 : NULL,
                                        .setup = &o->setup,
                                        .d = o->d };
    a->s.r = &a->request;
    if (!o->d) return complain("-d", "is required with --scheme");
    const int status = fp64_setup_make(&a->s, a->context);
    if (status == EXIT_GOOD && a->s.is_batch)
        return complain("-d", "is a batch of FP64; give --index, one GEMM of it");
    if (status == EXIT_GOOD && (!a->s.gemm.m || !a->s.gemm.n))
        return complain("-d", "has no elements");
    return status;
}

void fp64_answers_clear(struct fp64_answers *a)
{
    fp64_setup_clear(&a->s);
    fp64_outputs_clear(&a->outputs);
    free(a->advice);
    free(a->of_a);
    free(a->of_b);
}

bool fp64_answers_as_dgemm(const struct fp64_answers *a)
{
    return a->s.gemm.scheme->part == &formats[FORMAT_F64];
}

void fp64_answers_name(char *text, size_t size, const struct fp64_answers *a)
{
    const struct bitcut_gemm *const g = &a->s.gemm;
    const struct scheme_match named = { .scheme = g->scheme,
                                        .parts = a->s.parts,
                                        .slices = g->order.slices };
    scheme_match_name(text, size, &named);
}

/* --- errors ----------------------------------------------------------------------- */

/* The exact reference of all errors. */
static const struct reference *exact(void)
{
    return table_find(TABLE(references), "exact");
}

/* The errors of what a scheme gives instead of D. */
static enum bitcut_status judge_scheme(struct fp64_answer *to,
                                       const struct fp64_answers *a,
                                       const struct bitcut_gemm *like, struct fault *f)
{
    const struct gemm_options options = context_options(a->context);
    struct bitcut_gemm g = *like;
    struct encoded_matrix d;
    enum bitcut_status status = encoded_init(&d, g.m, g.n, &formats[FORMAT_F64], f);
    if (status != BITCUT_OK) return status;
    g.d = encoded_view(&d);
    struct fp64_choice by;
    status = fp64_gemm_run(&by, &g, &options, f);
    if (status == BITCUT_OK) *to = fp64_answer_of(&g, &by);
    if (status == BITCUT_OK) status = fp64_answer_judge(to, &g, exact(), &options, f);
    encoded_clear(&d);
    return status;
}

/* The errors of FP64 multiply-adds, k ascending. */
static enum bitcut_status judge_plain(struct fp64_answers *a, struct fault *f)
{
    struct bitcut_gemm g = a->s.gemm;
    g.scheme = bitcut_scheme_find("fp64");
    g.unit = fp64_unit_find(g.scheme, "fma/f64");
    g.parts = BITCUT_UNSET;
    g.order.slices = 0;
    return judge_scheme(&a->plain, a, &g, f);
}

enum bitcut_status fp64_ask_errors(struct fp64_answers *a, struct fault *f)
{
    const struct gemm_options options = context_options(a->context);
    if (a->has_errors) return BITCUT_OK;
    a->given = fp64_setup_answer(&a->s, a->context);
    a->given.seeded = false;
    enum bitcut_status status =
        fp64_outputs_judge(&a->outputs, &a->given, &a->s.gemm, exact(), &options, f);
    if (status == BITCUT_OK) status = judge_plain(a, f);
    a->has_errors = status == BITCUT_OK;
    return status;
}

enum bitcut_status fp64_ask_bits(struct fp64_answers *a, struct fault *f)
{
    const struct gemm_options options = context_options(a->context);
    struct bitcut_difference found = { .size = sizeof found };
    char why[BITCUT_TEXT_MAX];
    if (a->has_bits) return BITCUT_OK;
    enum bitcut_status status = gemm_verify_call(&found, NULL, &a->s.gemm, &options, why);
    if (status != BITCUT_OK) return fault_set(f, status, "%s", why);
    a->bits = fp64_setup_answer(&a->s, a->context);
    a->bits.seeded = false;
    a->bits.difference = found;
    if (found.differ) status = judge_scheme(&a->model, a, &a->s.gemm, f);
    a->has_model = found.differ && status == BITCUT_OK;
    a->has_bits = status == BITCUT_OK;
    return status;
}

enum bitcut_status fp64_ask_results(struct fp64_answers *a, struct fault *f)
{
    const enum bitcut_status status = fp64_ask_errors(a, f);
    return status == BITCUT_OK && !fp64_answers_as_dgemm(a) ? fp64_ask_bits(a, f)
                                                            : status;
}

enum bitcut_status fp64_ask_explanation(struct fp64_answers *a, struct fault *f)
{
    const struct gemm_options options = context_options(a->context);
    if (a->has_explanation) return BITCUT_OK;
    enum bitcut_status status = fp64_ask_errors(a, f);
    if (status == BITCUT_OK)
        status = scheme_search(&a->explanation.match, &a->s.gemm, &options, f);
    a->explanation.errors = a->given;
    a->has_explanation = status == BITCUT_OK;
    return status;
}

/* --- advice ----------------------------------------------------------------------- */

/* A matrix as FP64 values, row-major; NULL: no memory, or *finite is false. */
static double *gather(const struct bitcut_matrix *x, size_t rows, size_t cols,
                      bool *finite)
{
    const struct view v = view_of(x, 0, rows, cols, false);
    size_t count;
    double *const to =
        size_multiply(&count, rows, cols) ? memory_allocate(count, sizeof *to) : NULL;
    for (size_t i = 0; to && i < rows; i++)
        for (size_t j = 0; j < cols; j++) {
            to[i * cols + j] = view_f64(&v, i, j);
            *finite &= isfinite(to[i * cols + j]);
        }
    return to;
}

enum bitcut_status fp64_ask_advice(struct fp64_answers *a, struct fault *f)
{
    const struct bitcut_gemm *const g = &a->s.gemm;
    bool finite = true;
    if (a->advice) return BITCUT_OK;
    if (!g->k) return fault_set(f, BITCUT_UNSUPPORTED, "k is 0");
    free(a->of_a), free(a->of_b);
    a->of_a = gather(&g->a, g->m, g->k, &finite);
    a->of_b = gather(&g->b, g->k, g->n, &finite);
    struct scheme_advice *const to = malloc(sizeof *to);
    a->target[0] = a->o->setup.unit ? a->o->setup.unit : "h100";
    a->advised = (struct scheme_problem){ .a = a->of_a,
                                          .b = a->of_b,
                                          .m = g->m,
                                          .n = g->n,
                                          .k = g->k,
                                          .metric = METRIC_RELRES,
                                          .want = NAN,
                                          .target = a->target,
                                          .targets = 1,
                                          .seed = a->context->seed,
                                          .threads = a->context->threads,
                                          .progress = &a->context->progress,
                                          .input_a = a->o->setup.a,
                                          .input_b = a->o->setup.b };
    enum bitcut_status status;
    if (!a->of_a || !a->of_b || !to)
        status = fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the matrices");
    else if (!finite)
        status =
            fault_set(f, BITCUT_UNSUPPORTED, "A or B has elements that are not finite");
    else status = scheme_advice_find(to, &a->advised, f);
    if (status == BITCUT_OK) a->advice = to;
    else free(to);
    return status;
}

/* --- the output that decides ------------------------------------------------------ */

double fp64_answers_limit(const struct fp64_answers *a, size_t i)
{
    return (fp64_answers_as_dgemm(a) ? a->outputs.limit : a->outputs.bound)[i];
}

/* How far an output is from its limit; an error without a number comes first. */
static double ratio_at(const struct fp64_answers *a, size_t i)
{
    const double error = a->outputs.error[i], limit = fp64_answers_limit(a, i);
    if (isnan(error)) return INFINITY;
    return error == 0 ? 0 : isinf(limit) ? error * 0x1p-1000 : error / limit;
}

size_t fp64_answers_worst(const struct fp64_answers *a)
{
    size_t worst = 0;
    for (size_t i = 1; i < a->given.m * a->given.n; i++)
        if (ratio_at(a, i) > ratio_at(a, worst)) worst = i;
    return worst;
}
