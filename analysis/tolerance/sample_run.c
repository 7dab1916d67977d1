/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/tolerance/sample_run.h"

#include "lib/bits.h"
#include "lib/hostfp.h"
#include "lib/size.h"

#include <math.h>
#include <stdlib.h>

static enum bitcut_status shuffle(struct gemm_data *to, const void *context, size_t rows,
                                  size_t cols, uint64_t run, struct fault *f)
{
    const struct shuffled_source *const s = context;
    return gemm_data_shuffle(to, s->data, rows, cols, s->seed, run + 1, false, f);
}

static enum bitcut_status pick(struct gemm_data *to, const void *context, size_t rows,
                               size_t cols, uint64_t run, struct fault *f)
{
    const struct shuffled_source *const s = context;
    return gemm_data_shuffle(to, s->data, rows, cols, s->seed, run + 1, true, f);
}

struct run_source shuffled_runs(const struct shuffled_source *from)
{
    return (struct run_source){ shuffle, pick, from };
}

void sample_run_clear(struct sample_run *r)
{
    judge_clear(&r->j);
    gemm_data_clear(&r->data);
    free(r->other32);
    free(r->other64);
    free(r->allowance);
    free(r->d);
}

/* What might underflow, of an allowance as if every element were below every limit. */
static double most_of_any(const double *any, const struct comparison *x)
{
    double most = 0;
    for (size_t i = 0; i < x->m * x->n; i++)
        if (x->magnitude[i] > 0 && isfinite(x->magnitude[i]))
            most = larger_double(most, any[i] / x->magnitude[i]);
    return most * 0x1p24;
}

/* Where words may overflow there is no bound, and so no part of it. */
enum bitcut_status sample_run_allow(struct sample_run *r, const struct bitcut_gemm *g,
                                    const struct bound_apriori *b, struct fault *f)
{
    const struct comparison *const x = &r->j.comparison;
    const bool equilibrate = gemm_equilibrates(g);
    struct bound_apriori any = *b;
    struct hostfp mode;
    any.relative = 0;
    any.from = any.normal = INFINITY;
    enum bitcut_status status = bound_apriori_limits(r->allowance, &any, equilibrate, x, f);
    if (status != BITCUT_OK) return status;
    hostfp_enter(&mode);
    r->any = most_of_any(r->allowance, x);
    hostfp_leave(&mode);
    status = bound_apriori_rest(r->allowance, b, equilibrate, x, f);
    r->bounded = status == BITCUT_OK;
    for (size_t i = 0; i < x->m * x->n && r->bounded; i++)
        r->bounded = isfinite(r->allowance[i]);
    for (size_t i = 0; i < x->m * x->n && !r->bounded; i++) r->allowance[i] = 0;
    return status;
}

/* Of output i n + j; infinite if it has no product. */
static double terms_at(const struct comparison *x, size_t i, size_t j)
{
    double sum = 0, squares = 0;
    for (size_t p = 0; p < x->k; p++) {
        const double size = fabs(value_of_float(x->a[i * x->k + p])) *
                            fabs(value_of_float(x->b[p * x->n + j]));
        sum += size;
        squares += size * size;
    }
    return squares > 0 && isfinite(sum) ? sum * (sum / squares) : (double)INFINITY;
}

/* How many equal elements would have a norm that varies as much. */
static double lead_of(const struct matrix *x)
{
    double sum = 0, squares = 0, most = 0;
    for (size_t i = 0; i < x->rows * x->cols; i++)
        most = larger_double(most, fabs(value_of_float(x->at[i])));
    for (size_t i = 0; i < x->rows * x->cols && most > 0; i++) {
        const double part = value_of_float(x->at[i]) / most;
        sum += part * part;
        squares += part * part * part * part;
    }
    return squares > 0 ? sum * (sum / squares) : (double)INFINITY;
}

static double least_lead(const struct gemm_data *p)
{
    struct hostfp mode;
    hostfp_enter(&mode);
    const double a = lead_of(&p->a), b = lead_of(&p->b);
    hostfp_leave(&mode);
    return a < b ? a : b;
}

static double least_terms(const struct comparison *x)
{
    double least = INFINITY;
    struct hostfp mode;
    hostfp_enter(&mode);
    for (size_t i = 0; i < x->m; i++)
        for (size_t j = 0; j < x->n; j++) {
            const double terms = terms_at(x, i, j);
            if (terms < least) least = terms;
        }
    hostfp_leave(&mode);
    return least;
}

enum bitcut_status sample_run_prepare(struct sample_run *to,
                                      const struct run_source *source,
                                      const struct bitcut_gemm *g,
                                      const struct bound_apriori *b, size_t rows,
                                      size_t cols, uint64_t run, struct fault *f)
{
    struct sample_run r = { .allowance =
                                memory_allocate(rows * cols, sizeof *r.allowance),
                            .d = memory_allocate(rows * cols, sizeof *r.d) };
    enum bitcut_status status =
        r.allowance && r.d
            ? source->make(&r.data, source->context, rows, cols, run, f)
            : fault_set(f, BITCUT_NO_MEMORY, "out of memory for the results");
    if (status == BITCUT_OK) status = gemm_data_judge(&r.j, &r.data, g, f);
    if (status == BITCUT_OK) status = sample_run_allow(&r, g, b, f);
    r.x = r.j.comparison;
    r.x.d = r.d;
    if (status == BITCUT_OK) r.terms = least_terms(&r.x);
    if (status == BITCUT_OK) r.lead = least_lead(&r.data);
    if (status == BITCUT_OK) *to = r;
    else sample_run_clear(&r);
    return status;
}

enum bitcut_status sample_run_make(struct sample_run *to, const struct run_source *source,
                                   const struct bitcut_gemm *g,
                                   const struct bound_apriori *b, size_t rows,
                                   size_t cols, uint64_t run, struct fault *f)
{
    struct sample_run r;
    enum bitcut_status status = sample_run_prepare(&r, source, g, b, rows, cols, run, f);
    if (status != BITCUT_OK) return status;
    status = sample_run_compute(&r, g, f);
    if (status == BITCUT_OK) *to = r;
    else sample_run_clear(&r);
    return status;
}

enum bitcut_status sample_run_compute(struct sample_run *r, const struct bitcut_gemm *g,
                                      struct fault *f)
{
    return gemm_data_run(r->d, &r->data, g, f);
}

double sample_run_rest(const struct sample_run *r)
{
    const struct comparison *const x = &r->x;
    double most = -INFINITY;
    for (size_t i = 0; i < x->m * x->n; i++) {
        const double error = fabs(metric_error(x, i)), size = x->magnitude[i] * 0x1p-24;
        if (isinf(error)) return INFINITY;
        if (size > 0 && isfinite(size))
            most = larger_double(most, (error - r->allowance[i]) / size);
    }
    return isinf(most) ? 0 : most;
}

double sample_run_norm_rest(const struct sample_run *r)
{
    struct comparison x = r->x;
    x.limit = r->allowance;
    const double rest = metrics[METRIC_NORMWISE_LIMIT].value(&x, 1);
    return metrics[METRIC_NORMWISE].value(&x, 1) - (isfinite(rest) ? rest : 0);
}

enum bitcut_status sample_run_against_d(struct sample_run *r, struct fault *f)
{
    const size_t count = r->x.m * r->x.n;
    r->other32 = memory_allocate(count, sizeof *r->other32);
    r->other64 = memory_allocate(count, sizeof *r->other64);
    if (!r->other32 || !r->other64)
        return fault_set(f, BITCUT_NO_MEMORY, "out of memory for the results");
    for (size_t i = 0; i < count; i++) {
        r->other32[i] = r->d[i];
        r->other64[i] = bitcut_format_convert(&formats[FORMAT_F64], &roundings[ROUND_RN],
                                              &formats[FORMAT_F32], r->d[i]);
        r->allowance[i] *= 2;
    }
    r->x.reference32 = r->other32;
    r->x.reference64 = r->other64;
    return BITCUT_OK;
}
