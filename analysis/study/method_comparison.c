/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/study/method_comparison.h"

#include "lib/base/threads.h"
#include "lib/input/source.h"

#include <string.h>

const char *const method_comparison_references[] = {
    [REFERENCE_EXACT] = "exact", [REFERENCE_FP32] = "fp32"
};

static enum bitcut_status make(struct matrix *m, const char *input, enum input_role role,
                               size_t rows, size_t cols, const struct study_point *p,
                               struct fault *f)
{
    struct input in;
    const enum bitcut_status status = input_parse(&in, input, f);
    if (status != BITCUT_OK) return status;
    return source_generate(m, &in, role, rows, cols, p->seed, p->threads, f);
}

static enum bitcut_status add_judge(struct method_comparison *c, int reference,
                                    struct fault *f)
{
    const struct gemm_options options = { .threads = c->point->threads,
                                          .progress = c->point->progress,
                                          .offload = c->point->offload };
    const struct reference *row =
        table_find(TABLE(references), method_comparison_references[reference]);
    const enum bitcut_status status =
        judge_init(&c->judge[reference], row, &c->a, &c->b, NULL, &options, f);
    c->judged[reference] = status == BITCUT_OK;
    return status;
}

enum bitcut_status method_comparison_init(struct method_comparison *c,
                                          const struct comparison_problem *of,
                                          unsigned by, const struct study_point *p,
                                          struct fault *f)
{
    *c = (struct method_comparison){ .point = p };
    enum bitcut_status status = make(&c->a, of->a, INPUT_A, of->m, of->k, p, f);
    if (status == BITCUT_OK) status = make(&c->b, of->b, INPUT_B, of->k, of->n, p, f);
    if (status == BITCUT_OK) status = matrix_init(&c->d, of->m, of->n, f);
    for (int r = 0; r < REFERENCES_TOLD && status == BITCUT_OK; r++)
        if (by >> r & 1) status = add_judge(c, r, f);
    return status;
}

void method_comparison_clear(struct method_comparison *c)
{
    for (int i = 0; i < REFERENCES_TOLD; i++)
        if (c->judged[i]) judge_clear(&c->judge[i]);
    gemm_parts_clear(&c->parts);
    matrix_clear(&c->d);
    matrix_clear(&c->b);
    matrix_clear(&c->a);
}

const struct bitcut_unit *entrant_unit(const struct entrant *e)
{
    const struct bitcut_recipe *recipe = &recipes[e->recipe];
    const struct bitcut_split *split = e->split ? e->split : recipe->split;
    return unit_find(e->unit, split ? split->part[0].format : &formats[FORMAT_F16]);
}

static struct bitcut_gemm gemm_of_entrant(const struct entrant *e)
{
    struct bitcut_gemm g = gemm_of(&recipes[e->recipe], entrant_unit(e));
    g.split_a = g.split_b = e->split;
    if (e->order) g.order = *e->order;
    g.equilibrate = e->equilibrate;
    if (e->promote) g.promote = e->promote == PROMOTE_NEVER ? 0 : e->promote;
    if (e->terms) g.dropped_term = e->terms > recipes[e->recipe].terms;
    return g;
}

static enum bitcut_status compute(struct method_comparison *c, const struct entrant *e,
                                  const uint32_t *a, const uint32_t *b,
                                  struct gemm_parts *parts, struct fault *f)
{
    const struct gemm_options options = { .threads = c->point->threads,
                                          .progress = c->point->progress,
                                          .parts = parts,
                                          .offload = c->point->offload };
    struct bitcut_gemm g = gemm_of_entrant(e);
    gemm_set_dense(&g, c->d.at, c->a.rows, c->b.cols, c->a.cols, a, b, NULL);
    return gemm_run(&g, &options, f);
}

/* x times 2^shift, exact.  Zeros, special values, and numbers that would not be normal
   stay. */
static uint32_t times_power(uint32_t x, int shift)
{
    const int exponent = (int)(x >> 23 & 0xff), moved = exponent + shift;
    if (exponent == 0 || exponent == 0xff || moved < 1 || moved > 0xfe) return x;
    return x + ((uint32_t)shift << 23);
}

/* A copy of m, with its last `cut` bits cleared and times 2^shift. */
static enum bitcut_status change(struct matrix *to, const struct matrix *m, int cut,
                                 int shift, int threads, struct fault *f)
{
    const enum bitcut_status status = matrix_init(to, m->rows, m->cols, f);
    if (status != BITCUT_OK) return status;
    const size_t count = m->rows * m->cols;
    (void)threads;
#pragma omp parallel for schedule(static) num_threads(threads_for(threads, count))
    for (size_t i = 0; i < count; i++)
        to->at[i] = times_power(m->at[i] & UINT32_MAX << cut, shift);
    return BITCUT_OK;
}

enum bitcut_status method_comparison_run(struct method_comparison *c,
                                         const struct entrant *e, struct fault *f)
{
    const int threads = c->point->threads;
    const size_t count = e->shift ? c->d.rows * c->d.cols : 0;
    struct matrix a = { 0 }, b = { 0 };
    if (progress_stopped(c->point->progress))
        return fault_set(f, BITCUT_UNSUPPORTED, "stopped");
    if (!e->cut && !e->shift) return compute(c, e, c->a.at, c->b.at, &c->parts, f);
    enum bitcut_status status = change(&a, &c->a, e->cut, e->shift, threads, f);
    if (status == BITCUT_OK) status = change(&b, &c->b, e->cut, e->shift, threads, f);
    if (status == BITCUT_OK) status = compute(c, e, a.at, b.at, NULL, f);
#pragma omp parallel for schedule(static) num_threads(threads_for(threads, count))
    for (size_t i = 0; i < count; i++)
        c->d.at[i] = times_power(c->d.at[i], -2 * e->shift);
    matrix_clear(&a);
    matrix_clear(&b);
    return status;
}

const struct comparison *method_comparison_comparison(struct method_comparison *c,
                                                      int reference)
{
    c->judge[reference].comparison.d = c->d.at;
    return &c->judge[reference].comparison;
}

void method_comparison_measure(double values[METRICS], struct method_comparison *c,
                               int reference, unsigned wanted)
{
    metrics_find(values, method_comparison_comparison(c, reference), wanted,
                 c->point->threads);
}
