/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/sampling/advise_try.h"

#include "analysis/accuracy/bound.h"
#include "analysis/accuracy/gemm_data.h"
#include "analysis/accuracy/short_result.h"
#include "lib/base/size.h"
#include "lib/number/equilibrate.h"
#include "lib/number/fma.h"
#include "lib/number/hostfp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PRODUCTS = 1 << 20, /* of A and B in the first sample */
    CHECKS = 4,         /* factor for the second sample */
    PAIRS = 16          /* more than that share their samples */
};

/* --- samples ---------------------------------------------------------------------- */

static enum bitcut_status draw(struct norm_sample *to, const struct advise_problem *q,
                               size_t i, int times, const struct advise_samples *s,
                               struct fault *f)
{
    const struct gemm_data *const x = &q->of[i];
    const double share = q->pairs > PAIRS ? (double)PAIRS / (double)q->pairs : 1;
    size_t rows, cols;
    gemm_data_block(&rows, &cols, x->a.rows, x->b.cols, x->a.cols,
                    share * PRODUCTS * times);
    if (times > 1 && rows * cols < GEMM_DATA_OUTPUTS_MIN * (size_t)times) {
        rows *= 2;
        cols *= 2;
    }
    return norm_sample_draw(to, x, q->gemm, rows, cols, q->metric->even,
                            q->seed + (times > 1), s->threads, s->progress, f);
}

/* The factor of an element of A or B if elements are multiplied before the split; 1. */
static uint32_t factor_of(const struct gemm_data *x, const struct bitcut_gemm *g,
                          bool is_b, size_t i, size_t j)
{
    if (!g || g->scaling != BITCUT_SCALING_OPERAND) return F32_ONE;
    const struct matrix *const factors = is_b ? &x->scale_b : &x->scale_a;
    const size_t depth = is_b ? x->depth_b : x->depth_a, k = is_b ? i : j,
                 block = depth ? k / depth : 0;
    if (!factors->at) return F32_ONE;
    return factors->at[is_b ? block * factors->cols + j : i * factors->cols + block];
}

static uint32_t largest_of(const struct gemm_data *from, const struct advise_problem *q,
                           bool is_b)
{
    const struct matrix *const x = is_b ? &from->b : &from->a;
    uint32_t largest = q->largest[is_b];
    struct hostfp mode;
    hostfp_enter(&mode);
    for (size_t i = 0; i < x->rows; i++)
        for (size_t j = 0; j < x->cols; j++)
            largest = equilibrate_larger(
                largest, f32_multiply(x->at[i * x->cols + j],
                                      factor_of(from, q->gemm, is_b, i, j)));
    hostfp_leave(&mode);
    return largest;
}

static size_t quantizer_count(void)
{
    size_t count = 0;
    while (quantizers[count].name) count++;
    return count;
}

static void clear_one(struct advise_sample *s)
{
    for (size_t i = 0; s->operand && i < 2 * quantizer_count(); i++)
        advise_operand_clear(&s->operand[i]);
    free(s->operand);
    for (int i = 0; i < 4; i++) matrix_clear(&s->whole[i / 2][i % 2]);
    norm_sample_clear(&s->first);
    norm_sample_clear(&s->second);
    free(s->d);
    *s = (struct advise_sample){ .d = NULL };
}

/* The elements of both samples with their zero points. */
static enum bitcut_status add_zeros(struct advise_sample *s,
                                    const struct advise_problem *q, struct fault *f)
{
    for (int i = 0; i < 4; i++) {
        const struct gemm_data *const data = i / 2 ? &s->second.data : &s->first.data;
        struct matrix *const to = &s->whole[i / 2][i % 2];
        const int32_t zero = advise_zero(q, i % 2);
        if (!zero) continue;
        if (!matrix_copy(to, i % 2 ? &data->b : &data->a))
            return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for samples");
        matrix_subtract(to, -zero);
    }
    return BITCUT_OK;
}

static enum bitcut_status draw_one(struct advise_sample *to,
                                   const struct advise_problem *q, size_t i,
                                   const struct advise_samples *all, struct fault *f)
{
    const struct gemm_data *const x = &q->of[i];
    struct advise_sample s = { .metric = q->metric,
                               .largest = { largest_of(x, q, false),
                                            largest_of(x, q, true) },
                               .outputs = (double)x->a.rows * (double)x->b.cols,
                               .a = &x->a,
                               .b = &x->b };
    enum bitcut_status status = draw(&s.first, q, i, 1, all, f);
    if (status != BITCUT_OK) return status;
    status = draw(&s.second, q, i, CHECKS, all, f);
    if (status == BITCUT_OK) {
        const size_t first = s.first.data.a.rows * s.first.data.b.cols,
                     second = s.second.data.a.rows * s.second.data.b.cols;
        s.d = memory_allocate(first > second ? first : second, sizeof *s.d);
        s.operand = calloc(2 * quantizer_count(), sizeof *s.operand);
        if (!s.d || !s.operand)
            status = fault_set(f, BITCUT_NO_MEMORY, "not enough memory for results");
    }
    if (status == BITCUT_OK) status = add_zeros(&s, q, f);
    if (status == BITCUT_OK) *to = s;
    else clear_one(&s);
    return status;
}

enum bitcut_status advise_samples_draw(struct advise_samples *to,
                                       const struct advise_problem *q, int threads,
                                       const struct progress *progress, struct fault *f)
{
    struct advise_samples s = { .threads = threads, .progress = progress };
    enum bitcut_status status = BITCUT_OK;
    s.of = memory_allocate(q->pairs, sizeof *s.of);
    if (!s.of) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for samples");
    for (; s.count < q->pairs && status == BITCUT_OK; s.count += status == BITCUT_OK)
        status = draw_one(&s.of[s.count], q, s.count, &s, f);
    if (status == BITCUT_OK) *to = s;
    else advise_samples_clear(&s);
    return status;
}

void advise_samples_clear(struct advise_samples *s)
{
    for (size_t i = 0; i < s->count; i++) clear_one(&s->of[i]);
    free(s->of);
    *s = (struct advise_samples){ .of = NULL };
}

/* --- one trial -------------------------------------------------------------------- */

/* Whether no part overflows, in any row or column, including those outside the sample.
   Quantized elements are within the range of their format, and so are integers. */
static bool parts_fit(const struct advise_trial *t, const struct advise_sample *s)
{
    return gemm_equilibrates(&t->gemm) || t->plan.integer ||
           ((t->quantizer[0] || equilibrate_spares(&t->plan.split_a, s->largest[0])) &&
            (t->quantizer[1] || equilibrate_spares(&t->plan.split_b, s->largest[1])));
}

/* The operands of a trial on a sample, which stay the sample's, and the GEMM's alpha. */
static enum bitcut_status take_operands(struct gemm_data *to, struct bitcut_gemm *g,
                                        const struct advise_trial *t,
                                        const struct advise_sample *s,
                                        const struct norm_sample *w, struct fault *f)
{
    const struct norm_sample *const samples[] = { &s->first, &s->second };
    *to = w->data;
    for (int side = 0; side < 2; side++) {
        const struct bitcut_quantizer *const q = t->quantizer[side];
        const struct matrix *const whole = &s->whole[w == &s->second][side];
        if (!q && t->plan.integer && whole->at) *(side ? &to->b : &to->a) = *whole;
        if (!q) continue;
        struct advise_operand *const x =
            &s->operand[(size_t)side * quantizer_count() + (size_t)(q - quantizers)];
        const enum bitcut_status status =
            advise_operand_make(x, q, side ? s->b : s->a, side == 1,
                                (const struct norm_sample **)(uintptr_t)samples, f);
        if (status != BITCUT_OK) return status;
        struct matrix *const m = side ? &to->b : &to->a;
        uint8_t *const kept = m->kept;
        *m = x->element[w == &s->second];
        m->kept = kept;
        *(side ? &to->scale_b : &to->scale_a) = x->factor[w == &s->second];
        *(side ? &to->depth_b : &to->depth_a) = q->depth;
        g->alpha = f32_multiply(g->alpha, x->matrix_scale);
    }
    return BITCUT_OK;
}

/* D of a trial on a sample, as FP32 encodings. */
static enum bitcut_status compute(const struct advise_trial *t,
                                  const struct advise_sample *s,
                                  const struct norm_sample *w,
                                  const struct advise_samples *all, struct fault *f)
{
    const struct gemm_options options = { .threads = all->threads,
                                          .progress = all->progress,
                                          .widened = true };
    struct bitcut_gemm g = t->gemm;
    struct gemm_data data;
    const enum bitcut_status status = take_operands(&data, &g, t, s, w, f);
    if (status != BITCUT_OK) return status;
    gemm_data_set(&g, &data, s->d);
    g.d.format = t->gemm.d.format;
    return gemm_run_plan(&g, &t->plan, &options, f);
}

/* The error of s->d, in the metric. */
static struct norm_sample_error error_of(const struct advise_sample *s,
                                         const struct norm_sample *w)
{
    struct hostfp mode;
    hostfp_enter(&mode);
    const struct norm_sample_error error = s->metric->find(w, s->d, s->outputs);
    hostfp_leave(&mode);
    return error;
}

static enum bitcut_status run(struct norm_sample_error *to, const struct advise_trial *t,
                              const struct advise_sample *s, const struct norm_sample *w,
                              const struct advise_samples *all, struct fault *f)
{
    const enum bitcut_status status = compute(t, s, w, all, f);
    if (status != BITCUT_OK) return status;
    *to = error_of(s, w);
    if (!parts_fit(t, s)) to->value = to->high = (double)INFINITY;
    return BITCUT_OK;
}

/* What quantization alone makes of the first sample: the exact product of the quantized
   operands takes the place of D. */
static enum bitcut_status find_quantization(struct advise_trial *t,
                                            const struct advise_sample *s,
                                            const struct advise_samples *all,
                                            struct fault *f)
{
    const struct gemm_options options = { .threads = all->threads,
                                          .progress = all->progress };
    struct bitcut_gemm g = t->gemm;
    struct gemm_data data;
    struct judge j;
    enum bitcut_status status = take_operands(&data, &g, t, s, &s->first, f);
    g.d.format = NULL;
    if (status == BITCUT_OK) {
        struct bitcut_gemm own = g;
        gemm_data_set(&own, &data, NULL);
        status = gemm_data_judge(&j, &data, &own, &options, f);
    }
    if (status != BITCUT_OK) return status;
    memcpy(s->d, j.comparison.reference32,
           j.comparison.m * j.comparison.n * sizeof *s->d);
    judge_clear(&j);
    t->advice.quantization = fmax(t->advice.quantization, error_of(s, &s->first).value);
    return BITCUT_OK;
}

/* What the rounding to a short D alone makes: the rounded exact product takes its place.
 */
static void find_rounding(struct advise_trial *t, const struct advise_sample *s)
{
    const struct comparison *const x = &s->first.judge.comparison;
    struct hostfp mode;
    hostfp_enter(&mode);
    for (size_t i = 0; i < x->m * x->n; i++)
        s->d[i] = result_rounded(t->gemm.d.format, double_of_bits(x->reference64[i]));
    hostfp_leave(&mode);
    t->advice.rounding = fmax(t->advice.rounding, error_of(s, &s->first).value);
}

enum bitcut_status advise_try(struct advise_trial *t, const struct advise_samples *s,
                              struct fault *f)
{
    struct bitcut_advice *const to = &t->advice;
    to->checked = to->bound = (double)NAN;
    t->advice.quantization = t->advice.rounding = (double)NAN;
    to->error = to->high = 0;
    for (size_t i = 0; i < s->count; i++) {
        struct norm_sample_error one;
        const enum bitcut_status status = run(&one, t, &s->of[i], &s->of[i].first, s, f);
        if (status != BITCUT_OK) return status;
        to->error = larger_double(to->error, one.value);
        to->high = larger_double(to->high, one.high);
    }
    return BITCUT_OK;
}

/* The limits of all outputs of a sample, whose comparison is x. */
static enum bitcut_status find_limits(double *to, const struct advise_trial *t,
                                      const struct norm_sample_metric *metric,
                                      const struct norm_sample *w,
                                      const struct comparison *x,
                                      const struct advise_samples *all, struct fault *f)
{
    const struct bound_row *const row = &bounds[BOUND_ALIGNED];
    struct bound_problem problem;
    char why[BOUND_WHY_MAX];
    enum bitcut_status status =
        bound_problem_make(&problem, &t->gemm, &t->plan, x, true, f);
    if (status != BITCUT_OK || !bound_applies(why, row, &problem)) return status;
    double *const limit = memory_allocate(x->m * x->n, sizeof *limit);
    if (!limit) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for limits");
    status = bound_limits(limit, NULL, row, &problem, all->threads, all->progress, f);
    if (status == BITCUT_OK) {
        struct hostfp mode;
        hostfp_enter(&mode);
        *to = metric->limit(w, limit);
        hostfp_leave(&mode);
    }
    free(limit);
    return status;
}

/* The worst-case error, in *to; NaN: unknown.  Sums of integers have steps even where
   other GEMMs have none: their conversion to FP32 comes before alpha. */
static enum bitcut_status find_bound(double *to, const struct advise_trial *t,
                                     const struct advise_sample *s,
                                     const struct norm_sample *w,
                                     const struct advise_samples *all, struct fault *f)
{
    const struct gemm_options options = { .threads = all->threads,
                                          .progress = all->progress };
    struct bitcut_gemm g = t->gemm;
    struct gemm_data data;
    struct judge j;
    *to = (double)NAN;
    if (advise_is_quantized(t) || result_is_short(t->gemm.d.format)) return BITCUT_OK;
    if (!t->plan.integer)
        return find_limits(to, t, s->metric, w, &w->judge.comparison, all, f);
    enum bitcut_status status = take_operands(&data, &g, t, s, w, f);
    if (status == BITCUT_OK) status = gemm_data_judge(&j, &data, &g, &options, f);
    if (status != BITCUT_OK) return status;
    status = find_limits(to, t, s->metric, w, &j.comparison, all, f);
    judge_clear(&j);
    return status;
}

/* For one product; *to has the earlier ones. */
static enum bitcut_status check(struct advise_trial *t, const struct advise_sample *s,
                                const struct advise_samples *all, struct fault *f)
{
    struct bitcut_advice *const to = &t->advice;
    struct norm_sample_error second;
    double bound;
    enum bitcut_status status = run(&second, t, s, &s->second, all, f);
    if (status != BITCUT_OK) return status;
    status = find_bound(&bound, t, s, &s->second, all, f);
    to->checked = larger_double(to->checked, second.value);
    to->high = larger_double(to->high, second.value);
    to->bound = isnan(bound) ? bound : larger_double(to->bound, bound);
    return status;
}

enum bitcut_status advise_check(struct advise_trial *t, const struct advise_samples *s,
                                struct fault *f)
{
    enum bitcut_status status = BITCUT_OK;
    t->advice.checked = t->advice.bound = 0;
    for (size_t i = 0; i < s->count && status == BITCUT_OK; i++) {
        status = check(t, &s->of[i], s, f);
        if (status == BITCUT_OK && advise_is_quantized(t))
            status = find_quantization(t, &s->of[i], s, f);
        if (status == BITCUT_OK && result_is_short(t->gemm.d.format))
            find_rounding(t, &s->of[i]);
    }
    return status;
}
